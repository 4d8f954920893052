//! Whether a repair keeps what the damage spared.

use std::collections::BTreeMap;
use std::ops::Range;

use tracemend::Repair;
use tracemend::model::edit::Edit;

use super::damage::Segment;
use super::equivalent::{Replaced, is_home, same_output};
use super::{Damaged, Files, Original, Subject};

/// A damaged recording and its repair.
pub struct Case<'a> {
    /// The format.
    pub subject: &'a Subject,
    /// The sound recording.
    pub original: &'a Original,
    /// Its damaged form.
    pub damaged: &'a Damaged,
    /// The repair.
    pub repair: &'a Repair,
}

impl Case<'_> {
    /// Names an untouched segment of the original that the output does not hold in its place,
    /// neither in one piece nor with bytes that the repair added in between.
    pub fn find_harm(&self, output: &Files) -> Option<String> {
        let files = self.original.files.iter().zip(&self.damaged.segments).zip(output);
        files.enumerate().find_map(|(index, (((_, old), segments), (_, new)))| {
            find_lost_segment(old, segments, new)?;
            let rests = self.rests(index);
            let nexts = segments.iter().skip(1).map(Some).chain([None]);
            let mut lost = segments.iter().zip(nexts).filter(|(segment, next)| {
                let rest = rests.get(&segment.original.end).copied().unwrap_or(0);
                let is_joined = next.is_some_and(|next| self.is_joined(index, segment, rest, next));
                !is_joined && !self.is_kept(index, segment)
            });
            let (start, end) =
                lost.next().map(|(lost, _)| (lost.original.start, lost.original.end))?;
            Some(format!("file {index}: untouched bytes {start:#x}..{end:#x} are changed or moved"))
        })
    }

    /// Returns whether the repair keeps all bytes of a segment, in their order. If it adds bytes,
    /// or the end of the file is lost, the numbers that give places and sizes of others may follow.
    /// The flag of a part may be cleared if the damage took all that leads to the part.
    fn is_kept(&self, file: usize, segment: &Segment) -> bool {
        let old = &self.original.files[file].1;
        let edits = self.repair.patches[file].edits(file as u32);
        let len = |edit: &Edit| (edit.span.len() as usize, edit.insert.as_slice().len());
        let adds = edits.iter().map(len).any(|(before, after)| after > before);
        let is_cut =
            self.damaged.segments[file].last().is_none_or(|one| one.original.end < old.len());
        let places = if adds || is_cut { (self.subject.places)(old) } else { Vec::new() };
        let lost = self.lost_flags(file);
        let end = segment.at + segment.original.len();
        edits.iter().enumerate().all(|(number, edit)| {
            let start = edit.span.start() as usize;
            let (before, after) = len(edit);
            let mut touched = start.max(segment.at)..(start + before).min(end);
            let is_harmless = touched.all(|at| {
                let origin = at - segment.at + segment.original.start;
                let flags = lost.get(&origin).copied().unwrap_or(0);
                let is_same =
                    before == after && (edit.insert.as_slice()[at - start] | flags) == old[origin];
                is_same || places.iter().any(|place| place.contains(&origin))
            });
            is_harmless
                || self.spares_all(file, &edits, number)
                || is_home(old, &edits, number)
                || self.is_filled(file, edit)
        })
    }

    /// Returns the flags of the parts of a file to which nothing leads any more, by their bytes.
    fn lost_flags(&self, file: usize) -> BTreeMap<usize, u8> {
        let segments = &self.damaged.segments[file];
        let is_left = |part: &Range<usize>| {
            let meets =
                |one: &Segment| one.original.start < part.end && part.start < one.original.end;
            segments.iter().any(meets)
        };
        let mut lost = BTreeMap::new();
        for flag in (self.subject.flags)(&self.original.files[file].1) {
            if !is_left(&flag.announces) {
                *lost.entry(flag.at).or_default() |= flag.bit;
            }
        }
        lost
    }

    /// Returns whether an edit fills a field of zeros, most of which damage has put there.
    fn is_filled(&self, file: usize, edit: &Edit) -> bool {
        let range = edit.span.start() as usize..edit.span.end() as usize;
        let is_spared = |at: usize| {
            let segments = &self.damaged.segments[file];
            segments.iter().any(|one| (one.at..one.at + one.original.len()).contains(&at))
        };
        let stored = &self.damaged.files[file].1[range.clone()];
        edit.insert.len() == stored.len()
            && stored.iter().all(|byte| *byte == 0)
            && range.filter(|at| is_spared(*at)).count() < stored.len().div_ceil(2)
    }

    /// Returns whether an edit, or one that gives the same output, touches no spared byte: of two
    /// equal bytes one is damage and the other is not.
    fn spares_all(&self, file: usize, edits: &[Edit], number: usize) -> bool {
        let segments = &self.damaged.segments[file];
        let mut same = same_output(&self.damaged.files[file].1, edits, number);
        same.any(|Replaced { range, .. }| {
            let touches =
                |one: &Segment| range.start < one.at + one.original.len() && one.at < range.end;
            !segments.iter().any(touches)
        })
    }

    /// Returns for each segment of a file that ends inside a record how many of its last bytes
    /// belong to that record, by the end of the segment in the original.
    fn rests(&self, file: usize) -> BTreeMap<usize, usize> {
        let ends = || self.damaged.segments[file].iter().map(|segment| segment.original.end);
        let mut rests = BTreeMap::new();
        for record in (self.subject.records)(self.original, &self.original.files) {
            let stored = record.stored;
            for end in ends().filter(|end| record.file == file && stored.start < *end) {
                if end < stored.end {
                    rests.insert(end, end - stored.start);
                }
            }
        }
        rests
    }

    /// Returns whether a segment lacks nothing but its last bytes, the rest of a truncated record,
    /// and the output has the original bytes before the next segment in their place. The damaged
    /// file is the same as if that rest were lost, and the next record damaged in its first bytes.
    fn is_joined(&self, file: usize, segment: &Segment, rest: usize, next: &Segment) -> bool {
        let old = &self.original.files[file].1;
        let end = segment.at + segment.original.len();
        let edits = self.repair.patches[file]
            .edits(file as u32)
            .into_iter()
            .map(|edit| (edit.span.start() as usize, edit.span.end() as usize, edit.insert));
        let mut inside = edits.filter(|(start, until, _)| *start < end && *until > segment.at);
        next.at == end
            && inside.all(|(start, until, insert)| {
                let before = next.original.start.checked_sub(end - start);
                let right = before.and_then(|from| old.get(from..next.original.start));
                let is_last = start + rest >= end && until == end;
                is_last && right.is_some_and(|right| insert.as_slice().ends_with(right))
            })
    }
}

/// Looks for the segments in the output, in order and apart. One that begins or ends the file has
/// to stay there. The first place of a segment is the best: it leaves the most to the next.
fn find_lost_segment<'a>(old: &[u8], segments: &'a [Segment], new: &[u8]) -> Option<&'a Segment> {
    let mut from = 0;
    for segment in segments {
        let bytes = &old[segment.original.clone()];
        let rest = new.get(from..).unwrap_or_default();
        let begins = segment.at == 0 && segment.original.start == 0;
        let ends = segment.original.end == old.len();
        let place = if ends {
            let place = rest.len().checked_sub(bytes.len());
            place.filter(|place| rest.ends_with(bytes) && (!begins || *place == 0))
        } else if begins {
            rest.starts_with(bytes).then_some(0)
        } else {
            find(rest, bytes)
        };
        let Some(place) = place else { return Some(segment) };
        from += place + bytes.len();
    }
    None
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    let first = part.first()?;
    let mut at = 0;
    while let Some(next) = bytes.get(at..)?.iter().position(|byte| byte == first) {
        if bytes[at + next..].starts_with(part) {
            return Some(at + next);
        }
        at += next + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_found_in_order_and_at_the_ends_of_the_file() {
        let old = b"0123456789";
        let segment = |at, range| Segment { at, original: range };
        let segments = [segment(0, 0..4), segment(5, 5..7), segment(7, 8..10)];
        let lost = |new: &[u8]| find_lost_segment(old, &segments, new).map(|lost| lost.at);
        assert_eq!(lost(b"0123x56y89"), None);
        assert_eq!(lost(b"01235689"), None);
        assert_eq!(lost(b"0123....56..89"), None);
        assert_eq!(lost(b".0123x56y89"), Some(0));
        assert_eq!(lost(b"0123x6589"), Some(5));
        assert_eq!(lost(b"0123x56y89."), Some(7));
        let whole = [segment(0, 0..10)];
        assert!(find_lost_segment(old, &whole, b"0123456789").is_none());
        assert!(find_lost_segment(old, &whole, b"x0123456789").is_some());
    }
}

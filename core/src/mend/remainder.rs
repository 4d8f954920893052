//! The share of a recording that a repair keeps: one that keeps nearly nothing is refused.
//!
//! ```text
//!  source   [ kept | dropped | kept | run of zeros | dropped ]
//!             share = kept / (kept + dropped), runs of one value aside
//!  target   [ record of kept bytes | record that was made up | ... ]
//! ```
//!
//! A file in another encoding has valid events by chance, or gets an invented beginning and end.
//! The report after such a repair has no error, and nothing in it was recorded. So the share of the
//! content that is left decides, and whether a complete record of the source is among it. Bytes
//! that an exact or synthetic fix takes away count as kept: they were copies or placeholders. So do
//! the bytes of records in compressed units, which a repair may compress again.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use crate::catalogue;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{byte_count, plural_noun};
use crate::kit::wrapper::Wrapper;
use crate::mend::applied::Applied;
use crate::mend::outcome::{Outcome, Repair};
use crate::mend::view::view;
use crate::model::Finding;
use crate::model::description::FormatId;
use crate::model::edit::{Fix, Safety, StoredAnew};
use crate::model::options::Options;
use crate::model::patch::{Op, Patch};
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::tile::TileKind;

/// Bytes of one value that are a preallocated or lost area, not content.
const RUN: u64 = 64;
/// A file with less content is not judged: a killed recorder may have written no more than a head.
const CONTENT_LEAST: u64 = 512;
/// Per cent of the content that a repair has to keep.
const SHARE_LEAST: u64 = 5;
/// A record is of the source if one in so many of its bytes is: fixes may correct the others.
const RECORD_SHARE: u64 = 4;

/// Adds an error to a repair that keeps nearly nothing of a file.
pub(super) fn refuse_little_kept(
    files: &FileSet<'_>,
    mut repair: Repair,
    options: &Options,
) -> Repair {
    if repair.outcome == Outcome::RepairedWithLoss
        && let Some(finding) = find_little_kept(files, &repair, options)
    {
        repair.after.push(finding);
        repair.after.finish();
        repair.outcome = Outcome::CannotRepair;
    }
    repair
}

/// Returns an error for the first file of which a repair keeps nearly nothing.
fn find_little_kept(files: &FileSet<'_>, repair: &Repair, options: &Options) -> Option<Finding> {
    let format = options.format?;
    // A recording that a user chose may be any share of a file that holds several.
    let is_chosen = options.choices.is_set("part");
    let counted = LazyCell::new(|| count_records(files, repair, options));
    for ((index, file), patch) in (0_u32..).zip(files.files()).zip(&repair.patches) {
        if patch.dropped() == 0 || !is_cut(index, &repair.applied) {
            continue;
        }
        let packed = Wrapper::certain(&file.bytes);
        let packed =
            packed.filter(|wrapper| !format.description().signs.containers.contains(wrapper));
        let mut content = Content::of(&file.bytes, &find_left(index, patch, &repair.applied));
        // Not every record has to be looked at for that.
        if packed.is_none() && !content.is_little() && has_record_without_inserted(repair) {
            continue;
        }
        let records = counted.get(to_usize(index.into())).copied().unwrap_or_default();
        // Units that are stored again are other bytes and the same records.
        let anew = find_stored_anew(index, &repair.applied).filter(|_| records.expanded == 0);
        let anew = anew.map_or(records.expanded, |anew| anew.kept);
        content.kept = content.kept.max(anew).min(content.all);
        let is_judged = content.all > CONTENT_LEAST && holds_records(files, index, options);
        let is_moved = repair.applied.iter().any(|one| moves_bytes(one) && changes(one, index));
        let has_none = records.kept == 0 && anew == 0 && !is_moved;
        let may_be_little = is_chosen || is_prefix(format, &file.bytes);
        let is_little = has_none || content.is_little() && !may_be_little;
        if packed.is_some() || is_judged && is_little {
            let wrapper = packed.or_else(|| Wrapper::of(&file.bytes));
            let wrapper =
                wrapper.filter(|one| !format.description().signs.containers.contains(one));
            return Some(describe((index, format), &content, has_none, wrapper));
        }
    }
    None
}

/// Whether a format keeps what precedes the damage, however little, since nothing after it can be
/// read: a format without frames, or one in a stream of gzip, which has no place to begin again. A
/// file in another encoding has no damage to end at.
fn is_prefix(format: FormatId, source: &Source<'_>) -> bool {
    let description = format.description();
    match Wrapper::of(source) {
        None => description.damage.ends_recording,
        Some(wrapper) => {
            wrapper == Wrapper::Gzip && description.signs.containers.contains(&wrapper)
        }
    }
}

fn describe(
    (index, format): (u32, FormatId),
    content: &Content,
    has_none: bool,
    wrapper: Option<Wrapper>,
) -> Finding {
    let is_little = has_none || content.is_little();
    let [record, _] = format.nouns();
    let (kept, all) = (content.kept, byte_count(content.all));
    let none = if has_none { format!(" and no complete {record}") } else { String::new() };
    let mut message = format!("the repair keeps {kept} of {all} of content{none}");
    let fix = match wrapper {
        Some(wrapper) => {
            message = match is_little {
                true => format!("the file is {}; {message}", wrapper.description()),
                false => format!("the file is {}, not a recording", wrapper.description()),
            };
            Fix::manual(wrapper.advice())
        }
        None => Fix::manual(format!(
            "look for another copy of the recording; repair with --partial writes the {} that are \
             left",
            plural_noun(record)
        )),
    };
    let span = Span::new(Layer::stored(index), 0, 0);
    Finding::new(&common::LITTLE_KEPT, span, "file", message).fix(fix)
}

/// Returns whether a lossy fix changes the file.
fn is_cut(index: u32, applied: &[Applied]) -> bool {
    applied.iter().any(|one| one.class == Safety::Lossy && changes(one, index))
}

/// Returns whether a fix changes a file.
fn changes(fix: &Applied, index: u32) -> bool {
    fix.places.iter().any(|place| place.layer.file == index)
}

/// Returns whether a fix leaves all bytes that it takes away, in another place.
fn moves_bytes(fix: &Applied) -> bool {
    *fix.finding.rule == common::EXCHANGED_BLOCKS
}

/// Returns the counts of the last fix that stores records of a file again, as the upgrade of a
/// whole recording does.
fn find_stored_anew(index: u32, applied: &[Applied]) -> Option<StoredAnew> {
    let fixes = applied.iter().filter(|one| changes(one, index)).map(|one| one.anew);
    fixes.rev().find(|anew| anew.kept > 0)
}

/// Returns the ranges of a source that are in the target, or that a fix takes away without a loss
/// or puts in another place, in order.
fn find_left(index: u32, patch: &Patch, applied: &[Applied]) -> Vec<(u64, u64)> {
    let kept = patch.ops().iter().filter_map(|op| match op {
        Op::Keep { start, end } => Some((*start, *end)),
        Op::Insert(_) => None,
    });
    let without_loss = applied.iter().filter(|one| one.class < Safety::Lossy || moves_bytes(one));
    let places = without_loss.flat_map(|one| &one.places);
    let places = places.filter(|place| place.layer.file == index && !place.is_empty());
    let mut all: Vec<(u64, u64)> =
        kept.chain(places.map(|place| (place.start, place.end))).collect();
    all.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in all {
        match joined.last_mut().filter(|last| last.1 >= start) {
            Some(last) => last.1 = last.1.max(end),
            None => joined.push((start, end)),
        }
    }
    joined
}

/// The content of a file: its bytes, but for long runs of one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Content {
    all: u64,
    kept: u64,
}

impl Content {
    /// Counts the content of `source`, and that in the ranges `left`, which are in order.
    fn of(source: &Source<'_>, left: &[(u64, u64)]) -> Self {
        let mut content = Self::default();
        let mut left = left.iter().copied().peekable();
        let mut add = |start: u64, end: u64| {
            if end.saturating_sub(start) >= RUN {
                return;
            }
            content.all = content.all.saturating_add(end.saturating_sub(start));
            while let Some((from, until)) = left.peek().copied() {
                let shared = until.min(end).saturating_sub(from.max(start));
                content.kept = content.kept.saturating_add(shared);
                if until > end {
                    break;
                }
                left.next();
            }
        };
        let (mut at, mut start, mut value) = (0_u64, 0_u64, None);
        for piece in source.pieces() {
            for byte in piece {
                if value != Some(*byte) {
                    add(start, at);
                    (start, value) = (at, Some(*byte));
                }
                at = at.saturating_add(1);
            }
        }
        add(start, at);
        content
    }

    const fn is_little(&self) -> bool {
        self.kept.saturating_mul(100) < self.all.saturating_mul(SHARE_LEAST)
    }
}

/// The records of a file in the target.
#[derive(Clone, Copy, Debug, Default)]
struct Records {
    /// Number of those that the source had. All of an expanded layer count: where they are stored
    /// is not known here.
    kept: u64,
    /// Bytes of those in expanded layers.
    expanded: u64,
}

/// Returns whether the only file of a repair has more records than bytes that were inserted: one of
/// them has bytes of the source alone then.
fn has_record_without_inserted(repair: &Repair) -> bool {
    let [patch] = repair.patches.as_slice() else { return false };
    let inserted = patch.ops().iter().map(|op| match op {
        Op::Insert(bytes) => to_u64(bytes.len()),
        Op::Keep { .. } => 0,
    });
    repair.after.tally.records > inserted.fold(0, u64::saturating_add)
}

/// Returns the records of each file in the target.
fn count_records(files: &FileSet<'_>, repair: &Repair, options: &Options) -> Vec<Records> {
    let kept: Vec<Kept> = repair.patches.iter().map(Kept::of).collect();
    let mut all = vec![Records::default(); kept.len()];
    let target = view(files, &repair.patches);
    let Some(format) = options.format.and_then(catalogue::format) else { return all };
    format.tile(&target, options, &mut |tile, _| {
        let file = usize::try_from(tile.span.layer.file).ok();
        let file = file.filter(|_| tile.kind == TileKind::Record);
        let Some((index, records)) = file.and_then(|index| Some((index, all.get_mut(index)?)))
        else {
            return;
        };
        let is_stored = tile.span.layer.is_stored();
        if !is_stored {
            records.expanded = records.expanded.saturating_add(tile.span.len());
        }
        if !is_stored || kept.get(index).is_some_and(|kept| kept.has_record(tile.span)) {
            records.kept = records.kept.saturating_add(1);
        }
    });
    all
}

/// Returns whether a file has, or had, records: it is not one of names and facts alone.
fn holds_records(files: &FileSet<'_>, index: u32, options: &Options) -> bool {
    let mut kinds = BTreeSet::new();
    if let Some(format) = options.format.and_then(catalogue::format) {
        format.tile(files, options, &mut |tile, _| {
            let is_here = tile.span.layer.file == index;
            if is_here && matches!(tile.kind, TileKind::Record | TileKind::Damage) {
                kinds.insert(tile.span.layer.depth);
            }
        });
    }
    !kinds.is_empty()
}

/// The ranges of a target that are bytes of the source, in order.
struct Kept(Vec<(u64, u64)>);

impl Kept {
    fn of(patch: &Patch) -> Self {
        let (mut at, mut ranges) = (0_u64, Vec::new());
        for op in patch.ops() {
            let len = match op {
                Op::Keep { start, end } => end.saturating_sub(*start),
                Op::Insert(bytes) => to_u64(bytes.len()),
            };
            let end = at.saturating_add(len);
            if matches!(op, Op::Keep { .. }) {
                ranges.push((at, end));
            }
            at = end;
        }
        Self(ranges)
    }

    /// Returns whether enough bytes of a record are of the source.
    fn has_record(&self, record: Span) -> bool {
        let first = self.0.partition_point(|(_, end)| *end <= record.start);
        let ranges = self.0.get(first..).unwrap_or_default().iter();
        let ranges = ranges.take_while(|(start, _)| *start < record.end);
        let kept = ranges.fold(0_u64, |sum, (start, end)| {
            let shared = (*end).min(record.end).saturating_sub((*start).max(record.start));
            sum.saturating_add(shared)
        });
        kept.saturating_mul(RECORD_SHARE) >= record.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_of_one_value_are_not_content() {
        let bytes = [&[1; 10][..], &[0; 64], &[2; 63], &[3; 90]].concat();
        let content = |left: &[(u64, u64)]| Content::of(&Source::new(&bytes), left);
        assert_eq!(content(&[]), Content { all: 73, kept: 0 });
        assert_eq!(content(&[(0, 4), (5, 76), (200, 227)]), Content { all: 73, kept: 11 });
        assert_eq!(content(&[(0, 227)]), Content { all: 73, kept: 73 });
        assert!(Content { all: 1000, kept: 49 }.is_little());
        assert!(!Content { all: 1000, kept: 50 }.is_little());
    }

    #[test]
    fn a_record_is_of_the_source_if_a_quarter_of_it_is() {
        let patch = Patch::from_edits(
            20,
            &[crate::model::edit::Edit::replace(Span::new(Layer::stored(0), 4, 16), [7; 12])],
        );
        let kept = Kept::of(&patch.unwrap());
        let has = |start, end| kept.has_record(Span::new(Layer::stored(0), start, end));
        assert!(has(0, 4) && has(0, 16) && has(15, 20) && has(12, 18));
        assert!(!has(4, 16) && !has(3, 16) && !has(4, 17));
    }
}

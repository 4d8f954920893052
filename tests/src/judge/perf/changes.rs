//! Sound recordings of perf with one change in the parts that perf itself wrote: a number in the
//! header, an attr, the feature table, a feature or one of perf's own records, a record of another
//! size, a feature that is missing.
//! The perf that recorded judges each, and so does the check.
//!
//! ```text
//!  field    0, one more, 4 less, half and all of its largest value
//!  record   4 bytes more, so that its size is not a multiple of 8
//!  feature  left out, or empty
//! ```

use tracemend::{FileSet, MapStep, Options, Region, RegionKind, Span};

use super::{Perf, Verdict};

/// First type of perf's own records.
const USER_FIRST: u32 = 64;
/// The records whose bodies are read otherwise: attrs and compressed data, and the payload outside.
const OTHERS: [u32; 5] = [64, 66, 71, 81, 83];
/// Levels of a map that lead to every field.
const DEPTH: usize = 12;
/// Bytes that belong to no section.
const BETWEEN: [&str; 2] = ["gap", "trailing"];

/// A recording with one change.
#[derive(Clone, Debug)]
pub struct Change {
    /// The change: feature or record, field, new value.
    pub name: String,
    /// The recording.
    pub bytes: Vec<u8>,
}

/// The part of a recording that perf shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Samples that perf script prints; `None` if it fails.
    pub samples: Option<usize>,
    /// Whether perf report prints the header.
    pub has_header: bool,
}

impl Shown {
    /// Asks a perf.
    pub fn by(perf: &Perf, path: &std::path::Path) -> Self {
        let count = |verdict: &Verdict| verdict.is_success().then_some(verdict.count);
        let samples = count(&perf.samples(path));
        Self { samples, has_header: perf.header(path).is_success() }
    }

    /// Whether it is as much as of the whole recording.
    pub fn is_whole(&self, whole: &Self) -> bool {
        self.samples >= whole.samples && self.has_header >= whole.has_header
    }
}

/// Makes every change of a recording.
pub fn changes(recording: &[u8]) -> Vec<Change> {
    let mut made = Vec::new();
    for (place, field) in fields(recording) {
        made.extend(values(recording, &place, field));
    }
    made.extend(longer_records(recording));
    made.extend(without_features(recording));
    made
}

/// Returns the fields outside of the kernel's records, with their place as text.
fn fields(recording: &[u8]) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let files = FileSet::single("perf.data", recording);
    let mut note = |region: &Region| {
        let is_own = match region.kind {
            RegionKind::Structure => !BETWEEN.contains(&&*region.name),
            RegionKind::Record => {
                let kind = word(recording, region.span.start());
                kind.is_some_and(|kind| kind >= USER_FIRST && !OTHERS.contains(&kind))
            }
            _ => false,
        };
        if is_own && region.span.layer().is_stored() {
            leaves(&region.name, region, &mut found);
        }
    };
    tracemend::map(&files, &Options::default(), DEPTH, &mut |step| {
        if let MapStep::Region(region) = step {
            note(region);
        }
    });
    found
}

fn word(bytes: &[u8], at: u64) -> Option<u32> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

/// Adds the fields of 1 to 8 bytes inside a region.
fn leaves(path: &str, region: &Region, found: &mut Vec<(String, Span)>) {
    for child in &region.children {
        let path = format!("{path}.{}", child.name);
        let is_number = matches!(child.span.len(), 1 | 2 | 4 | 8);
        if child.kind == RegionKind::Field && child.children.is_empty() && is_number {
            found.push((path, child.span));
        } else {
            leaves(&path, child, found);
        }
    }
}

/// Makes the recordings with other values of a field.
fn values<'a>(
    recording: &'a [u8],
    place: &'a str,
    span: Span,
) -> impl Iterator<Item = Change> + 'a {
    let at = usize::try_from(span.start()).unwrap();
    let len = usize::try_from(span.len()).unwrap();
    let mut word = [0; 8];
    word[..len].copy_from_slice(&recording[at..at + len]);
    let old = u64::from_le_bytes(word);
    let all = u64::MAX >> (64 - 8 * len);
    let wanted = [0, old.wrapping_add(1), old.wrapping_sub(4), all >> 1, all];
    let mut new: Vec<u64> = wanted.into_iter().map(|value| value & all).collect();
    new.retain(|value| *value != old);
    new.sort_unstable();
    new.dedup();
    new.into_iter().map(move |value| {
        let mut bytes = recording.to_vec();
        bytes[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
        Change { name: format!("{place} at {at:#x}: {old:#x} -> {value:#x}"), bytes }
    })
}

/// The parts of a recording, to be put together again.
struct Parts<'a> {
    /// Everything before the records.
    head: &'a [u8],
    records: Vec<&'a [u8]>,
    /// Features of a file.
    features: Vec<(usize, &'a [u8])>,
}

fn number(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

impl<'a> Parts<'a> {
    fn of(recording: &'a [u8]) -> Self {
        let is_pipe = number(recording, 8) == 16;
        let (start, end) = match is_pipe {
            true => (16, recording.len()),
            false => {
                let start = number(recording, 40);
                (start, start + number(recording, 48))
            }
        };
        let mut records = Vec::new();
        let mut at = start;
        while at < end {
            let size = usize::from(u16::from_le_bytes([recording[at + 6], recording[at + 7]]));
            let outside = match word(recording, at as u64) {
                Some(71) => number(recording, at + 8),
                Some(66) if is_pipe => {
                    word(recording, at as u64 + 8).unwrap().next_multiple_of(8) as usize
                }
                _ => 0,
            };
            records.push(&recording[at..at + size + outside]);
            at += size + outside;
        }
        let bits = (0..256).filter(|bit| !is_pipe && recording[72 + bit / 8] >> (bit % 8) & 1 == 1);
        let features = bits.enumerate().map(|(index, bit)| {
            let entry = end + 16 * index;
            let section = number(recording, entry);
            (bit, &recording[section..section + number(recording, entry + 8)])
        });
        Self { head: &recording[..start], records, features: features.collect() }
    }

    fn build(&self) -> Vec<u8> {
        let data: Vec<u8> = self.records.concat();
        let mut bytes = [self.head, &data].concat();
        if self.head.len() == 16 {
            return bytes;
        }
        bytes[48..56].copy_from_slice(&(data.len() as u64).to_le_bytes());
        bytes[72..104].fill(0);
        let mut at = bytes.len() + 16 * self.features.len();
        for (bit, section) in &self.features {
            bytes[72 + bit / 8] |= 1 << (bit % 8);
            bytes.extend((at as u64).to_le_bytes());
            bytes.extend((section.len() as u64).to_le_bytes());
            at += section.len();
        }
        for (_, section) in &self.features {
            bytes.extend_from_slice(section);
        }
        bytes
    }
}

/// Makes the recordings in which one record has 4 bytes more, one for each type.
fn longer_records(recording: &[u8]) -> Vec<Change> {
    let parts = Parts::of(recording);
    let mut made = Vec::new();
    let mut seen = Vec::new();
    for (index, record) in parts.records.iter().enumerate() {
        let kind = word(record, 0).unwrap();
        let size = u16::from_le_bytes([record[6], record[7]]);
        if seen.contains(&kind) || usize::from(size) != record.len() {
            continue;
        }
        seen.push(kind);
        let longer = [&record[..6], &(size + 4).to_le_bytes(), &record[8..], &[0; 4]].concat();
        let mut records = parts.records.clone();
        records[index] = &longer;
        let changed = Parts { records, head: parts.head, features: parts.features.clone() };
        made.push(Change {
            name: format!("record of type {kind}: size {}", size + 4),
            bytes: changed.build(),
        });
    }
    made
}

/// Makes the recordings without one feature, and with one that is empty.
fn without_features(recording: &[u8]) -> Vec<Change> {
    let parts = Parts::of(recording);
    let mut made = Vec::new();
    for (index, (bit, _)) in parts.features.iter().enumerate() {
        let mut features = parts.features.clone();
        features[index].1 = &[];
        let empty = Parts { records: parts.records.clone(), features, ..parts };
        made.push(Change { name: format!("feature {bit} empty"), bytes: empty.build() });
        let mut features = parts.features.clone();
        features.remove(index);
        let less = Parts { records: parts.records.clone(), features, ..parts };
        made.push(Change { name: format!("feature {bit} left out"), bytes: less.build() });
    }
    for (index, record) in parts.records.iter().enumerate() {
        // HEADER_FEATURE of a pipe.
        if word(record, 0) == Some(80) && parts.head.len() == 16 {
            let mut records = parts.records.clone();
            records.remove(index);
            let less = Parts { records, features: Vec::new(), head: parts.head };
            let bit = number(record, 8);
            made.push(Change {
                name: format!("HEADER_FEATURE {bit} left out"),
                bytes: less.build(),
            });
        }
    }
    made
}

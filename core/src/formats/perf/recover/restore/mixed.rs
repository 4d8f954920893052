//! Two blocks of the features that changed places.
//!
//! The records follow one another to the feature table, and a section after them does not have the
//! fields of its feature. The first fault is in one of the two blocks, or right after it. The other
//! one is any block after the records with which every section has the fields of its feature.
//!
//! Most bytes of a section are texts, which may end anywhere. So a reading is lossy, as those of
//! [`exchanged`](super::exchanged) are.

use super::exchanged::{Pair, SIZES, block, cost_of_pair, number_of};
use super::peek::Peek;
use super::shape;
use crate::formats::perf::decode::header::{self, Section};
use crate::formats::perf::decode::recording::{Opened, open};
use crate::formats::perf::layout::feature::NRCPUS;
use crate::formats::perf::layout::{SECTION_SIZE, field};
use crate::kit::reading::Reading;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::steps;
use crate::model::recording::{File, FileSet};

/// Bytes of sections that are read: a pair that does not fit costs the section with the fault.
const MOST_BYTES: u64 = 64 << 20;
/// Bytes that each pair counts at least: its table is read.
const PAIR_BYTES: u64 = 4 << 10;
/// Bytes that each piece of an edited file counts.
const PIECE_BYTES: u64 = 16;
/// The meaning of the place of the table as a witness.
const STATED: &str = "the sections of the feature table have the fields of their features";
/// Readings of one size that are tried.
const MOST: usize = 2;

/// The first section that does not have the fields of its feature.
struct Fault {
    /// The feature; `None` if the table itself is invalid.
    feature: Option<(u32, Section)>,
    /// Offset of the fault.
    at: u64,
    /// Offset of the table.
    table: u64,
}

/// Returns the pairs of blocks after the records with which all sections can be read.
pub(super) fn find(source: &Source<'_>) -> Vec<Reading> {
    let mut readings = Vec::new();
    let Some(fault) = first_fault(source, None) else { return readings };
    let all = source.len().saturating_sub(fault.table);
    let one = fault.feature.map_or(0, |(_, section)| section.size).max(PAIR_BYTES);
    let copied = cost_of_pair(source).saturating_mul(PIECE_BYTES);
    let stated = Span::sized(Layer::stored(0), field::DATA, SECTION_SIZE);
    let mut left = MOST_BYTES;
    for len in SIZES {
        let enough = readings.len().saturating_add(MOST);
        for pair in pairs(&fault, source.len(), len) {
            if left == 0 || readings.len() == enough || steps::is_spent() {
                break;
            }
            let found = first_fault(&pair.exchanged(source), fault.feature);
            let is_same = found.as_ref().is_some_and(|found| found.feature == fault.feature);
            left = left.saturating_sub(if is_same { one } else { all.max(one) });
            left = left.saturating_sub(copied);
            let reading = found.is_none().then(|| pair.reading(source, (stated, STATED)));
            // Both blocks may be near the fault.
            readings.extend(reading.filter(|reading| !readings.contains(reading)));
        }
    }
    readings
}

/// Returns the pairs of blocks of `len` bytes after the records, one of them at the fault.
fn pairs(fault: &Fault, end: u64, len: u64) -> impl Iterator<Item = Pair> {
    // Records before the table stay.
    let first = number_of(fault.table.saturating_add(len).saturating_sub(1), len);
    let (blocks, last) = (first..number_of(end, len), number_of(fault.at, len));
    let near = [last, last.saturating_sub(1), last.saturating_add(1)];
    let near = near.into_iter().filter({
        let blocks = blocks.clone();
        move |one| blocks.contains(one)
    });
    near.flat_map(move |one| {
        let others = blocks.clone().filter(move |other| *other != one);
        others.map(move |other| Pair(block(one.min(other), len), block(one.max(other), len)))
    })
}

/// Returns the first fault in the table or the sections of a file, that of `feature` before others;
/// `None` if there is none, or if it does not have features.
fn first_fault(source: &Source<'_>, feature: Option<(u32, Section)>) -> Option<Fault> {
    let files = FileSet::new(vec![File::new(String::new(), source.clone())]);
    let Ok(Opened::Sections(recording)) = open(&files) else { return None };
    header::magic(&source.read(0, 8))?;
    let at = recording.body.data.end().filter(|end| *end < source.len())?;
    let table = recording.table(at);
    if recording.body.flags.count() == 0 || recording.file.is_simpleperf() {
        return None;
    }
    if !table.is_valid(&recording.body, source.len()) {
        return Some(Fault { feature: None, at, table: at });
    }
    let read = |entry: (u32, Section), cpus| recording.read_feature(entry, cpus, entry.1.size);
    let first = feature.filter(|feature| table.entries.contains(feature) && feature.0 != NRCPUS);
    let cpus =
        table.section(NRCPUS).and_then(|section| read((NRCPUS, section), None).ok()?.nr_cpus);
    let peek = Peek { source, order: recording.order() };
    first.into_iter().chain(table.entries).find_map(|(bit, section)| {
        let fault = match read((bit, section), cpus) {
            Err(error) => error.span().start,
            Ok(_) if shape::is_known(bit) && !shape::resembles(peek, bit, section) => {
                section.offset
            }
            Ok(_) => return None,
        };
        Some(Fault { feature: Some((bit, section)), at: fault, table: at })
    })
}

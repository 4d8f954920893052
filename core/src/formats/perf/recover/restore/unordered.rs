//! One damaged number in a table whose sections lie in any order, as simpleperf writes them.
//!
//! The sections adjoin and fill the file, whatever their order, so a single wrong offset or size
//! leaves one hole or one overlap. If exactly one value of one number closes it, and the sections
//! can be read then, that is the value.

use super::peek::Peek;
use super::table::MOST_HOLE;
use super::{Correction, Part};
use crate::formats::perf::decode::feature;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::table::Table;
use crate::formats::perf::layout::SECTION_SIZE;
use crate::kit::num::to_u64;

/// Most entries of a table: simpleperf has 24 features.
const MOST_ENTRIES: usize = 32;
/// Bytes of a section that are read.
const MOST_BYTES: u64 = 1 << 20;

/// Corrects the only number whose correction lets the sections fill the file.
pub(super) fn correct(recording: &Recording<'_>, peek: Peek<'_>) -> Option<Correction> {
    let table = recording.table(recording.body.data.end()?);
    let len = recording.length();
    if table.entries.len() > MOST_ENTRIES || table.tiled_end() == Some(len) {
        return None;
    }
    let indexes = 0..table.entries.len();
    let mut found = indexes.flat_map(|index| fitting(recording, &table, index));
    let (index, section) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let at = table.span.start.saturating_add(to_u64(index).saturating_mul(SECTION_SIZE));
    let stored = peek.section(at)?;
    let correction = Correction::new(Part::Table)
        .word(at, stored.offset, section.offset)
        .word(at.saturating_add(8), stored.size, section.size)
        .witness(table.span.start, table.span.len(), "places of the other sections, which adjoin")
        .witness(section.offset, section.size, "content of the section");
    // The bits may be damaged instead: those of unknown features have no content that fits them.
    let is_known = table.entries.iter().all(|(bit, _)| feature::name(*bit).is_some());
    Some(correction.determined_if(is_known))
}

/// Returns the sections of entry number `index`, with one other number, by which all fill the file.
fn fitting(recording: &Recording<'_>, table: &Table, index: usize) -> Vec<(usize, Section)> {
    let len = recording.length();
    let Some((_, stored)) = table.entries.get(index).copied() else { return Vec::new() };
    let others = || table.entries.iter().map(|(_, section)| *section).filter(|s| *s != stored);
    let holes = (0..=MOST_HOLE).step_by(16).map(|hole| table.span.end.saturating_add(hole));
    let offsets = others().filter_map(Section::end).chain(holes);
    let moved = offsets.map(|offset| Section { offset, ..stored });
    let ends = others().map(|section| section.offset).chain([len]);
    let sized =
        ends.filter_map(|end| Some(Section { size: end.checked_sub(stored.offset)?, ..stored }));
    let mut candidates: Vec<Section> = moved.chain(sized).filter(|one| *one != stored).collect();
    candidates.sort_unstable_by_key(|section| (section.offset, section.size));
    candidates.dedup();
    candidates.retain(|section| {
        let mut changed = table.clone();
        if let Some(entry) = changed.entries.get_mut(index) {
            entry.1 = *section;
        }
        changed.is_tight(len) && changed.entries.iter().all(|entry| is_read(recording, *entry))
    });
    candidates.into_iter().map(|section| (index, section)).collect()
}

/// Whether a section has the content of its feature, as far as it is read.
fn is_read(recording: &Recording<'_>, (bit, section): (u32, Section)) -> bool {
    let held = section.size.min(MOST_BYTES);
    let contents = recording.read_feature((bit, section), None, held);
    section.size == 0 || held < section.size || contents.is_ok()
}

//! Whether the witnesses leave only one value for a corrected table, its flags and its place.
//!
//! ```text
//!  records | o0 s0 | o1 s1 | zeros |  section 0  |  section 1  | end of the file
//!          ^ the records end       ^ no gap      ^ o0 + s0      ^ the last section ends
//! ```
//!
//! The best reading of a damaged table is a guess until everything around it agrees: a table whose
//! beginning is wiped out, or whose last section is truncated, has a best reading as well.

use super::Part;
use super::flags::{self, Demand};
use super::peek::Peek;
use super::shape;
use super::table::MOST_HOLE;
use super::table_reading::TableReading;
use crate::formats::perf::decode::header::{Body, Flags, Section};
use crate::formats::perf::layout::SECTION_SIZE;

/// The feature bits of the sections, and what records and attrs demand of them.
pub(super) struct Assigned {
    pub(super) flags: Flags,
    pub(super) demand: Demand,
}

/// The parts of the table that are proven.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof {
    /// The table begins where the records end, and its sections are all there.
    place: bool,
    /// Each corrected entry follows from other numbers or from the contents.
    entries: bool,
    /// The contents allow no other bits.
    flags: bool,
}

impl Proof {
    /// Gathers the proof of a table. `chain_end` is where the records end without damage.
    pub(super) fn gather(
        peek: Peek<'_>,
        body: &Body,
        table: &TableReading,
        assigned: &Assigned,
        chain_end: Option<u64>,
    ) -> Self {
        let is_placed = chain_end == Some(table.at) || body.data.end() == Some(table.at);
        let is_whole = table.shift == 0
            && is_placed
            && table.end() == peek.len()
            && has_empty_hole(peek, table);
        let bits: Vec<u32> = assigned.flags.bits().collect();
        let entries = is_whole
            && bits.len() == table.sections.len()
            && fitting(peek, table, assigned.flags).into_iter().all(|fits| fits)
            && (0..table.sections.len()).all(|index| is_entry_proven(peek, table, &bits, index));
        let trusted = untouched(body.flags, assigned.flags);
        // The content of an unknown feature proves no bit, so another bit may be damaged as well.
        let is_known = bits.iter().all(|bit| assigned.demand.knows(*bit));
        let flags = entries
            && (assigned.flags == body.flags
                || is_known
                    && flags::is_only_way(
                        peek,
                        &table.sections,
                        (assigned.flags, trusted),
                        &assigned.demand,
                    ));
        Self { place: flags && chain_end == Some(table.at), entries: flags, flags }
    }

    /// Whether the value of a corrected part is proven.
    pub(super) const fn determines(&self, part: Part) -> bool {
        match part {
            Part::DataSize => self.place,
            Part::Table => self.entries,
            Part::Flags => self.flags,
            _ => true,
        }
    }
}

/// Returns for each section whether it has the shape of its bit.
pub(super) fn fitting(peek: Peek<'_>, table: &TableReading, flags: Flags) -> Vec<bool> {
    let bits: Vec<u32> = flags.bits().collect();
    let is_assigned = bits.len() == table.sections.len();
    let fits = |(index, section): (usize, &Section)| {
        let bit = bits.get(index).filter(|_| is_assigned);
        bit.is_some_and(|bit| !shape::is_known(*bit) || shape::resembles(peek, *bit, *section))
    };
    table.sections.iter().enumerate().map(fits).collect()
}

/// Whether nothing but unused entries lies between the table and its first section: sections of
/// entries that the reading misses would lie there.
fn has_empty_hole(peek: Peek<'_>, table: &TableReading) -> bool {
    let end = table.entry_at(table.sections.len());
    let Some(first) = table.sections.first().map(|first| first.offset) else { return false };
    let is_whole = first
        .checked_sub(end)
        .is_some_and(|hole| hole.is_multiple_of(SECTION_SIZE) && hole <= MOST_HOLE);
    is_whole && peek.bytes(end, first).iter().all(|byte| *byte == 0)
}

/// Whether each number of an entry is stored so, or follows from its neighbours.
///
/// The content of a known feature shows where its section ends; that of an unknown one shows
/// nothing, so both of its neighbours have to agree.
fn is_entry_proven(peek: Peek<'_>, table: &TableReading, bits: &[u32], index: usize) -> bool {
    let stored = |index: usize| peek.section(table.entry_at(index));
    let (Some(section), Some(found)) = (table.sections.get(index), stored(index)) else {
        return false;
    };
    if found == *section {
        return true;
    }
    let is_known = |index: usize| bits.get(index).is_some_and(|bit| shape::is_known(*bit));
    if is_known(index) && section.size > 0 {
        return true;
    }
    let before = index.checked_sub(1);
    let begins = found.offset == section.offset
        || before.is_none_or(|before| {
            is_known(before) || stored(before).and_then(|one| one.end()) == Some(section.offset)
        });
    let next = index.saturating_add(1);
    let ends = found.size == section.size
        || stored(next).filter(|_| next < bits.len()).map(|next| next.offset) == section.end();
    begins && ends
}

/// Returns the stored bits in the words that do not change.
fn untouched(stored: Flags, flags: Flags) -> Flags {
    let words = stored.0.iter().zip(flags.0);
    let mut kept = Flags::default();
    for (slot, (one, other)) in kept.0.iter_mut().zip(words) {
        *slot = if *one == other { *one } else { 0 };
    }
    kept
}

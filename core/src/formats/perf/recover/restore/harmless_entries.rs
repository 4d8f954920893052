//! Damaged entries of the table that change nothing for perf.

use super::peek::Peek;
use super::shape;
use crate::formats::perf::decode::header::{Flags, Section};
use crate::formats::perf::layout::feature as bit;
use crate::formats::perf::layout::features::{self, Trait, feature};
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;
use crate::kit::span::Layer;

/// Bytes that perf can allocate on every machine on which it reads recordings. Above that, the size
/// of a feature may be more than the machine has.
const MOST_ALLOCATED: u64 = 16 << 20;
/// perf pads texts to a multiple of this.
const TEXT_STEP: u64 = 64;

/// The right sections of a table, and their features.
pub(super) struct Entries<'a> {
    pub(super) peek: Peek<'a>,
    pub(super) sections: &'a [Section],
    pub(super) bits: &'a [u32],
}

impl Entries<'_> {
    /// Whether perf reads every feature as it does by the right entries if entry number `index` is
    /// `found`.
    pub(super) fn are_read_by(&self, index: usize, found: Section) -> bool {
        self.is_size_unused(index, found) || self.reads_nothing(index, found)
    }

    /// Whether only the size is wrong, and perf does not read the feature by it.
    fn is_size_unused(&self, index: usize, found: Section) -> bool {
        let (Some(number), Some(section)) = (self.bits.get(index), self.sections.get(index)) else {
            return false;
        };
        let is_inside = found.fits(self.peek.len());
        found.offset == section.offset
            && match feature(*number).filter(|one| one.number <= bit::LAST_OLD) {
                Some(one) if one.is(Trait::Allocated) => {
                    (section.size..MOST_ALLOCATED).contains(&found.size)
                }
                // perf inject copies as many bytes, and leaves the feature out if they are not
                // there.
                Some(one) if one.is(Trait::Compared) => {
                    is_inside && self.has_dies(*section, found.size)
                }
                Some(one) => !one.is(Trait::Sized),
                None => false,
            }
    }

    /// Whether perf reads the list of dies in CPU_TOPOLOGY with either size: it compares the size
    /// with that of the older forms, which lack this list.
    fn has_dies(&self, section: Section, size: u64) -> bool {
        let after = self.len_without_dies(section);
        after.is_some_and(|after| section.size > after && size > after)
    }

    /// Returns the length of CPU_TOPOLOGY before its list of dies as perf counts it: by the texts
    /// and their padding, not by the stored lengths (util/header.c: `process_cpu_topology`).
    fn len_without_dies(&self, section: Section) -> Option<u64> {
        let bytes = self.peek.bytes(section.offset, section.end()?);
        let order = self.peek.order;
        let mut cursor = Cursor::new(&bytes, Layer::stored(0), section.offset, order);
        let mut counted = 0_u64;
        for list in ["cores.nr", "threads.nr"] {
            let count = cursor.u32(list).ok()?;
            counted = counted.saturating_add(4);
            for _ in 0..count {
                let len = cursor.u32("length").ok()?;
                let text = cursor.bytes(len.into(), "text").ok()?;
                let used = text.iter().position(|byte| *byte == 0)?;
                let padded = to_u64(used).saturating_add(1).next_multiple_of(TEXT_STEP);
                counted = counted.saturating_add(padded).saturating_add(4);
            }
        }
        Some(counted.saturating_add(self.find_cpus()?.saturating_mul(8)))
    }

    /// Returns the number of available CPUs in NRCPUS.
    fn find_cpus(&self) -> Option<u64> {
        let mut features = self.bits.iter().zip(self.sections);
        let (_, section) = features.find(|(number, _)| **number == bit::NRCPUS)?;
        let is_sound = shape::resembles(self.peek, bit::NRCPUS, *section);
        self.peek.u32(section.offset).map(u64::from).filter(|_| is_sound)
    }

    /// Whether entry number `index` is that of a list without content, and perf reads no other one
    /// by `found`: it shows both as if the feature was not there.
    fn reads_nothing(&self, index: usize, found: Section) -> bool {
        let peek = self.peek;
        let mut rest = self.bits.iter().zip(self.sections).skip(index).peekable();
        let is_empty = |(bit, section): (&u32, &Section)| {
            shape::is_empty(peek, *bit, *section, Trait::EmptyIsNothing)
        };
        let Some((number, _)) = rest.peek().copied().filter(|first| is_empty(*first)) else {
            return false;
        };
        // lseek refuses a negative offset, and perf goes on with the next feature.
        let is_skipped = found.offset > i64::MAX.unsigned_abs();
        // A list without an entry is a number, 0. Another place may have it as well.
        let is_empty_too = peek.u32(found.offset) == Some(0);
        // perf gives up at a feature that it cannot read, so no other one may follow. The magic is
        // no list of PMUs: it counts more than a file can hold.
        let is_outside = found.offset.checked_add(4).is_none_or(|end| end > peek.len());
        let is_unreadable = is_outside || found.offset == 0 && *number == bit::PMU_CAPS;
        is_skipped || is_empty_too || is_unreadable && rest.all(is_empty)
    }
}

/// Whether the perf that recorded reads the features by the stored bits as by the right ones: only
/// bits that it does not know differ.
pub(super) fn is_read_alike(stored: Flags, flags: Flags, is_old: bool) -> bool {
    let last = if is_old { bit::LAST_OLD } else { features::last() };
    stored.up_to(last) == flags.up_to(last)
}

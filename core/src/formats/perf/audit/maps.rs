//! The maps of a recording, and where a redaction moves them.
//!
//! ```text
//!  recorded   ....|prog|.......|libc|ld|.........|kernel|..|module|..
//!  moved      |prog|.|libc|ld|.            |kernel|.|module|.
//!             user: from 64 KiB on         kernel: from the first page but one on
//! ```
//!
//! Maps that overlap or adjoin, of any process and at any time, are one block and move together, so
//! each map has one offset. A block moves to the place after the one before it: the places follow
//! from the lengths and the order of the blocks alone. So an address keeps its offset in its map,
//! nothing of the random layout is left, and a moved recording is moved to where it is. An offset
//! is a multiple of a page; places in a page are those of the files, and stay.

use super::{CONTEXT_FIRST, KERNEL_FIRST};
use crate::kit::field_log::{Field, FieldLog, FieldValue};
use crate::model::tile::{Fields, Tile, Walk};

/// Ranges that are kept. Those after them are not known, so that addresses in them are private.
const RANGES_MAX: usize = 1 << 18;
/// Fields of a record up to its range.
const FIELDS_MAX: u64 = 8;
/// Smallest page of the machines that perf runs on.
const PAGE: u64 = 0x1000;
const PAGE_MASK: u64 = 0xfff;
/// Where the first block of programs goes: Linux maps nothing below (`vm.mmap_min_addr`).
const USER_START: u64 = 0x1_0000;
/// Where the first block of the kernel goes. The page before it has the stand-in for addresses of
/// the kernel outside of all maps.
const KERNEL_START: u64 = 0xffff_8000_0000_1000;

/// The page of the kernel that every program on x86 has at this place (`[vsyscall]`).
const VSYSCALL: (u64, u64) = (0xffff_ffff_ff60_0000, 0xffff_ffff_ff60_1000);

/// The place of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// In a map: where it is after the move.
    In(u64),
    /// In a map that cannot be moved.
    Fixed,
    /// Outside of all maps.
    Outside,
}

/// A block of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    start: u64,
    end: u64,
    /// Where it begins after the move; `None` if it stays.
    to: Option<u64>,
}

/// Blocks in order that do not overlap.
#[derive(Debug)]
pub(super) struct Maps(Vec<Block>);

impl Maps {
    /// Reads the maps of all processes. This is a walk of its own, before that of the audit: two at
    /// a time would hold the attrs twice.
    pub(super) fn read(tiles: Walk<'_>) -> Self {
        let mut ranges = Vec::new();
        tiles(&mut |tile: Tile, fields: Fields<'_>| {
            let is_map = matches!(tile.name, "MMAP" | "MMAP2" | "KSYMBOL");
            if is_map && ranges.len() < RANGES_MAX {
                let log = FieldLog::new(FIELDS_MAX);
                fields(&log);
                let noted = log.into_noted();
                ranges.extend(range(&noted.fields));
            }
        });
        Self::new(ranges)
    }

    /// Places the blocks of `ranges`. A range that is in part of the kernel and in part not, as
    /// simpleperf writes one for all of the kernel, stays with what lies in it there.
    fn new(ranges: Vec<(u64, u64)>) -> Self {
        let (kernel, rest): (Vec<_>, Vec<_>) =
            ranges.into_iter().partition(|(start, _)| *start >= KERNEL_FIRST);
        let (across, user): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(_, end)| *end > KERNEL_FIRST);
        let mut blocks = place_blocks(join(user), USER_START, KERNEL_FIRST);
        if across.is_empty() {
            // It moves only if another map overlaps or adjoins it.
            let (vsyscall, kernel): (Vec<_>, Vec<_>) =
                join(kernel).into_iter().partition(|range| *range == VSYSCALL);
            blocks.extend(place_blocks(kernel, KERNEL_START, CONTEXT_FIRST));
            let stays = |(start, end)| Block { start, end, to: Some(start) };
            blocks.extend(vsyscall.into_iter().map(stays));
            blocks.sort_unstable_by_key(|block| block.start);
        } else {
            blocks.push(Block { start: KERNEL_FIRST, end: CONTEXT_FIRST, to: None });
        }
        Self(blocks)
    }

    /// Returns where an address lies.
    pub(super) fn find(&self, address: u64) -> Lies {
        let after = self.0.partition_point(|block| block.start <= address);
        let last = after.checked_sub(1).and_then(|at| self.0.get(at));
        // The last numbers are marks, whatever a map covers.
        match last.filter(|block| address < block.end.min(CONTEXT_FIRST)) {
            Some(Block { start, to: Some(to), .. }) => {
                Lies::In(to.saturating_add(address.saturating_sub(*start)))
            }
            Some(_) => Lies::Fixed,
            None => Lies::Outside,
        }
    }
}

/// Returns the range of a map, or of a symbol of the kernel.
fn range(fields: &[Field]) -> Option<(u64, u64)> {
    let number = |wanted: &str| {
        fields.iter().find_map(|field| match field.value {
            FieldValue::Hex(number) | FieldValue::Number(number)
                if field.label.ends_with(wanted) =>
            {
                Some(number)
            }
            _ => None,
        })
    };
    let (start, len) = (number(".addr")?, number(".len")?);
    Some((start, start.checked_add(len)?))
}

/// Sorts ranges, and joins those that overlap or adjoin.
fn join(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

/// Places ranges one after the other from `first` on, with a page or more between them. All stay
/// if they do not fit before `end`.
fn place_blocks(ranges: Vec<(u64, u64)>, first: u64, end: u64) -> Vec<Block> {
    let mut next = Some(first);
    let mut blocks = Vec::with_capacity(ranges.len());
    for (start, range_end) in ranges {
        let to = next
            .and_then(|next| next.checked_next_multiple_of(PAGE)?.checked_add(start & PAGE_MASK));
        let moved_end = to.and_then(|to| to.checked_add(range_end.saturating_sub(start)));
        next = moved_end.filter(|moved| *moved <= end).and_then(|moved| moved.checked_add(PAGE));
        blocks.push(Block { start, end: range_end, to });
    }
    if next.is_none() {
        blocks.iter_mut().for_each(|block| block.to = None);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn moved(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let found = |address| match Maps::new(ranges.to_vec()).find(address) {
            Lies::In(address) => address,
            other => panic!("{address:#x}: {other:?}"),
        };
        ranges.iter().map(|(start, end)| (found(*start), found(end - 1) + 1)).collect()
    }

    #[test]
    fn a_block_moves_as_a_whole_to_a_place_that_follows_from_the_lengths() {
        let user = [(0x5555_5555_4000, 0x5555_5555_6000), (0x7fff_0000_0000, 0x7fff_0000_1000)];
        assert_eq!(moved(&user), [(0x1_0000, 0x1_2000), (0x1_3000, 0x1_4000)]);
        // Other random bases give the same places.
        let other = user.map(|(start, end)| (start + 77 * PAGE, end + 77 * PAGE));
        assert_eq!(moved(&other), moved(&user));
        // Ranges that overlap or adjoin move together.
        let joined = [(4 * MIB, 5 * MIB), (5 * MIB, 6 * MIB), (4 * MIB + PAGE, 7 * MIB)];
        let expected =
            joined.map(|(start, end)| (start - 4 * MIB + 0x1_0000, end - 4 * MIB + 0x1_0000));
        assert_eq!(moved(&joined), expected);
    }

    #[test]
    fn the_kernel_stays_the_kernel_and_places_in_a_page_stay() {
        let kernel = [
            (0xffff_ffff_8100_0000, 0xffff_ffff_8300_0000),
            (0xffff_ffff_c060_0a40, 0xffff_ffff_c060_0b00),
        ];
        let expected = [
            (KERNEL_START, KERNEL_START + 32 * MIB),
            (KERNEL_START + 32 * MIB + PAGE + 0xa40, KERNEL_START + 32 * MIB + PAGE + 0xb00),
        ];
        assert_eq!(moved(&kernel), expected);
        assert_eq!(moved(&[kernel[0], VSYSCALL]), [expected[0], VSYSCALL]);
    }

    #[test]
    fn a_second_move_changes_nothing() {
        let ranges = [
            (0x40_0123, 0x40_0456),
            (0x40_0460, 0x40_0470),
            (0x7f00_0000_0000, 0x7f00_0000_0001),
            (0xffff_ffff_c000_0040, 0xffff_ffff_c000_0080),
            (0xffff_ffff_c000_0081, 0xffff_ffff_c000_0099),
        ];
        let once = moved(&ranges);
        assert_ne!(once, ranges);
        assert_eq!(moved(&once), once);
    }

    #[test]
    fn a_range_that_cannot_be_placed_stays() {
        // simpleperf writes one map for all of the kernel.
        let ranges = Maps::new(vec![(0, u64::MAX), (0x40_0000, 0x40_1000)]);
        let found = [0x40_0000, 0x50_0000, KERNEL_FIRST, u64::MAX].map(|at| ranges.find(at));
        assert_eq!(found, [Lies::In(USER_START), Lies::Outside, Lies::Fixed, Lies::Outside]);
        let open = Maps::new(vec![(0xffff_ffff_8100_0000, u64::MAX)]);
        let found = [0xffff_ffff_8100_0001, CONTEXT_FIRST].map(|at| open.find(at));
        assert_eq!(found, [Lies::In(KERNEL_START + 1), Lies::Outside]);
        let whole = Maps::new(vec![(0, KERNEL_FIRST)]);
        assert_eq!(whole.find(77), Lies::Fixed);
        let empty = Maps::new(vec![(9, 9)]);
        assert_eq!(empty.find(9), Lies::Outside);
    }
}

//! The maps of a recording, by which addresses in call chains are known.

use std::cell::OnceCell;

use crate::kit::field_log::{Field, FieldLog, FieldValue};
use crate::model::tile::{Fields, Tile, Walk};

/// Ranges that are kept. Those after them are not known, so that addresses in them are private.
const RANGES_MAX: usize = 1 << 18;
/// Fields of a record up to its range.
const FIELDS_MAX: u64 = 8;

/// The maps of a recording, which are read when the first call chain asks for them.
pub(super) struct Maps<'m> {
    pub(super) tiles: Walk<'m>,
    pub(super) ranges: OnceCell<Ranges>,
}

impl Maps<'_> {
    /// Returns whether an address lies in a map of any process.
    pub(super) fn hold(&self, address: u64) -> bool {
        self.ranges.get_or_init(|| self.read()).hold(address)
    }

    fn read(&self) -> Ranges {
        let mut ranges = Vec::new();
        (self.tiles)(&mut |tile: Tile, fields: Fields<'_>| {
            if matches!(tile.name, "MMAP" | "MMAP2") && ranges.len() < RANGES_MAX {
                let log = FieldLog::new(FIELDS_MAX);
                fields(&log);
                let noted = log.into_noted();
                ranges.extend(range(&noted.fields));
            }
        });
        Ranges(join(ranges))
    }
}

/// Ranges of addresses in order that do not overlap.
#[derive(Debug)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    fn hold(&self, address: u64) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= address);
        let last = after.checked_sub(1).and_then(|at| self.0.get(at));
        last.is_some_and(|(_, end)| address < *end)
    }
}

/// Returns the range of a map.
fn range(fields: &[Field]) -> Option<(u64, u64)> {
    let number = |wanted: &str| {
        fields.iter().find_map(|field| match field.value {
            FieldValue::Hex(number) if field.label.ends_with(wanted) => Some(number),
            _ => None,
        })
    };
    let (start, len) = (number(".addr")?, number(".len")?);
    Some((start, start.checked_add(len)?))
}

/// Sorts ranges, and joins those that overlap.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_if_any_map_holds_it() {
        let maps = Ranges(join(vec![(40, 50), (10, 20), (15, 30), (30, 31)]));
        assert_eq!(maps.0, [(10, 31), (40, 50)]);
        let held = [9, 10, 30, 31, 40, 49, 50].map(|address| maps.hold(address));
        assert_eq!(held, [false, true, true, false, true, true, false]);
    }
}

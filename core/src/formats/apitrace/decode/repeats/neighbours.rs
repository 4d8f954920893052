//! Values between the same two values.
//!
//! A program that asks for all attributes of all configurations passes the same values in the same
//! order again and again, and a driver returns the same list of handles each time. Of the values
//! that stand between the same two values, one that differs in one bit from all others is probably
//! damaged.

use std::collections::HashMap;

use super::{FirstUse, OFTEN, Position, Rare, Scope};
use crate::kit::num::to_usize;

/// Pairs of neighbours whose values are counted; later ones are not.
const PAIRS_MAX: usize = 1 << 12;
/// Values of enums that are looked at per function, so that one that is called all the time costs
/// no more, and the highest id of such a function.
const SYMBOLS_MAX: u16 = 1 << 13;
const FUNCTIONS_MAX: usize = 1 << 12;
/// Arguments whose values of enums are looked at; later ones are not.
const ROWS_MAX: usize = 1 << 12;
/// Lists with an address from which it is the usual one.
const LISTED_OFTEN: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Seen {
    value: u64,
    count: u32,
    first: FirstUse,
}

/// The values between two others.
#[derive(Clone, Copy, Debug)]
struct Middles {
    first: Seen,
    second: Option<Seen>,
    /// Whether there are more than two: then none is usual.
    has_more: bool,
}

impl Middles {
    fn add(&mut self, value: u64, first: FirstUse) {
        if self.first.value == value {
            self.first.count = self.first.count.saturating_add(1);
            return;
        }
        match &mut self.second {
            Some(seen) if seen.value == value => seen.count = seen.count.saturating_add(1),
            Some(_) => self.has_more = true,
            None => self.second = Some(Seen { value, count: 1, first }),
        }
    }

    /// Returns the value that is used once and the one that is used `often`, if they differ in one
    /// bit.
    fn find_rare(&self, often: u32) -> Option<(Seen, Seen)> {
        let (one, other) = (self.first, self.second.filter(|_| !self.has_more)?);
        let (rare, usual) = if one.count < other.count { (one, other) } else { (other, one) };
        let is_near = (rare.value ^ usual.value).is_power_of_two();
        (rare.count == 1 && usual.count >= often && is_near).then_some((rare, usual))
    }
}

/// The two latest values in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    before: Option<u64>,
    middle: Option<(u64, FirstUse)>,
}

/// The values between pairs of neighbours.
#[derive(Debug, Default)]
struct Neighbours {
    pairs: HashMap<(Position, u64, u64), Middles>,
}

impl Neighbours {
    /// Adds a value to a row, and with it the one before it, whose neighbours are known now.
    fn add(&mut self, position: Position, row: &mut Row, value: u64, first: FirstUse) {
        if let (Some(before), Some((middle, at))) = (row.before, row.middle) {
            let is_full = self.pairs.len() >= PAIRS_MAX;
            let key = (position, before, value);
            if let Some(middles) = self.pairs.get_mut(&key) {
                middles.add(middle, at);
            } else if !is_full {
                let first = Seen { value: middle, count: 1, first: at };
                self.pairs.insert(key, Middles { first, second: None, has_more: false });
            }
        }
        *row = Row { before: row.middle.map(|(middle, _)| middle), middle: Some((value, first)) };
    }

    fn find_rare(&self, often: u32) -> impl Iterator<Item = (u64, Rare)> {
        let found = self.pairs.values().filter_map(move |middles| middles.find_rare(often));
        found.map(|(rare, usual)| {
            let (value, frequent) = (format!("{:#x}", rare.value), format!("{:#x}", usual.value));
            let (count, at, scope) = (usual.count, rare.first, Scope::Neighbours);
            (rare.value, Rare { value, frequent, count, at, scope })
        })
    }
}

/// Values of enums, row by row: one per argument, from call to call.
#[derive(Debug, Default)]
pub(super) struct SymbolRuns {
    rows: HashMap<Position, Row>,
    neighbours: Neighbours,
    /// Values that were looked at, by the ids of functions.
    looked_at: Vec<u16>,
}

impl SymbolRuns {
    #[inline(always)]
    pub(super) fn has_room(&self, function: u64) -> bool {
        let index = to_usize(function);
        self.looked_at.get(index).map_or(index < FUNCTIONS_MAX, |count| *count < SYMBOLS_MAX)
    }

    pub(super) fn add(&mut self, position: Position, value: u64, first: FirstUse) {
        let index = to_usize(position.function);
        if index >= self.looked_at.len() {
            self.looked_at.resize(index.min(FUNCTIONS_MAX).saturating_add(1), 0);
        }
        let Some(count) = self.looked_at.get_mut(index) else { return };
        *count = count.saturating_add(1);
        if self.rows.len() < ROWS_MAX || self.rows.contains_key(&position) {
            let row = self.rows.entry(position).or_default();
            self.neighbours.add(position, row, value, first);
        }
    }

    pub(super) fn find_rare(&self) -> impl Iterator<Item = Rare> {
        self.neighbours.find_rare(OFTEN).map(|(_, rare)| rare)
    }
}

/// Addresses in lists: a row is one list.
#[derive(Debug, Default)]
pub(super) struct AddressLists {
    /// The list that is being read: its position and call.
    list: Option<(Position, u64)>,
    row: Row,
    neighbours: Neighbours,
}

impl AddressLists {
    #[inline]
    pub(super) fn add(&mut self, position: Position, value: u64, first: FirstUse) {
        let list = Some((position, first.call));
        if self.list != list {
            // The first address of a list comes after nothing.
            (self.list, self.row) = (list, Row { before: None, middle: Some((0, first)) });
        }
        self.neighbours.add(position, &mut self.row, value, first);
    }

    /// Returns the addresses for which `is_single` holds and that differ from those in other lists.
    pub(super) fn find_rare(&self, is_single: impl Fn(u64) -> bool) -> impl Iterator<Item = Rare> {
        let found = self.neighbours.find_rare(LISTED_OFTEN);
        found.filter(move |(value, _)| is_single(*value)).map(|(_, rare)| rare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(call: u64) -> FirstUse {
        FirstUse { call, argument: Some(0), at: call, end: call + 1 }
    }

    const HERE: Position = Position { function: 1, argument: Some(0), is_output: false };

    #[test]
    fn a_value_of_a_loop_is_rare_if_one_bit_differs_from_all_other_rounds() {
        let rare = |rounds: u64, change: &[(u64, u64)]| {
            let mut runs = SymbolRuns::default();
            for call in 0..rounds * 4 {
                let usual = 0x3020 + call % 4;
                let changed = change.iter().find(|(at, _)| *at == call).map(|(_, value)| *value);
                runs.add(HERE, changed.unwrap_or(usual), first(call));
            }
            let found = runs.find_rare();
            found.map(|one| (one.value, one.frequent, one.at.call)).collect::<Vec<_>>()
        };
        assert_eq!(rare(10, &[]), []);
        // The value itself may be frequent elsewhere.
        let found = |value: &str| vec![(value.to_string(), "0x3021".to_string(), 21)];
        assert_eq!(rare(10, &[(21, 0x3023)]), found("0x3023"));
        assert_eq!(rare(10, &[(21, 0x3029)]), found("0x3029"));
        // Too few rounds, two bits, and two values instead of one.
        assert_eq!(rare(8, &[(21, 0x3029)]), []);
        assert_eq!(rare(10, &[(21, 0x302a)]), []);
        assert_eq!(rare(12, &[(21, 0x3029), (25, 0x3029)]), []);
        assert_eq!(rare(12, &[(21, 0x3029), (25, 0x3031)]), []);
        // The first value is the rare one, and the third one does not count as the second.
        assert_eq!(rare(12, &[(1, 0x3029)]).len(), 1);
        assert_eq!(rare(12, &[(1, 0x3029), (25, 0x3031)]), []);
    }

    #[test]
    fn an_address_is_rare_if_it_is_another_one_in_all_other_lists() {
        let rare = |lists: u64, changed: u64| {
            let mut all = AddressLists::default();
            for call in 0..lists {
                for index in 0..4 {
                    let damage = if (call, index) == (1, 2) { changed } else { 0 };
                    all.add(HERE, (0x5555_0000 + index * 0x1b0) ^ damage, first(call));
                }
            }
            all.find_rare(|_| true).map(|one| (one.value, one.count)).collect::<Vec<_>>()
        };
        assert_eq!(rare(3, 0), []);
        assert_eq!(rare(3, 0x10), [("0x55550370".to_string(), 2)]);
        assert_eq!(rare(2, 0x10), []);
        assert_eq!(rare(3, 0x30), []);
    }

    #[test]
    fn pairs_and_values_are_counted_up_to_a_limit() {
        let mut runs = SymbolRuns::default();
        for value in 0..=u64::from(SYMBOLS_MAX) {
            if runs.has_room(1) {
                runs.add(HERE, value, first(value));
            }
        }
        assert!(!runs.has_room(1) && runs.has_room(2) && !runs.has_room(u64::MAX));
        assert_eq!(runs.neighbours.pairs.len(), PAIRS_MAX);
        for argument in 0..=crate::kit::num::to_u64(ROWS_MAX) {
            runs.add(Position { argument: Some(argument), ..HERE }, 1, first(argument));
        }
        assert_eq!(runs.rows.len(), ROWS_MAX);
    }
}

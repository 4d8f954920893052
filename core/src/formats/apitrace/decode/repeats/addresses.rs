//! Addresses: handles of displays, contexts and windows.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use super::{FirstUse, OFTEN, Position, Rare, Scope, Uses, one_bit_from};
use crate::kit::num::to_usize;

/// Addresses below this are numbers or errors.
const ADDRESS_MIN: u64 = 1 << 16;
/// Addresses that are counted; later ones are not.
const ADDRESSES_MAX: usize = 1 << 15;
/// Two objects lie at a distance of exactly this bit or a higher one only by chance: a program's
/// heap is smaller, and regions of memory are not placed by powers of two.
const FAR_BIT: u32 = 28;
/// Uses from which an address is frequent enough for one that is far from it.
const FAR_OFTEN: u32 = 2;

/// Places of the addresses that were found last.
const LATEST: usize = 1 << 8;

/// An address at a position.
#[derive(Debug)]
struct Entry {
    position: Position,
    value: u64,
    uses: Uses,
}

/// The addresses of a trace.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    entries: Vec<Entry>,
    indices: HashMap<(Position, u64), usize>,
    /// Indices of entries that were found last, since a program passes the same addresses again and
    /// again: looked up by a mix of the address that needs no key, as a wrong entry is only one
    /// that has to be looked up again.
    latest: Vec<usize>,
}

/// Returns where the index of an address may be among the latest.
#[inline(always)]
fn latest_slot(position: Position, value: u64) -> usize {
    let place = position.function.wrapping_shl(8) ^ position.argument.unwrap_or(u64::MAX);
    mix(value ^ place.wrapping_shl(48), LATEST)
}

/// Mixes a number to an index of a table of `len` places, a power of two.
#[inline(always)]
fn mix(number: u64, len: usize) -> usize {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    to_usize(mixed.wrapping_shr(u64::BITS.wrapping_sub(len.trailing_zeros())))
}

/// A set that may hold further numbers: asked before a lookup that costs more.
struct BloomFilter(Vec<bool>);

impl BloomFilter {
    const LEN: usize = 1 << 16;

    fn of(numbers: impl Iterator<Item = u64>) -> Self {
        let mut marks = vec![false; Self::LEN];
        for number in numbers {
            if let Some(mark) = marks.get_mut(mix(number, Self::LEN)) {
                *mark = true;
            }
        }
        Self(marks)
    }

    fn may_hold(&self, number: u64) -> bool {
        self.0.get(mix(number, Self::LEN)).copied().unwrap_or(false)
    }
}

/// The uses of an address in the whole trace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    /// How often it is used.
    pub(super) uses: u32,
    is_returned: bool,
}

/// Different addresses at a position, and those of them that a call returned.
#[derive(Clone, Copy, Debug, Default)]
struct Origins {
    all: u32,
    returned: u32,
}

impl Addresses {
    /// Counts an address; false if it is none.
    pub(super) fn add(&mut self, position: Position, value: u64, first: FirstUse) -> bool {
        if value < ADDRESS_MIN {
            return false;
        }
        let slot = latest_slot(position, value);
        let latest = self.latest.get(slot).and_then(|index| self.entries.get_mut(*index));
        match latest.filter(|entry| entry.value == value && entry.position == position) {
            Some(entry) => entry.uses.count = entry.uses.count.saturating_add(1),
            None => self.add_by_key(position, value, first),
        }
        true
    }

    /// Counts an address that is not among the latest.
    #[inline(never)]
    fn add_by_key(&mut self, position: Position, value: u64, first: FirstUse) {
        let key = (position, value);
        let index = match self.indices.get(&key) {
            Some(index) => *index,
            None if self.entries.len() >= ADDRESSES_MAX => return,
            None => {
                let index = self.entries.len();
                self.indices.insert(key, index);
                self.entries.push(Entry { position, value, uses: Uses { count: 0, first } });
                index
            }
        };
        if let Some(entry) = self.entries.get_mut(index) {
            entry.uses.count = entry.uses.count.saturating_add(1);
        }
        self.latest.resize(LATEST, usize::MAX);
        if let Some(latest) = self.latest.get_mut(latest_slot(position, value)) {
            *latest = index;
        }
    }

    fn count_at(&self, position: Position, value: u64) -> u32 {
        let entry = self.indices.get(&(position, value)).and_then(|index| self.entries.get(*index));
        entry.map_or(0, |entry| entry.uses.count)
    }

    /// Returns the addresses that are used once, where one that differs in one bit is frequent.
    pub(super) fn find_rare(&self, totals: &HashMap<u64, Total>) -> Vec<Rare> {
        let frequent = || totals.iter().filter(|(_, total)| total.uses >= FAR_OFTEN);
        if frequent().next().is_none() {
            return Vec::new();
        }
        let orphans = LazyCell::new(|| self.find_orphans(totals));
        let frequent = BloomFilter::of(frequent().map(|(value, _)| *value));
        let is_single = |value: &u64| totals.get(value).is_some_and(|total| total.uses == 1);
        let single = self.entries.iter().filter(|entry| is_single(&entry.value));
        let found = single.filter_map(|Entry { position, value, uses }| {
            let near = one_bit_from(*value).filter(|(_, near)| frequent.may_hold(*near));
            let often = near.filter_map(|(bit, near)| {
                let here = self.count_at(*position, near);
                let total = totals.get(&near)?.uses;
                // Lists of handles have neighbours that a program never uses.
                let is_frequent = match position.is_output {
                    true => here >= OFTEN || orphans.contains(&near),
                    false => total >= OFTEN,
                };
                let is_far = bit >= FAR_BIT && total >= FAR_OFTEN;
                (is_frequent || is_far).then_some((near, total))
            });
            let (frequent, count) = often.max_by_key(|(_, count)| *count)?;
            let (value, frequent) = (format!("{value:#x}"), format!("{frequent:#x}"));
            Some(Rare { value, frequent, count, at: uses.first, scope: Scope::Trace })
        });
        found.collect()
    }

    /// Returns the uses of each address in the whole trace.
    pub(super) fn totals(&self) -> HashMap<u64, Total> {
        let mut totals: HashMap<u64, Total> = HashMap::new();
        self.entries.iter().for_each(|Entry { position, value, uses }| {
            let total = totals.entry(*value).or_default();
            total.uses = total.uses.saturating_add(uses.count);
            total.is_returned |= position.is_output;
        });
        totals
    }

    /// Returns the frequent addresses that no call returned, although all others at one of their
    /// positions were returned.
    fn find_orphans(&self, totals: &HashMap<u64, Total>) -> HashSet<u64> {
        let is_returned = |value: &u64| totals.get(value).is_some_and(|total| total.is_returned);
        let mut origins: HashMap<Position, Origins> = HashMap::new();
        for Entry { position, value, .. } in &self.entries {
            if position.is_output {
                continue;
            }
            let origins = origins.entry(*position).or_default();
            origins.all = origins.all.saturating_add(1);
            origins.returned = origins.returned.saturating_add(u32::from(is_returned(value)));
        }
        let is_orphan = |Entry { position, value, .. }: &&Entry| {
            let origins = origins.get(position).copied().unwrap_or_default();
            let total = totals.get(value).map_or(0, |total| total.uses);
            let others = origins.all.saturating_sub(1);
            !is_returned(value) && total >= OFTEN && others >= OFTEN && origins.returned == others
        };
        self.entries.iter().filter(is_orphan).map(|entry| entry.value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::num::to_u64;

    /// The text and the count of each address that is rare, for uses as (function, value, whether
    /// it is returned, how often).
    fn rare(all: &[(u64, u64, bool, usize)]) -> Vec<(String, u32)> {
        let mut addresses = Addresses::default();
        let mut call = 0;
        for (function, value, is_output, count) in all {
            let is_output = *is_output;
            let position = Position { function: *function, argument: Some(0), is_output };
            for _ in 0..*count {
                let first = FirstUse { call, argument: Some(0), at: call, end: call + 1 };
                assert!(addresses.add(position, *value, first));
                call += 1;
            }
        }
        let found = addresses.find_rare(&addresses.totals());
        found.into_iter().map(|one| (one.value, one.count)).collect()
    }

    #[test]
    fn an_address_that_is_used_once_is_rare_if_a_near_one_is_frequent() {
        let often = (1, 0x5555_1230, false, 9);
        assert_eq!(rare(&[often]), []);
        // Other bits, and addresses that come again, are usual.
        let others = [(1, 0x5555_1233, false, 1), (1, 0x5555_1270, false, 1)];
        assert_eq!(rare(&[often, others[0], others[1], (3, 0x5555_1270, false, 1)]), []);
        let found = [("0x55551630".to_string(), 9)];
        assert_eq!(rare(&[often, (1, 0x5555_1630, false, 1)]), found);
        // Another function may pass it, but returned handles may be neighbours.
        assert_eq!(rare(&[often, (2, 0x5555_1630, false, 1)]), found);
        assert_eq!(rare(&[often, (2, 0x5555_1630, true, 1)]), []);
    }

    #[test]
    fn an_address_far_away_is_rare_if_a_near_one_is_used_twice() {
        let far = (2, 0xd5eb_7893_afa0, true, 1);
        assert_eq!(rare(&[(1, 0x55eb_7893_afa0, false, 1), far]), []);
        let found = [("0xd5eb7893afa0".to_string(), 2)];
        assert_eq!(rare(&[(1, 0x55eb_7893_afa0, false, 2), far]), found);
    }

    #[test]
    fn a_handle_that_no_call_returned_shows_the_damaged_one_that_a_call_did() {
        let handle = |index: u64| 0x5555_0000 + (index << 8);
        let used = |index| (1, handle(index), false, 8);
        let returned = |index| (2, handle(index), true, 1);
        let mut all: Vec<_> = (0..9).flat_map(|index| [returned(index), used(index)]).collect();
        assert_eq!(rare(&all), []);
        all[0].1 ^= 0x40;
        assert_eq!(rare(&all), [("0x55550040".to_string(), 8)]);
        // Two handles without an origin: the program has others, too.
        all[2].1 ^= 0x40;
        assert_eq!(rare(&all), []);
    }

    #[test]
    fn addresses_are_counted_up_to_a_limit() {
        let mut addresses = Addresses::default();
        let position = Position { function: 1, argument: None, is_output: true };
        let first = FirstUse { call: 0, argument: None, at: 0, end: 1 };
        assert!(!addresses.add(position, ADDRESS_MIN - 1, first));
        for number in 0..=to_u64(ADDRESSES_MAX) {
            addresses.add(position, ADDRESS_MIN + number, first);
        }
        assert_eq!(addresses.entries.len(), ADDRESSES_MAX);
    }

    #[test]
    fn addresses_are_counted_alike_whether_they_are_among_the_latest_or_not() {
        let mut addresses = Addresses::default();
        let position = Position { function: 1, argument: Some(0), is_output: false };
        let first = FirstUse { call: 0, argument: Some(0), at: 0, end: 1 };
        let values = || (0..4 * to_u64(LATEST)).map(|number| ADDRESS_MIN + 64 * number);
        for _ in 0..3 {
            values().flat_map(|value| [value; 2]).for_each(|value| {
                assert!(addresses.add(position, value, first));
            });
        }
        assert!(values().all(|value| addresses.count_at(position, value) == 6));
        let marks = BloomFilter::of(values());
        assert!(values().all(|value| marks.may_hold(value)));
        assert!((0..1 << 12).any(|number| !marks.may_hold(number)));
    }
}

//! Values that repeat, and one that differs from a frequent one in a single bit.
//!
//! A program passes the same handles again and again, and a driver reports the same names. A value
//! that occurs once in a trace, where one that differs in one bit occurs many times, is probably
//! damaged. It may be sound as well: so this is information.
//!
//! - `addresses`: handles, and calls that return them
//! - `neighbours`: values between the same two values, as in loops over all attributes
//! - `numbers`: coordinates, sizes and indices
//! - `words`: names in texts, and the parts of names

mod addresses;
mod neighbours;
mod numbers;
mod words;

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use addresses::Addresses;
use neighbours::{AddressLists, SymbolRuns};
pub use numbers::Number;
use numbers::Numbers;
pub use words::Odd;
use words::Words;

use crate::formats::apitrace::layout::ID_MAX;

/// Uses from which a value is frequent.
const OFTEN: u32 = 8;

/// The place of a value among calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Id of the function.
    pub function: u64,
    /// Index of the argument; `None` for the result.
    pub argument: Option<u64>,
    /// Whether the function returned it.
    pub is_output: bool,
}

impl Hash for Position {
    /// Hashes one number instead of four, into which ids and indices that recordings have fit.
    /// Others must not meet in one number: a hostile trace would choose them so.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let argument = self.argument.map_or(0, |index| index.saturating_add(1));
        let place = argument.wrapping_shl(1) | u64::from(self.is_output);
        if self.function <= ID_MAX && argument < 1 << 16 {
            state.write_u64(self.function.wrapping_shl(17) | place);
        } else {
            (self.function, argument, self.is_output).hash(state);
        }
    }
}

/// Where a value is used first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstUse {
    /// Number of the call.
    pub call: u64,
    /// Index of the argument; `None` for the result.
    pub argument: Option<u64>,
    /// Its bytes in the stream.
    pub at: u64,
    pub end: u64,
}

#[derive(Clone, Copy, Debug)]
struct Uses {
    count: u32,
    first: FirstUse,
}

/// A value that is rare, and a frequent one that differs from it in one bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rare {
    /// The value, escaped.
    pub value: String,
    /// The frequent one.
    pub frequent: String,
    /// How often that one is used.
    pub count: u32,
    /// The use.
    pub at: FirstUse,
    /// Where the two are counted.
    pub scope: Scope,
}

/// Where uses of a value are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the whole trace.
    Trace,
    /// Between the same two values.
    Neighbours,
    /// As parts of names.
    Names,
    /// As the same argument.
    Argument,
    /// In a row of numbers that count upwards.
    Count,
}

/// The values of a trace that may repeat.
#[derive(Debug, Default)]
pub struct Repeats {
    addresses: Addresses,
    lists: AddressLists,
    symbols: SymbolRuns,
    /// The latest value of an enum, and its call.
    latest_symbol: Option<(u64, u64)>,
    numbers: Numbers,
    words: Words,
}

impl Repeats {
    /// Counts an address.
    pub fn add_address(&mut self, position: Position, value: u64, first: FirstUse) {
        if self.addresses.add(position, value, first) {
            self.lists.add(position, value, first);
        }
    }

    /// Whether one more value of an enum at an argument of `function` is looked at.
    #[inline(always)]
    pub fn takes_symbols(&self, function: u64) -> bool {
        self.symbols.has_room(function)
    }

    /// Counts a value of an enum.
    pub fn add_symbol(&mut self, position: Position, value: u64, first: FirstUse) {
        self.latest_symbol = Some((first.call, value));
        self.symbols.add(position, value, first);
    }

    /// Whether one more number at an argument of `function` is looked at.
    #[inline(always)]
    pub fn takes_numbers(&self, function: u64) -> bool {
        self.symbols.has_room(function) && self.numbers.has_room(function)
    }

    /// Counts a number.
    pub fn add_number(&mut self, position: Position, number: Number, first: FirstUse) {
        let of_call = self.latest_symbol.filter(|(call, _)| *call == first.call);
        self.numbers.add(position, of_call.map(|(_, value)| value), number, first);
    }

    /// Counts the words of a text of names, which begins at `first.at`.
    pub fn add_text(&mut self, text: &[u8], first: FirstUse) {
        self.words.add_text(text, first);
    }

    /// Returns the characters in lists of names that no name has.
    pub fn odd(&self) -> &[Odd] {
        self.words.odd()
    }

    /// Returns the values that are used once and differ in one bit from a frequent one, in the
    /// order of the stream. `names` are those that enums list.
    pub fn find_rare<'a>(&self, names: impl Iterator<Item = &'a [u8]>) -> Vec<Rare> {
        let totals = self.addresses.totals();
        let mut rare = self.addresses.find_rare(&totals);
        let is_single = |value| totals.get(&value).is_some_and(|total| total.uses == 1);
        rare.extend(self.lists.find_rare(is_single));
        rare.extend(self.symbols.find_rare());
        rare.extend(self.numbers.find_rare());
        rare.extend(self.words.find_rare(names));
        rare.sort_by_key(|one| one.at.at);
        let mut seen = BTreeSet::new();
        rare.retain(|one| seen.insert(one.at.at));
        rare
    }
}

/// Returns the values that differ from `value` in one bit, with the bit.
fn one_bit_from(value: u64) -> impl Iterator<Item = (u32, u64)> {
    (0..u64::BITS).map(move |bit| (bit, value ^ 1_u64.wrapping_shl(bit)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, RandomState};

    use super::*;

    #[test]
    fn indices_that_no_function_has_do_not_meet_in_one_hash() {
        let hasher = RandomState::new();
        let count = 4096;
        for shift in 15..48 {
            // Each index would cancel the bits of its function.
            let positions = (0..count).map(|function: u64| Position {
                function,
                argument: Some(((1 << 60) ^ function << shift).wrapping_sub(1)),
                is_output: false,
            });
            let hashes: HashSet<u64> = positions.map(|one| hasher.hash_one(one)).collect();
            assert!(hashes.len() > 4000, "{shift}: {} of {count}", hashes.len());
        }
    }
}

//! An attr as bytes, of which single words are read and written.

use crate::formats::perf::layout::attr::{WORDS, Word, find};
use crate::kit::cursor::Order;
use crate::kit::num::to_usize;

/// The bytes of an attr.
#[derive(Clone, Copy, Debug)]
pub struct AttrBytes<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Their order.
    pub order: Order,
}

impl<'a> AttrBytes<'a> {
    /// Returns all words with their numbers: those that a smaller attr leaves out are 0.
    pub fn words(self) -> impl Iterator<Item = (&'static Word, u64)> + use<'a> {
        WORDS.iter().map(move |word| (word, self.number(word)))
    }

    /// Returns the number at an offset of [`at`](crate::formats::perf::layout::attr::at); 0 if the
    /// attr ends before.
    pub fn word(self, at: u64) -> u64 {
        find(at).map_or(0, |word| self.number(word))
    }

    /// Returns the number of a word; 0 if the attr ends before.
    pub fn number(self, word: &Word) -> u64 {
        let bytes = self.bytes.get(to_usize(word.at)..to_usize(word.end()));
        number(bytes.unwrap_or_default(), self.order)
    }
}

/// Returns the number of at most eight bytes.
pub fn number(bytes: &[u8], order: Order) -> u64 {
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match order {
        Order::Little => bytes.iter().rev().fold(0, add),
        Order::Big => bytes.iter().fold(0, add),
    }
}

/// Writes the number of the word at an offset, if the attr has it.
pub fn set_word(attr: &mut [u8], at: u64, number: u64, order: Order) {
    let place = find(at).map_or(0..0, |word| to_usize(word.at)..to_usize(word.end()));
    let slot = attr.get_mut(place).unwrap_or_default();
    let bytes = number.to_le_bytes();
    match order {
        Order::Little => slot.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte),
        Order::Big => slot.iter_mut().rev().zip(bytes).for_each(|(slot, byte)| *slot = byte),
    }
}

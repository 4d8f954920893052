//! Values that repeat, and one that differs from a frequent one in a single bit.
//!
//! A program passes the same handles again and again, and a driver reports the same names. A value
//! that occurs once in a trace, where one that differs in one bit occurs many times, is probably
//! damaged. It may be sound as well: so this is information.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::kit::num::to_u64;
use crate::kit::text::Untrusted;

/// Uses from which a value is frequent.
const OFTEN: u32 = 8;
/// Uses from which a word is frequent: a driver lists its names a few times.
const WORD_OFTEN: u32 = 2;
/// Addresses below this are numbers or errors.
const ADDRESS_MIN: u64 = 1 << 16;
/// The words that are looked at: names of extensions and constants.
const WORD_LEN: std::ops::RangeInclusive<usize> = 8..=64;
/// Unusual characters that are reported.
const ODD_MAX: usize = 1 << 10;
/// Addresses that are counted, and words; later ones are not. Lists of extensions have some hundred
/// words, and each word that is used once is compared with 512 others.
const ADDRESSES_MAX: usize = 1 << 15;
const WORDS_MAX: usize = 1 << 13;

/// The place of an address among calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Id of the function.
    pub function: u64,
    /// Index of the argument; `None` for the result.
    pub argument: Option<u64>,
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

/// A value that is used once, and a frequent one that differs from it in one bit.
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
}

/// The addresses and words of a trace.
#[derive(Debug, Default)]
pub struct Repeats {
    addresses: HashMap<(Position, u64), Uses>,
    words: HashMap<u64, (Uses, Vec<u8>)>,
    /// Characters in lists of names that no name has.
    odd: Vec<Odd>,
}

/// A character in a list of names that no name has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Odd {
    /// The character, escaped.
    pub character: String,
    /// Its place.
    pub at: FirstUse,
}

impl Repeats {
    /// Counts an address.
    pub fn add_address(&mut self, position: Position, value: u64, first: FirstUse) {
        if value < ADDRESS_MIN {
            return;
        }
        let is_full = self.addresses.len() >= ADDRESSES_MAX;
        let key = (position, value);
        if let Some(uses) = self.addresses.get_mut(&key) {
            uses.count = uses.count.saturating_add(1);
        } else if !is_full {
            self.addresses.insert(key, Uses { count: 1, first });
        }
    }

    /// Counts the words of a text of names, which begins at `first.at`.
    pub fn add_text(&mut self, text: &[u8], first: FirstUse) {
        if let Some(index) = find_odd(text).filter(|_| self.odd.len() < ODD_MAX) {
            let at = first.at.saturating_add(to_u64(index));
            let character = text.get(index..).and_then(|rest| rest.get(..1)).unwrap_or_default();
            let character = Untrusted(character).to_string();
            let place = FirstUse { at, end: at.saturating_add(1), ..first };
            self.odd.push(Odd { character, at: place });
        }
        let mut at = first.at;
        for word in text.split(|byte| *byte == b' ') {
            let end = at.saturating_add(to_u64(word.len()));
            if WORD_LEN.contains(&word.len()) && word.contains(&b'_') {
                self.add_word(word, FirstUse { at, end, ..first });
            }
            at = end.saturating_add(1);
        }
    }

    /// Returns the characters in lists of names that no name has.
    pub fn odd(&self) -> &[Odd] {
        &self.odd
    }

    fn add_word(&mut self, word: &[u8], first: FirstUse) {
        let is_full = self.words.len() >= WORDS_MAX;
        let key = hash(word);
        if let Some((uses, _)) = self.words.get_mut(&key) {
            uses.count = uses.count.saturating_add(1);
        } else if !is_full {
            self.words.insert(key, (Uses { count: 1, first }, word.to_vec()));
        }
    }

    /// Returns the values that are used once and differ in one bit from a frequent one, in the
    /// order of the stream.
    pub fn find_rare(&self) -> Vec<Rare> {
        let mut rare = self.find_rare_addresses();
        rare.extend(self.find_rare_words());
        rare.sort_by_key(|one| one.at.at);
        rare
    }

    fn find_rare_addresses(&self) -> Vec<Rare> {
        let mut totals: HashMap<u64, u32> = HashMap::new();
        self.addresses.iter().for_each(|((_, value), uses)| {
            let total = totals.entry(*value).or_default();
            *total = total.saturating_add(uses.count);
        });
        let is_single = |value: &u64| totals.get(value) == Some(&1);
        let single = self.addresses.iter().filter(|((_, value), _)| is_single(value));
        let found = single.filter_map(|((position, value), uses)| {
            let near = (0..u64::BITS).map(|bit| value ^ 1_u64.wrapping_shl(bit));
            let often = near.filter_map(|near| {
                let count = self.addresses.get(&(*position, near))?.count;
                (count >= OFTEN).then_some((near, count))
            });
            let (frequent, count) = often.max_by_key(|(_, count)| *count)?;
            let text = |value: u64| format!("{value:#x}");
            Some(Rare { value: text(*value), frequent: text(frequent), count, at: uses.first })
        });
        found.collect()
    }

    fn find_rare_words(&self) -> Vec<Rare> {
        let single = self.words.values().filter(|(uses, _)| uses.count == 1);
        let found = single.filter_map(|(uses, word)| {
            let mut near = word.clone();
            for index in 0..word.len() {
                for bit in 0..8 {
                    let byte = near.get_mut(index)?;
                    *byte ^= 1_u8.wrapping_shl(bit);
                    let other = self.words.get(&hash(&near)).filter(|(_, other)| *other == near);
                    if let Some((often, _)) = other.filter(|(uses, _)| uses.count >= WORD_OFTEN) {
                        let text = |word: &[u8]| Untrusted(word).to_string();
                        let (value, frequent) = (text(word), text(&near));
                        return Some(Rare { value, frequent, count: often.count, at: uses.first });
                    }
                    if let Some(byte) = near.get_mut(index) {
                        *byte ^= 1_u8.wrapping_shl(bit);
                    }
                }
            }
            None
        });
        found.collect()
    }
}

/// Returns where a list of names has its only character that no name has: all words begin with
/// capitals, as `GL_ARB_sync` does, and consist of letters, digits and underscores.
fn find_odd(text: &[u8]) -> Option<usize> {
    let is_usual = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ');
    let mut unusual = text.iter().enumerate().filter(|(_, byte)| !is_usual(byte));
    let (index, _) = unusual.next()?;
    let is_alone = unusual.next().is_none();
    let mut words = text.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let is_list = words.all(|word| {
        let mut parts = word.split(|byte| *byte == b'_');
        let first = parts.next().unwrap_or_default();
        let is_capital = |byte: &u8| byte.is_ascii_uppercase();
        word.len() >= *WORD_LEN.start()
            && first.iter().filter(|byte| is_capital(byte)).count() > 1
            && parts.count() > 1
    });
    (is_alone && is_list).then_some(index)
}

fn hash(word: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(call: u64) -> FirstUse {
        FirstUse { call, argument: Some(0), at: call * 10, end: call * 10 + 5 }
    }

    #[test]
    fn an_address_that_is_used_once_is_rare_if_a_near_one_is_frequent_at_its_place() {
        let position = |function| Position { function, argument: Some(0) };
        let mut repeats = Repeats::default();
        for call in 0..9 {
            repeats.add_address(position(1), 0x5555_1230, first(call));
        }
        assert_eq!(repeats.find_rare(), []);
        // Other functions, other bits and addresses that come again are usual.
        repeats.add_address(position(2), 0x5555_1231, first(20));
        repeats.add_address(position(1), 0x5555_1233, first(21));
        repeats.add_address(position(1), 0x5555_1270, first(22));
        repeats.add_address(position(3), 0x5555_1270, first(23));
        assert_eq!(repeats.find_rare(), []);
        repeats.add_address(position(1), 0x5555_1630, first(24));
        let [rare] = repeats.find_rare().try_into().unwrap();
        assert_eq!((rare.value.as_str(), rare.frequent.as_str()), ("0x55551630", "0x55551230"));
        assert_eq!((rare.count, rare.at.call), (9, 24));
    }

    #[test]
    fn a_word_that_is_used_once_is_rare_if_a_near_one_comes_again() {
        let mut repeats = Repeats::default();
        repeats.add_text(b"GL_ARB_multisample GL_EXT_abgr", first(1));
        repeats.add_text(b"GL_ARB_multisample GL_EXT_bgra GL_EXT_abgr", first(2));
        assert_eq!(repeats.find_rare(), []);
        repeats.add_text(b"GL_EXT_abgr GL_ARB_mu,tisample", first(3));
        let [rare] = repeats.find_rare().try_into().unwrap();
        assert_eq!(rare.value, "GL_ARB_mu,tisample");
        assert_eq!((rare.at.at, rare.at.end), (42, 60));
    }

    #[test]
    fn values_are_counted_up_to_a_limit() {
        let mut repeats = Repeats::default();
        let position = Position { function: 1, argument: None };
        let mut words = Vec::new();
        for number in 0..=to_u64(ADDRESSES_MAX) {
            repeats.add_address(position, ADDRESS_MIN + number, first(number));
            words.extend(format!("GL_WORD_{number:06} ").bytes());
        }
        repeats.add_text(&words, first(0));
        assert_eq!((repeats.addresses.len(), repeats.words.len()), (ADDRESSES_MAX, WORDS_MAX));
        for _ in 0..2 * ODD_MAX {
            repeats.add_text(b"GL_ARB_shad%r_clock", first(1));
        }
        assert_eq!(repeats.odd().len(), ODD_MAX);
    }

    #[test]
    fn a_character_is_odd_if_it_is_the_only_one_in_a_list_of_names() {
        let odd = |text: &str| find_odd(text.as_bytes());
        assert_eq!(odd("GL_ARB_sync GL_EXT_a,gr"), Some(20));
        assert_eq!(odd("GL_ARB_shader_clock"), None);
        assert_eq!(odd("GL_ARB_shad%r_clock"), Some(11));
        for sound in ["", "4.5 (Compatibility)", "GL_INVALID_ENUM: glBegin", "#define GL_ES 1;"] {
            assert_eq!(odd(sound), None, "{sound}");
        }
    }
}

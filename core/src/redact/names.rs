//! Pseudonyms: a number for each name, so that equal names stay equal.
//!
//! The number counts names of one length in the order in which they are met. It is not a hash of
//! the name: the hash of a short private text can be guessed.

use std::collections::BTreeMap;

/// The pseudonyms of one recording.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: BTreeMap<Vec<u8>, u64>,
    /// The last number for each length.
    last: BTreeMap<usize, u64>,
    /// Names of each length whose number does not fit.
    shared: BTreeMap<usize, u64>,
    /// Bytes of all names.
    pub(super) held: u64,
}

/// Bytes of memory that a name takes besides its own.
const NAME_COST: u64 = 64;

impl Names {
    /// Returns the pseudonym of a name: `_` and its number, as long as the name. Names whose number
    /// does not fit share one.
    pub(super) fn pseudonym(&mut self, name: &[u8]) -> Vec<u8> {
        let len = name.len();
        let known = self.numbers.get(name).copied();
        let number = known.unwrap_or_else(|| {
            let last = self.last.entry(len).or_default();
            *last = last.saturating_add(1);
            self.held = self
                .held
                .saturating_add(NAME_COST)
                .saturating_add(len.try_into().unwrap_or(u64::MAX));
            self.numbers.insert(name.to_vec(), *last);
            *last
        });
        let digits = number.to_string();
        if digits.len() < len {
            return format!("{digits:_>len$}").into_bytes();
        }
        if known.is_none() && len > 0 {
            let shared = self.shared.entry(len).or_default();
            *shared = shared.saturating_add(1);
        }
        vec![b'_'; len]
    }

    /// Returns the number of names that have a pseudonym in common with another one.
    pub(super) fn shared(&self) -> u64 {
        let together = self.shared.values().filter(|names| **names > 1);
        together.fold(0, |sum: u64, names| sum.saturating_add(*names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_equal_pseudonyms_and_others_have_others() {
        let mut names = Names::default();
        let mut of = |name: &str| String::from_utf8(names.pseudonym(name.as_bytes())).unwrap();
        assert_eq!(
            (of("host"), of("node"), of("host")),
            ("___1".into(), "___2".into(), "___1".into())
        );
        assert_eq!((of("perf-exec"), of("")), ("________1".into(), String::new()));
        assert_eq!(
            (of("a"), of("b")),
            ("_".into(), "_".into()),
            "one byte has no room for a number"
        );
        let short: Vec<String> = (0..12).map(|number| of(&format!("{}{number:x}", 'x'))).collect();
        assert_eq!((short[0].as_str(), short[8].as_str(), short[9].as_str()), ("_1", "_9", "__"));
        assert_eq!(of("xb"), "__");
        assert_eq!(names.shared(), 2 + 3, "`a` and `b`, and three of two bytes");
    }
}

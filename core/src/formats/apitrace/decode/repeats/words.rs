//! Names in texts, such as lists of extensions.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{FirstUse, OFTEN, Rare, Scope, Uses};
use crate::kit::num::to_u64;
use crate::kit::text::Untrusted;

/// Uses from which a word is frequent: a driver lists its names a few times.
const WORD_OFTEN: u32 = 2;
/// The words that are looked at: names of extensions and constants.
const WORD_LEN: std::ops::RangeInclusive<usize> = 8..=64;
/// Words that are counted; later ones are not. Lists of extensions have some hundred words, and
/// each word that is used once is compared with 512 others.
const WORDS_MAX: usize = 1 << 13;
/// Unusual characters that are reported.
const ODD_MAX: usize = 1 << 10;
/// Letters from which a part of a name is a word that is not another one with a letter changed. Of
/// the 1,062 extensions in the header files of GL, GLX, EGL and GLES, 2 pairs of parts are so near.
const PART_LEN_MIN: usize = 5;
/// The parts that name the API and the vendor: `GL` and `ARB` of `GL_ARB_sync`.
const PREFIXES: usize = 2;

/// The words of a trace.
#[derive(Debug, Default)]
pub(super) struct Words {
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

impl Words {
    /// Counts the words of a text of names, which begins at `first.at`.
    pub(super) fn add_text(&mut self, text: &[u8], first: FirstUse) {
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

    fn add_word(&mut self, word: &[u8], first: FirstUse) {
        let is_full = self.words.len() >= WORDS_MAX;
        let key = hash(word);
        if let Some((uses, _)) = self.words.get_mut(&key) {
            uses.count = uses.count.saturating_add(1);
        } else if !is_full {
            self.words.insert(key, (Uses { count: 1, first }, word.to_vec()));
        }
    }

    pub(super) fn odd(&self) -> &[Odd] {
        &self.odd
    }

    fn count(&self, word: &[u8]) -> u32 {
        let found = self.words.get(&hash(word)).filter(|(_, found)| found == word);
        found.map_or(0, |(uses, _)| uses.count)
    }

    /// Returns the words that are used once and differ in one bit from a frequent one, or from one
    /// of known parts.
    pub(super) fn find_rare<'a>(&self, names: impl Iterator<Item = &'a [u8]>) -> Vec<Rare> {
        let single = || self.words.values().filter(|(uses, _)| uses.count == 1);
        if single().next().is_none() {
            return Vec::new();
        }
        let parts = Parts::new(self, names);
        let rare = |uses: &Uses, word: &[u8], near: &[u8], count, scope| {
            let (value, frequent) = (Untrusted(word).to_string(), Untrusted(near).to_string());
            Rare { value, frequent, count, at: uses.first, scope }
        };
        let found = single().filter_map(|(uses, word)| {
            let is_frequent = |near: &[u8], _| self.count(near) >= WORD_OFTEN;
            if let Some(near) = find_near(word, is_frequent) {
                return Some(rare(uses, word, &near, self.count(&near), Scope::Trace));
            }
            let near = find_near(word, |near, index| parts.explain(word, near, index))?;
            Some(rare(uses, word, &near, 0, Scope::Names))
        });
        found.collect()
    }
}

/// Returns the first text that differs from `word` in one bit and for which `holds`, which takes
/// the index of the byte, too.
fn find_near(word: &[u8], holds: impl Fn(&[u8], usize) -> bool) -> Option<Vec<u8>> {
    let mut near = word.to_vec();
    for index in 0..word.len() {
        for bit in 0..8 {
            *near.get_mut(index)? ^= 1_u8.wrapping_shl(bit);
            if holds(&near, index) {
                return Some(near);
            }
            *near.get_mut(index)? ^= 1_u8.wrapping_shl(bit);
        }
    }
    None
}

/// The parts of all names: `GL`, `ARB` and `sync` of `GL_ARB_sync`.
struct Parts<'a> {
    words: &'a Words,
    /// Words with the part, by its index up to the first that is not a prefix.
    counts: HashMap<(usize, &'a [u8]), u32>,
    /// Parts of the names that enums list, in small letters.
    names: HashSet<Vec<u8>>,
}

impl<'a> Parts<'a> {
    fn new<'n>(words: &'a Words, names: impl Iterator<Item = &'n [u8]>) -> Self {
        let mut counts: HashMap<(usize, &[u8]), u32> = HashMap::new();
        let all = words.words.values();
        let parts = all.flat_map(|(_, word)| word.split(|byte| *byte == b'_').enumerate());
        parts.for_each(|(index, part)| {
            let count = counts.entry((index.min(PREFIXES), part)).or_default();
            *count = count.saturating_add(1);
        });
        let parts = names.flat_map(|name| name.split(|byte| *byte == b'_'));
        let long = parts.filter(|part| part.len() >= PART_LEN_MIN);
        Self { words, counts, names: long.map(<[u8]>::to_ascii_lowercase).collect() }
    }

    /// Whether `word` with an unknown part at `index` becomes `near` with known ones there.
    fn explain(&self, word: &[u8], near: &[u8], index: usize) -> bool {
        let (Some(was), Some(is)) = (word.get(index), near.get(index)) else { return false };
        let (before, after) = (near.get(..index), near.get(index.saturating_add(1)..));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        match is {
            b' ' => [before, after].iter().all(|one| self.words.count(one) > 0),
            b'_' => {
                let rank = rank(before, before.len());
                let left = before.rsplit(|byte| *byte == b'_').next().unwrap_or_default();
                let right = after.split(|byte| *byte == b'_').next().unwrap_or_default();
                self.is_usual(rank, left) && self.is_usual(rank.saturating_add(1), right)
            }
            _ if *was == b'_' || !is.is_ascii_alphabetic() => false,
            // `sampler` and `samples` are both words.
            b'r' | b's' if matches!(was, b'r' | b's') && matches!(after, [] | [b'_', ..]) => false,
            _ => {
                let rank = rank(word, index);
                let is_unknown = !self.is_known(rank, part_at(word, index));
                is_unknown && self.is_usual(rank, part_at(near, index))
            }
        }
    }

    /// Whether another word has the part.
    fn is_known(&self, rank: usize, part: &[u8]) -> bool {
        self.count(rank, part) > 1 || (rank >= PREFIXES && self.names.contains(part))
    }

    /// Whether the part can be no other one that is damaged.
    fn is_usual(&self, rank: usize, part: &[u8]) -> bool {
        match rank < PREFIXES {
            true => self.count(rank, part) >= OFTEN,
            false => part.len() >= PART_LEN_MIN && self.is_known(rank, part),
        }
    }

    fn count(&self, rank: usize, part: &[u8]) -> u32 {
        self.counts.get(&(rank.min(PREFIXES), part)).copied().unwrap_or(0)
    }
}

/// Returns the number of parts before the one at `index`.
fn rank(word: &[u8], index: usize) -> usize {
    word.iter().take(index).filter(|byte| **byte == b'_').count()
}

/// Returns the part of a word at `index`.
fn part_at(word: &[u8], index: usize) -> &[u8] {
    let (before, after) = word.split_at_checked(index).unwrap_or_default();
    let start = before.iter().rposition(|byte| *byte == b'_').map_or(0, |at| at.saturating_add(1));
    let len = after.iter().position(|byte| *byte == b'_').unwrap_or(after.len());
    word.get(start..index.saturating_add(len)).unwrap_or_default()
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

    fn first(at: u64) -> FirstUse {
        FirstUse { call: 1, argument: Some(0), at, end: at + 5 }
    }

    fn rare(texts: &[&str], names: &[&str]) -> Vec<(String, String)> {
        let mut words = Words::default();
        (0..).zip(texts).for_each(|(at, text)| words.add_text(text.as_bytes(), first(at * 1000)));
        let found = words.find_rare(names.iter().map(|name| name.as_bytes()));
        found.into_iter().map(|one| (one.value, one.frequent)).collect()
    }

    fn pair(value: &str, frequent: &str) -> Vec<(String, String)> {
        vec![(value.to_string(), frequent.to_string())]
    }

    #[test]
    fn a_word_that_is_used_once_is_rare_if_a_near_one_comes_again() {
        let sound = ["GL_ARB_multisample GL_EXT_abgr", "GL_ARB_multisample GL_EXT_bgra"];
        assert_eq!(rare(&sound, &[]), []);
        let found = rare(&[sound[0], sound[1], "GL_EXT_abgr GL_ARB_mu,tisample"], &[]);
        assert_eq!(found, pair("GL_ARB_mu,tisample", "GL_ARB_multisample"));
    }

    #[test]
    fn a_part_of_a_name_is_rare_if_a_near_one_is_part_of_others() {
        let others = "GL_ARB_texture_a GL_ARB_texture_b GL_EXT_texture_c";
        let found = pair("GL_NV_textuse_clamp", "GL_NV_texture_clamp");
        assert_eq!(rare(&[others, "GL_NV_textuse_clamp"], &[]), found);
        let found = pair("GL_EXT_contrkl", "GL_EXT_control");
        assert_eq!(rare(&["GL_EXT_contrkl"], &["GL_CLIP_CONTROL"]), found);
        assert_eq!(rare(&["GL_EXT_contrkl"], &["GL_CLIP_CONTROLS"]), []);
        // Digits count versions, short parts are often near, and known ones are sound.
        let sound = "GL_EXT_shader5 GL_EXT_shader4 GL_ARB_shader4 GL_EXT_rg GL_EXT_vg GL_ARB_rg";
        assert_eq!(rare(&[sound], &["GL_SAMPLER", "GL_SAMPLES"]), []);
        assert_eq!(rare(&["GL_EXT_sampler"], &["GL_SAMPLER", "GL_SAMPLES"]), []);
        assert_eq!(rare(&["GL_EXT_sampler_a"], &["GL_SAMPLES"]), []);
    }

    #[test]
    fn a_prefix_or_a_separator_is_rare_if_many_names_have_another_one() {
        let many: Vec<String> = (0..9).map(|index| format!("GL_EXT_texture{index}")).collect();
        let many = many.join(" ");
        let found = |value| rare(&[many.as_str(), value], &["GL_BORDER_CLAMP"]);
        assert_eq!(found("GL_GXT_abgr"), pair("GL_GXT_abgr", "GL_EXT_abgr"));
        assert_eq!(found("WL_EXT_abgr"), pair("WL_EXT_abgr", "GL_EXT_abgr"));
        assert_eq!(found("GLWEXT_abgr"), pair("GLWEXT_abgr", "GL_EXT_abgr"));
        let value = "GL_EXT_borderWclamp";
        assert_eq!(found(value), pair(value, "GL_EXT_border_clamp"));
        let value = "GL_EXT_texture10GL_EXT_texture2";
        assert_eq!(found(value), pair(value, "GL_EXT_texture1 GL_EXT_texture2"));
        assert_eq!(found("WGL_EXT_abgr"), []);
    }

    #[test]
    fn words_are_counted_up_to_a_limit() {
        let mut words = Words::default();
        let names: Vec<String> = (0..=WORDS_MAX).map(|n| format!("GL_WORD_{n:06}")).collect();
        words.add_text(names.join(" ").as_bytes(), first(0));
        assert_eq!(words.words.len(), WORDS_MAX);
        for _ in 0..2 * ODD_MAX {
            words.add_text(b"GL_ARB_shad%r_clock", first(1));
        }
        assert_eq!(words.odd().len(), ODD_MAX);
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

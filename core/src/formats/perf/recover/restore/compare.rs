//! Which of two copies of an attr is damaged, word by word.
//!
//! | evidence | proof? |
//! |---|---|
//! | a size or a bit that does not exist | yes |
//! | more records are read to their end | yes |
//! | fewer odd values | no: real recordings have some, and zeros are never odd |
//! | the name of the event, CMDLINE, the records (`hints`) | no |
//! | the other attrs have the value | no: events differ |
//!
//! Damage is contiguous, so a proof for one word holds for the words that adjoin it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::attr_copies::{AttrCopies, AttrHome, MOST_RECORDS};
use super::{Correction, Part, odd_values};
use crate::formats::perf::decode::attr;
use crate::formats::perf::decode::attr_bytes::AttrBytes;
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::attr::{WORDS, at};
use crate::formats::perf::layout::{TYPE_TRACEPOINT, field, record};
use crate::kit::cursor::Cursor;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Layer;

/// A word in which an attr and its copy differ, and which of them is right.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    /// Offset in the attr.
    word: u64,
    /// Value in the attr table.
    here: u64,
    /// Value in EVENT_DESC.
    other: u64,
    /// Whether the attr table is right; `None` if nothing decides.
    is_right: Option<bool>,
    is_proven: bool,
    /// Whether perf reads the recording alike with either value.
    is_unused: bool,
    /// Whether no recorder writes the value that is right into such an attr, either.
    is_odd: bool,
}

impl Verdict {
    /// Returns the value that is right, or that of EVENT_DESC if nothing decides.
    fn winner(&self) -> u64 {
        if self.is_right == Some(true) { self.here } else { self.other }
    }
}

/// An attr as both copies have it, and the records that each explains.
struct Pair {
    index: usize,
    table: Vec<u8>,
    copy: Vec<u8>,
    /// Whether the copy in EVENT_DESC, with all of its words, explains more records.
    is_copy_better: bool,
}

impl AttrCopies<'_> {
    /// Decides for each word in which an attr and its copy differ which of them is damaged.
    pub(super) fn compare_attr(&self, index: usize, attr: u64, copy: u64) -> Vec<Correction> {
        let read = |start: u64| self.peek.bytes(start, start.saturating_add(self.size));
        let (table, described) = (read(attr).into_owned(), read(copy).into_owned());
        if table == described {
            return Vec::new();
        }
        let is_copy_better = self.compare_explained(index, &described, &table).is_gt();
        let pair = Pair { index, table, copy: described, is_copy_better };
        let mut verdicts = Vec::new();
        for word in (0..self.size).step_by(8) {
            let places = (attr.saturating_add(word), copy.saturating_add(word));
            let values = (self.peek.u64(places.0), self.peek.u64(places.1));
            if let (Some(here), Some(other)) = values
                && here != other
            {
                verdicts.push(self.judge(&pair, word, here, other));
            }
        }
        spread_proof(&mut verdicts);
        let kinds = [&pair.table, &pair.copy].map(|bytes| self.attr(bytes).word(at::TYPE));
        doubt_values(&mut verdicts, kinds.contains(&TYPE_TRACEPOINT.into()));
        self.correct(index, (attr, copy), &verdicts)
    }

    /// Builds the corrections of both copies; those that are proven apart from the others.
    fn correct(
        &self,
        index: usize,
        (attr, copy): (u64, u64),
        verdicts: &[Verdict],
    ) -> Vec<Correction> {
        // A witness is not damaged itself.
        let decided = || verdicts.iter().filter_map(|verdict| verdict.is_right);
        let is_split = decided().any(|right| right) && decided().any(|right| !right);
        let (home, (size_at, size_len, size)) = match &self.home {
            AttrHome::Table(_) => {
                ("attr in the attr table", (field::ATTR_SIZE, 8, "header.attr_size"))
            }
            AttrHome::Pipe(piped) => {
                ("attr in HEADER_ATTR", (piped.size_at, 4, "attr_size in EVENT_DESC"))
            }
        };
        let mut corrections = Vec::new();
        for kind in 0..8_u8 {
            let [is_right, is_proven, is_unused] = [4, 2, 1].map(|bit| kind & bit != 0);
            let (part, witness, meaning) = match is_right {
                false => (Part::Attr(index), copy, "copy of the attr in EVENT_DESC"),
                true => (Part::DescribedAttr(index), attr, home),
            };
            let mut correction =
                Correction::new(part).determined_if(is_proven).harmless_if(is_unused);
            correction = match is_split {
                true => correction.witness(size_at, size_len, size),
                false => correction.witness(witness, self.size, meaning),
            };
            let is_meant = |verdict: &&Verdict| {
                verdict.is_right == Some(is_right)
                    && verdict.is_proven == is_proven
                    && verdict.is_unused == is_unused
            };
            for Verdict { word, here, other, .. } in verdicts.iter().filter(is_meant) {
                correction = match is_right {
                    false => correction.word(attr.saturating_add(*word), *here, *other),
                    true => correction.word(copy.saturating_add(*word), *other, *here),
                };
            }
            corrections.push(correction);
        }
        corrections
    }

    /// Decides whether the word of the attr table or that of EVENT_DESC is right.
    fn judge(&self, pair: &Pair, word: u64, here: u64, other: u64) -> Verdict {
        let base = if pair.is_copy_better { &pair.copy } else { &pair.table };
        let [mine, theirs] = [here, other].map(|value| self.with_word(base, word, value));
        let proof = self.prove(pair.index, word, &mine, &theirs);
        let guess = || {
            let [mine, theirs] = [&mine, &theirs].map(|bytes| {
                let attr = self.attr(bytes);
                odd_values::count(attr).saturating_add(odd_values::count_unusual(attr))
            });
            let hint = || self.hint(pair.index, word, here, other);
            // The name tells more about the event than values that its type does not have.
            let named = if word <= at::CONFIG { hint() } else { None };
            named.or_else(|| match mine == theirs {
                true => hint().or_else(|| self.compare_siblings(pair.index, word, here, other)),
                false => Some(mine < theirs),
            })
        };
        let is_right = proof.or_else(guess);
        let differ = self.with_word(&vec![0; base.len()], word, here ^ other);
        let is_unused = odd_values::is_unused(self.attr(&differ));
        let right = if is_right == Some(true) { &mine } else { &theirs };
        let is_odd = is_right.is_some() && odd_values::is_odd(self.attr(right), word);
        Verdict { word, here, other, is_right, is_proven: proof.is_some(), is_unused, is_odd }
    }

    /// Returns which of two attrs that differ in one word is proven to be right.
    fn prove(&self, index: usize, word: u64, mine: &[u8], theirs: &[u8]) -> Option<bool> {
        let is_possible = [mine, theirs].map(|bytes| odd_values::is_possible(self.attr(bytes)));
        if let [mine, theirs] = is_possible
            && mine != theirs
        {
            return Some(mine);
        }
        // The words on which the layout of records depends.
        if !WORDS.iter().any(|one| one.at & !7 == word && one.is_layout()) {
            return None;
        }
        let order = self.compare_explained(index, mine, theirs);
        order.is_ne().then_some(order.is_gt())
    }

    /// Returns whether more of the other attrs have `here` at `word` than `other`.
    fn compare_siblings(&self, index: usize, word: u64, here: u64, other: u64) -> Option<bool> {
        let siblings = self.attrs.iter().enumerate().filter(|(other, _)| *other != index);
        let values = siblings.filter_map(|(_, attr)| self.peek.u64(attr.saturating_add(word)));
        let (mut mine, mut theirs) = (0_u64, 0_u64);
        for value in values {
            mine = mine.saturating_add(u64::from(value == here));
            theirs = theirs.saturating_add(u64::from(value == other));
        }
        (mine != theirs).then_some(mine > theirs)
    }

    /// Whether all attrs of the table are possible after `corrections`. Otherwise more is damaged
    /// than was found, perhaps all offsets.
    pub(super) fn are_possible(&self, corrections: &[Correction]) -> bool {
        let of_attrs = corrections.iter().filter(|one| matches!(one.part, Part::Attr(_)));
        let words = of_attrs.flat_map(|one| &one.words).map(|word| (word.at, word.value));
        let words: BTreeMap<u64, u64> = words.collect();
        self.attrs.iter().all(|start| {
            let end = start.saturating_add(self.size);
            let mut bytes = self.peek.bytes(*start, end).into_owned();
            for (at, value) in words.range(*start..end) {
                bytes = self.with_word(&bytes, at.saturating_sub(*start), *value);
            }
            odd_values::is_possible(self.attr(&bytes))
        })
    }

    const fn attr<'b>(&self, bytes: &'b [u8]) -> AttrBytes<'b> {
        AttrBytes { bytes, order: self.peek.order }
    }

    /// Returns an attr with another value at `word`.
    fn with_word(&self, bytes: &[u8], word: u64, value: u64) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let at = to_usize(word);
        if let Some(slot) = bytes.get_mut(at..at.saturating_add(8)) {
            slot.copy_from_slice(&self.peek.order.bytes(value));
        }
        bytes
    }

    /// Compares how many records are read to their end with two versions of attr number `index`;
    /// equal once enough has been read.
    fn compare_explained(&self, index: usize, one: &[u8], two: &[u8]) -> Ordering {
        if self.evidence_left.get() == 0 {
            return Ordering::Equal;
        }
        self.explained(index, one).cmp(&self.explained(index, two))
    }

    /// Notes that records, attrs or ids were read as evidence.
    pub(super) fn spend_evidence(&self, count: usize) {
        self.evidence_left.set(self.evidence_left.get().saturating_sub(to_u64(count)));
    }

    /// Counts the records that are read to their end if attr number `index` has these bytes.
    fn explained(&self, index: usize, bytes: &[u8]) -> u64 {
        let Some(events) = self.events(Some((index, bytes))) else { return 0 };
        let mut explained = 0_u64;
        for (number, record) in (0..).zip(self.records().take(MOST_RECORDS)) {
            let view = record.view(Layer::stored(0), number);
            let is_whole = if record.frame.kind == record::SAMPLE {
                let read = events.read_sample(&view, &mut Sample::default());
                matches!(read, SampleRead::Complete { trailing: 0, .. })
            } else {
                events.fits(&view)
            };
            explained = explained.saturating_add(u64::from(is_whole));
            self.spend_evidence(1);
        }
        explained
    }

    /// Returns the events of the attr table, of which one attr may have other bytes.
    pub(super) fn events(&self, other: Option<(usize, &[u8])>) -> Option<Events> {
        let order = self.peek.order;
        let mut events = Events::new(order);
        let sections = self.id_sections().unwrap_or_default();
        for (number, start) in self.attrs.iter().enumerate() {
            let stored = self.peek.bytes(*start, start.saturating_add(self.size));
            let bytes = match other {
                Some((index, bytes)) if index == number => bytes,
                _ => &*stored,
            };
            let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
            let attr = attr::attr(&mut cursor, order).ok()?;
            let ids = sections.get(number).map(|section| self.ids(*section)).unwrap_or_default();
            self.spend_evidence(ids.len().saturating_add(1));
            events.push(attr, ids);
        }
        Some(events)
    }
}

/// Extends the proof of a word to the words that adjoin it and were decided alike.
fn spread_proof(verdicts: &mut [Verdict]) {
    let adjoins = |one: &Verdict, next: &Verdict| {
        one.word.checked_add(8) == Some(next.word) && one.is_right == next.is_right
    };
    let runs = verdicts.chunk_by_mut(adjoins);
    for run in runs {
        let is_proven = run.iter().any(|verdict| verdict.is_proven);
        run.iter_mut().for_each(|verdict| verdict.is_proven = is_proven);
    }
}

/// Takes back the proofs for zeros and for odd values if both copies are damaged: damage leaves
/// zeros, they are always possible, and that the other value is wrong does not show that this one
/// is right. Both are damaged if either has right words, or if a word that recorders write is 0 in
/// the better one, or one that they leave 0 is not. The period may be: that of a dummy event is 0.
fn doubt_values(verdicts: &mut [Verdict], is_tracepoint: bool) {
    let has = |right| verdicts.iter().any(|verdict| verdict.is_right == Some(right));
    let is_blank = |verdict: &Verdict| {
        let has_value = match verdict.word {
            at::SAMPLE_TYPE | at::FLAGS => true,
            at::CONFIG => is_tracepoint,
            _ => false,
        };
        has_value && verdict.is_right.is_some() && verdict.winner() == 0
    };
    let is_wrong = |verdict: &Verdict| verdict.is_odd || is_blank(verdict);
    let are_both_damaged = has(true) && has(false) || verdicts.iter().any(is_wrong);
    for verdict in verdicts.iter_mut().filter(|_| are_both_damaged) {
        verdict.is_proven &= verdict.winner() != 0 && !verdict.is_odd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_words_that_adjoin_and_are_decided_alike() {
        let verdict = |word, is_right, is_proven| Verdict {
            word,
            here: 0,
            other: 1,
            is_right: Some(is_right),
            is_proven,
            is_unused: false,
            is_odd: false,
        };
        let mut verdicts = [
            verdict(8, true, false),
            verdict(24, true, true),
            verdict(32, true, false),
            verdict(40, false, false),
            verdict(80, true, false),
        ];
        spread_proof(&mut verdicts);
        let proven = verdicts.map(|verdict| verdict.is_proven);
        assert_eq!(proven, [false, true, true, false, false]);
    }

    #[test]
    fn zeros_and_odd_values_prove_nothing_if_both_copies_are_damaged() {
        let verdict = |word, is_right, here| Verdict {
            word,
            here,
            other: 1,
            is_right: Some(is_right),
            is_proven: true,
            is_unused: false,
            is_odd: false,
        };
        let proven = |mut verdicts: [Verdict; 3]| {
            doubt_values(&mut verdicts, false);
            verdicts.map(|verdict| verdict.is_proven)
        };
        let both = [verdict(0, false, 0), verdict(16, true, 0), verdict(24, true, 2)];
        assert_eq!(proven(both), [true, false, true]);
        let one = [verdict(0, true, 0), verdict(32, true, 0), verdict(24, true, 2)];
        assert_eq!(proven(one), [true; 3]);
        // No recorder writes an event without fields of its samples.
        let blank = [verdict(0, true, 1), verdict(24, true, 0), verdict(32, true, 0)];
        assert_eq!(proven(blank), [true, false, false]);
        let odd = |verdict| Verdict { is_odd: true, ..verdict };
        let wrong = [verdict(0, true, 1), odd(verdict(24, true, 2)), verdict(32, true, 0)];
        assert_eq!(proven(wrong), [true, false, false]);
    }
}

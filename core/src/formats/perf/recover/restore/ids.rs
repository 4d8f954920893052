//! The ids of the events, by the votes of their copies and of the samples.

use std::collections::{BTreeMap, BTreeSet};

use super::attr_copies::{AttrCopies, MOST_IDS, MOST_RECORDS};
use super::{Correction, Part};
use crate::formats::perf::decode::event::SampleRead;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::num::to_u64;
use crate::kit::race::leader;
use crate::kit::span::Layer;

/// Most ids that are compared with those that samples name.
const MOST_NAMED: usize = 4096;
/// AttrCopies and samples that must have an id, so that it is certain.
const LEAST_WITNESSES: u64 = 2;
/// Records among which ID_INDEX is looked for: perf writes it before the first sample.
pub(super) const INDEX_RECORDS: usize = 4096;
/// Size of an entry of ID_INDEX: id, index, CPU and thread.
const INDEX_ENTRY: u64 = 32;

impl AttrCopies<'_> {
    /// Compares the ids of the attr table, of EVENT_DESC and of ID_INDEX.
    pub(super) fn correct_ids(&self, sections: &[Section]) -> Vec<Correction> {
        let total = sections.iter().fold(0_u64, |sum, one| sum.saturating_add(one.size >> 3));
        if total > MOST_IDS {
            return Vec::new();
        }
        let places = |section: &Section| {
            let (start, count) = (section.offset, section.size >> 3);
            (0..count).map(move |index| start.saturating_add(index.saturating_mul(8)))
        };
        let table: Vec<u64> = sections.iter().flat_map(places).collect();
        let described: Vec<u64> = self.described.iter().flat_map(|one| places(&one.ids)).collect();
        let described = if described.len() == table.len() { described } else { Vec::new() };
        let index = self.index_places();
        let index = if index.len() == table.len() { index } else { Vec::new() };
        if described.is_empty() && index.is_empty() {
            return self.correct_id_by_samples(sections, &table).into_iter().collect();
        }
        let lists = [(Part::Ids, table), (Part::DescribedIds, described), (Part::IdIndex, index)];
        let count = lists.iter().map(|(_, places)| places.len()).max().unwrap_or(0);
        let mut evidence: Option<Evidence> = None;
        let mut corrections = Vec::new();
        for number in 0..count {
            let copies = lists.iter().filter_map(|list| self.copy(list, number));
            let copies: Vec<IdCopy> = copies.collect();
            if copies.windows(2).all(|pair| matches!(pair, [one, two] if one.id == two.id)) {
                continue;
            }
            let evidence = evidence.get_or_insert_with(|| self.evidence(sections, &lists));
            let Some((right, weight)) = evidence.choose(&copies, number) else { continue };
            for copy in copies.iter().filter(|copy| copy.id != right.id) {
                let correction = Correction::new(copy.part)
                    .word(copy.at, copy.id, right.id)
                    .witness(right.at, 8, "copy of the id")
                    .determined_if(weight >= LEAST_WITNESSES || right.is_in_sequence);
                corrections.push(correction);
            }
        }
        merge(corrections)
    }

    /// Whether two lists have the same ids, each once.
    fn are_equal(&self, one: &[u64], other: &[u64]) -> bool {
        let ids = |places: &[u64]| -> Option<Vec<u64>> {
            places.iter().map(|at| self.peek.u64(*at).filter(|id| *id != 0)).collect()
        };
        let Some(found) = ids(one) else { return false };
        let distinct: BTreeSet<u64> = found.iter().copied().collect();
        distinct.len() == found.len() && ids(other) == Some(found)
    }

    fn copy(&self, (part, places): &(Part, Vec<u64>), number: usize) -> Option<IdCopy> {
        let at = *places.get(number)?;
        let id = self.peek.u64(at)?;
        let has = |other: Option<usize>, id: Option<u64>| {
            let found = other.and_then(|other| self.peek.u64(*places.get(other)?));
            found.is_some() && found == id
        };
        let is_in_sequence = has(number.checked_sub(1), id.checked_sub(1))
            || has(number.checked_add(1), id.checked_add(1));
        Some(IdCopy { part: *part, at, id, is_in_sequence })
    }

    fn evidence(&self, sections: &[Section], lists: &[(Part, Vec<u64>); 3]) -> Evidence {
        let places = lists.iter().flat_map(|(_, places)| places.iter().enumerate());
        let owners = places.filter_map(|(number, at)| Some((self.peek.u64(*at)?, number)));
        let mut owners: Vec<(u64, usize)> = owners.collect();
        owners.sort_unstable();
        let [_, (_, described), (_, index)] = lists;
        let has_agreed = !index.is_empty() && self.are_equal(described, index);
        Evidence { named: self.named_ids(sections), owners, has_agreed }
    }

    /// Corrects the only id that no sample names, if samples name one that is not there.
    fn correct_id_by_samples(&self, sections: &[Section], table: &[u64]) -> Option<Correction> {
        // With a part of the ids, those of the other part would be strange.
        if table.len() > MOST_NAMED {
            return None;
        }
        let ids = table.iter().filter_map(|at| Some((*at, self.peek.u64(*at)?)));
        let ids: Vec<(u64, u64)> = ids.collect();
        let is_known = |named: &u64| ids.iter().any(|(_, id)| id == named);
        let named = self.named_ids(sections);
        let mut strange = named.iter().filter(|(id, _)| !is_known(id));
        let (id, count) = strange.next()?;
        let mut silent = ids.iter().filter(|(_, id)| !named.contains_key(id));
        let (at, found) = silent.next()?;
        if strange.next().is_some() || silent.next().is_some() {
            return None;
        }
        // A single sample may have the damaged id: that of another one with fewer other bits.
        let distance = |known: u64| (known ^ id).count_ones();
        let is_like_another = ids.iter().any(|(_, known)| distance(*known) < distance(*found));
        if *count < LEAST_WITNESSES && is_like_another && !is_in_gap(&ids, *at, *id) {
            return None;
        }
        let data = self.data;
        let correction = Correction::new(Part::Ids).word(*at, *found, *id);
        Some(match *count >= LEAST_WITNESSES {
            true => correction.witness(data.offset, data.size, "samples that name the id"),
            false => correction,
        })
    }

    /// Returns the offsets of the ids in the ID_INDEX records among the first records: perf splits
    /// a long list. None if a record repeats an id of another one, so that they are several lists.
    fn index_places(&self) -> Vec<u64> {
        let (mut places, mut earlier) = (Vec::new(), BTreeSet::new());
        for record in self.records().take(INDEX_RECORDS) {
            if record.frame.kind != record::ID_INDEX {
                continue;
            }
            let start = record.offset.saturating_add(RECORD_HEADER);
            let count = self.peek.u64(start).unwrap_or(0);
            let room = record.frame.size.saturating_sub(16) / INDEX_ENTRY;
            let first = start.saturating_add(8);
            let place = |index: u64| first.saturating_add(index.saturating_mul(INDEX_ENTRY));
            let listed: Vec<u64> = (0..count.min(room)).map(place).collect();
            let ids = listed.iter().filter_map(|at| self.peek.u64(*at));
            let ids: BTreeSet<u64> = ids.filter(|id| *id != 0).collect();
            if !earlier.is_disjoint(&ids) {
                return Vec::new();
            }
            earlier.extend(ids);
            places.extend(listed);
        }
        places
    }

    /// Counts the ids that samples and counter values of perf stat name. A sample of an unknown
    /// event may have another layout than the others, so it names no id of a counter value.
    fn named_ids(&self, sections: &[Section]) -> BTreeMap<u64, u64> {
        let mut named = BTreeMap::new();
        let events = self.events_with_ids(sections);
        for (number, record) in (0..).zip(self.records().take(MOST_RECORDS)) {
            let view = record.view(Layer::stored(0), number);
            let mut ids: BTreeSet<u64> = events.id_of(&view).into_iter().collect();
            let mut sample = Sample::default();
            if record.frame.kind == record::SAMPLE
                && let SampleRead::Complete { attr, .. } = events.read_sample(&view, &mut sample)
            {
                ids.extend(events.value_ids(&view, &sample, attr));
            }
            if record.frame.kind == record::STAT {
                let id = record.offset.saturating_add(RECORD_HEADER);
                ids.extend(self.peek.u64(id));
            }
            for id in ids.into_iter().filter(|id| *id != 0) {
                let count: &mut u64 = named.entry(id).or_default();
                *count = count.saturating_add(1);
            }
        }
        named
    }
}

/// Whether an id instead of that at `at` follows or precedes the one beside it: the kernel counts.
fn is_in_gap(ids: &[(u64, u64)], at: u64, id: u64) -> bool {
    let follows = |one: u64, next: u64| one.checked_add(1) == Some(next);
    ids.windows(2).any(|pair| match pair {
        [(_, one), (place, _)] if *place == at => follows(*one, id),
        [(place, _), (_, next)] if *place == at => follows(id, *next),
        _ => false,
    })
}

/// An id in one of the lists.
struct IdCopy {
    part: Part,
    at: u64,
    id: u64,
    /// Whether a neighbour in the list has the number before or after: the kernel counts the ids,
    /// and perf opens an event for one CPU after the other.
    is_in_sequence: bool,
}

/// Which of several copies of an id is right.
struct Evidence {
    /// The ids that samples name, and how many do.
    named: BTreeMap<u64, u64>,
    /// Each id with its number in a list, in order.
    owners: Vec<(u64, usize)>,
    /// Whether EVENT_DESC and ID_INDEX have the same ids throughout: they are right where those of
    /// the attrs moved as a whole.
    has_agreed: bool,
}

impl Evidence {
    /// Returns the copy with the most witnesses, and their number. Each event has an id of its own,
    /// so that of another number is none: a list that moved gives each event that of its neighbour.
    fn choose<'a>(&self, copies: &'a [IdCopy], number: usize) -> Option<(&'a IdCopy, u64)> {
        if self.has_agreed {
            return copies.last().map(|copy| (copy, LEAST_WITNESSES));
        }
        // AttrCopies with the same id are one candidate.
        let by_id: BTreeMap<u64, &IdCopy> = copies.iter().map(|copy| (copy.id, copy)).collect();
        let weigh = |(id, copy)| (copy, self.weight(copies, (id, number)));
        leader(by_id.into_iter().map(weigh), 1).filter(|(best, _)| self.is_own(best.id, number))
    }

    /// Whether no list has an id at another number.
    fn is_own(&self, id: u64, number: usize) -> bool {
        let first = self.owners.partition_point(|(other, _)| *other < id);
        let mut owners = self.owners.iter().skip(first).take_while(|(other, _)| *other == id);
        owners.all(|(_, owner)| *owner == number)
    }

    /// Counts the copies that have the id, and the samples that name it as one more: those that
    /// name the id of another number are samples of that one.
    fn weight(&self, copies: &[IdCopy], (id, number): (u64, usize)) -> u64 {
        // The kernel counts ids from 1; overwritten copies may agree on these two.
        if matches!(id, 0 | u64::MAX) {
            return 0;
        }
        let copies = copies.iter().filter(|copy| copy.id == id).count();
        let is_named = self.named.contains_key(&id) && self.is_own(id, number);
        to_u64(copies).saturating_add(is_named.into())
    }
}

/// Joins the corrections of one part that are equally certain.
fn merge(corrections: Vec<Correction>) -> Vec<Correction> {
    let mut merged: Vec<Correction> = Vec::new();
    for correction in corrections {
        match merged.iter_mut().find(|one| {
            (one.part, one.is_determined) == (correction.part, correction.is_determined)
        }) {
            Some(one) => {
                one.words.extend(correction.words);
                one.witnesses.extend(correction.witnesses);
            }
            None => merged.push(correction),
        }
    }
    merged
}

//! The attrs and where their ids are, by the votes of their copies; `ids` has the ids themselves.
//!
//! ```text
//!  attr table, ids area ---+
//!  EVENT_DESC -------------+--> where two copies differ: fewer odd values, then the records that
//!  ID_INDEX ---------------+    are read without a fault, then the other attrs
//!  ids of samples ---------+
//! ```

use std::cell::Cell;
use std::collections::BTreeMap;

use super::attr_copies::{AttrCopies, AttrHome, MOST_ATTRS, MOST_EVIDENCE, MOST_IDS};
use super::described;
use super::identity;
use super::peek::Peek;
use super::salvage::{are_ids, mend_attrs};
use super::{Correction, Part};
use crate::formats::perf::decode::attr;
use crate::formats::perf::decode::attr_bytes::{AttrBytes, set_word};
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::layout::attr::at as word;
use crate::formats::perf::layout::{
    ATTR_SIZE_VER0, HEADER_SIZE, SECTION_SIZE, feature, field, is_published,
};
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;
use crate::kit::race::leader;
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::walk::Item;
use crate::model::limits::Limits;

/// Corrects attrs, the sections of their ids, and ids.
pub(super) fn restore(recording: &Recording<'_>, limits: &Limits) -> Vec<Correction> {
    let Some(copies) = AttrCopies::gather(recording) else { return Vec::new() };
    let mut corrections = Vec::new();
    let sections = copies.find_id_sections(recording);
    if let Some(sections) = &sections {
        corrections.extend(copies.correct_sections(sections));
    }
    corrections.extend(copies.correct_attrs());
    let traced = copies.correct_tracepoints(limits);
    let is_traced = |at: u64| traced.iter().flat_map(|one| &one.words).any(|word| word.at == at);
    corrections.iter_mut().for_each(|one| one.words.retain(|word| !is_traced(word.at)));
    corrections.extend(traced);
    if copies.described.is_empty() {
        // In another layout, only the attrs determine where their ids are.
        let sections = sections.clone().unwrap_or_else(|| copies.stored_id_sections());
        corrections.extend(copies.correct_unread(recording, &sections, limits));
    }
    if let Some(sections) = sections {
        copies.add_ids(&sections, &mut corrections);
    }
    copies.doubt(&mut corrections);
    corrections
}

/// Corrects the attrs and ids in the HEADER_ATTR records of a pipe by EVENT_DESC.
pub(super) fn restore_pipe(file: &RecordFile<'_>) -> Vec<Correction> {
    let Some(copies) = AttrCopies::gather_pipe(file) else { return Vec::new() };
    let mut corrections = copies.correct_attrs();
    copies.add_ids(&copies.id_sections().unwrap_or_default(), &mut corrections);
    copies.doubt(&mut corrections);
    corrections
}

impl<'a> AttrCopies<'a> {
    pub(super) fn gather(recording: &'a Recording<'a>) -> Option<Self> {
        let body = &recording.body;
        let peek = Peek { source: recording.file.source(), order: recording.order() };
        let count = body.attrs.size.checked_div(body.attr_size)?;
        let size = body.attr_size.checked_sub(SECTION_SIZE)?;
        let is_known = is_published(size);
        if !is_known || !(1..=MOST_ATTRS).contains(&count) || !body.attrs.fits(peek.len()) {
            return None;
        }
        // An attr of simpleperf may be smaller than its room, and has no copy.
        if recording.file.is_simpleperf()
            && peek.attr_size(body.attrs.offset).map(u64::from) != Some(size)
        {
            return None;
        }
        let place =
            |index: u64| body.attrs.offset.saturating_add(index.saturating_mul(body.attr_size));
        let attrs: Vec<u64> = (0..count).map(place).collect();
        let end = body.data.end().filter(|end| *end <= peek.len());
        let section = end.and_then(|end| recording.table(end).section(feature::EVENT_DESC));
        let described = section.and_then(|section| described::events(peek, section));
        let described = described
            .filter(|(desc_size, events)| *desc_size == size && events.len() == attrs.len());
        let described = described.map(|(_, events)| events).unwrap_or_default();
        let is_tight = end.is_some_and(|end| recording.table(end).is_tight(peek.len()));
        let (file, data, home) = (&recording.file, body.data, AttrHome::Table(recording));
        let evidence_left = Cell::new(MOST_EVIDENCE);
        Some(Self { file, peek, data, home, size, attrs, described, is_tight, evidence_left })
    }

    /// Adds the corrections of the ids to those of the attrs.
    fn add_ids(&self, sections: &[Section], corrections: &mut Vec<Correction>) {
        let has_wrong_attr = corrections.iter().any(|one| matches!(one.part, Part::Attr(_)));
        let ids = self.correct_ids(sections);
        // With a damaged attr, the samples do not name the ids that they seem to name.
        corrections.extend(ids.into_iter().map(|one| one.determined_if(!has_wrong_attr)));
    }

    /// Takes back what is not certain if more seems to be damaged.
    fn doubt(&self, corrections: &mut [Correction]) {
        let is_possible = self.are_possible(corrections);
        for one in corrections {
            let is_copy = matches!(one.part, Part::DescribedAttr(_) | Part::DescribedIds);
            one.is_determined &= is_possible && (self.is_tight || !is_copy);
        }
    }

    /// Returns the sections of the ids; `None` if nothing shows where they are.
    pub(super) fn id_sections(&self) -> Option<Vec<Section>> {
        match &self.home {
            AttrHome::Table(recording) => self.find_id_sections(recording),
            AttrHome::Pipe(piped) => Some(piped.ids.clone()),
        }
    }

    /// Returns the sections of the ids, if they lie one after the other between header and attrs.
    fn find_id_sections(&self, recording: &Recording<'_>) -> Option<Vec<Section>> {
        let end = *self.attrs.first()?;
        let stored: Option<Vec<Section>> = self
            .attrs
            .iter()
            .map(|attr| self.peek.section(attr.saturating_add(self.size)))
            .collect();
        let stored = stored?;
        if end <= HEADER_SIZE || recording.body.data.offset < end {
            return None;
        }
        if self.described.is_empty()
            && let Some(moved) = move_sections(&stored, end)
        {
            let ids = moved.iter().flat_map(|section| self.ids(*section)).collect();
            return are_ids(ids).then_some(moved);
        }
        if self.are_described(&stored, end) {
            return Some(stored);
        }
        let mut places = vec![HEADER_SIZE];
        let mut counted = HEADER_SIZE;
        for index in 1..stored.len() {
            let before = stored.get(index.checked_sub(1)?)?;
            let here = stored.get(index)?;
            let next = stored.get(index.saturating_add(1)).map_or(end, |next| next.offset);
            let described = self.described.get(index.checked_sub(1)?);
            let mut votes = vec![Some(here.offset), before.end(), next.checked_sub(here.size)];
            if let Some(described) = described {
                counted = counted.checked_add(described.ids.size)?;
                votes.push(Some(counted));
            }
            places.push(majority(&votes)?);
        }
        places.push(end);
        let sections = places.windows(2).map(|pair| match pair {
            [start, end] if start <= end && start & 7 == 0 => {
                Some(Section { offset: *start, size: end.saturating_sub(*start) })
            }
            _ => None,
        });
        let sections: Vec<Section> = sections.collect::<Option<_>>()?;
        // Without support by a stored section or by EVENT_DESC this is another layout.
        let pairs = || sections.iter().zip(&stored);
        let same = pairs().filter(|(new, old)| new == old).count();
        let near = pairs().filter(|(new, old)| new.offset == old.offset || new.size == old.size);
        let is_supported =
            same.saturating_mul(2) >= sections.len() || self.has_described_counts(&sections);
        let is_single = sections.len() == 1 && near.count() == 1;
        let total =
            sections.iter().fold(0_u64, |sum, section| sum.saturating_add(section.size >> 3));
        ((is_supported || is_single) && total <= MOST_IDS).then_some(sections)
    }

    /// Whether EVENT_DESC has as many ids for each event as its section.
    fn has_described_counts(&self, sections: &[Section]) -> bool {
        let mut counts = self.described.iter().zip(sections);
        !self.described.is_empty()
            && counts.all(|(described, section)| described.ids.size == section.size)
    }

    /// Whether sections adjoin from the header on, end before `attrs`, and have as many ids as
    /// EVENT_DESC has: bytes were inserted between them and the attrs.
    fn are_described(&self, sections: &[Section], attrs: u64) -> bool {
        let mut end = HEADER_SIZE;
        let adjoin = sections.iter().all(|section| {
            let follows = section.offset == end;
            end = section.offset.saturating_add(section.size);
            follows
        });
        adjoin && end < attrs && self.has_described_counts(sections)
    }

    /// Returns the sections of the ids as the attrs have them; one that leaves the file is empty.
    fn stored_id_sections(&self) -> Vec<Section> {
        let section = |attr: &u64| self.peek.section(attr.saturating_add(self.size));
        let sections = self.attrs.iter().map(section);
        sections
            .map(|one| one.filter(|one| one.fits(self.peek.len())).unwrap_or_default())
            .collect()
    }

    fn correct_sections(&self, sections: &[Section]) -> Vec<Correction> {
        let mut corrections = Vec::new();
        for (index, (attr, section)) in self.attrs.iter().zip(sections).enumerate() {
            let at = attr.saturating_add(self.size);
            let Some(stored) = self.peek.section(at) else { continue };
            let is_read_alike =
                stored.offset == section.offset && id_count(stored.size) == id_count(section.size);
            let mut correction = Correction::new(Part::IdSection(index))
                .harmless_if(is_read_alike)
                .word(at, stored.offset, section.offset)
                .word(at.saturating_add(8), stored.size, section.size)
                .witness(field::ATTRS, 8, "attrs.offset, where the ids end");
            if let Some(described) = self.described.get(index) {
                let meaning = "number of ids in EVENT_DESC";
                correction = correction.witness(described.count_at, 4, meaning);
            }
            corrections.push(correction);
        }
        corrections
    }

    /// Compares each attr with its copy in EVENT_DESC.
    fn correct_attrs(&self) -> Vec<Correction> {
        let mut corrections = Vec::new();
        for (index, attr) in self.attrs.iter().enumerate() {
            match self.described.get(index) {
                Some(described) => {
                    corrections.extend(self.compare_attr(index, *attr, described.attr))
                }
                None => corrections.extend(self.correct_attr_size(index, *attr)),
            }
        }
        corrections
    }

    /// Corrects attrs without copies by which samples cannot be read.
    fn correct_unread(
        &self,
        recording: &Recording<'_>,
        sections: &[Section],
        limits: &Limits,
    ) -> Vec<Correction> {
        let ids = sections.iter().fold(0_u64, |sum, one| sum.saturating_add(one.size >> 3));
        if ids > MOST_IDS {
            return Vec::new();
        }
        let event = |(index, attr): (usize, &u64)| StoredEvent {
            attr: self.peek.bytes(*attr, attr.saturating_add(self.size)).into_owned(),
            ids: sections.get(index).map(|section| self.ids(*section)).unwrap_or_default(),
        };
        let stored: Vec<StoredEvent> = self.attrs.iter().enumerate().map(event).collect();
        let end = self.data.end().filter(|end| *end <= self.peek.len() && self.data.size > 0);
        let end = end.unwrap_or(self.peek.len());
        let Some(mended) = mend_attrs(recording, stored, end, limits) else {
            return Vec::new();
        };
        let mut corrections = Vec::new();
        for (index, (start, event)) in self.attrs.iter().zip(&mended).enumerate() {
            let mut correction = Correction::new(Part::Attr(index));
            let source = Source::new(&event.attr);
            let new = Peek { source: &source, order: self.peek.order };
            for word in (8..self.size).step_by(8) {
                let at = start.saturating_add(word);
                if let (Some(found), Some(value)) = (self.peek.u64(at), new.u64(word)) {
                    correction = correction.word(at, found, value);
                }
            }
            corrections.push(correction);
        }
        corrections
    }

    /// Corrects the size of an attr without a copy: the header has it, too.
    fn correct_attr_size(&self, index: usize, attr: u64) -> Option<Correction> {
        let size = u32::try_from(self.size).ok()?;
        let stated = self.peek.attr_size(attr)?;
        let is_default = stated == 0 && self.size == ATTR_SIZE_VER0;
        if stated == size || is_default || self.is_full_of(stated.into()) {
            return None;
        }
        let mut bytes = self.peek.bytes(attr, attr.saturating_add(self.size)).into_owned();
        let order = self.peek.order;
        let is_lost = identity::is_lost(AttrBytes { bytes: &bytes, order }, self.size);
        if is_lost {
            identity::forget(&mut bytes, order);
        }
        set_word(&mut bytes, word::SIZE, size.into(), order);
        let source = Source::new(&bytes);
        let new = Peek { source: &source, order };
        let mut correction = Correction::new(Part::Attr(index)).unknown_if(is_lost);
        for at in [word::TYPE, word::CONFIG] {
            let place = attr.saturating_add(at);
            correction = correction.word(place, self.peek.u64(place)?, new.u64(at)?);
        }
        Some(correction.witness(field::ATTR_SIZE, 8, "header.attr_size"))
    }

    /// Whether attrs of this size fill the attr table and those of the size in the header do not:
    /// then `header.attr_size` is damaged.
    fn is_full_of(&self, size: u64) -> bool {
        let AttrHome::Table(recording) = self.home else { return false };
        let fill = |size: u64| {
            let entry = size.saturating_add(SECTION_SIZE);
            recording.body.attrs.size.checked_rem(entry) == Some(0)
        };
        fill(size) && !fill(self.size)
    }

    pub(super) fn records(
        &self,
    ) -> impl Iterator<Item = crate::formats::perf::decode::frame::Record<'_>> {
        let end = self.data.end().filter(|end| *end <= self.peek.len() && self.data.size > 0);
        let area = (self.data.offset, end.unwrap_or(self.peek.len()));
        self.file.records(area, 1 << 20).filter_map(|item| match item {
            Item::Record(record) => Some(record),
            Item::Damage(_) => None,
        })
    }

    pub(super) fn ids(&self, section: Section) -> Vec<u64> {
        let count = section.size >> 3;
        let place = |index: u64| section.offset.saturating_add(index.saturating_mul(8));
        (0..count).map_while(|index| self.peek.u64(place(index))).collect()
    }

    /// Returns the attrs with their ids. Beyond `MOST_IDS` the attrs have none.
    pub(super) fn events_with_ids(&self, sections: &[Section]) -> Events {
        let order = self.peek.order;
        let total = sections.iter().fold(0_u64, |sum, one| sum.saturating_add(one.size >> 3));
        let mut events = Events::new(order);
        for (index, start) in self.attrs.iter().enumerate() {
            let bytes = self.peek.bytes(*start, start.saturating_add(self.size));
            let mut cursor = Cursor::new(&bytes, Layer::stored(0), 0, order);
            let Ok(attr) = attr::attr(&mut cursor, order) else { break };
            let section = sections.get(index).filter(|_| total <= MOST_IDS);
            events.push(attr, section.map(|section| self.ids(*section)).unwrap_or_default());
        }
        events
    }
}

/// Returns sections that adjoin from the header on and leave bytes before the attrs free, moved to
/// the attrs: bytes were inserted before the ids, or among them. All have one size, so that the
/// last one is not a longer one whose size is damaged.
fn move_sections(stored: &[Section], attrs: u64) -> Option<Vec<Section>> {
    let first = stored.first().filter(|first| first.offset == HEADER_SIZE)?;
    let adjoin = stored.windows(2).all(|pair| match pair {
        [one, next] => one.end() == Some(next.offset) && one.size == next.size,
        _ => false,
    });
    let room = attrs.checked_sub(stored.last()?.end()?)?;
    let ids = to_u64(stored.len()).saturating_mul(first.size >> 3);
    let is_moved = stored.len() > 1 && adjoin && room > 0 && (1..=MOST_IDS).contains(&ids);
    let moved = |section: &Section| Section {
        offset: section.offset.saturating_add(room),
        size: section.size,
    };
    is_moved.then(|| stored.iter().map(moved).collect())
}

/// Returns how many ids perf reads from a section of `size` bytes: it counts them in 32 bits, and
/// ignores a rest of less than an id.
const fn id_count(size: u64) -> u64 {
    size >> 3 & 0xffff_ffff
}

/// Returns the value that at least two votes have, and more than any other.
fn majority(votes: &[Option<u64>]) -> Option<u64> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for vote in votes.iter().flatten() {
        let count = counts.entry(*vote).or_default();
        *count = count.saturating_add(1);
    }
    leader(counts, 1).filter(|(_, count)| *count >= 2).map(|(value, _)| value)
}

//! `sample_type` of events whose attrs are lost, by their samples.
//!
//! Each choice of fields is tried by which all samples of an event end with their last byte. Of
//! several, the one with the fields that perf record asks for most often is taken. The id of the
//! event shows its own place, ID_INDEX the CPU, the data of a tracepoint the thread.

use std::collections::BTreeMap;

use super::{Entry, Group, build_attr};
use crate::formats::perf::decode::attr_bytes::{AttrBytes, number};
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::attr::{at, find, flag, read_format, sample_type as bit};
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::formats::perf::limits::TRIED;
use crate::formats::perf::recover::restore::{odd_values, read_events};
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Layer;
use crate::model::limits::Limits;

/// Samples of an event that are read.
const MOST_SAMPLES: usize = 32;
/// Of so many samples, one may be damaged.
const DAMAGED_SHARE: usize = 8;
/// Words from the start of a sample among which the id is: IP, TID, TIME, ADDR, ID.
const ID_WORDS: usize = 5;
/// Greatest thread number of Linux.
const MOST_THREADS: u32 = 1 << 22;
/// Shortest and longest time of a machine, in ns: a millisecond and 100 years.
const TIMES: std::ops::Range<u64> = 1_000_000..3_200_000_000_000_000_000;
/// Greatest period.
const MOST_PERIOD: u64 = 1 << 48;
/// The least marker of a call chain, which begins with one (`PERF_CONTEXT_MAX`).
const LEAST_MARKER: u64 = 0xffff_ffff_ffff_f001;
/// Fields before the call chain that have 8 bytes each.
const WORDS: u64 =
    bit::IDENTIFIER | bit::IP | bit::TID | bit::TIME | bit::ADDR | bit::ID | bit::CPU | bit::PERIOD;
/// Fields that are tried, each with the doubt that it raises if it is there.
const OPTIONAL: [(u64, u32); 9] = [
    (bit::TIME, 0),
    (bit::PERIOD, 1),
    (bit::CALLCHAIN, 1),
    (bit::CPU, 2),
    (bit::RAW, 3),
    (bit::ADDR, 3),
    (bit::DATA_SRC, 4),
    (bit::WEIGHT_STRUCT, 4),
    (bit::READ, 5),
];
/// The doubt if there is no time, or no data in the samples of a tracepoint.
const LACKS_USUAL: u32 = 4;
/// Values of `read_format` of perf record: with READ, one of them.
const FORMATS: [u64; 4] = [
    read_format::ID | read_format::LOST,
    read_format::ID,
    read_format::GROUP | read_format::ID | read_format::LOST,
    read_format::GROUP | read_format::ID,
];

/// How the samples of an event are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    /// The tracepoint whose data all samples have.
    pub(super) tracepoint: Option<u16>,
}

impl Layout {
    /// Whether an attr has this layout, and nothing that no recorder writes.
    pub(super) fn is_of(self, attr: AttrBytes<'_>) -> bool {
        let flags = find(at::FLAGS).map_or(0, |word| word.place(flag::SAMPLE_ID_ALL, attr.order));
        let has_values = self.sample_type & bit::READ != 0;
        // The order of the bits is that of a little-endian machine.
        let is_odd = attr.order == Order::Little && odd_values::count(attr) > 0;
        attr.word(at::SAMPLE_TYPE) == self.sample_type
            && (!has_values || attr.word(at::READ_FORMAT) == self.read_format)
            && attr.word(at::FLAGS) & flags != 0
            && !is_odd
    }
}

/// The search for the layouts of all events.
pub(super) struct Search<'e, 'r> {
    groups: &'e [Group],
    samples: Vec<&'e Record<'r>>,
    /// The event of each id, and its entry.
    owners: BTreeMap<u64, (usize, Entry)>,
    order: Order,
    /// Samples and choices that may still be read.
    left: u64,
}

impl<'e, 'r> Search<'e, 'r> {
    pub(super) fn new(
        groups: &'e [Group],
        evidence: &'e [Record<'r>],
        order: Order,
        limits: &Limits,
    ) -> Self {
        let all = groups.iter().enumerate();
        let owners = all.flat_map(|(index, group)| {
            group.entries.iter().map(move |entry| (entry.id, (index, *entry)))
        });
        let samples = evidence.iter().filter(|one| one.frame.kind == record::SAMPLE).collect();
        Self { groups, samples, owners: owners.collect(), order, left: limits.of(&TRIED) }
    }

    /// Returns the layout of each event; `None` if that of one with samples is unknown.
    pub(super) fn layouts(mut self) -> Option<Vec<Layout>> {
        let place = self.find_id()?;
        let own = self.by_event(place);
        let own_of = |group| own.get(&group).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<Option<Layout>> = Vec::new();
        if place == Some(0) {
            for group in 0..self.groups.len() {
                found.push(match own_of(group) {
                    [] => None,
                    samples => Some(self.search(samples, place)?),
                });
            }
        } else {
            // perf writes ID instead of IDENTIFIER if all events have the same fields.
            let samples: Vec<_> = own.values().flatten().copied().collect();
            let layout = self.search(&samples, place)?;
            for group in 0..self.groups.len() {
                let tracepoint = self.tracepoint(own_of(group), layout);
                found.push(Some(Layout { tracepoint, ..layout }));
            }
        }
        let model = found.iter().flatten().next().copied()?;
        let plain = Layout {
            sample_type: model.sample_type & (WORDS | bit::READ),
            tracepoint: None,
            ..model
        };
        Some(found.into_iter().map(|layout| layout.unwrap_or(plain)).collect())
    }

    /// Returns the first samples of each event by the place of the id; without one, there is a
    /// single event.
    fn by_event(&self, place: Option<usize>) -> BTreeMap<usize, Vec<&'e Record<'r>>> {
        let mut own: BTreeMap<usize, Vec<&Record<'_>>> = BTreeMap::new();
        for sample in &self.samples {
            let owner = place.map_or(Some(0), |place| Some(self.owner(sample, place)?.0));
            let samples = owner.map(|owner| own.entry(owner).or_default());
            let room = samples.filter(|samples| samples.len() < MOST_SAMPLES);
            room.into_iter().for_each(|samples| samples.push(sample));
        }
        own
    }

    /// Returns the event that a word of a sample names.
    fn owner(&self, sample: &Record<'_>, word: usize) -> Option<(usize, Entry)> {
        let start = to_usize(RECORD_HEADER).saturating_add(word.saturating_mul(8));
        let bytes = sample.bytes.get(start..start.saturating_add(8))?;
        self.owners.get(&number(bytes, self.order)).copied()
    }

    /// Returns the word of the samples that is the id, `Some(None)` if a single event has none, and
    /// `None` without a sample or if the events cannot be told apart.
    fn find_id(&self) -> Option<Option<usize>> {
        let most = self.samples.len().checked_div(DAMAGED_SHARE)?;
        let is_id = |word: &usize| {
            let others = self.samples.iter().filter(|one| self.owner(one, *word).is_none());
            others.count() <= most
        };
        let place = (0..ID_WORDS).find(is_id).filter(|_| !self.samples.is_empty());
        match place {
            Some(place) => Some(Some(place)),
            None => (self.groups.len() == 1 && !self.samples.is_empty()).then_some(None),
        }
    }

    /// Returns the likeliest layout by which the samples can be read.
    fn search(&mut self, samples: &[&Record<'_>], place: Option<usize>) -> Option<Layout> {
        let traced = samples.iter().filter(|sample| {
            let owner = place.and_then(|place| self.owner(sample, place));
            self.groups.get(owner.map_or(0, |(index, _)| index)).is_some_and(Group::is_tracepoint)
        });
        let is_traced = traced.count().saturating_mul(2) > samples.len();
        let mut best: Option<(u32, Layout)> = None;
        for layout in candidates(place) {
            let doubt = doubt(layout.sample_type, is_traced);
            if best.is_some_and(|(least, _)| least <= doubt) {
                continue;
            }
            if self.left == 0 {
                return None;
            }
            if self.fits(samples, layout) {
                let tracepoint = self.tracepoint(samples, layout);
                best = Some((doubt, Layout { tracepoint, ..layout }));
            }
        }
        best.map(|(_, layout)| layout)
    }

    /// Whether nearly all samples can be read by a layout, and have possible values.
    fn fits(&mut self, samples: &[&Record<'_>], layout: Layout) -> bool {
        let Some(events) = events_of(layout, self.order) else { return false };
        let mut damaged = samples.len().checked_div(DAMAGED_SHARE).unwrap_or(0);
        let mut kinds: BTreeMap<usize, Option<u16>> = BTreeMap::new();
        for one in samples {
            self.left = self.left.saturating_sub(1);
            let read = read_one(&events, one).filter(|sample| {
                let mut of_values = events.value_ids(&one.view(Layer::stored(0), 0), sample, 0);
                of_values.all(|id| self.owners.contains_key(&id))
                    && self.is_possible(one, sample, layout)
            });
            let is_alike = read.is_some_and(|sample| {
                let owner = sample.origin.id.and_then(|id| self.owners.get(&id));
                let kind = kinds.entry(owner.map_or(0, |(of, _)| *of)).or_insert(sample.raw.kind);
                *kind == sample.raw.kind
            });
            if is_alike {
                continue;
            }
            let Some(left) = damaged.checked_sub(1) else { return false };
            damaged = left;
        }
        true
    }

    /// Whether a machine can have the values of a sample.
    fn is_possible(&self, one: &Record<'_>, sample: &Sample, layout: Layout) -> bool {
        let origin = &sample.origin;
        let entry = origin.id.and_then(|id| self.owners.get(&id)).map(|(_, entry)| *entry);
        let has = |bits: u64| layout.sample_type & bits != 0;
        let has_id = !has(bit::ID | bit::IDENTIFIER) || entry.is_some();
        let is_thread = |id: Option<u32>| id.is_none_or(|id| id < MOST_THREADS || id == u32::MAX);
        let is_cpu = match (origin.cpu, entry) {
            (Some(cpu), Some(Entry { cpu: stated, .. })) if stated != u64::MAX => {
                u64::from(cpu) == stated
            }
            _ => sample.is_cpu_possible(),
        };
        has_id
            && is_cpu
            && is_thread(origin.pid)
            && is_thread(origin.tid)
            && origin.time.is_none_or(|time| TIMES.contains(&time))
            && sample.period.is_none_or(|period| (1..MOST_PERIOD).contains(&period))
            && (!has(bit::RAW) || sample.raw.size >= 8 && sample.raw.size & 7 == 4)
            && (!has(bit::CALLCHAIN) || has(bit::READ) || self.begins_chain(one, layout))
    }

    /// Whether the call chain of a sample begins with a marker; few are empty.
    fn begins_chain(&self, one: &Record<'_>, layout: Layout) -> bool {
        let words = (layout.sample_type & WORDS).count_ones().saturating_add(1);
        let start = to_usize(RECORD_HEADER.saturating_add(u64::from(words).saturating_mul(8)));
        let bytes = one.bytes.get(start..start.saturating_add(8)).unwrap_or_default();
        number(bytes, self.order) >= LEAST_MARKER
    }

    /// Returns the tracepoint whose data samples have: the thread in them is that of the sample.
    fn tracepoint(&self, samples: &[&Record<'_>], layout: Layout) -> Option<u16> {
        samples.first()?;
        let events = events_of(layout, self.order)?;
        let read: Vec<Sample> = samples.iter().filter_map(|one| read_one(&events, one)).collect();
        let kind = read.iter().find_map(|sample| sample.raw.kind)?;
        let is_own =
            |sample: &&Sample| sample.raw.kind == Some(kind) && sample.raw.pid == sample.origin.tid;
        let own = to_u64(read.iter().filter(is_own).count());
        (own.saturating_mul(2) > to_u64(read.len())).then_some(kind)
    }
}

fn events_of(layout: Layout, order: Order) -> Option<Events> {
    let event = StoredEvent { attr: build_attr((0, 0), layout, order), ids: Vec::new() };
    read_events([&event], order)
}

/// Reads a sample that ends with its last field.
fn read_one(events: &Events, one: &Record<'_>) -> Option<Sample> {
    let mut sample = Sample::default();
    let read = events.read_sample(&one.view(Layer::stored(0), 0), &mut sample);
    matches!(read, SampleRead::Complete { trailing: 0, .. }).then_some(sample)
}

/// Returns the layouts with the id at this word.
fn candidates(place: Option<usize>) -> impl Iterator<Item = Layout> {
    let before = bit::IP | bit::TID | bit::TIME | bit::ADDR;
    let id = match place {
        Some(0) => bit::IDENTIFIER,
        Some(_) => bit::ID,
        None => 0,
    };
    let choices = 0..1_u32 << OPTIONAL.len();
    choices.flat_map(move |choice| {
        let chosen = OPTIONAL.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1);
        let optional = chosen.fold(0, |all, (_, (one, _))| all | one);
        let sample_type = bit::IP | bit::TID | id | optional;
        let words = to_usize((sample_type & before).count_ones().into());
        let is_placed = id != bit::ID || place == Some(words);
        let formats = if optional & bit::READ == 0 { FORMATS.get(..1) } else { FORMATS.get(..) };
        let formats = formats.filter(|_| is_placed).unwrap_or_default();
        let layout =
            move |format: &u64| Layout { sample_type, read_format: *format, tracepoint: None };
        formats.iter().map(layout)
    })
}

/// Returns how unusual fields are.
fn doubt(sample_type: u64, is_traced: bool) -> u32 {
    let raised = OPTIONAL.iter().filter(|(one, _)| sample_type & one != 0);
    let raised = raised.fold(0_u32, |sum, (one, doubt)| {
        let is_expected = is_traced && one & (bit::RAW | bit::CPU) != 0;
        sum.saturating_add(if is_expected { 0 } else { *doubt })
    });
    let lacks = [sample_type & bit::TIME == 0, is_traced && sample_type & bit::RAW == 0];
    lacks.into_iter().filter(|lacks| *lacks).fold(raised, |sum, _| sum.saturating_add(LACKS_USUAL))
}

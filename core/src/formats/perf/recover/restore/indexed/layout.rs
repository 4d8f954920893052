//! `sample_type` of events whose attrs are lost, by their samples.
//!
//! Each choice of fields is tried by which all samples of an event end with their last byte. Of
//! several, the one with the fields that perf record asks for most often is taken. The id of the
//! event shows its own place, ID_INDEX the CPU, the data of a tracepoint the thread.
//!
//! Fields of one word after the data have the same size, so one of them is taken only if its values
//! show what it is: a source of data has an operation, the registers of `perf record --call-graph
//! dwarf` have the address of the sample. Transactions, page sizes, weights alone and the like stay
//! unknown.

use std::collections::BTreeMap;

use super::{Entry, Group, build_attr};
use crate::formats::perf::decode::attr_bytes::{AttrBytes, number};
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::attr::{at, find, flag, read_format, sample_type as bit};
use crate::formats::perf::layout::{CPUMODE, RECORD_HEADER, record};
use crate::formats::perf::limits::TRIED;
use crate::formats::perf::recover::restore::odd_values::{self, MOST_PERIOD};
use crate::formats::perf::recover::restore::read_events;
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Layer;
use crate::model::limits::Limits;

/// Samples of an event that are read.
const MOST_SAMPLES: usize = 64;
/// Of so many samples, one may be damaged.
const DAMAGED_SHARE: usize = 8;
/// Words from the start of a sample among which the id is: IP, TID, TIME, ADDR, ID.
const ID_WORDS: usize = 5;
/// Greatest thread number of Linux.
const MOST_THREADS: u32 = 1 << 22;
/// Shortest and longest time of a machine, in ns: a millisecond and 100 years.
const TIMES: std::ops::Range<u64> = 1_000_000..3_200_000_000_000_000_000;
/// The least marker of a call chain, which begins with one (`PERF_CONTEXT_MAX`).
const LEAST_MARKER: u64 = 0xffff_ffff_ffff_f001;
/// Fields before the call chain that have 8 bytes each.
const WORDS: u64 =
    bit::IDENTIFIER | bit::IP | bit::TID | bit::TIME | bit::ADDR | bit::ID | bit::CPU | bit::PERIOD;
/// Fields that are tried, each with the doubt that it raises if it is there.
const OPTIONAL: [(u64, u32); 10] = [
    (bit::TIME, 0),
    (bit::PERIOD, 1),
    (bit::CALLCHAIN, 1),
    (bit::CPU, 2),
    (DWARF, 2),
    (bit::RAW, 3),
    (bit::ADDR, 3),
    (bit::DATA_SRC, 4),
    (bit::WEIGHT_STRUCT, 4),
    (bit::READ, 5),
];
/// The fields of `--call-graph dwarf`, besides a call chain.
const DWARF: u64 = bit::REGS_USER | bit::STACK_USER;
/// The registers that it records, with the number of the one that holds the address: of x86-64 and
/// of ARM64. Sources: perf's `arch/*/include/perf_regs.h`.
const REGISTERS: [(u64, usize); 2] = [(0x00ff_0fff, 8), ((1 << 33) - 1, 32)];
/// `misc` of a sample in the user's code.
const USER_MODE: u16 = 2;
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
    /// The mask of the user's registers, and the size of the user's stack.
    pub(super) user: (u64, u64),
    /// The tracepoint whose data all samples have.
    pub(super) tracepoint: Option<u16>,
    /// The number of the attr of another event that has the layout.
    pub(super) model: Option<usize>,
}

impl Layout {
    /// Returns the layout of attr number `model`.
    fn of(model: usize, attr: AttrBytes<'_>) -> Self {
        Self {
            sample_type: attr.word(at::SAMPLE_TYPE),
            read_format: attr.word(at::READ_FORMAT),
            user: (attr.word(at::SAMPLE_REGS_USER), attr.word(at::SAMPLE_STACK_USER)),
            tracepoint: None,
            model: Some(model),
        }
    }

    /// Whether samples have their period.
    pub(super) const fn has_period(self) -> bool {
        self.sample_type & bit::PERIOD != 0
    }

    /// Whether an attr has this layout, and nothing that no recorder writes.
    pub(super) fn is_of(self, attr: AttrBytes<'_>) -> bool {
        let flags = find(at::FLAGS).map_or(0, |word| word.place(flag::SAMPLE_ID_ALL, attr.order));
        let has_values = self.sample_type & bit::READ != 0;
        // The order of the bits is that of a little-endian machine.
        let is_odd = attr.order == Order::Little && odd_values::count(attr) > 0;
        attr.word(at::SAMPLE_TYPE) == self.sample_type
            && attr.word(at::SAMPLE_REGS_USER) == self.user.0
            && (!has_values || attr.word(at::READ_FORMAT) == self.read_format)
            && attr.word(at::FLAGS) & flags != 0
            && !is_odd
    }
}

/// The search for the layouts of all events.
pub(super) struct Search<'e, 'r> {
    groups: &'e [Group],
    samples: Vec<&'e Record<'r>>,
    /// Attrs of other events: those of a recording mostly have the same fields.
    models: &'e [Vec<u8>],
    /// The event of each id, and its entry.
    owners: BTreeMap<u64, (usize, Entry)>,
    order: Order,
    /// Samples and choices that may still be read.
    left: u64,
}

impl<'e, 'r> Search<'e, 'r> {
    pub(super) fn new(
        (groups, models): (&'e [Group], &'e [Vec<u8>]),
        evidence: &'e [Record<'r>],
        order: Order,
        limits: &Limits,
    ) -> Self {
        let all = groups.iter().enumerate();
        let owners = all.flat_map(|(index, group)| {
            group.entries.iter().map(move |entry| (entry.id, (index, *entry)))
        });
        let owners = owners.collect();
        let samples = evidence.iter().filter(|one| one.frame.kind == record::SAMPLE).collect();
        Self { groups, samples, models, owners, order, left: limits.of(&TRIED) }
    }

    /// Whether samples name an event without a HEADER_ATTR record beside others, which
    /// `has_others`.
    pub(super) fn has_lost_samples(&self, has_others: bool) -> bool {
        let place = self.find_id().flatten();
        let owner = |sample: &&Record<'_>| Some(self.owner(sample, place?)?.0);
        let lost = |index: usize| self.groups.get(index).is_some_and(|one| one.owner.is_none());
        (has_others || self.groups.iter().any(|group| group.owner.is_some()))
            && self.samples.iter().filter_map(owner).any(lost)
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
            user: (0, 0),
            model: None,
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
        for (index, model) in self.models.iter().enumerate() {
            let layout = Layout::of(index, AttrBytes { bytes: model, order: self.order });
            if self.left > 0 && self.fits(samples, layout).is_some() {
                let tracepoint = self.tracepoint(samples, layout);
                return Some(Layout { tracepoint, ..layout });
            }
        }
        let mut best: Option<(u32, Layout)> = None;
        for layout in candidates(place) {
            let doubt = doubt(layout.sample_type, is_traced);
            if best.is_some_and(|(least, _)| least <= doubt) {
                continue;
            }
            if self.left == 0 {
                return None;
            }
            if let Some(user) = self.fits(samples, layout) {
                let tracepoint = self.tracepoint(samples, layout);
                best = Some((doubt, Layout { tracepoint, user, ..layout }));
            }
        }
        best.map(|(_, layout)| layout)
    }

    /// Returns the layout's registers and the size of its stack, if nearly all samples can be read
    /// by it, and have possible values.
    fn fits(&mut self, samples: &[&Record<'_>], layout: Layout) -> Option<(u64, u64)> {
        let events = self.events_of(layout)?;
        let is_known = layout.model.is_some();
        let (mut has_weight, mut has_registers, mut stack) = (false, false, 0);
        let mut damaged = samples.len().checked_div(DAMAGED_SHARE).unwrap_or(0);
        let mut kinds: BTreeMap<usize, Option<u16>> = BTreeMap::new();
        for one in samples {
            self.left = self.left.saturating_sub(1);
            let read = read_one(&events, one).filter(|sample| {
                let mut of_values = events.value_ids(&one.view(Layer::stored(0), 0), sample, 0);
                of_values.all(|id| self.owners.contains_key(&id))
                    && self.is_possible(sample, layout)
                    && (is_known || self.is_shown(one, sample, layout))
            });
            let is_alike = read.as_ref().is_some_and(|sample| {
                let owner = sample.origin.id.and_then(|id| self.owners.get(&id));
                let kind = kinds.entry(owner.map_or(0, |(of, _)| *of)).or_insert(sample.raw.kind);
                *kind == sample.raw.kind
            });
            if is_alike {
                has_weight |= self.last_words(one)[0] >> 32 != 0;
                has_registers |= read.is_some_and(|sample| sample.regs.user > 0);
                stack = stack.max(read.map_or(0, |sample| sample.stack.recorded));
                continue;
            }
            damaged = damaged.checked_sub(1)?;
        }
        let has = |bits: u64| layout.sample_type & bits != 0;
        // Without a latency of instructions it may be the one number of older kernels.
        let is_shown = (!has(bit::WEIGHT_STRUCT) || has_weight && has(bit::DATA_SRC))
            && (!has(DWARF) || has_registers && stack > 0);
        (is_known || is_shown).then_some((layout.user.0, stack))
    }

    /// Returns the last two words of a sample.
    fn last_words(&self, one: &Record<'_>) -> [u64; 2] {
        let word = |after: usize| {
            let start = one.bytes.len().saturating_sub(after);
            number(one.bytes.get(start..start.saturating_add(8)).unwrap_or_default(), self.order)
        };
        [word(16), word(8)]
    }

    /// Whether the registers and the stack of a sample can be those of a layout: in the user's code
    /// one register has the address of the sample.
    fn is_user(&self, one: &Record<'_>, sample: &Sample, layout: Layout) -> bool {
        let place = REGISTERS.iter().find(|(mask, _)| *mask == layout.user.0);
        let (mask, address) = place.copied().unwrap_or_default();
        let has_source = layout.sample_type & bit::DATA_SRC != 0;
        let words = [true, sample.stack.recorded > 0, has_source];
        let words = to_u64(words.iter().filter(|word| **word).count());
        let after = sample.stack.recorded.saturating_add(words.saturating_mul(8));
        let last = to_usize(u64::from(mask.count_ones())).saturating_sub(address);
        let from_end = to_usize(after).saturating_add(last.saturating_mul(8));
        let start = one.bytes.len().saturating_sub(from_end);
        let bytes = one.bytes.get(start..start.saturating_add(8)).unwrap_or_default();
        let is_in_user = one.frame.misc & CPUMODE == USER_MODE && sample.regs.user > 0;
        let is_address = !is_in_user || sample.ip == Some(number(bytes, self.order));
        is_address && sample.regs.user <= 2 && sample.stack.used <= sample.stack.recorded
    }

    /// Whether a machine can have the values of a sample.
    fn is_possible(&self, sample: &Sample, layout: Layout) -> bool {
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
    }

    /// Whether the values of a sample show the fields that could be others of the same size.
    fn is_shown(&self, one: &Record<'_>, sample: &Sample, layout: Layout) -> bool {
        let has = |bits: u64| layout.sample_type & bits != 0;
        (!has(bit::CALLCHAIN) || has(bit::READ) || self.begins_chain(one, sample, layout))
            && (!has(bit::DATA_SRC) || is_source(self.last_words(one)[1]))
            && !sample.period.is_some_and(is_whole_source)
            && (!has(DWARF) || self.is_user(one, sample, layout))
    }

    /// Whether the call chain of a sample begins with a marker; few are empty, but those of users
    /// whose stacks are recorded.
    fn begins_chain(&self, one: &Record<'_>, sample: &Sample, layout: Layout) -> bool {
        if sample.callchain_len == 0 && layout.sample_type & DWARF != 0 {
            return true;
        }
        let words = (layout.sample_type & WORDS).count_ones().saturating_add(1);
        let start = to_usize(RECORD_HEADER.saturating_add(u64::from(words).saturating_mul(8)));
        let bytes = one.bytes.get(start..start.saturating_add(8)).unwrap_or_default();
        number(bytes, self.order) >= LEAST_MARKER
    }

    fn events_of(&self, layout: Layout) -> Option<Events> {
        let model = layout.model.and_then(|index| self.models.get(index)).cloned();
        let attr = model.unwrap_or_else(|| build_attr((0, 0), layout, self.order));
        read_events([&StoredEvent { attr, ids: Vec::new() }], self.order)
    }

    /// Returns the tracepoint whose data samples have: the thread in them is that of the sample.
    fn tracepoint(&self, samples: &[&Record<'_>], layout: Layout) -> Option<u16> {
        samples.first()?;
        let events = self.events_of(layout)?;
        let read: Vec<Sample> = samples.iter().filter_map(|one| read_one(&events, one)).collect();
        let kind = read.iter().find_map(|sample| sample.raw.kind)?;
        let is_own =
            |sample: &&Sample| sample.raw.kind == Some(kind) && sample.raw.pid == sample.origin.tid;
        let own = to_u64(read.iter().filter(is_own).count());
        (own.saturating_mul(2) > to_u64(read.len())).then_some(kind)
    }
}

/// Whether a word is the source of data: one operation, and a level of memory.
const fn is_source(word: u64) -> bool {
    (word & 0x1f).is_power_of_two() && word >> 5 & 0x3fff != 0 && word >> 48 == 0
}

/// Whether a word is a source of data with a lock and a TLB, as the kernel has it for most events:
/// not the period of several samples.
const fn is_whole_source(word: u64) -> bool {
    is_source(word) && word >> 24 & 3 != 0 && word >> 26 & 0x7f != 0
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
        let is_dwarf = optional & DWARF != 0;
        let others = bit::READ | bit::RAW | bit::WEIGHT_STRUCT;
        let is_usual = !is_dwarf || optional & bit::CALLCHAIN != 0 && optional & others == 0;
        let is_placed = is_usual && (id != bit::ID || place == Some(words));
        let formats = if optional & bit::READ == 0 { FORMATS.get(..1) } else { FORMATS.get(..) };
        let formats = formats.filter(|_| is_placed).unwrap_or_default();
        let masks = if is_dwarf { REGISTERS.map(|(mask, _)| mask) } else { [0; 2] };
        let masks = masks.into_iter().take(if is_dwarf { masks.len() } else { 1 });
        formats.iter().flat_map(move |format| {
            masks.clone().map(move |mask| Layout {
                sample_type,
                read_format: *format,
                user: (mask, 0),
                tracepoint: None,
                model: None,
            })
        })
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

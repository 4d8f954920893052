//! Attrs with damaged values: the nearest values by which the samples can be read.
//!
//! A field that its switch does not enable is 0, and bits that do not exist are not set. If samples
//! cannot be read after that, other values of `sample_type`, `read_format` and `sample_id_all` are
//! tried: those of another event, then those that differ in up to three bits. The value by which
//! most samples can be read wins; among equals, the one that gives ascending times and possible
//! threads. Nothing is chosen if several are left.

use std::borrow::Cow;

use super::attrs::Reading;
use crate::formats::perf::decode::attr_bytes::{AttrBytes, set_word};
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::{Expansion, Step, Wrapper};
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::frame::{Frame, RecordView};
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::layout::attr::{Bits, Used, WORDS, Word, at, flag, sample_type};
use crate::formats::perf::layout::record;
use crate::formats::perf::limits::TRIED;
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC, ZSTD_WINDOW};

/// Records that are read as evidence.
pub(super) const EVIDENCE: usize = 64;
/// Expanded bytes that are searched for evidence: a few stored bytes may expand to gigabytes of
/// other records.
const MOST_EXPANDED: u64 = 64 << 20;
/// Records without which the evidence is not enough to replace a stored value.
const LEAST_EVIDENCE: usize = 2;
/// So many ids (16, as a power of 2) take as long as an attr or a record.
const IDS_SHIFT: u32 = 4;
/// Greatest thread number of Linux.
const MOST_THREADS: u32 = 1 << 22;
/// Fields that only special events record: of two values of `sample_type` that explain as much,
/// the one without them is more likely.
const RARE: u64 = sample_type::ADDR
    | sample_type::STREAM_ID
    | sample_type::WEIGHT
    | sample_type::DATA_SRC
    | sample_type::TRANSACTION
    | sample_type::PHYS_ADDR
    | sample_type::AUX
    | sample_type::CGROUP
    | sample_type::DATA_PAGE_SIZE
    | sample_type::CODE_PAGE_SIZE
    | sample_type::WEIGHT_STRUCT;

/// How well events explain the evidence: records that can be read, then plausible values, then
/// fields that are often recorded, and counter values with their ids.
pub(super) type Score = (u64, u64, u64);

/// The attrs and records that a search may still read (limit `perf-tried`). A try reads
/// all attrs, so without a limit the time would grow with the square of their number.
pub(super) struct Effort(u64);

impl Effort {
    pub(super) fn new(limits: &Limits) -> Self {
        Self(limits.of(&TRIED))
    }

    fn spend(&mut self, count: usize) {
        self.0 = self.0.saturating_sub(to_u64(count));
    }

    const fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// Returns the reading with values by which more records can be read; `None` without one.
pub(super) fn mend(
    reading: &Reading,
    evidence: &[Record<'_>],
    order: Order,
    effort: &mut Effort,
) -> Option<Reading> {
    let mut best = tidied(reading.clone(), order);
    let all = evidence.len();
    for index in 0..best.events.len() {
        if effort.is_spent() {
            break;
        }
        let now = score(&best, evidence, order);
        if to_usize(now.0) >= all {
            break;
        }
        if let Some(better) = vary(&best, index, &Trial { evidence, order, now }, effort) {
            best = better;
        }
    }
    best.is_mended = true;
    (best.events != reading.events).then_some(best)
}

/// Returns attrs by which nearly all samples up to `end` can be read, if that few of them can be by
/// these; `None` if nothing is better, or the evidence is not enough to replace what is stored.
pub(in super::super) fn mend_attrs(
    recording: &Recording<'_>,
    events: Vec<StoredEvent>,
    end: u64,
    limits: &Limits,
) -> Option<Vec<StoredEvent>> {
    let order = recording.order();
    let stored = Reading { events, ..Reading::default() };
    let mut evidence = gather(&recording.file, (find_start(recording, end), end), EVIDENCE, limits);
    evidence.retain(|record| record.frame.kind == record::SAMPLE);
    let read = |reading: &Reading| to_usize(score(reading, &evidence, order).0);
    if evidence.len() < LEAST_EVIDENCE || read(&stored).saturating_mul(2) > evidence.len() {
        return None;
    }
    let mended = mend(&stored, &evidence, order, &mut Effort::new(limits))?;
    let is_better = read(&mended).saturating_mul(10) >= evidence.len().saturating_mul(9);
    is_better.then_some(mended.events)
}

/// Returns where records begin: where the header has it, if one is there, else after the header.
pub(super) fn find_start(recording: &Recording<'_>, end: u64) -> u64 {
    let (stated, least) = (recording.body.data.offset, recording.header.length());
    let first = recording.file.records((stated, end), 0).next().and_then(Item::record);
    if first.is_some() && stated >= least { stated } else { least }
}

/// Returns the first `most` samples and threads of an area, stored ones and expanded ones.
pub(in super::super) fn gather<'a>(
    file: &'a RecordFile<'_>,
    area: (u64, u64),
    most: usize,
    limits: &Limits,
) -> Vec<Record<'a>> {
    let mut found: Vec<Record<'a>> = Vec::new();
    let mut expansion = Expansion::new(file.order(), limits.of(&ZSTD_WINDOW));
    let mut is_broken = false;
    for item in file.records(area, limits.of(&RESYNC)) {
        if found.len() >= most {
            return found;
        }
        let record = match item {
            Item::Record(record) => record,
            Item::Damage(damage) => {
                expansion.note_damage(damage.span);
                continue;
            }
        };
        match Wrapper::of(record.frame.kind) {
            Some(_) if is_broken => {}
            Some(wrapper) => {
                let payload = wrapper.payload(&record.bytes, file.order());
                let stored = Span::sized(Layer::stored(0), record.offset, record.frame.size);
                let fed = expansion.expand(payload, stored, |expansion, step| {
                    is_broken |=
                        !add_step(&step, most, &mut found) || expansion.end() > MOST_EXPANDED;
                    !is_broken && found.len() < most
                });
                if fed.is_err() {
                    expansion.finish();
                    expansion.release(|_, step| add_step(&step, most, &mut found));
                    is_broken = true;
                }
            }
            None if is_evidence(record.frame) => found.push(record),
            None => {}
        }
    }
    if !is_broken {
        expansion.finish();
        expansion.release(|_, step| add_step(&step, most, &mut found));
    }
    found
}

fn is_evidence(frame: Frame) -> bool {
    matches!(frame.kind, record::SAMPLE | record::FORK | record::EXIT)
}

/// Adds an expanded record; returns false at bytes that are none.
fn add_step(step: &Step<'_>, most: usize, found: &mut Vec<Record<'_>>) -> bool {
    if let Step::Record(view) = step
        && is_evidence(view.frame)
        && found.len() < most
    {
        let bytes = Cow::Owned(view.bytes.to_vec());
        let (frame, offset) = (view.frame, view.place.offset);
        found.push(Record { frame, found: None, offset, bytes, outside: 0 });
    }
    !matches!(step, Step::Damage(_))
}

fn word(attr: &[u8], at: u64, order: Order) -> u64 {
    AttrBytes { bytes: attr, order }.word(at)
}

/// Returns the reading without bits that do not exist and fields that nothing enables.
pub(super) fn tidied(mut reading: Reading, order: Order) -> Reading {
    for event in &mut reading.events {
        tidy(&mut event.attr, order);
    }
    reading
}

/// Clears the bits that readers refuse: with them, perf reads no EVENT_DESC, and its name is lost.
pub(super) fn clear_reserved(reading: &mut Reading, order: Order) {
    for event in &mut reading.events {
        for one in WORDS.iter().filter(|one| matches!(one.bits, Bits::Fields(_))) {
            let (stored, attr) = (word(&event.attr, one.at, order), &mut event.attr);
            reading.is_mended |= one.known(stored, order) != stored;
            set_word(attr, one.at, one.known(stored, order), order);
        }
    }
}

/// Clears bits that do not exist and fields that nothing enables.
fn tidy(attr: &mut [u8], order: Order) {
    for one in WORDS.iter().filter(|one| one.is_layout()) {
        let known = one.known(word(attr, one.at, order), order);
        let samples = word(attr, at::SAMPLE_TYPE, order);
        let is_unused = matches!(one.used, Used::Sample(bit) if samples & bit == 0);
        set_word(attr, one.at, if is_unused { 0 } else { known }, order);
    }
}

/// AttrCopies the words by which records are read from another attr.
fn copy_layout(attr: &mut [u8], model: &[u8], order: Order) {
    for one in WORDS.iter().filter(|one| one.used == Used::Layout) {
        set_word(attr, one.at, word(model, one.at, order), order);
    }
}

/// Returns readings whose attrs place the ids alike: all as the first one does, or as the last one.
/// None if they do already.
pub(super) fn similar(reading: &Reading, order: Order) -> Vec<Reading> {
    let is_alike = reading.events(order).is_none_or(|events| events.places_ids_alike());
    let models = [reading.events.first(), reading.events.last()];
    let models = models.into_iter().flatten().filter(|_| !is_alike);
    let copy = |model: &StoredEvent| {
        let mut copied = Reading { is_mended: true, ..reading.clone() };
        for event in &mut copied.events {
            copy_layout(&mut event.attr, &model.attr, order);
        }
        copied
    };
    models.map(copy).collect()
}

/// Scores a reading by the evidence.
pub(super) fn score(reading: &Reading, evidence: &[Record<'_>], order: Order) -> Score {
    score_above(reading, evidence, order, (0, &mut Effort(u64::MAX)))
}

/// Scores a reading by the evidence, unless it explains less than `least`.
fn score_above(
    reading: &Reading,
    evidence: &[Record<'_>],
    order: Order,
    (least, effort): (u64, &mut Effort),
) -> Score {
    let ids = reading.events.iter().map(|event| event.ids.len()).fold(0, usize::saturating_add);
    effort.spend(reading.events.len().saturating_add(ids >> IDS_SHIFT));
    let Some(events) = reading.events(order) else { return (0, 0, 0) };
    let (mut explained, mut plausible) = (0_u64, 0_u64);
    let mut last = 0_u64;
    for (index, record) in evidence.iter().enumerate() {
        let rest = to_u64(evidence.len().saturating_sub(index));
        if explained.saturating_add(rest) < least {
            return (0, 0, 0);
        }
        effort.spend(1);
        let view = record.view(Layer::stored(0), 0);
        if events.weigh(&view) == 0 {
            continue;
        }
        explained = explained.saturating_add(1);
        let (time, tid) = origin(&events, &view);
        if let Some(time) = time.filter(|time| *time >= last && *time != u64::MAX) {
            plausible = plausible.saturating_add(u64::from(time > 0));
            last = time;
        }
        plausible = plausible.saturating_add(u64::from(tid.is_some_and(|tid| tid < MOST_THREADS)));
    }
    let rare = |event: &StoredEvent| word(&event.attr, at::SAMPLE_TYPE, order) & RARE;
    let rare = reading
        .events
        .iter()
        .fold(0, |sum: u64, event| sum.saturating_add(rare(event).count_ones().into()));
    let without_id = events.attrs().iter().filter(|attr| attr.reads_without_id()).count();
    (explained, plausible, u64::MAX.saturating_sub(rare).saturating_sub(to_u64(without_id)))
}

/// Returns time and thread of a record.
fn origin(events: &Events, record: &RecordView<'_>) -> (Option<u64>, Option<u32>) {
    match record.frame.kind {
        record::SAMPLE => {
            let origin = events.origin_of(record).unwrap_or_default();
            (origin.time, origin.tid)
        }
        _ => (events.read_fields(record).ok().flatten(), None),
    }
}

/// The evidence, and the score that a value has to exceed.
struct Trial<'e, 'r> {
    evidence: &'e [Record<'r>],
    order: Order,
    now: Score,
}

/// Tries other values for the attr of event number `index`. Returns the best reading if it is
/// better than the one so far, and alone.
fn vary(
    reading: &Reading,
    index: usize,
    trial: &Trial<'_, '_>,
    effort: &mut Effort,
) -> Option<Reading> {
    let (order, now) = (trial.order, trial.now);
    let mut best = (now, None::<Reading>);
    let mut is_tied = false;
    let mut consider = |attr: Vec<u8>| {
        if effort.is_spent() {
            // Values that were not tried may be as good.
            is_tied = true;
            return best.0.0;
        }
        let candidate = with_attr(reading, index, attr);
        let least = best.0.0.max(now.0.saturating_add(1));
        let found = score_above(&candidate, trial.evidence, order, (least, &mut *effort));
        if found > best.0 {
            best = (found, Some(candidate));
            is_tied = false;
        } else if found == best.0 && found.0 > now.0 {
            is_tied = true;
        }
        best.0.0
    };
    let attr = reading.events.get(index)?.attr.clone();
    for (other, sibling) in reading.events.iter().enumerate() {
        if other != index {
            let mut copy = attr.clone();
            copy_layout(&mut copy, &sibling.attr, order);
            consider(copy);
        }
    }
    let bits = switches(order);
    for count in 1..=3 {
        let mut most = 0;
        for_each_choice(bits.len(), count, &mut |chosen| {
            let mut copy = attr.clone();
            for (at, bit) in chosen.iter().filter_map(|index| bits.get(*index)) {
                let value = word(&copy, *at, order) ^ bit;
                set_word(&mut copy, *at, value, order);
            }
            most = consider(copy);
        });
        // More bits can only be a worse guess.
        if most > now.0 {
            break;
        }
    }
    best.1.filter(|_| !is_tied && best.0.0 > now.0)
}

fn with_attr(reading: &Reading, index: usize, attr: Vec<u8>) -> Reading {
    let mut changed = reading.clone();
    if let Some(event) = changed.events.get_mut(index) {
        event.attr = attr;
    }
    changed
}

/// Returns the bits that decide how records are read, with the words that hold them.
fn switches(order: Order) -> Vec<(u64, u64)> {
    let of = |word: &'static Word| {
        let known = match word.at {
            at::FLAGS => word.place(flag::SAMPLE_ID_ALL, order),
            _ => word.known(u64::MAX, order),
        };
        let bits = (0..64_u32).map(|bit| 1_u64 << bit).filter(move |bit| known & bit != 0);
        bits.map(move |bit| (word.at, bit))
    };
    WORDS.iter().filter(|word| word.used == Used::Layout).flat_map(of).collect()
}

/// Passes every choice of `count` of the numbers below `end` to `each`.
fn for_each_choice(end: usize, count: usize, each: &mut dyn FnMut(&[usize])) {
    let mut chosen: Vec<usize> = (0..count).collect();
    loop {
        each(&chosen);
        // The last place that can move on.
        let Some(place) = (0..count).rev().find(|place| {
            let most = end.saturating_sub(count).saturating_add(*place);
            chosen.get(*place).is_some_and(|number| *number < most)
        }) else {
            return;
        };
        let first = chosen.get(place).map_or(0, |number| number.saturating_add(1));
        for (slot, number) in chosen.iter_mut().skip(place).zip(first..) {
            *slot = number;
        }
    }
}

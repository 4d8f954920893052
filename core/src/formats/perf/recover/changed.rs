//! The byte of a compressed record that was changed, so that its zstd block cannot be expanded.
//!
//! The values of all bytes race with which the block can be expanded. Those that are wrong expand
//! to other bytes from the changed one on, which are no records; the one that is right makes all
//! records of the block follow one another, and those of the blocks that copy from it. A value
//! that is nearly right gives records with false values, which others contradict (`doubt`).

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::{Wrapper, begins_frame};
use crate::formats::perf::decode::frame::{Dialect, Place, RecordView};
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::layout::record;
use crate::formats::perf::limits::CHANGES;
use crate::formats::perf::recover::doubt::{Named, Testimony, count_contradicted};
use crate::kit::expand::zstd::{Change, PartialStream};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::steps;
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC, ZSTD_WINDOW};

/// Weight of the records that prove a value: four samples.
const PROOF: u64 = 16;
/// Values of which the blocks after the damaged one are expanded.
const FINALISTS: usize = 256;
/// Expanded bytes by which a value is judged.
const JUDGED: usize = 64 << 10;
/// Bytes that a compressed record, of up to 64 KiB, expands to at most: 100 times as many (limit
/// `expansion-ratio`).
pub(super) const EXPANDED_MAX: usize = 8 << 20;
/// Bytes that all streams hold which are copied to expand the finalists.
const WINDOWS: usize = 256 << 20;
/// Equal bytes in a row that are not one changed byte: zeros of a page or of a sector.
const RUN: usize = 4;

/// A byte of a compressed record, and the value that it had.
#[derive(Clone, Copy, Debug)]
pub struct ChangedByte {
    /// The byte.
    pub span: Span,
    /// The value.
    pub value: u8,
    /// The compressed record.
    pub record: Span,
    /// Number of records that follow one another with that value.
    pub records: u64,
    /// Number of samples that may have wrong values: those of this block and of all later ones, if
    /// anything contradicts the value.
    pub doubtful: u64,
}

/// The first block that cannot be expanded, and the changes of one byte with the fewest doubts.
#[derive(Clone, Debug)]
pub struct DamagedBlock {
    /// The compressed record.
    record: Span,
    /// Offset of the block in the file.
    at: u64,
    /// The changes, until they are taken.
    pub(super) changes: Option<Vec<Candidate>>,
    /// Number of samples from the block on, if there is one change with a doubt.
    doubtful: u64,
    /// The names outside the compressed records, and in those before the block.
    pub(super) named: Named,
    /// Steps of the limit that are left.
    pub(super) allowance: u64,
}

/// A change, and how well the records are records with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) change: Change,
    judgement: Judgement,
}

impl DamagedBlock {
    /// Returns the changed byte, if one value of one byte is clearly ahead of all others.
    pub fn changed_byte(&self) -> Option<ChangedByte> {
        let [Candidate { change, judgement }] = self.changes.as_deref()? else { return None };
        let span = Span::sized(self.record.layer, self.at.saturating_add(to_u64(change.at)), 1);
        let (value, records, doubtful) = (change.value, judgement.records, self.doubtful);
        Some(ChangedByte { span, value, record: self.record, records, doubtful })
    }
}

/// A compressed record and its zstd data.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) record: Span,
    /// Offset of the data in the file.
    pub(super) start: u64,
    pub(super) data: Vec<u8>,
}

/// How well expanded bytes are records. Less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Doubts {
    /// Blocks that cannot be expanded: the first of them ends the judgement.
    faults: u64,
    /// Records whose fields contradict the events.
    misfits: u64,
    /// Bytes after the last complete record: a wrong size passes over the records after it.
    left_over: u64,
    /// Records whose values contradict others.
    contradicted: u64,
}

impl Doubts {
    /// Whether anything contradicts the records.
    const fn is_any(self) -> bool {
        self.faults > 0 || self.misfits > 0 || self.contradicted > 0
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Judgement {
    doubts: Doubts,
    weight: u64,
    records: u64,
}

/// Returns the compressed records of an area of a file, up to the first bytes that are not a
/// record.
pub(super) fn packed_records<'a>(
    file: &'a RecordFile<'_>,
    area: (u64, u64),
    limits: &Limits,
) -> impl Iterator<Item = Packed> + use<'a> {
    let (layer, order) = (file.layer(), file.order());
    let records = file.records(area, limits.of(&RESYNC)).map_while(Item::record);
    records.filter_map(move |record| {
        let wrapper = Wrapper::of(record.frame.kind)?;
        let start = record.offset.saturating_add(wrapper.head_len());
        let data = wrapper.payload(&record.bytes, order).to_vec();
        let record = Span::sized(layer, record.offset, record.frame.size);
        Some(Packed { record, start, data })
    })
}

/// Finds the first block of an area of a file that cannot be expanded, and the changes of one byte
/// that may have caused it; `None` if the records before it expand to more than `room` bytes.
pub fn find(
    file: &RecordFile<'_>,
    area: (u64, u64),
    room: u64,
    events: &Events,
    limits: &Limits,
) -> Option<DamagedBlock> {
    let mut stream = PartialStream::new(limits.of(&ZSTD_WINDOW));
    let (mut carry, mut allowance) = (Vec::new(), limits.of(&CHANGES));
    let mut expanded = 0_u64;
    let mut named = Named::default();
    named.note_stored(file, area, limits);
    let mut packed = packed_records(file, area, limits);
    loop {
        let first = packed.next()?;
        let before = carry.len();
        let valid = stream.feed(&first.data, &mut carry, EXPANDED_MAX);
        expanded = expanded.saturating_add(to_u64(carry.len().saturating_sub(before)));
        if carry.len() >= EXPANDED_MAX || expanded > room {
            return None;
        }
        let whole = whole_len(&carry, events.dialect)?;
        let sound = views(carry.get(..whole)?, events.dialect);
        sound.for_each(|record| named.note_sound(&record, events));
        carry.drain(..whole);
        if valid < first.data.len() {
            named.sort();
            let (record, start) = (first.record, first.start);
            let race = Race { events, named: &named, carry, rest: first.data.get(valid..)? };
            let changes = race.run(&mut stream, packed, &mut allowance);
            let after = packed_records(file, (record.end, area.1), limits);
            let doubtful = match changes.as_slice() {
                [one] if one.judgement.doubts.is_any() => {
                    race.count_samples(stream, one.change, after, room)
                }
                _ => 0,
            };
            let at = start.saturating_add(to_u64(valid));
            let changes = Some(changes);
            return Some(DamagedBlock { record, at, changes, doubtful, named, allowance });
        }
    }
}

/// Returns the length of the complete records; `None` if a record is invalid.
pub(super) fn whole_len(bytes: &[u8], dialect: Dialect) -> Option<usize> {
    let mut rest = bytes;
    while let Ok(frame) = dialect.frame(rest) {
        match rest.get(to_usize(frame.size)..) {
            Some(after) => rest = after,
            None => break,
        }
    }
    let is_end = dialect.frame(rest).map_or_else(|fault| fault.is_truncation(), |_| true);
    is_end.then(|| bytes.len().saturating_sub(rest.len()))
}

/// Returns the records that follow one another in some bytes.
pub(super) fn views(bytes: &[u8], dialect: Dialect) -> impl Iterator<Item = RecordView<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let frame = dialect.frame(rest).ok()?;
        let bytes = rest.split_off(..to_usize(frame.size))?;
        let place = Place { layer: Layer::stored(0), offset: 0, index: 0 };
        Some(RecordView { frame, place, bytes })
    })
}

/// The race of the values of one byte.
pub(super) struct Race<'a> {
    pub(super) events: &'a Events,
    /// The names in other records, sorted.
    pub(super) named: &'a Named,
    /// The bytes of an incomplete record before the block.
    pub(super) carry: Vec<u8>,
    /// The data of the record from the invalid block on.
    pub(super) rest: &'a [u8],
}

impl Race<'_> {
    /// Returns the changes of a byte that have the fewest doubts. Subtracts the steps and expanded
    /// bytes from `allowance`.
    pub(super) fn run(
        &self,
        stream: &mut PartialStream,
        later: impl Iterator<Item = Packed>,
        allowance: &mut u64,
    ) -> Vec<Candidate> {
        let mut judged: Vec<(Doubts, Change)> = Vec::new();
        for change in stream.find_changes(self.rest, allowance) {
            let block = stream.peek(&changed(self.rest, change));
            let Some(block) = block.filter(|_| !self.is_in_run(change)) else { continue };
            let bytes = [self.carry.as_slice(), &block].concat();
            let judgement = self.judge(&bytes, &[bytes.len()], allowance);
            judged.extend(judgement.map(|judgement| (judgement.doubts, change)));
        }
        judged.sort_by_key(|(doubts, _)| *doubts);
        // The right one may be among those that are left out.
        let copied = judged.len().saturating_mul(stream.held());
        if *allowance == 0 || judged.len() > FINALISTS || copied > WINDOWS {
            return Vec::new();
        }
        let later = held(later);
        let mut finals: Vec<Candidate> = Vec::new();
        for (_, change) in judged {
            let judgement = self.expand(stream.clone(), change, &later, allowance);
            finals.extend(judgement.map(|judgement| Candidate { change, judgement }));
        }
        let proven = finals.iter().filter(|one| one.judgement.weight >= PROOF);
        let Some(least) = proven.map(|one| one.judgement.doubts).min() else {
            return Vec::new();
        };
        finals.retain(|one| one.judgement.doubts <= least);
        finals
    }

    /// Counts the samples in the blocks from the changed one on, up to a new frame.
    fn count_samples(
        &self,
        mut stream: PartialStream,
        change: Change,
        later: impl Iterator<Item = Packed>,
        room: u64,
    ) -> u64 {
        let (mut out, mut samples, mut expanded) = (self.carry.clone(), 0_u64, 0_u64);
        let first = changed(self.rest, change);
        let later = later.map(|one| one.data).take_while(|data| !begins_frame(data));
        for data in std::iter::once(first).chain(later) {
            let before = out.len();
            stream.feed(&data, &mut out, EXPANDED_MAX);
            expanded = expanded.saturating_add(to_u64(out.len().saturating_sub(before)));
            let whole = whole_len(&out, self.events.dialect);
            let Some(whole) = whole.filter(|_| expanded <= room) else { break };
            let records = views(out.get(..whole).unwrap_or_default(), self.events.dialect);
            let found = records.filter(|record| record.frame.kind == record::SAMPLE).count();
            samples = samples.saturating_add(to_u64(found));
            out.drain(..whole);
        }
        samples
    }

    /// Whether equal bytes adjoin a change.
    fn is_in_run(&self, change: Change) -> bool {
        let (before, from) = self.rest.split_at_checked(change.at).unwrap_or_default();
        let after = from.get(1..).unwrap_or_default();
        let is_run = |bytes: Option<&[u8]>| {
            bytes.is_some_and(|bytes| bytes.windows(2).all(|two| two.first() == two.last()))
        };
        let last = before.len().checked_sub(RUN).and_then(|start| before.get(start..));
        is_run(last) || is_run(after.get(..RUN))
    }

    /// Judges what the damaged record expands to with a change, and those after it.
    fn expand(
        &self,
        mut stream: PartialStream,
        change: Change,
        later: &[Packed],
        allowance: &mut u64,
    ) -> Option<Judgement> {
        let (mut out, mut ends) = (self.carry.clone(), Vec::new());
        let (mut faults, mut is_cut) = (0, false);
        let first = changed(self.rest, change);
        for data in [first.as_slice()].into_iter().chain(later.iter().map(|one| &*one.data)) {
            let fed = stream.feed(data, &mut out, JUDGED);
            ends.push(out.len());
            faults = u64::from(fed < data.len() && out.len() < JUDGED);
            is_cut = faults > 0 || out.len() >= JUDGED;
            if is_cut {
                break;
            }
        }
        let judgement = self.judge(&out, &ends, allowance)?;
        // Of a record with a wrong size, the rest would be left over.
        let most = if is_cut { to_u64(out.len() / 4) } else { 0 };
        let doubts = Doubts { faults, ..judgement.doubts };
        (doubts.left_over <= most).then_some(Judgement { doubts, ..judgement })
    }

    /// Judges the complete records of expanded bytes, of which those of a compressed record end at
    /// each of `ends`; `None` if an invalid one is among them.
    fn judge(&self, bytes: &[u8], ends: &[usize], allowance: &mut u64) -> Option<Judgement> {
        steps::count(to_u64(bytes.len()));
        *allowance = allowance.checked_sub(to_u64(bytes.len())).unwrap_or_default();
        if *allowance == 0 {
            return None;
        }
        let dialect = self.events.dialect;
        let (whole, left_over) = bytes.split_at_checked(whole_len(bytes, dialect)?)?;
        let mut judgement = Judgement::default();
        judgement.doubts.left_over = to_u64(left_over.len());
        let (mut named, mut groups) = (Named::default(), vec![Vec::new(); ends.len()]);
        let mut end = 0_usize;
        for view in views(whole, dialect) {
            let weight = self.events.weigh(&view);
            judgement.weight = judgement.weight.saturating_add(weight);
            judgement.records = judgement.records.saturating_add(1);
            let doubts = &mut judgement.doubts;
            doubts.misfits = doubts.misfits.saturating_add(u64::from(weight == 0));
            named.note(&view, self.events.order());
            end = end.saturating_add(view.bytes.len());
            let group = groups.get_mut(ends.partition_point(|last| *last < end));
            let testimony = Testimony::weighed(&view, self.events, weight);
            group.into_iter().for_each(|group| group.push(testimony));
        }
        named.sort();
        let contradicted = groups.iter().map(|one| count_contradicted(one, &[self.named, &named]));
        judgement.doubts.contradicted = contradicted.fold(0, u64::saturating_add);
        Some(judgement)
    }
}

/// Takes the records that are expanded to judge a value.
fn held(later: impl Iterator<Item = Packed>) -> Vec<Packed> {
    let mut stored = 0_usize;
    later
        .take_while(|packed| {
            let has_room = stored < JUDGED;
            stored = stored.saturating_add(packed.data.len());
            has_room
        })
        .collect()
}

/// Returns the bytes with the change.
pub(super) fn changed(bytes: &[u8], change: Change) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(byte) = bytes.get_mut(change.at) {
        *byte = change.value;
    }
    bytes
}

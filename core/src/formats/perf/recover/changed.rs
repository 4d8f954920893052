//! The byte of a compressed record that was changed, so that its zstd block cannot be expanded.
//!
//! The values of all bytes race with which the block can be expanded. Those that are wrong expand
//! to other bytes from the changed one on, which are no records; the one that is right makes all
//! records of the block follow one another, and those of the blocks that copy from it.

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::decode::frame::{Dialect, Place, RecordView};
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::limits::CHANGES;
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
}

/// The first block that cannot be expanded, and the changes of one byte with the fewest doubts.
#[derive(Clone, Debug)]
pub struct DamagedBlock {
    /// The compressed record.
    record: Span,
    /// Offset of the block in the file.
    at: u64,
    /// The changes, each with the number of records that follow one another with it.
    pub(super) changes: Vec<(Change, u64)>,
    /// Steps of the limit that are left.
    pub(super) allowance: u64,
}

impl DamagedBlock {
    /// Returns the changed byte, if one value of one byte is clearly ahead of all others.
    pub fn changed_byte(&self) -> Option<ChangedByte> {
        let [(change, records)] = self.changes.as_slice() else { return None };
        let span = Span::sized(self.record.layer, self.at.saturating_add(to_u64(change.at)), 1);
        Some(ChangedByte { span, value: change.value, record: self.record, records: *records })
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
    /// Records that are older than the one before them.
    steps_back: u64,
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
    let mut packed = packed_records(file, area, limits);
    loop {
        let first = packed.next()?;
        let before = carry.len();
        let valid = stream.feed(&first.data, &mut carry, EXPANDED_MAX);
        expanded = expanded.saturating_add(to_u64(carry.len().saturating_sub(before)));
        if carry.len() >= EXPANDED_MAX || expanded > room {
            return None;
        }
        let whole = whole_len(&carry, events.dialect);
        carry.drain(..whole?);
        if valid < first.data.len() {
            let (record, start) = (first.record, first.start);
            let race = Race { events, carry, rest: first.data.get(valid..)? };
            let changes = race.run(&mut stream, packed, &mut allowance);
            let at = start.saturating_add(to_u64(valid));
            return Some(DamagedBlock { record, at, changes, allowance });
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

/// The race of the values of one byte.
pub(super) struct Race<'a> {
    pub(super) events: &'a Events,
    /// The bytes of an incomplete record before the block.
    pub(super) carry: Vec<u8>,
    /// The data of the record from the invalid block on.
    pub(super) rest: &'a [u8],
}

impl Race<'_> {
    /// Returns the changes of a byte that have the fewest doubts, and for each the number of
    /// records that follow one another with it. Subtracts the steps and expanded bytes from
    /// `allowance`.
    pub(super) fn run(
        &self,
        stream: &mut PartialStream,
        later: impl Iterator<Item = Packed>,
        allowance: &mut u64,
    ) -> Vec<(Change, u64)> {
        let mut judged: Vec<(Doubts, Change)> = Vec::new();
        for change in stream.find_changes(self.rest, allowance) {
            let block = stream.peek(&changed(self.rest, change));
            let Some(block) = block.filter(|_| !self.is_in_run(change)) else { continue };
            let judgement = self.judge(&[self.carry.as_slice(), &block].concat(), allowance);
            judged.extend(judgement.map(|judgement| (judgement.doubts, change)));
        }
        judged.sort_by_key(|(doubts, _)| *doubts);
        // The right one may be among those that are left out.
        let copied = judged.len().saturating_mul(stream.held());
        if *allowance == 0 || judged.len() > FINALISTS || copied > WINDOWS {
            return Vec::new();
        }
        let later = held(later);
        let mut finals: Vec<(Judgement, Change)> = Vec::new();
        for (_, change) in judged {
            let judgement = self.expand(stream.clone(), change, &later, allowance);
            finals.extend(judgement.map(|judgement| (judgement, change)));
        }
        let proven = finals.iter().filter(|(judgement, _)| judgement.weight >= PROOF);
        let Some(least) = proven.map(|(judgement, _)| judgement.doubts).min() else {
            return Vec::new();
        };
        finals.retain(|(judgement, _)| judgement.doubts <= least);
        finals.into_iter().map(|(judgement, change)| (change, judgement.records)).collect()
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
        let mut out = self.carry.clone();
        let (mut faults, mut is_cut) = (0, false);
        let first = changed(self.rest, change);
        for data in [first.as_slice()].into_iter().chain(later.iter().map(|one| &*one.data)) {
            let fed = stream.feed(data, &mut out, JUDGED);
            faults = u64::from(fed < data.len() && out.len() < JUDGED);
            is_cut = faults > 0 || out.len() >= JUDGED;
            if is_cut {
                break;
            }
        }
        let judgement = self.judge(&out, allowance)?;
        // Of a record with a wrong size, the rest would be left over.
        let most = if is_cut { to_u64(out.len() / 4) } else { 0 };
        let doubts = Doubts { faults, ..judgement.doubts };
        (doubts.left_over <= most).then_some(Judgement { doubts, ..judgement })
    }

    /// Judges the complete records of expanded bytes; `None` if an invalid one is among them.
    fn judge(&self, bytes: &[u8], allowance: &mut u64) -> Option<Judgement> {
        steps::count(to_u64(bytes.len()));
        *allowance = allowance.checked_sub(to_u64(bytes.len())).unwrap_or_default();
        if *allowance == 0 {
            return None;
        }
        let dialect = self.events.dialect;
        let (mut rest, left_over) = bytes.split_at_checked(whole_len(bytes, dialect)?)?;
        let mut judgement = Judgement::default();
        judgement.doubts.left_over = to_u64(left_over.len());
        let mut latest = 0;
        while let Ok(frame) = dialect.frame(rest) {
            let Some(record) = rest.split_off(..to_usize(frame.size)) else { break };
            let place = Place { layer: Layer::stored(0), offset: 0, index: 0 };
            let view = RecordView { frame, place, bytes: record };
            let weight = self.events.weigh(&view);
            judgement.weight = judgement.weight.saturating_add(weight);
            judgement.records = judgement.records.saturating_add(1);
            let doubts = &mut judgement.doubts;
            doubts.misfits = doubts.misfits.saturating_add(u64::from(weight == 0));
            if let Some(time) = self.events.origin_of(&view).and_then(|origin| origin.time) {
                doubts.steps_back = doubts.steps_back.saturating_add(u64::from(time < latest));
                latest = time;
            }
        }
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

//! The records in compressed records of which a block is damaged.
//!
//! Later blocks copy from the damaged one. So several readings of it are expanded side by side:
//! those values of a changed byte between which nothing decides, or two fillers for literals that
//! were lost, while the sequences, and with them all lengths, are known. Bytes on which the
//! readings agree are known, and a record is kept if all of its bytes are. Where the length of a
//! block is lost, nothing after it is known.

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::begins_frame;
use crate::formats::perf::decode::frame::{FrameFault, Place, RecordView};
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::layout::RECORD_HEADER;
use crate::formats::perf::recover::changed::{
    Candidate, DamagedBlock, EXPANDED_MAX, Packed, Race, changed, packed_records, whole_len,
};
use crate::kit::expand::zstd::PartialStream;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::steps;
use crate::model::limits::{Limits, ZSTD_WINDOW};

/// Readings that are expanded side by side.
const READINGS: usize = 64;
/// Bytes of the windows of all readings, and of all that they make of one record.
const HELD: usize = 64 << 20;
/// Bytes that all readings together are expanded to, in bytes that one may have.
const WORK: u64 = 4;
/// The fillers of lost literals. No field of a record has both of them.
const FILLERS: [u8; 2] = [0x55, 0xaa];
/// Distance between places where a record may begin.
const ALIGNMENT: usize = 8;
/// Weight of a record that is one beyond doubt: a sample.
const SURE: u64 = 4;

/// The records of a stream that are known.
#[derive(Clone, Debug, Default)]
pub struct PartlyKnown {
    /// The compressed records, and for each the bytes of the known records that end in it.
    pub packed: Vec<(Span, Vec<u8>)>,
    /// Number of known records.
    pub kept: u64,
    /// Number of records with unknown bytes.
    pub dropped: u64,
    /// Number of compressed records of which nothing is known.
    pub lost: u64,
    /// Number of expanded bytes.
    pub expanded: u64,
}

/// Expands the compressed records in an area of a file as far as they are known; `None` if nothing
/// is known after the damage, or if they expand to more than `room` bytes. `block` is the first one
/// that cannot be expanded.
pub fn expand(
    file: &RecordFile<'_>,
    area: (u64, u64),
    room: u64,
    block: DamagedBlock,
    (events, limits): (&Events, &Limits),
) -> Option<PartlyKnown> {
    let mut known = Known::new(events, limits, room, block);
    for next in packed_records(file, area, limits) {
        let after = (next.record.end, area.1);
        if begins_frame(&next.data) {
            known.begin();
        }
        if known.is_lost || !known.feed(&next.data, || packed_records(file, after, limits)) {
            known.is_lost = true;
            known.out.lost = known.out.lost.saturating_add(1);
        }
        let records = known.take_records();
        if known.out.expanded > room || known.is_spent() {
            return None;
        }
        known.out.packed.push((next.record, records));
    }
    known.is_useful.then_some(known.out)
}

struct Known<'a> {
    events: &'a Events,
    limits: &'a Limits,
    readings: Vec<PartialStream>,
    rest: Rest,
    /// Whether a block was damaged.
    is_damaged: bool,
    /// Whether the length of a block was lost.
    is_lost: bool,
    /// Whether a record after the damage is known.
    is_useful: bool,
    left: Left,
    /// The first damaged block; its changes are taken when it is reached.
    block: DamagedBlock,
    out: PartlyKnown,
}

/// The expanded bytes from the last incomplete record on.
#[derive(Clone, Debug, Default)]
struct Rest {
    /// The bytes by the first reading.
    bytes: Vec<u8>,
    /// For each of them, whether all readings agree.
    agreed: Vec<bool>,
    /// Whether the next record does not begin with the first of them.
    is_out_of_step: bool,
}

/// What a reading may hold, and the work that is left.
#[derive(Clone, Copy, Debug)]
struct Left {
    /// Bytes that the file may expand to.
    room: u64,
    /// Bytes that all readings may still expand to, copy, or compare with records.
    bytes: u64,
    /// Steps that the races may still take.
    steps: u64,
}

impl<'a> Known<'a> {
    fn new(events: &'a Events, limits: &'a Limits, room: u64, block: DamagedBlock) -> Self {
        Self {
            events,
            limits,
            readings: vec![PartialStream::new(limits.of(&ZSTD_WINDOW))],
            rest: Rest::default(),
            is_damaged: false,
            is_lost: false,
            is_useful: false,
            left: Left { room, bytes: room.saturating_mul(WORK), steps: block.allowance },
            block,
            out: PartlyKnown::default(),
        }
    }

    /// Begins a new frame, which does not depend on the data before it.
    fn begin(&mut self) {
        self.readings = vec![PartialStream::new(self.limits.of(&ZSTD_WINDOW))];
        self.is_lost = false;
        self.rest.is_out_of_step &= !self.rest.bytes.is_empty();
    }

    /// Expands the data of a record; `false` if a part of it has an unknown length. `later` are the
    /// records after it.
    fn feed<I: Iterator<Item = Packed>>(&mut self, data: &[u8], later: impl Fn() -> I) -> bool {
        let mut outs = vec![Vec::new(); self.readings.len()];
        let mut rest = data;
        while !rest.is_empty() {
            let most = HELD.checked_div(self.readings.len()).unwrap_or(0).min(EXPANDED_MAX);
            let valid = self.feed_readings(rest, &mut outs, most);
            rest = rest.get(valid..).unwrap_or_default();
            if self.is_spent() || outs.iter().any(|out| out.len() >= most) {
                return false;
            }
            if rest.is_empty() {
                break;
            }
            self.is_damaged = true;
            let before = outs.first().cloned().unwrap_or_default();
            if self.is_plain() && self.try_changes(rest, &mut outs, later()) {
                rest = &[];
            } else if let Some(after) = self.fill(rest, &mut outs) {
                rest = after;
            } else {
                self.merge(&[before]);
                return false;
            }
        }
        self.merge(&outs)
    }

    fn spend(&mut self, bytes: u64) {
        steps::count(bytes);
        self.left.bytes = self.left.bytes.saturating_sub(bytes);
    }

    fn is_spent(&self) -> bool {
        self.left.bytes == 0 || steps::is_spent()
    }

    /// The most bytes that a reading will hold: its window, of which no more is filled than the
    /// file expands to.
    fn window(&self) -> usize {
        let window = self.readings.first().map_or(0, PartialStream::window);
        window.min(to_usize(self.left.room))
    }

    /// Spends the bytes of the windows of all readings, which are copied.
    fn spend_windows(&mut self) {
        let held = to_u64(self.window()).min(self.out.expanded);
        self.spend(held.saturating_mul(to_u64(self.readings.len())));
    }

    /// Whether there is one reading.
    fn is_plain(&self) -> bool {
        self.readings.len() == 1
    }

    /// Gives data to the readings, and drops those that contradict it although others do not.
    /// Returns the number of bytes before the first fault of all.
    fn feed_readings(&mut self, data: &[u8], outs: &mut Vec<Vec<u8>>, room: usize) -> usize {
        let readings = self.readings.iter_mut().zip(outs.iter_mut());
        let valid: Vec<usize> = readings.map(|(one, out)| one.feed(data, out, room)).collect();
        let most = valid.iter().copied().max().unwrap_or(0);
        let mut is_ahead = valid.iter().map(|len| *len == most);
        self.readings.retain(|_| is_ahead.next().unwrap_or(false));
        let mut is_ahead = valid.iter().map(|len| *len == most);
        outs.retain(|_| is_ahead.next().unwrap_or(false));
        most
    }

    /// Goes on with the changes of one byte between which nothing decides.
    fn try_changes(
        &mut self,
        rest: &[u8],
        outs: &mut Vec<Vec<u8>>,
        later: impl Iterator<Item = Packed>,
    ) -> bool {
        self.spend_windows();
        let (Some(stream), Some(out)) = (self.readings.first(), outs.first()) else { return false };
        let mut stream = stream.clone();
        let found = match self.block.changes.take() {
            Some(found) => found,
            None => {
                let mut carry = [self.rest.bytes.as_slice(), out].concat();
                let Some(whole) = whole_len(&carry, self.events.dialect) else { return false };
                carry.drain(..whole);
                let race = Race { events: self.events, named: &self.block.named, carry, rest };
                race.run(&mut stream, later, &mut self.left.steps)
            }
        };
        if found.len() > READINGS || found.len().saturating_mul(self.window()) > HELD {
            return false;
        }
        let (mut readings, mut new) = (Vec::new(), Vec::new());
        for Candidate { change, .. } in found {
            let (mut reading, mut out) = (stream.clone(), out.clone());
            if reading.feed(&changed(rest, change), &mut out, EXPANDED_MAX) == rest.len() {
                readings.push(reading);
                new.push(out);
            }
        }
        let is_found = !readings.is_empty();
        if is_found {
            (self.readings, *outs) = (readings, new);
        }
        is_found
    }

    /// Goes on after a block of which the literals are lost. Returns the rest after it.
    fn fill<'b>(&mut self, rest: &'b [u8], outs: &mut Vec<Vec<u8>>) -> Option<&'b [u8]> {
        self.spend_windows();
        let (mut readings, mut new, mut after) = (Vec::new(), Vec::new(), None);
        let window = self.window();
        let has_room = self.readings.len() < READINGS
            && self.readings.len().saturating_mul(FILLERS.len()).saturating_mul(window) <= HELD;
        let copies = if has_room { FILLERS.len() } else { 1 };
        for (index, (reading, out)) in self.readings.iter().zip(outs.iter()).enumerate() {
            for filler in FILLERS.iter().cycle().skip(index).take(copies) {
                let (mut reading, mut out) = (reading.clone(), out.clone());
                if let Some(left) = reading.fill(rest, *filler, &mut out) {
                    after = Some(left);
                    readings.push(reading);
                    new.push(out);
                }
            }
        }
        after?;
        (self.readings, *outs) = (readings, new);
        after
    }

    /// Adds the bytes of the readings; `false` if they have different lengths.
    fn merge(&mut self, outs: &[Vec<u8>]) -> bool {
        let Some((first, others)) = outs.split_first() else { return false };
        if others.iter().any(|other| other.len() != first.len()) {
            return false;
        }
        self.spend(outs.iter().fold(0, |sum: u64, out| sum.saturating_add(to_u64(out.len()))));
        self.out.expanded = self.out.expanded.saturating_add(to_u64(first.len()));
        self.rest.bytes.extend_from_slice(first);
        let agrees = |(at, byte)| others.iter().all(|other| other.get(at) == Some(byte));
        self.rest.agreed.extend(first.iter().enumerate().map(agrees));
        true
    }

    /// Takes the known records that are complete.
    fn take_records(&mut self) -> Vec<u8> {
        let mut taken = Vec::new();
        let (mut at, mut searched) = (0_usize, 0_u64);
        let dialect = self.events.dialect;
        while let Some(rest) = self.rest.bytes.get(at..) {
            let frame = dialect.frame(rest);
            if !self.rest.is_out_of_step && frame.is_err_and(FrameFault::is_truncation) {
                break;
            }
            let frame = frame.ok().filter(|_| self.is_known(at, to_usize(RECORD_HEADER)));
            let size = frame.map_or(0, |frame| to_usize(frame.size));
            let record = frame.zip(rest.get(..size));
            if !self.rest.is_out_of_step && frame.is_some() && record.is_none() {
                break;
            }
            if self.rest.is_out_of_step {
                searched = searched.saturating_add(to_u64(size));
                if searched >= self.left.bytes {
                    break;
                }
            }
            let is_known = self.is_known(at, size);
            let is_record = record.is_some_and(|(frame, bytes)| {
                let place = Place { layer: Layer::stored(0), offset: 0, index: 0 };
                let weight = self.events.weigh(&RecordView { frame, place, bytes });
                !self.rest.is_out_of_step || is_known && weight >= SURE
            });
            self.rest.is_out_of_step = !is_record;
            if let Some((_, bytes)) = record.filter(|_| is_record && is_known) {
                taken.extend_from_slice(bytes);
                self.out.kept = self.out.kept.saturating_add(1);
                self.is_useful |= self.is_damaged;
            } else if is_record {
                self.out.dropped = self.out.dropped.saturating_add(1);
            }
            let step = if is_record { size } else { ALIGNMENT };
            at = at.saturating_add(step).min(self.rest.bytes.len());
            if at >= self.rest.bytes.len() {
                break;
            }
        }
        self.spend(searched);
        self.rest.bytes.drain(..at);
        self.rest.agreed.drain(..at);
        taken
    }

    fn is_known(&self, at: usize, len: usize) -> bool {
        let agreed = self.rest.agreed.get(at..at.saturating_add(len));
        agreed.is_some_and(|agreed| agreed.iter().all(|agreed| *agreed))
    }
}

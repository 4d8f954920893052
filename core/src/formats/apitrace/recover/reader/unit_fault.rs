//! Faults of the stored units that hold the stream.

use super::seek::Seek;
use super::{Carry, FirstFault, Flow, Mode, StreamReader, bytes_from};
use crate::formats::apitrace::decode::damage::{DamageCause, UnitFault};
use crate::formats::apitrace::expand::{Block, Fault};
use crate::formats::apitrace::recover::resync::{ProbeResult, Tolerance};
use crate::kit::layer::Segment;

/// Bytes before the fault of a unit in which a contradiction belongs to it: those of a literal.
const DOUBTFUL: u64 = 256;

impl StreamReader<'_> {
    /// Takes the fault of a unit, which lies after the bytes that it gave last.
    pub(super) fn add_unit_fault(&mut self, fault: &Fault, segment: Segment, bytes: &[u8]) -> Flow {
        let is_known = segment.stored.start < self.attempts.known_faults_end;
        self.attempts.known_faults_end = self.attempts.known_faults_end.max(segment.stored.end);
        let unit_fault = UnitFault { fault: fault.clone(), segment };
        if !fault.loses_bytes() {
            if !is_known {
                self.faults.units.push(unit_fault);
            }
            return Flow::NextBlock;
        }
        match fault {
            Fault::Truncated { .. } => {
                self.faults.tail = Some(unit_fault);
                Flow::NextBlock
            }
            Fault::Limit { message } => {
                self.faults.limit = Some((segment.expanded.end, message.clone()));
                self.finish_reading()
            }
            _ => self.seek_after_unit(fault, segment, bytes),
        }
    }

    /// Takes the end of a unit that lost bytes for damage and seeks from there on.
    fn seek_after_unit(&mut self, fault: &Fault, segment: Segment, bytes: &[u8]) -> Flow {
        let end = segment.expanded.end;
        self.attempts.begins_with_fault |= end == 0;
        if let FirstFault::Passed(passed @ None) = &mut self.attempts.first_fault
            && end == 0
        {
            *passed = Some(fault.clone());
            return Flow::NextBlock;
        }
        match &mut self.mode {
            Mode::Finished => return Flow::Stop,
            // The unit is read again, and known: the search continues after it.
            Mode::Seek(seek) if end < seek.next => {}
            Mode::Seek(seek) => {
                // The place that was sought lies in the bytes that the unit lost.
                *seek = Seek::from(end);
                if let Some(damage) = self.faults.damages.last_mut() {
                    damage.cause = DamageCause::Unit(fault.clone());
                    damage.units.stored_end = segment.stored.end;
                    let latest = self.places.latest_unit();
                    damage.units.at_fault = damage.units.at_fault.or(latest);
                }
            }
            Mode::Read => self.open_unit_damage(fault, segment, bytes),
        }
        Flow::NextBlock
    }

    /// Reads the event in which the fault before a block lies, if the bytes of the unit go on at
    /// their places; `None` if that is not an event.
    pub(super) fn read_across(&mut self, block: &Block) -> Option<Flow> {
        let mut bytes = std::mem::take(&mut self.carry.bytes);
        let is_next = block.unit.1 < block.start && block.parts.is_some();
        let is_left = is_next && !block.made_up.has_any_of(block.start, block.start);
        let start = self.carry.start;
        let is_again = self.attempts.resumed_in_place == Some(start);
        if bytes.is_empty() || !is_left || is_again {
            return None;
        }
        bytes.extend_from_slice(&block.bytes);
        match self.try_sync(&bytes, start, Tolerance::Close, false) {
            Ok(()) => {
                self.mode = Mode::Read;
                Some(self.read(&bytes, start))
            }
            Err(ProbeResult::NeedsMore) => Some(self.begin_seek(bytes, start)),
            Err(_) => None,
        }
    }

    fn open_unit_damage(&mut self, fault: &Fault, segment: Segment, bytes: &[u8]) {
        let end = segment.expanded.end;
        let has_header = self.parser.is_in_header();
        let start = match (has_header, self.parser.is_between_events()) {
            (true, _) => self.find_header_damage(),
            (false, true) if self.carry.bytes.is_empty() => end,
            (false, true) => self.carry.start,
            (false, false) => self.parser.event(),
        };
        // The last bytes of the unit may be damaged as well.
        let contradiction = self.tracker.history.find_first_contradiction();
        let is_near = |at: &u64| !has_header && at.saturating_add(DOUBTFUL) >= start;
        let start = contradiction.filter(is_near).map_or(start, |at| at.min(start));
        // An empty unit shares its place in the stream with the one after it.
        let unit = self.places.latest_unit();
        self.open_damage(start, DamageCause::Unit(fault.clone()), end);
        if let Some(damage) = self.faults.damages.last_mut() {
            damage.has_header = has_header;
            damage.units.at_fault = unit;
            damage.units.stored_end = segment.stored.end;
        }
        self.carry.bytes.clear();
        let base = segment.expanded.start;
        if !has_header && start >= base {
            // The bytes of the event may go on after the fault.
            self.carry = Carry { bytes: bytes_from(bytes, base, start).to_vec(), start };
        }
        self.mode = Mode::Seek(Seek::from(end));
    }
}

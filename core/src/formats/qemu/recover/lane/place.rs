//! The defects of an event at its place: those that the events before it show.

use crate::formats::qemu::decode::clock;
use crate::formats::qemu::decode::defect::Defect;
use crate::formats::qemu::decode::event::{Event, Value};
use crate::formats::qemu::layout::{Checkpoint, Kind, range};
use crate::formats::qemu::recover::lane::{INIT_EVENTS, LOOKS_MAX, Lane};

impl Lane<'_> {
    /// The defect of an event at its place: its clock, its checkpoint, its request, the ring.
    pub(super) fn find_in_place(&mut self, event: &Event) -> Option<Defect> {
        let kind = event.kind;
        let ends = matches!(kind, Kind::Shutdown(_) | Kind::End);
        let is_init = kind == Kind::Checkpoint(Checkpoint::Init);
        if is_init && self.context.has_init {
            return Some(Defect::InitTwice);
        }
        let is_third = || self.events().saturating_add(1) == INIT_EVENTS;
        let lacks_init = !self.context.has_init && !is_init && !ends && self.layout().measured;
        if lacks_init && is_third() {
            return Some(Defect::InitLate);
        }
        if let Some(now) = event.time() {
            let before = self.last_time(kind).filter(|before| *before > now)?;
            return Some(Defect::ClockBackwards { before, now });
        }
        match event.value {
            Value::AudioIn { recorded, full_ring: true, .. } => Some(Defect::FullRing(recorded)),
            _ if kind == Kind::Instruction => self.find_in_rate(event, event.instructions()),
            _ => self.find_in_request(event).or_else(|| self.find_in_checkpoint(event)),
        }
    }

    /// The defect of a count that is too large for the time between two readings of the clock.
    fn find_in_rate(&mut self, event: &Event, count: u64) -> Option<Defect> {
        if count < range::INSTRUCTIONS_USUAL || self.context.looks >= LOOKS_MAX {
            return None;
        }
        self.context.looks = self.context.looks.saturating_add(1);
        let before = self.last_time(Kind::ClockVirtualRt)?;
        let next = clock::find_next(self.decoder(), event.end, Kind::ClockVirtualRt)?;
        let nanoseconds = u64::try_from(next.checked_sub(before)?).ok()?;
        let most = nanoseconds
            .saturating_mul(range::INSTRUCTION_RATE)
            .saturating_add(range::INSTRUCTIONS_USUAL);
        (count > most).then_some(Defect::InstructionRate { count, nanoseconds })
    }

    /// The defect of the id or index of a request.
    fn find_in_request(&self, event: &Event) -> Option<Defect> {
        let is_request = matches!(event.kind, Kind::Async(_)) && self.layout().measured;
        if !is_request {
            return None;
        }
        self.context.requests.find_defect(event, self.instructions())
    }

    /// The defect of the checkpoint that an event names, through 7.0.
    fn find_in_checkpoint(&self, event: &Event) -> Option<Defect> {
        let named = event.checkpoint?;
        // Of the events that the fast loop skipped, only the last one is known.
        let last = match self.context.previous? {
            Kind::Async(_) => self.context.checkpoint?,
            previous => self.layout().checkpoint_number(previous)?,
        };
        (named != last).then_some(Defect::OtherCheckpoint { named, last })
    }
}

//! Matches leaves with the calls that are open, and judges events that match nothing.

use super::StreamTracker;
use super::events::most_unmatched;
use super::overlaps::Overlap;
use super::warnings::WarningKind;
use crate::formats::apitrace::decode::calls::OpenCall;
use crate::formats::apitrace::decode::grammar::{Space, StreamError};
use crate::formats::apitrace::decode::usage::shape::Shape;

/// Leaves in a row that belong to no call before the stream counts as damaged.
const STRAY_LEAVES_MAX: u32 = 3;
/// Enters in a row without arguments that threads may begin which are not known: fewer than the
/// events that can be taken back.
const BARE_ENTERS_MAX: u64 = 400;

impl StreamTracker {
    /// Counts an enter without details; `argument_count`: the arguments of its function, if they
    /// are known. Returns whether it has some: the tracer writes the first one in the enter.
    pub(super) fn add_bare_enter(
        &mut self,
        open: OpenCall,
        argument_count: Option<u64>,
    ) -> Result<bool, StreamError> {
        if open.may_be_zeros() && argument_count != Some(0) {
            return Err(StreamError::Zeros);
        }
        self.history.enters_in_a_row = self.history.enters_in_a_row.saturating_add(1);
        // Each of many threads that are not known may begin a call of a function without arguments.
        let is_expected = self.calls.overlap.is_free() && argument_count == Some(0);
        let most = if is_expected { BARE_ENTERS_MAX } else { most_unmatched(self.calls.threads) };
        match self.history.enters_in_a_row > most {
            true => Err(StreamError::InconsistentCalls),
            false => Ok(argument_count.is_some_and(|count| count > 0)),
        }
    }

    #[inline(always)]
    pub(super) fn leave_open_call(&mut self, open: OpenCall) -> Result<(), StreamError> {
        self.history.enters_in_a_row = 0;
        self.history.lost_leaves_in_a_row = 0;
        // A thread leaves its calls from the inside out.
        if self.calls.open_count() == 0 || !self.calls.is_inside(open) {
            self.history.stray_leaves_in_a_row = 0;
            self.history.overlaps.end_row(self.calls.open_count().saturating_add(1));
            return Ok(());
        }
        self.history.overlaps.add(self.calls.count_inside(open));
        if self.calls.overlap.is_free() {
            return self.judge_overlap();
        }
        self.add_stray_leave()
    }

    /// Judges the leave of a call before the latest one, whose thread may be another.
    #[cold]
    fn judge_overlap(&mut self) -> Result<(), StreamError> {
        self.history.stray_leaves_in_a_row = 0;
        let is_bounded = self.calls.overlap == Overlap::Bounded;
        match is_bounded && self.history.overlaps.is_too_long() {
            true => Err(StreamError::InconsistentCalls),
            false => Ok(()),
        }
    }

    #[cold]
    pub(super) fn leave_unknown_call(&mut self, at: u64, number: u64) -> Result<(), StreamError> {
        if self.lost_calls.contains(number) {
            return self.add_lost_leave();
        }
        let kind = match number < self.calls.next {
            true => WarningKind::LeftTwice(number),
            false => WarningKind::NeverEntered(number),
        };
        self.warn_about(kind, at, at, Some((at, at)));
        if let Some(warning) = self.warnings.pending.back_mut() {
            warning.owners = self.calls.innermost();
        }
        self.add_stray_leave()
    }

    /// Ends a leave at `at.0..at.1` of a call that is not open; `defines`: whether it defines ids.
    #[cold]
    pub(super) fn end_unknown_leave(
        &mut self,
        number: u64,
        at: (u64, u64),
        shape: Shape,
        defines: bool,
    ) -> Result<(), StreamError> {
        let owner = self.warnings.owner(at.0);
        let ends_partial_call = owner.is_some_and(|owner| self.is_partial_call(owner, shape));
        // A repair drops the leave of an unknown call, and with it the definitions in it.
        if (defines && owner.is_none()) || ends_partial_call {
            return Err(StreamError::InconsistentCalls);
        }
        if self.lost_calls.contains(number) {
            self.lost_calls.add_leave(at.0, at.1);
        }
        Ok(())
    }

    /// Whether a call that was entered last would lack arguments if a leave with these ended it.
    /// All sound calls have every argument in the one or the other: so what looks like the leave of
    /// this call with a damaged number is part of damage that begins in its enter.
    fn is_partial_call(&self, owner: OpenCall, leave: Shape) -> bool {
        let known = self.definitions.known(Space::Function, owner.function);
        let known = known.filter(|known| !known.lost);
        let is_latest = self.history.latest_enter() == Some(owner);
        let enter = self.history.latest_enter;
        is_latest && known.is_some_and(|known| !enter.completes(leave, known.count))
    }

    /// Counts a leave of a lost call: where all calls end in one, they are the lost ones, and stand
    /// in another place.
    fn add_lost_leave(&mut self) -> Result<(), StreamError> {
        let leaves = self.history.lost_leaves_in_a_row.saturating_add(1);
        self.history.lost_leaves_in_a_row = leaves;
        match leaves > most_unmatched(self.calls.threads) {
            true => Err(StreamError::InconsistentCalls),
            false => Ok(()),
        }
    }

    fn add_stray_leave(&mut self) -> Result<(), StreamError> {
        let strays = self.history.stray_leaves_in_a_row.saturating_add(1);
        self.history.stray_leaves_in_a_row = strays;
        match strays >= STRAY_LEAVES_MAX {
            true => Err(StreamError::InconsistentCalls),
            false => Ok(()),
        }
    }
}

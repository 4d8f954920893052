//! Open calls, and the numbers that enters get by their position.

use std::collections::BTreeMap;

use super::tracker::overlaps::Overlap;
use crate::kit::num::to_u64;

/// Open calls that are searched one by one, from the latest on. A thread has one as a rule.
const RECENT: usize = 64;

/// A call that was entered and not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// Its number.
    pub number: u64,
    /// Its thread.
    pub thread: u64,
    /// The id of its function.
    pub function: u64,
}

impl OpenCall {
    /// Whether its enter is nothing but zeros if it has no details.
    #[inline(always)]
    pub const fn may_be_zeros(&self) -> bool {
        self.thread == 0 && self.function == 0
    }
}

/// The calls up to a place of the stream.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// The number of the next enter.
    pub next: u64,
    /// Numbers of threads seen so far: all are below this.
    pub threads: u64,
    /// Placeholders that an earlier repair added for lost calls.
    pub placeholders: u64,
    /// Whether calls may overlap whose threads are not known.
    pub overlap: Overlap,
    recent: Vec<OpenCall>,
    older: BTreeMap<u64, OpenCall>,
}

impl Calls {
    /// Begins a call.
    ///
    /// Inlined, as its neighbours are: a call in memory is written in three parts and read in
    /// other ones, for which a processor waits.
    #[inline(always)]
    pub fn enter(&mut self, thread: u64, function: u64) -> OpenCall {
        let open = OpenCall { number: self.next, thread, function };
        self.next = self.next.saturating_add(1);
        self.put(open);
        open
    }

    /// Whether the next call can be entered and left at once: no call moves on account of it, and
    /// none before it has its number or a higher one.
    #[inline(always)]
    pub fn is_next_in_order(&self) -> bool {
        let has_room = self.recent.len() < RECENT;
        has_room && self.recent.last().is_none_or(|before| before.number < self.next)
    }

    /// Begins and ends a call.
    #[inline(always)]
    pub fn enter_and_leave(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// Adds an open call.
    #[inline(always)]
    pub fn put(&mut self, open: OpenCall) {
        if self.recent.len() >= RECENT {
            self.move_half();
        }
        self.recent.push(open);
    }

    #[cold]
    fn move_half(&mut self) {
        let half = self.recent.drain(..RECENT / 2);
        self.older.extend(half.map(|open| (open.number, open)));
    }

    /// Ends a call; `None` if it is not open.
    #[inline(always)]
    pub fn leave(&mut self, number: u64) -> Option<OpenCall> {
        match self.recent.last() {
            Some(open) if open.number == number => {
                let open = OpenCall { number, thread: open.thread, function: open.function };
                self.recent.pop();
                Some(open)
            }
            _ => self.leave_older(number),
        }
    }

    /// Returns the latest call if it is open and no earlier one in memory has a higher number.
    #[inline(always)]
    pub fn latest_in_order(&self) -> Option<OpenCall> {
        let (open, before) = self.recent.split_last()?;
        let is_in_order = before.last().is_none_or(|before| before.number < open.number);
        is_in_order.then_some(*open)
    }

    /// Ends the latest call.
    #[inline(always)]
    pub fn leave_latest(&mut self) {
        self.recent.pop();
    }

    #[cold]
    fn leave_older(&mut self, number: u64) -> Option<OpenCall> {
        match self.recent.iter().rposition(|open| open.number == number) {
            Some(index) => Some(self.recent.remove(index)),
            None => self.older.remove(&number),
        }
    }

    /// Whether a call that is open lies inside the call that was just left.
    pub fn is_inside(&self, left: OpenCall) -> bool {
        let inner = |open: &&OpenCall| open.number > left.number;
        self.recent.iter().rev().take_while(inner).any(|open| open.thread == left.thread)
    }

    /// Returns how many of the latest open calls were entered after one that is left.
    pub fn count_inside(&self, left: OpenCall) -> u64 {
        let inner = self.recent.iter().rev().take_while(|open| open.number > left.number);
        to_u64(inner.count())
    }

    /// Returns the number of open calls.
    pub fn open_count(&self) -> u64 {
        to_u64(self.recent.len()).saturating_add(to_u64(self.older.len()))
    }

    /// Whether a call is open.
    pub fn is_open(&self, number: u64) -> bool {
        self.recent.iter().any(|open| open.number == number) || self.older.contains_key(&number)
    }

    /// Returns the innermost open call of each thread, among the latest; all of these if threads
    /// are not known.
    pub fn innermost(&self) -> Vec<OpenCall> {
        if self.overlap.is_free() {
            return self.recent.iter().rev().copied().collect();
        }
        let mut found: Vec<OpenCall> = Vec::new();
        for open in self.recent.iter().rev() {
            if found.iter().all(|one| one.thread != open.thread) {
                found.push(*open);
            }
        }
        found
    }

    /// Whether a thread has an open call among the latest.
    pub fn has_open_call(&self, thread: u64) -> bool {
        self.recent.iter().any(|open| open.thread == thread)
    }

    /// Returns the open calls by number.
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let mut all: Vec<OpenCall> = self.older.values().chain(&self.recent).copied().collect();
        all.sort_by_key(|open| open.number);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_left_in_any_order_once() {
        let mut calls = Calls::default();
        (0..1000).for_each(|thread| _ = calls.enter(thread, 5));
        assert_eq!(calls.open_count(), 1000);
        for number in (0..1000).step_by(3) {
            assert_eq!(calls.leave(number).map(|open| open.thread), Some(number));
            assert_eq!(calls.leave(number), None);
        }
        assert_eq!((calls.open_count(), calls.next), (666, 1000));
        assert!(
            calls.is_open(1)
                && !calls.is_open(3)
                && calls.open_calls().is_sorted_by_key(|o| o.number)
        );
    }

    #[test]
    fn the_latest_call_is_in_order_if_its_number_is_above_the_one_before() {
        let call = |number, thread| OpenCall { number, thread, function: 5 };
        let mut calls = Calls::default();
        assert_eq!(calls.latest_in_order(), None);
        calls.put(call(4, 0));
        assert_eq!(calls.latest_in_order(), Some(call(4, 0)));
        calls.put(call(7, 0));
        assert_eq!(calls.latest_in_order(), Some(call(7, 0)));
        calls.put(call(6, 1));
        assert_eq!(calls.latest_in_order(), None);
        assert_eq!(calls.innermost(), [call(6, 1), call(7, 0)]);
    }
}

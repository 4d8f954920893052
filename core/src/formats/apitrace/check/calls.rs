//! The calls that are open, and the numbers that enters get by their position.

use std::collections::BTreeMap;

use crate::kit::num::to_u64;

/// Open calls that are searched one by one, from the latest on. A thread has one as a rule.
const RECENT: usize = 64;

/// A call that was entered and not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Its number.
    pub number: u64,
    /// Its thread.
    pub thread: u64,
    /// The id of its function.
    pub function: u64,
}

/// The calls of a stream.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// The number of the next enter.
    pub next: u64,
    recent: Vec<Open>,
    older: BTreeMap<u64, Open>,
}

impl Calls {
    /// A call begins.
    #[inline]
    pub fn enter(&mut self, thread: u64, function: u64) -> Open {
        let open = Open { number: self.next, thread, function };
        self.next = self.next.saturating_add(1);
        self.put(open);
        open
    }

    /// An open call.
    #[inline]
    pub fn put(&mut self, open: Open) {
        if self.recent.len() >= RECENT {
            let half = self.recent.drain(..RECENT / 2);
            self.older.extend(half.map(|open| (open.number, open)));
        }
        self.recent.push(open);
    }

    /// A call is over; `None` if it is not open.
    #[inline]
    pub fn leave(&mut self, number: u64) -> Option<Open> {
        if self.recent.last().is_some_and(|open| open.number == number) {
            return self.recent.pop();
        }
        self.leave_older(number)
    }

    fn leave_older(&mut self, number: u64) -> Option<Open> {
        match self.recent.iter().rposition(|open| open.number == number) {
            Some(index) => Some(self.recent.remove(index)),
            None => self.older.remove(&number),
        }
    }

    /// Whether a call that is open lies inside the call that was just left.
    pub fn is_inside(&self, left: Open) -> bool {
        let inner = |open: &&Open| open.number > left.number;
        self.recent.iter().rev().take_while(inner).any(|open| open.thread == left.thread)
    }

    /// How many calls are open.
    pub fn open(&self) -> u64 {
        to_u64(self.recent.len()).saturating_add(to_u64(self.older.len()))
    }

    /// Whether a call is open.
    pub fn is_open(&self, number: u64) -> bool {
        self.recent.iter().any(|open| open.number == number) || self.older.contains_key(&number)
    }

    /// Whether the thread has an open call among the latest.
    pub fn is_busy(&self, thread: u64) -> bool {
        self.recent.iter().any(|open| open.thread == thread)
    }

    /// The open calls by number.
    pub fn all(&self) -> Vec<Open> {
        let mut all: Vec<Open> = self.older.values().chain(&self.recent).copied().collect();
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
        assert_eq!(calls.open(), 1000);
        for number in (0..1000).step_by(3) {
            assert_eq!(calls.leave(number).map(|open| open.thread), Some(number));
            assert_eq!(calls.leave(number), None);
        }
        assert_eq!((calls.open(), calls.next), (666, 1000));
        assert!(
            calls.is_open(1) && !calls.is_open(3) && calls.all().is_sorted_by_key(|o| o.number)
        );
    }
}

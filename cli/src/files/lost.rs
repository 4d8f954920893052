//! The pages of mapped files that could not be read: a handler of signals notes them, so they are
//! kept in atomic numbers and nothing is allocated.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs of lost pages that are remembered at a time. One more ends the process: a file that is read
/// from its beginning has one.
const LOST_MAX: usize = 64;

/// The pages.
static LOST: [Run; LOST_MAX] = [const { Run::empty() }; LOST_MAX];

/// Notes a page that ends at `next`; false if too many runs are noted.
pub(super) fn note(page: usize, next: usize) -> bool {
    note_in(&LOST, page, next)
}

/// Whether a page of the map is noted that lies from `start` to `end`.
pub(super) fn has(start: usize, end: usize) -> bool {
    LOST.iter().any(|run| run.touches(start, end))
}

/// Forgets the pages of a map: another one may come to lie there.
pub(super) fn forget(start: usize, end: usize) {
    LOST.iter().filter(|run| run.touches(start, end)).for_each(|run| run.leave(start, end));
}

/// Adjoining pages that could not be read.
#[derive(Debug)]
struct Run {
    /// 0 if there are none.
    start: AtomicUsize,
    end: AtomicUsize,
}

impl Run {
    const fn empty() -> Self {
        Self { start: AtomicUsize::new(0), end: AtomicUsize::new(0) }
    }

    fn touches(&self, start: usize, end: usize) -> bool {
        let own = self.start.load(Ordering::SeqCst);
        own != 0 && own < end && start < self.end.load(Ordering::SeqCst)
    }

    /// Forgets the pages of a map. Those of the map beside it may adjoin them.
    fn leave(&self, start: usize, end: usize) {
        let order = Ordering::SeqCst;
        if self.start.load(order) < start {
            self.end.store(start, order);
        } else if self.end.load(order) > end {
            self.start.store(end, order);
        } else {
            self.end.store(0, order);
            self.start.store(0, order);
        }
    }

    /// Takes a page that follows, or one of an empty run.
    fn take(&self, page: usize, next: usize, is_new: bool) -> bool {
        let order = Ordering::SeqCst;
        if !is_new {
            return self.end.compare_exchange(page, next, order, order).is_ok();
        }
        // No page lies at 1: a run without its end touches nothing.
        let is_free = self.start.compare_exchange(0, 1, order, order).is_ok();
        if is_free {
            self.end.store(next, order);
            self.start.store(page, order);
        }
        is_free
    }
}

fn note_in(runs: &[Run], page: usize, next: usize) -> bool {
    runs.iter().any(|run| run.take(page, next, false))
        || runs.iter().any(|run| run.take(page, next, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_lost_pages_are_noted_up_to_their_limit_and_forgotten_map_by_map() {
        let runs = [const { Run::empty() }; LOST_MAX];
        let note = |page: usize| note_in(&runs, page << 12, (page + 1) << 12);
        let is_lost =
            |page: usize| runs.iter().any(|run| run.touches(page << 12, (page + 1) << 12));
        // Of a file that is read from its beginning, all pages are one run.
        assert!((100..200).all(note) && (100..200).all(is_lost) && !is_lost(99) && !is_lost(200));
        assert!((1..LOST_MAX).all(|run| note(1_000 * run)) && !note(900_000));
        // Two maps adjoin: the pages of the other one stay lost.
        let leave = |start: usize, end: usize| {
            let touched = runs.iter().filter(|run| run.touches(start << 12, end << 12));
            touched.for_each(|run| run.leave(start << 12, end << 12));
        };
        leave(150, 300);
        assert!(is_lost(149) && !is_lost(150));
        leave(50, 120);
        assert!(!is_lost(119) && is_lost(120));
        leave(120, 150);
        assert!(!is_lost(120) && note(900_000));
    }
}

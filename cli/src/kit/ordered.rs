//! Work on several threads whose results come in the order of the work.
//!
//! ```text
//!  items --next--> thread 1 --+
//!        --next--> thread 2 --+--> results wait for those before them --> each, on this thread
//!        --next--> thread N --+
//! ```
//!
//! At most [`AHEAD`] results per thread wait, so a slow item does not let memory grow.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Items that a thread may be ahead of the oldest unfinished one. Recordings of a directory are
/// mostly of one size; with this number a thread waits only for one that is much larger.
const AHEAD: usize = 16;

/// Items that are not taken yet, and how far the results are.
struct State<I> {
    items: I,
    taken: usize,
    done: usize,
    is_stopped: bool,
}

struct Queue<I> {
    state: Mutex<State<I>>,
    moved: Condvar,
    ahead: usize,
}

impl<I: Iterator> Queue<I> {
    fn lock(&self) -> MutexGuard<'_, State<I>> {
        // A thread that panics ends the whole run; nobody reads a state that it left.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next item with its number, as soon as it is not too far ahead.
    fn next(&self) -> Option<(usize, I::Item)> {
        let is_ahead =
            |state: &mut State<I>| !state.is_stopped && state.taken >= state.done + self.ahead;
        let waited = self.moved.wait_while(self.lock(), is_ahead);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_stopped {
            return None;
        }
        let item = state.items.next()?;
        let number = state.taken;
        state.taken += 1;
        Some((number, item))
    }

    fn advance(&self) {
        self.lock().done += 1;
        self.moved.notify_all();
    }

    fn stop(&self) {
        self.lock().is_stopped = true;
        self.moved.notify_all();
    }
}

/// Stops the others if its thread panics, so that none waits for a result that does not come.
struct StopOnPanic<'q, I: Iterator>(&'q Queue<I>);

impl<I: Iterator> Drop for StopOnPanic<'_, I> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Calls `work` for every item on up to `jobs` threads, and `each` with the results in the order of
/// the items, until it fails. `work` is told how many threads it may use itself.
pub(crate) fn in_order<T: Send, R: Send, E>(
    jobs: NonZeroUsize,
    mut items: impl Iterator<Item = T> + Send,
    work: impl Fn(T, NonZeroUsize) -> R + Sync,
    mut each: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if jobs.get() == 1 {
        return items.try_for_each(|item| each(work(item, jobs)));
    }
    let state = State { items, taken: 0, done: 0, is_stopped: false };
    let ahead = jobs.get().saturating_mul(AHEAD);
    let queue = Queue { state: Mutex::new(state), moved: Condvar::new(), ahead };
    let busy = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (send, results) = channel();
        for _ in 0..jobs.get() {
            let (send, queue, work, busy) = (send.clone(), &queue, &work, &busy);
            scope.spawn(move || take_all(queue, jobs, work, busy, &send));
        }
        drop(send);
        let ended = pass_on(&queue, &results, &mut each);
        queue.stop();
        ended
    })
}

/// One thread.
fn take_all<I: Iterator, R>(
    queue: &Queue<I>,
    jobs: NonZeroUsize,
    work: &impl Fn(I::Item, NonZeroUsize) -> R,
    busy: &AtomicUsize,
    send: &Sender<(usize, R)>,
) {
    let _stop = StopOnPanic(queue);
    while let Some((number, item)) = queue.next() {
        let others = busy.fetch_add(1, Ordering::Relaxed);
        let own = NonZeroUsize::new(jobs.get() / (others + 1)).unwrap_or(NonZeroUsize::MIN);
        let result = work(item, own);
        busy.fetch_sub(1, Ordering::Relaxed);
        if send.send((number, result)).is_err() {
            return;
        }
    }
}

/// Passes the results on in their order.
fn pass_on<I: Iterator, R, E>(
    queue: &Queue<I>,
    results: &Receiver<(usize, R)>,
    each: &mut impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let mut waiting = BTreeMap::new();
    let mut next = 0_usize;
    for (number, result) in results {
        waiting.insert(number, result);
        while let Some(result) = waiting.remove(&next) {
            next += 1;
            each(result)?;
            queue.advance();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for number in [1, 2, 7] {
            let mut seen = Vec::new();
            let work = |item: u64, _| {
                // Later items are done first.
                thread::sleep(std::time::Duration::from_micros((item * 7919) % 300));
                item * 2
            };
            let each = |result| {
                seen.push(result);
                Ok::<(), ()>(())
            };
            in_order(jobs(number), 0..1000_u64, work, each).unwrap();
            assert!(seen.into_iter().eq((0..1000).map(|item| item * 2)), "{number} jobs");
        }
    }

    #[test]
    fn threads_do_not_run_far_ahead_of_a_slow_item() {
        let most = AtomicUsize::new(0);
        let work = |item: usize, _| {
            if item == 0 {
                thread::sleep(std::time::Duration::from_millis(100));
            } else if most.load(Ordering::SeqCst) < item {
                most.store(item, Ordering::SeqCst);
            }
            (item, most.load(Ordering::SeqCst))
        };
        let mut first = None;
        let each = |(item, seen): (usize, usize)| {
            first = first.or((item == 0).then_some(seen));
            Ok::<(), ()>(())
        };
        in_order(jobs(2), 0..100_000, work, each).unwrap();
        assert!(first.unwrap() < 2 * AHEAD, "{first:?}");
    }

    #[test]
    fn a_failure_ends_the_work() {
        let worked = AtomicUsize::new(0);
        let work = |item: usize, _| {
            worked.fetch_add(1, Ordering::SeqCst);
            item
        };
        let each = |item| if item == 5 { Err(item) } else { Ok(()) };
        assert_eq!(in_order(jobs(3), 0..1_000_000, work, each), Err(5));
        assert!(worked.load(Ordering::SeqCst) < 1000);
    }

    #[test]
    fn a_thread_that_panics_ends_the_run() {
        let run =
            || in_order(jobs(2), 0..1000, |item, _| assert_ne!(item, 3), |()| Ok::<(), ()>(()));
        std::panic::catch_unwind(run).unwrap_err();
    }
}

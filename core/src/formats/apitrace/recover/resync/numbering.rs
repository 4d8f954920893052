//! The call number of the first of some events, as their leaves show it.

use std::cmp::Reverse;

use super::ProbeContext;
use super::probe_sink::ProbeEvent;
use crate::kit::num::to_u64;

/// As many leaves have to fit their enters.
const MATCHES: usize = 8;
/// As many calls in a row, with numbers that follow on those before the damage, are believed
/// although further damage follows: the numbers do not fit by chance.
const RUN: u64 = 3;
/// The same up to further damage, where the calls that were lost before have room.
const OVERLAP_MATCHES: usize = 3;
/// Enters before a leave that may be the one it belongs to.
const ENTERS_BACK: u64 = 16;
/// Numbers that are tried.
const CANDIDATES: usize = 400;
/// Events that are walked in one step: `NUMBERING_STEPS` are those of all candidates.
const WALKED_PER_STEP: u64 = 24;
/// Calls of one thread that may be open at once: real nesting never exceeds 2.
const OPEN_PER_THREAD: usize = 4;
/// Calls of all threads, where these are not known.
const OPEN_AT_ONCE: usize = 48;

/// Returns the number of the first enter among `events`, if the leaves agree on one.
///
/// A leave belongs to an enter before it, or to a call that was open before the damage or began in
/// it. `is_enough`: the calls had time to end; `may_be_last`: the stream ends after the events, and
/// a call may be its last.
pub(super) fn find_first_number(
    events: &[ProbeEvent],
    context: &ProbeContext<'_>,
    is_enough: bool,
    may_be_last: bool,
) -> Option<u64> {
    let expected = context.calls.next;
    let best = candidates(events, expected)
        .into_iter()
        .filter_map(|next| Some((count_matches(events, next, context, is_enough)?, next)));
    // Of equals the one in which fewest calls overlap, and then the one closest to the expected
    // number.
    let best = best.max_by_key(|((matches, overlaps), next)| {
        (*matches, Reverse(*overlaps), Reverse(next.abs_diff(expected)))
    });
    let ((matches, _), next) = best?;
    let fits = match is_enough {
        true => matches >= MATCHES,
        false => matches > 0 || (may_be_last && events.len() <= 2 && !events.is_empty()),
    };
    fits.then_some(next)
}

/// Returns the number of the first call among `events` if further ones follow it, each entered and
/// left, whatever comes after them. They are at least as many as were lost before them, or the lost
/// ones have room before the `place` of the run: so it is left of what was there, not a copy of
/// calls from far away. `has_lost`: whether ids are read as lost, for which more calls have to
/// follow.
pub(super) fn find_first_number_of_run(
    events: &[ProbeEvent],
    context: &ProbeContext<'_>,
    place: u64,
    has_lost: bool,
) -> Option<u64> {
    // The first call may have been entered in the damage.
    let (before, events) = match events {
        [ProbeEvent::Leave { call, .. }, rest @ ..] => (Some(*call), rest),
        _ => (None, events),
    };
    let [ProbeEvent::Enter { .. }, ProbeEvent::Leave { call: first, .. }, ..] = *events else {
        return None;
    };
    if before.is_some_and(|call| call.checked_add(1) != Some(first)) {
        return None;
    }
    let lost = first.checked_sub(context.calls.next)?;
    let calls = to_u64(count_calls_in_a_row(events, first));
    let least = if has_lost { to_u64(MATCHES) } else { RUN };
    let is_near = calls >= lost || context.has_room(lost, place);
    (calls >= least && is_near).then_some(first)
}

/// Returns the number of the first enter among the events of a run whose calls overlap, whatever
/// comes after them; the last event may be damaged. As for calls one after the other, no more were
/// lost before them, or those have room before the `place` of the run. `budget`: as for a place.
pub(super) fn find_first_number_of_overlap(
    events: &[ProbeEvent],
    context: &ProbeContext<'_>,
    place: u64,
    budget: &mut u64,
) -> Option<u64> {
    let (_, events) = events.split_last()?;
    let expected = context.calls.next;
    let candidates = candidates(events, expected);
    let walked = to_u64(candidates.len()).saturating_mul(to_u64(events.len()));
    *budget = budget.saturating_sub(walked / WALKED_PER_STEP);
    let fits = |next: u64| {
        let lost = next.checked_sub(expected)?;
        // The first call has to end where its thread goes on, as if there were enough events.
        let (matches, overlaps) = count_matches(events, next, context, true)?;
        let is_proven = match context.has_room(lost, place) {
            true => matches >= OVERLAP_MATCHES,
            false => matches >= MATCHES && to_u64(matches) >= lost,
        };
        is_proven.then_some((matches, Reverse(overlaps), Reverse(lost)))
    };
    let best = candidates.into_iter().filter_map(|next| Some((fits(next)?, next))).max();
    best.map(|(_, next)| next)
}

fn candidates(events: &[ProbeEvent], expected: u64) -> Vec<u64> {
    let mut candidates = vec![expected];
    let mut entered = 0_u64;
    for event in events {
        match event {
            ProbeEvent::Enter { .. } => entered = entered.saturating_add(1),
            ProbeEvent::Leave { call, .. } => {
                for back in 1..=entered.min(ENTERS_BACK) {
                    candidates.extend(call.checked_sub(entered.saturating_sub(back)));
                }
            }
        }
        if candidates.len() > CANDIDATES {
            break;
        }
    }
    candidates.sort_unstable();
    candidates.dedup();
    candidates
}

/// Calls that are open and over, if the first enter has a given number.
#[derive(Default)]
struct Numbered {
    /// Numbers and threads of open calls.
    open: Vec<(u64, u64)>,
    over: Vec<u64>,
    next: u64,
    /// Numbers of threads are below this.
    threads: u64,
    matches: usize,
    /// Whether calls may overlap whose threads are not known.
    is_free: bool,
    /// Leaves of calls before the latest one.
    overlaps: usize,
    /// Leaves of calls from before the damage.
    strays: usize,
}

impl Numbered {
    /// Enters a call; `None` if the thread enters again and again without leaving.
    fn enter(&mut self, thread: u64) -> Option<()> {
        let most = if self.is_free { OPEN_AT_ONCE } else { OPEN_PER_THREAD };
        if self.open.iter().filter(|(_, of)| *of == thread).count() > most {
            return None;
        }
        self.open.push((self.next, thread));
        self.threads = self.threads.max(thread.saturating_add(1));
        self.next = self.next.saturating_add(1);
        Some(())
    }

    /// Leaves a call; `None` if it contradicts the events before it. `first`: the first number;
    /// `defines`: whether ids are defined in it.
    fn leave(
        &mut self,
        call: u64,
        defines: bool,
        first: u64,
        context: &ProbeContext<'_>,
    ) -> Option<()> {
        if call >= self.next {
            return None;
        }
        if let Some(index) = self.open.iter().position(|(number, _)| *number == call) {
            // A thread leaves its calls from the inside out.
            let (_, thread) = self.open.remove(index);
            if self.open.iter().skip(index).any(|(_, of)| *of == thread) {
                self.overlaps = self.overlaps.saturating_add(1);
                if !self.is_free {
                    return None;
                }
            }
            self.matches = self.matches.saturating_add(1);
        } else {
            let is_over = call >= first || self.over.contains(&call) || context.is_over(call);
            if is_over || defines || !self.has_idle_thread() {
                return None;
            }
            self.strays = self.strays.saturating_add(1);
        }
        self.over.push(call);
        Some(())
    }

    /// Whether a thread is in no call from here on: only such a one can leave an earlier call.
    fn has_idle_thread(&self) -> bool {
        let is_idle = |thread: u64| self.open.iter().all(|(_, of)| *of != thread);
        self.is_free || (0..self.threads).any(is_idle)
    }
}

/// Returns how many calls are entered and left, one after the other, with numbers from `first` on.
fn count_calls_in_a_row(events: &[ProbeEvent], first: u64) -> usize {
    let is_call = |(pair, number): &(&[ProbeEvent], u64)| match pair {
        [ProbeEvent::Enter { .. }, ProbeEvent::Leave { call, .. }] => call == number,
        _ => false,
    };
    events.chunks_exact(2).zip(first..=u64::MAX).take_while(is_call).count()
}

/// Returns how many leaves fit an enter if the first enter has the number `first`, and how many of
/// these overlap; `None` if one contradicts it.
fn count_matches(
    events: &[ProbeEvent],
    first: u64,
    context: &ProbeContext<'_>,
    is_enough: bool,
) -> Option<(usize, usize)> {
    // Where the beginning is lost, there may be any.
    let threads = Some(context.calls.threads).filter(|threads| *threads > 0).unwrap_or(u64::MAX);
    let is_free = context.calls.overlap.is_free();
    let mut numbered = Numbered { next: first, threads, is_free, ..Numbered::default() };
    for event in events {
        match *event {
            ProbeEvent::Enter { thread } => numbered.enter(thread)?,
            ProbeEvent::Leave { call, defines } => {
                numbered.leave(call, defines, first, context)?;
            }
        }
    }
    // Zeros look like a first call that stays open while its thread continues.
    if let (true, Some(ProbeEvent::Enter { thread })) = (is_enough, events.first())
        && numbered.open.first().is_some_and(|(number, _)| *number == first)
        && events
            .iter()
            .skip(1)
            .any(|event| matches!(event, ProbeEvent::Enter { thread: of } if of == thread))
    {
        return None;
    }
    let Numbered { matches, overlaps, strays, .. } = numbered;
    (strays <= matches.saturating_add(2)).then_some((matches, overlaps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::apitrace::decode::calls::Calls;
    use crate::formats::apitrace::decode::definitions::Definitions;
    use crate::formats::apitrace::decode::tracker::lost::LostCalls;
    use crate::formats::apitrace::recover::resync::CALL_LEN;

    /// A stream of version 6, damaged from its beginning on.
    const fn context_of<'a>(
        definitions: &'a Definitions,
        calls: &'a Calls,
        lost_calls: &'a LostCalls,
    ) -> ProbeContext<'a> {
        ProbeContext {
            definitions,
            calls,
            lost_calls,
            version: 6,
            depth_max: 1,
            donor: None,
            damage: 0,
            is_in_place: false,
        }
    }

    #[test]
    fn an_earlier_call_is_left_by_a_thread_that_is_in_no_later_one() {
        let (definitions, calls, lost_calls) = Default::default();
        let context = context_of(&definitions, &calls, &lost_calls);
        let mut numbered = Numbered { next: 10, threads: 2, ..Numbered::default() };
        assert_eq!(numbered.enter(0), Some(()));
        assert_eq!(numbered.leave(7, false, 10, &context), Some(()), "by thread 1");
        assert_eq!(numbered.enter(1), Some(()));
        assert_eq!(numbered.leave(8, false, 10, &context), None);
        assert_eq!(numbered.leave(11, false, 10, &context), Some(()));
        assert_eq!(numbered.leave(8, false, 10, &context), Some(()));
        assert_eq!((numbered.matches, numbered.strays), (1, 2));
    }

    #[test]
    fn calls_that_overlap_are_numbered_where_the_lost_ones_have_room() {
        let (definitions, lost_calls) = Default::default();
        let mut calls = Calls::default();
        (calls.next, calls.threads) = (10, 2);
        let context = ProbeContext {
            damage: 1_000,
            is_in_place: true,
            ..context_of(&definitions, &calls, &lost_calls)
        };
        let enter = |thread| ProbeEvent::Enter { thread };
        let leave = |call| ProbeEvent::Leave { call, defines: false };
        // Calls 14 to 16 of two threads, and an event that is damaged.
        let events =
            [enter(0), enter(1), leave(14), enter(0), leave(15), leave(16), enter(1)].to_vec();
        let find = |events: &[ProbeEvent], place| {
            find_first_number_of_overlap(events, &context, place, &mut 1_000)
        };
        assert_eq!(find(&events, 1_000 + 4 * CALL_LEN), Some(14));
        assert_eq!(find(&events, 1_000 + 4 * CALL_LEN - 1), None, "four calls have no room");
        assert_eq!(find(&events[..6], 1_000 + 4 * CALL_LEN), None, "the last one may be damaged");
        let mut wrong = events;
        wrong[4] = leave(13);
        assert_eq!(find(&wrong, 1_000 + 4 * CALL_LEN), None);
    }

    #[test]
    fn a_run_of_calls_counts_up_to_the_first_that_does_not_fit() {
        let leave = |call| ProbeEvent::Leave { call, defines: false };
        let call = |number| [ProbeEvent::Enter { thread: 0 }, leave(number)];
        let events: Vec<ProbeEvent> = [7, 8, 9, 11, 12].into_iter().flat_map(call).collect();
        assert_eq!(count_calls_in_a_row(&events, 7), 3);
        assert_eq!(count_calls_in_a_row(&events, 8), 0);
        // A leave first, or an enter that is not left.
        assert_eq!(count_calls_in_a_row(&events[1..], 7), 0);
        assert_eq!(count_calls_in_a_row(&events[..1], 7), 0);
        // No number follows the last one.
        assert_eq!(count_calls_in_a_row(&events, u64::MAX), 0);
    }
}

//! The latest events and their effects.
//!
//! Damage is seen later than it begins: the events before it are remembered, so that they can be
//! taken back.

use std::fmt;

use crate::formats::apitrace::decode::calls::OpenCall;
use crate::formats::apitrace::decode::definitions::KnownId;
use crate::formats::apitrace::decode::tracker::overlaps::Overlaps;
use crate::formats::apitrace::decode::usage::results::Conversion;
use crate::formats::apitrace::decode::usage::shape::Shape;
use crate::kit::num::{to_u64, to_usize};

/// Events that can be taken back: a power of two, as they are kept in a ring.
const TAKEN_BACK_MAX: usize = 512;
/// Events that are searched for the first contradiction before damage.
const CONTRADICTION_REACH: usize = 64;
/// Leaves in a row with the numbers of their calls, which do not occur by chance.
const LEAVES_PROVEN: u32 = 4;
/// Enters in a row, or leaves of lost calls, beyond four per thread, before the stream counts as
/// damaged.
const UNMATCHED_MAX: u64 = 32;

/// Returns how many enters without details, or leaves of lost calls, may follow one another.
#[inline(always)]
pub(super) const fn most_unmatched(threads: u64) -> u64 {
    UNMATCHED_MAX.saturating_add(threads.saturating_mul(4))
}

/// The effect of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventEffect {
    /// A call began.
    Enter(OpenCall),
    /// A call ended, if it was open.
    Leave {
        /// Its number.
        number: u64,
        /// The call.
        open: Option<OpenCall>,
    },
}

/// An event that can be taken back.
#[derive(Clone, Copy, Debug)]
pub struct RecentEvent {
    /// Where it begins in the stream.
    pub start: u64,
    /// Its effect.
    pub effect: EventEffect,
    /// Whether it contradicts the events before it.
    pub has_warning: bool,
    /// Whether the thread had an open call when this one began.
    pub is_nested: bool,
    /// Whether the call that it leaves had an open call inside it.
    pub is_inside_out: bool,
    /// Whether a string in it was longer than the bytes at hand.
    pub has_long_string: bool,
    /// Whether it is an enter that lacks an argument which others have.
    pub is_partial: bool,
    /// The number of definitions before it.
    pub(super) definitions_before: usize,
}

impl RecentEvent {
    /// An event without anything unusual.
    #[inline(always)]
    pub(super) const fn usual(
        start: u64,
        effect: EventEffect,
        is_nested: bool,
        definitions_before: usize,
    ) -> Self {
        Self {
            start,
            effect,
            has_warning: false,
            is_nested,
            is_inside_out: false,
            has_long_string: false,
            is_partial: false,
            definitions_before,
        }
    }
}

/// The effect of an event, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoredKind {
    Enter,
    NestedEnter,
    Leave,
    InsideOutLeave,
    StrayLeave,
}

/// A [`RecentEvent`] in half the memory: all that are kept fit into the first cache of a processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredEvent {
    start: u64,
    number: u64,
    thread: u32,
    function: u32,
    definitions_before: u32,
    kind: StoredKind,
    has_warning: bool,
    has_long_string: bool,
    is_partial: bool,
}

/// Converts a number that is far below 4,294,967,295: a thread, an id, or a count of definitions.
#[inline(always)]
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl StoredEvent {
    #[inline(always)]
    fn of(event: RecentEvent) -> Self {
        let RecentEvent { start, has_warning, has_long_string, is_partial, .. } = event;
        let (number, open, kind) = match event.effect {
            EventEffect::Enter(open) if event.is_nested => {
                (open.number, Some(open), StoredKind::NestedEnter)
            }
            EventEffect::Enter(open) => (open.number, Some(open), StoredKind::Enter),
            EventEffect::Leave { number, open: None } => (number, None, StoredKind::StrayLeave),
            EventEffect::Leave { number, open } if event.is_inside_out => {
                (number, open, StoredKind::InsideOutLeave)
            }
            EventEffect::Leave { number, open } => (number, open, StoredKind::Leave),
        };
        let (thread, function) = open.map_or((0, 0), |open| (open.thread, open.function));
        Self {
            start,
            number,
            thread: narrow(thread),
            function: narrow(function),
            definitions_before: narrow(to_u64(event.definitions_before)),
            kind,
            has_warning,
            has_long_string,
            is_partial,
        }
    }

    fn event(self) -> RecentEvent {
        let Self { start, number, kind, has_warning, has_long_string, is_partial, .. } = self;
        let (thread, function) = (u64::from(self.thread), u64::from(self.function));
        let open = OpenCall { number, thread, function };
        let effect = match kind {
            StoredKind::Enter | StoredKind::NestedEnter => EventEffect::Enter(open),
            StoredKind::Leave | StoredKind::InsideOutLeave => {
                EventEffect::Leave { number, open: Some(open) }
            }
            StoredKind::StrayLeave => EventEffect::Leave { number, open: None },
        };
        RecentEvent {
            start,
            effect,
            has_warning,
            is_nested: kind == StoredKind::NestedEnter,
            is_inside_out: kind == StoredKind::InsideOutLeave,
            has_long_string,
            is_partial,
            definitions_before: to_usize(u64::from(self.definitions_before)),
        }
    }
}

/// The event that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentEvent {
    /// The event so far.
    pub(super) event: RecentEvent,
    /// Arguments of its function, if they are known.
    pub(super) argument_count: Option<u64>,
    /// Whether the definition of its function was lost.
    pub(super) is_lost: bool,
    /// Where its latest detail begins.
    pub(super) detail_at: u64,
    /// The index of that detail, if it is an argument.
    pub(super) argument: Option<u64>,
    /// The index, if it is out of range.
    pub(super) invalid_index: Option<u64>,
    /// Its arguments so far.
    pub(super) shape: Shape,
    /// The conversion of its result, before its value is read.
    pub(super) conversion: Option<Conversion>,
}

impl CurrentEvent {
    #[inline(always)]
    pub(super) fn new(
        start: u64,
        effect: EventEffect,
        is_nested: bool,
        definitions_before: usize,
        function: Option<KnownId>,
    ) -> Self {
        Self {
            event: RecentEvent::usual(start, effect, is_nested, definitions_before),
            argument_count: function.map(|known| known.count),
            is_lost: function.is_some_and(|known| known.lost),
            detail_at: start,
            argument: None,
            invalid_index: None,
            shape: Shape::default(),
            conversion: None,
        }
    }
}

/// The latest events, in a ring: one more takes the place of the oldest.
struct LatestEvents {
    events: Box<[StoredEvent; TAKEN_BACK_MAX]>,
    /// How many are in use.
    len: usize,
    /// Where the next one goes, modulo the length of the ring.
    next: usize,
}

impl Default for LatestEvents {
    fn default() -> Self {
        let none = RecentEvent::usual(0, EventEffect::Leave { number: 0, open: None }, false, 0);
        Self { events: Box::new([StoredEvent::of(none); TAKEN_BACK_MAX]), len: 0, next: 0 }
    }
}

impl fmt::Debug for LatestEvents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl LatestEvents {
    /// The index in the ring of the event that came `back` events before the next one.
    fn index(&self, back: usize) -> usize {
        self.next.wrapping_sub(back) % TAKEN_BACK_MAX
    }

    #[inline(always)]
    fn push(&mut self, event: StoredEvent) {
        if let Some(cell) = self.events.get_mut(self.next % TAKEN_BACK_MAX) {
            *cell = event;
        }
        self.next = self.next.wrapping_add(1);
        self.len = self.len.saturating_add(1).min(TAKEN_BACK_MAX);
    }

    fn last(&self) -> Option<StoredEvent> {
        self.iter().next_back()
    }

    fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
        self.next = self.next.wrapping_sub(1);
    }

    /// Returns them, the newest last.
    fn iter(&self) -> impl DoubleEndedIterator<Item = StoredEvent> {
        let backs = (1..=self.len).rev();
        backs.filter_map(|back| self.events.get(self.index(back)).copied())
    }

    fn clear(&mut self) {
        self.len = 0;
    }
}

/// The events so far.
#[derive(Debug, Default)]
pub struct History {
    /// Complete events.
    pub count: u64,
    recent: LatestEvents,
    pub(super) current: Option<CurrentEvent>,
    /// The arguments of the latest enter.
    pub(super) latest_enter: Shape,
    /// Enters without details in a row since the latest leave of an open call.
    pub(super) enters_in_a_row: u64,
    /// Leaves in a row that belong to no call or leave it from the outside in.
    pub(super) stray_leaves_in_a_row: u32,
    /// Leaves of lost calls in a row since the latest leave of an open call.
    pub(super) lost_leaves_in_a_row: u64,
    /// Calls that overlap although their threads are not known to differ.
    pub overlaps: Overlaps,
    /// Whether damage lies before the present place.
    pub(super) is_after_damage: bool,
}

impl History {
    /// Returns the latest events, the newest last; the present one is not among them.
    pub fn recent(&self) -> impl DoubleEndedIterator<Item = RecentEvent> {
        self.recent.iter().map(StoredEvent::event)
    }

    /// Returns the offset of the earliest of the latest events that contradicts those before it.
    /// Leaves with the numbers of their calls show that what lies before them is not part of damage
    /// after them; one is enough for an enter that lacks an argument.
    pub fn find_first_contradiction(&self) -> Option<u64> {
        let (mut first, mut leaves) = (None, 0_u32);
        for event in self.recent().rev().take(CONTRADICTION_REACH) {
            if event.has_warning {
                (first, leaves) = (Some(event.start), 0);
            } else if event.is_partial && leaves == 0 {
                first = Some(event.start);
            } else if has_open_call(&event) && !event.is_inside_out {
                leaves = leaves.saturating_add(1);
            }
            if leaves >= LEAVES_PROVEN {
                break;
            }
        }
        first
    }

    /// Returns the offset of the first event after the latest call that was entered and left.
    pub fn find_first_unmatched(&self) -> Option<u64> {
        let is_matched = |event: &RecentEvent| has_open_call(event) && !event.is_inside_out;
        self.recent().rev().take_while(|event| !is_matched(event)).last().map(|e| e.start)
    }

    /// Returns the offset of the first unmatched enter whose thread had an open call.
    pub fn find_first_nested_enter(&self) -> Option<u64> {
        let unmatched = self.recent().rev().take_while(|event| !has_open_call(event));
        unmatched.filter(|event| event.is_nested).last().map(|event| event.start)
    }

    /// Whether the thread of a call entered another one after it, among the latest events.
    pub fn has_later_enter(&self, open: OpenCall) -> bool {
        let is_later = |event: RecentEvent| match event.effect {
            EventEffect::Enter(other) => other.thread == open.thread && other.number > open.number,
            EventEffect::Leave { .. } => false,
        };
        self.recent().any(is_later)
    }

    /// Whether no leave of call `other` lies between the enter of an open call and a place of the
    /// stream, as the latest events show. Otherwise either may be the leave of the other call.
    pub fn shows_no_leave_inside(&self, open: OpenCall, other: u64, until: u64) -> bool {
        let mut before = self.recent().rev().filter(|event| event.start < until);
        let first = before.find(|event| match event.effect {
            EventEffect::Enter(entered) => entered.number == open.number,
            EventEffect::Leave { number, .. } => number == other,
        });
        first.is_some_and(|event| matches!(event.effect, EventEffect::Enter(_)))
    }

    /// Returns the latest event, if it is the enter of a call.
    pub fn latest_enter(&self) -> Option<OpenCall> {
        match self.recent().next_back()?.effect {
            EventEffect::Enter(open) => Some(open),
            EventEffect::Leave { .. } => None,
        }
    }

    /// Whether the present event is an enter.
    pub fn is_in_enter(&self) -> bool {
        self.current.is_some_and(|current| matches!(current.event.effect, EventEffect::Enter(_)))
    }

    /// Whether the present event has a string that is longer than the bytes at hand.
    pub fn is_in_long_event(&self) -> bool {
        self.current.is_some_and(|current| current.event.has_long_string)
    }

    /// Makes all events final: none can be taken back.
    pub fn settle(&mut self) {
        self.recent.clear();
        self.reset_runs();
    }

    pub(super) fn reset_runs(&mut self) {
        self.enters_in_a_row = 0;
        self.stray_leaves_in_a_row = 0;
        self.lost_leaves_in_a_row = 0;
        self.overlaps.forget_row();
    }

    /// Adds a complete event.
    #[inline(always)]
    pub(super) fn push(&mut self, event: RecentEvent) {
        self.count = self.count.saturating_add(1);
        self.recent.push(StoredEvent::of(event));
    }

    /// Removes the latest event if it begins at `start` or after it.
    pub(super) fn pop_from(&mut self, start: u64) -> Option<RecentEvent> {
        let last = self.recent.last().filter(|event| event.start >= start)?.event();
        self.recent.pop();
        self.count = self.count.saturating_sub(1);
        Some(last)
    }
}

/// Whether the event leaves a call that was open.
pub fn has_open_call(event: &RecentEvent) -> bool {
    matches!(event.effect, EventEffect::Leave { open: Some(_), .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contradiction_before_enough_sound_leaves_is_no_part_of_later_damage() {
        let mut history = History::default();
        let open = OpenCall { number: 7, thread: 0, function: 1 };
        let leave = EventEffect::Leave { number: 7, open: Some(open) };
        let mut push = |start, effect, has_warning| {
            let usual = RecentEvent::usual(start, effect, false, 0);
            history.push(RecentEvent { has_warning, ..usual });
            history.find_first_contradiction()
        };
        assert_eq!(push(0, leave, true), Some(0));
        for start in 1..u64::from(LEAVES_PROVEN) {
            assert_eq!(push(start, leave, false), Some(0));
        }
        // An enter proves nothing.
        assert_eq!(push(10, EventEffect::Enter(open), false), Some(0));
        assert_eq!(push(11, leave, false), None);
        assert_eq!(push(12, leave, true), Some(12));
    }

    #[test]
    fn an_enter_that_lacks_an_argument_is_part_of_damage_if_no_leave_follows_it() {
        let mut history = History::default();
        let open = OpenCall { number: 7, thread: 0, function: 1 };
        let leave = EventEffect::Leave { number: 7, open: Some(open) };
        let mut push = |start, effect, is_partial| {
            let usual = RecentEvent::usual(start, effect, false, 0);
            history.push(RecentEvent { is_partial, ..usual });
            history.find_first_contradiction()
        };
        assert_eq!(push(0, EventEffect::Enter(open), true), Some(0));
        assert_eq!(push(1, EventEffect::Enter(open), false), Some(0));
        assert_eq!(push(2, leave, false), None);
    }

    #[test]
    fn the_latest_events_are_kept_in_order() {
        let mut history = History::default();
        let open = OpenCall { number: 7, thread: 0, function: 1 };
        let starts = |history: &History| history.recent().map(|event| event.start).collect();
        let count = to_u64(TAKEN_BACK_MAX);
        for start in 0..3 * count / 2 {
            history.push(RecentEvent::usual(start, EventEffect::Enter(open), false, 0));
            let kept: Vec<u64> = starts(&history);
            assert_eq!(kept, ((start + 1).saturating_sub(count)..=start).collect::<Vec<_>>());
        }
        let kept: Vec<u64> = starts(&history);
        for start in kept.iter().rev() {
            assert!(history.pop_from(start + 1).is_none());
            assert_eq!(history.pop_from(*start).map(|event| event.start), Some(*start));
        }
        assert!(history.pop_from(0).is_none());
    }

    #[test]
    fn events_are_stored_in_half_the_memory_and_without_loss() {
        assert!(2 * size_of::<StoredEvent>() <= size_of::<RecentEvent>());
        let open = OpenCall { number: 1 << 40, thread: 1 << 20, function: 1 << 24 };
        let leave = |open| EventEffect::Leave { number: 1 << 40, open };
        for (effect, is_nested, is_inside_out) in [
            (EventEffect::Enter(open), false, false),
            (EventEffect::Enter(open), true, false),
            (leave(Some(open)), false, false),
            (leave(Some(open)), false, true),
            (leave(None), false, false),
        ] {
            for (has_warning, has_long_string) in [(false, true), (true, false)] {
                let event = RecentEvent {
                    start: 1 << 50,
                    effect,
                    has_warning,
                    is_nested,
                    is_inside_out,
                    has_long_string,
                    is_partial: has_warning,
                    definitions_before: 1 << 20,
                };
                let again = StoredEvent::of(event).event();
                assert_eq!(format!("{again:?}"), format!("{event:?}"));
            }
        }
    }
}

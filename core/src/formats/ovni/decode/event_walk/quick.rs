//! The short ways over usual events. [`EventWalk::next`] reads every event without them.
//!
//! A usual event lies in one piece of the source, has a known code, and the flags that its code
//! demands; it is not a jumbo event. Both functions leave the first other event unread.

use std::borrow::Cow;

use super::{Event, EventWalk, plain_len};
use crate::formats::ovni::layout::{self, EVENT_HEADER, EventSummary, JUMBO};
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;
use crate::kit::steps;

impl EventWalk<'_, '_> {
    /// Passes over usual events without a payload as long as `accept` takes them; returns whether
    /// it passed over any.
    ///
    /// Most events of most streams only open or close a state. This loop reads a header, finds its
    /// row and asks; it builds no [`Event`], and moves the cursor once.
    #[inline]
    pub fn skim(&mut self, mut accept: impl FnMut(&'static EventSummary, u64) -> bool) -> bool {
        let start = self.cursor.rest();
        let mut rest = start;
        while let Some(([0, model, category, value, clock @ ..], next)) =
            rest.split_first_chunk::<12>()
        {
            let summary =
                layout::row_index([*model, *category, *value]).and_then(layout::find_summary);
            let Some(summary) = summary.filter(|summary| summary.flags == 0) else { break };
            if !accept(summary, u64::from_le_bytes(*clock)) {
                break;
            }
            rest = next;
        }
        let passed = to_u64(start.len()).saturating_sub(to_u64(rest.len()));
        steps::count(passed.checked_div(EVENT_HEADER).unwrap_or(0));
        self.cursor.skip(passed, 1, "events").is_ok() && passed > 0
    }
}

/// Reads the next event if it is usual.
#[inline]
pub(super) fn next_usual<'a>(cursor: &mut Cursor<'a>) -> Option<Event<'a>> {
    let (head, _) = cursor.rest().split_first_chunk::<12>()?;
    let [flags, model, category, value, clock @ ..] = *head;
    let code = [model, category, value];
    let row = layout::row_index(code)?;
    let summary = layout::find_summary(row)?;
    if flags != summary.flags || flags & JUMBO != 0 {
        return None;
    }
    let at = cursor.position();
    let len = EVENT_HEADER.saturating_add(plain_len(flags));
    let (_, payload) = cursor.bytes(len, "event").ok()?.split_first_chunk::<12>()?;
    Some(Event {
        at,
        len,
        flags,
        wrong_flags: None,
        code,
        row: Some(row),
        clock: u64::from_le_bytes(clock),
        payload: Cow::Borrowed(payload),
    })
}

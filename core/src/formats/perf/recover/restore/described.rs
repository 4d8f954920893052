//! EVENT_DESC: a copy of each attr, its name and its ids.
//!
//! ```text
//!  u32 nr, u32 attr_size, each: attr, u32 nr_ids, string (u32 len, text), nr_ids * u64
//! ```

use super::peek::Peek;
use crate::formats::perf::decode::header::Section;

/// Most events that are compared.
const MOST_EVENTS: u32 = 4096;

/// The places of one event in EVENT_DESC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Described {
    /// Offset of the attr.
    pub(super) attr: u64,
    /// Offset of the number of ids, a u32.
    pub(super) count_at: u64,
    /// Section of the name, which NUL pads.
    pub(super) name: Section,
    /// Section of the ids.
    pub(super) ids: Section,
}

/// Returns the places of the events in an EVENT_DESC section, and the size of their attrs; `None`
/// if the section does not end with the last event.
pub(super) fn events(peek: Peek<'_>, section: Section) -> Option<(u64, Vec<Described>)> {
    let count = peek.u32(section.offset)?;
    let size = u64::from(peek.u32(section.offset.checked_add(4)?)?);
    let (size, events) = first_events(peek, section.offset, (count, size))?;
    let end = events.last().map_or(section.offset.checked_add(8), |last| last.ids.end());
    (end == section.end()).then_some((size, events))
}

/// Returns the places of `count` events with attrs of `size` bytes in the EVENT_DESC at `start`,
/// wherever it ends.
pub(super) fn first_events(
    peek: Peek<'_>,
    start: u64,
    (count, size): (u32, u64),
) -> Option<(u64, Vec<Described>)> {
    if count > MOST_EVENTS || size > 4096 {
        return None;
    }
    let mut at = start.checked_add(8)?;
    let mut events = Vec::new();
    for _ in 0..count {
        let attr = at;
        let count_at = attr.checked_add(size)?;
        let ids = u64::from(peek.u32(count_at)?);
        let name_len = u64::from(peek.u32(count_at.checked_add(4)?)?);
        let name = Section { offset: count_at.checked_add(8)?, size: name_len };
        let ids = Section { offset: name.end()?, size: ids.checked_mul(8)? };
        at = ids.end().filter(|end| *end <= peek.len())?;
        events.push(Described { attr, count_at, name, ids });
    }
    Some((size, events))
}

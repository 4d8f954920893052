//! Builds EVENT_DESC from the events of a recording.
//!
//! ```text
//!  u32 nr, u32 attr_size, each: attr, u32 nr_ids, string (u32 len, text, NULs), nr_ids * u64
//! ```
//!
//! perf takes only the names from it; without it, it calls most software events `cpu-clock:HG` and
//! the like. linux-perf-data takes attrs and ids from it, and without it knows no ids: it gives the
//! samples of all events to the first one. Source: `write_event_desc` and `do_write_string` of
//! perf's `util/header.c`.

use super::encode::{u32_bytes, u64_bytes};
use super::features::NewFeature;
use crate::formats::perf::decode::attr::{self, Attr};
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::event_name;
use crate::formats::perf::decode::tracing::Names;
use crate::formats::perf::decode::tracing::WantedTracepoints;
use crate::formats::perf::layout::feature;
use crate::formats::perf::recover::tracepoints::traced;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::to_u64;
use crate::kit::span::Layer;

/// perf pads texts to a multiple of this.
const TEXT_ALIGN: usize = 64;

/// Builds EVENT_DESC. `None` for attrs of several sizes, and if a tracepoint has no name.
pub fn event_desc(events: &[StoredEvent], names: &Names, order: Order) -> Option<NewFeature> {
    let attr_len = events.first()?.attr.len();
    let mut content = u32_bytes(u32::try_from(events.len()).ok()?, order).to_vec();
    content.extend(u32_bytes(u32::try_from(attr_len).ok()?, order));
    for event in events {
        let attr = read_attr(event, order).filter(|_| event.attr.len() == attr_len)?;
        let name = match attr.is_tracepoint() {
            true => names.get(&attr.config)?.clone(),
            false => event_name::name_of(&attr).into_bytes(),
        };
        content.extend_from_slice(&event.attr);
        content.extend(u32_bytes(u32::try_from(event.ids.len()).ok()?, order));
        content.extend(text_bytes(name, order)?);
        content.extend(event.ids.iter().flat_map(|id| u64_bytes(*id, order)));
    }
    Some((feature::EVENT_DESC, content))
}

/// Returns the tracepoints among events.
pub(super) fn tracepoints_of(events: &[StoredEvent], order: Order) -> WantedTracepoints {
    traced(&events.iter().filter_map(|event| read_attr(event, order)).collect::<Vec<_>>())
}

fn read_attr(event: &StoredEvent, order: Order) -> Option<Attr> {
    let len = to_u64(event.attr.len());
    let mut cursor = Cursor::new(&event.attr, Layer::stored(0), 0, order);
    attr::attr(&mut cursor, order).ok().filter(|attr| attr.stored_len() == len)
}

/// Encodes a text with its length, which counts the NULs after it.
fn text_bytes(mut text: Vec<u8>, order: Order) -> Option<Vec<u8>> {
    text.push(0);
    text.resize(text.len().next_multiple_of(TEXT_ALIGN), 0);
    let len = u32_bytes(u32::try_from(text.len()).ok()?, order);
    Some([len.as_slice(), &text].concat())
}

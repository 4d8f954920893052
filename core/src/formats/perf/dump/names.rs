//! The names of events, which samples do not have themselves.

use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::event_name;
use crate::formats::perf::decode::feature::DescribedEvent;
use crate::kit::text::Untrusted;

/// Returns the name of an event, safe to print: the one in EVENT_DESC, else that of its attr.
pub(super) fn name_event(attr: &Attr, described: Option<&DescribedEvent>) -> String {
    if let Some(event) = described.filter(|event| event.event == (attr.kind, attr.config)) {
        return Untrusted(&event.name).to_string();
    }
    event_name::name_of(attr)
}

//! Names that samples do not have themselves: of events, and of threads.

use std::collections::BTreeMap;

use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::event_name;
use crate::formats::perf::decode::feature::DescribedEvent;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::record::fields;
use crate::formats::perf::decode::value::Value;
use crate::formats::perf::layout::record as kind;
use crate::kit::cursor::Order;
use crate::kit::text::Untrusted;

/// Threads whose names are kept.
const MOST_THREADS: usize = 1 << 16;

/// Returns the name of an event, safe to print: the one in EVENT_DESC, else that of its attr.
pub(super) fn name_event(attr: &Attr, described: Option<&DescribedEvent>) -> String {
    if let Some(event) = described.filter(|event| event.event == (attr.kind, attr.config)) {
        return Untrusted(&event.name).to_string();
    }
    event_name::name_of(attr)
}

/// The names of threads, as COMM and FORK records set them.
#[derive(Default)]
pub(super) struct Threads {
    names: BTreeMap<u32, String>,
}

impl Threads {
    /// Follows a record.
    pub(super) fn observe(&mut self, record: &RecordView<'_>, order: Order) {
        if !matches!(record.frame.kind, kind::COMM | kind::FORK) {
            return;
        }
        let fields = fields(record, order);
        let number = |wanted: &str| {
            fields.iter().find_map(|(name, value)| match value {
                Value::Number(number) if *name == wanted => u32::try_from(*number).ok(),
                _ => None,
            })
        };
        let comm = fields.iter().find_map(|(_, value)| match value {
            Value::Text(text) => Some(Untrusted(text).to_string()),
            _ => None,
        });
        let parent = || number("ptid").and_then(|parent| self.names.get(&parent).cloned());
        let (Some(tid), Some(name)) = (number("tid"), comm.or_else(parent)) else { return };
        if self.names.len() < MOST_THREADS || self.names.contains_key(&tid) {
            self.names.insert(tid, name);
        }
    }

    /// Returns the name of a thread, safe to print.
    pub(super) fn name(&self, tid: u32) -> String {
        match (self.names.get(&tid), tid) {
            (Some(name), _) => name.clone(),
            // The idle threads of all CPUs.
            (None, 0) => "swapper".to_string(),
            (None, _) => format!(":{tid}"),
        }
    }
}

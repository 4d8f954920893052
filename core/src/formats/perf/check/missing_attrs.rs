//! HEADER_ATTR records that a pipe lost. EVENT_DESC has a copy of each attr and of its ids; without
//! them perf shows the samples under the events that are left.

use std::collections::BTreeMap;

use crate::formats::perf::decode::attr_record::read_record;
use crate::formats::perf::decode::attrs::{StoredEvent, has_room};
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, record};
use crate::formats::perf::recover::restore::{described_in, read_events};
use crate::formats::perf::repair;
use crate::formats::perf::rules;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::kit::words::plural;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::{Limits, RESYNC};
use crate::model::{Finding, Report};

const FILE: Layer = Layer::stored(0);
/// Records that are read: EVENT_DESC and the attrs come before the samples.
const MOST_RECORDS: usize = 4096;

/// The events of a pipe that EVENT_DESC describes and no HEADER_ATTR record has.
pub(super) struct MissingAttrs {
    /// The events, each with the place of its record.
    events: Vec<(u64, StoredEvent)>,
    /// EVENT_DESC.
    described: Span,
}

impl MissingAttrs {
    /// Finds the events; `None` if there is a record for each.
    pub(super) fn find(file: &RecordFile<'_>, limits: &Limits) -> Option<Self> {
        let mut described = None;
        // The end of the record of each id.
        let (mut stored, mut ends) = (0_usize, BTreeMap::new());
        let items = file.records((HEADER_SIZE_PIPE, file.length()), limits.of(&RESYNC));
        for item in items.take(MOST_RECORDS).filter_map(Item::record) {
            let view = item.view(FILE, 0);
            match item.frame.kind {
                record::SAMPLE => break,
                record::HEADER_ATTR => {
                    let (_, ids) = read_record(&view, file.order())?;
                    // Attrs without ids cannot be told apart.
                    if ids.is_empty() || !has_room(stored, to_u64(ends.len()), limits) {
                        return None;
                    }
                    stored = stored.saturating_add(1);
                    ends.extend(ids.into_iter().map(|id| (id, item.end())));
                }
                record::HEADER_FEATURE if described.is_none() => {
                    described =
                        described_in(&item, file.order()).map(|events| (view.span(), events));
                }
                _ => {}
            }
        }
        let (described, all) = described.filter(|(_, all)| all.len() > stored)?;
        let mut place = HEADER_SIZE_PIPE;
        let mut events = Vec::new();
        for event in all {
            match event.ids.iter().find_map(|id| ends.get(id)) {
                Some(end) => place = *end,
                // An event that never counted has no samples.
                None if event.ids.is_empty() => {}
                None => events.push((place, event)),
            }
        }
        (!events.is_empty()).then_some(Self { events, described })
    }

    /// Returns the events as records are read by them, if some are missing.
    pub(super) fn events(missing: Option<&Self>, order: Order) -> Events {
        let stored = missing.iter().flat_map(|missing| &missing.events);
        read_events(stored.map(|(_, event)| event), order).unwrap_or_else(|| Events::new(order))
    }

    /// Reports the events, with the fix that adds their records.
    pub(super) fn push(&self, order: Order, report: &mut Report) {
        let count = plural(to_u64(self.events.len()), "event");
        let mut places: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for (place, event) in &self.events {
            let record = repair::event_record(event, order).unwrap_or_default();
            places.entry(*place).or_default().extend(record);
        }
        let edit = |(at, bytes)| Edit::replace(Span::sized(FILE, at, 0), bytes);
        let edits = places.into_iter().map(edit).collect();
        let summary = format!("add the HEADER_ATTR records of {count} as EVENT_DESC has them");
        let fix = Fix::new(Safety::Synthetic, summary, edits);
        let message = format!("missing HEADER_ATTR of {count} in EVENT_DESC");
        let finding = Finding::new(&rules::NO_ATTRS, self.described, "data", message);
        report.push(finding.fix(fix));
    }
}

//! HEADER_ATTR records that a pipe lost. EVENT_DESC has a copy of each attr and of its ids; if that
//! is lost, too, later records have the ids and the names. Without its record, perf shows the
//! samples of an event under those that are left.

use std::collections::BTreeMap;

use crate::formats::perf::decode::attr_record::read_record;
use crate::formats::perf::decode::attrs::{StoredEvent, has_room};
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, record};
use crate::formats::perf::recover::restore::{Indexed, described_in, find_indexed, read_events};
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

/// The events of a pipe that EVENT_DESC or ID_INDEX has and no HEADER_ATTR record.
pub(super) struct MissingAttrs {
    /// The events, each with the place of its record.
    events: Vec<(u64, StoredEvent)>,
    /// The record that has them.
    witness: Span,
    /// Its name.
    source: &'static str,
    /// Their number, also if nothing tells their attrs.
    lost: u64,
    /// Without EVENT_DESC: the numbers of events that become `dummy` and whose period is unknown,
    /// and the HEADER_ATTR records with other ids.
    indexed: Option<([u64; 2], Vec<Span>)>,
}

impl MissingAttrs {
    /// Finds the events; `None` if there is a record for each.
    pub(super) fn find(file: &RecordFile<'_>, limits: &Limits) -> Option<Self> {
        let mut described = None;
        let mut are_known = true;
        // The end of the record of each id.
        let (mut stored, mut ends) = (0_usize, BTreeMap::new());
        let items = file.records((HEADER_SIZE_PIPE, file.length()), limits.of(&RESYNC));
        for item in items.take(MOST_RECORDS).filter_map(Item::record) {
            let view = item.view(FILE, 0);
            match item.frame.kind {
                record::SAMPLE => break,
                record::HEADER_ATTR => {
                    let ids = read_record(&view, file.order()).map(|(_, ids)| ids);
                    let ids = ids.unwrap_or_default();
                    if !has_room(stored, to_u64(ends.len()), limits) {
                        return None;
                    }
                    // Attrs without ids cannot be told apart.
                    are_known &= !ids.is_empty();
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
        let Some((described, all)) = described else {
            return find_indexed(file, limits).map(Self::indexed);
        };
        if !are_known || all.len() <= stored {
            return None;
        }
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
        let (witness, source, lost) = (described, "EVENT_DESC", to_u64(events.len()));
        (!events.is_empty()).then_some(Self { events, witness, source, lost, indexed: None })
    }

    fn indexed(indexed: Indexed) -> Self {
        let Indexed { witness, source, lost, missing, unknown, unmeasured, strange } = indexed;
        let indexed = Some(([unknown, unmeasured], strange));
        Self { events: missing, witness, source, lost, indexed }
    }

    /// Returns the events as records are read by them, if some are missing.
    pub(super) fn events(missing: Option<&Self>, order: Order) -> Events {
        let stored = missing.iter().flat_map(|missing| &missing.events);
        let read = read_events(stored.map(|(_, event)| event), order);
        let mut events = read.unwrap_or_else(|| Events::new(order));
        // Otherwise ID_INDEX, the witness, would be the damaged record.
        if missing.is_some_and(|missing| missing.events.is_empty()) {
            events.mark_partial();
        }
        events
    }

    /// Reports the events, with the fix that adds their records.
    pub(super) fn push(&self, order: Order, report: &mut Report) {
        let count = plural(self.lost, "event");
        let mut places: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for (place, event) in &self.events {
            let record = repair::event_record(event, order).unwrap_or_default();
            places.entry(*place).or_default().extend(record);
        }
        let edit = |(at, bytes)| Edit::replace(Span::sized(FILE, at, 0), bytes);
        let fix = match &self.indexed {
            None => {
                let edits = places.into_iter().map(edit).collect();
                let summary =
                    format!("add the HEADER_ATTR records of {count} as EVENT_DESC has them");
                Fix::new(Safety::Synthetic, summary, edits)
            }
            Some(_) if self.events.is_empty() => {
                Fix::manual("record again: nothing tells the fields of the samples of these events")
            }
            Some((unknown, strange)) => {
                // A record may stand where others are added.
                let drop = |span: &Span| {
                    Edit::replace(*span, places.remove(&span.start).unwrap_or_default())
                };
                let mut edits: Vec<Edit> = strange.iter().map(drop).collect();
                edits.extend(places.into_iter().map(edit));
                let summary = summarise(&count, *unknown, to_u64(strange.len()));
                Fix::new(Safety::Lossy, summary, edits)
            }
        };
        let message = format!("missing HEADER_ATTR of {count} in {}", self.source);
        let finding = Finding::new(&rules::NO_ATTRS, self.witness, "data", message);
        report.push(finding.fix(fix));
    }
}

/// Describes the fix that adds events without EVENT_DESC.
fn summarise(count: &str, [unknown, unmeasured]: [u64; 2], dropped: u64) -> String {
    let mut summary =
        format!("add the HEADER_ATTR records of {count}, by which the samples can be read");
    if unknown > 0 {
        let unknown = plural(unknown, "event");
        summary.push_str(&format!(", name {unknown} dummy: nothing tells what was counted"));
    }
    if unmeasured > 0 {
        let unmeasured = plural(unmeasured, "event");
        summary.push_str(&format!(", take 1 as the period of {unmeasured}: nothing tells it"));
    }
    if dropped > 0 {
        let dropped = plural(dropped, "HEADER_ATTR record");
        summary.push_str(&format!(", drop {dropped} with other ids"));
    }
    summary
}

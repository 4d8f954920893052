//! A pipe that lost its header, and maybe its first records.
//!
//! ```text
//!  written   | magic | 16 | HEADER_ATTR | HEADER_ATTR | HEADER_FEATURE | ...
//!  stored            ... part of a record | HEADER_ATTR | HEADER_FEATURE | ...
//! ```
//!
//! Only a pipe has records with attrs, features, tracing data or names of events, and nothing after
//! its records. `perf inject` leaves features in the file that it makes of a pipe; that has a
//! feature table.

use super::indexed::read_name;
use super::magic::{has_plausible_size, magic_of, nearest_magic};
use super::peek::Peek;
use crate::formats::perf::decode::attr_record::read_record;
use crate::formats::perf::decode::feature::{self, Machine};
use crate::formats::perf::decode::frame::{Record, frame};
use crate::formats::perf::decode::header;
use crate::formats::perf::decode::walk::Walker;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, RECORD_HEADER, is_published, record};
use crate::kit::cursor::Order;
use crate::kit::num::to_usize;
use crate::kit::reading::{Change, Reading};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC};

/// Bytes in which such a record has to begin.
const SEARCHED: u64 = 1 << 20;
/// Records that are read: those of attrs and features come first.
const MOST_RECORDS: usize = 64;
/// Records that only a pipe has: fewer are there by chance.
const LEAST_OWN: usize = 2;

/// Returns the byte order of a pipe without its header, and the offset of its first complete
/// record.
pub(super) fn find(source: &Source<'_>, limits: &Limits) -> Option<(Order, u64)> {
    let first = source.read(0, 8);
    let near = nearest_magic(&first).map(|(order, _)| Peek { source, order });
    let is_old = header::magic(&first).is_some_and(|(_, is_old)| is_old);
    if is_old || near.is_some_and(has_plausible_size) {
        return None;
    }
    [Order::Little, Order::Big].into_iter().find_map(|order| {
        let first = first_record(source, order, limits)?;
        Some((order, first))
    })
}

/// Returns the reading that puts the header before the first record, if there is no room to write
/// it over other bytes.
pub(super) fn read(source: &Source<'_>, (order, first): (Order, u64)) -> Option<Reading> {
    if first >= HEADER_SIZE_PIPE {
        return None;
    }
    let header = [*magic_of(order), order.bytes(HEADER_SIZE_PIPE)].concat();
    let rest = source.read(0, first);
    let is_rest = header.ends_with(&rest);
    let (range, len) = match is_rest {
        true => (0..0, HEADER_SIZE_PIPE.saturating_sub(first)),
        false => (0..first, HEADER_SIZE_PIPE),
    };
    let insert = header.get(..to_usize(len)).unwrap_or_default().to_vec();
    // Zeros, or nothing, may be the end of anything.
    let is_determined = is_rest && rest.iter().any(|byte| *byte != 0);
    let reading = Reading::lost(0, Change { range, insert }, is_determined);
    let span = Span::sized(Layer::stored(0), first, RECORD_HEADER);
    Some(reading.witness(span, "a record that only pipes have, and others follow"))
}

/// Returns the offset of the first complete record, if enough of the first ones are those of a
/// pipe.
fn first_record(source: &Source<'_>, order: Order, limits: &Limits) -> Option<u64> {
    let beginning = source.read(0, SEARCHED.min(source.len()));
    if !beginning.windows(to_usize(RECORD_HEADER)).any(|bytes| may_be_own(bytes, order)) {
        return None;
    }
    let walker = Walker::new(source, 0, order, true, (0, source.len()));
    let items = walker.resyncing(limits.of(&RESYNC)).take(MOST_RECORDS);
    let records: Vec<Record<'_>> = items.filter_map(Item::record).collect();
    let own = records.iter().filter(|record| is_own(record, order)).count();
    let has_tracing = records.iter().any(|record| is_tracing(record, source));
    (own >= LEAST_OWN || has_tracing).then(|| records.first().map(|first| first.offset))?
}

/// Whether the header of a record that only pipes have may begin here: perf writes no `misc`.
fn may_be_own(bytes: &[u8], order: Order) -> bool {
    let kinds =
        [record::HEADER_ATTR, record::HEADER_FEATURE, record::TRACING_DATA, record::EVENT_UPDATE];
    frame(bytes, order).is_ok_and(|frame| kinds.contains(&frame.kind) && frame.misc == 0)
}

/// Whether a record is one that only pipes have.
fn is_own(record: &Record<'_>, order: Order) -> bool {
    let view = record.view(Layer::stored(0), 0);
    match record.frame.kind {
        record::HEADER_ATTR => {
            read_record(&view, order).is_some_and(|(attr, _)| is_published(attr.size))
        }
        record::HEADER_FEATURE => feature::of_record(&view, order, Machine::default()).is_ok(),
        // The names of a file are in its EVENT_DESC.
        record::EVENT_UPDATE => read_name(record, order).is_some(),
        _ => false,
    }
}

/// Whether a record precedes tracing data, which nothing resembles.
fn is_tracing(record: &Record<'_>, source: &Source<'_>) -> bool {
    let start = record.end().saturating_sub(record.outside);
    let is_of_type = record.frame.kind == record::TRACING_DATA;
    is_of_type
        && feature::begins_tracing(&source.read(start, record.end().min(start.saturating_add(16))))
}

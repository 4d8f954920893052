//! The tiles of a recording: header, devices, count, each event, and the bytes after them.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::parse_event;
use crate::formats::revent::recover::recording::Recording;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::field_log::FieldLog;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::model::limits::Limits;
use crate::model::tile::{Fields, NO_FIELDS, Tile, TileKind, TileSink};

/// Passes every tile to `each`, in order.
pub fn tile(source: &Source<'_>, limits: &Limits, each: TileSink<'_>) {
    let len = source.len();
    let mut at = 0;
    let mut push_tile = |end: u64, kind: TileKind, name: &'static str, fields: Fields<'_>| {
        let end = end.min(len);
        if end > at {
            each(Tile { span: Span::new(FILE, at, end), kind, name }, fields);
            at = end;
        }
    };
    let Ok(recording) = Recording::read(source.clone(), limits) else {
        push_tile(len, TileKind::Damage, "unread", NO_FIELDS);
        return;
    };
    let Recording { head, extent, .. } = &recording;
    // The map nests a field in the tile that holds it.
    let log_head: Fields<'_> = &|log| head.log_fields(source, log);
    push_tile(head.generation.layout().header, TileKind::Structure, "header", log_head);
    push_tile(head.prefix, TileKind::Structure, "devices", log_head);
    push_tile(head.events, TileKind::Structure, "count", log_head);
    let layout = head.generation;
    let log_event = |span: Span, log: &FieldLog| {
        let bytes = source.read(span.start(), span.end());
        let cursor = Cursor::new(&bytes, FILE, span.start(), Order::Little);
        let _event = parse_event(&mut cursor.with_log(log), layout);
    };
    for (index, _) in recording.stored_events(extent.count) {
        let event = extent.all.event_span(index);
        push_tile(event.start(), TileKind::Damage, "misaligned", NO_FIELDS);
        push_tile(event.end(), TileKind::Record, "event", &|log| log_event(event, log));
    }
    if let Some(pair) = extent.pair.filter(|pair| !pair.counted) {
        let pair = pair.span(&extent.all);
        push_tile(pair.start(), TileKind::Damage, "misaligned", NO_FIELDS);
        push_tile(pair.end(), TileKind::Padding, "enter pair", NO_FIELDS);
    }
    push_tile(len, TileKind::Damage, "trailing", NO_FIELDS);
}

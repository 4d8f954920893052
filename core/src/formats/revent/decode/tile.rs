//! The tiles of a recording: header, devices, count, each event, and the bytes after them.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::recording::Recording;
use crate::formats::{Tile, TileKind};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::limits::Limits;

/// Passes every tile to `each`, in order.
pub fn tile(source: &Source<'_>, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let len = source.len();
    let mut at = 0;
    let mut push_tile = |end: u64, kind: TileKind, name: &'static str| {
        let end = end.min(len);
        if end > at {
            each(Tile { span: Span::new(FILE, at, end), kind, name });
            at = end;
        }
    };
    let Ok(recording) = Recording::read(source.clone(), limits) else {
        push_tile(len, TileKind::Damage, "unread");
        return;
    };
    let Recording { head, extent, .. } = &recording;
    push_tile(head.generation.layout().header, TileKind::Structure, "header");
    push_tile(head.prefix, TileKind::Structure, "devices");
    push_tile(head.events, TileKind::Structure, "count");
    for (index, _) in recording.stored_events(extent.count) {
        let event = extent.all.event_span(index);
        push_tile(event.start(), TileKind::Damage, "misaligned");
        push_tile(event.end(), TileKind::Record, "event");
    }
    if let Some(pair) = extent.pair.filter(|pair| !pair.counted) {
        let pair = pair.span(&extent.all);
        push_tile(pair.start(), TileKind::Damage, "misaligned");
        push_tile(pair.end(), TileKind::Padding, "enter pair");
    }
    push_tile(len, TileKind::Damage, "trailing");
}

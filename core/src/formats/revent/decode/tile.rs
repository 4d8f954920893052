//! The tiles of a recording: header, devices, prefix, each event, and what follows them.

use std::ops::ControlFlow;

use crate::formats::revent::decode::extent::extent;
use crate::formats::revent::decode::head::{FILE, head};
use crate::formats::{Tile, TileKind};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;

/// Gives every tile in order.
pub fn tile(source: &Source<'_>, each: &mut dyn FnMut(Tile)) {
    let mut at = 0;
    let mut give = |end: u64, kind: TileKind, name: &'static str| {
        let end = end.min(source.len());
        if end > at {
            each(Tile { span: Span::new(FILE, at, end), kind, name });
            at = end;
        }
    };
    let Ok(head) = head(source) else {
        give(source.len(), TileKind::Damage, "unread");
        return;
    };
    give(head.generation.layout().header, TileKind::Structure, "header");
    give(head.prefix, TileKind::Structure, "devices");
    give(head.events, TileKind::Structure, "count");
    let extent = extent(source, &head);
    let kept = extent.all.part(0, extent.kept);
    kept.batches(source, &mut |first, events| {
        for index in first..first.saturating_add(to_u64(events.len())) {
            give(kept.offset(index.saturating_add(1)), TileKind::Record, "event");
        }
        ControlFlow::Continue(())
    });
    if let Some(pair) = extent.pair.filter(|pair| !pair.counted) {
        give(extent.all.offset(pair.index.saturating_add(2)), TileKind::Padding, "enter pair");
    }
    give(source.len(), TileKind::Damage, "trailing");
}

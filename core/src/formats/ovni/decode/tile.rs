//! Every byte of a trace and its kind.

use std::collections::BTreeSet;

use crate::formats::ovni::decode::files::TraceFiles;
use crate::formats::ovni::decode::stream::Stream;
use crate::formats::ovni::layout::STREAM_HEADER;
use crate::formats::{Tile, TileKind};
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::limits::{Limits, RESYNC};
use crate::recording::FileSet;

/// Passes the tiles of all files to `each`, in order.
pub fn tile_files(files: &FileSet<'_>, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let trace = TraceFiles::sort_out(files);
    let streams = trace.streams.iter().filter_map(|stream| stream.obs);
    let streams: BTreeSet<u32> = streams.map(|obs| obs.index).collect();
    for (index, file) in (0_u32..).zip(files.files()) {
        let layer = Layer::stored(index);
        if streams.contains(&index) {
            tile_stream(&Stream::open(files.bytes(index), layer), limits, each);
        } else if !file.bytes.is_empty() {
            let span = Span::new(layer, 0, file.bytes.len());
            each(Tile { span, kind: TileKind::Structure, name: "metadata" });
        }
    }
}

fn tile_stream(stream: &Stream<'_>, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let mut emit = |start: u64, end: u64, kind: TileKind, name: &'static str| {
        if end > start {
            each(Tile { span: Span::new(stream.layer(), start, end), kind, name });
        }
    };
    let head = STREAM_HEADER.min(stream.len());
    emit(0, head, TileKind::Structure, "header");
    let mut walk = stream.events(head);
    while let Some(item) = walk.next() {
        match item {
            Item::Record(event) => emit(event.at, event.end(), TileKind::Record, "event"),
            Item::Damage(damage) => {
                let end = walk.resync(damage.at, 0, limits.of(&RESYNC)).unwrap_or(stream.len());
                emit(damage.at, end, TileKind::Damage, "damage");
            }
        }
    }
}

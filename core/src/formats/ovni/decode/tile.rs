//! Every byte of a trace and its kind.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::formats::ovni::decode::files::TraceFiles;
use crate::formats::ovni::decode::json;
use crate::formats::ovni::decode::stream::Stream;
use crate::formats::ovni::layout::STREAM_HEADER;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC};
use crate::model::recording::FileSet;
use crate::model::tile::{Fields, NO_FIELDS, Tile, TileKind, TileSink};

/// Passes the tiles of all files to `each`, in order.
pub fn tile_files(files: &FileSet<'_>, limits: &Limits, each: TileSink<'_>) {
    let trace = TraceFiles::sort_out(files);
    let streams = trace.streams.iter().filter_map(|stream| stream.obs);
    let streams: BTreeSet<u32> = streams.map(|obs| obs.index).collect();
    for (index, file) in (0_u32..).zip(files.files()) {
        let layer = Layer::stored(index);
        if streams.contains(&index) {
            tile_stream(&Stream::open(files.bytes(index), layer), limits, &mut *each);
        } else if !file.bytes.is_empty() {
            let span = Span::new(layer, 0, file.bytes.len());
            let text = &file.bytes;
            let fields: Fields<'_> = &|log| {
                if let Ok(json) = json::parse(text.read(0, text.len()), limits) {
                    json.log_fields(layer, log);
                }
            };
            each(Tile { span, kind: TileKind::Structure, name: "metadata" }, fields);
        }
    }
}

fn tile_stream(stream: &Stream<'_>, limits: &Limits, each: TileSink<'_>) {
    let mut emit = |range: Range<u64>, kind: TileKind, name: &'static str, fields: Fields<'_>| {
        let span = Span::new(stream.layer(), range.start, range.end);
        if !span.is_empty() {
            each(Tile { span, kind, name }, fields);
        }
    };
    let head = STREAM_HEADER.min(stream.len());
    emit(0..head, TileKind::Structure, "header", &|log| stream.log_header(log));
    let mut walk = stream.events(head);
    while let Some(item) = walk.next() {
        match item {
            Item::Record(event) => {
                let fields: Fields<'_> = &|log| stream.log_event(&event, log);
                emit(event.at..event.end(), TileKind::Record, "event", fields);
            }
            Item::Damage(damage) => {
                let end = walk.resync(damage.at, 0, limits.of(&RESYNC)).unwrap_or(stream.len());
                emit(damage.at..end, TileKind::Damage, "damage", NO_FIELDS);
            }
        }
    }
}

//! Every byte of a trace and what it is.

use crate::limits::RESYNC;
use std::collections::BTreeSet;

use crate::FileSet;
use crate::formats::ovni::decode::files::TraceFiles;
use crate::formats::ovni::decode::stream::{Step, Walk, resync};
use crate::formats::ovni::layout::{self, STREAM_HEADER};
use crate::formats::{Tile, TileKind};
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;

/// Gives the tiles of all files in order.
pub fn tile(files: &FileSet<'_>, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let trace = TraceFiles::of(files);
    let streams = trace.streams.iter().filter_map(|stream| stream.obs);
    let streams: BTreeSet<u32> = streams.map(|obs| obs.index).collect();
    for (index, file) in (0_u32..).zip(files.files()) {
        let layer = Layer::stored(index);
        if streams.contains(&index) {
            stream(files, index, limits, each);
        } else if !file.bytes.is_empty() {
            let span = Span::new(layer, 0, file.bytes.len());
            each(Tile { span, kind: TileKind::Structure, name: "metadata" });
        }
    }
}

fn stream(files: &FileSet<'_>, index: u32, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let source = files.bytes(index);
    let layer = Layer::stored(index);
    let mut emit = |start: u64, end: u64, kind: TileKind, name: &'static str| {
        if end > start {
            each(Tile { span: Span::new(layer, start, end), kind, name });
        }
    };
    let head = STREAM_HEADER.min(source.len());
    emit(0, head, TileKind::Structure, "header");
    let len = source.len();
    let mut walk = Walk::new(&source, head);
    loop {
        let (at, end, code) = match walk.step() {
            Step::Event(event) => (event.at, event.end(), event.code),
            Step::Torn { at, .. } => (at, len, [0; 3]),
            Step::End => return,
        };
        if layout::printable(code) {
            emit(at, end, TileKind::Record, "event");
            continue;
        }
        let resumed = resync(&source, at, 0, limits.of(&RESYNC)).unwrap_or(len);
        emit(at, resumed, TileKind::Damage, "damage");
        walk.seek(resumed);
    }
}

//! Every byte of a log: the header, the events, and the bytes after them.

use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::event::FILE;
use crate::formats::qemu::decode::log::Log;
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{HEADER_LEN, Kind, LAYOUTS, VERSION_LEN};
use crate::formats::{Tile, TileKind};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::limits::Limits;

// The version word is part of the header.
const _: () = assert!(VERSION_LEN < HEADER_LEN);

/// Gives the tiles of a log, in order.
pub fn tile(source: &Source<'_>, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let len = source.len();
    let header = Span::new(FILE, 0, HEADER_LEN.min(len));
    let Ok(log) = Log::read(source, limits) else {
        emit(each, header, TileKind::Damage, "header");
        return;
    };
    emit(each, header, TileKind::Structure, "header");
    let number = log.race.layouts().iter().next().map(|(number, _)| number);
    let decoder = Decoder::new(source, number.unwrap_or(LAYOUTS.len()));
    let mut at = HEADER_LEN;
    let mut has_end = false;
    for item in Walker::new(decoder, HEADER_LEN, 0) {
        let Item::Record(event) = item else { break };
        emit(each, event.span(), TileKind::Record, event.kind.name());
        at = event.end;
        has_end = event.kind == Kind::End;
    }
    let rest = Span::new(FILE, at, len);
    let (kind, name) =
        if has_end { (TileKind::Padding, "trailing") } else { (TileKind::Damage, "damage") };
    emit(each, rest, kind, name);
}

/// Gives a tile, unless it is empty.
pub fn emit(each: &mut dyn FnMut(Tile), span: Span, kind: TileKind, name: &'static str) {
    if !span.is_empty() {
        each(Tile { span, kind, name });
    }
}

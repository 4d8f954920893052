//! Every byte of a log: the header, the events, and the bytes after them.

use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::event::FILE;
use crate::formats::qemu::decode::header::Header;
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{HEADER_LEN, Kind, LAYOUTS, VERSION_LEN};
use crate::formats::qemu::recover::log::Log;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::model::limits::Limits;
use crate::model::tile::{Fields, NO_FIELDS, Tile, TileKind, TileSink};

/// The tile of zeros between events.
pub const ZEROS: &str = "zeros";

// The version word is part of the header.
const _: () = assert!(VERSION_LEN < HEADER_LEN);

/// Gives the tiles of a log, in order.
pub fn tile(source: &Source<'_>, limits: &Limits, each: TileSink<'_>) {
    let len = source.len();
    let header = Span::new(FILE, 0, HEADER_LEN.min(len));
    let log_header: Fields<'_> = &|log| Header::log_fields(source, log);
    let Ok(log) = Log::read(source, limits) else {
        emit(each, header, (TileKind::Damage, "header"), log_header);
        return;
    };
    emit(each, header, (TileKind::Structure, "header"), log_header);
    let number = log.layouts().iter().next().map(|(number, _)| number);
    let decoder = Decoder::new(source, number.unwrap_or(LAYOUTS.len()));
    let (mut at, mut has_end) = (HEADER_LEN, false);
    for item in Walker::new(decoder, HEADER_LEN, 0) {
        let Item::Record(event) = item else { break };
        if event.is_zeros() {
            continue;
        }
        let zeros = Span::new(FILE, at, event.start);
        emit(each, zeros, (TileKind::Damage, ZEROS), NO_FIELDS);
        let kind = (TileKind::Record, event.kind.name());
        emit(each, event.span(), kind, &|log| decoder.log_fields(&event, log));
        at = event.end;
        has_end = event.kind == Kind::End;
    }
    let rest = Span::new(FILE, at, len);
    let kind = if has_end { (TileKind::Padding, "trailing") } else { (TileKind::Damage, "damage") };
    emit(each, rest, kind, NO_FIELDS);
}

/// Gives a tile, unless it is empty.
pub fn emit(
    each: TileSink<'_>,
    span: Span,
    (kind, name): (TileKind, &'static str),
    fields: Fields<'_>,
) {
    if !span.is_empty() {
        each(Tile { span, kind, name }, fields);
    }
}

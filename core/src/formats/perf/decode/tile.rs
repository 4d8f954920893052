//! Every byte of a recording, as tiles that adjoin.

use crate::limits::RESYNC;
use crate::FileSet;
use crate::formats::perf::decode::header::{self, Section};
use crate::formats::perf::decode::record;
use crate::formats::perf::decode::walk::{Item, Walker};
use crate::formats::perf::layout::{HEADER_SIZE, HEADER_SIZE_OLD, HEADER_SIZE_PIPE, SECTION_SIZE};
use crate::formats::{Tile, TileKind};
use crate::kit::cursor::Order;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;

/// Gives the tiles of file number `index`, in order.
pub fn tile(files: &FileSet<'_>, index: u32, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let source = files.bytes(index);
    let mut tiles = Tiles { layer: Layer::stored(index), at: 0, each };
    let first = files.bytes(0);
    let Ok(header) = header::header(&first, 0) else {
        tiles.upto(source.len(), TileKind::Damage, "header");
        return;
    };
    if index > 0 {
        records(&source, &mut tiles, index, header.order, false, source.len(), limits);
        return;
    }
    let Some(body) = header.body else {
        tiles.upto(HEADER_SIZE_PIPE, TileKind::Structure, "header");
        records(&source, &mut tiles, 0, header.order, true, source.len(), limits);
        return;
    };
    let size = if header.size == HEADER_SIZE_OLD { HEADER_SIZE_OLD } else { HEADER_SIZE };
    tiles.upto(size.min(source.len()), TileKind::Structure, "header");
    let declared = body.data.end().filter(|end| *end <= source.len() && body.data.size > 0);
    let data = Section {
        offset: body.data.offset,
        size: declared.unwrap_or(source.len()).saturating_sub(body.data.offset),
    };
    let table_len = body.flags.count().saturating_mul(SECTION_SIZE);
    let mut parts = vec![("attrs", body.attrs), ("data", data)];
    if let Some(end) = declared {
        parts.push(("feature table", Section { offset: end, size: table_len }));
        let (_, sections) = crate::formats::perf::repair::table(&source, &body, end, header.order);
        parts.extend(sections.into_iter().map(|(_, section)| ("feature", section)));
    }
    parts.retain(|(_, section)| section.size > 0 && section.offset < source.len());
    parts.sort_by_key(|(_, section)| (section.offset, section.size));
    for (name, section) in parts {
        // A part that begins inside the one before it is shown from there on.
        tiles.upto(section.offset.min(source.len()), TileKind::Padding, "gap");
        let end = section.end().unwrap_or(u64::MAX).min(source.len());
        match name {
            "data" => records(&source, &mut tiles, 0, header.order, false, end, limits),
            _ => tiles.upto(end, TileKind::Structure, name),
        }
    }
    tiles.upto(source.len(), TileKind::Padding, "trailing");
}

/// The records from where the tiles have come to.
fn records(
    source: &Source<'_>,
    tiles: &mut Tiles<'_>,
    file: u32,
    order: Order,
    pipe: bool,
    end: u64,
    limits: &Limits,
) {
    let area = (tiles.at, end);
    for item in Walker::new(source, file, order, pipe, area).resyncing(limits.of(&RESYNC)) {
        match item {
            Item::Record(item) => {
                let name = record::name(item.frame.kind).unwrap_or("record");
                tiles.upto(item.end(), TileKind::Record, name);
            }
            Item::Damage { span, .. } => tiles.upto(span.end, TileKind::Damage, "damage"),
        }
    }
}

struct Tiles<'a> {
    layer: Layer,
    /// Where the next tile begins.
    at: u64,
    each: &'a mut dyn FnMut(Tile),
}

impl Tiles<'_> {
    fn upto(&mut self, end: u64, kind: TileKind, name: &'static str) {
        if end > self.at {
            let span = Span::new(self.layer, self.at, end);
            (self.each)(Tile { span, kind, name });
            self.at = end;
        }
    }
}

//! Divides every file of a recording into adjoining tiles.

use super::header::Section;
use super::record;
use super::recording::{Opened, RecordFile, Recording, open};
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, SECTION_SIZE};
use crate::formats::{Tile, TileKind};
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::limits::{Limits, RESYNC};
use crate::recording::FileSet;

/// Passes the tiles of all files to `each`, file by file and in order.
pub fn tile(files: &FileSet<'_>, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    match open(files) {
        Err(_) => {
            for (index, file) in (0_u32..).zip(files.files()) {
                let mut tiles = Tiles { layer: Layer::stored(index), at: 0, each };
                tiles.push_tile(file.bytes.len(), TileKind::Damage, "header");
            }
        }
        Ok(Opened::Pipe(file)) => {
            let mut tiles = Tiles { layer: file.layer(), at: 0, each };
            tiles.push_tile(HEADER_SIZE_PIPE, TileKind::Structure, "header");
            tiles.push_records(&file, file.length(), limits);
        }
        Ok(Opened::Sections(recording)) => {
            tile_sections(&recording, limits, each);
            for part in &recording.parts {
                let mut tiles = Tiles { layer: part.layer(), at: 0, each };
                tiles.push_records(part, part.length(), limits);
            }
        }
    }
}

/// Passes the tiles of the file with the header to `each`.
fn tile_sections(recording: &Recording<'_>, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let (body, len) = (&recording.body, recording.length());
    let mut tiles = Tiles { layer: recording.file.layer(), at: 0, each };
    tiles.push_tile(recording.header.length().min(len), TileKind::Structure, "header");
    let declared = body.data.end().filter(|end| *end <= len && body.data.size > 0);
    let data = Section {
        offset: body.data.offset,
        size: declared.unwrap_or(len).saturating_sub(body.data.offset),
    };
    let table_len = body.flags.count().saturating_mul(SECTION_SIZE);
    let mut sections = vec![("attrs", body.attrs), ("data", data)];
    if let Some(end) = declared {
        sections.push(("feature table", Section { offset: end, size: table_len }));
        let features = recording.table(end).entries;
        sections.extend(features.into_iter().map(|(_, section)| ("feature", section)));
    }
    sections.retain(|(_, section)| section.size > 0 && section.offset < len);
    sections.sort_by_key(|(_, section)| (section.offset, section.size));
    for (name, section) in sections {
        // If sections overlap, the second one is shown from the end of the first.
        tiles.push_tile(section.offset.min(len), TileKind::Padding, "gap");
        let end = section.end().unwrap_or(u64::MAX).min(len);
        match name {
            "data" => tiles.push_records(&recording.file, end, limits),
            _ => tiles.push_tile(end, TileKind::Structure, name),
        }
    }
    tiles.push_tile(len, TileKind::Padding, "trailing");
}

/// The tiles of one file.
struct Tiles<'a> {
    layer: Layer,
    /// Offset of the next tile.
    at: u64,
    each: &'a mut dyn FnMut(Tile),
}

impl Tiles<'_> {
    /// Passes the records from the next tile up to `end`.
    fn push_records(&mut self, file: &RecordFile<'_>, end: u64, limits: &Limits) {
        for item in file.records((self.at, end), limits.of(&RESYNC)) {
            match item {
                Item::Record(item) => {
                    let name = record::name(item.frame.kind).unwrap_or("record");
                    self.push_tile(item.end(), TileKind::Record, name);
                }
                Item::Damage(damage) => {
                    self.push_tile(damage.span.end, TileKind::Damage, "damage");
                }
            }
        }
    }

    /// Passes the tile up to `end`, unless it is empty.
    fn push_tile(&mut self, end: u64, kind: TileKind, name: &'static str) {
        if end > self.at {
            let span = Span::new(self.layer, self.at, end);
            (self.each)(Tile { span, kind, name });
            self.at = end;
        }
    }
}

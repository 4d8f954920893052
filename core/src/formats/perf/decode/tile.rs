//! Divides every file of a recording, and the bytes that compressed records expand to, into
//! adjoining tiles.

use super::attrs;
use super::event::Events;
use super::expand::{Expansion, Step, Wrapper};
use super::feature;
use super::header::{self, Section};
use super::record;
use super::recording::{Opened, RecordFile, Recording, open};
use super::table::Table;
use crate::formats::perf::layout::feature::NRCPUS;
use crate::formats::perf::layout::record::TRACING_DATA;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, SECTION_SIZE};
use crate::kit::field_log::FieldLog;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::{EXPANSION_RATIO, Limits, RESYNC, WINDOW, ZSTD_WINDOW};
use crate::model::recording::FileSet;
use crate::model::tile::{Fields, NO_FIELDS, Tile, TileKind, TileSink};

/// Passes the tiles of all files to `each`, file by file and in order.
pub fn tile(files: &FileSet<'_>, limits: &Limits, each: TileSink<'_>) {
    match open(files) {
        Err(_) => {
            for (index, file) in (0_u32..).zip(files.files()) {
                let mut tiles = Tiles::new(Layer::stored(index), each);
                tiles.push_tile(file.bytes.len(), TileKind::Damage, "header", NO_FIELDS);
            }
        }
        Ok(Opened::Pipe(file)) => {
            let events = attrs::gather_events(&file, Events::new(file.order()), limits);
            let mut tiles = Tiles::new(file.layer(), each);
            let fields: Fields<'_> = &|log| header::log_fields(file.source(), 0, log);
            tiles.push_tile(HEADER_SIZE_PIPE, TileKind::Structure, "header", fields);
            let area = (tiles.at, file.length());
            push_records(&mut tiles, (&file, area), &events, limits);
        }
        Ok(Opened::Sections(recording)) => {
            let (events, _) = attrs::read_table(&recording, limits);
            tile_sections(&recording, &events, limits, each);
            for part in &recording.parts {
                let mut tiles = Tiles::new(part.layer(), each);
                push_records(&mut tiles, (part, (0, part.length())), &events, limits);
            }
        }
    }
}

/// A part of the file with the header.
enum Part {
    Attrs,
    Ids,
    Data,
    Table,
    Feature(u32),
}

impl Part {
    const fn name(&self) -> &'static str {
        match self {
            Self::Attrs => "attrs",
            Self::Ids => "ids",
            Self::Data => "data",
            Self::Table => "feature table",
            Self::Feature(_) => "feature",
        }
    }
}

/// Passes the tiles of the file with the header to `each`.
fn tile_sections(recording: &Recording<'_>, events: &Events, limits: &Limits, each: TileSink<'_>) {
    let (body, len) = (&recording.body, recording.length());
    let file = &recording.file;
    let mut tiles = Tiles::new(file.layer(), each);
    let fields: Fields<'_> = &|log| header::log_fields(file.source(), 0, log);
    tiles.push_tile(recording.header.length().min(len), TileKind::Structure, "header", fields);
    let mut data = None;
    for (part, section) in find_parts(recording, limits) {
        // If sections overlap, the second one is shown from the end of the first.
        tiles.push_tile(section.offset.min(len), TileKind::Padding, "gap", NO_FIELDS);
        let end = section.end().unwrap_or(u64::MAX).min(len);
        let log_part = |log: &FieldLog| match part {
            Part::Attrs => attrs::log_fields(recording, log),
            Part::Table => {
                let place = (section.offset, recording.order());
                Table::log_fields(file.source(), body, place, log);
            }
            Part::Feature(bit) => {
                let cpus = find_cpus(recording, limits);
                recording.log_feature((bit, section), cpus, limits.of(&WINDOW), log);
            }
            Part::Ids => attrs::log_ids(recording, section, log),
            Part::Data => {}
        };
        match part {
            Part::Data => {
                data = Some((tiles.at, end));
                tiles.push_records((file, end), events, limits);
            }
            Part::Feature(bit) => {
                let name = feature::name(bit).unwrap_or(part.name());
                tiles.push_tile(end, TileKind::Structure, name, &log_part);
            }
            _ => tiles.push_tile(end, TileKind::Structure, part.name(), &log_part),
        }
    }
    tiles.push_tile(len, TileKind::Padding, "trailing", NO_FIELDS);
    if let Some(area) = data {
        push_expanded(&mut tiles, (file, area), events, limits);
    }
}

/// Returns the sections in the order of their places.
fn find_parts(recording: &Recording<'_>, limits: &Limits) -> Vec<(Part, Section)> {
    let (body, len) = (&recording.body, recording.length());
    let declared = body.data.end().filter(|end| *end <= len && body.data.size > 0);
    let data = Section {
        offset: body.data.offset,
        size: declared.unwrap_or(len).saturating_sub(body.data.offset),
    };
    let mut parts = vec![(Part::Attrs, body.attrs), (Part::Data, data)];
    let (_, table) = attrs::read_table(recording, limits);
    parts.extend(table.id_sections().into_iter().map(|section| (Part::Ids, section)));
    if let Some(end) = declared {
        let size = body.flags.count().saturating_mul(SECTION_SIZE);
        parts.push((Part::Table, Section { offset: end, size }));
        let features = recording.table(end).entries;
        parts.extend(features.into_iter().map(|(bit, section)| (Part::Feature(bit), section)));
    }
    parts.retain(|(_, section)| section.size > 0 && section.offset < len);
    parts.sort_by_key(|(_, section)| (section.offset, section.size));
    parts
}

/// Returns the number of CPUs, by which CPU_TOPOLOGY is read.
fn find_cpus(recording: &Recording<'_>, limits: &Limits) -> Option<u32> {
    let table = recording.table(recording.body.data.end()?);
    let section = table.section(NRCPUS)?;
    recording.read_feature((NRCPUS, section), None, limits.of(&WINDOW)).ok()?.nr_cpus
}

/// Passes the records of an area, and then those that compressed ones expand to.
fn push_records(
    tiles: &mut Tiles<'_>,
    (file, area): (&RecordFile<'_>, (u64, u64)),
    events: &Events,
    limits: &Limits,
) {
    tiles.push_records((file, area.1), events, limits);
    push_expanded(tiles, (file, area), events, limits);
}

/// Passes the records that the compressed records of an area expand to, up to the first fault.
fn push_expanded(
    tiles: &mut Tiles<'_>,
    (file, area): (&RecordFile<'_>, (u64, u64)),
    events: &Events,
    limits: &Limits,
) {
    let budget = file.length().saturating_mul(limits.of(&EXPANSION_RATIO));
    let mut expansion = Expansion::new(file.dialect(), limits.of(&ZSTD_WINDOW));
    expansion.begin_file(file.index());
    let mut expanded = Tiles::new(file.layer().expanded(), &mut *tiles.each);
    for item in file.records(area, limits.of(&RESYNC)) {
        let record = match item {
            Item::Record(record) => record,
            Item::Damage(damage) => {
                expansion.note_damage(damage.span);
                continue;
            }
        };
        let Some(wrapper) = Wrapper::of(record.frame.kind) else { continue };
        let payload = wrapper.payload(&record.bytes, file.order());
        let stored = Span::sized(file.layer(), record.offset, record.frame.size);
        let mut is_over = false;
        let fed = expansion.expand(payload, stored, |expansion, step| {
            is_over |= !expanded.push_step(expansion, step, events);
            !is_over
        });
        if fed.is_err() || is_over || expansion.end() > budget {
            return;
        }
    }
    expansion.finish();
    expansion.release(|expansion, step| expanded.push_step(expansion, step, events));
    if let Some(incomplete) = expansion.incomplete() {
        let end = incomplete.place.offset.saturating_add(to_u64(incomplete.bytes.len()));
        expanded.push_tile(end, TileKind::Damage, "truncated record", NO_FIELDS);
    }
}

/// The tiles of one layer.
struct Tiles<'a> {
    layer: Layer,
    /// Offset of the next tile.
    at: u64,
    each: TileSink<'a>,
}

impl<'a> Tiles<'a> {
    fn new(layer: Layer, each: TileSink<'a>) -> Self {
        Tiles { layer, at: 0, each }
    }

    /// Passes the records of a file from the next tile up to `end`.
    fn push_records(
        &mut self,
        (file, end): (&RecordFile<'_>, u64),
        events: &Events,
        limits: &Limits,
    ) {
        for item in file.records((self.at, end), limits.of(&RESYNC)) {
            match item {
                Item::Record(item) => {
                    let name = record::name(item.frame.kind).unwrap_or("record");
                    let view = item.view(self.layer, 0);
                    let is_tracing = item.outside > 0 && item.frame.kind == TRACING_DATA;
                    let fields: Fields<'_> = &|log| {
                        events.log_fields(&view, log);
                        if is_tracing {
                            file.log_tracing(&item, limits.of(&WINDOW), log);
                        }
                    };
                    self.push_tile(item.end(), TileKind::Record, name, fields);
                }
                Item::Damage(damage) => {
                    self.push_tile(damage.span.end, TileKind::Damage, "damage", NO_FIELDS);
                }
            }
        }
    }

    /// Passes an expanded record, or bytes that are none, after which it returns false.
    fn push_step(&mut self, expansion: &Expansion, step: Step<'_>, events: &Events) -> bool {
        match step {
            Step::Expanded(_) => true,
            Step::Record(record) => {
                let name = record::name(record.frame.kind).unwrap_or("record");
                let fields: Fields<'_> = &|log| {
                    log.set_stored(expansion.map().stored(record.span()));
                    events.log_fields(&record, log);
                };
                self.push_tile(record.span().end, TileKind::Record, name, fields);
                true
            }
            Step::Damage(damage) => {
                let end = damage.place.offset.saturating_add(to_u64(damage.bytes.len()));
                self.push_tile(end, TileKind::Damage, "damage", NO_FIELDS);
                false
            }
        }
    }

    /// Passes the tile up to `end`, unless it is empty.
    fn push_tile(&mut self, end: u64, kind: TileKind, name: &'static str, fields: Fields<'_>) {
        if end > self.at {
            let span = Span::new(self.layer, self.at, end);
            (self.each)(Tile { span, kind, name }, fields);
            self.at = end;
        }
    }
}

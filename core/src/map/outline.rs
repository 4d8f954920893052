//! The sections and groups of records of a recording: the first pass of a map.

use std::collections::BTreeMap;

use super::{MappedLayer, RegionKind};
use crate::format::Format;
use crate::kit::span::{Layer, Span};
use crate::kit::text::UntrustedPath;
use crate::kit::words::plural;
use crate::model::limits::MAP_REGIONS;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::{Tile, TileKind};

/// Names of records that the description of a group lists.
const NAMES_LISTED: usize = 6;

/// Adjoining bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Portion {
    /// The bytes.
    pub span: Span,
    /// Their kind.
    pub kind: RegionKind,
}

/// A section, or records in a row with the damage between them.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) span: Span,
    /// The tile, if it is not of records.
    pub(super) tile: Option<Tile>,
    /// Number of records by name.
    records: BTreeMap<&'static str, u64>,
    damaged: u64,
}

/// A layer with its groups.
#[derive(Clone, Debug)]
pub(super) struct LayerOutline {
    pub(super) mapped: MappedLayer,
    pub(super) groups: Vec<Group>,
}

/// All layers in the order of the tiles, and after them files without a byte.
#[derive(Clone, Debug)]
pub(super) struct Outline {
    pub(super) layers: Vec<LayerOutline>,
}

impl Group {
    /// Whether its records are its children.
    pub(super) const fn is_records(&self) -> bool {
        self.tile.is_none()
    }

    /// Counts the records by name, the most frequent first.
    pub(super) fn describe(&self) -> String {
        let mut counts: Vec<(u64, &str)> =
            self.records.iter().map(|(name, count)| (*count, *name)).collect();
        counts.sort_by_key(|(count, name)| (std::cmp::Reverse(*count), *name));
        let more = counts.len().saturating_sub(NAMES_LISTED);
        let listed = counts.iter().take(NAMES_LISTED);
        let mut parts: Vec<String> =
            listed.map(|(count, name)| format!("{count} {name}")).collect();
        if more > 0 {
            parts.push(format!("{more} more kinds"));
        }
        if self.damaged > 0 {
            parts.push(plural(self.damaged, "damaged place"));
        }
        parts.join(", ")
    }
}

impl Outline {
    /// Reads the outline of a recording.
    pub(super) fn read(files: &FileSet<'_>, format: &dyn Format, options: &Options) -> Self {
        let mut outline = Self { layers: Vec::new() };
        let max = options.limits.count_of(&MAP_REGIONS);
        format.tile(files, options, &mut |tile, _| outline.add(files, tile, max));
        for (index, file) in (0_u32..).zip(files.files()) {
            let layer = Layer::stored(index);
            let is_known = outline.layers.iter().any(|known| known.mapped.layer == layer);
            if !is_known && !file.bytes.is_absent() {
                outline.begin(files, layer);
            }
        }
        outline
    }

    fn begin(&mut self, files: &FileSet<'_>, layer: Layer) {
        let file = usize::try_from(layer.file).ok().and_then(|index| files.files().get(index));
        let name = file.map(|file| UntrustedPath(file.name.as_bytes()).to_string());
        let name = name.unwrap_or_default();
        let mapped = MappedLayer { layer, name, length: 0, portions: Vec::new() };
        self.layers.push(LayerOutline { mapped, groups: Vec::new() });
    }

    fn add(&mut self, files: &FileSet<'_>, tile: Tile, max: usize) {
        let layer = tile.span.layer;
        if self.layers.last().is_none_or(|last| last.mapped.layer != layer) {
            self.begin(files, layer);
        }
        let Some(last) = self.layers.last_mut() else { return };
        last.mapped.length = tile.span.end;
        last.mapped.extend(tile, max);
        last.add(tile, max);
    }
}

impl MappedLayer {
    fn extend(&mut self, tile: Tile, max: usize) {
        let kind = RegionKind::from(tile.kind);
        let is_full = self.portions.len() >= max;
        match self.portions.last_mut() {
            Some(last) if last.kind == kind || is_full => last.span.end = tile.span.end,
            _ => self.portions.push(Portion { span: tile.span, kind }),
        }
    }
}

impl LayerOutline {
    fn add(&mut self, tile: Tile, max: usize) {
        let is_record = tile.kind == TileKind::Record;
        let is_full = self.groups.len() >= max;
        let last = self.groups.last_mut();
        // Damage after a record belongs to the records; damage before them is a region of its own.
        let joins =
            |group: &Group| group.is_records() && (is_record || tile.kind == TileKind::Damage);
        match last.filter(|group| joins(group) || is_full) {
            Some(group) => {
                group.span.end = tile.span.end;
                // Of a recording with too many sections, the last group has all of the rest.
                group.tile = None;
                group.count(tile);
            }
            None => {
                let alone = (!is_record).then_some(tile);
                let records = BTreeMap::new();
                let mut group = Group { span: tile.span, tile: alone, records, damaged: 0 };
                if is_record {
                    group.count(tile);
                }
                self.groups.push(group);
            }
        }
    }
}

impl Group {
    fn count(&mut self, tile: Tile) {
        if tile.kind == TileKind::Damage {
            self.damaged = self.damaged.saturating_add(1);
        } else {
            let count = self.records.entry(tile.name).or_default();
            *count = count.saturating_add(1);
        }
    }
}

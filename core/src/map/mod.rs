//! Every byte of a recording, accounted for.
//!
//! ```text
//!  file, or the bytes that it expands to
//!    section, or a group of records        the tiles of the format, records in a row as one region
//!      record                              one tile
//!        field                             what the decoder reads of it, by its labels
//! ```
//!
//! The regions of a level adjoin and cover their parent exactly; bytes that no field covers are
//! regions, too. Tiles and fields come from the decoders of the check: with a tile comes a function
//! that decodes it again with a cursor that notes each read. It is called only for tiles that are
//! shown. So a map holds the groups and one tile at a time, whatever the length of the recording.

mod fields;
mod outline;

use std::borrow::Cow;

use crate::format::Format;
use crate::kit::span::{Layer, Span};
use crate::kit::text::hex;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::{Fields, Tile, TileKind};
use outline::{Group, LayerOutline, Outline};

pub use outline::Portion;

/// First bytes of padding that are shown if they are not 0.
const PADDING_SHOWN: u64 = 16;

/// The kind of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RegionKind {
    /// A header, a table or a section.
    Structure,
    /// Records in a row, with the damage between them.
    Records,
    /// One record.
    Record,
    /// Unused bytes, where the format allows them.
    Padding,
    /// Bytes that cannot be decoded.
    Damage,
    /// A field.
    Field,
    /// Bytes of a structure or a record that no field covers.
    Gap,
}

impl RegionKind {
    /// Returns the name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Records => "records",
            Self::Record => "record",
            Self::Padding => "padding",
            Self::Damage => "damage",
            Self::Field => "field",
            Self::Gap => "gap",
        }
    }
}

impl From<TileKind> for RegionKind {
    fn from(kind: TileKind) -> Self {
        match kind {
            TileKind::Structure => Self::Structure,
            TileKind::Record => Self::Record,
            TileKind::Padding => Self::Padding,
            TileKind::Damage => Self::Damage,
        }
    }
}

/// A range of bytes with its name. Texts are safe to print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Region {
    /// The bytes.
    pub span: Span,
    /// The kind.
    pub kind: RegionKind,
    /// The name, as the format's own source has it.
    pub name: Cow<'static, str>,
    /// A remark about the region.
    pub meaning: Option<String>,
    /// The value of a field, or the first bytes of unused ones.
    pub value: Option<String>,
    /// The regions inside, which cover it exactly; empty if there are none or the depth of the map
    /// ends here.
    pub children: Vec<Self>,
}

/// A layer of a recording: the bytes of a file, or the bytes that they expand to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappedLayer {
    /// The layer.
    pub layer: Layer,
    /// The name of the file, escaped.
    pub name: String,
    /// The length in bytes: of a file its own, of an expanded layer the bytes that were expanded.
    pub length: u64,
    /// The kinds of bytes along the layer, in order.
    pub portions: Vec<Portion>,
}

/// A part of a map, in the order of the bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum MapStep<'m> {
    /// A layer begins; the last one has ended.
    Layer(&'m MappedLayer),
    /// A group of records begins; its children follow, up to [`MapStep::Close`].
    Open(&'m Region),
    /// A region with its children.
    Region(&'m Region),
    /// The group of records ends.
    Close,
}

/// Maps a recording of this format. Levels below `depth` are left out: the first has sections and
/// groups of records, the second records, the third fields, the others the fields of fields.
pub fn map(
    (files, format): (&FileSet<'_>, &dyn Format),
    options: &Options,
    depth: usize,
    each: &mut dyn FnMut(MapStep<'_>),
) {
    let outline = Outline::read(files, format, options);
    let mut writer = Writer { files, options, depth, layers: outline.layers.iter(), groups: None };
    if depth > 1 {
        format.tile(files, options, &mut |tile, fields| {
            writer.add(tile, fields, each);
        });
        writer.finish(each);
    } else {
        for layer in &outline.layers {
            each(MapStep::Layer(&layer.mapped));
            for group in &layer.groups {
                each(MapStep::Region(&group.region(files)));
            }
        }
    }
}

/// Returns the regions that contain the byte at `offset` of a layer, from the section to the field;
/// none if the layer ends before it.
pub fn locate(
    (files, format): (&FileSet<'_>, &dyn Format),
    options: &Options,
    (layer, offset): (Layer, u64),
) -> Vec<Region> {
    let outline = Outline::read(files, format, options);
    let has = |span: Span| span.layer == layer && span.start <= offset && offset < span.end;
    let groups = outline.layers.iter().flat_map(|layer| &layer.groups);
    let mut groups = groups.filter(|group| has(group.span));
    let group = groups.next();
    let mut path: Vec<Region> = Vec::new();
    path.extend(group.filter(|group| group.is_records()).map(|group| group.region(files)));
    let mut found = None;
    format.tile(files, options, &mut |tile, fields| {
        if found.is_none() && has(tile.span) {
            found = Some(describe_tile(files, tile, Some(fields), options));
        }
    });
    while let Some(region) = found {
        found = region.children.iter().find(|child| has(child.span)).cloned();
        path.push(Region { children: Vec::new(), ..region });
    }
    path
}

/// Returns the region of a tile, with its fields if these are wanted.
fn describe_tile(
    files: &FileSet<'_>,
    tile: Tile,
    fields: Option<Fields<'_>>,
    options: &Options,
) -> Region {
    let Tile { span, kind, name } = tile;
    let (meaning, value) = match kind {
        TileKind::Padding => (None, Some(describe_unused(files, span))),
        TileKind::Damage => (Some("cannot be decoded; see `tracemend check`".to_string()), None),
        TileKind::Structure | TileKind::Record => (None, None),
    };
    let (mut meaning, mut children) = (meaning, Vec::new());
    if let Some(fields) = fields {
        let (regions, stored) = fields::read(files, span, fields, &options.limits);
        children = regions;
        meaning = meaning.or(stored);
    }
    Region { span, kind: kind.into(), name: name.into(), meaning, value, children }
}

/// Describes bytes that have no use: all 0, or the first of them.
fn describe_unused(files: &FileSet<'_>, span: Span) -> String {
    let source = files.bytes(span.layer.file);
    let is_set = |slice: &[u8]| slice.iter().any(|byte| *byte != 0);
    if !source.slices(span.start, span.end).any(is_set) {
        return "all bytes are 0".to_string();
    }
    let end = span.end.min(span.start.saturating_add(PADDING_SHOWN));
    let more = if end < span.end { "..." } else { "" };
    format!("not 0: {}{more}", hex(&source.read(span.start, end)))
}

/// Passes the regions of a map deeper than the outline.
struct Writer<'m, 'a> {
    files: &'m FileSet<'a>,
    options: &'m Options,
    depth: usize,
    layers: std::slice::Iter<'m, LayerOutline>,
    /// The layer, and the index of its group that is open or comes next.
    groups: Option<(&'m LayerOutline, usize, bool)>,
}

impl<'m> Writer<'m, '_> {
    fn add(&mut self, tile: Tile, fields: Fields<'_>, each: &mut dyn FnMut(MapStep<'_>)) {
        while self.groups.is_none_or(|(layer, ..)| layer.mapped.layer != tile.span.layer) {
            self.end_layer(each);
            let Some(layer) = self.layers.next() else { return };
            each(MapStep::Layer(&layer.mapped));
            self.groups = Some((layer, 0, false));
        }
        let Some((layer, mut index, mut is_open)) = self.groups else { return };
        let is_over = |group: &Group| group.span.end <= tile.span.start;
        while layer.groups.get(index).is_some_and(is_over) {
            if is_open {
                each(MapStep::Close);
            }
            (index, is_open) = (index.saturating_add(1), false);
        }
        if let Some(group) = layer.groups.get(index).filter(|group| group.is_records() && !is_open)
        {
            each(MapStep::Open(&group.region(self.files)));
            is_open = true;
        }
        self.groups = Some((layer, index, is_open));
        // A section is of level 1, a record of level 2.
        let wanted = if is_open { 3 } else { 2 };
        let fields = Some(fields).filter(|_| self.depth >= wanted);
        let mut region = describe_tile(self.files, tile, fields, self.options);
        prune(&mut region, self.depth.saturating_sub(wanted.saturating_sub(1)));
        each(MapStep::Region(&region));
    }

    fn end_layer(&mut self, each: &mut dyn FnMut(MapStep<'_>)) {
        if let Some((_, _, true)) = self.groups.take() {
            each(MapStep::Close);
        }
    }

    fn finish(&mut self, each: &mut dyn FnMut(MapStep<'_>)) {
        self.end_layer(each);
        // Files without a byte have no tile.
        for layer in self.layers.by_ref() {
            each(MapStep::Layer(&layer.mapped));
        }
    }
}

/// Removes the levels below `depth` more.
fn prune(region: &mut Region, depth: usize) {
    match depth.checked_sub(1) {
        None => region.children.clear(),
        Some(depth) => region.children.iter_mut().for_each(|child| prune(child, depth)),
    }
}

impl Group {
    /// The region of the group, without its records.
    fn region(&self, files: &FileSet<'_>) -> Region {
        match self.tile {
            Some(tile) => {
                let Region { span, kind, name, meaning, value, .. } = describe_unread(files, tile);
                Region { span, kind, name, meaning, value, children: Vec::new() }
            }
            None => Region {
                span: self.span,
                kind: RegionKind::Records,
                name: "records".into(),
                meaning: Some(self.describe()),
                value: None,
                children: Vec::new(),
            },
        }
    }
}

/// Returns the region of a tile without its fields.
fn describe_unread(files: &FileSet<'_>, tile: Tile) -> Region {
    describe_tile(files, tile, None, &Options::default())
}

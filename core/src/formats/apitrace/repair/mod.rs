//! Edits of the stream, and of the stored units that hold it.
//!
//! ```text
//!  damage, warning --> StreamEdit --groups--> units that share edits --compose--> Edit of the file
//! ```
//!
//! An edit names the units that it touches. Edits that share a unit are one group: its units are
//! expanded again, edited and written anew; all others stay byte for byte. Findings whose edits
//! share a group share a fix, which is the first one's.
//!
//! - `encode`: bytes that are added
//! - `damage`: the edits that remove a damage
//! - `compose`: edits of the stream to an edit of the file
//! - `fixes`: the edits of many findings to a fix for each
//! - `store`: edits that no finding carries

mod compose;
pub mod damage;
pub mod encode;
pub mod fixes;
mod store;

pub use store::store;

use super::decode::places::Place;
use super::expand::{Container, Encoder, Expansion, find_stored, stored, zstd};
use super::layout::SNAPPY_MAGIC;
use crate::kit::holes::find_tail;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::model::edit::{Edit, StoredAnew};
use crate::model::limits::{self, Limits};

/// Bytes `start..end` of the stream become `insert`.
#[derive(Clone, Debug)]
pub struct StreamEdit {
    /// First byte that is dropped.
    pub start: u64,
    /// One after the last byte that is dropped; `u64::MAX` for the end of the stream.
    pub end: u64,
    /// The bytes instead of them.
    pub insert: Vec<u8>,
    /// The units that it touches, in the file.
    pub stored: Span,
    /// Where the first of them begins in the stream.
    pub base: u64,
}

/// Builds edits of the stream of one file.
#[derive(Clone, Copy)]
pub struct StreamEditor<'r, 'a> {
    source: &'r Source<'a>,
    container: Container,
    limits: &'r Limits,
    /// Whether a gzip stream that is stored anew is counted instead of written.
    is_outline: bool,
}

impl<'r, 'a> StreamEditor<'r, 'a> {
    /// Edits the trace in `source`.
    pub const fn new(source: &'r Source<'a>, container: Container, limits: &'r Limits) -> Self {
        Self { source, container, limits, is_outline: false }
    }

    /// Lets a gzip stream be counted instead of written, see [`Options::outline`].
    #[must_use]
    pub const fn in_outline(mut self, is_outline: bool) -> Self {
        self.is_outline = is_outline;
        self
    }

    /// Returns how the stream is stored.
    pub const fn container(&self) -> Container {
        self.container
    }

    /// Edits the stream in the units of `place`.
    pub fn edit(&self, start: u64, end: u64, insert: Vec<u8>, place: Place) -> StreamEdit {
        let (units, base) = if self.container.has_units() {
            (stored(place.head.stored.start, place.tail.stored.end), place.head.expanded.start)
        } else {
            (stored(0, self.source.len()), 0)
        };
        StreamEdit { start, end, insert, stored: units, base }
    }

    /// Returns bytes of the file.
    pub fn bytes(&self, span: Span) -> Vec<u8> {
        self.source.read(span.start, span.end).into_owned()
    }

    /// Stores the whole stream in snappy chunks, which have no checksum; `None` if that is more
    /// than a round may insert.
    pub fn store_in_chunks(&self) -> Option<(Edit, StoredAnew)> {
        let mut encoder = Encoder::new(Container::Snappy, self.limits.of(&limits::INSERTED));
        let mut anew = StoredAnew { stored: self.source.len(), ..StoredAnew::default() };
        for block in Expansion::new(self.source, self.container, self.limits) {
            anew.kept = anew.kept.saturating_add(to_u64(block.bytes.len()));
            encoder.push(&block.bytes);
        }
        let bytes = [SNAPPY_MAGIC.as_slice(), &encoder.finish()?].concat();
        Some((Edit::replace(stored(0, self.source.len()), bytes), anew))
    }

    /// Returns where the units end in the file: before a seek table.
    pub fn units_end(&self) -> u64 {
        let table = zstd::seek_table_span(self.source);
        let table = table.filter(|_| self.container == Container::Zstd);
        table.map_or(self.source.len(), |table| table.start)
    }

    /// Returns where the zeros begin that the file ends in.
    pub fn written_end(&self) -> u64 {
        find_tail(self.source)
    }

    /// Replaces bytes of the stream where the unit stores them, if it stores them as they are and
    /// nothing else changes with them.
    fn patch(&self, edits: &[StreamEdit]) -> Option<UnitPatch> {
        let [edit] = edits else { return None };
        let is_same_len = edit.end.checked_sub(edit.start) == Some(to_u64(edit.insert.len()));
        if !is_same_len || edit.insert.is_empty() || self.container != Container::Snappy {
            return None;
        }
        let unit = edit.stored;
        let at = edit.start.checked_sub(edit.base)?;
        let place = find_stored(self.source, unit, at, &edit.insert)?;
        let span = Span::sized(unit.layer, place, to_u64(edit.insert.len()));
        Some(UnitPatch { edit: Edit::replace(span, edit.insert.clone()), unit })
    }

    /// Replaces the seek table in `span` by one for the frames before it.
    pub fn rebuild_seek_table(&self, span: Span) -> Edit {
        let before = Source::from_pieces(self.source.slices(0, span.start));
        let frames = zstd::frame_lengths(&before, self.limits);
        Edit::replace(span, zstd::encode_seek_table(&frames))
    }
}

/// An edit of a few stored bytes of a unit.
#[derive(Debug)]
pub struct UnitPatch {
    /// The edit.
    pub edit: Edit,
    /// The unit.
    pub unit: Span,
}

/// Returns the edits that follow from edits of zstd frames: of the seek table.
pub fn settle(source: &Source<'_>, edits: &[Edit], limits: &Limits) -> Vec<Edit> {
    let Some(table) = zstd::seek_table_span(source) else { return Vec::new() };
    if edits.is_empty() || edits.iter().any(|edit| edit.span.overlaps(&table)) {
        return Vec::new();
    }
    // Other containers may end with the bytes of a table.
    let first = edits.first().filter(|edit| edit.span.start == 0);
    let (insert, kept) = first.map_or((&[][..], 0), |edit| (&edit.insert, edit.span.end));
    let pieces = std::iter::once(insert).chain(source.slices(kept, source.len()));
    if !zstd::begins_frame(&Source::from_pieces(pieces), 0) {
        return Vec::new();
    }
    let mut frames = Vec::new();
    let mut at = 0;
    let kept_frames = |from: u64, to: u64, frames: &mut Vec<(u64, u64)>| {
        let part = Source::from_pieces(source.slices(from, to));
        frames.extend(zstd::frame_lengths(&part, limits));
    };
    for edit in edits.iter().filter(|edit| edit.span.layer == Layer::stored(0)) {
        kept_frames(at, edit.span.start, &mut frames);
        frames.extend(zstd::frame_lengths(&Source::new(&edit.insert), limits));
        at = edit.span.end;
    }
    kept_frames(at, table.start, &mut frames);
    vec![Edit::replace(table, zstd::encode_seek_table(&frames))]
}

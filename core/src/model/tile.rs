//! Ranges of a layer with their kinds; the tiles of a layer adjoin and cover it exactly.

use crate::kit::field_log::FieldLog;
use crate::kit::span::Span;

/// The kind of a tile. The tiles of a layer adjoin and cover it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileKind {
    /// Headers, tables and sections.
    Structure,
    /// A complete record.
    Record,
    /// Unused bytes, where the format allows them.
    Padding,
    /// Bytes that cannot be decoded.
    Damage,
}

/// Reads the fields of a tile into a log, with the decoder of the check; called only for the tiles
/// whose fields are wanted.
pub type Fields<'f> = &'f dyn Fn(&FieldLog);

/// Takes the tiles of a recording, each with its fields.
pub type TileSink<'s> = &'s mut dyn FnMut(Tile, Fields<'_>);

/// Passes the tiles of a recording to a sink, layer by layer, in order.
pub type Walk<'w> = &'w dyn Fn(TileSink<'_>);

/// The fields of a tile that has none.
pub const NO_FIELDS: Fields<'static> = &|_| {};

/// A range of a layer with its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The range.
    pub span: Span,
    /// The kind.
    pub kind: TileKind,
    /// The name that the format gives it.
    pub name: &'static str,
}

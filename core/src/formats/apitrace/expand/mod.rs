//! Containers: from the bytes of a file to the stream, block by block, and back.
//!
//! ```text
//!  snappy   'a' 't' ( u32 length, raw snappy block )*      a chunk: at most 1 MiB expanded
//!  gzip     members of RFC 1952
//!  zstd     frames of RFC 8878, sometimes with a seek table after them
//!  brotli   one stream of RFC 7932, without a magic
//!  bare     the stream itself: its container was unpacked on the way
//! ```
//!
//! A [`Block`] is a piece of the stream with the stored bytes it came from. The *unit* of a
//! container is the part that can be expanded and written anew by itself: a chunk or a frame; gzip
//! and brotli streams are one unit.

mod bare;
mod blank;
mod brotli;
mod encoder;
mod fault;
mod gzip;
mod snappy;
mod start;
mod units;
pub mod zstd;

pub use bare::add_chunks;
pub use brotli::encode_first_header;
pub use encoder::Encoder;
pub use fault::Fault;
pub use snappy::{find_insertion, find_stored, plausible_chunk_len};

use crate::formats::apitrace::layout::{
    CHUNK_PLAUSIBLE, FULL_CHUNK, GZIP_MAGIC, MAGIC_LEN, SNAPPY_MAGIC, ZSTD_MAGIC,
    ZSTD_SEEKABLE_MAGIC,
};
use crate::kit::field_log::FieldLog;
use crate::kit::layer::Segment;
use crate::kit::num::to_u64;
use crate::kit::ranges::Ranges;
use crate::kit::resync::Budget;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::steps;
use crate::model::limits::{EXPANSION_RATIO, Limits, RESYNC};

/// Bytes of a block of containers that have no chunks.
pub const STEP: usize = 256 << 10;

/// Notes the fields of the unit at `unit`; frames of other containers are one field.
pub fn log_fields(source: &Source<'_>, container: Container, unit: Span, log: &FieldLog) {
    if container == Container::Snappy {
        snappy::log_fields(source, unit, log);
    }
}

/// How the stream is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Chunks of raw snappy blocks.
    Snappy,
    /// gzip.
    Gzip,
    /// zstd frames.
    Zstd,
    /// A brotli stream.
    Brotli,
    /// None: apitrace reads no such file.
    Bare,
}

impl Container {
    /// Returns the name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Snappy => "snappy",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Brotli => "brotli",
            Self::Bare => "none",
        }
    }

    /// Returns the word for a unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Snappy => "chunk",
            Self::Gzip => "gzip stream",
            Self::Zstd => "zstd frame",
            Self::Brotli => "brotli stream",
            Self::Bare => "piece",
        }
    }

    /// Whether parts of the file can be expanded and written anew by themselves.
    pub const fn has_units(self) -> bool {
        matches!(self, Self::Snappy | Self::Zstd | Self::Bare)
    }

    /// Recognises the container by its first bytes; `None` may still be brotli, or bare.
    pub fn by_magic(source: &Source<'_>) -> Option<Self> {
        let first = source.read(0, 16);
        if first.starts_with(&SNAPPY_MAGIC) {
            let length = snappy::chunk_len(source, MAGIC_LEN);
            let full = first.get(6..9) == Some(&FULL_CHUNK);
            let plausible = length.is_none_or(|length| length <= CHUNK_PLAUSIBLE) || full;
            // A killed tracer leaves the two letters alone; three to five may be any text.
            let is_long_enough = first.len() == 2 || first.len() >= 6;
            return (plausible && is_long_enough).then_some(Self::Snappy);
        }
        if first.starts_with(&GZIP_MAGIC) {
            return Some(Self::Gzip);
        }
        first.starts_with(&ZSTD_MAGIC).then_some(Self::Zstd)
    }

    /// Whether the file begins with the magic of the container, or it has none.
    pub fn has_magic(self, source: &Source<'_>) -> bool {
        let first = source.read(0, to_u64(ZSTD_MAGIC.len()));
        match self {
            Self::Snappy => first.starts_with(&SNAPPY_MAGIC),
            Self::Gzip => first.starts_with(&GZIP_MAGIC),
            Self::Zstd => first.starts_with(&ZSTD_MAGIC),
            Self::Brotli | Self::Bare => true,
        }
    }

    /// Recognises a container that lost its magic by the form of the bytes after it.
    pub fn by_form(source: &Source<'_>) -> Option<Self> {
        let len = source.len();
        let last = source.read(len.saturating_sub(to_u64(ZSTD_SEEKABLE_MAGIC.len())), len);
        if last.as_ref() == ZSTD_SEEKABLE_MAGIC {
            return Some(Self::Zstd);
        }
        // The length of the first chunk may be damaged, too.
        let has_magic = source.read(0, MAGIC_LEN).as_ref() == SNAPPY_MAGIC && len > MAGIC_LEN;
        if has_magic || snappy::has_chunks(source) {
            return Some(Self::Snappy);
        }
        if gzip::has_data(source) {
            return Some(Self::Gzip);
        }
        zstd::has_frames(source).then_some(Self::Zstd)
    }
}

/// A piece of the stream.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Offset of the first byte in the stream.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The unit, or the part of it that was read for this block.
    pub stored: Option<Span>,
    /// Where the unit begins in the file and in the stream.
    pub unit: (u64, u64),
    /// The fault of the unit, which lies after the bytes.
    pub fault: Option<Fault>,
    /// The parts of the unit, if it has any and the bytes are at their places.
    pub parts: Option<Parts>,
    /// Places in the stream of bytes that stand for lost ones.
    pub made_up: Ranges,
}

/// Parts of a unit that were packed by themselves: damage reaches to the end of one.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Bytes of a part.
    pub len: u64,
    /// Where the part with the last damage that the unit shows ends in the stream.
    pub certain_from: u64,
}

impl Block {
    /// Returns the offset after the last byte in the stream.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(to_u64(self.bytes.len()))
    }

    /// Returns the places of the block's unit in both layers, as far as it was expanded.
    pub fn unit_segment(&self) -> Option<Segment> {
        let stored = self.stored?;
        let (from, start) = self.unit;
        let expanded = Span::new(stored.layer.expanded(), start, self.end());
        Some(Segment { expanded, stored: Span::new(stored.layer, from, stored.end) })
    }

    /// Returns the block's places in both layers.
    pub fn segment(&self) -> Option<Segment> {
        let stored = self.stored?;
        let expanded = Span::new(stored.layer.expanded(), self.start, self.end());
        Some(Segment { expanded, stored })
    }
}

/// Gives the stream block by block.
pub struct Expansion<'a> {
    kind: Kind<'a>,
    /// Bytes of the stream that are still allowed.
    budget: u64,
    has_ended: bool,
    /// The memory of an earlier block.
    reuse: Vec<u8>,
}

enum Kind<'a> {
    Snappy(Box<snappy::Chunks<'a>>),
    Gzip(Box<gzip::Members<'a>>),
    Zstd(Box<zstd::Frames<'a>>),
    Brotli(Box<brotli::Stream<'a>>),
    Bare(bare::Pieces<'a>),
}

impl<'a> Expansion<'a> {
    /// Expands a stream from its beginning.
    pub fn new(source: &Source<'a>, container: Container, limits: &Limits) -> Self {
        let kind = match container {
            Container::Snappy => Kind::Snappy(Box::new(snappy::Chunks::new(source, limits))),
            Container::Gzip => Kind::Gzip(Box::new(gzip::Members::new(source))),
            Container::Zstd => Kind::Zstd(Box::new(zstd::Frames::new(source, limits))),
            Container::Brotli => Kind::Brotli(Box::new(brotli::Stream::new(source))),
            Container::Bare => Kind::Bare(bare::Pieces::new(source)),
        };
        let budget =
            source.len().saturating_mul(limits.of(&EXPANSION_RATIO)).saturating_add(64 << 20);
        Self { kind, budget, has_ended: false, reuse: Vec::new() }
    }

    /// Expands a stream from `segment` on if the container has units; otherwise from its beginning.
    pub fn again(
        source: &Source<'a>,
        container: Container,
        segment: Segment,
        limits: &Limits,
    ) -> Self {
        let mut expansion = Self::new(source, container, limits);
        let (stored, expanded) = (segment.stored.start, segment.expanded.start);
        match &mut expansion.kind {
            Kind::Snappy(chunks) => chunks.turn_to(stored, expanded),
            Kind::Zstd(frames) => frames.turn_to(stored, expanded),
            Kind::Bare(pieces) => pieces.turn_to(stored),
            Kind::Gzip(_) | Kind::Brotli(_) => {}
        }
        expansion
    }

    /// Ends a stream of chunks at the first fault, without a search for what follows it.
    #[must_use]
    pub fn until_fault(mut self) -> Self {
        if let Kind::Snappy(chunks) = &mut self.kind {
            chunks.end_at_fault();
        }
        self
    }

    /// Lends the memory of a block that was read to the next one.
    pub fn recycle(&mut self, bytes: Vec<u8>) {
        self.reuse = bytes;
    }
}

impl Iterator for Expansion<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        if self.has_ended || steps::is_spent() {
            return None;
        }
        let reuse = std::mem::take(&mut self.reuse);
        let mut block = match &mut self.kind {
            Kind::Snappy(chunks) => chunks.next(reuse),
            Kind::Gzip(members) => members.next(reuse),
            Kind::Zstd(frames) => frames.next(reuse),
            Kind::Brotli(stream) => stream.next(reuse),
            Kind::Bare(pieces) => pieces.next(reuse),
        }?;
        let len = to_u64(block.bytes.len());
        match self.budget.checked_sub(len) {
            Some(left) => self.budget = left,
            None => {
                self.has_ended = true;
                block.bytes.clear();
                let message =
                    format!("limit reached: the stream expands to more than {} bytes", block.start);
                block.fault = Some(Fault::Limit { message });
            }
        }
        Some(block)
    }
}

/// Passes the expanded bytes of the units of `segment` to `each`, in pieces, until it returns
/// `false`.
pub fn unit_bytes(
    source: &Source<'_>,
    container: Container,
    segment: Segment,
    limits: &Limits,
    each: &mut dyn FnMut(&[u8], u64) -> bool,
) {
    let mut expansion = Expansion::again(source, container, segment, limits);
    while let Some(block) = expansion.next() {
        let within = block.stored.is_some_and(|stored| stored.start < segment.stored.end);
        if !within || !each(&block.bytes, block.start) {
            return;
        }
        expansion.recycle(block.bytes);
    }
}

/// The work that the searches for the next unit of a file may do.
fn search_budget(limits: &Limits) -> Budget {
    let places = limits.of(&RESYNC);
    // Each place takes at most one step, which looks at one unit.
    Budget::new(places, places)
}

/// Returns a span of the file.
pub(crate) const fn stored(start: u64, end: u64) -> Span {
    Span::new(Layer::stored(0), start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that compress a little.
    pub(super) fn noise(len: u32) -> Vec<u8> {
        (0..len).map(|i| i.wrapping_mul(i).to_le_bytes()[1] & 0x3f).collect()
    }

    /// Expands a file; returns its faults, too.
    pub(super) fn expand_all(file: &[u8], container: Container) -> (Vec<u8>, Vec<Fault>) {
        let source = Source::new(file);
        let (mut bytes, mut faults) = (Vec::new(), Vec::new());
        for block in Expansion::new(&source, container, &Limits::default()) {
            bytes.extend(block.bytes);
            faults.extend(block.fault);
        }
        (bytes, faults)
    }
}

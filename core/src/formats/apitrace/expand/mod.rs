//! Containers: from the bytes of a file to the stream, block by block, and back.
//!
//! ```text
//!  snappy   'a' 't' ( u32 length, raw snappy block )*      a chunk: at most 1 MiB expanded
//!  gzip     members of RFC 1952
//!  zstd     frames of RFC 8878, at times with a table to seek by behind them
//!  brotli   one stream of RFC 7932, without a magic
//! ```
//!
//! A [`Block`] is a piece of the stream with the stored bytes it came from. The *unit* of a
//! container is what can be expanded and written anew by itself: a chunk, or a frame; the others
//! are one unit.

pub mod brotli;
pub mod gzip;
pub mod snappy;
pub mod zstd;

use crate::limits::EXPANSION_RATIO;
use crate::formats::apitrace::layout::{
    CHUNK_PLAUSIBLE, FULL_CHUNK, GZIP_MAGIC, SNAPPY_MAGIC, ZSTD_MAGIC,
};
use crate::kit::layer::Segment;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;

/// Bytes of a block of containers that have no chunks.
pub const STEP: usize = 256 << 10;

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
}

impl Container {
    /// The name that people use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Snappy => "snappy",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Brotli => "brotli",
        }
    }

    /// What a unit is called.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Snappy => "chunk",
            Self::Gzip => "gzip stream",
            Self::Zstd => "zstd frame",
            Self::Brotli => "brotli stream",
        }
    }

    /// By the first bytes; `None` may still be brotli.
    pub fn by_magic(source: &Source<'_>) -> Option<Self> {
        let first = source.read(0, 16);
        if first.starts_with(&SNAPPY_MAGIC) {
            let length = snappy::length(source, 2);
            let full = first.get(6..9) == Some(&FULL_CHUNK);
            let plausible = length.is_none_or(|length| length <= CHUNK_PLAUSIBLE) || full;
            // Two letters alone are what a killed tracer leaves; three to five may be any text.
            let whole = first.len() == 2 || first.len() >= 6;
            return (plausible && whole).then_some(Self::Snappy);
        }
        if first.starts_with(&GZIP_MAGIC) {
            return Some(Self::Gzip);
        }
        first.starts_with(&ZSTD_MAGIC).then_some(Self::Zstd)
    }
}

/// What is wrong with the stored bytes of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file ends inside the unit.
    Torn {
        /// Bytes that the unit claims, if it does.
        claimed: Option<u64>,
    },
    /// It does not decode to its end.
    Corrupt {
        /// Why, in words of the decoder.
        detail: String,
    },
    /// Its length is wrong; where it ends was found by what follows.
    Length {
        /// What the field says.
        said: u64,
        /// What it should say.
        found: u64,
        /// Whether the unit decodes with that length: then nothing is lost.
        whole: bool,
    },
    /// It expands to more than readers have room for, or is stored in more.
    TooLarge,
    /// It holds nothing.
    Empty,
    /// Too few bytes for a further unit.
    Trailing,
    /// Bytes between two units that belong to neither.
    Junk,
    /// A check sum contradicts the bytes.
    CheckSum {
        /// Which one.
        what: &'static str,
        /// What is stored.
        said: u64,
        /// What the bytes give.
        found: u64,
    },
    /// The table to seek by does not describe the frames.
    SeekTable {
        /// Frames that it lists.
        said: u64,
        /// Frames that there are.
        found: u64,
    },
    /// Another trace begins here.
    SecondTrace,
    /// More than the limits allow.
    Limit {
        /// Which, in numbers.
        message: String,
    },
}

impl Fault {
    /// Whether bytes of the stream are missing behind the block that carries the fault.
    pub const fn loses(&self) -> bool {
        match self {
            Self::Torn { .. } | Self::Corrupt { .. } | Self::Junk | Self::Limit { .. } => true,
            Self::Length { whole, .. } => !*whole,
            Self::TooLarge
            | Self::Empty
            | Self::Trailing
            | Self::CheckSum { .. }
            | Self::SeekTable { .. }
            | Self::SecondTrace => false,
        }
    }
}

/// A piece of the stream.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Offset of the first byte in the stream.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The unit, or what was read of it for this block.
    pub stored: Option<Span>,
    /// Where the unit begins in the file and in the stream.
    pub unit: (u64, u64),
    /// What is wrong with the unit, behind the bytes.
    pub fault: Option<Fault>,
}

impl Block {
    /// Offset after the last byte in the stream.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(to_u64(self.bytes.len()))
    }

    /// The places of the block's unit in both layers, as far as it was expanded.
    pub fn whole(&self) -> Option<Segment> {
        let stored = self.stored?;
        let (from, start) = self.unit;
        let expanded = Span::new(stored.layer.expanded(), start, self.end());
        Some(Segment { expanded, stored: Span::new(stored.layer, from, stored.end) })
    }

    /// The block's places in both layers.
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
    ended: bool,
}

enum Kind<'a> {
    Snappy(snappy::Chunks<'a>),
    Gzip(Box<gzip::Members<'a>>),
    Zstd(Box<zstd::Frames<'a>>),
    Brotli(Box<brotli::Stream<'a>>),
}

impl<'a> Expansion<'a> {
    /// The stream from its beginning.
    pub fn new(source: &Source<'a>, container: Container, limits: &Limits) -> Self {
        let kind = match container {
            Container::Snappy => Kind::Snappy(snappy::Chunks::new(source, limits)),
            Container::Gzip => Kind::Gzip(Box::new(gzip::Members::new(source))),
            Container::Zstd => Kind::Zstd(Box::new(zstd::Frames::new(source, limits))),
            Container::Brotli => Kind::Brotli(Box::new(brotli::Stream::new(source))),
        };
        let budget = source.len().saturating_mul(limits.of(&EXPANSION_RATIO)).saturating_add(64 << 20);
        Self { kind, budget, ended: false }
    }

    /// The stream from `segment` on where the container has units; from its beginning otherwise.
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
            Kind::Gzip(_) | Kind::Brotli(_) => {}
        }
        expansion
    }

    /// The next block; `reuse` lends its memory.
    pub fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        if self.ended {
            return None;
        }
        let mut block = match &mut self.kind {
            Kind::Snappy(chunks) => chunks.next(reuse),
            Kind::Gzip(members) => members.next(reuse),
            Kind::Zstd(frames) => frames.next(reuse),
            Kind::Brotli(stream) => stream.next(reuse),
        }?;
        let len = to_u64(block.bytes.len());
        match self.budget.checked_sub(len) {
            Some(left) => self.budget = left,
            None => {
                self.ended = true;
                block.bytes.clear();
                let message = format!("the stream is longer than {} bytes", block.start);
                block.fault = Some(Fault::Limit { message });
            }
        }
        Some(block)
    }
}

/// Every expanded byte of the units in `stored`, in pieces; `false` from `each` ends it.
pub fn unit_bytes(
    source: &Source<'_>,
    container: Container,
    segment: Segment,
    limits: &Limits,
    each: &mut dyn FnMut(&[u8], u64) -> bool,
) {
    let mut expansion = Expansion::again(source, container, segment, limits);
    let mut reuse = Vec::new();
    while let Some(block) = expansion.next(reuse) {
        let within = block.stored.is_some_and(|stored| stored.start < segment.stored.end);
        if !within || !each(&block.bytes, block.start) {
            return;
        }
        reuse = block.bytes;
    }
}

/// Writes stream bytes as units of a container, bounded.
pub struct Encoder {
    kind: Writer,
    max: u64,
    /// Whether more than the bound was to be written.
    pub overflown: bool,
}

enum Writer {
    Snappy(snappy::Writer),
    Gzip(Box<gzip::Writer>),
    Zstd(zstd::Writer),
    Brotli(brotli::Writer),
}

impl Encoder {
    /// An encoder that keeps at most about `max` bytes.
    pub fn new(container: Container, max: u64) -> Self {
        let kind = match container {
            Container::Snappy => Writer::Snappy(snappy::Writer::default()),
            Container::Gzip => Writer::Gzip(Box::default()),
            Container::Zstd => Writer::Zstd(zstd::Writer::default()),
            Container::Brotli => Writer::Brotli(brotli::Writer::default()),
        };
        Self { kind, max, overflown: false }
    }

    /// Adds bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.overflown {
            return;
        }
        let written = match &mut self.kind {
            Writer::Snappy(writer) => writer.push(bytes),
            Writer::Gzip(writer) => writer.push(bytes),
            Writer::Zstd(writer) => writer.push(bytes),
            Writer::Brotli(writer) => writer.push(bytes),
        };
        self.overflown = to_u64(written) > self.max;
    }

    /// What is stored for all the bytes; `None` if that is more than the bound.
    pub fn finish(self) -> Option<Vec<u8>> {
        let stored = match self.kind {
            _ if self.overflown => return None,
            Writer::Snappy(writer) => writer.finish(),
            Writer::Gzip(writer) => writer.finish(),
            Writer::Zstd(writer) => writer.finish(),
            Writer::Brotli(writer) => writer.finish(),
        };
        (to_u64(stored.len()) <= self.max).then_some(stored)
    }
}

/// A search for the next unit that was given up.
fn search_ended(from: u64) -> Fault {
    let message = format!("the search for what follows {from:#x} was given up");
    Fault::Limit { message }
}

/// A span of the file.
pub(crate) const fn stored(start: u64, end: u64) -> Span {
    Span::new(Layer::stored(0), start, end)
}

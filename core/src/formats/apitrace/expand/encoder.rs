//! Writes stream bytes as units of a container.

use super::units::Units;
use super::{Container, brotli, gzip, snappy, zstd};
use crate::kit::num::to_u64;

/// Writes stream bytes as units of a container, up to a bound.
pub struct Encoder {
    kind: Writer,
    max: u64,
    /// Whether the bytes are more than the bound.
    pub is_overfull: bool,
}

enum Writer {
    Units(Units),
    Gzip(Box<gzip::Writer>),
    Brotli(Units),
    Bare(Vec<u8>),
    Nothing,
}

impl Encoder {
    /// An encoder for at most about `max` stored bytes.
    pub fn new(container: Container, max: u64) -> Self {
        let kind = match container {
            Container::Snappy => Writer::Units(snappy::writer()),
            Container::Gzip => Writer::Gzip(Box::default()),
            Container::Zstd => Writer::Units(zstd::writer()),
            Container::Brotli => Writer::Brotli(brotli::writer()),
            Container::Bare => Writer::Bare(Vec::new()),
        };
        Self { kind, max, is_overfull: false }
    }

    /// An encoder that writes nothing.
    pub const fn of_nothing() -> Self {
        Self { kind: Writer::Nothing, max: 0, is_overfull: false }
    }

    /// Adds bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.is_overfull {
            return;
        }
        let written = match &mut self.kind {
            Writer::Units(units) | Writer::Brotli(units) => units.push(bytes),
            Writer::Gzip(writer) => writer.push(bytes),
            Writer::Bare(out) => {
                out.extend_from_slice(bytes);
                out.len()
            }
            Writer::Nothing => 0,
        };
        self.is_overfull = to_u64(written) > self.max;
    }

    /// Returns the units for all the bytes; `None` if they are more than the bound.
    pub fn finish(self) -> Option<Vec<u8>> {
        let stored = match self.kind {
            _ if self.is_overfull => return None,
            Writer::Units(units) => units.finish(),
            Writer::Gzip(writer) => writer.finish(),
            Writer::Brotli(units) => brotli::end(units.finish()),
            Writer::Bare(out) => out,
            Writer::Nothing => Vec::new(),
        };
        (to_u64(stored.len()) <= self.max).then_some(stored)
    }
}

//! Bytes of a source as a stream, and streams that convert the bytes of another.

use std::io::{self, BufRead, Read};

use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;

/// Bytes that a converter gets at a time.
const CHUNK: usize = 8 << 10;

/// The bytes of a source from one place on.
pub(super) struct SourceReader<'s> {
    source: Source<'s>,
    at: u64,
}

impl<'s> SourceReader<'s> {
    pub(super) const fn new(source: Source<'s>, at: u64) -> Self {
        Self { source, at }
    }
}

impl BufRead for SourceReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.source.run(self.at))
    }

    fn consume(&mut self, count: usize) {
        self.at = self.at.saturating_add(to_u64(count));
    }
}

impl Read for SourceReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let run = self.source.run(self.at);
        let count = run.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), run.get(..count)) {
            to.copy_from_slice(from);
        }
        self.consume(count);
        Ok(count)
    }
}

/// A conversion that gets its input in pieces of any length.
pub(super) trait Converter {
    /// Converts a piece of the input, and returns whether it wants more.
    ///
    /// # Errors
    ///
    /// The reason why the input cannot be converted, as an error of the kind `InvalidData`.
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool>;

    /// Converts what is left after the last piece.
    ///
    /// # Errors
    ///
    /// As [`Converter::feed`].
    fn finish(&mut self, _out: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }
}

/// The reason why an input cannot be converted.
pub(super) fn malformed(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// The output of a converter.
pub(super) struct Converted<'s, C> {
    input: SourceReader<'s>,
    converter: C,
    ready: Vec<u8>,
    taken: usize,
    is_over: bool,
    /// Reported after the bytes that were converted before it.
    failed: Option<io::Error>,
}

impl<'s, C: Converter> Converted<'s, C> {
    pub(super) const fn new(input: SourceReader<'s>, converter: C) -> Self {
        Self { input, converter, ready: Vec::new(), taken: 0, is_over: false, failed: None }
    }

    /// Converts the next piece.
    fn advance(&mut self) {
        self.ready.clear();
        self.taken = 0;
        let run = self.input.source.run(self.input.at);
        let piece = run.get(..CHUNK.min(run.len())).unwrap_or_default();
        let result = match piece.is_empty() {
            true => self.converter.finish(&mut self.ready).map(|()| false),
            false => self.converter.feed(piece, &mut self.ready),
        };
        self.input.consume(piece.len());
        match result {
            Ok(goes_on) => self.is_over = !goes_on,
            Err(error) => (self.is_over, self.failed) = (true, Some(error)),
        }
    }
}

impl<C: Converter> Read for Converted<'_, C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken >= self.ready.len() && !self.is_over {
            self.advance();
        }
        let left = self.ready.get(self.taken..).unwrap_or_default();
        if let Some(error) = self.failed.take_if(|_| left.is_empty()) {
            return Err(error);
        }
        let count = left.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), left.get(..count)) {
            to.copy_from_slice(from);
        }
        self.taken = self.taken.saturating_add(count);
        Ok(count)
    }
}

/// Returns the first bytes of a stream, at most `most`; those before an error are enough.
pub(super) fn head_of(mut stream: impl Read, most: u64) -> Vec<u8> {
    let mut head = vec![0; to_usize(most)];
    let mut len = 0;
    while let Some(room) = head.get_mut(len..).filter(|room| !room.is_empty()) {
        match stream.read(room) {
            Ok(count) if count > 0 => len = len.saturating_add(count),
            _ => break,
        }
    }
    head.truncate(len);
    head
}

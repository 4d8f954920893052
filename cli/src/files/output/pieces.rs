//! A text that is written piece by piece, to a file or to standard output.

use super::TextFile;
use crate::files::streams::Streams;
use crate::kit::exit::Failure;

/// Bytes of text that are gathered before they are written.
const GATHERED: usize = 64 << 10;

/// The place that a text goes to.
pub(crate) struct Pieces<'o, 's> {
    pub(crate) streams: &'o mut Streams<'s>,
    file: Option<TextFile>,
    text: String,
    failure: Option<Failure>,
}

impl<'o, 's> Pieces<'o, 's> {
    pub(crate) fn new(streams: &'o mut Streams<'s>, file: Option<TextFile>) -> Self {
        Self { streams, file, text: String::new(), failure: None }
    }

    /// Adds a piece; false if no more is wanted.
    pub(crate) fn add(&mut self, piece: &str) -> bool {
        self.text += piece;
        if self.text.len() >= GATHERED {
            self.write();
        }
        self.failure.is_none()
    }

    /// Adds a piece; fails if it or one before it could not be written.
    pub(crate) fn push(&mut self, piece: &str) -> Result<(), Failure> {
        match self.add(piece) {
            true => Ok(()),
            false => self.failure.take().map_or(Ok(()), Err),
        }
    }

    fn write(&mut self) {
        let text = std::mem::take(&mut self.text);
        if self.failure.is_none() {
            let written = match &mut self.file {
                Some(file) => file.write(&text),
                None => self.streams.print(&text),
            };
            self.failure = written.err();
        }
    }

    /// Writes the rest, and gives the file its name.
    pub(crate) fn close(&mut self) -> Result<(), Failure> {
        self.write();
        match (self.failure.take(), self.file.take()) {
            (Some(failure), _) => Err(failure),
            (None, Some(file)) => file.publish(),
            (None, None) => Ok(()),
        }
    }
}

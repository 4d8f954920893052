//! A trace: its files by their purpose, and access to their content.

use std::borrow::Cow;

use crate::formats::ovni::decode::clock_offsets::{self, OffsetTable};
use crate::formats::ovni::decode::files::{StreamFiles, TraceFiles, join};
use crate::formats::ovni::decode::json::{self, Json, JsonError};
use crate::formats::ovni::decode::stream::Stream;
use crate::formats::ovni::limits::JSON_BYTES;
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::model::limits::Limits;
use crate::model::recording::FileSet;

/// A trace.
#[derive(Debug)]
pub struct Trace<'f, 'a> {
    /// Its files by their purpose.
    pub files: TraceFiles,
    set: &'f FileSet<'a>,
    limits: &'f Limits,
}

/// One JSON file.
#[derive(Debug)]
pub struct Document<'a> {
    /// The file.
    pub layer: Layer,
    /// Its length in bytes.
    pub len: u64,
    /// Its values.
    pub json: Result<Json<'a>, JsonError>,
}

impl<'f, 'a> Trace<'f, 'a> {
    /// Sorts the files of a set by their names.
    pub fn open(set: &'f FileSet<'a>, limits: &'f Limits) -> Self {
        Self { files: TraceFiles::sort_out(set), set, limits }
    }

    /// Whether a file of a stream is a link that was not followed.
    pub fn is_link(&self, files: &StreamFiles, leaf: &str) -> bool {
        let name = join(&files.dir, leaf);
        self.set.unfollowed_links().binary_search(&name).is_ok()
    }

    /// Returns the limits of the check.
    pub const fn limits(&self) -> &'f Limits {
        self.limits
    }

    /// Whether both files of two streams are equal.
    pub fn has_equal_files(&self, a: &StreamFiles, b: &StreamFiles) -> bool {
        let equal = |a: Option<u32>, b: Option<u32>| match (a, b) {
            (Some(a), Some(b)) => is_equal(&self.set.bytes(a), &self.set.bytes(b)),
            _ => false,
        };
        equal(a.present_json(), b.present_json()) && equal(a.present_obs(), b.present_obs())
    }

    /// Parses the JSON file with this index.
    pub fn document(&self, index: u32) -> Document<'a> {
        let len = self.set.bytes(index).len();
        let json = json::parse(self.text(index), self.limits);
        Document { layer: Layer::stored(index), len, json }
    }

    /// Returns the bytes of the JSON file with this index, as far as the limit goes.
    pub fn text(&self, index: u32) -> Cow<'a, [u8]> {
        let source = self.set.bytes(index);
        let max = self.limits.of(&JSON_BYTES);
        source.read(0, source.len().min(max.saturating_add(1)))
    }

    /// Opens the events of a stream. A stream without a file of events is empty.
    pub fn stream(&self, number: usize) -> Stream<'a> {
        let obs = self.files.streams.get(number).and_then(|stream| stream.obs);
        let source = obs.map(|obs| self.set.bytes(obs.index)).unwrap_or_default();
        Stream::open(source, Layer::stored(obs.map_or(0, |obs| obs.index)))
    }

    /// Reads the table of clock offsets, if the trace has one.
    pub fn clock_offsets(&self) -> Option<OffsetTable> {
        let index = self.files.clock_offsets?;
        Some(clock_offsets::read_table(&self.set.bytes(index), index, self.limits))
    }
}

/// Bytes that are compared at a time.
const BLOCK: u64 = 64 << 10;

fn is_equal(a: &Source<'_>, b: &Source<'_>) -> bool {
    let mut starts = (0..).step_by(1 << 16).take_while(|start| *start < a.len());
    a.len() == b.len()
        && starts.all(|start| {
            let end = start.saturating_add(BLOCK);
            a.read(start, end) == b.read(start, end)
        })
}

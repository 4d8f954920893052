//! Calls as text or lines of JSON, and a summary.
//!
//! ```text
//!  trace: sound stretches --feed--> CallReader --Call--> filter --> line, summary
//!                                     |  names: definitions     text: values
//! ```
//!
//! A call is shown where it is left, as apitrace does, and one that was never left at the end.
//! Memory is the text of open calls, up to a limit. The trace is read twice: first to find what is
//! damage, then to show the rest.
//!
//! Source: apitrace's command `dump` and `lib/trace/trace_dump.cpp`; apitrace 11.1.

mod call;
pub(super) mod feed;
mod functions;
mod guids;
mod line;
pub(super) mod names;
mod number;
mod summary;
mod text;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::limits::DUMP_TEXT;
use super::options::{self, Filter};
use crate::formats::apitrace::recover::beginning::find_named;
use crate::formats::apitrace::recover::signatures::{Signatures, find_build};
use crate::formats::apitrace::recover::trace::{ReadOptions, Trace};
use crate::kit::source::Source;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::limits::Limits;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use call::{Call, CallReader, CallSink};
use feed::StreamReader;
use names::{Names, safe_text};
use summary::Summary;
use text::ValueText;

/// Bytes of text that are passed on at once.
const TEXT_BATCH: usize = 32 << 10;

/// The styles, each with its purpose.
pub(super) static STYLES: &[(&str, &str)] = &[
    ("calls", "calls as `apitrace dump` prints them, without queries such as glGetString"),
    ("verbose", "all calls, as `apitrace dump --verbose` prints them"),
    ("summary", "frames, threads, contexts, functions by number of calls, blobs, doubtful calls"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Calls,
    Verbose,
    Summary,
    Json,
}

/// A trace whose damage is known, with the signatures of its build if it needs them.
pub(super) struct Readable<'s, 'a> {
    source: &'s Source<'a>,
    pub(super) trace: Trace,
    donor: Option<Signatures>,
}

impl<'s, 'a> Readable<'s, 'a> {
    pub(super) fn open(source: &'s Source<'a>, limits: &Limits) -> Option<Self> {
        let container = find_named(source, limits)?;
        let mut read = ReadOptions { limits, keep_raw: true, donor: None };
        let mut trace = Trace::read(source, container, read);
        let is_sound = trace.faults.damages.is_empty();
        let found = || find_build(&trace.tracker).map(|(build, _)| build);
        let donor = if is_sound { None } else { found() };
        if let Some(donor) = &donor {
            read.donor = Some(&donor.definitions);
            trace = Trace::read(source, container, read);
        }
        (trace.places.end > 0).then_some(Self { source, trace, donor })
    }

    /// Whether there is an event, or a sound trace that has none but shows its properties.
    fn has_text(&self) -> bool {
        self.trace.tracker.history.count > 0 || self.trace.faults.damages.is_empty()
    }

    /// Passes the tokens of the sound events to `reader`.
    pub(super) fn feed(&self, limits: &Limits, reader: &mut impl StreamReader) {
        let donor = self.donor.as_ref().map(|donor| &donor.definitions);
        feed::feed(self.source, &self.trace, donor, limits, reader);
    }
}

/// Passes the calls, or a summary, to `out`.
pub(super) fn dump(
    files: &FileSet<'_>,
    options: &Options,
    request: &Dump,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let style = match request {
        Dump::JsonLines => Style::Json,
        Dump::Text { style } => match style.as_deref() {
            None | Some("calls") => Style::Calls,
            Some("verbose") => Style::Verbose,
            Some("summary") => Style::Summary,
            Some(other) => return Err(DumpError::Style(other.to_string())),
        },
    };
    let source = files.bytes(0);
    let readable = Readable::open(&source, &options.limits).filter(Readable::has_text);
    let readable = readable.ok_or(DumpError::Unreadable)?;
    let mut writer = CallWriter {
        style,
        filter: options::filter(options),
        properties: BTreeMap::new(),
        frame: 0,
        text: String::new(),
        summary: Summary::default(),
        dumped: Dumped { records: 0, left_out: feed::count_left_out(&readable.trace) },
        out,
    };
    let is_literal = style != Style::Json;
    let text_max = options.limits.count_of(&DUMP_TEXT);
    let mut reader = CallReader::new(text_max, is_literal, &mut writer);
    readable.feed(&options.limits, &mut reader);
    let cut = reader.cut;
    writer.dumped.left_out = writer.dumped.left_out.saturating_add(cut);
    writer.write_properties();
    if style == Style::Summary {
        writer.summary.write(&readable.trace, &mut writer.text);
    }
    (writer.out)(&writer.text);
    Ok(writer.dumped)
}

/// Writes the calls that the filter of the user leaves.
struct CallWriter<'o> {
    style: Style,
    filter: Filter<'o>,
    /// Properties that were not written yet.
    properties: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The number of the present frame.
    frame: u64,
    text: String,
    summary: Summary,
    dumped: Dumped,
    out: &'o mut dyn FnMut(&str) -> bool,
}

impl CallWriter<'_> {
    /// Writes the properties in the order of their names, as apitrace does.
    fn write_properties(&mut self) {
        let properties = std::mem::take(&mut self.properties);
        if self.style == Style::Json || !self.filter.function.is_empty() {
            return;
        }
        for (name, value) in &properties {
            let (name, value) = (safe_text(name), ValueText::of_string(value));
            let _infallible = writeln!(self.text, "// {name} = {value}");
        }
    }
}

impl CallSink for CallWriter<'_> {
    fn property(&mut self, name: &[u8], value: &[u8]) {
        self.properties.insert(name.to_vec(), value.to_vec());
    }

    fn call(&mut self, call: &Call, names: &Names) -> bool {
        self.write_properties();
        let function = names.function(call.function);
        let name = function.map_or("?", |function| &function.name);
        let frame = self.frame;
        let ends_frame = function.is_some_and(|function| function.ends_frame);
        self.frame = frame.saturating_add(u64::from(ends_frame));
        let is_query = || function.is_some_and(|function| function.is_query);
        let is_hidden = self.style == Style::Calls
            && (is_query() || (name == "glGetError" && is_no_error(call)));
        let is_shown = self.filter.calls.contains(&call.number)
            && self.filter.frames.contains(&frame)
            && self.filter.has_thread(call.thread)
            && self.filter.has_function(name);
        if is_hidden || !is_shown {
            return true;
        }
        self.dumped.records =
            self.dumped.records.saturating_add(if call.is_complete { 2 } else { 1 });
        match self.style {
            Style::Calls | Style::Verbose => line::write_text(call, names, &mut self.text),
            Style::Json => line::write_json(call, frame, names, &mut self.text),
            Style::Summary => self.summary.add(call, names),
        }
        if self.text.len() < TEXT_BATCH {
            return true;
        }
        let is_wanted = (self.out)(&self.text);
        self.text.clear();
        is_wanted
    }
}

/// Whether a call of `glGetError` returned no error.
fn is_no_error(call: &Call) -> bool {
    matches!(call.result.as_deref(), Some("GL_NO_ERROR" | "0"))
}

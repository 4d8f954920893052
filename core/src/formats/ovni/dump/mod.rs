//! Events as text or lines of JSON, and a table of threads.
//!
//! - [`line`]: one event. `threads`: a line for each loom, process and thread.
//!
//! Events of all streams are shown in the order in which the emulator plays them. Memory is one
//! event per stream.

mod line;
mod threads;

use std::borrow::Cow;

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::decode::stream::Stream;
use crate::formats::ovni::decode::trace::Trace;
use crate::formats::ovni::layout::{EVENT_HEADER, STREAM_HEADER};
use crate::formats::ovni::options::{self, Filter};
use crate::formats::ovni::recover::play_order::PlayOrder;
use crate::kit::span::Span;
use crate::kit::text::UntrustedPath;
use crate::kit::walk::Item;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::limits::RESYNC;
use crate::model::options::Options;
use crate::model::recording::FileSet;

/// Bytes of text that are passed on at once.
const TEXT_BATCH: usize = 32 << 10;

/// The styles, each with its purpose.
pub(super) static STYLES: &[(&str, &str)] = &[
    ("events", "clock, code, stream and fields, one line per event"),
    ("ovnidump", "clock, code, stream and payload, as `ovnidump -x` prints them"),
    ("threads", "looms, processes and threads with their events, times and states"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Events,
    Ovnidump,
    Json,
}

/// An event with its place in the trace.
struct Placed<'e, 'a> {
    event: &'e Event<'a>,
    walk: &'e EventWalk<'e, 'a>,
    /// Number of the event in its stream, from 0.
    number: u64,
    /// Directory of its stream, safe to print.
    stream: &'e str,
}

/// A stream while it is played.
struct Playing<'s, 'a> {
    walk: EventWalk<'s, 'a>,
    /// Directory of the stream, safe to print.
    name: String,
    next: Option<Event<'a>>,
    /// Number of the next event.
    number: u64,
}

impl Playing<'_, '_> {
    /// Moves to the next event; returns the number of bytes before it that are not an event.
    fn advance(&mut self, resync: u64) -> u64 {
        let mut left_out = 0_u64;
        while let Some(item) = self.walk.next() {
            match item {
                Item::Record(event) => {
                    self.next = Some(event);
                    break;
                }
                Item::Damage(damage) => {
                    let next = self.walk.resync(damage.at, 0, resync);
                    let end = next.unwrap_or(self.walk.stream_len());
                    left_out = left_out.saturating_add(end.saturating_sub(damage.at));
                }
            }
        }
        left_out
    }
}

/// Passes the events, or a table of threads, to `out`.
pub(super) fn dump(
    files: &FileSet<'_>,
    options: &Options,
    request: &Dump,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let style = match request {
        Dump::JsonLines => Style::Json,
        Dump::Text { style } => match style.as_deref() {
            None | Some("events") => Style::Events,
            Some("ovnidump") => Style::Ovnidump,
            Some("threads") => return threads::write(files, options, out),
            Some(other) => return Err(DumpError::Style(other.to_string())),
        },
    };
    let trace = Trace::open(files, &options.limits);
    if trace.files.streams.is_empty() {
        return Err(DumpError::Unreadable);
    }
    let resync = options.limits.of(&RESYNC);
    let filter = options::filter(options);
    let streams = trace.files.streams.iter().enumerate();
    let streams = streams.filter(|(_, files)| filter.has_thread(&files.dir));
    let mut streams: Vec<(&str, Stream<'_>)> =
        streams.map(|(number, files)| (files.dir.as_str(), trace.stream(number))).collect();
    // The tools sort the paths as bytes.
    streams.sort_by(|a, b| a.0.cmp(b.0));
    let (readable, unreadable): (Vec<_>, Vec<_>) =
        streams.iter().partition(|(_, stream)| stream.is_readable(resync));
    let left_out = unreadable.iter().fold(0, |sum: u64, (_, s)| sum.saturating_add(s.len()));
    let streams = readable.into_iter().map(|(dir, stream)| Playing {
        walk: stream.events(STREAM_HEADER),
        name: UntrustedPath(dir.as_bytes()).to_string(),
        next: None,
        number: 0,
    });
    let mut player = Player {
        streams: streams.collect(),
        order: PlayOrder::default(),
        resync,
        dumped: Dumped { records: 0, left_out },
    };
    player.write_events(&filter, style, out);
    Ok(player.dumped)
}

/// The streams of a trace while they are played.
struct Player<'s, 'a> {
    streams: Vec<Playing<'s, 'a>>,
    order: PlayOrder,
    /// Bytes that a search for the next event looks at.
    resync: u64,
    dumped: Dumped,
}

impl Player<'_, '_> {
    /// Queues the next event of a stream.
    fn advance(&mut self, number: usize) {
        let Some(stream) = self.streams.get_mut(number) else { return };
        let left_out = stream.advance(self.resync);
        self.dumped.left_out = self.dumped.left_out.saturating_add(left_out);
        if let Some(event) = &stream.next {
            self.order.add(i128::from(event.clock), number);
        }
    }

    /// Writes the events that the filter of the user leaves.
    fn write_events(
        &mut self,
        filter: &Filter<'_>,
        style: Style,
        out: &mut dyn FnMut(&str) -> bool,
    ) {
        (0..self.streams.len()).for_each(|number| self.advance(number));
        let mut text = String::new();
        while let Some((_, number)) = self.order.take() {
            let Some(stream) = self.streams.get_mut(number) else { continue };
            let event = stream.next.take();
            if let Some(event) = event.filter(|event| filter.has_code(event.code)) {
                let Playing { walk, name, number, .. } = &*stream;
                let placed = Placed { event: &event, walk, number: *number, stream: name };
                line::write(&placed, style, &mut text);
                self.dumped.records = self.dumped.records.saturating_add(1);
            }
            stream.number = stream.number.saturating_add(1);
            if text.len() >= TEXT_BATCH {
                if !out(&text) {
                    return;
                }
                text.clear();
            }
            self.advance(number);
        }
        out(&text);
    }
}

impl Placed<'_, '_> {
    /// Returns the stored bytes after the header of the event: for a jumbo event its size, too.
    fn payload(&self) -> Cow<'_, [u8]> {
        let start = self.event.at.saturating_add(EVENT_HEADER);
        self.walk.bytes(Span::new(self.walk.layer(), start, self.event.end()))
    }
}

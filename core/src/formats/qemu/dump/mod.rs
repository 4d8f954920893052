//! Events as text or lines of JSON, or counted by kind.
//!
//! - `line`: one event.

mod line;

use std::fmt::Write as _;

use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::event::Event;
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{HEADER_LEN, KINDS, LAYOUTS, Layouts, release};
use crate::formats::qemu::options::{self, Filter};
use crate::formats::qemu::recover::log::Log;
use crate::kit::source::Source;
use crate::kit::walk::Item;
use crate::kit::words::plural;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::options::Options;
use crate::model::recording::FileSet;

/// Bytes of text that are passed on at once.
const TEXT_BATCH: usize = 32 << 10;

/// The styles, each with its purpose.
pub(super) static STYLES: &[(&str, &str)] = &[
    ("events", "number, offset, instructions so far, kind and fields, one line per event"),
    ("statistics", "events and bytes of each kind"),
];

/// An event with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    /// Number of the event, from 0.
    number: u64,
    /// Instructions that the guest had executed before the event.
    icount: u64,
    event: Event,
    /// CRC-32 of the bytes of its array.
    array: Option<u32>,
}

/// A log to dump.
struct Events<'a> {
    source: &'a Source<'a>,
    decoder: Decoder<'a>,
}

impl<'a> Events<'a> {
    /// Reads a log as the release that the user named, or as the layout that fits.
    fn read(source: &'a Source<'a>, options: &Options) -> Result<Self, DumpError> {
        let log = Log::read(source, &options.limits).map_err(|_| DumpError::Unreadable)?;
        let named = options::qemu_version(options).and_then(release);
        let layouts = named.map_or_else(|| log.layouts(), |number| Layouts::default().with(number));
        let number = layouts.iter().next().map_or(LAYOUTS.len(), |(number, _)| number);
        Ok(Self { source, decoder: Decoder::new(source, number) })
    }

    /// Returns the events up to END, or to the first bytes that are not an event; zeros are not
    /// events.
    fn placed(&self) -> impl Iterator<Item = Placed> + use<'a> {
        let events = Walker::new(self.decoder, HEADER_LEN, 0).map_while(Item::record);
        let mut before = 0_u64;
        let source = self.source;
        let events = (0..).zip(events).filter(|(_, event)| !event.is_zeros());
        events.map(move |(number, event)| {
            let icount = before;
            before = before.saturating_add(event.instructions());
            let array = event.value.array().map(|len| {
                let mut crc = crc32fast::Hasher::new();
                let start = event.end.saturating_sub(len);
                source.slices(start, event.end).for_each(|bytes| crc.update(bytes));
                crc.finalize()
            });
            Placed { number, icount, event, array }
        })
    }
}

/// Passes the events to `out`.
pub(super) fn dump(
    files: &FileSet<'_>,
    options: &Options,
    request: &Dump,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let source = files.bytes(0);
    let events = Events::read(&source, options)?;
    match request {
        Dump::JsonLines => Ok(write_events(&events, options, line::write_json, out)),
        Dump::Text { style } => match style.as_deref() {
            None | Some("events") => Ok(write_events(&events, options, line::write_text, out)),
            Some("statistics") => Ok(write_statistics(&events, options, out)),
            Some(other) => Err(DumpError::Style(other.to_string())),
        },
    }
}

/// Writes the events that the filter of the user leaves, each by `write`.
fn write_events(
    events: &Events<'_>,
    options: &Options,
    write: fn(&Placed, &mut String),
    out: &mut dyn FnMut(&str) -> bool,
) -> Dumped {
    let filter = options::filter(options);
    let (mut text, mut records) = (String::new(), 0_u64);
    let mut left_out = events.source.len().saturating_sub(HEADER_LEN);
    for placed in events.placed() {
        left_out = left_out.saturating_sub(placed.event.span().len());
        if !is_wanted(&filter, &placed) {
            continue;
        }
        records = records.saturating_add(1);
        write(&placed, &mut text);
        if text.len() >= TEXT_BATCH {
            if !out(&text) {
                return Dumped { records, left_out: 0 };
            }
            text.clear();
        }
    }
    out(&text);
    Dumped { records, left_out }
}

fn is_wanted(filter: &Filter, placed: &Placed) -> bool {
    filter.numbers.contains(&placed.number)
        && placed.icount >= filter.from_icount
        && filter.kinds.is_none_or(|kinds| options::is_kind(placed.event.kind, kinds))
}

/// Writes a table of the kinds of events, the most common first.
fn write_statistics(
    events: &Events<'_>,
    options: &Options,
    out: &mut dyn FnMut(&str) -> bool,
) -> Dumped {
    let filter = options::filter(options);
    let mut counts = vec![[0_u64; 2]; KINDS.len()];
    let (mut records, mut instructions) = (0_u64, 0_u64);
    let mut left_out = events.source.len().saturating_sub(HEADER_LEN);
    for placed in events.placed() {
        let event = &placed.event;
        left_out = left_out.saturating_sub(event.span().len());
        if !is_wanted(&filter, &placed) {
            continue;
        }
        records = records.saturating_add(1);
        instructions = instructions.saturating_add(event.instructions());
        if let Some([count, bytes]) = counts.get_mut(event.kind.number()) {
            *count = count.saturating_add(1);
            *bytes = bytes.saturating_add(event.span().len());
        }
    }
    let mut rows: Vec<_> = KINDS.iter().zip(counts).filter(|(_, [count, _])| *count > 0).collect();
    rows.sort_by_key(|(_, [count, _])| std::cmp::Reverse(*count));
    let mut text = format!("{:>12} {:>14}  kind\n", "events", "bytes");
    for (row, [count, bytes]) in rows {
        let _infallible = writeln!(text, "{count:>12} {bytes:>14}  {}", row.name);
    }
    let _infallible =
        writeln!(text, "{} with {}", plural(records, "event"), plural(instructions, "instruction"));
    out(&text);
    Dumped { records, left_out }
}

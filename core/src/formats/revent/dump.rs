//! Events as text, in the forms of tools that read or show them.
//!
//! `getevent` and `getevent-raw` are the forms of Android's `getevent -lt` and `getevent -t`: one
//! line per event, with the path of its device. `revent` is the form of `revent dump`. `evemu` is
//! the input of evemu-play: events of one device, relative to the first. With the description of a
//! gamepad it is an input of evemu-device as well. Lines of JSON have the fields of the event with
//! the names of the kernel's header.

use std::fmt::Write as _;

use crate::FileSet;
use crate::formats::revent::decode::event::{Event, narrow_if};
use crate::formats::revent::decode::gamepad::Gamepad;
use crate::formats::revent::decode::recording::Recording;
use crate::formats::revent::layout::{MICROS, kind, names};
use crate::formats::revent::options::{self, Filter};
use crate::formats::{Dump, DumpError, Dumped};
use crate::kit::json::JsonLine;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::plural;
use crate::options::Options;

/// Bytes of text that are passed on at once.
const TEXT_BATCH: usize = 32 << 10;
/// The noun of the last line of `revent dump`, for one event as well.
const TOTAL: &str = "events";
/// Devices that a message lists.
const DEVICES_SHOWN: usize = 16;

/// The styles, each with its purpose.
pub(super) static STYLES: &[(&str, &str)] = &[
    ("getevent", "one line per event with device and names, as `getevent -lt` prints it"),
    ("getevent-raw", "the same in hexadecimal, as `getevent -t` prints it"),
    ("revent", "one line per event with numbers, as `revent dump` prints it"),
    ("info", "version, devices with their numbers of events, and times, without the events"),
    ("evemu", "the events of one device, as evemu-play reads them"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Labels,
    Raw,
    Revent,
    Info,
    Evemu,
    Json,
}

/// Formats events, one per line.
struct Writer {
    style: Style,
    filter: Filter,
    /// The only device to show.
    device: Option<i32>,
    /// Paths or names of the devices, safe to print.
    names: Vec<String>,
    /// Time of the first event that was shown, in microseconds.
    first_time: Option<i64>,
    /// Bytes per event.
    stride: u64,
    dumped: Dumped,
}

/// Passes the events to `out` as text.
pub(super) fn dump(
    files: &FileSet<'_>,
    options: &Options,
    request: &Dump,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let style = choose_style(request)?;
    let recording = Recording::read(files.bytes(0), &options.limits);
    let recording = recording.map_err(|_| DumpError::Unreadable)?;
    let Recording { head, extent, .. } = &recording;
    let names: Vec<String> =
        (0..head.device_count()).map(|index| recording.device_name(index)).collect();
    let filter = options::filter(options);
    let device = choose_device(filter.device, &names, style)?;
    // A truncated event at the end is left out; bytes after counted events are not an event.
    let end = extent.all.end().max(head.events);
    let truncated = if extent.tail_lost { recording.file_len().saturating_sub(end) } else { 0 };
    let mut writer = Writer {
        style,
        filter,
        device,
        names,
        first_time: None,
        stride: head.generation.layout().event,
        dumped: Dumped { records: 0, left_out: truncated },
    };
    let mut text = String::new();
    if style == Style::Info {
        return Ok(describe_recording(&recording, writer, out));
    }
    if style == Style::Evemu {
        writer.write_description(head.gamepad(), &mut text);
    }
    for (index, event) in recording.stored_events(extent.count) {
        if !writer.filter.numbers.contains(&index) {
            continue;
        }
        let start = extent.all.offset(index);
        writer.write_event(&narrow_if(event, extent.widened), start, &mut text);
        if text.len() >= TEXT_BATCH {
            if !out(&text) {
                return Ok(writer.dumped);
            }
            text.clear();
        }
    }
    if style == Style::Revent {
        let _infallible = writeln!(text, "\nTotal: {} {TOTAL}", writer.dumped.records);
    }
    out(&text);
    Ok(writer.dumped)
}

/// Passes what precedes the events to `out`, and the number of events of each device.
fn describe_recording(
    recording: &Recording<'_>,
    mut writer: Writer,
    out: &mut dyn FnMut(&str) -> bool,
) -> Dumped {
    let Recording { head, extent, .. } = recording;
    let mut counts: Vec<u64> = writer.names.iter().map(|_| 0).collect();
    let (mut first, mut last) = (None, None);
    for (_, event) in recording.stored_events(extent.count) {
        let event = narrow_if(event, extent.widened);
        let count = usize::try_from(event.device).ok().and_then(|index| counts.get_mut(index));
        let Some(count) = count.filter(|_| event.has_time()) else {
            writer.dumped.left_out = writer.dumped.left_out.saturating_add(writer.stride);
            continue;
        };
        *count = count.saturating_add(1);
        writer.dumped.records = writer.dumped.records.saturating_add(1);
        first = first.or(Some(event));
        last = Some(event);
    }
    let layout = head.generation.layout();
    let source = if head.gamepad().is_some() { "gamepad" } else { "all devices" };
    let mut text = format!("version: {}\nmode: {source}\n", layout.name);
    for (index, (name, count)) in writer.names.iter().zip(counts).enumerate() {
        let _infallible = writeln!(text, "device {index}: {name}, {}", plural(count, "event"));
    }
    let _infallible = writeln!(text, "events: {}", writer.dumped.records);
    let [start, end] = head.times.map_or([None; 2], |times| times.map(Some));
    let times = [("start", start), ("end", end)];
    for (name, time) in times.into_iter().filter_map(|(name, time)| Some((name, time?))) {
        let _infallible = writeln!(text, "{name}: {}", time.narrowed());
    }
    for (name, event) in [("first event", first), ("last event", last)] {
        if let Some(event) = event {
            let _infallible = writeln!(text, "{name}: {}.{:06} s", event.sec, event.usec);
        }
    }
    out(&text);
    writer.dumped
}

fn choose_style(request: &Dump) -> Result<Style, DumpError> {
    let Dump::Text { style } = request else { return Ok(Style::Json) };
    match style.as_deref() {
        None | Some("getevent") => Ok(Style::Labels),
        Some("getevent-raw") => Ok(Style::Raw),
        Some("revent") => Ok(Style::Revent),
        Some("info") => Ok(Style::Info),
        Some("evemu") => Ok(Style::Evemu),
        Some(other) => Err(DumpError::Style(other.to_string())),
    }
}

/// Returns the only device to show, or `None` to show all of them.
fn choose_device(
    wanted: Option<u64>,
    names: &[String],
    style: Style,
) -> Result<Option<i32>, DumpError> {
    let count = to_u64(names.len());
    match wanted {
        Some(device) if device >= count => {
            let message = format!("device {device} does not exist: {}", list_devices(names));
            Err(DumpError::Choice(message))
        }
        Some(device) => Ok(i32::try_from(device).ok()),
        None if style == Style::Evemu && count > 1 => {
            let message = format!("evemu shows one device, choose it: {}", list_devices(names));
            Err(DumpError::Choice(message))
        }
        None => Ok(None),
    }
}

/// Returns `0 /dev/input/event0, 1 /dev/input/event1`.
fn list_devices(names: &[String]) -> String {
    let named = names.iter().enumerate().take(DEVICES_SHOWN);
    named.map(|(index, name)| format!("{index} {name}")).collect::<Vec<_>>().join(", ")
}

/// Writes a gamepad in the form of evemu: id, properties, bitmaps, axes.
fn write_gamepad(gamepad: &Gamepad, text: &mut String) {
    let [bus, vendor, product, version] = gamepad.id;
    let _infallible = writeln!(text, "I: {bus:04x} {vendor:04x} {product:04x} {version:04x}");
    *text += "P: 00 00 00 00 00 00 00 00\n";
    let short = |bits: &[u8]| -> Vec<u8> { bits.iter().copied().take(8).collect() };
    let mut types = gamepad.types.to_vec();
    types.resize(8, 0);
    // In the order that the check found, whichever the writer used.
    let (abs, key) = gamepad.axis_and_key_bits();
    let bitmaps = [types, key.to_vec(), short(&gamepad.rel), short(abs)];
    for (kind, bits) in bitmaps.iter().enumerate() {
        for row in bits.chunks(8) {
            let _infallible = write!(text, "B: {kind:02x}");
            for byte in row {
                let _infallible = write!(text, " {byte:02x}");
            }
            text.push('\n');
        }
    }
    for axis in &gamepad.axes {
        let _infallible = writeln!(
            text,
            "A: {:02x} {} {} {} {} {}",
            axis.code, axis.min, axis.max, axis.fuzz, axis.flat, axis.resolution
        );
    }
}

impl Writer {
    /// Writes the lines before the events in the form of evemu.
    fn write_description(&self, gamepad: Option<&Gamepad>, text: &mut String) {
        let name = self.names.get(usize::try_from(self.device.unwrap_or(0)).unwrap_or(usize::MAX));
        let _infallible = writeln!(text, "# EVEMU 1.3\nN: {}", name.map_or("", String::as_str));
        match gamepad {
            Some(gamepad) => write_gamepad(gamepad, text),
            None => {
                *text += "# The recording does not describe the device: evemu-play can read this, \
                          evemu-device cannot.\n";
            }
        }
    }

    /// Writes the event at offset `start`, if its device is wanted and it is valid.
    fn write_event(&mut self, event: &Event, start: u64, text: &mut String) {
        if self.device.is_some_and(|device| device != event.device) {
            return;
        }
        let index = usize::try_from(event.device).unwrap_or(usize::MAX);
        let Some(name) = self.names.get(index).filter(|_| event.has_time()) else {
            self.dumped.left_out = self.dumped.left_out.saturating_add(self.stride);
            return;
        };
        let time = u64::try_from(event.micros()).unwrap_or(0).saturating_mul(1000);
        if !self.filter.times.contains(&time) {
            return;
        }
        self.dumped.records = self.dumped.records.saturating_add(1);
        let Event { sec, usec, kind, code, value, .. } = *event;
        let _infallible = match self.style {
            Style::Labels => {
                let kind_name =
                    names::type_name(kind).map_or_else(|| format!("{kind:04x}"), str::to_string);
                let code_name = names::code_name(kind, code)
                    .map_or_else(|| format!("{code:04x}"), str::to_string);
                let value =
                    value_label(event).map_or_else(|| format!("{value:08x}"), str::to_string);
                writeln!(text, "[{sec:8}.{usec:06}] {name}: {kind_name:12} {code_name:20} {value}")
            }
            Style::Raw => {
                writeln!(text, "[{sec:8}.{usec:06}] {name}: {kind:04x} {code:04x} {value:08x}")
            }
            Style::Info => Ok(()),
            // revent.c: the microseconds are not padded with zeros.
            Style::Revent => writeln!(
                text,
                "{sec:10}.{usec:<6} {name:>30} type {kind:2} code {code:3} value {value:4}"
            ),
            Style::Evemu => {
                let first = *self.first_time.get_or_insert(event.micros());
                // evemu's own recordings begin at one microsecond; times that go back stay there.
                let time = event.micros().saturating_sub(first).max(0).saturating_add(1);
                let sec = time.checked_div(MICROS).unwrap_or_default();
                let usec = time.checked_rem(MICROS).unwrap_or_default();
                let comment = event.describe();
                writeln!(text, "E: {sec}.{usec:06} {kind:04x} {code:04x} {value:04}\t# {comment}")
            }
            Style::Json => {
                let span = Span::sized(Layer::stored(0), start, self.stride);
                write_json(event, name, JsonLine::begin(text, span, "event"));
                Ok(())
            }
        };
    }
}

/// Writes the fields of an event, and the names of those that have one.
fn write_json(event: &Event, device: &str, mut line: JsonLine<'_>) {
    line.number("device", event.device);
    line.safe_text("device_name", device);
    line.number("sec", event.sec);
    line.number("usec", event.usec);
    line.number("type", event.kind);
    if let Some(name) = names::type_name(event.kind) {
        line.safe_text("type_name", name);
    }
    line.number("code", event.code);
    if let Some(name) = names::code_name(event.kind, event.code) {
        line.safe_text("code_name", name);
    }
    line.number("value", event.value);
    line.end();
}

/// Returns getevent's word for the value of a key.
fn value_label(event: &Event) -> Option<&'static str> {
    if event.kind != kind::KEY {
        return None;
    }
    match event.value {
        0 => Some("UP"),
        1 => Some("DOWN"),
        2 => Some("REPEAT"),
        _ => None,
    }
}

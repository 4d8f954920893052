//! Events as text, in the forms of tools that read or show them.
//!
//! ```text
//!  getevent  Android's `getevent -lt` and `getevent -t`: one line per event, with its device
//!  revent    `revent dump` of Workload Automation 3: the head, then the events
//!  evemu     input of evemu-play: one device, times relative to the first event; with the
//!            description of a gamepad also input of evemu-device
//!  libinput  input of libinput-replay, which creates the device: a gamepad with its description
//! ```
//!
//! Lines of JSON have the fields of the event with the names of the kernel's header.

mod evemu;
mod libinput;
mod official;

use std::fmt::Write as _;

use crate::formats::revent::decode::event::{Event, narrow_if};
use crate::formats::revent::layout::{MICROS, kind, names};
use crate::formats::revent::options::{self, Filter};
use crate::formats::revent::recover::recording::Recording;
use crate::kit::json::JsonLine;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::plural;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::options::Options;
use crate::model::recording::FileSet;

/// Bytes of text that are passed on at once.
const TEXT_BATCH: usize = 32 << 10;
/// The reason why libinput-replay cannot replay a recording of all devices.
const UNDESCRIBED: &str = "libinput-replay creates the device, but the recording does not contain \
                           the keys and axes of its devices; only recordings of a gamepad do";
/// Devices that a message lists.
const DEVICES_SHOWN: usize = 16;

/// The styles, each with its purpose.
pub(super) static STYLES: &[(&str, &str)] = &[
    ("getevent", "one line per event with device and names, as `getevent -lt` prints it"),
    ("getevent-raw", "the same in hexadecimal, as `getevent -t` prints it"),
    ("revent", "the head, then one line per event with numbers, as `revent dump` prints it"),
    ("info", "version, devices with their numbers of events, and times, without the events"),
    ("evemu", "the events of one device, as evemu-play reads them"),
    ("libinput", "a gamepad and its events, as libinput-replay reads them"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Labels,
    Raw,
    Revent,
    Info,
    Evemu,
    Libinput,
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
    /// The next event is the first one of a frame.
    opens_frame: bool,
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
        opens_frame: true,
        stride: head.generation.layout().event,
        dumped: Dumped { records: 0, left_out: truncated },
    };
    let mut text = String::new();
    if style == Style::Info {
        return Ok(describe_recording(&recording, writer, out));
    }
    writer.write_head(&recording, &mut text)?;
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
        Some("libinput") => Ok(Style::Libinput),
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

impl Writer {
    /// Writes everything before the events.
    fn write_head(&self, recording: &Recording<'_>, text: &mut String) -> Result<(), DumpError> {
        let gamepad = recording.head.gamepad();
        let device = usize::try_from(self.device.unwrap_or(0)).unwrap_or(usize::MAX);
        let name = self.names.get(device).map_or("", String::as_str);
        match self.style {
            Style::Evemu => evemu::write_description(name, gamepad, text),
            Style::Libinput => {
                let undescribed = || DumpError::Choice(UNDESCRIBED.to_string());
                libinput::write_description(name, gamepad.ok_or_else(undescribed)?, text);
            }
            Style::Revent => official::write_head(recording, &self.names, text),
            Style::Labels | Style::Raw | Style::Info | Style::Json => {}
        }
        Ok(())
    }

    /// Returns the microseconds since the first event that was shown; 0 for an earlier one.
    fn time_since_first(&mut self, event: &Event) -> i64 {
        let first = *self.first_time.get_or_insert(event.micros());
        event.micros().saturating_sub(first).max(0)
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
            Style::Revent => official::write_event(event, text),
            Style::Evemu => {
                // evemu's own recordings begin at one microsecond; times that go back stay there.
                let time = self.time_since_first(event).saturating_add(1);
                evemu::write_event(event, time, text)
            }
            Style::Libinput => {
                let time = self.time_since_first(event);
                let opens = std::mem::replace(&mut self.opens_frame, event.is_report());
                libinput::write_event(event, time, opens, text)
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

/// Returns seconds and microseconds.
fn split_time(time: i64) -> (i64, i64) {
    let sec = time.checked_div(MICROS).unwrap_or_default();
    (sec, time.checked_rem(MICROS).unwrap_or_default())
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

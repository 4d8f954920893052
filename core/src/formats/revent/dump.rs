//! Events as text, in the forms of tools that read or show them.
//!
//! `getevent` and `getevent-raw` are the forms of Android's `getevent -lt` and `getevent -t`: one
//! line per event, with the path of its device. `evemu` is the input of evemu-play: events of one
//! device, relative to the first. With the description of a gamepad it is an input of evemu-device
//! as well.

use std::fmt::Write as _;

use crate::FileSet;
use crate::formats::revent::decode::event::{Event, narrow_if};
use crate::formats::revent::decode::gamepad::Gamepad;
use crate::formats::revent::decode::recording::Recording;
use crate::formats::revent::layout::{MICROS, kind, names};
use crate::formats::{Dump, DumpError, Dumped};
use crate::kit::num::to_u64;
use crate::limits::Limits;

/// Bytes of text that are passed on at once.
const TEXT_BATCH: usize = 32 << 10;
/// Devices that a message lists.
const DEVICES_SHOWN: usize = 16;

/// The styles, each with its purpose.
pub(super) static STYLES: &[(&str, &str)] = &[
    ("getevent", "one line per event with device and names, as `getevent -lt` prints it"),
    ("getevent-raw", "the same in hexadecimal, as `getevent -t` prints it"),
    ("evemu", "the events of one device, as evemu-play reads them"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Labels,
    Raw,
    Evemu,
}

/// Formats events, one per line.
struct Writer {
    style: Style,
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
    limits: &Limits,
    request: &Dump,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let style = match request.style.as_deref() {
        None | Some("getevent") => Style::Labels,
        Some("getevent-raw") => Style::Raw,
        Some("evemu") => Style::Evemu,
        Some(other) => return Err(DumpError::Style(other.to_string())),
    };
    let recording = Recording::read(files.bytes(0), limits).map_err(|_| DumpError::Unreadable)?;
    let Recording { head, extent, .. } = &recording;
    let names: Vec<String> =
        (0..head.device_count()).map(|index| recording.device_name(index)).collect();
    let device = choose_device(request, &names, style)?;
    // A truncated event at the end is left out; bytes after counted events are not an event.
    let end = extent.all.end().max(head.events);
    let truncated = if extent.tail_lost { recording.file_len().saturating_sub(end) } else { 0 };
    let mut writer = Writer {
        style,
        device,
        names,
        first_time: None,
        stride: head.generation.layout().event,
        dumped: Dumped { records: 0, left_out: truncated },
    };
    let mut text = String::new();
    if style == Style::Evemu {
        writer.write_description(head.gamepad(), &mut text);
    }
    for (_, event) in recording.stored_events(extent.count) {
        writer.write_event(&narrow_if(event, extent.widened), &mut text);
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

/// Returns the only device to show, or `None` to show all of them.
fn choose_device(request: &Dump, names: &[String], style: Style) -> Result<Option<i32>, DumpError> {
    let count = to_u64(names.len());
    match request.device {
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
    let bitmaps = [types, gamepad.key.to_vec(), short(&gamepad.rel), short(&gamepad.abs)];
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

    /// Writes one event, if its device is wanted and it is valid.
    fn write_event(&mut self, event: &Event, text: &mut String) {
        if self.device.is_some_and(|device| device != event.device) {
            return;
        }
        let index = usize::try_from(event.device).unwrap_or(usize::MAX);
        let Some(name) = self.names.get(index).filter(|_| event.has_time()) else {
            self.dumped.left_out = self.dumped.left_out.saturating_add(self.stride);
            return;
        };
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
            Style::Evemu => {
                let first = *self.first_time.get_or_insert(event.micros());
                // evemu's own recordings begin at one microsecond; times that go back stay there.
                let time = event.micros().saturating_sub(first).max(0).saturating_add(1);
                let sec = time.checked_div(MICROS).unwrap_or_default();
                let usec = time.checked_rem(MICROS).unwrap_or_default();
                let comment = event.describe();
                writeln!(text, "E: {sec}.{usec:06} {kind:04x} {code:04x} {value:04}\t# {comment}")
            }
        };
    }
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

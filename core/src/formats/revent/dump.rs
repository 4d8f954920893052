//! Events as text, in the form of tools that do something with it.
//!
//! `getevent` and `getevent-raw` are what Android's getevent prints with `-lt` and `-t`: one line an
//! event, with the path of its device. `evemu` is what evemu-play reads: events of one device, from
//! the first one's time on; a gamepad's description makes it a file for evemu-device as well.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use crate::FileSet;
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::extent::{extent, meant};
use crate::formats::revent::decode::head::{Devices, Gamepad, Head, head};
use crate::formats::revent::layout::{kind, names};
use crate::formats::{Dump, DumpError, Dumped};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::text::Untrusted;

/// The styles and what they are good for.
pub(super) static STYLES: &[(&str, &str)] = &[
    ("getevent", "a line an event with device and names, as `getevent -lt` prints"),
    ("getevent-raw", "the same in hexadecimal, as `getevent -t` prints"),
    ("evemu", "the events of one device, as evemu-play reads them"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Labels,
    Raw,
    Evemu,
}

/// What a line needs to know.
struct Writer<'w> {
    style: Style,
    device: Option<i32>,
    devices: i32,
    /// Paths, safe to print.
    paths: Vec<String>,
    /// Time of the first event that is shown, in microseconds.
    first: Option<i64>,
    dumped: Dumped,
    stride: u64,
    out: &'w mut dyn FnMut(&str) -> bool,
}

/// Gives the events.
pub(super) fn dump(
    files: &FileSet<'_>,
    request: &Dump,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let style = match request.style.as_deref() {
        None | Some("getevent") => Style::Labels,
        Some("getevent-raw") => Style::Raw,
        Some("evemu") => Style::Evemu,
        Some(other) => return Err(DumpError::Style(other.to_string())),
    };
    let source = files.bytes(0);
    let head = head(&source).map_err(|_| DumpError::Unreadable)?;
    let paths = paths(&source, &head);
    let device = device(request, &head, &paths, style)?;
    let extent = extent(&source, &head);
    let kept = extent.all.part(0, extent.kept);
    // An event that is cut at the end; what follows counted events is none.
    let torn = extent.all.end().max(head.events);
    let left_out = if extent.tail_lost { source.len().saturating_sub(torn) } else { 0 };
    let mut writer = Writer {
        style,
        device,
        devices: head.device_count(),
        paths,
        first: None,
        dumped: Dumped { records: 0, left_out },
        stride: head.generation.layout().event,
        out,
    };
    if style == Style::Evemu {
        let preamble = preamble(&source, &head, &writer);
        if !(writer.out)(&preamble) {
            return Ok(writer.dumped);
        }
    }
    kept.batches(&source, &mut |_, events| {
        let mut text = String::new();
        for event in events {
            writer.line(&meant(*event, extent.wide), &mut text);
        }
        if (writer.out)(&text) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    Ok(writer.dumped)
}

/// Paths or names of all devices, safe to print.
fn paths(source: &Source<'_>, head: &Head) -> Vec<String> {
    let shown = |index: i32| {
        let span = head.device(index)?;
        let bytes = source.read(span.start, span.end.min(span.start.saturating_add(4096)));
        Some(Untrusted(&bytes).to_string())
    };
    (0..head.device_count()).filter_map(shown).collect()
}

/// The one device that is wanted.
fn device(
    request: &Dump,
    head: &Head,
    paths: &[String],
    style: Style,
) -> Result<Option<i32>, DumpError> {
    let count = to_u64(paths.len());
    match request.device {
        Some(device) if device >= count => {
            Err(DumpError::Choice(format!("there is no device {device}: {}", list(paths))))
        }
        Some(device) => Ok(i32::try_from(device).ok()),
        None if style == Style::Evemu && head.device_count() > 1 => {
            let message = format!("evemu's form is of one device, name it: {}", list(paths));
            Err(DumpError::Choice(message))
        }
        None => Ok(None),
    }
}

/// `0 /dev/input/event0, 1 /dev/input/event1`.
fn list(paths: &[String]) -> String {
    let named = paths.iter().enumerate().take(16).map(|(index, path)| format!("{index} {path}"));
    named.collect::<Vec<_>>().join(", ")
}

/// What stands before the events in evemu's form.
fn preamble(source: &Source<'_>, head: &Head, writer: &Writer<'_>) -> String {
    let name = writer.device.unwrap_or(0);
    let name = usize::try_from(name).ok().and_then(|index| writer.paths.get(index));
    let name = name.map_or("", String::as_str);
    let mut text = format!("# EVEMU 1.3\nN: {name}\n");
    if let Devices::Gamepad(gamepad) = &head.devices {
        debug_assert!(gamepad.name.end <= source.len());
        describe(gamepad, &mut text);
    } else {
        text += "# The recording does not describe the device: evemu-play can read this, \
                 evemu-device cannot.\n";
    }
    text
}

/// A gamepad as evemu describes a device: id, properties, bitmaps, axes.
fn describe(gamepad: &Gamepad, text: &mut String) {
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

impl Writer<'_> {
    /// One event, if it is of the device that is wanted and can be shown.
    fn line(&mut self, event: &Event, text: &mut String) {
        if self.device.is_some_and(|device| device != event.device) {
            return;
        }
        if !event.is_sane(self.devices) {
            self.dumped.left_out = self.dumped.left_out.saturating_add(self.stride);
            return;
        }
        self.dumped.records = self.dumped.records.saturating_add(1);
        let Event { kind, code, value, .. } = *event;
        let path = usize::try_from(event.device).ok().and_then(|index| self.paths.get(index));
        let path = path.map_or("", String::as_str);
        let _infallible = match self.style {
            Style::Labels => {
                let kind_name =
                    names::kind(kind).map_or_else(|| format!("{kind:04x}"), str::to_string);
                let code_name =
                    names::code(kind, code).map_or_else(|| format!("{code:04x}"), str::to_string);
                let (sec, usec) = (event.sec, event.usec);
                let value = label(event).map_or_else(|| format!("{value:08x}"), str::to_string);
                writeln!(text, "[{sec:8}.{usec:06}] {path}: {kind_name:12} {code_name:20} {value}")
            }
            Style::Raw => {
                let (sec, usec) = (event.sec, event.usec);
                writeln!(text, "[{sec:8}.{usec:06}] {path}: {kind:04x} {code:04x} {value:08x}")
            }
            Style::Evemu => {
                let first = *self.first.get_or_insert(event.micros());
                // evemu's own recordings begin at one microsecond; a clock that went back does not
                // go below.
                let time = event.micros().saturating_sub(first).max(0).saturating_add(1);
                let second = crate::formats::revent::layout::MICROS;
                let sec = time.checked_div(second).unwrap_or_default();
                let usec = time.checked_rem(second).unwrap_or_default();
                writeln!(
                    text,
                    "E: {sec}.{usec:06} {kind:04x} {code:04x} {value:04}\t# {}",
                    event.named()
                )
            }
        };
    }
}

/// What getevent calls the value of a key.
fn label(event: &Event) -> Option<&'static str> {
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

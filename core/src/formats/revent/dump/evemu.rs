//! The text that evemu-play and evemu-device read.

use std::fmt::{self, Write as _};

use super::split_time;
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::gamepad::Gamepad;

/// Writes the lines before the events.
pub(super) fn write_description(name: &str, gamepad: Option<&Gamepad>, text: &mut String) {
    let _infallible = writeln!(text, "# EVEMU 1.3\nN: {name}");
    match gamepad {
        Some(gamepad) => write_gamepad(gamepad, text),
        None => {
            *text += "# The recording does not describe the device: evemu-play can read this, \
                      evemu-device cannot.\n";
        }
    }
}

/// Writes a gamepad: id, properties, bitmaps, axes.
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

/// Writes an event at a time in microseconds.
pub(super) fn write_event(event: &Event, time: i64, text: &mut String) -> fmt::Result {
    let (sec, usec) = split_time(time);
    let Event { kind, code, value, .. } = *event;
    let comment = event.describe();
    writeln!(text, "E: {sec}.{usec:06} {kind:04x} {code:04x} {value:04}\t# {comment}")
}

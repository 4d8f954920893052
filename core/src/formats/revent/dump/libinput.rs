//! The YAML that libinput-replay reads (version 1 of `libinput record`).
//!
//! The replayer creates the device from its name, ids, codes and the range of every axis. Only
//! recordings of a gamepad contain these; the properties of udev are not recorded, and their list
//! is empty.

use std::fmt::{self, Write as _};

use super::split_time;
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::gamepad::{Gamepad, set_bits};
use crate::formats::revent::layout::kind;

/// Writes everything before the events.
pub(super) fn write_description(name: &str, gamepad: &Gamepad, text: &mut String) {
    let [bus, vendor, product, version] = gamepad.id;
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    let _infallible = write!(
        text,
        "version: 1\nndevices: 1\ndevices:\n- node: gamepad\n  evdev:\n    name: \"{name}\"\n    \
         id: [{bus}, {vendor}, {product}, {version}]\n    codes:\n"
    );
    let (abs, key) = gamepad.axis_and_key_bits();
    let described = set_bits(abs).filter(|code| gamepad.axis(*code).is_some());
    let codes = [
        (kind::SYN, vec![0]),
        (kind::KEY, set_bits(key).collect()),
        (kind::REL, set_bits(&gamepad.rel).collect()),
        (kind::ABS, described.collect()),
    ];
    for (kind, codes) in codes.iter().filter(|(_, codes)| !codes.is_empty()) {
        let codes: Vec<String> = codes.iter().map(u16::to_string).collect();
        let _infallible = writeln!(text, "      {kind}: [{}]", codes.join(", "));
    }
    text.push_str("    absinfo:");
    if gamepad.axes.is_empty() {
        text.push_str(" {}");
    }
    for axis in &gamepad.axes {
        let _infallible = write!(
            text,
            "\n      {}: [{}, {}, {}, {}, {}]",
            axis.code, axis.min, axis.max, axis.fuzz, axis.flat, axis.resolution
        );
    }
    text.push_str("\n    properties: []\n  udev:\n    properties: []\n  events:\n");
}

/// Writes an event at a time in microseconds. Each frame is an element of the list of events.
pub(super) fn write_event(
    event: &Event,
    time: i64,
    opens_frame: bool,
    text: &mut String,
) -> fmt::Result {
    if opens_frame {
        text.push_str("  - evdev:\n");
    }
    let (sec, usec) = split_time(time);
    let Event { kind, code, value, .. } = *event;
    writeln!(text, "    - [{sec}, {usec}, {kind}, {code}, {value}]")
}

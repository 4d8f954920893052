//! The text that `revent dump` of Workload Automation 3 prints.
//!
//! The tool prints times before the devices in every version, but only version 3 has them: those of
//! other versions are memory that it never set, and are left out here.

use std::fmt::{self, Write as _};

use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::gamepad::{Gamepad, set_bits};
use crate::formats::revent::layout::{Generation, KEY_MAX};
use crate::formats::revent::recover::recording::Recording;

/// Writes everything before the events.
pub(super) fn write_head(recording: &Recording<'_>, names: &[String], text: &mut String) {
    let Recording { head, extent, .. } = recording;
    let version = match head.generation {
        Generation::V1 => "1",
        Generation::V2 => "2",
        Generation::V3 => "3",
        older => older.layout().name,
    };
    let kind = i32::from(head.gamepad().is_some());
    let _infallible = write!(
        text,
        "recording version: {version}\nrecording type: {kind}\nnumber of recorded events: {}\n",
        extent.count
    );
    if let Some([start, end]) = head.times {
        let [start, end] = [start.narrowed(), end.narrowed()];
        let _infallible = write!(
            text,
            "start time: {}.{:06} \nend time:   {}.{:06} \n",
            start.sec, start.usec, end.sec, end.usec
        );
    }
    match head.gamepad() {
        Some(gamepad) => write_gamepad(gamepad, names, text),
        None => {
            text.push_str("\ndevices:\n");
            for (index, name) in names.iter().enumerate() {
                let _infallible = writeln!(text, "{index:2}: {name}");
            }
        }
    }
    text.push_str("\nevents:\n");
}

fn write_gamepad(gamepad: &Gamepad, names: &[String], text: &mut String) {
    let name = names.first().map_or("", String::as_str);
    let [bus, vendor, product, version] = gamepad.id;
    let (abs, key) = gamepad.axis_and_key_bits();
    let count = |bits: &[u8]| set_bits(bits).count();
    let _infallible = write!(
        text,
        "\ndevice name: {name}\n\
         bustype: {bus:#x} vendor: {vendor:#x} product: {product:#x} version: {version:#x}\n\
         abs_bits: {}\nrel_bits: {}\nkey_bits: {}\nnum_absinfo: {}\nKEY: ",
        count(abs),
        count(&gamepad.rel),
        count(key),
        gamepad.axes.len()
    );
    // The tool leaves out the last key.
    for code in set_bits(key).filter(|code| *code < KEY_MAX) {
        let _infallible = write!(text, "{code:04x} ");
    }
    text.push_str("\nABS:\n");
    for axis in &gamepad.axes {
        let _infallible = writeln!(
            text,
            "{:04x}  : min {}, max {}, fuzz {}, flat {}, res {}",
            axis.code, axis.min, axis.max, axis.fuzz, axis.flat, axis.resolution
        );
    }
}

/// Writes an event.
pub(super) fn write_event(event: &Event, text: &mut String) -> fmt::Result {
    let Event { device, sec, usec, kind, code, value, .. } = *event;
    writeln!(text, "{sec}.{usec:06} dev: {device} type: {kind} code: {code} value {value}")
}

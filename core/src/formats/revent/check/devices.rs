//! The devices: paths, or the description of a gamepad.

use std::collections::BTreeSet;

use crate::formats::revent::check::fault_log::Fault;
use crate::formats::revent::check::scan::Scan;
use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::gamepad::{Gamepad, set_bits};
use crate::formats::revent::decode::head::{DevicePath, Devices};
use crate::formats::revent::layout::{
    ABS_MAX, ABSINFO, DEVICE_PREFIX, DEVICES_WRITTEN, NAME_MAX, kind, names,
};
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::repair::head::{
    swap_bitmaps_fix, write_bits_fix, write_codes_fix, write_fix,
};
use crate::formats::revent::rules;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::words;
use crate::model::edit::Safety;
use crate::model::{Finding, Report};

/// Codes of axes that a note lists.
const CODES_SHOWN: usize = 8;

/// Judges the devices.
pub(super) fn check(recording: &Recording<'_>, scan: &Scan<'_>, report: &mut Report) {
    match &recording.head.devices {
        Devices::Paths(_) if recording.head.is_recovered => {}
        Devices::Paths(paths) => check_paths(recording, paths, report),
        Devices::Gamepad(gamepad) => {
            check_lengths(recording, scan, gamepad, report);
            check_name(gamepad, report);
            check_axes(gamepad, report);
        }
    }
}

fn check_paths(recording: &Recording<'_>, paths: &[DevicePath], report: &mut Report) {
    let count = to_u64(paths.len());
    if count > DEVICES_WRITTEN {
        let start = recording.head.generation.layout().header;
        let message =
            format!("devices.num is {count}, but the recorder opens at most {DEVICES_WRITTEN}");
        let span = Span::sized(FILE, start, 4);
        report.push(Finding::new(&rules::TOO_MANY_DEVICES, span, "devices.num", message));
    }
    let mut known = BTreeSet::new();
    for (index, path) in paths.iter().enumerate() {
        let field = || format!("devices.paths[{index}]");
        let name = Untrusted(&path.bytes);
        if !path.is_event_device() {
            report.push(unexpected_path(index, path));
        }
        if !known.insert(&path.bytes) {
            let message = format!("duplicate path `{name}` of device {index}");
            report.push(Finding::new(&rules::DUPLICATE_PATH, path.span, field(), message));
        }
    }
}

/// Returns the finding for a path that the recorder does not write.
fn unexpected_path(index: usize, path: &DevicePath) -> Finding {
    let (name, field) = (Untrusted(&path.bytes), format!("devices.paths[{index}]"));
    if let Some(prefix) = path.damaged_prefix() {
        let message = format!("path of device {index} is `{name}`, expected /dev/input/eventN");
        let summary = format!("write /dev/input/event into the path of device {index}");
        let len = Span::sized(FILE, path.span.start().saturating_sub(4), 4);
        let len = (len, "the length, which is that of a path of an event device");
        let fix = write_fix(prefix.start(), DEVICE_PREFIX, summary, len);
        return Finding::new(&rules::DEVICE_PATH, path.span, field, message).fix(fix);
    }
    if path.leads_outside() {
        let message = format!("path of device {index} is `{name}`, outside /dev/input");
        return Finding::new(&rules::DEVICE_PATH_OUTSIDE, path.span, field, message);
    }
    let message = format!("path of device {index} is `{name}`, expected /dev/input/eventN");
    Finding::new(&rules::DEVICE_PATH, path.span, field, message)
}

/// Compares the stored lengths with those that fit the rest of the file, where they are damaged.
fn check_lengths(
    recording: &Recording<'_>,
    scan: &Scan<'_>,
    gamepad: &Gamepad,
    report: &mut Report,
) {
    let forced = recording.head.forced;
    let fields = [
        (forced.name_len.is_some(), gamepad.name_span, &rules::GAMEPAD_NAME, "name_len"),
        (forced.has_axes_of_bits, gamepad.axes_span, &rules::ABSINFO_COUNT, "num_absinfo"),
    ];
    let events = recording.extent.all.span(0, recording.extent.count);
    for (is_forced, after, rule, name) in fields {
        let span = Span::sized(FILE, after.start().saturating_sub(4), 4);
        let value = match name {
            "name_len" => after.len(),
            _ => to_u64(gamepad.axes.len()),
        };
        let new = u32::try_from(value).unwrap_or_default().to_le_bytes();
        if !is_forced || *recording.bytes(span) == new {
            continue;
        }
        let message = format!("{name} is damaged: bitmaps, axes and events fit {value} alone");
        let witness = (events, "the events, which can be read with this value alone");
        let mut fix = write_fix(span.start(), &new, format!("set {name} to {value}"), witness);
        // The length of the name may be right, and the name too long; and bytes that are lost in a
        // bitmap move what follows to num_absinfo, so that more than this field is damaged.
        if name == "name_len" || has_doubtful_bitmaps(gamepad, scan) {
            fix.safety = Safety::Lossy;
        }
        report.push(Finding::new(rule, span, format!("gamepad_info.{name}"), message).fix(fix));
    }
}

/// Returns whether a bitmap contradicts the events, or names a key that no kernel has.
fn has_doubtful_bitmaps(gamepad: &Gamepad, scan: &Scan<'_>) -> bool {
    let (_, keys) = gamepad.axis_and_key_bits();
    let has_unknown_key = set_bits(keys).any(|key| names::code_name(kind::KEY, key).is_none());
    has_unknown_key || scan.log.occurrences(Fault::GamepadCode).is_some()
}

fn check_name(gamepad: &Gamepad, report: &mut Report) {
    if gamepad.has_valid_name() {
        return;
    }
    let name = gamepad.name_span;
    let message = format!("name_len is {}, expected 1 to {NAME_MAX}", name.len());
    let span = Span::new(FILE, name.start.saturating_sub(4), name.end);
    report.push(Finding::new(&rules::GAMEPAD_NAME, span, "gamepad_info.name", message));
}

fn check_axes(gamepad: &Gamepad, report: &mut Report) {
    let mut fix = write_codes_fix(gamepad);
    let is_out_of_range = |code: i32| u16::try_from(code).map_or(true, |code| code > ABS_MAX);
    let mut are_codes_valid = true;
    for (index, axis) in (0_u64..).zip(&gamepad.axes).filter(|(_, axis)| is_out_of_range(axis.code))
    {
        are_codes_valid = false;
        let at = gamepad.axes_span.start.saturating_add(index.saturating_mul(ABSINFO));
        let message = format!("ev_code is {}, expected 0 to {ABS_MAX}", axis.code);
        let field = format!("gamepad_info.absinfo[{index}].ev_code");
        let finding = Finding::new(&rules::ABSINFO_CODE, Span::sized(FILE, at, 4), field, message);
        report.push(finding.fix_if(fix.take()));
    }
    // With an invalid code the bits cannot match either: that is the same fault.
    if are_codes_valid && !gamepad.has_matching_bits() {
        report.push(mismatching_bits(gamepad));
    }
}

fn mismatching_bits(gamepad: &Gamepad) -> Finding {
    let bits = set_bits(&gamepad.abs).count();
    let axes = gamepad.axes.len();
    let message = if bits == axes {
        format!(
            "abs_bits has {} set, but not those of the described axes",
            words::plural(to_u64(bits), "bit")
        )
    } else {
        format!(
            "abs_bits has {} set, but num_absinfo is {axes}",
            words::plural(to_u64(bits), "bit")
        )
    };
    let finding =
        Finding::new(&rules::ABSINFO_BITS, gamepad.bits_span, "gamepad_info.abs_bits", message)
            .related(gamepad.axes_span, "axis descriptions");
    if !gamepad.has_swapped_bits() {
        return finding.fix_if(write_bits_fix(gamepad).or_else(|| write_codes_fix(gamepad)));
    }
    let codes: Vec<String> = set_bits(&gamepad.key).map(|code| code.to_string()).collect();
    let codes = words::list(&codes, CODES_SHOWN, to_u64(codes.len()));
    finding
        .note(format!("key_bits has the bits of the described axes: {codes}"))
        .fix(swap_bitmaps_fix(gamepad))
}

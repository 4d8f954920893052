//! The devices: paths, or the description of a gamepad.

use std::collections::BTreeSet;

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::gamepad::{Gamepad, set_bits};
use crate::formats::revent::decode::head::{DevicePath, Devices};
use crate::formats::revent::decode::recording::Recording;
use crate::formats::revent::layout::{ABS_MAX, ABSINFO, DEVICES_WRITTEN, NAME_MAX};
use crate::formats::revent::repair::head::swap_bitmaps_fix;
use crate::formats::revent::rules;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::words;
use crate::report::{Finding, Report};

/// Codes of axes that a note lists.
const CODES_SHOWN: usize = 8;

/// Judges the devices.
pub(super) fn check(recording: &Recording<'_>, report: &mut Report) {
    match &recording.head.devices {
        Devices::Paths(paths) => check_paths(recording, paths, report),
        Devices::Gamepad(gamepad) => {
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
            let message = format!("path of device {index} is `{name}`, expected /dev/input/eventN");
            report.push(Finding::new(&rules::DEVICE_PATH, path.span, field(), message));
        }
        if !known.insert(&path.bytes) {
            let message = format!("duplicate path `{name}` of device {index}");
            report.push(Finding::new(&rules::DUPLICATE_PATH, path.span, field(), message));
        }
    }
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
    let is_out_of_range = |code: i32| u16::try_from(code).map_or(true, |code| code > ABS_MAX);
    let mut are_codes_valid = true;
    for (index, axis) in (0_u64..).zip(&gamepad.axes).filter(|(_, axis)| is_out_of_range(axis.code))
    {
        are_codes_valid = false;
        let at = gamepad.axes_span.start.saturating_add(index.saturating_mul(ABSINFO));
        let message = format!("ev_code is {}, expected 0 to {ABS_MAX}", axis.code);
        let field = format!("gamepad_info.absinfo[{index}].ev_code");
        report.push(Finding::new(&rules::ABSINFO_CODE, Span::sized(FILE, at, 4), field, message));
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
        return finding;
    }
    let codes: Vec<String> = set_bits(&gamepad.key).map(|code| code.to_string()).collect();
    let codes = words::list(&codes, CODES_SHOWN, to_u64(codes.len()));
    finding
        .note(format!("key_bits has the bits of the described axes: {codes}"))
        .fix(swap_bitmaps_fix(gamepad))
}

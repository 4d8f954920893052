//! The header, and files whose head cannot be read.

use crate::formats::revent::check::file_start;
use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::head::{Devices, Head, Header};
use crate::formats::revent::decode::head_error::HeadError;
use crate::formats::revent::layout::{
    ABSINFO_MAX, DEVICES_MAX, Generation, HEADER, MAGIC, NAME_MAX, PATH_MAX,
};
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::repair::head::{rebuild_head_fix, write_fix};
use crate::formats::revent::rules;
use crate::kit::cursor::ReadError;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::hex;
use crate::kit::words;
use crate::model::{Finding, Report};

/// Reports the field that prevents reading a file of `file_len` bytes.
pub(super) fn report_unreadable(file_len: u64, error: HeadError, report: &mut Report) {
    report.push(describe_error(file_start(file_len, HEADER), error));
    report.mark_unreadable();
}

/// Returns the finding for a head that cannot be read; `header` is the header, as far as it exists.
fn describe_error(header: Span, error: HeadError) -> Finding {
    match error {
        HeadError::UnknownFormat { first } => {
            let message = format!(
                "missing magic: the file begins with `{}`, and no device list follows",
                hex(&first)
            );
            Finding::new(&rules::NO_MAGIC, header, "magic", message)
        }
        HeadError::Truncated(error) => truncated_head(&error),
        HeadError::HeaderOnly => {
            let message = "the file ends after the header: no device and no event reached the disk";
            Finding::new(&rules::HEADER_ONLY, header, "file", message)
        }
        HeadError::Version(version) => {
            let message = format!("version is {version}, expected 1, 2 or 3");
            Finding::new(&rules::VERSION_UNKNOWN, Span::new(FILE, 6, 8), "version", message)
        }
        HeadError::Mode(mode) => {
            let message = format!("mode is {mode}, expected 0 (all devices) or 1 (gamepad)");
            Finding::new(&rules::MODE_UNKNOWN, Span::new(FILE, 8, 10), "mode", message)
        }
        HeadError::DeviceCount { span, count } => {
            let message = format!("devices.num is {count}, expected 1 to {DEVICES_MAX}");
            Finding::new(&rules::DEVICE_COUNT, span, "devices.num", message)
        }
        HeadError::Path { span, index, len } => {
            let message = format!(
                "path of device {index} has {}, expected 1 to {PATH_MAX}",
                words::byte_count(len)
            );
            Finding::new(&rules::PATH_LENGTH, span, format!("devices.paths[{index}]"), message)
        }
        HeadError::Name { span, len } => {
            let message = format!("name_len is {len}, expected 1 to {NAME_MAX}");
            Finding::new(&rules::GAMEPAD_NAME, span, "gamepad_info.name_len", message)
        }
        HeadError::Axes { span, count } => {
            let message = format!("num_absinfo is {count}, expected at most {ABSINFO_MAX}");
            Finding::new(&rules::ABSINFO_COUNT, span, "gamepad_info.num_absinfo", message)
        }
    }
}

fn truncated_head(error: &ReadError) -> Finding {
    let ReadError { label, left, needed } = error;
    let message = format!("truncated {label}: {} of {}", left.len(), words::byte_count(*needed));
    Finding::new(&rules::HEADER_TRUNCATED, *left, *label, message)
}

/// Judges magic, version, mode and padding.
pub(super) fn check(recording: &Recording<'_>, report: &mut Report) {
    let head = &recording.head;
    if head.is_recovered {
        report.push(describe_recovered(recording));
        return;
    }
    let Some(header) = head.header else { return };
    let events = recording.extent.all.span(0, recording.extent.count);
    let devices = Span::new(FILE, head.generation.layout().header, head.prefix);
    check_magic(&header, events, report);
    check_version(head, &header, events, report);
    check_mode(head, &header, devices, report);
    if header.pad != [0; 6] {
        let message = format!("padding is `{}`, expected zeros", hex(&header.pad));
        let layout = (Span::new(FILE, 6, 8), "the version, which has zeros there");
        let fix = write_fix(10, &[0; 6], "set the padding to zeros".to_string(), layout);
        let span = Span::new(FILE, 10, 16);
        report.push(Finding::new(&rules::HEADER_PAD, span, "padding", message).fix(fix));
    }
}

/// Returns the finding for a head that was recovered from what follows it.
fn describe_recovered(recording: &Recording<'_>) -> Finding {
    let head = &recording.head;
    let span = Span::new(FILE, 0, head.prefix);
    let Devices::Paths(paths) = &head.devices else {
        return Finding::new(&rules::HEAD_DAMAGED, span, "devices", "unreadable devices");
    };
    let count = to_u64(paths.len());
    let found = to_u64(paths.iter().filter(|path| !path.span.is_empty()).count());
    let message = format!(
        "header or device list is damaged: the events name {}, {found} of the paths can be read",
        words::plural(count, "device")
    );
    let fix = rebuild_head_fix(head, paths);
    Finding::new(&rules::HEAD_DAMAGED, span, "devices", message).fix(fix)
}

fn check_magic(header: &Header, events: Span, report: &mut Report) {
    if header.magic == *MAGIC {
        return;
    }
    let message = format!(
        "magic is `{}`, but version, devices and events fit a recording",
        hex(&header.magic)
    );
    let events = (events, "the events, in the layout of the version");
    let fix = write_fix(0, MAGIC, "write the magic REVENT".to_string(), events);
    let span = Span::new(FILE, 0, 6);
    report.push(Finding::new(&rules::NO_MAGIC, span, "magic", message).fix(fix));
}

fn check_version(head: &Head, header: &Header, events: Span, report: &mut Report) {
    let layout = head.generation.layout();
    let span = Span::new(FILE, 6, 8);
    let write = |version: u16| {
        let events = (events, "the events, which have the layout of this version alone");
        write_fix(6, &version.to_le_bytes(), format!("set version to {version}"), events)
    };
    if header.version == 0 && head.generation == Generation::V1 {
        let message = "version is 0, which readers take for 1";
        let finding = Finding::new(&rules::VERSION_ZERO, span, "version", message);
        report.push(finding.fix(write(1)));
        return;
    }
    let Some(known) = layout.version.filter(|known| *known != header.version) else { return };
    let message =
        format!("version is {}, but the file has the layout {}", header.version, layout.name);
    let finding = Finding::new(&rules::VERSION_UNKNOWN, span, "version", message);
    report.push(finding.fix(write(known)));
}

fn check_mode(head: &Head, header: &Header, devices: Span, report: &mut Report) {
    let Some(stored) = header.mode.filter(|mode| *mode > 1) else { return };
    let (mode, content) = match head.devices {
        Devices::Paths(_) => (0_u16, "a device list"),
        Devices::Gamepad(_) => (1, "the description of a gamepad"),
    };
    let message = format!("mode is {stored}, but {content} follows (mode {mode})");
    let devices = (devices, content);
    let fix = write_fix(8, &mode.to_le_bytes(), format!("set mode to {mode}"), devices);
    let span = Span::new(FILE, 8, 10);
    report.push(Finding::new(&rules::MODE_UNKNOWN, span, "mode", message).fix(fix));
}

//! The header, and files whose head cannot be read.

use crate::formats::revent::check::file_start;
use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::head::{Devices, Head, HeadError, Header};
use crate::formats::revent::decode::recording::Recording;
use crate::formats::revent::layout::{ABSINFO_MAX, DEVICES_MAX, HEADER, MAGIC, NAME_MAX, PATH_MAX};
use crate::formats::revent::repair::head::write_fix;
use crate::formats::revent::rules;
use crate::kit::cursor::ReadError;
use crate::kit::span::Span;
use crate::kit::text::hex;
use crate::kit::words;
use crate::report::{Finding, Report};

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
    let Some(header) = head.header else { return };
    check_magic(&header, report);
    check_version(head, &header, report);
    check_mode(head, &header, report);
    if header.pad != [0; 6] {
        let message = format!("padding is `{}`, expected zeros", hex(&header.pad));
        let fix = write_fix(10, &[0; 6], "set the padding to zeros".to_string());
        let span = Span::new(FILE, 10, 16);
        report.push(Finding::new(&rules::HEADER_PAD, span, "padding", message).fix(fix));
    }
}

fn check_magic(header: &Header, report: &mut Report) {
    if header.magic == *MAGIC {
        return;
    }
    let message = format!(
        "magic is `{}`, but version, devices and events fit a recording",
        hex(&header.magic)
    );
    let fix = write_fix(0, MAGIC, "write the magic REVENT".to_string());
    let span = Span::new(FILE, 0, 6);
    report.push(Finding::new(&rules::NO_MAGIC, span, "magic", message).fix(fix));
}

fn check_version(head: &Head, header: &Header, report: &mut Report) {
    let layout = head.generation.layout();
    let Some(known) = layout.version.filter(|known| *known != header.version) else { return };
    let message =
        format!("version is {}, but the file has the layout {}", header.version, layout.name);
    let fix = write_fix(6, &known.to_le_bytes(), format!("set version to {known}"));
    let span = Span::new(FILE, 6, 8);
    report.push(Finding::new(&rules::VERSION_UNKNOWN, span, "version", message).fix(fix));
}

fn check_mode(head: &Head, header: &Header, report: &mut Report) {
    let Some(stored) = header.mode.filter(|mode| *mode > 1) else { return };
    let (mode, content) = match head.devices {
        Devices::Paths(_) => (0_u16, "a device list"),
        Devices::Gamepad(_) => (1, "the description of a gamepad"),
    };
    let message = format!("mode is {stored}, but {content} follows (mode {mode})");
    let fix = write_fix(8, &mode.to_le_bytes(), format!("set mode to {mode}"));
    let span = Span::new(FILE, 8, 10);
    report.push(Finding::new(&rules::MODE_UNKNOWN, span, "mode", message).fix(fix));
}

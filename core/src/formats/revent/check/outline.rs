//! What stands before the events: header, devices, times.

use std::collections::BTreeSet;

use crate::formats::revent::check::Recording;
use crate::formats::revent::decode::head::{self, Devices, FILE, Gamepad, HeadError, set_bits};
use crate::formats::revent::layout::{
    ABS_MAX, ABSINFO, ABSINFO_MAX, CODE_BITS, DEVICES_MAX, DEVICES_WRITTEN, HEADER, NAME_MAX,
    PATH_MAX,
};
use crate::formats::revent::rules;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::{Finding, Report};

/// Says why nothing of a file can be read.
pub(super) fn unreadable(source: &Source<'_>, error: HeadError, report: &mut Report) {
    let header = Span::new(FILE, 0, source.len().min(HEADER));
    report.push(match error {
        HeadError::Unknown => {
            let message = format!(
                "the first bytes are {}: no magic, and no list of devices",
                crate::kit::text::hex(&source.read(0, 8))
            );
            Finding::new(&rules::NO_MAGIC, header, "magic", message)
        }
        HeadError::Torn(error) => {
            Finding::new(&rules::HEADER_TORN, error.left, error.label, error.to_string())
        }
        HeadError::HeaderOnly => {
            let message = "16 bytes: the recorder was killed before its first buffer of 4096 bytes \
                           was full; there is nothing to save";
            Finding::new(&rules::HEADER_ONLY, header, "file", message)
        }
        HeadError::Version(version) => {
            let span = Span::new(FILE, 6, 8);
            let message = format!("version {version}; recorders write 1, 2 and 3");
            Finding::new(&rules::VERSION_UNKNOWN, span, "version", message)
        }
        HeadError::Mode(mode) => {
            let message = format!("mode {mode}; 0 is all devices, 1 a gamepad");
            Finding::new(&rules::MODE_UNKNOWN, Span::new(FILE, 8, 10), "mode", message)
        }
        HeadError::DeviceCount { span, count } => {
            let message = format!("{count} devices; a system has 1 to {DEVICES_MAX}");
            Finding::new(&rules::DEVICE_COUNT, span, "devices.num", message)
        }
        HeadError::Path { span, index, len } => {
            let message =
                format!("the path of device {index} has {len} bytes, not 1 to {PATH_MAX}");
            Finding::new(&rules::PATH_LENGTH, span, format!("devices.paths[{index}]"), message)
        }
        HeadError::Name { span, len } => {
            let message = format!("the name has {len} bytes, not 1 to {NAME_MAX}");
            Finding::new(&rules::GAMEPAD_NAME, span, "gamepad_info.name_len", message)
        }
        HeadError::Axes { span, count } => {
            let message = format!("{count} descriptions of axes, there are {ABSINFO_MAX} axes");
            Finding::new(&rules::ABSINFO_COUNT, span, "gamepad_info.num_absinfo", message)
        }
    });
    report.mark_unreadable();
}

/// Judges what was read.
pub(super) fn check(recording: &Recording<'_, '_>, report: &mut Report) {
    header(recording, report);
    match &recording.head.devices {
        Devices::Paths(paths) => devices(recording, paths, report),
        Devices::Gamepad(gamepad) => self::gamepad(recording, gamepad, report),
    }
}

/// A fix that writes `bytes` at `offset`.
fn write(offset: u64, bytes: &[u8], summary: String) -> Fix {
    let span = Span::sized(FILE, offset, to_u64(bytes.len()));
    Fix::new(Safety::Exact, summary, vec![Edit::replace(span, bytes)])
}

fn header(recording: &Recording<'_, '_>, report: &mut Report) {
    let head = recording.head;
    let layout = head.generation.layout();
    if !head.magic && layout.version.is_some() {
        let first = recording.source.read(0, 6);
        let message = format!(
            "the first bytes are {}; version, devices and events are those of a recording",
            crate::kit::text::hex(&first)
        );
        let fix = write(0, crate::formats::revent::layout::MAGIC, "writes the magic".to_string());
        report
            .push(Finding::new(&rules::NO_MAGIC, Span::new(FILE, 0, 6), "magic", message).fix(fix));
    }
    if let (Some(stored), Some(known)) = (head.version, layout.version)
        && stored != known
    {
        let message = format!("version {stored}; the file is laid out as {}", layout.name);
        let fix = write(6, &known.to_le_bytes(), format!("writes version {known}"));
        let span = Span::new(FILE, 6, 8);
        report.push(Finding::new(&rules::VERSION_UNKNOWN, span, "version", message).fix(fix));
    }
    if let Some(stored) = head.mode.filter(|mode| *mode > 1) {
        let (mode, what) = match head.devices {
            Devices::Paths(_) => (0_u16, "a list of devices"),
            Devices::Gamepad(_) => (1, "the description of a gamepad"),
        };
        let message = format!("mode {stored}; {what} follows");
        let fix = write(8, &mode.to_le_bytes(), format!("writes mode {mode}"));
        let span = Span::new(FILE, 8, 10);
        report.push(Finding::new(&rules::MODE_UNKNOWN, span, "mode", message).fix(fix));
    }
    if head.pad != [0; 6] {
        let message = format!("the padding is {}", crate::kit::text::hex(&head.pad));
        let fix = write(10, &[0; 6], "writes six zeros".to_string());
        let span = Span::new(FILE, 10, 16);
        report.push(Finding::new(&rules::HEADER_PAD, span, "padding", message).fix(fix));
    }
}

fn devices(recording: &Recording<'_, '_>, paths: &[Span], report: &mut Report) {
    let source = recording.source;
    let count = to_u64(paths.len());
    if count > DEVICES_WRITTEN {
        let start = recording.head.generation.layout().header;
        let message = format!("{count} devices; the recorder opens {DEVICES_WRITTEN}");
        let span = Span::sized(FILE, start, 4);
        report.push(Finding::new(&rules::TOO_MANY_DEVICES, span, "devices.num", message));
    }
    let mut known = BTreeSet::new();
    for (index, path) in paths.iter().enumerate() {
        let field = || format!("devices.paths[{index}]");
        let bytes = source.read(path.start, path.end);
        if !head::is_event_device(source, *path) {
            let message = format!("device {index} is `{}`", Untrusted(&bytes));
            report.push(Finding::new(&rules::DEVICE_PATH, *path, field(), message));
        }
        if !known.insert(crc32fast::hash(&bytes)) {
            let message = format!("device {index} is `{}`, as one before it", Untrusted(&bytes));
            report.push(Finding::new(&rules::DUPLICATE_PATH, *path, field(), message));
        }
    }
}

fn gamepad(recording: &Recording<'_, '_>, gamepad: &Gamepad, report: &mut Report) {
    if !recording.head.name_fits() {
        let message = format!("the name has {} bytes, not 1 to {NAME_MAX}", gamepad.name.len());
        let span = Span::new(FILE, gamepad.name.start.saturating_sub(4), gamepad.name.end);
        report.push(Finding::new(&rules::GAMEPAD_NAME, span, "gamepad_info.name", message));
    }
    let outside = |code: &i32| u16::try_from(*code).map_or(true, |code| code > ABS_MAX);
    for (index, axis) in (0_u64..).zip(&gamepad.axes) {
        if outside(&axis.code) {
            let at = gamepad.axes_span.start.saturating_add(index.saturating_mul(ABSINFO));
            let message = format!("axis {} of 0 to {ABS_MAX:#x}", axis.code);
            let field = format!("gamepad_info.absinfo[{index}].ev_code");
            let span = Span::sized(FILE, at, 4);
            report.push(Finding::new(&rules::ABSINFO_CODE, span, field, message));
        }
    }
    let codes = gamepad.codes();
    if codes.iter().any(outside) {
        // The bits cannot agree then: that is the same fault.
        return;
    }
    if gamepad.bits_agree() {
        return;
    }
    let message = format!(
        "{} bits of absolute axes are set, {} axes are described",
        set_bits(&gamepad.abs).count(),
        codes.len()
    );
    let mut finding =
        Finding::new(&rules::ABSINFO_BITS, gamepad.bits, "gamepad_info.abs_bits", message)
            .related(gamepad.axes_span, "the described axes");
    if gamepad.bits_are_swapped() {
        let third = gamepad.bits.start.saturating_add(CODE_BITS.saturating_mul(2));
        let edits = vec![
            Edit::replace(Span::sized(FILE, gamepad.bits.start, CODE_BITS), gamepad.key),
            Edit::replace(Span::sized(FILE, third, CODE_BITS), gamepad.abs),
        ];
        let summary = "swaps the first and the third bitmap, which are in the order key, rel, abs";
        finding = finding.fix(Fix::new(Safety::Exact, summary, edits));
    }
    report.push(finding);
}

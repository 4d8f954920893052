//! Head, extent and events to findings. Reads no bytes.
//!
//! [`header`] and [`devices`] judge the head, [`scan`] follows the events of every device with a
//! [`device`] each, [`faults`] reports the faults that the scan counted, [`times`] and [`ending`]
//! judge how the recording ends, [`old_layout`] offers the upgrade, [`file_name`] judges the name.
//! [`target`] compares with the device of a replay.
//! [`seven_bits`] comes first: nothing else of such a recording can be judged.

mod device;
mod devices;
mod ending;
mod fault_log;
mod faults;
mod file_name;
mod header;
mod old_layout;
mod scan;
mod seven_bits;
mod target;
mod times;

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::head::Devices;
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::layout::{EPOCH_FROM, Generation, MICROS};
use crate::formats::revent::options;
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::rules;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::{Finding, Report};

use scan::Scan;

/// Device paths that a fact lists.
const PATHS_SHOWN: usize = 4;

/// A recording and the options of the user.
struct Context<'r, 'a> {
    recording: &'r Recording<'a>,
    options: &'r Options,
}

/// Checks a recording.
pub(super) fn check(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    if let Some(file) = files.files().first() {
        file_name::check(&file.name, report);
    }
    target::check_name(files, options, report);
    let recording = match Recording::read(files.bytes(0), &options.limits) {
        Ok(recording) => recording,
        Err(error) => {
            header::report_unreadable(files.bytes(0).len(), error, report);
            return;
        }
    };
    if let Some(finding) = seven_bits::check(&recording) {
        // All other faults are its effects.
        report.tally.records = recording.extent.count;
        report.push(finding);
        return;
    }
    let context = Context { recording: &recording, options };
    header::check(&recording, report);
    let scan = Scan::run(&context);
    devices::check(&recording, &scan, report);
    report_facts(&recording, &scan, report);
    check_clock(&recording, &scan, report);
    ending::check(&context, &scan, report);
    faults::check(&context, &scan, report);
    old_layout::check(&context, &scan, report);
    if let Some(donor) = files.donor().filter(|_| options::target(options).is_some()) {
        target::check_devices(&context, donor, report);
    }
}

fn report_facts(recording: &Recording<'_>, scan: &Scan<'_>, report: &mut Report) {
    let Recording { head, extent, .. } = recording;
    report.tally.records = extent.count;
    report.tally.samples = scan.frames;
    for time in scan.range.into_iter().flat_map(|(first, last)| [first, last]) {
        report.tally.observe_time(time.unsigned_abs().saturating_mul(1_000));
    }
    let layout = head.generation.layout().name;
    match &head.evidence {
        Some(evidence) => report.fact("layout", format!("{layout}, from {evidence}")),
        None => report.fact("layout", layout),
    }
    match &head.devices {
        Devices::Paths(paths) => {
            let first: Vec<String> = (0..)
                .take(paths.len().min(PATHS_SHOWN))
                .map(|index| recording.device_name(index))
                .collect();
            report.fact("devices", words::list(&first, PATHS_SHOWN, to_u64(paths.len())));
        }
        Devices::Gamepad(gamepad) => {
            let [bus, vendor, product, version] = gamepad.id;
            let id = format!("{bus:04x} {vendor:04x} {product:04x} {version:04x}");
            report.fact("gamepad", format!("{}, {id}", recording.device_name(0)));
        }
    }
}

/// Compares the clock of the events with the clock of the recorders of this layout.
fn check_clock(recording: &Recording<'_>, scan: &Scan<'_>, report: &mut Report) {
    let Some((first, _)) = scan.range else { return };
    let generation = recording.head.generation;
    let clocks = ["time since boot", "time since 1970"];
    let since_1970 = first >= EPOCH_FROM.saturating_mul(MICROS);
    let (found, expected) = match (since_1970, clocks) {
        (false, [boot, epoch]) => (boot, epoch),
        (true, [boot, epoch]) => (epoch, boot),
    };
    report.fact("clock", found);
    if since_1970 == (generation == Generation::V3) {
        let message = format!(
            "{} timestamps start at {} ({found}), expected {expected}",
            generation.layout().name,
            format_micros(first)
        );
        let span = recording.extent.all.event_span(0);
        report.push(Finding::new(&rules::CLOCK, span, "events[0].time", message));
    }
}

/// Reports a fix that would write more bytes than a round may.
fn push_write_limit(report: &mut Report, span: Span, work: &str, bytes: u64, max: u64) {
    let message = format!(
        "limit reached: {work} would write {}, the limit is {max}",
        words::byte_count(bytes)
    );
    report.push(Finding::new(&common::LIMIT_REACHED, span, "events", message));
}

/// Returns the first `len` bytes of the file, or all of a shorter one.
fn file_start(file_len: u64, len: u64) -> Span {
    Span::new(FILE, 0, file_len.min(len))
}

/// Returns the time of an event for a message: `12.000001 s`.
fn format_micros(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    format!("{sign}{}", Time::from_micros(micros))
}

//! Head, extent and events to findings: judges, and reads bytes only through the decoders.
//!
//! [`outline`] judges what stands before the events, [`ending`] how the recording ends, [`pass`]
//! follows the events of every device, [`faults`] says what the pass found, [`name`] the file's name.

mod ending;
mod faults;
mod name;
mod outline;
mod pass;

use crate::formats::revent::options;
use crate::limits::INSERTED;
use crate::formats::revent::decode::extent::{self, Extent};
use crate::formats::revent::decode::head::{self, Devices, FILE, Head, Time};
use crate::formats::revent::layout::{EPOCH_FROM, Generation, MICROS};
use crate::formats::revent::{repair, rules};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::report::rule::common;
use crate::report::{Finding, Report, Severity};
use crate::{FileSet, Options};

pub(super) use pass::Device;
use pass::Pass;

/// What every part of the check looks at.
pub(super) struct Recording<'r, 'a> {
    pub(super) source: &'r Source<'a>,
    pub(super) head: &'r Head,
    pub(super) extent: &'r Extent,
    pub(super) options: &'r Options,
}

impl Recording<'_, '_> {
    /// The path or the name of a device, quoted and safe to print.
    pub(super) fn device(&self, index: i32) -> String {
        let Some(span) = self.head.device(index) else { return format!("device {index}") };
        let bytes = self.source.read(span.start, span.end.min(span.start.saturating_add(256)));
        Untrusted(&bytes).to_string()
    }
}

/// Checks a recording.
pub(super) fn check(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    let source = files.bytes(0);
    if let Some(file) = files.files().first() {
        name::check(&file.name, report);
    }
    let head = match head::head(&source) {
        Ok(head) => head,
        Err(error) => {
            outline::unreadable(&source, error, report);
            return;
        }
    };
    let extent = extent::extent(&source, &head);
    let recording = Recording { source: &source, head: &head, extent: &extent, options };
    outline::check(&recording, report);
    let pass = Pass::over(&recording);
    facts(&recording, &pass, report);
    ending::check(&recording, &pass, report);
    faults::check(&recording, &pass, report);
    old_layout(&recording, &pass, report);
}

fn facts(recording: &Recording<'_, '_>, pass: &Pass<'_, '_, '_>, report: &mut Report) {
    let Recording { head, extent, .. } = recording;
    report.tally.records = extent.kept;
    report.tally.samples = pass.frames;
    for time in pass.range.into_iter().flat_map(|(first, last)| [first, last]) {
        report.tally.observe_time(time.unsigned_abs().saturating_mul(1_000));
    }
    let layout = head.generation.layout();
    match &head.evidence {
        Some(evidence) => {
            report.fact("layout", format!("{}, told by {evidence}", layout.name));
        }
        None => report.fact("layout", layout.name),
    }
    match &head.devices {
        Devices::Paths(paths) => {
            let first: Vec<String> =
                (0..4).take(paths.len()).map(|index| recording.device(index)).collect();
            let more = to_u64(paths.len()).saturating_sub(4);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            report.fact("devices", format!("{}{more}", first.join(", ")));
        }
        Devices::Gamepad(gamepad) => {
            let [bus, vendor, product, version] = gamepad.id;
            let id = format!("{bus:04x} {vendor:04x} {product:04x} {version:04x}");
            report.fact("gamepad", format!("{}, {id}", recording.device(0)));
        }
    }
    let Some((first, _)) = pass.range else { return };
    let epoch = first >= EPOCH_FROM.saturating_mul(MICROS);
    let clock = if epoch { "from 1970" } else { "from the machine's start" };
    report.fact("clock", clock);
    if epoch == (head.generation == Generation::V3) {
        let span = Span::new(FILE, extent.all.start, extent.all.offset(1));
        let message =
            format!("{} events count {clock}: the first is of {}", layout.name, shown(first));
        report.push(Finding::new(&rules::CLOCK, span, "events[0].time", message));
    }
}

/// An older layout, brought to the newest on request.
fn old_layout(recording: &Recording<'_, '_>, pass: &Pass<'_, '_, '_>, report: &mut Report) {
    let Recording { head, options, .. } = recording;
    if head.generation == Generation::V3 {
        return;
    }
    let name = head.generation.layout().name;
    let read = match head.generation {
        Generation::V2 => "today's tools read it and drop its last pause",
        Generation::V1 => "today's replay never ends on it",
        _ => "no current tool reads it",
    };
    let span =
        Span::new(FILE, 0, head.generation.layout().header.max(4).min(recording.source.len()));
    let message = format!("the layout is {name}: {read}");
    let finding = Finding::new(&rules::OLD_LAYOUT, span, "version", message);
    let waits = report.has_errors() || report.findings().iter().any(is_mended);
    if !options::has_upgrade(options) || waits {
        let upgrade = crate::mend::edit::Fix::manual("--upgrade writes it as v3");
        report.push(finding.fix(upgrade));
        return;
    }
    match repair::upgrade(recording, pass.range) {
        Ok(fix) => {
            let severity = Severity::Warning;
            report.push(Finding { severity, ..finding.fix(fix) });
        }
        Err(bytes) => {
            report.push(finding);
            limit_reached(report, span, "the upgrade", bytes, options.limits.of(&INSERTED));
        }
    }
}

/// Whether a repair would mend the finding at once.
fn is_mended(finding: &Finding) -> bool {
    finding.severity > Severity::Info
        && finding.fix.as_ref().is_some_and(|fix| !fix.edits.is_empty())
}

/// A fix that would write more than one round may.
pub(super) fn limit_reached(report: &mut Report, span: Span, what: &str, bytes: u64, max: u64) {
    let message = format!("{what} would write {bytes} bytes, {max} are the limit");
    report.push(Finding::new(&common::LIMIT_REACHED, span, "events", message));
}

/// The time of an event in a message.
pub(super) fn shown(micros: i64) -> String {
    Time::from_micros(micros).to_string()
}

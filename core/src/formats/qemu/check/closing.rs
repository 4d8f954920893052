//! Findings about the end of a log.
//!
//! One fault, one finding: a truncated event belongs to the missing END, and both belong to the
//! missing version.

use crate::formats::qemu::check::defects::describe_length;
use crate::formats::qemu::check::header;
use crate::formats::qemu::decode::event::{FILE, Fault, FaultKind};
use crate::formats::qemu::layout::{HEADER_LEN, Kind};
use crate::formats::qemu::recover::ending::{Doubt, Ending, Tail, Trailing};
use crate::formats::qemu::recover::lane::{Lane, Stop};
use crate::formats::qemu::recover::log::Log;
use crate::formats::qemu::repair;
use crate::formats::qemu::rules;
use crate::kit::holes::describe_trailing;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::Fix;
use crate::model::limits::Limits;
use crate::model::patch::Patch;
use crate::model::{Finding, Report, Rule, Severity};

/// Adds the findings about version and end, and returns the fix that belongs to the first damage.
pub fn check_end(ending: &Ending, lane: &Lane<'_>, report: &mut Report) -> Option<Fix> {
    let is_known = ending.header.version.is_known();
    let has_prefix = ending.prefix_damage().is_some();
    let mut fix = repair::close_log(ending);
    let damage_fix = if has_prefix || matches!(ending.tail, Tail::Lost(_)) {
        fix.clone()
    } else {
        Some(repair::suggest_prefix(ending))
    };
    if let Some(rule) = header::rule_of(ending.header.version) {
        report.push(build_version(rule, ending, lane).fix_if(fix.take()));
    } else if has_prefix && lane.defects.has_error {
        // The first error among the events has it.
        fix = None;
    }
    match &ending.tail {
        Tail::Unpaired(end) if is_known => {
            report.push(build_unpaired(*end, ending, lane).fix_if(fix));
        }
        Tail::Missing(fault) if is_known => {
            report.push(build_missing(fault.as_ref(), ending, lane).fix_if(fix));
        }
        Tail::Lost(Some(fault)) => {
            report.push(build_swallowed(fault, ending).fix_if(damage_fix.clone()));
        }
        Tail::Complete(_) | Tail::Unpaired(_) | Tail::Missing(_) | Tail::Lost(None) => {}
    }
    if let Some((span, trailing)) = ending.trailing.filter(|_| !ending.has_end_for_shutdown()) {
        let finding = build_trailing(span, trailing);
        report.push(finding.fix(repair::drop_trailing(ending, span, trailing)));
    }
    ending.damage.and(damage_fix).filter(|_| is_known)
}

/// Doubts the end of a log unless the closed log, read again, ends where it was closed.
pub fn doubt_end(ending: &mut Ending, source: &Source<'_>, limits: &Limits) {
    let Some(fix) = repair::close_log(ending).filter(|fix| !fix.edits.is_empty()) else { return };
    let Ok(patch) = Patch::from_edits(source.len(), &fix.edits) else { return };
    let target = patch.view(source);
    let end = match (&ending.cut, fix.edits.last()) {
        (Some(cut), Some(added)) if ending.keeps_end() => {
            cut.kept.cut.saturating_add(to_u64(added.insert.len()))
        }
        _ => target.len().saturating_sub(1),
    };
    let ends_there = Log::read(&target, limits).is_ok_and(|log| {
        let fits = log.race.layouts();
        log.into_reading(fits).is_some_and(|reading| reading.lane.stop == Some(Stop::End(end)))
    });
    if !ends_there {
        ending.doubt.get_or_insert(Doubt::End);
    }
}

/// Reports a complete log whose guest did nothing.
pub fn check_emptiness(ending: &Ending, lane: &Lane<'_>, report: &mut Report) {
    if let (Tail::Complete(end), 0) = (&ending.tail, lane.instructions()) {
        let message = format!("no INSTRUCTION in {}", plural(lane.written(), "event"));
        let span = Span::new(FILE, HEADER_LEN, *end);
        report.push(Finding::new(&rules::NOTHING_RAN, span, "END", message));
    }
}

/// The finding about a version word that is not a release's.
fn build_version(rule: &'static Rule, ending: &Ending, lane: &Lane<'_>) -> Finding {
    let events = plural(lane.written(), "event");
    let end = match &ending.tail {
        Tail::Complete(_) => format!("END is there after {events}"),
        Tail::Unpaired(_) => format!("SHUTDOWN+HOST_SIGNAL is missing before END after {events}"),
        Tail::Missing(_) => format!("END is missing after {events}"),
        Tail::Lost(_) => format!("{events} can be read, up to {:#x}", lane.at),
    };
    let version = header::describe(ending.header.version);
    let fits = ending.layouts.describe_releases();
    let message = format!("{version}; {end}; the log fits QEMU {fits}");
    let finding = Finding::new(rule, header::VERSION_SPAN, "header.version", message);
    match &ending.tail {
        Tail::Missing(Some(fault)) => {
            let span = Span::new(FILE, fault.start, ending.len);
            finding.related(span, describe_truncated(fault))
        }
        _ => finding,
    }
}

fn build_missing(fault: Option<&Fault>, ending: &Ending, lane: &Lane<'_>) -> Finding {
    let events = plural(lane.written(), "event");
    let mut message = format!("END is missing after {events}");
    if let Some(fault) = fault {
        message = format!("{message}: {}", describe_truncated(fault));
    }
    let start = fault.map_or(ending.len, |fault| fault.start);
    let span = Span::new(FILE, start, ending.len);
    Finding::new(&rules::END_MISSING, span, "END", message)
}

fn build_unpaired(end: u64, ending: &Ending, lane: &Lane<'_>) -> Finding {
    let before = lane.before_end().map_or("the header", Kind::name);
    let ends = if ending.has_end_for_shutdown() { "two END follow" } else { "END follows" };
    let message = format!("missing SHUTDOWN+HOST_SIGNAL: {ends} {before}");
    Finding::new(&rules::SHUTDOWN_MISSING, Span::sized(FILE, end, 1), "END", message)
}

/// An array that ends after the file, although the file ends with END.
fn build_swallowed(fault: &Fault, ending: &Ending) -> Finding {
    let message = format!("{}, and the file ends with END", describe_truncated(fault));
    let span = fault.span(ending.len);
    Finding::new(&rules::LENGTH_PAST_END, span, "array length", message)
}

fn build_trailing(span: Span, trailing: Trailing) -> Finding {
    let bytes = span.len();
    let (rule, message) = match trailing {
        Trailing::SecondEnd => (&rules::END_DUPLICATE, "duplicate END".to_string()),
        Trailing::Events(events) => {
            let events = plural(events, "event");
            let bytes = byte_count(bytes);
            (&rules::END_INSIDE, format!("{events} ({bytes}) follow END, up to another END"))
        }
        Trailing::Log => {
            let place = "after END, which begin like a log";
            let message = describe_trailing(bytes, false, place);
            (&rules::BYTES_AFTER_END, message)
        }
        Trailing::Zeros | Trailing::Bytes => {
            let message = describe_trailing(bytes, trailing == Trailing::Zeros, "after END");
            (&rules::BYTES_AFTER_END, message)
        }
    };
    let mut finding = Finding::new(rule, span, "END", message);
    if trailing == Trailing::Log {
        // Nothing is damaged: QEMU reads the first log to its end.
        finding.severity = Severity::Warning;
    }
    finding
}

/// Describes a truncated event.
fn describe_truncated(fault: &Fault) -> String {
    let name = fault.kind.map_or("event", Kind::name);
    match fault.cause {
        FaultKind::Short { label: label @ ("array" | "samples"), needed, left, .. } => {
            describe_length(name, label, needed, left)
        }
        FaultKind::Short { label, needed, left, .. } => {
            format!("truncated {name}: {label} has {left} of {}", byte_count(needed))
        }
        _ => format!("truncated {name}"),
    }
}

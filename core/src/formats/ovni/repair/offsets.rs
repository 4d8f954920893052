//! `clock-offsets.txt`, as `ovnisync` writes it.
//!
//! `ovnisync` measures how far the clocks of hosts are apart. After the run only the first clocks
//! of the streams are left: hosts whose first clocks are far apart are taken to have started at the
//! same time.

use std::collections::BTreeSet;

use crate::formats::ovni::layout::CLOCK_GATE_NS;
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::state::summary::TraceSummary;
use crate::formats::ovni::state::system::{OffsetFault, OffsetLines};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::plural;
use crate::model::edit::{Edit, Fix};

/// The line of headings.
const HEADINGS: [&str; 5] = ["rank", "hostname", "offset_median", "offset_mean", "offset_std"];

/// Returns a line of the table, with its line feed.
fn write_line(rank: usize, host: &str, offset: i64) -> String {
    format!(
        "{rank:<10} {host:<20} {offset:<20} {:<20} {:<20}\n",
        format!("{offset}.000000"),
        "0.000000"
    )
}

/// The hosts of the trace without a line, in the order of their looms, each with its offset.
fn hosts_without_line(summary: &TraceSummary<'_, '_>) -> Vec<(String, i64)> {
    let lines = summary.system.offset_lines.as_ref();
    let has_line = |host: &str| lines.is_some_and(|lines| lines.hosts.contains_key(host));
    let mut seen = BTreeSet::new();
    let hosts = summary.system.looms.iter().map(|loom| loom.host());
    let hosts = hosts.filter(|host| !has_line(host) && seen.insert((*host).to_string()));
    hosts.filter_map(|host| Some((host.to_string(), find_offset(summary, host)?))).collect()
}

/// Returns the offset that brings the first clock of a host to that of the first stream, or 0 if
/// they are near enough. `None` if the streams of the host are too far apart themselves.
fn find_offset(summary: &TraceSummary<'_, '_>, host: &str) -> Option<i64> {
    let streams = summary.streams.iter();
    let clocks = streams.filter_map(|s| Some((s.number, i128::from(s.thread.first_clock?))));
    let mut clocks = clocks.peekable();
    let (first, clock) = clocks.peek().copied()?;
    let start = clock.saturating_add(summary.system.clock_offset(first));
    let is_of_host =
        |number: usize| summary.system.loom_of(number).is_some_and(|loom| loom.host() == host);
    let own: Vec<i128> =
        clocks.filter(|(number, _)| is_of_host(*number)).map(|(_, clock)| clock).collect();
    let (lowest, highest) = (own.iter().min()?, own.iter().max()?);
    let gate = i128::from(CLOCK_GATE_NS);
    let is_near = |clock: i128| clock.saturating_sub(start).abs() <= gate;
    if is_near(*lowest) && is_near(*highest) {
        return Some(0);
    }
    let is_narrow = highest.saturating_sub(*lowest) <= gate;
    i64::try_from(start.saturating_sub(*lowest)).ok().filter(|_| is_narrow)
}

/// Returns the fix of the table for hosts whose clocks are too far apart: writes it, adds lines, or
/// corrects a line. `None` if the table has other faults, which are repaired first, or if no offset
/// of hosts helps.
pub fn fix_offsets(summary: &TraceSummary<'_, '_>, hosts: &BTreeSet<String>) -> Option<Fix> {
    let Some(lines) = &summary.system.offset_lines else {
        let name = summary.trace.files.clock_offsets_name?;
        return write_table(summary, name);
    };
    if !lines.faults.is_empty() {
        return None;
    }
    let mut edits = Vec::new();
    for host in hosts {
        if let Some((line, number)) = lines.hosts.get(host) {
            let text = write_line(number.saturating_sub(2), host, find_offset(summary, host)?);
            edits.push(Edit::replace(*line, text.trim_end()));
        }
    }
    edits.extend(add_lines(lines, &hosts_without_line(summary)));
    edits.sort_by_key(|edit| edit.span.start);
    let count = plural(to_u64(hosts.len()), "host");
    let summary = format!("write the offset of {count}, as if all hosts had started together");
    (!edits.is_empty()).then(|| build_fix(summary, edits))
}

fn write_table(summary: &TraceSummary<'_, '_>, name: u32) -> Option<Fix> {
    let hosts = hosts_without_line(summary);
    let [rank, host, median, mean, std] = HEADINGS;
    let mut text = format!("{rank:<10} {host:<20} {median:<20} {mean:<20} {std:<20}\n");
    for (rank, (host, offset)) in hosts.iter().enumerate() {
        text.push_str(&write_line(rank, host, *offset));
    }
    let count = plural(to_u64(hosts.len()), "host");
    let place = Span::new(Layer::stored(name), 0, 0);
    let summary = format!("write a table with {count}, as if all had started together");
    Some(build_fix(summary, vec![Edit::replace(place, text)]))
}

/// Adds lines after the last one.
fn add_lines(lines: &OffsetLines, hosts: &[(String, i64)]) -> Option<Edit> {
    let mut text = String::new();
    if !lines.ends_with_line && !hosts.is_empty() {
        text.push('\n');
    }
    for (place, (host, offset)) in hosts.iter().enumerate() {
        let rank = lines.hosts.len().saturating_add(place);
        text.push_str(&write_line(rank, host, *offset));
    }
    (!text.is_empty()).then(|| Edit::replace(lines.end, text))
}

/// Returns the fixes of the faults of the table, in their order: a host without a line gets that of
/// the fault, which is dropped otherwise.
pub fn fix_faults(summary: &TraceSummary<'_, '_>, lines: &OffsetLines) -> Vec<Option<Fix>> {
    let hosts = hosts_without_line(summary);
    let mut missing = hosts.iter();
    let fix = |(place, fault): (usize, &OffsetFault)| {
        let span = fault.span;
        if fault.number == 0 {
            // No line can be corrected or dropped, unless other faults are about lines.
            let edit = add_lines(lines, &hosts).filter(|_| lines.faults.len() == 1)?;
            return Some(build_fix("add a line for each host", vec![edit]));
        }
        let Some((host, offset)) = missing.next() else {
            let end = span.end.saturating_add(1).min(lines.end.end);
            let line = Span::new(span.layer, span.start, end);
            return Some(build_fix("drop the line", vec![Edit::drop(line)]));
        };
        let rank = lines.hosts.len().saturating_add(place);
        let text = write_line(rank, host, fault.offset.unwrap_or(*offset));
        let edit = Edit::replace(span, text.trim_end());
        Some(build_fix("write the line of the host without one", vec![edit]))
    };
    lines.faults.iter().enumerate().map(fix).collect()
}

//! Facts about a log for the summary of a report.

use crate::formats::qemu::check::defects;
use crate::formats::qemu::decode::header::Version;
use crate::formats::qemu::layout::{EventKind, KINDS, Kind, Layouts};
use crate::formats::qemu::recover::ending::{Ending, Tail};
use crate::formats::qemu::recover::lane::Lane;
use crate::formats::qemu::recover::race::Excluded;
use crate::kit::words;
use crate::model::Report;

/// Adds the version, the layouts that are left, and the reasons against the others.
pub fn add_layouts(version: Version, left: Layouts, excluded: &[Excluded], report: &mut Report) {
    let version = match version {
        Version::Unfinished => "0".to_string(),
        Version::Known(word)
        | Version::Unreleased(word)
        | Version::Newer(word)
        | Version::Unknown(word) => format!("{word:#x}"),
    };
    report.fact("version", version);
    let name = if left.count() == 1 { "layout" } else { "candidates" };
    report.fact(name, left.describe());
    if !excluded.is_empty() {
        let describe = |one: &Excluded| {
            let releases: Vec<String> =
                one.layouts.iter().map(|(_, layout)| layout.describe_releases()).collect();
            let name = defects::rule_of(&one.defect).name;
            format!("{} ({name} at {:#x})", releases.join(" and "), one.at)
        };
        report.fact("excluded", excluded.iter().map(describe).collect::<Vec<_>>().join(", "));
    }
}

/// Adds the counts and the times.
pub fn add_events(lane: &Lane<'_>, report: &mut Report) {
    report.tally.records = lane.written();
    report.tally.samples = lane.instructions();
    for time in lane.clock(Kind::ClockVirtualRt).into_iter().flatten() {
        if let Ok(time) = u64::try_from(time) {
            report.tally.observe_time(time);
        }
    }
    let counted = |row: &EventKind| {
        let count = lane.events_of(row.kind);
        (count > 0).then(|| format!("{} {count}", row.name))
    };
    report.fact("events", KINDS.iter().filter_map(counted).collect::<Vec<_>>().join(", "));
    report.fact("instructions", lane.instructions().to_string());
    for (name, kind) in [("host clock", Kind::ClockHost), ("virtual clock", Kind::ClockVirtualRt)] {
        if let Some([first, last]) = lane.clock(kind) {
            report.fact(name, format!("{} to {}", seconds(first), seconds(last)));
        }
    }
    let [packets, bytes] = lane.counts().packets;
    if packets > 0 {
        report.fact("packets", format!("{packets}, {}", words::byte_count(bytes)));
    }
    let [pressed, released] = lane.counts().keys;
    if pressed > 0 || released > 0 {
        report.fact("keys", format!("{pressed} pressed, {released} released"));
    }
}

/// Adds how a complete log is replayed, and how far.
pub fn add_replay(ending: &Ending, lane: &Lane<'_>, report: &mut Report) {
    if !matches!(ending.tail, Tail::Complete(_)) {
        return;
    }
    let releases = ending.layouts.describe_releases();
    let instructions = words::plural(lane.instructions(), "instruction");
    let time = lane.clock(Kind::ClockVirtualRt).map(|[_, last]| seconds(last));
    let time = time.map_or(String::new(), |time| format!(", at {time} of the virtual clock"));
    report.fact(
        "replay",
        format!(
            "the command of the recording with rr=replay,rrfile=FILE instead of rr=record in \
             -icount, and the same build (QEMU {releases}), disk images, firmware and devices; \
             it ends after {instructions}{time}"
        ),
    );
}

/// Returns nanoseconds as seconds: a clock of the host may be negative.
fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    format!("{sign}{}", words::seconds(nanoseconds.unsigned_abs()))
}

//! What there is to know about a log.

use crate::formats::qemu::check::Word;
use crate::formats::qemu::check::lane::Lane;
use crate::formats::qemu::check::race::Lost;
use crate::formats::qemu::layout::{KINDS, Kind, Layouts};
use crate::report::Report;

/// The version and the layouts that are left.
pub fn layouts(word: Word, left: Layouts, lost: &[Lost], report: &mut Report) {
    let version = match word {
        Word::Zero => "0".to_string(),
        Word::Known(word) | Word::Unreleased(word) | Word::Newer(word) | Word::Damaged(word) => {
            format!("{word:#x}")
        }
    };
    report.fact("version", version);
    let name = if left.len() == 1 { "layout" } else { "candidates" };
    report.fact(name, left.shown());
    if !lost.is_empty() {
        let one = |lost: &Lost| {
            let releases: Vec<String> =
                lost.layouts.iter().map(|(_, layout)| layout.shown()).collect();
            format!("{} ({} at {:#x})", releases.join(" and "), lost.name, lost.at)
        };
        report.fact("excluded", lost.iter().map(one).collect::<Vec<_>>().join(", "));
    }
}

/// What was counted.
pub fn events(lane: &Lane<'_>, report: &mut Report) {
    report.tally.records = lane.events();
    report.tally.samples = lane.instructions();
    for time in lane.clock(Kind::ClockVirtualRt).into_iter().flatten() {
        if let Ok(time) = u64::try_from(time) {
            report.tally.observe_time(time);
        }
    }
    let counted = |kind: &Kind| {
        let count = lane.events_of(*kind);
        (count > 0).then(|| format!("{} {count}", kind.name()))
    };
    report.fact("events", KINDS.iter().filter_map(counted).collect::<Vec<_>>().join(", "));
    report.fact("instructions", lane.instructions().to_string());
    for (name, kind) in [("host clock", Kind::ClockHost), ("virtual clock", Kind::ClockVirtualRt)] {
        if let Some([first, last]) = lane.clock(kind) {
            report.fact(name, format!("{} s to {} s", seconds(first), seconds(last)));
        }
    }
    let [packets, bytes] = lane.counted().packets;
    if packets > 0 {
        report.fact("packets", format!("{packets}, {bytes} bytes"));
    }
    let [pressed, released] = lane.counted().keys;
    if pressed > 0 || released > 0 {
        report.fact("keys", format!("{pressed} pressed, {released} released"));
    }
}

/// Nanoseconds as seconds.
pub fn seconds(nanoseconds: i64) -> String {
    let (whole, part) =
        (nanoseconds.unsigned_abs() / 1_000_000_000, nanoseconds.unsigned_abs() % 1_000_000_000);
    let sign = if nanoseconds < 0 { "-" } else { "" };
    format!("{sign}{whole}.{part:09}")
}

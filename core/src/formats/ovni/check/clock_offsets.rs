//! `clock-offsets.txt`: lines that cannot be used, and the offset of each loom.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::decode::clock_offsets::{HostOffset, Line, OffsetTable};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::system::System;
use crate::kit::text::Untrusted;
use crate::kit::walk::Item;
use crate::kit::words::byte_count;
use crate::report::rule::common;
use crate::report::{Finding, Report};

const PATH: &str = "clock-offsets.txt";

/// Checks the table and gives looms the offsets of their hosts.
pub fn apply_offsets(table: OffsetTable, system: &mut System, report: &mut Report) {
    let mut hosts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, loom) in system.looms.iter().enumerate() {
        hosts.entry(loom.host().to_string()).or_default().push(number);
    }
    for offset in check_table(table, report) {
        let looms = hosts.get(&offset.host);
        for number in looms.into_iter().flatten() {
            if let Some(loom) = system.looms.get_mut(*number) {
                loom.offset = offset.offset;
            }
        }
        if looms.is_none() {
            let host = Untrusted(offset.host.as_bytes());
            let message = format!("unknown host {host:?}: the trace has no loom of it");
            let span = offset.line.span;
            report.push(Finding::new(&rules::CLOCK_OFFSETS, span, PATH, message));
        }
    }
}

/// Reports malformed lines and duplicate hosts; returns the other lines.
fn check_table(table: OffsetTable, report: &mut Report) -> Vec<HostOffset> {
    let mut offsets: Vec<HostOffset> = Vec::new();
    let mut hosts: BTreeSet<String> = BTreeSet::new();
    let mut push = |line: Line, message: String| {
        let path = format!("{PATH}:{}", line.number);
        report.push(Finding::new(&rules::CLOCK_OFFSETS, line.span, path, message));
    };
    for line in table.lines {
        match line {
            Item::Damage(line) => {
                push(line, "malformed line, expected rank, host and three numbers".to_string());
            }
            Item::Record(offset) if !hosts.insert(offset.host.clone()) => {
                let host = Untrusted(offset.host.as_bytes());
                push(offset.line, format!("duplicate host {host:?}"));
            }
            Item::Record(offset) => offsets.push(offset),
        }
    }
    if let Some(span) = table.unread {
        let message = format!("limit reached: only {} were read", byte_count(span.start));
        report.push(Finding::new(&common::LIMIT_REACHED, span, PATH, message));
    }
    if offsets.is_empty() {
        let message = "the table has no valid line";
        report.push(Finding::new(&rules::CLOCK_OFFSETS, table.start, PATH, message));
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ovni::decode::clock_offsets::read_table;
    use crate::kit::source::Source;
    use crate::limits::Limits;

    fn offsets(text: &[u8]) -> (Vec<(String, i64)>, u64) {
        let mut report = Report::new(None, 0, 9);
        let found = check_table(read_table(&Source::new(text), 0, &Limits::default()), &mut report);
        let found = found.into_iter().map(|line| (line.host, line.offset)).collect();
        (found, report.count(&rules::CLOCK_OFFSETS))
    }

    #[test]
    fn a_line_gives_a_host_its_median() {
        let text = b"rank host median mean std\n0 a -5.7 0 0\n\n1 b 1e3 0.1 2\n";
        let expected = vec![("a".to_string(), -5), ("b".to_string(), 1000)];
        assert_eq!(offsets(text), (expected, 0));
    }

    #[test]
    fn malformed_lines_and_duplicate_hosts_are_found() {
        let text = b"header\n0 a 1 0 0\n1 a 2 0 0\nx b 1 0 0\n1 b 1 0\n";
        assert_eq!(offsets(text), (vec![("a".to_string(), 1)], 3));
        assert_eq!(offsets(b"header only"), (vec![], 1));
        assert_eq!(offsets(b"\n"), (vec![], 1));
    }
}

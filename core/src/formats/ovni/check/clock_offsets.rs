//! `clock-offsets.txt`: lines that cannot be used, and the offset of each loom.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::decode::clock_offsets::{HostOffset, Line, OffsetTable};
use crate::formats::ovni::repair::offsets::fix_faults;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::summary::TraceSummary;
use crate::formats::ovni::state::system::{OffsetFault, OffsetLines, System};
use crate::kit::text::Untrusted;
use crate::kit::walk::Item;
use crate::kit::words::byte_count;
use crate::model::rule::common;
use crate::model::{Finding, Report};

const PATH: &str = "clock-offsets.txt";

/// Reads the table and gives looms the offsets of their hosts. Lines that cannot be used are
/// reported by [`check_faults`].
pub fn apply_offsets(table: OffsetTable, system: &mut System, report: &mut Report) {
    let mut hosts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, loom) in system.looms.iter().enumerate() {
        hosts.entry(loom.host().to_string()).or_default().push(number);
    }
    if let Some(span) = table.unread {
        let message = format!("limit reached: only {} were read", byte_count(span.start));
        report.push(Finding::new(&common::LIMIT_REACHED, span, PATH, message));
    }
    let (end, ends_with_line) = (table.end, table.ends_with_line);
    let (offsets, mut faults) = read_lines(table);
    let mut lines = BTreeMap::new();
    for offset in offsets {
        let Line { span, number } = offset.line;
        let Some(looms) = hosts.get(&offset.host) else {
            let host = Untrusted(offset.host.as_bytes());
            let message = format!("unknown host {host:?}: the trace has no loom of it");
            let offset = Some(offset.offset);
            faults.push(OffsetFault { span, number, message, offset });
            continue;
        };
        for number in looms {
            if let Some(loom) = system.looms.get_mut(*number) {
                loom.offset = offset.offset;
            }
        }
        lines.insert(offset.host, (span, number));
    }
    faults.sort_by_key(|fault| fault.number);
    system.offset_lines = Some(OffsetLines { hosts: lines, faults, end, ends_with_line });
}

/// Reports lines of the table that cannot be used.
pub fn check_faults(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    let Some(lines) = &summary.system.offset_lines else { return };
    for (fault, fix) in lines.faults.iter().zip(fix_faults(summary, lines)) {
        let path = match fault.number {
            0 => PATH.to_string(),
            number => format!("{PATH}:{number}"),
        };
        let message = fault.message.as_str();
        log.push(Finding::new(&rules::CLOCK_OFFSETS, fault.span, path, message).fix_if(fix));
    }
}

/// Returns the lines with a host and its offset, and faults for malformed lines and duplicate
/// hosts.
fn read_lines(table: OffsetTable) -> (Vec<HostOffset>, Vec<OffsetFault>) {
    let mut offsets: Vec<HostOffset> = Vec::new();
    let mut hosts: BTreeSet<String> = BTreeSet::new();
    let mut faults = Vec::new();
    let mut push = |line: Line, message: String| {
        faults.push(OffsetFault { span: line.span, number: line.number, message, offset: None });
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
    if offsets.is_empty() {
        let message = "the table has no valid line".to_string();
        faults.push(OffsetFault { span: table.start, number: 0, message, offset: None });
    }
    (offsets, faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ovni::decode::clock_offsets::read_table;
    use crate::kit::source::Source;
    use crate::model::limits::Limits;

    fn offsets(text: &[u8]) -> (Vec<(String, i64)>, usize) {
        let (found, faults) = read_lines(read_table(&Source::new(text), 0, &Limits::default()));
        let found = found.into_iter().map(|line| (line.host, line.offset)).collect();
        (found, faults.len())
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

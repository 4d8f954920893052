//! `clock-offsets.txt`: how far the clocks of hosts are apart.
//!
//! ```text
//!  rank       hostname             offset_median        offset_mean          offset_std
//!  0          node0                0                    0.000000             0.000000
//! ```

use std::collections::BTreeSet;

use crate::formats::ovni::rules;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::report::rule::common;
use crate::report::{Finding, Report};

/// Bytes of the table that are read: a line a host.
const TABLE_MAX: u64 = 4 << 20;

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Offset {
    /// Name of the host.
    pub host: String,
    /// What is added to its clocks, in nanoseconds.
    pub offset: i64,
    /// The line.
    pub span: Span,
}

/// Reads the table in file number `file`.
pub fn read(source: &Source<'_>, file: u32, report: &mut Report) -> Vec<Offset> {
    let text = source.read(0, source.len().min(TABLE_MAX));
    let layer = Layer::stored(file);
    let mut offsets: Vec<Offset> = Vec::new();
    let mut hosts: BTreeSet<String> = BTreeSet::new();
    let mut at = 0_u64;
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let span = Span::sized(layer, at, to_u64(line.len()));
        at = span.end.saturating_add(1);
        let blank = line.iter().all(u8::is_ascii_whitespace);
        if number == 0 || blank {
            continue;
        }
        let path = format!("clock-offsets.txt:{}", number.saturating_add(1));
        let mut told = |message: String| {
            report.push(Finding::new(&rules::CLOCK_OFFSETS, span, path.clone(), message));
        };
        let Some((host, offset)) = parse(line) else {
            told("the line is not rank, host and three numbers".to_string());
            continue;
        };
        if !hosts.insert(host.clone()) {
            told(format!("host {:?} has two lines", Untrusted(host.as_bytes())));
            continue;
        }
        offsets.push(Offset { host, offset, span });
    }
    if source.len() > TABLE_MAX {
        let span = Span::new(layer, TABLE_MAX, source.len());
        let message = format!("clock-offsets.txt: {TABLE_MAX} bytes are read of {}", source.len());
        report.push(Finding::new(&common::LIMIT_REACHED, span, "clock-offsets.txt", message));
    }
    if offsets.is_empty() {
        let span = Span::new(layer, 0, text.len().min(1).try_into().unwrap_or(0));
        let message = "the table names no host".to_string();
        report.push(Finding::new(&rules::CLOCK_OFFSETS, span, "clock-offsets.txt", message));
    }
    offsets
}

fn parse(line: &[u8]) -> Option<(String, i64)> {
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_ascii_whitespace();
    words.next()?.parse::<i64>().ok()?;
    let host = words.next()?.to_string();
    let median: f64 = words.next()?.parse().ok()?;
    for _ in 0..2 {
        words.next()?.parse::<f64>().ok()?;
    }
    // As a cast from double: towards zero.
    let offset = format!("{:.0}", median.trunc()).parse().ok()?;
    Some((host, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(text: &[u8]) -> (Vec<(String, i64)>, u64) {
        let mut report = Report::new(None, 0, 9);
        let found = read(&Source::new(text), 0, &mut report);
        let found = found.into_iter().map(|line| (line.host, line.offset)).collect();
        (found, report.count(&rules::CLOCK_OFFSETS))
    }

    #[test]
    fn a_line_is_a_host_and_its_median() {
        let text = b"rank host median mean std\n0 a -5.7 0 0\n\n1 b 1e3 0.1 2\n";
        let want = vec![("a".to_string(), -5), ("b".to_string(), 1000)];
        assert_eq!(offsets(text), (want, 0));
    }

    #[test]
    fn lines_that_say_nothing_and_hosts_named_twice_are_found() {
        let text = b"header\n0 a 1 0 0\n1 a 2 0 0\nx b 1 0 0\n1 b 1 0\n";
        assert_eq!(offsets(text), (vec![("a".to_string(), 1)], 3));
        assert_eq!(offsets(b"header only"), (vec![], 1));
        assert_eq!(offsets(b"\n"), (vec![], 1));
    }
}

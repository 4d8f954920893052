//! Bytes that are missing in the records, or too many: how many, and where.

use std::path::Path;

use tracemend::kit::span::Span;
use tracemend::{FileSet, Options, check};

const RECORDINGS: [&str; 4] = ["plain.data", "group.data", "callgraph.data", "wide.data"];

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// The number of bytes that are missing or too many, and their range, in the words of a check.
fn gap(bytes: &[u8]) -> Option<(&'static str, String, Span)> {
    let report = check(&FileSet::single("perf.data", bytes), &Options::default());
    let first = report.findings().first()?;
    let is_cause = ["CM0101", "CM0102", "CM0103"].contains(&first.rule.code);
    is_cause.then(|| (first.rule.code, first.message.clone(), first.span))
}

#[test]
fn the_bytes_missing_in_records_are_counted_and_placed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    let (mut named, mut placed, mut all) = (0, 0, 0);
    for name in RECORDINGS {
        let whole = std::fs::read(folder.join(name)).unwrap();
        let (start, size) = (u64_at(&whole, 40), u64_at(&whole, 48));
        // The last record may be the one that is cut.
        let places = (start + 64..start + size - 700).step_by(56);
        for (number, at) in places.enumerate() {
            let count = [8, 24, 100, 512][number % 4];
            let lost = [&whole[..at], &whole[at + count..]].concat();
            let other = vec![0xa5; count];
            let more = [&whole[..at], &other[..], &whole[at..]].concat();
            for (damaged, code) in [(lost, "CM0103"), (more, "CM0102")] {
                all += 1;
                let Some((found, words, span)) = gap(&damaged) else { continue };
                assert_eq!(found, code, "{name} at {at:#x}: {words}");
                assert!(words.starts_with(&format!("{count} bytes ")), "{name} {at:#x}: {words}");
                named += 1;
                let at = at as u64;
                placed += usize::from(span.start() <= at && at <= span.end());
            }
        }
    }
    assert!(all > 200 && named * 10 >= all * 8, "{named} of {all} are named");
    assert!(placed * 100 >= named * 98, "{placed} of {named} are placed");
}

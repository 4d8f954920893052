//! Bytes that are missing, or too many: how many, and where. The cause is the first finding.

use std::ops::Range;
use std::path::Path;

use tracemend::kit::span::Span;
use tracemend::{FileSet, Options, check};
use tracemend_tests::forge::apitrace::{Container, call_heavy, chunks};
use tracemend_tests::sweep::is_left_to_the_gate;

/// Recordings of perf with a feature table.
const PERF: [&str; 4] = ["plain.data", "group.data", "callgraph.data", "wide.data"];
/// Recordings of revent with a count, and the size of their head.
const REVENT: [&str; 2] = ["v2_timeout.revent", "v2_interrupt.revent"];

fn read(folder: &str, name: &str) -> Vec<u8> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    std::fs::read(corpus.join(folder).join("clean").join(name)).unwrap()
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Code, message and range of the first finding, if it is about bytes that are missing or too many.
fn gap(bytes: &[u8]) -> Option<(&'static str, String, Span)> {
    let report = check(&FileSet::single("recording", bytes), &Options::default());
    let first = report.findings().first()?;
    let is_cause = ["CM0102", "CM0103"].contains(&first.rule.code);
    is_cause.then(|| (first.rule.code, first.message.clone(), first.span))
}

/// Counts of places.
#[derive(Default)]
struct Tally {
    all: usize,
    named: usize,
    placed: usize,
}

impl Tally {
    /// Takes bytes away and puts others in at places of a recording, and checks what is said.
    fn count(&mut self, name: &str, whole: &[u8], places: Range<usize>, step: usize) {
        for (number, at) in places.step_by(step).enumerate() {
            let count = [8, 24, 101, 513][number % 4];
            let lost = [&whole[..at], &whole[at + count..]].concat();
            let other = vec![0xa5; count];
            let more = [&whole[..at], &other[..], &whole[at..]].concat();
            for (damaged, code) in [(lost, "CM0103"), (more, "CM0102")] {
                self.all += 1;
                let Some((found, words, span)) = gap(&damaged) else { continue };
                assert_eq!(found, code, "{name} at {at:#x}: {words}");
                assert!(words.starts_with(&format!("{count} bytes ")), "{name} {at:#x}: {words}");
                self.named += 1;
                let at = at as u64;
                self.placed += usize::from(span.start() <= at && at <= span.end());
            }
        }
    }

    fn is_named_in(&self, per_cent: usize) {
        let Self { all, named, placed } = self;
        assert!(*all > 100 && named * 100 >= all * per_cent, "{named} of {all} are named");
        assert!(placed * 100 >= named * 98, "{placed} of {named} are placed");
    }
}

#[test]
fn bytes_missing_in_the_records_of_perf_are_counted_and_placed() {
    let mut tally = Tally::default();
    for name in PERF {
        let whole = read("perf", name);
        let (start, size) = (u64_at(&whole, 40), u64_at(&whole, 48));
        // The last record may be the one that is cut.
        tally.count(name, &whole, start + 64..start + size - 700, 56);
    }
    tally.is_named_in(80);
}

#[test]
fn bytes_missing_in_a_recording_of_revent_are_counted_and_placed() {
    let mut tally = Tally::default();
    for name in REVENT {
        let whole = read("revent", name);
        tally.count(name, &whole, 200..whole.len() - 700, 67);
    }
    tally.is_named_in(90);
}

#[test]
fn bytes_missing_in_a_chunk_are_counted_and_placed() {
    if is_left_to_the_gate("bytes missing in a chunk are counted and placed") {
        return;
    }
    let mut tally = Tally::default();
    let whole = Container::Snappy.file(&call_heavy(100).bytes);
    let (start, end) = chunks(&whole)[0];
    tally.count("calls", &whole, start + 40..end - 700, (end - start) / 61);
    tally.is_named_in(60);
}

#[test]
fn a_file_of_perf_that_is_cut_among_its_features_is_called_cut() {
    for name in PERF {
        let whole = read("perf", name);
        let table = u64_at(&whole, 40) + u64_at(&whole, 48);
        let first = u64_at(&whole, table);
        for end in (first + 1..whole.len()).step_by(whole.len() / 97) {
            let report = check(&FileSet::single(name, &whole[..end]), &Options::default());
            let codes: Vec<&str> = report.findings().iter().map(|one| one.rule.code).collect();
            assert!(!codes.contains(&"PD0024"), "{name} {end}: {codes:?}");
            let cut = report.findings().iter().find(|one| one.rule.code == "PD0010");
            let lost = format!("which ends {} bytes too early", whole.len() - end);
            let message = cut.map_or("", |finding| &finding.message);
            assert!(message.contains(&lost), "{name} {end}: {message}");
        }
    }
}

//! Every limit of a trace, lowered until a small trace reaches it: the verdict is then incomplete,
//! or the finding has no fix.

use tracemend::formats::apitrace::{limits, rules};
use tracemend::limits::{INSERTED, RESYNC};
use tracemend::model::rule::common;
use tracemend::{FileSet, Finding, Limits, Options, Outcome, Repair, Report, Verdict};
use tracemend_tests::forge::apitrace::{Container, Stream, Value, call_heavy, snappy};
use tracemend_tests::known_originals::apitrace::SUBJECT;
use tracemend_tests::known_originals::{self, Original};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

fn limited(lower: impl FnOnce(&mut Limits)) -> Options {
    let mut limits = Limits::default();
    lower(&mut limits);
    Options { limits, ..Options::default() }
}

fn check(bytes: &[u8], lower: impl FnOnce(&mut Limits)) -> Report {
    tracemend::check(&FileSet::single("app.trace", bytes), &limited(lower))
}

fn repair(bytes: &[u8], lower: impl FnOnce(&mut Limits)) -> Repair {
    let files = FileSet::single("app.trace", bytes);
    tracemend::repair(&files, &limited(lower))
}

/// Asserts that a trace is clean under the default limits and incomplete under the lowered one.
fn stops(bytes: &[u8], lower: impl FnOnce(&mut Limits)) {
    assert_eq!(check(bytes, |_| {}).verdict(), Verdict::Clean);
    let report = check(bytes, lower);
    assert_eq!(report.verdict(), Verdict::Incomplete, "{:?}", report.findings());
    assert_eq!(report.count(&common::LIMIT_REACHED), 1, "{:?}", report.findings());
}

#[test]
fn definitions_and_open_calls_have_a_limit() {
    let mut three = Stream::new(6);
    three.call(0, 1, &[Value::Enum(1, 4)]);
    three.call(0, 2, &[Value::Enum(1, 4)]);
    let mut open = Stream::new(6);
    let numbers: Vec<u64> = (0..3).map(|thread| open.enter(thread, 1, 0, &[])).collect();
    for number in numbers.iter().rev() {
        open.leave(*number, &[]);
    }
    for container in Container::ALL {
        let (three, open) = (container.file(&three.bytes), container.file(&open.bytes));
        stops(&three, |limits| limits.set(&limits::DEFINITIONS, 2));
        assert_eq!(
            check(&three, |limits| limits.set(&limits::DEFINITIONS, 3)).verdict(),
            Verdict::Clean
        );
        stops(&open, |limits| limits.set(&limits::OPEN_CALLS, 2));
        assert_eq!(
            check(&open, |limits| limits.set(&limits::OPEN_CALLS, 3)).verdict(),
            Verdict::Clean
        );
    }
}

#[test]
fn after_a_chunk_in_which_a_search_ended_the_next_one_is_read() {
    if is_left_to_the_gate("after a chunk in which a search ended the next one is read") {
        return;
    }
    let stream = call_heavy(36_000);
    let mut bytes = stream.bytes.clone();
    // In the first chunk, an event may begin at each byte.
    for (index, byte) in bytes[2_000..(1 << 20) - 2_000].iter_mut().enumerate() {
        *byte = (index as u32).wrapping_mul(0x9e37_79b1).to_be_bytes()[0] & 1;
    }
    let bytes = Container::Snappy.file(&bytes);
    let report = check(&bytes, |limits| limits.set(&RESYNC, 100_000));
    assert_eq!(report.count(&common::SEARCH_ENDED), 1, "{:?}", report.counts());
    // All calls of the other chunks.
    assert!(report.tally.samples * 2 > stream.calls(), "{:?}", report.tally);
}

#[test]
fn warnings_about_one_event_have_a_limit() {
    let texts = |count: usize| [Value::Array(vec![Value::String(vec![0xff]); count])];
    let mut stream = Stream::new(6);
    stream.call(0, 1, &texts(3_000));
    stream.call(0, 1, &texts(2));
    let report = check(&Container::Gzip.file(&stream.bytes), |_| {});
    assert_eq!(report.count(&rules::TEXT_NOT_UTF8), 256 + 2);
}

#[test]
fn nesting_has_a_limit() {
    let deep = (0..5).fold(Value::Uint(1), |value, _| Value::Array(vec![value]));
    let mut stream = Stream::new(6);
    stream.call(0, 1, &[deep]);
    let file = Container::Snappy.file(&stream.bytes);
    let smallest = (0..20).find(|depth| {
        check(&file, |limits| limits.set(&limits::NESTING, *depth)).verdict() == Verdict::Clean
    });
    assert_eq!(smallest, Some(5));
    let report = check(&file, |limits| limits.set(&limits::NESTING, 4));
    let codes: Vec<&str> = report.findings().iter().map(|finding| finding.rule.code).collect();
    assert!(codes.contains(&"AT9001"), "{codes:?}");
}

#[test]
fn expansion_has_a_limit_in_every_container() {
    if is_left_to_the_gate("expansion has a limit in every container") {
        return;
    }
    // 64 MiB are always allowed.
    let mut stream = Stream::new(6);
    stream.call(0, 1, &[Value::Blob(vec![0; 65 << 20])]);
    for container in Container::ALL {
        let file = match container {
            Container::SmallChunks => snappy(&stream.bytes, 256 << 10),
            // Its frames are small.
            Container::Zstd => continue,
            _ => container.file(&stream.bytes),
        };
        let sound = check(&file, |limits| limits.set(&tracemend::limits::EXPANSION_RATIO, 1 << 20));
        assert_eq!(sound.verdict(), Verdict::Clean, "{container:?}");
        let report = check(&file, |limits| limits.set(&tracemend::limits::EXPANSION_RATIO, 0));
        assert_eq!(report.verdict(), Verdict::Incomplete, "{container:?}");
        assert_eq!(report.count(&common::LIMIT_REACHED), 1, "{container:?}");
    }
}

/// A trace of five thousand calls that lost ten in its middle.
fn calls_missing() -> Vec<u8> {
    let stream = call_heavy(1_000);
    let mut bytes = stream.bytes.clone();
    bytes.drain(stream.events[5_000]..stream.events[5_020]);
    Container::Snappy.file(&bytes)
}

#[test]
fn placeholders_have_a_limit() {
    let bytes = calls_missing();
    let mended = repair(&bytes, |limits| limits.set(&limits::PLACEHOLDERS, 10));
    assert_eq!(mended.outcome, Outcome::RepairedWithLoss);
    assert_eq!(mended.after.count(&rules::PLACEHOLDERS), 1, "{:?}", mended.after.findings());
    let refused = repair(&bytes, |limits| limits.set(&limits::PLACEHOLDERS, 9));
    assert_eq!(refused.outcome, Outcome::CannotRepair);
    let finding = &refused.before.findings()[0];
    assert_eq!(*finding.rule, rules::CALLS_MISSING);
    let summary = &finding.fix.as_ref().unwrap().summary;
    assert!(summary.contains("10 calls") && summary.contains("at most 9"), "{summary}");
}

#[test]
fn the_search_for_valid_events_has_a_limit() {
    let bytes = calls_missing();
    assert_eq!(check(&bytes, |_| {}).count(&rules::CALLS_MISSING), 1);
    let report = check(&bytes, |limits| limits.set(&RESYNC, 0));
    // One search ended; the verdict is complete.
    assert_eq!(report.verdict(), Verdict::Findings, "{:?}", report.findings());
    assert_eq!(report.count(&common::SEARCH_ENDED), 1, "{:?}", report.findings());
    let mended = repair(&bytes, |limits| limits.set(&RESYNC, 0));
    assert_eq!(mended.outcome, Outcome::RepairedWithLoss);
}

#[test]
fn damages_have_a_limit() {
    let stream = call_heavy(1_000);
    let mut bytes = stream.bytes.clone();
    for at in [8_000, 6_000, 4_000] {
        let at = stream.events[at];
        bytes.splice(at..at, [0xee; 9]);
    }
    let file = Container::Snappy.file(&bytes);
    assert_eq!(
        check(&file, |limits| limits.set(&tracemend::limits::FIXES, 3)).verdict(),
        Verdict::Findings
    );
    let report = check(&file, |limits| limits.set(&tracemend::limits::FIXES, 2));
    assert_eq!(report.verdict(), Verdict::Incomplete, "{:?}", report.findings());
    assert_eq!(report.count(&common::LIMIT_REACHED), 1);
}

#[test]
fn the_window_of_a_zstd_frame_has_a_limit() {
    let file = Container::Seekable.file(&call_heavy(1_000).bytes);
    let sound = |window: u64| {
        check(&file, |limits| limits.set(&tracemend::limits::ZSTD_WINDOW, window)).verdict()
            == Verdict::Clean
    };
    let smallest = (10..28).map(|bits| 1 << bits).find(|window| sound(*window)).unwrap();
    let report = check(&file, |limits| limits.set(&tracemend::limits::ZSTD_WINDOW, smallest / 2));
    assert_eq!(report.verdict(), Verdict::Incomplete, "{:?}", report.findings());
    assert_eq!(report.count(&common::LIMIT_REACHED), 1, "{:?}", report.findings());
}

#[test]
fn the_bytes_held_by_a_search_have_a_limit() {
    let stream = call_heavy(40);
    let mut bytes = stream.bytes.clone();
    bytes.splice(stream.events[100]..stream.events[100], [0xee; 40]);
    let file = snappy(&bytes, 300);
    let found = check(&file, |_| {});
    // The events that prove a place do not fit into a window of a chunk.
    let lost = check(&file, |limits| limits.set(&limits::SEEK_WINDOW, 100));
    assert_eq!(found.tally.samples, stream.calls());
    assert!(lost.tally.samples < 60, "{} calls, {:?}", lost.tally.samples, lost.findings());
}

#[test]
fn rewinds_have_a_limit() {
    let mut stream = call_heavy(5);
    let before = stream.calls();
    stream.enter(0, 30, 1, &[]);
    // A blob of 32 MiB instead of the end of the enter.
    stream.bytes.pop();
    stream.raw(&[1, 0, 8, 0xff, 0xff, 0xff, 0x0f]);
    for _ in 0..20_000 {
        stream.call(0, 21, &[]);
    }
    let file = Container::Snappy.file(&stream.bytes);
    let calls =
        |rewinds| check(&file, |limits| limits.set(&limits::REWINDS, rewinds)).tally.samples;
    assert!(calls(1) > before + 19_000, "{} calls", calls(1));
    assert_eq!(calls(0), before);
}

#[test]
fn remembered_leaves_of_lost_calls_have_a_limit() {
    let stream = call_heavy(40);
    let mut bytes = stream.bytes.clone();
    // The enter of a call whose leave stays.
    bytes.drain(stream.events[200]..stream.events[201]);
    let file = Container::Snappy.file(&bytes);
    let duplicates = |leaves| {
        let mended = repair(&file, |limits| limits.set(&limits::LOST_LEAVES, leaves));
        mended.after.count(&rules::LEAVE_TWICE)
    };
    assert_eq!(duplicates(1), 0);
    // The leave that is not dropped stays beside the placeholder of its call.
    assert_eq!(duplicates(0), 1);
}

/// In a quarter of the cases some units are too large to be stored anew: in outline, too, they have
/// no fix.
#[test]
fn a_check_in_outline_lacks_the_bytes_of_gzip_streams_alone() {
    let originals: Vec<Original> = SUBJECT.originals.iter().cloned().collect();
    let (mut whole, mut lacking) = (0, 0);
    for case in Share::one_in(8).of(0..1_600) {
        let (_, damaged) = known_originals::damaged(&originals, 8_101, case);
        let set = known_originals::set(&damaged.files);
        let is_gzip = damaged.files[0].1.starts_with(&[0x1f, 0x8b]);
        let is_low = case % 4 == 0;
        let most = if is_low { 2_000 } else { INSERTED.default };
        let full = limited(|limits| limits.set(&INSERTED, most));
        let outline = Options { outline: true, ..full.clone() };
        let [full, outline] = [full, outline].map(|options| tracemend::check(&set, &options));
        assert_eq!(full.counts(), outline.counts(), "case {case}");
        for (one, other) in full.findings().iter().zip(outline.findings()) {
            let (mut one, mut other) = (one.clone(), other.clone());
            let sums = match is_gzip {
                true => [take_packed(&mut one), take_packed(&mut other)],
                false => [0, 0],
            };
            assert_eq!(one, other, "case {case}");
            whole += if is_low { 0 } else { sums[0] };
            lacking += if is_low { 0 } else { sums[1] };
        }
    }
    assert!(lacking == 0 && whole > 10_000, "{lacking} of {whole} bytes are made in outline");
}

/// Takes the bytes of compressed units out of a fix. Returns their number, without those of a whole
/// stream in chunks, which take less time than its check.
fn take_packed(finding: &mut Finding) -> usize {
    let Some(fix) = finding.fix.as_mut().filter(|fix| fix.anew.stored > 0) else { return 0 };
    let lens = fix.edits.iter_mut().map(|edit| std::mem::take(&mut edit.insert).len());
    let len = lens.sum();
    if fix.summary.contains("in snappy chunks") { 0 } else { len }
}

//! The limits of ovni traces: each is lowered until a small trace reaches it.

use tracemend::formats::ovni::{limits, rules};
use tracemend::limits::Limit;
use tracemend::model::rule::common;
use tracemend::{Finding, Options, Outcome, Rule, Verdict};
use tracemend_tests::forge::ovni::{Stream, Trace};
use tracemend_tests::properties::work;
use tracemend_tests::specimens::ovni::{begun, nosv, one, thread};
use tracemend_tests::sweep::is_left_to_the_gate;

fn options(limit: &'static Limit, value: u64) -> Options {
    let mut options = Options::default();
    options.limits.set(limit, value);
    options
}

/// Returns the finding of `rule` under a limit.
fn find(trace: &Trace, rule: &Rule, limit: &'static Limit, value: u64) -> Finding {
    let report = tracemend::check(&trace.set(), &options(limit, value));
    let mut findings = report.findings().iter();
    findings.find(|finding| finding.rule.code == rule.code).unwrap().clone()
}

/// Returns whether a fix exists with the limit at `value`, and with one less.
fn has_fix_at_and_below(
    trace: &Trace,
    rule: &Rule,
    limit: &'static Limit,
    value: u64,
) -> (bool, bool) {
    let has_fix = |value: u64| find(trace, rule, limit, value).fix.is_some();
    (has_fix(value), has_fix(value - 1))
}

#[test]
fn a_part_longer_than_the_limit_is_not_shifted() {
    let stream = [900, 901, 902]
        .into_iter()
        .fold(begun().plain(&["OB."; 9]), |stream, clock| stream.event(0, "OB.", clock, b""));
    let trace = one(thread(), stream.plain(&["OB."]).end());
    let limit = &limits::CLOCK_BYTES;
    // The three events.
    assert_eq!(has_fix_at_and_below(&trace, &rules::CLOCK_BACKWARDS, limit, 36), (true, false));
    let note = find(&trace, &rules::CLOCK_BACKWARDS, limit, 35).notes.pop().unwrap();
    assert!(note.contains("ovni-clock-bytes"), "{note}");
}

#[test]
fn a_stream_with_more_places_than_the_limit_is_not_checked_to_the_end() {
    let damaged = |mut stream: Stream| {
        stream.bytes.extend([0xff; 5]);
        stream.plain(&["OB."; 9])
    };
    let trace = one(thread(), damaged(damaged(begun().plain(&["OB."; 9]))).end());
    let verdict = |places: u64| {
        let report = tracemend::check(&trace.set(), &options(&limits::CLOCK_PARTS, places));
        (report.verdict(), report.count(&common::LIMIT_REACHED))
    };
    // The stream is one part, with two gaps.
    assert_eq!(verdict(3), (Verdict::Findings, 0));
    assert_eq!(verdict(2), (Verdict::Incomplete, 1));
    // The first round drops the gaps; after that nothing is unusual.
    let outcome =
        |trace: &Trace, places: u64| trace.mended(&options(&limits::CLOCK_PARTS, places)).0.outcome;
    assert_eq!(outcome(&trace, 2), Outcome::RepairedWithLoss);
    let back = begun().event(0, "OB.", 900, b"").event(0, "OB.", 901, b"").plain(&["OB.", "OB."]);
    let back = one(thread(), back.end());
    assert_eq!(outcome(&back, 2), Outcome::RepairedWithLoss);
    assert_eq!(outcome(&back, 0), Outcome::Incomplete);
}

#[test]
fn a_region_longer_than_the_limit_is_not_sorted() {
    let opened = begun().plain(&["OB.", "OU["]);
    let trace = one(thread(), opened.event(0, "OB.", 1_015, b"").plain(&["OU]"]).end());
    let fixed = |limit: &'static Limit, bytes: u64| {
        has_fix_at_and_below(&trace, &rules::UNSORTED_REGION, limit, bytes)
    };
    // OB., OU[ and OB. with another clock, and OU].
    assert_eq!(fixed(&limits::REGION_BYTES, 48), (true, false));
    // The same, and OHx before them.
    assert_eq!(fixed(&limits::SORT_BYTES, 28 + 48), (true, false));
}

#[test]
fn mark_types_past_the_limit_are_not_remembered() {
    let stream = begun().mark("OM=", 1, 3).mark("OM=", 1, 4).mark("OM=", 1, 5).end();
    let trace = one(thread(), stream);
    let message = |value: u64| find(&trace, &rules::UNDEFINED_MARK, &limits::KINDS, value).message;
    assert!(message(3).contains("3 mark types"), "{}", message(3));
    assert!(message(2).contains("2 mark types"), "{}", message(2));
}

#[test]
fn definitions_past_the_limit_are_left_to_the_next_round() {
    let stream = [5, 6, 7]
        .into_iter()
        .fold(begun(), |stream, task| stream.ids("VTx", &[task, 0]).ids("VTe", &[task, 0]));
    let trace = one(nosv(), stream.end());
    let rounds = |value: u64| {
        let (repair, _) = trace.mended(&options(&limits::RESTORED, value));
        assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.after.findings());
        repair.applied.iter().map(|applied| applied.round).max()
    };
    assert_eq!((rounds(3), rounds(2)), (Some(1), Some(2)));
}

#[test]
fn types_past_the_limit_are_not_remembered() {
    let stream = [5, 6]
        .into_iter()
        .fold(begun(), |stream, kind| stream.ids("PQx", &[kind]).ids("PQe", &[kind]));
    let trace = one(thread().require("openmp", "1.2.0"), stream.end());
    let reached = |value: u64| {
        let report = tracemend::check(&trace.set(), &options(&limits::TASKS, value));
        report.count(&common::LIMIT_REACHED)
    };
    assert_eq!((reached(2), reached(1)), (0, 1));
}

#[test]
fn a_limited_number_of_events_is_explained_by_lost_ones() {
    if is_left_to_the_gate("a limited number of events is explained by lost ones") {
        return;
    }
    // Each start of the task needs an end of the one before.
    let steps = |count: usize| {
        let created = begun().kind("VYc", 1, "work").ids("VTc", &[1, 1]);
        let started = (0..=count).fold(created, |stream, _| stream.ids("VTx", &[1, 1]));
        let trace = one(nosv(), started.end());
        work::steps_during(|| tracemend::check(&trace.set(), &Options::default())).1
    };
    let [first, second, third] = [2_000, 4_000, 6_000].map(steps);
    assert!((third - second) * 3 < (second - first) * 2, "{first} {second} {third}");
}

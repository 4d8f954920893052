//! Streams that hold events of an earlier run after their own, as a process that calls exec leaves
//! them.

use std::ops::Range;

use tracemend::formats::ovni::rules;
use tracemend::{Options, Outcome};
use tracemend_tests::forge::ovni::damage::event_spans;
use tracemend_tests::forge::ovni::{Random, Stream, Trace, random_run, thread_of_run};
use tracemend_tests::judge::ovni::Ovniemu;
use tracemend_tests::notice;
use tracemend_tests::specimens::ovni::OBS;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Cases of an exhaustive run.
const CASES: usize = 640;

/// A stream that was written over a longer one.
struct Rewritten {
    newer: Stream,
    older: Stream,
    bytes: Vec<u8>,
    /// The complete events of the older one that are left.
    left: Vec<Range<usize>>,
}

impl Rewritten {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed ^ 0x6f76_6e69);
        random.below(2);
        let older = random_run(seed, 1_000_000, 60 + random.below(300));
        let newer = random_run(seed + 1, older.clock + 5_000, random.below(40));
        Self::of(newer, older)
    }

    /// A stream that was written over all of a longer one but its last few events.
    fn nearly_all(seed: u64) -> Self {
        let older = random_run(seed, 1_000_000, 300);
        let newer = |steps| random_run(seed + 1, older.clock + 5_000, steps);
        let is_shorter = |newer: &Stream| newer.bytes.len() + 100 < older.bytes.len();
        let newer = (1..400).map(newer).take_while(is_shorter).last().unwrap();
        Self::of(newer, older)
    }

    fn of(newer: Stream, older: Stream) -> Self {
        let mut bytes = newer.bytes.clone();
        bytes.extend(&older.bytes[newer.bytes.len()..]);
        let spans = spans_of(&older.bytes).into_iter();
        let left = spans.filter(|span| span.start >= newer.bytes.len()).collect();
        Self { newer, older, bytes, left }
    }

    fn trace(&self) -> Trace {
        Trace::of(&thread_of_run(), self.newer.clone()).change(OBS, |bytes| {
            bytes.clone_from(&self.bytes);
        })
    }
}

/// Returns the places of the events of a stream.
fn spans_of(stream: &[u8]) -> Vec<Range<usize>> {
    let bytes: Vec<_> = stream.iter().map(|byte| (*byte, None)).collect();
    event_spans(&bytes).into_iter().map(|(start, end)| start..end).collect()
}

fn stream_of(trace: &Trace) -> &[u8] {
    let found = trace.files.iter().find(|(name, _)| name.ends_with(OBS));
    found.unwrap().1.as_ref().unwrap()
}

fn seeds() -> impl Iterator<Item = u64> {
    let share = Share::one_in(4);
    share.of(0..CASES).map(|number| u64::try_from(number).unwrap())
}

#[test]
fn events_of_an_earlier_run_are_counted_and_those_of_the_last_one_stay() {
    for seed in seeds() {
        let case = Rewritten::new(seed);
        assert!(case.newer.bytes.len() < case.older.bytes.len(), "seed {seed}");
        let (repair, target) = case.trace().mended(&Options::default());
        let (all, left) = (spans_of(&case.newer.bytes).len(), case.left.len());
        let [all, left] = [all, left].map(|count| u64::try_from(count).unwrap());
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "seed {seed}");
        assert_eq!(repair.before.count(&rules::STALE_TAIL), 1, "seed {seed}");
        assert_eq!(stream_of(&target), case.newer.bytes, "seed {seed}");
        assert_eq!(repair.records_lost(), left, "seed {seed}");
        assert_eq!(repair.before.tally.records, all + left, "seed {seed}");
        assert_eq!(repair.after.tally.records, all, "seed {seed}");
        let message = &repair.before.findings()[0].message;
        assert!(message.contains(&format!("{left} complete event")), "seed {seed}: {message}");
    }
}

#[test]
fn zeros_after_the_end_of_a_thread_are_no_earlier_run() {
    for seed in seeds() {
        let case = Rewritten::new(seed);
        let mut trace = case.trace();
        let stream = trace.files.iter_mut().find(|(name, _)| name.ends_with(OBS)).unwrap();
        stream.1 = Some([&case.newer.bytes[..], &[0; 4_096]].concat());
        let (repair, target) = trace.mended(&Options::default());
        // Whole blocks of zeros are a hole, too.
        let mut findings = repair.before.findings().iter();
        let finding = findings.find(|one| *one.rule == rules::STALE_TAIL).unwrap();
        let tail = "preallocated tail: 4096 bytes of zeros after the end of the thread";
        assert_eq!(finding.message, tail, "seed {seed}");
        let mut notes = finding.notes.iter();
        assert!(!notes.any(|note| note.contains("earlier run")), "seed {seed}");
        assert_eq!(stream_of(&target), case.newer.bytes, "seed {seed}");
    }
}

#[test]
fn the_earlier_run_can_be_kept_as_a_trace_of_its_own() {
    let emulator = Ovniemu::find_or_skip();
    let mut options = Options::default();
    options.choices.set("part", "2").unwrap();
    let (mut kept, mut all) = (0, 0);
    for seed in seeds() {
        let case = Rewritten::new(seed);
        let (repair, target) = case.trace().mended(&options);
        let findings = repair.after.findings();
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "seed {seed}: {findings:?}");
        let stream = stream_of(&target);
        let spans = spans_of(stream);
        let mut target_events = spans.iter().map(|span| &stream[span.clone()]);
        for span in &case.left {
            let event = &case.older.bytes[span.clone()];
            kept += usize::from(target_events.clone().any(|one| one == event));
            if target_events.clone().any(|one| one == event) {
                target_events.by_ref().find(|one| *one == event);
            }
        }
        all += case.left.len();
        let newer = spans_of(&case.newer.bytes).len();
        assert!(repair.records_lost() >= u64::try_from(newer).unwrap(), "seed {seed}");
        if let Some(emulator) = &emulator {
            let verdict = emulator.lint(&target);
            assert!(verdict.accepted, "seed {seed}: {}", verdict.first_error);
        }
    }
    notice::say(&format!("events of earlier runs: {kept} of {all} kept"));
    // The ends of states whose beginning was written over have nothing to end.
    assert!(kept * 100 >= all * 97, "{kept} of {all}");
}

#[test]
fn the_earlier_run_may_be_any_share_of_its_stream() {
    if is_left_to_the_gate("the earlier run may be any share of its stream") {
        return;
    }
    let mut options = Options::default();
    options.choices.set("part", "2").unwrap();
    for seed in seeds().take(20) {
        let case = Rewritten::nearly_all(seed);
        let (repair, _) = case.trace().mended(&options);
        let findings = repair.after.findings();
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "seed {seed}: {findings:?}");
        assert!(repair.after.tally.records > 0, "seed {seed}");
    }
}

#[test]
fn a_run_that_was_killed_over_a_longer_one_keeps_its_own_events() {
    for seed in seeds() {
        let case = Rewritten::new(seed);
        let spans = spans_of(&case.newer.bytes);
        // Up to an event, as a flush leaves it, but after the first few.
        let count = spans.len() / 2 + usize::try_from(seed % 7).unwrap();
        let end = spans[count - 1].end;
        let bytes = [&case.newer.bytes[..end], &case.older.bytes[end..]].concat();
        let left = spans_of(&case.older.bytes).iter().filter(|span| span.start >= end).count();
        let trace = Trace::of(&thread_of_run().killed(), case.newer.clone());
        let (repair, target) = trace.change(OBS, |old| *old = bytes).mended(&Options::default());
        let findings = repair.before.findings();
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "seed {seed}: {findings:?}");
        let target = stream_of(&target);
        assert!(target.starts_with(&case.newer.bytes[..end]), "seed {seed}");
        let lost = repair.records_lost();
        assert_eq!(lost, u64::try_from(left).unwrap(), "seed {seed}: {findings:?}");
    }
}

#[test]
fn the_option_needs_a_stream_with_two_runs() {
    let mut options = Options::default();
    options.choices.set("part", "2").unwrap();
    let sound = Trace::of(&thread_of_run(), random_run(1, 1_000, 20));
    let (repair, target) = sound.mended(&options);
    assert_eq!((repair.outcome, &target), (Outcome::Clean, &sound));
    let format = repair.before.format.unwrap();
    let reason = format.find_misapplied(&options.choices, &repair.before);
    assert!(reason.is_some_and(|reason| reason.contains("--part 2 does not apply")));
    let (repair, _) = Rewritten::new(3).trace().mended(&options);
    assert_eq!(format.find_misapplied(&options.choices, &repair.before), None);
}

#[test]
fn a_killed_run_keeps_its_own_events_and_makes_up_none_for_the_one_that_it_cut() {
    let mut cases = 0;
    for seed in seeds() {
        let older = random_run(seed, 1_000_000, 60 + usize::try_from(seed % 300).unwrap());
        let newer = random_run(seed + 1, older.clock + 5_000, 40);
        // A buffer holds complete events, so a killed run ends after one of them.
        let earlier = spans_of(&older.bytes);
        let cuts_event = |at: usize| earlier.iter().any(|span| span.start < at && at < span.end);
        let ends = spans_of(&newer.bytes).into_iter().map(|span| span.end).skip(2);
        let ends: Vec<usize> = ends.filter(|end| cuts_event(*end)).collect();
        if ends.is_empty() {
            continue;
        }
        let mut random = Random(seed ^ 0x6b69_6c6c);
        let kept = ends[random.below(ends.len())];
        let left = earlier.iter().filter(|span| span.start >= kept).count();
        cases += 1;
        let bytes = [&newer.bytes[..kept], &older.bytes[kept..]].concat();
        let trace = Trace::of(&thread_of_run().killed(), newer.clone());
        let trace = trace.change(OBS, |stored| stored.clone_from(&bytes));
        let (repair, target) = trace.mended(&Options::default());
        let case = format!("seed {seed}, {kept} bytes: {:?}", repair.before.counts());
        assert!(stream_of(&target).starts_with(&newer.bytes[..kept]), "{case}");
        assert_eq!(repair.before.count(&rules::DAMAGED_BYTES), 0, "{case}");
        assert_eq!(repair.records_lost(), u64::try_from(left).unwrap(), "{case}");
    }
    notice::say(&format!("killed runs that cut an event of a longer one: {cases}"));
    assert!(cases > 2, "{cases}");
}

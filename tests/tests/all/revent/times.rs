//! Start and end that the recorder never wrote, or long before and after the events.

use tracemend::{FileSet, Options, Outcome};
use tracemend_tests::forge::revent::{Built, Layout, session};
use tracemend_tests::judge::input::Revent;
use tracemend_tests::judge::revent::Wlauto;
use tracemend_tests::mended::mended_as;
use tracemend_tests::sweep::is_left_to_the_gate;

/// A recording of a device that has been up for `uptime` seconds.
fn after(uptime: i64, times: Option<[(u64, u64); 2]>) -> Built {
    let mut recording = session(Layout::V3);
    let first = recording.events[0].time;
    for event in &mut recording.events {
        event.time += uptime * 1_000_000 - first;
    }
    recording.times = times;
    recording.build()
}

/// The codes of a check.
fn codes(bytes: &[u8]) -> Vec<&'static str> {
    let report = tracemend::check(&FileSet::single("recording", bytes), &Options::default());
    report.counts().keys().copied().collect()
}

/// Start, end, and the time of the first event, as they are stored.
fn stored(built: &Built, bytes: &[u8]) -> [(u64, u64); 3] {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let pair = |at: usize| (word(at), word(at + 8));
    [pair(built.prefix + 8), pair(built.prefix + 24), pair(built.events + 2)]
}

#[test]
fn the_start_of_a_killed_recorder_is_its_first_event_whatever_the_uptime_was() {
    if is_left_to_the_gate(
        "the start of a killed recorder is its first event whatever the uptime was",
    ) {
        return;
    }
    let tool = Revent::find_or_skip();
    let reader = Wlauto::find_or_skip();
    for uptime in [5, 59, 61, 900, 2_671, 3_599, 3_601, 90_000] {
        // Both times were never written, or are what lay on the stack.
        for times in [[(0, 0), (0, 0)], [(1, 7), (2, 9)], [(0, 0), (1 << 40, 3)]] {
            let built = after(uptime, Some(times));
            let bytes = built.with(built.prefix, &[0; 8]);
            let (repair, target) = mended_as("recording", &bytes, &Options::default());
            assert!(!repair.after.has_errors(), "{uptime}: {:?}", repair.after.counts());
            let [start, end, first] = stored(&built, &target);
            assert!(start == first || (start == (1, 7) && uptime <= 61), "{uptime}: {start:?}");
            assert!(end >= start && end.0 < first.0 + 60, "{uptime}: {end:?}");
            if times == [(0, 0); 2] {
                assert_eq!((repair.outcome, start), (Outcome::Repaired, first), "{uptime}");
            }
            if let Some(tool) = &tool {
                let dump = tool.dump(&target).unwrap();
                let expected = format!("start time: {}.{:06} ", start.0, start.1);
                assert!(dump.contains(&expected), "{uptime}: {dump}");
            }
            if let Some(reader) = &reader {
                let read = reader.read(&[target]).remove(0).unwrap();
                assert_eq!(read.events.len(), built.count, "{uptime}");
            }
        }
    }
}

#[test]
fn a_complete_recording_whose_start_is_0_is_reported_and_repaired_without_loss() {
    let end = |uptime: i64| (u64::try_from(uptime).unwrap() + 20, 0);
    for uptime in [61, 2_671, 90_000] {
        let built = after(uptime, Some([(0, 0), end(uptime)]));
        assert_eq!(codes(&built.bytes), ["RV0024"], "{uptime}");
        let (repair, target) = mended_as("recording", &built.bytes, &Options::default());
        assert_eq!(repair.outcome, Outcome::Repaired, "{uptime}");
        let [start, stored_end, first] = stored(&built, &target);
        assert_eq!((start, stored_end), (first, end(uptime)), "{uptime}");
        assert!(codes(&target).is_empty(), "{uptime}");
        // Without an end either.
        let built = after(uptime, Some([(0, 0); 2]));
        assert_eq!(codes(&built.bytes), ["RV0024"], "{uptime}");
        let (repair, target) = mended_as("recording", &built.bytes, &Options::default());
        assert_eq!(repair.outcome, Outcome::Repaired, "{uptime}");
        assert_eq!(stored(&built, &target)[0], first, "{uptime}");
    }
    // A writer that counts from 0.
    assert!(codes(&after(30, Some([(0, 0), end(30)])).bytes).is_empty());
}

#[test]
fn a_start_long_before_the_first_event_is_a_warning_and_stays() {
    for (start, end, expected) in [
        (9_990, 10_010, &[][..]),
        (9_401, 10_010, &[]),
        (9_399, 10_010, &["RV0020"]),
        (9_990, 13_500, &[]),
        (9_990, 13_700, &["RV0020"]),
    ] {
        let built = after(10_000, Some([(start, 0), (end, 0)]));
        assert_eq!(codes(&built.bytes), expected, "{start} to {end}");
        let (repair, target) = mended_as("recording", &built.bytes, &Options::default());
        assert_eq!((repair.outcome, target == built.bytes), (Outcome::Clean, true), "{start}");
        let options = Options { lossy_warnings: true, ..Options::default() };
        let (_, target) = mended_as("recording", &built.bytes, &options);
        let [start_after, end_after, first] = stored(&built, &target);
        let waits = !expected.is_empty();
        assert_eq!(start_after == first, waits && start < 9_400, "{start}");
        assert_eq!(end_after == (end, 0), !(waits && end > 13_600), "{end}");
        assert!(codes(&target).is_empty(), "{start} to {end}");
    }
}

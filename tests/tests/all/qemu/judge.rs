//! QEMU replays repaired logs. The long campaign is in `tests/tools/qemu_campaign.rs`.

use std::time::Duration;

use tracemend::FormatId;
use tracemend::{FileSet, Options, RedactRequest, Severity};
use tracemend_tests::judge::qemu::{
    Build, End, Guest, Hand, closed_at, damaged, events, killed, mend,
};
use tracemend_tests::notice;
use tracemend_tests::sweep::{Share, is_left_to_the_gate, side_by_side};

fn has_event(log: &[u8], name: &str) -> bool {
    events(log).iter().any(|event| event.1 == name)
}

#[test]
fn a_real_recording_has_no_warning_and_contains_the_events_of_the_guest() {
    if is_left_to_the_gate("a real recording has no warning and contains the events of the guest") {
        return;
    }
    let wanted: [(Guest, Hand, &[&str]); 3] = [
        (Guest::Plain, Hand::On, &["ASYNC_INPUT", "ASYNC_CHAR_READ", "ASYNC_BLOCK", "CHAR_WRITE"]),
        (Guest::Audio, Hand::Off, &["AUDIO_OUT", "AUDIO_IN"]),
        (Guest::Random, Hand::Off, &["RANDOM"]),
    ];
    for build in Build::all_or_skip() {
        side_by_side(wanted.to_vec(), |(guest, hand, names)| {
            let log = build.machine(guest, 15).record(hand).unwrap();
            let report = tracemend::check(&FileSet::single("log", &log), &Options::default());
            let found: Vec<_> =
                report.findings().iter().filter(|f| f.severity > Severity::Info).collect();
            assert!(found.is_empty(), "{} {guest:?}: {found:#?}", build.version);
            assert_eq!(report.format, Some(FormatId::QEMU));
            for name in names {
                assert!(has_event(&log, name), "{} {guest:?}: no {name}", build.version);
            }
        });
    }
}

/// Random numbers of zero change no path of a guest that prints them. A guest that waits for a key
/// or a packet hangs in its replay when it gets another one (docs/review.md).
#[test]
fn a_redacted_log_has_the_same_events_and_random_numbers_replay_to_the_end() {
    if is_left_to_the_gate("replays of redacted QEMU logs") {
        return;
    }
    for build in Build::all_or_skip() {
        let guests = [(Guest::Random, Hand::Off), (Guest::Net, Hand::Off)];
        side_by_side(guests.to_vec(), |(guest, hand)| {
            let machine = build.machine(guest, 5);
            let log = machine.record(hand).unwrap();
            let files = FileSet::single("log", &log);
            let redacted =
                tracemend::redact(&files, &Options::default(), &RedactRequest::default()).unwrap();
            let what = format!("{} {guest:?}", build.version);
            assert!(!redacted.redacted.is_empty(), "{what}: nothing private");
            let bytes = redacted.repair.output(&files).bytes(0).to_vec();
            let names = |log: &[u8]| events(log).into_iter().map(|one| one.1).collect::<Vec<_>>();
            assert_eq!(names(&bytes), names(&log), "{what}");
            if guest == Guest::Random {
                let replayed = machine.replay(&bytes);
                assert_eq!(replayed.end, End::Code(0), "{what}: {}", replayed.stderr);
            }
        });
    }
}

#[test]
fn a_killed_recording_with_packets_replays_after_a_repair() {
    if is_left_to_the_gate("a killed QEMU recording with packets") {
        return;
    }
    for build in Build::all_or_skip() {
        let machine = build.machine(Guest::Net, 0);
        let log = machine.record_until(Duration::from_secs(6), libc::SIGKILL, Hand::Off).unwrap();
        assert!(log.len() > 12, "nothing reached the disk");
        let mended = mend(&log, &build.release()).unwrap();
        assert!(has_event(&mended.bytes, "ASYNC_NET"), "{}: no packet", build.version);
        let replayed = machine.replay(&mended.bytes);
        assert_eq!(replayed.end, End::Code(0), "{}: {}", build.version, replayed.stderr);
    }
}

#[test]
fn a_killed_recording_replays_to_its_end_after_a_repair() {
    if is_left_to_the_gate("a killed recording replays to its end after a repair") {
        return;
    }
    for build in Build::all_or_skip() {
        // One after the other: on a busy machine a recording of a second may not reach the disk.
        let guests = [(Guest::Plain, 1500), (Guest::Audio, 1700), (Guest::Random, 1900)];
        for (guest, millis) in Share::one_in(1).of(guests) {
            let machine = build.machine(guest, 0);
            let after = Duration::from_millis(millis);
            let log = machine.record_until(after, libc::SIGKILL, Hand::Off).unwrap();
            assert_eq!(log[..4], [0; 4], "a killed recorder leaves version 0");
            let refused = machine.replay(&log);
            assert_eq!(refused.end, End::Code(1), "{}", refused.stderr);
            let mended = mend(&log, &build.release()).unwrap();
            let replayed = machine.replay(&mended.bytes);
            let what = format!("{} {guest:?} after {}", build.version, mended.last);
            assert_eq!(replayed.end, End::Code(0), "{what}: {}", replayed.stderr);
        }
    }
}

#[test]
fn a_recording_on_a_full_disk_replays_after_a_repair() {
    if is_left_to_the_gate("a recording on a full disk replays after a repair") {
        return;
    }
    let builds = Build::all_or_skip();
    let Some(disk) = FullDisk::mount() else {
        notice::skip("a QEMU log on a full disk", "a tmpfs cannot be mounted here");
        return;
    };
    for build in builds {
        let machine = build.machine(Guest::Plain, 20);
        let path = disk.0.path().join("log");
        let (end, log) = machine.record_to(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((end, &log[..4]), (End::Code(0), &[0; 4][..]), "{}", build.version);
        let mended = mend(&log, &build.release()).unwrap();
        let replayed = machine.replay(&mended.bytes);
        assert_eq!(replayed.end, End::Code(0), "{}: {}", build.version, replayed.stderr);
    }
}

/// A file system of 16 KiB, which every recording of 20 rounds fills. Unmounted when it is dropped.
struct FullDisk(tempfile::TempDir);

impl FullDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let mut command = std::process::Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"]).arg(folder.path());
        let mounted = command.stderr(std::process::Stdio::null()).status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_log_with_end_but_without_shutdown_hangs_until_it_is_repaired() {
    if is_left_to_the_gate("QEMU replays that hang") {
        return;
    }
    // A replay that hangs takes its whole time.
    for build in Share::one_in(64).of(Build::all_or_skip()) {
        let machine = build.machine(Guest::Plain, 0);
        let after = Duration::from_millis(1500);
        let log = machine.record_until(after, libc::SIGTERM, Hand::Off).unwrap();
        let pair = log.len() - 2;
        // END after the last event, and END after the header: neither replay ends.
        let late = [&log[..pair], &log[pair + 1..]].concat();
        let early = [&log[..12], &log[pair + 1..]].concat();
        side_by_side(vec![late, early], |hanging| {
            // A machine of its own: two replays at once need two folders.
            let machine = build.machine(Guest::Plain, 0);
            let len = hanging.len();
            let end = machine.replay(&hanging).end;
            assert_eq!(end, End::Hung, "{}: {len} bytes", build.version);
            let mended = mend(&hanging, &build.release()).unwrap();
            let replayed = machine.replay(&mended.bytes);
            let what = format!("{}: {len} bytes: {}", build.version, replayed.stderr);
            assert_eq!(replayed.end, End::Code(0), "{what}");
        });
    }
}

#[test]
fn a_log_that_is_closed_before_damage_replays_to_its_end() {
    if is_left_to_the_gate("a log that is closed before damage replays to its end") {
        return;
    }
    for build in Build::all_or_skip() {
        side_by_side(vec![10_u64, 20, 30], |seed| {
            let machine = build.machine(Guest::Plain, 5);
            let log = machine.record(Hand::Off).unwrap();
            let cases = (seed..).map(|seed| damaged::repair(&log, &build.release(), seed));
            let case = cases.take(30).find(damaged::Case::is_closed_before_one_damage).unwrap();
            let case = case.replayed(&machine);
            let what = format!("{} from seed {seed}: {}", build.version, case.damaged.describe());
            assert_eq!(case.replay, Some(End::Code(0)), "{what}");
        });
    }
}

#[test]
fn a_log_truncated_before_a_demanded_event_replays_only_after_a_repair() {
    if is_left_to_the_gate("a log truncated before a demanded event replays only after a repair") {
        return;
    }
    let demanded = [
        (Guest::Plain, "CHAR_WRITE"),
        (Guest::Audio, "AUDIO_OUT"),
        (Guest::Audio, "AUDIO_IN"),
        (Guest::Random, "RANDOM"),
    ];
    for build in Build::all_or_skip() {
        side_by_side(demanded.to_vec(), |(guest, name)| {
            let machine = build.machine(guest, 5);
            let log = machine.record(Hand::Off).unwrap();
            // The first of its kind: no earlier event shows that the guest demands it.
            let (start, _) = events(&log).into_iter().find(|event| event.1 == name).unwrap();
            let start = usize::try_from(start).unwrap();
            let what = format!("{} before {name}", build.version);
            let naive = machine.replay(&closed_at(&log, start)).end;
            assert!(matches!(naive, End::Code(1) | End::Signal(6)), "{what}: {naive:?}");
            let mended = mend(&killed(&log[..start]), &build.release()).unwrap();
            let replayed = machine.replay(&mended.bytes);
            assert_eq!(replayed.end, End::Code(0), "{what}: {}", replayed.stderr);
        });
    }
}

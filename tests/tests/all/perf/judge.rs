//! perf itself judges what the repair of perf.data gives.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use tracemend::Outcome;
use tracemend_tests::forge::perf::{Clean, Mode, Order, clean};
use tracemend_tests::judge::perf::{CPU_CLOCK, End, Perf};
use tracemend_tests::mended::mended;
use tracemend_tests::notice::skip;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Recordings of files that perf reads completely, except tracepoints, whose formats a crash loses.
fn files() -> impl Iterator<Item = Clean> {
    clean().into_iter().filter(|clean| {
        clean.judged() && clean.built.mode == Mode::File && !clean.name.contains("tracepoint")
    })
}

/// With attrs after the records, a cut takes what the samples are decoded by.
fn attrs_come_first(clean: &Clean) -> bool {
    clean.built.attr_spans[0].end <= clean.built.data.start
}

#[test]
fn a_crashed_recording_mended_reads_as_the_whole_one() {
    if is_left_to_the_gate("a crashed recording reads as the whole one after its repair") {
        return;
    }
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for clean in files().filter(attrs_come_first) {
        let (repair, target) = mended(&clean.built.crashed());
        let whole = perf.script_text(&folder.file("whole", &clean.built.bytes));
        let again = perf.script_text(&folder.file("repaired", &target));
        // Modifiers of event names stand in EVENT_DESC alone, which a crash takes.
        let same = again.stdout.replace(":HG:", ":") == whole.stdout.replace(":HG:", ":");
        if repair.outcome != Outcome::Repaired || !same {
            let after = repair.after.counts();
            wrong.push(format!("{}: {:?} same {same} {after:?}", clean.name, repair.outcome));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Counts the samples of each event that linux-perf-data reads; `None` if it does not read the
/// recording to its end.
fn samples_of_linux_perf_data(bytes: &[u8]) -> Option<Vec<usize>> {
    let reader = PerfFileReader::parse_file(Cursor::new(bytes)).ok()?;
    let (mut file, mut records) = (reader.perf_file, reader.record_iter);
    let mut samples = vec![0; file.event_attributes().len()];
    while let Some(record) = records.next_record(&mut file).ok()? {
        let PerfFileRecord::EventRecord { attr_index, record } = record else { continue };
        samples[attr_index] += usize::from(matches!(record.parse().ok()?, EventRecord::Sample(_)));
    }
    Some(samples)
}

#[test]
fn linux_perf_data_reads_every_sample_of_a_crashed_recording_mended() {
    let (mut read, mut several) = (0, 0);
    for clean in files().filter(attrs_come_first) {
        let Some(whole) = samples_of_linux_perf_data(&clean.built.bytes) else { continue };
        let (_, target) = mended(&clean.built.crashed());
        read += usize::from(whole.iter().any(|count| *count > 0));
        several += usize::from(whole.iter().filter(|count| **count > 0).count() > 1);
        assert_eq!(samples_of_linux_perf_data(&target), Some(whole), "{}", clean.name);
    }
    assert!(read >= 20 && several >= 1, "{read} recordings, {several} with several events");
}

#[test]
fn a_cut_recording_mended_shows_every_whole_sample_and_never_crashes_perf() {
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for clean in files().filter(attrs_come_first) {
        if clean.built.order == Order::Big {
            continue;
        }
        let built = &clean.built;
        let step = (built.bytes.len() - built.data.start).div_ceil(6);
        let cuts = (built.data.start + 1..built.bytes.len()).step_by(step.max(1));
        for len in Share::one_in(3).of(cuts) {
            let (repair, target) = mended(&built.cut(len));
            if repair.outcome == Outcome::CannotRepair {
                if built.records.iter().any(|record| record.range().end <= len) {
                    wrong.push(format!("{} at {len}: {:?}", clean.name, repair.after.counts()));
                }
                continue;
            }
            let verdict = perf.stats(&folder.file("cut", &target));
            let wanted = usize::try_from(repair.before.tally.samples).unwrap();
            let lines = perf.samples(&folder.file("cut", &target)).count;
            // A group that is read together prints a line for each of its values.
            let plain = clean.lines == built.samples();
            let sound = matches!(verdict.end, End::Code(_)) && (!plain || lines == wanted);
            if !sound || repair.after.tally.samples != repair.before.tally.samples {
                wrong.push(format!(
                    "{} at {len}: {:?} {lines} for {wanted}",
                    clean.name, verdict.end
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_killed_recording_mended_gives_perf_every_sample_on_disk() {
    if is_left_to_the_gate("a killed recording gives perf every sample on disk after a repair") {
        return;
    }
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = Folder::new();
    let kinds: [&[&str]; 5] = [&[], &["-g"], &["-z"], &["-d"], &["--call-graph", "dwarf,4096"]];
    for options in kinds {
        let path = folder.0.path().join("killed.data");
        let options: Vec<&str> =
            CPU_CLOCK.iter().chain(&["-m", "1"]).chain(options).copied().collect();
        let workload = ["/usr/bin/sha256sum", "/dev/zero"];
        if let Err(why) = perf.record_and_kill(&options, &workload, &path, 30_000) {
            skip(&format!("perf record {options:?}"), &why);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let (repair, target) = mended(&bytes);
        assert!(
            matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss),
            "{options:?}: {:?} {:?}",
            repair.outcome,
            repair.after.counts()
        );
        let verdict = perf.samples(&folder.file("mended.data", &target));
        assert!(verdict.is_success(), "{options:?}: {:?} {}", verdict.end, verdict.stderr);
        assert_eq!(
            u64::try_from(verdict.count).unwrap(),
            repair.before.tally.samples,
            "{options:?}"
        );
        assert!(verdict.count > 50, "{options:?}: only {} samples", verdict.count);
    }
}

#[test]
fn a_sound_recording_of_perf_gives_no_finding_and_is_left_alone() {
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = Folder::new();
    let kinds: [&[&str]; 6] =
        [&[], &["-g"], &["-z"], &["-d", "-W"], &["--call-graph", "dwarf,1024"], &["-T", "-R"]];
    for options in Share::one_in(1).of(kinds) {
        let path = folder.0.path().join("sound.data");
        let options: Vec<&str> = CPU_CLOCK.iter().chain(options).copied().collect();
        let workload = ["/usr/bin/find", "/usr/share/doc", "-name", "x*"];
        if let Err(why) = perf.record(&options, &workload, &path) {
            skip(&format!("perf record {options:?}"), &why);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let (repair, target) = mended(&bytes);
        assert_eq!(repair.outcome, Outcome::Clean, "{options:?}: {:?}", repair.before.findings());
        assert!(!repair.before.has_errors());
        assert_eq!(target, bytes);
    }
}

#[test]
fn a_real_recording_cut_anywhere_keeps_every_whole_sample() {
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = Folder::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    let names = ["plain.data", "callgraph.data", "zstd.data", "wide.data", "pipe.data"];
    // A linear congruential generator: the same cuts in every run.
    let mut random = 1_u64;
    for name in names {
        let bytes = std::fs::read(corpus.join(name)).unwrap();
        // After header, ids and attrs: those of a pipe come as records.
        let start = if name == "pipe.data" { 1_000 } else { 400 };
        for _ in 0..Share::one_in(20).count(100) {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let span = u64::try_from(bytes.len() - start).unwrap();
            let len = start + usize::try_from((random >> 33) % span).unwrap();
            let (repair, target) = mended(&bytes[..len]);
            assert!(
                matches!(
                    repair.outcome,
                    Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss
                ),
                "{name} at {len}: {:?}",
                repair.after.counts()
            );
            let verdict = perf.samples(&folder.file("cut.data", &target));
            assert!(verdict.is_success(), "{name} at {len}: {:?} {}", verdict.end, verdict.stderr);
            let wanted = usize::try_from(repair.before.tally.samples).unwrap();
            assert_eq!(verdict.count, wanted, "{name} at {len}");
        }
    }
}

//! `--for-perf`: a recording of a newer perf, written for an older one, and the reverse.

use std::collections::BTreeSet;
use std::path::Path;

use tracemend::{FileSet, Options, Outcome};
use tracemend_tests::forge::perf::{Attr, Order, Record, Recording, by_name, sample_type};
use tracemend_tests::judge::perf::agreement::recordings;
use tracemend_tests::judge::perf::{Perf, Sample};
use tracemend_tests::mended::mended_as;
use tracemend_tests::notice::skip;
use tracemend_tests::sweep::is_left_to_the_gate;

const WORKLOAD: [&str; 2] = ["/usr/bin/sha256sum", "/usr/bin/perf"];

/// Writes a recording for a version of perf.
fn written_for(bytes: &[u8], version: &str) -> (Outcome, Vec<u8>) {
    let options = Options::default().with_choice("for-perf", version).unwrap();
    let (repair, target) = mended_as("perf.data", bytes, &options);
    assert!(!repair.after.has_errors(), "{:?}", repair.after.findings());
    (repair.outcome, target)
}

/// Writes bytes to a file and asks a perf for the samples, and whether `perf report` shows any.
fn shown(perf: &Perf, bytes: &[u8], folder: &Path) -> (Vec<Sample>, bool) {
    let path = folder.join("perf.data");
    std::fs::write(&path, bytes).unwrap();
    let report = perf.report(&path);
    let has_share = report.is_success() && report.stdout.contains('%');
    (perf.samples_by_event(&path), has_share)
}

#[test]
fn features_and_unknown_records_of_a_file_are_named_and_left_out_for_an_older_perf() {
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(sample_type::IP)]);
    let sample = recording.maker(0).sample();
    // perf inject leaves the features of a pipe in the records of the file that it makes.
    let feature = Record::new(80, 0, [34_u64.to_le_bytes(), 64_u64.to_le_bytes()].concat());
    let unknown = Record::new(98, 0, vec![0; 8]);
    recording.push(feature).push(sample).push(unknown);
    let built = recording.build();
    let report = tracemend::check(&FileSet::single("perf.data", &built.bytes), &Options::default());
    let note = report.findings().iter().find(|finding| finding.rule.code == "PD0035");
    let message = &note.expect("a note").message;
    assert!(message.contains("HEADER_FEATURE up to 34"), "{message}");
    assert!(message.contains("type 98 (perf 6.16)"), "{message}");
    let (outcome, older) = written_for(&built.bytes, "6.1");
    assert_eq!(outcome, Outcome::RepairedWithLoss);
    assert_eq!(older.len(), built.bytes.len() - 24 - 16);
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    std::fs::write(&path, &older).unwrap();
    let report = perf.report(&path);
    assert!(report.is_success() && report.stdout.contains('%'), "{}", report.stderr);
}

/// The oldest and the newest of some perfs, without the one that recorded.
fn others<'p>(perfs: &'p [Perf], recorder: &Perf) -> Vec<&'p Perf> {
    let ends: Vec<&Perf> = perfs.first().into_iter().chain(perfs.last()).collect();
    ends.into_iter().filter(|perf| perf.version() != recorder.version()).collect()
}

#[test]
fn compressed_records_are_those_of_the_version_that_is_asked_for() {
    for name in ["compressed2", "compressed2_spanning"] {
        let newer = by_name(name).built;
        let (outcome, older) = written_for(&newer.bytes, "6.1");
        assert_eq!(outcome, Outcome::Repaired, "{name}");
        let kinds = |bytes: &[u8]| {
            let set = FileSet::single("perf.data", bytes);
            let report = tracemend::check(&set, &Options::default());
            let codes: BTreeSet<&str> = report.counts().keys().copied().collect();
            (report.tally.records, report.tally.samples, codes.contains("PD0035"))
        };
        let (records, samples, needs_newer) = kinds(&newer.bytes);
        assert!(needs_newer, "{name}");
        assert_eq!(kinds(&older), (records, samples, false), "{name}");
        // A check with the option tells whether the version reads it.
        let asked = Options::default().with_choice("for-perf", "6.1").unwrap();
        let report = tracemend::check(&FileSet::single("perf.data", &newer.bytes), &asked);
        assert!(report.has_errors(), "{name}");
        // The version that reads it as it is gets it as it is.
        assert_eq!(written_for(&newer.bytes, "6.16"), (Outcome::Clean, newer.bytes), "{name}");
        let Some(perf) = Perf::find_or_skip() else { continue };
        let folder = tempfile::tempdir().unwrap();
        let (found, _) = shown(&perf, &older, folder.path());
        assert_eq!(found.len() as u64, samples, "{name} by perf {}", perf.version());
    }
}

#[test]
fn what_one_perf_recorded_is_shown_by_the_others_as_by_itself() {
    if is_left_to_the_gate("recordings of each perf, written for the others") {
        return;
    }
    let found = Perf::find_or_skip().into_iter().chain(Perf::newer_or_skip());
    let mut perfs: Vec<Perf> = found.collect();
    perfs.sort_by_key(Perf::release);
    let folder = tempfile::tempdir().unwrap();
    for recorder in &perfs {
        let made = match recordings(recorder, folder.path()) {
            Ok(made) => made,
            Err(why) => {
                skip("recordings of a perf", &why);
                continue;
            }
        };
        for (name, bytes) in made {
            let (wanted, has_share) = shown(recorder, &bytes, folder.path());
            assert!(!wanted.is_empty() && has_share, "{name}: nothing was recorded");
            for reader in others(&perfs, recorder) {
                let (_, target) = written_for(&bytes, reader.version());
                let found = shown(reader, &target, folder.path());
                let by = reader.version();
                assert!(
                    found == (wanted.clone(), true),
                    "{name}: {} samples by {by}",
                    found.0.len()
                );
            }
        }
        let path = folder.path().join("stat");
        if let Err(why) = recorder.record_stat(&["-e", "task-clock"], &WORKLOAD, &path) {
            skip("perf stat record", &why);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        for reader in others(&perfs, recorder) {
            let (_, target) = written_for(&bytes, reader.version());
            std::fs::write(&path, &target).unwrap();
            let verdict = reader.script_text(&path);
            let (by, of) = (reader.version(), recorder.version());
            assert!(verdict.is_success() && verdict.count > 1, "stat of {of} by {by}: {verdict:?}");
        }
    }
}

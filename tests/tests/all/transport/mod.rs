//! Recordings that were wrapped or converted on their way: recognised, undone, and named.

mod archives;

use std::path::Path;
use std::sync::LazyLock;

use tracemend::catalogue;
use tracemend::kit::source::Source;
use tracemend::transport::{Arrived, Memory, arrive, undo};
use tracemend::{FileSet, FormatId, Options, Outcome, Plan, Safety, Severity, Wrapper};
use tracemend_tests::forge::qemu::clean::keys;
use tracemend_tests::forge::qemu::ids;
use tracemend_tests::known_originals::{CASES, Files, Original, SEED, SUBJECTS, damaged, set};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};
use tracemend_tests::transport::{
    Encode, RECORDER, WAYS, to_crlf, to_gzip, to_stamped, to_tar, to_utf8, to_zip,
};

/// Bytes that are not ASCII, at least, of a file that shows a conversion of characters.
const HIGH: usize = 8;

fn arrived(files: &Files) -> Option<Arrived<Vec<u8>>> {
    arrive(&set(files), &Options::default(), &Memory).unwrap()
}

fn bytes_of(recording: &FileSet<'_>) -> Files {
    let files = recording.files().iter();
    files.map(|file| (file.name.clone(), file.bytes.to_vec())).collect()
}

/// A recording with the file of its records changed, if the change can be seen.
fn changed(original: &Original, encode: Encode) -> Option<Files> {
    let longest = |(_, (name, bytes)): &(usize, &(String, Vec<u8>))| {
        if name.ends_with(".json") { 0 } else { bytes.len() }
    };
    let (index, (_, bytes)) = original.files.iter().enumerate().max_by_key(longest)?;
    let changed = encode(bytes);
    let high = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    if changed == *bytes || high < HIGH {
        return None;
    }
    let mut files = original.files.clone();
    files[index].1 = changed;
    Some(files)
}

/// The originals without an error, with their format.
static SOUND: LazyLock<Vec<(&str, &Original)>> = LazyLock::new(|| {
    let all = SUBJECTS.iter().flat_map(|subject| {
        subject.originals.iter().map(|original| (subject.format.name(), original))
    });
    let is_sound = |original: &Original| {
        !tracemend::check(&set(&original.files), &Options::default()).has_errors()
    };
    all.filter(|(_, original)| is_sound(original)).collect()
});

/// Whether the file of the records begins with bytes that a format declares.
fn begins(original: &Original) -> bool {
    let Some(files) = changed(original, to_crlf_before) else { return false };
    let pairs = original.files.iter().zip(&files);
    let mut changed = pairs.filter(|(one, two)| one != two).map(|((_, bytes), _)| bytes);
    changed
        .any(|bytes| catalogue::begins(bytes) || Wrapper::by_magic(&Source::new(bytes)).is_some())
}

/// A change of each file.
fn to_crlf_before(bytes: &[u8]) -> Vec<u8> {
    [b"\r\n", bytes].concat()
}

/// Whether a recording with CR LF has no fault, or one: a byte more in the samples of a microphone
/// is nothing that a check can see.
fn has_one_fault_at_most(original: &Original) -> bool {
    let Some(files) = changed(original, to_crlf) else { return true };
    let report = tracemend::check(&set(&files), &Options::default());
    report.counts().values().sum::<u64>() <= 1
}

/// Returns why a way is not undone as it should be.
fn find_fault(original: &Original, files: &Files) -> Option<String> {
    let stored = set(files);
    let Some(arrived) = arrived(files) else {
        // One byte in a short recording is found where it is.
        let repair = tracemend::repair(&stored, &Options::default());
        let is_exact = repair.safety() == Some(Safety::Exact);
        let is_original = is_exact && bytes_of(&repair.output(&stored)) == original.files;
        let report = tracemend::check(&stored, &Options::default());
        return (!is_original).then(|| format!("not recognised: {:?}", report.counts()));
    };
    let recording = arrived.view(&stored);
    if bytes_of(&recording) != original.files {
        return Some("other bytes".to_string());
    }
    let report = tracemend::check(&recording, &Options::default());
    let codes = report.findings().iter().filter(|one| one.severity != Severity::Info);
    let codes: Vec<&str> = codes
        .filter(|one| one.severity == Severity::Error || one.rule.code.starts_with("TR"))
        .map(|finding| finding.rule.code)
        .collect();
    if codes.len() != arrived.undone.len() || !codes.iter().all(|code| code.starts_with("TR")) {
        return Some(format!("findings {codes:?}"));
    }
    let repair = tracemend::repair(&recording, &Options::default());
    let is_exact = repair.outcome == Outcome::Repaired && repair.safety() == Some(Safety::Exact);
    let is_original = bytes_of(&repair.output(&recording)) == original.files;
    (!is_exact || !is_original).then(|| format!("{:?}", repair.outcome))
}

#[test]
fn every_way_is_undone_exactly_and_is_the_only_finding() {
    if is_left_to_the_gate("every way is undone exactly and is the only finding") {
        return;
    }
    let pairs = WAYS.iter().flat_map(|way| SOUND.iter().map(move |sound| (way, sound)));
    let (mut faults, mut count) = (Vec::new(), 0);
    for ((name, encode), (format, original)) in Share::one_in(40).of(pairs) {
        // Brotli has no magic and no checksum: other bytes may be a trace as well, also those in
        // another container of apitrace.
        let is_packed = ["gzip", "zstd", "UTF-8"].iter().any(|way| name.contains(way));
        let is_doubtful = original.name.ends_with("_Brotli") && is_packed;
        // These ways are seen by the first bytes alone.
        let is_silent =
            ["words of 16", "words of 32", "mark of", "lines of adb", "head of HTTP", "of ssh"];
        let is_silent = is_silent.iter().any(|way| name.contains(way)) && !begins(original);
        let files = changed(original, *encode).filter(|_| !is_doubtful && !is_silent);
        let Some(files) = files else { continue };
        if name.contains("CR LF") && has_one_fault_at_most(original) {
            continue;
        }
        let fault = find_fault(original, &files);
        // Its last bytes may be text as well; the test below counts them.
        let fault = fault.filter(|_| !name.contains("after it"));
        faults.extend(fault.map(|fault| format!("{format} {}, {name}: {fault}", original.name)));
        count += 1;
    }
    assert!(count > 0);
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn time_stamps_before_lines_are_dropped_where_lines_show_them() {
    if is_left_to_the_gate("time stamps before lines are dropped where lines show them") {
        return;
    }
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let mut count = 0;
    for (format, original) in SOUND.iter() {
        let Some(files) = changed(original, to_stamped) else { continue };
        let pairs = original.files.iter().zip(&files);
        let mut stamped = pairs.filter(|(one, two)| one != two).map(|((_, bytes), _)| bytes);
        if !stamped.any(|bytes| lines(bytes) >= 4) {
            continue;
        }
        let fault = find_fault(original, &files);
        assert!(fault.is_none(), "{format} {}: {fault:?}", original.name);
        count += 1;
    }
    assert!(count >= 5, "{count} recordings");
}

#[test]
fn text_after_a_recording_is_dropped_and_is_the_only_finding() {
    if is_left_to_the_gate("text after a recording is dropped and is the only finding") {
        return;
    }
    let (mut faults, mut count) = (Vec::new(), 0);
    for (format, original) in Share::one_in(1).of(SOUND.iter()) {
        let Some(files) = changed(original, |bytes| [bytes, RECORDER].concat()) else { continue };
        let fault = find_fault(original, &files);
        faults.extend(fault.map(|fault| format!("{format} {}: {fault}", original.name)));
        count += 1;
    }
    // A recording whose last bytes are letters as well has its end among them.
    let most = count.max(50) / 50;
    assert!(faults.len() <= most, "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_recording_that_arrived_as_it_was_is_left_alone() {
    for subject in SUBJECTS {
        for original in subject.originals.iter() {
            assert!(arrived(&original.files).is_none(), "{} {}", subject.format, original.name);
        }
    }
}

#[test]
fn real_recordings_are_left_alone_sound_and_crashed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut count = 0;
    for entry in walkdir::WalkDir::new(corpus).into_iter().map(Result::unwrap) {
        let path = entry.path().display().to_string();
        let is_recording =
            ["/clean/", "/crashed/", "/rules/"].iter().any(|part| path.contains(part));
        let is_made = path.contains("/TR0") || path.ends_with(".report") || path.ends_with(".tsv");
        if !entry.file_type().is_file() || !is_recording || is_made {
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let arrived = arrived(&vec![(name, bytes)]);
        let ways: Option<Vec<&str>> = arrived
            .as_ref()
            .map(|arrived| arrived.undone.iter().map(|one| one.wrapper.name()).collect());
        assert_eq!(ways, None, "{path}");
        count += 1;
    }
    assert!(count >= 300, "{count} recordings");
}

#[test]
fn damage_is_not_taken_for_a_way() {
    for subject in SUBJECTS {
        for number in Share::one_in(16).of(0..CASES) {
            let (original, damaged) = damaged(&subject.originals, SEED, number);
            let Some(arrived) = arrived(&damaged.files) else { continue };
            let case = format!(
                "{} {}, case {number}: {}",
                subject.format,
                original.name,
                damaged.describe()
            );
            let ways: Vec<&str> = arrived.undone.iter().map(|one| one.wrapper.name()).collect();
            panic!("{case}: {ways:?}");
        }
    }
}

#[test]
fn a_bomb_ends_at_its_limit() {
    if is_left_to_the_gate("a bomb ends at its limit") {
        return;
    }
    let mut bomb = b"PERFILE2".to_vec();
    bomb.resize(80 << 20, 0);
    let stored = to_gzip(&bomb);
    let files = FileSet::single("bomb.gz", &stored);
    let mut options = Options::default();
    options.limits.set(&tracemend::limits::UNPACKED, 1 << 20);
    let error = arrive(&files, &options, &Memory).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    assert!(error.to_string().contains("--limit unpacked=N"), "{error}");
    options.limits.set(&tracemend::limits::TRANSPORTS, 0);
    assert!(arrive(&files, &options, &Memory).unwrap().is_none());
}

#[test]
fn a_damaged_wrapper_gives_what_precedes_the_damage_with_loss() {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "perf").unwrap();
    let longest =
        subject.originals.iter().max_by_key(|original| original.files[0].1.len()).unwrap();
    let packed = to_gzip(&longest.files[0].1);
    let stored = vec![("cut.gz".to_string(), packed[..packed.len() * 3 / 4].to_vec())];
    let arrived = arrived(&stored).unwrap();
    let fix = arrived.undone[0].finding.fix.as_ref().unwrap();
    assert_eq!(fix.safety, Safety::Lossy);
    let stored = set(&stored);
    let recording = arrived.view(&stored);
    let exact = Options::default().with_allow(tracemend::Allow::Exact);
    assert_eq!(tracemend::repair(&recording, &exact).outcome, Outcome::CannotRepair);
    let all = tracemend::repair(&recording, &Options::default());
    assert_eq!(all.outcome, Outcome::RepairedWithLoss);
}

#[test]
fn line_ends_that_were_converted_are_exact_only_in_a_sound_recording() {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "perf").unwrap();
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let single = subject.originals.iter().filter(|original| original.files.len() == 1);
    let original = single.max_by_key(|one| lines(&one.files[0].1)).unwrap();
    let mut cut = original.files[0].1.clone();
    cut.truncate(cut.len() - 7);
    let stored = vec![("cut.data".to_string(), to_crlf(&cut))];
    let arrived = arrived(&stored).unwrap();
    let fix = arrived.undone[0].finding.fix.as_ref().unwrap();
    assert_eq!(fix.safety, Safety::Lossy);
    assert_eq!(bytes_of(&arrived.view(&set(&stored)))[0].1, cut);
}

#[test]
fn line_ends_of_a_log_of_qemu_are_converted_back_although_its_events_read_well() {
    let subject = SUBJECTS.iter().find(|subject| subject.format == FormatId::QEMU).unwrap();
    let line_feeds = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let mut cases = 0;
    for original in subject.originals.iter() {
        let (name, bytes) = &original.files[0];
        // One line feed follows a carriage return in every 256th file.
        if line_feeds(bytes) < 2 {
            continue;
        }
        let files = vec![(name.clone(), to_crlf(bytes))];
        let arrived = arrived(&files);
        let back = arrived.map(|arrived| bytes_of(&arrived.view(&set(&files))).remove(0).1);
        assert!(back.as_ref() == Some(bytes), "{}: {}", original.name, back.is_some());
        cases += 1;
    }
    assert!(cases >= 20, "{cases} cases");
}

#[test]
fn a_version_that_was_converted_is_converted_back_although_the_log_is_damaged() {
    let mut cases = 0;
    for ids in ids::all().into_iter().filter(|ids| ids.version == 0x00e0_200a) {
        let log = keys(ids);
        let mut damaged = log.bytes.clone();
        let at = log.marks[log.marks.len() * 3 / 4].start;
        damaged[at] = 200;
        let files = vec![("replay.bin".to_string(), to_crlf(&damaged))];
        let arrived = arrived(&files).expect(ids.release);
        assert!(bytes_of(&arrived.view(&set(&files)))[0].1 == damaged, "{}", ids.release);
        cases += 1;
    }
    assert!(cases > 0);
}

#[test]
fn a_conversion_is_found_where_other_damage_leaves_one_fault_before_and_more_after() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/apitrace/clean/eglinfo.trace");
    let mut damaged = std::fs::read(path).unwrap();
    damaged.drain(0x6939..0x69ce);
    damaged.splice(0x1e99..0x1e99, [0x5a; 40]);
    let files = vec![("eglinfo.trace".to_string(), to_utf8(&damaged, ""))];
    let arrived = arrived(&files).expect("the conversion is recognised");
    assert!(bytes_of(&arrived.view(&set(&files)))[0].1 == damaged);
}

/// Bytes above ASCII of a file in which no other damage hides a conversion of characters.
const HIGH_MANY: usize = 128;

#[test]
fn a_conversion_of_characters_is_found_beside_any_damage() {
    if is_left_to_the_gate("a conversion of characters is found beside any damage") {
        return;
    }
    let sets = || WAYS.iter().filter(|(name, _)| name.ends_with("to UTF-8"));
    assert_eq!(sets().count(), 4);
    let (mut cases, mut lost) = (0, Vec::new());
    for subject in SUBJECTS {
        for number in Share::one_in(4).of(0..CASES) {
            let (original, damaged) = damaged(&subject.originals, SEED, number);
            let [(name, bytes)] = &damaged.files[..] else { continue };
            let high = bytes.iter().filter(|byte| !byte.is_ascii()).count();
            // A trace whose first chunk is damaged is recognised by its calls, after every way.
            let is_sniffed = catalogue::sniff(&set(&damaged.files), &Options::default()).is_some();
            if high < HIGH_MANY || !is_sniffed {
                continue;
            }
            for (way, encode) in sets() {
                let files = vec![(name.clone(), encode(bytes))];
                let back = arrived(&files).map(|arrived| bytes_of(&arrived.view(&set(&files))));
                cases += 1;
                if back.is_none_or(|files| files[0].1 != *bytes) {
                    let damage = damaged.describe();
                    lost.push(format!("{} {}, {way}: {damage}", subject.format, original.name));
                }
            }
        }
    }
    assert!(cases >= 100 && lost.is_empty(), "{} of {cases}: {lost:#?}", lost.len());
}

#[test]
fn a_text_that_begins_like_a_format_is_not_a_conversion() {
    // The magic of apitrace has two letters.
    let text = format!("attention: {}\n", "déjà vu ".repeat(200));
    let files = vec![("notes.txt".to_string(), text.into_bytes())];
    assert!(arrived(&files).is_none());
}

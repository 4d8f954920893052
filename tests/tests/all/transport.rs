//! Recordings that were wrapped or converted on their way: recognised, undone, and named.

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
    Encode, RECORDER, WAYS, to_crlf, to_gzip, to_stamped, to_tar, to_zip,
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
fn a_trace_in_an_archive_is_a_folder() {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "ovni").unwrap();
    for original in subject.originals.iter().filter(|original| original.files.len() > 1) {
        let paths: Vec<(String, &[u8])> = original
            .files
            .iter()
            .map(|(name, bytes)| (format!("run/trace/{name}"), bytes.as_slice()))
            .collect();
        let mut members: Vec<(&str, &[u8])> =
            paths.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
        members.push(("run/README", b"a trace"));
        let stored = vec![("trace.tar.gz".to_string(), to_gzip(&to_tar(&members)))];
        let arrived = arrived(&stored).unwrap();
        assert!(arrived.is_folder);
        let stored = set(&stored);
        let recording = arrived.view(&stored);
        let files = recording.files().iter().filter(|file| !file.bytes.is_absent());
        let files: Files = files.map(|file| (file.name.clone(), file.bytes.to_vec())).collect();
        assert!(files == original.files, "{}", original.name);
    }
}

/// An archive of files below a folder.
fn archived(files: &Files, root: &str) -> Files {
    let paths = files.iter().map(|(name, bytes)| (format!("{root}{name}"), bytes.as_slice()));
    let paths: Vec<(String, &[u8])> = paths.collect();
    let members: Vec<(&str, &[u8])> =
        paths.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    vec![("trace.tar".to_string(), to_tar(&members))]
}

#[test]
fn a_file_of_an_archive_arrives_as_one_of_a_folder_does() {
    // A folder of perf is one by the first bytes of a file in it.
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "ovni").unwrap();
    let originals = subject.originals.iter().filter(|original| original.files.len() > 1);
    let pairs = originals.flat_map(|original| WAYS.iter().map(move |way| (original, way)));
    let (mut faults, mut count) = (Vec::new(), 0);
    for (original, (name, encode)) in Share::one_in(3).of(pairs) {
        let Some(files) = changed(original, *encode) else { continue };
        let Some(alone) = arrived(&files) else { continue };
        let alone = bytes_of(&alone.view(&set(&files)));
        let stored = archived(&files, "run/");
        let Some(packed) = arrived(&stored) else {
            faults.push(format!("{} {name}: not unpacked", original.name));
            continue;
        };
        let stored = set(&stored);
        let recording = packed.view(&stored);
        let there: Files = recording
            .files()
            .iter()
            .filter(|file| !file.bytes.is_absent())
            .map(|file| (file.name.clone(), file.bytes.to_vec()))
            .collect();
        count += 1;
        // The plan leads from the archive to the same bytes.
        let repair = tracemend::repair(&recording, &Options::default());
        let plan = Plan::new(&repair, &recording, &Options::default().limits).unwrap();
        let again = undo(&stored, &plan, &Memory).unwrap();
        let is_undone =
            again.is_some_and(|again| bytes_of(&again.view(&stored)) == bytes_of(&recording));
        if there != alone || packed.undone.len() < 2 || !is_undone {
            faults.push(format!("{} {name}: {is_undone}", original.name));
        }
    }
    assert!(faults.is_empty(), "{} of {count}, first {:?}", faults.len(), faults.first());
    assert!(count > 4, "{count}");
}

#[test]
fn several_recordings_in_an_archive_are_named() {
    let trace = trace();
    let (perf, revent) = (b"PERFILE2".repeat(40), b"REVENT\x03\0".repeat(40));
    let two: [(&str, &[u8]); 3] =
        [("logs/a.data", &perf), ("logs/b.revent", &revent), ("readme", b"two recordings")];
    let folders: Files = ["one/", "two/"]
        .iter()
        .flat_map(|root| trace.files.iter().map(move |(name, bytes)| (root, name, bytes)))
        .map(|(root, name, bytes)| (format!("{root}{name}"), bytes.clone()))
        .collect();
    let beside: Files = [&folders[..], &[("c.data".to_string(), perf.clone())]].concat();
    let cases = [
        (to_tar(&two), "of 2 recordings: logs/a.data and logs/b.revent"),
        (to_zip(&two), "of 2 recordings: logs/a.data and logs/b.revent"),
        (to_gzip(&to_tar(&two)), "of 2 recordings: logs/a.data and logs/b.revent"),
        (archived(&folders, "").remove(0).1, "of 2 recordings: one/ and two/"),
        (archived(&beside, "").remove(0).1, "of 3 recordings: one/, two/ and c.data"),
    ];
    for (archive, words) in cases {
        let stored = vec![("logs".to_string(), archive)];
        let arrived = arrived(&stored).unwrap();
        assert!(arrived.undone.is_empty());
        let stored = set(&stored);
        let recording = arrived.view(&stored);
        // The bytes are those that are stored, and nothing is written.
        assert_eq!(bytes_of(&recording), bytes_of(&stored));
        let report = tracemend::check(&recording, &Options::default());
        let [finding] = report.findings() else { panic!("{:?}", report.counts()) };
        assert_eq!(finding.rule.code, "TR0102");
        assert!(finding.message.ends_with(words), "{}", finding.message);
        let repair = tracemend::repair(&recording, &Options::default());
        assert_eq!(repair.outcome, Outcome::CannotRepair);
    }
}

/// A trace of ovni with a stream that is longer than a kilobyte.
fn trace() -> &'static Original {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "ovni").unwrap();
    let is_long = |(name, bytes): &(String, Vec<u8>)| name.ends_with(".obs") && bytes.len() > 1_024;
    subject.originals.iter().find(|original| original.files.iter().any(is_long)).unwrap()
}

#[test]
fn a_packed_file_arrives_beside_a_damaged_one() {
    let mut files = trace().files.clone();
    let is_stream =
        |(name, bytes): &&mut (String, Vec<u8>)| name.ends_with(".obs") && bytes.len() > 1_024;
    let (_, stream) = files.iter_mut().find(is_stream).unwrap();
    // Damage with several faults, more than a packed file has.
    for at in (400..1_000).step_by(150) {
        stream[at..at + 9].fill(0xff);
    }
    let damaged = files.clone();
    let (_, json) = files.iter_mut().find(|(name, _)| name.ends_with(".json")).unwrap();
    *json = to_gzip(json);
    let arrived = arrived(&files).expect("the packed file is unpacked");
    assert_eq!(bytes_of(&arrived.view(&set(&files))), damaged);
}

#[test]
fn of_two_files_of_a_name_in_an_archive_the_later_one_is_taken() {
    let original = trace();
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let earlier: Vec<(&str, Vec<u8>)> =
        original.files.iter().map(|(name, bytes)| (name.as_str(), half(bytes))).collect();
    let earlier = earlier.iter().map(|(name, bytes)| (*name, bytes.as_slice()));
    let later = original.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let stored = vec![("trace.tar".into(), to_tar(&earlier.chain(later).collect::<Vec<_>>()))];
    let arrived = arrived(&stored).unwrap();
    let stored = set(&stored);
    let files = arrived.view(&stored);
    let files = files.files().iter().filter(|file| !file.bytes.is_absent());
    let files: Files = files.map(|file| (file.name.clone(), file.bytes.to_vec())).collect();
    assert!(files == original.files);
}

#[test]
fn damage_of_the_first_file_in_an_archive_is_not_forgotten_at_the_last() {
    let original = trace();
    let mut files: Vec<(&str, &[u8])> =
        original.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    files.sort_by_key(|(name, _)| !name.ends_with(".obs"));
    let mut archive = to_zip(&files);
    // In the content of the first file, which has a checksum.
    archive[files[0].0.len() + 200] ^= 0xff;
    let arrived = arrived(&vec![("trace.zip".into(), archive)]).unwrap();
    assert_eq!(arrived.undone[0].finding.fix.as_ref().unwrap().safety, Safety::Lossy);
    assert!(arrived.undone[0].finding.notes[0].starts_with("it cannot be read to its end"));
}

#[test]
fn hostile_wrappers_cost_no_more_than_their_bytes() {
    if is_left_to_the_gate("hostile wrappers cost no more than their bytes") {
        return;
    }
    // If each folder were looked for among all files, this would take minutes.
    let names: Vec<String> = (0..20_000).map(|number| format!("d{number}/x/y/f")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert!(arrived(&vec![("many.tar".into(), to_tar(&files))]).is_none());
    // Each folder is a trace, and each file beside them a recording.
    let member = trace().files.iter().find(|(name, _)| name.ends_with(".obs")).unwrap();
    let names: Vec<String> = (0..15_000).map(|number| format!("d{number}/{}", member.0)).collect();
    let beside: Vec<String> = (0..15_000).map(|number| format!("e{number}")).collect();
    let files = names.iter().chain(&beside).map(|name| (name.as_str(), &b"PERFILE2"[..]));
    let many = arrived(&vec![("many.tar".into(), to_tar(&files.collect::<Vec<_>>()))]).unwrap();
    let message = many.obstacle.unwrap().message;
    assert!(message.contains("30000 recordings: d0/, d1/"), "{message}");
    // A line of 11 bytes stands for 60 MB, again and again.
    let mut dump = b"00000000  50 45 52 46 49 4c 45 32  00 00 00 00 00 00 00 00\n".to_vec();
    for number in 1..60_u64 {
        let at = number * (60 << 20);
        dump.extend(format!("*\n{at:08x}  00 00 00 00 00 00 00 00  00 00 00 00\n").into_bytes());
    }
    let stored = vec![("dump".to_string(), dump)];
    let arrived_of_dump = arrived(&stored);
    let length = arrived_of_dump.map_or(0, |arrived| arrived.view(&set(&stored)).len());
    assert!(length <= 17 << 20, "{length} bytes");
    // A name of 64 MB, which a reader of tar holds in memory.
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(64 << 20);
    header.set_cksum();
    let mut archive = header.as_bytes().to_vec();
    archive.resize(archive.len() + (64 << 20), b'a');
    archive.extend(to_tar(&[("recording", &SOUND[0].1.files[0].1)]));
    assert!(arrived(&vec![("long.tar".into(), archive)]).is_none());
}

#[test]
fn a_bomb_ends_at_its_limit() {
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

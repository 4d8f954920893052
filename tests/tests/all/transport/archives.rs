//! Recordings in archives.

use super::*;

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

//! Checks on several machines: shards, their reports joined, and runs that go on.

use super::*;

/// Recordings of several kinds in folders, with names and texts that are escaped.
fn tree() -> TempDir {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for number in 0..24 {
        let bytes = match number % 4 {
            0 => crashed(),
            1 => sound(),
            2 => truncated(),
            _ => b"no recording".to_vec(),
        };
        files.push((format!("{}/x\u{1b}\\{number}", number % 3), bytes));
    }
    let all: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let folder = folder(&all);
    for (name, bytes) in perf::directory() {
        fs::create_dir_all(folder.path().join("1/rec")).unwrap();
        let end = bytes.len() - if name == "data.1" { 3 } else { 0 };
        fs::write(folder.path().join("1/rec").join(name), &bytes[..end]).unwrap();
    }
    folder
}

/// The reports of three shards, in a folder, in the format.
fn shards(source: &Path, format: &str) -> TempDir {
    let reports = TempDir::new().unwrap();
    for number in 1..=3 {
        let file = reports.path().join(number.to_string());
        let shard = format!("--shard={number}/3");
        let ran = run!("check", source, shard, "--format", format, "-o", &file);
        assert!(ran.code <= 1, "{}", ran.err);
    }
    reports
}

#[test]
fn the_reports_of_shards_join_to_that_of_one_run() {
    let source = tree();
    for input in ["json", "jsonl"] {
        let reports = shards(source.path(), input);
        let report = |number: &str| reports.path().join(number);
        for format in ["json", "jsonl", "oneline", "sarif", "junit", "github", "gitlab"] {
            let one = run!("check", source.path(), "--format", format);
            // In any order.
            let merged = run!("merge", report("3"), report("1"), report("2"), "--format", format);
            assert_eq!(merged.code, one.code, "{}", merged.err);
            assert_eq!(merged.out, one.out, "{input} to {format}");
        }
        let merged = run!("merge", report("1"), report("2"), report("3"));
        let one = run!("check", source.path());
        // The paths that were named are not in the reports.
        let is_shown = |line: &&str| !line.starts_with("next: tracemend repair ");
        let table = |text: &str| -> Vec<String> {
            let table = text.split_once("recordings   clean").unwrap().1;
            table.lines().filter(is_shown).map(str::to_string).collect()
        };
        assert_eq!(table(&merged.out), table(&one.out));
        let twice = run!("merge", report("1"), report("1"));
        assert_eq!(twice.code, 2);
        assert!(twice.err.contains("is in two reports"), "{}", twice.err);
    }
}

#[test]
fn a_shard_keeps_its_recordings_when_others_are_added() {
    let source = tree();
    let recordings = |number: u32| -> Vec<String> {
        let shard = format!("--shard={number}/3");
        let document = parse(&run!("check", source.path(), shard, "--format=json").out);
        let all = document["recordings"].as_array().unwrap();
        all.iter().map(|one| one["path"].as_str().unwrap().to_string()).collect()
    };
    let before: Vec<Vec<String>> = (1..=3).map(recordings).collect();
    assert!(before.iter().all(|shard| !shard.is_empty()));
    for number in 100..120 {
        fs::write(source.path().join(format!("2/new{number}")), sound()).unwrap();
    }
    for (old, new) in before.iter().zip((1..=3).map(recordings)) {
        assert!(old.iter().all(|path| new.contains(path)));
    }
    assert_eq!(run!("check", source.path(), "--shard", "4/3").code, 2);
}

#[test]
fn a_report_from_elsewhere_is_not_trusted() {
    let source = tree();
    let text = run!("check", source.path(), "--format", "json").out;
    let folder = folder(&[]);
    let path = folder.path().join("report");
    for (from, to) in [
        ("tracemend.check.v2", "tracemend.check.v9"),
        ("\"PD0004\"", "\"PD9999\""),
        ("data.size is 0", "data.size \\u001b[2J is 0"),
        ("header.data.size", "header\\u202e.data.size"),
        ("\"verdict\": \"clean\"", "\"verdict\": \"fine\""),
        ("{", "["),
    ] {
        let forged = text.replacen(from, to, 1);
        assert_ne!(forged, text, "{from}");
        fs::write(&path, forged).unwrap();
        for format in ["json", "human"] {
            let ran = run!("merge", &path, "--format", format);
            assert_eq!(ran.code, 2, "{from}: {}", ran.out);
            assert!(ran.err.chars().all(|c| c == '\n' || is_safe(c)), "{:?}", ran.err);
        }
    }
    assert_eq!(run!("merge", folder.path().join("gone")).code, 5);
}

#[test]
fn a_run_goes_on_where_an_earlier_report_ends() {
    use std::time::{Duration, SystemTime};
    let source = tree();
    let old = SystemTime::now() - Duration::from_secs(1000);
    for entry in walkdir(source.path()) {
        fs::File::options().append(true).open(entry).unwrap().set_modified(old).unwrap();
    }
    let reports = TempDir::new().unwrap();
    let report = reports.path().join("report");
    let first = run!("check", source.path(), "--format", "json", "-o", &report);
    let resumed = || run!("check", source.path(), "--format", "json", "--resume", &report);
    let written = fs::read_to_string(&report).unwrap();
    assert_eq!((resumed().code, resumed().out), (first.code, written.clone()));
    // Of a run that was killed, complete lines are enough.
    let lines = run!("check", source.path(), "--format", "jsonl").out;
    let cut = lines.lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(&report, format!("{cut}{{\"path\":\"half")).unwrap();
    assert_eq!((resumed().code, resumed().out), (first.code, written.clone()));
    assert_eq!(run!("merge", &report).code, 2);
    // The report is believed about a file that did not change, and about no other.
    let forged = written.replacen("data.size is 0", "data.size is 7", 1);
    assert_ne!(forged, written);
    fs::write(&report, &forged).unwrap();
    assert_eq!(resumed().out, forged);
    for entry in walkdir(source.path()) {
        let file = fs::File::options().append(true).open(entry).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(1000)).unwrap();
    }
    assert_eq!(resumed().out, written);
}

#[test]
fn with_checksums_the_bytes_decide_which_recordings_are_checked_again() {
    use std::time::{Duration, SystemTime};
    let source = tree();
    let reports = TempDir::new().unwrap();
    let report = reports.path().join("report");
    let checked = || run!("check", source.path(), "--format=json", "--checksums");
    let resumed =
        || run!("check", source.path(), "--format=json", "--checksums", "--resume", &report).out;
    let written = checked().out;
    assert_valid(&schema("check.schema.json"), &parse(&written));
    assert!(parse(&written)["recordings"][0]["crc32"].is_u64(), "{written}");
    // Copied files are newer than the report, and have the same bytes.
    let forged = written.replacen("data.size is 0", "data.size is 7", 1);
    assert_ne!(forged, written);
    fs::write(&report, &forged).unwrap();
    for entry in walkdir(source.path()) {
        let file = fs::File::options().append(true).open(entry).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(1000)).unwrap();
    }
    assert_eq!(resumed(), forged);
    // A report keeps its checksums when it is joined.
    assert_eq!(run!("merge", &report, "--format=json").out, forged);
    // One bit changes in a file that keeps its length and its old time.
    let path = source.path().join("0/x\u{1b}\\0");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, &bytes).unwrap();
    let old = SystemTime::now() - Duration::from_secs(1000);
    fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
    assert_eq!(resumed(), checked().out);
    // A report without checksums covers nothing.
    let plain = run!("check", source.path(), "--format=json").out;
    fs::write(&report, plain.replacen("data.size is 0", "data.size is 7", 1)).unwrap();
    assert_eq!(resumed(), checked().out);
    assert_eq!(run!("check", source.path(), "--checksums").code, 2);
}

/// Every file below a folder.
fn walkdir(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walkdir(&path)) } else { files.push(path) }
    }
    files
}

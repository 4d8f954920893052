//! A recording that is still being written is left alone, and nobody calls its recorder crashed.

use std::fs::OpenOptions;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use tracemend_tests::sweep::is_left_to_the_gate;

use tracemend_tests::judge::perf::{CPU_CLOCK, Perf};

use super::*;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tracemend-under-test");
const PATIENCE: Duration = Duration::from_secs(25);

/// A recording of each format, and the file in it that its recorder has open.
const RECORDINGS: [(&str, &str); 7] = [
    ("perf/clean/plain.data", ""),
    ("perf directory", "data"),
    ("apitrace/clean/glxdemo.trace", ""),
    ("ovni/clean/looms", "stream.obs"),
    ("qemu/clean/guestoff_7.2.log", ""),
    ("revent/clean/v2_timeout.revent", ""),
    ("revent/clean/Nexus10.run.revent", ""),
];

/// Copies a recording, without the last third of the file that is still being written.
fn unfinished(source: &str, open: &str) -> (TempDir, PathBuf, PathBuf) {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("recording");
    if source == "perf directory" {
        fs::create_dir(&target).unwrap();
        for (name, bytes) in perf::directory() {
            fs::write(target.join(name), bytes).unwrap();
        }
    } else {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(source);
        copy_all(&source, &target);
    }
    let file = if target.is_dir() { find(&target, open) } else { target.clone() };
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - bytes.len() / 3]).unwrap();
    (folder, target, file)
}

fn copy_all(source: &Path, target: &Path) {
    if source.is_file() {
        fs::copy(source, target).unwrap();
        return;
    }
    fs::create_dir(target).unwrap();
    for name in names(source) {
        copy_all(&source.join(&name), &target.join(&name));
    }
}

/// The first file of this name below a folder.
fn find(folder: &Path, name: &str) -> PathBuf {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in names(&folder) {
            let path = folder.join(&entry);
            if path.is_dir() {
                folders.push(path);
            } else if entry == name {
                return path;
            }
        }
    }
    panic!("no {name} in {}", folder.display());
}

fn codes(recording: &Path, more: &[&str]) -> Vec<(String, String)> {
    let mut args = vec!["check".as_ref(), recording.as_os_str()];
    args.extend(["--format", "json"].map(OsStr::new));
    args.extend(more.iter().map(OsStr::new));
    let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_valid(&schema("check.schema.json"), &report);
    let findings = report["recordings"][0]["findings"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    findings.iter().map(|one| (text(&one["code"]), text(&one["message"]))).collect()
}

#[test]
fn an_unfinished_recording_has_one_error_while_it_is_open_and_its_faults_afterwards() {
    if is_left_to_the_gate(
        "an unfinished recording has one error while it is open and its faults afterwards",
    ) {
        return;
    }
    for (source, open) in RECORDINGS {
        let (_folder, recording, file) = unfinished(source, open);
        let writer = OpenOptions::new().append(true).open(&file).unwrap();
        let ran = run!("check", &recording);
        assert_eq!(ran.code, 1, "{source}: {}", ran.out);
        assert!(ran.out.contains("error[CM0005]"), "{source}: {}", ran.out);
        for word in ["killed", "crash", "tracemend repair", "did not finish"] {
            assert!(!ran.out.contains(word), "{source}: {word}: {}", ran.out);
        }
        let open_codes = codes(&recording, &[]);
        assert_eq!(open_codes.len(), 1, "{source}: {open_codes:?}");
        assert!(open_codes[0].1.contains("is open for writing in another program"), "{source}");
        let allowed = codes(&recording, &["--allow", "CM0005"]);
        drop(writer);
        let closed = codes(&recording, &[]);
        assert_eq!(allowed, closed, "{source}");
        assert!(closed.iter().all(|(code, _)| code != "CM0005"), "{source}: {closed:?}");
        let count = closed.len();
        assert!(count == 0 || open_codes[0].1.contains("not listed: "), "{source}: {open_codes:?}");
    }
}

#[test]
fn a_repair_in_place_leaves_an_open_recording_alone_and_a_copy_is_labelled() {
    if is_left_to_the_gate(
        "a repair in place leaves an open recording alone and a copy is labelled",
    ) {
        return;
    }
    for (source, open) in RECORDINGS {
        let (folder, recording, file) = unfinished(source, open);
        let before = fs::read(&file).unwrap();
        let writer = OpenOptions::new().append(true).open(&file).unwrap();
        if recording.is_file() {
            for more in [&[][..], &["--no-backup"], &["--dry-run"], &["--partial"]] {
                let mut args = vec!["repair".as_ref(), recording.as_os_str()];
                args.push("--in-place".as_ref());
                args.extend(more.iter().map(OsStr::new));
                let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
                assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{source}: {}", ran.err);
                assert!(ran.err.contains("still being written"), "{source}: {}", ran.err);
                assert!(ran.err.contains("wait until the recorder"), "{source}: {}", ran.err);
            }
            assert_eq!(names(folder.path()), ["recording"], "{source}");
            assert_eq!(fs::read(&file).unwrap(), before, "{source}");
        }
        let out = folder.path().join("out");
        let ran = run!("repair", &recording, "-o", &out, "--format", "json", "--partial");
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        assert_valid(&schema("repair.schema.json"), &report);
        assert_eq!(report["being_written"], true, "{source}");
        assert!(ran.err.contains("still being written"), "{source}: {}", ran.err);
        drop(writer);
        let ran = run!("repair", &recording, "--dry-run");
        assert!(!ran.out.contains("being written"), "{source}: {}", ran.out);
        assert_eq!(ran.err, "", "{source}");
    }
}

#[test]
fn every_command_that_reads_an_open_recording_prints_that_it_has_the_bytes_so_far() {
    let (folder, recording, file) = unfinished("perf/clean/plain.data", "");
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean/plain.data"),
        &recording,
    )
    .unwrap();
    let _writer = OpenOptions::new().append(true).open(&file).unwrap();
    let other = folder.path().join("other");
    fs::copy(&recording, &other).unwrap();
    for args in [
        vec!["dump".as_ref(), recording.as_os_str()],
        vec!["map".as_ref(), recording.as_os_str()],
        vec!["audit".as_ref(), recording.as_os_str()],
        vec!["redact".as_ref(), recording.as_os_str(), "--dry-run".as_ref()],
        vec!["redact".as_ref(), folder.path().as_os_str(), "--dry-run".as_ref()],
        vec!["repair".as_ref(), folder.path().as_os_str(), "--dry-run".as_ref()],
        vec!["diff".as_ref(), other.as_os_str(), recording.as_os_str()],
    ] {
        let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
        let text = ran.err + &ran.out;
        assert!(text.contains("still being written"), "{args:?}: {text}");
    }
}

/// A recorder that the test ends: it records a loop that runs as long as a file exists.
struct Recorder {
    flag: PathBuf,
    thread: Option<thread::JoinHandle<Result<(), String>>>,
}

impl Recorder {
    fn start(output: &Path) -> Option<Self> {
        let perf = Perf::find_or_skip()?;
        let flag = output.with_extension("flag");
        fs::write(&flag, b"").unwrap();
        let work = format!("while [ -e {} ]; do :; done", flag.display());
        let (path, options) = (output.to_path_buf(), [&CPU_CLOCK[..], &["-m", "1"]].concat());
        let record = move || perf.record(&options, &["/bin/sh", "-c", &work], &path);
        let recorder = Self { flag, thread: Some(thread::spawn(record)) };
        let start = Instant::now();
        while fs::metadata(output).map_or(0, |found| found.len()) < 16_384 {
            assert!(start.elapsed() < PATIENCE, "perf wrote nothing");
            sleep(Duration::from_millis(10));
        }
        Some(recorder)
    }

    fn end(mut self) {
        fs::remove_file(&self.flag).unwrap();
        let ended = self.thread.take().unwrap().join().unwrap();
        assert_eq!(ended, Ok(()));
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.flag);
    }
}

#[test]
fn a_running_perf_record_loses_nothing_by_a_repair_in_place() {
    if is_left_to_the_gate("a running perf record loses nothing by a repair in place") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let recording = folder.path().join("perf.data");
    let Some(recorder) = Recorder::start(&recording) else { return };
    let program = |args: &[&str]| {
        let ran = Command::new(PROGRAM).args(args).arg(&recording).output().unwrap();
        let text = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
        (ran.status.code(), text)
    };
    for sandbox in ["--sandbox=auto", "--sandbox=off"] {
        let (code, text) = program(&["check", sandbox]);
        assert!(code == Some(1) && text.contains("error[CM0005]"), "{sandbox}: {text}");
        let (code, text) = program(&["repair", sandbox, "--in-place", "--no-backup"]);
        assert!(code == Some(4) && text.contains("still being written"), "{sandbox}: {text}");
    }
    let out = folder.path().join("so-far");
    let (code, text) = program(&["repair", "-o", out.to_str().unwrap()]);
    assert!(matches!(code, Some(0 | 3)), "{text}");
    assert!(text.contains("the source is still being written"), "{text}");
    recorder.end();
    let perf = Perf::find().unwrap();
    let (whole, so_far) = (perf.samples(&recording), perf.samples(&out));
    assert!(whole.is_success() && so_far.is_success(), "{}{}", whole.stderr, so_far.stderr);
    assert!(0 < so_far.count && so_far.count < whole.count, "{} {}", so_far.count, whole.count);
    let (code, text) = program(&["check"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(names(folder.path()), ["perf.data", "so-far"]);
}

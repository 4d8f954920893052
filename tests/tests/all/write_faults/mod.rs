//! After a killed run or a failed write there is no partial output and no temporary file, and the
//! source is unchanged. These tests run the program as a process.

mod commands;
mod injected;
mod night;
mod power;
mod signals;

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tracemend_tests::forge::ovni::{Stream, Thread, Trace};
use tracemend_tests::forge::perf;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tracemend-under-test");
/// Long enough that a run is still reading when the test acts.
const BIG_BYTES: usize = 48 << 20;
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the program in a folder.
fn run_program(folder: &Path, args: &[&str]) -> Output {
    Command::new(PROGRAM).args(args).current_dir(folder).output().unwrap()
}

/// A killed recording of many records, of about so many bytes, with a truncated last one.
fn long(len: usize) -> Vec<u8> {
    let built = perf::clean().swap_remove(0).built;
    let mut bytes = built.crashed();
    let last = built.records.iter().rev().find(|record| record.kind == 9).expect("a sample");
    let sample = built.bytes[last.range()].to_vec();
    bytes.reserve(len);
    for _ in 0..len / sample.len() {
        bytes.extend_from_slice(&sample);
    }
    bytes.extend_from_slice(&sample[..sample.len() - 3]);
    bytes
}

/// Makes a folder with `big`, such a recording.
fn big() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("big");
    fs::write(&path, long(BIG_BYTES)).unwrap();
    (folder, path)
}

/// A folder with `big`, an ovni trace of three threads, the last one killed.
fn big_directory() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("big");
    let events = vec!["OB."; BIG_BYTES / 4 / 12];
    let stream = |cpu: i32| Stream::default().begin(cpu).plain(&events);
    let thread = |tid: u32| Thread::new(7, tid).cpus(&[(0, 0), (1, 1), (2, 2)]);
    let trace = Trace::of(&thread(7), stream(0).end());
    let trace = trace.and(&thread(8), stream(1).end()).and(&thread(9).killed(), stream(2));
    for (name, bytes) in &trace.files {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes.as_ref().unwrap()).unwrap();
    }
    (folder, path)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn start(args: &[&Path]) -> Child {
    let mut command = Command::new(PROGRAM);
    let command = command.args(args).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until `seen` or the end of the child; returns whether it was `seen`.
fn wait_until(child: &mut Child, mut seen: impl FnMut(u32) -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if seen(child.id()) {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        sleep(Duration::from_micros(200));
    }
    panic!("the program neither ended nor did what the test waits for");
}

fn maps(pid: u32, path: &Path) -> bool {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.contains(path.to_str().unwrap())
}

/// Counts what a process is writing in a folder: files without a name, and temporary names.
fn unfinished(pid: u32, folder: &Path) -> usize {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let open = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let unnamed =
        open.filter(|path| path.starts_with(folder) && path.to_string_lossy().contains('#'));
    unnamed.count() + temporaries(folder).len()
}

/// Names of temporary files in a folder.
fn temporaries(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| name.starts_with(".tracemend-")).collect()
}

fn shrink(path: &Path) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(4096).unwrap();
}

fn assert_shrank(output: &Output) {
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(err.contains("shrank, or its disk failed, while it was read"), "{err}");
}

#[test]
fn a_file_that_shrinks_while_it_is_checked_exits_with_5() {
    if is_left_to_the_gate("a file that shrinks while it is checked exits with 5") {
        return;
    }
    let (folder, big) = big();
    let report = folder.path().join("report");
    let mut child = start(&["check".as_ref(), &big, "-o".as_ref(), &report]);
    assert!(wait_until(&mut child, |pid| maps(pid, &big)), "it ended before the test could act");
    shrink(&big);
    assert_shrank(&child.wait_with_output().unwrap());
    assert_eq!(names(folder.path()), ["big", "report"]);
}

/// Runs a command over a folder in which `big` lies between others and shrinks while it is read.
fn run_over_shrinking(command: &[&str]) -> (TempDir, Output) {
    let (folder, big) = big();
    let sound = perf::clean().swap_remove(0).built.bytes;
    for name in ["a", "b", "c", "d"] {
        fs::write(folder.path().join(name), &sound).unwrap();
    }
    let out = folder.path().join("out");
    let mut args: Vec<&Path> = command.iter().map(Path::new).collect();
    let paths: Vec<PathBuf> =
        ["a", "b", "big", "c", "d"].iter().map(|name| folder.path().join(name)).collect();
    args.extend(paths.iter().map(PathBuf::as_path));
    if command[0] != "check" {
        args.extend([Path::new("--out-dir"), &out]);
    }
    let mut child = start(&args);
    assert!(wait_until(&mut child, |pid| maps(pid, &big)), "it ended before the test could act");
    shrink(&big);
    let output = child.wait_with_output().unwrap();
    assert_shrank(&output);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains(&format!("{}: it shrank", big.display())), "{err}");
    (folder, output)
}

#[test]
fn a_file_that_shrinks_costs_one_recording_of_many() {
    if is_left_to_the_gate("a file that shrinks costs one recording of many") {
        return;
    }
    for jobs in ["1", "2"] {
        let (_folder, output) = run_over_shrinking(&["check", "--format=json", "--jobs", jobs]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["recordings"].as_array().unwrap().len(), 4);
        let [error] = report["errors"].as_array().unwrap().as_slice() else { panic!("{report}") };
        assert!(error["path"].as_str().unwrap().ends_with("/big"), "{error}");
    }
    let (folder, _) = run_over_shrinking(&["repair"]);
    assert_eq!(names(&folder.path().join("out")), ["a", "b", "c", "d"]);
    let (folder, _) = run_over_shrinking(&["redact"]);
    assert!(!names(&folder.path().join("out")).contains(&"big".to_string()));
}

#[test]
fn a_file_that_shrinks_while_it_is_repaired_leaves_no_output() {
    if is_left_to_the_gate("a file that shrinks while it is repaired leaves no output") {
        return;
    }
    let (folder, big) = big();
    let whole = fs::read(&big).unwrap();
    let out = folder.path().join("out");
    let plan = folder.path().join("plan");
    // One when the plan is begun, two when the output is.
    for wanted in [1, 2] {
        fs::write(&big, &whole).unwrap();
        let args = ["repair".as_ref(), &*big, "-o".as_ref(), &out, "--plan".as_ref(), &plan];
        let mut child = start(&args);
        let seen = wait_until(&mut child, |pid| unfinished(pid, folder.path()) == wanted);
        assert!(seen, "it ended before the test could act");
        shrink(&big);
        assert_shrank(&child.wait_with_output().unwrap());
        assert_eq!(names(folder.path()), ["big"]);
    }
}

/// Runs the program on a terminal, and returns what that shows.
fn on_terminal(folder: &Path, args: &str) -> String {
    let mut command = Command::new("script");
    command.args(["-qefc", &format!("{PROGRAM} {args}"), "/dev/null"]).current_dir(folder);
    let command = command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
}

#[test]
fn a_terminal_shows_the_share_the_rate_and_the_time_left_of_one_large_recording() {
    if is_left_to_the_gate(
        "a terminal shows the share the rate and the time left of one large recording",
    ) {
        return;
    }
    if Command::new("script").arg("--version").output().is_err() {
        tracemend_tests::notice::skip("progress on a terminal", "script of util-linux");
        return;
    }
    let (folder, _) = big();
    // Each takes seconds in a build for tests, and a step of it must last to have a rate.
    let mut timed = Vec::new();
    for (verb, args) in [
        ("dumping", "dump big --format jsonl -o out.jsonl"),
        ("mapping", "map big --depth 3 -o out.txt"),
        ("repairing", "repair big --out-dir out --jobs 1"),
    ] {
        let begun = Instant::now();
        let text = on_terminal(folder.path(), args);
        if begun.elapsed() < Duration::from_secs(2) {
            continue;
        }
        let has = |words: &[&str]| {
            text.split('\r').any(|part| words.iter().all(|word| part.contains(word)))
        };
        assert!(has(&[verb, " % of ", " MB"]), "{args}: {text:?}");
        timed.push(has(&[verb, " % of ", "/s, ", " left"]));
        // It is taken away in the end.
        assert!(text.trim_end().ends_with("\u{1b}[2K") || !text.ends_with(" left"), "{text:?}");
    }
    assert!(timed.is_empty() || timed.contains(&true), "{timed:?}");
    // A pipe gets the product and nothing else.
    let child = start(&["map".as_ref(), &folder.path().join("big")]);
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty() || output.stderr.starts_with(b"tracemend: "));
    assert!(!output.stdout.contains(&b'\r'));
    assert!(!String::from_utf8_lossy(&output.stderr).contains(" % of "));
}

#[test]
fn a_kill_at_any_time_leaves_no_output_or_a_whole_one() {
    if is_left_to_the_gate("a kill at any time leaves no output or a whole one") {
        return;
    }
    let (folder, big) = big();
    let source = fs::read(&big).unwrap();
    let out = folder.path().join("out");
    let begun = Instant::now();
    let status = start(&["repair".as_ref(), &big, "-o".as_ref(), &out]).wait().unwrap();
    let whole = begun.elapsed();
    assert_eq!(status.code(), Some(3));
    let expected = fs::read(&out).unwrap();
    for tenth in Share::one_in(1).of(0..10_u32) {
        fs::remove_file(&out).unwrap_or_default();
        let mut child = start(&["repair".as_ref(), &big, "-o".as_ref(), &out]);
        sleep(whole * (tenth * 2 + 1) / 20);
        child.kill().unwrap();
        child.wait().unwrap();
        if out.exists() {
            assert!(fs::read(&out).unwrap() == expected, "{tenth}: half an output");
        }
        let left = names(folder.path()).into_iter().filter(|name| name != "big" && name != "out");
        assert_eq!(left.collect::<Vec<_>>(), [""; 0], "{tenth}");
    }
    assert!(fs::read(&big).unwrap() == source, "the source changed");
}

#[test]
fn a_kill_at_any_time_leaves_no_directory_or_a_whole_one() {
    if is_left_to_the_gate("a kill at any time leaves no directory or a whole one") {
        return;
    }
    let (folder, big) = big_directory();
    let source = Trace::below(&big);
    let out = folder.path().join("out");
    let begun = Instant::now();
    let status = start(&["repair".as_ref(), &big, "-o".as_ref(), &out]).wait().unwrap();
    let whole = begun.elapsed();
    assert_eq!(status.code(), Some(0));
    let expected = Trace::below(&out);
    for tenth in Share::one_in(1).of(0..10_u32) {
        fs::remove_dir_all(&out).unwrap_or_default();
        let mut child = start(&["repair".as_ref(), &big, "-o".as_ref(), &out]);
        sleep(whole * (tenth * 2 + 1) / 20);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!out.exists() || Trace::below(&out) == expected, "{tenth}: half an output");
        for name in names(folder.path()) {
            assert!(name == "big" || name == "out" || name.starts_with(".tracemend-"), "{name}");
        }
    }
    assert!(Trace::below(&big) == source, "the source changed");
    // The next run that writes there removes what a kill has left, and no folder of a user.
    fs::remove_dir_all(&out).unwrap_or_default();
    fs::create_dir_all(folder.path().join(".tracemend-abc123.tmp/loom")).unwrap();
    assert!(start(&["repair".as_ref(), &big, "-o".as_ref(), &out]).wait().unwrap().success());
    assert_eq!(names(folder.path()), [".tracemend-abc123.tmp", "big", "out"]);
}

#[test]
fn a_full_disk_leaves_no_directory() {
    let (folder, big) = big_directory();
    let source = Trace::below(&big);
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" repair \"$1\" -o \"$2\"";
    let out = folder.path().join("out");
    let mut shell = Command::new("bash");
    let output = shell.args(["-c", script, PROGRAM]).arg(&big).arg(&out).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(err.contains("out: File too large"), "{err}");
    assert_eq!(names(folder.path()), ["big"]);
    assert!(Trace::below(&big) == source, "the source changed");
}

#[test]
fn a_kill_in_place_leaves_the_source_or_the_whole_output() {
    if is_left_to_the_gate("a kill in place leaves the source or the whole output") {
        return;
    }
    let (folder, big) = big();
    let source = fs::read(&big).unwrap();
    let out = folder.path().join("out");
    let begun = Instant::now();
    start(&["repair".as_ref(), &big, "-o".as_ref(), &out]).wait().unwrap();
    let whole = begun.elapsed();
    let expected = fs::read(&out).unwrap();
    let orig = folder.path().join("big.orig");
    for part in Share::one_in(1).of(0..5_u32) {
        fs::write(&big, &source).unwrap();
        fs::remove_file(&orig).unwrap_or_default();
        let mut child = start(&["repair".as_ref(), &big, "--in-place".as_ref()]);
        sleep(whole * (part + 14) / 18);
        child.kill().unwrap();
        child.wait().unwrap();
        let now = fs::read(&big).unwrap();
        assert!(now == source || now == expected, "{part}");
        if now == expected {
            assert!(fs::read(&orig).unwrap() == source, "{part}: the original is kept first");
        }
    }
}

#[test]
fn a_full_disk_exits_with_5_and_leaves_nothing() {
    if is_left_to_the_gate("a full disk exits with 5 and leaves nothing") {
        return;
    }
    let (folder, big) = big();
    let source = fs::read(&big).unwrap();
    // A limit on the size of files stands in for a full disk: it needs no rights.
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" repair \"$1\" -o \"$2\"";
    let out = folder.path().join("out");
    let mut shell = Command::new("bash");
    let output = shell.args(["-c", script, PROGRAM]).arg(&big).arg(&out).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(err.contains("out: File too large"), "{err}");
    assert_eq!(names(folder.path()), ["big"]);
    assert!(fs::read(&big).unwrap() == source);

    let script = "mount -t tmpfs -o size=1m none \"$3\" && \"$0\" repair \"$1\" -o \"$3/out\"; \
                  code=$?; ls -A \"$3\"; exit $code";
    let mount = folder.path().join("mount");
    fs::create_dir(&mount).unwrap();
    let mut unshare = Command::new("unshare");
    let unshare = unshare.args(["-rm", "bash", "-c", script, PROGRAM]).arg(&big).arg(&out);
    let output = unshare.arg(&mount).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    if err.contains("unshare") || err.contains("mount:") {
        tracemend_tests::notice::skip("a write to a full tmpfs", err.trim());
        return;
    }
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(err.contains("No space left"), "{err}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "nothing is left");
}

#[test]
fn a_folder_that_cannot_be_written_exits_with_5() {
    if is_left_to_the_gate("a folder that cannot be written exits with 5") {
        return;
    }
    let (folder, big) = big();
    let inside = folder.path().join("gone/out");
    for out in [Path::new("/proc/out"), &inside] {
        let output = start(&["repair".as_ref(), &big, "-o".as_ref(), out]);
        let output = output.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{output:?}");
    }
    assert_eq!(names(folder.path()), ["big"]);
}

#[test]
fn a_source_that_changes_during_a_repair_is_not_mended() {
    if is_left_to_the_gate("a source that changes during a repair stays as it is") {
        return;
    }
    let (folder, big) = big();
    let out = folder.path().join("out");
    let mut child = start(&["repair".as_ref(), &big, "-o".as_ref(), &out]);
    assert!(wait_until(&mut child, |pid| maps(pid, &big)), "it ended before the test could act");
    // The recorder is still at work: the file grows.
    use std::io::Write;
    OpenOptions::new().append(true).open(&big).unwrap().write_all(b"more").unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(err.contains("it changed while it was read"), "{err}");
    assert_eq!(names(folder.path()), ["big"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_news() {
    if is_left_to_the_gate("a reader that leaves early is no news") {
        return;
    }
    let mut child = start(&["codes".as_ref()]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // It may have been done before the reader left.
    assert!(matches!(output.status.code(), Some(5 | 0)), "{:?}", output.status);
    let (_folder, big) = big();
    let mut child = start(&["repair".as_ref(), &big, "--dry-run".as_ref()]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(5));
}

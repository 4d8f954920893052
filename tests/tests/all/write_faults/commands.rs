//! Faults at single system calls of the commands beside `repair PATH -o OUT`: apply, redact, repair
//! of several recordings, and check of several, of which one cannot be read.

use std::io::Write as _;

use tracemend_tests::notice;

use super::injected::{Run, place, relative, run, source, with_every_fault};
use super::*;

/// Calls by which a recording is read.
const READS: [&str; 8] =
    ["openat", "statx", "newfstatat", "fcntl", "lseek", "mmap", "pread64", "read"];
/// Calls of one kind with one path that a run makes at most.
const READS_MAX: u32 = 24;
/// Steps of the size at which writing ends.
const SIZES: u64 = 48;

/// A plan for [`source`], and the output.
fn planned() -> (Vec<u8>, Vec<u8>) {
    let folder = place(&source());
    let args = ["repair", "x", "-o", "out", "--plan", "plan"];
    let run = run_program(folder.path(), &args);
    assert!(matches!(run.status.code(), Some(0 | 3)), "{run:?}");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    (read("plan"), read("out"))
}

/// The output is whole and the status that of a run without a fault, or there is none.
fn assert_whole(folder: &Path, run: &Run, (first, expected): (&Output, &[u8]), label: &str) {
    let out = fs::read(folder.join("out")).ok();
    assert!(out.as_ref().is_none_or(|out| out == expected), "{label}");
    let is_whole = run.code == first.status.code() && out.is_some();
    assert!(is_whole || matches!(run.code, Some(5) | None), "{label}: {:?}", run.code);
    assert!(run.code.is_none() || temporaries(folder).is_empty(), "{label}");
}

#[test]
fn no_fault_of_apply_leaves_half_an_output() {
    if is_left_to_the_gate("faults at each system call of apply") {
        return;
    }
    let ((plan, repaired), source) = (planned(), source());
    let place = || {
        let folder = place(&source);
        fs::write(folder.path().join("plan"), &plan).unwrap();
        folder
    };
    let args = ["apply", "plan", "x", "-o", "out"];
    let whole = place();
    let first = run_program(whole.path(), &args);
    assert!(fs::read(whole.path().join("out")).unwrap() == repaired, "{first:?}");
    with_every_fault(place, &args, |folder, run, label| {
        assert!(fs::read(folder.join("x")).unwrap() == source, "{label}");
        assert!(fs::read(folder.join("plan")).unwrap() == plan, "{label}");
        assert_whole(folder, run, (&first, &repaired), label);
    });
}

#[test]
fn no_fault_of_redact_leaves_half_an_output() {
    if is_left_to_the_gate("faults at each system call of redact") {
        return;
    }
    let sound = perf::by_name("every_kernel_record").built.bytes;
    let args = ["redact", "x", "-o", "out"];
    let whole = place(&sound);
    let first = run_program(whole.path(), &args);
    let expected = fs::read(whole.path().join("out")).unwrap();
    assert!(expected != sound);
    with_every_fault(
        || place(&sound),
        &args,
        |folder, run, label| {
            assert!(fs::read(folder.join("x")).unwrap() == sound, "{label}");
            assert_whole(folder, run, (&first, &expected), label);
        },
    );
}

/// A folder `rec` with three recordings, the second one killed.
fn several() -> TempDir {
    let folder = TempDir::new().unwrap();
    let rec = folder.path().join("rec");
    fs::create_dir(&rec).unwrap();
    for (name, bytes) in [
        ("a.data", perf::by_name("plain").built.bytes),
        ("b.data", source()),
        ("c.data", perf::by_name("two_events_by_id").built.bytes),
    ] {
        fs::write(rec.join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn no_fault_leaves_half_an_output_below_a_folder() {
    if is_left_to_the_gate("faults at each system call that writes below --out-dir") {
        return;
    }
    let args = ["repair", "rec", "--out-dir", "out", "--jobs", "1"];
    let whole = several();
    let first = run_program(whole.path(), &args);
    assert!(matches!(first.status.code(), Some(0 | 3)), "{first:?}");
    let (sources, expected) = (relative(whole.path(), "rec"), relative(whole.path(), "out"));
    assert!(!expected.is_empty());
    with_every_fault(several, &args, |folder, run, label| {
        assert!(relative(folder, "rec") == sources, "{label}");
        let written = match folder.join("out").exists() {
            true => relative(folder, "out"),
            false => Vec::new(),
        };
        let is_temporary = |path: &Path| path.display().to_string().contains(".tracemend-");
        let half = written.iter().find(|one| !expected.contains(one) && !is_temporary(&one.0));
        assert!(half.is_none(), "{label}: {:?}", half.map(|one| &one.0));
        let is_whole = written == expected && run.code == first.status.code();
        assert!(is_whole || matches!(run.code, Some(5) | None), "{label}: {:?}", run.code);
    });
}

#[test]
fn a_recording_that_cannot_be_read_costs_no_other_its_verdict() {
    if is_left_to_the_gate("faults at each system call that reads one of several recordings") {
        return;
    }
    let folder = several();
    let args = ["check", "rec/a.data", "rec/b.data", "rec/c.data", "--format", "jsonl"];
    let lines = |out: &str| -> Vec<String> { out.lines().map(str::to_string).collect() };
    let first = run_program(folder.path(), &args);
    let expected = lines(&String::from_utf8_lossy(&first.stdout));
    let of = |all: &[String], name: &str| -> Vec<String> {
        all.iter().filter(|line| line.contains(&format!("rec/{name}"))).cloned().collect()
    };
    assert!(!of(&expected, "a.data").is_empty() && !of(&expected, "b.data").is_empty());
    let mut faults = 0;
    let kinds = ["error=EIO", "error=EINTR", "error=EACCES", "error=ENOMEM"].into_iter();
    let share = Share::one_in(1);
    for (fault, call) in share.of(kinds.flat_map(|fault| READS.map(|call| (fault, call)))) {
        for when in 1..=READS_MAX {
            let at = (call, Some("rec/b.data"));
            let Some(run) = run(folder.path(), &args, at, fault, when) else {
                notice::skip("faults at single reads", "strace is missing or may not trace");
                return;
            };
            if !run.has_fault {
                break;
            }
            faults += 1;
            let label = format!("{fault} at {call} {when}: {}", run.err);
            let now = lines(&run.out);
            for name in ["a.data", "c.data"] {
                assert_eq!(of(&now, name), of(&expected, name), "{label}");
            }
            let is_same = of(&now, "b.data") == of(&expected, "b.data");
            let is_named = run.err.contains("b.data") || !of(&now, "b.data").is_empty();
            assert!(is_same || is_named, "{label}");
            let is_right = run.code == first.status.code() && is_same || run.code == Some(5);
            assert!(is_right, "{label}: {:?}", run.code);
        }
    }
    eprintln!("{faults} faults while one of three recordings is read");
    assert!(faults > share.count(20), "{faults} faults");
}

#[test]
fn bytes_that_arrive_in_pieces_are_read_as_a_whole() {
    let bytes = perf::by_name("pipe").built.bytes;
    let check = |piece: usize| {
        let mut child = Command::new(PROGRAM)
            .args(["check", "-", "--format", "json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        for part in bytes.chunks(piece) {
            input.write_all(part).unwrap();
        }
        drop(input);
        let output = child.wait_with_output().unwrap();
        (output.status.code(), output.stdout)
    };
    let whole = check(bytes.len());
    for piece in [1, 7, 64] {
        assert!(check(piece) == whole, "pieces of {piece} bytes");
    }
}

/// A write at the limit of the size of a file writes a part of its bytes, and the next one none.
#[test]
fn no_short_write_leaves_half_an_output() {
    let (source, (_, repaired)) = (source(), planned());
    let most = 4 * repaired.len() as u64;
    let mut ends = [0; 2];
    for step in 0..=SIZES {
        let limit = most * step / SIZES;
        let folder = place(&source);
        let mut command = Command::new("prlimit");
        command.arg(format!("--fsize={limit}")).args(["env", "--ignore-signal=XFSZ", PROGRAM]);
        command.args(["repair", "x", "-o", "out", "--plan", "plan"]);
        let Ok(output) = command.current_dir(folder.path()).output() else {
            notice::skip("short writes", "prlimit is missing");
            return;
        };
        let out = fs::read(folder.path().join("out")).ok();
        let label = format!("{limit} bytes: {output:?}");
        assert!(fs::read(folder.path().join("x")).unwrap() == source, "{label}");
        assert!(out.as_ref().is_none_or(|out| *out == repaired), "{label}");
        assert!(temporaries(folder.path()).is_empty(), "{label}");
        match output.status.code() {
            Some(0 | 3) if out.is_some() => ends[1] += 1,
            Some(5) if out.is_none() => ends[0] += 1,
            _ => panic!("{label}"),
        }
    }
    assert!(ends.into_iter().all(|count| count > 5), "{ends:?}");
}

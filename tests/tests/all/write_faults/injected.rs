//! A failure, an interruption or a kill at each single system call by which a run writes, injected
//! by strace.

use tracemend_tests::notice;
use tracemend_tests::sweep::is_left_to_the_gate;

use super::*;

/// The calls that change files.
const CALLS: [&str; 13] = [
    "write",
    "mkdir",
    "chmod",
    "symlink",
    "rmdir",
    "copy_file_range",
    "fsync",
    "fchmod",
    "linkat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
];
/// Calls of one kind that a run makes at most.
const CALLS_MAX: u32 = 64;

/// One run of the program with a fault.
pub(super) struct Run {
    pub(super) code: Option<i32>,
    pub(super) err: String,
    pub(super) out: String,
    /// Whether the run came to the call.
    pub(super) has_fault: bool,
}

/// Runs the program in a folder with a fault (`error=EIO` or `signal=KILL`) at the call number
/// `when`, of those that use a path if one is given; `None` if strace is missing or may not trace.
pub(super) fn run(
    folder: &Path,
    args: &[&str],
    (call, path): (&str, Option<&str>),
    fault: &str,
    when: u32,
) -> Option<Run> {
    let log = TempDir::new().unwrap();
    let log = log.path().join("log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&log).arg("-e").arg(format!("trace={call}"));
    if let Some(path) = path {
        strace.arg("-P").arg(folder.join(path));
    }
    strace.arg("-e").arg(format!("inject={call}:{fault}:when={when}"));
    let output = strace.arg(PROGRAM).args(args).current_dir(folder).output().ok()?;
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if err.starts_with("strace:") && !err.contains("resolved into") {
        return None;
    }
    let log = fs::read_to_string(log).ok()?;
    let has_fault = log.contains("(INJECTED)") || log.contains("killed by SIGKILL");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(Run { code: output.status.code(), err, out, has_fault })
}

/// A folder with the recording `x`.
pub(super) fn place(bytes: &[u8]) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("x"), bytes).unwrap();
    folder
}

/// Runs a command with each fault at each call, and passes every result to `check`.
pub(super) fn with_every_fault(
    place: impl Fn() -> TempDir,
    args: &[&str],
    mut check: impl FnMut(&Path, &Run, &str),
) {
    let mut faults = 0;
    let kinds = ["error=ENOSPC", "error=EIO", "error=EINTR", "signal=KILL"].into_iter();
    let kinds = kinds.flat_map(|fault| CALLS.map(|call| (fault, call)));
    let share = Share::one_in(1);
    for (fault, call) in share.of(kinds) {
        for when in 1..=CALLS_MAX {
            let folder = place();
            let Some(run) = run(folder.path(), args, (call, None), fault, when) else {
                notice::skip("faults at single calls", "strace is missing or may not trace");
                return;
            };
            if !run.has_fault {
                break;
            }
            faults += 1;
            let label = format!("{args:?} {fault} at {call} {when}: {}", run.err);
            check(folder.path(), &run, &label);
        }
    }
    eprintln!("{faults} faults: {}", args.join(" "));
    assert!(faults > share.count(20), "{faults} faults");
}

pub(super) fn source() -> Vec<u8> {
    perf::clean().swap_remove(0).built.crashed_torn(5)
}

/// The output of a repair of [`source`] without a fault.
fn repaired() -> Vec<u8> {
    tracemend_tests::mended::mended(&source()).1
}

/// Whether the plan in a folder proves that the output comes from the source.
fn is_proved(folder: &Path, output: &str) -> bool {
    fs::write(folder.join("copy"), source()).unwrap();
    let args = ["verify", "plan", "copy", output];
    let run = run_program(folder, &args);
    fs::remove_file(folder.join("copy")).unwrap();
    run.status.success()
}

#[test]
fn no_fault_while_a_file_is_replaced_loses_a_byte() {
    let (source, repaired) = (source(), repaired());
    let args = ["repair", "x", "--in-place", "--no-backup", "--plan", "plan"];
    with_every_fault(
        || place(&source),
        &args,
        |folder, run, label| {
            let now = fs::read(folder.join("x")).unwrap();
            assert!(now == source || now == repaired, "{label}");
            if now == repaired {
                // The dropped bytes are in the plan, which was durable before.
                assert!(is_proved(folder, "x"), "{label}");
            }
            let is_ok = matches!(run.code, Some(3 | 5) | None);
            assert!(is_ok, "{label}: {:?}", run.code);
            assert!(run.code != Some(3) || now == repaired, "{label}");
            let left = names(folder);
            let unknown = left.iter().find(|name| !["x", "plan"].contains(&name.as_str()));
            // Only a kill between two names leaves a third one, until the next run.
            assert!(unknown.is_none() || run.code.is_none(), "{label}: {left:?}");
            if run.code == Some(5) && now == repaired && !run.err.contains("standard output") {
                assert!(run.err.contains("the output is complete and has its name"), "{label}");
                assert!(run.err.contains("the plan plan was written"), "{label}");
            }
        },
    );
}

#[test]
fn no_fault_in_place_leaves_an_original_that_is_not_needed() {
    let (source, repaired) = (source(), repaired());
    with_every_fault(
        || place(&source),
        &["repair", "x", "--in-place"],
        |folder, run, label| {
            let now = fs::read(folder.join("x")).unwrap();
            let orig = fs::read(folder.join("x.orig")).ok();
            assert!(now == source || now == repaired, "{label}");
            assert!(orig.as_ref().is_none_or(|orig| *orig == source), "{label}");
            assert!(now == source || orig.is_some(), "{label}: the original is lost");
            let is_undone = run.code == Some(5) && now == source && !label.contains("unlink");
            assert!(!is_undone || orig.is_none(), "{label}: x.orig is left");
            // The next run is not stopped by what a killed one has left.
            if run.code.is_none() && now == source {
                let args = ["repair", "x", "--in-place"];
                let next = run_program(folder, &args);
                assert_eq!(next.status.code(), Some(3), "{label}");
                assert_eq!(names(folder), ["x", "x.orig"], "{label}");
            }
        },
    );
}

/// Every file and link below a folder.
fn below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for name in names(folder) {
        let path = folder.join(name);
        match fs::read_link(&path) {
            Ok(link) => files.push((path, link.into_os_string().into_encoded_bytes())),
            Err(_) if path.is_dir() => files.extend(below(&path)),
            Err(_) => files.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    files
}

/// A killed recording in a directory, with other files in it.
fn directory() -> TempDir {
    let folder = TempDir::new().unwrap();
    let rec = folder.path().join("rec");
    fs::create_dir_all(rec.join("kcore_dir/empty")).unwrap();
    fs::write(rec.join("kcore_dir/kallsyms"), b"0 A a\n").unwrap();
    std::os::unix::fs::symlink("kcore_dir/kallsyms", rec.join("link")).unwrap();
    for (name, mut bytes) in perf::directory() {
        if name == "data" {
            bytes[48..56].fill(0);
        }
        fs::write(rec.join(name), bytes).unwrap();
    }
    folder
}

/// Every file and link below a folder in `folder`, by its name in that.
pub(super) fn relative(folder: &Path, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = folder.join(name);
    let files = below(&root).into_iter();
    files.map(|(path, bytes)| (path.strip_prefix(&root).unwrap().into(), bytes)).collect()
}

#[test]
fn no_fault_while_a_directory_is_replaced_loses_a_byte() {
    if is_left_to_the_gate("faults at each system call that replaces a directory") {
        return;
    }
    let args = ["repair", "rec", "--in-place"];
    let whole = directory();
    let source = relative(whole.path(), "rec");
    let run = run_program(whole.path(), &args);
    assert!(matches!(run.status.code(), Some(0 | 3)), "{run:?}");
    let expected = relative(whole.path(), "rec");
    assert!(source != expected && relative(whole.path(), "rec.orig") == source);
    with_every_fault(directory, &args, |folder, run, label| {
        let is_there = |name: &str| folder.join(name).exists();
        let [now, orig] =
            ["rec", "rec.orig"].map(|name| is_there(name).then(|| relative(folder, name)));
        let is_replaced = now.as_ref() == Some(&expected) && orig.as_ref() == Some(&source);
        let is_kept = now.as_ref() == Some(&source) && orig.is_none();
        // A directory has one name: a kill between two of them leaves it that of the original.
        let is_between = now.is_none() && orig.as_ref() == Some(&source) && run.code.is_none();
        assert!(is_replaced || is_kept || is_between, "{label}: {:?}", names(folder));
        let is_said = ["has its name", "standard output"].iter().any(|said| run.err.contains(said));
        assert!(run.code != Some(5) || is_kept || is_said, "{label}");
    });
}

#[test]
fn no_fault_leaves_half_a_directory() {
    if is_left_to_the_gate("faults at each system call that writes a directory") {
        return;
    }
    let args = ["repair", "rec", "-o", "out", "--plan", "plan"];
    let whole = directory();
    let run = run_program(whole.path(), &args);
    let code = run.status.code();
    assert!(matches!(code, Some(0 | 3)), "{run:?}");
    let source = relative(whole.path(), "rec");
    let expected = relative(whole.path(), "out");
    assert_eq!(source.len(), expected.len());
    with_every_fault(directory, &args, |folder, run, label| {
        assert!(relative(folder, "rec") == source, "{label}");
        let has_out = folder.join("out").exists();
        assert!(!has_out || relative(folder, "out") == expected, "{label}");
        assert!(!has_out || folder.join("plan").exists(), "{label}");
        let left = temporaries(folder);
        // What cannot be removed stays until the next run, as after a kill.
        let is_left = run.code.is_none() || label.contains("rmdir") || label.contains("unlink");
        assert!(left.is_empty() || is_left, "{label}: {left:?}");
        fs::remove_dir_all(folder.join("out")).unwrap_or_default();
        fs::remove_file(folder.join("plan")).unwrap_or_default();
        let next = run_program(folder, &args);
        assert_eq!(next.status.code(), code, "{label}: {next:?}");
        assert_eq!(names(folder), ["out", "plan", "rec"], "{label}");
    });
}

#[test]
fn no_fault_leaves_half_an_output() {
    let (source, repaired) = (source(), repaired());
    let args = ["repair", "x", "-o", "out", "--plan", "plan"];
    with_every_fault(
        || place(&source),
        &args,
        |folder, run, label| {
            assert!(fs::read(folder.join("x")).unwrap() == source, "{label}");
            if let Ok(out) = fs::read(folder.join("out")) {
                assert!(out == repaired && is_proved(folder, "out"), "{label}");
            }
            let known = ["x", "plan", "out"];
            let left = names(folder);
            assert!(left.iter().all(|name| known.contains(&name.as_str())), "{label}: {left:?}");
            let stands = left.iter().any(|name| name == "plan");
            if run.code == Some(5) && !stands {
                assert!(!left.iter().any(|name| name == "out"), "{label}: {left:?}");
            }
        },
    );
}

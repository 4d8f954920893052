//! `--sandbox`: a run that reads a recording can open nothing else.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tracemend_tests::notice;

use super::*;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tracemend-under-test");
const CLAIM: &str = "the sandbox";
const PATIENCE: Duration = Duration::from_secs(60);

/// Attempts that the sandbox has to allow; they come first.
const ALLOWED: usize = 8;

fn probe(choice: &str) -> Vec<String> {
    let folder = folder(&[
        ("named", b"named"),
        ("other", b"other"),
        ("walked/inside", b"inside"),
        ("out/x", b"x"),
    ]);
    symlink("../other", folder.path().join("walked/link")).unwrap();
    let mut probe = Command::new(env!("CARGO_BIN_EXE_sandbox-probe"));
    let ran = probe.arg(choice).arg(folder.path()).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap().lines().map(String::from).collect()
}

/// Whether this system has a sandbox; if not, the test is skipped.
fn is_available() -> bool {
    let said = probe("on").swap_remove(0);
    let is_complete = said.contains("(landlock)") && said.contains("(seccomp)");
    if !is_complete {
        notice::skip(CLAIM, &said);
    }
    is_complete
}

#[test]
fn inside_no_other_file_can_be_opened_no_socket_made_and_no_program_run() {
    let is_call = |line: &String| line.starts_with("call ");
    let (calls, outside): (Vec<_>, Vec<_>) = probe("off").into_iter().partition(is_call);
    assert!(outside.len() > 15, "{outside:?}");
    for line in &outside {
        assert!(line.starts_with("allowed: "), "outside the sandbox: {line}");
    }
    // Containers and settings of the kernel refuse some.
    let came_through = calls.iter().filter(|line| line.starts_with("call allowed: ")).count();
    assert!(came_through > 20, "outside the sandbox: {calls:#?}");
    if !is_available() {
        return;
    }
    let (calls_inside, inside): (Vec<_>, Vec<_>) = probe("on").into_iter().partition(is_call);
    assert_eq!(calls_inside.len(), calls.len());
    for line in &calls_inside {
        let is_refused = line.starts_with("call refused: ") && line.ends_with("PermissionDenied");
        assert!(is_refused, "{line}");
    }
    assert_eq!(inside.len(), outside.len() + 1, "{inside:#?}");
    let (allowed, refused) = inside[1..].split_at(ALLOWED);
    for line in allowed {
        assert!(line.starts_with("allowed: "), "{line}");
    }
    for line in refused {
        assert!(line.starts_with("refused: ") && line.ends_with("PermissionDenied"), "{line}");
    }
}

/// Starts `check - FILE` and waits until it reads standard input, inside the sandbox if it has one.
fn start_waiting(file: &Path, choice: &str) -> Child {
    let mut command = Command::new(PROGRAM);
    let command = command.args(["check", "-", choice]).arg(file).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let begun = Instant::now();
    while choice != "--sandbox=off" && begun.elapsed() < PATIENCE {
        if fs::read_to_string(&status).unwrap().contains("Seccomp:\t2") {
            return child;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before the test could act");
        sleep(Duration::from_millis(1));
    }
    assert_eq!(choice, "--sandbox=off", "the run does not filter system calls");
    child
}

#[test]
fn a_file_that_takes_the_name_of_a_recording_is_not_opened() {
    if !is_available() {
        return;
    }
    for (choice, code) in [("--sandbox=off", 1), ("--sandbox=auto", 5), ("--sandbox", 5)] {
        let folder = folder(&[("x", &sound()), ("secret", &sound())]);
        let path = folder.path().join("x");
        let mut child = start_waiting(&path, choice);
        fs::remove_file(&path).unwrap();
        symlink("secret", &path).unwrap();
        // The empty standard input is an error, the link is not.
        drop(child.stdin.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{choice}: {err}");
        assert_eq!(err.contains("x: Permission denied"), code == 5, "{choice}: {err}");
    }
}

/// Runs the program under strace; `None` if strace is missing or may not trace.
fn trace(folder: &Path, options: &[&str], args: &[&str]) -> Option<(Ran, String)> {
    let log = folder.join("log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&log).args(options).arg(PROGRAM);
    let output = strace.args(args).current_dir(folder).stdin(Stdio::null()).output().ok()?;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = u8::try_from(output.status.code()?).unwrap();
    let ran = Ran { code, out: text(output.stdout), err: text(output.stderr) };
    (!ran.err.starts_with("strace:")).then(|| (ran, fs::read_to_string(log).unwrap()))
}

#[test]
fn every_command_enters_the_sandbox_before_it_opens_a_recording() {
    if !is_available() {
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/qemu/clean");
    let log = fs::read(corpus.join("guestoff_7.2.log")).unwrap();
    let folder = folder(&[("x.data", &crashed()), ("x.log", &log), ("r.json", b"{}")]);
    let root = folder.path();
    let args = ["repair", "x.data", "-o", "out.data", "--plan", "plan.json", "--force"];
    let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
    let made = Command::new(PROGRAM).args(&args).current_dir(root).output().unwrap();
    assert!(root.join("plan.json").exists(), "{made:?}");
    let commands: [&[&str]; 11] = [
        &["check", "x.data"],
        &["audit", "x.data"],
        &["map", "x.data"],
        &["dump", "x.log"],
        &["diff", "x.log", "x.log"],
        &["merge", "r.json"],
        &["verify", "plan.json", "x.data", "out.data"],
        &["apply", "plan.json", "x.data", "-o", "applied"],
        &["repair", "x.data", "-o", "out.data", "--force"],
        &["repair", "x.data", "--out-dir", "all"],
        &["redact", "x.log", "-o", "redacted.log"],
    ];
    for command in commands {
        let options = ["-e", "trace=openat,landlock_restrict_self,seccomp"];
        let Some((_, log)) = trace(root, &options, command) else {
            notice::skip(CLAIM, "strace is missing or may not trace");
            return;
        };
        let line = |found: &dyn Fn(&str) -> bool| log.lines().position(found);
        let named = command[1];
        let opened = line(&|line| {
            line.contains(&format!("\"{named}\", O_RDONLY")) && !line.contains("O_PATH")
        });
        for call in ["landlock_restrict_self(", "seccomp("] {
            let entered = line(&|line| line.contains(call) && line.contains(" = 0"));
            assert!(entered.is_some() && entered < opened, "{command:?}: {call}\n{log}");
        }
    }
}

#[test]
fn a_system_without_a_sandbox_is_an_error_if_it_is_asked_for() {
    let folder = folder(&[("x", &sound())]);
    for (call, reason) in [
        ("landlock_create_ruleset:error=ENOSYS", "the kernel has no landlock"),
        ("seccomp:error=EINVAL", "all system calls (seccomp: "),
    ] {
        let inject = format!("inject={call}");
        let run = |choice| trace(folder.path(), &["-e", &inject], &["check", "x", choice]);
        let (Some((on, _)), Some((auto, log))) = (run("--sandbox"), run("--sandbox=auto")) else {
            notice::skip(CLAIM, "strace is missing or may not trace");
            return;
        };
        assert!(log.contains("(INJECTED)"), "{log}");
        assert_eq!((on.code, on.out.as_str()), (2, ""), "{}", on.err);
        assert!(on.err.contains(reason) && on.err.contains("nothing was read"), "{}", on.err);
        assert_eq!((auto.code, auto.err.as_str()), (0, ""), "{}", auto.out);
    }
    // The process of a test is shared.
    let ran = run!("check", folder.path().join("x"), "--sandbox=on");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("needs a process of its own"), "{}", ran.err);
}

#[test]
fn outputs_of_all_kinds_can_be_written_inside() {
    if !is_available() {
        return;
    }
    let folder = folder(&[("x", &truncated()), ("deep/y", &truncated())]);
    let root = folder.path();
    symlink("deep/link-target", root.join("link")).unwrap();
    for (args, code, made) in [
        ("repair x", 3, "x.mended"),
        ("repair x --in-place --plan deep/plan", 3, "x.orig"),
        ("repair deep/y -o link", 3, "deep/link-target"),
        ("repair deep/y --out-dir new/folder", 3, "new/folder/y"),
        ("check deep/y -o /dev/null", 1, "x"),
        ("check deep/y --format json=deep/report.json", 1, "deep/report.json"),
        ("check deep/y --baseline deep/b.json --write-baseline", 0, "deep/b.json"),
        ("map x --format html -o map.html", 0, "map.html"),
        ("check /dev/stdin", 0, "x"),
    ] {
        let mut program = Command::new(PROGRAM);
        let program = program.args(args.split(' ')).arg("--sandbox").current_dir(root);
        let ran = program.stdin(fs::File::open(root.join("x")).unwrap()).output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{args}: {err}");
        assert!(err.contains("tracemend: sandbox: no files except the named ones"), "{err}");
        assert!(root.join(made).exists(), "{args}: {:?}", names(root));
    }
}

//! No file is used twice, nothing is written inside a recording, and I/O errors are I/O errors.

use std::collections::BTreeMap;

use tracemend::Plan;
use tracemend_tests::forge::ovni::{Stream, Thread, Trace};

use super::*;

/// Every file below a folder, by its path.
fn all_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in names(folder) {
        let path = folder.join(name);
        if path.is_dir() && !path.is_symlink() {
            files.extend(all_below(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    files
}

/// A perf directory `rec` whose recorder was killed, with a folder of other files in it.
fn killed_directory() -> TempDir {
    let folder = folder(&[("rec/kcore_dir/kallsyms", b"0 A a\n")]);
    for (name, mut bytes) in perf::directory() {
        if name == "data" {
            bytes[48..56].fill(0);
        }
        fs::write(folder.path().join("rec").join(name), bytes).unwrap();
    }
    folder
}

/// Runs the program in a working directory.
fn run_in(directory: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    let output = command.current_dir(directory).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = u8::try_from(output.status.code().unwrap()).unwrap();
    Ran { code, out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn an_output_inside_the_source_is_refused() {
    let folder = killed_directory();
    let root = folder.path();
    let source = root.join("rec");
    symlink("rec", root.join("link")).unwrap();
    symlink("rec/kcore_dir", root.join("deep-link")).unwrap();
    symlink("rec/dangling", root.join("to-inside")).unwrap();
    let before = all_below(root);
    let inside = [
        "rec/out",
        "rec/kcore_dir/out",
        "link/out",
        "deep-link/out",
        "to-inside",
        "rec/../rec/kcore_dir/../out",
    ];
    for out in inside {
        for force in [&[][..], &["--force"]] {
            let out = root.join(out);
            let mut args =
                vec!["repair".as_ref(), source.as_os_str(), "-o".as_ref(), out.as_os_str()];
            args.extend(force.iter().map(OsStr::new));
            let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{out:?}: {}", ran.err);
            assert!(ran.err.contains("lies inside"), "{out:?}: {}", ran.err);
            let plan = ["repair".as_ref(), source.as_os_str(), "--plan".as_ref(), out.as_os_str()];
            assert_eq!(run_with(&plan, &mut io::empty(), Look::PLAIN).code, 2, "{out:?}");
        }
        assert_eq!(run!("check", &source, "-o", root.join(out)).code, 2, "{out}");
        assert_eq!(run!("check", root, "-o", root.join(out)).code, 2, "{out}");
    }
    assert_eq!(all_below(root), before);
    // A report in a folder that is walked is harmless.
    assert_eq!(run!("check", root, "-o", root.join("report")).code, 1);
}

#[test]
fn a_directory_that_is_named_by_dots_is_repaired_beside_itself() {
    for (inside, path) in [("", "."), ("kcore_dir", ".."), ("kcore_dir", "../."), ("", "../rec")] {
        let folder = killed_directory();
        let source = folder.path().join("rec");
        let before = all_below(&source);
        let ran = run_in(&source.join(inside), &["repair", path]);
        assert!(matches!(ran.code, 0 | 3), "{path}: {}{}", ran.out, ran.err);
        assert_eq!(names(folder.path()), ["rec", "rec.mended"], "{path}");
        assert_eq!(all_below(&source), before, "{path}");
        assert_eq!(run!("check", folder.path().join("rec.mended")).code, 0);
        // The command that a check prints can be pasted here, too.
        let ran = run_in(&source.join(inside), &["check", path]);
        let next = format!("tracemend repair {path}");
        assert!(ran.out.contains(&next) && !ran.out.contains(" -o "), "{}", ran.out);
        let ran = run_in(&source.join(inside), &["repair", path, "-o", "out"]);
        assert_eq!(ran.code, 2, "{path}: {}", ran.err);
        assert_eq!(all_below(&source), before, "{path}");
    }
}

#[test]
fn no_path_is_used_twice() {
    let folder = folder(&[("x", &truncated()), ("donor", &sound()), ("old", b"old")]);
    let root = folder.path();
    let path = |name: &str| root.join(name).into_os_string();
    fs::create_dir(root.join("sub")).unwrap();
    for name in ["x", "donor", "old"] {
        symlink(name, root.join(format!("soft-{name}"))).unwrap();
        fs::hard_link(root.join(name), root.join(format!("hard-{name}"))).unwrap();
    }
    let before = all_below(root);
    let repair = |options: &[(&str, &str)], more: &[&str]| {
        let mut args: Vec<OsString> = vec!["repair".into(), path("x")];
        for (option, name) in options {
            args.extend([option.into(), path(name)]);
        }
        args.extend(more.iter().map(OsString::from));
        let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
        run_with(&args, &mut io::empty(), Look::PLAIN)
    };
    let cases: [&[(&str, &str)]; 14] = [
        &[("--plan", "new"), ("-o", "new")],
        &[("--plan", "new"), ("-o", "sub/../new")],
        &[("--plan", "old"), ("-o", "soft-old")],
        &[("--plan", "soft-old"), ("-o", "hard-old")],
        &[("--donor", "donor"), ("-o", "donor")],
        &[("--donor", "soft-donor"), ("-o", "donor")],
        &[("--donor", "hard-donor"), ("-o", "soft-donor")],
        &[("--donor", "donor"), ("--plan", "hard-donor")],
        &[("--donor", "soft-x")],
        &[("--donor", "hard-x")],
        &[("-o", "hard-x")],
        &[("--plan", "soft-x")],
        &[("--plan", "x.mended")],
        &[("--donor", "x")],
    ];
    for options in cases {
        for more in [&[][..], &["--force"], &["--force", "--dry-run"]] {
            let ran = repair(options, more);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options:?} {more:?}: {}", ran.err);
        }
        let ran = repair(options, &["--force"]);
        assert!(ran.err.contains(" is both "), "{options:?}: {}", ran.err);
    }
    let ran = repair(&[("--plan", "x.orig")], &["--in-place"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(all_below(root), before);
    // A device may be named twice.
    assert_eq!(run!("check", path("x"), "-o", "/dev/null").code, 1);
}

#[test]
fn apply_does_not_use_a_path_twice() {
    let folder = folder(&[("x", &truncated())]);
    let path = |name: &str| folder.path().join(name);
    assert_eq!(run!("repair", path("x"), "--plan", path("plan")).code, 3);
    fs::hard_link(path("plan"), path("hard-plan")).unwrap();
    symlink("x", path("soft-x")).unwrap();
    let before = all_below(folder.path());
    for (source, out) in [("x", "plan"), ("x", "hard-plan"), ("x", "soft-x"), ("plan", "new")] {
        let ran = run!("apply", path("plan"), path(source), "-o", path(out), "--force");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{source} {out}: {}", ran.err);
        assert!(ran.err.contains(" is both "), "{}", ran.err);
    }
    assert_eq!(all_below(folder.path()), before);
}

#[test]
fn standard_streams_are_files_like_others() {
    let folder = folder(&[("x", &truncated()), ("log", b"")]);
    let root = folder.path();
    let script = |text: &str| {
        let mut shell = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_tracemend-under-test");
        shell.current_dir(root).args(["-c", text, program]).output().unwrap()
    };
    for text in [
        "exec \"$0\" repair - -o x --force <x",
        "exec \"$0\" check x >>x",
        "exec \"$0\" check - <x >>x",
        "exec \"$0\" dump x >>x",
        "exec \"$0\" check . -o log >>log",
        "exec \"$0\" check x -o /dev/stdout >>x",
    ] {
        let output = script(text);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}: {err}");
        assert!(err.contains(" is both "), "{text}: {err}");
        assert_eq!(fs::read(root.join("x")).unwrap(), truncated(), "{text}");
    }
    let output = script("\"$0\" repair x --dry-run --plan /dev/stdout | cat");
    assert!(String::from_utf8_lossy(&output.stdout).contains("tracemend.plan.v1"), "{output:?}");
    // A report in the folder that is walked is not one of its files.
    let output = script("exec \"$0\" check . --format json >report");
    assert_eq!(output.status.code(), Some(1));
    let report = parse(&fs::read_to_string(root.join("report")).unwrap());
    assert_eq!(report["recordings"].as_array().unwrap().len(), 1);
    assert!(!report.to_string().contains("./report"), "{report}");
}

#[test]
fn other_files_of_a_directory_never_overwrite_a_repaired_one() {
    let place = TempDir::new().unwrap();
    let source = place.path().join("ovni");
    let trace = Trace::of(&Thread::new(7, 7), Stream::default().begin(0).end());
    for (name, bytes) in &trace.files {
        let path = source.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes.as_ref().unwrap()).unwrap();
    }
    let plan = place.path().join("plan");
    let ran = run!("repair", &source, "--plan", &plan, "--dry-run");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    // A plan that renames a stream to the name of a file that is no part of the recording.
    let mut edited = Plan::from_json(&fs::read(&plan).unwrap()).unwrap();
    let stray = "notes.txt";
    fs::write(source.join(stray), "of a user").unwrap();
    edited.files[0].renamed = Some(stray.to_string());
    fs::write(&plan, edited.to_json().unwrap()).unwrap();
    let out = place.path().join("out");
    let ran = run!("apply", &plan, &source, "-o", &out);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("notes.txt is not a file of the recording"), "{}", ran.err);
    fs::remove_file(source.join(stray)).unwrap();
    symlink("/tmp", source.join(stray)).unwrap();
    assert_eq!(run!("apply", &plan, &source, "-o", &out).code, 4);
    fs::remove_file(source.join(stray)).unwrap();
    assert_eq!(run!("apply", &plan, &source, "-o", &out).code, 0);
    assert!(out.join(stray).exists());
    assert_eq!(names(place.path()), ["out", "ovni", "plan"]);
}

#[test]
fn hard_links_to_unchanged_files_do_not_let_the_source_be_written() {
    let folder = killed_directory();
    let source = folder.path().join("rec");
    let before = all_below(&source);
    let out = folder.path().join("out");
    let ran = run!("repair", &source, "-o", &out, "--link");
    assert!(matches!(ran.code, 0 | 3), "{}{}", ran.out, ran.err);
    assert_eq!(all_below(&source), before);
    assert_eq!(fs::read(out.join("kcore_dir/kallsyms")).unwrap(), b"0 A a\n");
}

#[test]
fn a_pipe_in_a_directory_recording_is_not_waited_for() {
    let folder = killed_directory();
    let source = folder.path().join("rec");
    let fifo = source.join("kcore_dir/fifo");
    assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
    let ran = run!("repair", &source, "-o", folder.path().join("out"));
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("kcore_dir/fifo: a device, socket or pipe"), "{}", ran.err);
    assert_eq!(names(folder.path()), ["rec"]);
}

#[test]
fn what_cannot_be_read_or_written_exits_with_5() {
    let folder = killed_directory();
    let root = folder.path();
    fs::write(root.join("x"), truncated()).unwrap();
    fs::create_dir(root.join("locked")).unwrap();
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("", 0o777);
    mode("rec/data", 0);
    mode("locked", 0o500);
    // Root may read and write everything.
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let program = env!("CARGO_BIN_EXE_tracemend-under-test");
    let run = |args: &[&str]| {
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let words = nobody.into_iter().filter(|_| is_root).chain([program]);
        let words: Vec<&str> = words.chain(args.iter().copied()).collect();
        Command::new(words[0]).args(&words[1..]).current_dir(root).output()
    };
    match run(&["--version"]) {
        Ok(output) if output.status.success() => {}
        other => {
            let reason = format!("{other:?}");
            tracemend_tests::notice::skip("files that cannot be read", &reason);
            return;
        }
    }
    for args in [
        &["check", "rec"][..],
        &["repair", "rec"],
        &["repair", "rec", "-o", "out"],
        &["dump", "rec"],
        &["check", "rec/data"],
        &["repair", "x", "-o", "locked/out"],
        &["repair", "x", "--plan", "locked/plan"],
        &["repair", "x", "--donor", "rec"],
        &["check", "x", "-o", "locked/report"],
        &["apply", "rec/data", "x", "-o", "out"],
        &["verify", "rec/data", "x", "x"],
    ] {
        let output = run(args).unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{args:?}: {err}");
        assert!(err.contains("Permission denied"), "{args:?}: {err}");
    }
    assert_eq!(names(root), ["locked", "rec", "x"]);
}

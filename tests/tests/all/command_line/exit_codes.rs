//! Exit codes of `check`: one meaning each.

use super::*;

#[test]
fn a_sound_recording_exits_with_0_and_a_broken_one_with_1() {
    let folder = folder(&[("sound", &sound()), ("crashed", &crashed())]);
    let path = |name: &str| folder.path().join(name);
    let ran = run!("check", path("sound"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("sound: clean; perf"), "{}", ran.out);
    let ran = run!("check", path("crashed"));
    assert_eq!(ran.code, 1, "{}", ran.out);
    let ran = run!("check", path("crashed"), path("sound"));
    assert_eq!(ran.code, 1, "the highest counts: {}", ran.out);
    assert_eq!(run!("check", path("crashed"), "--fail-on", "never").code, 0);
    let ran = run!("check", path("sound"), "--quiet");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
}

#[test]
fn what_no_format_recognises_is_a_finding_if_named_and_skipped_if_found() {
    let folder = folder(&[("a/note.txt", b"hello"), ("a/empty", b""), ("a/b/x.data", &sound())]);
    for (name, code) in [("a/note.txt", "CM0002"), ("a/empty", "CM0001")] {
        let ran = run!("check", folder.path().join(name));
        assert_eq!(ran.code, 1);
        assert!(ran.out.contains(code), "{}", ran.out);
    }
    let ran = run!("check", folder.path());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "            recordings   clean   errors   warnings   skipped");
    assert_eq!(lines[1], "perf                 1       1        0          0         -");
    assert_eq!(lines[2], "total                1       1        0          0         2");
    for (line, start, end) in
        [(3, "skipped (unknown format): ", "note.txt"), (4, "skipped (empty): ", "empty")]
    {
        assert!(lines[line].starts_with(start) && lines[line].ends_with(end), "{}", ran.out);
    }
    assert_eq!(lines.len(), 5, "{}", ran.out);
    let ran = run!("check", folder.path(), "--type", "perf");
    assert_eq!(ran.code, 1, "every file is taken for a recording");
}

#[test]
fn work_that_takes_more_steps_than_its_limit_exits_with_6_and_writes_nothing() {
    let folder = folder(&[("x", &crashed()), ("sound", &sound())]);
    let path = |name: &str| folder.path().join(name);
    let out = path("out");
    let commands: [(&str, &str, &[&str]); 10] = [
        ("check", "x", &[]),
        ("audit", "x", &[]),
        ("repair", "x", &["-o"]),
        ("redact", "sound", &["-o"]),
        ("cut", "sound", &["--range", "1..3", "-o"]),
        ("dump", "x", &["-o"]),
        ("diff", "x", &[]),
        ("map", "x", &["-o"]),
        ("map", "x", &["--format", "svg", "-o"]),
        ("map", "x", &["--at", "0x20"]),
    ];
    for (command, name, options) in commands {
        let source = path(name);
        let mut words = vec![OsStr::new(command), source.as_os_str()];
        words.extend(Some(source.as_os_str()).filter(|_| command == "diff"));
        words.extend(options.iter().map(OsStr::new));
        words.extend(options.last().filter(|last| **last == "-o").map(|_| out.as_os_str()));
        let limited = |most: &str| {
            let limit = ["--limit", most].map(OsStr::new);
            run_with(&[words.as_slice(), &limit].concat(), &mut io::empty(), Look::PLAIN)
        };
        let spent = limited("steps=9");
        assert_eq!(spent.code, 6, "{words:?}: {}{}", spent.out, spent.err);
        let said = spent.out + &spent.err;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("CM9001"), "{words:?}: {said}");
        assert!(said.contains("more than 9 steps (raise the limit by --limit steps=N)"), "{said}");
        assert!(!out.exists(), "{words:?}");
        let enough = limited("steps=1000000000");
        assert!(enough.code < 4, "{words:?}: {}", enough.err);
        _ = fs::remove_file(&out);
    }
}

#[test]
fn a_recording_longer_than_the_limit_is_read_by_no_command() {
    let folder = folder(&[("x", &sound())]);
    let (source, out) = (folder.path().join("x"), folder.path().join("out"));
    let commands: [(&str, &[&str]); 8] = [
        ("check", &[]),
        ("audit", &[]),
        ("repair", &["-o"]),
        ("redact", &["-o"]),
        ("cut", &["--range", "1..3", "-o"]),
        ("dump", &["-o"]),
        ("diff", &[]),
        ("map", &["-o"]),
    ];
    for (command, options) in commands {
        for transport in [None, Some("--no-transport")] {
            let mut words = vec![OsStr::new(command), source.as_os_str()];
            words.extend(Some(source.as_os_str()).filter(|_| command == "diff"));
            words.extend(["--limit", "bytes=100"].iter().chain(&transport).map(OsStr::new));
            words.extend(options.iter().map(OsStr::new));
            words.extend(options.last().map(|_| out.as_os_str()));
            let ran = run_with(&words, &mut io::empty(), Look::PLAIN);
            assert_eq!(ran.code, 6, "{words:?}: {}{}", ran.out, ran.err);
            assert!(!out.exists(), "{words:?}");
        }
    }
}

#[test]
fn pipes_devices_and_sockets_are_findings_and_never_wait() {
    let folder = folder(&[]);
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    let socket = folder.path().join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for path in [fifo.as_path(), socket.as_path(), Path::new("/dev/zero")] {
        let ran = run!("check", path);
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert!(ran.out.contains("error[CM0003]"), "{}", ran.out);
        assert_eq!(run!("repair", path, "-o", folder.path().join("out")).code, 4);
    }
    fs::write(folder.path().join("sound"), sound()).unwrap();
    let ran = run!("check", folder.path());
    assert_eq!(ran.code, 0, "found, not named: {}{}", ran.out, ran.err);
    let ran = run!("check", folder.path(), "--strict");
    assert_eq!((ran.code, ran.out.matches("error[CM0003]").count()), (1, 2), "{}", ran.out);
}

#[test]
fn files_that_the_system_makes_up_are_not_taken_for_empty_ones() {
    for (path, reason) in [
        ("/proc/self/maps", "it has the length 0 and more bytes"),
        ("/proc/version", "it has the length 0 and more bytes"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "it has fewer bytes than its length"),
    ] {
        let ran = run!("check", path);
        assert_eq!(ran.code, 5, "{path}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(reason), "{path}: {}", ran.err);
    }
}

#[test]
fn links_are_followed_if_named_and_not_if_found() {
    let folder = folder(&[("real/x.data", &crashed()), ("walked/sound", &sound())]);
    let link = folder.path().join("walked/link");
    symlink(folder.path().join("real"), &link).unwrap();
    symlink(folder.path().join("real/x.data"), folder.path().join("walked/file")).unwrap();
    symlink(folder.path().join("walked"), folder.path().join("walked/loop")).unwrap();
    let ran = run!("check", folder.path().join("walked"));
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(run!("check", &link).code, 1);
    assert_eq!(run!("check", folder.path().join("walked/file")).code, 1);
}

#[test]
fn a_path_that_is_not_there_exits_with_5_and_the_others_are_still_checked() {
    let folder = folder(&[("sound", &sound())]);
    let ran = run!("check", folder.path().join("gone"), folder.path().join("sound"));
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("gone: No such file"), "{}", ran.err);
    assert!(ran.out.contains("sound: clean"));
}

#[test]
fn standard_input_is_a_recording() {
    let bytes = crashed();
    let ran = run_with(&[OsStr::new("check"), OsStr::new("-")], &mut bytes.as_slice(), Look::PLAIN);
    assert_eq!(ran.code, 1, "{}", ran.out);
    let folder = folder(&[]);
    let out = folder.path().join("out");
    let args = ["repair".as_ref(), "-".as_ref(), "-o".as_ref(), out.as_os_str()];
    let ran = run_with(&args, &mut bytes.as_slice(), Look::PLAIN);
    assert_eq!(ran.code, exit_of(&bytes), "{}{}", ran.out, ran.err);
    assert_eq!(run!("check", &out).code, 0);
    let ran = run_with(&["repair".as_ref(), "-".as_ref()], &mut bytes.as_slice(), Look::PLAIN);
    assert_eq!(ran.code, 2, "there is no name to derive one from");
    assert_eq!(run!("check", "-").code, 1, "nothing came: {}", ran.out);
}

#[test]
fn severities_follow_the_user_and_limits_do_not() {
    let folder = folder(&[("x", b"unknown")]);
    let path = folder.path().join("x");
    assert_eq!(run!("check", &path, "--warn", "CM0002").code, 0);
    assert_eq!(run!("check", &path, "--warn", "CM0002", "--fail-on", "warning").code, 1);
    assert_eq!(run!("check", &path, "--allow", "unknown-format", "--fail-on", "info").code, 0);
    assert_eq!(run!("check", &path, "--allow", "CM0002", "--deny", "CM0002").code, 1);
    let ran = run!("check", &path, "--allow", "CM0020");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("CM0002"), "{}", ran.err);
}

#[test]
fn findings_past_the_maximum_are_counted() {
    let folder = folder(&[("x", &crashed())]);
    let ran = run!("check", folder.path().join("x"), "--max-findings", "0", "--format", "json");
    let recording = &parse(&ran.out)["recordings"][0];
    assert_eq!(ran.code, 1);
    assert_eq!(recording["findings"].as_array().unwrap().len(), 0);
    assert_eq!(recording["truncated"], true);
    assert!(!recording["counts"].as_object().unwrap().is_empty());
}

#[test]
fn a_perf_directory_is_one_recording() {
    let folder = folder(&[]);
    let directory = folder.path().join("rec");
    fs::create_dir(&directory).unwrap();
    for (name, bytes) in perf::directory() {
        fs::write(directory.join(name), bytes).unwrap();
    }
    for path in [folder.path(), directory.as_path()] {
        let ran = run!("check", path, "--format", "json");
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        let document = parse(&ran.out);
        assert_eq!(document["recordings"].as_array().unwrap().len(), 1);
        assert_eq!(document["skipped"].as_array().unwrap().len(), 0);
    }
    // Truncated in its second file: repaired into a directory, and only that file differs.
    let truncated = directory.join("data.1");
    let bytes = fs::read(&truncated).unwrap();
    fs::write(&truncated, &bytes[..bytes.len() - 3]).unwrap();
    let plan = folder.path().join("plan");
    let ran = run!("repair", &directory, "--plan", &plan);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let mended = folder.path().join("rec.mended");
    assert_eq!(names(&mended), ["data", "data.0", "data.1"]);
    assert_eq!(run!("check", &mended).code, 0);
    let ran = run!("verify", &plan, &directory, &mended);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(run!("repair", &directory, "--force").code, 2, "directories are not replaced");
    let one_file = run!("repair", &directory, "--in-place", "--no-backup");
    assert_eq!(one_file.code, 2, "its original stays: {}", one_file.out);
    let back = folder.path().join("back");
    assert_eq!(run!("apply", &plan, &mended, "-o", &back, "--reverse").code, 0);
    assert_eq!(fs::read(back.join("data.1")).unwrap(), fs::read(&truncated).unwrap());
    assert_eq!(names(folder.path()), ["back", "plan", "rec", "rec.mended"]);
}

//! Policy: levels of codes, `tracemend.toml`, and the baseline.

use super::*;

/// Runs the program as a process in `folder`.
fn run_in(folder: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    let output = command.args(args).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = u8::try_from(output.status.code().unwrap()).unwrap();
    Ran { code, out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn a_level_is_set_by_code_prefix_name_or_all() {
    let folder = folder(&[("a.data", &crashed())]);
    let path = folder.path().join("a.data");
    for (options, code) in [
        (vec!["--allow", "PD0004"], 0),
        (vec!["--allow", "data-size-zero"], 0),
        (vec!["--allow", "pd"], 0),
        (vec!["--allow", "all"], 0),
        (vec!["--warn", "PD0"], 0),
        (vec!["--warn", "PD0", "--fail-on", "warning"], 1),
        (vec!["--allow", "all", "--deny", "PD0004"], 1),
        (vec!["--deny", "all", "--allow", "PD0"], 0),
        (vec!["--deny", "PD0004", "--allow", "PD0004"], 1),
        (vec!["--allow", "RV"], 1),
        (vec!["--fail-on", "never"], 0),
        (vec!["--allow", "XX"], 2),
    ] {
        let mut args: Vec<&OsStr> = vec!["check".as_ref(), path.as_os_str()];
        args.extend(options.iter().map(OsStr::new));
        let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
        assert_eq!(ran.code, code, "{options:?}: {}{}", ran.out, ran.err);
    }
    // A limit or an unreadable recording is never allowed into a clean verdict.
    let ran = run!("check", &path, "--allow", "all");
    assert!(ran.out.contains("clean, 1 suppressed"), "{}", ran.out);
}

#[test]
fn a_deleted_code_is_explained_and_a_policy_that_names_it_gets_a_warning() {
    let ran = run!("explain", "blob-size");
    assert!(
        ran.out.starts_with("AT2020 (blob-size) has not existed since version "),
        "{}{}",
        ran.out,
        ran.err
    );
    assert!(!run!("codes").out.contains("AT2020"));
    let accepted = r#"{"schema":"tracemend.baseline.v1","tool":"tracemend 0.0.9","recordings":[
        {"path":"a","findings":[{"code":"AT2019","fingerprint":"0","count":1,"message":""}]}]}"#;
    let folder = folder(&[
        ("a.data", &crashed()),
        ("c.toml", b"[[overrides]]\npaths = [\"x\"]\nwarn = [\"at2019\"]\n"),
        ("accepted.json", accepted.as_bytes()),
    ]);
    let [path, config, baseline] =
        ["a.data", "c.toml", "accepted.json"].map(|name| folder.path().join(name));
    let [allow, deny] = ["--allow=PD0004", "--deny=at2020"];
    let ran = run!("check", path, "--config", config, "--baseline", baseline, allow, deny);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for code in ["AT2019", "AT2020"] {
        assert!(ran.err.contains(&format!("tracemend: {code} (")), "{code}: {}", ran.err);
    }
}

#[test]
fn the_policy_of_a_project_is_found_upward_and_the_command_line_wins() {
    let toml = "warn = [\"PD\"]\n[[overrides]]\npaths = [\"known/**\"]\nallow = [\"PD0004\"]\n";
    let folder = folder(&[
        ("tracemend.toml", toml.as_bytes()),
        ("deep/er/a.data", &crashed()),
        ("known/a.data", &crashed()),
    ]);
    let deep = folder.path().join("deep/er");
    let ran = run_in(&deep, &["check", "a.data"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("warning[PD0004]"), "{}", ran.out);
    assert_eq!(run_in(&deep, &["check", "a.data", "--no-config"]).code, 1);
    assert_eq!(run_in(&deep, &["check", "a.data", "--deny", "all"]).code, 1);
    assert_eq!(run_in(&deep, &["check", "a.data", "--fail-on", "warning"]).code, 1);
    let ran = run_in(&deep, &["check", "../../known/a.data"]);
    assert!(ran.out.contains("clean, 1 suppressed"), "{}", ran.out);
    let config = folder.path().join("tracemend.toml");
    let ran = run_in(Path::new("/"), &["check", deep.join("a.data").to_str().unwrap()]);
    assert_eq!(ran.code, 1, "no policy above: {}", ran.out);
    let path = deep.join("a.data");
    assert_eq!(run!("check", path, "--config", &config).code, 0);
    fs::write(&config, "fail-on = \"warning\"\nwarn = [\"PD\"]").unwrap();
    assert_eq!(run_in(&deep, &["check", "a.data"]).code, 1);
}

#[test]
fn an_error_in_the_policy_shows_its_line_and_nothing_is_checked() {
    let folder = folder(&[("a.data", &crashed())]);
    let config = folder.path().join("c.toml");
    let path = folder.path().join("a.data");
    for (text, parts) in [
        (
            "warn = []\ndeny = [\"PD\", \"XX9\"]\n",
            ["unknown code `XX9`", "deny = [\"PD\", \"XX9\"]", ":2:"],
        ),
        ("[formats.gif]\n", ["unknown format `gif`", "[formats.gif]", ":1:"]),
        ("strict = maybe\n", ["strict = maybe", "c.toml", ":1:"]),
        (
            "# \u{9b}2J\u{202e}\ncolour = \"\u{9b}red\"\n",
            ["unknown field `colour`", "??red", ":2:"],
        ),
        ("# \u{1b}[2J\n", ["invalid comment character", "# ?[2J", ":1:"]),
    ] {
        fs::write(&config, text).unwrap();
        let ran = run!("check", &path, "--config", &config);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{text}");
        for part in parts {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        assert!(ran.err.chars().all(|c| c == '\n' || is_safe(c)), "{:?}", ran.err);
    }
    assert_eq!(run!("check", &path, "--config", folder.path().join("gone")).code, 5);
    assert_eq!(run!("check", &path, "--config", folder.path()).code, 5);
}

#[test]
fn options_of_a_format_stand_in_the_policy() {
    let log = qemu::long(qemu::ids::of("5.2"), 500);
    let log = log.killed(log.bytes.len() - 3);
    let toml = b"[formats.qemu]\noptions = { qemu-version = \"5.2\" }\n";
    let folder = folder(&[("log", &log), ("c.toml", toml), ("a.data", &sound())]);
    let path = |name: &str| folder.path().join(name);
    let ran = |options: &[&str], config: bool| {
        let mut words = vec!["check".to_string(), path("log").display().to_string()];
        words.push(path("a.data").display().to_string());
        words.extend(options.iter().map(ToString::to_string));
        if config {
            words.push(format!("--config={}", path("c.toml").display()));
        }
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        run_with(&words, &mut io::empty(), Look::PLAIN)
    };
    let with = ran(&["--format=json"], true);
    assert_eq!(with.err, "", "the option is that of one format");
    assert_eq!(with.out, ran(&["--format=json", "--qemu-version=5.2"], false).out);
}

#[test]
fn a_baseline_accepts_what_there_is_and_survives_a_shift() {
    let tap = |taps: usize, wrong: &[usize]| {
        let mut recording = revent::Recording::new(revent::Layout::V2);
        for _ in 0..8 {
            recording.tap(1);
        }
        let per_tap = recording.events.len() / 8;
        recording.events.drain(..per_tap * (8 - taps));
        let built = recording.build();
        let mut bytes = built.bytes;
        let len = (bytes.len() - built.events) / built.count;
        for tap in wrong {
            // An invalid type in the first event of a tap, counted from the last tap.
            let at = bytes.len() - tap * per_tap * len + len - 8;
            bytes[at] = 0x77;
        }
        bytes
    };
    let folder = folder(&[("a/x.run.revent", &tap(5, &[2])), ("a/y.run.revent", &tap(3, &[]))]);
    let path = folder.path().join("a");
    let baseline = folder.path().join("accepted.json");
    assert_eq!(run!("check", &path, "--fail-on", "warning").code, 1);
    let ran = run!("check", &path, "--baseline", &baseline);
    assert_eq!(ran.code, 5, "a baseline that is named must exist");
    assert_eq!(run!("check", &path, "--write-baseline").code, 2);
    let ran =
        run!("check", &path, "--fail-on", "warning", "--baseline", &baseline, "--write-baseline");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let document = parse(&fs::read_to_string(&baseline).unwrap());
    assert_valid(&schema("baseline.schema.json"), &document);
    assert_eq!(document["recordings"][0]["path"], "a/x.run.revent");
    let check = || run!("check", &path, "--fail-on", "warning", "--baseline", &baseline);
    let ran = check();
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("suppressed"), "{}", ran.out);
    // Eight taps instead of five: the fault has moved.
    fs::write(path.join("x.run.revent"), tap(8, &[2])).unwrap();
    assert_eq!(check().code, 0, "{}", check().out);
    // A second one is new, and so is the same in another recording.
    fs::write(path.join("x.run.revent"), tap(8, &[2, 4])).unwrap();
    assert_eq!(check().code, 1);
    fs::write(path.join("x.run.revent"), tap(8, &[2])).unwrap();
    fs::write(path.join("y.run.revent"), tap(3, &[2])).unwrap();
    assert_eq!(check().code, 1);
    // SARIF has what does not count, and says so.
    let report =
        run!("check", path.join("x.run.revent"), "--baseline", &baseline, "--format=sarif");
    let document = parse(&report.out);
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty());
    assert!(results.iter().all(|result| result["suppressions"][0]["kind"] == "external"));
    fs::write(&baseline, "{\"schema\":\"other\"}").unwrap();
    assert_eq!(check().code, 2);
    assert_eq!(run!("check", &baseline, "--baseline", &baseline, "--write-baseline").code, 2);
}

#[test]
fn statistics_count_codes_instead_of_listing_findings() {
    let folder = folder(&[("a", &crashed()), ("b", &crashed()), ("c", &sound())]);
    let ran = run!("check", folder.path(), "--statistics");
    let line = "2  PD0004  error    fix  data-size-zero in 2 recordings\n";
    assert_eq!((ran.code, ran.out.as_str()), (1, line));
    let ran = run!("check", folder.path(), "--statistics", "--allow=PD0004");
    assert_eq!((ran.code, ran.out.as_str()), (0, "2  PD0004  suppressed\n"));
    assert_eq!(run!("check", folder.path(), "--statistics", "--format=json").code, 2);
}

#[test]
fn a_report_with_fewer_findings_says_that_it_is_truncated() {
    let folder = folder(&[("a", &crashed())]);
    let with = |max: &str| {
        let ran = run!("check", folder.path().join("a"), "--format=json", "--max-findings", max);
        let document = parse(&ran.out);
        assert_eq!(document["totals"]["findings"]["PD0004"], 1);
        assert_eq!(ran.code, 1);
        (
            document["recordings"][0]["truncated"].clone(),
            document["recordings"][0]["findings"].as_array().unwrap().len(),
        )
    };
    assert_eq!(with("0"), (true.into(), 0));
    assert_eq!(with("1"), (false.into(), 1));
}

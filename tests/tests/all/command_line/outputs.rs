//! Reports in every form, safe to print.

use super::*;
use tracemend_tests::sweep::is_left_to_the_gate;

#[test]
fn json_follows_its_schema_and_lines_are_its_recordings() {
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("empty".to_string(), Vec::new()),
        ("unknown".to_string(), b"\x1b[2J".to_vec()),
        ("truncated".to_string(), truncated()),
        ("cut".to_string(), sound()[..60].to_vec()),
    ];
    files.extend(perf::clean().into_iter().map(|c| (c.name.to_string(), c.built.crashed())));
    let all: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let folder = folder(&all);
    let mut args: Vec<OsString> = vec!["check".into()];
    args.extend(files.iter().map(|(name, _)| folder.path().join(name).into_os_string()));
    let with = |format: &str| {
        let args = args.iter().map(OsString::as_os_str);
        let args: Vec<&OsStr> = args.chain(["--format".as_ref(), format.as_ref()]).collect();
        run_with(&args, &mut io::empty(), Look::PLAIN).out
    };
    let document = parse(&with("json"));
    assert_valid(&schema("check.schema.json"), &document);
    let mut lines: Vec<Value> = with("jsonl").lines().map(parse).collect();
    let mut closing = lines.pop().unwrap();
    assert_eq!(Value::Array(lines), document["recordings"]);
    assert_eq!(document["recordings"].as_array().unwrap().len(), files.len());
    // The last line is the document without its recordings.
    assert!(closing.get("recordings").is_none());
    closing["recordings"] = document["recordings"].clone();
    assert_eq!(closing, document);
}

#[test]
fn skipped_and_unread_paths_and_totals_are_in_the_json() {
    let folder = folder(&[("a/x", &sound()), ("a/y", &crashed()), ("a/note", b"x"), ("a/e", b"")]);
    symlink("x", folder.path().join("a/link")).unwrap();
    let gone = folder.path().join("gone");
    let ran = run!("check", folder.path().join("a"), &gone, "--format=json", "--allow=PD0004");
    assert_eq!(ran.code, 5, "{}", ran.out);
    let document = parse(&ran.out);
    assert_valid(&schema("check.schema.json"), &document);
    let name = |entry: &Value| {
        let path = entry["path"].as_str().unwrap();
        path.rsplit('/').next().unwrap().to_string()
    };
    let mut skipped: Vec<(String, &str)> = document["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (name(entry), entry["reason"].as_str().unwrap()))
        .collect();
    skipped.sort();
    let expected = [("e", "empty"), ("link", "link"), ("note", "unknown-format")];
    assert_eq!(skipped, expected.map(|(name, reason)| (name.to_string(), reason)));
    let errors = document["errors"].as_array().unwrap();
    assert_eq!((errors.len(), name(&errors[0])), (1, "gone".to_string()));
    assert!(errors[0]["message"].as_str().unwrap().starts_with("No such file"), "{errors:?}");
    let totals = &document["totals"];
    assert_eq!(totals["recordings"], 2);
    assert_eq!(totals["unread"], 1);
    assert_eq!(totals["skipped"], serde_json::json!({"empty": 1, "link": 1, "unknown-format": 1}));
    assert_eq!(totals["suppressed"], serde_json::json!({"PD0004": 1}));
    assert_eq!(document["recordings"][1]["suppressed"], totals["suppressed"]);
    // People see it, too.
    let ran = run!("check", folder.path().join("a"), "--allow=PD0004");
    assert!(ran.out.contains("suppressed: 1 PD0004"), "{}", ran.out);
    let ran = run!("check", folder.path().join("a/y"), "--allow=PD0004");
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("clean, 1 suppressed; perf"), "{}", ran.out);
    // Nothing at all is a document, too.
    let ran = run!("check", &gone, "--format", "json");
    assert_valid(&schema("check.schema.json"), &parse(&ran.out));
}

#[test]
fn the_schemas_stand_alone_and_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
    let read = |name: &str| parse(&fs::read_to_string(folder.join(name)).unwrap());
    for name in names(&folder) {
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        let references = text.split("\"$ref\": \"").skip(1);
        let mut outside = references.filter(|reference| !reference.starts_with("#/$defs/"));
        assert_eq!(outside.next(), None, "{name}");
        schema(&name);
    }
    let (check, repair) = (read("check.schema.json"), read("repair.schema.json"));
    let mut one = read("repairs.schema.json")["$defs"].take();
    let mut repair_alone = one["repair"].take();
    for name in ["$schema", "$id", "$defs"] {
        repair_alone[name] = repair[name].clone();
    }
    assert_eq!(repair_alone, repair);
    one.as_object_mut().unwrap().remove("repair");
    assert_eq!(one, repair["$defs"]);
    for name in
        ["count", "text", "code", "counts", "recording", "finding", "related", "span", "fix"]
    {
        assert!(check["$defs"][name].is_object());
        assert_eq!(check["$defs"][name], repair["$defs"][name], "{name}");
    }
    assert_valid(&schema("codes.schema.json"), &parse(&run!("codes", "--format", "json").out));
    assert_valid(&schema("formats.schema.json"), &parse(&run!("formats", "--format", "json").out));
}

#[test]
fn the_json_of_a_repair_follows_its_schema() {
    let validator = schema("repair.schema.json");
    let folder =
        folder(&[("truncated", &truncated()), ("sound", &sound()), ("cut", &sound()[..60])]);
    let mut outcomes = Vec::new();
    for name in ["truncated", "sound", "cut"] {
        for option in ["--dry-run", "--partial"] {
            let path = folder.path().join(name);
            let ran = run!("repair", path, option, "--format", "json", "--force");
            let document = parse(&ran.out);
            assert_valid(&validator, &document);
            outcomes.push(document["outcome"].as_str().unwrap().to_string());
        }
    }
    outcomes.dedup();
    assert_eq!(outcomes, ["repaired-with-loss", "clean", "cannot-repair"]);
}

#[test]
fn a_plan_follows_its_schema() {
    let validator = schema("plan.schema.json");
    let folder = folder(&[("truncated", &truncated()), ("sound", &sound())]);
    for name in ["truncated", "sound"] {
        let plan = folder.path().join(format!("{name}.plan"));
        let ran = run!("repair", folder.path().join(name), "--plan", &plan, "--dry-run");
        assert!(plan.exists(), "{}{}", ran.out, ran.err);
        assert_valid(&validator, &parse(&fs::read_to_string(&plan).unwrap()));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o77;
        assert!(mode(&plan) <= mode(&folder.path().join(name)));
    }
    assert_eq!(names(folder.path()), ["sound", "sound.plan", "truncated", "truncated.plan"]);
}

/// A name, and bytes at every place where a recording holds text, that a terminal would act on.
const HOSTILE: &str = "\u{1b}[2J\u{7}\u{9b}31m\u{202e}\u{200b}\r\n\u{7f}\\";

#[test]
fn no_output_passes_a_control_character() {
    if is_left_to_the_gate("no output passes a control character") {
        return;
    }
    let folder = folder(&[]);
    let name = |n: usize| folder.path().join(format!("{n}{HOSTILE}"));
    let mut bytes = [HOSTILE.as_bytes(), b"\xff\xfe\x00"].concat();
    fs::write(name(0), &bytes).unwrap();
    let mut hostile = 1;
    for clean in perf::clean() {
        let built = clean.built;
        // Text overwritten wherever the recording holds the forge's own.
        for (at, _) in built.bytes.windows(5).enumerate().filter(|(_, w)| w == b"forge") {
            bytes.clone_from(&built.bytes);
            bytes[at..at + 5].copy_from_slice(b"\x1b[2J\x07");
            fs::write(name(hostile), &bytes).unwrap();
            hostile += 1;
        }
        for end in [built.bytes.len() / 2, built.bytes.len() - 9] {
            fs::write(name(hostile), &built.bytes[..end]).unwrap();
            hostile += 1;
        }
    }
    let mut raw = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    let raw = raw.arg("check").arg(folder.path().join(OsStr::from_bytes(b"g\xff\x1bone"))).output();
    let mut texts = vec![String::from_utf8(raw.unwrap().stderr).unwrap()];
    let mut keep = |ran: Ran| texts.extend([ran.out, ran.err]);
    for format in ["human", "json", "jsonl", "oneline", "github"] {
        keep(run!("check", folder.path(), "--format", format));
        keep(run!("check", name(0), "--format", format));
        keep(run!("check", folder.path().join("gone\u{1b}[2J"), "--format", format));
    }
    for n in 0..hostile {
        for format in ["human", "json"] {
            keep(run!("repair", name(n), "--dry-run", "--format", format));
        }
    }
    keep(run!("repair", name(1), "-o", name(0)));
    keep(run!("repair", name(1), "-o", folder.path().join("no\u{1b}/out")));
    keep(run!("verify", name(0), name(1), name(2)));
    keep(run!("apply", name(0), name(1), "-o", name(0)));
    keep(run!("explain", HOSTILE));
    keep(run!(HOSTILE));
    keep(run!("check", "--type", HOSTILE));
    keep(run!("check", "x", "--allow", HOSTILE));
    keep(run!(format!("--{HOSTILE}")));
    for text in texts {
        let bad = text.chars().find(|c| *c != '\n' && !is_safe(*c));
        assert_eq!(bad, None, "{text:?}");
    }
}

#[test]
fn lines_name_the_file_the_offset_and_the_code() {
    let hostile = "x\n::error::y,title=z%0A";
    let folder = folder(&[("a.data", &crashed()), ("sound", &sound()), (hostile, &crashed())]);
    for (name, bytes) in perf::directory() {
        fs::create_dir_all(folder.path().join("rec")).unwrap();
        // Without its last bytes, data.1 has a truncated record.
        let end = bytes.len() - if name == "data.1" { 3 } else { 0 };
        fs::write(folder.path().join("rec").join(name), &bytes[..end]).unwrap();
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let ran = run!("check", folder.path(), "--format", "oneline");
    assert_eq!(ran.code, 1);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.out);
    let start = format!("{}:0x30: error[PD0004] data.size is 0, but ", path("a.data"));
    assert!(lines[0].starts_with(&start), "{}", lines[0]);
    assert!(lines[1].starts_with(&format!("{}:0x", path("rec/data.1"))), "{}", lines[1]);
    let ran = run!("check", folder.path(), "--format", "github");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.out);
    let title = "title=PD0004 data-size-zero::header.data.size at 0x30: data.size is 0, but ";
    let start = format!("::error file={},{title}", path("a.data"));
    assert!(lines[0].starts_with(&start), "{}", lines[0]);
    for line in lines {
        let head = line.strip_prefix("::error ").unwrap().split("::").next().unwrap();
        assert_eq!(head.matches(',').count(), 1, "{line}");
    }
    let ran = run!("check", folder.path().join("gone"), "--format", "github");
    assert_eq!((ran.code, ran.out.matches("::error file=").count()), (5, 1), "{}", ran.out);
    let ran = run!("check", path("a.data"), "--format", "oneline", "--max-findings", "0");
    assert!(ran.out.ends_with("a.data: 1 finding not listed\n"), "{}", ran.out);
}

/// The text without colours; every escape sequence has to be one.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap().to_string();
    for part in parts {
        let (style, text) = part.split_once('m').expect("a colour");
        assert!(style.chars().all(|c| c.is_ascii_digit() || c == ';'), "{style:?}");
        plain.push_str(text);
    }
    plain
}

#[test]
fn colour_is_the_only_escape_and_only_where_it_may_be() {
    let folder = folder(&[("x\u{1b}[2J", b"hello \x1b[2J")]);
    let path = folder.path().join("x\u{1b}[2J");
    for (width, cells) in [(120, 16), (80, 16), (70, 8), (45, 4)] {
        let look = Look { width, color: true, ..Look::PLAIN };
        let ran = run_with(&["check".as_ref(), path.as_os_str()], &mut io::empty(), look);
        assert!(ran.out.contains("\u{1b}["), "{}", ran.out);
        let plain = without_colours(&ran.out);
        assert!(plain.chars().all(|c| c == '\n' || is_safe(c)), "{plain:?}");
        let row = plain.lines().find(|line| line.contains(" | 68 65 6c 6c ")).unwrap();
        let (_, row) = row.split_once("| ").unwrap();
        let hex = row.split("  ").next().unwrap();
        assert_eq!(hex.split(' ').count(), cells.min(10), "{row}");
        assert!(plain.lines().all(|line| line.chars().count() <= width || line.contains('/')));
        assert_eq!(
            plain,
            run_with(
                &["check".as_ref(), "--color".as_ref(), "never".as_ref(), path.as_os_str()],
                &mut io::empty(),
                look,
            )
            .out
        );
    }
    assert!(run!("check", "--color=always", &path).out.contains('\u{1b}'));
    assert!(!run!("check", &path).out.contains('\u{1b}'));
}

#[test]
fn a_report_goes_to_a_file_whole_and_never_over_a_recording() {
    let folder = folder(&[("x.data", &crashed())]);
    let (input, report) = (folder.path().join("x.data"), folder.path().join("report"));
    for _ in 0..2 {
        let ran = run!("check", folder.path(), "--format", "json", "-o", &report);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        parse(&fs::read_to_string(&report).unwrap());
    }
    let ran = run!("check", folder.path(), "-o", &input);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is not replaced"), "{}", ran.err);
    assert_eq!(fs::read(&input).unwrap(), crashed());
    assert_eq!(run!("check", &report, "-o", &report).code, 2);
    assert_eq!(names(folder.path()), ["report", "x.data"]);
}

#[test]
fn codes_are_explained_and_near_ones_proposed() {
    if is_left_to_the_gate("codes are explained and near ones proposed") {
        return;
    }
    let codes = parse(&run!("codes", "--format", "json").out);
    for rule in codes["codes"].as_array().unwrap() {
        let ran = run!("explain", rule["code"].as_str().unwrap());
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains(rule["name"].as_str().unwrap()));
        assert!(run!("codes").out.contains(rule["code"].as_str().unwrap()));
    }
    let ran = run!("explain", "CM00001");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("CM0001 (empty-file)"), "{}", ran.err);
    let formats = parse(&run!("formats", "--format", "json").out);
    assert_eq!(formats["formats"][0]["name"], "perf");
    assert!(run!("formats").out.starts_with("perf "));
}

#[test]
fn every_help_text_tells_the_exit_codes() {
    for command in [
        "check",
        "repair",
        "apply",
        "verify",
        "explain",
        "codes",
        "formats",
        "completions",
        "merge",
        "man",
        "self-test",
    ] {
        let ran = run!(command, "--help");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(ran.out.contains("4  cannot be repaired"), "{command}");
    }
    assert_eq!(run!("--help").code, 0);
    assert_eq!(run!("--version").out, "tracemend 0.1.0\n");
    assert_eq!(run!("no-such-command").code, 2);
    assert_eq!(run!("check").code, 2);
    for shell in ["bash", "zsh", "fish"] {
        assert!(run!("completions", shell).out.contains("tracemend"));
    }
}

#[test]
fn the_output_of_a_sparse_file_takes_no_more_of_the_disk() {
    if is_left_to_the_gate("the output of a sparse file takes no more of the disk") {
        return;
    }
    const TAIL: u64 = 2 << 20;
    let folder = folder(&[("own.data", &sound()), ("cut.data", &truncated())]);
    let path = |name: &str| folder.path().join(name);
    for name in ["own.data", "cut.data"] {
        let file = fs::OpenOptions::new().write(true).open(path(name)).unwrap();
        file.set_len(file.metadata().unwrap().len() + TAIL).unwrap();
    }
    let stored = |name: &str| fs::metadata(path(name)).unwrap().blocks() * 512;
    for (command, source, output) in [
        ("redact", "own.data", "redacted"),
        ("redact", "cut.data", "cut"),
        ("repair", "cut.data", "out"),
    ] {
        let ran = run!(command, path(source), "-o", path(output));
        assert!([0, 3].contains(&ran.code), "{command} {source}: {}{}", ran.out, ran.err);
        assert!(stored(output) <= stored(source) + (64 << 10), "{command}: {}", stored(output));
    }
    assert!(fs::metadata(path("redacted")).unwrap().len() > TAIL);
}

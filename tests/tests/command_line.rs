//! What the command line promises: exit codes, outputs that match their schemas, and not one
//! character from a file that a terminal could act on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "test support: a failure here should stop the test at once"
)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use tracemend::kit::text::is_safe;
use tracemend_cli::{Look, Streams};
use tracemend_tests::forge::{perf, qemu, revent};

struct Ran {
    code: u8,
    out: String,
    err: String,
}

/// Runs the command line in this process.
fn run_with(args: &[&OsStr], input: &mut dyn Read, look: Look) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let program = [OsString::from("tracemend")].into_iter();
    let args = args.iter().map(|arg| OsString::from(*arg));
    let code =
        tracemend_cli::run(program.chain(args), Streams::new(input, &mut out, &mut err, look));
    Ran { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

macro_rules! run {
    ($($arg:expr),* $(,)?) => {
        run_with(&[$(OsStr::new(&$arg)),*], &mut io::empty(), Look::PLAIN)
    };
}

/// A folder with files of these names and contents.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn sound() -> Vec<u8> {
    perf::clean().swap_remove(0).built.bytes
}

/// A killed recorder's file whose last record is torn: mended with loss.
fn torn() -> Vec<u8> {
    perf::clean().swap_remove(0).built.crashed_torn(5)
}

/// A killed recorder's file, all of whose records are whole.
fn crashed() -> Vec<u8> {
    perf::clean().swap_remove(0).built.crashed()
}

fn exit_of(bytes: &[u8]) -> u8 {
    use tracemend::Outcome;
    match tracemend_tests::mended::mended(bytes).0.outcome {
        Outcome::Clean | Outcome::Repaired => 0,
        Outcome::RepairedWithLoss => 3,
        Outcome::CannotRepair => 4,
        Outcome::Incomplete => 6,
    }
}

fn schema(name: &str) -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema").join(name);
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn assert_valid(validator: &jsonschema::Validator, document: &Value) {
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

// --- exit codes of check ------------------------------------------------------------------------

#[test]
fn a_sound_recording_exits_with_0_and_a_broken_one_with_1() {
    let folder = folder(&[("sound", &sound()), ("crashed", &crashed())]);
    let path = |name: &str| folder.path().join(name);
    let ran = run!("check", path("sound"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("sound: clean, perf"), "{}", ran.out);
    let ran = run!("check", path("crashed"));
    assert_eq!(ran.code, 1, "{}", ran.out);
    let ran = run!("check", path("crashed"), path("sound"));
    assert_eq!(ran.code, 1, "the highest counts: {}", ran.out);
    assert_eq!(run!("check", path("crashed"), "--fail-on", "never").code, 0);
    let ran = run!("check", path("sound"), "--quiet");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
}

#[test]
fn what_no_format_recognises_is_a_finding_if_named_and_passed_over_if_found() {
    let folder = folder(&[("a/note.txt", b"hello"), ("a/empty", b""), ("a/b/x.data", &sound())]);
    for (name, code) in [("a/note.txt", "CM0002"), ("a/empty", "CM0001")] {
        let ran = run!("check", folder.path().join(name));
        assert_eq!(ran.code, 1);
        assert!(ran.out.contains(code), "{}", ran.out);
    }
    let ran = run!("check", folder.path());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("2 other files passed over as no recording, 1 of them empty"));
    let ran = run!("check", folder.path(), "--type", "perf");
    assert_eq!(ran.code, 1, "every file is taken for a recording");
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
        assert!(ran.out.contains("CM0003 irregular-file"), "{}", ran.out);
        assert_eq!(run!("repair", path, "-o", folder.path().join("out")).code, 4);
    }
    let ran = run!("check", folder.path());
    assert_eq!(ran.code, 0, "found, not named: {}{}", ran.out, ran.err);
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
        assert_eq!(document["passed_over"]["files"], 0);
    }
    // Torn in its second file: mended into a directory, and only that file differs.
    let torn = directory.join("data.1");
    let bytes = fs::read(&torn).unwrap();
    fs::write(&torn, &bytes[..bytes.len() - 3]).unwrap();
    let plan = folder.path().join("plan");
    let ran = run!("repair", &directory, "--plan", &plan);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let mended = folder.path().join("rec.mended");
    assert_eq!(names(&mended), ["data", "data.0", "data.1"]);
    assert_eq!(run!("check", &mended).code, 0);
    let ran = run!("verify", &plan, &directory, &mended);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(run!("repair", &directory, "--force").code, 2, "directories are not replaced");
    assert_eq!(run!("repair", &directory, "--in-place").code, 2);
    let back = folder.path().join("back");
    assert_eq!(run!("apply", &plan, &mended, "-o", &back, "--reverse").code, 0);
    assert_eq!(fs::read(back.join("data.1")).unwrap(), fs::read(&torn).unwrap());
    assert_eq!(names(folder.path()), ["back", "plan", "rec", "rec.mended"]);
}

// --- outputs ------------------------------------------------------------------------------------

#[test]
fn json_follows_its_schema_and_lines_are_its_recordings() {
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("empty".to_string(), Vec::new()),
        ("unknown".to_string(), b"\x1b[2J".to_vec()),
        ("torn".to_string(), torn()),
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
    let lines: Vec<Value> = with("jsonl").lines().map(parse).collect();
    assert_eq!(Value::Array(lines), document["recordings"]);
    assert_eq!(document["recordings"].as_array().unwrap().len(), files.len());
}

#[test]
fn the_json_of_a_repair_follows_its_schema() {
    let read = |name: &str| -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema").join(name);
        parse(&fs::read_to_string(path).unwrap())
    };
    let check = jsonschema::Resource::from_contents(read("check.schema.json")).unwrap();
    let validator = jsonschema::options()
        .with_resource("json-schema:///check.schema.json", check)
        .build(&read("repair.schema.json"))
        .unwrap();
    let folder = folder(&[("torn", &torn()), ("sound", &sound()), ("cut", &sound()[..60])]);
    let mut outcomes = Vec::new();
    for name in ["torn", "sound", "cut"] {
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
    let folder = folder(&[("torn", &torn()), ("sound", &sound())]);
    for name in ["torn", "sound"] {
        let plan = folder.path().join(format!("{name}.plan"));
        let ran = run!("repair", folder.path().join(name), "--plan", &plan, "--dry-run");
        assert!(plan.exists(), "{}{}", ran.out, ran.err);
        assert_valid(&validator, &parse(&fs::read_to_string(&plan).unwrap()));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o77;
        assert!(mode(&plan) <= mode(&folder.path().join(name)));
    }
    assert_eq!(names(folder.path()), ["sound", "sound.plan", "torn", "torn.plan"]);
}

/// A name, and bytes at every place where a recording holds text, that a terminal would act on.
const HOSTILE: &str = "\u{1b}[2J\u{7}\u{9b}31m\u{202e}\u{200b}\r\n\u{7f}\\";

#[test]
fn no_output_passes_a_control_character() {
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
    for format in ["human", "json", "jsonl"] {
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
fn colour_is_the_only_escape_and_only_where_it_may_be() {
    let folder = folder(&[("x\u{1b}[2J", b"hello \x1b[2J")]);
    let path = folder.path().join("x\u{1b}[2J");
    for (width, cells) in [(120, 16), (70, 8), (45, 4)] {
        let look = Look { width, fancy: true };
        let ran = run_with(&["check".as_ref(), path.as_os_str()], &mut io::empty(), look);
        assert!(ran.out.contains("\u{1b}["), "{}", ran.out);
        // What is left without colours holds no escape.
        let mut plain = String::new();
        let mut parts = ran.out.split("\u{1b}[");
        plain.push_str(parts.next().unwrap());
        for part in parts {
            let (style, text) = part.split_once('m').expect("a colour");
            assert!(style.chars().all(|c| c.is_ascii_digit() || c == ';'), "{style:?}");
            plain.push_str(text);
        }
        assert!(plain.chars().all(|c| c == '\n' || is_safe(c)), "{plain:?}");
        let row = plain.lines().find(|line| line.contains("00000000")).unwrap();
        assert_eq!(row.split('|').next().unwrap().matches(" 6").count().min(1), 1, "{row}");
        let width = row.chars().skip_while(|c| *c != '|').count();
        assert_eq!(width, cells + 2, "{row}");
    }
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
    for command in
        ["check", "repair", "apply", "verify", "explain", "codes", "formats", "completions"]
    {
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

// --- repair -------------------------------------------------------------------------------------

#[test]
fn a_sound_recording_needs_nothing_and_is_copied_only_if_asked() {
    let folder = folder(&[("x", &sound())]);
    let path = folder.path().join("x");
    for arg in ["--force", "--in-place", "--dry-run"] {
        let ran = run!("repair", &path, arg);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("nothing to do"), "{}", ran.out);
        assert_eq!(names(folder.path()), ["x"]);
    }
    let out = folder.path().join("out");
    let ran = run!("repair", &path, "-o", &out);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("an identical copy"), "{}", ran.out);
    assert_eq!(fs::read(out).unwrap(), sound());
}

#[test]
fn a_repair_is_written_beside_the_source_which_stays() {
    for (bytes, code) in [(torn(), 3), (crashed(), exit_of(&crashed()))] {
        let folder = folder(&[("x", &bytes)]);
        let path = folder.path().join("x");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let ran = run!("repair", &path);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert_eq!(names(folder.path()), ["x", "x.mended"]);
        assert_eq!(fs::read(&path).unwrap(), bytes);
        let mended = folder.path().join("x.mended");
        assert_eq!(fs::metadata(&mended).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(run!("check", &mended).code, 0);
        assert_eq!(fs::read(&mended).unwrap(), tracemend_tests::mended::mended(&bytes).1);
        // Twice is refused, with --force it is not; the mended one is sound.
        let ran = run!("repair", &path);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("--force"), "{}", ran.err);
        assert_eq!(run!("repair", &path, "--force").code, code);
        assert!(run!("repair", &mended).out.contains("nothing to do"));
    }
}

#[test]
fn the_balance_adds_up() {
    let folder = folder(&[("x", &torn())]);
    let ran = run!("repair", folder.path().join("x"), "--format", "json");
    let report = parse(&ran.out);
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap();
    let (kept, dropped) = (number("/balance/kept"), number("/balance/dropped"));
    let output = fs::metadata(folder.path().join("x.mended")).unwrap().len();
    assert_eq!(kept + dropped, u64::try_from(torn().len()).unwrap());
    assert_eq!(kept + number("/balance/inserted"), output);
    assert_eq!(report["outcome"], "repaired-with-loss");
    assert_eq!(report["after"]["verdict"], "clean");
    assert!(!report["fixes"].as_array().unwrap().is_empty());
    let human = run!("repair", folder.path().join("x"), "--force").out;
    let line = format!("kept {kept} + dropped {dropped} = {} bytes of the source", kept + dropped);
    assert!(human.contains(&line), "{human}");
}

#[test]
fn in_place_keeps_the_original_and_never_replaces_it() {
    let folder = folder(&[("x", &torn())]);
    let path = folder.path().join("x");
    let ran = run!("repair", &path, "--in-place");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert_eq!(names(folder.path()), ["x", "x.orig"]);
    assert_eq!(fs::read(folder.path().join("x.orig")).unwrap(), torn());
    assert_eq!(run!("check", &path).code, 0);
    fs::write(&path, torn()).unwrap();
    let ran = run!("repair", &path, "--in-place");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("x.orig exists"), "{}", ran.err);
    assert_eq!(fs::read(&path).unwrap(), torn());
    assert_eq!(run!("repair", &path, "--in-place", "--no-backup").code, 3);
    assert_eq!(run!("check", &path).code, 0);
    assert_eq!(names(folder.path()), ["x", "x.orig"]);
    // A run that was killed between the two names: both are the source.
    fs::write(&path, torn()).unwrap();
    fs::remove_file(folder.path().join("x.orig")).unwrap();
    fs::hard_link(&path, folder.path().join("x.orig")).unwrap();
    assert_eq!(run!("repair", &path, "--in-place").code, 3);
    assert_eq!(fs::read(folder.path().join("x.orig")).unwrap(), torn());
    assert_eq!(run!("check", &path).code, 0);
}

#[test]
fn in_place_follows_a_link_and_tells_of_hard_links() {
    let folder = folder(&[("deep/x", &torn())]);
    let (link, real) = (folder.path().join("link"), folder.path().join("deep/x"));
    symlink("deep/x", &link).unwrap();
    fs::hard_link(&real, folder.path().join("other")).unwrap();
    let ran = run!("repair", &link, "--in-place");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("2 hard links"), "{}", ran.err);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(names(&folder.path().join("deep")), ["x", "x.orig"]);
    assert_eq!(fs::read(folder.path().join("other")).unwrap(), torn());
    assert_eq!(run!("check", &link).code, 0);
}

#[test]
fn an_output_that_is_the_source_is_refused_by_whatever_name() {
    let folder = folder(&[("x", &torn())]);
    let path = folder.path().join("x");
    let (soft, hard) = (folder.path().join("soft"), folder.path().join("hard"));
    symlink("x", &soft).unwrap();
    fs::hard_link(&path, &hard).unwrap();
    for output in [&path, &soft, &hard] {
        let ran = run!("repair", &path, "-o", output, "--force");
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("--in-place"), "{}", ran.err);
    }
    for output in ["/dev/null", "/dev/full", "-", "/"] {
        assert_eq!(run!("repair", &path, "-o", output, "--force").code, 2, "{output}");
    }
    assert_eq!(fs::read(&path).unwrap(), torn());
    assert_eq!(run!("repair", &path, "-o", "y", "--in-place").code, 2);
    assert_eq!(names(folder.path()), ["hard", "soft", "x"]);
}

#[test]
fn an_output_through_a_link_goes_where_the_link_points() {
    let folder = folder(&[("x", &torn()), ("deep/old", b"old")]);
    for (link, to) in [("dangling", "deep/new"), ("to-old", "deep/old")] {
        let link = folder.path().join(link);
        symlink(to, &link).unwrap();
        let ran = run!("repair", folder.path().join("x"), "-o", &link, "--force");
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(run!("check", folder.path().join(to)).code, 0);
    }
}

#[test]
fn what_cannot_be_repaired_writes_nothing_unless_told_to() {
    let built = perf::clean().swap_remove(0).built;
    let mut broken = built.crashed();
    let size_at = built.records[3].range().start + 6;
    broken[size_at..size_at + 2].copy_from_slice(&3_u16.to_le_bytes());
    let folder = folder(&[("x", b"no recording at all"), ("broken", &broken)]);
    let ran = run!("repair", folder.path().join("x"), "-o", folder.path().join("out"));
    assert_eq!(ran.code, 4);
    assert!(ran.out.contains("CM0002") && ran.out.contains("cannot be repaired"), "{}", ran.out);
    let ran = run!("repair", folder.path().join("x"), "--partial");
    assert_eq!(ran.code, 4, "no fix applies");
    // Exact fixes alone mend the header but not the record that says 3 bytes.
    let broken = folder.path().join("broken");
    let ran = run!("repair", &broken, "--safety", "exact");
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("--partial writes the fixes that apply"), "{}", ran.out);
    assert_eq!(names(folder.path()), ["broken", "x"]);
    let (out, plan) = (folder.path().join("out"), folder.path().join("plan"));
    let args = ["-o".as_ref(), out.as_os_str(), "--plan".as_ref(), plan.as_os_str()];
    let ran = run!(
        "repair",
        &broken,
        "--safety",
        "exact",
        "--partial",
        args[0],
        args[1],
        args[2],
        args[3]
    );
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("out") && ran.out.contains("PD1002"), "{}", ran.out);
    assert_eq!(run!("verify", &plan, &broken, &out).code, 0);
    let left = parse(&run!("check", &out, "--format", "json").out);
    assert_eq!(left["recordings"][0]["counts"], serde_json::json!({ "PD1002": 1 }));
}

// --- plans --------------------------------------------------------------------------------------

/// A torn recording, its mended form and the plan between them.
fn planned() -> (TempDir, PathBuf, PathBuf, PathBuf) {
    let folder = folder(&[("x", &torn())]);
    let path = |name: &str| folder.path().join(name);
    let (source, mended, plan) = (path("x"), path("x.mended"), path("plan"));
    let ran = run!("repair", &source, "--plan", &plan);
    assert_eq!(ran.code, 3, "{}", ran.err);
    (folder, source, mended, plan)
}

#[test]
fn a_plan_is_applied_verified_and_undone() {
    let (folder, source, mended, plan) = planned();
    let ran = run!("verify", &plan, &source, &mended);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("bytes of the source"), "{}", ran.out);
    let out = folder.path().join("out");
    assert_eq!(run!("apply", &plan, &source, "-o", &out).code, 3, "as the repair");
    assert_eq!(fs::read(&out).unwrap(), fs::read(&mended).unwrap());
    assert_eq!(run!("apply", &plan, &source, "-o", &out).code, 2, "it exists");
    let back = folder.path().join("back");
    assert_eq!(run!("apply", &plan, &mended, "-o", &back, "--reverse").code, 0);
    assert_eq!(fs::read(&back).unwrap(), torn());
    assert_eq!(run!("apply", &plan, &source, "-o", &plan, "--force").code, 2, "an input");
}

#[test]
fn a_plan_for_another_file_or_a_changed_plan_is_refused() {
    let (folder, source, mended, plan) = planned();
    let out = folder.path().join("out");
    assert_eq!(run!("apply", &plan, &mended, "-o", &out).code, 4);
    let ran = run!("verify", &plan, &mended, &source);
    assert_eq!(ran.code, 1, "{}", ran.out);
    for (path, flip) in [(&plan, 40), (&source, 0), (&mended, 7)] {
        let good = fs::read(path).unwrap();
        let mut bad = good.clone();
        bad[flip] ^= 1;
        fs::write(path, &bad).unwrap();
        let ran = run!("verify", &plan, &source, &mended);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        if path != &mended {
            let ran = run!("apply", &plan, &source, "-o", &out);
            assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
        }
        fs::write(path, &good).unwrap();
    }
    assert!(!out.exists());
    // An existing plan is not replaced by another one.
    let ran = run!("repair", &source, "--dry-run", "--plan", &plan);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--force"), "{}", ran.err);
    assert_eq!(run!("repair", &source, "--dry-run", "--plan", &source, "--force").code, 2);
}

#[test]
fn every_forged_recording_is_mended_as_its_library_says() {
    for clean in perf::clean() {
        let bytes = clean.built.crashed_torn(3);
        let folder = folder(&[("x", &bytes)]);
        let ran = run!("repair", folder.path().join("x"), "-o", folder.path().join("y"));
        let code = exit_of(&bytes);
        assert_eq!(ran.code, code, "{}: {}{}", clean.name, ran.out, ran.err);
        assert_eq!(folder.path().join("y").exists(), code != 4, "{}", clean.name);
        if code == 0 || code == 3 {
            assert_eq!(run!("check", folder.path().join("y")).code, 0, "{}", clean.name);
        }
    }
}

#[test]
fn a_report_that_cannot_be_written_exits_with_5() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(libc::ENOSPC))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut err = Vec::new();
    let args = ["tracemend", "codes"].map(OsString::from);
    let (mut input, mut out) = (io::empty(), Full);
    let code = tracemend_cli::run(args, Streams::new(&mut input, &mut out, &mut err, Look::PLAIN));
    assert_eq!(code, 5);
    assert!(String::from_utf8(err).unwrap().contains("standard output: No space left"));
    assert_eq!(run!("codes").code, 0);
    let folder = folder(&[("x", &sound())]);
    assert_eq!(run!("check", folder.path().join("x"), "-o", "/dev/full").code, 5);
}

#[test]
fn what_else_lies_in_a_directory_recording_comes_along() {
    let files: Vec<(String, Vec<u8>)> = perf::directory()
        .into_iter()
        .map(|(name, mut bytes)| {
            if name == "data" {
                // The recorder never wrote data.size.
                bytes[48..56].fill(0);
            }
            (format!("perf.data/{name}"), bytes)
        })
        .chain([("perf.data/kcore_dir/kallsyms".to_string(), b"0 A a\n".to_vec())])
        .collect();
    let named: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let folder = folder(&named);
    symlink("data", folder.path().join("perf.data/link")).unwrap();
    let ran = run!("repair", folder.path().join("perf.data"), "-o", folder.path().join("out"));
    assert!(matches!(ran.code, 0 | 3), "{} {}", ran.out, ran.err);
    let copied = fs::read(folder.path().join("out/kcore_dir/kallsyms")).unwrap();
    assert_eq!(copied, b"0 A a\n");
    assert_eq!(fs::read_link(folder.path().join("out/link")).unwrap(), Path::new("data"));
    let kept = names(&folder.path().join("perf.data"));
    assert_eq!(names(&folder.path().join("out")), kept);
}

// --- dump ---------------------------------------------------------------------------------------

fn tapped() -> Vec<u8> {
    revent::Recording::new(revent::Layout::V3).tap(1334).build().bytes
}

#[test]
fn a_dump_writes_every_event_in_the_form_that_is_asked_for() {
    let folder = folder(&[("a.run.revent", &tapped())]);
    let path = folder.path().join("a.run.revent");
    let ran = run!("dump", path);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 8);
    assert_eq!(
        lines[0],
        "[    2671.010000] /dev/input/event1: EV_ABS       ABS_MT_TRACKING_ID   00000536"
    );
    assert_eq!(
        lines[3],
        "[    2671.010000] /dev/input/event1: EV_KEY       BTN_TOUCH            DOWN"
    );
    let raw = run!("dump", path, "--style", "getevent-raw");
    assert_eq!(
        raw.out.lines().nth(5),
        Some("[    2671.020000] /dev/input/event1: 0003 0039 ffffffff")
    );
    let evemu = run!("dump", path, "--style", "evemu", "--device", "1");
    let events: Vec<&str> = evemu.out.lines().filter(|line| line.starts_with("E: ")).collect();
    assert_eq!(events.len(), 8);
    assert_eq!(events[0], "E: 0.000001 0003 0039 1334\t# EV_ABS ABS_MT_TRACKING_ID 1334");
    assert_eq!(events[5], "E: 0.010001 0003 0039 -001\t# EV_ABS ABS_MT_TRACKING_ID -1");
    let other = run!("dump", path, "--device", "0");
    assert_eq!((other.code, other.out.as_str()), (0, ""));
    let out = folder.path().join("out.txt");
    let ran = run!("dump", path, "-o", out);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 8);
    // A recording is not replaced by a text.
    assert_eq!(run!("dump", path, "-o", path).code, 2);
    assert_eq!(fs::read(&path).unwrap(), tapped());
}

#[test]
fn a_dump_of_a_damaged_recording_gives_what_can_be_read_and_says_so() {
    let bytes = tapped();
    let torn = &bytes[..bytes.len() - 1];
    let folder = folder(&[("a.revent", torn), ("b.revent", &bytes[..16]), ("c", b"no recording")]);
    let ran = run!("dump", folder.path().join("a.revent"));
    assert_eq!((ran.code, ran.out.lines().count()), (1, 7));
    assert!(ran.err.contains("7 events written, 25 bytes left out"), "{}", ran.err);
    for name in ["b.revent", "c"] {
        let ran = run!("dump", folder.path().join(name));
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{name}: {}", ran.err);
    }
    assert_eq!(run!("dump", folder.path().join("not there")).code, 5);
}

#[test]
fn a_dump_that_needs_a_choice_names_the_choices() {
    let folder = folder(&[("a.revent", &tapped()), ("perf.data", &sound())]);
    let path = folder.path().join("a.revent");
    for (args, said) in [
        (["--style", "evemu"], "0 /dev/input/event0, 1 /dev/input/event1"),
        (["--style", "xml"], "getevent, getevent-raw, evemu"),
        (["--device", "2"], "there is no device 2"),
    ] {
        let ran = run!("dump", path, args[0], args[1]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    let ran = run!("dump", folder.path().join("perf.data"), "-o", folder.path().join("out"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(names(folder.path()), ["a.revent", "perf.data"]);
}

#[test]
fn a_dump_passes_no_control_character() {
    let mut recording = revent::Recording::new(revent::Layout::V3);
    recording.paths[1] = "/dev/\u{1b}[2J\u{202e}\n\u{9b}x".as_bytes().to_vec();
    let bytes = recording.tap(1).build().bytes;
    let mut pad = revent::Recording::gamepad(revent::Layout::V3);
    pad.gamepad.as_mut().unwrap().name = b"pad\x1b]0;x\x07\nB: 00".to_vec();
    let pad = pad.frame(0, &[(revent::SOUTH, 1)]).build().bytes;
    let folder = folder(&[("a", &bytes), ("b", &pad)]);
    for (name, style) in [
        ("a", "getevent"),
        ("a", "getevent-raw"),
        ("a", "evemu"),
        ("b", "evemu"),
        ("b", "getevent"),
    ] {
        let device = if name == "a" { "1" } else { "0" };
        let ran = run!("dump", folder.path().join(name), "--style", style, "--device", device);
        let acts = ran.out.chars().find(|c| !matches!(c, '\n' | '\t') && !is_safe(*c));
        assert_eq!((ran.code, acts), (0, None), "{name} {style}: {:?}", ran.out);
        let lines = ran.out.lines().filter(|line| line.starts_with("B: 00")).count();
        assert_eq!(lines, usize::from((name, style) == ("b", "evemu")));
    }
}

#[test]
fn an_old_recording_is_upgraded_only_if_asked() {
    let old = revent::session(revent::Layout::P24).build().bytes;
    let folder = folder(&[("a.run.revent", &old)]);
    let path = folder.path().join("a.run.revent");
    let ran = run!("repair", path);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("nothing to do"), "{}", ran.out);
    let ran = run!("repair", path, "--upgrade", "-o", folder.path().join("new"));
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("writes version 3 with 30 events"), "{}", ran.out);
    assert!(fs::read(folder.path().join("new")).unwrap().starts_with(b"REVENT\x03\0"));
}

#[test]
fn a_recorder_that_was_killed_at_once_left_nothing_and_the_repair_says_so() {
    let folder = folder(&[("a.run.revent", &tapped()[..16])]);
    let ran = run!("repair", folder.path().join("a.run.revent"));
    assert_eq!(ran.code, 4);
    assert!(ran.out.contains("nothing to save"), "{}", ran.out);
}

#[test]
fn a_log_of_several_releases_needs_one_to_be_named() {
    let log = qemu::long(qemu::ids::of("5.2"), 500);
    let log = log.killed(log.bytes.len() - 3);
    let folder = folder(&[("log", &log)]);
    let (path, out) = (folder.path().join("log"), folder.path().join("out"));
    let ran = run!("repair", path, "-o", out);
    assert_eq!(ran.code, 4, "{}", ran.out);
    assert!(ran.out.contains("0xe02009 of 5.0, 0xe0200a of 5.1 to 7.0"), "{}", ran.out);
    assert!(ran.out.contains("--qemu-version") && !out.exists(), "{}", ran.out);
    let ran = run!("repair", path, "-o", out, "--qemu-version", "5.2");
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(ran.out.contains("structurally closed"), "{}", ran.out);
    assert_eq!(run!("check", out).code, 0);
    assert_eq!(fs::read(&out).unwrap()[..4], [0, 0xe0, 0x20, 0x0a]);
    // Releases that there are not are refused before anything is read.
    for wrong in ["5.9", "qemu", "7", "12.0"] {
        let ran = run!("repair", path, "-o", out, "--qemu-version", wrong);
        assert_eq!(ran.code, 2, "{wrong}: {}", ran.err);
        assert!(ran.err.contains("2.5, 2.6") && ran.err.contains("11.1"), "{}", ran.err);
    }
}

//! `redact`: no private content that was selected is left, and every reader reads the rest.

use tracemend_tests::judge::apitrace::Apitrace;
use tracemend_tests::judge::ovni::Ovniemu;
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::judge::revent::Wlauto;
use tracemend_tests::specimens;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

use super::*;

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The clean recordings of a format.
fn clean(format: &str) -> Vec<PathBuf> {
    let folder = root().join("corpus").join(format).join("clean");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    assert!(paths.len() >= 4, "{format}");
    paths
}

/// Redacts into a folder; returns the run and the output.
pub(super) fn redact(path: &Path, folder: &TempDir) -> (Value, PathBuf) {
    let output = folder.path().join(path.file_name().unwrap());
    let ran = run!("redact", path, "-o", &output, "--format", "json");
    let document = parse(&ran.out);
    let is_left = !document["left"].as_array().unwrap().is_empty();
    assert_eq!(ran.code == 1, is_left, "{}: {}{}", path.display(), ran.out, ran.err);
    assert_eq!(ran.err, "");
    (document, output)
}

/// Code and field of each entry of a list; the name of the member with the field.
pub(super) fn places(list: &Value, field: &str) -> Vec<(String, String)> {
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_string();
    let entries = list.as_array().unwrap().iter();
    entries.map(|entry| (text(entry, "code"), text(entry, field))).collect()
}

#[test]
fn a_redacted_recording_is_sound_as_long_and_audited_without_what_was_redacted() {
    if is_left_to_the_gate(
        "a redacted recording is sound as long and audited without what was redacted",
    ) {
        return;
    }
    let schema = schema("redact.schema.json");
    let mut redacted_places = 0;
    for format in ["apitrace", "ovni", "perf", "qemu", "revent"] {
        for path in clean(format) {
            let folder = TempDir::new().unwrap();
            let before = fs::metadata(&path).unwrap();
            let (document, output) = redact(&path, &folder);
            assert_valid(&schema, &document);
            assert_eq!(run!("check", &output).code, 0, "{}", path.display());
            let is_stored_anew = format == "apitrace" || path.ends_with("zstd.data");
            if !is_stored_anew && before.is_file() {
                assert_eq!(fs::metadata(&output).unwrap().len(), before.len());
            }
            assert_eq!(fs::metadata(&path).unwrap().modified().ok(), before.modified().ok());
            let audit = run!("audit", &output, "--concern", "sender", "--format", "json");
            let found = places(&parse(&audit.out)["recordings"][0]["findings"], "path");
            let redacted = places(&document["redacted"], "field");
            for place in &redacted {
                assert!(!found.contains(place), "{}: {place:?}", path.display());
            }
            // All that is left is named.
            let left = places(&document["left"], "field");
            let sorted = |mut places: Vec<(String, String)>| {
                places.sort();
                places
            };
            assert_eq!(sorted(found), sorted(left), "{}", path.display());
            redacted_places += redacted.len();
            let again = TempDir::new().unwrap();
            assert_eq!(redact(&output, &again).0["redacted"], Value::Array(Vec::new()));
        }
    }
    assert!(redacted_places > 60, "{redacted_places}");
}

/// Private text of each specimen for a sender that holds one.
const SECRETS: &[(&str, &str)] = &[
    ("AU1001", "forge"),
    ("AU1002", "forge"),
    ("AU1003", "record"),
    ("AU1004", "hunter2"),
    ("AU1005", "ada"),
    ("AU1006", "forge"),
    ("AU1008", "the top of a stack"),
    ("AU1009", "a packet"),
    ("AU1012", "login"),
    ("AU1014", "#version"),
    ("AU1016", "forge"),
    ("AU1017", "/tmp/old"),
    ("AU1019", "bpf_prog"),
    ("AU1020", "a trace of branches"),
    ("AU1021", "the name of a project"),
    ("AU1022", "an unknown kind"),
];

/// The stored bytes, and those of the dump, which has the expanded ones.
fn all_text(path: &Path) -> String {
    let dump = run!("dump", path, "--format", "jsonl").out;
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned() + &dump
}

#[test]
fn no_byte_of_a_private_text_is_left_in_any_layer() {
    let specimens = specimens::audit::specimens();
    for (code, secret) in SECRETS {
        let specimen = specimens.iter().find(|one| one.code == *code).unwrap();
        let path = root().join(specimen.path());
        let folder = TempDir::new().unwrap();
        let (document, output) = redact(&path, &folder);
        assert!(all_text(&path).contains(secret), "{code}: the specimen holds {secret}");
        assert!(!all_text(&output).contains(secret), "{code}: {document}");
        let redacted = places(&document["redacted"], "field");
        assert!(redacted.iter().any(|(found, _)| found == code), "{code}: {document}");
        assert!(!document.to_string().contains(secret), "{code}: {document}");
    }
}

#[test]
fn every_kind_for_a_sender_is_redacted_or_named_as_left() {
    let mut left = Vec::new();
    for specimen in specimens::audit::specimens() {
        if specimen.code.starts_with("AU0") {
            continue;
        }
        let folder = TempDir::new().unwrap();
        let (document, _) = redact(&root().join(specimen.path()), &folder);
        let of = |list: &str| places(&document[list], "field").into_iter();
        let is_in = |list: &str| of(list).any(|(code, _)| code == specimen.code);
        assert!(is_in("redacted") != is_in("left"), "{}: {document}", specimen.code);
        if is_in("left") {
            left.push(specimen.code);
        }
    }
    assert_eq!(left, [""; 0]);
}

#[test]
fn short_names_that_share_a_pseudonym_are_counted() {
    let kind = perf::sample_type::TID | perf::sample_type::TIME;
    let attr = perf::Attr::cpu_clock(kind).with_ids(&[11]);
    let mut recording = perf::Recording::new(perf::Order::Little, vec![attr]);
    let mut maker = recording.maker(0);
    let comms = (0..12).map(|number| maker.comm(&format!("q{number:x}")));
    recording.extend(comms.collect::<Vec<_>>());
    let folder = folder(&[("perf.data", &recording.build().bytes)]);
    let path = folder.path().join("perf.data");
    let out = TempDir::new().unwrap();
    let (document, _) = redact(&path, &out);
    assert_eq!(document["shared_names"], 3, "{document}");
    let ran = run!("redact", &path, "--dry-run").out;
    assert!(ran.contains("3 names too short for a number share a pseudonym of `_` alone"), "{ran}");
}

#[test]
fn equal_names_get_equal_pseudonyms_and_other_names_others() {
    let folder = TempDir::new().unwrap();
    let (_, output) = redact(&root().join("corpus/perf/clean/wide.data"), &folder);
    let names = |path: &Path| -> Vec<String> {
        let text = run!("dump", path, "--format", "jsonl").out;
        let records = text.lines().map(parse);
        let names = records.filter_map(|one| Some(one["filename"].as_str()?.to_string()));
        names.collect()
    };
    let [before, after] = [root().join("corpus/perf/clean/wide.data"), output].map(|p| names(&p));
    assert_eq!(before.len(), after.len());
    assert!(before.len() > 20, "{before:?}");
    for (one, two) in before.iter().zip(&after) {
        assert_eq!(one.len(), two.len());
        assert_eq!(one.matches('/').count(), two.matches('/').count(), "{one} {two}");
        assert_eq!(one == two, !one.starts_with('/') || one == "//anon", "{one} {two}");
        for (other, renamed) in before.iter().zip(&after) {
            assert_eq!(one == other, two == renamed, "{one} {other} -> {two} {renamed}");
        }
    }
}

/// The paths between NULs in a recording.
fn paths_in(bytes: &[u8]) -> Vec<String> {
    let texts = bytes.split(|byte| *byte == 0).filter_map(|text| str::from_utf8(text).ok());
    let paths = texts.filter(|text| text.starts_with('/') && !text.starts_with("//"));
    let is_plain = |text: &&str| text.len() > 5 && text.bytes().all(|byte| byte.is_ascii_graphic());
    paths.filter(is_plain).map(str::to_string).collect()
}

#[test]
fn no_path_of_a_perf_recording_is_left_in_any_section() {
    let mut found = 0;
    for path in clean("perf").into_iter().filter(|path| path.is_file()) {
        let folder = TempDir::new().unwrap();
        let (_, output) = redact(&path, &folder);
        let after = paths_in(&fs::read(output).unwrap());
        for one in paths_in(&fs::read(&path).unwrap()) {
            assert!(!after.contains(&one), "{}: {one}", path.display());
            found += 1;
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn the_fields_of_features_with_copies_are_known_to_map_and_audit() {
    let made = perf::clean();
    for (name, labels) in [
        ("every_feature", &["build_id.filename"][..]),
        ("tracepoint", &["tracing.kallsyms", "tracing.printk", "tracing.cmdlines"][..]),
        ("pipe_tracepoint", &["tracing.kallsyms", "tracing.printk", "tracing.cmdlines"][..]),
    ] {
        let made = made.iter().find(|one| one.name == name).unwrap();
        let folder = folder(&[(name, &made.built.bytes)]);
        let path = folder.path().join(name);
        let map = run!("map", &path, "--depth", "3").out;
        assert!(labels.iter().all(|label| map.contains(label)), "{name}: {map}");
        let out = TempDir::new().unwrap();
        let (document, _) = redact(&path, &out);
        let redacted = places(&document["redacted"], "field");
        let path = ("AU1017".to_string(), "BUILD_ID".to_string());
        assert_eq!(redacted.contains(&path), name == "every_feature", "{name}: {document}");
    }
}

#[test]
fn a_trace_in_any_container_is_redacted_and_read_again() {
    use tracemend_tests::forge::apitrace::{Container, Stream, Value};
    let mut stream = Stream::new(6);
    let secret = b"a picture of a private matter".repeat(400);
    stream.named_call(0, 1, "glTexImage2D", &[Value::Blob(secret)]);
    let source = b"void main() { /* a private shader */ }\n".repeat(40);
    stream.named_call(1, 2, "glShaderSource", &[Value::String(source)]);
    let label = ["", "home", "ada", "scene"].join("/").into_bytes();
    stream.named_call(2, 3, "glObjectLabel", &[Value::String(label)]);
    let judge = Apitrace::find_or_skip();
    for container in Container::ALL {
        let name = format!("{container:?}.trace");
        let folder = folder(&[(&name, &container.file(&stream.bytes))]);
        let path = folder.path().join(&name);
        let out = TempDir::new().unwrap();
        let (document, output) = redact(&path, &out);
        let kinds = places(&document["redacted"], "field");
        let kinds: Vec<&str> = kinds.iter().map(|(code, _)| code.as_str()).collect();
        assert_eq!(kinds, ["AU1005", "AU1014", "AU1015", "AU1021"], "{name}");
        let text = run!("dump", &output).out;
        for private in ["ada", "scene", "private shader", "void"] {
            assert!(run!("dump", &path).out.contains(private), "{name}: {private}");
            assert!(!text.contains(private), "{name}: {text}");
        }
        let bytes = fs::read(&output).unwrap();
        assert!(!bytes.windows(9).any(|window| window == b"a private"), "{name}");
        let Some(judge) = &judge else { continue };
        if matches!(container, Container::Snappy | Container::Brotli) {
            assert_eq!(judge.dump(&output).calls.len(), judge.dump(&path).calls.len(), "{name}");
        }
    }
}

#[test]
fn perf_reads_as_many_samples_of_a_redacted_recording() {
    if is_left_to_the_gate("perf reads as many samples of a redacted recording") {
        return;
    }
    let Some(perf) = Perf::find_or_skip() else { return };
    let made = TempDir::new().unwrap();
    let forged = perf::clean().into_iter().filter(|one| one.judged());
    let forged = forged.map(|one| {
        let path = made.path().join(one.name);
        fs::write(&path, &one.built.bytes).unwrap();
        path
    });
    let (mut samples, share) = (0, Share::one_in(1));
    for path in share.of(clean("perf").into_iter().chain(forged)) {
        let folder = TempDir::new().unwrap();
        let (_, output) = redact(&path, &folder);
        let (before, after) = (perf.samples(&path), perf.samples(&output));
        assert_eq!(after.end, before.end, "{}: {}", path.display(), after.stderr);
        assert_eq!(after.count, before.count, "{}: {}", path.display(), after.stderr);
        let (before, after) = (perf.header(&path), perf.header(&output));
        assert_eq!(after.end, before.end, "{}: {}", path.display(), after.stderr);
        samples += perf.samples(&path).count;
    }
    assert!(samples > share.count(100), "{samples}");
}

#[test]
fn every_file_of_a_perf_directory_is_redacted() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("source");
    fs::create_dir(&source).unwrap();
    for (name, bytes) in perf::directory() {
        fs::write(source.join(name), bytes).unwrap();
    }
    let out = TempDir::new().unwrap();
    let (document, output) = redact(&source, &out);
    assert!(!document["redacted"].as_array().unwrap().is_empty(), "{document}");
    assert_eq!(run!("check", &output).code, 0);
    assert_eq!(names(&output), names(&source));
    let Some(perf) = Perf::find_or_skip() else { return };
    assert_eq!(perf.samples(&output).count, perf.samples(&source).count);
}

#[test]
fn apitrace_reads_as_many_calls_of_a_redacted_trace() {
    let Some(apitrace) = Apitrace::find_or_skip() else { return };
    let mut calls = 0;
    for path in clean("apitrace") {
        let folder = TempDir::new().unwrap();
        let (_, output) = redact(&path, &folder);
        let (before, after) = (apitrace.dump(&path), apitrace.dump(&output));
        let numbers =
            |calls: &BTreeMap<u64, String>| -> Vec<u64> { calls.keys().copied().collect() };
        assert_eq!(numbers(&after.calls), numbers(&before.calls), "{}", path.display());
        assert_eq!((after.code, &after.stderr), (before.code, &before.stderr));
        calls += after.calls.len();
    }
    assert!(calls > 100, "{calls}");
}

#[test]
fn the_emulator_accepts_a_redacted_trace_under_other_names() {
    if is_left_to_the_gate("the emulator accepts a redacted trace under other names") {
        return;
    }
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    for path in clean("ovni") {
        let folder = TempDir::new().unwrap();
        let (_, output) = redact(&path, &folder);
        assert_eq!(
            emulator.lint_folder(&output),
            emulator.lint_folder(&path),
            "{}",
            path.display()
        );
    }
}

#[test]
fn wlauto_reads_as_many_events_of_a_redacted_recording() {
    let Some(wlauto) = Wlauto::find_or_skip() else { return };
    let folder = TempDir::new().unwrap();
    let outputs = clean("revent").iter().map(|path| redact(path, &folder).1).collect::<Vec<_>>();
    let read = |paths: &[PathBuf]| -> Vec<Option<usize>> {
        let bytes: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
        let read = wlauto.read(&bytes).into_iter();
        read.map(|one| one.ok().map(|read| read.events.len())).collect()
    };
    let before = read(&clean("revent"));
    assert_eq!(read(&outputs), before);
    assert!(before.iter().flatten().sum::<usize>() > 0, "{before:?}");
}

#[test]
fn a_redacted_trace_of_ovni_lies_in_folders_with_other_names() {
    let folder = TempDir::new().unwrap();
    let (_, output) = redact(&root().join("corpus/ovni/clean/tampi"), &folder);
    let looms = names(&output);
    assert!(!looms.is_empty() && looms.iter().all(|loom| loom.starts_with("loom._")), "{looms:?}");
    // A file of somebody else would be copied.
    let source = folder.path().join("source");
    fs::create_dir_all(source.join("loom.vm.0/proc.1/thread.1")).unwrap();
    for name in ["stream.json", "stream.obs"] {
        let from = root().join("corpus/ovni/clean/openmp/loom.vm.0/proc.16395/thread.16395");
        fs::copy(from.join(name), source.join("loom.vm.0/proc.1/thread.1").join(name)).unwrap();
    }
    fs::write(source.join("notes.txt"), "private").unwrap();
    let ran = run!("redact", &source, "-o", folder.path().join("out"));
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("notes.txt is not part of the recording"), "{}", ran.err);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn keys_are_replaced_with_their_releases_and_scan_codes() {
    let mut typed = revent::Recording::new(revent::Layout::V3);
    let [msc, scan] = [4, 4];
    typed.frame(0, &[(revent::KEY_A, 1)]).frame(0, &[(revent::KEY_A, 0)]);
    let mut bytes = typed.build().bytes;
    let folder = folder(&[("typed.run.revent", &bytes)]);
    let path = folder.path().join("typed.run.revent");
    let out = TempDir::new().unwrap();
    let (document, output) = redact(&path, &out);
    assert_eq!(document["redacted"][0]["count"], 1, "a release is not a stroke: {document}");
    let dump = run!("dump", &output).out;
    assert!(!dump.contains("KEY_A"), "{dump}");
    // The first event becomes that of the number of a key.
    let at = bytes.windows(4).position(|four| four == [1, 0, 30, 0]).unwrap();
    bytes[at..at + 8].copy_from_slice(&[msc, 0, scan, 0, 4, 0, 7, 0]);
    bytes.windows(4).position(|four| four == [1, 0, 30, 0]).unwrap();
    fs::write(&path, &bytes).unwrap();
    let audit = run!("audit", &path).out;
    assert!(audit.contains("1 scan code in events"), "{audit}");
}

#[test]
fn kinds_are_chosen_by_name_or_code() {
    let path = root().join("corpus/perf/clean/plain.data");
    let codes = |args: &[&str]| -> Vec<String> {
        let all: Vec<&OsStr> = ["redact".as_ref(), path.as_os_str()]
            .into_iter()
            .chain(["--dry-run", "--format", "json"].map(OsStr::new))
            .chain(args.iter().map(OsStr::new))
            .collect();
        let ran = run_with(&all, &mut io::empty(), Look::PLAIN);
        let document = parse(&ran.out);
        assert_eq!(document["output"], Value::Null);
        let mut codes: Vec<String> =
            places(&document["redacted"], "field").into_iter().map(|(code, _)| code).collect();
        codes.dedup();
        codes
    };
    let all = ["AU1001", "AU1002", "AU1003", "AU1006", "AU1007", "AU1017", "AU1023"];
    assert_eq!(codes(&[]), all);
    assert_eq!(codes(&["--only", "host-name", "--only", "AU1017"]), ["AU1001", "AU1017"]);
    let kept = codes(&["--keep", "system", "--keep", "AU1003", "--keep", "address"]);
    assert_eq!(kept, ["AU1001", "AU1006", "AU1017"]);
    assert_eq!(codes(&["--only", "system", "--keep", "system"]), [""; 0]);
    let wrong = run!("redact", &path, "--only", "no\u{1b}kind");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("kernel-address") && !wrong.err.contains('\u{1b}'), "{}", wrong.err);
    let path = root().join("corpus/ovni/clean/tampi");
    let kept = run!("redact", &path, "--dry-run", "--keep", "process");
    assert_eq!(kept.code, 0, "{}", kept.out);
    assert!(kept.out.contains("no private content that was selected is left"), "{}", kept.out);
    let left = run!("redact", &path, "--dry-run");
    assert_eq!(left.code, 1, "{}", left.out);
    assert!(left.out.contains("  not redacted: AU1006 process: "), "{}", left.out);
}

#[test]
fn the_plan_that_undoes_a_redaction_is_marked_and_written_only_if_it_is_asked_for() {
    let folder = folder(&[("own.data", &sound())]);
    let path = |name: &str| folder.path().join(name);
    let source = fs::read(path("own.data")).unwrap();
    assert_eq!(run!("redact", path("own.data")).code, 0);
    assert_eq!(names(folder.path()), ["own.data", "own.data.redacted"]);
    let ran = run!("redact", path("own.data"), "-o", path("out"), "--undo-plan", path("undo"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("undo holds the private bytes: do not share it"), "{}", ran.err);
    let plan = fs::read_to_string(path("undo")).unwrap();
    assert!(plan.contains("\"private\": true"), "{plan}");
    assert_valid(&schema("plan.schema.json"), &parse(&plan));
    assert_eq!(fs::metadata(path("undo")).unwrap().mode() & 0o077, 0);
    assert_eq!(run!("verify", path("undo"), path("own.data"), path("out")).code, 0);
    let back = run!("apply", path("undo"), path("out"), "-o", path("back"), "--reverse");
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(fs::read(path("back")).unwrap(), source);
    assert_eq!(run!("redact", path("own.data"), "--dry-run", "--undo-plan", path("no")).code, 2);
    assert!(!path("no").exists());
}

#[test]
fn a_redaction_that_cannot_be_complete_writes_nothing() {
    let head = &sound()[..40];
    let folder = folder(&[("head.data", head), ("own.data", &sound()), ("notes", b"x")]);
    let path = |name: &str| folder.path().join(name);
    let ran = run!("redact", path("head.data"), "-o", path("out"));
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("no record can be read"), "{}", ran.err);
    assert!(ran.err.contains("repair it first: tracemend repair "), "{}", ran.err);
    assert_eq!(run!("redact", path("notes"), "-o", path("out")).code, 4);
    assert_eq!(run!("redact", path("missing"), "-o", path("out")).code, 5);
    let ran = run!("redact", path("own.data"), "-o", path("out"), "--limit", "redacted=100");
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("limit redacted"), "{}", ran.err);
    for (output, reason) in [("own.data", "both the source and the output"), ("notes", "exists")] {
        let ran = run!("redact", path("own.data"), "-o", path(output));
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(reason), "{}", ran.err);
    }
    let ran = run!("redact", path("own.data"), "-o", path("o"), "--undo-plan", path("own.data"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(run!("redact", "-").code, 2);
    assert_eq!(names(folder.path()), ["head.data", "notes", "own.data"]);
}

#[test]
fn bytes_that_no_structure_claims_are_zeroed() {
    let mut bytes = fs::read(root().join("corpus/perf/clean/plain.data")).unwrap();
    let name = bytes.windows(10).position(|window| window == b"perf-exec\0").unwrap();
    bytes[name + 11..name + 16].copy_from_slice(b"extra");
    let folder = folder(&[("own.data", &bytes)]);
    let out = TempDir::new().unwrap();
    let (document, output) = redact(&folder.path().join("own.data"), &out);
    let redacted = places(&document["redacted"], "field");
    assert!(redacted.contains(&("AU0007".into(), "COMM".into())), "{document}");
    let text = fs::read(output).unwrap();
    assert!(!text.windows(5).any(|window| window == b"extra"));
}

//! `audit`: what a recording carries, without a false alarm, without a raw byte, and masked.

use tracemend_tests::specimens;

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The clean recordings of a format.
fn clean(format: &str) -> Vec<PathBuf> {
    let folder = root().join("corpus").join(format).join("clean");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    paths
}

/// The codes of the findings of an audit with `--format json`.
fn codes(ran: &Ran) -> Vec<String> {
    let document = parse(&ran.out);
    let findings = document["recordings"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_string()).collect()
}

#[test]
fn an_audit_of_a_clean_recording_has_nothing_for_a_recipient() {
    let mut private = 0;
    for format in ["apitrace", "ovni", "perf", "qemu", "revent"] {
        let paths = clean(format);
        assert!(paths.len() >= 4, "{format}");
        for path in paths {
            let ran = run!("audit", &path, "--format", "json");
            assert_eq!(ran.code, 0, "{}: {}", path.display(), ran.out);
            let codes = codes(&ran);
            assert!(codes.iter().all(|code| code.starts_with("AU1")), "{codes:?}");
            private += usize::from(!codes.is_empty());
        }
    }
    assert!(private > 20, "{private} recordings have private content");
}

#[test]
fn an_audit_follows_the_schema_and_names_the_concern_of_each_finding() {
    let schema = schema("check.schema.json");
    let mut seen = 0;
    for specimen in specimens::audit::specimens() {
        let path = root().join(specimen.path());
        let ran = run!("audit", &path, "--format", "json", "--show");
        // Damage can hold anything for a recipient as well.
        let is_dangerous = specimen.code.starts_with("AU0") || specimen.code == "AU1024";
        assert_eq!(ran.code, u8::from(is_dangerous), "{}: {}", specimen.code, ran.out);
        let document = parse(&ran.out);
        assert_valid(&schema, &document);
        for finding in document["recordings"][0]["findings"].as_array().unwrap() {
            let code = finding["code"].as_str().unwrap();
            let concern = if code.starts_with("AU0") { "recipient" } else { "sender" };
            assert_eq!(finding["concern"], concern, "{finding}");
            // A hash of a short private text can be guessed.
            assert_eq!(finding["fingerprint"], Value::Null, "{finding}");
            seen += usize::from(code == specimen.code);
        }
    }
    assert_eq!(seen, specimens::audit::specimens().len());
}

#[test]
fn an_audit_masks_private_text_unless_it_is_asked_to_show_it() {
    for (code, secret) in [
        ("AU1001", "forge"),
        ("AU1004", "hunter2"),
        ("AU1008", "the top of a stack"),
        ("AU1012", "login"),
        ("AU1014", "#version"),
    ] {
        let specimens = specimens::audit::specimens();
        let specimen = specimens.iter().find(|one| one.code == code).unwrap();
        let path = root().join(specimen.path());
        for format in ["human", "json", "sarif", "oneline"] {
            let ran = run!("audit", &path, "--format", format);
            assert!(ran.out.contains(code), "{format}: {}", ran.out);
            assert!(!ran.out.contains(secret), "{format}: {}", ran.out);
        }
        let ran = run!("audit", &path, "--show", "--format", "oneline");
        let json = run!("audit", &path, "--show", "--format", "json");
        assert!(json.out.contains(secret), "{}{}", ran.out, json.out);
    }
}

#[test]
fn an_audit_looks_for_one_concern_if_it_is_asked_to() {
    let path = root().join("corpus/audit/rules/AU0008.log");
    let of = |concern: &str| run!("audit", &path, "--concern", concern, "--format", "json");
    assert_eq!(codes(&of("recipient")), ["AU0008"]);
    assert_eq!(codes(&of("sender")), ["AU1012"]);
    assert_eq!((of("recipient").code, of("sender").code), (1, 0));
    assert_eq!(run!("audit", &path, "--concern", "nobody\u{1b}").code, 2);
    let text = run!("audit", &path, "--concern", "sender").out;
    assert!(text.ends_with("private to the sender: device input\n"), "{text}");
    assert!(!text.contains("recipient"), "{text}");
}

#[test]
fn an_audit_ends_with_the_risk() {
    let ran = run!("audit", root().join("corpus/perf/clean/plain.data"));
    let end = "risk for a recipient: nothing found; private to the sender: host name, system,";
    assert!(ran.out.contains(end), "{}", ran.out);
    let ran = run!("audit", root().join("corpus/audit/rules/AU0003.run.revent"));
    let end =
        "risk for a recipient: path climbs, device path; private to the sender: chosen name\n";
    assert!(ran.out.ends_with(end), "{}", ran.out);
}

#[test]
fn an_audit_of_hostile_names_prints_nothing_raw() {
    let folder = TempDir::new().unwrap();
    let loom = folder.path().join("trace\u{1b}[2J").join("loom.a\u{202e}b.0/proc.7/thread.7");
    fs::create_dir_all(&loom).unwrap();
    let source = root().join("corpus/ovni/clean/openmp/loom.vm.0/proc.16395/thread.16395");
    for name in ["stream.json", "stream.obs"] {
        fs::copy(source.join(name), loom.join(name)).unwrap();
    }
    for format in
        ["human", "json", "sarif", "junit", "github", "gitlab", "oneline", "jsonl", "html", "svg"]
    {
        for show in [&["--show"][..], &[]] {
            let args = ["audit".as_ref(), folder.path().as_os_str(), "--format".as_ref()];
            let args = args.into_iter().chain([OsStr::new(format)]);
            let args: Vec<&OsStr> = args.chain(show.iter().map(OsStr::new)).collect();
            let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
            assert_eq!(ran.code, 1, "{format}: {}{}", ran.out, ran.err);
            let raw = ran.out.chars().chain(ran.err.chars()).find(|c| *c != '\n' && !is_safe(*c));
            assert_eq!(raw, None, "{format}: {}", ran.out);
            assert!(ran.out.contains("AU0002"), "{format}: {}", ran.out);
        }
    }
}

#[test]
fn an_audit_of_bytes_of_no_format_is_that_of_a_check() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes");
    fs::write(&path, "a text\n").unwrap();
    let ran = run!("audit", &path);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("CM0002"), "{}", ran.out);
    fs::write(&path, "").unwrap();
    assert!(run!("audit", &path).out.contains("CM0001"));
    assert_eq!(run!("audit", folder.path().join("missing")).code, 5);
    assert_eq!(run!("audit").code, 2);
}

#[test]
fn an_audit_of_a_limit_that_was_reached_is_incomplete() {
    let path = root().join("corpus/perf/clean/zstd.data");
    let ran = run!("audit", &path, "--limit", "zstd-window=1");
    assert_eq!(ran.code, 6, "{}", ran.out);
    assert!(ran.out.contains("CM9001"), "{}", ran.out);
    let bomb = run!("audit", &path, "--limit", "audit-ratio=1");
    assert_eq!(bomb.code, 0, "16 MiB are never a bomb: {}", bomb.out);
}

/// The lines of an audit of a file with this name and content.
fn audit_of(name: &str, bytes: &[u8]) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let ran = run!("audit", &path, "--show");
    assert_eq!(ran.code, 1, "{}", ran.out);
    ran.out
}

#[test]
fn an_audit_finds_bytes_after_the_end_of_a_text_and_in_the_padding_of_a_name() {
    let sound = fs::read(root().join("corpus/perf/clean/plain.data")).unwrap();
    let at = |text: &[u8]| sound.windows(text.len()).position(|window| window == text).unwrap();
    // The host name has 64 bytes.
    let mut bytes = sound.clone();
    let host = at(b"vm\0\0\0\0\0\0\0\0\0\0");
    bytes[host + 4..host + 14].copy_from_slice(b"#!/bin/sh\n");
    let text = audit_of("host.data", &bytes);
    assert!(text.contains("AU0007 unclaimed-bytes: 60 unclaimed bytes in HOSTNAME"), "{text}");
    assert!(text.contains("AU0008 executable-content: 1 executable part in HOSTNAME"), "{text}");
    let mut bytes = sound.clone();
    let name = at(b"perf-exec\0");
    bytes[name + 11..name + 16].copy_from_slice(b"extra");
    let text = audit_of("comm.data", &bytes);
    assert!(text.contains("unclaimed bytes in COMM"), "{text}");
}

#[test]
fn an_audit_of_a_file_that_is_also_an_archive_names_it() {
    let mut bytes = fs::read(root().join("corpus/qemu/clean/guestoff_7.2.log")).unwrap();
    bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x10\0\0\0\0\0\0\0\0\0");
    let text = audit_of("both.log", &bytes);
    assert!(text.contains("embedded-file: 1 archive or document in end of file"), "{text}");
}

#[test]
fn an_audit_decodes_the_escapes_of_metadata() {
    let folder = TempDir::new().unwrap();
    let thread = folder.path().join("ovni/loom.vm.0/proc.16395/thread.16395");
    fs::create_dir_all(&thread).unwrap();
    let source = root().join("corpus/ovni/clean/openmp/loom.vm.0/proc.16395/thread.16395");
    fs::copy(source.join("stream.obs"), thread.join("stream.obs")).unwrap();
    let text = fs::read_to_string(source.join("stream.json")).unwrap();
    let text = text.replacen('{', "{\"note\": \"\\u001b[2J token=hunter2\",", 1);
    fs::write(thread.join("stream.json"), text).unwrap();
    let ran = run!("audit", folder.path());
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    for code in ["AU0001 control-characters", "AU1004 secret", "AU1016 extra-metadata"] {
        assert!(ran.out.contains(code), "{code}: {}", ran.out);
    }
    assert!(!ran.out.contains("hunter2"), "{}", ran.out);
}

#[test]
fn an_audit_finds_links_that_leave_the_recording() {
    let folder = TempDir::new().unwrap();
    let thread = folder.path().join("ovni/loom.vm.0/proc.16395/thread.16395");
    fs::create_dir_all(&thread).unwrap();
    let source = root().join("corpus/ovni/clean/openmp/loom.vm.0/proc.16395/thread.16395");
    fs::copy(source.join("stream.json"), thread.join("stream.json")).unwrap();
    let outside = folder.path().join("outside");
    fs::copy(source.join("stream.obs"), &outside).unwrap();
    symlink(&outside, thread.join("stream.obs")).unwrap();
    let ran = run!("audit", folder.path().join("ovni"));
    assert!(ran.out.contains("1 outward symbolic link in file name"), "{}{}", ran.out, ran.err);
    assert_eq!(ran.code, 1, "{}", ran.out);
}

#[test]
fn an_audit_of_a_directory_has_a_page_for_each_recording_and_a_table() {
    let ran = run!("audit", root().join("corpus/revent/clean"));
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(ran.out.matches("\nrisk for a recipient: nothing found").count(), 6, "{}", ran.out);
    assert!(ran.out.contains("AU1011"), "{}", ran.out);
}

#[test]
fn a_texture_that_is_black_at_its_top_is_private() {
    use tracemend_tests::forge::apitrace::{Container, Stream, Value};
    let is_private = |last: u8| {
        let mut stream = Stream::new(6);
        let texture = [vec![0; 200_000], vec![last; 100]].concat();
        stream.named_call(0, 1, "glTexImage2D", &[Value::Blob(texture)]);
        let folder = folder(&[("a.trace", &Container::Snappy.file(&stream.bytes))]);
        let ran = run!("audit", folder.path().join("a.trace"), "--format", "json");
        codes(&ran).contains(&"AU1015".to_string())
    };
    assert!(is_private(7));
    assert!(!is_private(0));
}

//! Files that should be recordings are not skipped in silence, and a file of a directory recording
//! stands for the whole.

use super::*;
use base64::Engine;
use tracemend_tests::sweep::is_left_to_the_gate;

fn corpus(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(name)).unwrap()
}

/// Encodings of a file that was changed on its way.
fn encodings(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
    let lines: Vec<&[u8]> = base64.as_bytes().chunks(76).collect();
    let utf8: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    vec![
        ("utf8", utf8.into_bytes()),
        ("replacement", String::from_utf8_lossy(bytes).into_owned().into_bytes()),
        ("base64", lines.join(&b'\n')),
        ("gzip", gzip.finish().unwrap()),
        ("noise", vec![0xa5; bytes.len()]),
        ("empty", Vec::new()),
    ]
}

#[test]
fn a_recording_that_was_encoded_beside_a_sound_one_is_an_error() {
    if is_left_to_the_gate("a recording that was encoded beside a sound one is an error") {
        return;
    }
    let perf = corpus("perf/clean/plain.data");
    let qemu = corpus("qemu/clean/guestoff_7.2.log");
    let cases = [
        ("a.trace", "b.trace", corpus("apitrace/clean/glxinfo-zlib.trace")),
        ("perf.data.1", "perf.data.2", perf.clone()),
        ("perf.data", "perf.data.old", perf.clone()),
        ("a.perf.data", "b.perf.data", perf),
        ("run-1.log", "run-17.log", qemu.clone()),
        ("x.replay", "y.replay", qemu.clone()),
        ("first", "replay.bin", qemu),
        ("a.revent", "b.revent", corpus("revent/clean/v2_timeout.revent")),
    ];
    for (sound, other, bytes) in &cases {
        for (kind, encoded) in encodings(bytes) {
            // A readable revent or QEMU log may be left of some encodings: any error will do.
            let folder = folder(&[(sound, bytes), (other, &encoded), ("README", b"Traces.\n")]);
            for command in [&["check"][..], &["repair", "--dry-run"], &["redact", "--dry-run"]] {
                let mut args: Vec<&OsStr> = command.iter().map(OsStr::new).collect();
                args.push(folder.path().as_os_str());
                let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
                let label = format!("{command:?} {sound} {other} {kind}");
                // Most are given back without loss.
                let is_expected = match command {
                    ["check"] => ran.code == 1,
                    _ => matches!(ran.code, 0 | 1 | 3 | 4),
                };
                assert!(is_expected, "{label}: {} {}", ran.code, ran.out);
                let text = ran.out + &ran.err;
                assert!(text.contains(&format!("/{other}:")), "{label}: {text}");
            }
        }
    }
}

#[test]
fn a_packed_recording_is_read_by_every_command_and_from_a_pipe() {
    let perf = corpus("perf/clean/plain.data");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&perf).unwrap();
    let gzip = gzip.finish().unwrap();
    let folder = folder(&[("perf.data", &perf), ("x.data", &gzip)]);
    let (plain, packed) = (folder.path().join("perf.data"), folder.path().join("x.data"));
    for command in [&["dump"][..], &["map", "--depth", "2"]] {
        let ran = |path: &Path| {
            let mut args: Vec<&OsStr> = command.iter().map(OsStr::new).collect();
            args.push(path.as_os_str());
            let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
            let text = (ran.out + &ran.err).replace(path.to_str().unwrap(), "FILE");
            text.replace("x.data", "perf.data")
        };
        assert_eq!(ran(&plain), ran(&packed), "{command:?}");
    }
    let pipe = |args: &[&str], bytes: &[u8]| {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        run_with(&args, &mut { bytes }, Look::PLAIN)
    };
    let ran = pipe(&["check", "-"], &gzip);
    assert!(ran.code == 1 && ran.out.contains("TR0001"), "{} {}", ran.out, ran.err);
    let ran = pipe(&["check", "--no-transport", "-"], &gzip);
    assert!(ran.code == 1 && ran.out.contains("CM0002"), "{} {}", ran.out, ran.err);
    let output = folder.path().join("out");
    let ran = pipe(&["repair", "-", "-o", output.to_str().unwrap()], &gzip);
    assert_eq!((ran.code, fs::read(&output).unwrap()), (0, perf), "{} {}", ran.out, ran.err);
}

#[test]
fn ordinary_files_beside_recordings_are_skipped() {
    let perf = corpus("perf/clean/plain.data");
    let trace = corpus("apitrace/clean/glxinfo-zlib.trace");
    let qemu = corpus("qemu/clean/guestoff_7.2.log");
    let text = b"An ordinary text.\nIt has lines.\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&perf).unwrap();
    let gzip = gzip.finish().unwrap();
    let folder = folder(&[
        ("perf.data", &perf),
        ("app.trace", &trace),
        ("boot.log", &qemu),
        ("run-1.bin", &qemu),
        ("README.md", text),
        ("LICENSE", text),
        ("notes.txt", text),
        ("stderr.log", text),
        ("console.log", text),
        ("vmlinux.bin", &[0x7f, 0x45, 0x4c, 0x46]),
        ("training.data", &[1, 2, 3, 4, 5, 6, 7, 8]),
        ("other.data", text),
        ("perf.data.gz", &gzip),
        ("perf.data.txt", text),
        ("perf.data.sha256", text),
        ("app.trace.gz", &gzip),
        ("app.trace.txt", text),
        ("traces.tar.gz", &gzip),
        ("flame.svg", b"<svg/>\n"),
        ("report-1.json", b"{}\n"),
        ("script.py", text),
        ("sub/other.trace", text),
    ]);
    for command in [&["check"][..], &["repair", "--dry-run"]] {
        let mut args: Vec<&OsStr> = command.iter().map(OsStr::new).collect();
        args.extend([folder.path().as_os_str(), "--format".as_ref(), "json".as_ref()]);
        let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{command:?}: {}", ran.out);
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(document["skipped"].as_array().unwrap().len(), 15, "{}", ran.out);
    }
}

/// The regular expression of the hook, in the hands of the language that pre-commit is written in.
fn hooked(names: &[&str]) -> Option<Vec<String>> {
    let hooks =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.pre-commit-hooks.yaml"))
            .unwrap();
    let pattern = hooks.split("files: &files '").nth(1).unwrap().split('\'').next().unwrap();
    let script = "import re, sys\n\
                  print('\\n'.join(n for n in sys.argv[2:] if re.search(sys.argv[1], n)))";
    let ran = Command::new("python3").args(["-c", script, pattern]).args(names).output().ok()?;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8(ran.stdout).unwrap().lines().map(String::from).collect())
}

#[test]
fn the_hook_takes_recordings_and_no_archives_of_them() {
    let taken = [
        "perf.data",
        "a/perf.data.old",
        "perf.data.20260102030405",
        "a/kernel.perf.data",
        "perf.data/data",
        "traces/perf.data.d/data.13",
        "a.trace",
        "x/touch.run.revent",
        "rr/replay.bin",
        "loom.a/proc.1/thread.2/stream.obs",
        "loom.a.1/proc.1/thread.2.obs",
    ];
    let others = [
        "perf.data.gz",
        "a/perf.data.tar.gz",
        "perf.data.old.zst",
        "perf.data.json",
        "a.trace.gz",
        "data",
        "config/data.1",
        "loom.a/proc.1/thread.2/stream.json",
        "stream.obs.xz",
        "README.md",
    ];
    let names = [&taken[..], &others].concat();
    match hooked(&names) {
        Some(found) => assert_eq!(found, taken),
        None => tracemend_tests::notice::skip("the pattern of the hook", "there is no python3"),
    }
}

fn relative(root: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    let output = command.current_dir(root).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = u8::try_from(output.status.code().unwrap()).unwrap();
    Ran { code, out: text(output.stdout), err: text(output.stderr) }
}

/// Every file below a folder, relative to it.
fn below(root: &Path, folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    for name in names(&root.join(folder)) {
        let path = format!("{folder}/{name}");
        if root.join(&path).is_dir() {
            files.extend(below(root, &path));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn files_of_a_directory_recording_are_checked_as_one_recording_once() {
    let folder = folder(&[("repo/notes", b"x")]);
    let root = folder.path().join("repo");
    for name in ["looms", "nanos6"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/ovni/clean").join(name);
        let copied = Command::new("cp").arg("-r").arg(source).arg(&root).status().unwrap();
        assert!(copied.success());
    }
    fs::create_dir(root.join("rec")).unwrap();
    for (name, bytes) in perf::directory() {
        fs::write(root.join("rec").join(name), bytes).unwrap();
    }
    for (recording, ending) in [("looms", "stream.obs"), ("nanos6", "stream.obs"), ("rec", "")] {
        let mut files = below(&root, recording);
        files.retain(|name| name.ends_with(ending));
        assert!(!files.is_empty());
        let single = relative(&root, &["check", &files[0], "--format", "json"]);
        let whole = relative(&root, &["check", recording, "--format", "json"]);
        assert_eq!((single.code, &single.out), (0, &whole.out), "{recording}: {}", single.err);
        assert!(single.err.contains(&format!("is part of {recording}, which")), "{}", single.err);
        // All of them, and the directory itself.
        let mut args = vec!["check", "--format", "json"];
        args.extend(files.iter().map(String::as_str));
        args.push(recording);
        let all = relative(&root, &args);
        assert_eq!((all.code, &all.out), (0, &whole.out), "{recording}: {}", all.err);
        // From inside of the recording.
        let file = Path::new(&files[0]);
        let name = file.file_name().unwrap().to_str().unwrap();
        let inner = root.join(file.parent().unwrap());
        let ran = relative(&inner, &["check", name]);
        assert_eq!(ran.code, 0, "{recording}: {}{}", ran.out, ran.err);
    }
    // A damaged trace has the same errors.
    let stream = below(&root, "looms").into_iter().find(|name| name.ends_with("stream.obs"));
    let stream = stream.unwrap();
    let bytes = fs::read(root.join(&stream)).unwrap();
    fs::write(root.join(&stream), &bytes[..bytes.len() - 5]).unwrap();
    let single = relative(&root, &["check", &stream, "--format", "json"]);
    let whole = relative(&root, &["check", "looms", "--format", "json"]);
    assert_eq!((single.code, &single.out), (1, &whole.out));
    // With --type the file is read by itself.
    let ran = relative(&root, &["check", &stream, "--type", "ovni"]);
    assert!(ran.err.is_empty() && ran.out.contains("stream.obs"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_file_with_the_name_of_a_member_alone_is_itself() {
    let folder = folder(&[("data", &sound()), ("sub/data.1", &truncated()), ("stream.txt", b"x")]);
    let ran = run!("check", folder.path().join("sub/data.1"));
    assert!(ran.code == 1 && !ran.err.contains("is part of"), "{}{}", ran.out, ran.err);
}

//! "clean" is never the word for something that was not read.

use super::*;

/// Names of files and their bytes.
type Entries<'a> = &'a [(&'a str, &'a [u8])];

#[test]
fn a_named_format_does_not_excuse_a_wrong_magic() {
    let sound = sound();
    let folder = folder(&[("x", &sound)]);
    let path = folder.path().join("x");
    assert_eq!(run!("check", &path, "--type", "perf").code, 0);
    for at in 0..8 {
        for damage in [|byte: u8| byte ^ 1, |_| 0] {
            let mut bytes = sound.clone();
            bytes[at] = damage(bytes[at]);
            fs::write(&path, &bytes).unwrap();
            let ran = run!("check", &path, "--type", "perf");
            assert_eq!(ran.code, 1, "{at}: {}", ran.out);
            // A repair restores the magic, or admits that it cannot.
            let out = folder.path().join("out");
            let ran = run!("repair", &path, "--type", "perf", "-o", &out, "--force");
            let is_right = fs::read(&out).is_ok_and(|out| out[..8] == sound[..8]);
            assert_eq!(ran.code != 4, is_right, "{at}: {}{}", ran.out, ran.err);
        }
    }
    // Other formats report it as well.
    let revent = revent::Recording::new(revent::Layout::V3).tap(1).build().bytes;
    for (format, bytes) in [("revent", &revent), ("apitrace", &sound), ("ovni", &sound)] {
        let mut bytes = bytes.clone();
        bytes[..6].fill(0);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(run!("check", &path, "--type", format).code, 1, "{format}");
    }
}

#[test]
fn a_folder_without_a_recording_is_not_clean() {
    let mut wiped = sound();
    wiped[..8].fill(0);
    let crashed = crashed();
    let cases: [(&str, Entries<'_>, &str); 5] = [
        ("nothing", &[], "it is empty"),
        ("garbage", &[("notes", b"hello"), ("more", b"x")], "2 files (unknown format)"),
        ("wiped", &[("recording", &wiped)], "1 file (unknown format)"),
        ("empty", &[("recording", b"")], "1 file (empty)"),
        ("deep", &[("a/b/c/notes", b"hello")], "1 file (unknown format)"),
    ];
    for (name, files, said) in cases {
        let folder = folder(files);
        let ran = run!("check", folder.path());
        assert_eq!(ran.code, 1, "{name}: {}", ran.out);
        let out = ran.out.replace("\n  ", " ");
        assert!(out.contains("error[CM0004]") && out.contains(said), "{name}: {}", ran.out);
        assert_eq!(run!("check", folder.path(), "--allow", "CM0004").code, 0, "{name}");
        let document = parse(&run!("check", folder.path(), "--format", "json").out);
        assert_valid(&schema("check.schema.json"), &document);
        assert_eq!(document["totals"]["with_errors"], 1, "{name}");
    }
    let folder = folder(&[("there/x.data", &crashed), ("here/.keep", b"")]);
    symlink("../there/x.data", folder.path().join("here/x.data")).unwrap();
    let ran = run!("check", folder.path().join("here"));
    assert_eq!(ran.code, 1, "{}", ran.out);
    let out = ran.out.replace("\n  ", " ");
    assert!(out.contains("1 file (symbolic link)"), "{}", ran.out);
    // One folder of two is enough.
    let ran = run!("check", folder.path().join("there"), folder.path().join("here"));
    assert!(ran.out.contains("error[CM0004]"), "{}", ran.out);
}

#[test]
fn an_empty_or_wiped_file_with_the_name_of_a_recording_is_an_error() {
    let mut wiped = sound();
    wiped[..8].fill(0);
    let folder = folder(&[("sound", &sound()), ("old/perf.data", b""), ("new/perf.data", &wiped)]);
    let ran = run!("check", folder.path());
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("error[CM0001]") && ran.out.contains("error[CM0002]"), "{}", ran.out);
    let tap = revent::Recording::new(revent::Layout::V3).tap(1).build().bytes;
    for name in ["a.run.revent", "stream.obs", "night.perf.data", "perf.data.old"] {
        let folder = super::folder(&[("tap", &tap), (name, b"")]);
        let ran = run!("check", folder.path());
        assert_eq!(ran.code, 1, "{name}: {}", ran.out);
        let codes = ["error[CM0001]", "error[OV4001]"];
        assert!(codes.iter().any(|code| ran.out.contains(code)), "{name}: {}", ran.out);
    }
}

#[test]
fn an_empty_file_beside_recordings_of_its_kind_is_an_error() {
    let log = qemu::long(qemu::ids::of("5.2"), 500);
    let files: [(&str, &[u8]); 5] = [
        ("run-1.log", &log.bytes),
        ("run-22.log", b""),
        ("stderr.log", b""),
        ("other/run-3.log", b""),
        ("run-.log", b""),
    ];
    let folder = folder(&files);
    let ran = run!("check", folder.path(), "--format", "json");
    assert_eq!(ran.code, 1, "{}", ran.out);
    let document = parse(&ran.out);
    let recordings = document["recordings"].as_array().unwrap();
    let empty: Vec<&str> = recordings
        .iter()
        .filter(|one| one["counts"].get("CM0001").is_some())
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert!(matches!(empty.as_slice(), [path] if path.ends_with("/run-22.log")), "{empty:?}");
    assert_eq!(document["totals"]["skipped"]["empty"], 3);
}

#[test]
fn strict_makes_every_skipped_file_an_error() {
    let folder = folder(&[("sound", &sound()), ("notes", b"hello"), ("empty", b"")]);
    symlink("sound", folder.path().join("link")).unwrap();
    assert_eq!(run!("check", folder.path()).code, 0);
    let ran = run!("check", folder.path(), "--strict", "--format", "json");
    assert_eq!(ran.code, 1, "{}", ran.out);
    let document = parse(&ran.out);
    assert_eq!(document["skipped"].as_array().unwrap().len(), 0);
    let findings = &document["totals"]["findings"];
    for code in ["CM0001", "CM0002", "CM0003"] {
        assert_eq!(findings[code], 1, "{code}: {findings}");
    }
}

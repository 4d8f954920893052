//! No output lets anybody in who could not read its sources, and a repair in place keeps the ACL
//! and the extended attributes.

use std::fs::Permissions;
use std::os::unix::fs::{DirBuilderExt, chown};

use super::*;
use tracemend_tests::sweep::is_left_to_the_gate;

/// The permissions of a path.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Runs the program with a umask that forbids nothing, so that only the sources decide.
fn run_open(folder: &Path, args: &[&str]) -> Ran {
    let program = env!("CARGO_BIN_EXE_tracemend-under-test");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "umask 000; exec \"$0\" \"$@\"", program]).args(args).current_dir(folder);
    let output = shell.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = u8::try_from(output.status.code().unwrap()).unwrap();
    Ran { code, out: text(output.stdout), err: text(output.stderr) }
}

/// A folder that everybody may enter, with recordings of these modes.
fn readable(files: &[(&str, Vec<u8>, u32)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    set_mode(folder.path(), 0o755);
    for (name, bytes, mode) in files {
        let path = folder.path().join(name);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o755).create(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        set_mode(&path, *mode);
    }
    folder
}

/// Each command with an output about `x`, and the names of what it writes.
const WRITERS: [(&[&str], &[&str]); 19] = [
    (&["dump", "x", "-o", "out"], &["out"]),
    (&["dump", "x", "--format", "jsonl", "-o", "out"], &["out"]),
    (&["map", "x", "-o", "out"], &["out"]),
    (&["map", "x", "--format", "html", "-o", "out"], &["out"]),
    (&["audit", "x", "--show", "-o", "out"], &["out"]),
    (&["audit", "x", "--format", "html=page", "--format", "json=doc"], &["page", "doc"]),
    (&["check", "x", "-o", "out"], &["out"]),
    (&["check", "x", "--format", "html=page", "--format", "json=doc"], &["page", "doc"]),
    (&["check", "x", "--format", "sarif=s", "--format", "junit=j"], &["s", "j"]),
    (&["check", "x", "--baseline", "base", "--write-baseline"], &["base"]),
    (&["check", "x", "--format", "gitlab=out"], &["out"]),
    (&["repair", "x", "--plan", "plan", "--dry-run"], &["plan"]),
    (&["repair", "x"], &["x.mended"]),
    (&["repair", "x", "-o", "out", "--plan", "plan"], &["out", "plan"]),
    (&["repair", "x", "--out-dir", "dir"], &["dir/x"]),
    (&["redact", "sound", "-o", "out"], &["out"]),
    (&["redact", "sound", "--out-dir", "dir"], &["dir/sound"]),
    (&["cut", "sound", "--range", "..", "-o", "out"], &["out"]),
    (&["merge", "report", "--format", "json", "-o", "out"], &["out"]),
];

#[test]
fn every_output_has_the_mode_of_its_source() {
    if is_left_to_the_gate("every output has the mode of its source") {
        return;
    }
    for source in [0o600, 0o640, 0o644, 0o604] {
        for (args, outputs) in WRITERS {
            let folder = readable(&[("x", truncated(), source), ("sound", sound(), source)]);
            let at = |name: &str| folder.path().join(name);
            fs::write(at("report"), run!("check", at("x"), "--format", "json").out).unwrap();
            set_mode(&at("report"), source);
            let ran = run_open(folder.path(), args);
            assert!(matches!(ran.code, 0 | 1 | 3), "{args:?}: {}", ran.err);
            for output in outputs {
                assert_eq!(mode(&at(output)), source, "{args:?}: {output} of {source:o}");
            }
        }
    }
}

#[test]
fn a_plan_that_undoes_a_redaction_is_for_its_owner() {
    let folder = readable(&[("x", sound(), 0o666)]);
    let ran = run_open(folder.path(), &["redact", "x", "-o", "out", "--undo-plan", "undo"]);
    assert!(ran.code < 2, "{}", ran.err);
    assert_eq!(mode(&folder.path().join("undo")), 0o600);
    let apply = ["apply", "undo", "out", "-o", "back", "--reverse"];
    assert_eq!(run_open(folder.path(), &apply).code, 0);
    assert_eq!(mode(&folder.path().join("back")), 0o600, "the plan holds the private bytes");
}

#[test]
fn the_umask_restricts_an_output_further() {
    let folder = readable(&[("x", truncated(), 0o664)]);
    let program = env!("CARGO_BIN_EXE_tracemend-under-test");
    for args in ["dump x -o out", "repair x -o repaired --plan plan", "repair x --out-dir dir"] {
        let line = format!("umask 027; {program} {args}");
        let ran = Command::new("/bin/sh").args(["-c", &line]).current_dir(folder.path()).output();
        assert!(matches!(ran.unwrap().status.code(), Some(0 | 1 | 3)), "{args}");
    }
    for (output, expected) in
        [("out", 0o640), ("repaired", 0o640), ("plan", 0o640), ("dir", 0o750), ("dir/x", 0o640)]
    {
        assert_eq!(mode(&folder.path().join(output)), expected, "{output}");
    }
}

#[test]
fn a_report_about_several_recordings_is_for_those_who_can_read_all() {
    let folder = readable(&[
        ("in/a", sound(), 0o644),
        ("in/b", truncated(), 0o640),
        ("in/notes", b"no recording".to_vec(), 0o600),
        ("one.json", Vec::new(), 0o600),
    ]);
    let at = |name: &str| folder.path().join(name);
    let ran = run_open(folder.path(), &["check", "in", "--format", "json=out"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(mode(&at("out")), 0o640);
    set_mode(&at("in/a"), 0o604);
    assert_eq!(run_open(folder.path(), &["check", "in", "-o", "out"]).code, 1);
    assert_eq!(mode(&at("out")), 0o600);
}

#[test]
fn folders_of_outputs_have_the_modes_of_those_of_the_sources() {
    let folder = readable(&[("in/deep/x", truncated(), 0o644), ("in/y", sound(), 0o640)]);
    let at = |name: &str| folder.path().join(name);
    for (outer, inner) in [(0o700, 0o755), (0o755, 0o700), (0o750, 0o711)] {
        set_mode(&at("in"), outer);
        set_mode(&at("in/deep"), inner);
        for (command, out) in [("repair", "repaired"), ("redact", "redacted")] {
            let _absent = fs::remove_dir_all(at(out));
            run_open(folder.path(), &[command, "in", "--out-dir", out]);
            assert_eq!(mode(&at(out)), outer, "{command}");
            if command == "repair" {
                assert_eq!(mode(&at("repaired/deep")), inner);
                let expected = if outer == 0o700 { 0o600 } else { 0o640 };
                assert_eq!(mode(&at("repaired/y")), expected);
            }
        }
    }
    // Who could not enter the folder of the source cannot read a report outside of it.
    set_mode(&at("in"), 0o700);
    set_mode(&at("in/deep"), 0o755);
    for (output, expected) in [("out", 0o600), ("in/out", 0o644), ("in/deep/out", 0o644)] {
        assert_eq!(run_open(folder.path(), &["check", "in/deep/x", "-o", output]).code, 1);
        assert_eq!(mode(&at(output)), expected, "{output}");
    }
    // A directory recording and the folders in it.
    let trace = at("trace");
    fs::create_dir(&trace).unwrap();
    for (name, bytes) in perf::directory() {
        fs::write(trace.join(name), bytes).unwrap();
        set_mode(&trace.join(name), 0o640);
    }
    fs::create_dir(trace.join("kcore_dir")).unwrap();
    fs::write(trace.join("kcore_dir/modules"), b"m").unwrap();
    set_mode(&trace.join("kcore_dir/modules"), 0o600);
    set_mode(&trace.join("kcore_dir"), 0o700);
    set_mode(&trace, 0o710);
    assert_eq!(run_open(folder.path(), &["repair", "trace", "-o", "copy"]).code, 0);
    for (name, expected) in
        [("", 0o710), ("data", 0o640), ("kcore_dir", 0o700), ("kcore_dir/modules", 0o600)]
    {
        assert_eq!(mode(&at("copy").join(name)), expected, "{name}");
    }
}

#[test]
fn the_group_of_an_output_is_that_of_the_source_or_has_no_rights() {
    let folder = readable(&[("x", truncated(), 0o640)]);
    let path = folder.path().join("x");
    if chown(&path, None, Some(4_242)).is_err() {
        // Only root can give a file to a group of which it is not a member.
        return;
    }
    for (args, outputs) in WRITERS.iter().filter(|(args, _)| args.contains(&"x")) {
        let before = names(folder.path());
        let ran = run_open(folder.path(), args);
        assert!(matches!(ran.code, 0 | 1 | 3), "{args:?}: {}", ran.err);
        for output in *outputs {
            let found = fs::metadata(folder.path().join(output)).unwrap();
            assert_eq!((found.gid(), found.mode() & 0o777), (4_242, 0o640), "{args:?}: {output}");
        }
        for new in names(folder.path()).iter().filter(|name| !before.contains(name)) {
            let new = folder.path().join(new);
            if new.is_dir() { fs::remove_dir_all(new) } else { fs::remove_file(new) }.unwrap();
        }
    }
}

/// An ACL as the kernel stores it: the owner reads and writes, user 4343 has nothing, the group
/// and the mask can read, others as well.
fn acl() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] = [
        (0x01, 6, u32::MAX),
        (0x02, 0, 4_343),
        (0x04, 4, u32::MAX),
        (0x10, 4, u32::MAX),
        (0x20, 4, u32::MAX),
    ];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(rights.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

const ACL: &str = "system.posix_acl_access";

fn set_attribute(path: &Path, name: &str, value: &[u8]) -> bool {
    rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty()).is_ok()
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 4_096];
    let len = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
    value.truncate(len);
    Some(value)
}

#[test]
fn in_place_the_acl_and_the_attributes_stay() {
    for options in [&["--no-backup"][..], &[]] {
        let folder = readable(&[("x", truncated(), 0o644)]);
        let path = folder.path().join("x");
        if !set_attribute(&path, ACL, &acl()) {
            return tracemend_tests::notice::skip("ACLs", "the file system has none");
        }
        let attributes = [("user.origin", &b"build 7"[..]), ("user.empty", b""), (ACL, &acl())];
        for (name, value) in attributes {
            assert!(set_attribute(&path, name, value), "{name}");
        }
        let is_privileged = set_attribute(&path, "trusted.kept", b"yes");
        let args = [&["repair", "x", "--in-place"][..], options].concat();
        let ran = run_open(folder.path(), &args);
        assert_eq!((ran.code, ran.err.as_str()), (3, ""), "{}", ran.out);
        for (name, value) in attributes {
            assert_eq!(attribute(&path, name).as_deref(), Some(value), "{name}");
        }
        let trusted = attribute(&path, "trusted.kept");
        assert_eq!(trusted.is_some(), is_privileged);
        assert_eq!(mode(&path), 0o644);
    }
}

#[test]
fn an_output_of_a_source_with_an_acl_is_for_its_owner() {
    for (args, outputs) in WRITERS.iter().filter(|(args, _)| args.contains(&"x")) {
        let folder = readable(&[("x", truncated(), 0o644)]);
        if !set_attribute(&folder.path().join("x"), ACL, &acl()) {
            return tracemend_tests::notice::skip("ACLs", "the file system has none");
        }
        let ran = run_open(folder.path(), args);
        assert!(matches!(ran.code, 0 | 1 | 3), "{args:?}: {}", ran.err);
        for output in *outputs {
            let output = folder.path().join(output);
            assert_eq!((mode(&output), attribute(&output, ACL)), (0o600, None), "{args:?}");
        }
    }
}

#[test]
fn the_acl_for_new_files_of_a_folder_lets_nobody_into_an_output() {
    for (args, outputs) in WRITERS.iter().filter(|(args, _)| args.contains(&"x")) {
        let folder = readable(&[("x", truncated(), 0o640)]);
        let mut open = acl();
        // User 4343 can read and write.
        open[14] = 6;
        open[30] = 6;
        if !set_attribute(folder.path(), "system.posix_acl_default", &open) {
            return tracemend_tests::notice::skip("ACLs", "the file system has none");
        }
        let ran = run_open(folder.path(), args);
        assert!(matches!(ran.code, 0 | 1 | 3), "{args:?}: {}", ran.err);
        for output in *outputs {
            let output = folder.path().join(output);
            assert_eq!((mode(&output), attribute(&output, ACL)), (0o640, None), "{args:?}");
        }
        let ran = run_open(folder.path(), &["repair", "x", "--in-place"]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert_eq!(attribute(&folder.path().join("x"), ACL), None);
    }
}

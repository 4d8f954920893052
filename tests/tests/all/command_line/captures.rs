//! Captures of the program for the documentation: `docs/captures/*.txt` are the outputs of today.
//!
//! `docs/captures.sh` writes them anew.

use super::*;

/// Files that a capture starts from: the name, the recording in the corpus, and bytes to overwrite.
type Start = (&'static str, &'static str, &'static [(usize, &'static [u8])]);

/// One capture: its file, the columns and the commands.
struct Capture {
    name: &'static str,
    columns: &'static str,
    is_plain: bool,
    start: &'static [Start],
    commands: &'static [&'static str],
}

/// Sixteen bytes of damage.
const DAMAGE: &[u8] = &[0xee; 16];

const CAPTURES: &[Capture] = &[
    Capture {
        name: "perf",
        columns: "100",
        is_plain: false,
        start: &[("night.data", "perf/crashed/diskfull.data", &[])],
        commands: &[
            "check night.data",
            "repair night.data -o repaired.data",
            "check repaired.data",
        ],
    },
    Capture {
        name: "apitrace",
        columns: "100",
        is_plain: false,
        start: &[("app.trace", "apitrace/clean/glxdemo.trace", &[(0x235e, &[0x89])])],
        commands: &["check app.trace", "repair app.trace -o repaired.trace"],
    },
    Capture {
        name: "ovni",
        columns: "100",
        is_plain: false,
        start: &[("killed", "ovni/crashed/killed", &[])],
        commands: &["check killed", "repair killed -o repaired"],
    },
    Capture {
        name: "qemu",
        columns: "100",
        is_plain: false,
        start: &[("boot.log", "qemu/clean/guestoff_7.2.log", &[(0x4c66, DAMAGE)])],
        commands: &[
            "check boot.log",
            "repair boot.log -o repaired.log",
            "dump repaired.log --range 1000..1008",
            "diff boot.log repaired.log",
        ],
    },
    Capture {
        name: "revent",
        columns: "100",
        is_plain: false,
        start: &[("pad.run.revent", "revent/crashed/v3_enter.revent", &[])],
        commands: &["check pad.run.revent", "repair pad.run.revent -o repaired.run.revent"],
    },
    Capture {
        name: "plain-80-columns",
        columns: "80",
        is_plain: true,
        start: &[("night.data", "perf/crashed/diskfull.data", &[])],
        commands: &["check night.data", "repair night.data --dry-run --safety exact"],
    },
    Capture {
        name: "explain",
        columns: "100",
        is_plain: false,
        start: &[],
        commands: &["explain PD0004", "explain QR1001"],
    },
    Capture {
        name: "folder",
        columns: "100",
        is_plain: false,
        start: &[
            ("traces/boot.log", "qemu/crashed/cut_11.1.log", &[]),
            ("traces/night.data", "perf/crashed/diskfull.data", &[]),
            ("traces/notes.txt", "README.md", &[]),
        ],
        commands: &["check traces"],
    },
];

/// Sound recordings in the capture of a folder.
const COPIES: u32 = 197;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn copy(from: &Path, to: &Path, damage: &[(usize, &[u8])]) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    if from.is_dir() {
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()), &[]);
        }
        return;
    }
    let mut bytes = fs::read(from).unwrap();
    for (at, new) in damage {
        bytes[*at..at + new.len()].copy_from_slice(new);
    }
    fs::write(to, bytes).unwrap();
}

/// The commands of a capture with what they print.
fn record(capture: &Capture) -> String {
    let folder = TempDir::new().unwrap();
    for (name, recording, damage) in capture.start {
        copy(&repository().join("corpus").join(recording), &folder.path().join(name), damage);
    }
    if capture.name == "folder" {
        let sound = repository().join("corpus/perf/clean/plain.data");
        for number in 0..COPIES {
            copy(&sound, &folder.path().join(format!("traces/run-{number:03}.data")), &[]);
        }
        symlink("run-000.data", folder.path().join("traces/latest.data")).unwrap();
    }
    let mut text = String::new();
    for command in capture.commands {
        let mut program = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
        let locale = if capture.is_plain { "C" } else { "C.UTF-8" };
        let program = program.env_clear().env("LC_ALL", locale).env("COLUMNS", capture.columns);
        let ran = program.args(command.split(' ')).current_dir(folder.path()).output().unwrap();
        text += &format!("$ tracemend {command}\n");
        text += &String::from_utf8(ran.stdout).unwrap();
        text += &String::from_utf8(ran.stderr).unwrap();
        text += &format!("[exit {}]\n", ran.status.code().unwrap());
    }
    text
}

#[test]
fn captures_are_current() {
    let folder = repository().join("docs/captures");
    let mut stale = Vec::new();
    for capture in CAPTURES {
        let path = folder.join(format!("{}.txt", capture.name));
        let text = record(capture);
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &text).unwrap();
        }
        if fs::read_to_string(&path).unwrap_or_default() != text {
            stale.push(capture.name);
        }
    }
    assert!(stale.is_empty(), "`docs/captures.sh` writes these captures anew: {stale:?}");
    let mut expected: Vec<String> =
        CAPTURES.iter().map(|one| format!("{}.txt", one.name)).collect();
    // The test of the action writes it.
    expected.push("action.txt".to_string());
    let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(names(&folder), expected, "files of no capture");
}

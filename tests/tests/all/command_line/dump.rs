//! `dump`, upgrades and choices.

use super::*;

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
    for (option, value, count) in [
        ("--range", "3..5", 2),
        ("--range", "..", 8),
        ("--time", "2671.02..", 3),
        ("--time", "..2671.02", 5),
    ] {
        let ran = run!("dump", path, option, value);
        assert_eq!((ran.code, ran.out.lines().count()), (0, count), "{option} {value}");
    }
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
fn lines_of_json_have_the_place_and_the_fields_of_each_event() {
    let bytes = tapped();
    let folder = folder(&[("a.run.revent", &bytes)]);
    let path = folder.path().join("a.run.revent");
    let ran = run!("dump", path, "--format", "jsonl", "--device", "0x1");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 8);
    let mut end = None;
    for line in &lines {
        let [start, length] = ["offset", "length"].map(|name| line[name].as_u64().unwrap());
        assert!(end.is_none_or(|end| end == start), "{line}");
        end = Some(start + length);
        let value = bytes[(start + length - 4) as usize..][..4].try_into().unwrap();
        assert_eq!(line["value"], i32::from_le_bytes(value), "{line}");
        assert_eq!(
            (&line["kind"], &line["device_name"]),
            (&"event".into(), &"/dev/input/event1".into())
        );
    }
    assert_eq!(lines[3]["code_name"], "BTN_TOUCH");
    let ran = run!("dump", path, "--format", "jsonl", "--device", "0");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
}

#[test]
fn a_dump_refuses_options_that_do_not_apply() {
    let log = qemu::long(qemu::ids::of("5.2"), 9);
    let folder = folder(&[("a.revent", &tapped()), ("log", &log.bytes), ("perf.data", &sound())]);
    for (name, args, said) in [
        ("log", ["--device", "1"], "--device 1 does not apply to qemu recordings"),
        ("perf.data", ["--device", "1"], "it is an option of revent"),
        ("a.revent", ["--device", "one"], "expected a number"),
        ("a.revent", ["--strategy", "close"], "unexpected argument"),
        ("a.revent", ["--style=evemu", "--format=jsonl"], "--style does not apply"),
    ] {
        let ran = run!("dump", folder.path().join(name), args[0], args[1]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_dump_of_a_damaged_recording_gives_what_can_be_read_and_says_so() {
    let bytes = tapped();
    let truncated = &bytes[..bytes.len() - 1];
    let folder =
        folder(&[("a.revent", truncated), ("b.revent", &bytes[..16]), ("c", b"no recording")]);
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
        (["--style", "xml"], "getevent, getevent-raw, revent, info, evemu, libinput"),
        (["--device", "2"], "device 2 does not exist"),
    ] {
        let ran = run!("dump", path, args[0], args[1]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    let (perf, out) = (folder.path().join("perf.data"), folder.path().join("out"));
    let ran = run!("dump", perf, "--style", "xml", "-o", out);
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
        ("b", "revent"),
        ("b", "libinput"),
    ] {
        let device = if name == "a" { "1" } else { "0" };
        let path = folder.path().join(name);
        let json = run!("dump", path, "--format", "jsonl", "--device", device);
        assert!(json.out.chars().all(|c| c == '\n' || is_safe(c)), "{:?}", json.out);
        assert!(json.out.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
        let ran = run!("dump", path, "--style", style, "--device", device);
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
    assert!(ran.out.contains("convert 30 events to version 3"), "{}", ran.out);
    assert!(fs::read(folder.path().join("new")).unwrap().starts_with(b"REVENT\x03\0"));
}

#[test]
fn a_recorder_that_was_killed_at_once_left_nothing_and_the_repair_says_so() {
    let folder = folder(&[("a.run.revent", &tapped()[..16])]);
    let ran = run!("repair", folder.path().join("a.run.revent"));
    assert_eq!(ran.code, 4);
    assert!(ran.out.contains("nothing was written"), "{}", ran.out);
    assert!(ran.out.contains("no device and no event"), "{}", ran.out);
}

#[test]
fn a_log_of_several_releases_needs_one_to_be_named() {
    let log = qemu::long(qemu::ids::of("5.2"), 500);
    let log = log.killed(log.bytes.len() - 3);
    let folder = folder(&[("log", &log)]);
    let (path, out) = (folder.path().join("log"), folder.path().join("out"));
    let ran = run!("repair", path, "-o", out);
    assert_eq!(ran.code, 4, "{}", ran.out);
    assert!(ran.out.contains("fits QEMU 5.0 to 7.0"), "{}", ran.out);
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
        assert!(ran.err.contains("expected a release from 2.5 to 11.1"), "{}", ran.err);
    }
}

//! Recordings that are compared with the device of a replay.

use std::ffi::OsString;
use std::fs;

use tracemend::kit::source::Source;
use tracemend::{FileSet, Options, Report};
use tracemend_cli::{Look, Streams};
use tracemend_tests::forge::revent::{Layout, play, session};
use tracemend_tests::specimens::revent::{device_list, v3};

fn check(bytes: &[u8], list: &[u8]) -> Report {
    let files = FileSet::single("Nexus10.run.revent", bytes).with_donor(Some(Source::new(list)));
    let mut options = Options::default();
    options.choices.set("target", "devices.txt").unwrap();
    tracemend::check(&files, &options)
}

fn message_of(report: &Report, code: &str) -> Option<String> {
    let found = report.findings().iter().find(|finding| finding.rule.code == code);
    found.map(|finding| finding.message.clone())
}

#[test]
fn events_that_the_target_lacks_are_named() {
    let bytes = v3().build().bytes;
    let sound = device_list("/dev/input/event1", "0035");
    assert!(!check(&bytes, &sound).has_errors());
    // Without the axis ABS_MT_POSITION_X, or the device.
    let lacking = check(&bytes, &device_list("/dev/input/event1", "0000"));
    let message = message_of(&lacking, "RV4003").unwrap();
    assert!(message.contains("does not have EV_ABS ABS_MT_POSITION_X: 1 event"), "{message}");
    let elsewhere = check(&bytes, &device_list("/dev/input/event3", "0035"));
    let message = message_of(&elsewhere, "RV4002").unwrap();
    assert!(message.contains("no device `/dev/input/event1`, which has 8 events"), "{message}");
    // A smaller screen.
    let text = String::from_utf8(sound).unwrap().replace("max 719", "max 150");
    let small = check(&bytes, text.as_bytes());
    let message = message_of(&small, "RV4003").unwrap();
    assert!(message.contains("has other limits for EV_ABS ABS_MT_POSITION_Y"), "{message}");
    let empty = check(&bytes, b"");
    assert!(message_of(&empty, "RV4002").unwrap().contains("the list of devices is empty"));
}

#[test]
fn a_device_without_events_and_a_gamepad_need_nothing_of_the_target() {
    // The keyboard, event0, has no event.
    let bytes = v3().build().bytes;
    assert!(!check(&bytes, &device_list("/dev/input/event1", "0035")).has_errors());
    // A gamepad is created as the recording describes it.
    let pad = play(Layout::V3).build().bytes;
    assert!(!check(&pad, &device_list("/dev/input/event1", "0035")).has_errors());
    let both = session(Layout::V3).build().bytes;
    let report = check(&both, &device_list("/dev/input/event1", "0035"));
    assert!(message_of(&report, "RV4002").unwrap().contains("/dev/input/event0"));
}

#[test]
fn the_command_line_takes_a_model_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).into_os_string();
    for name in ["Nexus10.run.revent", "run.revent"] {
        fs::write(path(name), v3().build().bytes).unwrap();
    }
    fs::write(path("devices.txt"), device_list("/dev/input/event1", "0000")).unwrap();
    let run = |name: &str, target: OsString| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let args = ["tracemend".into(), "check".into(), path(name), "--target".into(), target];
        let mut input = std::io::empty();
        let streams = Streams::new(&mut input, &mut out, &mut err, Look::PLAIN);
        let code = tracemend_cli::run(args, streams);
        (code, String::from_utf8([out, err].concat()).unwrap())
    };
    assert_eq!(run("Nexus10.run.revent", "Nexus10".into()).0, 0);
    let (code, text) = run("Nexus10.run.revent", "nexus10".into());
    assert!(code == 1 && text.contains("RV4001"), "{text}");
    // A file without a model is for all.
    assert_eq!(run("run.revent", "nexus10".into()).0, 0);
    let (code, text) = run("Nexus10.run.revent", path("devices.txt"));
    assert!(code == 1 && text.contains("RV4003") && !text.contains("RV4001"), "{text}");
}

#[test]
fn a_list_that_is_too_long_is_not_read() {
    let bytes = v3().build().bytes;
    let list = vec![b' '; (1 << 20) + 1];
    let report = check(&bytes, &list);
    assert!(message_of(&report, "CM9001").unwrap().contains("the list of devices has 1048577"));
}

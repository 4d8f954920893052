//! The tools that dumps imitate read them, or print the same.

use std::path::Path;

use tracemend::{Dump, FileSet, FormatId, Options};
use tracemend_tests::forge::revent::{Layout, Recording, SOUTH, clean};
use tracemend_tests::judge::input::{Device, Revent, read_by_evemu, read_by_libinput};

fn dump(bytes: &[u8], style: &str) -> String {
    let mut text = String::new();
    let request = Dump::Text { style: Some(style.to_string()) };
    let options = Options::default().with_format(FormatId::REVENT);
    let files = FileSet::single("a.run.revent", bytes);
    let dumped = tracemend::dump(&files, &options, &request, &mut |piece| {
        text.push_str(piece);
        true
    });
    assert_eq!(dumped.map(|dumped| dumped.left_out), Ok(0));
    text
}

/// The lines without those that the tool gets wrong: times that only version 3 has, and the number
/// of bits of a bitmap whose bytes it takes for signed.
fn comparable(text: &str, has_times: bool) -> Vec<&str> {
    let is_right = |line: &&str| {
        let is_time = line.starts_with("start time: ") || line.starts_with("end time: ");
        !(is_time && !has_times || line.contains("_bits: "))
    };
    text.lines().filter(is_right).collect()
}

#[test]
fn a_dump_equals_that_of_revent() {
    let Some(tool) = Revent::find_or_skip() else { return };
    let forged = clean().into_iter().map(|(name, built)| (name, built.layout, built.bytes));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/revent/clean");
    let recorded = [("v1_timeout", Layout::V1), ("v2_timeout", Layout::V2)];
    let recorded = recorded.map(|(name, layout)| {
        let bytes = std::fs::read(folder.join(format!("{name}.revent"))).unwrap();
        (name.to_string(), layout, bytes)
    });
    let mut compared = 0;
    for (name, layout, bytes) in forged.chain(recorded) {
        if layout < Layout::V1 {
            continue;
        }
        let expected = tool.dump(&bytes).unwrap_or_else(|| panic!("{name} is refused"));
        let has_times = layout == Layout::V3;
        let text = dump(&bytes, "revent");
        assert_eq!(comparable(&text, has_times), comparable(&expected, has_times), "{name}");
        compared += 1;
    }
    assert!(compared >= 6, "only {compared} were compared");
}

/// A gamepad, and its events as a tool has to read them: times since the first one, plus `shift`.
fn pad(shift: i64) -> (Vec<u8>, Device) {
    let mut recording = Recording::gamepad(Layout::V3);
    for press in [1, 0, 1, 0] {
        recording.frame(0, &[(SOUTH, press)]);
    }
    let pad = recording.gamepad.clone().unwrap();
    let first = recording.events[0].time;
    let events = recording.events.iter().map(|event| {
        let time = event.time - first + shift;
        let (sec, usec) = (time / 1_000_000, time % 1_000_000);
        vec![sec, usec, event.kind.into(), event.code.into(), event.value.into()]
    });
    let axis = |axis: &[i32; 7]| {
        let [code, _, min, max, fuzz, flat, resolution] = axis.map(i64::from);
        vec![code, min, max, fuzz, flat, resolution]
    };
    let device = Device {
        id: pad.id.map(i64::from).to_vec(),
        name: String::from_utf8(pad.name).unwrap(),
        keys: vec![SOUTH.1.into()],
        axes: pad.axes.iter().map(axis).collect(),
        events: events.collect(),
    };
    (recording.build().bytes, device)
}

#[test]
fn libevemu_reads_a_gamepad_and_its_events() {
    let (bytes, device) = pad(1);
    if let Some(read) = read_by_evemu(&dump(&bytes, "evemu")) {
        assert_eq!(read, Ok(device));
    }
}

#[test]
fn libinput_replay_reads_a_gamepad_and_its_events() {
    let (bytes, device) = pad(0);
    if let Some(read) = read_by_libinput(&dump(&bytes, "libinput")) {
        assert_eq!(read, Ok(device));
    }
}

#[test]
fn libinput_replay_reads_a_name_with_quotes() {
    let mut recording = Recording::gamepad(Layout::V3);
    recording.gamepad.as_mut().unwrap().name = br#"a "pad": {\x41, #1}"#.to_vec();
    let bytes = recording.frame(0, &[(SOUTH, 1)]).build().bytes;
    if let Some(read) = read_by_libinput(&dump(&bytes, "libinput")) {
        let name = read.unwrap().name;
        assert!(name.contains(r#""pad": {"#) && name.contains("x41, #1}"), "{name}");
    }
}

#[test]
fn a_recording_without_a_description_has_no_dump_for_libinput() {
    let bytes = Recording::new(Layout::V3).tap(7).build().bytes;
    let files = FileSet::single("a.run.revent", &bytes);
    let options = Options::default().with_format(FormatId::REVENT);
    let request = Dump::Text { style: Some("libinput".to_string()) };
    let refused = tracemend::dump(&files, &options, &request, &mut |_| true);
    let error = format!("{:?}", refused.expect_err("a device without a description"));
    assert!(error.contains("libinput-replay"), "{error}");
}

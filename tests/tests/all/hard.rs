//! Recordings on which an earlier version fell short, each with the result that it must give.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;
use tracemend::{Dump, FileSet, FormatId, Options, Outcome};
use tracemend_cli::{Look, Streams};
use tracemend_tests::forge::ovni::Trace;
use tracemend_tests::judge::ovni::Ovniemu;
use tracemend_tests::judge::revent::Wlauto;
use tracemend_tests::mended::mended_as;

/// A recording, options of its repair, the exit of a check, a finding that the check reports, and
/// the exit of the repair.
type Row = (&'static str, &'static [&'static str], u8, &'static str, u8);

const ROWS: [Row; 17] = [
    ("ovni/hard/bitflip-model-char", &[], 1, "OV2003", 3),
    ("ovni/hard/clock-step-back", &[], 1, "OV1003", 3),
    ("ovni/hard/identical-stream-copy", &[], 1, "OV4004", 0),
    ("ovni/hard/nosv-create-type-0", &[], 1, "OV2008", 3),
    ("ovni/hard/symlinked-stream-obs", &[], 0, "", 0),
    ("ovni/hard/tie-cpu-handover", &[], 1, "OV4017", 3),
    ("qemu/hard/bh_id_wild_72.log", &[], 1, "QR3010", 3),
    ("qemu/hard/cp_init_middle_72.log", &[], 1, "QR3009", 3),
    ("qemu/hard/ipxe_kill_111.log", &[], 1, "QR0002", 3),
    ("qemu/hard/net_filter3_72.log", &[], 0, "QR3012", 0),
    ("qemu/hard/nothing_ran_72.log", &[], 0, "QR3014", 0),
    ("qemu/hard/prefix_late_cut_875_72.log", &[], 1, "QR3006", 3),
    ("revent/hard/gp_doc.run.revent", &[], 1, "RV0015", 0),
    ("revent/hard/mt_slot_99.run.revent", &[], 0, "RV2010", 0),
    ("revent/hard/path_esc.run.revent", &[], 0, "RV0010", 0),
    ("revent/hard/v2a_x32_enter.run.revent", &[], 1, "RV2003", 0),
    ("revent/hard/ver0.run.revent", &[], 0, "RV0021", 0),
];

fn corpus(name: &str) -> String {
    format!("{}/../corpus/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn run(args: &[&str]) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["tracemend"].iter().chain(args).map(OsString::from);
    let mut input = std::io::empty();
    let code = tracemend_cli::run(args, Streams::new(&mut input, &mut out, &mut err, Look::PLAIN));
    (code, String::from_utf8([out, err].concat()).unwrap())
}

#[test]
fn hard_recordings_give_the_expected_results() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (name, options, checked, code, repaired)) in ROWS.into_iter().enumerate() {
        let path = corpus(name);
        let (exit, text) = run(&["check", &path, "--format", "json"]);
        assert_eq!(exit, checked, "{name}: {text}");
        let report: Value = serde_json::from_str(&text).unwrap();
        let findings = report["recordings"][0]["findings"].as_array().unwrap();
        let codes: Vec<&str> =
            findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect();
        assert!(code.is_empty() == codes.is_empty(), "{name}: {codes:?}");
        assert!(code.is_empty() || codes.contains(&code), "{name}: {codes:?}");
        let out = folder.path().join(number.to_string());
        let out = out.to_str().unwrap();
        let (exit, text) = run(&[&["repair", &path, "-o", out], options].concat());
        assert_eq!(exit, repaired, "{name}: {text}");
        let (exit, text) = run(&["check", out]);
        assert_eq!(exit, 0, "{name} after its repair: {text}");
    }
}

#[test]
fn the_emulator_accepts_hard_traces_after_their_repair() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    for (name, ..) in ROWS.into_iter().filter(|(name, ..)| name.starts_with("ovni")) {
        let trace = Trace::below(Path::new(&corpus(name)));
        let (_, target) = trace.mended(&Options::default());
        let verdict = emulator.lint(&target);
        assert!(verdict.accepted, "{name}: {}", verdict.first_error);
    }
}

#[test]
fn a_step_back_keeps_the_intervals_after_it() {
    let trace = Trace::below(Path::new(&corpus("ovni/hard/clock-step-back")));
    let (_, target) = trace.mended(&Options::default());
    let intervals = |trace: &Trace| {
        let clocks: Vec<u64> = events(&trace.files[1].1.clone().unwrap());
        clocks.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect::<Vec<_>>()
    };
    let (before, after) = (intervals(&trace), intervals(&target));
    let differing = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    assert_eq!((before.len(), differing), (after.len(), 1));
}

/// The clocks of a stream without jumbo events.
fn events(stream: &[u8]) -> Vec<u64> {
    let (mut at, mut clocks) = (8, Vec::new());
    while at < stream.len() {
        clocks.push(u64::from_le_bytes(stream[at + 4..at + 12].try_into().unwrap()));
        at += match stream[at] & 0xf {
            0 => 12,
            payload => 13 + usize::from(payload),
        };
    }
    clocks
}

#[test]
fn widened_times_and_their_enter_pair_are_narrowed_exactly() {
    let bytes = std::fs::read(corpus("revent/hard/v2a_x32_enter.run.revent")).unwrap();
    let (repair, target) = mended_as("a.run.revent", &bytes, &Options::default());
    assert_eq!((repair.outcome, target.len()), (Outcome::Repaired, bytes.len()));
    let Some(judge) = Wlauto::find_or_skip() else { return };
    let read = judge.read(&[target]).remove(0).unwrap();
    assert_eq!(u64::try_from(read.events.len()).ok(), read.num_events);
    assert!(read.events.iter().all(|event| event[1] < 1 << 33 && event[2] < 1_000_000));
}

#[test]
fn a_dump_of_a_gamepad_uses_the_order_of_its_bitmaps() {
    let bytes = std::fs::read(corpus("revent/hard/gp_doc.run.revent")).unwrap();
    let files = FileSet::single("a.run.revent", &bytes);
    let options = Options::default().with_format(FormatId::REVENT);
    let request = Dump::Text { style: Some("libinput".to_string()) };
    let mut text = String::new();
    let dumped = tracemend::dump(&files, &options, &request, &mut |piece| {
        text.push_str(piece);
        true
    });
    assert!(dumped.is_ok());
    // BTN_SOUTH is a key, ABS_X an axis.
    let codes = |kind: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(kind)).unwrap();
        line.trim_matches(['[', ']', ' ']).split(", ").map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(codes("1:").contains(&"304".to_string()), "{text}");
    assert!(codes("3:").contains(&"0".to_string()), "{text}");
}

//! The scorer of Broken Recordings: tools whose result is known get the score that they deserve.

use std::path::Path;
use tracemend_tests::sweep::is_left_to_the_gate;

use serde_json::json;
use tempfile::TempDir;
use tracemend::FormatId;
use tracemend_tests::broken::damage::{Broken, Kind};
use tracemend_tests::broken::names::{Named, is_name};
use tracemend_tests::broken::readers::{Reader, qemu};
use tracemend_tests::broken::table::Table;
use tracemend_tests::broken::tool::{End, Tool, write_files};
use tracemend_tests::broken::{Case, Number, Series};
use tracemend_tests::forge::qemu as forge;
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::known_originals::{Dice, Files, Original};

const SEED: u64 = 5;

/// Returns the series of one log of QEMU, whose reader is always there.
fn log() -> Series {
    let bytes = forge::long(forge::ids::of("7.2"), 300).bytes;
    series(FormatId::QEMU, Reader::Qemu, Original::single("log", bytes))
}

/// Returns the series of one recording of perf, if perf is there.
fn samples() -> Option<Series> {
    let reader = Perf::find_or_skip().map(Reader::Perf)?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean/plain.data");
    let bytes = std::fs::read(path).unwrap();
    Some(series(FormatId::PERF, reader, Original::single("plain.data", bytes)))
}

fn series(format: FormatId, reader: Reader, original: Original) -> Series {
    let sound = vec![reader.sound(&original).unwrap()];
    Series { format, reader, sound, unused: std::collections::BTreeMap::new() }
}

/// Returns a tool that writes a recording, whatever it is given.
fn writing(files: &Files) -> (Tool, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (script, result) = (folder.path().join("tool"), folder.path().join("result"));
    write_files(&result, files);
    std::fs::write(&script, format!("cp -r '{}' \"$2\"\n", result.display())).unwrap();
    (Tool::new(&format!("sh {} {{in}} {{out}}", script.display())).unwrap(), folder)
}

/// Returns a tool that runs a line of the shell.
fn running(line: &str) -> (Tool, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("tool");
    std::fs::write(&script, line).unwrap();
    (Tool::new(&format!("sh {} {{in}} {{out}}", script.display())).unwrap(), folder)
}

/// Runs a tool on a damage of each kind.
fn run_kinds(series: &Series, tool: &Tool, count: usize) -> Vec<Case> {
    let run = |kind| series.run(tool, SEED, Number { kind, count, number: 0 }).unwrap();
    Kind::ALL.into_iter().map(run).collect()
}

#[test]
fn a_tool_that_writes_the_original_keeps_everything_and_shows_nothing_false() {
    if is_left_to_the_gate(
        "a tool that writes the original keeps everything and shows nothing false",
    ) {
        return;
    }
    for series in [Some(log()), samples()].into_iter().flatten() {
        let (tool, _folder) = writing(&series.sound[0].original.files);
        for case in run_kinds(&series, &tool, 4) {
            let score = &case.score;
            assert_eq!(score.due[0], score.due[1], "{}: {score:?}", case.name);
            assert_eq!(score.spared[0], score.spared[1], "{}", case.name);
            // Records that were damaged are shown as they were, so they are in the original.
            assert_eq!((score.false_records, score.inside), (0, 0), "{}", case.name);
            assert_eq!((case.refused, case.run.end), (None, End::Exited));
        }
    }
}

#[test]
fn a_tool_that_copies_gets_the_score_of_the_reader_alone() {
    if is_left_to_the_gate("a tool that copies gets the score of the reader alone") {
        return;
    }
    let (tool, _folder) = running("cp -r \"$1\" \"$2\"");
    for series in [Some(log()), samples()].into_iter().flatten() {
        let cases = run_kinds(&series, &tool, 1);
        for case in &cases {
            assert_eq!(case.score, case.alone, "{}", case.name);
        }
        let [transport, cut] = [Kind::Transport, Kind::Cut]
            .map(|kind| cases.iter().find(|case| case.number.kind == kind).unwrap());
        assert!(transport.score.due[0] > 0, "all records are left");
        assert_eq!(transport.score.due[1], 0, "none can be read");
        assert!(cut.refused.is_some() || series.format == FormatId::PERF, "no end");
    }
}

#[test]
fn a_relabelled_record_away_from_the_damage_is_false() {
    let series = log();
    let mut files = series.sound[0].original.files.clone();
    let number = Number { kind: Kind::Cut, count: 1, number: 0 };
    let (copy, _folder) = writing(&files);
    let whole = series.run(&copy, SEED, number).unwrap();
    // The last byte of the first clock, which lies far before the end that was cut.
    files[0].1[20] ^= 1;
    let (tool, _folder) = writing(&files);
    let case = series.run(&tool, SEED, number).unwrap();
    assert_eq!(case.score.false_records, 1);
    assert_eq!(case.score.due, [whole.score.due[0], whole.score.due[1] - 1]);
    let mut table = Table::default();
    table.add(&case);
    assert!(Table::is_missed_by(&case) && !Table::is_missed_by(&whole));
    let sums = &table.counts()[&("qemu", 1)];
    assert_eq!((sums.losing, sums.shown[0][0]), (1, 1));
    assert!(table.describe().contains("| false records 0 | qemu | **no: 1.00** |"));
}

#[test]
fn samples_under_the_name_of_another_event_are_false() {
    let Some(series) = samples() else { return };
    let mut files = series.sound[0].original.files.clone();
    let name = b"cpu-clock";
    for at in 0..files[0].1.len() - name.len() {
        if files[0].1[at..].starts_with(name) {
            files[0].1[at + 6] = b'0';
        }
    }
    let (tool, _folder) = writing(&files);
    let case = series.run(&tool, SEED, Number { kind: Kind::Bits, count: 1, number: 0 }).unwrap();
    assert_eq!(case.score.due[1], 0);
    assert!(case.score.false_records >= case.score.due[0] && case.score.due[0] > 20);
    // The bytes of the description are damaged now, so no sample is due: they are false still.
    let original = &series.sound[0].original.files;
    let mut dice = Dice::seeded(1);
    let describes_nothing = loop {
        let broken = Broken::of(original, Kind::Noise, 1, &mut dice).unwrap();
        if series.sound[0].left(&broken).iter().all(|left| !left.is_due && left.is_spared) {
            break broken;
        }
    };
    let number = Number { kind: Kind::Noise, count: 1, number: 0 };
    let case = series.judge(&tool, (&series.sound[0], String::new()), describes_nothing, number);
    assert_eq!(case.score.due, [0, 0]);
    assert_eq!(case.score.false_records, case.score.spared[0]);
}

#[test]
fn tools_that_write_nothing_or_crash_are_counted() {
    let series = log();
    let number = Number { kind: Kind::Noise, count: 2, number: 3 };
    let (tool, _folder) = running("exit 4");
    let case = series.run(&tool, SEED, number).unwrap();
    assert!(case.run.output.is_none() && case.run.end == End::Exited);
    assert!(case.score.due[0] > 0 && case.score.due[1] == 0);
    let (tool, _folder) = running("kill -s SEGV $$");
    assert_eq!(series.run(&tool, SEED, number).unwrap().run.end, End::Crashed);
    let (tool, _folder) = running("exit 101");
    assert_eq!(series.run(&tool, SEED, number).unwrap().run.end, End::Crashed);
    assert!(Tool::new("repair {in}").is_err());
}

#[test]
fn the_same_number_breaks_the_same_recording_in_the_same_way() {
    let series = log();
    let (tool, _folder) = running("cp -r \"$1\" \"$2\"");
    let broken = |number| {
        let number = Number { kind: Kind::Lost, count: 4, number };
        series.run(&tool, SEED, number).unwrap().broken
    };
    let (one, two, other) = (broken(7), broken(7), broken(8));
    assert_eq!((&one.files, one.places(0)), (&two.files, two.places(0)));
    assert_ne!(one.files, other.files);
    assert_eq!(one.kinds, [Kind::Lost; 4]);
}

#[test]
fn the_events_of_every_log_are_those_that_the_forge_wrote() {
    for (name, log) in forge::all() {
        let Some(release) = qemu::release(&log.bytes) else {
            assert!(name.ends_with("sound"), "{name}: only a full ring has another layout");
            continue;
        };
        let files = vec![("log".to_string(), log.bytes.clone())];
        let shown = Reader::Qemu.read(&files, Some(release)).shown;
        let bytes: Vec<Vec<u8>> = shown.into_iter().filter_map(|shown| shown.bytes).collect();
        let marks = log.marks.iter().map(|mark| log.bytes[mark.start..mark.end].to_vec());
        assert_eq!(bytes, marks.collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn a_finding_names_a_damage_by_its_code_and_its_place() {
    assert!(is_name(Kind::Doubled, "CM0101") && !is_name(Kind::Lost, "CM0101"));
    assert!(is_name(Kind::Transport, "TR0004") && !is_name(Kind::Bits, "TR0004"));
    assert!(is_name(Kind::Bits, "PD2001") && !is_name(Kind::Doubled, "PD2001"));
    let files = vec![("log".to_string(), vec![7; 1000])];
    let mut dice = Dice::seeded(1);
    let broken = Broken::of(&files, Kind::Lost, 1, &mut dice).unwrap();
    let place = broken.places(0)[0].start;
    let named = |severity: &str, code: &str, start: usize| {
        let span = json!({"file": "log", "layer": 0, "start": start, "end": start + 1});
        let finding = json!({
            "severity": severity, "code": code, "span": span, "stored": null, "related": []
        });
        Named::of(&json!({"before": {"findings": [finding]}}), &broken).unwrap()
    };
    assert!(named("error", "CM0103", place).is_right());
    assert!(!named("error", "CM0103", place + 2).is_right());
    assert!(!named("error", "CM0101", place).is_right());
    assert!(!named("info", "CM0103", place).is_found);
}

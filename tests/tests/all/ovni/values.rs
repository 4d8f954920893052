//! Values of `stream.json` that are wrong or missing, and those that contradict each other.

use serde_json::Value;
use tracemend::formats::ovni::rules;
use tracemend::{Options, Outcome, Severity};
use tracemend_tests::forge::ovni::{Random, Stream, Thread, Trace};
use tracemend_tests::judge::ovni::Ovniemu;
use tracemend_tests::notice;
use tracemend_tests::sweep::Share;

/// Processes of the trace, each in a loom of its own.
const PROCESSES: u32 = 4;
/// Keys whose values are in the directory, the events, or the other streams.
const RESTORED: [&str; 12] = [
    "/version",
    "/ovni/part",
    "/ovni/tid",
    "/ovni/pid",
    "/ovni/loom",
    "/ovni/app_id",
    "/ovni/rank",
    "/ovni/nranks",
    "/ovni/require",
    "/ovni/require/ovni",
    "/ovni/require/nosv",
    "/ovni/lib/version",
];
/// Values that are wrong for at least one of these keys.
const WRONG: [&str; 10] =
    ["null", "0", "-7", "99", "4", "\"abc\"", "\"1.x\"", "[]", "{}", "2147483648"];

/// A run of an MPI application with one process per loom.
fn original() -> Trace {
    (0..PROCESSES).fold(Trace::default(), |trace, rank| {
        let thread = Thread { loom: format!("node.{rank}"), ..Thread::new(70 + rank, 70 + rank) };
        let thread = thread.require("nosv", "2.7.0").more("rank", rank.to_string());
        let thread = thread.more("nranks", PROCESSES.to_string());
        let stream = Stream::at(1_000 + u64::from(rank)).begin(0).plain(&["VHw", "VHW"]).end();
        trace.and(&thread, stream)
    })
}

fn dir(process: u32) -> String {
    format!("loom.node.{process}/proc.{0}/thread.{0}/stream.json", 70 + process)
}

fn json_of(trace: &Trace, process: u32) -> Value {
    let name = dir(process);
    let found = trace.files.iter().find(|(other, _)| *other == name);
    serde_json::from_slice(found.unwrap().1.as_ref().unwrap()).unwrap()
}

/// Sets a value, or removes the key without one.
fn with_value(trace: Trace, process: u32, key: &str, value: Option<&str>) -> Trace {
    let mut json = json_of(&trace, process);
    let (object, leaf) = key.rsplit_once('/').unwrap();
    let object = json.pointer_mut(object).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => drop(object.insert(leaf.into(), serde_json::from_str(value).unwrap())),
        None => drop(object.remove(leaf)),
    }
    trace.put(&dir(process), Some(serde_json::to_vec_pretty(&json).unwrap()))
}

#[test]
fn a_wrong_or_missing_value_becomes_what_it_was() {
    let emulator = Ovniemu::find_or_skip();
    let sound = original();
    assert_eq!(tracemend::check(&sound.set(), &Options::default()).findings().len(), 0);
    let values = || WRONG.iter().map(|value| Some(*value)).chain([None]);
    let cases: Vec<_> =
        RESTORED.iter().flat_map(|key| values().map(move |value| (*key, value))).collect();
    let mut random = Random(0x6a73_6f6e);
    let (mut tried, mut refused, mut same) = (0, 0, 0);
    for (key, value) in Share::one_in(1).of(cases) {
        tried += 1;
        let process = u32::try_from(random.below(4)).unwrap();
        let case = format!("{key} {value:?} in process {process}");
        let damaged = with_value(sound.clone(), process, key, value);
        let report = tracemend::check(&damaged.set(), &Options::default());
        let (repair, target) = damaged.mended(&Options::default());
        if !report.has_errors() {
            // Another value that is legal, or that the tools accept.
            continue;
        }
        refused += 1;
        let left = repair.after.findings();
        assert!(!repair.after.has_errors(), "{case}: {left:?}");
        let is_inserted = value.is_none();
        let expected = if is_inserted { Outcome::Repaired } else { Outcome::RepairedWithLoss };
        assert_eq!(repair.outcome, expected, "{case}");
        let (was, now) = (json_of(&sound, process), json_of(&target, process));
        same += usize::from(was.pointer(key) == now.pointer(key));
        if was.pointer(key) != now.pointer(key) {
            notice::say(&format!("{case}: {:?}", now.pointer(key)));
        }
        if let Some(emulator) = &emulator {
            let verdict = emulator.lint(&target);
            assert!(verdict.accepted, "{case}: {}", verdict.first_error);
        }
    }
    notice::say(&format!("values of metadata: {same} of {refused} as they were"));
    assert!(refused * 2 > tried && same * 100 >= refused * 95, "{same} of {refused}, {tried}");
}

/// Values that ovniemu reads as other ones, or that contradict the directory or other processes.
const ACCEPTED: [(&str, &[&str]); 9] = [
    ("/version", &["3.5"]),
    ("/ovni/tid", &["1.5", "77"]),
    ("/ovni/pid", &["77.5", "77"]),
    ("/ovni/loom", &["\"\""]),
    ("/ovni/app_id", &["1.5"]),
    ("/ovni/rank", &["\"abc\"", "null", "2.5", "{}"]),
    ("/ovni/nranks", &["4.5", "5", "400"]),
    ("/ovni/require/ovni", &["1", "null"]),
    ("/ovni/require/nosv", &["2", "[]"]),
];

#[test]
fn a_value_that_ovniemu_accepts_becomes_what_it_was_if_the_user_wants_it() {
    let emulator = Ovniemu::find_or_skip();
    let sound = original();
    let options = Options { lossy_warnings: true, ..Options::default() };
    let values = ACCEPTED.iter().flat_map(|(key, values)| values.iter().map(move |v| (*key, *v)));
    let cases = values.flat_map(|case| (0..PROCESSES).map(move |process| (case, process)));
    for ((key, value), process) in Share::one_in(1).of(cases) {
        let case = format!("{key} {value} in process {process}");
        let damaged = with_value(sound.clone(), process, key, Some(value));
        let report = tracemend::check(&damaged.set(), &Options::default());
        assert_eq!(report.worst(), Some(Severity::Warning), "{case}: {:?}", report.findings());
        let (_, unchanged) = damaged.mended(&Options::default());
        assert_eq!(unchanged, damaged, "{case}");
        let (repair, target) = damaged.mended(&options);
        assert_eq!(json_of(&target, process), json_of(&sound, process), "{case}");
        assert_eq!(repair.after.findings().len(), 0, "{case}: {:?}", repair.after.findings());
        if let Some(emulator) = &emulator {
            assert!(emulator.lint(&damaged).accepted && emulator.lint(&target).accepted, "{case}");
        }
    }
}

#[test]
fn a_loom_that_is_a_path_and_a_version_that_is_too_new_become_those_of_the_rest() {
    let sound = original();
    let wrong = [
        ("/ovni/loom", "\"a/b\"", &rules::UNSAFE_NAME),
        ("/ovni/require/nosv", "\"9.0.0\"", &rules::UNSUPPORTED_MODEL),
        ("/ovni/require/ovni", "\"1.99.0\"", &rules::UNSUPPORTED_MODEL),
    ];
    for ((key, value, rule), process) in
        wrong.into_iter().flat_map(|case| (0..PROCESSES).map(move |p| (case, p)))
    {
        let damaged = with_value(sound.clone(), process, key, Some(value));
        let (repair, target) = damaged.mended(&Options::default());
        assert_eq!(repair.before.count(rule), 1, "{key} {value}");
        assert_eq!(json_of(&target, process), json_of(&sound, process), "{key} {value}");
    }
    // All of a trace may be of a newer release.
    let newer = (0..PROCESSES).fold(original(), |trace, process| {
        with_value(trace, process, "/ovni/require/nosv", Some("\"9.0.0\""))
    });
    let (repair, target) = newer.mended(&Options::default());
    assert_eq!((repair.outcome, target), (Outcome::CannotRepair, newer));
}

#[test]
fn a_directory_that_was_renamed_is_not_written_into_the_metadata() {
    let options = Options { lossy_warnings: true, ..Options::default() };
    for (from, to) in [("proc.72", "proc.5"), ("thread.72", "thread.5"), ("node.2", "node.9")] {
        let mut trace = original();
        for (name, _) in &mut trace.files {
            *name = name.replace(from, to);
        }
        let report = tracemend::check(&trace.set(), &Options::default());
        assert_eq!(report.count(&rules::FOLDER_DIFFERS), 1, "{to}: {:?}", report.findings());
        let (_, target) = trace.mended(&options);
        assert_eq!(target, trace, "{to}");
    }
}

/// Changes that ovniemu does not notice, and what reports them.
fn contradictions() -> Vec<(&'static str, &'static str, &'static tracemend::Rule)> {
    vec![
        ("/ovni/tid", "77", &rules::FOLDER_DIFFERS),
        ("/ovni/pid", "77", &rules::FOLDER_DIFFERS),
        ("/ovni/loom", "\"node.9\"", &rules::FOLDER_DIFFERS),
        ("/ovni/rank", "1", &rules::RANK_TWICE),
        ("/ovni/nranks", "5", &rules::NRANKS_DIFFER),
    ]
}

#[test]
fn values_that_contradict_each_other_get_a_warning() {
    let emulator = Ovniemu::find_or_skip();
    for (key, value, rule) in contradictions() {
        let trace = with_value(original(), 2, key, Some(value));
        let report = tracemend::check(&trace.set(), &Options::default());
        assert_eq!(report.worst(), Some(Severity::Warning), "{key}: {:?}", report.findings());
        assert_eq!(report.count(rule), 1, "{key}: {:?}", report.findings());
        let (repair, target) = trace.mended(&Options::default());
        assert_eq!((repair.outcome, &target), (Outcome::Clean, &trace), "{key}");
        if let Some(emulator) = &emulator {
            assert!(emulator.lint(&trace).accepted, "{key}");
        }
    }
}

#[test]
fn the_only_rank_that_is_missing_is_added() {
    for rank in 0..PROCESSES {
        let damaged = with_value(original(), rank, "/ovni/rank", None);
        let damaged = with_value(damaged, rank, "/ovni/nranks", None);
        let report = tracemend::check(&damaged.set(), &Options::default());
        assert_eq!(report.worst(), Some(Severity::Warning), "{:?}", report.findings());
        assert_eq!(report.count(&rules::RANK_MISSING), 1);
        let (repair, target) = damaged.mended(&Options::default());
        assert_eq!(repair.outcome, Outcome::Repaired);
        assert_eq!(json_of(&target, rank)["ovni"]["rank"], rank);
        assert_eq!(json_of(&target, rank)["ovni"]["nranks"], PROCESSES);
    }
    // Two processes without a rank may belong to something else.
    let without = |trace, process| {
        let trace = with_value(trace, process, "/ovni/rank", None);
        with_value(trace, process, "/ovni/nranks", None)
    };
    let two = without(without(original(), 0), 3);
    assert_eq!(tracemend::check(&two.set(), &Options::default()).findings().len(), 0);
}

#[test]
fn a_rank_and_a_number_of_ranks_that_no_other_process_explains_stay() {
    let thread = Thread::new(7, 7).more("rank", "5").more("nranks", "3");
    let trace = Trace::of(&thread, Stream::default().begin(0).end());
    let (repair, target) = trace.mended(&Options::default());
    assert_eq!((repair.outcome, &target), (Outcome::CannotRepair, &trace));
}

#[test]
fn metadata_in_another_encoding_is_written_as_utf_8() {
    let sound = original();
    for case in Share::ALL.of(0..8_u32) {
        let (process, is_little, has_mark) = (case % PROCESSES, case & 1 == 0, case & 4 == 0);
        let text = serde_json::to_string_pretty(&json_of(&sound, process)).unwrap();
        let start = if has_mark { "\u{feff}" } else { "" };
        let order = if is_little { u16::to_le_bytes } else { u16::to_be_bytes };
        let units = format!("{start}{text}");
        let wide: Vec<u8> = units.encode_utf16().flat_map(order).collect();
        let damaged = sound.clone().put(&dir(process), Some(wide));
        let (repair, target) = damaged.mended(&Options::default());
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.before.findings());
        assert_eq!(target, sound.clone().put(&dir(process), Some(text.clone().into_bytes())));
        // A mark of UTF-8 is dropped exactly.
        let marked = format!("\u{feff}{text}").into_bytes();
        let damaged = sound.clone().put(&dir(process), Some(marked));
        let (repair, target) = damaged.mended(&Options::default());
        assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.before.findings());
        assert_eq!(target, sound.clone().put(&dir(process), Some(text.into_bytes())));
    }
}

//! Rules of ovni that work together. Each rule has a specimen of its own (`specimens/ovni.rs`).

use tracemend::FormatId;
use tracemend::formats::ovni::rules;
use tracemend::mend::rounds::view;
use tracemend::model::edit::Safety;
use tracemend::model::rule::common;
use tracemend::{Options, Outcome, Severity};
use tracemend_tests::forge::ovni::{Stream, Thread, Trace, by_name, version1, version2};
use tracemend_tests::specimens::ovni::{JSON, begun, nosv, one, smallest, thread};

#[test]
fn unsafe_names_are_found_in_every_key() {
    let counters = by_name("counters");
    let marks = by_name("marks");
    for trace in [
        counters.replace(JSON, "\"cycles\"", "\"../../x\""),
        marks.clone().replace(JSON, "\"title\": \"many\"", "\"title\": \"../../x\""),
        marks.replace(JSON, "\"5\": \"five\"", "\"5\": \"../../x\""),
        smallest().replace(JSON, "node.0", "../../x"),
        smallest().replace(JSON, "node.0", "..\\u002f..\\u002fx"),
    ] {
        let report = tracemend::check(&trace.set(), &Options::default());
        assert_eq!(report.count(&rules::UNSAFE_NAME), 1, "{:?}", report.findings());
        assert!(report.has_errors());
    }
}

#[test]
fn a_killed_thread_is_closed_in_reverse_order() {
    let stream = begun()
        .plain(&["VHw"])
        .kind("VYc", 1, "t")
        .ids("VTc", &[1, 1])
        .ids("VTx", &[1, 0])
        .plain(&["VAp"])
        .ids("VTp", &[1, 0])
        .plain(&["OHp", "KCO"]);
    let at = stream.clock;
    let (repair, target) =
        one(nosv().require("kernel", "1.0.0").killed(), stream.clone()).mended(&Options::default());
    assert_eq!(repair.outcome, Outcome::Repaired);
    let closed = stream
        .event(0, "KCI", at, b"")
        .event(7, "OAr", at, b"\xff\xff\xff\xff\x07\0\0\0")
        .event(0, "OHr", at, b"")
        .event(0, "VAP", at, b"")
        .event(7, "VTr", at, b"\x01\0\0\0\0\0\0\0")
        .event(7, "VTe", at, b"\x01\0\0\0\0\0\0\0")
        .event(0, "VHW", at, b"")
        .event(0, "OHe", at, b"");
    assert_eq!(target.files[1].1.as_ref().unwrap(), &closed.bytes);
}

#[test]
fn a_consistent_cut_ends_every_thread_at_the_earliest_last_clock() {
    let long = |tid: u32, cpu: i32, count: usize| {
        let events = vec!["OB."; count];
        (Thread::new(7, tid).cpus(&[(0, 0), (1, 1)]), Stream::default().begin(cpu).plain(&events))
    };
    let (first, short) = long(7, 0, 3);
    let (second, more) = long(8, 1, 9);
    let trace = Trace::of(&first.killed(), short.clone()).and(&second, more.end());
    let mut options = Options::default();
    options.choices.set("strategy", "cut").unwrap();
    let (repair, target) = trace.mended(&options);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.after.findings());
    assert_eq!(repair.records_lost(), 7);
    let at = short.clock;
    let (_, kept) = long(8, 1, 3);
    assert_eq!(target.files[1].1.as_ref().unwrap(), &short.event(0, "OHe", at, b"").bytes);
    assert_eq!(target.files[3].1.as_ref().unwrap(), &kept.event(0, "OHe", at, b"").bytes);
}

#[test]
fn older_layouts_are_upgraded_and_the_plan_can_be_reversed() {
    for (trace, require, outcome) in [
        (version1(), "1.1.0", Outcome::Repaired),
        // The version number is replaced.
        (version2(), "1.0.0", Outcome::RepairedWithLoss),
    ] {
        let plain = tracemend::check(&trace.set(), &Options::default());
        assert_eq!(plain.worst(), Some(Severity::Info), "{:?}", plain.findings());
        let mut options = Options::default();
        options.choices.set("upgrade", "").unwrap();
        let set = trace.set();
        let repair = tracemend::repair(&set, &options);
        assert_eq!(repair.outcome, outcome, "{:?} {:?}", repair.refused, repair.after.findings());
        let target = Trace::from_set(&view(&set, &repair.patches));
        let file = |name: &str| {
            let found = target.files.iter().find(|(other, bytes)| other == name && bytes.is_some());
            found.unwrap_or_else(|| panic!("no {name}")).1.clone().unwrap()
        };
        let dir = "loom.node.0/proc.7/thread.7";
        assert_eq!(file(&format!("{dir}/stream.obs")), begun().end().bytes);
        let json: serde_json::Value =
            serde_json::from_slice(&file(&format!("{dir}/stream.json"))).unwrap();
        assert_eq!(json["version"], 3);
        assert_eq!(json["ovni"]["require"]["ovni"], require);
        assert_eq!(json["ovni"]["loom_cpus"][1]["phyid"], 5);
        for (key, value) in [("tid", 7), ("pid", 7), ("app_id", 1), ("nranks", 1), ("finished", 1)]
        {
            assert_eq!(json["ovni"][key], value, "{key}");
        }
        let plan = tracemend::mend::plan::Plan::new(&repair, &set, &options.limits).unwrap();
        let back = plan.reversed().unwrap();
        assert_eq!(back.reversed().unwrap(), plan);
        tracemend::mend::proof::prove(&back, &target.set(), &set).unwrap();
        let names = back.files.iter().map(tracemend::mend::plan::FilePlan::target_name);
        let sources = trace.files.iter().map(|(name, _)| name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), sources.collect::<Vec<_>>());
    }
}

#[test]
fn an_event_of_an_unknown_model_is_valid_if_another_event_follows() {
    let foreign = |stream: Stream| stream.plain(&["tAB"]);
    let junk = |mut stream: Stream| {
        stream.bytes.extend([0; 40]);
        stream
    };
    let end = |stream: Stream| stream.plain(&["OB.", "OB.", "OB.", "OB."]).end();
    let seen = foreign(foreign(begun()));
    for (stream, lost) in [(end(junk(foreign(begun()))), 52), (end(junk(seen)), 40)] {
        let trace = one(thread().require("private", "1.0.0"), stream);
        let (repair, _) = trace.mended(&Options::default());
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
        let dropped: u64 = repair.patches.iter().map(tracemend::model::patch::Patch::dropped).sum();
        assert_eq!(dropped, lost);
    }
}

#[test]
fn a_region_with_a_wrong_clock_gets_another_clock_before_it_is_sorted() {
    let region = |clocks: [u64; 4]| {
        let [open, first, second, close] = clocks;
        let stream = begun().event(0, "OU[", open, b"").event(0, "OB.", first, b"");
        let stream = stream.event(0, "OB.", second, b"").event(0, "OU]", close, b"");
        one(thread(), stream.event(0, "OHe", 1_100, b""))
    };
    let sorted = |clocks: [u64; 4]| region(clocks).mended(&Options::default());
    let (sound, target) = sorted([1_050, 1_060, 1_070, 1_080]);
    assert!(sound.outcome == Outcome::Clean && target == region([1_050, 1_060, 1_070, 1_080]));
    for (wrong, right) in [
        // OU[, an event inside and OU] are too late, OU] is too early.
        ([1 << 40, 1_060, 1_070, 1_080], [1_080, 1_060, 1_070, 1_080]),
        ([1_050, 1 << 40, 1_070, 1_080], [1_050, 1_080, 1_070, 1_080]),
        ([1_050, 1_060, 1_070, 1_020], [1_050, 1_060, 1_070, 1_070]),
        ([1_050, 1_060, 1_040, 1 << 63], [1_050, 1_060, 1_040, 1_100]),
    ] {
        let (repair, target) = sorted(wrong);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{wrong:?} {:?}", repair.refused);
        assert_eq!(target, sorted(right).1, "{wrong:?}");
    }
}

/// A stream of 200 events, 12 bytes each from byte 8 on, with clocks of a machine that ran long.
fn long_stream() -> Stream {
    let clock = |number: u64| 0x014b_0000_0000 + 1_000 * number;
    let stream = Stream::at(clock(0)).begin(0);
    let events = (1..200).fold(stream, |stream, number| stream.event(0, "OB.", clock(number), b""));
    events.event(0, "OHe", clock(200), b"")
}

#[test]
fn damage_that_takes_a_part_of_a_clock_shifts_no_other_event() {
    let sound = long_stream();
    let mut damaged = sound.clone();
    // From the upper half of the clock of one event to the end of another.
    let (from, to) = (8 + 28 + 12 * 100 - 4, 8 + 28 + 12 * 110);
    damaged.bytes[from..to].fill(0);
    let (repair, target) = one(thread(), damaged).mended(&Options::default());
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let target = target.files[1].1.clone().unwrap();
    assert!(target.starts_with(&sound.bytes[..from - 8]), "events before it stay");
    assert!(target.ends_with(&sound.bytes[to..]), "events after it stay");
}

#[test]
fn a_clock_that_is_noise_before_damage_shifts_no_later_event() {
    let sound = long_stream();
    let event = |number: usize| 8 + 28 + 12 * number;
    let mut damaged = sound.clone();
    // A later block instead of ten events, then an event whose clock is noise.
    let late = sound.bytes[event(150)..event(160)].to_vec();
    damaged.bytes[event(50)..event(60)].copy_from_slice(&late);
    damaged.bytes[event(60) + 8..event(61)].fill(0x2e);
    let (repair, target) = one(thread(), damaged).mended(&Options::default());
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let target = target.files[1].1.clone().unwrap();
    assert!(target.starts_with(&sound.bytes[..event(50)]), "events before it stay");
    assert!(target.ends_with(&sound.bytes[event(61)..]), "events after it stay");
}

#[test]
fn a_block_that_comes_twice_from_inside_an_event_is_dropped_exactly() {
    let sound = long_stream();
    for inside in 0..12 {
        let (from, to) = (8 + 28 + 12 * 60 + inside, 8 + 28 + 12 * 90 + inside);
        let mut damaged = sound.clone();
        damaged.bytes.splice(to..to, sound.bytes[from..to].to_vec());
        let (repair, target) = one(thread(), damaged).mended(&Options::default());
        assert_eq!(repair.safety(), Some(Safety::Exact), "{inside}");
        assert_eq!(target.files[1].1.as_ref(), Some(&sound.bytes), "{inside}");
    }
}

#[test]
fn thousands_of_faults_are_repaired_in_few_rounds() {
    let many = |each: &dyn Fn(Stream, u64) -> Stream| {
        let stream = (0..3_000).fold(begun(), each);
        one(nosv(), stream.event(0, "OHe", 1 << 40, b""))
    };
    let regions = many(&|stream, number| {
        let clock = 10_000 + 100 * number;
        let stream = stream.event(0, "OU[", clock, b"").event(0, "OB.", clock - 50, b"");
        stream.event(0, "OU]", clock + 2, b"")
    });
    let descending = many(&|stream, number| stream.event(0, "OB.", 90_000 - number, b""));
    let holes = many(&|mut stream, number| {
        stream.bytes.extend([0xff; 9]);
        (0..4).fold(stream, |stream, _| stream.event(0, "OB.", 2_000 + number, b""))
    });
    let lost = many(&|stream, number| {
        let task = u32::try_from(number).unwrap() + 1;
        stream.ids("VTx", &[task, 0]).ids("VTe", &[task, 0])
    });
    let keys = "\"pid\": 7".to_string() + &", \"pid\": 7".repeat(3_000);
    let keys = smallest().replace(JSON, "\"pid\": 7", &keys);
    let killed = (0..200).fold(Trace::default(), |trace, number| {
        let stream = Stream::at(1_000 * u64::from(number)).begin(0);
        trace.and(&Thread::new(7, 100 + number).killed(), stream)
    });
    for trace in [regions, descending, holes, lost, keys, killed] {
        let (repair, _) = trace.mended(&Options::default());
        let rounds = repair.applied.last().map(|applied| applied.round);
        assert!(rounds <= Some(3), "{rounds:?}");
        // Of events whose clocks all go back, nearly nothing is left; that is no fault of the rest.
        let after = repair.after.findings().iter();
        let mut after = after.filter(|finding| finding.rule != &common::LITTLE_KEPT);
        assert_eq!(after.find(|finding| finding.severity > Severity::Info), None);
    }
}

#[test]
fn a_stream_by_itself_is_checked_and_closed() {
    let stream = begun().plain(&["VHw", "VAs"]);
    let files = tracemend::FileSet::single("stream.obs", &stream.bytes);
    let repair = tracemend::repair(&files, &Options::default());
    assert_eq!(repair.before.format, Some(FormatId::OVNI));
    assert_eq!(repair.outcome, Outcome::Repaired);
    assert_eq!(repair.before.count(&rules::NOT_ENDED), 1);
    let target = view(&files, &repair.patches).bytes(0).pieces().collect::<Vec<_>>().concat();
    let at = stream.clock;
    let closed = stream.event(0, "VAS", at, b"").event(0, "VHW", at, b"").event(0, "OHe", at, b"");
    assert_eq!(target, closed.bytes);
}

#[test]
fn events_that_are_added_have_the_payload_of_the_version_that_is_required() {
    // A body of 4 bytes is of nosv 1; the trace requires nosv 2.
    let stream = begun().ids("VTx", &[5]).ids("VTe", &[6, 0]).end();
    let (repair, target) = one(nosv(), stream).mended(&Options::default());
    assert_eq!(repair.before.count(&rules::PAYLOAD_SIZE), 1, "{:?}", repair.before.findings());
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.refused);
    let report = tracemend::check(&target.set(), &Options::default());
    assert!(!report.has_errors(), "{:?}", report.findings());
}

#[test]
fn a_flipped_code_of_the_kernel_becomes_the_one_that_is_possible_now() {
    let trace =
        |codes: [&str; 2]| one(thread().require("kernel", "1.0.0"), begun().plain(&codes).end());
    // KCK differs in one bit from both.
    for codes in [["KCK", "KCI"], ["KCO", "KCK"]] {
        let (repair, target) = trace(codes).mended(&Options::default());
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{codes:?}");
        assert_eq!(target, trace(["KCO", "KCI"]), "{codes:?}");
    }
}

#[test]
fn a_flipped_code_is_dropped_while_a_thread_is_paused() {
    // VA[ differs in one bit from VAS, the end of VAs.
    let mended = |stream: Stream| one(nosv(), stream).mended(&Options::default()).1;
    let running = |code| begun().plain(&["VAs", code]).end();
    assert_eq!(mended(running("VA[")), one(nosv(), running("VAS")));
    let paused = begun().plain(&["VAs", "OHp"]);
    let at = paused.bytes.len();
    let damaged = paused.plain(&["VA[", "OHr", "VAS"]).end();
    let mut expected = damaged.clone();
    expected.bytes.drain(at..at + 12);
    assert_eq!(mended(damaged), one(nosv(), expected));
}

#[test]
fn a_payload_of_nosv_1_is_sound_in_a_trace_that_requires_it() {
    let found = |version: &'static str| {
        let stream = begun().kind("VYc", 1, "t").ids("VTc", &[1, 1]);
        let stream = stream.ids("VTx", &[1]).ids("VTe", &[1]).end();
        let trace = one(thread().require("nosv", version), stream);
        tracemend::check(&trace.set(), &Options::default()).count(&rules::PAYLOAD_SIZE)
    };
    assert_eq!((found("1.0.0"), found("2.7.0")), (0, 2));
}

//! A smallest trace for every rule of ovni: it breaks the rule, and the rule alone. Where the rule has a
//! fix the mended trace breaks none, and for most of them is written down.

use tracemend::FormatId;
use tracemend::formats::ovni::rules;
use tracemend::mend::rounds::view;
use tracemend::{Options, Outcome, Severity};
use tracemend_tests::forge::ovni::{Stream, Thread, Trace, by_name, version1, version2};

const OBS: &str = "stream.obs";
const JSON: &str = "stream.json";

fn thread() -> Thread {
    Thread::new(7, 7)
}

fn nosv() -> Thread {
    thread().require("nosv", "2.7.0")
}

fn begun() -> Stream {
    Stream::default().begin(0)
}

fn one(thread: Thread, stream: Stream) -> Trace {
    Trace::of(&thread, stream)
}

fn smallest() -> Trace {
    one(thread(), begun().end())
}

/// OHx on the virtual CPU, with a clock.
fn virtual_at(stream: Stream, clock: u64) -> Stream {
    let payload = [&(-1_i32).to_le_bytes()[..], &(-1_i32).to_le_bytes(), &[0; 8]].concat();
    stream.event(15, "OHx", clock, &payload)
}

struct Case {
    code: &'static str,
    broken: Trace,
    mended: Option<Trace>,
}

fn case(code: &'static str, broken: Trace) -> Case {
    Case { code, broken, mended: None }
}

fn fixed(code: &'static str, broken: Trace, mended: Trace) -> Case {
    Case { code, broken, mended: Some(mended) }
}

/// Files and headers, JSON and its keys.
fn files() -> Vec<Case> {
    let (first, second) = (Thread::new(7, 7), Thread::new(7, 8).cpus(&[]));
    let pair = |second: Trace| {
        let first = one(first.clone(), begun().end());
        second.files.iter().fold(first, |all, (name, bytes)| all.put(name, bytes.clone()))
    };
    let other = one(second, Stream::at(5_000).begin(0).end());
    vec![
        fixed("OV0001", smallest().change(OBS, |bytes| bytes[0] = b'a'), smallest()),
        fixed("OV0002", smallest().change(OBS, |bytes| bytes[4] = 2), smallest()),
        case("OV0003", smallest().change(OBS, |bytes| bytes[4..8].reverse())),
        fixed(
            "OV0004",
            smallest().change(OBS, |bytes| bytes.truncate(5)),
            one(thread(), virtual_at(Stream::default(), 0).event(0, "OHe", 0, b"")),
        ),
        case("OV0005", one(thread(), begun().event(0x20, "OHe", 1_020, b""))),
        case("OV0101", smallest().change(JSON, |bytes| bytes.truncate(200))),
        fixed("OV0102", smallest().replace(JSON, "\"pid\": 7", "\"pid\": 7,  \"pid\": 7"), smallest()),
        case("OV0103", smallest().change(JSON, |bytes| bytes.extend(b"\n}"))),
        case("OV0110", smallest().replace(JSON, "\"version\": 3,\n    ", "")),
        case("OV0111", smallest().replace(JSON, "\"tid\": 7,\n        ", "")),
        case("OV0112", smallest().replace(JSON, "\"app_id\": 1", "\"app_id\": 0")),
        case("OV0113", smallest().replace(JSON, "\"version\": 3", "\"version\": 3.5")),
        case("OV0114", smallest().replace(JSON, "\"ovni\": \"1.1.0\"", "\"ovni\": \"1.9.0\"")),
        case("OV0115", smallest().replace(JSON, "node.0", "../../node.0")),
        case("OV0116", smallest().replace(JSON, "\"thread\"", "\"loom\"")),
        fixed(
            "OV0117",
            one(thread().killed(), begun()),
            one(thread().killed(), begun().event(0, "OHe", 1_010, b"")).replace(
                JSON,
                "\"app_id\": 1",
                "\"app_id\": 1,\n        \"require\": {\n            \"ovni\": \"1.1.0\"\n        },\
                 \n        \"loom_cpus\": [\n            {\n                \"index\": 0,\n\
                 \u{20}               \"phyid\": 0\n            }\n        ],\n        \"finished\": 1",
            ),
        ),
        case("OV0118", pair(other.replace(JSON, "1.14.0", "1.13.0"))),
        case("OV0119", version2()),
    ]
}

/// How events follow each other in the bytes.
fn framing() -> Vec<Case> {
    let stale = begun().end().event(0, "OHe", 5, b"").event(0, "OB.", 6, b"");
    vec![
        fixed(
            "OV1001",
            smallest().change(OBS, |bytes| bytes.truncate(bytes.len() - 3)),
            one(thread(), begun().event(0, "OHe", 1_010, b"")),
        ),
        fixed("OV1002", one(thread(), stale), smallest()),
        fixed(
            "OV1003",
            one(thread(), begun().event(0, "OB.", 900, b"").end()),
            one(thread(), begun().event(0, "OB.", 1_010, b"").end()),
        ),
        fixed(
            "OV1004",
            one(
                thread(),
                begun().plain(&["OB.", "OU["]).event(0, "OB.", 1_015, b"").plain(&["OU]"]).end(),
            ),
            one(thread(), begun().event(0, "OB.", 1_015, b"").plain(&["OB.", "OU[", "OU]"]).end()),
        ),
        fixed("OV1005", one(thread(), begun().raw(&[0xff; 9]).end()), smallest()),
        case(
            "OV1006",
            one(nosv(), begun().kind("VYc", 1, "t").end()).change(OBS, |bytes| {
                let at = bytes.iter().position(|byte| *byte == 0x13).unwrap();
                bytes[at] = 0x10;
            }),
        ),
    ]
}

/// Single events.
fn bodies() -> Vec<Case> {
    let typed = |data: &[u8]| one(nosv(), begun().jumbo("VYc", data).end());
    let single = r#"{"3": {"title": "one", "chan_type": "single"}}"#;
    vec![
        case("OV2001", one(thread(), begun().with("OAs", &[0; 2]).end())),
        case("OV2002", one(thread(), begun().plain(&["OHz"]).end())),
        case("OV2003", one(thread(), begun().plain(&["tzz", "tyy"]).end())),
        fixed(
            "OV2004",
            one(thread(), begun().plain(&["VHw", "VHW"]).end()),
            one(thread().require("nosv", "2.0.0"), begun().plain(&["VHw", "VHW"]).end()),
        ),
        case(
            "OV2005",
            one(thread().require("nosv", "2.0.0"), begun().plain(&["VAl", "VAL"]).end()),
        ),
        fixed("OV2006", typed(b"\x01\0\0\0abc"), typed(b"\x01\0\0\0abc\0")),
        case("OV2007", one(nosv(), begun().kind("VYc", 1, &"x".repeat(600)).end())),
        case("OV2008", one(thread().more("mark", single), begun().mark("OM=", 0, 3).end())),
        case(
            "OV2009",
            by_name("counters").change(OBS, |bytes| {
                let at = bytes.iter().position(|byte| *byte == 0x13).unwrap();
                bytes[at + 12] = 8;
                bytes.drain(at + 16..at + 24);
            }),
        ),
        fixed(
            "OV2010",
            one(thread(), begun().ids("OAs", &[1 << 20]).end()),
            one(thread(), begun().ids("OAs", &[u32::MAX]).end()),
        ),
    ]
}

/// Events of one thread.
fn threads() -> Vec<Case> {
    let single = r#"{"3": {"title": "one", "chan_type": "single"}}"#;
    let stack = r#"{"3": {"title": "many", "chan_type": "stack"}}"#;
    let task = || begun().kind("VYc", 1, "t").ids("VTc", &[1, 1]);
    vec![
        case("OV3001", one(thread(), begun().begin(0).end())),
        case(
            "OV3002",
            one(nosv(), Stream::default().plain(&["VHw"]).begin(0).plain(&["VHW"]).end()),
        ),
        case(
            "OV3003",
            one(
                thread().require("kernel", "1.0.0"),
                begun().plain(&["KCO", "OB.", "OB.", "KCI"]).end(),
            ),
        ),
        fixed("OV3004", one(thread(), begun()), one(thread(), begun().event(0, "OHe", 1_010, b""))),
        case("OV3005", one(nosv(), begun().plain(&["VAS"]).end())),
        fixed(
            "OV3006",
            one(nosv(), begun().plain(&["VAs"]).end()),
            one(nosv(), begun().plain(&["VAs"]).event(0, "VAS", 1_030, b"").end()),
        ),
        case("OV3007", one(thread().more("mark", stack), begun().mark("OM[", 1, 3).end())),
        case("OV3008", one(thread(), begun().plain(&["OF]"]).end())),
        case("OV3009", one(thread(), begun().plain(&["OU]"]).end())),
        case("OV3010", one(nosv(), begun().plain(&["VPp"]).end())),
        case("OV3011", one(nosv(), task().ids("VTp", &[1, 0]).end())),
        case("OV3012", one(thread(), begun().end().begin(0).end())),
        case("OV3013", one(thread(), begun().mark("OM=", 1, 3).end())),
        case("OV3014", one(thread().more("mark", single), begun().mark("OM[", 1, 3).end())),
    ]
}

/// What several files tell together.
fn whole() -> Vec<Case> {
    let dir = thread().dir();
    let ranked = thread().more("rank", "0").more("nranks", "1");
    let two = |second: Stream| {
        one(Thread::new(7, 7), begun().end().wait(1_900)).and(&Thread::new(7, 8).cpus(&[]), second)
    };
    let nanos6 = || thread().require("nanos6", "1.0.0");
    let twice = begun()
        .kind("6Yc", 1, "t")
        .ids("6Tc", &[1, 1])
        .ids("6Tx", &[1])
        .ids("6Te", &[1])
        .ids("6Tx", &[1])
        .ids("6Te", &[1])
        .end();
    let copy =
        smallest().files.into_iter().map(|(name, bytes)| (name.replace(&dir, "elsewhere"), bytes));
    let doubled = copy.fold(smallest(), |all, (name, bytes)| all.put(&name, bytes));
    let lost = |before: Stream| one(nosv(), before.ids("VTx", &[5, 0]).ids("VTe", &[5, 0]).end());
    let defined = begun().event(0x13, "VYc", 1_020, b"\x13\0\0\0\xff\xff\xff\xfflost task type\0");
    let defined = defined.event(7, "VTc", 1_020, b"\x05\0\0\0\xff\xff\xff\xff");
    vec![
        case("OV4001", smallest().put(&format!("{dir}/{JSON}"), None)),
        fixed(
            "OV4002",
            smallest().put(&format!("{dir}/{OBS}"), None),
            one(thread(), virtual_at(Stream::default(), 0).event(0, "OHe", 0, b"")),
        ),
        case(
            "OV4003",
            Trace::default().put(&format!("{dir}/{JSON}"), None).put(&format!("{dir}/{OBS}"), None),
        ),
        case(
            "OV4004",
            doubled.change("elsewhere/stream.obs", |bytes| {
                // Later, so that both threads do not run at once.
                *bytes = Stream::at(5_000).begin(0).end().bytes;
            }),
        ),
        case(
            "OV4005",
            two(Stream::at(5_000).begin(0).end()).replace(
                "thread.8/stream.json",
                "\"app_id\": 1",
                "\"app_id\": 2",
            ),
        ),
        fixed(
            "OV4006",
            one(thread().cpus(&[(1, 1)]), begun().end()),
            one(thread().cpus(&[(1, 1), (0, 0)]), begun().end()),
        ),
        fixed(
            "OV4007",
            one(ranked, begun().end())
                .and(&Thread::new(9, 9).cpus(&[]), Stream::at(5_000).begin(0).end()),
            one(thread().more("rank", "0").more("nranks", "1"), begun().end())
                .and(&Thread::new(9, 9).cpus(&[]), Stream::at(5_000).begin(0).end())
                .replace(
                    "thread.9/stream.json",
                    "\"finished\": 1",
                    "\"finished\": 1,\n        \"rank\": 1,\n        \"nranks\": 2",
                ),
        ),
        case("OV4008", by_name("two_hosts").put("clock-offsets.txt", None)),
        case("OV4009", smallest().put("clock-offsets.txt", Some(b"a header alone\n".to_vec()))),
        case("OV4010", two(Stream::default().begin(0).plain(&["OB."]).end())),
        case("OV4011", one(thread(), begun().ids("OAr", &[0, 99]).end())),
        fixed("OV4012", lost(begun()), lost(Stream { bytes: defined.bytes, ..begun() })),
        case(
            "OV4013",
            one(nosv(), begun().kind("VYc", 1, "t").ids("VTc", &[1, 1]).ids("VTc", &[1, 1]).end()),
        ),
        case("OV4014", one(nanos6(), twice)),
        case(
            "OV4016",
            smallest().put("thread.9/stream.json", None).put("thread.9/stream.obs", None),
        ),
        case("OV4015", one(nosv(), begun().jumbo("VWC", &[0; 16]).end())),
    ]
}

fn cases() -> Vec<Case> {
    [files(), framing(), bodies(), threads(), whole()].into_iter().flatten().collect()
}

#[test]
fn every_rule_has_a_trace_that_breaks_it_and_it_alone() {
    let cases = cases();
    let mut wrong = Vec::new();
    let mut options = Options { format: Some(FormatId::OVNI), ..Options::default() };
    options.choices.set("upgrade", "").unwrap();
    for rule in rules::RULES {
        let Some(case) = cases.iter().find(|case| case.code == rule.code) else {
            wrong.push(format!("{}: no trace", rule.code));
            continue;
        };
        let (repair, target) = case.broken.mended(&options);
        let counts = repair.before.counts();
        if counts.len() != 1 || counts.get(rule.code) != Some(&1) {
            let found =
                repair.before.findings().iter().map(|f| format!("{}: {}", f.path, f.message));
            wrong.push(format!("{}: {counts:?} {:?}", rule.code, found.collect::<Vec<_>>()));
        }
        let fixable = rule.has_fix();
        if fixable != repair.changes() {
            let fixes: Vec<_> = repair.before.findings().iter().map(|f| &f.fix).collect();
            wrong.push(format!(
                "{}: has {:?}, {:?} {fixes:?}",
                rule.code, rule.remedy, repair.outcome
            ));
        }
        if fixable && repair.after.worst() > Some(Severity::Info) {
            wrong.push(format!("{}: leaves {:?}", rule.code, repair.after.findings()));
        }
        if let Some(mended) = case.mended.as_ref().filter(|mended| **mended != target) {
            wrong.push(format!("{}: gives\n{}\nfor\n{}", rule.code, shown(&target), shown(mended)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn shown(trace: &Trace) -> String {
    let file = |(name, bytes): &(String, Option<Vec<u8>>)| {
        let text = bytes.as_ref().map(|bytes| bytes.escape_ascii().to_string());
        format!("{name}: {}", text.unwrap_or_else(|| "absent".to_string()))
    };
    trace.files.iter().map(file).collect::<Vec<_>>().join("\n")
}

#[test]
fn names_that_lead_elsewhere_are_found_wherever_they_stand() {
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
fn older_layouts_are_brought_to_the_newest_and_back() {
    for (trace, require) in [(version1(), "1.1.0"), (version2(), "1.0.0")] {
        let plain = tracemend::check(&trace.set(), &Options::default());
        assert_eq!(plain.worst(), Some(Severity::Info), "{:?}", plain.findings());
        let mut options = Options::default();
        options.choices.set("upgrade", "").unwrap();
        let set = trace.set();
        let repair = tracemend::repair(&set, &options);
        assert_eq!(
            repair.outcome,
            Outcome::Repaired,
            "{:?} {:?}",
            repair.refused,
            repair.after.findings()
        );
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
fn the_first_event_of_an_unknown_model_is_one_if_another_follows() {
    let foreign = |stream: Stream| stream.plain(&["tAB"]);
    let junk = |mut stream: Stream| {
        stream.bytes.extend([0; 40]);
        stream
    };
    let end = |stream: Stream| stream.plain(&["OB.", "OB.", "OB.", "OB."]).end();
    let seen = foreign(foreign(begun()));
    for (stream, lost) in [(end(junk(foreign(begun()))), 52), (end(junk(seen)), 40)] {
        let trace = one(thread(), stream);
        let (repair, _) = trace.mended(&Options::default());
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
        let dropped: u64 = repair.patches.iter().map(tracemend::mend::patch::Patch::dropped).sum();
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
        ([1_050, 1_060, 1_040, 1 << 63], [1_050, 1_060, 1_040, 1_060]),
    ] {
        let (repair, target) = sorted(wrong);
        assert_eq!(repair.outcome, Outcome::Repaired, "{wrong:?} {:?}", repair.refused);
        assert_eq!(target, sorted(right).1, "{wrong:?}");
    }
}

#[test]
fn a_repair_is_done_with_thousands_of_faults_in_few_rounds() {
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
        assert_eq!(repair.after.worst().filter(|worst| *worst > Severity::Info), None);
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

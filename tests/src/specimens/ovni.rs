//! Specimens of the rules of ovni.

use super::Specimen;
use crate::forge::ovni::{Stream, Thread, Trace, by_name, version2};

/// Rules that no trace can break.
pub const IMPOSSIBLE: &[(&str, &str)] =
    &[("OV0121", "a folder of specimens cannot hold a link that leads out of it")];
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

/// The name of a stream.
pub const OBS: &str = "stream.obs";
/// The name of its metadata.
pub const JSON: &str = "stream.json";

/// A thread with one CPU.
pub fn thread() -> Thread {
    Thread::new(7, 7)
}

/// One that uses nOS-V.
pub fn nosv() -> Thread {
    thread().require("nosv", "2.7.0")
}

fn nanos6() -> Thread {
    thread().require("nanos6", "1.1.0")
}

/// A stream that begins.
pub fn begun() -> Stream {
    Stream::default().begin(0)
}

/// A trace of one thread.
pub fn one(thread: Thread, stream: Stream) -> Trace {
    Trace::of(&thread, stream)
}

/// The smallest sound trace.
pub fn smallest() -> Trace {
    one(thread(), begun().end())
}

/// OHx on the virtual CPU, with a clock.
fn virtual_at(stream: Stream, clock: u64) -> Stream {
    let payload = [&(-1_i32).to_le_bytes()[..], &(-1_i32).to_le_bytes(), &[0; 8]].concat();
    stream.event(15, "OHx", clock, &payload)
}

fn case(code: &'static str, broken: Trace) -> Specimen {
    Specimen::of(code, broken.files)
}

/// A trace, and the one that the repair makes of it.
fn fixed(code: &'static str, broken: Trace, repaired: Trace) -> Specimen {
    let mut specimen = case(code, broken);
    specimen.repaired = Some(repaired.files);
    specimen
}

/// Files and headers, JSON and its keys.
fn files() -> Vec<Specimen> {
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
        fixed(
            "OV0102",
            smallest().replace(JSON, "\"pid\": 7", "\"pid\": 7,  \"pid\": 7"),
            smallest(),
        ),
        case("OV0103", smallest().change(JSON, |bytes| bytes.extend(b"\n}"))),
        case("OV0110", smallest().replace(JSON, "\"version\": 3,\n    ", "")),
        case("OV0111", smallest().replace(JSON, "\"tid\": 7,\n        ", "")),
        fixed("OV0120", smallest().replace(JSON, "loom_cpus", "lo1m_cpus"), smallest()),
        case("OV0112", smallest().replace(JSON, "\"app_id\": 1", "\"app_id\": 0")),
        fixed("OV0113", smallest().replace(JSON, "\"version\": 3", "\"version\": 3.5"), smallest()),
        fixed(
            "OV0114",
            pair(other.clone().replace(JSON, "\"ovni\": \"1.1.0\"", "\"ovni\": \"1.9.0\"")),
            pair(other.clone()),
        ),
        fixed("OV0115", smallest().replace(JSON, "node.0", "../../node.0"), smallest()),
        case("OV0116", smallest().replace(JSON, "\"thread\"", "\"loom\"")),
        fixed(
            "OV0117",
            one(thread().killed(), begun()),
            one(thread().killed(), begun().event(0, "OHe", 1_010, b"")).replace(
                JSON,
                "\"app_id\": 1",
                "\"app_id\": 1,\n        \"require\": {\n            \"ovni\": \"1.1.0\"\n\
                 \u{20}       },\n        \"loom_cpus\": [\n            {\n\
                 \u{20}               \"index\": 0,\n\
                 \u{20}               \"phyid\": 0\n            }\n        ],\n\
                 \u{20}       \"finished\": 1",
            ),
        ),
        case("OV0118", pair(other.replace(JSON, "1.14.0", "1.13.0"))),
        case("OV0119", version2()).with("upgrade", ""),
        fixed("OV0122", smallest().replace(JSON, "\"tid\": 7", "\"tid\": 8"), smallest()),
        case("OV0123", ranks("0", "2")),
        fixed("OV0124", ranks_of_three("4"), ranks_of_three("3")),
    ]
}

/// Two processes, the first with rank 0 of 2.
fn ranks(second: &str, nranks: &str) -> Trace {
    let ranked = |pid: u32, rank: &str, nranks: &str| {
        let thread = Thread::new(pid, pid).cpus(&[(pid - 7, pid - 7)]);
        thread.more("rank", rank).more("nranks", nranks)
    };
    Trace::of(&ranked(7, "0", "2"), Stream::default().begin(0).end())
        .and(&ranked(8, second, nranks), Stream::default().begin(1).end())
}

/// Three processes, the last one with this number of ranks.
fn ranks_of_three(nranks: &str) -> Trace {
    let numbers = ["3", "3", nranks];
    (0..).zip(numbers).fold(Trace::default(), |trace, (rank, nranks)| {
        let thread = Thread::new(7 + rank, 7 + rank).cpus(&[(rank, rank)]);
        let thread = thread.more("rank", rank.to_string()).more("nranks", nranks);
        trace.and(&thread, Stream::default().begin(i32::try_from(rank).unwrap()).end())
    })
}

/// How events follow each other in the bytes.
fn framing() -> Vec<Specimen> {
    let stale = begun().end().event(0, "OHe", 5, b"").event(0, "OB.", 6, b"");
    let block =
        |stream: Stream| stream.event(0, "OB.", 1_020, b"").event(0, "OB.", 1_030, b"").wait(1_030);
    let repeated = one(thread(), block(block(begun())).end());
    let once = one(thread(), block(begun()).end());
    vec![
        fixed(
            "OV1001",
            smallest().change(OBS, |bytes| bytes.truncate(bytes.len() - 3)),
            one(thread(), begun().event(0, "OHe", 1_010, b"")),
        ),
        fixed("OV1002", one(thread(), stale), smallest()),
        fixed(
            "OV1003",
            one(thread(), begun().event(0, "OB.", 1_030, b"").plain(&["OB.", "OB."]).end()),
            one(thread(), begun().event(0, "OB.", 1_020, b"").plain(&["OB.", "OB."]).end()),
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
        fixed("OV1007", repeated, once),
    ]
}

/// Single events.
fn bodies() -> Vec<Specimen> {
    let typed = |data: &[u8]| one(nosv(), begun().jumbo("VYc", data).end());
    let single = r#"{"3": {"title": "one", "chan_type": "single"}}"#;
    vec![
        case("OV2001", one(thread(), begun().with("OAs", &[0; 2]).end())),
        case("OV2002", one(thread(), begun().plain(&["OHz"]).end())),
        case("OV2003", one(thread(), begun().plain(&["tzz"]).end())),
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
        fixed("OV2011", one(nanos6(), two_tasks(3)), one(nanos6(), two_tasks(2))),
    ]
}

/// Two tasks of Nanos6, and one that starts.
fn two_tasks(started: u32) -> Stream {
    let created = begun().kind("6Yc", 1, "t").ids("6Tc", &[1, 1]).ids("6Tc", &[2, 1]);
    created.ids("6Tx", &[started]).ids("6Te", &[2]).end()
}

/// Events of one thread.
fn threads() -> Vec<Specimen> {
    let single = r#"{"3": {"title": "one", "chan_type": "single"}}"#;
    let stack = r#"{"3": {"title": "many", "chan_type": "stack"}}"#;
    let task = || begun().kind("VYc", 1, "t").ids("VTc", &[1, 1]);
    vec![
        case("OV3001", one(thread(), begun().begin(0).end())),
        case("OV3002", one(nosv(), Stream::default().plain(&["VHw"]).begin(0).end())),
        case(
            "OV3003",
            one(thread().require("kernel", "1.0.0"), begun().plain(&["KCO", "OB."]).end()),
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
        case("OV3011", one(nosv(), task().ids("VTe", &[1, 0]).end())),
        case("OV3012", one(thread(), begun().end().begin(0).end())),
        case("OV3013", one(thread(), begun().mark("OM=", 1, 3).end())),
        case("OV3014", one(thread().more("mark", single), begun().mark("OM[", 1, 3).end())),
    ]
}

/// Specimens of several files.
fn whole() -> Vec<Specimen> {
    let dir = thread().dir();
    let ranked = thread().more("rank", "0").more("nranks", "2");
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
            one(thread().more("rank", "0").more("nranks", "2"), begun().end())
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
        {
            // The emulator plays the second start before the first end.
            let trace = |clock: u64| {
                let first = Stream::at(10).begin(0).event(0, "OHe", 50, b"");
                let second = Stream::at(clock - 10).begin(0).event(0, "OHe", 90, b"");
                one(Thread::new(7, 7), first).and(&Thread::new(7, 8).cpus(&[]), second)
            };
            fixed("OV4017", trace(50), trace(51))
        },
        {
            let trace = |clock: u64| {
                let body = |code: &str, stream: Stream, clock: u64| {
                    stream.event(7, code, clock, &[1, 0, 0, 0, 0, 0, 0, 0])
                };
                let user = body("VTx", Stream::at(10).begin(0), clock);
                let user = body("VTe", user, 60).event(0, "OHe", 70, b"");
                let creator = Stream::at(10).begin(1);
                let creator = creator.event(0x13, "VYc", 50, b"\x06\0\0\0\x01\0\0\0a\0");
                let creator = creator.event(7, "VTc", 50, &[1, 0, 0, 0, 1, 0, 0, 0]);
                let creator = creator.event(0, "OHe", 90, b"");
                let cpus = nosv().cpus(&[(0, 0), (1, 1)]);
                one(cpus, user).and(&Thread::new(7, 8).require("nosv", "2.7.0").cpus(&[]), creator)
            };
            fixed("OV4018", trace(50), trace(51))
        },
        case("OV4015", one(nosv(), begun().jumbo("VWC", &[0; 16]).end())),
    ]
}

/// A trace for every rule.
pub fn specimens() -> Vec<Specimen> {
    [files(), framing(), bodies(), threads(), whole()].into_iter().flatten().collect()
}

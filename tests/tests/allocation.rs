//! The memory of a check and of a repair. The only test of its program, because other threads would
//! be counted.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

use tracemend::{AuditRequest, FileSet, FormatId, Options, Outcome, common};
use tracemend_tests::forge::perf::{Attr, Order, Record, Recording, all, sample_type};
use tracemend_tests::forge::{apitrace, ovni, qemu, revent};
use tracemend_tests::properties::allocation::{self, Counting};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Checks every kind of recording, one after another; a failure names it.
#[test]
fn a_check_holds_a_bounded_amount_of_memory() {
    let (probe, counted) = allocation::peak_during(|| vec![0_u8; 1 << 20]);
    assert!(counted >= 1 << 20 && probe.len() == 1 << 20, "the allocator counts {counted}");
    small_recordings_are_bounded();
    if is_left_to_the_gate("the memory of long recordings and of those with many faults") {
        return;
    }
    ovni_traces_hold_a_bounded_amount_of_memory();
    long_recordings_are_bounded();
    repairs_are_bounded();
}

fn bounded(name: &str, bytes: &[u8]) {
    allocation::bounded(bytes).unwrap_or_else(|broken| panic!("{name}: {broken}"));
}

/// Checks the recordings of the forge, whole, cut and flipped.
fn small_recordings_are_bounded() {
    let share = Share::one_in(4);
    for (name, bytes) in all() {
        bounded(name, &bytes);
        for at in share.of((0..bytes.len()).step_by(bytes.len() / 64 + 1)) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0xff;
            bounded(&format!("{name} flipped at {at}"), &flipped);
            bounded(&format!("{name} cut at {at}"), &bytes[..at]);
        }
    }
    for (name, bytes) in revent::all() {
        bounded(&name, &bytes);
        bounded(&format!("{name} cut"), &bytes[..bytes.len() - 5]);
    }
    for (name, bytes) in apitrace::all() {
        bounded(&name, &bytes);
        bounded(&format!("{name} cut"), &bytes[..bytes.len() - 5]);
    }
    for (name, log) in qemu::all() {
        bounded(&name, &log.bytes);
        bounded(&format!("{name} killed"), &log.killed(log.bytes.len() - 3));
    }
}

/// Checks long recordings, and such of which each event has a finding.
fn long_recordings_are_bounded() {
    for (name, bytes) in hostile_traces() {
        let files = FileSet::single("trace", &bytes);
        let check = || tracemend::check(&files, &Options::default());
        let (report, peak) = allocation::peak_during(check);
        assert_eq!(report.format, Some(FormatId::APITRACE), "{name}");
        bounded(&name, &bytes);
        // However much a trace expands to; what it defines is held.
        let most = if name.starts_with("definitions") { 64 << 20 } else { allocation::TRACE };
        assert!(peak <= most, "{name}: {peak} bytes");
        let audit = || tracemend::audit(&files, &Options::default(), &AuditRequest::default());
        let (_, peak) = allocation::peak_during(audit);
        assert!(peak <= most, "audit of {name}: {peak} bytes");
    }
    let held = |len: usize| {
        let log = qemu::long(qemu::ids::of("7.2"), len).killed(len);
        let files = FileSet::single("log", &log);
        let (report, peak) =
            allocation::peak_during(|| tracemend::check(&files, &Options::default()));
        assert!(report.tally.records > u64::try_from(len).unwrap() / 5);
        peak
    };
    // The last events are held up to a limit in bytes; a buffer for them has one of two sizes, by
    // the place of the cut, and a log of 1 MB and more the larger one.
    assert!(held(5_000_000) <= held(1_000_000) + 4096, "what is held does not grow with the log");
    let twice = doubtful();
    bounded("a log with a warning an event", &twice.bytes);
    bounded("a killed log with a warning an event", &twice.killed(twice.bytes.len()));
    let held = |taps: i32| {
        let bytes = taps_of(taps);
        let files = FileSet::single("recording", &bytes);
        let check = || tracemend::check(&files, &Options::default());
        let (report, peak) = allocation::peak_during(check);
        assert_eq!(report.tally.records, u64::from(taps.unsigned_abs()) * 8);
        peak
    };
    assert_eq!(held(1_000), held(50_000), "what is held does not grow with the recording");
    bounded("contacts in every slot", &contacts());
    bounded("findings of many events", &lost_devices());
    bounded("many findings", &bad_samples(100_000));
    bounded("many ids", &recording(vec![event(1..=500_000)]));
    bounded("many events", &recording((1..=2_000).map(|id| event([id])).collect()));
    bounded("ids that many events share", &shared_ids(1_000, 4_000));
    for names in [4, 4_000] {
        bounded("names of events whose ids are far apart", &without_attrs(named_events(names)));
    }
    bounded("ids of as many events", &without_attrs(indexed_events(200_000)));
    bounded("ids of fewer events", &without_attrs(indexed_events(120_000)));
    for blocks in [1, 16, 256, 1_024, 16_000] {
        bounded(&format!("{blocks} blocks of one byte"), &zstd_of_one_byte(blocks));
    }
}

/// Memory of a repair for each fix: the edit in two reports, the operation of the patch, the place.
const FIX: u64 = 400;

/// Repairs recordings with one fault many times, side by side and scattered.
fn repairs_are_bounded() {
    let count = 100_000_u32;
    // If nearly all of the file is faults, no repair is offered; the work is the same.
    for (name, bytes, outcome) in [
        ("side by side", empty_comms(count as usize), Outcome::CannotRepair),
        ("scattered", scattered(count as usize), Outcome::RepairedWithLoss),
    ] {
        let files = FileSet::single("perf.data", &bytes);
        let repair = || tracemend::repair(&files, &Options::default());
        let (repair, peak) = allocation::peak_during(repair);
        let is_refused = repair.after.count(&common::LITTLE_KEPT) == 1;
        assert_eq!(
            (repair.outcome, is_refused),
            (outcome, outcome == Outcome::CannotRepair),
            "{name}: {:?} {:?}",
            repair.refused,
            repair.after.counts()
        );
        assert_eq!(repair.records_lost(), u64::from(count), "{name}");
        println!("{count} faults {name}: {} KiB", peak >> 10);
        let most = if name == "scattered" {
            allocation::REPAIR + FIX * u64::from(count)
        } else {
            allocation::REPAIR
        };
        assert!(peak <= most, "{name}: {peak} bytes, expected at most {most}");
    }
}

/// Records of a name without the name.
fn empty_comms(count: usize) -> Vec<u8> {
    let mut recording = Recording::new(Order::Little, vec![event([1])]);
    let comm = recording.maker(0).comm("forge");
    recording.push(comm).extend((0..count).map(|_| Record::new(3, 0, Vec::new())));
    recording.build().bytes
}

/// Records of a name without the name, each between two that are sound.
fn scattered(count: usize) -> Vec<u8> {
    let mut recording = Recording::new(Order::Little, vec![event([1])]);
    let comm = recording.maker(0).comm("forge");
    let pair = || [Record::new(3, 0, Vec::new()), comm.clone()];
    recording.extend((0..count).flat_map(|_| pair()));
    recording.build().bytes
}

/// Checks and repairs ovni traces with a fault per event or per stream.
fn ovni_traces_hold_a_bounded_amount_of_memory() {
    for (name, trace) in ovni_traces() {
        let set = trace.set();
        let check = || tracemend::check(&set, &Options::default());
        let (report, peak) = allocation::peak_during(check);
        let held = allocation::check_is_bounded(&set, &report, peak);
        held.unwrap_or_else(|broken| panic!("check of {name}: {broken}"));
        let repair = || tracemend::repair(&set, &Options::default());
        let (repaired, peak) = allocation::peak_during(repair);
        let held = allocation::repair_is_bounded(&set, &repaired, peak);
        held.unwrap_or_else(|broken| panic!("repair of {name}: {broken}"));
    }
}

/// 1 MB of events that open states, 1 MB of descending clocks, 1 MB of clocks that go back at every
/// fourth event, and 20,000 streams.
fn ovni_traces() -> Vec<(&'static str, ovni::Trace)> {
    let thread = || ovni::Thread::new(7, 7).require("nosv", "2.7.0").require("nanos6", "1.1.0");
    let many = |code: &str| {
        let begun = ovni::Stream::default().begin(0);
        (0..87_000).fold(begun, |stream, _| stream.with(code, b""))
    };
    let descending = (0..87_000_u64).fold(ovni::Stream::default().begin(0), |stream, number| {
        stream.event(0, "OB.", 1_000_000 - number, b"")
    });
    // An outline of the clocks is one finding with an edit for each of them.
    let turning = (0..21_000_u64).fold(ovni::Stream::default().begin(0), |stream, number| {
        let stream = stream.event(0, "VHw", number, b"").event(0, "VS[", 1_030, b"");
        stream.event(0, "VSn", 1_040, b"").event(0, "VPr", 1_050, b"")
    });
    let files = (1..=20_000_u32).flat_map(|tid| {
        let thread = ovni::Thread::new(7, tid);
        let stream = ovni::Stream::at(u64::from(tid) * 1_000).begin(-1).plain(&["OB."]).end();
        let name = |leaf: &str| format!("{}/{leaf}", thread.dir());
        [
            (name("stream.json"), Some(thread.json().into_bytes())),
            (name("stream.obs"), Some(stream.bytes)),
        ]
    });
    vec![
        ("pushes", ovni::Trace::of(&thread(), many("VAs").end())),
        ("repeated pushes", ovni::Trace::of(&thread(), many("6W[").end())),
        ("descending clocks", ovni::Trace::of(&thread(), descending.end())),
        ("clocks that go back again and again", ovni::Trace::of(&thread(), turning)),
        ("20,000 streams", ovni::Trace { files: files.collect() }),
    ]
}

/// A log in which every event follows one that it must not follow.
fn doubtful() -> qemu::Log {
    let mut log = qemu::Log::new(qemu::ids::of("7.2"));
    log.start();
    for number in 1..100_000 {
        log.instruction(number);
    }
    log.close();
    log
}

fn event(ids: impl IntoIterator<Item = u64>) -> Attr {
    let bits = sample_type::IP | sample_type::TIME | sample_type::IDENTIFIER;
    Attr::cpu_clock(bits).with_size(64).with_ids(&ids.into_iter().collect::<Vec<_>>())
}

fn recording(events: Vec<Attr>) -> Vec<u8> {
    let mut recording = Recording::new(Order::Little, events);
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge")).push(maker.sample());
    recording.build().bytes
}

/// Samples of a single byte.
fn bad_samples(count: usize) -> Vec<u8> {
    let mut recording = Recording::new(Order::Little, vec![event([1])]);
    recording.extend((0..count).map(|_| Record::new(9, 0, vec![0])));
    recording.build().bytes
}

/// Events that all point to the ids of the first.
fn shared_ids(events: usize, ids: u64) -> Vec<u8> {
    let mut list = vec![event([]); events];
    list[0] = event(1..=ids);
    let mut recording = Recording::new(Order::Little, list);
    let comm = recording.maker(0).comm("forge");
    let built = recording.push(comm).build();
    let mut bytes = built.bytes;
    let section = built.attr_spans[0].end - 16..built.attr_spans[0].end;
    let section = bytes[section].to_vec();
    for span in &built.attr_spans {
        bytes[span.end - 16..span.end].copy_from_slice(&section);
    }
    bytes
}

/// A pipe of these records and some samples, without the attrs of its events.
fn without_attrs(records: impl IntoIterator<Item = Record>) -> Vec<u8> {
    let mut recording = Recording::pipe(Order::Little, Vec::new());
    recording.extend(records);
    let sample = |id: u64| [1 + id * 4_096, 0x40_0000, 7 << 32 | 7, 1_000_000_000 + id];
    recording.extend((0..500).map(|id| Record::new(9, 0, words(sample(id)))));
    recording.build().bytes
}

fn words(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// EVENT_UPDATE with the name of an event, each with room for 4,096 ids.
fn named_events(count: u64) -> impl Iterator<Item = Record> {
    let name = u64::from_le_bytes(*b"my_event");
    (0..count).map(move |number| Record::new(78, 0, words([2, 1 + number * 4_096, name, 0])))
}

/// ID_INDEX of events with one id each, of the same CPU and thread.
fn indexed_events(count: u64) -> impl Iterator<Item = Record> {
    let entry = |number: u64| [1 + number * 4_096, 0, 0, 7];
    (0..count / 2_000).map(move |record| {
        let entries = (record * 2_000..(record + 1) * 2_000).flat_map(entry);
        Record::new(69, 0, words(std::iter::once(2_000).chain(entries)))
    })
}

/// A compressed record in which four bytes stand for 128 KiB, with a window of 128 MiB.
fn zstd_of_one_byte(blocks: usize) -> Vec<u8> {
    let mut recording = Recording::new(Order::Little, vec![event([1])]);
    let mut body = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88];
    body.extend([0x02, 0x00, 0x10, b'x'].repeat(blocks));
    recording.push(Record::new(81, 0, body)).feature(27);
    recording.build().bytes
}

/// A recording of so many taps of a finger.
fn taps_of(count: i32) -> Vec<u8> {
    let mut recording = revent::Recording::new(revent::Layout::V3);
    for id in 0..count {
        recording.tap(id % 65_536);
    }
    recording.build().bytes
}

/// As many devices as there can be, each with a contact in its last slot.
fn contacts() -> Vec<u8> {
    let mut recording = revent::Recording::new(revent::Layout::V3);
    recording.paths = (0..1024).map(|index| format!("/dev/input/event{index}").into()).collect();
    for device in 0..1024 {
        recording.frame(device, &[(revent::SLOT, 127), (revent::ID, 1)]);
    }
    recording.build().bytes
}

/// Runs of events that say nothing, each a fault of its own: a fix holds an edit for each.
fn lost_devices() -> Vec<u8> {
    let mut recording = revent::Recording::new(revent::Layout::V3);
    let nothing = revent::Event { device: 1, time: 0, kind: 0, code: 0, value: 0 };
    for id in 0..60_000 {
        recording.frame(1, &[(revent::X, id)]);
        recording.events.push(nothing);
    }
    recording.times = Some([(2_671, 0), (9_999, 0)]);
    recording.build().bytes
}

/// Traces that expand to much, and such that say they do.
fn hostile_traces() -> Vec<(String, Vec<u8>)> {
    use apitrace::{Container, Stream, Value, call_heavy};
    let mut blob = Stream::new(6);
    blob.call(0, 1, &[Value::Blob(vec![0; 48 << 20])]);
    let mut definitions = Stream::new(6);
    (0..100_000).for_each(|id| _ = definitions.call(0, id, &[]));
    let mut deep = Stream::new(6);
    let array = (0..1_000).fold(Value::Uint(1), |value, _| Value::Array(vec![value]));
    deep.call(0, 1, &[array]);
    let calls = call_heavy(20_000);
    let streams =
        [("blob", blob), ("definitions", definitions), ("deep value", deep), ("calls", calls)];
    let containers = [Container::Snappy, Container::Gzip, Container::Seekable, Container::Brotli];
    let mut traces = Vec::new();
    for (name, stream) in streams {
        for container in containers {
            traces.push((format!("{name} {container:?}"), container.file(&stream.bytes)));
        }
    }
    // A chunk that claims 4 GiB, and a block that does.
    let sound = Container::Snappy.file(&call_heavy(4).bytes);
    let mut chunk = sound.clone();
    chunk.extend([0xff; 4]);
    chunk.extend(&sound[6..]);
    let mut block = sound.clone();
    block.extend(200_u32.to_le_bytes());
    block.extend([0xff, 0xff, 0xff, 0xff, 0x0f]);
    block.resize(sound.len() + 204, 0xfe);
    // Buffers of short blocks that are used again for long ones.
    let mut frames = apitrace::zstd(&call_heavy(20_000).bytes, 300, false);
    frames.extend(apitrace::zstd(&vec![0; 2 << 20], 2 << 20, false).repeat(60));
    traces.extend([("a chunk of 4 GiB".into(), chunk), ("a block of 4 GiB".into(), block)]);
    traces.push(("long frames after short ones".into(), frames));
    traces
}

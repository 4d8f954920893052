//! Pipes that lost HEADER_ATTR records together with EVENT_DESC: ID_INDEX, EVENT_UPDATE and the
//! samples show the events.

use std::collections::BTreeMap;

use tracemend::formats::perf::rules;
use tracemend::{FileSet, Options, Outcome, Safety, check};
use tracemend_tests::forge::perf::feature::{
    TRACEPOINT_NAME, TRACEPOINT_NUMBER, tracepoint_raw, tracing_data,
};
use tracemend_tests::forge::perf::{
    Attr, Built, Bytes, Order, Record, RecordSpan, Recording, sample_type as bit,
};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::known_originals::Dice;
use tracemend_tests::mended::mended;
use tracemend_tests::notice;
use tracemend_tests::sweep::Share;

const SEED: u64 = 144;
/// Cases per pipe and byte order.
const CASES: usize = 24;
/// Samples of each event.
const SAMPLES: u64 = 18;
/// Features before TRACING_DATA and ID_INDEX.
const FEATURES: [u32; 6] = [3, 5, 6, 7, 11, 12];
const EVENT_DESC: u32 = 12;
const CMDLINE: u32 = 11;
/// The fields of `--call-graph dwarf`, the registers of x86-64, and the number of their address.
const DWARF: u64 = bit::REGS_USER | bit::STACK_USER;
const REGISTERS: u64 = 0x00ff_0fff;
const ADDRESS: usize = 8;
/// The period in samples that have none.
const PERIOD: u64 = 250_000;

/// The events of the pipes, each with its name and `sample_type`.
fn pipes() -> [Vec<(&'static str, u64)>; 6] {
    let plain = bit::IP | bit::TID | bit::TIME;
    let named = plain | bit::IDENTIFIER;
    let traced = bit::CPU | bit::PERIOD | bit::RAW;
    [
        vec![("cpu-clock", named | bit::PERIOD), (TRACEPOINT_NAME, named | traced)],
        vec![(TRACEPOINT_NAME, plain | traced)],
        vec![
            ("page-faults", plain | bit::ID | bit::PERIOD),
            ("cpu-clock", plain | bit::ID | bit::PERIOD),
        ],
        vec![
            (TRACEPOINT_NAME, named | traced | bit::CALLCHAIN),
            ("page-faults", named | bit::ADDR | bit::PERIOD | bit::CALLCHAIN),
            ("cpu-clock:u", named | bit::PERIOD | bit::CALLCHAIN),
        ],
        vec![
            ("page-faults", plain | bit::ID | bit::PERIOD | bit::CALLCHAIN | DWARF),
            ("cpu-clock", plain | bit::ID | bit::PERIOD | bit::CALLCHAIN | DWARF),
        ],
        vec![
            ("page-faults", named | bit::ADDR | bit::PERIOD | bit::DATA_SRC | bit::WEIGHT_STRUCT),
            ("cpu-clock", named | bit::PERIOD | bit::CALLCHAIN | DWARF),
        ],
    ]
}

fn attr((name, fields): (&str, u64), number: u64) -> Attr {
    let mut attr = match name {
        TRACEPOINT_NAME => Attr::tracepoint(fields, TRACEPOINT_NUMBER, TRACEPOINT_NAME),
        "page-faults" => Attr::page_faults(fields),
        _ => Attr::cpu_clock(fields),
    };
    if fields & DWARF != 0 {
        (attr.sample_regs_user, attr.sample_stack_user) = (REGISTERS, 64);
    }
    attr.with_ids(&[10 * number + 11, 10 * number + 12])
}

fn number(order: Order, value: u64) -> [u8; 8] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}

/// An ID_INDEX of all events, each with an id per CPU.
fn id_index(order: Order, attrs: &[Attr]) -> Record {
    let ids = attrs.iter().flat_map(|attr| (0..).zip(&attr.ids));
    let entries: Vec<[u64; 4]> = ids.map(|(cpu, id)| [*id, cpu, cpu, 100]).collect();
    let words = std::iter::once(entries.len() as u64).chain(entries.into_iter().flatten());
    Record::new(69, 0, words.flat_map(|word| number(order, word)).collect())
}

/// An EVENT_UPDATE with the name of an event.
fn update(order: Order, name: &str, attr: &Attr) -> Record {
    let mut body = [number(order, 2), number(order, attr.ids[0])].concat();
    body.extend(name.as_bytes());
    body.resize((body.len() + 1).next_multiple_of(8), 0);
    Record::new(78, 0, body)
}

/// The feature CMDLINE with a period.
fn command_line(order: Order) -> Vec<u8> {
    let mut out = Bytes::new(order);
    let words = ["perf", "record", "-c", &PERIOD.to_string(), "sh", "-c", "1"];
    out.u32(words.len() as u32);
    words.iter().for_each(|word| _ = out.string(word));
    out.done()
}

fn piped(order: Order, events: &[(&str, u64)], has_index: bool) -> Built {
    let attrs: Vec<Attr> = (0..).zip(events).map(|(at, event)| attr(*event, at)).collect();
    let mut recording = Recording::pipe(order, attrs.clone());
    for feature in FEATURES {
        match feature {
            CMDLINE => recording.feature_with(CMDLINE, command_line(order)),
            _ => recording.feature(feature),
        };
    }
    if events.iter().any(|(name, _)| *name == TRACEPOINT_NAME) {
        let tracing = recording.maker(0).tracing_data(&tracing_data(order));
        recording.push(tracing);
    }
    if has_index {
        recording.push(id_index(order, &attrs));
    }
    for ((name, _), attr) in events.iter().zip(&attrs) {
        recording.push(update(order, name, attr));
    }
    let mut time = 2_000_000_000;
    for number in 0..SAMPLES {
        for (event, attr) in attrs.iter().enumerate() {
            let mut maker = recording.maker(event);
            time += 1000;
            let sample = maker.sample_with(|sample| {
                let cpu = (number % 2) as u32;
                (sample.cpu, sample.id, sample.time) = (cpu, attr.ids[cpu as usize], time);
                (sample.period, sample.raw) = (number + 1, tracepoint_raw(order));
                (sample.pid, sample.tid) = (100, 100);
                sample.weight = number << 32 | 7;
                if let Some(address) = sample.regs_user.get_mut(ADDRESS) {
                    *address = sample.ip;
                    sample.callchain.clear();
                }
            });
            recording.push(sample);
        }
    }
    recording.build()
}

/// Loses, zeroes or overwrites bytes from one of the beginning up to one of EVENT_DESC.
fn damaged(built: &Built, order: Order, dice: &mut Dice<'_>) -> (String, Vec<u8>) {
    let is_described = |record: &&RecordSpan| {
        record.kind == 80 && built.bytes[record.range()][8..16] == number(order, EVENT_DESC.into())
    };
    let described = built.records.iter().find(is_described).unwrap().range();
    let starts = [0, 8, 16, dice.below(0x200), dice.below(described.start)];
    let start = starts[dice.below(starts.len())];
    let end = described.start + 20 + dice.below(described.len() - 20);
    let (how, new) = match dice.below(4) {
        0 => ("zeroed", vec![0; end - start]),
        1 => ("noise", dice.noise(end - start)),
        _ => ("lost", Vec::new()),
    };
    let bytes = [&built.bytes[..start], &new, &built.bytes[end..]].concat();
    (format!("{how} {start:#x}..{end:#x}"), bytes)
}

#[test]
fn events_of_a_pipe_without_attrs_and_event_desc_are_those_of_its_index() {
    let perf = Perf::find_or_skip();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let (mut cases, mut kept) = (0, 0);
    let pipes = pipes();
    let orders = [Order::Little, Order::Big];
    let all = pipes.iter().flat_map(|events| orders.map(|order| (events, order)));
    for (index, (events, order)) in (0_u64..).zip(all) {
        let built = piped(order, events, true);
        let whole = check(&FileSet::single("perf.data", &built.bytes), &Options::default());
        assert!(!whole.has_errors(), "{events:?} {order:?}: {:?}", whole.findings());
        let shown = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            perf.as_ref().map(|perf| perf.samples_by_event(&path))
        };
        let original = shown(&built.bytes);
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(index));
        for number in 0..Share::one_in(1).count(CASES) {
            let (how, bytes) = damaged(&built, order, &mut dice);
            let (repair, target) = mended(&bytes);
            let case = format!("{events:?} {order:?} {number}, {how}: {:#?}", repair.outcome);
            cases += 1;
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{case}");
            assert!(repair.safety() != Some(Safety::Exact), "{case}");
            let after = check(&FileSet::single("perf.data", &target), &Options::default());
            assert!(!after.has_errors(), "{case}: {:?}", after.findings());
            let total = SAMPLES * events.len() as u64;
            let is_same = after.tally.samples == total && shown(&target) == original;
            kept += usize::from(is_same);
            assert!(is_same, "{case}: {} of {total}", after.tally.samples);
        }
    }
    notice::say(&format!("pipes without their events, seed {SEED}: {kept} of {cases} kept"));
}

/// Returns a pipe without the records before its tracing data or ID_INDEX.
fn without_events(built: &Built) -> Vec<u8> {
    let described = built.records.iter().rfind(|one| one.kind == 80).unwrap().range();
    [&built.bytes[..16], &built.bytes[described.end..]].concat()
}

#[test]
fn a_field_of_one_word_is_told_by_its_values_or_not_at_all() {
    let perf = Perf::find_or_skip();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let shown = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        perf.as_ref().map(|perf| perf.dump_with_events(&path).stdout).map(|text| {
            let mut lines = text.lines().map(str::to_string).collect::<Vec<_>>();
            lines.retain(|line| line.starts_with("..") || line.starts_with(". data_src"));
            lines
        })
    };
    let usual = bit::IP | bit::TID | bit::TIME | bit::ID | bit::PERIOD;
    for (fields, is_told) in [
        (bit::DATA_SRC, true),
        (bit::DATA_SRC | bit::WEIGHT_STRUCT, true),
        (DWARF | bit::CALLCHAIN, true),
        (bit::WEIGHT, false),
        (bit::WEIGHT_STRUCT, false),
        (bit::TRANSACTION, false),
        (bit::PHYS_ADDR, false),
        (bit::CGROUP, false),
        (bit::DATA_PAGE_SIZE, false),
        (bit::CODE_PAGE_SIZE, false),
    ] {
        let events = [("cpu-clock", usual | fields)];
        let built = piped(Order::Little, &events, true);
        let (repair, target) = mended(&without_events(&built));
        let is_repaired = repair.outcome == Outcome::RepairedWithLoss;
        assert_eq!(is_repaired, is_told, "{fields:#x}: {:?}", repair.outcome);
        assert!(!is_told || shown(&target) == shown(&built.bytes), "{fields:#x}");
    }
}

#[test]
fn samples_without_a_period_have_that_of_the_command_line() {
    let events = [("cpu-clock", bit::IP | bit::TID | bit::TIME | bit::ID)];
    for order in [Order::Little, Order::Big] {
        let built = piped(order, &events, true);
        let attrs_end = built.records.iter().rfind(|one| one.kind == 64).unwrap().range().end;
        let described = built.records.iter().rfind(|one| one.kind == 80).unwrap().range();
        let bytes = [&built.bytes[..16], &built.bytes[attrs_end..described.start]].concat();
        let bytes = [&bytes, &built.bytes[described.end..]].concat();
        let (_, target) = mended(&bytes);
        // type, size, config, sample_period
        assert_eq!(target[16 + 8 + 16..][..8], number(order, PERIOD), "{order:?}");
    }
}

#[test]
fn names_alone_show_the_events_of_a_pipe() {
    let [events, ..] = pipes();
    let built = piped(Order::Little, &events, false);
    let attrs_end = built.records.iter().rfind(|one| one.kind == 64).unwrap().range().end;
    let described = built.records.iter().rfind(|one| one.kind == 80).unwrap().range();
    let bytes = [&built.bytes[..16], &built.bytes[attrs_end..described.start]].concat();
    let bytes = [&bytes, &built.bytes[described.end..]].concat();
    let report = check(&FileSet::single("perf.data", &bytes), &Options::default());
    assert_eq!(report.count(&rules::NO_ATTRS), 1, "{:?}", report.findings());
    let (repair, target) = mended(&bytes);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.before.findings());
    let after = check(&FileSet::single("perf.data", &target), &Options::default());
    assert_eq!((after.has_errors(), after.tally.samples), (false, 2 * SAMPLES));
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    std::fs::write(&path, &target).unwrap();
    let mut by_event: BTreeMap<String, u64> = BTreeMap::new();
    for sample in perf.samples_by_event(&path) {
        *by_event.entry(sample.event).or_default() += 1;
    }
    assert_eq!(by_event.into_values().collect::<Vec<_>>(), [SAMPLES, SAMPLES]);
}

#[test]
fn a_pipe_without_event_desc_whose_attrs_are_there_lacks_none() {
    let orders = [Order::Little, Order::Big];
    let all = pipes().into_iter().flat_map(|events| orders.map(|order| (events.clone(), order)));
    let all = all.flat_map(|(events, order)| [true, false].map(|has| (events.clone(), order, has)));
    for (events, order, has_index) in all {
        let built = piped(order, &events, has_index);
        let described = built.records.iter().rfind(|one| one.kind == 80).unwrap().range();
        let bytes = [&built.bytes[..described.start], &built.bytes[described.end..]].concat();
        let report = check(&FileSet::single("perf.data", &bytes), &Options::default());
        assert!(!report.has_errors(), "{events:?}, {has_index}: {:?}", report.findings());
    }
}

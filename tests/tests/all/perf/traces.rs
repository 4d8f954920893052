//! Traces of a processor: the records about them, their index and their bytes.

use std::ops::Range;
use tracemend_tests::sweep::is_left_to_the_gate;

use tracemend::limits::WINDOW;
use tracemend::{Outcome, Report, Safety, Severity};
use tracemend_tests::forge::perf::trace::{Tracer, event, of_records, records, traced};
use tracemend_tests::forge::perf::{Built, Maker, Order, Record};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::mended::mended;

/// Number of the feature with the index.
const INDEX: u32 = 18;

fn codes(report: &Report) -> Vec<(&'static str, Severity)> {
    report.findings().iter().map(|one| (one.rule.code, one.severity)).collect()
}

/// Returns the place of the index.
fn index(built: &Built) -> usize {
    built.features.iter().find(|feature| feature.number == INDEX).unwrap().section.start
}

/// Returns the places of the traces.
fn traces(built: &Built) -> Vec<Range<usize>> {
    let records = built.records.iter().filter(|record| record.kind == 71);
    records.map(|record| record.offset + record.len..record.range().end).collect()
}

#[test]
fn sound_traces_have_no_finding_and_every_perf_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let perfs: Vec<Perf> = Perf::all_or_skip();
    for tracer in Tracer::ALL {
        let built = traced(tracer);
        assert_eq!(mended(&built.bytes).0.outcome, Outcome::Clean, "{tracer:?}");
        std::fs::write(&path, &built.bytes).unwrap();
        for perf in &perfs {
            let verdict = perf.samples(&path);
            assert_eq!((verdict.is_success(), verdict.count), (true, 3), "{tracer:?} {verdict:?}");
            let dump = perf.dump_of_traces(&path);
            assert!(!dump.stdout.to_lowercase().contains("bad packet"), "{}", dump.stdout);
        }
    }
}

/// Returns the offset in its trace of the first packet that perf cannot read, by its dump.
fn first_bad(dump: &str) -> Option<usize> {
    let line = dump.lines().find(|line| line.to_lowercase().contains("bad packet"))?;
    usize::from_str_radix(line.split(':').next()?.trim_start_matches(['.', ' ']), 16).ok()
}

#[test]
fn a_trace_is_damaged_where_perf_finds_the_first_bad_packet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let perfs: Vec<Perf> = Perf::all_or_skip();
    for (tracer, place, bytes) in
        [(Tracer::IntelPt, 64 * 3 + 37, [0x05; 20]), (Tracer::ArmSpe, 64 * 3, [0xff; 20])]
    {
        let built = traced(tracer);
        let start = traces(&built)[0].start + place;
        let mut damaged = built.bytes.clone();
        damaged[start..start + bytes.len()].copy_from_slice(&bytes);
        let (repair, target) = mended(&damaged);
        assert_eq!(codes(&repair.before), [("PD3007", Severity::Warning)], "{tracer:?}");
        assert_eq!(repair.before.findings()[0].span.start(), start as u64);
        assert!(target == damaged);
        std::fs::write(&path, &damaged).unwrap();
        for perf in &perfs {
            let dump = perf.dump_of_traces(&path);
            assert_eq!(first_bad(&dump.stdout), Some(place), "{tracer:?}, {}", perf.version());
        }
    }
}

#[test]
fn frames_with_sources_that_do_not_exist_are_one_stretch() {
    let built = traced(Tracer::CoreSight);
    let trace = traces(&built)[0].clone();
    let mut damaged = built.bytes.clone();
    // Three bytes are lost, so that data are read as sources up to the end.
    damaged.copy_within(trace.start + 644..trace.end, trace.start + 641);
    let report = mended(&damaged).0.before;
    assert_eq!(codes(&report), [("PD3007", Severity::Warning)]);
    let span = report.findings()[0].span;
    assert_eq!(span.start(), (trace.start + 640) as u64);
}

#[test]
fn traces_of_which_bytes_were_lost_or_written_over_are_not_judged() {
    let tracer = Tracer::IntelPt;
    let noise = [tracer.trace(1), vec![0x05; 64]].concat();
    let of_flags = |flags: u64| {
        let mut maker = Maker::new(Order::Little, &event());
        let mut records = vec![maker.tracer(tracer), maker.comm("forge")];
        records.extend([maker.aux_of(0, 128, flags), maker.auxtrace_of(0, &noise)]);
        records.push(maker.sample());
        codes(&mended(&of_records(records, None).bytes).0.before)
    };
    assert_eq!(of_flags(0), [("PD3007", Severity::Warning)]);
    for flags in [1, 2, 4, 0x100] {
        assert_eq!(of_flags(flags), [], "{flags}");
    }
}

#[test]
fn a_damaged_word_of_the_index_comes_back_exactly() {
    let built = traced(Tracer::IntelPt);
    for (word, value) in [(0, 1), (0, 3), (0, 1 << 40), (1, 8), (2, 49), (3, 1 << 40), (4, 0)] {
        let damaged = built.with_u64(index(&built) + word * 8, value);
        let (repair, target) = mended(&damaged);
        assert_eq!(codes(&repair.before), [("PD0039", Severity::Error)], "{word} {value}");
        assert_eq!((repair.outcome, repair.safety()), (Outcome::Repaired, Some(Safety::Exact)));
        assert!(target == built.bytes, "{word} {value}");
    }
    // perf reads the records if the index is empty.
    let (repair, target) = mended(&built.with_u64(index(&built), 0));
    assert_eq!(codes(&repair.before), [("PD0039", Severity::Warning)]);
    assert!(target == built.bytes);
}

#[test]
fn an_index_that_lacks_a_record_grows() {
    let built = traced(Tracer::IntelPt);
    let entry = &built.bytes[index(&built) + 8..index(&built) + 24];
    let short = [&1_u64.to_le_bytes()[..], entry].concat();
    let (repair, target) = mended(&of_records(records(Tracer::IntelPt), Some(short)).bytes);
    assert_eq!(codes(&repair.before), [("PD0039", Severity::Error)]);
    assert_eq!((repair.outcome, repair.safety()), (Outcome::Repaired, Some(Safety::Exact)));
    assert!(target == built.bytes);
}

#[test]
fn the_index_follows_records_that_move() {
    // A CPU_MAP of an unknown type, before the traces and between them.
    let unknown = Record::new(74, 0, vec![9, 0, 0, 0, 0, 0, 0, 0]);
    let mut more = records(Tracer::IntelPt);
    more.insert(1, unknown.clone());
    more.insert(8, unknown);
    let (repair, target) = mended(&of_records(more, None).bytes);
    assert_eq!(codes(&repair.before), [("PD2003", Severity::Error); 2]);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert!(target == traced(Tracer::IntelPt).bytes);
}

#[test]
fn an_index_that_is_longer_than_the_window_is_not_read() {
    if is_left_to_the_gate("an index that is longer than the window is not read") {
        return;
    }
    let long = vec![1; usize::try_from(WINDOW.default).unwrap() + 8];
    let mut more = records(Tracer::IntelPt);
    more.insert(1, Record::new(74, 0, vec![9, 0, 0, 0, 0, 0, 0, 0]));
    let (repair, target) = mended(&of_records(more, Some(long.clone())).bytes);
    assert_eq!(codes(&repair.before), [("PD2003", Severity::Error)]);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert!(target.windows(long.len()).any(|window| window == long));
}

#[test]
fn the_beginning_of_a_truncated_trace_stays() {
    let built = traced(Tracer::IntelPt);
    let last = traces(&built)[1].clone();
    let crashed = built.crashed()[..last.end - 100].to_vec();
    let (repair, target) = mended(&crashed);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    // Of 412 bytes, 408 are complete words.
    assert_eq!(target.len(), last.start + 408);
    assert_eq!(target[last.start - 40..last.start - 32], 408_u64.to_le_bytes());
    assert_eq!(mended(&target).0.outcome, Outcome::Clean);
}

#[test]
fn traces_without_their_tracer_go_and_all_samples_stay() {
    let mut without = records(Tracer::ArmSpe);
    without.retain(|record| record.kind != 70);
    let (repair, target) = mended(&of_records(without, None).bytes);
    assert_eq!(codes(&repair.before)[0], ("PD2013", Severity::Error));
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(repair.after.tally.samples, 3);
    assert_eq!(mended(&target).0.outcome, Outcome::Clean);
}

#[test]
fn bytes_of_which_a_record_tells_are_in_an_auxtrace() {
    let tracer = Tracer::ArmSpe;
    let built = traced(tracer);
    // The second AUX record, whose bytes are 1024..1536.
    let aux = built.records.iter().filter(|record| record.kind == 11).nth(1).unwrap().offset;
    for (field, value, is_missing) in
        [(8, 1024, false), (8, 1032, true), (8, 0, false), (16, 513, true), (16, 8, false)]
    {
        let report = mended(&built.with_u64(aux + field, value)).0.before;
        let expected = if is_missing { vec![("PD3006", Severity::Warning)] } else { vec![] };
        assert_eq!(codes(&report), expected, "{field} {value}");
    }
}

/// Returns the places of the AUXTRACE records.
fn aux_traces(built: &Built) -> Vec<usize> {
    built.records.iter().filter(|one| one.kind == 71).map(|one| one.offset).collect()
}

/// A recording of three traces of one buffer.
fn three_traces() -> Built {
    let tracer = Tracer::ArmSpe;
    let mut maker = Maker::new(Order::Little, &event());
    let mut records = vec![maker.time_conv(), maker.tracer(tracer), maker.comm("forge")];
    let mut offset = 0;
    for blocks in [16, 8, 24] {
        let trace = tracer.trace(blocks);
        let len = trace.len() as u64;
        records.push(maker.aux_of(offset, len, 0));
        records.extend([maker.auxtrace_of(offset, &trace), maker.sample()]);
        offset += len;
    }
    of_records(records, None)
}

#[test]
fn a_trace_that_continues_a_buffer_gets_its_name_back_exactly() {
    let built = three_traces();
    let places = aux_traces(&built);
    for place in &places[1..] {
        for (field, value) in [(32, 1 << 31), (32, u32::MAX), (32, 1 << 26), (40, 1 << 20)] {
            let mut damaged = built.bytes.clone();
            damaged[place + field..place + field + 4].copy_from_slice(&value.to_le_bytes());
            let (repair, target) = mended(&damaged);
            assert_eq!(codes(&repair.before), [("PD2015", Severity::Error)], "{field} {value}");
            assert_eq!(repair.safety(), Some(Safety::Exact), "{field} {value}");
            assert!(target == built.bytes, "{field} {value}");
        }
    }
    // Nothing is before the first trace, so its name is only likely.
    let (repair, target) = mended(&built.with_u64(places[0] + 32, u64::MAX));
    assert_eq!((repair.outcome, repair.safety()), (Outcome::RepairedWithLoss, Some(Safety::Lossy)));
    assert!(target == built.bytes);
}

/// Each name is compared with all others by its fields: one by one that took minutes for these.
#[test]
fn each_of_many_buffers_that_cannot_exist_gets_the_name_that_is_near_it() {
    const BUFFERS: u32 = 10_000;
    let maker = Maker::new(Order::Little, &event());
    let trace = |idx: u32, tid: u32| {
        let mut record = maker.auxtrace(&[]);
        for (at, word) in [(24, idx), (28, tid), (32, u32::MAX)] {
            record.body[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        record
    };
    let sound = (0..BUFFERS).map(|number| trace(number, 100 + number));
    let damaged = (0..BUFFERS).map(|number| trace(u32::MAX, 100 + number));
    let records = [maker.time_conv(), maker.tracer(Tracer::ArmSpe)];
    let built = of_records(records.into_iter().chain(sound).chain(damaged).collect(), None);
    let (repair, target) = mended(&built.bytes);
    assert_eq!(repair.outcome, Outcome::Repaired);
    assert_eq!(repair.before.counts().values().sum::<u64>(), u64::from(BUFFERS));
    let places = aux_traces(&built);
    for (number, place) in (0..BUFFERS).zip(&places[places.len() / 2..]) {
        assert_eq!(target[place + 32..place + 36], number.to_le_bytes(), "{number}");
    }
}

#[test]
fn a_damaged_size_of_a_trace_comes_back_exactly_and_every_record_stays() {
    let built = three_traces();
    for (number, place) in aux_traces(&built).into_iter().enumerate() {
        let right = [1024, 512, 1536][number];
        for size in [0, 8, right - 8, right + 8, right ^ 1 << 40, 1 << 63, u64::MAX] {
            let (repair, target) = mended(&built.with_u64(place + 8, size));
            assert_eq!(codes(&repair.before), [("PD2016", Severity::Error)], "{number} {size}");
            assert_eq!(repair.safety(), Some(Safety::Exact), "{number} {size}");
            assert!(target == built.bytes, "{number} {size}");
        }
    }
}

#[test]
fn a_record_that_is_damaged_after_a_trace_does_not_change_its_size() {
    let built = three_traces();
    let first = &built.records[built.first_of(71).unwrap()];
    let damaged = built.with_u64(first.range().end, u64::MAX);
    let (repair, target) = mended(&damaged);
    assert_eq!(repair.before.count(&tracemend::formats::perf::rules::TRACE_SIZE_WRONG), 0);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(target[first.offset + 8..first.offset + 16], 1024_u64.to_le_bytes());
}

#[test]
fn arm_spe_without_a_clock_gets_one_by_which_perf_shows_every_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let sound = records(Tracer::ArmSpe);
    let without = of_records(sound[1..].to_vec(), None).bytes;
    let built = of_records(sound, None);
    let clock = built.records[built.first_of(79).unwrap()].offset;
    for (damaged, safety) in [
        (without, Safety::Synthetic),
        (built.with_u64(clock + 16, 0), Safety::Lossy),
        (built.with_u64(clock + 16, 1 << 32), Safety::Lossy),
    ] {
        let (repair, target) = mended(&damaged);
        assert_eq!(codes(&repair.before), [("PD2014", Severity::Error)]);
        assert_eq!((repair.safety(), repair.after.tally.samples), (Some(safety), 3));
        assert_eq!(mended(&target).0.outcome, Outcome::Clean);
        for perf in Perf::all_or_skip() {
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(perf.samples(&path).count, 0, "{}", perf.version());
            std::fs::write(&path, &target).unwrap();
            assert_eq!(perf.samples(&path).count, 3, "{}", perf.version());
        }
    }
}

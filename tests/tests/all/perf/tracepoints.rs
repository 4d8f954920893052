//! Recordings of tracepoints whose TRACING_DATA is missing or damaged, without a donor.

use tracemend::limits::WINDOW;
use tracemend::{FileSet, Limits, Options, Outcome, Safety, check};
use tracemend_tests::forge::perf::feature::{
    TRACEPOINT_NAME, TRACEPOINT_NUMBER, tracepoint_raw, tracing_data,
};
use tracemend_tests::forge::perf::{Attr, Order, Recording, by_name, sample_type};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::known_originals::Dice;
use tracemend_tests::mended::mended;
use tracemend_tests::notice;
use tracemend_tests::properties::donor::traced;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Reads a recording with perf; `None` if it is not installed.
fn text(perf: Option<&Perf>, bytes: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("judged.data");
    std::fs::write(&path, bytes).unwrap();
    let verdict = perf?.script_text(&path);
    assert!(verdict.is_success(), "{}", verdict.stderr);
    Some(verdict.stdout)
}

#[test]
fn a_crashed_recording_shows_its_samples_without_their_fields() {
    let perf = Perf::find_or_skip();
    for order in [Order::Little, Order::Big] {
        let whole = traced(order, tracing_data(order));
        let (repair, target) = mended(&whole.crashed());
        assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.after.findings());
        assert_eq!(repair.safety(), Some(Safety::Synthetic));
        let left = repair.after.findings();
        assert!(left.is_empty(), "{left:?}");
        let text = text(perf.as_ref(), &target);
        // EVENT_DESC with the name is lost as well.
        let line = "unknown:tracepoint_316: fields lost";
        assert!(text.is_none_or(|text| text.matches(line).count() == 2), "{order:?}");
    }
}

#[test]
fn the_name_of_a_tracepoint_is_that_in_event_desc() {
    let perf = Perf::find_or_skip();
    let whole = by_name("tracepoint").built;
    let mut bytes = whole.without_feature(1);
    let name = b"name: sched_switch";
    let format = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[format..format + name.len()].fill(0);
    let (repair, target) = mended(&bytes);
    assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.after.findings());
    let text = text(perf.as_ref(), &target);
    assert!(text.is_none_or(|text| text.contains("sched:sched_switch: fields lost")));
}

#[test]
fn bytes_lost_inside_the_formats_cost_no_feature_after_them() {
    let order = Order::Little;
    let tracing = tracing_data(order);
    let ids = sample_type::TID | sample_type::TIME | sample_type::ID | sample_type::RAW;
    let attr = Attr::tracepoint(ids, TRACEPOINT_NUMBER, TRACEPOINT_NAME).with_ids(&[61, 62]);
    let mut recording = Recording::new(order, vec![attr]);
    let mut maker = recording.maker(0);
    recording.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(order)));
    recording.feature_with(1, tracing.clone()).features([3, 4, 5, 6, 8, 9, 10, 11, 12, 14, 16]);
    let built = recording.build();
    let start = built.bytes.windows(tracing.len()).position(|bytes| bytes == tracing).unwrap();
    let after = &built.bytes[start + tracing.len()..];
    let mut cases = 0;
    let share = Share::one_in(16);
    for at in share.of(tracing.len() / 8..tracing.len() * 3 / 4) {
        for lost in [8, 32, 96] {
            let mut bytes = built.bytes.clone();
            bytes.drain(start + at..start + at + lost);
            let (repair, target) = mended(&bytes);
            let case = format!("{lost} bytes at {at}: {:?}", repair.before.counts());
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{case}");
            assert!(target.ends_with(after), "{case}");
            cases += 1;
        }
    }
    assert!(cases > share.count(320), "{cases}");
}

#[test]
fn a_format_survives_damage_around_it() {
    let perf = Perf::find_or_skip();
    let order = Order::Little;
    let tracing = tracing_data(order);
    let start = tracing.windows(6).position(|window| window == b"name: ").unwrap();
    let end = tracing.windows(10).rposition(|window| window == b"prev_pid=%").unwrap();
    let end = end + "prev_pid=%d\", REC->prev_pid\n".len();
    let mut lossy = 0;
    for at in Share::one_in(24).of((0..start).chain(end..tracing.len())) {
        let mut damaged = tracing.clone();
        damaged[at] ^= 0x80;
        let (repair, target) = mended(&traced(order, damaged).bytes);
        if repair.outcome == Outcome::Clean {
            continue;
        }
        lossy += 1;
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "at {at}");
        let text = text(perf.as_ref(), &target);
        assert!(text.is_none_or(|text| text.matches("prev_pid=").count() == 2), "at {at}");
    }
    assert!(lossy > 0);
}

#[test]
fn a_file_that_has_to_be_rebuilt_keeps_the_formats_that_are_left() {
    const SEED: u64 = 611;
    const CASES: usize = 32;
    let perf = Perf::find_or_skip();
    let ids = sample_type::TID | sample_type::TIME | sample_type::ID | sample_type::RAW;
    let attr = Attr::tracepoint(ids, TRACEPOINT_NUMBER, TRACEPOINT_NAME).with_ids(&[61, 62]);
    let (mut rebuilt, mut cases) = (0, 0);
    for order in [Order::Little, Order::Big] {
        let mut recording = Recording::new(order, vec![attr.clone()]);
        let mut maker = recording.maker(0);
        for _ in 0..24 {
            recording.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(order)));
        }
        recording.feature_with(1, tracing_data(order)).features([3, 4, 5, 6, 8, 9, 10, 11, 12]);
        let built = recording.build();
        let last = b"prev_pid=%d\", REC->prev_pid\n";
        let end = built.bytes.windows(last.len()).position(|bytes| bytes == last).unwrap();
        let after = end + last.len()..built.bytes.len();
        let records = built.records[1].range().start..built.records[22].range().end;
        let mut dice = Dice::seeded(SEED);
        for _ in 0..Share::one_in(1).count(CASES) {
            let mut bytes = built.bytes.clone();
            for area in [after.clone(), records.clone()] {
                let len = 8 + dice.below(area.len() / 4);
                let at = area.start + dice.below(area.len() - len);
                bytes.drain(at..at + len);
            }
            let (repair, target) = mended(&bytes);
            cases += 1;
            let case = format!("{order:?} {cases}: {:?}", repair.before.findings());
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{case}");
            let fixes = repair.applied.iter().filter_map(|one| one.finding.fix.as_ref());
            let built = fixes.filter(|fix| fix.summary.contains("from the formats of 1 trace"));
            rebuilt += built.count();
            let text = text(perf.as_ref(), &target);
            let samples = usize::try_from(repair.after.tally.samples).unwrap();
            assert!(samples >= 6, "{samples} {case}");
            let has_fields = |text: &String| text.matches("prev_pid=").count() == samples;
            assert!(text.as_ref().is_none_or(has_fields), "{samples} {text:?} {case}");
        }
    }
    notice::say(&format!("formats in rebuilt files, seed {SEED}: {rebuilt} of {cases} rebuilt"));
    assert!(rebuilt > 0, "{cases}");
}

#[test]
fn tracing_data_that_lacks_a_tracepoint_is_an_error() {
    let order = Order::Little;
    let mut tracing = tracing_data(order);
    let at = tracing.windows(7).position(|window| window == b"ID: 316").unwrap();
    tracing[at + 6] = b'7';
    let (repair, target) = mended(&traced(order, tracing).bytes);
    let codes: Vec<_> = repair.before.counts().keys().copied().collect();
    assert_eq!(codes, ["PD2006"]);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let text = text(Perf::find_or_skip().as_ref(), &target);
    assert!(text.is_none_or(|text| text.matches("fields lost").count() == 2));
}

#[test]
fn a_pipe_gets_a_record_of_its_own() {
    let perf = Perf::find_or_skip();
    let pipe = by_name("pipe_tracepoint").built;
    let record = pipe.records.iter().find(|record| record.kind == 66).unwrap().range();
    let len = u32::from_le_bytes(pipe.bytes[record.start + 8..][..4].try_into().unwrap());
    let payload = record.start + 12..record.start + 12 + len as usize;
    let mut without = pipe.bytes.clone();
    without.drain(record.start..payload.end);
    let mut damaged = pipe.bytes.clone();
    damaged[payload.start] ^= 1;
    for (bytes, outcome, line) in [
        (without, Outcome::Repaired, "fields lost"),
        (damaged, Outcome::RepairedWithLoss, "prev_pid="),
    ] {
        let (repair, target) = mended(&bytes);
        assert_eq!(repair.outcome, outcome, "{:?}", repair.after.findings());
        let text = text(perf.as_ref(), &target);
        assert!(text.is_none_or(|text| text.contains(line)), "{line}");
    }
}

#[test]
fn records_that_tracing_data_reaches_over_stay() {
    let order = Order::Little;
    let ids = sample_type::TID | sample_type::TIME | sample_type::ID | sample_type::RAW;
    let attr = Attr::tracepoint(ids, TRACEPOINT_NUMBER, TRACEPOINT_NAME).with_ids(&[61]);
    let mut recording = Recording::pipe(order, vec![attr]);
    let mut maker = recording.maker(0);
    recording.push(maker.tracing_data(&tracing_data(order)));
    for _ in 0..40 {
        recording.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(order)));
    }
    let pipe = recording.build();
    let record = pipe.records.iter().find(|record| record.kind == 66).unwrap().range();
    let first = pipe.records.iter().find(|record| record.kind == 9).unwrap().range().start;
    let all = check(&FileSet::single("perf.data", &pipe.bytes), &Options::default()).tally;
    let payload = record.start + 12..first;
    let lost = [8, 40, 240, 800, 1_600].into_iter().filter(|lost| lost + 64 < payload.len());
    for lost in lost {
        for at in [payload.start + 16, payload.end - lost - 24] {
            let mut damaged = pipe.bytes.clone();
            damaged.drain(at..at + lost);
            let (repair, _) = mended(&damaged);
            let case = format!("{lost} bytes lost at {at:#x}: {:?}", repair.before.findings());
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{case}");
            assert_eq!(repair.before.tally.samples, all.samples, "{case}");
            assert_eq!(repair.after.tally.samples, all.samples, "{case}");
        }
    }
}

#[test]
fn tracing_data_that_is_longer_than_the_window_is_not_searched_for_records() {
    if is_left_to_the_gate(
        "tracing data that is longer than the window is not searched for records",
    ) {
        return;
    }
    let order = Order::Little;
    let ids = sample_type::TID | sample_type::TIME | sample_type::ID | sample_type::RAW;
    let attr = Attr::tracepoint(ids, TRACEPOINT_NUMBER, TRACEPOINT_NAME).with_ids(&[61]);
    let held = usize::try_from(Limits::default().of(&WINDOW)).unwrap();
    // Without these bytes of its payload TRACING_DATA reaches over some of the samples.
    let lost = 800;
    for (len, is_searched) in [(held, true), (held + 8, false)] {
        let mut recording = Recording::pipe(order, vec![attr.clone()]);
        let mut maker = recording.maker(0);
        let mut content = tracing_data(order);
        content.resize(len, 0);
        recording.push(maker.tracing_data(&content));
        for _ in 0..40 {
            recording.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(order)));
        }
        let mut pipe = recording.build().bytes;
        let samples = |bytes: &[u8]| {
            check(&FileSet::single("perf.data", bytes), &Options::default()).tally.samples
        };
        let all = samples(&pipe);
        let at = 16 + content.len() - lost;
        pipe.drain(at..at + lost);
        let left = samples(&pipe);
        assert_eq!(left == all, is_searched, "{len} bytes: {left} of {all} samples");
    }
}

#[test]
fn samples_with_the_id_0_show_the_tracepoint_of_the_only_event() {
    let order = Order::Little;
    let kind = sample_type::TID | sample_type::TIME | sample_type::ID | sample_type::RAW;
    let attr = Attr::tracepoint(kind, TRACEPOINT_NUMBER, TRACEPOINT_NAME).with_ids(&[61]);
    let mut recording = Recording::new(order, vec![attr]);
    let mut maker = recording.maker(0);
    for _ in 0..2 {
        recording.push(maker.sample_with(|sample| {
            (sample.id, sample.raw) = (0, tracepoint_raw(order));
        }));
    }
    let built = recording.feature_with(1, tracing_data(order)).build();
    let mut damaged = built.bytes.clone();
    damaged[built.attr_spans[0].start + 8] ^= 1;
    assert!(mended(&damaged).1 == built.bytes);
}

//! Rules of apitrace that interact. Each rule by itself has a specimen (`specimens/apitrace.rs`).

use std::path::Path;

use tracemend::FormatId;
use tracemend::formats::apitrace::rules;
use tracemend::kit::source::Source;
use tracemend::mend::rounds::view;
use tracemend::model::edit::StoredAnew;
use tracemend::{Choices, FileSet, Options, Outcome, Severity};
use tracemend_tests::forge::apitrace::{
    Container, Detail, Stream, Value, call_heavy, chunks, snappy, snappy_of,
};
use tracemend_tests::mended::{mended, mended_as, mended_with};
use tracemend_tests::specimens::apitrace::{around, specimens, stored, without};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

#[test]
fn rewritten_units_balance_in_the_stream() {
    let (mut wrong, mut balanced) = (Vec::new(), 0);
    for specimen in specimens() {
        let (code, bytes) = (specimen.code, specimen.files[0].1.clone().unwrap());
        let options = Options { lossy_warnings: true, ..Options::default() };
        let (repair, target) = mended_as("recording", &bytes, &options);
        // A second round counts in the output of the first one.
        if repair.applied.iter().any(|applied| applied.round > 1) {
            continue;
        }
        let mut sum = StoredAnew::default();
        repair.applied.iter().filter_map(|one| one.fix()).for_each(|fix| sum.add(fix.anew));
        if sum.stored == 0 {
            continue;
        }
        let expanded = |bytes: &[u8]| {
            tracemend::formats::apitrace::stream_bytes(&Source::new(bytes), u64::MAX).len() as u64
        };
        let (before, after) = (expanded(&bytes), expanded(&target));
        if before - sum.dropped + sum.inserted != after || sum.kept + sum.inserted > after {
            wrong.push(format!("{code}: {before} become {after}, {sum:?}"));
        }
        balanced += 1;
    }
    assert!(wrong.is_empty() && balanced > 15, "{balanced} {}", wrong.join("\n"));
}

#[test]
fn consequences_of_damage_belong_to_the_finding_of_its_cause() {
    // The leaves of three suspect calls carry wrong numbers.
    let stream = around(|stream| _ = stream.raw(&[0xee; 40]));
    let mut bytes = stream.bytes.clone();
    for event in [301, 311, 321] {
        bytes[stream.events[event] + 1] ^= 0x02;
    }
    let file = Container::Snappy.file(&bytes);
    let (repair, _) = mended(&file);
    let [finding] = repair.before.findings() else {
        panic!("{:?}", repair.before.counts());
    };
    assert_eq!(*finding.rule, rules::STREAM_DAMAGED);
    assert!(finding.message.contains("40 bytes"), "{}", finding.message);
    let suspects = finding.notes.iter().any(|note| note.contains("may have wrong arguments"));
    assert!(suspects, "{:?}", finding.notes);
    assert_eq!(finding.related.len(), 3, "{:?}", finding.related);
    // Each belongs to the only call that is open then.
    assert_eq!(repair.records_lost(), 0);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
}

#[test]
fn missing_calls_are_counted_and_all_others_keep_their_numbers() {
    let stream = around(|_| {});
    // Ten calls, from the 121st on.
    let (repair, target) = mended(&without(&stream, 240, 260));
    let fact = |name: &str| {
        let facts = &repair.before.facts;
        facts.iter().find(|(one, _)| *one == name).map(|(_, value)| value.clone())
    };
    assert_eq!(fact("calls lost").as_deref(), Some("10: 120 to 129"));
    assert_eq!(repair.after.tally.samples, stream.calls() - 10);
    let bytes = tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
    let tail = &stream.bytes[stream.events[260]..];
    assert!(bytes.ends_with(tail), "the rest is unchanged");
    assert!(bytes.starts_with(&stream.bytes[..stream.events[240]]));
}

#[test]
fn a_donor_supplies_what_chunk_0_defined() {
    let stream = around(|_| {});
    let whole = snappy(&stream.bytes, 2048);
    let places = chunks(&whole);
    let mut damaged = whole.clone();
    damaged[places[0].0 + 4..places[0].1].fill(0xff);
    let donor = call_heavy(20);
    let donor = Container::Gzip.file(&donor.bytes);
    let files = FileSet::single("damaged", &damaged).with_donor(Some(Source::new(&donor)));
    let options = Options { format: Some(FormatId::APITRACE), ..Options::default() };
    let repair = tracemend::repair(&files, &options);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.refused);
    let target = view(&files, &repair.patches);
    let bytes = tracemend::formats::apitrace::stream_bytes(&target.bytes(0), u64::MAX);
    let has = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    assert!(has(b"glForged23") && has(b"GL_FORGED") && !has(b"lost_signature_"));
    // Without a donor the names are placeholders.
    let (_, target) = mended(&damaged);
    let bytes = tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
    let has = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    assert!(has(b"lost_signature_23") && !has(b"glForged23"));
}

#[test]
fn a_donor_of_another_build_is_refused() {
    let stream = around(|_| {});
    let damaged = without(&stream, 240, 260);
    let mut other = Stream::new(6);
    other.call(0, 20, &[]);
    let donor = stored(&other);
    let files = FileSet::single("damaged", &damaged).with_donor(Some(Source::new(&donor)));
    let report = tracemend::check(&files, &Options::default());
    assert_eq!(report.count(&rules::DONOR_DIFFERS), 1, "{:?}", report.counts());
}

#[test]
fn two_traces_in_one_file_are_split_on_request() {
    let (first, second) = (stored(&call_heavy(5)), stored(&call_heavy(9)));
    let both = [first.clone(), second.clone()].concat();
    for (part, wanted) in [(1, first), (2, second)] {
        let mut choices = Choices::default();
        choices.set("part", &part.to_string()).unwrap();
        let (repair, target) = mended_with(&both, choices);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
        assert!(target == wanted, "part {part}");
    }
}

#[test]
fn open_calls_are_closed_on_request() {
    let mut stream = around(|_| {});
    stream.enter(0, 21, 0, &[]);
    stream.enter(1, 21, 0, &[]);
    let bytes = stored(&stream);
    let mut choices = Choices::default();
    choices.set("close-calls", "").unwrap();
    let (repair, target) = mended_with(&bytes, choices);
    assert_eq!(repair.outcome, Outcome::Repaired);
    let report = tracemend::check(&FileSet::single("closed", &target), &Options::default());
    assert_eq!(report.count(&rules::CALLS_OPEN), 0);
    assert_eq!(report.tally.records, stream.events.len() as u64 + 2);
}

#[test]
fn a_lost_struct_is_read_by_its_members() {
    // The struct is used in two chunks; the first one, with its definition, is lost.
    let mut stream = call_heavy(4);
    let define = stream.bytes.len();
    let members = || Value::Struct(40, vec![Value::Uint(1), Value::Float(2.0), Value::Null]);
    stream.call(0, 41, &[members()]);
    for number in 0..10 {
        stream.call(0, 21, &[]);
        stream.call(0, 23, &[Value::Enum(1, 4), Value::Uint(number), Value::Uint(3)]);
    }
    let cut = stream.bytes.len();
    for _ in 0..40 {
        stream.call(0, 21, &[]);
        stream.call(0, 41, &[members()]);
    }
    let bytes = &stream.bytes;
    let mut file = snappy_of(&[&bytes[..define], &bytes[define..cut], &bytes[cut..]]);
    let (start, end) = chunks(&file)[1];
    file[start + 5..end].fill(0xff);
    let (repair, target) = mended(&file);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.after.counts());
    let mended = tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
    let has = |name: &[u8]| mended.windows(name.len()).any(|window| window == name);
    assert!(has(b"lost_struct_40") && has(b"member2") && !has(b"member3"));
    assert_eq!(repair.after.tally.samples, stream.calls() - 21);
}

#[test]
fn calls_with_a_lost_enum_are_read_up_to_further_damage_or_the_end() {
    // GL_COMPILE_STATUS, which would be the length of a name if the enum were defined there.
    let argument = || Value::Enum(7, 35_713);
    for calls in [MATCHES, 3 * MATCHES] {
        for is_damaged in [false, true] {
            let mut stream = call_heavy(4);
            let define = stream.bytes.len();
            stream.call(0, 30, &[argument()]);
            let cut = stream.bytes.len();
            (0..calls).for_each(|_| _ = stream.call(0, 30, &[argument()]));
            let damage = stream.bytes.len();
            let lost = u64::from(is_damaged) + 1;
            (0..2).for_each(|_| _ = stream.call(0, 21, &[]));
            let mut last = stream.bytes[cut..].to_vec();
            if is_damaged {
                let until = stream.events[stream.events.len() - 2];
                last[damage - cut..until - cut].fill(0xff);
            }
            let mut file = snappy_of(&[&stream.bytes[..define], &stream.bytes[define..cut], &last]);
            let (start, end) = chunks(&file)[1];
            file[start + 5..end].fill(0xff);
            let (repair, _) = mended(&file);
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.refused);
            assert_eq!(
                repair.after.tally.samples,
                stream.calls() - lost,
                "{calls} {is_damaged}: {:?}",
                repair.before.findings()
            );
        }
    }
}

/// Calls in a row that are believed although definitions are lost and damage follows.
const MATCHES: usize = 8;

#[test]
fn chunks_are_put_in_order_and_copies_of_them_dropped() {
    let sound = Container::Snappy.file(&call_heavy(36_000).bytes);
    let places = chunks(&sound);
    assert!(places.len() >= 3);
    let file = |order: &[usize]| {
        let mut bytes = b"at".to_vec();
        order.iter().for_each(|one| bytes.extend(&sound[places[*one].0..places[*one].1]));
        bytes
    };
    let all: Vec<usize> = (0..places.len()).collect();
    let mut swapped = all.clone();
    swapped.swap(1, 2);
    let mut first_last = all.clone();
    first_last.swap(0, 1);
    let mut doubled = all.clone();
    doubled.insert(2, 1);
    let orders = [
        (swapped, &rules::CHUNKS_OUT_OF_ORDER),
        (first_last, &rules::CHUNKS_OUT_OF_ORDER),
        (doubled, &rules::CHUNK_REPEATED),
    ];
    for (order, rule) in Share::one_in(2).of(orders) {
        let (repair, target) = mended(&file(&order));
        assert_eq!(repair.before.count(rule), 1, "{order:?}: {:?}", repair.before.counts());
        assert_eq!(repair.outcome, Outcome::Repaired, "{order:?}");
        assert!(target == sound, "{order:?}");
    }
}

#[test]
fn the_number_of_a_leave_comes_from_the_only_open_call() {
    let stream = call_heavy(200);
    let sound = Container::Snappy.file(&stream.bytes);
    for event in [101, 501, 801] {
        let mut bytes = stream.bytes.clone();
        bytes[stream.events[event] + 1] ^= 0x20;
        let (repair, target) = mended(&Container::Snappy.file(&bytes));
        assert_eq!(repair.before.count(&rules::LEAVE_NUMBER_WRONG), 1, "{event}");
        let after = tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
        assert!(after == stream.bytes, "{event}: {:?}", repair.after.counts());
    }
    assert_eq!(mended(&sound).0.outcome, Outcome::Clean);
}

#[test]
fn a_number_of_a_leave_that_takes_more_bytes_than_it_needs_is_replaced_as_a_whole() {
    // Call 300 takes two bytes, and 44 in two bytes is what a flipped bit makes of it.
    let mut stream = Stream::new(6);
    (0..400).for_each(|_| _ = stream.call(0, 1, &[]));
    let at = stream.events[601] + 1;
    let mut bytes = stream.bytes.clone();
    assert_eq!(bytes[at..at + 2], [0xac, 0x02]);
    bytes[at + 1] = 0;
    let (repair, target) = mended(&Container::Snappy.file(&bytes));
    assert_eq!(repair.before.count(&rules::LEAVE_NUMBER_WRONG), 1);
    assert!(
        tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX) == stream.bytes
    );
}

#[test]
fn an_error_is_repaired_though_a_warning_before_it_shares_its_chunk() {
    let mut stream = Stream::new(6);
    let number = stream.call(0, 1, &[]);
    stream.leave(number, &[]);
    (0..100).for_each(|_| _ = stream.call(0, 1, &[]));
    let mut bytes = stream.bytes.clone();
    bytes.push(0);
    let (repair, _) = mended(&Container::Snappy.file(&bytes));
    // The leave is a warning whose fix would drop recorded bytes.
    assert_eq!(repair.before.count(&rules::LEAVE_TWICE), 1);
    assert_eq!(repair.before.count(&rules::TRUNCATED_EVENT), 1);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.refused);
}

#[test]
fn lost_definitions_come_from_the_signatures_of_a_known_build() {
    if is_left_to_the_gate("lost definitions come from the signatures of a known build") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/apitrace/clean");
    let file = std::fs::read(folder.join("glxinfo-zlib.trace")).unwrap();
    let stream = tracemend::formats::apitrace::stream_bytes(&Source::new(&file), u64::MAX);
    let small = snappy(&stream, 4096);
    let mut named = 0;
    for (start, end) in chunks(&small).into_iter().skip(1) {
        let mut damaged = small.clone();
        damaged.drain(start..end);
        let (repair, _) = mended(&damaged);
        let fixes = repair.applied.iter().filter_map(|applied| applied.fix());
        let is_named = |summary: &str| summary.contains("from the signatures of apitrace 11.1");
        named += usize::from(fixes.into_iter().any(|fix| is_named(&fix.summary)));
    }
    assert!(named > 0);
    // No build is known: a donor would do better than placeholders.
    let specimen = specimens().into_iter().find(|specimen| specimen.code == "AT1004").unwrap();
    let (repair, _) = mended(specimen.files[0].1.as_ref().unwrap());
    let fix = repair.applied.iter().find_map(|applied| applied.fix()).unwrap();
    assert_eq!(fix.options, ["--donor other.trace"]);
}

#[test]
fn if_all_definitions_are_lost_the_calls_show_the_build() {
    // The ids and numbers of arguments of what glxgears calls in a frame.
    let frame = [(130, 1), (415, 0), (417, 4), (421, 3), (166, 1), (414, 0), (9, 2)];
    let repaired = |shift: u64| {
        let mut stream = Stream::new(6);
        for round in 0..400_u64 {
            for (id, count) in frame {
                let value = |index| Value::Float(index as f32 + round as f32);
                let values: Vec<Value> = (0..count).map(value).collect();
                stream.call(0, id + shift, &values);
            }
        }
        let mut file = snappy(&stream.bytes, 4096);
        let (start, end) = chunks(&file)[0];
        file.drain(start..end);
        let (repair, target) = mended(&file);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
        let fixes = repair.applied.iter().filter_map(|applied| applied.fix());
        let is_named = |summary: &str| {
            summary.contains("from the signatures of apitrace 11.1, glxtrace")
                && summary.contains("which the calls fit")
        };
        let is_found = fixes.into_iter().any(|fix| is_named(&fix.summary));
        let bytes = tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
        let name = b"glXSwapBuffers".as_slice();
        (is_found, bytes.windows(name.len()).any(|part| part == name))
    };
    assert_eq!(repaired(0), (true, true));
    for shift in [1, 2, 36, 64] {
        assert_eq!(repaired(shift), (false, false), "shifted by {shift}");
    }
}

#[test]
fn a_trace_does_not_continue_with_the_result_of_a_call_that_only_began() {
    let stream = call_heavy(200);
    let (start, end) = (stream.events[300], stream.events[312]);
    // The enter of a function that is known, in another thread, with the result of a leave.
    let known = stream.bytes[stream.events[0] + 2];
    let joined = [0, 1, known, 2, 7, 4, b'n', b'a', b'm', b'e', 0];
    let mut bytes = stream.bytes.clone();
    bytes[start..end].fill(0xff);
    bytes[end - joined.len()..end].copy_from_slice(&joined);
    let (repair, target) = mended(&Container::Snappy.file(&bytes));
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let after = tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
    assert!(!after.windows(joined.len()).any(|part| part == joined));
    assert!(after.ends_with(&stream.bytes[end..]));
}

#[test]
fn calls_between_damages_that_follow_closely_are_kept() {
    // A decoder that goes on after a flipped bit copies the damage again and again.
    let stream = call_heavy(120);
    let mut bytes = stream.bytes.clone();
    let damaged = (100..1_100).step_by(30);
    for event in damaged.clone() {
        bytes[stream.events[event]..stream.events[event + 2]].fill(0xff);
    }
    let (repair, _) = mended(&Container::Gzip.file(&bytes));
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(repair.after.tally.samples, stream.calls() - damaged.count() as u64);
}

#[test]
fn calls_that_were_copied_from_far_away_are_not_continued_with() {
    let stream = call_heavy(120);
    let part = |from: usize, to: usize| &stream.bytes[stream.events[from]..stream.events[to]];
    // 15 calls in the place of 20, from 150 calls later.
    let damage = [0xff; 10];
    let copied = [&damage, part(440, 470), &damage].concat();
    let bytes = [&stream.bytes[..stream.events[100]], &copied, &stream.bytes[stream.events[140]..]];
    let (repair, _) = mended(&Container::Gzip.file(&bytes.concat()));
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(repair.after.tally.samples, stream.calls() - 20);
}

/// 10,000 calls, with blocks in the place of others: 200 calls each, from 15,000 events on, in the
/// middle of events. Returns how many calls are missing after the repair.
fn missing_after_blocks_from_further_on(places: &[usize], exchanged: bool) -> u64 {
    let stream = call_heavy(2_000);
    let at = |event: usize| stream.events[event];
    let mut bytes = stream.bytes[..at(19_990)].to_vec();
    for place in places {
        let foreign = &stream.bytes[at(15_000) + 1..at(15_400) + 1];
        bytes.splice(at(*place)..at(*place) + foreign.len(), foreign.iter().copied());
    }
    if exchanged {
        let own = &stream.bytes[at(places[0])..at(places[0] + 400)];
        bytes.splice(at(15_000)..at(15_000) + own.len(), own.iter().copied());
    }
    let (repair, _) = mended(&Container::Snappy.file(&bytes));
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    9_995 - repair.after.tally.samples
}

#[test]
fn the_calls_after_a_block_from_further_on_are_not_lost() {
    // The length of an event differs: a block takes a few calls more or less.
    let about = |calls: u64| calls - 8..=calls + 8;
    for (places, exchanged, calls) in
        [(&[1_000][..], false, 200), (&[1_000], true, 400), (&[600, 1_000], false, 400)]
    {
        let missing = missing_after_blocks_from_further_on(places, exchanged);
        assert!(about(calls).contains(&missing), "{places:?} {exchanged}: {missing}");
    }
}

#[test]
fn a_trace_is_read_again_at_most_four_times() {
    // The same block five times: only the first of them is seen by each reading.
    let places = [1_000, 2_000, 3_000, 4_000, 5_000];
    let missing = |count: usize| missing_after_blocks_from_further_on(&places[..count], false);
    assert!(missing(4) < 850);
    // From the fifth place to where its calls belong.
    assert!((5_000..5_850).contains(&missing(5)), "{}", missing(5));
}

#[test]
fn bytes_that_read_as_a_call_of_no_tracer_are_not_a_trace() {
    // Version 2, the enter of a call of function 7, and its name of 9 characters.
    let stream = [&[2, 0, 7, 9][..], b"\x80n;\x01\x02\xff\x03\x04\x05", &[0, 0]].concat();
    let bytes = Container::Gzip.file(&stream);
    let options = Options::default().with_format(FormatId::APITRACE);
    let (repair, _) = mended_as("recording", &bytes, &options);
    assert_eq!(repair.outcome, Outcome::CannotRepair, "{:?}", repair.before.findings());
    assert_eq!(repair.after.count(&rules::NOTHING_RECORDED), 1);
}

#[test]
fn values_unlike_all_others_are_information() {
    let count = |rule, write: &dyn Fn(&mut Stream, u64)| {
        let stream = around(|stream| (0..40).for_each(|round| write(stream, round)));
        let file = stored(&stream);
        let report = tracemend::check(&FileSet::single("one", &file), &Options::default());
        assert_eq!(report.worst(), Some(Severity::Info).filter(|_| report.count(rule) > 0));
        report.count(rule)
    };
    let one = |stream: &mut Stream, value| _ = stream.call(0, 30, &[value]);
    // An integer instead of an enum.
    let mixed = |stream: &mut Stream, round| {
        one(stream, if round == 30 { Value::Uint(4) } else { Value::Enum(1, 4) });
    };
    assert_eq!(count(&rules::ARGUMENTS_UNUSUAL, &mixed), 1);
    let alike = |stream: &mut Stream, round| one(stream, Value::Enum(1, round as i64 % 4));
    assert_eq!(count(&rules::ARGUMENTS_UNUSUAL, &alike), 0);
    assert_eq!(count(&rules::VALUE_RARE, &alike), 0);
    // One value in a loop over four.
    let looping = |stream: &mut Stream, round| {
        one(stream, Value::Enum(1, if round == 21 { 9 } else { round as i64 % 4 }));
    };
    assert_eq!(count(&rules::VALUE_RARE, &looping), 1);
    // One address of a list that is returned again and again.
    let lists = |stream: &mut Stream, round| {
        let changed = |index| if (round, index) == (30, 5) { 0x20 } else { 0 };
        let all = (0..8).map(|index| Value::Opaque((0x5555_0000 + index * 0x1c0) ^ changed(index)));
        let call = stream.enter(0, 30, 0, &[]);
        stream.leave(call, &[Detail::Ret(Value::Array(all.collect()))]);
    };
    assert_eq!(count(&rules::VALUE_RARE, &lists), 1);
}

#[test]
fn a_leave_after_damage_that_ends_in_a_zero_is_not_an_enter_of_a_second_thread() {
    for frames in [30, 400, 5_000] {
        let mut stream = call_heavy(frames);
        // A zero and this leave read as an enter by thread 1 of a function with the call's number.
        let call = stream.enter(0, 21, 0, &[]);
        stream.raw(&[0xee; 40]).raw(&[0]).leave(call, &[]);
        for frame in 0..40 {
            stream.call(0, 23, &[Value::Enum(1, 4), Value::Uint(frame), Value::Uint(3)]);
        }
        let (repair, target) = mended(&Container::Snappy.file(&stream.bytes));
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{frames}");
        let report = tracemend::check(&FileSet::single("app", &target), &Options::default());
        assert_eq!(report.tally.samples, stream.calls(), "{frames}");
        let threads = report.facts.iter().find(|(name, _)| *name == "threads");
        assert_eq!(threads.map(|(_, value)| value.as_str()), Some("1"), "{frames}");
    }
}

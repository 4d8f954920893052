//! Every limit of the library, lowered until a small recording reaches it: the verdict is then
//! incomplete, or what lies beyond is counted, and nothing is passed over in silence.

use std::fs;
use std::path::Path;

use tracemend::formats::ovni;
use tracemend::mend::plan::{Plan, PlanError};
use tracemend::model::rule::common;
use tracemend::{Allow, FileSet, FormatId, Limits, Options, Outcome, Repair, Report, Verdict};
use tracemend_tests::forge::ovni::{Stream, Thread, Trace, by_name};
use tracemend_tests::forge::perf::trace::{Tracer, traced};
use tracemend_tests::forge::perf::{self, Built};
use tracemend_tests::forge::revent;
use tracemend_tests::properties::work;
use tracemend_tests::sweep::is_left_to_the_gate;

fn built(name: &str) -> Built {
    perf::clean().into_iter().find(|clean| clean.name == name).unwrap().built
}

fn limited(lower: impl FnOnce(&mut Limits)) -> Options {
    let mut limits = Limits::default();
    lower(&mut limits);
    Options { limits, ..Options::default() }
}

fn check(bytes: &[u8], lower: impl FnOnce(&mut Limits)) -> Report {
    tracemend::check(&FileSet::single("perf.data", bytes), &limited(lower))
}

fn repair(bytes: &[u8], lower: impl FnOnce(&mut Limits)) -> Repair {
    let files = FileSet::single("perf.data", bytes);
    tracemend::repair(&files, &limited(lower))
}

/// Sound under the default limits, incomplete and said to be so under the lowered one.
fn stops(bytes: &[u8], lower: impl FnOnce(&mut Limits)) {
    assert_eq!(check(bytes, |_| {}).verdict(), Verdict::Clean);
    let report = check(bytes, lower);
    assert_eq!(report.verdict(), Verdict::Incomplete, "{:?}", report.findings());
    assert_eq!(report.count(&common::LIMIT_REACHED), 1, "{:?}", report.findings());
}

/// A recording with `count` records that are dropped one by one.
fn damaged(count: usize) -> Vec<u8> {
    let built = built("sample_callchain");
    let samples: Vec<usize> =
        (0..built.records.len()).filter(|index| built.records[*index].kind == 9).collect();
    assert!(samples.len() >= count, "only {} samples", samples.len());
    samples.iter().take(count).fold(built.bytes.clone(), |bytes, sample| {
        let one = built.callchain_count(*sample, 1 << 40);
        bytes
            .iter()
            .zip(&one)
            .zip(&built.bytes)
            .map(|((a, b), old)| if b == old { *a } else { *b })
            .collect()
    })
}

#[test]
fn a_recording_longer_than_the_limit_is_not_read() {
    let bytes = built("plain").bytes;
    let len = bytes.len() as u64;
    stops(&bytes, |limits| limits.set(&tracemend::limits::BYTES, len - 1));
    let at_limit = check(&bytes, |limits| limits.set(&tracemend::limits::BYTES, len));
    assert_eq!(at_limit.verdict(), Verdict::Clean);
    let repair = repair(&bytes, |limits| limits.set(&tracemend::limits::BYTES, len - 1));
    assert_eq!((repair.outcome, repair.applied.len()), (Outcome::Incomplete, 0));
}

#[test]
fn readings_end_with_their_steps_but_the_first_one() {
    // Names of threads that are there twice, and one record of no type.
    let mut recording = perf::Recording::new(perf::Order::Little, vec![perf::Attr::cpu_clock(0)]);
    for number in 0..20_u32 {
        let letter = |at: u32| char::from_digit(10 + (number * 7 + at * at) % 26, 36).unwrap();
        let name: String = (0..80).map(letter).collect();
        let name = recording.maker(0).comm(&name);
        recording.extend([name.clone(), name]);
    }
    recording.push(perf::Record::new(0, 0, vec![0x77; 8]));
    let bytes = recording.build().bytes;
    let steps = |limit: &str, number: u64| {
        let lower = |limits: &mut Limits| limits.set_by_name(limit, number).unwrap();
        work::steps_during(|| check(&bytes, lower)).1
    };
    let (none, first) = (steps("reading-steps", 0), steps("reading-steps", 1));
    assert!(none < first && first == steps("readings", 1), "{none} {first}");
    let (two, all) = (steps("reading-steps", first - none + 1), steps("reading-steps", u64::MAX));
    assert!(two == steps("readings", 2) && first < two && two < all, "{first} {two} {all}");
}

#[test]
fn each_reading_of_lost_attrs_searches_a_limited_number_of_places() {
    if is_left_to_the_gate("each reading of lost attrs searches a limited number of places") {
        return;
    }
    let bytes = built("read_lost_group_id_running").bytes;
    let steps = |len: usize| {
        // Parts of the attr table and of the records, again and again.
        let mut bytes = bytes.clone();
        let mut piece = bytes[164..359].to_vec();
        let copies = (0..len / 195).flat_map(|number| {
            // The thread of a sample.
            piece[167] = (number % 16 * 16) as u8;
            piece.clone()
        });
        let copies: Vec<u8> = copies.collect();
        let grown = (copies.len() - 195) as u64;
        bytes.splice(164..359, copies);
        let data_size = u64::from_le_bytes(bytes[48..56].try_into().unwrap()) + grown;
        bytes[48..56].copy_from_slice(&data_size.to_le_bytes());
        work::steps_during(|| check(&bytes, |_| {})).1
    };
    let [two, four] = [2_usize, 4].map(|mebibytes| steps(mebibytes << 20));
    // 178 million without the limit, since some dozen readings search all of it.
    assert!(four - two < 32 << 20, "{two} {four}");
}

#[test]
fn findings_past_the_limit_are_counted() {
    let bytes = damaged(2);
    assert_eq!(check(&bytes, |_| {}).findings().len(), 2);
    let report = check(&bytes, |limits| limits.set(&tracemend::limits::FINDINGS, 1));
    assert_eq!((report.findings().len(), report.truncated()), (1, true));
    assert_eq!(report.counts().values().sum::<u64>(), 2);
}

#[test]
fn fixes_past_the_limit_wait_for_the_next_round() {
    let bytes = damaged(2);
    let all = repair(&bytes, |_| {});
    let one = repair(&bytes, |limits| {
        limits.set(&tracemend::limits::FIXES, 1);
    });
    assert_eq!((all.outcome, one.outcome), (Outcome::RepairedWithLoss, Outcome::RepairedWithLoss));
    let rounds = |repair: &Repair| repair.applied.last().map(|applied| applied.round);
    assert_eq!((rounds(&all), rounds(&one)), (Some(1), Some(2)));
}

#[test]
fn rounds_end_and_the_repair_says_so() {
    let bytes = damaged(2);
    let repair = repair(&bytes, |limits| {
        limits.set(&tracemend::limits::FIXES, 1);
        limits.set(&tracemend::limits::ROUNDS, 1);
    });
    assert_eq!(repair.outcome, Outcome::Incomplete);
    let said = "CM9001 limit-reached: the repair did not end within 1 round (--limit rounds=N)";
    assert_eq!(repair.refused.as_deref(), Some(said));
}

#[test]
fn a_repair_that_needs_another_class_cannot_succeed_at_the_limit_of_rounds_either() {
    let input = "../corpus/regressions/ovni_stream/events-added-in-turns";
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(input)).unwrap();
    let files = FileSet::single("stream.obs", &bytes);
    let mut options = Options::default().with_allow(Allow::Synthetic);
    options.limits.set(&tracemend::limits::ROUNDS, 1);
    let repair = tracemend::repair(&files, &options);
    assert_eq!(repair.outcome, Outcome::CannotRepair);
    let why = repair.refused.unwrap();
    assert!(why.contains("did not end within 1 round"), "{why}");
    let lossy = tracemend::repair(&files, &Options::default());
    assert_eq!(lossy.outcome, Outcome::RepairedWithLoss);
}

#[test]
fn a_fix_whose_finding_comes_back_is_left_out_and_said_to_be() {
    // A task is defined, and its event, which another fix has added, is dropped.
    let input = "../corpus/regressions/ovni_stream/task-defined-and-dropped-in-turns";
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(input)).unwrap();
    let files = FileSet::single("stream.obs", &bytes);
    let mut options = Options::default().with_format(FormatId::OVNI);
    options.allow = Allow::Synthetic;
    let left_out = tracemend::repair(&files, &options);
    assert_eq!(left_out.outcome, Outcome::CannotRepair);
    let said = "its finding comes back each time that it is applied";
    assert_eq!(left_out.refused.as_deref(), Some(said));
    let applied = left_out.applied.iter().map(|one| one.round).max();
    assert!(applied < Some(8), "{applied:?}");
    // Where its bytes may be dropped, nothing comes back.
    options.allow = Allow::Lossy;
    assert_eq!(tracemend::repair(&files, &options).outcome, Outcome::RepairedWithLoss);
}

#[test]
fn a_fix_that_came_back_is_tried_again_after_all_others() {
    // Left out, it leaves an error; after all others it holds.
    let input = "../corpus/regressions/ovni_stream/a-fix-that-came-back-holds-later";
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(input)).unwrap();
    let files = FileSet::single("stream.obs", &bytes);
    let repair = tracemend::repair(&files, &Options::default().with_format(FormatId::OVNI));
    assert_eq!((repair.outcome, repair.refused), (Outcome::RepairedWithLoss, None));
}

#[test]
fn values_of_damaged_attrs_are_searched_up_to_their_limit() {
    // A bit of sample_type that records have 8 bytes more for.
    let built = built("plain");
    let mut bytes = built.bytes.clone();
    bytes[built.attr_spans[0].start + 25] ^= 0x20;
    let tried = |most: u64| {
        let repair =
            repair(&bytes, |limits| limits.set(&tracemend::formats::perf::limits::TRIED, most));
        let applied = repair.applied.iter().map(|one| one.finding.rule.code).collect::<Vec<_>>();
        (repair.outcome, applied)
    };
    assert_eq!(tried(1 << 19), (Outcome::RepairedWithLoss, vec!["PD0026"]));
    // Otherwise the samples go, which nothing can read.
    assert_eq!(tried(1), (Outcome::RepairedWithLoss, vec!["PD2001"; 3]));
}

#[test]
fn more_records_about_traces_than_the_limit_are_not_compared() {
    let built = traced(Tracer::ArmSpe);
    let aux = &built.records[built.first_of(11).unwrap()];
    let bytes = built.with_u64(aux.offset + 8, 1 << 20);
    let found = |most: u64| {
        let limit = &tracemend::formats::perf::limits::AUX_RECORDS;
        let repair = repair(&bytes, |limits| limits.set(limit, most));
        repair.before.findings().iter().map(|one| one.rule.code).collect::<Vec<_>>()
    };
    assert_eq!(found(4), ["PD3006"]);
    assert_eq!(found(3), ["CM9002"]);
}

#[test]
fn a_repair_of_too_many_parts_ends_and_says_so() {
    let bytes = damaged(2);
    let ended = |parts: u64| {
        repair(&bytes, |limits| {
            limits.set(&tracemend::limits::FIXES, 1);
            limits.set(&tracemend::limits::PARTS, parts);
        })
    };
    // A recording without a change is one part, which the first fix splits.
    let first = ended(1);
    assert_eq!((first.outcome, first.applied.len()), (Outcome::Incomplete, 1));
    let said = "CM9001 limit-reached: the repair did not end within 1 part (--limit parts=N)";
    assert_eq!(first.refused.as_deref(), Some(said));
    assert_eq!(ended(9).outcome, Outcome::RepairedWithLoss);
}

#[test]
fn a_fix_that_inserts_too_much_is_refused_and_said_to_be() {
    let bytes = built("every_feature").crashed();
    let repair = repair(&bytes, |limits| limits.set(&tracemend::limits::INSERTED, 7));
    assert_eq!(repair.outcome, Outcome::Incomplete);
    let said = repair.refused.unwrap();
    assert!(said.starts_with("CM9001 limit-reached: a fix would insert "), "{said}");
    assert!(said.ends_with("the limit is 7"), "{said}");
}

#[test]
fn a_structure_that_is_held_whole_has_a_largest_size() {
    stops(&built("plain").bytes, |limits| limits.set(&tracemend::limits::WINDOW, 64));
}

#[test]
fn a_zstd_window_has_a_largest_size() {
    // The forge's frames name a window of their content's size.
    let window = zstd_window(&built("compressed").bytes);
    stops(&built("compressed").bytes, |limits| {
        limits.set(&tracemend::limits::ZSTD_WINDOW, window - 1)
    });
    let enough = check(&built("compressed").bytes, |limits| {
        limits.set(&tracemend::limits::ZSTD_WINDOW, window)
    });
    assert_eq!(enough.verdict(), Verdict::Clean);
}

/// The smallest limit under which a recording is sound.
fn zstd_window(bytes: &[u8]) -> u64 {
    let sound = |window: u64| {
        check(bytes, |limits| limits.set(&tracemend::limits::ZSTD_WINDOW, window)).verdict()
            == Verdict::Clean
    };
    let (mut low, mut high) = (0, 128 << 20);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if sound(middle) { high = middle } else { low = middle }
    }
    high
}

#[test]
fn an_expansion_has_a_largest_ratio() {
    if is_left_to_the_gate("an expansion has a largest ratio") {
        return;
    }
    // 64 MiB are always allowed: a compressed record of 16,000 blocks of 128 KiB has more.
    let bytes = built("compressed").bytes;
    assert_eq!(
        check(&bytes, |limits| limits.set(&tracemend::limits::EXPANSION_RATIO, 0)).verdict(),
        Verdict::Clean
    );
    let mut recording = perf::Recording::new(
        perf::Order::Little,
        vec![perf::Attr::cpu_clock(perf::sample_type::IP)],
    );
    // FINISHED_ROUND, which is a header alone: 68 MiB of them in less than 64 KiB.
    let rounds = [68, 0, 0, 0, 0, 0, 8, 0].repeat(68 << 17);
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let body = ruzstd::encoding::compress_to_vec(rounds.as_slice(), level);
    recording.push(perf::Record::new(81, 0, body)).feature(27);
    let report = check(&recording.build().bytes, |limits| {
        limits.set(&tracemend::limits::EXPANSION_RATIO, 0)
    });
    assert_eq!(report.verdict(), Verdict::Incomplete);
    assert_eq!(report.count(&common::LIMIT_REACHED), 1);
}

#[test]
fn events_and_their_ids_have_a_largest_number() {
    let two = built("two_events_by_id").bytes;
    stops(&two, |limits| limits.set(&tracemend::formats::perf::limits::ATTRS, 1));
    stops(&two, |limits| limits.set(&tracemend::formats::perf::limits::IDS, 1));
    // Ids beyond the limit cause no finding about the samples.
    assert_eq!(
        check(&two, |limits| limits.set(&tracemend::formats::perf::limits::IDS, 1)).counts().len(),
        1
    );
    let pipe = built("pipe").bytes;
    stops(&pipe, |limits| limits.set(&tracemend::formats::perf::limits::ATTRS, 0));
}

#[test]
fn a_search_for_the_next_record_has_an_end() {
    let built = built("plain");
    let sample = built.first_of(9).unwrap();
    let bytes = built.record_type(sample, 0x1234_5678);
    let records = |report: &Report| report.tally.records;
    let (whole, none) =
        (check(&bytes, |_| {}), check(&bytes, |limits| limits.set(&tracemend::limits::RESYNC, 0)));
    assert!(records(&none) < records(&whole), "{} and {}", records(&none), records(&whole));
    assert!(none.has_errors() && whole.has_errors());
}

#[test]
fn a_plan_holds_no_more_than_its_limit() {
    let bytes = damaged(1);
    let files = FileSet::single("perf.data", &bytes);
    let options = limited(|limits| limits.set(&tracemend::limits::PLAN, 8));
    let repair = tracemend::repair(&files, &options);
    let error = Plan::new(&repair, &files, &options.limits).unwrap_err();
    assert!(matches!(error, PlanError::TooLarge { max: 8, .. }), "{error}");
}

#[test]
fn contacts_in_slots_past_the_limit_are_not_followed_and_said() {
    let mut recording = revent::Recording::new(revent::Layout::V3);
    recording.frame(1, &[(revent::SLOT, 2), (revent::ID, 7)]);
    recording.frame(1, &[(revent::ID, -1)]);
    let bytes = recording.build().bytes;
    assert_eq!(check(&bytes, |_| {}).verdict(), Verdict::Clean);
    let report =
        check(&bytes, |limits| limits.set(&tracemend::formats::revent::limits::INPUT_SLOTS, 2));
    let found: Vec<_> = report.counts().iter().collect();
    assert_eq!(found, [(&"RV2010", &1)]);
}

#[test]
fn more_releases_than_the_limit_are_not_added_and_said() {
    let mut recording = revent::Recording::new(revent::Layout::V3);
    recording.frame(0, &[(revent::KEY_A, 1)]).frame(1, &[(revent::TOUCH, 1)]);
    let mut bytes = recording.build().bytes;
    bytes.pop();
    let repaired = repair(&bytes, |_| {});
    assert_eq!(repaired.outcome, Outcome::RepairedWithLoss);
    let repaired =
        repair(&bytes, |limits| limits.set(&tracemend::formats::revent::limits::RELEASED, 1));
    assert_eq!(repaired.outcome, Outcome::Incomplete);
    assert_eq!(repaired.after.count(&common::LIMIT_REACHED), 1);
}

#[test]
fn tasks_past_the_limit_make_the_verdict_incomplete() {
    let trace = by_name("nosv_tasks");
    let report = |tasks: u64| {
        tracemend::check(&trace.set(), &limited(|limits| limits.set(&ovni::limits::TASKS, tasks)))
    };
    assert_eq!(report(100).verdict(), Verdict::Clean);
    let limited = report(10);
    assert_eq!(limited.verdict(), Verdict::Incomplete, "{:?}", limited.findings());
    assert_eq!(limited.count(&common::LIMIT_REACHED), 1);
}

#[test]
fn a_cpu_past_the_limit_is_damage_and_not_a_list_of_cpus() {
    let begun = || Stream::default().begin(0).ids("OAs", &[7]);
    let trace = Trace::of(&Thread::new(7, 7).killed(), begun());
    let mend = |cpus: u64| {
        let options = limited(|limits| limits.set(&ovni::limits::LOOM_CPUS, cpus));
        let repair = tracemend::repair(&trace.set(), &options);
        let json = repair.patches[0].target_len();
        (repair.outcome, repair.before.count(&ovni::rules::NO_CPU), json)
    };
    let (added, one) = (mend(8), mend(7));
    assert_eq!((added.0, added.1), (Outcome::Repaired, 0));
    assert_eq!((one.0, one.1), (Outcome::RepairedWithLoss, 1));
    assert!(one.2 < added.2, "{one:?} and {added:?}");
}

#[test]
fn a_stream_json_has_a_largest_size_depth_and_number_of_values() {
    use tracemend::formats::ovni::limits::{JSON_BYTES, JSON_DEPTH, JSON_VALUES};
    let count = |limit: u64| usize::try_from(limit).unwrap();
    let (depth, values) = (count(JSON_DEPTH.default), count(JSON_VALUES.default));
    let bytes = JSON_BYTES.default;
    // The object of `ovni` is the second level, that of the file the first.
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let long = |bytes: u64| format!("\"{}\"", "x".repeat(usize::try_from(bytes).unwrap()));
    let many = |values: usize| format!("[{}0]", "0,".repeat(values));
    for (fits, beyond) in [
        (deep(depth - 2), deep(depth - 1)),
        (long(bytes - 1_000), long(bytes)),
        (many(values - 100), many(values)),
    ] {
        let report = |more: &str| {
            let thread = Thread::new(7, 7).more("more", more);
            let trace = Trace::of(&thread, Stream::default().begin(0).end());
            tracemend::check(&trace.set(), &Options::default())
        };
        assert!(!report(&fits).has_errors(), "{:?}", report(&fits).findings());
        let report = report(&beyond);
        assert_eq!(report.verdict(), Verdict::Incomplete, "{:?}", report.findings());
        assert_eq!(report.count(&common::LIMIT_REACHED), 1);
    }
}

#[test]
fn a_table_of_clock_offsets_has_a_largest_size() {
    let report = |lines: usize| {
        let table =
            "rank hostname median mean std\n0 node 0 0 0\n".to_string() + &"\n".repeat(lines);
        let trace = Trace::of(&Thread::new(7, 7), Stream::default().begin(0).end());
        let trace = trace.put("clock-offsets.txt", Some(table.into()));
        tracemend::check(&trace.set(), &Options::default())
    };
    assert_eq!(report(1 << 20).verdict(), Verdict::Clean);
    let report = report(4 << 20);
    assert_eq!(report.verdict(), Verdict::Incomplete, "{:?}", report.findings());
    assert_eq!(report.count(&common::LIMIT_REACHED), 1);
}

#[test]
fn a_search_for_the_next_event_has_an_end() {
    let trace = |behind: &Stream| Trace::of(&Thread::new(7, 7), behind.clone());
    let mut stream = Stream::default().begin(0);
    stream.bytes.extend([0xff; 500]);
    let damaged = trace(&stream.plain(&["OB.", "OB.", "OB.", "OB.", "OB.", "OHe"]));
    let records = |resync: u64| {
        let options = limited(|limits| limits.set(&tracemend::limits::RESYNC, resync));
        tracemend::check(&damaged.set(), &options).tally.records
    };
    assert_eq!((records(1 << 20), records(100)), (7, 1));
}

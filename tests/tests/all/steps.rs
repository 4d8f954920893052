//! The work of every command grows with the length of a recording, and not with its square.
//!
//! The library counts its steps (`core/src/kit/steps.rs`). Each hostile recording is made in two
//! lengths, and the longer one may take at most a quarter more steps per byte. No clock is read. A
//! recording that some loop walks in a new way is one more line of [`KINDS`]; a loop over items in
//! memory has to call `steps::count` to be seen.

use std::num::NonZeroUsize;

use tracemend::formats::perf::limits::TRIED;
use tracemend::kit::cursor::{Cursor, Order};
use tracemend::kit::span::Layer;
use tracemend::kit::steps;
use tracemend::limits::{RESYNC, STEPS};
use tracemend::{
    AuditRequest, Dump, DumpError, File, FileSet, FormatId, Limits, Options, Outcome, Report,
    Source,
};
use tracemend_tests::forge::apitrace::{Container, call_heavy};
use tracemend_tests::forge::perf::trace::Tracer;
use tracemend_tests::forge::perf::{self, Attr, Record, sample_type};
use tracemend_tests::forge::{ovni, qemu, revent};
use tracemend_tests::known_originals::Dice;
use tracemend_tests::properties::work;
use tracemend_tests::sweep::is_left_to_the_gate;

/// K of `steps <= K * length + C`. The dearest are the repair of an ovni trace whose thread ends
/// again and again inside 500 states (60.5 steps per byte: 16 rounds with up to 8 trials), or in
/// which a state is entered again and again (31.2), a map of revent (15.4: seven fields per event
/// of 20 bytes, which several hypotheses read), and a check of damaged records of perf (6.6).
const STEPS_PER_BYTE: u64 = 64;
/// C: the hypotheses about damaged attrs of perf take up to 413,000 steps, whatever the length.
const STEPS_ALWAYS: u64 = 500_000;
/// Limit `trials` of the repairs. A repair tries fixes that do harm by a check each, up to this
/// limit: with the default of 256, a short recording has fewer of them than a long one.
const TRIALS: u64 = 8;
/// Items of the shorter recordings; the longer ones have [`TIMES`] as many.
const ITEMS: usize = 3_000;
const TIMES: usize = 4;

/// The files of a recording.
type Made = Vec<(String, Vec<u8>)>;
/// Makes a recording of so many items.
type Make = fn(usize) -> Made;

/// Recordings with a fault per item or between items, for each format.
const KINDS: [(&str, Make); 19] = [
    ("perf: samples of one byte", |count| {
        of_perf((0..count).map(|_| Record::new(9, 0, vec![0])).collect())
    }),
    ("perf: names without a name", |count| {
        of_perf((0..count).map(|_| Record::new(3, 0, Vec::new())).collect())
    }),
    ("perf: a record of type 0 after every name", |count| {
        let comm = perf::Recording::new(perf::Order::Little, vec![event()]).maker(0).comm("forge");
        of_perf((0..count).flat_map(|_| [comm.clone(), Record::new(0, 0, Vec::new())]).collect())
    }),
    ("perf: traces of Intel PT without packets", |count| of_traces(Tracer::IntelPt, count)),
    ("perf: traces of Arm SPE without packets", |count| of_traces(Tracer::ArmSpe, count)),
    ("perf: compressed records of one record", |count| {
        let mut recording = perf::Recording::new(perf::Order::Little, vec![event()]);
        let comms: Vec<Record> = (0..count).map(|_| recording.maker(0).comm("forge")).collect();
        let cuts: Vec<usize> = (1..count).map(|index| index * 40).collect();
        recording.pack(perf::Wrapper::Compressed, comms, &cuts).feature(27);
        single("perf.data", recording.build().bytes)
    }),
    ("apitrace: calls", |count| {
        single("calls.trace", Container::Snappy.file(&call_heavy(as_number(count) / 8).bytes))
    }),
    ("apitrace: a wrong byte per 1,000", |count| {
        let mut stream = call_heavy(as_number(count) / 8).bytes;
        stream.iter_mut().skip(500).step_by(1_000).for_each(|byte| *byte ^= 0xff);
        single("calls.trace", Container::Snappy.file(&stream))
    }),
    ("ovni: states that are never left", |count| of_ovni(count, "VAs")),
    ("ovni: a state that is entered again and again", |count| of_ovni(count, "6W[")),
    ("ovni: a thread that ends again and again inside 500 states", of_ends),
    ("ovni: marks that stay open, and a contradiction", of_marks),
    ("ovni: clocks that go back", |count| of_clocks(count, b"", |number| 1_000_000 - number)),
    ("ovni: clocks that go back, and damage", |count| {
        of_clocks(count, &[0xff; 5], |number| if number % 3 == 0 { 5 } else { 1_000 + number })
    }),
    ("ovni: clocks that recur", |count| of_clocks(count, b"", |number| 1_000 + number % 4)),
    ("ovni: damage after every 40 events", |count| {
        of_clocks(count, &[0xff; 5], |number| 1_000 + number % 50)
    }),
    ("qemu: events that must not follow one another", |count| single("replay.log", log(count))),
    ("qemu: the same, killed", |count| {
        let mut bytes = log(count);
        bytes[..4].fill(0);
        bytes.truncate(bytes.len() - 3);
        single("replay.log", bytes)
    }),
    ("revent: every second event is bad", |count| {
        let mut recording = revent::Recording::new(revent::Layout::V3);
        (0..count / 6).for_each(|id| _ = recording.tap(i32::try_from(id).unwrap()));
        let built = recording.build();
        let mut bytes = built.bytes.clone();
        (0..built.count).step_by(2).for_each(|index| bytes[built.at(index)..][..2].fill(0xee));
        single("night.revent", bytes)
    }),
];

fn as_number(count: usize) -> u64 {
    u64::try_from(count).unwrap()
}

fn single(name: &str, bytes: Vec<u8>) -> Made {
    vec![(name.to_string(), bytes)]
}

fn event() -> Attr {
    Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME).with_ids(&[1])
}

fn of_perf(records: Vec<Record>) -> Made {
    let mut recording = perf::Recording::new(perf::Order::Little, vec![event()]);
    let comm = recording.maker(0).comm("forge");
    recording.push(comm).extend(records);
    single("perf.data", recording.build().bytes)
}

/// Traces of 64 bytes, of which the second half is not packets, without an index.
fn of_traces(tracer: Tracer, count: usize) -> Made {
    let attr = perf::trace::event();
    let maker = perf::Recording::new(perf::Order::Little, vec![attr]).maker(0);
    let trace = |number: usize| {
        let noise = [u8::try_from(number % 250).unwrap() | 5; 32];
        let offset = as_number(number) * 96;
        maker.auxtrace_of(offset, &[&tracer.trace(1)[..], &noise].concat())
    };
    let records = std::iter::once(maker.tracer(tracer)).chain((0..count).map(trace));
    single("perf.data", perf::trace::of_records(records.collect(), Some(vec![0; 8])).bytes)
}

/// Each end needs a state that is not open, below 500 that are.
fn of_ends(count: usize) -> Made {
    let thread = ovni::Thread::new(7, 7).require("nosv", "2.7.0");
    let deep = ovni::Stream::default().begin(0).plain(&["VAs"; 500]);
    let stream = (0..count).fold(deep, |stream, _| stream.plain(&["VAP", "OHe"]).begin(0));
    let files = ovni::Trace::of(&thread, stream.end()).files.into_iter();
    files.map(|(name, bytes)| (name, bytes.unwrap_or_default())).collect()
}

/// A copy of the state of the thread costs as much as all its open marks.
fn of_marks(count: usize) -> Made {
    let thread = ovni::Thread::new(7, 7).require("nanos6", "1.1.0");
    let open = (0..4_000).fold(ovni::Stream::default().begin(0), |stream, value| {
        stream.mark("OM[", value / 100 + 1, i32::try_from(value % 100).unwrap())
    });
    let stream = (0..count).fold(open, |stream, _| stream.plain(&["6Bb", "6BB"]));
    let files = ovni::Trace::of(&thread, stream.plain(&["6WT"]).end()).files.into_iter();
    files.filter_map(|(name, bytes)| Some((name, bytes?))).collect()
}

fn of_ovni(count: usize, code: &str) -> Made {
    let thread = ovni::Thread::new(7, 7).require("nosv", "2.7.0").require("nanos6", "1.1.0");
    let begun = ovni::Stream::default().begin(0);
    // Repairs of short traces take ever more steps per byte, up to some 100 KB, and then fewer:
    // 66.9 for 144,550 bytes and 41.0 for 576,550. So the shorter trace has 144,550 bytes.
    let stream = (0..count * 4).fold(begun, |stream, _| stream.with(code, b""));
    let files = ovni::Trace::of(&thread, stream.end()).files.into_iter();
    files.filter_map(|(name, bytes)| Some((name, bytes?))).collect()
}

/// Events with these clocks, with damage after every 40 of them.
fn of_clocks(count: usize, damage: &[u8], clock: fn(u64) -> u64) -> Made {
    let mut stream = ovni::Stream::default().begin(0);
    for number in 0..as_number(count) {
        stream = stream.event(0, "OB.", clock(number), b"");
        if number % 40 == 39 {
            stream.bytes.extend(damage);
        }
    }
    let trace = ovni::Trace::of(&ovni::Thread::new(7, 7), stream.wait(2_000_000).end());
    trace.files.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))).collect()
}

fn log(count: usize) -> Vec<u8> {
    let mut log = qemu::Log::new(qemu::ids::of("7.2"));
    log.start();
    (1..u32::try_from(count).unwrap()).for_each(|number| _ = log.instruction(number));
    log.close();
    log.bytes
}

/// Steps of each command over a recording of so many bytes.
struct Counted {
    bytes: u64,
    steps: [(&'static str, u64); 5],
}

fn file_set(made: &Made) -> FileSet<'_> {
    let files =
        made.iter().map(|(name, bytes)| File { name: name.clone(), bytes: Source::new(bytes) });
    FileSet::new(files.collect())
}

/// Runs each command. Returns its steps, and whether the limit of steps ended it.
fn run_all(files: &FileSet<'_>, options: &Options) -> [(&'static str, u64, bool); 5] {
    let mut of_repair = options.clone();
    of_repair.limits.set_by_name("trials", TRIALS).unwrap();
    let is_spent = |report: &Report| {
        let is_spent = report.findings().iter().any(|one| one.message.contains("steps=N"));
        assert!(!is_spent || report.counts().len() == 1 && report.incomplete());
        is_spent
    };
    let of = |command: &'static str, work: &dyn Fn() -> bool| {
        let (is_spent, steps) = work::steps_during(work);
        (command, steps, is_spent)
    };
    let dump = || tracemend::dump(files, options, &Dump::JsonLines, &mut |_| true);
    let map = || tracemend::map(files, options, 4, &mut |_| ());
    [
        of("check", &|| is_spent(&tracemend::check(files, options))),
        of("repair", &|| {
            let repair = tracemend::repair(files, &of_repair);
            let is_spent = is_spent(&repair.before);
            assert!(!is_spent || repair.outcome == Outcome::Incomplete && !repair.changes());
            is_spent
        }),
        of("map", &|| tracemend::within_steps(&options.limits, map).is_err()),
        of("dump", &|| matches!(dump(), Err(DumpError::Limit(_)))),
        of("audit", &|| is_spent(&tracemend::audit(files, options, &AuditRequest::default()))),
    ]
}

fn count(made: &Made) -> Counted {
    let files = file_set(made);
    let steps = run_all(&files, &Options::default());
    Counted { bytes: files.len(), steps: steps.map(|(command, steps, _)| (command, steps)) }
}

/// Fails if the longer recording takes more steps per byte, or either too many.
fn judge(short: (u64, u64), long: (u64, u64)) -> Result<(), String> {
    for (bytes, steps) in [short, long] {
        if steps > STEPS_PER_BYTE * bytes + STEPS_ALWAYS {
            return Err(format!("{steps} steps for {bytes} bytes"));
        }
    }
    let ((bytes, steps), (more_bytes, more_steps)) = (short, long);
    // TIMES as many bytes may take at most TIMES + 1 as many steps.
    let most = u128::from(steps) * u128::from(more_bytes) * (TIMES as u128 + 1);
    if u128::from(more_steps) * u128::from(bytes) * TIMES as u128 > most {
        return Err(format!("{steps} steps for {bytes} bytes, {more_steps} for {more_bytes}"));
    }
    Ok(())
}

#[test]
fn the_steps_of_every_command_grow_with_the_length_of_a_recording() {
    if is_left_to_the_gate("the steps of every command grow with the length of a recording") {
        return;
    }
    let mut faults = Vec::new();
    for (name, make) in KINDS {
        let [short, long] = [make(ITEMS), make(ITEMS * TIMES)].map(|made| count(&made));
        for ((command, steps), (_, more)) in short.steps.into_iter().zip(long.steps) {
            eprintln!(
                "{command} of {name}: {steps} for {}, {more} for {}",
                short.bytes, long.bytes
            );
            // A command that counts next to nothing would pass whatever it does.
            let least = if command == "dump" { 0 } else { long.bytes / 64 };
            if more < least {
                faults.push(format!("{command} of {name}: only {more} steps"));
            }
            if let Err(fault) = judge((short.bytes, steps), (long.bytes, more)) {
                faults.push(format!("{command} of {name}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Steps that a command may take after its last one, whatever the length: the rest of a block, and
/// hypotheses that find every source empty. The dearest is the repair of perf (716,000).
const STEPS_AFTER: u64 = 1_000_000;

#[test]
fn the_limit_of_steps_ends_every_command_and_nothing_else_is_reported() {
    if is_left_to_the_gate("the limit of steps ends every command and nothing else is reported") {
        return;
    }
    let mut faults = Vec::new();
    for (name, make) in KINDS {
        let made = make(ITEMS);
        let files = file_set(&made);
        let limited = |most: u64| {
            let mut options = Options::default();
            options.limits.set(&STEPS, most);
            run_all(&files, &options)
        };
        let all = run_all(&files, &Options::default());
        for most in [0, 100, 3_000, 30_000, 300_000] {
            for ((command, steps, is_spent), (_, whole, _)) in limited(most).into_iter().zip(all) {
                if is_spent != (whole > most) {
                    faults.push(format!("{command} of {name}: {whole} steps, {most} allowed"));
                } else if steps > most + STEPS_AFTER || (!is_spent && steps != whole) {
                    faults.push(format!("{command} of {name}: {steps} of {whole}, {most} allowed"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn threads_take_as_many_steps_as_one() {
    if is_left_to_the_gate("threads take as many steps as one") {
        return;
    }
    let stream = call_heavy(300_000).bytes;
    let trace = Container::Gzip.file(&stream);
    let trace = FileSet::single("calls.trace", &trace);
    let files = of_ovni(200_000, "OB.");
    for files in [trace, file_set(&files)] {
        let mut options = Options::default();
        let mut steps_of = |jobs| {
            options.jobs = NonZeroUsize::new(jobs);
            work::steps_during(|| tracemend::check(&files, &options)).1
        };
        let steps = [1, 1, 4, 4].map(&mut steps_of);
        assert_eq!(steps, [steps[0]; 4], "{} bytes", files.len());
        for (most, is_spent) in [(steps[0], false), (steps[0] - 1, true)] {
            options.limits.set(&STEPS, most);
            let report = tracemend::check(&files, &options);
            assert_eq!(report.incomplete(), is_spent, "{most} of {} steps", steps[0]);
        }
    }
}

#[test]
fn bytes_that_are_not_a_stream_earn_few_steps_of_a_search() {
    // Every third byte may begin an event, and few of them do.
    let stream = Dice::seeded(1).noise(768_000).into_iter().map(|byte| byte % 6);
    let file = Container::Snappy.file(&stream.collect::<Vec<u8>>());
    let files = FileSet::single("noise.trace", &file);
    let options = Options::default().with_format(FormatId::APITRACE);
    let (_, steps) = work::steps_during(|| tracemend::check(&files, &options));
    // 4.5 million; each of two readings took 5.1 million when the length alone gave them.
    assert!(steps < 8_000_000, "{steps}");
}

#[test]
fn readings_of_a_trace_are_compared_as_long_as_what_it_expands_to_allows() {
    let steps_of = |len: usize| {
        let file = Container::Snappy.file(&vec![0; len]);
        let files = FileSet::single("zeros.trace", &file);
        let options = Options::default().with_format(FormatId::APITRACE);
        work::steps_during(|| tracemend::check(&files, &options)).1
    };
    let (short, long) = (steps_of(1 << 20), steps_of(8 << 20));
    eprintln!("{short} and {long} steps");
    assert!(long < 2 * short, "{short} and {long} steps");
}

#[test]
fn the_attempts_to_read_a_trace_without_a_header_share_their_steps() {
    const STEPS: u64 = 1 << 18;
    // No version begins like this; from many places on, the details of a leave go on to the end.
    let stream = [&[0xff; 9][..], &[1, 1, 2].repeat(32 << 10)].concat();
    let file = Container::Snappy.file(&stream);
    let count = |most: u64| {
        let mut options = Options::default().with_format(FormatId::APITRACE);
        options.limits.set(&RESYNC, most);
        let files = FileSet::single("noise.trace", &file);
        work::steps_during(|| tracemend::check(&files, &options)).1
    };
    let searches = count(STEPS) - count(0);
    // The first reading, those without a header together, and the last one.
    assert!((STEPS / 2..=3 * STEPS + STEPS / 4).contains(&searches), "{searches}");
}

/// Most steps of the search for the events of a trace without a beginning
/// (`core/src/formats/apitrace/recover/beginning.rs`).
const BEGINNING_STEPS: u64 = 1 << 17;

#[test]
fn the_search_for_the_first_events_of_a_trace_ends_with_its_steps() {
    // From each place, a leave whose details go on to the end. The magic is damaged too: otherwise
    // it would prove the trace.
    let mut bytes = Container::Snappy.file(&[1; 64 << 10]);
    bytes[0] ^= 1;
    let (_, steps) = count(&single("night.trace", bytes)).steps[0];
    eprintln!("{steps} steps");
    assert!(steps > BEGINNING_STEPS / 2, "{steps}: the trace is not searched to the last step");
    assert!(steps < 2 * BEGINNING_STEPS, "{steps}");
}

#[test]
fn the_evidence_for_many_attrs_that_differ_from_their_copies_has_a_bound() {
    if is_left_to_the_gate("the evidence for many attrs that differ from their copies has a bound")
    {
        return;
    }
    let sample_type = sample_type::IDENTIFIER | sample_type::TIME;
    let steps_of = |attrs: u64| {
        let attr = |id| Attr::cpu_clock(sample_type).with_ids(&[id]);
        let mut recording =
            perf::Recording::new(perf::Order::Little, (1..=attrs).map(attr).collect());
        let comm = recording.maker(0).comm("forge");
        recording.extend(vec![comm; 4_000]).feature(perf::feature_bit::EVENT_DESC);
        let built = recording.build();
        // Another sample_type in each copy: the records show which is right.
        let mut bytes = built.bytes.clone();
        let copies = built.table_offset().unwrap()..bytes.len() - 8;
        let is_copy = |at: &usize| bytes[*at..*at + 8] == sample_type.to_le_bytes();
        let places: Vec<usize> = copies.filter(is_copy).collect();
        assert_eq!(places.len() as u64, attrs);
        places.into_iter().for_each(|at| bytes[at] ^= 1);
        let files = FileSet::single("perf.data", &bytes);
        let (report, steps) = work::steps_during(|| tracemend::check(&files, &Options::default()));
        assert!(report.count(&tracemend::formats::perf::rules::EVENT_DESC_WRONG) > 0);
        steps
    };
    // All attrs together have the bound of 400.
    let (few, many) = (steps_of(400), steps_of(800));
    eprintln!("{few} and {many} steps");
    assert!(many < few * 5 / 4, "{few} and {many}");
}

#[test]
fn the_search_for_values_of_many_damaged_attrs_ends_with_its_effort() {
    // The header names no attrs, so that they are looked for; their values explain no sample.
    let mut recording = perf::Recording::new(perf::Order::Little, vec![event(); 200]);
    (0..100).for_each(|_| _ = recording.push(Record::new(9, 0, vec![0; 8])));
    let mut bytes = recording.build().bytes;
    bytes[16..40].fill(0xff);
    let files = FileSet::single("perf.data", &bytes);
    let check = |most: u64| {
        let mut options = Options::default();
        options.limits.set(&TRIED, most);
        work::steps_during(|| tracemend::check(&files, &options))
    };
    let (report, steps) = check(Limits::default().of(&TRIED));
    assert!(report.has_errors());
    work::check_is_bounded(&files, &report, steps).unwrap();
    // The search takes most of the steps, and less of it takes fewer.
    let (_, fewer) = check(1 << 13);
    assert!(2 * fewer < steps, "{fewer} of {steps} steps: the limit does not end the search");
}

/// Reads the bytes from the beginning again for each of them, or only once.
fn walk(bytes: &[u8], again: bool) -> (u64, u64) {
    steps::take();
    for end in 1..=bytes.len() {
        let start = if again { 0 } else { end - 1 };
        let mut cursor = Cursor::new(&bytes[start..end], Layer::stored(0), 0, Order::Little);
        while cursor.u8("byte").is_ok() {}
    }
    (u64::try_from(bytes.len()).unwrap(), steps::take())
}

#[test]
fn a_walk_that_begins_again_for_each_byte_is_found_by_its_steps() {
    let [short, long] = [vec![0; 500], vec![0; 2_000]];
    assert_eq!(judge(walk(&short, false), walk(&long, false)), Ok(()));
    assert!(judge(walk(&short, true), walk(&long, true)).is_err());
}

/// The first reading of such a trace finds no event, and ends soon; the next one finds the first.
#[test]
fn a_trace_that_lost_its_beginning_is_not_searched_to_its_end() {
    for count in [3_000, 12_000] {
        let lost = &call_heavy(count).bytes[2_000..];
        let file = Container::Snappy.file(lost);
        let files = FileSet::new(vec![File { name: String::new(), bytes: Source::new(&file) }]);
        steps::take();
        let report = tracemend::check(&files, &Options::default());
        let (steps, bytes) = (steps::take(), files.len());
        assert!(report.tally.samples > count, "{} calls", report.tally.samples);
        // 1.6 million for 125,350 bytes and 5.0 million for 502,133.
        assert!(steps < 10 * bytes + 1_000_000, "{steps} steps for {bytes} bytes");
    }
}

/// Steps of the searches for a trace in a file that shows names of functions.
const NAMED_STEPS: u64 = 1 << 20;

/// A file with names of an API may be a trace without its beginning; the search for one ends.
#[test]
fn a_file_with_names_of_functions_is_searched_for_a_trace_with_few_steps() {
    let steps_of = |name: &[u8], count: u32| {
        let item = |index: u32| [b"\0\0\x01\0\0", name, b"\0", &index.to_le_bytes()].concat();
        let bytes: Vec<u8> = (0..count).flat_map(item).collect();
        let files = FileSet::single("library", &bytes);
        steps::take();
        assert_eq!(tracemend::recognise(&files, &Options::default()), None);
        (steps::take(), files.len())
    };
    for count in [2_000, 16_000] {
        let (words, _) = steps_of(b"a_vertex_3f", count);
        let (names, bytes) = steps_of(b"glVertex3fv", count);
        assert!(names > words, "{names}, {words}: no search for a trace");
        // Events that are found are read: 18 steps per byte here.
        let most = NAMED_STEPS + 20 * bytes;
        assert!(names - words < most, "{names}, {words} for {bytes} bytes");
    }
}

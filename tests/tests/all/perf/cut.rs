//! `cut`: the samples of an interval as a recording of its own.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tracemend::kit::source::Source;
use tracemend::limits::CUT;
use tracemend::{CutError, Dump, File, FileSet, FormatId, Options, Repair, cut};
use tracemend_tests::forge::perf::{Attr, Built, Order, Recording, by_name, sample_type as bit};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::known_originals::SUBJECTS;
use tracemend_tests::mended::mended;
use tracemend_tests::sweep::is_left_to_the_gate;

const TYPE: u64 = bit::IP | bit::TID | bit::TIME | bit::PERIOD;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean").join(name)
}

/// Recordings of perf in one file.
const RECORDED: [&str; 6] =
    ["plain.data", "callgraph.data", "pipe.data", "zstd.data", "wide.data", "group.data"];

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(corpus(name)).unwrap()
}

/// Nanoseconds as the option takes them.
fn seconds(time: u64) -> String {
    format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000)
}

fn by_time(times: &Range<u64>) -> Options {
    let value = format!("{}..{}", seconds(times.start), seconds(times.end));
    Options::default().with_choice("time", &value).unwrap()
}

fn cut_file(bytes: &[u8], options: &Options) -> Result<(Repair, Vec<u8>), CutError> {
    let files = FileSet::single("perf.data", bytes);
    let part = cut(&files, options)?;
    let target = part.output(&files).bytes(0).to_vec();
    Ok((part, target))
}

/// The records of a recording as a dump shows them.
fn records(files: &FileSet<'_>) -> Vec<Value> {
    let mut text = String::new();
    let request = Dump::JsonLines;
    let dumped = tracemend::dump(files, &Options::default(), &request, &mut |piece| {
        text += piece;
        true
    });
    assert_eq!(dumped.unwrap().left_out, 0);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The samples with everything that is not their place.
fn samples(records: &[Value]) -> Vec<Value> {
    let mut samples: Vec<Value> =
        records.iter().filter(|record| record["kind"] == "SAMPLE").cloned().collect();
    for sample in &mut samples {
        let fields = sample.as_object_mut().unwrap();
        for field in ["offset", "number", "layer"] {
            fields.remove(field);
        }
    }
    samples
}

fn times(records: &[Value]) -> Vec<u64> {
    let mut times: Vec<u64> = samples(records).iter().filter_map(|s| s["time"].as_u64()).collect();
    times.sort_unstable();
    times
}

/// The middle of three parts with about as many samples.
fn middle(times: &[u64]) -> Option<Range<u64>> {
    let (first, last) = (times.get(times.len() / 3)?, times.get(times.len() * 2 / 3)?);
    Some(*first..last + 1)
}

#[test]
fn a_part_has_the_samples_of_its_interval_with_their_threads_and_events() {
    let subject = SUBJECTS.iter().find(|subject| subject.format == FormatId::PERF).unwrap();
    let (mut cut_out, mut kept) = (0, 0);
    for original in subject.originals.iter() {
        let list = original.files.iter();
        let list = list.map(|(name, bytes)| File::new(name.clone(), Source::new(bytes)));
        let files = FileSet::new(list.collect());
        let whole = records(&files);
        let Some(times) = middle(&times(&whole)) else { continue };
        let is_inside = |sample: &&Value| times.contains(&sample["time"].as_u64().unwrap_or(0));
        let part = match cut(&files, &by_time(&times)) {
            Ok(part) => part,
            Err(CutError::Refused(reason)) => {
                assert!(reason.contains("AUXTRACE"), "{}: {reason}", original.name);
                continue;
            }
            Err(error) => panic!("{}: {error}", original.name),
        };
        let found = samples(&records(&part.output(&files)));
        let wanted: Vec<Value> = samples(&whole).iter().filter(is_inside).cloned().collect();
        assert_eq!(found, wanted, "{}", original.name);
        assert!(!part.after.has_errors(), "{}", original.name);
        cut_out += 1;
        kept += found.len();
    }
    assert!(cut_out > 20 && kept > 60, "{cut_out} recordings, {kept} samples");
}

#[test]
fn perf_shows_the_samples_of_a_part_as_in_the_whole_recording() {
    if is_left_to_the_gate("perf shows the samples of a part as in the whole recording") {
        return;
    }
    const FIELDS: &str = "comm,pid,tid,time,event,ip,sym,dso";
    for perf in Perf::all_or_skip() {
        for name in RECORDED {
            let bytes = recorded(name);
            let folder = tempfile::tempdir().unwrap();
            let [whole, part] = ["whole", "part"].map(|name| folder.path().join(name));
            std::fs::write(&whole, &bytes).unwrap();
            let times = times(&records(&FileSet::single("perf.data", &bytes)));
            let times = middle(&times).unwrap();
            let (_, target) = cut_file(&bytes, &by_time(&times)).unwrap();
            std::fs::write(&part, target).unwrap();
            // perf takes both ends.
            let interval = format!("{},{}", seconds(times.start), seconds(times.end - 1));
            let show = ["script", "--no-itrace", "--ns", "-F", FIELDS];
            let wanted = perf.view(&whole, &[&show[..], &["--time", &interval]].concat());
            let found = perf.view(&part, &show);
            let by = perf.version();
            assert!(found.is_success() && found.count > 0, "{name} by {by}: {}", found.stderr);
            if name == "group.data" {
                // The first values of the part count from the beginning.
                let count = |text: &str| text.lines().count();
                assert!(count(&found.stdout) >= count(&wanted.stdout), "{name} by {by}");
                continue;
            }
            assert!(found.stdout == wanted.stdout, "{name} by {by}");
        }
    }
}

#[test]
fn a_part_with_everything_is_the_recording() {
    for name in ["plain.data", "callgraph.data", "pipe.data"] {
        let bytes = recorded(name);
        let options = Options::default().with_choice("time", "..").unwrap();
        let (part, target) = cut_file(&bytes, &options).unwrap();
        assert_eq!(part.after.tally.samples, part.before.tally.samples, "{name}");
        let (_, again) = cut_file(&target, &options).unwrap();
        assert!(again == target, "{name}");
        // Rounds in which nothing was written may be gone.
        assert!(target.len() <= bytes.len() && bytes.len() - target.len() < 400, "{name}");
    }
}

/// Records about a process before, among and after three samples.
fn story() -> Built {
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(TYPE).with_ids(&[11])]);
    let mut maker = recording.maker(0);
    let all = vec![
        maker.comm("first"),
        maker.mmap2(),
        maker.lost(),
        maker.sample(),
        maker.comm("second"),
        maker.namespaces(),
        maker.sample(),
        maker.lost(),
        maker.comm("third"),
        maker.sample(),
        maker.cgroup(),
        maker.id_index(),
    ];
    recording.extend(all).features([3, 21]);
    recording.build()
}

fn kinds(bytes: &[u8]) -> Vec<String> {
    let all = records(&FileSet::single("perf.data", bytes));
    all.iter().map(|record| record["kind"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_part_has_what_its_samples_need_and_no_later_record() {
    let built = story();
    let whole = records(&FileSet::single("perf.data", &built.bytes));
    let [_, second, _] = times(&whole)[..] else { panic!("three samples") };
    let expected =
        ["COMM", "MMAP2", "COMM", "NAMESPACES", "SAMPLE", "ID_INDEX"].map(str::to_string);
    let (_, part) = cut_file(&built.bytes, &by_time(&(second..second + 1))).unwrap();
    assert_eq!(kinds(&part), expected);
    let number = whole.iter().position(|record| record["time"] == second).unwrap();
    let range = format!("{number}..{}", number + 1);
    let options = Options::default().with_choice("range", &range).unwrap();
    let (_, by_number) = cut_file(&built.bytes, &options).unwrap();
    assert!(by_number == part);
    // SAMPLE_TIME has the times of the part.
    let (repair, target) = mended(&part);
    assert!(repair.before.counts().is_empty() && target == part, "{:?}", repair.before.counts());
}

#[test]
fn a_part_without_a_sample_is_refused_with_the_times_that_there_are() {
    let error = cut_file(&recorded("plain.data"), &by_time(&(1..2))).unwrap_err();
    let CutError::Refused(reason) = error else { panic!("{error}") };
    assert!(reason.contains("the samples have times from"), "{reason}");
}

#[test]
fn hardware_traces_damage_and_other_formats_are_refused() {
    let options = Options::default().with_choice("range", "..").unwrap();
    for name in ["auxtrace", "pipe_auxtrace"] {
        let error = cut_file(&by_name(name).built.bytes, &options).unwrap_err();
        assert!(error.to_string().contains("AUXTRACE"), "{name}: {error}");
    }
    let mut damaged = by_name("plain").built.bytes;
    damaged[48..56].fill(0);
    assert!(matches!(cut_file(&damaged, &options), Err(CutError::Damaged(_))));
    let revent = tracemend_tests::forge::revent::all().remove(0).1;
    assert_eq!(cut_file(&revent, &options).unwrap_err(), CutError::Unsupported);
    assert_eq!(cut_file(b"", &options).unwrap_err(), CutError::UnknownFormat);
}

#[test]
fn the_records_of_compressed_ones_take_no_more_than_the_limit() {
    let bytes = recorded("zstd.data");
    let mut options = Options::default().with_choice("time", "..").unwrap();
    let (part, _) = cut_file(&bytes, &options).unwrap();
    assert!(part.changes() && part.after.tally.samples == part.before.tally.samples);
    options.limits.set(&CUT, 1_000);
    let error = cut_file(&bytes, &options).unwrap_err();
    assert!(matches!(&error, CutError::Limit(text) if text.contains("limit cut")), "{error}");
}

//! `dump` of perf.data against perf itself.

use std::collections::BTreeSet;
use std::path::Path;

use tracemend::kit::source::Source;
use tracemend::{Choices, Dump, DumpError, File, FileSet, FormatId, Options};
use tracemend_tests::forge::perf::{Attr, Order, Recording, by_name, read_format, sample_type};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::known_originals::SUBJECTS;
use tracemend_tests::sweep::is_left_to_the_gate;

fn dump(files: &FileSet<'_>, request: &Dump, choices: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut chosen = Choices::default();
    choices.iter().for_each(|(name, value)| chosen.set(name, value).unwrap());
    let options = Options { format: Some(FormatId::PERF), choices: chosen, ..Options::default() };
    let dumped = tracemend::dump(files, &options, request, &mut |piece| {
        text += piece;
        true
    });
    assert_eq!(dumped.unwrap().left_out, 0);
    text
}

/// The times in lines of `perf script -F time --ns`.
fn times(text: &str) -> BTreeSet<u64> {
    let time = |line: &str| {
        let (seconds, nanos) = line.trim().trim_end_matches(':').split_once('.')?;
        Some(seconds.parse::<u64>().ok()? * 1_000_000_000 + nanos.parse::<u64>().ok()?)
    };
    text.lines().filter_map(time).collect()
}

/// Counts the samples with values of several events.
fn script_groups(files: &FileSet<'_>) -> usize {
    let json = dump(files, &Dump::JsonLines, &[]);
    let objects = json.lines().map(|line| serde_json::from_str(line).unwrap());
    let is_group = |line: &serde_json::Value| line["values"].as_u64().unwrap_or(0) > 1;
    objects.filter(|line: &serde_json::Value| line["kind"] == "SAMPLE" && is_group(line)).count()
}

#[test]
fn samples_and_their_times_are_those_of_perf_on_every_sound_recording() {
    if is_left_to_the_gate("samples and their times are those of perf on every sound recording") {
        return;
    }
    let perf = Perf::find_or_skip();
    let subject = SUBJECTS.iter().find(|subject| subject.format == FormatId::PERF).unwrap();
    let mut compared = 0;
    for original in subject.originals.iter() {
        let files = original.files.iter();
        let list = files.map(|(name, bytes)| File::new(name.clone(), Source::new(bytes)));
        let files = FileSet::new(list.collect());
        let script = dump(&files, &Dump::Text { style: None }, &[]);
        let samples = tracemend::check(&files, &Options::default()).tally.samples;
        // The frames of a call chain are indented, and an empty line ends it.
        let is_sample = |line: &&str| !line.is_empty() && !line.starts_with('\t');
        let lines = script.lines().filter(is_sample).count() as u64;
        // Events that are read together have a line for each whose value grew.
        let has_groups = script_groups(&files) > 0;
        assert!(lines == samples || has_groups, "{}: {lines}", original.name);
        let records = dump(&files, &Dump::Text { style: Some("records".into()) }, &[]);
        let json = dump(&files, &Dump::JsonLines, &[]);
        let counts = [&records, &json].map(|text| text.lines().count() as u64);
        let all = tracemend::check(&files, &Options::default()).tally.records;
        assert_eq!(counts, [all; 2], "{}", original.name);
        let objects = json.lines().map(|line| serde_json::from_str(line).unwrap());
        let mine: BTreeSet<u64> = objects
            .filter(|line: &serde_json::Value| line["kind"] == "SAMPLE")
            .filter_map(|line| line["time"].as_u64())
            .collect();
        let (Some(perf), [(_, bytes)]) = (&perf, original.files.as_slice()) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("perf.data");
        std::fs::write(&path, bytes).unwrap();
        let shown = perf.times(&path);
        if has_groups {
            assert_eq!(lines, perf.samples(&path).count as u64, "{}", original.name);
        }
        // perf refuses some forged recordings, and times that an event does not have.
        if shown.is_success() && !mine.is_empty() {
            assert_eq!(times(&shown.stdout), mine, "{}", original.name);
            compared += 1;
        }
    }
    assert!(perf.is_none() || compared > 40, "{compared} recordings were compared");
}

#[test]
fn a_dump_names_threads_events_and_fields() {
    let bytes = by_name("plain").built.bytes;
    let files = FileSet::single("perf.data", &bytes);
    let script = dump(&files, &Dump::Text { style: None }, &[]);
    let first = script.lines().next().unwrap();
    assert!(first.contains("cpu-clock") || first.contains("cycles"), "{first}");
    let comm = dump(&files, &Dump::Text { style: Some("records".into()) }, &[("kind", "comm")]);
    assert!(comm.lines().all(|line| line.contains("PERF_RECORD_COMM pid=")), "{comm}");
    assert!(comm.contains(" comm="), "{comm}");
    let none = dump(&files, &Dump::Text { style: None }, &[("event", "no such event")]);
    assert_eq!(none, "");
    let two = dump(&files, &Dump::JsonLines, &[("range", "1..3")]);
    let numbers: Vec<u64> = two
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2]);
}

#[test]
fn a_dump_needs_a_header_and_a_known_style() {
    let files = FileSet::single("perf.data", b"PERFILE2");
    let options = Options { format: Some(FormatId::PERF), ..Options::default() };
    let run = |request| tracemend::dump(&files, &options, &request, &mut |_| true);
    assert!(matches!(run(Dump::JsonLines), Err(DumpError::Unreadable)));
    let style = Dump::Text { style: Some("other".into()) };
    assert!(matches!(run(style), Err(DumpError::Style(_))));
}

#[test]
fn the_keys_of_a_line_of_json_differ() {
    let bytes = by_name("every_kernel_record").built.bytes;
    let lines = dump(&FileSet::single("perf.data", &bytes), &Dump::JsonLines, &[]);
    assert!(lines.contains("BPF_EVENT"), "{lines}");
    let subject = SUBJECTS.iter().find(|subject| subject.format == FormatId::PERF).unwrap();
    let originals = subject.originals.iter().filter(|original| original.files.len() == 1);
    let others = originals.map(|original| {
        dump(&FileSet::single("perf.data", &original.files[0].1), &Dump::JsonLines, &[])
    });
    for text in std::iter::once(lines).chain(others) {
        for line in text.lines() {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            // Of two members with one name, the object has the last.
            assert_eq!(object.to_string().len(), line.len(), "{line}");
        }
    }
}

#[test]
fn lists_are_shown_with_their_entries() {
    let bytes = by_name("every_kernel_record").built.bytes;
    let files = FileSet::single("perf.data", &bytes);
    let records = |kind: &str| -> Vec<serde_json::Value> {
        let text = dump(&files, &Dump::JsonLines, &[("kind", kind)]);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let spaces = records("NAMESPACES");
    let entries = spaces[0]["link_info"].as_array().unwrap();
    assert_eq!(spaces[0]["nr_namespaces"], entries.len());
    assert!(entries.iter().all(|one| one["dev"].is_u64() && one["inode"].is_u64()), "{entries:?}");
    let style = Dump::Text { style: Some("records".into()) };
    let text = dump(&files, &style, &[]);
    assert!(text.contains(" link_info=[dev="), "{text}");
    let bytes = by_name("callchain_deferred").built.bytes;
    let text = dump(&FileSet::single("perf.data", &bytes), &style, &[]);
    assert!(text.contains(" ips=[0x"), "{text}");
}

#[test]
fn counter_values_have_their_names_in_every_layout() {
    let lines = |bytes: &[u8], kind: &str| -> Vec<serde_json::Value> {
        let files = FileSet::single("perf.data", bytes);
        let text = dump(&files, &Dump::JsonLines, &[("kind", kind)]);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    // A forged sample counts as many events as its time, for twice 1,000 ns.
    let check = |line: &serde_json::Value, format: u64, value: u64| {
        let times = [read_format::ENABLED, read_format::RUNNING].map(|bit| format & bit != 0);
        let names = ["time_enabled", "time_running"].map(|name| line[name].is_u64());
        assert_eq!(names, times, "{format:#x}: {line}");
        let entry = line["read_values"].as_array().and_then(|all| all.first()).unwrap();
        assert_eq!([&entry["value"], &entry["id"]], [value, 11], "{format:#x}: {line}");
        assert_eq!(entry["lost"].is_u64(), format & read_format::LOST != 0, "{line}");
    };
    for bits in 0..16_u64 {
        let chosen = [read_format::GROUP, read_format::ENABLED, read_format::RUNNING];
        let chosen = chosen.into_iter().chain([read_format::LOST]).enumerate();
        let format = chosen.filter(|(at, _)| bits >> at & 1 == 1).map(|(_, bit)| bit);
        let format = format.fold(read_format::ID, |all, bit| all | bit);
        let sample_type = sample_type::IDENTIFIER | sample_type::TIME | sample_type::READ;
        let attr = Attr::cpu_clock(sample_type).with_read_format(format).with_ids(&[11]);
        let mut recording = Recording::new(Order::Little, vec![attr]);
        let mut maker = recording.maker(0);
        recording.extend([maker.sample(), maker.read()]);
        let bytes = recording.build().bytes;
        let sample = &lines(&bytes, "SAMPLE")[0];
        check(sample, format, sample["time"].as_u64().unwrap());
        check(&lines(&bytes, "READ")[0], format, 5);
    }
}

/// A sample as both show it: offset, addresses of the call chain, ids and values of counters.
type Lists = (u64, Vec<u64>, Vec<(u64, u64)>);

/// Reads the samples in the text of `perf script -D`.
fn lists_of_perf(text: &str) -> Vec<Lists> {
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let mut samples: Vec<Lists> = Vec::new();
    for line in text.lines() {
        if let Some((before, _)) = line.split_once(": PERF_RECORD_SAMPLE(") {
            let offset = before.split(' ').rev().nth(1).and_then(hex).unwrap();
            samples.push((offset, Vec::new(), Vec::new()));
        } else if let Some(rest) = line.strip_prefix("..... id ") {
            let (id, value) = rest.split_once(", value ").unwrap();
            let value = value.split(',').next().and_then(hex);
            samples.last_mut().unwrap().2.push((hex(id).unwrap(), value.unwrap()));
        } else if let Some((_, address)) =
            line.strip_prefix("..... ").and_then(|rest| rest.split_once(": "))
        {
            samples.last_mut().unwrap().1.push(hex(address).unwrap());
        }
    }
    // perf shows them by their times.
    samples.sort_by_key(|(offset, ..)| *offset);
    samples
}

#[test]
fn call_chains_and_counter_values_are_those_of_perf() {
    if is_left_to_the_gate("call chains and counter values are those of perf") {
        return;
    }
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let (mut chains, mut values) = (0, 0);
    let recorded = ["cpu-clock", "{cpu-clock,task-clock}:S"].map(|event| {
        perf.record(&["-e", event, "-g"], &["ls", "-lR", "/usr/share/doc"], &path).unwrap();
        std::fs::read(&path).unwrap()
    });
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    let kept = ["callgraph", "group"]
        .map(|name| std::fs::read(corpus.join(name).with_extension("data")).unwrap());
    for bytes in recorded.into_iter().chain(kept) {
        std::fs::write(&path, &bytes).unwrap();
        let json = dump(&FileSet::single("perf.data", &bytes), &Dump::JsonLines, &[]);
        let lines = json.lines().map(|line| serde_json::from_str(line).unwrap());
        let samples = lines.filter(|line: &serde_json::Value| line["kind"] == "SAMPLE");
        let list = |line: &serde_json::Value, name: &str| {
            line[name].as_array().cloned().unwrap_or_default()
        };
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        let mine: Vec<Lists> = samples
            .map(|line| {
                let ips = list(&line, "ips").iter().map(number).collect();
                let pair = |one: &serde_json::Value| (number(&one["id"]), number(&one["value"]));
                let read = list(&line, "read_values").iter().map(pair).collect();
                (number(&line["offset"]), ips, read)
            })
            .collect();
        chains += mine.iter().filter(|(_, ips, _)| !ips.is_empty()).count();
        values += mine.iter().filter(|(_, _, values)| values.len() > 1).count();
        assert_eq!(mine, lists_of_perf(&perf.dump(&path).stdout));
    }
    assert!(chains > 4 && values > 4, "{chains} call chains, {values} lists of values");
}

#[test]
fn the_name_of_an_event_in_a_pipe_is_that_in_event_desc() {
    let attr = Attr::tracepoint(sample_type::TID | sample_type::ID, 316, "sched:sched_switch");
    let mut recording = Recording::pipe(Order::Little, vec![attr.with_ids(&[61])]);
    let sample = recording.maker(0).sample();
    let bytes = recording.feature(12).push(sample).build().bytes;
    let script = dump(&FileSet::single("perf.data", &bytes), &Dump::Text { style: None }, &[]);
    assert!(script.contains("sched:sched_switch"), "{script}");
}

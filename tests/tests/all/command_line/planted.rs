//! `redact`: a word planted anywhere is gone from the output, or the report names a place that is
//! left and the exit status is 1.

use std::collections::BTreeMap;

use tracemend_tests::forge::apitrace::{Container, Stream as ApiStream, Value as ApiValue};
use tracemend_tests::forge::ovni::{Stream, Thread, Trace};
use tracemend_tests::forge::perf::{Attr, Bytes, Maker, Order, Record, Recording, sample_type};
use tracemend_tests::sweep::Share;

use super::*;

/// The word that is planted. No name of an API or recorder has it.
pub(super) const WORD: &[u8; 8] = b"SECRETXY";

/// The fate of a word.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It has private files, cannot be read, or would be worse: nothing was written.
    Refused,
    /// It is not in the output.
    Gone,
    /// The report names a place that is left, which it does not name without the word.
    Named,
    /// It is in the output, and the report is the same as without the word.
    Hidden(String),
}

/// Number of places that are left, by code and field.
pub(super) type Left = BTreeMap<(String, String), u64>;

/// All bytes below a path, the names of files, and the dump of what is in them.
fn everything(path: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    let mut open = vec![path.to_path_buf()];
    while let Some(at) = open.pop() {
        all.extend(at.strip_prefix(path).unwrap().as_os_str().as_bytes());
        if at.is_dir() {
            open.extend(fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            all.extend(fs::read(at).unwrap());
        }
    }
    all.extend(run!("dump", path, "--format", "jsonl").out.bytes());
    all
}

/// Whether part of a word is there, in wide characters, too.
fn has(bytes: &[u8], word: &[u8]) -> bool {
    let wide: Vec<u8> = word[..6].iter().flat_map(|byte| [*byte, 0]).collect();
    bytes.windows(6).any(|part| part == &word[..6]) || bytes.windows(12).any(|part| part == wide)
}

fn has_word(bytes: &[u8]) -> bool {
    has(bytes, WORD)
}

/// Redacts what is at `path`; returns the places that are left, or `None` if nothing was written.
pub(super) fn redacted(path: &Path, output: &Path) -> Option<Left> {
    let ran = run!("redact", path, "-o", output, "--format", "json");
    if ran.code == 4 {
        assert!(!output.exists());
        return None;
    }
    let document = parse(&ran.out);
    let left = document["left"].as_array().unwrap();
    assert_eq!(ran.code == 1, !left.is_empty(), "{document}{}", ran.err);
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_string();
    let entry =
        |one: &Value| ((text(one, "code"), text(one, "field")), one["count"].as_u64().unwrap());
    let mut all = Left::new();
    for (key, count) in left.iter().map(entry) {
        *all.entry(key).or_default() += count;
    }
    Some(all)
}

/// Judges the fate of a word in a recording; `base` is left without the word.
pub(super) fn judge_word(path: &Path, base: &Left, word: &[u8]) -> Fate {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("output");
    let Some(left) = redacted(path, &output) else { return Fate::Refused };
    if !has(&everything(&output), word) {
        return Fate::Gone;
    }
    let is_new = |(key, count): (&(String, String), &u64)| base.get(key).unwrap_or(&0) < count;
    if left.iter().any(is_new) { Fate::Named } else { Fate::Hidden(format!("{left:?}")) }
}

fn judge(path: &Path, base: &Left) -> Fate {
    judge_word(path, base, WORD)
}

pub(super) fn judge_file(name: &str, bytes: &[u8], base: &Left) -> Fate {
    let folder = folder(&[(name, bytes)]);
    judge(&folder.path().join(name), base)
}

pub(super) fn left_of(name: &str, bytes: &[u8]) -> Option<Left> {
    let folder = folder(&[(name, bytes)]);
    redacted(&folder.path().join(name), &folder.path().join("output"))
}

/// A part of a map without parts.
struct Leaf {
    name: String,
    start: usize,
    len: usize,
    is_number: bool,
}

fn leaves(region: &Value, all: &mut Vec<Leaf>) {
    let children = region["children"].as_array().filter(|children| !children.is_empty());
    for child in children.into_iter().flatten() {
        leaves(child, all);
    }
    if children.is_none() {
        let value = region["value"].as_str().unwrap_or_default();
        let number = value.split(' ').next().unwrap_or_default();
        let is_hex = value.contains("(0x") || value.len() < 17;
        let is_number = is_hex && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let place = |key: &str| usize::try_from(region[key].as_u64().unwrap()).unwrap();
        let (name, start) = (region["name"].as_str().unwrap().to_string(), place("start"));
        all.push(Leaf { name, start, len: place("end") - start, is_number });
    }
}

/// Plants the word into each field, gap and padding of a recording that is not a number, and where
/// no field of `facts` is. Returns how many words were gone, and how many were named.
fn plant_in_fields(name: &str, bytes: &[u8], facts: &[&str], share: Share) -> (usize, usize) {
    let folder = folder(&[(name, bytes)]);
    let map = run!("map", folder.path().join(name), "--format", "json", "--depth", "9");
    let document = parse(&map.out);
    let mut all = Vec::new();
    for region in document["recordings"][0]["files"][0]["regions"].as_array().unwrap() {
        leaves(region, &mut all);
    }
    let Some(base) = left_of(name, bytes) else { return (0, 0) };
    let (mut gone, mut named) = (0, 0);
    let is_wanted =
        |leaf: &Leaf| leaf.len > 8 && !leaf.is_number && !facts.contains(&leaf.name.as_str());
    for leaf in share.of(all.into_iter().filter(is_wanted)) {
        let mut planted = bytes.to_vec();
        planted[leaf.start..leaf.start + 8].copy_from_slice(WORD);
        let place = format!("{name}: {} at {:#x}, {} bytes", leaf.name, leaf.start, leaf.len);
        match judge_file(name, &planted, &base) {
            Fate::Refused => {}
            Fate::Gone => gone += 1,
            Fate::Named => named += 1,
            Fate::Hidden(left) => panic!("{place}: the word is left, and only {left} is named"),
        }
    }
    (gone, named)
}

/// Fields of several numbers: plain facts. Parts of a BPF program and of a trace are always named.
const PERF_FACTS: &str = "\
    branch_stack.nr ids event.ids cpu_map.nr bitmap.entries cpus auxtrace.entries \
    callchain.nr weight event_update.scale program.info btf.data aux.size";

#[test]
fn a_word_in_any_field_of_a_perf_recording_is_gone_or_named() {
    let (mut gone, mut named) = (0, 0);
    let facts: Vec<&str> = PERF_FACTS.split_ascii_whitespace().collect();
    for made in perf::clean() {
        let share = Share::one_in(12);
        let found = plant_in_fields(made.name, &made.built.bytes, &facts, share);
        gone += found.0;
        named += found.1;
    }
    assert!(gone > 20, "{gone} words were gone, {named} named");
}

#[test]
fn a_word_in_any_field_of_an_input_recording_is_gone_or_named() {
    let (mut gone, mut named) = (0, 0);
    for (name, built) in revent::clean() {
        let facts = &["abs_bits", "key_bits", "rel_bits", "enter pair"];
        let name = format!("{name}.run.revent");
        let found = plant_in_fields(&name, &built.bytes, facts, Share::one_in(1));
        gone += found.0;
        named += found.1;
    }
    // A path elsewhere is an error, so that most of these are refused.
    assert!(gone + named > 1, "{gone} words were gone, {named} named");
}

pub(super) fn attr() -> Attr {
    Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME).with_ids(&[11])
}

/// A recording with a sample, and what `change` adds.
pub(super) fn perf_with(attr: Attr, change: impl FnOnce(&mut Recording, &mut Maker)) -> Vec<u8> {
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let mut maker = recording.maker(0);
    let sample = maker.sample();
    recording.push(sample);
    change(&mut recording, &mut maker);
    recording.build().bytes
}

fn judge_perf(what: &str, bytes: &[u8]) {
    let fate = judge_file("a.data", bytes, &Left::new());
    assert!(matches!(fate, Fate::Gone | Fate::Named), "{what}: {fate:?}");
}

/// A text with its length, as features store it.
fn string(text: &[u8]) -> Vec<u8> {
    let mut out = Bytes::new(Order::Little);
    let room = text.len() + 1 + (8 - (text.len() + 1) % 8) % 8;
    out.u32(u32::try_from(room).unwrap()).raw(text).zeros(room - text.len());
    out.done()
}

#[test]
fn a_word_in_an_unknown_or_trailing_part_of_a_feature_is_gone_or_named() {
    let base = perf_with(attr(), |_, _| ());
    assert_eq!(left_of("a.data", &base), Some(Left::new()));
    for bit in [35, 40, 63, 128, 200] {
        let bytes = perf_with(attr(), |recording, _| {
            recording.feature_with(bit, [&b"of an unknown kind "[..], WORD].concat());
        });
        judge_perf(&format!("feature {bit}"), &bytes);
    }
    // perf 7 refuses most contents of these.
    for (bit, zeros) in [(32, 0), (32, 16), (33, 0), (33, 16), (34, 0), (34, 16)] {
        let bytes = perf_with(attr(), |recording, _| {
            recording.feature_with(bit, [&vec![0; zeros][..], WORD].concat());
        });
        let fate = judge_file("a.data", &bytes, &Left::new());
        assert!(!matches!(fate, Fate::Hidden(_)), "feature {bit}: {fate:?}");
    }
    let base = perf::feature::section;
    for bit in (1..=31).filter(|bit| ![18, 21, 24, 27].contains(bit)) {
        let section = base(bit, Order::Little, &[attr()]);
        let bytes = perf_with(attr(), |recording, _| {
            recording.feature_with(bit, [&section[..], WORD].concat());
        });
        let fate = judge_file("a.data", &bytes, &Left::new());
        assert!(!matches!(fate, Fate::Hidden(_)), "after feature {bit}: {fate:?}");
    }
}

#[test]
fn a_word_in_a_name_of_a_feature_is_gone_or_named() {
    let word = string(WORD);
    let numbers = |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let program = [numbers(&[1, 8, 8]), vec![0; 8], vec![0; 8], WORD.to_vec()].concat();
    let features = [
        (17, [numbers(&[1]), word.clone(), numbers(&[0, 1])].concat()),
        (16, [numbers(&[1, 1]), word.clone()].concat()),
        (25, program),
        (26, [numbers(&[1, 7, 8]), WORD.to_vec()].concat()),
        (28, [numbers(&[1]), word.clone(), string(b"1")].concat()),
        (28, [numbers(&[1]), string(b"max_precise"), word.clone()].concat()),
        (30, [numbers(&[1]), word.clone(), string(b"0-1")].concat()),
    ];
    for (bit, section) in features {
        let bytes = perf_with(attr(), |recording, _| {
            recording.feature_with(bit, section);
        });
        judge_perf(&format!("feature {bit}"), &bytes);
    }
    let mut named = attr();
    named.name = "SECRETXY".into();
    judge_perf("EVENT_DESC", &perf_with(named, |recording, _| _ = recording.feature(12)));
}

#[test]
fn a_word_in_a_record_is_gone_or_named() {
    let padded = |parts: &[&[u8]]| {
        let mut body = parts.concat();
        body.resize(body.len().next_multiple_of(8), 0);
        body
    };
    let number = |value: u64| value.to_le_bytes();
    let records: Vec<(&str, Record)> = vec![
        ("unknown kernel record", Record::new(60, 0, padded(&[WORD, WORD]))),
        ("unknown user record", Record::new(200, 0, padded(&[WORD, WORD]))),
        ("THREAD_MAP", Record::new(73, 0, padded(&[&number(1), &number(7), WORD, &number(0)]))),
        ("EVENT_UPDATE unit", Record::new(78, 0, padded(&[&number(0), &number(11), WORD, &[0]]))),
        ("EVENT_UPDATE name", Record::new(78, 0, padded(&[&number(2), &number(11), WORD, &[0]]))),
        ("EVENT_UPDATE", Record::new(78, 0, padded(&[&number(9), &number(11), WORD]))),
        ("FINISHED_ROUND", Record::new(68, 0, WORD.to_vec())),
        ("STAT_ROUND", Record::new(77, 0, padded(&[&number(0), &number(5), WORD]))),
        (
            "AUXTRACE_ERROR",
            Record::new(72, 0, padded(&[&[1; 20], &[0; 4], &number(0), WORD, &[0]])),
        ),
        ("AUXTRACE_INFO", Record::new(70, 0, padded(&[&number(4), &number(0), WORD]))),
    ];
    for (what, record) in records {
        let bytes = perf_with(attr(), |recording, _| _ = recording.push(record));
        let fate = judge_file("a.data", &bytes, &Left::new());
        assert!(!matches!(fate, Fate::Hidden(_)), "{what}: {fate:?}");
    }
    // Records of the kernel end with 16 bytes of ids and time.
    let kernel = [
        ("CGROUP", 8, padded(&[WORD, &[0]])),
        ("MMAP2", 64, padded(&[WORD, &[0]])),
        ("TEXT_POKE", 8, padded(&[&[4, 0, 4, 0], WORD])),
    ];
    for (what, start, text) in kernel {
        let bytes = perf_with(attr(), |recording, maker| {
            let mut record = match what {
                "CGROUP" => maker.cgroup(),
                "MMAP2" => maker.mmap2(),
                _ => maker.text_poke(),
            };
            let trailer = record.body.split_off(record.body.len() - 16);
            record.body.truncate(start);
            record.body.extend(text);
            record.body.extend(trailer);
            recording.push(record);
        });
        assert!(has_word(&bytes), "{what}");
        judge_perf(what, &bytes);
    }
}

#[test]
fn words_of_memory_in_call_chains_are_replaced_and_addresses_in_maps_stay() {
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::CALLCHAIN;
    let attr = Attr::cpu_clock(kind).with_ids(&[11]);
    let bytes = perf_with(attr, |recording, maker| {
        let map = maker.mmap2();
        let start = u64::from_le_bytes(map.body[8..16].try_into().unwrap());
        recording.push(map);
        let chain = vec![u64::MAX - 511, start + 16, u64::from_le_bytes(*WORD), start + 32];
        recording.push(maker.sample_with(|sample| sample.callchain = chain));
    });
    let folder = folder(&[("a.data", &bytes)]);
    let output = folder.path().join("output");
    redacted(&folder.path().join("a.data"), &output).unwrap();
    let after = fs::read(&output).unwrap();
    assert!(has_word(&bytes) && !has_word(&after));
    let differing = bytes.chunks(8).zip(after.chunks(8)).filter(|(a, b)| a != b).count();
    assert!(differing < 40, "{differing} words");
    let dump = |path: &Path| run!("dump", path, "--format", "jsonl").out;
    let count = |text: &str| text.lines().count();
    assert_eq!(count(&dump(&output)), count(&dump(&folder.path().join("a.data"))));
}

#[test]
fn the_numbers_of_the_perf_that_recorded_stay_since_it_accepts_more_than_later_ones() {
    // CPU_TOPOLOGY without NRCPUS: perf 7 refuses the file.
    let bytes = perf_with(attr(), |recording, _| _ = recording.features([5, 13]));
    let mut newer = bytes.clone();
    let at = bytes.windows(4).position(|part| part == b"6.1.").unwrap();
    newer[at] = b'7';
    let folder = folder(&[("a.data", &bytes), ("newer.data", &newer)]);
    let output = folder.path().join("output");
    assert_eq!(run!("check", folder.path().join("newer.data")).code, 1);
    assert_eq!(redacted(&folder.path().join("a.data"), &output), Some(Left::new()));
    assert_eq!(run!("check", &output).code, 0);
    let after = fs::read(&output).unwrap();
    assert_eq!(&after[at..at + 7], b"6.1.__1");
}

/// A text up to its NUL; `_` for a pseudonym.
fn shape(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text.split(|byte| *byte == 0).next().unwrap()).into_owned();
    if text.starts_with('_') { "_".into() } else { text }
}

/// An AUXTRACE_INFO of Intel PT with this address filter.
fn with_filter(filter: &str) -> Vec<u8> {
    let mut body = Bytes::new(Order::Little);
    body.u32(1).u32(0).u64s(&[7; 16]).u64(filter.len() as u64).text(filter, 8);
    perf_with(attr(), |recording, _| _ = recording.push(Record::new(70, 0, body.done())))
}

#[test]
fn paths_in_the_filter_of_a_tracer_are_replaced_and_the_words_about_the_machine_stay() {
    let folders = ["", "home", "SECRETXY", "bin", "app"].join("/");
    let bytes = with_filter(&format!("filter 0x1100/0x40@{folders},stop 0x1200@/SECRETXY"));
    let folder = folder(&[("a.data", &bytes)]);
    let output = folder.path().join("output");
    assert_eq!(redacted(&folder.path().join("a.data"), &output), Some(Left::new()));
    let after = fs::read(&output).unwrap();
    assert!(!has_word(&after));
    let at = bytes.windows(7).position(|part| part == b"filter ").unwrap();
    let names: Vec<String> = after[at..].split(|byte| b"/@,".contains(byte)).map(shape).collect();
    let expected = ["filter 0x1100", "0x40", "", "_", "_", "_", "_", "stop 0x1200", "", "_"];
    assert_eq!(names, expected);
    // The words before the filter and its length.
    assert_eq!(after[at - 144..at], bytes[at - 144..at]);
    // A name that no recorder writes there is named.
    judge_perf("symbol in a filter", &with_filter("filter SECRETXY"));
}

/// A trace of one thread.
pub(super) fn thread(change: impl FnOnce(Thread, Stream) -> (Thread, Stream)) -> Trace {
    let (thread, stream) = change(Thread::new(7, 8), Stream::at(1_000).begin(0));
    Trace::of(&thread, stream.end())
}

pub(super) fn write_trace(trace: &Trace) -> TempDir {
    let files: Vec<(String, Vec<u8>)> = trace
        .files
        .iter()
        .filter_map(|(name, bytes)| Some((format!("trace/{name}"), bytes.clone()?)))
        .collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    folder(&files)
}

#[test]
fn a_word_in_a_trace_of_ovni_is_gone_or_named() {
    let plain = write_trace(&thread(|thread, stream| (thread, stream)));
    let base = redacted(&plain.path().join("trace"), &plain.path().join("out")).unwrap();
    let word = "SECRETXY";
    let json = |old: &'static str, new: &'static str| {
        let trace = thread(|thread, stream| (thread, stream));
        let name = trace.files.iter().find(|(name, _)| name.ends_with("stream.json")).unwrap();
        let name = name.0.clone();
        trace.replace(&name, old, new)
    };
    let extra =
        |text: &'static str| thread(move |thread, stream| (thread.more("extra", text), stream));
    let traces = [
        ("label", thread(|t, s| (t.require("nosv", "2.7.0"), s.kind("VYc", 1, word)))),
        ("jumbo", thread(|t, s| (t, s.jumbo("UXx", WORD)))),
        ("unknown event", thread(|t, s| (t, s.event(7, "ZZZ", 2_000, WORD)))),
        ("text", extra("\"SECRETXY\"")),
        ("member", extra("{\"SECRETXY\": {\"SECRETXY\": 1}}")),
        ("list", extra("[1, \"SECRETXY\", {\"x\": \"SECRETXY\"}]")),
        ("comment", json("{", "{ /* SECRETXY */ ")),
        ("line comment", json("{", "{ // SECRETXY\n")),
    ];
    for (what, trace) in traces {
        let folder = write_trace(&trace);
        let path = folder.path().join("trace");
        assert!(has_word(&everything(&path)), "{what}");
        let fate = judge(&path, &base);
        assert!(!matches!(fate, Fate::Hidden(_)), "{what}: {fate:?}");
    }
    let last = thread(|thread, stream| (thread, stream));
    let name = last.files.iter().find(|(name, _)| name.ends_with("stream.json")).unwrap().0.clone();
    let folder = write_trace(&last.change(&name, |bytes| bytes.extend(b"\n SECRETXY")));
    let fate = judge(&folder.path().join("trace"), &base);
    assert!(!matches!(fate, Fate::Hidden(_)), "after the value: {fate:?}");
}

#[test]
fn a_word_in_a_call_or_property_of_a_trace_is_gone_or_named() {
    let text = || ApiValue::String(WORD.to_vec());
    let long = || ApiValue::String(WORD.repeat(1_000));
    let wide = || ApiValue::Wide(WORD.iter().map(|byte| u64::from(*byte)).collect());
    let values = [
        ("string", text()),
        ("long string", long()),
        ("wide string", wide()),
        ("blob", ApiValue::Blob(WORD.to_vec())),
        ("array", ApiValue::Array(vec![ApiValue::Uint(1), text()])),
        ("repr", ApiValue::Repr(Box::new(text()), Box::new(ApiValue::Uint(1)))),
    ];
    for container in [Container::Snappy, Container::Gzip] {
        for (what, value) in &values {
            for function in ["glObjectLabel", "glPushDebugGroup", "fooUnknown", "XOpenDisplay"] {
                let mut stream = ApiStream::new(6);
                stream.named_call(0, 1, function, std::slice::from_ref(value));
                let bytes = container.file(&stream.bytes);
                let fate = judge_file("a.trace", &bytes, &Left::new());
                assert!(!matches!(fate, Fate::Hidden(_)), "{what} of {function}: {fate:?}");
            }
        }
        for named in [("SECRETXY", "value"), ("key", "SECRETXY"), ("process.name", "SECRETXY")] {
            let mut stream = ApiStream::with_properties(&[named]);
            stream.named_call(0, 1, "glFlush", &[]);
            let bytes = container.file(&stream.bytes);
            let fate = judge_file("a.trace", &bytes, &Left::new());
            assert!(!matches!(fate, Fate::Hidden(_)), "{named:?}: {fate:?}");
        }
    }
    let mut stream = ApiStream::new(6);
    stream.named_call(0, 1, "SECRETXY", &[]);
    let bytes = Container::Snappy.file(&stream.bytes);
    assert_eq!(judge_file("a.trace", &bytes, &Left::new()), Fate::Named);
}

#[test]
fn words_that_recorders_write_by_themselves_stay() {
    for format in ["perf", "ovni", "revent", "qemu"] {
        let path = root().join("corpus").join(format).join("clean");
        for path in fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()) {
            let ran = run!("redact", &path, "--dry-run", "--format", "json");
            let document = parse(&ran.out);
            let all = [&document["redacted"], &document["left"]];
            let codes = all.iter().flat_map(|list| list.as_array().unwrap());
            let codes: Vec<&str> = codes.map(|one| one["code"].as_str().unwrap()).collect();
            assert!(!codes.contains(&"AU1022"), "{}: {document}", path.display());
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

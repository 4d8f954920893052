//! Zeros after the end of a trace or after a cut, and second traces.

use tracemend::formats::apitrace::{rules, stream_bytes};
use tracemend::kit::source::Source;
use tracemend::{FileSet, Options, Report, Severity};
use tracemend_tests::forge::apitrace::{Container, Stream, Value, call_heavy, structs, threaded};
use tracemend_tests::known_originals::Dice;
use tracemend_tests::mended::mended;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Bytes of a disk block, and of what file systems reserve at a time.
const BORDERS: [usize; 2] = [4 << 10, 64 << 10];

/// Calls with textures of noise that repeats after 64 KiB, like that of a simple generator.
fn textures(count: u64) -> Stream {
    let mut stream = Stream::with_properties(&[("process.name", "forge")]);
    let noise = Dice::seeded(50).noise(64 << 10);
    for number in 0..count {
        stream.call(0, 20, &[Value::Bitmask(1, 0x4001)]);
        stream.call(0, 27, &[Value::Uint(number), Value::Blob([&noise[..], &noise].concat())]);
        (0..99).for_each(|index| _ = stream.call(0, 22, &[index, 1, 0, 0].map(Value::Uint)));
    }
    stream
}

fn traces() -> [(&'static str, Stream); 4] {
    [
        ("calls", call_heavy(900)),
        ("threads", threaded(500)),
        ("structs", structs(900, 200)),
        ("textures", textures(12)),
    ]
}

fn check(file: &[u8]) -> Report {
    tracemend::check(&FileSet::single("app.trace", file), &Options::default())
}

/// Fills up a file with zeros.
fn fill(file: &[u8], border: usize) -> Vec<u8> {
    let mut filled = file.to_vec();
    filled.resize(file.len().next_multiple_of(border), 0);
    filled
}

/// A place to cut a file, after its first eighth. Zeros before the cut cannot be told from those
/// after it.
fn place_of_cut(file: &[u8], dice: &mut Dice) -> usize {
    let first = file.len() / 8;
    let cut = first + dice.below(file.len() - first);
    cut - file[..cut].iter().rev().take_while(|byte| **byte == 0).count()
}

/// Compares the repair of a cut trace with and without zeros up to a border; describes a
/// difference.
fn differs(stream: &Stream, cut: &[u8], border: usize) -> Option<String> {
    let plain = mended(cut).0;
    let (repair, target) = mended(&fill(cut, border));
    let kept = [&plain, &repair].map(|one| one.after.tally.samples);
    let again = stream_bytes(&Source::new(&target), u64::MAX);
    let is_invented = kept[1] > 0 && !stream.bytes.starts_with(&again);
    let is_wrong = kept[0] != kept[1] || is_invented || plain.outcome != repair.outcome;
    let counts = repair.before.counts();
    is_wrong.then(|| format!("{}, {border}: {kept:?}, {is_invented}, {counts:?}", cut.len()))
}

#[test]
fn a_cut_trace_keeps_the_same_calls_with_zeros_up_to_the_next_border() {
    let mut wrong = Vec::new();
    let traces = traces();
    for number in Share::one_in(1).of(0..traces.len() * Container::ALL.len() * 4) {
        let (name, stream) = &traces[number % traces.len()];
        let container = Container::ALL[number / traces.len() % Container::ALL.len()];
        let sound = container.file(&stream.bytes);
        let cut = &sound[..place_of_cut(&sound, &mut Dice::seeded(5_100 + number as u64))];
        let found = BORDERS.into_iter().filter_map(|border| differs(stream, cut, border));
        wrong.extend(found.map(|one| format!("{name}, {container:?}, {number}, {one}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn zeros_after_a_sound_end_are_a_warning_in_every_container() {
    if is_left_to_the_gate("zeros after a sound end are a warning in every container") {
        return;
    }
    for (name, stream) in traces() {
        for container in Container::ALL {
            let sound = container.file(&stream.bytes);
            let files = BORDERS.map(|border| fill(&sound, border));
            for file in files.into_iter().chain([fill(&sound, sound.len() + 100)]) {
                let report = check(&file);
                let case = format!("{name}, {container:?}: {:?}", report.counts());
                let [finding] = report.findings() else { panic!("{case}") };
                assert_eq!(
                    (finding.rule, finding.severity),
                    (&rules::TRAILING_BYTES, Severity::Warning),
                    "{case}"
                );
                let zeros = file.len() - sound.len();
                let noun = if zeros == 1 { "byte" } else { "bytes" };
                let tail = format!("preallocated tail: {zeros} {noun} of zeros after the last ");
                assert!(finding.message.starts_with(&tail), "{case}: {}", finding.message);
                assert_eq!(report.tally.samples, stream.calls(), "{case}");
            }
        }
    }
}

#[test]
fn two_traces_in_gzip_are_told_apart() {
    for (one, two) in [(9, 300), (300, 9), (700, 900)] {
        let files = [call_heavy(one), structs(two, 20)].map(|one| Container::Gzip.file(&one.bytes));
        let report = check(&files.concat());
        let [finding] = report.findings() else { panic!("{one}, {two}: {:?}", report.counts()) };
        assert_eq!(finding.rule, &rules::SECOND_TRACE);
        assert_eq!(finding.span.start(), files[0].len() as u64);
    }
}

#[test]
fn no_report_says_that_all_calls_are_kept_where_the_rest_is_lost() {
    const CONTAINERS: [Container; 3] = [Container::Snappy, Container::Seekable, Container::Gzip];
    const LENGTHS: [usize; 4] = [3, 16, 64, 400];
    let traces = traces();
    let all = traces.len() * CONTAINERS.len() * LENGTHS.len() * 3;
    let (mut said, mut wrong) = (0, Vec::new());
    for number in Share::one_in(1).of(0..all) {
        let mut dice = Dice::seeded(5_200 + number as u64);
        let (name, stream) = &traces[number % traces.len()];
        let container = CONTAINERS[number / traces.len() % CONTAINERS.len()];
        let len = LENGTHS[number / (traces.len() * CONTAINERS.len()) % LENGTHS.len()];
        let mut file = container.file(&stream.bytes);
        let at = 64 + dice.below(file.len() - 600);
        let noise = dice.noise(len);
        file[at..at + len].copy_from_slice(&noise);
        let report = check(&file);
        let notes = || report.findings().iter().flat_map(|finding| &finding.notes);
        let has_lost = notes().any(|note| note.contains(" lost"));
        if has_lost || !notes().any(|note| note == "all calls are kept") {
            continue;
        }
        said += 1;
        if report.tally.samples < stream.calls() {
            let counts = report.counts();
            wrong.push(format!("{name}, {container:?}, {len} at {at}, {number}: {counts:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(said > 0, "no case says so");
}

#[test]
fn a_chunk_that_is_cut_before_zeros_names_the_bytes_that_are_there() {
    let sound = Container::Snappy.file(&call_heavy(900).bytes);
    let cut = place_of_cut(&sound, &mut Dice::seeded(61));
    let stated = sound.len() - 6;
    for (file, zeros) in [
        (sound[..cut].to_vec(), String::new()),
        (fill(&sound[..cut], 64 << 10), format!(", then {} zeros", (64 << 10) - cut)),
    ] {
        let report = check(&file);
        let expected = format!("truncated chunk: {} of {stated} bytes{zeros}", cut - 6);
        let messages: Vec<&str> = report.findings().iter().map(|one| &*one.message).collect();
        assert!(messages.iter().any(|one| one.starts_with(&expected)), "{expected}: {messages:?}");
    }
}

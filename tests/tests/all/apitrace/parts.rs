//! Two traces in one file of chunks, which no magic separates.

use std::ffi::OsString;
use tracemend_tests::sweep::is_left_to_the_gate;

use tracemend::formats::apitrace::rules;
use tracemend::{Choices, FileSet, Options, Outcome};
use tracemend_cli::{Look, Streams};
use tracemend_tests::forge::apitrace::{Stream, Value, call_heavy, chunks, snappy, snappy_of};
use tracemend_tests::judge::apitrace::survival::Numbers;
use tracemend_tests::mended::{mended, mended_with};

/// Bytes of the stream in a full chunk.
const FULL: usize = 700;

/// Checks that a file holds two traces, and returns both as `--part` gives them.
fn split(name: &str, file: &[u8]) -> [Vec<u8>; 2] {
    let report = tracemend::check(&FileSet::single(name, file), &Options::default());
    let [finding] = report.findings() else { panic!("{name}: {:?}", report.counts()) };
    assert_eq!(*finding.rule, rules::SECOND_TRACE, "{name}");
    assert_eq!(
        mended(file).0.outcome,
        Outcome::CannotRepair,
        "{name}: it is not chosen for the user"
    );
    ["1", "2"].map(|part| {
        let mut choices = Choices::default();
        choices.set("part", part).unwrap();
        let (repair, target) = mended_with(file, choices);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{name}, part {part}");
        target
    })
}

/// Further calls, with values of their own.
fn write_on(stream: &mut Stream, calls: u64, seed: u64) {
    let mut numbers = Numbers::of(seed);
    for _ in 0..calls {
        let number = numbers.next();
        match number % 3 {
            0 => stream.call(0, 50, &[Value::Uint(number >> 40), Value::Float(0.5)]),
            1 => stream.call(0, 51, &[]),
            _ => stream.call(0, 52 + number % 7, &[Value::Opaque(number >> 20)]),
        };
    }
}

/// Mixes pieces by chance; each list keeps its order, and the first piece of `first` comes first.
fn mix<'p>(first: &[&'p [u8]], second: &[&'p [u8]], seed: u64) -> Vec<&'p [u8]> {
    let (mut first, mut second) = (first.iter(), second.iter());
    let mut mixed: Vec<&[u8]> = first.next().copied().into_iter().collect();
    let mut numbers = Numbers::of(seed);
    while first.len() + second.len() > 0 {
        let from = if numbers.below(2) == 0 { &mut first } else { &mut second };
        mixed.extend(from.next());
    }
    mixed
}

fn pieces(stream: &[u8]) -> Vec<&[u8]> {
    stream.chunks(FULL).collect()
}

#[test]
fn two_processes_write_on_after_a_fork() {
    for seed in 0..6 {
        let mut parent = Stream::new(6);
        write_on(&mut parent, 300, seed);
        // The buffer at the time of the fork is part of both.
        let shared = parent.bytes.len() / FULL;
        let mut child = parent.clone();
        write_on(&mut parent, 300, seed + 100);
        write_on(&mut child, 200, seed + 200);
        let (ones, others) = (pieces(&parent.bytes), pieces(&child.bytes));
        let mixed = mix(&ones[shared..], &others[shared..], seed);
        let file = snappy_of(&[&ones[..shared], &mixed].concat());
        let [first, second] = split(&format!("seed {seed}"), &file);
        assert!(first == snappy(&parent.bytes, FULL), "seed {seed}");
        assert!(second == snappy(&child.bytes, FULL), "seed {seed}");
    }
}

#[test]
fn two_processes_write_streams_of_their_own_in_turns() {
    for seed in 0..6 {
        let (mut one, mut other) = (Stream::new(6), Stream::new(6));
        write_on(&mut one, 300, seed);
        write_on(&mut other, 250, seed + 100);
        let file = snappy_of(&mix(&pieces(&one.bytes), &pieces(&other.bytes), seed));
        let [first, second] = split(&format!("seed {seed}"), &file);
        assert!(first == snappy(&one.bytes, FULL), "seed {seed}");
        assert!(second == snappy(&other.bytes, FULL), "seed {seed}");
    }
}

#[test]
fn a_process_truncates_the_file_in_which_another_writes_on() {
    if is_left_to_the_gate("a process truncates the file in which another writes on") {
        return;
    }
    let one = snappy(&call_heavy(40).bytes, 1 << 20);
    for (seed, hole) in [(1, 100), (2, 4_096), (3, 70_001)] {
        let mut stream = Stream::new(6);
        write_on(&mut stream, 900, seed);
        let other = snappy(&stream.bytes, FULL);
        let begins = chunks(&other);
        let begin = begins[begins.len() / 2].0;
        let file = [&one[..], &vec![0; hole], &other[begin..]].concat();
        let [first, second] = split(&format!("hole of {hole}"), &file);
        assert!(first == one, "hole of {hole}");
        // The rest of the second trace has its chunks, after a beginning that was lost.
        let kept = &other[begins[begins.len() / 2 + 2].0..];
        assert!(second.ends_with(kept), "hole of {hole}");
        let again = tracemend::check(&FileSet::single("second", &second), &Options::default());
        assert!(!again.has_errors(), "hole of {hole}");
        // The whole of the second trace.
        let file = [&one[..], &vec![0; hole], &other].concat();
        let [first, second] = split(&format!("hole of {hole} before a magic"), &file);
        assert!(first == one && second == other, "hole of {hole} before a magic");
    }
}

#[test]
fn zeros_in_the_place_of_a_chunk_are_damage() {
    let mut stream = Stream::new(6);
    write_on(&mut stream, 900, 5);
    let file = snappy(&stream.bytes, FULL);
    let all = chunks(&file);
    for (begin, end) in [all[2], all[all.len() / 2]] {
        let mut damaged = file.clone();
        damaged[begin..end].fill(0);
        let report = tracemend::check(&FileSet::single("app", &damaged), &Options::default());
        assert!(report.has_errors() && report.count(&rules::SECOND_TRACE) == 0);
    }
}

/// Runs the command line on a file and returns the exit status and its output.
fn run(words: &[&str]) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["tracemend"].iter().chain(words).map(OsString::from);
    let mut input = std::io::empty();
    let code = tracemend_cli::run(args, Streams::new(&mut input, &mut out, &mut err, Look::PLAIN));
    (code, String::from_utf8([out, err].concat()).unwrap())
}

#[test]
fn a_part_of_a_file_with_one_trace_is_a_usage_error() {
    let mut stream = Stream::new(6);
    write_on(&mut stream, 40, 1);
    let file = snappy(&stream.bytes, FULL);
    let folder = tempfile::tempdir().unwrap();
    let [one, other, output] =
        ["one.trace", "other.trace", "out"].map(|name| folder.path().join(name));
    std::fs::write(&one, &file).unwrap();
    std::fs::write(&other, &file[..file.len() - 3]).unwrap();
    let [one, other, output] = [&one, &other, &output].map(|path| path.to_str().unwrap());
    let says = "--part 2 does not apply: one trace was found, of 40 calls";
    for path in [one, other] {
        for words in [
            vec!["check", "--part", "2", path],
            vec!["repair", "--part", "2", path, "-o", output],
            vec!["repair", "--part", "2", path, "--dry-run"],
        ] {
            let (code, text) = run(&words);
            assert_eq!(code, 2, "{words:?}: {text}");
            assert!(text.contains("--part 2 does not apply: one trace was found"), "{text}");
            assert!(path != one || text.contains(says), "{text}");
            assert!(!std::path::Path::new(output).exists(), "{words:?}");
        }
    }
    // Of several recordings some may hold two traces.
    let (code, text) = run(&["check", "--part", "2", one, other]);
    assert!(code != 2 && text.contains(&format!("one.trace: {says}")), "{code}: {text}");
    let words = ["repair", "--part", "2", one, other, "--out-dir", output];
    let (code, text) = run(&words);
    assert!(code != 2 && text.contains(&format!("one.trace: {says}")), "{code}: {text}");
}

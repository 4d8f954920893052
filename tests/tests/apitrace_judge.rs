//! apitrace itself judges what the repair of traces gives.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::as_conversions,
    missing_docs,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracemend::kit::source::Source;
use tracemend::mend::edit::Safety;
use tracemend::mend::rounds::{Repair, view};
use tracemend::{FileSet, Options, Outcome, Severity};
use tracemend_tests::forge::apitrace::{Container, call_heavy, chunks, snappy};
use tracemend_tests::judge::apitrace::{Apitrace, Recorder};
use tracemend_tests::mended::mended;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Numbers that look random and recur.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
        (self.0 >> 33) as usize % bound
    }
}

fn succeeded(repair: &Repair) -> bool {
    matches!(repair.outcome, Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss)
}

/// Ranges of call numbers that a fact lists.
fn ranges(repair: &Repair, name: &str) -> Vec<(u64, u64)> {
    let fact = repair.before.facts.iter().find(|(one, _)| *one == name);
    let value = fact.map_or("", |(_, value)| value.rsplit(": ").next().unwrap());
    let range = |text: &str| {
        let (from, to) = text.split_once(" to ")?;
        Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
    };
    value.split(", ").filter_map(range).collect()
}

#[test]
fn two_hundred_cuts_in_every_container_are_taken_without_a_word() {
    let Some(judge) = Apitrace::find_or_skip("cuts") else { return };
    let folder = Folder::new();
    let stream = call_heavy(400);
    let whole = judge.dump(&folder.file("whole", &Container::Snappy.file(&stream.bytes)));
    assert!(whole.is_silent() && whole.calls.len() as u64 == stream.calls(), "{}", whole.stderr);
    let mut wrong = Vec::new();
    for container in Container::ALL {
        let bytes = match container {
            // Chunks and frames that are many, and not too many.
            Container::SmallChunks => snappy(&stream.bytes, 4000),
            _ => container.file(&stream.bytes),
        };
        let mut numbers = Numbers(1);
        let (mut kept, mut judged) = (0, 0);
        for _ in 0..200 {
            let len = 1 + numbers.below(bytes.len() - 1);
            let (repair, target) = mended(&bytes[..len]);
            if !succeeded(&repair) {
                // Before the first call was whole.
                if repair.before.tally.samples > 0 {
                    wrong.push(format!("{container:?} at {len}: {:?}", repair.after.counts()));
                }
                continue;
            }
            // apitrace 11.1 reads no zstd: the stream is what it judges.
            let path = match container {
                Container::Zstd | Container::Seekable => {
                    let stream =
                        tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
                    folder.file("cut", &Container::Snappy.file(&stream))
                }
                _ => folder.file("cut", &target),
            };
            let (dump, info) = (judge.dump(&path), judge.info(&path));
            let complete = |line: &str| !line.ends_with("// incomplete");
            let same = dump.calls.iter().filter(|(_, line)| complete(line));
            let same = same.filter(|(number, line)| whole.calls.get(*number) != Some(line)).count();
            let all = dump.calls.len() as u64 == repair.before.tally.samples;
            if !dump.is_silent() || !info.is_silent() || same > 0 || !all {
                wrong.push(format!(
                    "{container:?} at {len}: {:?} {} {same} {} of {}",
                    dump.code,
                    dump.stderr,
                    dump.calls.len(),
                    repair.before.tally.samples
                ));
            }
            (kept, judged) = (kept + dump.calls.len(), judged + 1);
        }
        eprintln!("{container:?}: {judged} of 200 cuts give a trace, {kept} calls in them");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is done to the bytes of a file at a place.
fn damage(kind: usize, bytes: &[u8], at: usize, bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match kind {
        0 => bytes[at] ^= 1 << (bit % 8),
        1 => bytes[at..at + 4096].fill(0),
        2 => {
            let places = chunks(&bytes);
            let (start, _) = places[at % places.len()];
            bytes[start + bit % 3] ^= 1 << (bit % 8);
        }
        4 => {
            // A copy that goes back by nothing.
            let copy = elements(&bytes).find(|one| one.copy && one.stored >= at).unwrap();
            bytes[copy.stored + 1..copy.stored + 3].fill(0);
        }
        5 => {
            // The length that a full chunk's block states.
            let places = chunks(&bytes);
            let (start, _) = places[at % (places.len() - 1)];
            bytes[start + 4 + bit % 3] ^= 1 << (bit % 6);
        }
        _ => drop(bytes.drain(at..at + 4096)),
    }
    bytes
}

const KINDS: [&str; 6] = [
    "bit flipped",
    "4 KiB zeroed",
    "length damaged",
    "4 KiB removed",
    "bad copy",
    "stated length damaged",
];

/// An element of a snappy block.
struct Element {
    /// Its tag, in the file.
    stored: usize,
    /// Its first byte, in the stream.
    stream: usize,
    /// Where the bytes of a literal begin in the file; where a copy ends.
    bytes: usize,
    /// Whether it is a copy with an offset of two bytes.
    copy: bool,
}

/// The elements of all blocks of a sound file.
fn elements(file: &[u8]) -> std::vec::IntoIter<Element> {
    let (mut all, mut stream) = (Vec::new(), 0);
    for (start, end) in chunks(file) {
        let length = file[start + 4..end].iter().position(|byte| byte & 0x80 == 0).unwrap();
        let mut stored = start + 4 + length + 1;
        while stored < end {
            let tag = usize::from(file[stored]);
            let high = tag >> 2;
            let extra = high.saturating_sub(59);
            let number = file[stored + 1..stored + 1 + extra].iter().rev();
            let number = number.fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            let size = if extra == 0 { high } else { number } + 1;
            let (used, bytes, made) = match tag & 3 {
                0 => (1 + extra + size, 1 + extra, size),
                1 => (2, 2, 4 + (high & 7)),
                2 => (3, 3, high + 1),
                _ => (5, 5, high + 1),
            };
            all.push(Element { stored, stream, bytes: stored + bytes, copy: tag & 3 == 2 });
            (stored, stream) = (stored + used, stream + made);
        }
    }
    all.into_iter()
}

/// How many bytes of the stream come from before `at` in a sound file.
fn stream_before(file: &[u8], at: usize) -> usize {
    let last = elements(file).take_while(|one| one.stored <= at).last();
    last.map_or(0, |one| match at.checked_sub(one.bytes) {
        Some(literal) if !one.copy => one.stream + literal,
        _ => one.stream,
    })
}

#[test]
fn damage_in_the_middle_is_mended_so_that_apitrace_takes_it_without_a_word() {
    let Some(judge) = Apitrace::find_or_skip("damage in the middle") else { return };
    let folder = Folder::new();
    let stream = call_heavy(12_000);
    let bytes = Container::Snappy.file(&stream.bytes);
    let whole = judge.dump(&folder.file("whole", &bytes));
    let donor = Container::Snappy.file(&call_heavy(4).bytes);
    let (mut numbers, mut wrong, mut early) = (Numbers(7), Vec::new(), 0);
    let mut sums: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for case in 0..72 {
        let kind = case % KINDS.len();
        // Behind the header: its loss is a case of its own.
        let at = 3000 + numbers.below(bytes.len() - 3000 - 4096);
        let damaged = damage(kind, &bytes, at, numbers.below(24));
        let files = FileSet::single("damaged", &damaged).with_donor(Some(Source::new(&donor)));
        let repair = tracemend::repair(&files, &Options::default(), Safety::Lossy);
        let target = view(&files, &repair.patches).bytes(0).pieces().collect::<Vec<_>>().concat();
        let path = folder.file("mended", &target);
        let (dump, info) = (judge.dump(&path), judge.info(&path));
        if !succeeded(&repair) || !dump.is_silent() || !info.is_silent() {
            let left = repair.after.counts();
            wrong
                .push(format!("{} at {at}: {:?} {left:?} {}", KINDS[kind], dump.code, dump.stderr));
            continue;
        }
        let faults = repair.before.findings().iter();
        let faults = faults.filter(|finding| finding.severity > Severity::Info).count();
        if faults > 1 {
            let counts = repair.before.counts();
            wrong.push(format!("{} at {at}: one fault, {counts:?}", KINDS[kind]));
        }
        let suspect = ranges(&repair, "calls that may be wrong");
        // Every call that was whole before the first byte that is damaged is as it was.
        let touched = bytes.iter().zip(&damaged).position(|(a, b)| a != b).unwrap();
        let sound = stream_before(&bytes, touched);
        let ended = stream.events.iter().filter(|start| **start <= sound).count() as u64;
        // A call is an enter and its leave behind it.
        let before = ended.saturating_sub(1) / 2;
        let gone: Vec<u64> =
            (0..before).filter(|call| dump.calls.get(call) != whole.calls.get(call)).collect();
        if let (Some(first), Some(last)) = (gone.first(), gone.last()) {
            let count = gone.len();
            wrong.push(format!(
                "{} at {at}: {count} of the {before} calls before it are gone, {first} to {last}",
                KINDS[kind]
            ));
        }
        early += before;
        let mut first_wrong = u64::MAX;
        let sum = sums.entry(KINDS[kind]).or_default();
        for (number, line) in &whole.calls {
            match dump.calls.get(number) {
                Some(found) if found == line => sum[1] += 1,
                Some(found) if !found.contains("lost_call") => {
                    first_wrong = first_wrong.min(*number);
                    sum[2] += 1;
                    sum[3] += usize::from(suspect.iter().any(|(a, b)| (a..=b).contains(&number)));
                }
                _ => first_wrong = first_wrong.min(*number),
            }
        }
        sum[0] += whole.calls.len();
        // Nothing is said to be lost that stands before the damage.
        let lost = ranges(&repair, "calls lost");
        if lost.first().is_some_and(|(from, _)| *from > first_wrong + 1) && suspect.is_empty() {
            wrong.push(format!("{} at {at}: call {first_wrong} is wrong, unsaid", KINDS[kind]));
        }
    }
    for (kind, [all, right, other, marked]) in &sums {
        let share = 100.0 * *right as f64 / *all as f64;
        eprintln!("{kind}: {share:.1} % of calls right, {other} wrong, {marked} of them marked");
    }
    eprintln!("{early} calls before the damage compared");
    assert!(wrong.is_empty() && early > 1_000_000, "{}", wrong.join("\n"));
    // What a prototype reached; each kind by itself has to.
    let least = sums.values().map(|[all, right, ..]| right * 1000 / all).min();
    assert!(least >= Some(600), "{sums:?}");
}

#[test]
fn a_program_ended_by_any_signal_leaves_a_trace_that_is_mended() {
    const TEST: &str = "traces of a program that is killed";
    let (Some(judge), Some(recorder)) =
        (Apitrace::find_or_skip(TEST), Recorder::find_or_skip(TEST))
    else {
        return;
    };
    let folder = Folder::new();
    for signal in [1, 2, 6, 9, 11, 15] {
        let path = folder.0.path().join(format!("signal-{signal}.trace"));
        if let Err(why) = recorder.record(&path, signal, 300_000) {
            eprintln!("SKIPPED: glxgears cannot be traced here ({why}): signal {signal}");
            continue;
        }
        let recorded = std::fs::read(&path).unwrap();
        let (repair, target) = mended(&recorded);
        assert!(succeeded(&repair), "signal {signal}: {:?}", repair.after.counts());
        let mended = folder.file("mended", &target);
        let (dump, info) = (judge.dump(&mended), judge.info(&mended));
        assert!(dump.is_silent() && info.is_silent(), "signal {signal}: {}", dump.stderr);
        assert_eq!(dump.calls.len() as u64, repair.before.tally.samples, "signal {signal}");
        let replayed = recorder.replay(&judge, &mended);
        assert_eq!(replayed.code, Some(0), "signal {signal}: {}", replayed.stderr);
        let calls = dump.calls.len();
        eprintln!("signal {signal}: {:?}, {calls} calls", repair.before.counts());
    }
}

/// Where definitions are lost, every call that is not what it was is named.
#[test]
fn calls_with_lost_definitions_are_named_one_and_all() {
    const TEST: &str = "lost definitions of a real trace";
    let (Some(judge), Some(recorder)) =
        (Apitrace::find_or_skip(TEST), Recorder::find_or_skip(TEST))
    else {
        return;
    };
    let folder = Folder::new();
    let path = folder.0.path().join("recorded.trace");
    if let Err(why) = recorder.record(&path, 15, 1_300_000) {
        eprintln!("SKIPPED: glxgears cannot be traced here ({why}): {TEST}");
        return;
    }
    let (_, recorded) = mended(&std::fs::read(&path).unwrap());
    let whole = judge.dump(&folder.file("whole", &recorded));
    let (first, end) = chunks(&recorded)[0];
    let zeroed = |from: usize, to: usize| {
        let mut bytes = recorded.clone();
        bytes[from..to].fill(0);
        bytes
    };
    let cases = [
        ("4 KiB zeroed at the start", zeroed(first + 4, first + 4100)),
        ("4 KiB zeroed behind 8 KiB", zeroed(first + 8196, first + 12_292)),
        ("half of the first chunk zeroed", zeroed(first + 4, (first + end) / 2)),
        ("the first chunk zeroed", zeroed(first + 4, end)),
    ];
    let mut wrong = Vec::new();
    for (name, damaged) in cases {
        let (repair, target) = mended(&damaged);
        let dump = judge.dump(&folder.file("mended", &target));
        if !succeeded(&repair) || !dump.is_silent() {
            wrong.push(format!("{name}: {:?} {}", repair.after.counts(), dump.stderr));
            continue;
        }
        let suspect = ranges(&repair, "calls that may be wrong");
        let marked = |number: &u64| suspect.iter().any(|(a, b)| (a..=b).contains(&number));
        let differs = |(number, line): &(&u64, &String)| {
            !line.contains("lost_call") && whole.calls.get(*number) != Some(*line)
        };
        let all: Vec<u64> = dump.calls.iter().filter(differs).map(|(number, _)| *number).collect();
        let unsaid: Vec<u64> = all.iter().copied().filter(|number| !marked(number)).collect();
        eprintln!(
            "{name}: {} of {} calls are not what they were, {} of them unsaid; {} ranges",
            all.len(),
            dump.calls.len(),
            unsaid.len(),
            suspect.len()
        );
        if !unsaid.is_empty() || all.is_empty() || suspect.len() > 32 {
            let first = unsaid.first();
            wrong.push(format!("{name}: {} unsaid, {first:?}; {suspect:?}", unsaid.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_sound_trace_of_the_forge_is_sound_for_apitrace() {
    let Some(judge) = Apitrace::find_or_skip("sound traces") else { return };
    let folder = Folder::new();
    for clean in tracemend_tests::forge::apitrace::clean() {
        for container in [Container::Snappy, Container::SmallChunks, Container::Gzip] {
            let path = folder.file("sound", &container.file(&clean.stream.bytes));
            let (dump, info) = (judge.dump(&path), judge.info(&path));
            let name = clean.name;
            assert!(dump.is_silent() && info.is_silent(), "{name} {container:?}: {}", dump.stderr);
            assert_eq!(dump.calls.len() as u64, clean.stream.calls(), "{name} {container:?}");
        }
    }
}

#[test]
fn what_crashes_apitrace_is_named_and_mended() {
    let Some(judge) = Apitrace::find_or_skip("hostile traces") else { return };
    let folder = Folder::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/apitrace/crashed");
    let (mut seen, mut crashed) = (0, 0);
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "trace") {
            continue;
        }
        let (repair, target) = mended(&std::fs::read(&path).unwrap());
        let name = path.file_name().unwrap().display().to_string();
        assert!(!repair.before.findings().is_empty(), "{name} is not named");
        seen += 1;
        if !succeeded(&repair) {
            continue;
        }
        crashed += usize::from(!judge.dump(&path).is_silent());
        let mended = folder.file("mended", &target);
        let (dump, info) = (judge.dump(&mended), judge.info(&mended));
        assert!(dump.is_silent() && info.is_silent(), "{name}: {:?} {}", dump.code, dump.stderr);
    }
    eprintln!("{seen} traces, {crashed} of which apitrace died of or complained about");
    assert!(seen >= 10);
}

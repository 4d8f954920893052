//! The properties over everything at hand: the forge's recordings and the corpus, cut at every byte
//! and with every byte flipped. What a fuzzer does in hours is in `fuzz/README.md`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stderr,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use tracemend::kit::source::Source;
use tracemend::mend::edit::Safety;
use tracemend::{File, FileSet};
use tracemend_tests::forge::perf;
use tracemend_tests::properties::{Held, guarded, patch, recording, structured, targets, zstd};

/// Work per file of the corpus, in positions times bytes: small files are cut and flipped at every
/// byte, large ones at some.
const EFFORT: usize = 4 << 20;

/// A recording by name, and the positions at which it is cut and flipped.
struct Subject {
    name: String,
    bytes: Vec<u8>,
    positions: Vec<usize>,
}

impl Subject {
    fn new(name: String, bytes: Vec<u8>) -> Self {
        let count = (EFFORT / bytes.len().max(1)).clamp(64, bytes.len().max(64));
        let positions = (0..count).map(|n| n * bytes.len() / count);
        let mut positions: Vec<usize> = positions.collect();
        positions.dedup();
        Self { name, bytes, positions }
    }
}

fn forged() -> Vec<Subject> {
    let named = perf::all().into_iter();
    named.map(|(name, bytes)| Subject::new(format!("forge {name}"), bytes)).collect()
}

/// Every file below `corpus/`, sound or not, and those that are no recording at all.
fn corpus() -> Vec<Subject> {
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus"))];
    let mut subjects = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                subjects.push(Subject::new(shown(&path), std::fs::read(&path).unwrap()));
            }
        }
    }
    subjects.sort_by(|a, b| a.name.cmp(&b.name));
    subjects
}

fn shown(path: &Path) -> String {
    let parts = path.components().skip_while(|part| part.as_os_str() != "corpus");
    parts.collect::<PathBuf>().display().to_string()
}

/// Runs `property` on every subject at every position, on all processors, and fails with the
/// smallest input of each law that is broken.
fn everywhere(subjects: &[Subject], property: impl Fn(&Subject, usize) -> Vec<Held> + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut broken: BTreeMap<&'static str, (usize, String, usize)> = BTreeMap::new();
        while let Some(subject) = subjects.get(next.fetch_add(1, Ordering::Relaxed)) {
            for position in subject.positions.iter().copied() {
                for found in property(subject, position).into_iter().filter_map(Result::err) {
                    let len = subject.bytes.len();
                    let (smallest, text, count) =
                        broken.entry(found.law).or_insert((usize::MAX, String::new(), 0));
                    if len < *smallest {
                        *text = format!("{} at {position}: {found}", subject.name);
                        *smallest = len;
                    }
                    *count += 1;
                }
            }
        }
        broken
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let broken = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    let lines: Vec<String> =
        broken.into_iter().map(|(_, (_, text, count))| format!("{count} times, {text}")).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n\n"));
}

/// Check and repair each, so that a fault of the one does not hide the other's.
fn every(files: &FileSet<'_>) -> Vec<Held> {
    vec![
        guarded(|| recording::checked(files)),
        guarded(|| recording::repaired(files, Safety::Lossy)),
    ]
}

fn cut(subject: &Subject, position: usize) -> Vec<Held> {
    every(&FileSet::single("recording", &subject.bytes[..position]))
}

fn flipped(subject: &Subject, position: usize) -> Vec<Held> {
    let flip = |mask: u8| {
        let mut bytes = subject.bytes.clone();
        bytes.iter_mut().skip(position).take(1).for_each(|byte| *byte ^= mask);
        every(&FileSet::single("recording", &bytes))
    };
    [0xff, 1].into_iter().flat_map(flip).collect()
}

#[test]
fn everything_holds_for_whole_recordings_at_every_safety() {
    let mut subjects = forged();
    subjects.extend(corpus());
    for subject in &mut subjects {
        subject.positions = vec![0];
    }
    everywhere(&subjects, |subject, _| {
        let files = FileSet::single("recording", &subject.bytes);
        let safe = |safety| guarded(|| recording::repaired(&files, safety));
        let mut held = every(&files);
        held.extend([Safety::Exact, Safety::Synthetic].map(safe));
        held
    });
}

#[test]
fn everything_holds_for_the_forge_cut_at_every_byte() {
    everywhere(&forged(), cut);
}

#[test]
fn everything_holds_for_the_forge_with_every_byte_flipped() {
    everywhere(&forged(), flipped);
}

#[test]
fn everything_holds_for_the_corpus_cut_and_flipped() {
    everywhere(&corpus(), |subject, position| {
        [cut(subject, position), flipped(subject, position)].concat()
    });
}

#[test]
fn every_whole_sample_survives_a_cut_at_every_byte() {
    let named = perf::clean().into_iter();
    let built: BTreeMap<String, perf::Built> =
        named.map(|clean| (format!("forge {}", clean.name), clean.built)).collect();
    everywhere(&forged(), |subject, position| {
        vec![guarded(|| structured::survive(&built[&subject.name], position))]
    });
}

#[test]
fn everything_holds_for_a_directory_with_each_file_cut_and_flipped() {
    let files = perf::directory();
    let named = files.iter();
    let subjects: Vec<Subject> =
        named.map(|(name, bytes)| Subject::new((*name).into(), bytes.clone())).collect();
    everywhere(&subjects, |subject, position| {
        let with = |other: &[u8]| {
            let file = |(name, bytes): &(&str, Vec<u8>)| {
                let bytes = if *name == subject.name { other } else { bytes };
                (name.to_string(), bytes.to_vec())
            };
            let all: Vec<(String, Vec<u8>)> = files.iter().map(file).collect();
            every(&FileSet::new(all.iter().map(file_of).collect()))
        };
        let mut flipped = subject.bytes.clone();
        flipped.iter_mut().skip(position).take(1).for_each(|byte| *byte ^= 0xff);
        [with(&subject.bytes[..position]), with(&flipped)].concat()
    });
}

fn file_of((name, bytes): &(String, Vec<u8>)) -> File<'_> {
    File { name: name.clone(), bytes: Source::new(bytes) }
}

#[test]
fn zstd_streams_of_the_forge_hold_cut_and_flipped() {
    for (name, bytes) in perf::all() {
        let starts = bytes.windows(4).enumerate().filter(|(_, w)| *w == [0x28, 0xb5, 0x2f, 0xfd]);
        for (start, _) in starts {
            for end in start..bytes.len() {
                let mut stream = bytes[start..].to_vec();
                stream[end - start] ^= 0xff;
                let held = guarded(|| zstd::expanded(&stream));
                let held = held.and_then(|()| guarded(|| zstd::expanded(&bytes[start..end])));
                held.unwrap_or_else(|broken| panic!("{name} {start}..{end}: {broken}"));
            }
        }
    }
}

#[test]
fn what_a_fuzz_target_failed_on_holds_now() {
    for subject in corpus() {
        for (name, target) in targets::TARGETS {
            if subject.name.contains(&format!("regressions/{name}/")) {
                let held = guarded(|| target(&subject.bytes));
                held.unwrap_or_else(|broken| panic!("{}: {broken}", subject.name));
            }
        }
    }
}

fn describe(seed: &[u8]) -> structured::Description {
    structured::Description::arbitrary_take_rest(Unstructured::new(seed)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn described_recordings_hold_sound_and_damaged(seed in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut description = describe(&seed);
        let held = guarded(|| structured::holds(&description));
        prop_assert_eq!(held, Ok(()), "{:?}", description);
        description.damages.clear();
        let held = guarded(|| structured::holds(&description));
        prop_assert_eq!(held, Ok(()), "sound {:?}", description);
    }

    #[test]
    fn patches_follow_a_model(
        source in prop::collection::vec(any::<u8>(), 0..64),
        first in steps(),
        second in steps(),
        name in ".{0,8}",
    ) {
        prop_assert_eq!(guarded(|| patch::holds(&source, &first, &second, &name)), Ok(()));
    }

    #[test]
    fn edits_are_taken_if_they_are_in_order_and_apart(
        len in 0_u8..12,
        spans in prop::collection::vec((0_u8..14, 0_u8..14), 0..4),
    ) {
        prop_assert_eq!(patch::accepted(len, &spans), Ok(()));
    }
}

/// Edits with few bytes between them, so that they meet.
fn steps() -> impl Strategy<Value = Vec<patch::Step>> {
    let insert = prop::collection::vec(any::<u8>(), 0..4);
    prop::collection::vec((0_u8..6, 0_u8..6, insert), 0..6)
}

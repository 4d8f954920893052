//! The properties over everything at hand: the forge's recordings and the corpus, cut at every byte
//! and with every byte flipped, or at a share of them. The fuzz targets (`fuzz/README.md`) look for
//! further inputs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tracemend::Allow;
use tracemend::kit::source::Source;
use tracemend::{File, FileSet};
use tracemend_tests::forge::perf;
use tracemend_tests::properties::structured::{Description, holds, survive};
use tracemend_tests::properties::{
    Held, guarded, patch, recording, revent, targets, texts, views, zstd,
};
use tracemend_tests::sweep::{Share, is_exhaustive, is_left_to_the_gate};

/// Positions times bytes for each file of the corpus: small ones are cut and flipped at every
/// byte, large ones at some.
const EFFORT: usize = 1 << 20;
/// Positions of the largest files.
const POSITIONS_MIN: usize = 64;

/// All laws at one place of it take 14 seconds: 234 bytes with as many warnings as elements.
const SLOWEST: &str = "apitrace_container/a-warning-per-element";

/// A recording, and the places (file and offset) where it is cut and flipped.
struct Subject {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    places: Vec<(usize, usize)>,
}

impl Subject {
    fn new(name: String, files: Vec<(String, Vec<u8>)>) -> Self {
        let mut places = Vec::new();
        for (file, (_, bytes)) in files.iter().enumerate() {
            let len = bytes.len();
            let count = (EFFORT / len.max(1)).clamp(POSITIONS_MIN, len.max(POSITIONS_MIN));
            places.extend((0..count).map(|number| (file, number * len / count)));
        }
        places.dedup();
        Self { name, files, places }
    }

    fn single(name: String, bytes: Vec<u8>) -> Self {
        Self::new(name, vec![("recording".into(), bytes)])
    }

    fn len(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The recording, one file of which is changed.
    fn with(&self, file: usize, change: impl FnOnce(&mut Vec<u8>)) -> Vec<(String, Vec<u8>)> {
        let mut files = self.files.clone();
        change(&mut files[file].1);
        files
    }
}

fn set(files: &[(String, Vec<u8>)]) -> FileSet<'_> {
    let named = files.iter();
    FileSet::new(
        named.map(|(name, bytes)| File { name: name.clone(), bytes: Source::new(bytes) }).collect(),
    )
}

fn forged() -> Vec<Subject> {
    let named = perf::all().into_iter();
    named.map(|(name, bytes)| Subject::single(format!("forge {name}"), bytes)).collect()
}

/// Every recording and every other file below `corpus/`, sound or not.
fn corpus() -> Vec<Subject> {
    let mut subjects = Vec::new();
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus"), &mut subjects);
    subjects.sort_by(|a, b| a.name.cmp(&b.name));
    subjects
}

fn below(folder: &Path, subjects: &mut Vec<Subject>) {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().display().to_string();
        (name, fs::read(path).unwrap())
    };
    // `perf record --threads`: the folder is the recording.
    if paths.iter().any(|path| path.ends_with("data")) {
        subjects.push(Subject::new(folder.display().to_string(), paths.iter().map(read).collect()));
        return;
    }
    for path in paths {
        if path.is_dir() {
            below(&path, subjects);
        } else {
            subjects.push(Subject::single(path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

/// The smallest input that breaks a law, what was found, and how many inputs break it.
type Worst = BTreeMap<&'static str, (usize, String, usize)>;

/// Runs `property` on every subject at the share of its places, on all processors, and fails with
/// the smallest input of each law that is broken.
fn everywhere(
    share: Share,
    subjects: &[Subject],
    property: impl Fn(&Subject, usize, usize) -> Vec<Held> + Sync,
) {
    let next = AtomicUsize::new(0);
    // Places are numbered throughout, or each recording would have one in every share.
    let firsts: Vec<usize> = subjects
        .iter()
        .scan(0, |sum, subject| Some(std::mem::replace(sum, *sum + subject.places.len())))
        .collect();
    let work = || {
        let mut worst = Worst::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (Some(subject), Some(first)) = (subjects.get(index), firsts.get(index)) else {
                break;
            };
            let places = (*first..).zip(subject.places.iter().copied());
            for (_, (file, at)) in places.filter(|(number, _)| share.has(*number)) {
                for broken in property(subject, file, at).into_iter().filter_map(Result::err) {
                    let text = format!("{} file {file} at {at}: {broken}", subject.name);
                    note(&mut worst, broken.law, (subject.len(), text, 1));
                }
            }
        }
        worst
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut worst = Worst::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for (law, found) in workers.into_iter().flat_map(|worker| worker.join().unwrap()) {
            note(&mut worst, law, found);
        }
    });
    let lines: Vec<String> =
        worst.into_values().map(|(_, text, count)| format!("{count} times, {text}")).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n\n"));
}

fn note(worst: &mut Worst, law: &'static str, (len, text, count): (usize, String, usize)) {
    let entry = worst.entry(law).or_insert((usize::MAX, String::new(), 0));
    entry.2 += count;
    if len < entry.0 {
        (entry.0, entry.1) = (len, text);
    }
}

/// Check and repair each, so that a fault of the one does not hide the other's.
fn every(files: &[(String, Vec<u8>)]) -> Vec<Held> {
    let files = set(files);
    vec![
        guarded(|| recording::checked(&files)),
        guarded(|| recording::repaired(&files, Allow::Lossy)),
    ]
}

fn cut(subject: &Subject, file: usize, at: usize) -> Vec<Held> {
    every(&subject.with(file, |bytes| bytes.truncate(at)))
}

fn flipped(subject: &Subject, file: usize, at: usize) -> Vec<Held> {
    let flip = |mask: u8| {
        every(&subject.with(file, |bytes| {
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= mask);
        }))
    };
    [0xff, 1].into_iter().flat_map(flip).collect()
}

#[test]
fn everything_holds_for_whole_recordings_at_every_safety() {
    let mut subjects = forged();
    subjects.extend(corpus());
    for subject in &mut subjects {
        subject.places = vec![(0, 0)];
    }
    everywhere(Share::one_in(6), &subjects, |subject, _, _| {
        let mut held = every(&subject.files);
        for safety in [Allow::Exact, Allow::Synthetic] {
            held.push(guarded(|| recording::repaired(&set(&subject.files), safety)));
        }
        held
    });
}

#[test]
fn everything_holds_for_the_forge_cut_at_every_byte() {
    everywhere(Share::one_in(16), &forged(), cut);
}

#[test]
fn everything_holds_for_the_forge_with_every_byte_flipped() {
    everywhere(Share::one_in(16), &forged(), flipped);
}

#[test]
fn everything_holds_for_a_directory_cut_and_flipped_at_every_byte() {
    let files = perf::directory().into_iter();
    let files = files.map(|(name, bytes)| (name.to_string(), bytes)).collect();
    let directory = Subject::new("forge directory".into(), files);
    everywhere(Share::one_in(16), &[directory], |subject, file, at| {
        [cut(subject, file, at), flipped(subject, file, at)].concat()
    });
}

#[test]
fn everything_holds_for_the_corpus_cut_and_flipped() {
    if is_left_to_the_gate("everything holds for the corpus cut and flipped") {
        return;
    }
    let mut subjects = corpus();
    // The specimens of rules are the forge's, of which each kind is cut and flipped anyway; the
    // hard recordings are damaged ones of kinds that are here.
    subjects.retain(|subject| ["/rules/", "/hard/"].iter().all(|of| !subject.name.contains(of)));
    if !is_exhaustive() {
        subjects.retain(|subject| !subject.name.ends_with(SLOWEST));
    }
    everywhere(Share::one_in(96), &subjects, |subject, file, at| {
        [cut(subject, file, at), flipped(subject, file, at)].concat()
    });
}

/// Places of each recording at which its views are tested.
const PLACES_VIEWED: usize = 6;

#[test]
fn the_views_of_every_recording_hold_whole_cut_and_flipped() {
    let forged = views::subjects().into_iter();
    let mut subjects: Vec<Subject> =
        forged.map(|(name, files)| Subject::new(format!("forge {name}"), files)).collect();
    subjects.extend(corpus());
    // The specimens of rules are the forge's.
    subjects.retain(|subject| !subject.name.contains("/rules/"));
    for subject in &mut subjects {
        // The place also selects style and filters of a dump.
        let len = subject.len();
        subject.places = (0..PLACES_VIEWED).map(|nth| (0, nth * len / PLACES_VIEWED)).collect();
    }
    everywhere(Share::one_in(6), &subjects, |subject, file, at| {
        let view = |files: &[(String, Vec<u8>)], choice: usize| {
            guarded(|| {
                views::every(&set(files), (choice as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            })
        };
        let cut = subject.with(file, |bytes| bytes.truncate(at));
        let flipped = subject.with(file, |bytes| {
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0xff);
        });
        vec![view(&subject.files, at), view(&cut, at + 1), view(&flipped, at + 2)]
    });
}

#[test]
fn texts_that_are_read_hold() {
    for subject in corpus() {
        let held = guarded(|| texts::of_bytes(&subject.files[0].1));
        held.unwrap_or_else(|broken| panic!("{}: {broken}", subject.name));
    }
    for (name, text) in texts::accepted() {
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            for input in [text.as_bytes(), &bytes, &text.as_bytes()[..at]] {
                let held = guarded(|| texts::of_bytes(input));
                held.unwrap_or_else(|broken| panic!("{name} at {at}: {broken}"));
            }
        }
    }
}

#[test]
fn every_whole_sample_survives_a_cut_at_every_byte() {
    let named = perf::clean().into_iter();
    let built: BTreeMap<String, perf::Built> =
        named.map(|clean| (format!("forge {}", clean.name), clean.built)).collect();
    everywhere(Share::one_in(16), &forged(), |subject, _, at| {
        vec![guarded(|| survive(&built[&subject.name], at))]
    });
}

#[test]
fn zstd_streams_hold_cut_and_flipped_at_every_byte() {
    for (name, bytes) in perf::all() {
        let starts = bytes.windows(4).enumerate().filter(|(_, w)| *w == [0x28, 0xb5, 0x2f, 0xfd]);
        for (start, _) in starts {
            let stream = &bytes[start..];
            for at in Share::one_in(16).of(0..stream.len()) {
                let mut flipped = stream.to_vec();
                flipped[at] ^= 0xff;
                for input in [&flipped, &stream[..at]] {
                    let held = guarded(|| zstd::expanded(input));
                    held.unwrap_or_else(|broken| panic!("{name} from {start} at {at}: {broken}"));
                }
            }
        }
    }
}

#[test]
fn what_a_fuzz_target_failed_on_holds_now() {
    let listed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/FUZZING.md");
    let listed = fs::read_to_string(listed).unwrap();
    for subject in corpus() {
        if let Some((_, input)) = subject.name.split_once("regressions/") {
            assert!(listed.contains(&format!("| `{input}` |")), "{input}: FUZZING.md");
        }
    }
    for subject in Share::one_in(2).of(corpus()) {
        for (name, target) in targets::TARGETS {
            if subject.name.contains(&format!("regressions/{name}/")) {
                let held = guarded(|| target(&subject.files[0].1));
                held.unwrap_or_else(|broken| panic!("{}: {broken}", subject.name));
            }
        }
    }
}

/// Unpacks the inputs that campaigns kept for a target.
pub(crate) fn kept_inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let Ok(packed) = fs::File::open(folder.join(format!("{target}.tar.gz"))) else {
        return Vec::new();
    };
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed));
    let entries = archive.entries().unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.header().entry_type().is_file());
    let read = |mut entry: tar::Entry<'_, _>| {
        let name = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    files.map(read).collect()
}

#[test]
fn the_inputs_that_campaigns_kept_hold() {
    if is_left_to_the_gate("the inputs that campaigns kept hold") {
        return;
    }
    for (name, target) in targets::TARGETS {
        let inputs = kept_inputs(name);
        for at in Share::one_in(32).of(0..inputs.len()) {
            let (input, bytes) = &inputs[at];
            let held = guarded(|| target(bytes));
            held.unwrap_or_else(|broken| panic!("{name} {input}: {broken}"));
        }
    }
}

#[test]
fn every_fuzz_target_has_a_program_and_is_described() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let read = |name: &str| fs::read_to_string(fuzz.join(name)).unwrap();
    let (readme, manifest) = (read("README.md"), read("Cargo.toml"));
    for (name, _) in targets::TARGETS {
        assert!(readme.contains(&format!("| `{name}` |")), "{name} in fuzz/README.md");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} in fuzz/Cargo.toml");
        assert!(
            read(&format!("fuzz_targets/{name}.rs")).contains(&format!("target!(\"{name}\")")),
            "{name}"
        );
    }
    let programs = fs::read_dir(fuzz.join("fuzz_targets")).unwrap().count();
    assert_eq!(programs, targets::TARGETS.len());
    assert_eq!(readme.matches("\n| `").count(), targets::TARGETS.len());
}

/// The same cases each time: looking for new ones is the fuzzer's work.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: u32::try_from(Share::one_in(8).count(2000)).unwrap(),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn described_recordings_hold(seed in prop::collection::vec(any::<u8>(), 0..400)) {
        // A check, and repairs at each of the safeties.
        let all = |description: &Description| {
            [0, 3, 4, 8].into_iter().try_for_each(|number| holds(description, number))
        };
        let mut description = Description::arbitrary_take_rest(Unstructured::new(&seed)).unwrap();
        prop_assert_eq!(guarded(|| all(&description)), Ok(()), "{:?}", description);
        description.damages.clear();
        prop_assert_eq!(guarded(|| all(&description)), Ok(()), "{:?}", description);
    }

    #[test]
    fn described_revent_recordings_hold(seed in prop::collection::vec(any::<u8>(), 0..400)) {
        let unstructured = Unstructured::new(&seed);
        let description = revent::Description::arbitrary_take_rest(unstructured).unwrap();
        prop_assert_eq!(guarded(|| revent::holds(&description)), Ok(()), "{:?}", description);
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

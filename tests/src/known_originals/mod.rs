//! Known originals: a sound recording is damaged, repaired, and compared with what it was.
//!
//! ```text
//!  original --damage--> damaged --repair--> output
//!      |                   |                   |
//!      +-- segments that no damage touched ----+--> judge: labels, bytes, records
//! ```
//!
//! - [`dice`]: the numbers that drive the damage. [`damage`]: the damage, and which bytes of the
//!   original it spared. [`judge`]: the laws. [`tally`]: counts, tables and bounds.
//! - [`perf`], [`apitrace`], [`ovni`], [`qemu`], [`revent`]: for each format the originals, the
//!   records, and the bounds of the laws that it does not keep yet.
//!
//! A case is a number: the same number damages the same original in the same way. `cargo test` runs
//! a share of the cases (see [`crate::sweep`]), `TRACEMEND_EXHAUSTIVE=1` all of them, and the
//! example `known_originals` any number from any seed.

pub mod apitrace;
pub mod damage;
pub mod dice;
pub mod equivalent;
pub mod harm;
pub mod judge;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod revent;
pub mod tally;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracemend::kit::source::Source;
use tracemend::{File, FileSet, FormatId};

pub use damage::Damaged;
pub use dice::Dice;
pub use judge::Judgement;
pub use tally::{Bound, Bounds, Tally};

use crate::properties::{Held, ensure, seed};

/// Number of cases for each format in an exhaustive run of the tests.
pub const CASES: usize = 2_000;
/// Seed of the tests.
pub const SEED: u64 = 1;

/// Files of a recording with their names.
pub type Files = Vec<(String, Vec<u8>)>;

/// A sound recording.
#[derive(Clone, Debug)]
pub struct Original {
    /// The name.
    pub name: String,
    /// The files.
    pub files: Files,
}

impl Original {
    /// A recording of one file.
    pub fn single(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), files: vec![("recording".to_string(), bytes)] }
    }
}

/// A record: the unit that has to survive a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Index of the file that holds it.
    pub file: usize,
    /// The stored bytes that it needs.
    pub stored: Range<usize>,
    /// Further stored bytes without which a reader cannot show it.
    pub needs: Vec<Range<usize>>,
    /// Equal for the same record in another place.
    pub identity: Vec<u8>,
}

/// A bit that says no more than that a file has a part: it may be cleared with the part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Offset of its byte.
    pub at: usize,
    /// The bit in that byte.
    pub bit: u8,
    /// The bytes without which a reader cannot find the part.
    pub announces: Range<usize>,
}

/// The part of a damaged recording whose records have to survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All that was not touched.
    Everything,
    /// Only the part before the first damage: the format has no frames, so a reader loses its way.
    /// It gives up the records that end less than this many bytes before the damage, which may have
    /// begun before it shows.
    BeforeDamage(usize),
}

/// Returns whether any record can still be read by anybody: whether some decoder gives its bytes,
/// if the few bytes of a container's headers are known. It does not ask what a repair finds.
pub type Remains = fn(&Original, &Damaged) -> bool;

/// A tool that reads many recordings; `None` if it is not installed.
pub type Judge = fn(&[Files]) -> Option<Vec<Result<(), String>>>;

/// A format under test.
#[derive(Debug)]
pub struct Subject {
    /// The format.
    pub format: FormatId,
    /// Its sound recordings, made once.
    pub originals: LazyLock<Vec<Original>>,
    /// The records of a recording. `original` describes how to read its repaired form.
    pub records: fn(original: &Original, files: &Files) -> Vec<Record>,
    /// The bytes of a sound file that give places and sizes of others.
    pub places: fn(&[u8]) -> Vec<Range<usize>>,
    /// The flags of a sound file.
    pub flags: fn(&[u8]) -> Vec<Flag>,
    /// The records that have to survive.
    pub reach: Reach,
    /// Whether any record is left; `None` if that is not asked.
    pub remains: Option<Remains>,
    /// The format's own tool, for campaigns.
    pub judge: Option<Judge>,
    /// Bounds of the laws in an exhaustive run.
    pub bounds: Bounds,
}

/// Every format.
pub static SUBJECTS: [&Subject; 5] =
    [&apitrace::SUBJECT, &ovni::SUBJECT, &perf::SUBJECT, &qemu::SUBJECT, &revent::SUBJECT];

/// A case that was run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number.
    pub number: usize,
    /// Name of the original.
    pub original: String,
    /// The damaged recording.
    pub damaged: Damaged,
    /// The repaired recording, or its state when the repair gave up.
    pub output: Files,
    /// The judgement.
    pub judgement: Judgement,
}

impl Subject {
    /// Runs case number `number` of `seed`.
    pub fn run(&self, originals: &[Original], seed: u64, number: usize) -> Case {
        let (original, damaged) = damaged(originals, seed, number);
        self.run_damaged(original, damaged, number)
    }

    /// Returns the names of the originals that the format's own tool reads; `None` without one.
    pub fn readable_originals(&self) -> Option<BTreeSet<String>> {
        let originals: Vec<Original> = self.originals.iter().cloned().collect();
        let files: Vec<Files> = originals.iter().map(|original| original.files.clone()).collect();
        let answers = self.judge?(&files)?;
        let names = originals.into_iter().map(|original| original.name).zip(answers);
        Some(names.filter(|(_, answer)| answer.is_ok()).map(|(name, _)| name).collect())
    }

    fn run_damaged(&self, original: &Original, damaged: Damaged, number: usize) -> Case {
        let (judgement, output) = judge::judge(self, original, &damaged);
        Case { number, original: original.name.clone(), damaged, output, judgement }
    }

    /// Runs cases on all processors and passes each to `each`, in no particular order.
    pub fn run_all(&self, seed: u64, numbers: &[usize], each: impl Fn(Case) + Sync) {
        let originals = &self.originals;
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                each(self.run(originals, seed, *number));
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            (0..workers).for_each(|_| _ = scope.spawn(work));
        });
    }
}

/// Returns the original of case number `number` of `seed`, and the damaged recording.
pub fn damaged(originals: &[Original], seed: u64, number: usize) -> (&Original, Damaged) {
    let original = &originals[number % originals.len()];
    let mut dice = Dice::seeded(seed.wrapping_mul(0x9e37_79b9).wrapping_add(number as u64));
    (original, damage::damage(&original.files, &mut dice))
}

/// Returns the files as a recording for the library.
pub fn set(files: &Files) -> FileSet<'_> {
    let files = files.iter().map(|(name, bytes)| File::new(name.clone(), Source::new(bytes)));
    FileSet::new(files.collect())
}

/// Runs the case whose original and damage the bytes choose.
pub fn case_of(subject: &Subject, bytes: &[u8]) -> Case {
    let mut dice = Dice::new(bytes);
    let original = choose(&subject.originals, &mut dice, seed(bytes));
    subject.run_damaged(original, damage::damage(&original.files, &mut dice), 0)
}

/// Tests the laws that a format keeps without exception; the bytes choose original and damage.
pub fn laws_hold(subject: &Subject, bytes: &[u8]) -> Held {
    let case = case_of(subject, bytes);
    let Judgement { false_label, unclean, is_unstable, records_lost, .. } = &case.judgement;
    let shown = |detail: &str| format!("{} {}: {detail}", case.original, case.damaged.describe());
    let keeps = |bound: &Bound, holds: bool, law: &'static str, detail: &str| {
        ensure(bound.most > 0 || holds, law, || shown(detail))
    };
    let label = false_label.as_deref().unwrap_or_default();
    keeps(&subject.bounds.false_labels, false_label.is_none(), "a label is true", label)?;
    let error = unclean.as_deref().unwrap_or_default();
    keeps(&subject.bounds.unclean, unclean.is_none(), "a repaired recording is clean", error)?;
    let law = "repairing the target again changes nothing";
    keeps(&subject.bounds.unstable, !is_unstable, law, &case.judgement.reason)?;
    let lost = records_lost.to_string();
    keeps(&subject.bounds.losing, *records_lost == 0, "untouched records survive", &lost)
}

/// Bytes of an original that any input may choose: longer ones took most of a fuzzer's time.
const SHORT_MAX: usize = 8 << 10;
/// One input of so many may choose a longer one.
const LONG_SHARE: u64 = 16;

/// Returns the original that an input chooses; `number` depends on all its bytes.
fn choose<'o>(originals: &'o [Original], dice: &mut Dice<'_>, number: u64) -> &'o Original {
    let chosen = &originals[dice.below(originals.len())];
    let is_short = |original: &&Original| {
        original.files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() <= SHORT_MAX
    };
    if is_short(&chosen) || number.is_multiple_of(LONG_SHARE) {
        return chosen;
    }
    let short: Vec<&Original> = originals.iter().filter(is_short).collect();
    short[(number / LONG_SHARE) as usize % short.len()]
}

/// Reads the sound recordings in `corpus/FORMAT/clean`.
fn corpus(format: &str) -> Vec<Original> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(format);
    let entries = std::fs::read_dir(folder.join("clean")).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_string();
    let files = paths.iter().filter(|path| path.is_file());
    files
        .map(|path| Original {
            name: format!("corpus {}", name(path)),
            files: vec![(name(path), std::fs::read(path).unwrap())],
        })
        .collect()
}

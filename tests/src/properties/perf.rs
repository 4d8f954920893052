//! Damaged perf.data against its original, with perf as the judge.
//!
//! ```text
//!  original --rot--> damaged --check--> errors?       perf: fails or shows other samples?
//!                       +----repair--> repaired       equal to the original? perf reads it?
//!                                                     is every undamaged sample there?
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracemend::mend::rounds::Outcome;
use tracemend::{Options, Safety};

use crate::forge::perf::rot::{Dice, Places, Rot, records};
use crate::judge::perf::{End, FURTHER_VIEWS, Perf};
use crate::mended::mended_as;

/// Number of cases that run at a time.
const WORKERS: usize = 2;
/// Type of a sample.
const SAMPLE: u32 = 9;
/// Types of compressed records, whose samples are not compared.
const COMPRESSED: [u32; 2] = [81, 83];

/// What perf makes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct View {
    script: End,
    samples: usize,
    report: End,
    header: End,
    /// Everything that the three commands print.
    text: String,
}

impl View {
    fn of(perf: &Perf, path: &Path) -> Self {
        let script = perf.samples(path);
        let lines = perf.script_text(path).stdout;
        let (report, header) = (perf.report(path), perf.header(path));
        let lines = [&lines, &report.stdout, &header.stdout].map(|text| facts(text));
        Self {
            script: script.end,
            samples: script.count,
            report: report.end,
            header: header.end,
            text: lines.concat(),
        }
    }

    /// Whether a command fails that succeeds on another file.
    fn fails_unlike(&self, other: &Self) -> bool {
        [(self.script, other.script), (self.report, other.report), (self.header, other.header)]
            .iter()
            .any(|(mine, sound)| *sound == End::Code(0) && *mine != End::Code(0))
    }
}

/// Returns the lines without the time of the file itself and a tip that perf chooses at random.
fn facts(text: &str) -> String {
    let is_fact = |line: &&str| !line.contains("captured on") && !line.starts_with("# (Tip: ");
    let facts: Vec<&str> = text.lines().filter(is_fact).collect();
    facts.join("\n")
}

/// What the further commands of perf make of a file: how each ended, and what it wrote.
#[derive(Clone, Debug)]
struct FurtherViews(Vec<(End, Vec<u8>)>);

impl FurtherViews {
    /// Runs the commands, one after the other, when they are asked for.
    fn run<'a>(perf: &'a Perf, path: &'a Path) -> impl Iterator<Item = (End, Vec<u8>)> + 'a {
        let printed = FURTHER_VIEWS.iter().map(|arguments| {
            let verdict = perf.view(path, arguments);
            // A warning that a sound recording does not give is shown as well.
            (verdict.end, (facts(&verdict.stdout) + &verdict.stderr).into_bytes())
        });
        printed.chain(std::iter::once_with(|| perf.injected_head(path)))
    }

    /// Whether a command makes something else of the file at `path`.
    fn differ(&self, perf: &Perf, path: &Path) -> bool {
        self.0.iter().zip(Self::run(perf, path)).any(|(sound, found)| *sound != found)
    }
}

/// A sound file.
#[derive(Clone, Debug)]
pub struct Original {
    name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    places: Places,
    /// What perf makes of it; `None` without a judge.
    view: Option<(View, FurtherViews)>,
}

/// Returns the files of the corpus, and the forged ones that perf reads.
///
/// # Panics
///
/// If the corpus cannot be read.
pub fn originals() -> Vec<(String, Vec<u8>)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    let mut found = originals_in(&[corpus]);
    let forged = crate::forge::perf::clean()
        .into_iter()
        .filter(|clean| clean.judged() && clean.built.order == crate::forge::perf::Order::Little);
    found.extend(forged.map(|clean| (clean.name.to_owned(), clean.built.bytes)));
    found
}

/// Returns the files at `paths`, and those in the folders among them.
///
/// # Panics
///
/// If one cannot be read.
pub fn originals_in(paths: &[PathBuf]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            files.extend(entries.filter(|path| path.is_file()));
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// Cases over a set of originals.
#[derive(Debug)]
pub struct Campaign {
    originals: Vec<Original>,
    judge: Option<Perf>,
}

impl Campaign {
    /// Prepares a campaign. Originals in which the check has an error, that are big-endian, or that
    /// perf refuses are left out.
    pub fn new(originals: Vec<(String, Vec<u8>)>, is_judged: bool) -> Self {
        let judge = if is_judged { Perf::find_or_skip() } else { None };
        let mut campaign = Self { originals: Vec::new(), judge };
        for (name, bytes) in originals {
            let sound = mended_as(&name, &bytes, &Options::default()).0;
            if !bytes.starts_with(b"PERFILE2") || sound.before.has_errors() || bytes[8] == 72 {
                continue;
            }
            let view = campaign.ask(&bytes, |perf, path| {
                (View::of(perf, path), FurtherViews(FurtherViews::run(perf, path).collect()))
            });
            if view.as_ref().is_some_and(|(view, _)| view.script != End::Code(0)) {
                continue;
            }
            let places = Places::of(&bytes);
            campaign.originals.push(Original { name, bytes, places, view });
        }
        campaign
    }

    /// The originals.
    pub fn originals(&self) -> &[Original] {
        &self.originals
    }

    /// Asks perf about a file; `None` without a judge.
    fn ask<T>(&self, bytes: &[u8], question: impl FnOnce(&Perf, &Path) -> T) -> Option<T> {
        let perf = self.judge.as_ref()?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("perf.data");
        std::fs::write(&path, bytes).unwrap();
        Some(question(perf, &path))
    }

    /// Compares what perf makes of the damaged and the repaired file with the original.
    fn judge(&self, original: &Original, repair: &Judged<'_>, marks: &mut Marks) -> Option<()> {
        let (sound, further) = original.view.as_ref()?;
        let view = self.ask(repair.damaged, View::of)?;
        let is_bad = view.fails_unlike(sound) || view.samples != sound.samples;
        marks.set(Mark::PerfDiffers, is_bad);
        marks.set(Mark::FalseClean, is_bad && !repair.has_errors);
        if view == *sound {
            let differs = self.ask(repair.damaged, |perf, path| further.differ(perf, path))?;
            marks.set(Mark::SameInShort, true);
            marks.set(Mark::AlarmInShort, repair.has_errors);
            marks.set(Mark::Same, !differs);
            marks.set(Mark::FalseAlarm, !differs && repair.has_errors);
        }
        let target = repair.target.filter(|target| **target != *original.bytes)?;
        let after = self.ask(target, View::of)?;
        marks.set(Mark::StillFails, after.fails_unlike(sound));
        Some(())
    }

    /// Returns what perf makes of a file in other ways than of original number `index`: whether
    /// script, report or header differ, and whether a further command does. `None` without a judge.
    pub fn compare(&self, index: usize, bytes: &[u8]) -> Option<(bool, bool)> {
        let (sound, further) = self.originals.get(index)?.view.as_ref()?;
        self.ask(bytes, |perf, path| (View::of(perf, path) != *sound, further.differ(perf, path)))
    }

    /// Runs `count` cases: every kind of damage in turn, over all originals in turn.
    ///
    /// # Panics
    ///
    /// If a case panics.
    pub fn run(&self, seed: u64, count: u64) -> Table {
        self.run_seeds((0..count).map(|number| seed.wrapping_add(number)))
    }

    /// Runs the cases of some seeds.
    ///
    /// # Panics
    ///
    /// If a case panics.
    pub fn run_seeds(&self, seeds: impl Iterator<Item = u64> + Send) -> Table {
        let table = Mutex::new(Table::default());
        let seeds = Mutex::new(seeds);
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    let next = || seeds.lock().unwrap().next();
                    let cases = std::iter::from_fn(next).filter_map(|seed| self.case(seed));
                    cases.for_each(|case| table.lock().unwrap().add(case));
                });
            }
        });
        table.into_inner().unwrap()
    }

    /// Returns the files of the case of a seed, by name: the original, the damaged one, and the
    /// repaired one.
    pub fn files_of(&self, seed: u64) -> Option<[(&'static str, Vec<u8>); 3]> {
        let mut dice = Dice::new(seed);
        let original = self.originals.get(dice.below(self.originals.len()))?;
        let rot = Rot::ALL[dice.below(Rot::ALL.len())];
        let (damaged, _) = rot.damage(&original.bytes, &original.places, &mut dice)?;
        let (_, target) = mended_as("perf.data", &damaged, &Options::default());
        Some([("original", original.bytes.clone()), ("damaged", damaged), ("repaired", target)])
    }

    /// Runs the case of a seed; `None` if the original lacks the part that is to be damaged.
    pub fn case(&self, seed: u64) -> Option<Case> {
        let mut dice = Dice::new(seed);
        let original = self.originals.get(dice.below(self.originals.len()))?;
        let rot = Rot::ALL[dice.below(Rot::ALL.len())];
        let (damaged, hit) = rot.damage(&original.bytes, &original.places, &mut dice)?;
        let (repair, target) = mended_as("perf.data", &damaged, &Options::default());
        let mut marks = Marks::default();
        let is_refused = matches!(repair.outcome, Outcome::CannotRepair | Outcome::Incomplete);
        let has_errors = repair.before.has_errors() || repair.before.incomplete();
        marks.set(Mark::Refused, is_refused);
        marks.set(Mark::Restored, target == original.bytes);
        let is_exact = repair.changes() && repair.safety() == Some(Safety::Exact);
        let is_other = writes_other(&original.bytes, &damaged, &target);
        marks.set(Mark::FalseExact, !is_refused && is_exact && is_other);
        let is_lossless = repair.outcome == Outcome::Repaired;
        let is_harmed = damaged.len() == original.bytes.len()
            && differs_outside(&original.bytes, &target, &hit);
        marks.set(Mark::FalseLossless, is_lossless && is_harmed);
        let judged =
            Judged { damaged: &damaged, has_errors, target: (!is_refused).then_some(&*target) };
        _ = self.judge(original, &judged, &mut marks);
        let missing = missing_samples(original, &target, &hit);
        marks.set(Mark::SampleMissing, !is_refused && missing > 0);
        let codes = repair.before.counts().keys().copied().collect::<Vec<_>>().join(" ");
        let left = repair
            .after
            .findings()
            .iter()
            .find(|finding| finding.severity == tracemend::Severity::Error);
        let left = left.map_or(String::new(), |finding| {
            format!("; left {} {}", finding.rule.code, finding.message)
        });
        let wrong = original.bytes.iter().zip(&target).position(|(a, b)| a != b);
        let records = &original.places.records;
        let spared = records.iter().filter(|(_, range)| !is_hit(range, &hit)).count();
        let label = format!(
            "seed {seed}: {rot:?} of {} at {hit:?}, {spared} of {} records spared: {:?}, \
             {codes}{left}; differs at {wrong:?}",
            original.name,
            records.len(),
            repair.outcome
        );
        Some(Case { rot, marks, label })
    }
}

/// A damaged file and its repair, for perf to judge.
struct Judged<'a> {
    damaged: &'a [u8],
    has_errors: bool,
    /// The repaired file, unless the repair refused it.
    target: Option<&'a [u8]>,
}

/// Whether a repair that changes no length wrote a byte that the original does not have.
fn writes_other(original: &[u8], damaged: &[u8], target: &[u8]) -> bool {
    if original.len() != damaged.len() || damaged.len() != target.len() {
        return original != target;
    }
    let bytes = original.iter().zip(damaged).zip(target);
    bytes.into_iter().any(|((original, damaged), target)| target != damaged && target != original)
}

/// Whether two files of one length differ outside of `hit`.
fn differs_outside(one: &[u8], other: &[u8], hit: &[Range<usize>]) -> bool {
    one.len() != other.len()
        || one
            .iter()
            .zip(other)
            .enumerate()
            .any(|(at, (a, b))| a != b && !hit.iter().any(|range| range.contains(&at)))
}

/// Whether damage touched a range of a file, or lies inside it.
fn is_hit(range: &Range<usize>, hit: &[Range<usize>]) -> bool {
    hit.iter().any(|hit| {
        let inside = hit.is_empty() && hit.start > range.start && hit.start < range.end;
        inside || (hit.start < range.end && hit.end > range.start)
    })
}

/// Counts the samples that the damage did not touch and that the repaired file lacks. Samples in
/// compressed records are not counted.
fn missing_samples(original: &Original, target: &[u8], hit: &[Range<usize>]) -> usize {
    let places = &original.places;
    if places.records.iter().any(|(kind, _)| COMPRESSED.contains(kind)) {
        return 0;
    }
    let is_hit = |range: &Range<usize>| is_hit(range, hit);
    let mut kept: BTreeMap<&[u8], usize> = BTreeMap::new();
    let number = |at: usize| {
        target.get(at..at + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap()) as usize)
    };
    let is_pipe = places.header.len() == 16;
    let start = if is_pipe { 16 } else { number(40) };
    let end = if is_pipe { target.len() } else { start.saturating_add(number(48)) };
    let area = start.min(target.len())..end.min(target.len());
    for (_, range) in records(target, area, is_pipe).iter().filter(|(kind, _)| *kind == SAMPLE) {
        *kept.entry(&target[range.clone()]).or_default() += 1;
    }
    let samples = places.records.iter().filter(|(kind, range)| *kind == SAMPLE && !is_hit(range));
    let mut missing = 0;
    for (_, range) in samples {
        match kept.get_mut(&original.bytes[range.clone()]) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing += 1,
        }
    }
    missing
}

/// An observation about a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// perf fails on the damaged file, or shows another number of samples.
    PerfDiffers,
    /// It does, but the check has no error.
    FalseClean,
    /// script, report and the header print everything as before.
    SameInShort,
    /// They do, but the check has an error.
    AlarmInShort,
    /// All commands print everything as before.
    Same,
    /// They do, but the check has an error.
    FalseAlarm,
    /// Errors are left after the repair.
    Refused,
    /// perf fails on the repaired file.
    StillFails,
    /// The repaired file lacks a sample that was not damaged.
    SampleMissing,
    /// The repaired file is the original.
    Restored,
    /// All fixes were exact, but one wrote a byte that the original does not have.
    FalseExact,
    /// Nothing was lost by the label, but a byte outside the damage is another one.
    FalseLossless,
}

impl Mark {
    /// All marks, in the order of the columns.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::PerfDiffers, "differs"),
        (Self::FalseClean, "unseen"),
        (Self::SameInShort, "as short"),
        (Self::AlarmInShort, "al short"),
        (Self::Same, "same"),
        (Self::FalseAlarm, "alarm"),
        (Self::Refused, "refused"),
        (Self::StillFails, "fails"),
        (Self::SampleMissing, "missing"),
        (Self::Restored, "restored"),
        (Self::FalseExact, "inexact"),
        (Self::FalseLossless, "harmed"),
    ];
}

/// The observations about a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u16);

impl Marks {
    fn set(&mut self, mark: Mark, holds: bool) {
        if holds {
            self.0 |= 1 << mark as u16;
        }
    }

    /// Whether a mark is set.
    pub const fn has(self, mark: Mark) -> bool {
        self.0 >> mark as u16 & 1 == 1
    }
}

/// One damaged file.
#[derive(Clone, Debug)]
pub struct Case {
    /// The kind of damage.
    pub rot: Rot,
    /// The observations.
    pub marks: Marks,
    /// Seed, place and outcome.
    pub label: String,
}

/// The counts of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Table {
    cases: Vec<Case>,
}

impl Table {
    fn add(&mut self, case: Case) {
        self.cases.push(case);
    }

    /// Returns the number of cases.
    pub fn cases(&self) -> usize {
        self.cases.len()
    }

    /// Returns the number of cases with a mark.
    pub fn count(&self, mark: Mark) -> usize {
        self.cases.iter().filter(|case| case.marks.has(mark)).count()
    }

    /// Returns the cases with a mark that should not be.
    pub fn disagreements(&self) -> impl Iterator<Item = String> + '_ {
        self.cases.iter().filter_map(|case| {
            let is_listed = std::env::var("PERF_CAMPAIGN_LIST")
                .is_ok_and(|kind| kind != "1" && case.label.contains(&kind));
            let bad = Mark::ALL.iter().filter(|(mark, _)| {
                !matches!(mark, Mark::PerfDiffers | Mark::Restored | Mark::SameInShort | Mark::Same)
                    && case.marks.has(*mark)
            });
            let names: Vec<&str> = bad.map(|(_, name)| *name).collect();
            (is_listed || !names.is_empty()).then(|| format!("{}: {}", names.join(" "), case.label))
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:12} {:>6}", "damage", "files")?;
        for (_, name) in Mark::ALL {
            write!(f, " {name:>8}")?;
        }
        writeln!(f)?;
        for rot in Rot::ALL.map(Some).into_iter().chain([None]) {
            let mine = |case: &&Case| rot.is_none_or(|rot| case.rot == rot);
            let cases: Vec<&Case> = self.cases.iter().filter(mine).collect();
            let name = rot.map_or("all".to_owned(), |rot| format!("{rot:?}"));
            write!(f, "{name:12} {:6}", cases.len())?;
            for (mark, _) in Mark::ALL {
                let count = cases.iter().filter(|case| case.marks.has(mark)).count();
                write!(f, " {count:8}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

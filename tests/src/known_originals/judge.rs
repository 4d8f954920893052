//! The laws of a repair whose original is known.
//!
//! | law | a case breaks it if |
//! |---|---|
//! | exact | all fixes are exact, and an edit writes other bytes than the original had there |
//! | no loss | the repair reports no loss, and a spared byte of the original is gone or moved |
//! | records | an untouched record of the original is not in the output |
//! | clean | a fresh check of a successful output finds an error, or not the format it was given |
//! | stable | a second repair changes the output |
//!
//! Bytes that a repair adds between spared ones move none of them: a repair without loss may add
//! what the format demands. Nor is a byte harmed that gets the original value of its own place, or
//! that is a zero in a field of zeros most of which are damage. An exact repair need not give the
//! complete original: other damage may be invisible.

use std::collections::BTreeMap;

use tracemend::mend::rounds::view;
use tracemend::{FileSet, Limits, Options, Outcome, Repair, Safety};

use super::equivalent::{Replaced, is_home, same_output};
use super::harm::Case;
use super::{Damaged, Files, Original, Reach, Subject, set};
use crate::properties::observed;
use crate::properties::recording::{are_dear_laws_due, noted, with_short_searches};

/// The judgement of a case.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The outcome that the repair reports.
    pub outcome: Outcome,
    /// All fixes were exact.
    pub is_exact: bool,
    /// The output is the original.
    pub is_equal: bool,
    /// The reason why the label of the repair is false.
    pub false_label: Option<String>,
    /// The reason why a successful output is not clean.
    pub unclean: Option<String>,
    /// A second repair changes the output.
    pub is_unstable: bool,
    /// Number of records that no damage touched.
    pub records: u64,
    /// Number of those that a successful output does not have.
    pub records_lost: u64,
    /// The repair gave up, and no record is left that any decoder could read.
    pub is_hopeless: bool,
    /// The codes of the findings, and the reason if the repair gave up.
    pub reason: String,
}

impl Judgement {
    /// Returns whether the repair gave up.
    pub const fn gave_up(&self) -> bool {
        matches!(self.outcome, Outcome::CannotRepair | Outcome::Incomplete)
    }

    /// Returns whether a repair without loss gave other bytes than the original has.
    pub const fn is_other(&self) -> bool {
        matches!(self.outcome, Outcome::Repaired) && !self.is_equal
    }
}

/// Repairs a damaged recording and judges the result; returns the output as well.
///
/// The format is given, as a user does whose recording lost its magic. The fresh check of the
/// output has to find it alone if the repair changed something: random bytes may imitate another
/// format, and a repair leaves them if nothing tells what was there.
pub fn judge(subject: &Subject, original: &Original, damaged: &Damaged) -> (Judgement, Files) {
    let source = set(&damaged.files);
    let options = Options::default().with_format(subject.format);
    let options = with_short_searches(&source, &options);
    let repair = tracemend::repair(&source, &options);
    let output = collect(&view(&source, &repair.patches));
    noted(&repair, &set(&output));
    observed::shown(&source, &options);
    let is_equal = output == original.files;
    let is_exact = repair.changes() && repair.safety() == Some(Safety::Exact);
    let mut judgement = Judgement {
        outcome: repair.outcome,
        is_exact,
        is_equal,
        false_label: None,
        unclean: None,
        is_unstable: false,
        records: 0,
        records_lost: 0,
        is_hopeless: false,
        reason: reason(&repair),
    };
    if judgement.gave_up() {
        judgement.is_hopeless = subject.remains.is_some_and(|remains| !remains(original, damaged));
        return (judgement, output);
    }
    if repair.outcome == Outcome::Repaired && !is_equal {
        let inexact = || find_inexact(original, damaged, &repair).filter(|_| is_exact);
        let harm = Case { subject, original, damaged, repair: &repair }.find_harm(&output);
        judgement.false_label = harm.or_else(inexact);
    }
    let untouched = untouched(subject, original, damaged);
    judgement.records = untouched.values().sum();
    judgement.records_lost = count_lost(untouched, subject, original, &output);
    let after = set(&output);
    let format = options.format.filter(|_| !repair.changes());
    let unclean = |options: Options| find_unclean(subject, &after, &Options { format, ..options });
    // A short search may miss what a log has, by which it is recognised.
    judgement.unclean = unclean(options.clone())
        .and_then(|_| unclean(Options { limits: Limits::default(), ..options.clone() }));
    judgement.is_unstable =
        are_dear_laws_due(&source) && tracemend::repair(&after, &options).changes();
    (judgement, output)
}

/// Returns the codes that were found, and why the repair gave up.
fn reason(repair: &Repair) -> String {
    let codes: Vec<&str> = repair.before.counts().keys().copied().collect();
    let left: Vec<&str> = repair.after.counts().keys().copied().collect();
    let refused = repair.refused.as_deref().unwrap_or("no fix");
    match repair.outcome {
        Outcome::CannotRepair | Outcome::Incomplete => {
            format!("{} left, {refused}", left.join(" "))
        }
        _ => codes.join(" "),
    }
}

/// Copies the files of a recording.
fn collect(files: &FileSet<'_>) -> Files {
    let bytes = |file: &tracemend::File<'_>| file.bytes.pieces().collect::<Vec<_>>().concat();
    files.files().iter().map(|file| (file.name.clone(), bytes(file))).collect()
}

/// Returns an edit that writes other bytes than the original has between the neighbours of the
/// edit, or in its own place of the file. A neighbour that is foreign itself proves nothing.
///
/// One byte less of a run of zeros is the same output, whichever zero is dropped. So an edit is
/// right if one is that gives the same output.
fn find_inexact(original: &Original, damaged: &Damaged, repair: &Repair) -> Option<String> {
    for (index, patch) in repair.patches.iter().enumerate() {
        let stored = &damaged.files[index].1;
        let edits = patch.edits(index as u32);
        for (number, edit) in edits.iter().enumerate() {
            let (start, end) = (edit.span.start(), edit.span.end());
            let is_right = |one: &Replaced| is_original((original, damaged), index, one);
            let mut same = same_output(stored, &edits, number);
            let is_home = is_home(&original.files[index].1, &edits, number);
            if !is_home && !same.any(|one| is_right(&one)) {
                return Some(format!("file {index}: not the original at {start:#x}..{end:#x}"));
            }
        }
    }
    None
}

/// Returns whether an edit writes what the original has between the neighbours of the edit.
fn is_original(
    (original, damaged): (&Original, &Damaged),
    file: usize,
    Replaced { range, new }: &Replaced,
) -> bool {
    let old = &original.files[file].1;
    let before = match range.start {
        0 => Some(0),
        start => damaged.origin(file, start - 1).map(|origin| origin + 1),
    };
    let after = match damaged.files[file].1.len() == range.end {
        true => Some(old.len()),
        false => damaged.origin(file, range.end),
    };
    match (before, after) {
        (Some(from), Some(to)) => old.get(from..to) == Some(new),
        (Some(from), None) => old[from..].starts_with(new),
        (None, Some(to)) => old[..to].ends_with(new),
        (None, None) => true,
    }
}

/// A record with the index of its file, and how often it occurs.
type Counted = BTreeMap<(usize, Vec<u8>), u64>;

/// Returns the records of the original that no damage touched and that have to survive.
fn untouched(subject: &Subject, original: &Original, damaged: &Damaged) -> Counted {
    let mut counted = Counted::new();
    for record in (subject.records)(original, &original.files) {
        let reached = match subject.reach {
            Reach::Everything => {
                let mut needed = std::iter::once(&record.stored).chain(&record.needs);
                needed.all(|range| damaged.spares(record.file, range))
            }
            Reach::BeforeDamage(doubtful) => {
                record.stored.end + doubtful <= damaged.first_damage(record.file)
            }
        };
        if reached {
            *counted.entry((record.file, record.identity)).or_default() += 1;
        }
    }
    counted
}

/// Counts the records that the output does not have.
fn count_lost(mut want: Counted, subject: &Subject, original: &Original, output: &Files) -> u64 {
    for record in (subject.records)(original, output) {
        if let Some(count) = want.get_mut(&(record.file, record.identity)) {
            *count = count.saturating_sub(1);
        }
    }
    want.values().sum()
}

/// Checks an output.
fn find_unclean(subject: &Subject, output: &FileSet<'_>, options: &Options) -> Option<String> {
    let report = tracemend::check(output, options);
    if report.format != Some(subject.format) {
        return Some("the output is not recognised".to_string());
    }
    let errors: Vec<&str> = report
        .findings()
        .iter()
        .filter(|finding| finding.severity == tracemend::Severity::Error)
        .map(|finding| finding.rule.code)
        .collect();
    (report.has_errors() || report.incomplete()).then(|| format!("errors left: {errors:?}"))
}

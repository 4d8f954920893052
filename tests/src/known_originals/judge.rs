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
//! what the format demands. An exact repair need not give the complete original: other damage may
//! be invisible.

use std::collections::BTreeMap;
use std::ops::Range;

use tracemend::mend::rounds::view;
use tracemend::{FileSet, Limits, Options, Outcome, Repair, Safety};

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
/// edit. A neighbour that is foreign itself proves nothing.
///
/// One byte less of a run of zeros is the same output, whichever zero is dropped. So an edit is
/// right if one is that gives the same output.
fn find_inexact(original: &Original, damaged: &Damaged, repair: &Repair) -> Option<String> {
    for (index, patch) in repair.patches.iter().enumerate() {
        let stored = &damaged.files[index].1;
        let edits = patch.edits(index as u32);
        let ends = edits.iter().map(|edit| edit.span.end() as usize);
        let froms: Vec<usize> = std::iter::once(0).chain(ends).collect();
        for (number, edit) in edits.iter().enumerate() {
            let next = edits.get(number + 1);
            let free = froms[number]..next.map_or(stored.len(), |next| next.span.start() as usize);
            let (start, end) = (edit.span.start() as usize, edit.span.end() as usize);
            let new = edit.insert.as_slice().to_vec();
            let is_right = |one: &Replaced| is_original((original, damaged), index, one);
            let mut same = equivalents(stored, &free, Replaced { range: start..end, new });
            if !same.any(|one| is_right(&one)) {
                return Some(format!("file {index}: not the original at {start:#x}..{end:#x}"));
            }
        }
    }
    None
}

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replaced {
    range: Range<usize>,
    new: Vec<u8>,
}

/// Returns the edits inside a range of a file that give the same output as one of them, which comes
/// first. One that replaces bytes has none: it claims all bytes that it writes.
fn equivalents(
    stored: &[u8],
    free: &Range<usize>,
    edit: Replaced,
) -> impl Iterator<Item = Replaced> {
    let is_free = edit.range.is_empty() || edit.new.is_empty();
    let earlier = std::iter::successors(Some(edit.clone()), move |edit| {
        let (at, last) = (edit.range.start.checked_sub(1)?, edit.range.end.checked_sub(1)?);
        let new = [&stored[at..=at], &edit.new].concat();
        let is_same = is_free && at >= free.start && new.last() == Some(&stored[last]);
        let new = new[..edit.new.len()].to_vec();
        is_same.then_some(Replaced { range: at..last, new })
    });
    let later = std::iter::successors(Some(edit), move |edit| {
        let Range { start, end } = edit.range;
        let next = stored.get(end).filter(|_| end < free.end)?;
        let new = [edit.new.as_slice(), std::slice::from_ref(next)].concat();
        let is_same = is_free && new[0] == stored[start];
        is_same.then(|| Replaced { range: start + 1..end + 1, new: new[1..].to_vec() })
    });
    earlier.chain(later)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_that_give_the_same_output_are_equivalent() {
        let stored = b"ab0000cd";
        let output = |edit: &Replaced| {
            [&stored[..edit.range.start], &edit.new, &stored[edit.range.end..]].concat()
        };
        let all = |range: Range<usize>, new: &[u8], free: Range<usize>| {
            let edit = Replaced { range, new: new.to_vec() };
            let same: Vec<Replaced> = equivalents(stored, &free, edit.clone()).collect();
            assert!(same.iter().all(|one| output(one) == output(&edit)));
            let mut starts: Vec<usize> = same.iter().map(|one| one.range.start).collect();
            starts.sort_unstable();
            starts.dedup();
            starts
        };
        assert_eq!(all(3..5, b"", 0..8), [2, 3, 4]);
        assert_eq!(all(3..5, b"", 3..8), [3, 4]);
        assert_eq!(all(3..5, b"", 0..5), [2, 3]);
        assert_eq!(all(1..3, b"", 0..8), [1]);
        assert_eq!(all(8..8, b"cd", 0..8), [6, 7, 8]);
        assert_eq!(all(2..2, b"0", 0..8), [2, 3, 4, 5, 6]);
        assert_eq!(all(0..2, b"x", 0..8), [0]);
        assert_eq!(all(3..5, b"x0", 0..8), [3]);
    }
}

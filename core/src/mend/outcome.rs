//! The result of a repair.

use std::collections::BTreeMap;

use crate::mend::applied::Applied;
use crate::mend::view::view;
use crate::model::Report;
use crate::model::edit::Safety;
use crate::model::patch::Patch;
use crate::model::recording::FileSet;
use crate::model::rule::common;

/// The outcome of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing had to be repaired; every patch is the identity.
    Clean,
    /// No error is left, and no fix dropped or replaced recorded bytes.
    Repaired,
    /// No error is left, but a fix dropped or replaced recorded bytes.
    RepairedWithLoss,
    /// Errors are left; or nearly nothing of the source is, and CM0006 is among the findings after
    /// the repair.
    CannotRepair,
    /// A limit was reached.
    Incomplete,
}

/// The result of a repair.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The outcome.
    pub outcome: Outcome,
    /// One patch per file, in the order of the file set.
    pub patches: Vec<Patch>,
    /// The fixes that were applied, in order.
    pub applied: Vec<Applied>,
    /// The report of the source.
    pub before: Report,
    /// The report of the target. It has CM0006 as well if nearly nothing of the source is kept.
    pub after: Report,
    /// The reason why a fix was not applied, or why the rounds ended before all were.
    pub refused: Option<String>,
}

impl Repair {
    /// Returns the riskiest class of the fixes that were applied.
    pub fn safety(&self) -> Option<Safety> {
        self.applied.iter().map(|applied| applied.class).max()
    }

    /// Returns the number of complete records that the applied fixes dropped.
    pub fn records_lost(&self) -> u64 {
        self.applied.iter().fold(0, |sum: u64, one| sum.saturating_add(one.records_lost))
    }

    /// Returns the number of complete records of which the applied fixes replaced bytes.
    pub fn records_altered(&self) -> u64 {
        self.applied.iter().fold(0, |sum: u64, one| sum.saturating_add(one.records_altered))
    }

    /// Returns the recording as the repair leaves it: a view of `files` and the added bytes.
    ///
    /// `files` is the recording that was repaired. If [`Repair::outcome`] is
    /// [`Outcome::CannotRepair`], the view has the fixes that apply and still has errors.
    pub fn output<'a>(&'a self, files: &FileSet<'a>) -> FileSet<'a> {
        view(files, &self.patches)
    }

    /// Returns the counts that a check of the output gives: those of `after`, but for CM0006, which
    /// judges the repair.
    pub fn counts_of_output(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = self.after.counts().clone();
        counts.remove(common::LITTLE_KEPT.code);
        counts
    }

    /// Returns whether any file changes, or was wrapped or converted.
    pub fn changes(&self) -> bool {
        self.applied.iter().any(|one| one.round == 0)
            || self.patches.iter().any(|patch| !patch.is_identity())
    }
}

//! Cuts a part out of a recording.
//!
//! ```text
//!  check (no errors) -> Format::cut: edits that drop the other records -> Patch
//!    v
//!  check again: no fault more, and no record is missing that was not dropped
//!    v
//!  Repair, as that of any repair
//! ```

use crate::catalogue;
use crate::format::Stored;
use crate::mend::beginning::recognise;
use crate::mend::reading::check;
use crate::mend::rounds::{Outcome, Repair, view};
use crate::mend::trial::find_harm;
use crate::mend::view::patch_files;
use crate::model::cut::CutError;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::{Report, Severity};

/// Cuts a part out of a recording, see [`crate::cut()`].
pub(crate) fn cut(files: &FileSet<'_>, options: &Options) -> Result<Repair, CutError> {
    let mut options = Options { outline: false, ..options.clone() };
    options.format = recognise(files, &options);
    let before = check(files, &options);
    let format = before.format.filter(|_| !files.is_empty()).and_then(catalogue::format);
    let format = format.ok_or(CutError::UnknownFormat)?;
    if format.description().options.cut.is_empty() {
        return Err(CutError::Unsupported);
    }
    refuse_damaged(&before)?;
    let Stored { edits, records_gone } = format.cut(files, &options)?;
    let patches = patch_files(files, &edits, |_| None);
    let patches = patches.map_err(|error| CutError::Harm(error.to_string()))?;
    let after = check(&view(files, &patches), &options);
    refuse_harm(&before, &after, records_gone)?;
    let applied = Vec::new();
    let mut repair =
        Repair { outcome: Outcome::Clean, patches, applied, before, after, refused: None };
    if repair.changes() {
        repair.outcome = Outcome::RepairedWithLoss;
    }
    Ok(repair)
}

fn refuse_damaged(report: &Report) -> Result<(), CutError> {
    if report.incomplete() {
        let message = "a limit was reached before the whole recording was read";
        return Err(CutError::Limit(message.to_string()));
    }
    match report.count_of(Severity::Error) {
        0 => Ok(()),
        errors => Err(CutError::Damaged(errors)),
    }
}

/// Fails if the part has a fault that the recording does not have, or has lost more records than
/// those that were dropped.
fn refuse_harm(before: &Report, after: &Report, records_gone: u64) -> Result<(), CutError> {
    if let Some(harm) = find_harm(before, after, records_gone) {
        return Err(CutError::Harm(harm));
    }
    refuse_damaged(after)?;
    let records = after.tally.records.saturating_add(records_gone);
    if records != before.tally.records {
        return Err(CutError::Harm("other records would be lost".to_string()));
    }
    Ok(())
}

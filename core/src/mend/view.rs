//! A recording as a repair has left it so far, and its check.

use crate::catalogue;
use crate::check::check_into;
use crate::model::Report;
use crate::model::edit::Edit;
use crate::model::limits::{FINDINGS, FIXES};
use crate::model::options::Options;
use crate::model::patch::{Patch, PatchError};
use crate::model::recording::{File, FileSet};

/// Returns the files after `patches`, without a copy.
pub fn view<'a>(files: &FileSet<'a>, patches: &'a [Patch]) -> FileSet<'a> {
    let patched = files.files().iter().zip(patches).map(|(file, patch)| {
        let name = patch.renamed().unwrap_or(&file.name).to_string();
        File { name, bytes: patch.view(&file.bytes) }
    });
    FileSet::new(patched.collect())
        .with_donor(files.donor().cloned())
        .with_unfollowed_links(files.unfollowed_links().to_vec())
}

/// Builds the patch of each file from edits of all files, in order. `name_of` returns the new name
/// of a file.
pub(crate) fn patch_files(
    files: &FileSet<'_>,
    edits: &[Edit],
    name_of: impl Fn(u32) -> Option<String>,
) -> Result<Vec<Patch>, PatchError> {
    let patches = (0_u32..).zip(files.files()).map(|(index, file)| {
        let from = edits.partition_point(|edit| edit.span.layer.file < index);
        let to = edits.partition_point(|edit| edit.span.layer.file <= index);
        let mine = edits.get(from..to).unwrap_or_default();
        let absent = file.bytes.is_absent();
        let patch = Patch::from_edits(file.bytes.len(), mine)?;
        Ok(patch.between(absent, absent).under(name_of(index)))
    });
    patches.collect()
}

/// Checks a recording as it is, with all fixes: a round applies more of them than a person wants to
/// read findings.
pub(crate) fn check_plain(files: &FileSet<'_>, options: &Options) -> Report {
    let format = options.format.or_else(|| catalogue::sniff(files, options));
    let shown = options.limits.of(&FINDINGS);
    let most = options.limits.count_of(&FINDINGS).max(options.limits.count_of(&FIXES));
    check_into(files, options, Report::new(format, files.len(), most).merging_after(shown))
}

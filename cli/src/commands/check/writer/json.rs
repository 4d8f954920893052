//! `json` and `jsonl`: the contract is `schema/check.schema.json`.

use std::os::unix::ffi::OsStrExt;

use tracemend::json::{self, Recording};

use super::{Checked, Closing, describe_writer_failure};
use crate::files::skipped::SkipReason;
use crate::kit::exit::Failure;

/// The recording with the bytes of every edit that has at most `edit_bytes`.
fn recording(checked: &Checked<'_>, edit_bytes: usize) -> Recording {
    let path = checked.path.as_os_str().as_bytes();
    let mut recording = Recording::with_edits(path, checked.report, checked.files, edit_bytes);
    recording.crc32 = checked.crc32;
    recording
}

/// One recording of a document, without what stands between two.
pub(super) fn piece(checked: &Checked<'_>, edit_bytes: usize) -> Result<String, Failure> {
    recording(checked, edit_bytes).piece(true).map_err(describe_writer_failure)
}

/// One recording as a line.
pub(super) fn line(checked: &Checked<'_>, edit_bytes: usize) -> Result<String, Failure> {
    recording(checked, edit_bytes).line().map_err(describe_writer_failure)
}

/// The end of a document.
pub(super) fn closing_piece(closing: &Closing<'_>) -> Result<String, Failure> {
    describe(closing).piece().map_err(describe_writer_failure)
}

/// The last line.
pub(super) fn closing_line(closing: &Closing<'_>) -> Result<String, Failure> {
    describe(closing).line().map_err(describe_writer_failure)
}

/// What was not checked, and the totals.
fn describe(closing: &Closing<'_>) -> json::Closing {
    let mut document = json::Closing { totals: closing.counts.clone(), ..Default::default() };
    for reason in SkipReason::ALL {
        let (count, paths) = closing.skipped.of(reason);
        if count > 0 {
            document.totals.skipped.insert(reason.word(), count);
        }
        let entry = |path: &String| json::SkippedEntry::new(path.clone(), reason.word());
        document.skipped.extend(paths.iter().map(entry));
    }
    let (count, unread) = closing.skipped.unread();
    document.totals.unread = count;
    let entry =
        |(path, message): &(String, String)| json::ErrorEntry::new(path.clone(), message.clone());
    document.errors.extend(unread.iter().map(entry));
    document
}

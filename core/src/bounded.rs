//! The calls of the library that work on a whole recording, each within the limit `steps`.
//!
//! Their work is in the other modules. If it takes more steps, its result is thrown away, and the
//! limit is all that is reported.

use crate::catalogue;
use crate::kit::span::{Layer, Span};
use crate::kit::steps::{self, StepsSpent};
use crate::mend::beginning::recognise;
use crate::mend::outcome::{Outcome, Repair};
use crate::mend::{reading, rounds};
use crate::model::cut::CutError;
#[cfg(feature = "json")]
use crate::model::difference::Compared;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::limits::{FINDINGS, Limits, STEPS};
use crate::model::options::Options;
use crate::model::patch::Patch;
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::{Finding, Report};
use crate::redact::{RedactError, RedactRequest, Redaction};
use crate::sight::AuditRequest;

/// Checks one recording.
///
/// Never fails: unreadable bytes are a finding, and a limit that is reached makes the verdict
/// [`Verdict::Incomplete`](crate::Verdict::Incomplete).
pub fn check(files: &FileSet<'_>, options: &Options) -> Report {
    let checked = within_steps(&options.limits, || reading::check(files, options));
    checked.unwrap_or_else(|spent| report_spent(files, options, spent))
}

/// Repairs a recording with fixes of the classes that [`Options::allow`] permits.
pub fn repair(files: &FileSet<'_>, options: &Options) -> Repair {
    within_steps(&options.limits, || rounds::repair(files, options)).unwrap_or_else(|spent| {
        let before = report_spent(files, options, spent);
        let patches = files.files().iter().map(|file| Patch::unchanged(&file.bytes));
        Repair {
            outcome: Outcome::Incomplete,
            patches: patches.collect(),
            applied: Vec::new(),
            after: before.clone(),
            before,
            refused: Some(describe(spent)),
        }
    })
}

/// Lists what a recording carries that can harm a recipient, and what is private to its sender.
///
/// The findings have the codes `AU0...` and `AU1...`; [`Concern::of`](crate::Concern::of) gives the
/// concern of their rules. One finding stands for all sightings of a kind in a field. The report of
/// a recording that no format recognises is that of [`check`]. Memory does not grow with the length
/// of the recording.
///
/// ```
/// use tracemend::{AuditRequest, Concern, FileSet, Options};
///
/// // A recording of one device, without an event.
/// let mut bytes = b"REVENT\x02\0\0\0\0\0\0\0\0\0\x01\0\0\0\x08\0\0\0/dev/mem".to_vec();
/// bytes.extend([0; 8]);
/// let files = FileSet::single("keys.run.revent", &bytes);
/// let report = tracemend::audit(&files, &Options::default(), &AuditRequest::default());
/// let first = &report.findings()[0];
/// assert_eq!(first.rule.name, "device-path");
/// assert_eq!(Concern::of(first.rule), Some(Concern::Recipient));
/// ```
pub fn audit(files: &FileSet<'_>, options: &Options, request: &AuditRequest) -> Report {
    let audited = within_steps(&options.limits, || {
        let checked = reading::check(files, &options.in_outline());
        crate::audit::audit(files, options, request, checked)
    });
    audited.unwrap_or_else(|spent| report_spent(files, options, spent))
}

/// Replaces the private content of a recording by fillers of the same length.
///
/// Names become pseudonyms, equal ones equal; memory, packets and positions become zeros. The
/// recording has the same records, and a check finds no fault that was not there before. An
/// [`audit`](crate::audit()) does not report fillers.
///
/// # Errors
///
/// If the recording has errors, a limit is reached, or the result would be worse.
///
/// ```
/// use tracemend::{FileSet, Options, RedactRequest};
///
/// // A recording of one device, and one position of a finger.
/// let mut bytes = b"REVENT\x02\0\0\0\0\0\0\0\0\0\x01\0\0\0\x11\0\0\0/dev/input/event1".to_vec();
/// bytes.extend(2_u64.to_le_bytes());
/// for (kind, value) in [(3, 77), (0, 0)] {
///     bytes.extend([0, 0]);
///     bytes.extend(1_500_000_000_i64.to_le_bytes());
///     bytes.extend(0_i64.to_le_bytes());
///     bytes.extend([kind, 0, 0, 0, value, 0, 0, 0]);
/// }
/// let files = FileSet::single("finger.run.revent", &bytes);
/// let redacted = tracemend::redact(&files, &Options::default(), &RedactRequest::default())?;
/// assert_eq!(redacted.redacted[0].rule.name, "pointer-position");
/// let output = redacted.repair.output(&files);
/// assert_eq!(output.bytes(0).len(), files.len());
/// # Ok::<(), tracemend::RedactError>(())
/// ```
pub fn redact(
    files: &FileSet<'_>,
    options: &Options,
    request: &RedactRequest,
) -> Result<Redaction, RedactError> {
    let redacted = within_steps(&options.limits, || crate::redact::redact(files, options, request));
    redacted.unwrap_or_else(|spent| Err(RedactError::Limit(describe(spent))))
}

/// Cuts the part out of a recording that the options of the format select
/// ([`FormatId::cut_options`](crate::FormatId::cut_options)), with the records that it needs.
///
/// The result is a recording of its own, whose check finds no fault that the whole one does not
/// have. A [`Plan`](crate::Plan) of it holds all bytes that were dropped.
///
/// # Errors
///
/// If the recording has errors or is of another format, a limit is reached, or nothing is selected.
pub fn cut(files: &FileSet<'_>, options: &Options) -> Result<Repair, CutError> {
    let part = within_steps(&options.limits, || crate::cut::cut(files, options));
    part.unwrap_or_else(|spent| Err(CutError::Limit(describe(spent))))
}

/// Returns the first records in which two recordings of one format differ. The options of the
/// format ([`FormatId::diff_options`](crate::FormatId::diff_options)) decide how bytes are read.
///
/// The records are those of a dump, compared in their order. The memory is bounded: two recordings
/// of any size can be compared. The limit `steps` is for both together.
///
/// # Errors
///
/// If the format has no dump, a limit is reached, or one of the recordings cannot be read.
#[cfg(feature = "json")]
pub fn diff(
    one: &FileSet<'_>,
    two: &FileSet<'_>,
    options: &Options,
) -> Result<Compared, DumpError> {
    let compared = within_steps(&options.limits, || crate::compare::diff(one, two, options));
    compared.unwrap_or_else(|spent| Err(DumpError::Limit(describe(spent))))
}

/// Writes the records of a recording as text that is safe to print, piece by piece, until `out`
/// returns false. The options of the format
/// ([`FormatId::dump_options`](crate::FormatId::dump_options)) select the records.
///
/// # Errors
///
/// If the format has no dump or no such style, an option is missing, or nothing can be read.
pub fn dump(
    files: &FileSet<'_>,
    options: &Options,
    request: &Dump,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let dumped = within_steps(&options.limits, || {
        let format = recognise(files, options);
        let format = format.and_then(catalogue::format).ok_or(DumpError::Unreadable)?;
        format.dump(files, options, request, out)
    });
    dumped.unwrap_or_else(|spent| Err(DumpError::Limit(describe(spent))))
}

/// Runs `work` within the limit `steps`, which all calls of the library in it share. The functions
/// that report a limit do so by themselves; this is for the others, such as
/// [`map`](crate::map()).
///
/// # Errors
///
/// If the work takes more steps: its result is thrown away.
pub fn within_steps<T>(limits: &Limits, work: impl FnOnce() -> T) -> Result<T, StepsSpent> {
    steps::within(limits.of(&STEPS), work)
}

/// The report of a recording whose check takes more steps.
fn report_spent(files: &FileSet<'_>, options: &Options, spent: StepsSpent) -> Report {
    let format = options.format.or_else(|| catalogue::sniff(files, options));
    let mut report = Report::new(format, files.len(), options.limits.count_of(&FINDINGS));
    let start = Span::new(Layer::stored(0), 0, 0);
    report.push(Finding::new(&common::LIMIT_REACHED, start, "file", spent.to_string()));
    report.finish();
    report
}

fn describe(spent: StepsSpent) -> String {
    format!("{} {}: {spent}", common::LIMIT_REACHED.code, common::LIMIT_REACHED.name)
}

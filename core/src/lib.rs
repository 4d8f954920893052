//! Validates and repairs recordings.
//!
//! ```text
//!  FileSet (names + bytes; no I/O here)
//!    v
//!  sniff -> Format
//!    v
//!  decode: items that tile each layer     (kit: Source, Cursor, Span, LayerMap)
//!    v
//!  check: items -> Finding { rule, span, message, fix? } -> Report
//!    v
//!  repair: choose fixes by safety -> Patch -> check again -> ... -> one Patch per file + Plan
//!    v
//!  verify: source + plan + target -> proof, knowing no format
//! ```
//!
//! The library does no I/O, holds no unsafe code and does not panic on any input. Bad input gives
//! findings; only limits and misuse give errors.
//!
//! ```
//! use tracemend::{FileSet, Options};
//!
//! let bytes = b"PERFILE2 and then nothing of use".as_slice();
//! let report = tracemend::check(&FileSet::single("perf.data", bytes), &Options::default());
//! assert!(report.has_errors());
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

pub mod choices;
pub mod formats;
pub mod kit;
pub mod limits;
pub mod mend;
pub mod registry;
pub mod report;

pub use choices::Choices;
use std::num::NonZeroUsize;

use kit::source::Source;
use kit::span::{Layer, Span};
pub use limits::Limits;
pub use mend::rounds::{Outcome, Repair, repair};
use report::rule::common;
pub use report::{Finding, Report, Rule, Severity, Verdict};

/// One file of a recording.
#[derive(Clone, Debug)]
pub struct File<'a> {
    /// Path relative to the recording, as bytes decoded lossily; never trusted, always escaped.
    pub name: String,
    /// What it holds.
    pub bytes: Source<'a>,
}

/// The files of one recording. Most formats have one file; a perf or ovni directory has many.
#[derive(Clone, Debug, Default)]
pub struct FileSet<'a> {
    files: Vec<File<'a>>,
    donor: Option<Source<'a>>,
}

impl<'a> FileSet<'a> {
    /// A recording of one file.
    pub fn single(name: impl Into<String>, bytes: &'a [u8]) -> Self {
        Self::new(vec![File { name: name.into(), bytes: Source::new(bytes) }])
    }

    /// A recording of several files. Spans name them by their index here.
    pub const fn new(files: Vec<File<'a>>) -> Self {
        Self { files, donor: None }
    }

    /// With another recording of the same program, which may supply what was lost in this one. It
    /// is no file of the recording and is never changed.
    #[must_use]
    pub fn with_donor(mut self, donor: Option<Source<'a>>) -> Self {
        self.donor = donor;
        self
    }

    /// The recording that may supply what was lost.
    pub const fn donor(&self) -> Option<&Source<'a>> {
        self.donor.as_ref()
    }

    /// The files in order.
    pub fn files(&self) -> &[File<'a>] {
        &self.files
    }

    /// The bytes of file number `index`; nothing for a number that there is not.
    pub fn bytes(&self, index: u32) -> Source<'a> {
        let file = usize::try_from(index).ok().and_then(|index| self.files.get(index));
        file.map(|file| file.bytes.clone()).unwrap_or_default()
    }

    /// Length of all files in bytes.
    pub fn len(&self) -> u64 {
        self.files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes.len()))
    }

    /// Whether no file holds a byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a check or a repair is told.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What it may use.
    pub limits: Limits,
    /// Name of the format, in place of sniffing.
    pub format: Option<&'static str>,
    /// What the user decides where bytes alone cannot.
    pub choices: Choices,
    /// Threads that may work side by side; as many as the machine has if it is not said. The result
    /// is the same with any number.
    pub jobs: Option<NonZeroUsize>,
}

/// Checks one recording.
///
/// Never fails: what cannot be read is a finding, and a limit that is reached makes the verdict
/// [`Verdict::Incomplete`].
pub fn check(files: &FileSet<'_>, options: &Options) -> Report {
    let format = options.format.map_or_else(|| registry::sniff(files), registry::format);
    let name = format.map(|format| format.name());
    let mut report = Report::new(name, files.len(), options.limits.findings);
    let start = Span::new(Layer::stored(0), 0, 0);
    match format {
        _ if files.is_empty() && !files.files().iter().any(|file| file.bytes.is_absent()) => {
            let message = "0 bytes: nothing was recorded, or nothing reached the disk";
            report.push(Finding::new(&common::EMPTY_FILE, start, "file", message));
            report.mark_unreadable();
        }
        Some(format) => format.check(files, options, &mut report),
        None => {
            let first = files.bytes(0).read(0, 16);
            let message = format!(
                "no format recognises the {} bytes that begin with {}",
                files.len(),
                report::hexdump::hex(&first)
            );
            let span = Span::new(Layer::stored(0), 0, kit::num::to_u64(first.len()));
            report.push(Finding::new(&common::UNKNOWN_FORMAT, span, "file", message));
            report.mark_unreadable();
        }
    }
    report.finish();
    report
}

//! The interface of a format.

use crate::kit::reading::{Displacement, Hints};
use crate::model::choice::Choices;
use crate::model::cut::CutError;
use crate::model::description::Description;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::edit::Edit;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::TileSink;
use crate::model::{Finding, Report};
use crate::sight::Auditor;

/// The confidence of a format that a recording is of this format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The bytes resemble the format; a format with a magic takes precedence.
    Evidence,
    /// A magic or a name that no other format uses.
    Certain,
}

/// Edits of the files that store expanded bytes anew, or a part of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The edits, in order.
    pub edits: Vec<Edit>,
    /// Number of records that are gone: of a cut, all that it drops; otherwise those that only held
    /// expanded bytes.
    pub records_gone: u64,
}

/// The reason why expanded bytes cannot be stored anew, as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// A limit was reached.
    Limit(&'static str),
    /// The format or the recording does not allow it.
    Unsupported(&'static str),
}

impl From<&'static str> for StoreError {
    fn from(reason: &'static str) -> Self {
        Self::Unsupported(reason)
    }
}

/// The interface of a format. No function fails on bad input, because bad input is the subject.
pub trait Format: Sync {
    /// Returns what the format declares about itself.
    fn description(&self) -> &'static Description;

    /// Returns the confidence that the recording is of this format; `None` if it is not.
    fn sniff(&self, files: &FileSet<'_>, options: &Options) -> Option<Confidence>;

    /// Whether a file whose beginning is lost may hold records of this format. A look at some of
    /// its bytes: a whole check decides. Formats that need their beginning return false.
    fn may_hold_records(&self, _files: &FileSet<'_>, _options: &Options) -> bool {
        false
    }

    /// Adds every finding with its fix, if there is one, and the counts.
    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report);

    /// Returns the edits of counts, sizes and offsets that depend on `edits` of the same round.
    ///
    /// A fix edits only its own bytes. A field that depends on several fixes is updated here, once
    /// per round. Formats without such fields return nothing.
    fn settle(&self, _files: &FileSet<'_>, _edits: &[Edit], _options: &Options) -> Vec<Edit> {
        Vec::new()
    }

    /// Returns what the offsets, sizes and counts of a recording show about a reading of a whole
    /// file, such as bytes that were inserted. `report` is that of the check without one.
    fn reading_hints(&self, _files: &FileSet<'_>, _options: &Options, _report: &Report) -> Hints {
        Hints::default()
    }

    /// Returns the bytes that were inserted or are missing at an unknown place, as the offsets,
    /// sizes and counts of a recording show. `report` is that of its check. Formats in which
    /// nothing states a length return nothing.
    fn displacement(
        &self,
        _files: &FileSet<'_>,
        _options: &Options,
        _report: &Report,
    ) -> Option<Displacement> {
        None
    }

    /// Returns a fix of `report`'s errors to try when no other fix helps: a valid recording from
    /// the parts that can be trusted. Formats without one return nothing.
    fn last_resort(
        &self,
        _files: &FileSet<'_>,
        _options: &Options,
        _report: &Report,
    ) -> Option<Finding> {
        None
    }

    /// Returns why an option of the format does not apply to a recording, although it applies to
    /// others of the format. `report` is that of the check.
    fn find_misapplied(&self, _choices: &Choices, _report: &Report) -> Option<String> {
        None
    }

    /// Returns the recording that the options choose of several in one file, as a file of its own;
    /// `None` if they choose none.
    ///
    /// # Errors
    ///
    /// The reason why there is no such recording.
    fn pick<'a>(
        &self,
        _files: &FileSet<'a>,
        _options: &Options,
    ) -> Result<Option<FileSet<'a>>, String> {
        Ok(None)
    }

    /// Passes the records as text that is safe to print to `out`, piece by piece, until it returns
    /// false. A piece ends with a line. Lines of JSON are built with
    /// [`JsonLine`](crate::kit::json::JsonLine).
    ///
    /// # Errors
    ///
    /// If a dump is not possible; see [`DumpError`].
    fn dump(
        &self,
        _files: &FileSet<'_>,
        _options: &Options,
        _request: &Dump,
        _out: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Dumped, DumpError> {
        Err(DumpError::None)
    }

    /// Passes what the decoders read to `auditor`: texts, paths, blobs and private content.
    fn audit(&self, _files: &FileSet<'_>, _options: &Options, _auditor: &mut Auditor<'_>) {}

    /// Returns edits of the files for `edits` of their expanded layers, in order, which keep the
    /// length of these layers.
    ///
    /// # Errors
    ///
    /// The reason why the layer cannot be stored anew.
    fn store(
        &self,
        _files: &FileSet<'_>,
        _edits: &[Edit],
        _options: &Options,
    ) -> Result<Stored, StoreError> {
        Err("the format cannot store its expanded bytes anew".into())
    }

    /// Returns the edits that leave the part of a sound recording that the options of a cut select,
    /// with the records that it needs. `records_gone` counts the records that were dropped.
    ///
    /// # Errors
    ///
    /// The reason why the part cannot be made; [`CutError::Unsupported`] for a format without one.
    fn cut(&self, _files: &FileSet<'_>, _options: &Options) -> Result<Stored, CutError> {
        Err(CutError::Unsupported)
    }

    /// Passes every tile of every layer to `each`, layer by layer, in order.
    fn tile(&self, files: &FileSet<'_>, options: &Options, each: TileSink<'_>);
}

//! The formats, one folder each, all of the same shape.
//!
//! `layout` holds facts, `rules` the codes, `decode` turns bytes into items that tile, `check`
//! turns items into findings, `repair` builds the edits that findings carry.

pub mod apitrace;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod revent;

use crate::audit::Auditor;
use crate::kit::field_log::FieldLog;
use crate::kit::reading::{CopyProofs, Hints};
use crate::kit::span::Span;
use crate::kit::wrapper::Wrapper;
use crate::limits::Limit;
use crate::mend::edit::Edit;
use crate::options::{Choices, OptionSpec, Options};
use crate::recording::FileSet;
use crate::report::{Finding, Report, Rule};

/// The confidence of a format that a recording is of this format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The bytes resemble the format; a format with a magic takes precedence.
    Evidence,
    /// A magic or a name that no other format uses.
    Certain,
}

/// The kind of a tile. The tiles of a layer adjoin and cover it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileKind {
    /// Headers, tables and sections.
    Structure,
    /// A complete record.
    Record,
    /// Unused bytes, where the format allows them.
    Padding,
    /// Bytes that cannot be decoded.
    Damage,
}

/// Reads the fields of a tile into a log, with the decoder of the check; called only for the tiles
/// whose fields are wanted.
pub type Fields<'f> = &'f dyn Fn(&FieldLog);

/// Takes the tiles of a recording, each with its fields.
pub type TileSink<'s> = &'s mut dyn FnMut(Tile, Fields<'_>);

/// The fields of a tile that has none.
pub const NO_FIELDS: Fields<'static> = &|_| {};

/// A range of a layer with its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The range.
    pub span: Span,
    /// The kind.
    pub kind: TileKind,
    /// The name that the format gives it.
    pub name: &'static str,
}

/// The form of a dump. Filters are options of the format, see [`Format::dump_options`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dump {
    /// Text for people and other tools, in a style of the format; in the first one if it is `None`.
    Text {
        /// The name of the style.
        style: Option<String>,
    },
    /// One JSON object per record and line: `offset`, `length`, `kind`, then the fields with the
    /// names of the format.
    JsonLines,
}

impl Default for Dump {
    fn default() -> Self {
        Self::Text { style: None }
    }
}

/// Edits of the files that store expanded bytes anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The edits, in order.
    pub edits: Vec<Edit>,
    /// Number of stored records that only held expanded bytes and are no longer there.
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

/// The counts of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dumped {
    /// Number of records that were written.
    pub records: u64,
    /// Number of bytes that are not valid records and were left out.
    pub left_out: u64,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Diffed {
    /// Number of records that were compared, those that differ included.
    pub records: u64,
    /// Whether the recordings differ.
    pub is_different: bool,
}

/// The reason why a dump or a comparison is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DumpError {
    /// The format has no dump, or no comparison.
    None,
    /// The format has no such style.
    Style(String),
    /// An option is missing, or its value does not exist in the recording; the text is a sentence.
    Choice(String),
    /// The recording cannot be read; a check gives the reason.
    Unreadable,
}

/// The interface of a format. No function fails on bad input, because bad input is the subject.
pub trait Format: Sync {
    /// Returns the short name, as in `--type`.
    fn name(&self) -> &'static str;

    /// Returns one line for `tracemend formats`: the recordings and the faults that can be
    /// repaired.
    fn summary(&self) -> &'static str;

    /// Returns the singular nouns for a complete record and for one with measurements.
    fn nouns(&self) -> [&'static str; 2] {
        ["record", "sample"]
    }

    /// Returns every rule of the format, by code.
    fn rules(&self) -> &'static [&'static Rule];

    /// Returns the options of a check and a repair, which the format reads through a typed view in
    /// its `options.rs`.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// Returns the options of a dump: the filters that select records, and options of a check that
    /// decide how the bytes are read. The format reads them in the same way.
    fn dump_options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// Returns the limits of the format, declared in its `limits.rs`.
    fn limits(&self) -> &'static [&'static Limit] {
        &[]
    }

    /// Returns the shape of a recording in a directory; `None` if a recording is always one file.
    fn directory(&self) -> Option<&'static dyn DirectoryShape> {
        None
    }

    /// Returns whether every recording begins with a magic, so that one that [`Format::sniff`] does
    /// not recognise is damaged.
    fn has_magic(&self) -> bool {
        false
    }

    /// Returns bytes with which recordings of the format begin, of those that have a magic.
    fn magics(&self) -> &'static [&'static [u8]] {
        &[]
    }

    /// Returns whether the records of a recording show its format although its beginning is lost.
    fn is_found_by_records(&self) -> bool {
        false
    }

    /// Returns whether [`Format::sniff`] decodes files that other formats may be sure of: it is
    /// asked after them.
    fn is_sniffed_by_trial(&self) -> bool {
        false
    }

    /// Returns the wrappers that the format's own files have, so that no user has to unpack them.
    fn containers(&self) -> &'static [Wrapper] {
        &[]
    }

    /// Returns whether a repair ends a damaged recording at its damage, since no record after it
    /// can be found: such a repair may keep little.
    fn ends_at_damage(&self) -> bool {
        false
    }

    /// Returns names that only recordings of the format have, with `*` for any text at the
    /// beginning. A file with such a name is not skipped in silence.
    fn file_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the confidence that the recording is of this format; `None` if it is not.
    fn sniff(&self, files: &FileSet<'_>, options: &Options) -> Option<Confidence>;

    /// Adds every finding with its fix, if there is one, and the counts.
    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report);

    /// Returns the edits of counts, sizes and offsets that depend on `edits` of the same round.
    ///
    /// A fix edits only its own bytes. A field that depends on several fixes is updated here, once
    /// per round. Formats without such fields return nothing.
    fn settle(&self, _files: &FileSet<'_>, _edits: &[Edit], _options: &Options) -> Vec<Edit> {
        Vec::new()
    }

    /// Returns the codes of warnings that a doubled, inserted or lost block may cause. Errors are
    /// such signs in every format; without a sign, no reading of the whole file is looked for.
    fn signs_of_reading(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the codes of faults that prove a doubled block.
    fn proofs_of_copy(&self) -> CopyProofs {
        CopyProofs::default()
    }

    /// Returns what the offsets, sizes and counts of a recording show about a reading of a whole
    /// file, such as bytes that were inserted. `report` is that of the check without one.
    fn reading_hints(&self, _files: &FileSet<'_>, _options: &Options, _report: &Report) -> Hints {
        Hints::default()
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

    /// Returns the styles of [`Format::dump`] with their purpose, the default first; empty if the
    /// format has no dump.
    fn dump_styles(&self) -> &'static [(&'static str, &'static str)] {
        &[]
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

    /// Returns the options of a comparison: those of a check that decide how the bytes are read.
    fn diff_options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// Passes the first records in which two recordings differ to `out`, as text that is safe to
    /// print.
    ///
    /// # Errors
    ///
    /// If a comparison is not possible; see [`DumpError`].
    fn diff(
        &self,
        _one: &FileSet<'_>,
        _two: &FileSet<'_>,
        _options: &Options,
        _out: &mut dyn FnMut(&str),
    ) -> Result<Diffed, DumpError> {
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

    /// Returns the codes of a check whose faults make today's readers crash, hang, run out of
    /// memory or write where they should not.
    fn hazards(&self) -> &'static [&'static str] {
        &[]
    }

    /// Passes every tile of every layer to `each`, layer by layer, in order.
    fn tile(&self, files: &FileSet<'_>, options: &Options, each: TileSink<'_>);
}

/// The shape of a recording in a directory. The core reads no directory; it is shown names.
pub trait DirectoryShape: Sync {
    /// Returns whether the directory behind `view` is a recording.
    fn is_recording(&self, view: &dyn DirectoryView) -> bool;

    /// Returns the files of the recording, in the order of the file set. `names` are the regular
    /// files and the directories below this one in the order of their paths, relative to it, with
    /// `/` between names; the name of a directory also ends with `/`.
    fn members(&self, names: &[String]) -> Vec<Member>;

    /// Returns the depth of directories to walk; 1 for the directory itself.
    fn depth(&self) -> usize;

    /// Returns the limit on the number of files.
    fn files(&self) -> &'static Limit;
}

/// The view of a directory for a [`DirectoryShape`]. Unreadable entries are left out.
pub trait DirectoryView {
    /// Returns the names in a directory below this one (empty for this one), and whether each is a
    /// directory.
    fn entries(&self, below: &str) -> Vec<(String, bool)>;

    /// Returns the first bytes of a regular file below this directory, at most `len` of them.
    fn head(&self, file: &str, len: usize) -> Vec<u8>;
}

/// A file of a recording that lies in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Path relative to the directory.
    pub name: String,
    /// The recording should have the file, but it does not exist.
    pub is_absent: bool,
}

//! The formats, one folder each, all of the same shape.
//!
//! `layout` holds facts, `rules` the codes, `decode` turns bytes into items that tile, `check` turns
//! items into findings, `repair` builds the edits that findings carry.

pub mod apitrace;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod revent;

use crate::kit::span::Span;
use crate::limits::Limit;
use crate::mend::edit::Edit;
use crate::options::{OptionSpec, Options};
use crate::recording::FileSet;
use crate::report::{Report, Rule};

/// How sure a format is that a recording is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The bytes look like it; any format with a magic goes first.
    Evidence,
    /// The file says so itself, by a magic or a name that nothing else uses.
    Certain,
}

/// What a stretch of a layer is. The tiles of a layer adjoin and cover it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileKind {
    /// Headers, tables and sections.
    Structure,
    /// A whole record.
    Record,
    /// Bytes that belong to nothing, where the format allows that.
    Padding,
    /// Bytes that should be something and are not.
    Damage,
}

/// A stretch of a layer and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Where.
    pub span: Span,
    /// What kind.
    pub kind: TileKind,
    /// The format's own name for it.
    pub name: &'static str,
}

/// What is asked of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// One of the format's styles; the first if none is named.
    pub style: Option<String>,
    /// Number of the one device whose records are wanted.
    pub device: Option<u64>,
}

/// What a dump gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dumped {
    /// Whole records.
    pub records: u64,
    /// Bytes that should be records and are none that can be shown.
    pub left_out: u64,
}

/// Why a dump gives nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DumpError {
    /// The format has no dump.
    None,
    /// The format has no such style.
    Style(String),
    /// Something has to be chosen, or there is no such thing to choose. A sentence.
    Choice(String),
    /// Nothing of the recording can be read; a check says why.
    Unreadable,
}

/// What every format offers. Nothing here fails on bad input: bad input is the product.
pub trait Format: Sync {
    /// Short name, as `--type` takes it.
    fn name(&self) -> &'static str;

    /// One line for `tracemend formats`: what is read and what can be repaired.
    fn summary(&self) -> &'static str;

    /// What a whole record, and one that carries measurements, is called.
    fn nouns(&self) -> [&'static str; 2] {
        ["record", "sample"]
    }

    /// Every rule of the format, by code.
    fn rules(&self) -> &'static [&'static Rule];

    /// The options that the format owns; it reads them through a typed view in its `options.rs`.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// The limits that the format owns, declared in its `limits.rs`.
    fn limits(&self) -> &'static [&'static Limit] {
        &[]
    }

    /// How a recording lies in a directory; `None` if a recording is always one file.
    fn directory(&self) -> Option<&'static dyn DirectoryShape> {
        None
    }

    /// Returns how sure the format is that the recording is its own; `None` if it is not.
    fn sniff(&self, files: &FileSet<'_>, options: &Options) -> Option<Confidence>;

    /// Adds every finding, with its fix where there is one, and what was counted.
    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report);

    /// What follows from `edits` of the same round: counts, sizes and offsets elsewhere in the files.
    ///
    /// A fix says only what happens to its own bytes; what several fixes together make of a field
    /// is settled here, once per round. Formats without such fields return nothing.
    fn settle(&self, _files: &FileSet<'_>, _edits: &[Edit], _options: &Options) -> Vec<Edit> {
        Vec::new()
    }

    /// The styles of [`Format::dump`], the usual one first, each with what it is good for. A format
    /// that has no dump has none.
    fn dump_styles(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Gives the records as text that is safe to print, piece by piece, until `out` returns false.
    ///
    /// # Errors
    ///
    /// Why there is nothing to give; see [`DumpError`].
    fn dump(
        &self,
        _files: &FileSet<'_>,
        _options: &Options,
        _request: &Dump,
        _out: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Dumped, DumpError> {
        Err(DumpError::None)
    }

    /// Gives every tile of every layer, layer by layer, in order.
    fn tile(&self, files: &FileSet<'_>, options: &Options, each: &mut dyn FnMut(Tile));
}

/// How a recording lies in a directory. The core reads no directory: it is shown names.
pub trait DirectoryShape: Sync {
    /// Returns whether the directory behind `view` is a recording.
    fn is_recording(&self, view: &dyn DirectoryView) -> bool;

    /// Returns the files of the recording, in the order of the file set. `names` are the regular
    /// files and the directories below this one in the order of their paths, relative to it, with `/`
    /// between names; the name of a directory also ends with `/`.
    fn members(&self, names: &[String]) -> Vec<Member>;

    /// Directories inside one another that are walked, 1 for the directory itself.
    fn depth(&self) -> usize;

    /// The limit on the number of files.
    fn files(&self) -> &'static Limit;
}

/// What a [`DirectoryShape`] may ask about a directory. Nothing that cannot be read is there.
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
    /// The recording should have it, but there is no such file.
    pub is_absent: bool,
}

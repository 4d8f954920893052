//! A recording for the library: named files of bytes. The library does no I/O.

use crate::kit::source::Source;
use crate::model::Finding;
use crate::model::arrival::Undone;

/// One file of a recording.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
pub struct File<'a> {
    /// Path relative to the recording, as bytes decoded lossily; never trusted, always escaped.
    pub name: String,
    /// The content.
    pub bytes: Source<'a>,
}

impl<'a> File<'a> {
    /// Creates a file with a name and bytes.
    pub fn new(name: impl Into<String>, bytes: impl Into<Source<'a>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}

/// The files of one recording. Most formats have one file; a perf or ovni directory has many.
#[derive(Clone, Debug, Default)]
pub struct FileSet<'a> {
    files: Vec<File<'a>>,
    donor: Option<Source<'a>>,
    unfollowed_links: Vec<String>,
    undone: Vec<Undone>,
    obstacle: Option<Finding>,
}

impl<'a> FileSet<'a> {
    /// Creates a recording of one file.
    pub fn single(name: impl Into<String>, bytes: &'a [u8]) -> Self {
        Self::new(vec![File::new(name, bytes)])
    }

    /// Creates a recording of several files. Spans refer to them by their index.
    pub const fn new(files: Vec<File<'a>>) -> Self {
        Self {
            files,
            donor: None,
            unfollowed_links: Vec::new(),
            undone: Vec::new(),
            obstacle: None,
        }
    }

    /// Adds another recording of the same program, from which a repair may take lost descriptions.
    /// It is not part of this recording and never changes.
    #[must_use]
    pub fn with_donor(mut self, donor: Option<Source<'a>>) -> Self {
        self.donor = donor;
        self
    }

    /// Returns the recording from which a repair may take lost descriptions.
    pub const fn donor(&self) -> Option<&Source<'a>> {
        self.donor.as_ref()
    }

    /// Adds the names of symbolic links that the caller did not follow, because they lead out of
    /// the recording, to a directory, or nowhere. A check reports those that the format needs.
    #[must_use]
    pub fn with_unfollowed_links(mut self, names: Vec<String>) -> Self {
        self.unfollowed_links = names;
        self
    }

    /// Returns the names of symbolic links that were not followed.
    pub fn unfollowed_links(&self) -> &[String] {
        &self.unfollowed_links
    }

    /// Adds the ways in which files were wrapped or converted, which were undone before. A check
    /// reports them, and a repair counts them as its first fixes.
    #[must_use]
    pub fn with_undone(mut self, undone: Vec<Undone>) -> Self {
        self.undone = undone;
        self
    }

    /// Returns the ways in which files were wrapped or converted, the outermost first.
    pub fn undone(&self) -> &[Undone] {
        &self.undone
    }

    /// Adds the reason why the way in which the file was packed is not undone. It is all that a
    /// check reports.
    #[must_use]
    pub fn with_obstacle(mut self, obstacle: Option<Finding>) -> Self {
        self.obstacle = obstacle;
        self
    }

    /// Returns the reason why the way in which the file was packed is not undone.
    pub const fn obstacle(&self) -> Option<&Finding> {
        self.obstacle.as_ref()
    }

    /// Returns the files in order.
    pub fn files(&self) -> &[File<'a>] {
        &self.files
    }

    /// Returns the bytes of file number `index`; empty if `index` is out of range.
    pub fn bytes(&self, index: u32) -> Source<'a> {
        let file = usize::try_from(index).ok().and_then(|index| self.files.get(index));
        file.map(|file| file.bytes.clone()).unwrap_or_default()
    }

    /// Returns the length of all files in bytes.
    pub fn len(&self) -> u64 {
        self.files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes.len()))
    }

    /// Returns whether all files are empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

//! Recordings in directories, as a format describes them.

use crate::model::limits::Limit;

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

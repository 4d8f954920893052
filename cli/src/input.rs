//! From paths to recordings.
//!
//! ```text
//!  file        one recording; a finding if it is a device, a pipe or a socket
//!  directory   one recording if a format says so by its names; else walked, in the order of names
//!  -           standard input, spooled into a file without a name
//! ```
//!
//! Nothing here waits for another process: only regular files are opened, and without blocking.

use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tracemend::{FileSet, FormatId, Options, Source, UntrustedPath};

use crate::directory;
use crate::exit::Failure;
use crate::mapped::Mapped;
use crate::skipped::SkipReason;

/// Entries of a walked directory that are looked at. A build tree has some hundred thousand; a
/// directory that grows while it is walked has no end.
pub(crate) const WALK_MAX: u64 = 10_000_000;
/// Recordings that a message names if only the directory around them was given, and entries that
/// are looked at for them: the message must not take long.
const NAMES_BELOW: usize = 3;
const LOOKED_AT_BELOW: u64 = 1_000;

/// Identity of a file, and the marks of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    len: u64,
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            changed: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// Whether both are the same file, changed or not.
    pub(crate) fn same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// One file of a recording, mapped.
#[derive(Debug)]
pub(crate) struct InputFile {
    /// Relative to the recording, decoded lossily; for show and for plans.
    name: String,
    /// `None` for a file without a name.
    pub(crate) path: Option<PathBuf>,
    /// Of the directory if the file is absent.
    pub(crate) metadata: Metadata,
    /// A name without a file, where a repair may put one.
    pub(crate) absent: bool,
    map: Mapped,
}

impl InputFile {
    fn file(&self) -> tracemend::File<'_> {
        let bytes = if self.absent { Source::absent() } else { Source::new(self.map.bytes()) };
        tracemend::File::new(self.name.clone(), bytes)
    }

    /// A name without a file.
    pub(crate) fn absent(name: &str, path: Option<PathBuf>, directory: &Metadata) -> Self {
        let (name, metadata, map) = (name.to_string(), directory.clone(), Mapped::default());
        Self { name, path, metadata, absent: true, map }
    }

    /// Whether it has this name in its recording.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether both files hold the same bytes.
    pub(crate) fn has_equal_bytes(&self, other: &Self) -> bool {
        self.map.bytes() == other.map.bytes()
    }

    /// Whether `bytes` are this file's own, unchanged.
    pub(crate) fn is_unchanged(&self, bytes: &Source<'_>) -> bool {
        let mine = self.map.bytes();
        let run = bytes.run(0);
        !self.absent
            && std::ptr::eq(run.as_ptr(), mine.as_ptr())
            && run.len() == mine.len()
            && bytes.len() == Source::new(mine).len()
    }
}

/// One recording.
#[derive(Debug)]
pub(crate) struct Recording {
    /// As given or found.
    pub(crate) path: PathBuf,
    pub(crate) directory: bool,
    pub(crate) files: Vec<InputFile>,
}

impl Recording {
    /// The recording as the library sees it.
    pub(crate) fn file_set(&self) -> FileSet<'_> {
        let files = self.files.iter();
        FileSet::new(files.map(InputFile::file).collect())
    }

    /// Returns the format that recognises the recording.
    pub(crate) fn format(&self) -> Option<FormatId> {
        tracemend::recognise(&self.file_set(), &Options::default())
    }

    /// Fails if a file is no longer the one that was read.
    pub(crate) fn unchanged(&self) -> Result<(), Failure> {
        for file in &self.files {
            let Some(path) = &file.path else { continue };
            if file.absent {
                if std::fs::symlink_metadata(path).is_ok() {
                    let error = io::Error::other("it appeared while the rest was read");
                    return Err(Failure::io(shown(path), &error));
                }
                continue;
            }
            let now = std::fs::metadata(path).map_err(|error| Failure::io(shown(path), &error))?;
            if Stamp::of(&now) != Stamp::of(&file.metadata) {
                let error = io::Error::other("it changed while it was read; nothing was written");
                return Err(Failure::io(shown(path), &error));
            }
        }
        Ok(())
    }

    /// Brings the files into the order of `names`; a name that is not listed becomes an absent
    /// file. Returns false, with the files in any order, if there are others.
    pub(crate) fn arrange<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> bool {
        let mut listed: BTreeMap<String, InputFile> =
            self.files.drain(..).map(|file| (file.name.clone(), file)).collect();
        for name in names {
            let file = match listed.remove(name) {
                Some(file) => file,
                None => {
                    let Ok(metadata) = std::fs::metadata(&self.path) else { return false };
                    InputFile::absent(name, None, &metadata)
                }
            };
            self.files.push(file);
        }
        listed.into_values().all(|file| file.absent)
    }

    /// Whether it came through standard input.
    pub(crate) fn is_stream(&self) -> bool {
        self.files.iter().any(|file| file.path.is_none() && !file.absent)
    }
}

/// The thing at a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A recording, or a file that was named and has to be one.
    Recording(Recording),
    /// Named, but neither file nor directory.
    Irregular {
        path: PathBuf,
        /// For example `a socket`.
        kind: &'static str,
    },
    /// A file of a walked directory that is not checked.
    Skipped { path: PathBuf, reason: SkipReason },
    /// A directory that has more entries than are looked at.
    TooMany {
        path: PathBuf,
        /// Entries that were looked at.
        max: u64,
    },
    /// Could not be read; the walk goes on.
    Failed { path: PathBuf, failure: Failure },
}

/// A path as it may be shown.
pub(crate) fn shown(path: &Path) -> String {
    UntrustedPath(path.as_os_str().as_bytes()).to_string()
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens the path, for the commands that work on one recording.
pub(crate) fn open(path: &Path, stdin: &mut dyn Read) -> Result<Found, Failure> {
    if is_stdin(path) {
        return spool(path, stdin).map(Found::Recording);
    }
    let failed = |error: io::Error| Failure::io(shown(path), &error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return match directory::open(path)? {
            Some(recording) => Ok(Found::Recording(recording)),
            None => Err(Failure::usage(format!(
                "{} is a directory, not a recording; {}",
                shown(path),
                below(path, stdin)
            ))),
        };
    }
    if let Some(kind) = irregular(&metadata) {
        return Ok(Found::Irregular { path: path.to_path_buf(), kind });
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    let file = open_file(path, name.to_string_lossy().into_owned()).map_err(failed)?;
    let recording = Recording { path: path.to_path_buf(), directory: false, files: vec![file] };
    Ok(Found::Recording(recording))
}

/// Names recordings below a directory that is not one itself.
fn below(path: &Path, stdin: &mut dyn Read) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut each = |found: Found| {
        if let Found::Recording(recording) = found {
            names.push(shown(&recording.path));
        }
        if names.len() < NAMES_BELOW { Ok(()) } else { Err(Failure::usage(String::new())) }
    };
    let walk = Walk { exclude: &[], every: false, max: LOOKED_AT_BELOW };
    // Any error ends the search.
    let _end = visit(path, stdin, &walk, &mut each);
    match names.is_empty() {
        true => "name a file in it".to_string(),
        false => format!("name one in it, for example {}", names.join(" or ")),
    }
}

/// How a directory is walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk<'a> {
    /// Files that are being written in the meantime.
    pub(crate) exclude: &'a [Stamp],
    /// Whether each file is taken for a recording.
    pub(crate) every: bool,
    /// Entries that are looked at.
    pub(crate) max: u64,
}

/// Whether the path is a directory that is walked: not a recording itself.
pub(crate) fn is_walked(path: &Path) -> bool {
    !is_stdin(path) && path.is_dir() && !directory::is_recording(path)
}

/// Whether the name is one that only recordings have.
fn is_claimed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    FormatId::ALL.iter().any(|format| format.claims_name(&name))
}

/// Calls `each` for everything that the path leads to, in the order of names.
pub(crate) fn visit(
    path: &Path,
    stdin: &mut dyn Read,
    how: &Walk<'_>,
    each: &mut dyn FnMut(Found) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !is_walked(path) {
        return each(open_or_fail(path, stdin));
    }
    let mut walk = walkdir::WalkDir::new(path).sort_by_file_name().into_iter();
    let mut looked_at = 0_u64;
    while let Some(entry) = walk.next() {
        looked_at += 1;
        if looked_at > how.max {
            return each(Found::TooMany { path: path.to_path_buf(), max: how.max });
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                each(describe_walk_failure(path, error))?;
                continue;
            }
        };
        let path = entry.path();
        if entry.file_type().is_dir() {
            if directory::is_recording(path) {
                walk.skip_current_dir();
                each(open_or_fail(path, stdin))?;
            }
            continue;
        }
        let skip = |reason| Found::Skipped { path: path.to_path_buf(), reason };
        if !entry.file_type().is_file() {
            let is_link = entry.file_type().is_symlink();
            each(skip(if is_link { SkipReason::Link } else { SkipReason::Special }))?;
            continue;
        }
        let found = open_or_fail(path, stdin);
        let Found::Recording(recording) = &found else {
            // The file was replaced after it was listed.
            let is_failed = matches!(found, Found::Failed { .. });
            each(if is_failed { found } else { skip(SkipReason::Special) })?;
            continue;
        };
        let mut stamps = recording.files.iter().map(|file| Stamp::of(&file.metadata));
        if stamps.any(|stamp| how.exclude.iter().any(|one| stamp.same_file(one))) {
            continue;
        }
        let is_empty = recording.file_set().is_empty();
        each(match is_empty {
            _ if how.every || is_claimed(path) => found,
            true => skip(SkipReason::Empty),
            false if recording.format().is_none() => skip(SkipReason::UnknownFormat),
            false => found,
        })?;
    }
    Ok(())
}

fn describe_walk_failure(directory: &Path, error: walkdir::Error) -> Found {
    let path = error.path().unwrap_or(directory).to_path_buf();
    let error = error.into_io_error().unwrap_or_else(|| io::Error::other("a loop"));
    let failure = Failure::io(shown(&path), &error);
    Found::Failed { path, failure }
}

fn open_or_fail(path: &Path, stdin: &mut dyn Read) -> Found {
    open(path, stdin).unwrap_or_else(|failure| Found::Failed { path: path.to_path_buf(), failure })
}

fn irregular(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    Some(match kind {
        _ if kind.is_file() || kind.is_dir() => return None,
        _ if kind.is_fifo() => "a named pipe",
        _ if kind.is_socket() => "a socket",
        _ if kind.is_char_device() => "a character device",
        _ if kind.is_block_device() => "a block device",
        _ => "not a regular file",
    })
}

/// Opens a path for reading. A pipe without a writer is opened all the same.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Opens and maps a regular file. Never waits, even if the path became a pipe since it was
/// looked at.
pub(crate) fn open_file(path: &Path, name: String) -> io::Result<InputFile> {
    let file = open_without_waiting(path)?;
    let metadata = file.metadata()?;
    if let Some(kind) = irregular(&metadata) {
        return Err(io::Error::other(format!("it became {kind}")));
    }
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let map = Mapped::new(&file)?;
    Ok(InputFile { name, path: Some(path.to_path_buf()), metadata, absent: false, map })
}

/// Maps a file that was just written, under the name that its source has.
pub(crate) fn written(file: &File, name: &str) -> io::Result<InputFile> {
    Ok(InputFile {
        name: name.to_string(),
        path: None,
        metadata: file.metadata()?,
        absent: false,
        map: Mapped::new(file)?,
    })
}

fn spool(path: &Path, stdin: &mut dyn Read) -> Result<Recording, Failure> {
    let mut spool = || -> io::Result<InputFile> {
        let mut file = tempfile::tempfile()?;
        io::copy(stdin, &mut file)?;
        file.flush()?;
        file.rewind()?;
        written(&file, "stdin")
    };
    let file = spool().map_err(|error| Failure::io("standard input", &error))?;
    Ok(Recording { path: path.to_path_buf(), directory: false, files: vec![file] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), b"PERFILE2").unwrap();
        }
        folder
    }

    #[test]
    fn a_walk_has_an_end_and_says_so() {
        let folder = folder(&["a", "b", "c"]);
        let seen = |walk_max| {
            let (mut recordings, mut stopped) = (0, None);
            let mut each = |found| {
                match found {
                    Found::Recording(_) => recordings += 1,
                    Found::TooMany { max, .. } => stopped = Some(max),
                    _ => {}
                }
                Ok(())
            };
            let walk = Walk { exclude: &[], every: false, max: walk_max };
            visit(folder.path(), &mut io::empty(), &walk, &mut each).unwrap();
            (recordings, stopped)
        };
        // The folder itself is an entry.
        assert_eq!(seen(4), (3, None));
        assert_eq!(seen(3), (2, Some(3)));
    }
}

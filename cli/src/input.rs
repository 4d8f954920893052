//! From paths to recordings.
//!
//! ```text
//!  file        one recording; a finding if it is a device, a pipe or a socket
//!  directory   one recording if it is a perf directory or an ovni trace; else walked, in the order
//!              of names
//!  -           standard input, spooled into a file without a name
//! ```
//!
//! Nothing here waits for another process: only regular files are opened, and without blocking.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tracemend::FileSet;
use tracemend::{Options, Source, UntrustedPath};

use crate::exit::Failure;
use crate::mapped::Mapped;
use crate::ovni;

/// Entries of a walked directory that are looked at. A build tree has some hundred thousand; a
/// directory that grows while it is walked has no end.
pub(crate) const WALK_MAX: u64 = 10_000_000;
/// Files of one recording: `perf record --threads` writes one a CPU.
const FILES_MAX: usize = 65_536;
/// Recordings that are named to whoever named the directory around them, and entries that are
/// looked at for them: a hint must not take long.
const NAMES_BELOW: usize = 3;
const LOOKED_AT_BELOW: u64 = 1_000;

/// What identifies a file and tells whether it changed.
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
    /// `None` for what has no name.
    pub(crate) path: Option<PathBuf>,
    /// Of a file that is not there, the directory's.
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

    /// Whether `bytes` are this file's own, unchanged.
    pub(crate) fn is(&self, bytes: &Source<'_>) -> bool {
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

    /// Brings the files into the order of `names`; a name that is not listed stands for a file that
    /// is not there. False, and in no order, if there are other files.
    pub(crate) fn arrange<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> bool {
        let mut listed: std::collections::BTreeMap<String, InputFile> =
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

/// What a path led to.
#[derive(Debug)]
pub(crate) enum Found {
    /// A recording, or a file that was named and has to be one.
    Recording(Recording),
    /// Named, but neither file nor directory.
    Irregular {
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// A directory that was not walked to its end.
    TooMany {
        path: PathBuf,
        /// Entries that were looked at.
        max: u64,
    },
    /// Could not be read; the walk goes on.
    Failed(Failure),
}

/// Files in walked directories that are not recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// All of them.
    pub(crate) files: u64,
    /// Those without a byte, which no format can recognise.
    pub(crate) empty: u64,
}

/// A path as it may be shown.
pub(crate) fn shown(path: &Path) -> String {
    UntrustedPath(path.as_os_str().as_bytes()).to_string()
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What the path names: one thing, for the commands that work on one recording.
pub(crate) fn open(path: &Path, stdin: &mut dyn Read) -> Result<Found, Failure> {
    if is_stdin(path) {
        return spool(path, stdin).map(Found::Recording);
    }
    let failed = |error: io::Error| Failure::io(shown(path), &error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        let recording = match perf_directory(path, FILES_MAX)? {
            None => ovni_directory(path)?,
            found => found,
        };
        return match recording {
            Some(recording) => Ok(Found::Recording(recording)),
            None => Err(Failure::usage(format!(
                "{} is a directory but no recording; {}",
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

/// What could be named in place of a directory that is no recording itself.
fn below(path: &Path, stdin: &mut dyn Read) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut each = |found: Found| {
        if let Found::Recording(recording) = found {
            names.push(shown(&recording.path));
        }
        if names.len() < NAMES_BELOW { Ok(()) } else { Err(Failure::usage(String::new())) }
    };
    let mut passed = Passed::default();
    // An error is the end of the search, whatever it is.
    let _end = visit(path, stdin, None, false, LOOKED_AT_BELOW, &mut passed, &mut each);
    match names.is_empty() {
        true => "name a file in it".to_string(),
        false => format!("name one in it, as {}", names.join(" or ")),
    }
}

/// Calls `each` for everything that the path leads to, in the order of names.
///
/// `exclude` is a file that is being written in the meantime; `every` takes each file of a walked
/// directory for a recording. At most `walk_max` entries are looked at.
pub(crate) fn visit(
    path: &Path,
    stdin: &mut dyn Read,
    exclude: Option<Stamp>,
    every: bool,
    walk_max: u64,
    passed: &mut Passed,
    each: &mut dyn FnMut(Found) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let is_directory = !is_stdin(path) && path.is_dir();
    if !is_directory || is_recording(path) {
        return match open(path, stdin) {
            Ok(found) => each(found),
            Err(failure) => each(Found::Failed(failure)),
        };
    }
    let mut walk = walkdir::WalkDir::new(path).sort_by_file_name().into_iter();
    let mut looked_at = 0_u64;
    while let Some(entry) = walk.next() {
        looked_at += 1;
        if looked_at > walk_max {
            return each(Found::TooMany { path: path.to_path_buf(), max: walk_max });
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let place = error.path().unwrap_or(path).to_path_buf();
                let error = error.into_io_error().unwrap_or_else(|| io::Error::other("a loop"));
                each(Found::Failed(Failure::io(shown(&place), &error)))?;
                continue;
            }
        };
        let path = entry.path();
        if entry.file_type().is_dir() {
            if is_recording(path) {
                walk.skip_current_dir();
                each(open(path, stdin).unwrap_or_else(Found::Failed))?;
            }
            continue;
        }
        if !entry.file_type().is_file() {
            passed.files += 1;
            continue;
        }
        match open(path, stdin) {
            Ok(Found::Recording(recording)) => {
                let stamps = recording.files.iter().map(|file| Stamp::of(&file.metadata));
                if exclude.is_some_and(|one| stamps.into_iter().any(|stamp| stamp.same_file(&one)))
                {
                    continue;
                }
                let files = recording.file_set();
                if every || tracemend::recognise(&files, &Options::default()).is_some() {
                    each(Found::Recording(recording))?;
                } else {
                    passed.files += 1;
                    passed.empty += u64::from(files.is_empty());
                }
            }
            // It became something else since it was listed.
            Ok(_) => passed.files += 1,
            Err(failure) => each(Found::Failed(failure))?,
        }
    }
    Ok(())
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

/// Opens and maps a regular file. Never waits, even if the path became a pipe since it was
/// looked at.
fn open_file(path: &Path, name: String) -> io::Result<InputFile> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
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

/// Whether a directory is one recording.
fn is_recording(directory: &Path) -> bool {
    perf_main_file(directory) || ovni::is_trace(directory)
}

/// An ovni trace: every file of its streams, by path, and the names of those that are missing.
fn ovni_directory(directory: &Path) -> Result<Option<Recording>, Failure> {
    if !ovni::is_trace(directory) {
        return Ok(None);
    }
    let failed = |path: &Path, error: io::Error| Failure::io(shown(path), &error);
    let listing = ovni::list(directory).map_err(|error| match error {
        ovni::ListError::Io(path, error) => failed(&path, error),
        ovni::ListError::TooMany(max) => {
            let what = format!("{}: more than {max} files or entries", shown(directory));
            Failure::new(crate::exit::Exit::Incomplete, what)
        }
    })?;
    let metadata = std::fs::metadata(directory).map_err(|error| failed(directory, error))?;
    let mut files = Vec::new();
    for entry in listing {
        let path = directory.join(&entry.path);
        let name = entry.path.to_string_lossy();
        files.push(if entry.absent {
            InputFile::absent(&name, Some(path), &metadata)
        } else {
            open_file(&path, name.into_owned()).map_err(|error| failed(&path, error))?
        });
    }
    Ok(Some(Recording { path: directory.to_path_buf(), directory: true, files }))
}

/// Whether the directory holds a regular file `data` that some format recognises: of all files of
/// a perf directory it is the one with a header.
fn perf_main_file(directory: &Path) -> bool {
    let path = directory.join("data");
    let regular = std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
    let file = if regular { open_file(&path, "data".to_string()).ok() } else { None };
    file.is_some_and(|file| {
        tracemend::recognise(&FileSet::new(vec![file.file()]), &Options::default()).is_some()
    })
}

/// A perf directory (tools/perf/util/data.c, `perf_data__open_dir`): `data` first, then every
/// regular file whose name begins with `data.`, by number and then by name.
fn perf_directory(directory: &Path, files_max: usize) -> Result<Option<Recording>, Failure> {
    if !perf_main_file(directory) {
        return Ok(None);
    }
    let failed = |error: io::Error| Failure::io(shown(directory), &error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let belongs = name == "data" || name.as_bytes().starts_with(b"data.");
        if belongs && entry.file_type().map_err(failed)?.is_file() {
            names.push(name);
        }
        if names.len() > files_max {
            let what = format!("{}: more than {files_max} files", shown(directory));
            return Err(Failure::new(crate::exit::Exit::Incomplete, what));
        }
    }
    names.sort_by_cached_key(|name| {
        let number = name.to_string_lossy().strip_prefix("data.").map(str::parse::<u64>);
        // `data` itself, then numbers, then anything else.
        let rank = match number {
            None => (0, 0),
            Some(Ok(number)) => (1, number),
            Some(Err(_)) => (2, 0),
        };
        (rank, name.clone())
    });
    let mut files = Vec::new();
    for name in names {
        let path = directory.join(&name);
        let file = open_file(&path, name.to_string_lossy().into_owned())
            .map_err(|error| Failure::io(shown(&path), &error))?;
        files.push(file);
    }
    Ok(Some(Recording { path: directory.to_path_buf(), directory: true, files }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

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
            let (mut nothing, mut passed) = (io::empty(), Passed::default());
            visit(folder.path(), &mut nothing, None, false, walk_max, &mut passed, &mut each)
                .unwrap();
            (recordings, stopped)
        };
        // The folder itself is an entry.
        assert_eq!(seen(4), (3, None));
        assert_eq!(seen(3), (2, Some(3)));
    }

    #[test]
    fn a_perf_directory_has_a_largest_number_of_files() {
        let folder = folder(&["data", "data.0", "data.1", "data.2"]);
        let whole = perf_directory(folder.path(), 4).unwrap().unwrap();
        assert_eq!(whole.files.len(), 4);
        let failure = perf_directory(folder.path(), 3).unwrap_err();
        assert_eq!(failure.exit, Exit::Incomplete);
        assert!(failure.message.ends_with(": more than 3 files"), "{}", failure.message);
    }
}

//! The files of a recording: opened without waiting for another process, and mapped.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracemend::{FileSet, Finding, FormatId, Options, Source, Undone, Watch};

use crate::files::mapped::Mapped;
use crate::files::paths::shown;
use crate::files::writer::Writer;
use crate::kit::exit::Failure;

/// Said of a file that can no longer be read to its end.
const SHRANK: &str = "it shrank, or its disk failed, while it was read";

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
    pub(crate) name: String,
    /// `None` for a file without a name.
    pub(crate) path: Option<PathBuf>,
    /// Of the directory if the file is absent.
    pub(crate) metadata: Metadata,
    /// A name without a file, where a repair may put one.
    pub(crate) absent: bool,
    /// Whether its bytes are not those of the file at its path, but what was wrapped in them.
    is_unwrapped: bool,
    /// Whether it is a file of an archive, whose path is that of the archive.
    pub(crate) is_packed: bool,
    /// Whether another program was writing it when it was opened.
    pub(crate) writer: Writer,
    map: Mapped,
    /// Counts the bytes that are read, for the progress.
    watch: Arc<Watch>,
}

impl InputFile {
    fn file(&self) -> tracemend::File<'_> {
        let bytes = if self.absent { Source::absent() } else { Source::new(self.map.bytes()) };
        let bytes = bytes.watched(&self.watch);
        tracemend::File::new(self.name.clone(), bytes)
    }

    /// A name without a file.
    pub(crate) fn absent(name: &str, path: Option<PathBuf>, directory: &Metadata) -> Self {
        let (name, metadata, map) = (name.to_string(), directory.clone(), Mapped::default());
        let (is_unwrapped, is_packed, writer) = (false, false, Writer::None);
        let watch = watch_of(&map);
        Self { name, path, metadata, absent: true, is_unwrapped, is_packed, writer, map, watch }
    }

    /// The file with this one's content as it was before it was wrapped or converted.
    pub(crate) fn arrived(&self, name: String, map: Mapped, is_packed: bool) -> Self {
        let (path, metadata) = (self.path.clone(), self.metadata.clone());
        let (absent, is_unwrapped, writer) = (false, true, self.writer);
        let watch = watch_of(&map);
        Self { name, path, metadata, absent, is_unwrapped, is_packed, writer, map, watch }
    }

    /// Whether it has this name in its recording.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name
    }

    /// Returns the path of `name`, if it is a name in the same folder. The real name of that folder
    /// may not be UTF-8.
    pub(crate) fn sibling(&self, name: &str) -> Option<PathBuf> {
        let (mine, other) = (Path::new(&self.name), Path::new(name));
        let is_beside = mine.parent() == other.parent() && !self.is_packed;
        let leaf = other.file_name().filter(|_| is_beside)?;
        Some(self.path.as_deref()?.with_file_name(leaf))
    }

    /// Whether both files hold the same bytes.
    pub(crate) fn has_equal_bytes(&self, other: &Self) -> bool {
        self.map.bytes() == other.map.bytes()
    }

    /// Why the file is no longer the one that was read. A recording that `is_being_written` may
    /// get longer, until its recorder ends and goes back to the header.
    fn find_change(&self, path: &Path, is_being_written: bool) -> io::Result<Option<&'static str>> {
        let (before, now) = (Stamp::of(&self.metadata), Stamp::of(&std::fs::metadata(path)?));
        let is_longer = || before.same_file(&now) && before.len <= now.len;
        let is_written = || -> io::Result<bool> {
            Ok(Writer::of(&open_without_waiting(path)?) == Writer::Present)
        };
        Ok(match self.writer {
            _ if before == now && !is_being_written => None,
            _ if !is_being_written || !is_longer() => Some("it changed while it was read"),
            Writer::Present if !is_written()? => {
                Some("its recorder ended while it was read: try again")
            }
            _ => None,
        })
    }

    /// Whether the map shows other bytes than the file had when it was opened. A shorter file ends
    /// in zeros up to the end of its last page.
    fn has_lost_bytes(&self) -> bool {
        let is_shorter = || {
            let now = self.path.as_ref().and_then(|path| std::fs::metadata(path).ok());
            let (before, now) = (Stamp::of(&self.metadata), now.as_ref().map(Stamp::of));
            now.is_some_and(|now| before.same_file(&now) && now.len < before.len)
        };
        self.map.has_lost_pages() || self.map.is_map() && is_shorter()
    }

    /// Whether `bytes` are this file's own, unchanged.
    pub(crate) fn is_unchanged(&self, bytes: &Source<'_>) -> bool {
        let mine = self.map.bytes();
        let first = bytes.pieces().next().unwrap_or_default();
        !self.absent
            && !self.is_unwrapped
            && std::ptr::eq(first.as_ptr(), mine.as_ptr())
            && first.len() == mine.len()
            && bytes.len() == Source::new(mine).len()
    }

    /// Counts what is read of it as bytes of `source`, of which it is the output.
    pub(crate) fn counted_as(self, source: &Recording, name: &str) -> Self {
        match source.files.iter().find(|file| file.is_named(name)) {
            Some(file) => Self { watch: Arc::clone(&file.watch), ..self },
            None => self,
        }
    }
}

/// The name of a file in a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedName<'p> {
    /// Relative to the recording.
    pub(crate) name: &'p str,
    /// The plan has no file of this name.
    pub(crate) absent: bool,
}

/// One recording.
#[derive(Debug)]
pub(crate) struct Recording {
    /// As given or found.
    pub(crate) path: PathBuf,
    pub(crate) directory: bool,
    pub(crate) files: Vec<InputFile>,
    /// Names of symbolic links that were not followed.
    pub(crate) unfollowed_links: Vec<String>,
    /// How it was wrapped or converted, if that was undone.
    pub(crate) undone: Vec<Undone>,
    /// Why a way in which it was packed is not undone.
    pub(crate) obstacle: Option<Box<Finding>>,
}

impl Recording {
    /// A recording of one file.
    pub(crate) fn of_file(path: &Path, file: InputFile) -> Self {
        let path = path.to_path_buf();
        let (files, unfollowed_links, undone) = (vec![file], Vec::new(), Vec::new());
        Self { path, directory: false, files, unfollowed_links, undone, obstacle: None }
    }

    /// A recording of some files of a directory.
    pub(crate) const fn of_directory(path: PathBuf, files: Vec<InputFile>) -> Self {
        let unfollowed_links = Vec::new();
        let undone = Vec::new();
        Self { path, directory: true, files, unfollowed_links, undone, obstacle: None }
    }

    /// The recording as the library sees it.
    pub(crate) fn file_set(&self) -> FileSet<'_> {
        let files = self.files.iter();
        FileSet::new(files.map(InputFile::file).collect())
            .with_unfollowed_links(self.unfollowed_links.clone())
            .with_undone(self.undone.clone())
            .with_obstacle(self.obstacle.as_deref().cloned())
    }

    /// Returns what counts the bytes that are read of each file.
    pub(crate) fn watches(&self) -> impl Iterator<Item = Arc<Watch>> + '_ {
        self.files.iter().filter(|file| !file.absent).map(|file| Arc::clone(&file.watch))
    }

    /// Returns the format that recognises the beginning of the recording.
    pub(crate) fn format(&self) -> Option<FormatId> {
        tracemend::sniff(&self.file_set(), &Options::default())
    }

    /// Fails if a file became shorter, or its disk failed, while it was read: what was found in it
    /// does not count.
    pub(crate) fn was_readable(&self) -> Result<(), Failure> {
        match self.files.iter().find(|file| file.has_lost_bytes()) {
            None => Ok(()),
            Some(file) => {
                let path = file.path.as_deref().unwrap_or(&self.path);
                Err(Failure::io(shown(path), &io::Error::other(SHRANK)))
            }
        }
    }

    /// Fails if a file is no longer the one that was read.
    pub(crate) fn unchanged(&self) -> Result<(), Failure> {
        self.was_readable()?;
        let is_being_written = self.files.iter().any(|file| file.writer == Writer::Present);
        for file in &self.files {
            let Some(path) = &file.path else { continue };
            if file.absent {
                if std::fs::symlink_metadata(path).is_ok() {
                    let error = io::Error::other("it appeared while the rest was read");
                    return Err(Failure::io(shown(path), &error));
                }
                continue;
            }
            let failed = |error: io::Error| Failure::io(shown(path), &error);
            if let Some(change) = file.find_change(path, is_being_written).map_err(failed)? {
                return Err(failed(io::Error::other(format!("{change}; nothing was written"))));
            }
        }
        Ok(())
    }

    /// Whether it came through standard input.
    pub(crate) fn is_stream(&self) -> bool {
        self.files.iter().any(|file| file.path.is_none() && !file.absent)
    }
}

pub(crate) fn irregular(metadata: &Metadata) -> Option<&'static str> {
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

/// Opens and maps a regular file, and looks whether it is being written. Does not wait for another
/// program, even if the path became a pipe since it was looked at.
pub(crate) fn open_file(path: &Path, name: String) -> io::Result<InputFile> {
    open_member(path, name, false)
}

/// Opens and maps a file of a recording. If it `is_known` that another file of the recording is
/// being written, this one is not looked at.
pub(crate) fn open_member(path: &Path, name: String, is_known: bool) -> io::Result<InputFile> {
    let file = open_without_waiting(path)?;
    let metadata = file.metadata()?;
    if let Some(kind) = irregular(&metadata) {
        return Err(io::Error::other(format!("it became {kind}")));
    }
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    // Before the bytes are read: what is written from now on shows in the time of change.
    let writer = if is_known { Writer::Unknown } else { Writer::of(&file) };
    let map = Mapped::new(&file)?;
    let (absent, is_unwrapped, is_packed) = (false, false, false);
    let (path, watch) = (Some(path.to_path_buf()), watch_of(&map));
    Ok(InputFile { name, path, metadata, absent, is_unwrapped, is_packed, writer, map, watch })
}

/// Maps a file that was just written, under the name that its source has.
pub(crate) fn written(file: &File, name: &str) -> io::Result<InputFile> {
    let map = Mapped::new(file)?;
    Ok(InputFile {
        name: name.to_string(),
        path: None,
        metadata: file.metadata()?,
        absent: false,
        is_unwrapped: false,
        is_packed: false,
        writer: Writer::None,
        watch: watch_of(&map),
        map,
    })
}

fn watch_of(map: &Mapped) -> Arc<Watch> {
    Arc::new(Watch::new(Source::new(map.bytes()).len()))
}

//! Texts that are written piece by piece and published at the end: reports and plans.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::files::access::Readers;
use crate::files::found;
use crate::files::input;
use crate::files::output::staged::StagedFile;
use crate::files::paths::resolve;
use crate::files::paths::shown;
use crate::files::recording::Stamp;
use crate::kit::exit::Failure;

/// Bytes that are gathered before they are written.
const BUFFER: usize = 64 << 10;

/// A text that is written piece by piece and published at the end.
#[derive(Debug)]
pub(crate) struct TextFile {
    path: PathBuf,
    replace: bool,
    readers: Readers,
    buffer: Vec<u8>,
    out: Out,
}

#[derive(Debug)]
enum Out {
    Complete(StagedFile),
    /// A pipe or device that is there already: nothing could be renamed to it.
    Direct(File),
}

impl TextFile {
    /// Prepares the text at `path`, for its `readers`. Refuses to replace a recording or, without
    /// `replace`, anything.
    pub(crate) fn create(path: &Path, replace: bool, readers: Readers) -> Result<Self, Failure> {
        let path = resolve(path)?;
        let failed = |error: io::Error| Failure::io(shown(&path), &error);
        let buffer = Vec::with_capacity(BUFFER);
        if let Ok(metadata) = fs::metadata(&path) {
            if !metadata.is_file() && !metadata.is_dir() {
                let file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
                let out = Out::Direct(file);
                return Ok(Self { path, replace, readers, buffer, out });
            }
            if metadata.is_dir() || is_recording(&path) {
                let what = if metadata.is_dir() { "a directory" } else { "a recording" };
                let message = format!("{} is {what} and is not replaced by a text", shown(&path));
                return Err(Failure::usage(message));
            }
            if !replace {
                let message = format!("{} exists; --force replaces it", shown(&path));
                return Err(Failure::usage(message));
            }
        }
        let out = Out::Complete(StagedFile::create(&path, 0o600).map_err(failed)?);
        Ok(Self { path, replace, readers, buffer, out })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Restricts the readers to those of a further source.
    pub(crate) fn restrict(&mut self, readers: Readers) {
        self.readers = self.readers.and(readers);
    }

    /// Identifies the file, which a walk must not read.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        match &self.out {
            Out::Complete(staged) => staged.file().metadata().ok().map(|m| Stamp::of(&m)),
            Out::Direct(_) => None,
        }
    }

    /// Appends `text`.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.buffer.extend_from_slice(text.as_bytes());
        if self.buffer.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let file = match &mut self.out {
            Out::Complete(staged) => staged.file_mut(),
            Out::Direct(file) => file,
        };
        let written = file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| Failure::io(shown(&self.path), &error))
    }

    /// Gives the text its name.
    pub(crate) fn publish(mut self) -> Result<(), Failure> {
        self.flush()?;
        let failed = |error: io::Error| Failure::io(shown(&self.path), &error);
        let Out::Complete(staged) = self.out else { return Ok(()) };
        self.readers.admit(staged.file(), 0o666).map_err(failed)?;
        staged.file().sync_all().map_err(failed)?;
        let folder = staged.persist(&self.path, self.replace).map_err(failed)?;
        folder.sync().map_err(failed)
    }
}

/// Whether a format recognises the file.
fn is_recording(path: &Path) -> bool {
    let found = input::open_path(path);
    let Ok(found::Found::Recording(recording)) = found else { return false };
    recording.format().is_some()
}

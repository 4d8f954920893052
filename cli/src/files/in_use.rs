//! Whether another program is still writing a recording.
//!
//! ```text
//!  open      a lease: the kernel refuses it while somebody has the file open for writing
//!  changed   the length or the time of change, before and after the work
//! ```
//!
//! A lease needs Linux, a local file system, and a file of one's own (or the right CAP_LEASE).
//! Everywhere else only the second sign is left.

use std::io;
use std::path::Path;

use crate::files::paths::shown;
use crate::files::recording::{Recording, Stamp, open_without_waiting};
use crate::files::writer::Writer;
use crate::kit::exit::{Exit, Failure};

/// A sign that a recording is still being written, as a sentence that begins with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BeingWritten(String);

impl BeingWritten {
    /// Looks at the recording as it was opened.
    pub(crate) fn at_open(recording: &Recording) -> Option<Self> {
        let mut files = recording.files.iter();
        let file = files.find(|file| file.writer == Writer::Present)?;
        let path = shown(file.path.as_deref().unwrap_or(&recording.path));
        Some(Self(format!("{path} is open for writing in another program")))
    }

    /// Looks at the recording as it was opened, and as it is now.
    pub(crate) fn by_now(recording: &Recording) -> Option<Self> {
        Self::at_open(recording).or_else(|| recording.files.iter().find_map(Self::by_change))
    }

    fn by_change(file: &crate::files::recording::InputFile) -> Option<Self> {
        let path = file.path.as_deref().filter(|_| !file.absent)?;
        let (before, now) = (&file.metadata, std::fs::metadata(path).ok()?);
        let stamps = [Stamp::of(before), Stamp::of(&now)];
        let [one, other] = &stamps;
        // A file that another one has replaced is not being written.
        if one == other || !one.same_file(other) {
            return None;
        }
        let path = shown(path);
        Some(Self(match (before.len(), now.len()) {
            (before, now) if before == now => format!("{path} was modified while it was read"),
            (before, now) => {
                format!("the length of {path} went from {before} to {now} while it was read")
            }
        }))
    }

    /// The sentence.
    pub(crate) fn sentence(&self) -> &str {
        &self.0
    }

    /// The warning of a command that works on what is there.
    pub(crate) fn warning(&self) -> String {
        format!("{}: it is still being written, and only the bytes so far are read", self.0)
    }
}

/// Fails if the source of an in-place repair is still being written.
pub(crate) fn refuse_in_place(recording: &Recording) -> Result<(), Failure> {
    BeingWritten::at_open(recording).map_or(Ok(()), |sign| Err(refuse(&sign.0, &recording.path)))
}

/// Fails if the file at `path`, which is about to be replaced, is open for writing.
pub(crate) fn refuse_replacement(path: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::io(shown(path), &error);
    let file = open_without_waiting(path).map_err(failed)?;
    match Writer::of(&file) {
        Writer::Present => {
            let sign = format!("{} is open for writing in another program", shown(path));
            Err(refuse(&sign, path))
        }
        Writer::None | Writer::Unknown => Ok(()),
    }
}

fn refuse(sign: &str, path: &Path) -> Failure {
    let path = crate::kit::command::quote(path);
    let message = format!(
        "{sign}: it is still being written, and --in-place would replace it under its recorder; \
         nothing was written; wait until the recorder has ended, then: tracemend check {path} \
         (-o OUT repairs a copy of the bytes so far)"
    );
    Failure::new(Exit::Unrepaired, message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::files::recording::open_file;

    fn file() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, b"some bytes").unwrap();
        (folder, path)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_writer_is_seen_as_long_as_it_has_the_file_open() {
        let (_folder, path) = file();
        let writer_of = || Writer::of(&open_without_waiting(&path).unwrap());
        assert_eq!(writer_of(), Writer::None);
        let writers = [
            OpenOptions::new().append(true).open(&path).unwrap(),
            OpenOptions::new().read(true).write(true).open(&path).unwrap(),
        ];
        assert_eq!(writer_of(), Writer::Present);
        assert_eq!(refuse_replacement(&path).unwrap_err().exit, Exit::Unrepaired);
        drop(writers);
        let _reader = open_without_waiting(&path).unwrap();
        assert_eq!(writer_of(), Writer::None);
        refuse_replacement(&path).unwrap();
    }

    #[test]
    fn a_file_that_changed_since_it_was_opened_is_being_written() {
        let (_folder, path) = file();
        let open = || Recording::of_file(&path, open_file(&path, String::new()).unwrap());
        let recording = open();
        assert_eq!(BeingWritten::by_now(&recording), None);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
        let sign = BeingWritten::by_now(&recording).unwrap();
        assert!(sign.sentence().contains(" went from 10 to 14 while "), "{sign:?}");
        // Another file of this name is not.
        let recording = open();
        let other = path.with_extension("new");
        fs::write(&other, b"another").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(BeingWritten::by_now(&recording), None);
    }

    #[test]
    fn programs_that_open_the_file_meanwhile_succeed_and_end_nothing() {
        let (_folder, path) = file();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    OpenOptions::new().append(true).open(&path).unwrap();
                }
                is_over.store(true, Ordering::SeqCst);
            });
            let reader = open_without_waiting(&path).unwrap();
            while !is_over.load(Ordering::SeqCst) {
                let _any = Writer::of(&reader);
            }
        });
        let expected = if cfg!(target_os = "linux") { Writer::None } else { Writer::Unknown };
        assert_eq!(Writer::of(&open_without_waiting(&path).unwrap()), expected);
    }
}

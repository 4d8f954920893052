//! The thing at a path.

use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

use crate::files::directory;
use crate::files::paths::shown;
use crate::files::recording::{Recording, irregular, open_file};
use crate::files::skipped::SkipReason;
use crate::kit::exit::{Exit, Failure};

/// Said of a recording at which the program failed.
const PANICKED: &str = "tracemend failed at it, which is a fault of tracemend and not of the \
                        recording: please report it, with the message above";

/// The advice for a directory that holds no recording.
pub(crate) const NAME_A_FILE: &str = "name a file in it";

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

/// Does the work on what is at a path. A panic, which is a fault of this program, costs that
/// recording only.
pub(crate) fn guarded<T>(path: &Path, work: impl FnOnce() -> T) -> Result<T, Found> {
    // What the work shares with others are counters and queues, which a panic leaves whole.
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let failure = Failure::new(Exit::Io, format!("{}: {PANICKED}", shown(path)));
        Found::Failed { path: path.to_path_buf(), failure }
    })
}

/// Opens a path that is not standard input. `hint` names something instead of a directory that
/// is not a recording.
pub(crate) fn open_path(path: &Path, hint: impl FnOnce(&Path) -> String) -> Result<Found, Failure> {
    let failed = |error: io::Error| Failure::io(shown(path), &error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return match directory::open(path)? {
            Some(recording) => Ok(Found::Recording(recording)),
            None => Err(Failure::usage(format!(
                "{} is a directory, not a recording; {}",
                shown(path),
                hint(path)
            ))),
        };
    }
    if let Some(kind) = irregular(&metadata) {
        return Ok(Found::Irregular { path: path.to_path_buf(), kind });
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    let file = open_file(path, name.to_string_lossy().into_owned()).map_err(failed)?;
    let recording = Recording::of_file(path, file);
    Ok(Found::Recording(recording))
}

/// Opens a path of a walk.
pub(crate) fn open_or_fail(path: &Path) -> Found {
    let found = open_path(path, |_| NAME_A_FILE.to_string());
    found.unwrap_or_else(|failure| Found::Failed { path: path.to_path_buf(), failure })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_costs_one_recording_and_is_said_to_be_a_fault_of_the_program() {
        let path = Path::new("a\u{1b}.data");
        assert!(matches!(guarded(path, || 7), Ok(7)));
        let found = guarded(path, || assert_eq!(1, 2, "on purpose"));
        let Err(Found::Failed { path: failed, failure }) = found else { panic!("{found:?}") };
        assert_eq!((failed.as_path(), failure.exit), (path, Exit::Io));
        let said = "a\\x1b.data: tracemend failed at it, which is a fault of tracemend";
        assert!(failure.message.starts_with(said), "{}", failure.message);
    }
}

//! The thing at a path.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::directory;
use crate::files::paths::shown;
use crate::files::recording::{Recording, irregular, open_file};
use crate::files::skipped::SkipReason;
use crate::kit::exit::Failure;

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

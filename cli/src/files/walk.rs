//! From paths to the files that they lead to.
//!
//! ```text
//!  Steps  one thread    the names of a directory, in their order
//!  Step   any thread    opens a name: a recording, or the reason why it is none
//! ```

use std::path::{Path, PathBuf};

use tracemend::FormatId;

use crate::files::arrival::Arrival;
use crate::files::directory;
use crate::files::found;
use crate::files::found::Found;
use crate::files::neighbours::Neighbours;
use crate::files::paths::{is_stdin, shown};
use crate::files::recording::Stamp;
use crate::files::skipped::SkipReason;
use crate::kit::exit::Failure;

/// Entries of a walked directory that are looked at. A build tree has some hundred thousand; a
/// directory that grows while it is walked has no end.
pub(crate) const WALK_MAX: u64 = 10_000_000;

/// How the entries of a directory are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk<'a> {
    /// Files that are being written in the meantime.
    pub(crate) exclude: &'a [Stamp],
    /// Whether each file is taken for a recording.
    pub(crate) every: bool,
    /// The folders by which a file should be a recording.
    pub(crate) neighbours: &'a Neighbours,
    /// How recordings are read that were wrapped or converted.
    pub(crate) arrival: Arrival<'a>,
}

/// Something that is looked at.
#[derive(Debug)]
pub(crate) enum Step {
    /// A path that was named, and has to be a recording.
    Named(PathBuf),
    /// A directory in a walked one that is a recording.
    Directory(PathBuf),
    /// A file in a walked directory.
    File(PathBuf),
    /// Nothing to open.
    Found(Found),
}

impl Step {
    /// Whether it was named instead of found.
    pub(crate) const fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }

    /// Returns its path; `None` for the end of a walk that is too long.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Named(path) | Self::Directory(path) | Self::File(path) => Some(path),
            Self::Found(Found::Skipped { path, .. } | Found::Failed { path, .. }) => Some(path),
            Self::Found(_) => None,
        }
    }

    /// Opens it. `None` is a file that the run writes itself.
    pub(crate) fn open(self, how: &Walk<'_>) -> Option<Found> {
        match self {
            Self::Named(path) | Self::Directory(path) => {
                Some(arrived(found::open_or_fail(&path), how))
            }
            Self::Found(found) => Some(arrived(found, how)),
            Self::File(path) => open_file(&path, how),
        }
    }
}

/// Returns a recording as its recorder wrote it.
fn arrived(found: Found, how: &Walk<'_>) -> Found {
    let Found::Recording(recording) = found else { return found };
    let path = recording.path.clone();
    let arrived = how.arrival.of(recording);
    arrived.map_or_else(|failure| Found::Failed { path, failure }, Found::Recording)
}

/// Opens a file in a walked directory, and looks whether it is a recording.
fn open_file(path: &Path, how: &Walk<'_>) -> Option<Found> {
    let skip = |reason| Found::Skipped { path: path.to_path_buf(), reason };
    let found = arrived(found::open_or_fail(path), how);
    let Found::Recording(recording) = &found else {
        // The file was replaced after it was listed.
        let is_failed = matches!(found, Found::Failed { .. });
        return Some(if is_failed { found } else { skip(SkipReason::Special) });
    };
    let mut stamps = recording.files.iter().map(|file| Stamp::of(&file.metadata));
    if stamps.any(|stamp| how.exclude.iter().any(|one| stamp.same_file(one))) {
        return None;
    }
    let reason = match recording.file_set().is_empty() {
        _ if how.every || is_claimed(path) || recording.obstacle.is_some() => return Some(found),
        true => SkipReason::Empty,
        false if recording.format().is_none() => SkipReason::UnknownFormat,
        false => return Some(found),
    };
    Some(if how.neighbours.expect(path, reason) { found } else { skip(reason) })
}

/// Whether the name is one that only recordings have.
fn is_claimed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    FormatId::ALL.iter().any(|format| format.claims_name(&name))
}

/// Whether the path is a directory that is walked: not a recording itself.
pub(crate) fn is_walked(path: &Path) -> bool {
    !is_stdin(path) && path.is_dir() && !directory::is_recording(path)
}

/// The entries of a directory and of those in it.
pub(crate) struct Steps {
    directory: PathBuf,
    walk: walkdir::IntoIter,
    looked_at: u64,
    max: u64,
    is_over: bool,
}

impl Steps {
    /// Steps for at most `max` entries.
    pub(crate) fn of(directory: &Path, max: u64) -> Self {
        let walk = walkdir::WalkDir::new(directory).sort_by_file_name().into_iter();
        Self { directory: directory.to_path_buf(), walk, looked_at: 0, max, is_over: false }
    }

    fn describe_failure(&self, error: walkdir::Error) -> Found {
        let path = error.path().unwrap_or(&self.directory).to_path_buf();
        let error = error.into_io_error().unwrap_or_else(|| std::io::Error::other("a loop"));
        let failure = Failure::io(shown(&path), &error);
        Found::Failed { path, failure }
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            let entry = self.walk.next().filter(|_| !self.is_over)?;
            self.looked_at += 1;
            if self.looked_at > self.max {
                self.is_over = true;
                let path = self.directory.clone();
                return Some(Step::Found(Found::TooMany { path, max: self.max }));
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return Some(Step::Found(self.describe_failure(error))),
            };
            let (kind, path) = (entry.file_type(), entry.path());
            if kind.is_dir() {
                if directory::is_recording(path) {
                    self.walk.skip_current_dir();
                    return Some(Step::Directory(entry.into_path()));
                }
                continue;
            }
            let skip = |reason| Step::Found(Found::Skipped { path: path.to_path_buf(), reason });
            return Some(match kind {
                _ if kind.is_file() => Step::File(entry.into_path()),
                _ if kind.is_symlink() => skip(SkipReason::Link),
                _ => skip(SkipReason::Special),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::arrival::Spool;

    #[test]
    fn a_walk_has_an_end_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), b"PERFILE2").unwrap();
        }
        let (neighbours, spool) = (Neighbours::default(), Spool::default());
        let arrival = Arrival { options: None, spool: &spool };
        let walk = Walk { exclude: &[], every: false, neighbours: &neighbours, arrival };
        let seen = |max| {
            let (mut recordings, mut stopped) = (0, None);
            for step in Steps::of(folder.path(), max) {
                match step.open(&walk) {
                    Some(Found::Recording(_)) => recordings += 1,
                    Some(Found::TooMany { max, .. }) => stopped = Some(max),
                    _ => {}
                }
            }
            (recordings, stopped)
        };
        // The folder itself is an entry.
        assert_eq!(seen(4), (3, None));
        assert_eq!(seen(3), (2, Some(3)));
    }
}

//! Files that are not checked: why, how many, and which.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::paths::shown;
use crate::kit::exit::Failure;

/// Skipped files whose paths are kept, for each reason. JSON lists them.
const SKIPPED_HELD: usize = 65_536;

/// Why a file of a walked directory is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SkipReason {
    UnknownFormat,
    Empty,
    Link,
    /// A device, a pipe or a socket.
    Special,
    /// An output of an earlier repair, or the source that it replaced.
    OfRepair,
}

impl SkipReason {
    /// All of them, in the order of the totals.
    pub(crate) const ALL: [Self; 5] =
        [Self::UnknownFormat, Self::Empty, Self::Link, Self::Special, Self::OfRepair];

    /// Returns the words of the totals.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::UnknownFormat => "unknown format",
            Self::Empty => "empty",
            Self::Link => "symbolic link",
            Self::Special => "special file",
            Self::OfRepair => "of an earlier repair",
        }
    }

    /// Returns the word of the JSON output.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::UnknownFormat => "unknown-format",
            Self::Empty => "empty",
            Self::Link => "link",
            Self::Special => "special-file",
            Self::OfRepair => "of-repair",
        }
    }
}

/// Files in walked directories that are not recordings, and paths that could not be read: how many,
/// and the first ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    reasons: BTreeMap<SkipReason, (u64, Vec<String>)>,
    /// Paths that could not be read, each with the reason.
    unread: (u64, Vec<(String, String)>),
}

impl Skipped {
    /// Counts the file at `path`.
    pub(crate) fn add(&mut self, reason: SkipReason, path: &Path) {
        let (count, paths) = self.reasons.entry(reason).or_default();
        *count += 1;
        if paths.len() < SKIPPED_HELD {
            paths.push(shown(path));
        }
    }

    /// Counts files that another run skipped and did not list.
    pub(crate) fn add_more(&mut self, reason: SkipReason, more: u64) {
        if more > 0 {
            let (count, _) = self.reasons.entry(reason).or_default();
            *count = count.saturating_add(more);
        }
    }

    /// Counts a path that could not be read.
    pub(crate) fn add_unread(&mut self, path: &Path, failure: &Failure) {
        let (count, paths) = &mut self.unread;
        *count += 1;
        if paths.len() < SKIPPED_HELD {
            let path = shown(path);
            let message = failure.message.strip_prefix(&format!("{path}: "));
            paths.push((path, message.unwrap_or(&failure.message).to_string()));
        }
    }

    /// Returns how many files were skipped.
    pub(crate) fn count(&self) -> u64 {
        self.reasons.values().fold(0, |sum, (count, _)| sum + count)
    }

    /// Returns how many files were skipped for one reason, and the paths of the first, escaped.
    pub(crate) fn of(&self, reason: SkipReason) -> (u64, &[String]) {
        self.reasons.get(&reason).map_or((0, &[]), |(count, paths)| (*count, paths))
    }

    /// Returns how many paths could not be read, and the first of them, escaped, with the reason.
    pub(crate) fn unread(&self) -> (u64, &[(String, String)]) {
        (self.unread.0, &self.unread.1)
    }
}

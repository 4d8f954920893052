//! Files that should be recordings, judged by the recordings in the same folder.
//!
//! A recorder that is killed at once, or a full disk, leaves an empty file among its other
//! recordings: `run-7.log` beside `run-1.log` and `run-2.log`, `b.trace` beside `a.trace`. A copy
//! that was encoded on its way (base64, gzip, UTF-8) is not recognised, but keeps its name.
//!
//! ```text
//!  run-7.log   run-1.log is a recording: the names differ in numbers only
//!  b.trace     a.trace is a recording: an ending that few other files have
//!  b.data      a.data is a recording: expected if it is empty, since other programs use it, too
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files::found;
use crate::files::found::Found;
use crate::files::skipped::SkipReason;

/// Files of one pattern that are opened to find a recording, the first by name. If none of so many
/// is a recording, the name shows nothing.
const OPENED_MAX: usize = 64;
/// Patterns whose answers are kept. Beyond this number they are looked up again.
const KNOWN_MAX: usize = 65_536;
/// Endings that files of any kind have: an empty `stderr.log` beside a log of QEMU is not one.
const COMMON_ENDINGS: [&str; 14] = [
    "bin", "csv", "dat", "err", "html", "json", "log", "md", "out", "svg", "tmp", "txt", "xml",
    "yaml",
];
/// Endings that files with bytes have for other reasons: data of other programs, archives of any
/// files, and earlier or later versions.
const OTHER_ENDINGS: [&str; 22] = [
    "7z", "bak", "br", "bz2", "copy", "data", "db", "dump", "gz", "lz4", "new", "old", "orig",
    "part", "raw", "save", "tar", "tgz", "txz", "xz", "zip", "zst",
];

/// A folder, and a pattern of the names in it.
type Pattern = (PathBuf, String);

/// The folders of a run, as far as skipped files asked for them. The answer depends on the folder
/// alone, so that it is the same in every shard and on every thread.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    /// Whether a recording has a name of the pattern.
    known: Mutex<BTreeMap<Pattern, bool>>,
}

impl Neighbours {
    /// Returns whether a file that is skipped for this reason should be a recording.
    pub(crate) fn expect(&self, path: &Path, reason: SkipReason) -> bool {
        patterns_of(path, reason).into_iter().any(|pattern| self.has_recording(pattern))
    }

    fn has_recording(&self, pattern: Pattern) -> bool {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = known().get(&pattern).copied();
        earlier.unwrap_or_else(|| {
            let found = find_recording(&pattern);
            let mut known = known();
            if known.len() < KNOWN_MAX {
                known.insert(pattern, found);
            }
            found
        })
    }
}

/// Opens files of the pattern until one is a recording.
fn find_recording(pattern: &Pattern) -> bool {
    let folder = if pattern.0.as_os_str().is_empty() { Path::new(".") } else { &pattern.0 };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut first = BTreeSet::new();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        let path = pattern.0.join(entry.file_name());
        if patterns_of(&path, SkipReason::Empty).contains(pattern) {
            first.insert(path);
        }
        if first.len() > OPENED_MAX {
            first.pop_last();
        }
    }
    let is_recording = |path: &PathBuf| {
        let found = found::open_or_fail(path);
        matches!(found, Found::Recording(recording) if recording.format().is_some())
    };
    first.iter().any(is_recording)
}

/// The name with `#` for each number, if it has one, and `*` with its ending if few other files
/// that are skipped for this reason have it.
fn patterns_of(path: &Path, reason: SkipReason) -> Vec<Pattern> {
    if !matches!(reason, SkipReason::Empty | SkipReason::UnknownFormat) {
        return Vec::new();
    }
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut pattern = String::new();
    for letter in name.chars() {
        match letter {
            '0'..='9' if pattern.ends_with('#') => {}
            '0'..='9' => pattern.push('#'),
            other => pattern.push(other),
        }
    }
    let mut patterns = Vec::new();
    if pattern.contains('#') {
        patterns.push((folder.clone(), pattern));
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
    let is_telling = |ending: &String| {
        let others: &[&str] = if reason == SkipReason::Empty { &[] } else { &OTHER_ENDINGS };
        // `perf.data.1` and `perf.data.2` are names with numbers.
        let is_number = ending.bytes().all(|byte| byte.is_ascii_digit());
        !is_number && !COMMON_ENDINGS.iter().chain(others).any(|one| one == ending)
    };
    if let Some(ending) = ending.filter(is_telling) {
        patterns.push((folder, format!("*.{ending}")));
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names among `skipped` that should be recordings beside `recordings`.
    fn expected<'n>(recordings: &[&str], skipped: &[&'n str], reason: SkipReason) -> Vec<&'n str> {
        let patterns = |name: &str| patterns_of(Path::new(name), SkipReason::Empty);
        let patterns: Vec<Pattern> = recordings.iter().flat_map(|name| patterns(name)).collect();
        let is_expected = |name: &&&str| {
            patterns_of(Path::new(name), reason).iter().any(|one| patterns.contains(one))
        };
        skipped.iter().filter(is_expected).copied().collect()
    }

    #[test]
    fn an_empty_file_is_expected_to_be_what_its_neighbours_are() {
        let recordings = ["a/run-1.log", "a/app.trace", "b/x.data"];
        let empty = [
            "a/run-12.log",
            "a/stderr.log",
            "a/other.trace",
            "b/other.trace",
            "b/run-2.log",
            "b/y.data",
            "a/empty",
        ];
        let found = expected(&recordings, &empty, SkipReason::Empty);
        assert_eq!(found, ["a/run-12.log", "a/other.trace", "b/y.data"]);
    }

    #[test]
    fn a_file_of_no_format_is_expected_by_its_numbers_or_a_telling_ending() {
        let recordings =
            ["perf.data", "perf.data.1", "a.trace", "boot-1.bin", "c.replay", "old.trace.gz"];
        let unknown = ["perf.data.22", "b.trace", "boot-02.bin", "d.replay"];
        assert_eq!(expected(&recordings, &unknown, SkipReason::UnknownFormat), unknown);
        let ordinary = [
            "README",
            "Makefile",
            "other.data",
            "perf.data.gz",
            "perf.data.txt",
            "perf.data.old.txt",
            "traces.tar.gz",
            "a.trace.gz",
            "a.trace.txt",
            "notes1.txt",
            "kernel.bin",
            "boot.bin",
            "stderr.log",
            "flame.svg",
            "report.json",
            "script.py",
        ];
        assert_eq!(expected(&recordings, &ordinary, SkipReason::UnknownFormat), [""; 0]);
        assert_eq!(expected(&recordings, &["b.trace"], SkipReason::Link), [""; 0]);
    }
}

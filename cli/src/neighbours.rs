//! Empty files that should be recordings, judged by the recordings in the same folder.
//!
//! A recorder that is killed at once, or a full disk, leaves an empty file among its other
//! recordings: `run-7.log` beside `run-1.log` and `run-2.log`, `b.trace` beside `a.trace`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Empty files that wait for the end of a walk. Beyond this number they are skipped.
const WAITING_MAX: usize = 65_536;
/// Endings that files of any kind have: an empty `stderr.log` beside a log of QEMU is not one.
const COMMON_ENDINGS: [&str; 10] =
    ["bin", "csv", "dat", "err", "json", "log", "out", "tmp", "txt", "xml"];

/// Recordings and empty files of one walk.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    /// Patterns of the names of recordings, by folder.
    patterns: BTreeSet<(PathBuf, String)>,
    waiting: Vec<PathBuf>,
}

impl Neighbours {
    /// Adds a file that is a recording.
    pub(crate) fn add_recording(&mut self, path: &Path) {
        self.patterns.extend(patterns_of(path));
    }

    /// Keeps an empty file until the end of the walk; false if there are too many.
    pub(crate) fn add_empty(&mut self, path: &Path) -> bool {
        let has_room = self.waiting.len() < WAITING_MAX;
        if has_room {
            self.waiting.push(path.to_path_buf());
        }
        has_room
    }

    /// Ends the walk: the empty files, each with whether it should be a recording.
    pub(crate) fn finish(self) -> Vec<(PathBuf, bool)> {
        let Self { patterns, waiting } = self;
        let judge = |path: PathBuf| {
            let is_expected = patterns_of(&path).iter().any(|one| patterns.contains(one));
            (path, is_expected)
        };
        waiting.into_iter().map(judge).collect()
    }
}

/// The name with `#` for each number, and `*` with its ending if few other files have it.
fn patterns_of(path: &Path) -> Vec<(PathBuf, String)> {
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
    let mut patterns = vec![(folder.clone(), pattern)];
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
    if let Some(ending) = ending.filter(|ending| !COMMON_ENDINGS.contains(&ending.as_str())) {
        patterns.push((folder, format!("*.{ending}")));
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_expected_to_be_what_its_neighbours_are() {
        let mut neighbours = Neighbours::default();
        for name in ["a/run-1.log", "a/app.trace", "b/x.data"] {
            neighbours.add_recording(Path::new(name));
        }
        let cases = [
            ("a/run-12.log", true),
            ("a/stderr.log", false),
            ("a/other.trace", true),
            ("b/other.trace", false),
            ("b/run-2.log", false),
            ("a/empty", false),
        ];
        for (name, _) in cases {
            assert!(neighbours.add_empty(Path::new(name)));
        }
        let judged = neighbours.finish();
        assert_eq!(judged, cases.map(|(name, expected)| (PathBuf::from(name), expected)));
    }
}

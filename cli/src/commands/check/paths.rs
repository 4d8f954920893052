//! The paths of a check: those of the command line, of `--files-from`, and of patterns.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use tracemend::words::{byte_count, plural};

use crate::files::directory;
use crate::files::paths::{is_stdin, shown};
use crate::files::streams::Streams;
use crate::files::walk::WALK_MAX;
use crate::kit::exit::{Exit, Failure};

/// Bytes of a list of paths: ten million paths of a hundred bytes.
const LIST_MAX: u64 = 1 << 30;

/// Paths in the order in which they are checked.
#[derive(Debug)]
pub(super) struct Paths(Vec<PathBuf>);

impl Paths {
    /// Returns the paths with each file of a directory that is one recording replaced by that
    /// directory, which is checked as a whole, once. Other tools pass such files one by one.
    pub(super) fn with_whole_recordings(self, streams: &mut Streams<'_>) -> Self {
        let mut seen = BTreeSet::new();
        let mut paths = Vec::new();
        for path in self.0 {
            let Some(whole) = directory::recording_around(&path) else {
                paths.push(path);
                continue;
            };
            if seen.insert(whole.clone()) {
                let (file, name) = (shown(&path), shown(&whole));
                streams.warn(&format!("{file} is part of {name}, which is checked as a whole"));
                paths.push(whole);
            }
        }
        // The directory may have been named as well.
        let mut kept = BTreeSet::new();
        paths.retain(|path| !seen.contains(path) || kept.insert(path.clone()));
        Self(paths)
    }

    /// Gathers the paths that are `named` and those in the file `list`.
    pub(super) fn gather(
        named: &[PathBuf],
        list: Option<&Path>,
        streams: &mut Streams<'_>,
    ) -> Result<Self, Failure> {
        let mut paths = Vec::new();
        for path in named {
            expand(path, &mut paths)?;
        }
        if let Some(list) = list {
            if is_stdin(list) && named.iter().any(|path| is_stdin(path)) {
                let message = "standard input cannot be a recording and the list of --files-from";
                return Err(Failure::usage(message));
            }
            paths.extend(read(list, streams.input.stream)?);
        }
        if paths.is_empty() {
            return Err(Failure::usage("the list of --files-from names no path"));
        }
        Ok(Self(paths))
    }

    pub(super) fn as_slice(&self) -> &[PathBuf] {
        &self.0
    }
}

/// The paths in a list: one per line, or separated by NUL if it has one.
fn read(list: &Path, stdin: &mut dyn Read) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: io::Error| Failure::io(shown(list), &error);
    let mut bytes = Vec::new();
    let length = if is_stdin(list) {
        stdin.take(LIST_MAX + 1).read_to_end(&mut bytes)
    } else {
        File::open(list).and_then(|file| file.take(LIST_MAX + 1).read_to_end(&mut bytes))
    };
    if u64::try_from(length.map_err(failed)?).unwrap_or(u64::MAX) > LIST_MAX {
        let message = format!("{}: longer than {}", shown(list), byte_count(LIST_MAX));
        return Err(Failure::new(Exit::Incomplete, message));
    }
    let separator = if bytes.contains(&0) { 0 } else { b'\n' };
    let names = bytes.split(|byte| *byte == separator).filter(|name| !name.is_empty());
    Ok(names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec()))).collect())
}

/// Adds the path, or what a pattern with `*`, `?` or `[` matches if no file has this name. A
/// pattern without a match stays, and is reported as a file that does not exist.
fn expand(path: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let is_pattern = |part: &[u8]| part.iter().any(|byte| b"*?[{".contains(byte));
    let text = path.to_str().filter(|text| is_pattern(text.as_bytes()));
    let Some(text) = text.filter(|_| std::fs::symlink_metadata(path).is_err()) else {
        paths.push(path.to_path_buf());
        return Ok(());
    };
    let Ok(glob) = GlobBuilder::new(text).literal_separator(true).build() else {
        // Not a pattern, so it is the name of a file that does not exist.
        paths.push(path.to_path_buf());
        return Ok(());
    };
    let glob = glob.compile_matcher();
    let is_plain = |part: &std::path::Component<'_>| !is_pattern(part.as_os_str().as_bytes());
    let base: PathBuf = path.components().take_while(is_plain).collect();
    let base = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
    let before = paths.len();
    let mut walk = walkdir::WalkDir::new(&base).min_depth(1).sort_by_file_name().into_iter();
    let mut looked_at = 0_u64;
    while let Some(entry) = walk.next() {
        looked_at += 1;
        if looked_at > WALK_MAX {
            let message = format!("{}: more than {}", shown(path), plural(WALK_MAX, "entry"));
            return Err(Failure::new(Exit::Incomplete, message));
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                // What cannot be listed is reported like a directory that cannot be walked.
                paths.extend(error.path().map(Path::to_path_buf));
                continue;
            }
        };
        let found = entry.path();
        let found = found.strip_prefix(".").unwrap_or(found).to_path_buf();
        if glob.is_match(&found) {
            if entry.file_type().is_dir() {
                walk.skip_current_dir();
            }
            paths.push(found);
        }
    }
    if paths.len() == before {
        paths.push(path.to_path_buf());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_lines_or_nuls() {
        let list = |bytes: &[u8]| {
            let paths = read(Path::new("-"), &mut io::Cursor::new(bytes.to_vec())).unwrap();
            paths.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(list(b"a b\nc\n\n"), ["a b", "c"]);
        assert_eq!(list(b"a\nb\0c\0"), ["a\nb", "c"]);
        assert_eq!(list(b""), [""; 0]);
    }

    #[test]
    fn a_pattern_matches_files_and_directories_that_it_does_not_enter_again() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/x.data", "a/y.data", "b/x.data", "b/c/x.data", "b/[x]"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"").unwrap();
        }
        let found = |pattern: &str| {
            let mut paths = Vec::new();
            expand(&folder.path().join(pattern), &mut paths).unwrap();
            let names = paths.iter().map(|path| path.strip_prefix(folder.path()).unwrap());
            names.map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("*/x.data"), ["a/x.data", "b/x.data"]);
        assert_eq!(found("**/x.data"), ["a/x.data", "b/c/x.data", "b/x.data"]);
        assert_eq!(found("b*"), ["b"]);
        assert_eq!(found("b/[x]"), ["b/[x]"], "a file of this name exists");
        assert_eq!(found("c*"), ["c*"], "nothing matches");
    }
}

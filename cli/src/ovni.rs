//! Which directories are ovni traces, and what files of one are looked at.
//!
//! ```text
//!  a trace   holds loom.*/proc.*, or proc.* or thread.* with streams, or is a stream itself
//!  its files stream.json, stream.obs, thread.N.json, thread.N.obs, metadata.json at any depth,
//!            clock-offsets.txt in the root
//! ```
//!
//! The tools find streams by `stream.json` alone; where one of a stream's two files is missing its
//! name is listed too, so that a check can say so and a repair can put it there. Symbolic links are
//! not followed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Entries of a directory that are looked at to tell whether it is a trace.
const LOOKED_AT: usize = 65_536;
/// Entries of a trace.
const ENTRIES_MAX: usize = 1_000_000;
/// Files of a trace: the kernel maps some 65,000 at a time, and a trace has two a thread.
const FILES_MAX: usize = 60_000;
/// Directories inside each other; libovni nests three.
const DEPTH_MAX: usize = 16;

/// A file of a trace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Relative to the trace.
    pub(crate) path: PathBuf,
    /// It is missing.
    pub(crate) absent: bool,
}

/// Why a trace could not be listed.
#[derive(Debug)]
pub(crate) enum ListError {
    /// A directory could not be read.
    Io(PathBuf, io::Error),
    /// More than this many entries or files.
    TooMany(usize),
}

/// What a name in a trace stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Json,
    Obs,
    Old,
    Process,
    Other,
}

fn name(leaf: &str) -> Name {
    let stem = leaf.strip_suffix(".obs").or_else(|| leaf.strip_suffix(".json"));
    match leaf {
        "stream.json" => Name::Json,
        "stream.obs" => Name::Obs,
        "metadata.json" => Name::Process,
        _ if stem.is_some_and(is_thread) => Name::Old,
        _ => Name::Other,
    }
}

/// `thread.12`.
fn is_thread(name: &str) -> bool {
    let number = name.strip_prefix("thread.").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Names of a directory and whether each is a directory; nothing if it cannot be read.
fn entries(directory: &Path) -> Vec<(String, bool)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let entries = entries.take(LOOKED_AT).filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().to_str()?.to_string();
        Some((name, entry.file_type().ok()?.is_dir()))
    });
    entries.collect()
}

/// Whether a directory is the root of a trace, or a part of one that can be looked at by itself.
pub(crate) fn is_trace(directory: &Path) -> bool {
    entries(directory).iter().any(|(entry, is_directory)| {
        let inside = || entries(&directory.join(entry));
        let numbered = |name: &str, prefix: &str| {
            name.strip_prefix(prefix).is_some_and(|number| number.parse::<u32>().is_ok())
        };
        match is_directory {
            false => matches!(name(entry), Name::Json | Name::Obs | Name::Old),
            true if entry.starts_with("loom.") => {
                let inside = inside();
                inside.is_empty() || inside.iter().any(|(name, _)| numbered(name, "proc."))
            }
            true if numbered(entry, "proc.") => inside().iter().any(|(entry, is_directory)| {
                if *is_directory { is_thread(entry) } else { name(entry) == Name::Old }
            }),
            true if is_thread(entry) => {
                inside().iter().any(|(entry, _)| matches!(name(entry), Name::Json | Name::Obs))
            }
            true => false,
        }
    })
}

/// The files of a trace in the order of their paths.
pub(crate) fn list(directory: &Path) -> Result<Vec<Entry>, ListError> {
    let walk = walkdir::WalkDir::new(directory).min_depth(1).max_depth(DEPTH_MAX);
    let mut files: BTreeMap<PathBuf, bool> = BTreeMap::new();
    let mut streams: BTreeMap<PathBuf, (bool, bool)> = BTreeMap::new();
    let mut old: BTreeMap<PathBuf, (bool, bool)> = BTreeMap::new();
    for (count, entry) in walk.into_iter().enumerate() {
        if count > ENTRIES_MAX || files.len() > FILES_MAX {
            return Err(ListError::TooMany(if count > ENTRIES_MAX {
                ENTRIES_MAX
            } else {
                FILES_MAX
            }));
        }
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(directory).to_path_buf();
            ListError::Io(path, error.into_io_error().unwrap_or_else(|| io::Error::other("a loop")))
        })?;
        let Ok(path) = entry.path().strip_prefix(directory) else { continue };
        let leaf = entry.file_name().to_str().unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        if entry.file_type().is_dir() {
            if is_thread(leaf) {
                streams.entry(path.to_path_buf()).or_default();
            }
            continue;
        }
        if !entry.file_type().is_file() {
            // A link is not followed, and nothing is put in its place.
            match name(leaf) {
                Name::Json => streams.entry(folder).or_default().0 = true,
                Name::Obs => streams.entry(folder).or_default().1 = true,
                _ => {}
            }
            continue;
        }
        match name(leaf) {
            Name::Json => streams.entry(folder).or_default().0 = true,
            Name::Obs => streams.entry(folder).or_default().1 = true,
            Name::Old => {
                let (stem, kind) = leaf.rsplit_once('.').unwrap_or((leaf, ""));
                let old = old.entry(folder.join(stem)).or_default();
                old.0 |= kind == "json";
                old.1 |= kind == "obs";
            }
            Name::Process => {}
            Name::Other if leaf == "clock-offsets.txt" && folder.as_os_str().is_empty() => {}
            Name::Other => continue,
        }
        files.insert(path.to_path_buf(), false);
    }
    for (folder, (json, obs)) in old {
        if obs && !json && !streams.contains_key(&folder) {
            // Where an upgrade puts the metadata.
            files.insert(folder.join("stream.json"), true);
        }
    }
    for (folder, (json, obs)) in streams {
        if !json {
            files.insert(folder.join("stream.json"), true);
        }
        if !obs {
            files.insert(folder.join("stream.obs"), true);
        }
    }
    if files.is_empty() {
        // Looms without a stream: the trace is one all the same.
        files.insert(PathBuf::from("stream.obs"), true);
    }
    if files.len() > FILES_MAX {
        return Err(ListError::TooMany(FILES_MAX));
    }
    Ok(files.into_iter().map(|(path, absent)| Entry { path, absent }).collect())
}

//! The bytes below some paths, for the progress over them.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Entries of the named directories that are looked at. A walk that is larger has no time that is
/// left.
const ENTRIES_MAX: usize = 200_000;

/// Returns the bytes below these paths, or `None` if one of them cannot be summed up quickly.
pub(crate) fn sum_bytes(paths: &[PathBuf]) -> Option<u64> {
    let mut sum = 0_u64;
    let mut entries = 0_usize;
    for path in paths {
        let one = |path: &Path| std::fs::metadata(path).ok();
        let metadata = one(path)?;
        if !metadata.is_dir() {
            sum = sum.saturating_add(metadata.len());
            continue;
        }
        for entry in walkdir::WalkDir::new(path) {
            entries += 1;
            if entries > ENTRIES_MAX {
                return None;
            }
            let metadata = entry.ok().and_then(|entry| entry.metadata().ok());
            let file = metadata.filter(Metadata::is_file);
            sum = sum.saturating_add(file.map_or(0, |file| file.len()));
        }
    }
    Some(sum)
}

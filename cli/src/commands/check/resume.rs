//! `--resume REPORT`: recordings that an earlier report covers are not checked again. `--checksums`
//! compares their bytes instead of the times of their files.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use tracemend::{FileSet, Report};

use super::merge::Gathered;
use crate::files::paths::shown;
use crate::files::recording::Recording;
use crate::kit::exit::Failure;

/// An earlier report.
#[derive(Debug)]
pub(super) struct Earlier {
    gathered: Gathered,
    /// When it was written.
    written: SystemTime,
}

impl Earlier {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::io(shown(path), &error);
        let written =
            fs::metadata(path).and_then(|metadata| metadata.modified()).map_err(failed)?;
        let mut gathered = Gathered::default();
        gathered.read(path, false)?;
        Ok(Self { gathered, written })
    }

    /// Returns what the report has about a recording of the same path and length: if there is a
    /// checksum, one with the same checksum, else one no file of which changed after the report was
    /// written.
    pub(super) fn find(
        &self,
        recording: &Recording,
        crc32: Option<u32>,
    ) -> Option<(Report, FileSet<'static>)> {
        let entry = self.gathered.recordings.get(&recording.path)?;
        let is_older = || {
            let mut files = recording.files.iter();
            files.all(|file| file.metadata.modified().is_ok_and(|time| time < self.written))
        };
        let is_unchanged = if crc32.is_some() { entry.crc32 == crc32 } else { is_older() };
        let is_same = is_unchanged && recording.file_set().len() == entry.length;
        // An entry that cannot be read is as good as none.
        entry.reread().ok().filter(|_| is_same)
    }
}

/// Returns the CRC-32 of the names, lengths and bytes of all files.
pub(super) fn checksum(files: &FileSet<'_>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for file in files.files() {
        hasher.update(file.name.as_bytes());
        hasher.update(&[0, u8::from(file.bytes.is_absent())]);
        hasher.update(&file.bytes.len().to_le_bytes());
        file.bytes.pieces().for_each(|piece| hasher.update(piece));
    }
    hasher.finalize()
}

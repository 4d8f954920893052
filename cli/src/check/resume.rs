//! `--resume REPORT`: recordings that an earlier report covers are not checked again.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use tracemend::{FileSet, Report};

use super::merge::Gathered;
use crate::exit::Failure;
use crate::input::{Recording, shown};

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

    /// Returns what the report has about a recording of the same path and length, no file of which
    /// changed after the report was written.
    pub(super) fn find(&self, recording: &Recording) -> Option<(Report, FileSet<'static>)> {
        let entry = self.gathered.recordings.get(&recording.path)?;
        let is_older = recording
            .files
            .iter()
            .all(|file| file.metadata.modified().is_ok_and(|modified| modified < self.written));
        let is_same = is_older && recording.file_set().len() == entry.length;
        // An entry that cannot be read is as good as none.
        entry.reread().ok().filter(|_| is_same)
    }
}

//! A log as it was read: the header, and the readings that are left of the race.

use crate::formats::qemu::decode::header::{Header, VersionEvidence};
use crate::formats::qemu::layout::{Layouts, VERSION_LEN};
use crate::formats::qemu::recover::lane::Lane;
use crate::formats::qemu::recover::race::{self, Race};
use crate::kit::cursor::ReadError;
use crate::kit::source::Source;
use crate::model::limits::Limits;

/// A log with a complete header.
#[derive(Debug)]
pub struct Log<'a> {
    /// The header.
    pub header: Header,
    /// The layouts that the log may have, each with its reading.
    pub race: Race<'a>,
}

/// The reading of a log that a check judges.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The layouts that are left: the one that the user chose, those of the version that the
    /// bytes lead to, or all that the bytes do not exclude.
    pub layouts: Layouts,
    /// The lane that stands for them.
    pub lane: Lane<'a>,
}

impl<'a> Log<'a> {
    /// Reads a log to its end.
    ///
    /// # Errors
    ///
    /// The source is shorter than a header.
    pub fn read(source: &'a Source<'a>, limits: &Limits) -> Result<Self, ReadError> {
        let header = Header::read(source)?;
        let race = race::run(source, header.version.layouts(), u64::MAX, limits);
        Ok(Self { header, race })
    }

    /// Returns the layouts that are left: those of the version that the bytes lead to, or all that
    /// the bytes do not exclude.
    pub fn layouts(&self) -> Layouts {
        let fits = self.race.layouts();
        self.that_end(VersionEvidence::find(self.header, fits).map_or(fits, |(_, found)| found))
    }

    /// Returns those of some layouts that explain the last bytes, or all if none does: damage may
    /// end the reading before the events decide, and leave the end of the file alone.
    pub fn that_end(&self, layouts: Layouts) -> Layouts {
        let Some(first) = self.race.best.first() else { return layouts };
        let source = first.decoder().source();
        layouts.that_end_with(&source.read(source.len().saturating_sub(VERSION_LEN), source.len()))
    }

    /// Takes the reading of some of the layouts that are left: their lanes read the log alike, so
    /// one stands for all.
    pub fn into_reading(self, layouts: Layouts) -> Option<Reading<'a>> {
        let layouts = self.that_end(layouts);
        let has = |lane: &Lane<'_>| layouts.iter().any(|(number, _)| lane.layouts.contains(number));
        let lane = self.race.best.into_iter().find(has)?;
        Some(Reading { layouts, lane })
    }
}

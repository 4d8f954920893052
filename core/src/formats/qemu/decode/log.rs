//! A log as it was read: the header, and the readings that are left of the race.

use crate::formats::qemu::decode::header::Header;
use crate::formats::qemu::decode::lane::Lane;
use crate::formats::qemu::decode::race::{self, Race};
use crate::formats::qemu::layout::{Layouts, VERSION_LEN};
use crate::kit::cursor::ReadError;
use crate::kit::source::Source;
use crate::limits::Limits;

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
    /// The lane. The lanes that are left read the log alike, so one stands for all.
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

    /// Takes the reading of some of the layouts that are left, for which one lane stands.
    pub fn into_reading(self, layouts: Layouts) -> Option<Reading<'a>> {
        // Damage may end the reading before the events decide, and leave the end of the file alone.
        let source = self.race.best.first()?.decoder().source();
        let end = source.read(source.len().saturating_sub(VERSION_LEN), source.len());
        let layouts = layouts.that_end_with(&end);
        let has = |lane: &Lane<'_>| layouts.iter().any(|(number, _)| lane.layouts.contains(number));
        let lane = self.race.best.into_iter().find(has)?;
        Some(Reading { layouts, lane })
    }
}

//! Recordings of a metronome, which exist only here: the format of the tutorial
//! `docs/adding-a-format.md`.
//!
//! ```text
//!  0  magic TICK
//!  4  u16 number of records
//!  6  records: u8 length of the body, body, u8 checksum of the body
//!     body: u32 time in milliseconds, then a name
//! ```
//!
//! Numbers are little-endian. The recorder writes the number of records when it ends: if it is
//! killed, the number is 0, and the last record may be truncated.

mod check;
mod decode;
mod layout;
mod repair;
mod rules;

use tracemend::catalogue::added;
use tracemend::format::{Confidence, Format};
use tracemend::kit::walk::Item;
use tracemend::model::description::Description;
use tracemend::model::tile::{NO_FIELDS, TileSink};
use tracemend::{Edit, FileSet, FormatId, Options, Report, Tile, TileKind};

use decode::Recording;

/// The declarations of the format about itself.
static DESCRIPTION: Description = Description {
    name: "tick",
    summary: "metronome recordings: repairs what a killed recorder leaves, drops damaged records",
    rules: || rules::RULES,
    ..Description::EMPTY
};

/// The format.
#[derive(Debug)]
pub struct Tick;

impl Tick {
    /// Returns the format for [`Options::with_format`]. A format of the library is a constant of
    /// [`FormatId`].
    pub fn id() -> FormatId {
        added::add(&Self)
    }
}

impl Format for Tick {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        let has_magic = *files.bytes(0).read(0, 4) == *layout::MAGIC;
        has_magic.then_some(Confidence::Certain)
    }

    fn check(&self, files: &FileSet<'_>, _options: &Options, report: &mut Report) {
        check::check(&Recording::read(&files.bytes(0)), report);
    }

    fn settle(&self, files: &FileSet<'_>, edits: &[Edit], _options: &Options) -> Vec<Edit> {
        repair::settle(&Recording::read(&files.bytes(0)), edits)
    }

    fn tile(&self, files: &FileSet<'_>, _options: &Options, each: TileSink<'_>) {
        let recording = Recording::read(&files.bytes(0));
        let header = Tile { span: recording.header, kind: TileKind::Structure, name: "header" };
        each(header, NO_FIELDS);
        for item in recording.walk() {
            let tile = match item {
                Item::Record(record) => {
                    Tile { span: record.span, kind: TileKind::Record, name: "record" }
                }
                Item::Damage(damage) => {
                    Tile { span: damage.span, kind: TileKind::Damage, name: "record" }
                }
            };
            each(tile, NO_FIELDS);
        }
    }
}

//! Record/replay logs of QEMU.
//!
//! ```text
//!  0    version u32               written last: 0 until the recorder finishes
//!  4    8 unused bytes
//!  12   events: u8 id, payload    without length field, sync mark or alignment; big-endian
//!       ...
//!       SHUTDOWN+HOST_SIGNAL      since 5.1
//!       END
//! ```
//!
//! The events are the inputs that a guest does not determine by itself, and the number of
//! instructions between them. The meaning of an id changes from release to release, and not always
//! with the version word, so several layouts may fit a log ([`recover::race`]).
//!
//! Sources: the user's document (qemu-replay-log.txt, of 2018), which lacks RANDOM and BH_ONESHOT
//! and gives every asynchronous event a checkpoint; the enums of QEMU's releases 2.5.0 to 8.2.0;
//! and logs of 5.2.0, 7.2.22, 10.0 and 11.1.3. Where they disagree, the logs win.

mod audit;
pub mod check;
pub mod decode;
mod dump;
pub mod layout;
pub mod limits;
pub mod options;
pub mod recover;
pub mod repair;
pub mod rules;

use crate::format::{Confidence, Format};
use crate::formats::qemu::recover::inserted::find as find_inserted;
use crate::formats::qemu::recover::log::Log;
use crate::formats::qemu::recover::sniff::recognise_log;
use crate::formats::qemu::recover::tile::{emit, tile};
use crate::kit::reading::{CopyProofs, Hints};
use crate::kit::span::{Layer, Span};
use crate::model::Report;
use crate::model::description::{
    Clock, ClockUnit, DamageSigns, Description, FormatOptions, FormatSigns, Recorder,
};
use crate::model::difference::{Comparison, Hidden};
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::{NO_FIELDS, TileKind, TileSink};
use crate::sight::Auditor;

/// The instructions of the guest before an event: every event has them, but few a host's clock.
static CLOCK: Clock =
    Clock { readings: &[&[("icount", 1)]], unit: ClockUnit::Instructions, ..Clock::NONE };

/// The members of a dump that a comparison treats in their own way.
static COMPARISON: Comparison = Comparison {
    derived: &["number", "icount"],
    volatile: &["clock"],
    noun: "event",
    titles: ["clock that differs", "other event that differs"],
    // The layouts of two releases differ in the version word and in the ids of events.
    hidden: Hidden::AfterRecords,
    ..Comparison::EXACT
};

/// The declarations of the format about itself.
pub static DESCRIPTION: Description = Description {
    name: "qemu",
    summary: "QEMU record/replay logs of 2.5 to 11.1 in every layout; repairs logs of killed \
              recorders, full disks and truncated copies, and closes damaged ones before the \
              damage",
    nouns: ["event", "instruction"],
    recorder: Recorder {
        name: "QEMU",
        counts_samples: false,
        ends_at_damage: true,
        clock: &CLOCK,
        comparison: &COMPARISON,
    },
    rules: rules::all,
    limits: limits::LIMITS,
    options: FormatOptions {
        check: options::OPTIONS,
        view: &[],
        dump: options::DUMP,
        diff: options::DIFF,
        cut: &[],
        styles: dump::STYLES,
    },
    signs: FormatSigns {
        // The first three of the four bytes of a version.
        beginnings: &[b"\x00\xe0\x20"],
        file_names: &["replay.bin"],
        ..Description::EMPTY.signs
    },
    damage: DamageSigns {
        ends_recording: true,
        signs_of_reading: &[
            "QR1004", "QR1005", "QR3002", "QR3004", "QR3005", "QR3006", "QR3007", "QR3008",
            "QR3012", "QR3015", "QR3016",
        ],
        proofs_of_copy: CopyProofs { returns: &["QR3002", "QR3009"], sizes: &[] },
    },
    hazards: audit::HAZARDS,
};

/// Record/replay logs of QEMU.
#[derive(Debug)]
pub struct Qemu;

/// The format, as the catalogue lists it.
pub static QEMU: Qemu = Qemu;

impl Format for Qemu {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn sniff(&self, files: &FileSet<'_>, options: &Options) -> Option<Confidence> {
        recognise_log(&files.bytes(0), &options.limits)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check(files, options, report);
    }

    fn audit(&self, files: &FileSet<'_>, options: &Options, auditor: &mut Auditor<'_>) {
        audit::audit(&|each| self.tile(files, options, each), &files.bytes(0), options, auditor);
    }

    fn reading_hints(&self, files: &FileSet<'_>, options: &Options, _report: &Report) -> Hints {
        let source = files.bytes(0);
        let Ok(log) = Log::read(&source, &options.limits) else { return Hints::default() };
        let layouts = log.layouts();
        let Some(reading) = log.into_reading(layouts) else { return Hints::default() };
        let damage = reading.lane.defects.irregular;
        let found = damage.map(|damage| find_inserted(reading.lane.decoder(), damage));
        Hints { readings: found.unwrap_or_default(), ..Hints::default() }
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: TileSink<'_>) {
        for (index, file) in (0..).zip(files.files()) {
            if index > 0 {
                // A log is one file.
                let span = Span::new(Layer::stored(index), 0, file.bytes.len());
                emit(each, span, (TileKind::Damage, "file"), NO_FIELDS);
            } else {
                tile(&file.bytes, &options.limits, each);
            }
        }
    }

    fn dump(
        &self,
        files: &FileSet<'_>,
        options: &Options,
        request: &Dump,
        out: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Dumped, DumpError> {
        dump::dump(files, options, request, out)
    }
}

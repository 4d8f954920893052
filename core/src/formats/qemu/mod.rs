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
//! with the version word, so several layouts may fit a log ([`decode::race`]).
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
pub mod repair;
pub mod rules;

use crate::audit::Auditor;
use crate::formats::qemu::decode::inserted::find as find_inserted;
use crate::formats::qemu::decode::log::Log;
use crate::formats::qemu::decode::sniff::recognise_log;
use crate::formats::qemu::decode::tile::{emit, tile};
use crate::formats::{
    Confidence, Diffed, Dump, DumpError, Dumped, Format, NO_FIELDS, TileKind, TileSink,
};
use crate::kit::reading::{CopyProofs, Hints};
use crate::kit::span::{Layer, Span};
use crate::limits::Limit;
use crate::options::{OptionSpec, Options};
use crate::recording::FileSet;
use crate::report::{Report, Rule};

/// Record/replay logs of QEMU.
#[derive(Debug)]
pub struct Qemu;

/// The format, as the registry lists it.
pub static QEMU: Qemu = Qemu;

impl Format for Qemu {
    fn name(&self) -> &'static str {
        "qemu"
    }

    fn summary(&self) -> &'static str {
        "QEMU record/replay logs of 2.5 to 11.1 in every layout; repairs logs of killed recorders, \
         full disks and truncated copies, and closes damaged ones before the damage"
    }

    fn nouns(&self) -> [&'static str; 2] {
        ["event", "instruction"]
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::all()
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn dump_options(&self) -> &'static [OptionSpec] {
        options::DUMP
    }

    fn diff_options(&self) -> &'static [OptionSpec] {
        options::DIFF
    }

    fn diff(
        &self,
        one: &FileSet<'_>,
        two: &FileSet<'_>,
        options: &Options,
        out: &mut dyn FnMut(&str),
    ) -> Result<Diffed, DumpError> {
        dump::diff(one, two, options, out)
    }

    fn ends_at_damage(&self) -> bool {
        true
    }

    fn limits(&self) -> &'static [&'static Limit] {
        limits::LIMITS
    }

    fn file_names(&self) -> &'static [&'static str] {
        &["replay.bin"]
    }

    fn sniff(&self, files: &FileSet<'_>, options: &Options) -> Option<Confidence> {
        recognise_log(&files.bytes(0), &options.limits)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check(files, options, report);
    }

    fn audit(&self, files: &FileSet<'_>, options: &Options, auditor: &mut Auditor<'_>) {
        audit::audit(self, &files.bytes(0), options, auditor);
    }

    fn signs_of_reading(&self) -> &'static [&'static str] {
        &[
            "QR1004", "QR1005", "QR3002", "QR3004", "QR3005", "QR3006", "QR3007", "QR3008",
            "QR3012", "QR3015", "QR3016",
        ]
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

    fn proofs_of_copy(&self) -> CopyProofs {
        CopyProofs { returns: &["QR3002", "QR3009"], sizes: &[] }
    }

    fn hazards(&self) -> &'static [&'static str] {
        audit::HAZARDS
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

    fn dump_styles(&self) -> &'static [(&'static str, &'static str)] {
        dump::STYLES
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

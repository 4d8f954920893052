//! Workload Automation's `revent` recordings of input events.
//!
//! ```text
//!  0   magic REVENT, u16 version                        version 1, 2016-07
//!  8   u16 mode, 6 bytes of padding                     version 2, 2016-10, and 3
//!  16  mode 0: u32 number of devices, per device u32 length and path without a NUL
//!      mode 1: 4 u16 of an id, u32 length and name, ev_bits (4 bytes), abs_bits, rel_bits,
//!              key_bits (96 bytes each), u32 number of axes, per axis 7 i32:
//!              code, value, minimum, maximum, fuzz, flat, resolution
//!      u64 number of events                             version 2 and 3
//!      u64 start sec, start usec, end sec, end usec     version 3, 2017-09
//!      events: u16 device, i64 sec, i64 usec, u16 type, u16 code, i32 value
//!      (the recorder's own release of the return key, 52 bytes, not counted)
//! ```
//!
//! Everything is little-endian and unaligned. Older layouts differ in all sizes:
//!
//! | | written | header | devices | event |
//! |---|---|---|---|---|
//! | P20 | to 2015-03, 32-bit | none | i32 | 20: i32 device, i32 sec, i32 usec, u16, u16, i32 |
//! | P28 | to 2015-03, 64-bit | none | u64 | 28: i32 device, i64 sec, i64 usec, u16, u16, i32 |
//! | P24 | to 2016-07, 32-bit | none | i32 | 24: as P20 with u32 0xdeadbeef after the device |
//! | P32 | to 2016-07, 64-bit | none | i32 | 32: as P28 with u32 0xdeadbeef after the device |
//! | v1 | to 2016-10 | 8 bytes | i32 | 32: as P32 |
//!
//! These layouts do not count their events: events go to the end of the file, and the release of
//! the return key is one of them. Times count from 1970; in version 3 they count from boot.
//!
//! A recorder that is killed leaves full buffers of 4096 bytes (after the 16 bytes of the header),
//! a count of 0, uninitialised memory as start and end, and a truncated event.
//!
//! Sources: the published description of the format (revent-recordings.rst), the recorder's C
//! source (`revent.c` of Workload Automation, through its history), its Python reader
//! (`wa/utils/revent.py`), and recordings by published builds of the recorder. Where description
//! and recorder disagree, the recorder wins, because it made the files: the description calls
//! version 2 current, has start and end in every version, orders the bitmaps ev, key, rel, abs (as
//! the Python reader does), gives an axis six values instead of seven, and calls values unsigned.

mod audit;
mod check;
pub mod decode;
mod dump;
pub mod layout;
pub mod limits;
pub mod options;
pub mod recover;
mod repair;
pub mod rules;

use crate::format::{Confidence, Format};
use crate::formats::revent::recover::displaced;
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::recover::zero_pages::find_zero_pages;
use crate::kit::reading::{CopyProofs, Displacement, Hints};
use crate::model::Report;
use crate::model::description::{
    Clock, DamageSigns, Description, FormatOptions, FormatSigns, Recorder,
};
use crate::model::difference::Comparison;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::TileSink;
use crate::sight::Auditor;

/// The time of an event, and its device.
static CLOCK: Clock = Clock {
    readings: &[&[("sec", 1_000_000_000), ("usec", 1_000)]],
    rows: &[("device_name", ""), ("device", "device")],
    names: &["code_name", "type_name"],
    ..Clock::NONE
};

/// The members of a dump that a comparison treats in their own way.
static COMPARISON: Comparison = Comparison {
    kind: &["type", "code"],
    derived: &["type_name", "code_name", "device_name"],
    volatile: &["sec", "usec"],
    noun: "event",
    titles: ["event that differs in its time only", "event that differs"],
    ..Comparison::EXACT
};

/// The declarations of the format about itself.
pub static DESCRIPTION: Description = Description {
    name: "revent",
    summary: "Workload Automation input recordings, seven layouts and gamepads; repairs recordings \
              of a killed recorder, a lost device or a 32-bit recorder, and truncated copies; \
              --upgrade converts to version 3",
    nouns: ["event", "frame"],
    recorder: Recorder {
        name: "revent",
        counts_samples: false,
        ends_at_damage: false,
        clock: &CLOCK,
        comparison: &COMPARISON,
    },
    rules: rules::all,
    limits: limits::LIMITS,
    options: FormatOptions {
        check: options::OPTIONS,
        dump: options::DUMP,
        styles: dump::STYLES,
        ..Description::EMPTY.options
    },
    signs: FormatSigns {
        magics: &[layout::MAGIC],
        file_names: &["*.revent"],
        ..Description::EMPTY.signs
    },
    damage: DamageSigns {
        signs_of_reading: &["RV1005", "RV2004", "RV2011", "RV3001", "RV3002", "RV3004", "RV3006"],
        proofs_of_copy: CopyProofs { returns: &["RV3001"], sizes: &["RV1003", "RV1005"] },
        ..Description::EMPTY.damage
    },
    hazards: audit::HAZARDS,
};

/// The format.
#[derive(Debug)]
pub struct Revent;

/// The one value of [`Revent`].
pub static REVENT: Revent = Revent;

impl Format for Revent {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn sniff(&self, files: &FileSet<'_>, options: &Options) -> Option<Confidence> {
        let source = files.bytes(0);
        if decode::head::has_magic(&source) {
            return Some(Confidence::Certain);
        }
        let evidence = recover::evidence::detect_layout_without_magic(&source, &options.limits);
        evidence.map(|_| Confidence::Evidence)
    }

    fn may_hold_records(&self, files: &FileSet<'_>, options: &Options) -> bool {
        recover::lost_head::shows_events(&files.bytes(0), &options.limits)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check(files, options, report);
    }

    fn reading_hints(&self, files: &FileSet<'_>, options: &Options, _report: &Report) -> Hints {
        let source = files.bytes(0);
        let Ok(recording) = Recording::read(source.clone(), &options.limits) else {
            return Hints::default();
        };
        let excess = displaced::find(&recording).and_then(|found| found.copied_len());
        let excess = excess.map(|len| (0, len)).into_iter().collect();
        Hints { readings: find_zero_pages(&source, &recording), excess }
    }

    fn displacement(
        &self,
        files: &FileSet<'_>,
        options: &Options,
        _report: &Report,
    ) -> Option<Displacement> {
        displaced::find(&Recording::read(files.bytes(0), &options.limits).ok()?)
    }

    fn audit(&self, files: &FileSet<'_>, options: &Options, auditor: &mut Auditor<'_>) {
        audit::audit(&|each| self.tile(files, options, each), options, auditor);
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: TileSink<'_>) {
        recover::tile::tile(&files.bytes(0), &options.limits, each);
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

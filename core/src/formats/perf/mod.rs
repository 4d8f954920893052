//! Linux `perf.data`.
//!
//! ```text
//!  file                                   pipe
//!  0    header, 104 bytes                 0   header, 16 bytes
//!  104  ids of each event                 16  records: HEADER_ATTR, HEADER_FEATURE, ... samples
//!       attrs: { attr, ids section }          (TRACING_DATA and AUXTRACE precede their payload)
//!       data: records
//!       table: one section per feature bit
//!       (hole of reserved table entries)
//!       sections of the features
//! ```
//!
//! The recorder writes `data.size` and everything after the records when it exits: after a crash
//! `data.size` is 0, and the header flags features that do not exist. Compressed records contain
//! one zstd stream together; the records in it form the expanded layer.
//!
//! Sources: the published document (perf.data-file-format.txt, as of Linux 4.7),
//! `include/uapi/linux/perf_event.h`, perf's `util/header.c`, `util/session.c` and `util/evsel.c`,
//! and recordings of perf 6.1 and 6.12. Where the document and real files disagree, tracemend
//! follows the files: the magic is `PERFILE2`, sections of features need not adjoin, COMPRESSED
//! records are one stream, and the fields of a sample follow perf's parser and not the order of the
//! bits.

mod audit;
pub mod check;
pub mod decode;
pub mod directory;
pub mod dump;
pub mod layout;
pub mod limits;
pub mod options;
pub mod recover;
pub mod repair;
pub mod rules;

use crate::format::{Confidence, Format, StoreError, Stored};
use crate::kit::reading::{Displacement, Hints};
use crate::model::choice::Choices;
use crate::model::cut::CutError;
use crate::model::description::{
    Clock, DamageSigns, Description, FormatOptions, FormatSigns, Recorder,
};
use crate::model::difference::Comparison;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::edit::Edit;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::TileSink;
use crate::model::{Finding, Report};
use crate::sight::Auditor;

/// The time and the CPU or thread of a record; records that perf makes up have the time 0.
static CLOCK: Clock = Clock {
    readings: &[&[("time", 1)], &[("sample_time", 1)]],
    zero_is_unknown: true,
    rows: &[("cpu", "CPU"), ("sample_cpu", "CPU"), ("sample_tid", "thread"), ("tid", "thread")],
    names: &["event"],
    threads: &[["pid", "tid"]],
    lost: &["lost"],
    ..Clock::NONE
};

/// The members of a dump that a comparison treats in their own way.
static COMPARISON: Comparison = Comparison {
    kind: &["kind", "event"],
    derived: &["number", "type"],
    volatile: &[
        "time",
        "sample_time",
        "pid",
        "tid",
        "ppid",
        "ptid",
        "sample_tid",
        "next_prev_pid",
        "next_prev_tid",
        "id",
        "sample_id",
        "cpu",
        "sample_cpu",
        "ip",
        "addr",
        "phys_addr",
        "stream_id",
        "weight",
        "ins_lat",
        "weight3",
        "time_enabled",
        "time_running",
        "user_stack_dyn_size",
        "fields",
        "raw",
        "callchain",
        "start",
        "ino",
        "ino_generation",
    ],
    ..Comparison::EXACT
};

/// The declarations of the format about itself.
pub static DESCRIPTION: Description = Description {
    name: "perf",
    summary: "Linux perf.data: files, pipes and directories, both byte orders, zstd; repairs \
              recordings after a crash, a full disk or an incomplete copy",
    recorder: Recorder {
        name: "perf",
        counts_samples: true,
        ends_at_damage: false,
        clock: &CLOCK,
        comparison: &COMPARISON,
    },
    rules: rules::all,
    limits: limits::LIMITS,
    options: FormatOptions {
        check: options::OPTIONS,
        dump: options::DUMP,
        view: options::VIEW,
        cut: options::CUT,
        styles: dump::STYLES,
        ..Description::EMPTY.options
    },
    signs: FormatSigns {
        magics: &[layout::MAGIC_LITTLE, layout::MAGIC_BIG],
        always_has_magic: true,
        file_names: &["perf.data", "perf.data.old", "*.perf.data"],
        directory: Some(&directory::PerfDirectory),
        ..Description::EMPTY.signs
    },
    damage: DamageSigns {
        signs_of_reading: &[
            "PD0013", "PD1006", "PD2002", "PD2004", "PD2007", "PD3001", "PD3002", "PD3004",
            "PD8003",
        ],
        ..Description::EMPTY.damage
    },
    hazards: audit::HAZARDS,
    ..Description::EMPTY
};

/// The format.
#[derive(Debug)]
pub struct Perf;

/// The only value of [`Perf`].
pub static PERF: Perf = Perf;

impl Format for Perf {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        let source = files.bytes(0);
        if recover::restore::is_magic(&source) {
            return Some(Confidence::Certain);
        }
        recover::restore::is_blank(&source).then_some(Confidence::Evidence)
    }

    /// Chains of records are found by the check itself.
    fn may_hold_records(&self, _files: &FileSet<'_>, _options: &Options) -> bool {
        true
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check(files, options, report);
    }

    fn settle(&self, files: &FileSet<'_>, edits: &[Edit], _options: &Options) -> Vec<Edit> {
        repair::settle(files, edits)
    }

    fn last_resort(
        &self,
        files: &FileSet<'_>,
        options: &Options,
        report: &Report,
    ) -> Option<Finding> {
        if !recover::joined::find(files).is_empty() {
            // Which of the recordings is wanted is for the user to choose.
            return None;
        }
        check::last_resort(files, options, report)
    }

    fn find_misapplied(&self, choices: &Choices, report: &Report) -> Option<String> {
        check::find_misapplied(choices, report)
    }

    fn pick<'a>(
        &self,
        files: &FileSet<'a>,
        options: &Options,
    ) -> Result<Option<FileSet<'a>>, String> {
        check::pick(files, options)
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

    fn audit(&self, files: &FileSet<'_>, options: &Options, auditor: &mut Auditor<'_>) {
        audit::audit(&|each| self.tile(files, options, each), files, options, auditor);
    }

    fn store(
        &self,
        files: &FileSet<'_>,
        edits: &[Edit],
        options: &Options,
    ) -> Result<Stored, StoreError> {
        repair::store(files, edits, &options.limits)
    }

    fn cut(&self, files: &FileSet<'_>, options: &Options) -> Result<Stored, CutError> {
        repair::cut(files, options)
    }

    fn reading_hints(&self, files: &FileSet<'_>, options: &Options, _report: &Report) -> Hints {
        if !recover::joined::find(files).is_empty() {
            // Another recording is not bytes that were inserted into this one.
            return Hints::default();
        }
        let source = files.bytes(0);
        let mut hints = recover::restore::find_displaced(&source, &options.limits);
        hints.readings.retain(|reading| !recover::joined::drops_one(&source, reading));
        hints
    }

    fn displacement(
        &self,
        files: &FileSet<'_>,
        options: &Options,
        report: &Report,
    ) -> Option<Displacement> {
        recover::restore::find_displacement(&files.bytes(0), &options.limits, report.faults())
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: TileSink<'_>) {
        decode::tile::tile(files, &options.limits, each);
    }
}

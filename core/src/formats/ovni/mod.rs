//! ovni runtime traces: a directory of streams, one per thread.
//!
//! ```text
//!  trace/ loom.NAME/ proc.PID/ thread.TID/ stream.json   thread, CPUs, required models; libovni
//!         (the names are free)                           writes `finished`: 1 last
//!                                          stream.obs    "ovni" u32 1, events
//!         clock-offsets.txt                              distances between the clocks of hosts
//!
//!  event  flags u8 | model u8 | category u8 | value u8 | clock u64 | payload
//! ```
//!
//! libovni collects the events of a thread in a buffer of 2 MiB and writes it when it is full, and
//! at the end. A crash leaves the flushed part, perhaps with a truncated event, and metadata
//! without the keys that libovni adds at the end. One such thread makes the emulator refuse the
//! whole trace.
//!
//! Sources: the trace specification v3, libovni 1.14.0, and the behaviour of `ovniemu`, `ovniemu
//! -l` and `ovnisort` 1.14.0 on recorded, crashed and forged traces. If specification and tools
//! disagree, this module follows the tools: sizes of jumbo events are counted in 64 bits, their
//! payload code is ignored, and equal clocks are legal.
//!
//! `decode` reads and names no rule; `check` judges and reads no bytes; `state` holds the nouns
//! that both know, so that `repair` builds edits without `check`.

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
pub mod state;

use crate::format::{Confidence, Format};
use crate::formats::ovni::decode::files::TraceFiles;
use crate::kit::reading::{CopyProofs, Hints};
use crate::kit::span::{Layer, Span};
use crate::model::choice::Choices;
use crate::model::description::{
    Clock, DamageSigns, Description, FormatOptions, FormatSigns, Recorder,
};
use crate::model::difference::Comparison;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::limits::RESYNC;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::TileSink;
use crate::model::{Finding, Report};
use crate::sight::Auditor;

/// Clocks that go back, at most, from which a copied block is looked for: each takes a walk.
const HINTS: usize = 4;

/// The clock of an event, and its thread.
static CLOCK: Clock =
    Clock { readings: &[&[("clock", 1)]], rows: &[("stream", "")], ..Clock::NONE };

/// The members of a dump that a comparison treats in their own way.
static COMPARISON: Comparison = Comparison {
    // A stream is named by its process and its thread.
    volatile: &["clock", "stream", "tid", "tag"],
    noun: "event",
    titles: ["event that differs in times, ids or addresses only", "event that differs"],
    ..Comparison::EXACT
};

/// The declarations of the format about itself.
pub static DESCRIPTION: Description = Description {
    name: "ovni",
    summary: "ovni runtime traces: directories of thread streams and single streams, all models \
              of ovni 1.14; repairs traces of killed threads, lost buffers and full disks",
    nouns: ["event", "stream"],
    recorder: Recorder {
        name: "the traced program",
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
        // Each stream of a trace.
        beginnings: &[layout::MAGIC],
        file_names: &["stream.obs"],
        directory: Some(&directory::OvniDirectory),
        ..Description::EMPTY.signs
    },
    damage: DamageSigns {
        signs_of_reading: &["OV0103", "OV3009", "OV3012"],
        proofs_of_copy: CopyProofs { returns: &["OV1003", "OV1007"], sizes: &[] },
        ..Description::EMPTY.damage
    },
    hazards: audit::HAZARDS,
};

/// The format ovni.
#[derive(Debug)]
pub struct Ovni;

/// The only value of [`Ovni`].
pub static OVNI: Ovni = Ovni;

impl Format for Ovni {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        TraceFiles::is_trace(files).then_some(Confidence::Certain)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check_recording(files, options, report);
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

    fn find_misapplied(&self, choices: &Choices, report: &Report) -> Option<String> {
        let part = choices.value("part")?;
        let has_two = report.facts.iter().any(|(name, _)| *name == check::EARLIER_RUNS);
        (!has_two).then(|| {
            format!("--part {part} does not apply: no stream has events of an earlier run")
        })
    }

    fn reading_hints(&self, files: &FileSet<'_>, options: &Options, report: &Report) -> Hints {
        let back = report.findings().iter().filter(|one| *one.rule == rules::CLOCK_BACKWARDS);
        let clocks: Vec<Span> = back.map(|finding| finding.span).take(HINTS).collect();
        let copies = clocks.iter().filter_map(|clock| {
            let source = files.bytes(clock.layer.file);
            recover::copied::find(&source, *clock)
        });
        let is_sign =
            |one: &&Finding| [&rules::CLOCK_BACKWARDS, &rules::DAMAGED_BYTES].contains(&one.rule);
        let signs = report.findings().iter().filter(is_sign);
        let mut layers: Vec<Layer> = signs.map(|finding| finding.span.layer).collect();
        layers.dedup();
        layers.truncate(HINTS);
        let resync = options.limits.of(&RESYNC);
        let exchanged = layers
            .into_iter()
            .flat_map(|layer| recover::exchanged::find(&files.bytes(layer.file), layer, resync));
        let faults = report.faults().filter(|span| span.layer.is_stored()).take(HINTS);
        let mut inserted = Vec::new();
        for fault in faults {
            let found = recover::inserted::find(&files.bytes(fault.layer.file), fault);
            inserted.extend(found.filter(|reading| !inserted.contains(reading)));
        }
        let readings = copies.chain(exchanged).chain(inserted).collect();
        Hints { readings, ..Hints::default() }
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: TileSink<'_>) {
        decode::tile::tile_files(files, &options.limits, each);
    }
}

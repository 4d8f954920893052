//! ovni runtime traces: a directory of streams, one a thread.
//!
//! ```text
//!  trace/ loom.NAME/ proc.PID/ thread.TID/ stream.json   what the thread is, which CPUs there are,
//!         (the names are free)                           which models it uses; `finished`: 1 comes last
//!                                          stream.obs    "ovni" u32 1, events
//!         clock-offsets.txt                              how far the hosts' clocks are apart
//!
//!  event  flags u8 | model u8 | category u8 | value u8 | clock u64 | payload
//! ```
//!
//! libovni gathers events in a buffer of 2 MiB a thread and writes it when it is full, and at the end.
//! A crash leaves what was flushed, perhaps with part of an event, and metadata without what
//! libovni adds at the end. One such thread makes the emulator refuse the whole trace.
//!
//! Sources: the user's document (trace specification v3), libovni 1.14.0 and the behaviour of
//! `ovniemu`, `ovniemu -l` and `ovnisort` 1.14.0 on recorded, crashed and made-up traces. Where
//! document and tools disagree the tools win: jumbo sizes are counted in 64 bits here, a jumbo
//! event's payload code is of no account, and equal clocks are legal.

pub mod check;
pub mod decode;
pub mod layout;
pub mod limits;
pub mod options;
pub mod repair;
pub mod rules;

use crate::formats::ovni::decode::files::TraceFiles;
use crate::formats::{Confidence, Format, Tile};
use crate::report::{Report, Rule};
use crate::limits::Limit;
use crate::options::{OptionSpec, Options};
use crate::recording::FileSet;

/// The format.
#[derive(Debug)]
pub struct Ovni;

/// The one value of [`Ovni`].
pub static OVNI: Ovni = Ovni;

impl Format for Ovni {
    fn name(&self) -> &'static str {
        "ovni"
    }

    fn summary(&self) -> &'static str {
        "ovni runtime traces: directories of thread streams and single streams, all models of ovni \
         1.14; mends what killed threads, lost buffers and full disks leave"
    }

    fn nouns(&self) -> [&'static str; 2] {
        ["event", "stream"]
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::RULES
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn limits(&self) -> &'static [&'static Limit] {
        limits::LIMITS
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        TraceFiles::recognised(files).then_some(Confidence::Certain)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check(files, options, report);
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: &mut dyn FnMut(Tile)) {
        decode::tile::tile(files, &options.limits, each);
    }
}

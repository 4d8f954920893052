//! apitrace: recordings of the calls that a program makes to OpenGL and similar APIs.
//!
//! ```text
//!  file     'a' 't' chunk*  |  gzip  |  zstd frames [seek table]  |  brotli  |  bare stream
//!              |
//!  stream   version, semantic version, properties
//!           enter { thread, function, in-arguments }   numbered by their position
//!           leave { number, out-arguments, value }     interleaved across threads
//!           ids of functions, structs, enums, bitmasks and stack frames are defined at their first
//!           use, so that a definition that is lost in one place is missing in all later ones
//! ```
//!
//! Only gzip has a checksum. A killed tracer leaves complete chunks of 1 MiB of the stream and a
//! truncated event; damage in the middle shows in the events after it. Leaves carry a call number
//! and enters do not: so the leaves show how many calls were lost.
//!
//! ```text
//!  expand --blocks--> decode --Trace--> check --findings, edits of the stream--> repair
//! ```
//!
//! Sources: the user's document (apitrace-trace-format.md); apitrace's `lib/trace`, of 11.1 and of
//! January 2026; traces of both. Where document and writer disagree the writer wins: values of an
//! enum's signature are typed, flags of a call (05) exist, a thread detail (03) is refused.

mod audit;
pub mod check;
pub mod decode;
mod dump;
pub mod expand;
pub mod layout;
pub mod limits;
pub mod options;
pub mod recover;
pub mod repair;
pub mod rules;

use crate::format::{Confidence, Format, StoreError, Stored};
use crate::kit::reading::{CopyProofs, Displacement, Hints};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::kit::words::plural;
use crate::kit::wrapper::Wrapper;
use crate::model::choice::Choices;
use crate::model::description::{
    Clock, ClockUnit, DamageSigns, Description, FormatOptions, FormatSigns, Recorder,
};
use crate::model::difference::{Comparison, Hidden};
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::edit::Edit;
use crate::model::limits::Limits;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::{Fields, NO_FIELDS, Tile, TileKind, TileSink};
use crate::model::{Finding, Report};
use crate::sight::Auditor;
use decode::definitions::Definitions;
use expand::{Container, Expansion, Fault};
use recover::arrangement::{self, Arrangement};
use recover::beginning::{
    find_container, find_named, find_unmarked, holds_trace, is_empty, shows_names,
};
use recover::signatures::find_build;
use recover::trace::{Gap, ReadOptions, Trace};
use recover::{displaced, parts};
use repair::StreamEditor;
use repair::damage::Donor;

/// A trace has no times: the number of a call, and its thread.
static CLOCK: Clock = Clock {
    readings: &[&[("number", 1)]],
    unit: ClockUnit::Calls,
    rows: &[("thread", "thread")],
    names: &["function"],
    ..Clock::NONE
};

/// The members of a dump that a comparison treats in their own way.
static COMPARISON: Comparison = Comparison {
    kind: &["function"],
    derived: &["number", "frame"],
    volatile: &["backtrace"],
    has_addresses: true,
    // The containers differ, and where the tracer flushed them.
    hidden: Hidden::None,
    noun: "call",
    titles: ["call that differs in times, ids or addresses only", "call that differs"],
};

/// The declarations of the format about itself.
pub static DESCRIPTION: Description = Description {
    name: "apitrace",
    summary: "apitrace traces: snappy, gzip, zstd and brotli, versions 0 to 6; repairs traces of \
              killed programs and damage in the middle, and counts the lost calls",
    nouns: ["event", "call"],
    recorder: Recorder {
        name: "the traced program",
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
        styles: dump::STYLES,
        ..Description::EMPTY.options
    },
    signs: FormatSigns {
        beginnings: &[&layout::SNAPPY_MAGIC],
        containers: &[Wrapper::Gzip, Wrapper::Zstd],
        // A container may have lost its magic, and brotli has none.
        is_sniffed_by_trial: true,
        ..Description::EMPTY.signs
    },
    damage: DamageSigns {
        signs_of_reading: &["AT3001", "AT3002", "AT8006", "AT8008"],
        proofs_of_copy: CopyProofs {
            returns: &["AT3002"],
            sizes: &["AT8002", "AT8003", "AT8007", "AT8010"],
        },
        ..Description::EMPTY.damage
    },
    hazards: audit::HAZARDS,
};

/// The format.
#[derive(Debug)]
pub struct Apitrace;

/// The one value of [`Apitrace`].
pub static APITRACE: Apitrace = Apitrace;

impl Format for Apitrace {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn sniff(&self, files: &FileSet<'_>, options: &Options) -> Option<Confidence> {
        let (source, limits) = (files.bytes(0), &options.limits);
        match Container::by_magic(&source) {
            Some(Container::Snappy) => Some(Confidence::Certain),
            Some(container) => {
                let is_trace = holds_trace(&source, container, limits)
                    || (is_empty(&source, container, limits) && has_name_of_trace(files));
                is_trace.then_some(Confidence::Certain)
            }
            None => find_unmarked(&source, limits).map(|_| Confidence::Evidence),
        }
    }

    /// Containers that compress names are found by their form alone.
    fn may_hold_records(&self, files: &FileSet<'_>, _options: &Options) -> bool {
        shows_names(&files.bytes(0))
    }

    fn reading_hints(&self, files: &FileSet<'_>, options: &Options, report: &Report) -> Hints {
        let Some(found) = self.displacement(files, options, report) else {
            return Hints::default();
        };
        let excess = found.copied_len().map(|len| (0, len)).into_iter().collect();
        let readings = displaced::reading(&files.bytes(0), &found).into_iter().collect();
        Hints { excess, readings }
    }

    fn displacement(
        &self,
        files: &FileSet<'_>,
        options: &Options,
        report: &Report,
    ) -> Option<Displacement> {
        let source = files.bytes(0);
        let is_damaged = |finding: &&Finding| {
            [&rules::CHUNK_LENGTH_WRONG, &rules::CHUNK_CORRUPT].contains(&finding.rule)
        };
        let mut damaged = report.findings().iter().filter(is_damaged);
        let chunk = damaged.find_map(|finding| finding.stored)?;
        let is_snappy = find_named(&source, &options.limits) == Some(Container::Snappy);
        is_snappy.then(|| displaced::find(&source, chunk)).flatten()
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        let (source, limits) = (files.bytes(0), &options.limits);
        // The user may have named the format: then the magic decides, whatever follows it.
        let marked = || source.read(0, layout::MAGIC_LEN).as_ref() == layout::SNAPPY_MAGIC;
        let by_name = || marked().then_some(Container::Snappy);
        let Some(container) = find_named(&source, limits).or_else(by_name) else {
            let span = Span::new(Layer::stored(0), 0, source.len());
            let message = "unknown container: neither snappy chunks, gzip, zstd, nor a brotli \
                           stream that holds a trace";
            report.push(Finding::new(&rules::NOTHING_RECORDED, span, "file", message));
            report.mark_unreadable();
            return;
        };
        let donor = files.donor().and_then(|donor| read_donor(donor, limits));
        let mut donor = donor.as_ref().map(Donor::of_user);
        let mut read = ReadOptions { limits, keep_raw: true, donor: donor.map(|d| d.definitions) };
        let mut trace = Trace::read(&source, container, read);
        // Lost definitions may be those of a known build.
        let is_asked = donor.is_none() && !trace.faults.damages.is_empty();
        let build = is_asked.then(|| find_build(&trace.tracker)).flatten();
        if let Some((signatures, evidence)) = &build {
            let found = Donor::of_build(signatures, *evidence);
            donor = Some(found);
            read.donor = Some(found.definitions);
            trace = Trace::read(&source, container, read);
        }
        let editor = StreamEditor::new(&source, container, limits).in_outline(options.outline);
        let has_order = container.has_units() && container != Container::Bare;
        let is_suspect = has_order && arrangement::is_suspect(&trace.faults.damages, &trace.places);
        if is_suspect {
            let overlap = trace.tracker.calls.overlap;
            let found = arrangement::find_arrangement(&source, container, limits, overlap);
            let has_copies = found.as_ref().is_some_and(|found| !found.copies.is_empty());
            let may_be_two = container == Container::Snappy && !has_copies;
            if may_be_two && let Some(found) = parts::find_parts(&source, limits, overlap) {
                return check::check_parts(trace, &found, editor, options, report);
            }
            // Beside other damage, units may fit one another by chance.
            let gains = |found: &Arrangement| {
                let read = || Trace::read(&found.view(&source), container, read);
                found.is_whole
                    || !found.copies.is_empty()
                    || read().tracker.history.count > trace.tracker.history.count
            };
            if let Some(found) = found.filter(gains) {
                return check::check_arrangement(trace, &found, editor, options, report);
            }
        }
        check::check_trace(trace, donor, editor, options, report);
        // Damaged bytes can read as a call that no tracer wrote.
        let is_odd = !report.has_errors() && report.count(&rules::NAME_INVALID) > 0;
        if is_odd && self.sniff(files, options).is_none() {
            let span = Span::new(Layer::stored(0), 0, source.len());
            let message = "unlike a trace: no call of the stream is one that a tracer writes";
            report.push(Finding::new(&rules::NOTHING_RECORDED, span, "stream", message));
        }
    }

    fn settle(&self, files: &FileSet<'_>, edits: &[Edit], options: &Options) -> Vec<Edit> {
        repair::settle(&files.bytes(0), edits, &options.limits)
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
        audit::audit(&|each| self.tile(files, options, each), &files.bytes(0), options, auditor);
    }

    fn find_misapplied(&self, choices: &Choices, report: &Report) -> Option<String> {
        let part = options::part(choices)?;
        let is_one = report.count(&rules::SECOND_TRACE) == 0;
        let calls = plural(report.tally.samples, "call");
        is_one.then(|| format!("--part {part} does not apply: one trace was found, of {calls}"))
    }

    fn store(
        &self,
        files: &FileSet<'_>,
        edits: &[Edit],
        options: &Options,
    ) -> Result<Stored, StoreError> {
        let (source, limits) = (files.bytes(0), &options.limits);
        let container = find_named(&source, limits).ok_or("unknown container")?;
        repair::store(&source, container, edits, limits)
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: TileSink<'_>) {
        let source = files.bytes(0);
        let Some(container) = find_named(&source, &options.limits) else {
            let span = Span::new(Layer::stored(0), 0, source.len());
            if !span.is_empty() {
                each(Tile { span, kind: TileKind::Damage, name: "unknown" }, NO_FIELDS);
            }
            return;
        };
        tile_file(&source, container, &options.limits, &mut *each);
        tile_stream(&source, container, &options.limits, each);
    }
}

/// Whether the file has the ending that apitrace gives to traces.
fn has_name_of_trace(files: &FileSet<'_>) -> bool {
    files.files().first().is_some_and(|file| file.name.ends_with(".trace"))
}

/// Returns the definitions of a donor, if it is a trace.
fn read_donor(donor: &Source<'_>, limits: &Limits) -> Option<Definitions> {
    let container = find_container(donor, limits)?;
    let read = ReadOptions { limits, keep_raw: true, donor: None };
    Some(Trace::read(donor, container, read).tracker.definitions)
}

fn tile_file(source: &Source<'_>, container: Container, limits: &Limits, each: TileSink<'_>) {
    let file = Layer::stored(0);
    let mut at = 0;
    if container == Container::Snappy {
        at = layout::MAGIC_LEN.min(source.len());
        let span = Span::new(file, 0, at);
        each(Tile { span, kind: TileKind::Structure, name: "magic" }, NO_FIELDS);
    }
    let mut expansion = Expansion::new(source, container, limits);
    while let Some(block) = expansion.next() {
        let end = block.stored.map_or(at, |stored| stored.end);
        // Blocks of one frame share their bytes.
        if end > at {
            let is_lost = block.fault.as_ref().is_some_and(Fault::loses_bytes);
            let kind = if is_lost { TileKind::Damage } else { TileKind::Record };
            let span = Span::new(file, at, end);
            let fields: Fields<'_> = &|log| expand::log_fields(source, container, span, log);
            each(Tile { span, kind, name: container.unit() }, fields);
            at = end;
        }
        expansion.recycle(block.bytes);
    }
    if at < source.len() {
        let span = Span::new(file, at, source.len());
        each(Tile { span, kind: TileKind::Damage, name: "rest" }, NO_FIELDS);
    }
}

fn tile_stream(source: &Source<'_>, container: Container, limits: &Limits, each: TileSink<'_>) {
    let read = ReadOptions { limits, keep_raw: false, donor: None };
    let trace = Trace::read(source, container, read);
    for item in trace.stretches() {
        let (stretch, kind, name) = match item {
            Item::Record(stretch) => (stretch, TileKind::Record, "events"),
            Item::Damage(Gap::Damage(stretch)) => (stretch, TileKind::Damage, "damage"),
            Item::Damage(Gap::TruncatedEvent(stretch)) => {
                (stretch, TileKind::Damage, "truncated event")
            }
        };
        let span = Span::new(Layer::stored(0).expanded(), stretch.start, stretch.end);
        each(Tile { span, kind, name }, NO_FIELDS);
    }
}

/// Returns at most `max` bytes of the stream, for the tests.
#[cfg(feature = "testing")]
pub fn stream_bytes(source: &Source<'_>, max: u64) -> Vec<u8> {
    let max = crate::kit::num::to_usize(max);
    let mut bytes = Vec::new();
    let limits = Limits::default();
    let Some(container) = find_named(source, &limits) else { return bytes };
    for block in Expansion::new(source, container, &limits) {
        let room = max.saturating_sub(bytes.len());
        bytes.extend_from_slice(block.bytes.get(..room).unwrap_or(&block.bytes));
        if bytes.len() >= max {
            break;
        }
    }
    bytes
}

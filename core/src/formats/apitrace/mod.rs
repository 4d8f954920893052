//! apitrace: recordings of the calls that a program makes to OpenGL and its kin.
//!
//! ```text
//!  file     'a' 't' chunk*  |  gzip  |  zstd frames [table]  |  brotli
//!              |
//!  stream   version, semantic version, properties
//!           enter { thread, function, in-arguments }   numbered by their position
//!           leave { number, out-arguments, value }     interleaved across threads
//!           ids of functions, structs, enums, bitmasks and stack frames are defined where they
//!           are used first, so that what is lost in one place is missed in all later ones
//! ```
//!
//! There is no check sum (but gzip's). A killed tracer leaves whole chunks of 1 MiB of the stream and
//! an event that is cut; damage in the middle shows in what follows it. Enters carry no number and
//! leaves do: from them follows how many calls were lost.
//!
//! Sources: the user's document (apitrace-trace-format.md); apitrace's `lib/trace`, of 11.1 and of
//! January 2026; traces of both. Where document and writer disagree the writer wins: values of an
//! enum's signature are typed, flags of a call (05) exist, a thread detail (03) is refused.

pub mod check;
pub mod decode;
pub mod expand;
pub mod layout;
pub mod limits;
pub mod options;
pub mod repair;
pub mod rules;

use crate::formats::apitrace::limits::NESTING;
use crate::formats::{Confidence, Format, Tile, TileKind};
use crate::kit::num::to_usize;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::mend::edit::Edit;
use crate::report::{Finding, Report, Rule};
use crate::limits::{Limit, Limits};
use crate::options::{OptionSpec, Options};
use crate::recording::FileSet;
use decode::machine::{Cause, Machine, Sink, Space};
use decode::text;
use expand::{Container, Expansion};

/// Bytes of a stream that have to look like a trace's beginning.
const TRIAL: usize = 64 << 10;
/// Numbers of threads that a trace begins with.
const BEGINNING_THREADS: u64 = 1_000;

/// The format.
#[derive(Debug)]
pub struct Apitrace;

/// The one value of [`Apitrace`].
pub static APITRACE: Apitrace = Apitrace;

impl Format for Apitrace {
    fn name(&self) -> &'static str {
        "apitrace"
    }

    fn summary(&self) -> &'static str {
        "apitrace traces: snappy, gzip, zstd and brotli, versions 0 to 6; mends what a killed program \
         leaves and damage in the middle, with the calls lost counted"
    }

    fn nouns(&self) -> [&'static str; 2] {
        ["event", "call"]
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

    fn sniff(&self, files: &FileSet<'_>, options: &Options) -> Option<Confidence> {
        let source = files.bytes(0);
        match Container::by_magic(&source) {
            Some(Container::Snappy) => Some(Confidence::Certain),
            Some(container) => begins(&source, container, &options.limits).then_some(Confidence::Certain),
            None => begins(&source, Container::Brotli, &options.limits).then_some(Confidence::Evidence),
        }
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        let source = files.bytes(0);
        match container(&source, &options.limits) {
            Some(container) => check::file::check(files, container, options, report),
            None => {
                let span = Span::new(Layer::stored(0), 0, source.len());
                let message = format!(
                    "{} bytes: neither snappy chunks, gzip nor zstd, and brotli gives no trace",
                    source.len()
                );
                let rule = &rules::NOTHING_RECORDED;
                report.push(Finding::new(rule, span, "file", message));
                report.mark_unreadable();
            }
        }
    }

    fn settle(&self, files: &FileSet<'_>, edits: &[Edit], options: &Options) -> Vec<Edit> {
        repair::settle(&files.bytes(0), edits, &options.limits)
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: &mut dyn FnMut(Tile)) {
        tile(&files.bytes(0), &options.limits, each);
    }
}

/// The container of a trace; brotli only if it decodes to the beginning of one.
pub fn container(source: &Source<'_>, limits: &Limits) -> Option<Container> {
    let by_magic = Container::by_magic(source);
    by_magic.or_else(|| begins(source, Container::Brotli, limits).then_some(Container::Brotli))
}

/// Whether a container holds the beginning of a trace.
fn begins(source: &Source<'_>, container: Container, limits: &Limits) -> bool {
    let mut expansion = Expansion::new(source, container, limits);
    let mut bytes = Vec::new();
    while bytes.len() < TRIAL {
        let Some(block) = expansion.next(Vec::new()) else { break };
        let ended = block.fault.is_some();
        bytes.extend(block.bytes);
        if ended {
            break;
        }
    }
    bytes.truncate(TRIAL);
    let mut machine = Machine::new(limits.of(&NESTING));
    let mut trial = Beginning::default();
    let (_, result) = machine.run(&bytes, 0, &mut trial);
    result.is_ok() && trial.functions > 0
}

/// A stream that may be one: versions, names, ids and leaves have to be as a tracer writes them.
#[derive(Default)]
struct Beginning {
    ids: Vec<(Space, u64, u64)>,
    functions: u64,
}

impl Sink for Beginning {
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, Cause> {
        let known = self.ids.iter().find(|(of, one, _)| (*of, *one) == (space, id));
        Ok(known.map(|(.., count)| *count))
    }

    fn version(
        &mut self,
        version: u64,
        semantic: Option<u64>,
        _at: u64,
        _end: u64,
    ) -> Result<(), Cause> {
        let fits = version <= layout::VERSION_MAX && semantic.is_none_or(|semantic| semantic < 16);
        if fits { Ok(()) } else { Err(Cause::Version(version)) }
    }

    fn enter(&mut self, _at: u64, thread: u64, _function: u64) -> Result<(), Cause> {
        if thread > BEGINNING_THREADS { Err(Cause::Thread(thread)) } else { Ok(()) }
    }

    fn leave(&mut self, _at: u64, _call: u64) -> Result<(), Cause> {
        Ok(())
    }

    fn detail(&mut self, _at: u64, _index: Option<u64>) -> Result<(), Cause> {
        Ok(())
    }

    fn end(&mut self, _end: u64) -> Result<(), Cause> {
        Ok(())
    }

    fn name(&mut self, space: Space, name: &[u8], own: bool) -> Result<(), Cause> {
        self.functions = self.functions.saturating_add(u64::from(own));
        // No API has a function of two letters.
        let fits = !own || (name.len() > 2 && text::is_identifier(name));
        if fits { Ok(()) } else { Err(Cause::Name(space)) }
    }

    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), Cause> {
        self.ids.push((space, id, count));
        Ok(())
    }
}

/// The tiles of the file, then those of the stream.
fn tile(source: &Source<'_>, limits: &Limits, each: &mut dyn FnMut(Tile)) {
    let file = Layer::stored(0);
    let Some(container) = container(source, limits) else {
        let span = Span::new(file, 0, source.len());
        if !span.is_empty() {
            each(Tile { span, kind: TileKind::Damage, name: "unknown" });
        }
        return;
    };
    let mut at = 0;
    if container == Container::Snappy {
        at = layout::MAGIC_LEN.min(source.len());
        each(Tile { span: Span::new(file, 0, at), kind: TileKind::Structure, name: "magic" });
    }
    let mut expansion = Expansion::new(source, container, limits);
    let mut reuse = Vec::new();
    while let Some(block) = expansion.next(reuse) {
        let end = block.stored.map_or(at, |stored| stored.end);
        // Blocks of one frame share their bytes.
        if end > at {
            let lost = block.fault.as_ref().is_some_and(expand::Fault::loses);
            let kind = if lost { TileKind::Damage } else { TileKind::Record };
            each(Tile { span: Span::new(file, at, end), kind, name: container.unit() });
            at = end;
        }
        reuse = block.bytes;
    }
    if at < source.len() {
        let span = Span::new(file, at, source.len());
        each(Tile { span, kind: TileKind::Damage, name: "rest" });
    }
    stream_tiles(source, container, limits, each);
}

fn stream_tiles(
    source: &Source<'_>,
    container: Container,
    limits: &Limits,
    each: &mut dyn FnMut(Tile),
) {
    let engine = check::file::read(source, container, limits, false, None);
    let layer = Layer::stored(0).expanded();
    let mut at = 0;
    let mut tile = |from: u64, to: u64, kind: TileKind, name: &'static str| {
        if from < to {
            each(Tile { span: Span::new(layer, from, to), kind, name });
        }
    };
    for damage in &engine.damages {
        tile(at, damage.start, TileKind::Record, "events");
        tile(damage.start.max(at), damage.end, TileKind::Damage, "damage");
        at = at.max(damage.end);
    }
    let end = engine.torn.as_ref().map_or(engine.end, |torn| torn.start);
    tile(at, end.max(at), TileKind::Record, "events");
    tile(end.max(at), engine.end, TileKind::Damage, "torn event");
}

/// The bytes of the stream, for the tests: at most `max` of them.
pub fn stream_bytes(source: &Source<'_>, max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let limits = Limits::default();
    let Some(container) = container(source, &limits) else { return bytes };
    let mut expansion = Expansion::new(source, container, &limits);
    while let Some(block) = expansion.next(Vec::new()) {
        let room = to_usize(max).saturating_sub(bytes.len());
        bytes.extend_from_slice(block.bytes.get(..room).unwrap_or(&block.bytes));
        if bytes.len() >= to_usize(max) {
            break;
        }
    }
    bytes
}

//! Recognises a trace by its first bytes.

use crate::formats::apitrace::decode::calls::Calls;
use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::grammar::{Parser, Space, StreamError, TokenSink};
use crate::formats::apitrace::decode::names;
use crate::formats::apitrace::decode::tracker::lost::LostCalls;
use crate::formats::apitrace::expand::{Container, Expansion, Fault};
use crate::formats::apitrace::layout;
use crate::formats::apitrace::limits::NESTING;
use crate::formats::apitrace::recover::resync::{
    ProbeContext, ProbeResult, Tolerance, probe_position,
};
use crate::kit::source::Source;
use crate::model::limits::{Limits, RESYNC};

/// Bytes of the stream that have to look like the beginning of a trace.
const TRIAL_LEN: usize = 64 << 10;
/// Bytes of the stream that are searched for events if its beginning is damaged.
const SEARCH_LEN: usize = 4 << 20;
/// Bytes that are searched at a time.
const SEARCH_WINDOW: usize = 1 << 20;
/// Steps of that search in a file that nobody calls a trace, if the limit allows them: every file
/// with the form of a container costs them. Of 60 traces that lost up to 20,000 bytes at their
/// beginning, 33 needed less.
const SEARCH_STEPS: u64 = 1 << 17;
/// The same in a file with the magic of a container.
const MARKED_STEPS: u64 = 4 << 20;
/// Steps of all searches in a file that is said to be a trace, or shows names of its functions.
const NAMED_STEPS: u64 = 1 << 20;
/// Bytes of a file in which names are looked for: those of the first chunks.
const NAMES_LEN: u64 = 2 << 20;
/// Names that show a trace: a few are in other files as well.
const NAMES_LEAST: usize = 4;
/// Names before which an event is looked for first.
const NAMES_MOST: usize = 64;
/// Bytes of the shortest name.
const NAME_LEN: usize = 6;
/// Bytes between the tag of an enter and the length of its function's name: the numbers of thread
/// and function.
const ENTER_HEADS: std::ops::RangeInclusive<usize> = 3..=6;
/// How the names of functions and constants begin, before an upper-case letter.
const NAME_PREFIXES: [&[u8]; 12] = [
    b"gl",
    b"glX",
    b"egl",
    b"wgl",
    b"CGL",
    b"GL_",
    b"GLX_",
    b"EGL_",
    b"WGL_",
    b"ID3D",
    b"IDirect3D",
    b"IDXGI",
];
/// The version of most traces.
const NEWEST: &[u64] = &[layout::VERSION_MAX];
/// Numbers of threads that a trace begins with.
const THREADS_MAX: u64 = 1_000;
/// Names of properties that apitrace writes since version 6, before the first call.
const PROPERTIES: [&[u8]; 2] = [b"process.name", b"process.commandLine"];
/// Semantic versions that a beginning may have.
const SEMANTIC_VERSIONS: u64 = 16;

/// Returns the container of a trace: by its magic, or by what it decodes to.
pub fn find_container(source: &Source<'_>, limits: &Limits) -> Option<Container> {
    Container::by_magic(source).or_else(|| find_unmarked(source, limits))
}

/// Returns the container of a file that is said to be a trace: a few events are proof enough.
pub fn find_named(source: &Source<'_>, limits: &Limits) -> Option<Container> {
    find_container(source, limits).or_else(|| find_by_few(source, limits))
}

/// Returns the container in which a few events are found.
fn find_by_few(source: &Source<'_>, limits: &Limits) -> Option<Container> {
    let all: &[Container] = match shows_names(source) {
        true => &[Container::Snappy],
        false => &[Container::Snappy, Container::Zstd, Container::Gzip, Container::Brotli],
    };
    let mut steps = NAMED_STEPS.min(limits.of(&RESYNC));
    let mut holds = |few: Few, versions: &[u64]| {
        let mut containers = all.iter().copied();
        containers
            .find(|container| holds_events(source, *container, limits, (few, versions), &mut steps))
    };
    holds(Few::AtEnd, NEWEST).or_else(|| holds(Few::AtFaults, &layout::VERSIONS))
}

/// Whether the first bytes show names of functions as they are: snappy stores a name as it is where
/// it is new, the other containers do not.
pub fn shows_names(source: &Source<'_>) -> bool {
    let bytes = source.read(0, NAMES_LEN);
    names(&bytes).take(NAMES_LEAST).count() == NAMES_LEAST
}

/// Returns where names of functions and constants begin.
fn names(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let is_apart = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    let mut at = 0_usize;
    bytes.split(is_apart).filter_map(move |word| {
        let start = at;
        at = start.saturating_add(word.len()).saturating_add(1);
        is_name(word).then_some(start)
    })
}

/// Whether a word is the name of a function or constant, perhaps after the byte of its length.
fn is_name(word: &[u8]) -> bool {
    let begins = |word: &[u8]| {
        NAME_PREFIXES.iter().any(|prefix| {
            let rest = word.strip_prefix(*prefix);
            rest.is_some_and(|rest| {
                rest.len() > 3 && rest.first().is_some_and(u8::is_ascii_uppercase)
            })
        })
    };
    // Nearly all words of other bytes are shorter.
    word.len() >= NAME_LEN && (begins(word) || word.get(1..).is_some_and(begins))
}

/// Returns the container of a trace whose first bytes are no magic: it lost it, or has none.
pub fn find_unmarked(source: &Source<'_>, limits: &Limits) -> Option<Container> {
    // First: bytes that brotli stores as they are may look like a chunk.
    if is_beginning(source, Container::Brotli, limits) {
        return Some(Container::Brotli);
    }
    if is_beginning(source, Container::Bare, limits) {
        return Some(Container::Bare);
    }
    Container::by_form(source).filter(|form| holds_within(source, *form, limits, SEARCH_STEPS))
}

/// Whether a container with a magic holds a trace: its beginning, or events after damage.
pub fn holds_trace(source: &Source<'_>, container: Container, limits: &Limits) -> bool {
    holds_within(source, container, limits, MARKED_STEPS)
}

fn holds_within(source: &Source<'_>, container: Container, limits: &Limits, most: u64) -> bool {
    let many = (Few::Never, NEWEST);
    let mut steps = most.min(limits.of(&RESYNC));
    is_beginning(source, container, limits)
        || holds_events(source, container, limits, many, &mut steps)
}

/// Whether a container holds no byte, and is not damaged: the tracer was killed at once.
pub fn is_empty(source: &Source<'_>, container: Container, limits: &Limits) -> bool {
    Expansion::new(source, container, limits)
        .all(|block| block.bytes.is_empty() && block.fault.is_none())
}

/// Whether a container holds the beginning of a trace.
pub fn is_beginning(source: &Source<'_>, container: Container, limits: &Limits) -> bool {
    // Many places of a file may have the form of a chunk.
    let mut expansion = Expansion::new(source, container, limits).until_fault();
    let mut bytes = Vec::new();
    while bytes.len() < TRIAL_LEN {
        let Some(block) = expansion.next() else { break };
        // A limit that the user lowered stopped the block: the magic decides. With the default
        // limits it does not, or every zstd file with a large window would be taken for a trace.
        if matches!(block.fault, Some(Fault::Limit { .. })) && *limits != Limits::default() {
            return container != Container::Brotli;
        }
        let has_ended = block.fault.is_some();
        bytes.extend(block.bytes);
        if has_ended {
            break;
        }
    }
    bytes.truncate(TRIAL_LEN);
    is_beginning_of_stream(&bytes)
}

/// Whether a stream of a trace begins with the bytes; damage may follow the first event.
pub fn is_beginning_of_stream(bytes: &[u8]) -> bool {
    let mut sink = BeginningSink::default();
    let (_, result) = Parser::new(NESTING.default).run(bytes, 0, &mut sink);
    // A program that ends before its first call leaves only the properties.
    let is_begun = sink.functions > 0 || sink.has_property;
    is_begun && (result.is_ok() || sink.events > 0)
}

/// Where a few events are proof enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Few {
    /// Nowhere.
    Never,
    /// At the end of the file.
    AtEnd,
    /// Also where a unit lost bytes.
    AtFaults,
}

/// Whether events follow one another somewhere in the first bytes of a container: the beginning of
/// the trace may be damaged.
fn holds_events(
    source: &Source<'_>,
    container: Container,
    limits: &Limits,
    (few, versions): (Few, &[u64]),
    steps: &mut u64,
) -> bool {
    let (definitions, calls) = (Definitions::default(), Calls::default());
    let lost_calls = LostCalls::default();
    let finds = |bytes: &[u8], at_end: bool, steps: &mut u64| {
        versions.iter().any(|version| {
            let context = ProbeContext {
                definitions: &definitions,
                calls: &calls,
                lost_calls: &lost_calls,
                version: *version,
                depth_max: limits.of(&NESTING),
                donor: None,
                damage: 0,
                is_in_place: false,
            };
            finds_events(&context, bytes, (few, at_end), steps)
        })
    };
    let (mut expanded, mut bytes) = (0, Vec::new());
    if *steps == 0 {
        return false;
    }
    for block in Expansion::new(source, container, limits) {
        expanded = block.bytes.len().saturating_add(expanded);
        bytes.extend(block.bytes);
        let is_lost = block.fault.as_ref().is_some_and(Fault::loses_bytes);
        if is_lost || bytes.len() >= SEARCH_WINDOW {
            let are_few = is_lost && few == Few::AtFaults;
            if finds(&bytes, are_few, steps) {
                return true;
            }
            bytes.clear();
        }
        if expanded >= SEARCH_LEN || *steps == 0 {
            break;
        }
    }
    finds(&bytes, few != Few::Never, steps)
}

fn finds_events(
    context: &ProbeContext<'_>,
    bytes: &[u8],
    (few, at_end): (Few, bool),
    steps: &mut u64,
) -> bool {
    let is_last_search = few == Few::AtFaults;
    let tolerance = if is_last_search { Tolerance::Thorough } else { Tolerance::Close };
    // An event that defines its function is found by the name.
    let names = names(bytes).take(NAMES_MOST);
    let by_name = names.flat_map(|name| ENTER_HEADS.filter_map(move |len| name.checked_sub(len)));
    by_name.chain(0..bytes.len().saturating_sub(1)).any(|index| {
        let rest = bytes.get(index..).unwrap_or_default();
        let probe = probe_position(context, (rest, 0), tolerance, at_end, steps);
        matches!(probe, ProbeResult::Sync(_))
    })
}

/// Accepts versions, names, ids and threads only as a tracer writes them.
#[derive(Default)]
struct BeginningSink {
    ids: Vec<(Space, u64, u64)>,
    functions: u64,
    /// Whether it has a property that apitrace writes.
    has_property: bool,
    /// Complete events.
    events: u64,
}

impl TokenSink for BeginningSink {
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, StreamError> {
        let known = self.ids.iter().find(|(of, one, _)| (*of, *one) == (space, id));
        Ok(known.map(|(.., count)| *count))
    }

    fn version(
        &mut self,
        version: u64,
        semantic: Option<u64>,
        _at: u64,
        _end: u64,
    ) -> Result<(), StreamError> {
        let fits = version <= layout::VERSION_MAX
            && semantic.is_none_or(|semantic| semantic < SEMANTIC_VERSIONS);
        if fits { Ok(()) } else { Err(StreamError::Version(version)) }
    }

    fn property(
        &mut self,
        text: &[u8],
        is_name: bool,
        _at: u64,
        _end: u64,
    ) -> Result<(), StreamError> {
        self.has_property |= is_name && PROPERTIES.contains(&text);
        Ok(())
    }

    fn enter(&mut self, _at: u64, thread: u64, _function: u64) -> Result<(), StreamError> {
        if thread > THREADS_MAX { Err(StreamError::Thread(thread)) } else { Ok(()) }
    }

    fn leave(&mut self, _at: u64, _call: u64) -> Result<(), StreamError> {
        Ok(())
    }

    fn detail(&mut self, _at: u64, _index: Option<u64>) -> Result<(), StreamError> {
        Ok(())
    }

    fn end(&mut self, _end: u64) -> Result<(), StreamError> {
        self.events = self.events.saturating_add(1);
        Ok(())
    }

    fn name(&mut self, space: Space, name: &[u8], own: bool) -> Result<(), StreamError> {
        // No API has a function of two letters.
        let fits = !own || (name.len() > 2 && names::is_identifier(name));
        self.functions = self.functions.saturating_add(u64::from(own && fits));
        if fits { Ok(()) } else { Err(StreamError::Name(space)) }
    }

    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), StreamError> {
        self.ids.push((space, id, count));
        Ok(())
    }
}

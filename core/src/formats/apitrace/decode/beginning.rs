//! Recognises a trace by its first bytes.

use super::grammar::{Parser, Space, StreamError, TokenSink};
use super::names;
use crate::formats::apitrace::expand::{Container, Expansion, Fault};
use crate::formats::apitrace::layout;
use crate::formats::apitrace::limits::NESTING;
use crate::kit::source::Source;
use crate::limits::Limits;

/// Bytes of the stream that have to look like the beginning of a trace.
const TRIAL_LEN: usize = 64 << 10;
/// Numbers of threads that a trace begins with.
const THREADS_MAX: u64 = 1_000;
/// Semantic versions that a beginning may have.
const SEMANTIC_VERSIONS: u64 = 16;

/// Returns the container of a trace; brotli only if it decodes to the beginning of one.
pub fn find_container(source: &Source<'_>, limits: &Limits) -> Option<Container> {
    let by_magic = Container::by_magic(source);
    by_magic
        .or_else(|| is_beginning(source, Container::Brotli, limits).then_some(Container::Brotli))
}

/// Whether a container holds the beginning of a trace.
pub fn is_beginning(source: &Source<'_>, container: Container, limits: &Limits) -> bool {
    let mut expansion = Expansion::new(source, container, limits);
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
    let mut sink = BeginningSink::default();
    let (_, result) = Parser::new(limits.of(&NESTING)).run(&bytes, 0, &mut sink);
    result.is_ok() && sink.functions > 0
}

/// Accepts versions, names, ids and threads only as a tracer writes them.
#[derive(Default)]
struct BeginningSink {
    ids: Vec<(Space, u64, u64)>,
    functions: u64,
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
        Ok(())
    }

    fn name(&mut self, space: Space, name: &[u8], own: bool) -> Result<(), StreamError> {
        self.functions = self.functions.saturating_add(u64::from(own));
        // No API has a function of two letters.
        let fits = !own || (name.len() > 2 && names::is_identifier(name));
        if fits { Ok(()) } else { Err(StreamError::Name(space)) }
    }

    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), StreamError> {
        self.ids.push((space, id, count));
        Ok(())
    }
}

//! Feeds the sound stretches of a trace to a reader of calls.

use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::grammar::{Parser, Space, TokenSink};
use crate::formats::apitrace::expand::Expansion;
use crate::formats::apitrace::limits::NESTING;
use crate::formats::apitrace::recover::trace::Trace;
use crate::formats::apitrace::repair::encode;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::model::limits::Limits;

/// Reads the tokens of the sound stretches of a trace.
pub(in crate::formats::apitrace) trait StreamReader:
    TokenSink
{
    /// Sets the version of the stream.
    fn set_version(&mut self, version: u64);
    /// Adds the definition of an id that was lost: `raw` from another source, or made up.
    fn add_lost(&mut self, space: Space, id: u64, count: u64, raw: &[u8]);
    /// Forgets the event that is being read, and continues with call number `next`.
    fn skip_to(&mut self, next: u64);
    /// Returns whether no more calls are wanted.
    fn is_done(&self) -> bool;
    /// Ends the reading.
    fn finish(&mut self);
}

/// Complete events that follow one another.
#[derive(Clone, Copy, Debug)]
struct SoundStretch {
    start: u64,
    end: u64,
    /// The number of the first call in it.
    first: u64,
}

/// Returns the sound stretches of a trace, in order.
fn list_stretches(trace: &Trace) -> Vec<SoundStretch> {
    let mut stretches = Vec::new();
    let (mut start, mut first, mut is_open) = (0, 0, false);
    for damage in &trace.faults.damages {
        stretches.push(SoundStretch { start, end: damage.start, first });
        start = start.max(damage.end);
        first = damage.calls.first.saturating_add(damage.calls.lost);
        is_open |= damage.is_open;
    }
    if !is_open {
        let truncated = trace.faults.truncated.as_ref().map(|event| event.start);
        let end = truncated.unwrap_or(trace.places.end);
        stretches.push(SoundStretch { start, end, first });
    }
    stretches.retain(|stretch| stretch.start < stretch.end);
    stretches
}

/// Returns the bytes of the stream that are not complete events.
pub(super) fn count_left_out(trace: &Trace) -> u64 {
    let sound = list_stretches(trace).into_iter();
    let sound = sound.map(|stretch| stretch.end.saturating_sub(stretch.start));
    trace.places.end.saturating_sub(sound.fold(0, u64::saturating_add))
}

/// Passes the events of a trace to `reader`; lost definitions come from `donor` if it has them.
pub(in crate::formats::apitrace) fn feed(
    source: &Source<'_>,
    trace: &Trace,
    donor: Option<&Definitions>,
    limits: &Limits,
    reader: &mut impl StreamReader,
) {
    reader.set_version(trace.version);
    for ((space, id), lost) in &trace.tracker.lost_definitions.all {
        let donated = donor.and_then(|donor| donor.raw(*space, *id)).map(<[u8]>::to_vec);
        let made_up = || encode::definition(trace.version, *space, *id, lost.items);
        reader.add_lost(*space, *id, lost.items, &donated.unwrap_or_else(made_up));
    }
    let mut stretches = list_stretches(trace).into_iter().peekable();
    let mut feeder = Feeder { parser: Parser::new(limits.of(&NESTING)), left: Vec::new(), at: 0 };
    let mut expansion = Expansion::new(source, trace.container, limits);
    while let Some(block) = expansion.next() {
        while let Some(stretch) = stretches.peek().copied() {
            if stretch.start >= block.end() || reader.is_done() {
                break;
            }
            if feeder.at <= stretch.start && stretch.start > 0 {
                feeder.left.clear();
                feeder.parser.turn_to_event(trace.version);
                reader.skip_to(stretch.first);
            }
            let from = feeder.at.max(stretch.start).max(block.start);
            let to = stretch.end.min(block.end());
            let cut = |at: u64| to_usize(at.saturating_sub(block.start));
            feeder.push(block.bytes.get(cut(from)..cut(to)).unwrap_or_default(), from, reader);
            if stretch.end > block.end() {
                break;
            }
            stretches.next();
        }
        if reader.is_done() || stretches.peek().is_none() {
            break;
        }
        expansion.recycle(block.bytes);
    }
    reader.finish();
}

/// Joins the pieces of a stretch.
struct Feeder {
    parser: Parser,
    /// The bytes of the token that was not complete.
    left: Vec<u8>,
    /// Where the bytes end that were taken.
    at: u64,
}

impl Feeder {
    /// Reads `bytes`, which begin at `start` of the stream and follow those before.
    fn push(&mut self, bytes: &[u8], start: u64, reader: &mut impl StreamReader) {
        self.at = start.saturating_add(to_u64(bytes.len()));
        if self.left.is_empty() {
            let (read, _) = self.parser.run(bytes, start, reader);
            self.left.extend_from_slice(bytes.get(read..).unwrap_or_default());
            return;
        }
        let begin = start.saturating_sub(to_u64(self.left.len()));
        self.left.extend_from_slice(bytes);
        let (read, _) = self.parser.run(&self.left, begin, reader);
        self.left.drain(..read);
    }
}

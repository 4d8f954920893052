//! Where a log can be cut so that a guest goes on, and how much a cut drops.

use std::collections::VecDeque;
use std::ops::Range;

use crate::formats::qemu::decode::clock;
use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::defect;
use crate::formats::qemu::decode::defect_log::Anchor;
use crate::formats::qemu::decode::regular;
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{Checkpoint, Kind};
use crate::formats::qemu::limits::STEP_BACK;
use crate::formats::qemu::recover::lane::Lane;
use crate::kit::resync::{Budget, Search, Step, follow};
use crate::kit::walk::Item;
use crate::model::limits::Limits;

/// Events that show that bytes are a log, wherever they end.
pub const EVENTS_SURE: u64 = 64;
/// Events that are enough if END and the end of the file follow.
pub const EVENTS_BELIEVED: u64 = 8;

/// The part of a log before a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Offset of the cut: after a complete event.
    pub cut: u64,
    /// Events before the cut.
    pub events: u64,
    /// Instructions before the cut.
    pub instructions: u64,
    /// Complete events between the cut and the place where the log could have been cut at first.
    pub stepped: u64,
    /// Kind of the last event before the cut.
    pub last: Option<Kind>,
    /// The last time of the virtual clock shortly before the cut, in nanoseconds.
    pub time: Option<i64>,
}

/// The part of a log after a cut at damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Events, as far as they can be read.
    pub events: u64,
    /// Instructions in them.
    pub instructions: u64,
    /// Time of the virtual clock that passes in them, in nanoseconds.
    pub time: Option<i64>,
}

/// An event shortly before a cut.
#[derive(Clone, Copy, Debug)]
struct Recent {
    kind: Kind,
    start: u64,
    instructions: u64,
    /// The time of the virtual clock before it.
    time: Option<i64>,
}

/// Steps back from `cut` to a place at which a guest goes on without the missing event.
///
/// A guest that has executed the instructions of an INSTRUCTION event demands the event after it:
/// replay exits or aborts for want of CHAR_WRITE or RANDOM. Audio is demanded after
/// CP_CLOCK_VIRTUAL, and AUDIO_IN after AUDIO_OUT, and the first audio event of a log may be the
/// missing one.
pub fn step_back(decoder: Decoder<'_>, from: Anchor, cut: u64, limits: &Limits) -> Kept {
    let mut recent: VecDeque<Recent> = VecDeque::new();
    let mut kept = Kept {
        cut: from.at.min(cut),
        events: from.events,
        instructions: from.instructions,
        stepped: 0,
        last: None,
        time: None,
    };
    for event in Walker::new(decoder, from.at, from.ring).map_while(Item::record) {
        if event.end > cut {
            break;
        }
        if recent.len() >= limits.count_of(&STEP_BACK) {
            recent.pop_front();
        }
        let (kind, start, instructions) = (event.kind, event.start, event.instructions());
        recent.push_back(Recent { kind, start, instructions, time: kept.time });
        kept.time = clock::time_of(&event, Kind::ClockVirtualRt).or(kept.time);
        kept.cut = event.end;
        kept.events = kept.events.saturating_add(1);
        kept.instructions = kept.instructions.saturating_add(instructions);
    }
    while let Some(last) = recent.pop_back() {
        if !is_followed_by_demand(last.kind) {
            kept.last = Some(last.kind);
            break;
        }
        kept.cut = last.start;
        kept.time = last.time;
        kept.events = kept.events.saturating_sub(1);
        kept.instructions = kept.instructions.saturating_sub(last.instructions);
        kept.stepped = kept.stepped.saturating_add(1);
    }
    kept
}

/// Returns whether a guest may demand the event after one of this kind.
pub const fn is_followed_by_demand(kind: Kind) -> bool {
    matches!(kind, Kind::Instruction | Kind::AudioOut | Kind::Checkpoint(Checkpoint::ClockVirtual))
}

/// Counts the events that a cut drops. `next`: if the lane lost its way, the place where events
/// begin again, if one was found. `closing`: events at the end that a repair adds again.
pub fn count_dropped(
    lane: &Lane<'_>,
    kept: &Kept,
    next: Option<Option<u64>>,
    closing: u64,
) -> Dropped {
    let mut events = lane.written();
    let mut instructions = lane.instructions();
    let mut last = lane.clock(Kind::ClockVirtualRt).map(|[_, last]| last);
    if let Some(next) = next {
        last = None;
        if let Some(next) = next {
            let source = lane.decoder().source();
            let mut rest = Lane::new(source, lane.layouts, 0).starting_at(next);
            rest.advance(u64::MAX, &mut Vec::new());
            events = events.saturating_add(rest.written());
            instructions = instructions.saturating_add(rest.instructions());
            last = rest.clock(Kind::ClockVirtualRt).map(|[_, last]| last);
        }
    }
    Dropped {
        events: events.saturating_sub(closing).saturating_sub(kept.events),
        instructions: instructions.saturating_sub(kept.instructions),
        time: last.and_then(|last| last.checked_sub(kept.time?)).filter(|time| *time >= 0),
    }
}

/// Returns the first place of an area from which `count` events follow one another, or fewer to END
/// at the end of the file.
pub fn find_events(decoder: Decoder<'_>, area: Range<u64>, count: u64) -> Option<u64> {
    let (source, layout) = (decoder.source(), decoder.layout());
    let bytes = area.end.saturating_sub(area.start);
    let search = Search { source, area, stride: 1, header_len: 1 };
    // Every place may take as many steps as a chain has.
    let mut budget = Budget::new(bytes, bytes.saturating_mul(count));
    let is_id = |header: &[u8]| header.first().is_some_and(|id| layout.kind(*id).is_some());
    let step = |(previous, seen): (Option<Kind>, u64), at| {
        let Ok(event) = decoder.event(at, u64::MAX) else { return Step::Invalid };
        let order = previous.and_then(|one| regular::find_in_order(layout, one, event.kind));
        if order.is_some() || defect::find_in_event(&event, layout).is_some() {
            return Step::Invalid;
        }
        let seen = seen.saturating_add(1);
        if event.kind != Kind::End {
            return Step::Item { end: event.end, state: (Some(event.kind), seen) };
        }
        let is_whole = event.end == source.len() && seen >= EVENTS_BELIEVED;
        if is_whole { Step::End } else { Step::Invalid }
    };
    let prove = |at, budget: &mut Budget| follow(at, count, (None, 0), budget, step);
    search.find(&mut budget, is_id, prove).found()
}

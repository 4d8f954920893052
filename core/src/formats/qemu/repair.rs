//! How a log is closed. Decides nothing about policy.

use std::collections::VecDeque;

use crate::formats::qemu::check::lane::Anchor;
use crate::formats::qemu::decode::event::{Decoder, FILE, Value, instructions};
use crate::formats::qemu::decode::walk::{Item, Walker};
use crate::formats::qemu::layout::{Checkpoint, Kind, Layout, VERSION_LEN};
use crate::kit::span::Span;
use crate::mend::edit::Edit;

/// Events that are remembered while walking to a cut: a back-off takes two or three.
const REMEMBERED: usize = 64;

/// What stands before a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where the log is cut: behind a whole event.
    pub cut: u64,
    /// Events before the cut.
    pub events: u64,
    /// Instructions before the cut.
    pub instructions: u64,
    /// Whole events that were stepped back over.
    pub stepped: u64,
    /// Kind of the last event before the cut.
    pub last: Option<Kind>,
    /// The last time of the virtual clock before the cut, if one is near.
    pub time: Option<i64>,
}

/// Steps back from `cut` to a place where a guest goes on without the event that is missing.
///
/// A guest that has executed the instructions of an INSTRUCTION event demands what followed it:
/// replay exits or aborts for want of CHAR_WRITE or RANDOM. Sound is demanded behind
/// CP_CLOCK_VIRTUAL, and AUDIO_IN behind AUDIO_OUT, and the first sound of a log may be what is
/// missing.
pub fn back_off(decoder: Decoder<'_>, from: Anchor, cut: u64) -> Kept {
    let mut recent: VecDeque<(Kind, u64, u64)> = VecDeque::new();
    let mut kept = Kept {
        cut: from.at.min(cut),
        events: from.events,
        instructions: from.instructions,
        stepped: 0,
        last: None,
        time: None,
    };
    for item in Walker::new(decoder, from.at, from.ring) {
        let Item::Event(event) = item else { break };
        if event.end > cut {
            break;
        }
        if let (Kind::ClockVirtualRt, Value::Time(time)) = (event.kind, &event.value) {
            kept.time = Some(*time);
        }
        if recent.len() >= REMEMBERED {
            recent.pop_front();
        }
        let count = instructions(&event);
        recent.push_back((event.kind, event.start, count));
        kept.cut = event.end;
        kept.events = kept.events.saturating_add(1);
        kept.instructions = kept.instructions.saturating_add(count);
    }
    while let Some((kind, start, count)) = recent.pop_back() {
        if !demands(kind) {
            kept.last = Some(kind);
            break;
        }
        kept.cut = start;
        kept.events = kept.events.saturating_sub(1);
        kept.instructions = kept.instructions.saturating_sub(count);
        kept.stepped = kept.stepped.saturating_add(1);
    }
    kept
}

/// Whether a guest may demand the event behind one of this kind.
pub const fn demands(kind: Kind) -> bool {
    matches!(kind, Kind::Instruction | Kind::AudioOut | Kind::Checkpoint(Checkpoint::ClockVirtual))
}

/// Writes the version.
pub fn version(layout: &Layout) -> Edit {
    Edit::replace(Span::new(FILE, 0, VERSION_LEN), layout.version.to_be_bytes())
}

/// The bytes `from..to` become `closing`.
pub fn close(from: u64, to: u64, closing: Vec<u8>) -> Edit {
    Edit::replace(Span::new(FILE, from, to), closing)
}

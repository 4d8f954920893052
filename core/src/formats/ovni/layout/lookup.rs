//! Finds an event by its code.
//!
//! A table of 2^17 row numbers, built by the compiler, gives the row of a code in two loads; a
//! second table holds the few bytes of each row that are looked at for every event.

use crate::formats::ovni::layout::event_row::{Effect, EventRow, Payload, Stack};
use crate::formats::ovni::layout::events::EVENTS;
use crate::formats::ovni::layout::thread_state::ThreadState;
use crate::formats::ovni::layout::{JUMBO, JUMBO_CODE, MODEL_COUNT, MODELS, Needs};

/// The part of a row that is looked at for every event, in a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSummary {
    /// Its effect.
    pub effect: Effect,
    /// State that it pushes or pops.
    pub state: u16,
    /// The flags of an event with exactly the payload of the newest version; 0xff for jumbo events.
    pub flags: u8,
    /// Index of its model.
    pub model: u8,
    /// Bits of the thread states in which it may come.
    pub states: u8,
    /// It must not come while the thread is off its CPU.
    pub on_cpu: bool,
    /// Version of the model that introduced it: major times 16 plus minor.
    pub rank: u8,
}

/// The rank of version 1.1. The first events of every model have at most this rank.
pub const FIRST_RANK: u8 = 0x11;
/// Flags that no event has: jumbo events are looked at one by one.
const NO_FLAGS: u8 = 0xff;

static SUMMARIES: [EventSummary; EVENTS.len()] = summarise_rows();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a bad index")]
#[allow(clippy::as_conversions, reason = "const functions have no other conversion; all are small")]
#[allow(clippy::arithmetic_side_effects, reason = "evaluated by the compiler")]
const fn summarise_rows() -> [EventSummary; EVENTS.len()] {
    let nothing = EventSummary {
        effect: Effect::Ignore,
        state: 0,
        flags: NO_FLAGS,
        model: 0,
        states: ThreadState::ANY,
        on_cpu: false,
        rank: 0,
    };
    let mut rows = [nothing; EVENTS.len()];
    let mut at = 0;
    while at < EVENTS.len() {
        let row = EVENTS[at];
        let mut number = 0;
        while MODELS[number].code != row.code[0] {
            number += 1;
        }
        rows[at].effect = row.effect;
        rows[at].state = row.state;
        rows[at].flags = match row.payload {
            Payload::Exact(0) => 0,
            Payload::Exact(len) => len - 1,
            Payload::Jumbo(_) => NO_FLAGS,
        };
        rows[at].model = number as u8;
        rows[at].states = match MODELS[number].needs {
            Needs::Nothing => ThreadState::ANY,
            Needs::Active => ThreadState::ACTIVE,
            Needs::Running => ThreadState::RUNNING,
        };
        let code = row.code[0];
        rows[at].on_cpu = code == b'O' || code == b'V';
        let (major, minor, _) = row.since;
        rows[at].rank = (major * 16 + minor) as u8;
        at += 1;
    }
    rows
}

const SLOTS: usize = MODEL_COUNT << 14;
/// Index of no row.
const NONE: u16 = u16::MAX;

/// Row number of each code, in its newest version.
static INDEX: [u16; SLOTS] = build_index();

/// Model index of each first byte.
static MODEL_OF: [u8; 256] = build_model_index();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a bad index")]
#[allow(clippy::as_conversions, reason = "const functions have no other conversion; all are small")]
#[allow(clippy::arithmetic_side_effects, reason = "evaluated by the compiler")]
const fn build_index() -> [u16; SLOTS] {
    let mut index = [NONE; SLOTS];
    let mut at = 0;
    while at < EVENTS.len() {
        let [code, category, value] = EVENTS[at].code;
        let mut model = 0;
        while MODELS[model].code != code {
            model += 1;
        }
        index[(model << 14) | ((category as usize) << 7) | value as usize] = at as u16;
        at += 1;
    }
    index
}

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a bad index")]
#[allow(clippy::as_conversions, reason = "const functions have no other conversion; all are small")]
#[allow(clippy::arithmetic_side_effects, reason = "evaluated by the compiler")]
const fn build_model_index() -> [u8; 256] {
    let mut models = [u8::MAX; 256];
    let mut at = 0;
    while at < MODEL_COUNT {
        models[MODELS[at].code as usize] = at as u8;
        at += 1;
    }
    models
}

/// Returns the index of the model with this character.
#[inline]
pub fn model_index(code: u8) -> Option<u8> {
    MODEL_OF.get(usize::from(code)).copied().filter(|model| *model != u8::MAX)
}

/// Returns the codes that differ from one by a bit.
pub fn near_codes([first, second, third]: [u8; 3]) -> impl Iterator<Item = [u8; 3]> {
    let bits = (0..8).filter_map(|bit| 1_u8.checked_shl(bit));
    bits.flat_map(move |bit| {
        [[first ^ bit, second, third], [first, second ^ bit, third], [first, second, third ^ bit]]
    })
}

/// Returns the row number of a code, in its newest version.
#[inline]
pub fn row_index(code: [u8; 3]) -> Option<u16> {
    let [first, category, value] = code;
    let model = MODEL_OF.get(usize::from(first)).copied().unwrap_or(u8::MAX);
    if (category | value | model) & 0x80 != 0 {
        return None;
    }
    let slot = (usize::from(model) << 14) | (usize::from(category) << 7) | usize::from(value);
    INDEX.get(slot).copied().filter(|number| *number != NONE)
}

/// Returns the summary of a row.
#[inline]
pub fn find_summary(number: u16) -> Option<&'static EventSummary> {
    SUMMARIES.get(usize::from(number))
}

/// Whether libovni writes these flags with any event of the table.
pub fn is_written(flags: u8) -> bool {
    flags == JUMBO | JUMBO_CODE || SUMMARIES.iter().any(|summary| summary.flags == flags)
}

/// Returns a row by its number.
pub fn row_at(number: u16) -> Option<&'static EventRow> {
    EVENTS.get(usize::from(number))
}

/// Returns the event with this code and `payload` bytes, in any version.
pub fn row_with_payload(code: [u8; 3], payload: u64) -> Option<&'static EventRow> {
    EVENTS.iter().find(|row| {
        row.code == code && matches!(row.payload, Payload::Exact(len) if u64::from(len) == payload)
    })
}

/// Returns the event with this code, in its newest version.
pub fn by_code(code: [u8; 3]) -> Option<&'static EventRow> {
    row_at(row_index(code)?)
}

/// Returns the event that closes a state of a stack.
pub fn closer(stack: Stack, state: u16) -> Option<&'static EventRow> {
    let [category, value] = state.to_be_bytes();
    let opener = by_code([stack.model_code(), category, value])?;
    by_code(opener.partner)
}

/// Formats a code, safe to print: `VTx`.
pub fn display_code(code: [u8; 3]) -> String {
    crate::kit::text::Untrusted(&code).to_string()
}

/// Whether three bytes can be a code: all codes of ovni are printable.
#[inline]
pub fn is_printable(code: [u8; 3]) -> bool {
    code.iter().all(|byte| (0x21..0x7f).contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ovni::layout::Model;

    #[test]
    fn every_event_is_found_by_its_code_and_pairs_close_each_other() {
        for row in &EVENTS {
            let found = by_code(row.code).unwrap();
            assert_eq!(
                (found.code, found.until),
                (
                    row.code,
                    MODELS.iter().find(|model| { model.code == row.code[0] }).unwrap().newest
                )
            );
            match row.effect {
                Effect::Push(stack) => {
                    let closer = closer(stack, row.state).unwrap();
                    assert_eq!(
                        (closer.effect, closer.state),
                        (Effect::Pop(stack), row.state),
                        "{row:?}"
                    );
                }
                Effect::Pop(stack) => {
                    let opener = by_code(row.partner).unwrap();
                    assert_eq!((opener.effect, opener.state), (Effect::Push(stack), row.state));
                }
                _ => assert_eq!(&row.partner, b"   "),
            }
        }
    }

    #[test]
    fn the_counts_are_those_of_the_emulator() {
        let newest = |model: &Model| {
            let mine = EVENTS.iter().filter(|row| row.code[0] == model.code);
            mine.filter(|row| row.until == model.newest).count()
        };
        let counts: Vec<usize> = MODELS.iter().map(newest).collect();
        assert_eq!(counts, [18, 67, 72, 16, 24, 98, 2, 68]);
        assert_eq!(row_with_payload(*b"VTx", 4).unwrap().until, (1, 1, 0));
        assert!(by_code(*b"VT?").is_none() && by_code(*b"t01").is_none());
        assert!(by_code([b'V', 0xff, b'x']).is_none());
    }

    #[test]
    fn both_ways_to_serve_close_each_other() {
        let state = |code: &[u8; 3]| by_code(*code).unwrap().state;
        assert_eq!(state(b"VS["), state(b"VSn"));
        assert_eq!(state(b"VSN"), state(b"VS]"));
        assert_eq!(closer(Stack::NosvSubsystem, state(b"VSN")).unwrap().code, *b"VS]");
    }
}

//! Which events may follow which, and which values are regular: data for the fast loop.
//!
//! Successors are those of 13 clean logs of 5.2 to 11.1 with 3 million events. A recorder may end
//! at any place, so that SHUTDOWN and END follow everything.

use std::sync::LazyLock;

use crate::formats::qemu::decode::event::fixed_len;
use crate::formats::qemu::decode::skim::{Entry, Skim, Slot, Table};
use crate::formats::qemu::layout::{Async, Checkpoint, KINDS, Kind, LAYOUTS, Layout, range};
use crate::formats::qemu::rules;
use crate::report::Rule;

/// Whether `next` may follow `kind`; the rule that it breaks if not.
pub fn broken(kind: Kind, next: Kind) -> Option<&'static Rule> {
    if matches!(next, Kind::Shutdown(_) | Kind::End) {
        return None;
    }
    match kind {
        Kind::Instruction if next == Kind::Instruction => Some(&rules::INSTRUCTION_TWICE),
        Kind::CharWrite | Kind::Interrupt if next != Kind::Instruction => {
            Some(&rules::INSTRUCTION_MISSING)
        }
        Kind::Async(Async::Input)
            if !matches!(next, Kind::Async(Async::Input | Async::InputSync)) =>
        {
            Some(&rules::INPUT_SYNC_MISSING)
        }
        // Through 7.0 asynchronous events come between the checkpoint and what it runs.
        Kind::Checkpoint(Checkpoint::ClockVirtualRt)
            if !matches!(next, Kind::ClockVirtualRt | Kind::Async(_)) =>
        {
            Some(&rules::CLOCK_MISSING)
        }
        _ => None,
    }
}

/// The bit of a kind.
fn bit(kind: Kind) -> u64 {
    u32::try_from(kind.number()).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or(0)
}

/// The bits of the kinds that may follow a kind; the asynchronous group stands for all of its.
pub fn followers(kind: Kind) -> u64 {
    let allowed = |next: &&Kind| broken(kind, **next).is_none();
    KINDS.iter().filter(allowed).fold(0, |bits, next| bits | bit(*next))
}

/// What is regular in the layouts, in their order.
static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| LAYOUTS.iter().map(build).collect());
/// Of no layout.
static NOTHING: Table = Table { kinds: [None; 256], entries: [Entry::NONE; 256] };

/// What is regular in layout `number`.
pub fn table(number: usize) -> &'static Table {
    TABLES.get(number).unwrap_or(&NOTHING)
}

fn build(layout: &Layout) -> Table {
    let mut table = NOTHING.clone();
    for (id, (kind, entry)) in (0_u8..).zip(table.kinds.iter_mut().zip(&mut table.entries)) {
        let Some(known) = layout.kind(id) else { break };
        *kind = Some(known);
        let Some(len) = fixed_len(known) else { continue };
        let (shift, mask) = match len {
            5 => (32, u64::from(u32::MAX)),
            9 => (0, u64::MAX),
            _ => (0, 0),
        };
        let clock = matches!(known, Kind::ClockHost | Kind::ClockVirtualRt);
        let rises = if clock { u64::MAX } else { 0 };
        *entry = Entry { len, shift, mask, rises, bit: bit(known), followers: followers(known) };
    }
    table
}

/// The state before the first event. A clock is regular once it was seen.
pub fn start(layout: &Layout) -> Skim {
    let mut skim = Skim { slots: [Slot::default(); 256], followers: u64::MAX, last: 0 };
    for (id, slot) in (0_u8..).zip(&mut skim.slots) {
        match layout.kind(id) {
            None => break,
            Some(Kind::Instruction) => {
                slot.floor = 1;
                slot.end = u64::from(range::INSTRUCTIONS).saturating_add(1);
            }
            Some(Kind::ClockHost | Kind::ClockVirtualRt) => {}
            // The value of an event without a payload is 0.
            Some(_) => slot.end = 1,
        }
    }
    skim
}

//! Regular values and successors, as data for the fast loop.
//!
//! The successors are those of clean logs of 5.2 to 11.1, a Linux boot among them. A recorder may
//! end at any point, so SHUTDOWN and END may follow every event.

use std::sync::LazyLock;

use crate::formats::qemu::decode::defect::Defect;
use crate::formats::qemu::decode::event::fixed_len;
use crate::formats::qemu::decode::pattern::Pattern;
use crate::formats::qemu::decode::skim::{Entry, Misfits, Skim, Slot, Table};
use crate::formats::qemu::decode::turns;
use crate::formats::qemu::layout::{Async, Checkpoint, KINDS, Kind, LAYOUTS, Layout, range};

/// Returns the defect of an event of kind `next` after one of kind `kind`, if it may not follow.
///
/// The processor and the main loop of QEMU take turns, so a checkpoint may follow every event.
pub fn find_in_order(layout: &Layout, kind: Kind, next: Kind) -> Option<Defect> {
    if matches!(next, Kind::Shutdown(_) | Kind::End) {
        return None;
    }
    // Through 7.0 asynchronous events come between a checkpoint and what it runs.
    let is_missing = |clock: Kind| next != clock && !matches!(next, Kind::Async(_));
    if clock_after(layout, kind).is_some_and(is_missing) {
        return Some(Defect::ClockMissing(kind));
    }
    match kind {
        Kind::Instruction if next == Kind::Instruction => Some(Defect::InstructionTwice),
        Kind::CharWrite | Kind::Interrupt | Kind::Exception
            if !matches!(next, Kind::Instruction | Kind::Checkpoint(_)) =>
        {
            Some(Defect::InstructionMissing(kind))
        }
        Kind::Async(Async::Input)
            if !matches!(next, Kind::Async(Async::Input | Async::InputSync)) =>
        {
            Some(Defect::InputSyncMissing(kind))
        }
        Kind::ClockHost | Kind::ClockVirtualRt | Kind::Checkpoint(_) if next == Kind::Exception => {
            Some(Defect::InstructionMissing(kind))
        }
        _ => None,
    }
}

/// Returns the defect of an event that may not follow one of kind `kind`: it is the same for all.
pub fn find_misfit(layout: &Layout, kind: Kind) -> Option<Defect> {
    KINDS.iter().find_map(|row| find_in_order(layout, kind, row.kind))
}

/// Returns the clock that QEMU reads right after a checkpoint. Older releases pass some of these
/// checkpoints without reading it.
fn clock_after(layout: &Layout, kind: Kind) -> Option<Kind> {
    match kind {
        Kind::Checkpoint(Checkpoint::ClockVirtualRt) => Some(Kind::ClockVirtualRt),
        Kind::Checkpoint(Checkpoint::ClockHost) if layout.measured => Some(Kind::ClockHost),
        Kind::Checkpoint(Checkpoint::ClockWarpStart) if layout.measured => {
            Some(Kind::ClockVirtualRt)
        }
        _ => None,
    }
}

/// The bit of a kind in a set of kinds.
fn bit(kind: Kind) -> u64 {
    u32::try_from(kind.number()).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or(0)
}

/// Returns the bits of the kinds that may follow a kind; the bit of the asynchronous group stands
/// for all asynchronous kinds.
fn followers(layout: &Layout, kind: Kind) -> u64 {
    let is_allowed = |next: &Kind| find_in_order(layout, kind, *next).is_none();
    KINDS.iter().map(|row| row.kind).filter(is_allowed).fold(0, |bits, next| bits | bit(next))
}

/// The tables of the layouts, in their order.
static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| LAYOUTS.iter().map(build_table).collect());
/// The table of no layout: every event takes the slow path.
static EMPTY: Table = Table { kinds: [None; 256], entries: [Entry::NONE; 256] };

fn table(number: usize) -> &'static Table {
    TABLES.get(number).unwrap_or(&EMPTY)
}

fn build_table(layout: &Layout) -> Table {
    let mut table = EMPTY.clone();
    for (id, (kind, entry)) in (0_u8..).zip(table.kinds.iter_mut().zip(&mut table.entries)) {
        let Some(known) = layout.kind(id) else { break };
        *kind = Some(known);
        let followers = followers(layout, known);
        entry.followers = followers;
        let Some(len) = fixed_len(known) else { continue };
        let (shift, mask) = match len {
            5 => (32, u64::from(u32::MAX)),
            9 => (0, u64::MAX),
            _ => (0, 0),
        };
        let rises = if known.is_clock() { u64::MAX } else { 0 };
        let partner = turns::partner(known).filter(|_| layout.measured);
        let (opens, closes) = partner.map_or((0, 0), |partner| (bit(partner), bit(known)));
        let counts = u32::from(known == Kind::Instruction);
        let bit = bit(known);
        *entry = Entry { len, shift, mask, rises, bit, followers, opens, closes, counts };
    }
    table
}

/// Returns the state before the first event of layout `number`. A clock is regular after it was
/// seen once.
pub fn start(number: usize, layout: &Layout) -> Skim {
    let mut slots = [Slot::default(); 256];
    for (id, slot) in (0_u8..).zip(&mut slots) {
        let kind = layout.kind(id);
        match kind {
            None => break,
            Some(Kind::Instruction) => {
                slot.floor = 1;
                slot.end = range::INSTRUCTIONS_USUAL;
            }
            Some(clock) if clock.is_clock() => {}
            // The value of an event without a payload is 0.
            Some(_) => slot.end = 1,
        }
    }
    let any = u64::MAX;
    Skim {
        table: table(number),
        slots,
        followers: any,
        turns: any,
        free: 0,
        last: 0,
        events: 0,
        misfits: Misfits { counted: 0, after: [0; 256] },
        pattern: Pattern::default(),
    }
}

//! CoreSight: frames of 16 bytes, in which data of several sources take turns.
//!
//! ```text
//!  byte 0 2 4 .. 14   data, or (bit 0 set) the number of the source of the data after it
//!  byte 1 3 5 .. 13   data
//!  byte 15            bit 0 of the even bytes that are data, and when a new source begins
//! ```
//!
//! Numbers from 0x70 on are reserved; only those of a trigger and of a flush occur. Synchronisation
//! is a frame of its own, `ff ff ff 7f` four times. Where frames are not aligned, data are read as
//! numbers of sources, and reserved ones occur soon.
//!
//! Source: Arm CoreSight Architecture Specification, Trace Formatter.

use super::{Scan, Sign};
use crate::kit::num::to_usize;

/// Size of a frame in bytes.
pub const FRAME: u64 = 16;
/// A frame of synchronisation.
const SYNC: [u8; 16] = *b"\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f";
/// Sound frames between wrong ones that belong to the same damage, in bytes.
const GAP: u64 = 16 * FRAME;
/// First number of a source that is reserved.
const RESERVED: u8 = 0x70;
/// The numbers of a flush and of a trigger.
const EVENTS: [u8; 2] = [0x7b, 0x7d];

/// Scans a piece of complete frames. Returns its length.
pub(super) fn scan(scan: &mut Scan, bytes: &[u8]) -> usize {
    let mut at = 0_usize;
    for frame in bytes.chunks(to_usize(FRAME)) {
        let end = at.saturating_add(frame.len());
        let (frames, wrong) = &mut scan.frames;
        *frames = frames.saturating_add(1);
        if let Some(source) = find_reserved(frame) {
            *wrong = wrong.saturating_add(1);
            scan.push(at..end, Sign::Source(source), GAP);
        }
        at = end;
    }
    at
}

/// Returns the first number of a source in a frame that no source has.
fn find_reserved(frame: &[u8]) -> Option<u8> {
    let numbers = frame.iter().step_by(2).filter(|byte| **byte & 1 == 1).map(|byte| byte >> 1);
    let mut reserved = numbers.filter(|id| *id >= RESERVED && !EVENTS.contains(id));
    reserved.next().filter(|_| frame != SYNC)
}

//! Arm SPE: packets with a header of one or two bytes, which gives the size of the rest.
//!
//! ```text
//!  00 padding   01 end   71 timestamp   .2 .3 events, data source   48.. operation   64.. context
//!  98.. counter   b0.. address   20.. a second byte of header: counter, address, alignment
//! ```
//!
//! Source: Arm Architecture Reference Manual, Statistical Profiling Extension, sample record
//! packets; `perf script -D` calls other headers bad packets.

use super::{Scan, Sign, from, head};
use crate::kit::num::to_u64;
use crate::kit::steps;

/// Packets that show where packets begin again, of which some are not padding.
const PROOF: usize = 16;
const PROOF_FILLED: usize = 6;

/// The beginning of a packet.
enum Packet {
    /// A packet of so many bytes, of which some may be cut off.
    Of(usize),
    /// No packet begins like this.
    Invalid,
    /// Padding to a place that depends on the memory of the recorder.
    Alignment,
}

/// Scans a piece. Returns the number of bytes that the next piece need not have.
pub(super) fn scan(scan: &mut Scan, bytes: &[u8]) -> usize {
    let mut at = 0_usize;
    loop {
        if !scan.is_synced {
            let start = at;
            let sign = Sign::Header(head(from(bytes, at)));
            // A trace may begin inside a record.
            let is_start = scan.is_first && start == 0;
            let next = find_packets(bytes, if is_start { 0 } else { start.saturating_add(1) });
            at = next.unwrap_or(bytes.len());
            if !is_start {
                scan.push(start..at, sign, 0);
            }
            if next.is_none() {
                return at;
            }
            scan.is_synced = true;
        }
        let rest = from(bytes, at);
        match packet(rest) {
            _ if rest.is_empty() => return at,
            Packet::Of(len) if len > rest.len() => return at,
            Packet::Of(len) => at = at.saturating_add(len),
            Packet::Invalid => scan.is_synced = false,
            Packet::Alignment => match find_packets(bytes, at.saturating_add(1)) {
                Some(next) => at = next,
                None => return bytes.len(),
            },
        }
    }
}

fn packet(bytes: &[u8]) -> Packet {
    let [first, second] = head(bytes);
    match first {
        0x00 | 0x01 => Packet::Of(1),
        0x71 => of_header(1, first),
        0x20..=0x23 if bytes.len() < 2 => Packet::Of(2),
        0x20..=0x23 if second == 0 => Packet::Alignment,
        0x20..=0x23 if has_index(second) => of_header(2, second),
        _ if matches!(first & 0xcf, 0x42 | 0x43) => of_header(1, first),
        _ if matches!(first & 0xfc, 0x48 | 0x64) => of_header(1, first),
        _ if has_index(first) => of_header(1, first),
        _ => Packet::Invalid,
    }
}

/// Whether a header is that of a counter or of an address, which have an index in it.
const fn has_index(header: u8) -> bool {
    matches!(header & 0xf8, 0x98 | 0xb0)
}

/// Returns a packet whose header ends with this byte.
const fn of_header(len: usize, header: u8) -> Packet {
    let payload = 1_usize << (header >> 4 & 3);
    Packet::Of(len.saturating_add(payload))
}

/// Finds the first place from `start` on from which packets follow one another.
fn find_packets(bytes: &[u8], start: usize) -> Option<usize> {
    let mut places = start..bytes.len();
    places.find(|at| bytes.get(*at).is_some_and(|byte| *byte != 0) && are_packets(from(bytes, *at)))
}

/// Whether packets follow one another.
fn are_packets(mut rest: &[u8]) -> bool {
    let mut filled = 0_usize;
    for read in 0..PROOF {
        let is_filled = rest.first().is_some_and(|byte| *byte != 0);
        match packet(rest) {
            Packet::Of(len) if len <= rest.len() => rest = from(rest, len),
            _ => {
                steps::count(to_u64(read));
                return false;
            }
        }
        filled = filled.saturating_add(is_filled.into());
    }
    steps::count(to_u64(PROOF));
    filled >= PROOF_FILLED
}

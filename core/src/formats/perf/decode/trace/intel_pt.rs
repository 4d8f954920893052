//! Intel PT: packets, and a PSB (`02 82` eight times) wherever a decoder can begin.
//!
//! Nothing else has the bytes of a PSB, so packets are read from one to the next. Bytes before the
//! first one cannot be judged.
//!
//! Source: Intel SDM, volume 3, Trace Packets and Data Types; measured with `perf script -D`.

use super::{Scan, Sign, from, head};

/// The bytes of a PSB.
const PSB: [u8; 16] = *b"\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82";
/// Zeros in a row that are not padding. The longest padding of 3 MB of public traces has 21 bytes;
/// a disk loses 512 bytes or more.
const ZEROS: usize = 512;

/// The beginning of a packet.
enum Packet {
    /// A packet of so many bytes, of which some may be cut off.
    Of(usize),
    /// No packet begins like this.
    Invalid,
    /// A later processor may have such a packet.
    Unknown,
}

/// The size of the items in a block, which begins with BBP and ends with another kind of packet.
type Block = Option<usize>;

/// Scans a piece. Returns the number of bytes that the next piece need not have.
pub(super) fn scan(scan: &mut Scan, bytes: &[u8]) -> usize {
    let Some(mut start) = find_psb(bytes, 0) else {
        return bytes.len().saturating_sub(PSB.len());
    };
    while let Some(next) = find_psb(bytes, start.saturating_add(PSB.len())) {
        walk(scan, bytes.get(start..next).unwrap_or_default(), start);
        start = next;
    }
    if scan.is_last || start == 0 {
        walk(scan, from(bytes, start), start);
        return bytes.len();
    }
    start
}

fn find_psb(bytes: &[u8], after: usize) -> Option<usize> {
    let place = from(bytes, after).windows(PSB.len()).position(|window| window == PSB)?;
    Some(after.saturating_add(place))
}

/// Walks the packets from a PSB at `start` up to the next one.
fn walk(scan: &mut Scan, bytes: &[u8], start: usize) {
    let end = start.saturating_add(bytes.len());
    let (mut at, mut block) = (0_usize, None);
    loop {
        let rest = from(bytes, at);
        let place = start.saturating_add(at);
        let Some(first) = rest.first() else { return };
        let len = match packet(rest, block) {
            Packet::Of(_) if *first == 0 => {
                let zeros = rest.iter().take_while(|byte| **byte == 0).count();
                if zeros >= ZEROS && zeros < rest.len() {
                    // No packet is known to begin after them.
                    scan.push(place..place.saturating_add(zeros), Sign::Zeros, 0);
                    return;
                }
                zeros
            }
            Packet::Of(len) => len,
            Packet::Invalid => return scan.push(place..end, Sign::Header(head(rest)), 0),
            Packet::Unknown => return,
        };
        block = next_block(rest, block);
        at = at.saturating_add(len);
    }
}

fn packet(bytes: &[u8], block: Block) -> Packet {
    let [first, next] = head(bytes);
    if let Some(size) = block.filter(|_| first & 7 == 4) {
        return Packet::Of(size);
    }
    match first {
        0x02 if bytes.len() < 2 => Packet::Of(2),
        0x02 => extended(bytes, next),
        // PAD and the short TNT.
        _ if first & 1 == 0 => Packet::Of(1),
        _ if first & 3 == 3 => cycles(bytes),
        // MODE and MTC, TSC.
        0x99 | 0x59 => Packet::Of(2),
        0x19 => Packet::Of(8),
        _ if matches!(first & 0x1f, 0x01 | 0x0d | 0x11 | 0x1d) => address(first >> 5),
        _ => Packet::Invalid,
    }
}

/// TIP, TIP.PGE, TIP.PGD and FUP with a compressed address.
const fn address(compression: u8) -> Packet {
    match compression {
        0 => Packet::Of(1),
        1 => Packet::Of(3),
        2 => Packet::Of(5),
        3 | 4 => Packet::Of(7),
        6 => Packet::Of(9),
        _ => Packet::Invalid,
    }
}

/// CYC: each byte but the last one has a bit that another one follows.
fn cycles(bytes: &[u8]) -> Packet {
    /// Bytes of a count of 64 bits.
    const MOST: usize = 10;
    let more = |(index, byte): &(usize, &u8)| *byte & if *index == 0 { 4 } else { 1 } != 0;
    match bytes.iter().enumerate().take_while(more).count() {
        count if count >= MOST => Packet::Invalid,
        count => Packet::Of(count.saturating_add(1)),
    }
}

/// Packets of two or three bytes of header.
fn extended(bytes: &[u8], second: u8) -> Packet {
    match second {
        // PTWRITE, by the size of its value.
        _ if second & 0x1f == 0x12 => match second >> 5 & 3 {
            0 => Packet::Of(6),
            1 => Packet::Of(10),
            _ => Packet::Unknown,
        },
        0x82 if bytes.starts_with(&PSB) || PSB.starts_with(bytes) => Packet::Of(PSB.len()),
        // PSBEND, OVF, TraceStop, EXSTOP, BEP.
        0x23 | 0xf3 | 0x83 | 0x62 | 0xe2 | 0x33 | 0xb3 => Packet::Of(2),
        // BBP.
        0x63 => Packet::Of(3),
        // CBR, PWRE, CFE.
        0x03 | 0x22 | 0x13 => Packet::Of(4),
        // TMA, VMCS, PWRX.
        0x73 | 0xc8 | 0xa2 => Packet::Of(7),
        // The long TNT, PIP.
        0xa3 | 0x43 => Packet::Of(8),
        // MWAIT.
        0xc2 => Packet::Of(10),
        // EVD.
        0x53 => Packet::Of(11),
        // MNT has a third byte, and others may come.
        0xc3 => match bytes.get(2) {
            Some(0x88) | None => Packet::Of(11),
            Some(_) => Packet::Unknown,
        },
        _ => Packet::Invalid,
    }
}

/// Returns the block in which the packet after this one is.
fn next_block(bytes: &[u8], block: Block) -> Block {
    let [first, second] = head(bytes);
    match (first, second) {
        (0x02, 0x63) => {
            let is_short = bytes.get(2).is_some_and(|byte| byte & 0x80 != 0);
            Some(if is_short { 5 } else { 9 })
        }
        (0x02, 0x73 | 0x03 | 0xc3 | 0x62 | 0xe2 | 0x22 | 0xa2) | (0x00 | 0x19 | 0x59, _) => block,
        _ if first & 7 == 4 || first & 3 == 3 || first & 0x1f == 0x1d => block,
        _ => None,
    }
}

//! Numbers and headers in the byte order of the recording.

use crate::formats::perf::decode::frame::Frame;
use crate::formats::perf::layout::RECORD_HEADER;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;

/// Encodes a u64.
pub fn u64_bytes(value: u64, order: Order) -> [u8; 8] {
    order.bytes(value)
}

/// Encodes a u32.
pub fn u32_bytes(value: u32, order: Order) -> [u8; 4] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}

/// Encodes a u16.
pub fn u16_bytes(value: u16, order: Order) -> [u8; 2] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}

/// Encodes the header of a record; `None` if a record cannot have that size.
pub fn header_bytes(frame: Frame, order: Order) -> Option<[u8; 8]> {
    let [a, b, c, d] = u32_bytes(frame.kind, order);
    let [e, f] = u16_bytes(frame.misc, order);
    let [g, h] = u16_bytes(u16::try_from(frame.size).ok()?, order);
    Some([a, b, c, d, e, f, g, h])
}

/// Builds a record of perf's own; `None` if a record cannot have that size.
pub fn record_bytes(kind: u32, body: &[u8], order: Order) -> Option<Vec<u8>> {
    let size = to_u64(body.len()).saturating_add(RECORD_HEADER);
    let header = header_bytes(Frame { kind, misc: 0, size }, order)?;
    Some([&header[..], body].concat())
}

//! Numbers in the byte order of the recording.

use crate::kit::cursor::Order;

/// Encodes a u64.
pub fn u64_bytes(value: u64, order: Order) -> [u8; 8] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
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

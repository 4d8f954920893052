//! Events and headers as libovni writes them.

use crate::formats::ovni::layout::{JUMBO, JUMBO_CODE, MAGIC, STREAM_VERSION};
use crate::kit::num::to_u64;

/// Returns the header of a stream: 8 bytes.
pub fn encode_header() -> Vec<u8> {
    [&MAGIC[..], &STREAM_VERSION.to_le_bytes()].concat()
}

/// Returns an event with a payload of 0 or 2 to 16 bytes.
pub fn encode_event(code: [u8; 3], clock: u64, payload: &[u8]) -> Vec<u8> {
    let flags = match payload.len() {
        0 => 0,
        len => u8::try_from(len.saturating_sub(1)).unwrap_or(0x0f),
    };
    let mut bytes = encode_start(flags, code, clock);
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns a jumbo event.
pub fn encode_jumbo(code: [u8; 3], clock: u64, data: &[u8]) -> Vec<u8> {
    let mut bytes = encode_start(JUMBO | JUMBO_CODE, code, clock);
    let size = u32::try_from(to_u64(data.len())).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn encode_start(flags: u8, [model, category, value]: [u8; 3], clock: u64) -> Vec<u8> {
    let mut bytes = vec![flags, model, category, value];
    bytes.extend_from_slice(&clock.to_le_bytes());
    bytes
}

//! The bytes after a record that its size does not count, and records that carry other data.

use super::frame::Frame;
use super::frame::Record;
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::align8;
use crate::kit::span::Layer;

/// Whether a record carries data of any kind. TRACING_DATA carries texts, which hold no records.
pub(super) const fn has_payload(record: &Record<'_>) -> bool {
    record.outside > 0 && record.frame.kind != record::TRACING_DATA
        || matches!(
            record.frame.kind,
            record::COMPRESSED | record::COMPRESSED2 | record::HEADER_FEATURE
        )
}

/// Returns the size of the payload after a record, which the size of the record does not count.
pub fn payload_len(bytes: &[u8], frame: Frame, order: Order) -> u64 {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
    let body = cursor.skip(1, RECORD_HEADER, "header");
    let size = match frame.kind {
        record::AUXTRACE => body.and_then(|()| cursor.u64("size")),
        _ => body.and_then(|()| cursor.u32("size")).map(|size| align8(size.into())),
    };
    size.unwrap_or(0)
}

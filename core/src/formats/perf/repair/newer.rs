//! Records for an older perf: COMPRESSED instead of COMPRESSED2, and without those that it does not
//! know.

use super::encode::header_bytes;
use crate::formats::perf::decode::frame::Frame;
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::formats::perf::recover::newer::{Newer, Packed};
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::plural;
use crate::model::edit::{Edit, Fix, Safety, StoredAnew};

/// Length of the fields of COMPRESSED2 before its zstd data in bytes.
const HEAD: u64 = 16;

/// Writes the COMPRESSED2 records as COMPRESSED. The zstd data stays; a length and padding go.
pub fn repack(newer: &Newer) -> Fix {
    let edits: Vec<Edit> = newer.packed.iter().filter_map(repack_one).flatten().collect();
    let stored = edits.iter().fold(0, |sum: u64, edit| sum.saturating_add(edit.span.len()));
    let kept = edits.iter().fold(0, |sum: u64, e| sum.saturating_add(to_u64(e.insert.len())));
    let count = plural(to_u64(newer.packed.len()), "COMPRESSED2 record");
    let summary = format!("write {count} as COMPRESSED, as asked for: the zstd data stays");
    let mut fix = Fix::new(Safety::Synthetic, summary, edits);
    fix.anew = StoredAnew { stored, kept, dropped: 0, inserted: 0 };
    fix
}

fn repack_one(packed: &Packed) -> Option<Vec<Edit>> {
    let Packed { span, frame, len, order } = *packed;
    let end = span.start.checked_add(HEAD)?.checked_add(len).filter(|end| *end <= span.end)?;
    let frame = Frame { kind: record::COMPRESSED, size: RECORD_HEADER.checked_add(len)?, ..frame };
    let head = Span::sized(span.layer, span.start, HEAD);
    let padding = Span::new(span.layer, end, span.end);
    let header = Edit::replace(head, header_bytes(frame, order)?);
    let padding = Some(Edit::drop(padding)).filter(|edit| !edit.span.is_empty());
    Some([header].into_iter().chain(padding).collect())
}

/// Drops the records that an older perf stops at.
pub fn drop_newer(newer: &Newer) -> Fix {
    let edits = newer.dropped.iter().map(|(span, _)| Edit::drop(*span)).collect();
    let summary = format!("drop {}, as asked for", newer.describe_dropped());
    let mut fix = Fix::new(Safety::Lossy, summary, edits);
    fix.records_lost = to_u64(newer.dropped.len());
    fix
}

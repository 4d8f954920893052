//! Records that an older perf does not read.

use std::collections::BTreeMap;

use crate::formats::perf::decode::frame::Frame;
use crate::formats::perf::decode::record::name;
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::layout::versions::{self, Version};
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::kit::words::{join_and, plural};
use crate::model::limits::{FIXES, Limits};

/// A COMPRESSED2 record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The record.
    pub span: Span,
    /// Its header.
    pub frame: Frame,
    /// Length of its zstd data in bytes.
    pub len: u64,
    /// Its byte order.
    pub order: Order,
}

/// The records of a recording that an older perf does not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Newer {
    /// Records that it reads as another type.
    pub packed: Vec<Packed>,
    /// Records that it stops at, each with its type.
    pub dropped: Vec<(Span, u32)>,
}

impl Newer {
    /// Adds the records in an area of a file that `asked` does not read, as many as one round of a
    /// repair takes.
    pub fn gather(
        &mut self,
        file: &RecordFile<'_>,
        area: (u64, u64),
        asked: Version,
        limits: &Limits,
    ) {
        for found in file.records(area, 0).filter_map(Item::record) {
            if self.packed.len().saturating_add(self.dropped.len()) >= limits.count_of(&FIXES) {
                return;
            }
            let (frame, span) =
                (found.frame, Span::sized(file.layer(), found.offset, found.frame.size));
            let mut body = Cursor::new(
                found.bytes.get(8..).unwrap_or_default(),
                file.layer(),
                found.offset.saturating_add(RECORD_HEADER),
                file.order(),
            );
            let first = body.u64("first").unwrap_or(0);
            let since = match frame.kind {
                record::HEADER_FEATURE => {
                    versions::of_piped_feature(u32::try_from(first).unwrap_or(u32::MAX))
                }
                kind => versions::of_record(kind),
            };
            if since <= asked {
                continue;
            }
            let reads_other = versions::of_record(record::COMPRESSED) <= asked;
            if frame.kind == record::COMPRESSED2 && reads_other {
                self.packed.push(Packed { span, frame, len: first, order: file.order() });
            } else {
                self.dropped.push((span, frame.kind));
            }
        }
    }

    /// Describes the records to drop: `3 HEADER_FEATURE records and 1 BPF_METADATA record`.
    pub fn describe_dropped(&self) -> String {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for (_, kind) in &self.dropped {
            let count = counts.entry(*kind).or_default();
            *count = count.saturating_add(1);
        }
        let words: Vec<String> = counts
            .into_iter()
            .map(|(kind, count)| {
                let name = name(kind).map_or_else(|| format!("type-{kind}"), ToString::to_string);
                plural(count, &format!("{name} record"))
            })
            .collect();
        join_and(&words)
    }
}

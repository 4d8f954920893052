//! The zstd block at the end of the compressed data so far that is not complete.

use super::losses::Losses;
use crate::formats::perf::decode::expand::{Expansion, Wrapper};
use crate::formats::perf::decode::frame::Place;
use crate::formats::perf::repair;
use crate::formats::perf::rules;
use crate::kit::cursor::Order;
use crate::kit::expand::zstd::OpenUnit;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::model::Finding;
use crate::model::edit::{Edit, Fix, Safety};

/// A compressed record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    pub(super) stored: Span,
    /// Number of records before it in the file.
    pub(super) index: u64,
    pub(super) wrapper: Wrapper,
    /// Size of its zstd data in bytes.
    pub(super) len: u64,
}

/// The record in which the block begins, or a row of records without data.
#[derive(Clone, Copy, Debug)]
struct First {
    record: Packed,
    /// Number of records in the row.
    count: u64,
    /// Bytes of its zstd data before the block.
    valid: u64,
    /// Bytes of the block so far, and the block; `None` if the record only expands to nothing.
    unit: Option<(u64, OpenUnit)>,
    has_expanded: bool,
}

/// The compressed records that end inside a block, or expand to nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenBlock {
    first: Option<First>,
    /// Later records that the block extends over.
    later: Vec<Span>,
}

impl OpenBlock {
    /// Whether the last record ended with a block.
    pub(super) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Notes that a record was given to the expander.
    pub(super) fn note(&mut self, record: Packed, expansion: &Expansion) {
        let (pending, unit) = (expansion.pending(), expansion.open_unit());
        let has_expanded = expansion.has_expanded();
        if unit.is_some() && pending > record.len && self.first.is_some() {
            self.later.push(record.stored);
            return;
        }
        if let Some(first) = self.first.as_mut().filter(|first| first.is_continued_by(&record)) {
            first.record.stored.end = record.stored.end;
            first.count = first.count.saturating_add(1);
            return;
        }
        *self = Self::default();
        if unit.is_some() || !has_expanded {
            let valid = record.len.saturating_sub(pending);
            let unit = unit.map(|unit| (pending, unit));
            self.first = Some(First { record, count: 1, valid, unit, has_expanded });
        }
    }

    /// Returns the finding of the record if it expands to nothing, although `next` continues it:
    /// perf fails at such a record. A block that is stored as it is expands in parts. Records
    /// without data that follow one another have one finding.
    pub(super) fn find_empty(
        &self,
        next: &Packed,
        order: Order,
        can_drop: bool,
    ) -> Option<Finding> {
        let first = self.first.as_ref().filter(|first| !first.has_expanded)?;
        let is_raw = first.unit.is_some_and(|(_, unit)| unit.is_raw);
        if first.is_continued_by(next) {
            return None;
        }
        if first.has_no_data() {
            let edits = if can_drop { vec![Edit::drop(first.record.stored)] } else { Vec::new() };
            let summary = format!("drop {} without data", first.describe_records());
            let fix = Fix::new(Safety::Lossy, summary, edits);
            return Some(first.finding().fix(Fix { records_lost: first.count, ..fix }));
        }
        let summary = "join the zstd data with those of the next compressed record";
        let joined = repair::join_records(first.record.stored, next.stored, order);
        let fix = match joined.filter(|_| !first.record.wrapper.has_size()) {
            Some(edits) if can_drop => Fix::new(Safety::Lossy, summary, edits),
            _ => Fix::manual(summary),
        };
        (!is_raw).then(|| first.finding().fix(fix))
    }

    /// Returns the finding of a block that nothing continues, with the fix that drops it.
    pub(super) fn take_finding(&mut self, order: Order, can_drop: bool) -> Option<Finding> {
        let block = std::mem::take(self);
        let finding = block.first.as_ref()?.finding();
        let mut losses = Losses::default();
        let finding = block.drop_into(finding, &mut losses, order);
        losses.set_fault(finding);
        losses.take_finding(can_drop)
    }

    /// Adds the records of the block to the losses, and to `finding` the edits that end the first
    /// of them before the block.
    pub(super) fn drop_into(self, finding: Finding, losses: &mut Losses, order: Order) -> Finding {
        let Some(first) = self.first else { return finding };
        let record = first.record;
        let tail = repair::drop_after(record.stored, record.wrapper, first.valid, order);
        let mut edits: Vec<Edit> = finding.fix.as_ref().map_or_else(Vec::new, |f| f.edits.clone());
        match tail.filter(|_| first.has_expanded) {
            Some(tail) => {
                edits.extend(tail.edits);
                losses.add_bytes(tail.span);
            }
            None => losses.add_records(record.stored, first.count),
        }
        for stored in self.later {
            losses.add_record(stored, usize::MAX);
        }
        finding.fix(Fix::new(Safety::Lossy, "", edits))
    }

    /// Returns the bytes of the block in the first record.
    pub(super) fn span(&self) -> Option<Span> {
        self.first.as_ref().map(First::span)
    }
}

impl First {
    const fn has_no_data(&self) -> bool {
        self.record.len == 0 && self.unit.is_none()
    }

    /// Whether this and the next record have no data and adjoin.
    fn is_continued_by(&self, next: &Packed) -> bool {
        let is_adjoining = self.record.stored.end == next.stored.start;
        self.has_no_data() && next.len == 0 && is_adjoining
    }

    fn describe_records(&self) -> String {
        plural(self.count, "compressed record")
    }

    fn span(&self) -> Span {
        let stored = self.record.stored;
        let head = self.record.wrapper.head_len();
        let start = stored.start.saturating_add(head).saturating_add(self.valid);
        match self.unit {
            Some(_) if start < stored.end => Span::new(stored.layer, start, stored.end),
            _ => stored,
        }
    }

    fn finding(&self) -> Finding {
        let stored = self.record.stored;
        let size = byte_count(stored.len());
        let message = match self.unit {
            Some((pending, unit)) => format!(
                "compressed record of {size} ends inside a zstd {}: {pending} of {}",
                unit.name,
                byte_count(unit.size)
            ),
            None if self.count > 1 => {
                format!("{} of {size} together expand to nothing", self.describe_records())
            }
            None => format!("compressed record of {size} expands to nothing"),
        };
        let place = Place { layer: stored.layer, offset: stored.start, index: self.record.index };
        Finding::new(&rules::ZSTD_TRUNCATED, self.span(), place.path(".payload"), message)
    }
}

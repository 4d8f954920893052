//! The stream of records: stored records as they come, and the records that compressed ones expand
//! to.
//!
//! Stored and expanded records take the same check. A finding in an expanded record names its place
//! in the expanded layer and the compressed records that contain it.

use std::collections::VecDeque;

use super::faults::describe;
use super::losses::Losses;
use super::open_block::{OpenBlock, Packed};
use super::records::{RecordCheck, with_place};
use crate::formats::perf::decode::expand::{
    ExpandedDamage, Expansion, Step, StreamFault, Wrapper, begins_frame,
};
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::frame::{Dialect, Frame, FrameFault, Place, RecordView};
use crate::formats::perf::decode::recording::TruncatedRecord;
use crate::formats::perf::decode::walk::Damage;
use crate::formats::perf::layout::{RECORD_HEADER, record as kind};
use crate::formats::perf::limits::ROUNDS;
use crate::formats::perf::repair::{self, Seam};
use crate::formats::perf::rules;
use crate::kit::cursor::Order;
use crate::kit::expand::zstd::DataEnd;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::words::byte_count;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::{EXPANSION_RATIO, FIXES, Limits, ZSTD_WINDOW};
use crate::model::rule::common;
use crate::model::{Finding, Report};

/// Expanded bytes that every recording may have, besides the multiple of its length.
const BUDGET_BASE: u64 = 64 << 20;

/// Checks the records of all files, one file after the other.
pub(super) struct Stream<'a> {
    /// The check of each record.
    pub(super) records: RecordCheck,
    /// The expansion of compressed records.
    pub(super) expansion: Expansion,
    order: Order,
    layer: Layer,
    limits: &'a Limits,
    /// Expanded bytes that the recording may have.
    budget: u64,
    /// Number of records of the current file so far.
    stored_records: u64,
    /// Positions in the expanded layer at which a round is finished.
    marks: VecDeque<u64>,
    losses: Losses,
    /// The block that the last compressed record has not completed.
    open_block: OpenBlock,
}

impl<'a> Stream<'a> {
    /// Creates a check for a recording of `length` bytes, which begins with file number 0.
    pub(super) fn new(
        records: RecordCheck,
        dialect: Dialect,
        length: u64,
        limits: &'a Limits,
    ) -> Self {
        Self {
            records,
            expansion: Expansion::new(dialect, limits.of(&ZSTD_WINDOW)),
            order: dialect.order,
            layer: Layer::stored(0),
            limits,
            budget: length.saturating_mul(limits.of(&EXPANSION_RATIO)).saturating_add(BUDGET_BASE),
            stored_records: 0,
            marks: VecDeque::new(),
            losses: Losses::default(),
            open_block: OpenBlock::default(),
        }
    }

    /// Begins the next file of a directory. The events stay; streams and rounds begin anew.
    pub(super) fn begin_file(&mut self, file: u32) {
        self.layer = Layer::stored(file);
        self.stored_records = 0;
        self.expansion.begin_file(file);
        self.marks.clear();
        self.records.rounds.begin_file();
    }

    /// Checks a record of the file.
    #[inline]
    pub(super) fn check_record(&mut self, record: &Record<'_>, report: &mut Report) {
        let index = self.stored_records;
        self.stored_records = index.saturating_add(1);
        if let Some(found) = record.found {
            let view = record.view(self.layer, index);
            if !self.records.check_header((&view, found), self.expansion.map(), report) {
                return;
            }
        }
        if let Some(wrapper) = Wrapper::of(record.frame.kind) {
            report.tally.records = report.tally.records.saturating_add(1);
            let view = record.view(self.layer, index);
            self.records.check_alignment(&view, self.expansion.map(), report);
            if wrapper == Wrapper::Compressed2 {
                self.records.seen.note_kind(kind::COMPRESSED2);
            }
            self.expand_record(record, wrapper, report);
        } else if record.frame.kind == kind::FINISHED_ROUND && self.expansion.is_open() {
            report.tally.records = report.tally.records.saturating_add(1);
            let view = record.view(self.layer, index);
            self.records.check_alignment(&view, self.expansion.map(), report);
            self.push_mark();
        } else {
            let view = record.view(self.layer, index);
            self.records.check(&view, self.expansion.map(), report);
            if record.frame.kind == kind::AUXTRACE {
                self.records.aux.correct_size(record.offset, record.outside);
            }
        }
    }

    fn push_mark(&mut self) {
        self.marks.push_back(self.expansion.end());
        if self.marks.len() > self.limits.count_of(&ROUNDS) {
            self.marks.pop_front();
        }
    }

    /// Reports bytes of the file that are not a record.
    pub(super) fn push_damage(&mut self, damage: &Damage, report: &mut Report) {
        let span = damage.span;
        self.expansion.note_damage(span);
        let (rule, what) = describe(damage.fault, span);
        report.push_with(rule, rule.severity, || {
            let then = if damage.resumes {
                format!("; valid records follow from {:#x}", span.end)
            } else {
                String::new()
            };
            let field = match damage.fault {
                FrameFault::Type(_) => ".header.type",
                FrameFault::HeaderTruncated => ".header",
                _ => ".header.size",
            };
            let place = Place { layer: span.layer, offset: span.start, index: self.stored_records };
            let summary = format!("drop {} at {span}", byte_count(span.len()));
            // If nothing before or after it is a record, the outline is wrong, and not the records.
            let is_all = !damage.resumes && self.stored_records == 0;
            let can_drop = self.records.can_drop && !is_all;
            let edits = if can_drop { vec![Edit::drop(span)] } else { Vec::new() };
            Finding::new(rule, span, place.path(field), format!("{what}{then}")).fix(Fix::new(
                Safety::Lossy,
                summary,
                edits,
            ))
        });
    }

    /// Expands a compressed record, and checks the records that become complete.
    fn expand_record(&mut self, record: &Record<'_>, wrapper: Wrapper, report: &mut Report) {
        let stored = Span::sized(self.layer, record.offset, record.frame.size);
        let payload = if wrapper.has_size() && !self.losses.has_cause() {
            self.check_data_size(&record.bytes, stored, wrapper, report)
        } else {
            wrapper.payload(&record.bytes, self.order)
        };
        let len = to_u64(payload.len());
        self.expansion.count_record(len);
        if self.losses.has_cause() {
            // A new zstd frame does not depend on the broken one.
            if !(begins_frame(payload) && self.losses.allows_restart()) {
                self.losses.add_record(stored, self.limits.count_of(&FIXES));
                return;
            }
            self.push_losses(report);
            self.expansion.abandon();
        }
        let index = self.stored_records.saturating_sub(1);
        let packed = Packed { stored, index, wrapper, len };
        match self.feed(payload, stored, report) {
            Ok(()) => {
                let can_drop = self.records.can_drop;
                if let Some(empty) = self.open_block.find_empty(&packed, self.order, can_drop) {
                    report.push(empty);
                }
                self.open_block.note(packed, &self.expansion);
            }
            Err(fault) => self.end_expansion(&packed, &fault, report),
        }
    }

    /// Compares `data_size` with the record and with the zstd blocks in it. Returns the zstd data.
    fn check_data_size<'b>(
        &self,
        bytes: &'b [u8],
        stored: Span,
        wrapper: Wrapper,
        report: &mut Report,
    ) -> &'b [u8] {
        let room = wrapper.room(bytes);
        let size = wrapper.data_size(bytes, self.order).unwrap_or(0);
        let most = to_u64(room.len());
        let least = most.saturating_sub(7);
        let end = self.expansion.find_data_end(room, size);
        let expected = end.map(|end| end.len);
        let is_wrong = !(least..=most).contains(&size) || expected.is_some_and(|len| len != size);
        let len = if is_wrong { expected.unwrap_or(most) } else { size };
        let data = room.get(..to_usize(len)).unwrap_or(room);
        if !is_wrong {
            return data;
        }
        let range = match expected {
            Some(len) => len.to_string(),
            None => format!("{least} to {most}"),
        };
        let index = self.stored_records.saturating_sub(1);
        let place = Place { layer: self.layer, offset: stored.start, index };
        let message = format!("data_size is {size}, expected {range}");
        let edit = repair::write_data_size(stored, len, self.order);
        let (span, summary) = (edit.span, format!("set data_size to {len}"));
        let is_shown = end.is_some_and(|end| shows_size(room, end, size));
        let fix = match expected.filter(|_| is_shown) {
            Some(_) => {
                let end = stored.start.saturating_add(wrapper.head_len()).saturating_add(len);
                let data = Span::new(self.layer, edit.span.end, end);
                Fix::new(Safety::Exact, summary, vec![edit]).witness(data, "complete zstd blocks")
            }
            None => Fix::new(Safety::Lossy, summary, vec![edit]),
        };
        let path = place.path(".data_size");
        report.push(Finding::new(&rules::DATA_LEN_WRONG, span, path, message).fix(fix));
        data
    }

    /// Gives zstd data to the expander, and checks the records that become complete.
    fn feed(
        &mut self,
        payload: &[u8],
        stored: Span,
        report: &mut Report,
    ) -> Result<(), StreamFault> {
        let (mut taker, expansion) = self.split(stored, report);
        expansion.expand(payload, stored, |expansion, step| taker.take(expansion, &step)).map(drop)
    }

    /// Checks the records that the expander releases.
    fn check_released(&mut self, stored: Span, report: &mut Report) {
        let (mut taker, expansion) = self.split(stored, report);
        expansion.release(|expansion, step| taker.take(expansion, &step));
    }

    /// Returns what takes the records that become complete at a compressed record.
    const fn split<'s>(
        &'s mut self,
        stored: Span,
        report: &'s mut Report,
    ) -> (Taker<'s>, &'s mut Expansion) {
        let index = self.stored_records.saturating_sub(1);
        let place = Place { layer: self.layer, offset: stored.start, index };
        let taker = Taker {
            records: &mut self.records,
            marks: &mut self.marks,
            losses: &mut self.losses,
            limits: self.limits,
            budget: self.budget,
            record: (stored, place),
            report,
        };
        (taker, &mut self.expansion)
    }

    /// Expands the complete blocks of a truncated compressed record. Returns the edits that shorten
    /// the record to them; `None` if it has none.
    pub(super) fn expand_truncated(
        &mut self,
        record: &TruncatedRecord<'_>,
        report: &mut Report,
    ) -> Option<Seam> {
        let payload = record.payload().filter(|_| !self.losses.has_cause())?;
        let before = self.expansion.end();
        let valid = match self.feed(payload, record.span(self.layer), report) {
            Ok(()) => to_u64(payload.len()).saturating_sub(self.expansion.pending()),
            Err(fault) => fault.valid,
        };
        if valid > 0 {
            // The block of the records before is complete; one that begins here is cut off with
            // the rest of the record.
            self.open_block = OpenBlock::default();
        }
        if valid == 0 || self.expansion.end() == before {
            return None;
        }
        self.expansion.count_record(valid);
        let place = (self.layer, record.offset);
        repair::truncate_record(place, record.wrapper, valid, self.order)
    }

    /// Ends the expansion at a compressed record with an invalid block.
    fn end_expansion(&mut self, packed: &Packed, fault: &StreamFault, report: &mut Report) {
        let (stored, wrapper) = (packed.stored, packed.wrapper);
        if fault.error.is_limit() {
            let path = "data.compressed.window";
            let message = fault.error.to_string();
            report.push(Finding::new(&common::LIMIT_REACHED, stored, path, message));
        }
        let place = Place { layer: self.layer, offset: stored.start, index: packed.index };
        let message = format!("compressed record of {}: {}", byte_count(stored.len()), fault.error);
        let mut finding =
            Finding::new(&rules::ZSTD_BROKEN, stored, place.path(".payload"), message);
        let tail = repair::drop_after(stored, wrapper, fault.valid, self.order);
        // If the fault follows the last block (a wrong content size), the record has no invalid
        // part, and is dropped completely.
        let is_shorter = |tail: &repair::Tail| !tail.span.is_empty();
        // perf 6.1 fails at a compressed record that expands to nothing, such as a frame header
        // alone.
        let has_records = self.expansion.has_expanded();
        match tail.filter(|tail| has_records && is_shorter(tail)) {
            Some(tail) => {
                finding = finding.fix(Fix::new(Safety::Lossy, "", tail.edits));
                self.losses.add_bytes(tail.span);
            }
            None => self.losses.add_record(stored, self.limits.count_of(&FIXES)),
        }
        // An invalid block that begins in an earlier record.
        let block = std::mem::take(&mut self.open_block);
        if let Some(begin) = block.span().filter(|_| fault.valid == 0) {
            finding = finding.related(begin, "the record that ends before the block does");
            finding = block.drop_into(finding, &mut self.losses, self.order);
        }
        self.expansion.finish();
        self.check_released(stored, report);
        self.losses.set_fault(finding);
        self.expansion.abandon();
        self.expansion.skip_to_end();
    }

    /// Reports the fault that ended the expansion, with everything that it makes useless.
    fn push_losses(&mut self, report: &mut Report) {
        if let Some(finding) = self.losses.take_finding(self.records.can_drop) {
            report.push(finding);
        }
    }

    /// Ends the current file.
    pub(super) fn end_file(&mut self, report: &mut Report) {
        self.expansion.finish();
        self.check_released(Span::new(self.layer, 0, 0), report);
        // After an incomplete block, the incomplete record is its consequence.
        if let Some(incomplete) = self.expansion.incomplete()
            && !self.losses.has_cause()
            && self.open_block.is_empty()
        {
            let (place, len) = (incomplete.place, to_u64(incomplete.bytes.len()));
            let span = Span::sized(place.layer, place.offset, len);
            let (events, limits) = (&self.records.events, self.limits);
            let covers = repair::covers_records(incomplete.bytes, self.order, events, limits);
            let message = match incomplete.size {
                Some(size) => format!("truncated record: {len} of {}", byte_count(size)),
                None => format!("truncated record header: {len} of {}", byte_count(RECORD_HEADER)),
            };
            let finding = if covers {
                let message = format!("{message}, and complete records follow its beginning");
                let path = place.path(".header.size");
                let fix = Fix::manual("a size inside compressed records cannot be set");
                Finding::new(&rules::EXPANDED_BROKEN, span, path, message).fix(fix)
            } else {
                Finding::new(&rules::EXPANDED_TRUNCATED, span, place.path(""), message)
            };
            let view = view_of(place, incomplete.bytes);
            report.push(with_place(finding, &view, self.expansion.map()));
        }
        let block = self.open_block.take_finding(self.order, self.records.can_drop);
        if let Some(block) = block.filter(|_| !self.losses.has_cause()) {
            report.push(block);
        }
        self.push_losses(report);
        self.expansion.drop_incomplete();
    }

    /// Reports findings that concern all files together.
    pub(super) fn finish(&mut self, report: &mut Report) {
        self.records.finish(self.expansion.map(), report);
    }
}

/// Takes the records that become complete at a compressed record.
struct Taker<'s> {
    records: &'s mut RecordCheck,
    marks: &'s mut VecDeque<u64>,
    losses: &'s mut Losses,
    limits: &'s Limits,
    /// Expanded bytes that the recording may have.
    budget: u64,
    /// The compressed record, and its place.
    record: (Span, Place),
    report: &'s mut Report,
}

impl Taker<'_> {
    /// Checks an expanded record. Returns whether more can follow.
    #[inline]
    fn take(&mut self, expansion: &mut Expansion, step: &Step<'_>) -> bool {
        match step {
            Step::Record(record) => {
                self.apply_marks(record.place.offset);
                self.records.check(record, expansion.map(), self.report);
                true
            }
            Step::Expanded(bytes) => {
                self.check_sum(expansion);
                self.spend(*bytes, expansion)
            }
            Step::Damage(damage) => {
                self.set_expanded_fault(damage, expansion);
                false
            }
        }
    }

    /// Counts expanded bytes against the limit, and returns whether it allows more.
    fn spend(&mut self, expanded: u64, expansion: &mut Expansion) -> bool {
        let tally = &mut self.report.tally;
        tally.expanded = tally.expanded.saturating_add(expanded);
        if tally.expanded > self.budget {
            let message = format!(
                "compressed records expand to more than {}, {} times the size of the recording",
                byte_count(self.budget),
                self.limits.of(&EXPANSION_RATIO)
            );
            let (stored, _) = self.record;
            self.report.push(Finding::new(&common::LIMIT_REACHED, stored, "data", message));
            self.losses.set_limit();
            expansion.abandon();
            return false;
        }
        true
    }

    /// Reports that the checksum of a zstd frame that ends in a record does not match.
    fn check_sum(&mut self, expansion: &mut Expansion) {
        let Some(wrong) = expansion.take_wrong_check_sum() else { return };
        let (stored, place) = self.record;
        let message = format!(
            "checksum of a zstd frame is {:#x}, but the expanded bytes have {:#x}",
            wrong.stated, wrong.found
        );
        let fix = Fix::manual("the checksum does not show which records of the frame are wrong");
        let finding = Finding::new(&rules::ZSTD_BROKEN, stored, place.path(".payload"), message);
        self.report.push(finding.fix(fix));
    }

    /// Finishes the rounds whose marks lie at or before `offset` of the expanded layer.
    #[inline]
    fn apply_marks(&mut self, offset: u64) {
        while self.marks.front().is_some_and(|mark| *mark <= offset) {
            self.marks.pop_front();
            self.records.rounds.finish_round();
        }
    }

    /// Notes that expanded bytes are not a record. The stored bytes from there on cannot be used.
    fn set_expanded_fault(&mut self, damage: &ExpandedDamage<'_>, expansion: &Expansion) {
        if self.losses.has_cause() {
            return;
        }
        let place = damage.place;
        let map = expansion.map();
        let len = to_u64(damage.bytes.len()).min(RECORD_HEADER);
        let span = Span::sized(place.layer, place.offset, len);
        let (_, what) = describe(damage.fault, span);
        let finding = Finding::new(&rules::EXPANDED_BROKEN, span, place.path(".header"), what);
        let finding = with_place(finding, &view_of(place, damage.bytes), map);
        // All segments from the one with the fault on, as far as they were read.
        let from = map.stored(Span::new(place.layer, place.offset, expansion.end()));
        if let Some(stored) = from.or(finding.stored) {
            self.losses.add_bytes(stored);
        }
        self.losses.set_fault(finding);
    }
}

/// Wraps bytes that are not a complete record, so that a finding can show them.
const fn view_of(place: Place, bytes: &[u8]) -> RecordView<'_> {
    RecordView { frame: Frame { kind: 0, misc: 0, size: 0 }, place, bytes }
}

/// Whether the end of the zstd data in `room` shows that `size`, the stated length, is wrong, and
/// not the length of the last block. Padding consists of zeros; only a block that is stored as it
/// is may end in them.
fn shows_size(room: &[u8], end: DataEnd, size: u64) -> bool {
    let most = to_u64(room.len());
    let is_possible = (most.saturating_sub(7)..=most).contains(&size);
    let between = room.get(to_usize(size)..to_usize(end.len)).unwrap_or_default();
    !is_possible || between.iter().any(|byte| *byte != 0) || end.len < size && !end.is_raw
}

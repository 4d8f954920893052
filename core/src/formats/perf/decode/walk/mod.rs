//! Walks the records of a file.
//!
//! ```text
//!  | type u32 | misc u16 | size u16 | body: size - 8 |   payload that size does not count:
//!                                                       AUXTRACE: u64 at the start of the body
//!                                                       TRACING_DATA (pipes): align8(u32)
//! ```

mod flipped;
mod packed;
mod reach;
mod sizes;
mod torn;
mod trace_size;

use std::borrow::Cow;
use std::ops::Range;

use self::reach::Reach;
use self::trace_size::Written;
use super::event::Events;
use super::expand::Wrapper;
use super::flip;
use super::frame::{Dialect, Frame, FrameFault, Record};
use super::payload::{has_payload, payload_len};
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::resync::{Budget, Search, Step, follow};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;

/// Number of consecutive valid frames that confirm a place as the start of a record.
pub const RESYNC_RECORDS: u64 = 4;
/// Weight of records, by [`Events::weigh`], that confirms a place as the start of a record.
const RESYNC_WEIGHT: u64 = 4;

/// Bytes that are not a record, up to the next valid record or the end of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The bytes.
    pub span: Span,
    /// The fault at the first of them.
    pub fault: FrameFault,
    /// Whether a valid record follows.
    pub resumes: bool,
}

/// Walks the records of an area of a file. The items tile the area.
#[derive(Clone, Debug)]
pub struct Walker<'a> {
    source: &'a Source<'a>,
    layer: Layer,
    dialect: Dialect,
    pipe: bool,
    past: Past,
    /// Offset of the next record.
    at: u64,
    end: u64,
    /// The rest of the piece of the source that contains `at`, clipped to `end`.
    run: &'a [u8],
    /// The work that searches for the next valid record may still do.
    budget: Budget,
    /// The events by which a search recognises records.
    events: Option<&'a Events>,
}

/// The records before the next one.
#[derive(Clone, Copy, Debug)]
struct Past {
    /// Offset of the last one, or the end of the area.
    last: u64,
    /// The header of the last compressed one.
    packed: Option<Frame>,
    /// The bytes that tracers wrote.
    written: Written,
    /// Searches for a later end of a record that found none, in a row.
    vain: u32,
}

impl<'a> Walker<'a> {
    /// Creates a walk over the area `start..end` of `source`, which is file number `file`.
    pub fn new(
        source: &'a Source<'a>,
        file: u32,
        order: Order,
        pipe: bool,
        area: (u64, u64),
    ) -> Self {
        let end = area.1.min(source.len());
        Self {
            source,
            layer: Layer::stored(file),
            dialect: Dialect { order, is_simpleperf: false },
            pipe,
            past: Past { last: end, packed: None, written: Written::default(), vain: 0 },
            at: area.0.min(end),
            end,
            run: &[],
            budget: Budget::new(0, 0),
            events: None,
        }
    }

    /// Lets the walk read the records of simpleperf as well.
    #[must_use]
    pub const fn of_simpleperf(mut self, is_simpleperf: bool) -> Self {
        self.dialect.is_simpleperf = is_simpleperf;
        self
    }

    /// Lets searches recognise a record by the layouts of these events.
    #[must_use]
    pub const fn judged_by(mut self, events: &'a Events) -> Self {
        self.events = Some(events);
        self
    }

    /// Lets the walk search for the next valid record after damage, over at most `bytes` in all.
    #[must_use]
    pub const fn resyncing(mut self, bytes: u64) -> Self {
        self.budget = Budget::new(bytes, bytes.saturating_mul(RESYNC_RECORDS));
        self
    }

    /// Returns the bytes from `at` on that are contiguous in memory.
    #[inline]
    fn run(&mut self) -> &'a [u8] {
        if self.run.is_empty() {
            let run = self.source.run(self.at);
            let left = to_usize(self.end.saturating_sub(self.at));
            self.run = run.get(..left).unwrap_or(run);
        }
        self.run
    }

    #[inline]
    fn advance(&mut self, bytes: u64) {
        self.at = self.at.saturating_add(bytes);
        self.run = self.run.get(to_usize(bytes)..).unwrap_or_default();
    }

    /// Takes a sample that is followed by another one and does not cover others: the short way of
    /// [`next`](Iterator::next) for most records.
    #[inline]
    fn take_sample(&mut self) -> Option<Record<'a>> {
        let is_sample = |frame: &Frame| frame.kind == record::SAMPLE;
        let frame_of = |bytes| self.dialect.frame(bytes).ok().filter(is_sample);
        let frame = frame_of(self.run)?;
        let (bytes, rest) = self.run.split_at_checked(to_usize(frame.size))?;
        frame_of(rest)?;
        let bytes = Cow::Borrowed(bytes);
        let record = Record { frame, found: None, offset: self.at, bytes, outside: 0 };
        if self.may_cover_others(&record) {
            return None;
        }
        self.past.last = self.at;
        (self.at, self.run) = (self.at.saturating_add(frame.size), rest);
        Some(record)
    }

    /// Moves on to the next record.
    #[inline]
    fn accept(&mut self, record: Record<'a>) -> Item<Record<'a>, Damage> {
        if Wrapper::of(record.frame.kind).is_some() {
            self.past.packed = Some(record.frame);
        } else if record.frame.kind == record::AUX {
            self.note_written(&record);
        }
        self.past.last = self.at;
        self.advance(record.frame.size.saturating_add(record.outside));
        Item::Record(record)
    }

    #[inline]
    fn accept_unless_damaged(&mut self, record: Record<'a>) -> Item<Record<'a>, Damage> {
        if record.frame.kind == record::TRACING_DATA && record.outside > 0 {
            let record = self.clip_tracing(record);
            return self.accept(record);
        }
        if record.frame.kind == record::AUXTRACE {
            let record = self.fit_trace(record);
            return self.accept(record);
        }
        match self.find_inside(&record) {
            Some(item) => item,
            None => self.accept(record),
        }
    }

    /// Reads the record at the position without moving on.
    fn read_record(&mut self) -> Result<Record<'a>, FrameFault> {
        let run = self.run();
        let (frame, bytes) = match self.dialect.frame(run) {
            Ok(frame) if to_u64(run.len()) >= frame.size => {
                (frame, Cow::Borrowed(run.get(..to_usize(frame.size)).unwrap_or_default()))
            }
            Ok(_) | Err(FrameFault::HeaderTruncated) => self.read_across_pieces()?,
            Err(fault) => return Err(fault),
        };
        self.with_payload(frame, bytes)
    }

    /// Adds the payload after a record to it.
    #[inline]
    fn with_payload(&self, frame: Frame, bytes: Cow<'a, [u8]>) -> Result<Record<'a>, FrameFault> {
        let mut outside = 0;
        if frame.kind == record::AUXTRACE || (frame.kind == record::TRACING_DATA && self.pipe) {
            outside = payload_len(&bytes, frame, self.dialect.order);
            let left = self.end.saturating_sub(self.at).saturating_sub(frame.size);
            if outside > left {
                return Err(FrameFault::PayloadPastEnd(frame, outside));
            }
        }
        Ok(Record { frame, found: None, offset: self.at, bytes, outside })
    }

    /// Reads a record that crosses pieces of the source.
    #[cold]
    fn read_across_pieces(&self) -> Result<(Frame, Cow<'a, [u8]>), FrameFault> {
        let head = self.source.read(self.at, self.end.min(self.at.saturating_add(RECORD_HEADER)));
        let frame = self.dialect.frame(&head)?;
        let after = self.at.saturating_add(frame.size);
        if after > self.end {
            return Err(FrameFault::PastEnd(frame));
        }
        Ok((frame, self.source.read(self.at, after)))
    }

    /// Whether the record at the position is followed by another one, or ends the area. One that
    /// carries other data is not looked into: compressed data may hold complete records.
    #[inline]
    fn is_followed(&self, record: &Record<'_>) -> bool {
        let len = record.frame.size.saturating_add(record.outside);
        let next = self.run.get(to_usize(len)..).unwrap_or_default();
        match self.dialect.frame(next) {
            // Other bytes rarely look like the header of a sample.
            Ok(next) if next.kind == record::SAMPLE => true,
            _ => has_payload(record) || record.end() >= self.end || self.is_followed_by_any(record),
        }
    }

    #[cold]
    fn is_followed_by_any(&self, record: &Record<'_>) -> bool {
        let mut probe = Self { at: record.end(), run: &[], ..self.clone() };
        match probe.read_record() {
            Err(FrameFault::Type(found)) => probe.read_flipped(found).is_some(),
            // A type that no kernel has yet, or one with a flipped bit, before a record.
            Ok(next) if record::name(next.frame.kind).is_none() => {
                probe.is_followed_by_stored(&next)
            }
            _ => self.is_followed_by_stored(record),
        }
    }

    /// Whether a record with a type as it is stored follows.
    fn is_followed_by_stored(&self, record: &Record<'_>) -> bool {
        let mut probe = Self { at: record.end(), run: &[], ..self.clone() };
        match (probe.read_record(), self.events) {
            (Ok(next), Some(events)) => {
                next.frame.kind == record::SAMPLE || events.weigh(&next.view(self.layer, 0)) > 0
            }
            (Ok(_), None) => true,
            // The end of the file may truncate any record.
            (Err(fault), _) => {
                fault.is_truncation() && !matches!(fault, FrameFault::HeaderTruncated)
            }
        }
    }

    /// Looks for records inside the record at the position if another one does not follow it, or
    /// if its fields let it cover others; then they fill it, a feature before a record exactly.
    /// Returns the record with its right size, or the damage.
    #[inline]
    fn find_inside(&mut self, record: &Record<'_>) -> Option<Item<Record<'a>, Damage>> {
        if !self.is_followed(record) {
            let swallowed = self.find_swallowed(record, Reach::Few);
            let longer = |walker: &mut Self| {
                let longer = walker.read_longer(record)?;
                Some(walker.accept(longer))
            };
            swallowed.or_else(|| longer(self)).or_else(|| self.skip_torn(record).map(Item::Damage))
        } else if self.may_cover_others(record) {
            let is_feature = record.frame.kind == record::HEADER_FEATURE;
            let is_sound = is_feature && self.is_followed_by_any(record);
            let reach = if is_sound { Reach::End } else { Reach::Offset };
            self.find_swallowed(record, reach(record.end()))
        } else {
            None
        }
    }

    #[inline]
    fn may_cover_others(&self, record: &Record<'_>) -> bool {
        let kind = record.frame.kind;
        let holds_other_data = record.outside > 0 || Wrapper::of(kind).is_some();
        !holds_other_data
            && self
                .events
                .is_some_and(|events| events.may_cover_others(&record.view(self.layer, 0)))
    }

    /// Finds the first record inside the record at the position, which then ends there. If its
    /// fields do not, it is not one: bytes of it are missing, and what follows them counts as its
    /// body.
    #[cold]
    fn find_swallowed(
        &mut self,
        record: &Record<'_>,
        reach: Reach,
    ) -> Option<Item<Record<'a>, Damage>> {
        let (start, mut budget) = (self.at, self.budget);
        let area = start.saturating_add(1)..record.end();
        let next = self.search((area, 1), reach, &mut budget);
        self.budget = budget;
        let next = next?;
        if let Some(shorter) = self.read_up_to(next, record.frame) {
            return Some(self.accept(shorter));
        }
        self.at = next;
        self.run = &[];
        let span = Span::new(self.layer, start, next);
        let fault = FrameFault::PastEnd(record.frame);
        Some(Item::Damage(Damage { span, fault, resumes: true }))
    }

    /// Moves on to the next valid record; the bytes before it are damage.
    #[cold]
    fn skip_damage(&mut self, fault: FrameFault) -> Damage {
        let next = self.find_packed_after(self.at).or_else(|| self.resync(self.at));
        self.skip_to(next, fault)
    }

    /// Moves on to `next`, or to the end; the bytes before it are damage.
    fn skip_to(&mut self, next: Option<u64>, fault: FrameFault) -> Damage {
        let start = self.at;
        self.at = next.unwrap_or(self.end);
        self.run = &[];
        let span = Span::new(self.layer, start, self.at);
        Damage { span, fault, resumes: next.is_some() }
    }

    /// Moves on to the next valid record; the bytes before it are damage, or a record with a
    /// damaged header.
    #[cold]
    fn skip_or_read(&mut self, fault: FrameFault) -> Item<Record<'a>, Damage> {
        let next = self.find_packed_after(self.at).or_else(|| self.resync(self.at));
        let found = match fault {
            FrameFault::TooSmall(found) | FrameFault::Type(found) | FrameFault::PastEnd(found) => {
                Some(found)
            }
            FrameFault::HeaderTruncated | FrameFault::PayloadPastEnd(..) => None,
        };
        let end = next.unwrap_or(self.end);
        if let Some(record) = found.and_then(|found| self.read_up_to(end, found)) {
            return self.accept(record);
        }
        Item::Damage(self.skip_to(next, fault))
    }

    /// Finds the first place after `start` that begins valid records: by their
    /// events, or [`RESYNC_RECORDS`] by their headers, or fewer that reach the end. Kernel records
    /// keep the alignment of the damage unless compressed records or features of any size lie
    /// between, so headers are tried at multiples of 8 first, then at every byte.
    fn resync(&mut self, start: u64) -> Option<u64> {
        let mut budget = self.budget;
        let area = |stride: u64| start.saturating_add(stride)..self.end;
        let judged = self.events.and_then(|_| self.search((area(1), 1), Reach::Few, &mut budget));
        let found = judged.or_else(|| {
            let plain = Self { events: None, ..self.clone() };
            let aligned = plain.search((area(8), 8), Reach::Few, &mut budget);
            // Bytes that look like records are at multiples of 8, too.
            let before = start.saturating_add(1)..aligned.unwrap_or(self.end);
            plain
                .search((before, 1), Reach::Many, &mut budget)
                .or(aligned)
                .or_else(|| plain.search((area(1), 1), Reach::Few, &mut budget))
        });
        self.budget = budget;
        found
    }

    fn search(
        &self,
        (area, stride): (Range<u64>, u64),
        reach: Reach,
        budget: &mut Budget,
    ) -> Option<u64> {
        let header_len = to_usize(RECORD_HEADER);
        let search = Search { source: self.source, area, stride, header_len };
        let may_begin = |header: &[u8]| self.dialect.frame(header).is_ok();
        let prove = |at, budget: &mut Budget| {
            follow(at, reach.most_records(), 0, budget, |seen, at| self.step((seen, at), reach))
        };
        search.find(budget, may_begin, prove).found()
    }

    /// Reads the record at `at`, after others of weight `seen`, and requires more of it than a walk
    /// does: its type is known, its size fits the type, and unused bits of `misc` are 0.
    fn step(&self, (seen, at): (u64, u64), reach: Reach) -> Step<u64> {
        let is_proven = self.events.is_some() && seen >= RESYNC_WEIGHT;
        if is_proven && reach.is_reached(at) {
            return Step::End;
        }
        if reach.is_passed(at) {
            return Step::Invalid;
        }
        if at == self.end {
            let is_enough = seen > 0 && matches!(reach, Reach::Few);
            return if is_enough { Step::End } else { Step::Invalid };
        }
        let mut probe = Self { at, run: &[], ..self.clone() };
        let Ok(record) = probe.read_record() else { return Step::Invalid };
        if !record.frame.is_usual() {
            return Step::Invalid;
        }
        let weight = self.events.map_or(1, |events| {
            let view = record.view(self.layer, 0);
            // Other bytes may look like a name before anything.
            if events.is_padded(&view) { events.weigh(&view) } else { 0 }
        });
        if weight == 0 {
            return Step::Invalid;
        }
        Step::Item { end: record.end(), state: seen.saturating_add(weight) }
    }
}

impl<'a> Iterator for Walker<'a> {
    type Item = Item<Record<'a>, Damage>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.take_sample() {
            return Some(Item::Record(record));
        }
        if self.at >= self.end {
            return None;
        }
        match self.read_record() {
            Ok(record) if self.pipe && flip::is_near_attr(record.frame.kind) => {
                match self.read_flipped_attr(&record) {
                    Some(attr) => Some(self.accept(attr)),
                    None => Some(self.accept_unless_damaged(record)),
                }
            }
            Ok(record) => match self.read_as_packed(&record) {
                Some(packed) => Some(self.accept(packed)),
                None => Some(self.accept_unless_damaged(record)),
            },
            Err(fault) => {
                let flipped = match fault {
                    FrameFault::Type(found) => {
                        self.read_untyped(found).or_else(|| self.read_flipped(found))
                    }
                    _ => None,
                };
                let read = flipped.or_else(|| self.read_long_trace(fault));
                match read.or_else(|| self.read_packed(self.at)) {
                    Some(record) => Some(self.accept(record)),
                    None => Some(self.skip_or_read(fault)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

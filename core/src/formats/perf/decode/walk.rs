//! The frames of records: u32 type, u16 misc, u16 size, and `size - 8` bytes of body.
//!
//! ```text
//!  | type u32 | misc u16 | size u16 | body: size - 8 |   payload outside of size:
//!                                                       AUXTRACE: u64 at the body's start
//!                                                       TRACING_DATA (pipes): align8(u32)
//! ```

use std::borrow::Cow;

use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::{align8, to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// Records in a row that must frame well before a place counts as the next sound record.
pub const RESYNC_RECORDS: usize = 4;

/// A record's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// `header.type`.
    pub kind: u32,
    /// `header.misc`.
    pub misc: u16,
    /// `header.size`: the whole record, in bytes.
    pub size: u64,
}

/// Why no record begins at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFault {
    /// Fewer than the 8 bytes of a header are left.
    HeaderTorn,
    /// `header.size` is below 8.
    TooSmall(Frame),
    /// No kernel and no perf writes such a type.
    Type(Frame),
    /// The record ends behind the end of what is there.
    PastEnd(Frame),
    /// The payload behind the record, of so many bytes, does.
    PayloadPastEnd(Frame, u64),
}

/// The frame at the start of `bytes`, the record of which may be longer than they are.
#[inline]
pub fn frame(bytes: &[u8], order: Order) -> Result<Frame, FrameFault> {
    let Some([a, b, c, d, e, f, g, h]) = bytes.first_chunk::<8>().copied() else {
        return Err(FrameFault::HeaderTorn);
    };
    let (kind, misc, size) = match order {
        Order::Little => (
            u32::from_le_bytes([a, b, c, d]),
            u16::from_le_bytes([e, f]),
            u16::from_le_bytes([g, h]),
        ),
        Order::Big => (
            u32::from_be_bytes([a, b, c, d]),
            u16::from_be_bytes([e, f]),
            u16::from_be_bytes([g, h]),
        ),
    };
    let frame = Frame { kind, misc, size: u64::from(size) };
    if frame.size < RECORD_HEADER {
        Err(FrameFault::TooSmall(frame))
    } else if kind == 0 || kind > record::PLAUSIBLE_LAST {
        Err(FrameFault::Type(frame))
    } else {
        Ok(frame)
    }
}

/// A whole record.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// Its header.
    pub frame: Frame,
    /// Offset of its first byte.
    pub offset: u64,
    /// The whole record, header included.
    pub bytes: Cow<'a, [u8]>,
    /// Bytes of payload that follow it.
    pub outside: u64,
}

impl Record<'_> {
    /// Offset after the record and its payload.
    #[inline]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.frame.size).saturating_add(self.outside)
    }
}

/// What the walk comes upon.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// A whole record.
    Record(Record<'a>),
    /// Bytes that are no record, up to the next sound one or the end.
    Damage {
        /// All of them.
        span: Span,
        /// What is wrong with the first of them.
        fault: FrameFault,
        /// Whether a sound record follows.
        resumes: bool,
    },
}

/// Walks the records of `start..end` of a file. The items tile the range.
#[derive(Clone, Debug)]
pub struct Walker<'a> {
    source: &'a Source<'a>,
    layer: Layer,
    order: Order,
    pipe: bool,
    /// Offset of the next record.
    at: u64,
    end: u64,
    /// The rest of the piece of the source that `at` lies in, clipped to `end`.
    run: &'a [u8],
    /// Bytes that a search for the next sound record may still look at.
    resync_left: u64,
}

impl<'a> Walker<'a> {
    /// A walk over `start..end` of `source`, which is file number `file`.
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
            order,
            pipe,
            at: area.0.min(end),
            end,
            run: &[],
            resync_left: 0,
        }
    }

    /// With a search for the next sound record after damage, over at most `bytes` in all.
    #[must_use]
    pub const fn resyncing(mut self, bytes: u64) -> Self {
        self.resync_left = bytes;
        self
    }

    /// Offset of the next item.
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// The bytes from `at`, as far as they adjoin in memory.
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

    /// The record at the position, which stays.
    fn record(&mut self) -> Result<Record<'a>, FrameFault> {
        let run = self.run();
        let (frame, bytes) = match frame(run, self.order) {
            Ok(frame) if to_u64(run.len()) >= frame.size => {
                (frame, Cow::Borrowed(run.get(..to_usize(frame.size)).unwrap_or_default()))
            }
            Ok(_) | Err(FrameFault::HeaderTorn) => self.record_across_pieces()?,
            Err(fault) => return Err(fault),
        };
        let mut outside = 0;
        if frame.kind == record::AUXTRACE || (frame.kind == record::TRACING_DATA && self.pipe) {
            outside = payload(&bytes, frame, self.order);
            let left = self.end.saturating_sub(self.at).saturating_sub(frame.size);
            if outside > left {
                return Err(FrameFault::PayloadPastEnd(frame, outside));
            }
        }
        Ok(Record { frame, offset: self.at, bytes, outside })
    }

    /// A record that crosses pieces of the source.
    #[cold]
    fn record_across_pieces(&self) -> Result<(Frame, Cow<'a, [u8]>), FrameFault> {
        let head = self.source.read(self.at, self.end.min(self.at.saturating_add(RECORD_HEADER)));
        let frame = frame(&head, self.order)?;
        let after = self.at.saturating_add(frame.size);
        if after > self.end {
            return Err(FrameFault::PastEnd(frame));
        }
        Ok((frame, self.source.read(self.at, after)))
    }

    /// What lies between `start`, where `fault` is, and the next sound record.
    #[cold]
    fn damage(&mut self, fault: FrameFault) -> Item<'a> {
        let start = self.at;
        let next = self.resync(start);
        self.at = next.unwrap_or(self.end);
        self.run = &[];
        let span = Span::new(self.layer, start, self.at);
        Item::Damage { span, fault, resumes: next.is_some() }
    }

    /// The first place after `start` from which records follow one another to the end, or
    /// [`RESYNC_RECORDS`] of them. Kernel records keep to multiples of 8 from the damage on, unless
    /// compressed records or features of odd size came between: then any byte may do.
    fn resync(&mut self, start: u64) -> Option<u64> {
        for step in [8_u64, 1] {
            self.at = start;
            self.run = &[];
            self.advance(step);
            while self.at < self.end && self.resync_left > 0 {
                self.resync_left = self.resync_left.saturating_sub(1);
                let run = self.run();
                // Most places fail at once; a header across pieces is left to the full look.
                let may = matches!(frame(run, self.order), Ok(_) | Err(FrameFault::HeaderTorn));
                if may && self.sound_from(self.at) {
                    return Some(self.at);
                }
                self.advance(step);
            }
        }
        None
    }

    /// Whether well-framed records of known types follow each other from `at`.
    fn sound_from(&self, at: u64) -> bool {
        let mut probe = Self { at, run: &[], resync_left: 0, ..self.clone() };
        for seen in 0..RESYNC_RECORDS {
            if probe.at == probe.end {
                return seen > 0;
            }
            let Ok(record) = probe.record() else { return false };
            let kind = record.frame.kind;
            let known = kind <= record::KERNEL_LAST
                || (record::USER_FIRST..=record::USER_LAST).contains(&kind);
            let kernel = kind <= record::KERNEL_LAST;
            if !known || (kernel && record.frame.size & 7 != 0) || record.frame.misc & 0x0ff8 != 0 {
                return false;
            }
            probe.at = record.end();
            probe.run = &[];
        }
        true
    }
}

/// Bytes that follow a record and are not counted in its size.
fn payload(bytes: &[u8], frame: Frame, order: Order) -> u64 {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
    let body = cursor.skip(1, RECORD_HEADER, "header");
    let size = match frame.kind {
        record::AUXTRACE => body.and_then(|()| cursor.u64("size")),
        _ => body.and_then(|()| cursor.u32("size")).map(|size| align8(size.into())),
    };
    size.unwrap_or(0)
}

impl<'a> Iterator for Walker<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        if self.at >= self.end {
            return None;
        }
        match self.record() {
            Ok(record) => {
                self.advance(record.frame.size.saturating_add(record.outside));
                Some(Item::Record(record))
            }
            Err(fault) => Some(self.damage(fault)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, size: u16) -> Vec<u8> {
        let mut bytes = [&kind.to_le_bytes()[..], &[0, 0], &size.to_le_bytes()].concat();
        bytes.resize(usize::from(size.max(8)), 0xaa);
        bytes
    }

    fn walk(bytes: &[u8], pipe: bool) -> Vec<Item<'static>> {
        let held = bytes.to_vec();
        let source = Source::new(&held);
        let area = (0, source.len());
        let walker = Walker::new(&source, 0, Order::Little, pipe, area).resyncing(1 << 20);
        walker
            .map(|item| match item {
                Item::Record(record) => {
                    let bytes = Cow::Owned(record.bytes.into_owned());
                    Item::Record(Record { bytes, ..record })
                }
                Item::Damage { span, fault, resumes } => Item::Damage { span, fault, resumes },
            })
            .collect()
    }

    #[test]
    fn a_zeroed_page_is_one_damage_and_the_records_behind_it_are_found() {
        let sound: Vec<u8> = (0..6).flat_map(|_| record(9, 40)).collect();
        let bytes = [sound.as_slice(), &[0; 4096], &sound].concat();
        let items = walk(&bytes, false);
        assert_eq!(items.len(), 13);
        let Item::Damage { span, fault, resumes } = &items[6] else { panic!("{:?}", items[6]) };
        assert_eq!((span.start, span.end, *resumes), (240, 240 + 4096, true));
        assert!(matches!(fault, FrameFault::TooSmall(frame) if frame.size == 0));
    }

    #[test]
    fn a_cut_record_is_damage_to_the_end() {
        let bytes = [record(9, 40), record(9, 40)[..30].to_vec()].concat();
        let items = walk(&bytes, false);
        assert!(matches!(
            items[1],
            Item::Damage { span, fault: FrameFault::PastEnd(_), resumes: false }
                if span.start == 40 && span.end == 70
        ));
    }

    #[test]
    fn payloads_outside_the_record_belong_to_it_and_may_be_cut() {
        // AUXTRACE counts 16 bytes behind its 48; TRACING_DATA (pipes only) 5, padded to 8.
        let mut auxtrace = record(record::AUXTRACE, 48);
        auxtrace[8..16].copy_from_slice(&16_u64.to_le_bytes());
        let mut tracing = record(record::TRACING_DATA, 12);
        tracing[8..12].copy_from_slice(&5_u32.to_le_bytes());
        let bytes = [auxtrace, vec![1; 16], tracing, vec![2; 8], record(9, 16)].concat();
        let outside = |item: &Item<'_>| match item {
            Item::Record(record) => record.outside,
            Item::Damage { .. } => u64::MAX,
        };
        let items = walk(&bytes, true);
        assert_eq!(items.iter().map(outside).collect::<Vec<_>>(), [16, 8, 0]);
        let cut = walk(&bytes[..60], true);
        assert!(matches!(cut[0], Item::Damage { fault: FrameFault::PayloadPastEnd(_, 16), .. }));
    }

    #[test]
    fn records_across_pieces_are_the_same_as_in_one() {
        let bytes: Vec<u8> = (0..4).flat_map(|_| record(9, 24)).collect();
        let whole = walk(&bytes, false).len();
        for cut in 1..bytes.len() {
            let (a, b) = bytes.split_at(cut);
            let source = Source::from_pieces([a, b]);
            let items = Walker::new(&source, 0, Order::Little, false, (0, source.len()));
            let spans: Vec<u64> = items
                .map(|item| match item {
                    Item::Record(record) => record.end(),
                    Item::Damage { span, .. } => panic!("{span}"),
                })
                .collect();
            assert_eq!((spans.len(), spans[3]), (whole, 96), "cut at {cut}");
        }
    }
}

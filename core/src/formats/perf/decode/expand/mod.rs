//! The records inside compressed records.
//!
//! ```text
//!  COMPRESSED   | header 8 | zstd data |
//!  COMPRESSED2  | header 8 | u64 data_size | zstd data | padding to 8 |
//! ```
//!
//! All compressed records of a file hold one zstd stream. It expands to the records of the ring
//! buffers, which form the expanded layer; a record may extend over two compressed ones.

mod chunk;

use std::fmt;

use self::chunk::Chunk;
pub use self::chunk::ExpandedDamage;
use super::frame::{Dialect, Place, RecordView};
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::expand::zstd::{DataEnd, ExpandError, Expander, OpenUnit, WrongCheckSum};
use crate::kit::layer::{LayerMap, Segment};
use crate::kit::num::{align8, to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::kit::words::byte_count;

/// Bytes taken from the expander at a time.
const EXPANDED_STEP: usize = 256 << 10;
/// First bytes of a zstd frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The type of a compressed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapper {
    /// COMPRESSED: the zstd data ends with the record.
    Compressed,
    /// COMPRESSED2: the zstd data has its own length, and padding follows it.
    Compressed2,
}

impl Wrapper {
    /// Returns the wrapper of a record type; `None` if the type is not compressed.
    #[inline]
    pub const fn of(kind: u32) -> Option<Self> {
        match kind {
            record::COMPRESSED => Some(Self::Compressed),
            record::COMPRESSED2 => Some(Self::Compressed2),
            _ => None,
        }
    }

    /// Returns the record type.
    pub const fn kind(self) -> u32 {
        match self {
            Self::Compressed => record::COMPRESSED,
            Self::Compressed2 => record::COMPRESSED2,
        }
    }

    /// Returns the size of a record with `len` bytes of zstd data.
    pub fn size_with(self, len: u64) -> u64 {
        let size = self.head_len().saturating_add(len);
        match self {
            Self::Compressed => size,
            Self::Compressed2 => align8(size),
        }
    }

    /// Size of the fields before the zstd data in bytes.
    pub const fn head_len(self) -> u64 {
        match self {
            Self::Compressed => 8,
            Self::Compressed2 => 16,
        }
    }

    /// Returns the zstd data of a complete record.
    pub fn payload(self, bytes: &[u8], order: Order) -> &[u8] {
        let room = self.room(bytes);
        let size = self.data_size(bytes, order).map_or(room.len(), to_usize);
        room.get(..size).unwrap_or(room)
    }

    /// Returns the zstd data of a complete record, and the padding after it.
    pub fn room(self, bytes: &[u8]) -> &[u8] {
        bytes.get(to_usize(self.head_len())..).unwrap_or_default()
    }

    /// Returns the field `data_size` of a complete record; `None` if records of this type have
    /// none.
    pub fn data_size(self, bytes: &[u8], order: Order) -> Option<u64> {
        let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
        let head = cursor.skip(1, RECORD_HEADER, "header").ok().filter(|()| self.has_size());
        head.and_then(|()| cursor.u64("data_size").ok())
    }

    /// Whether the record states the length of its zstd data.
    pub const fn has_size(self) -> bool {
        matches!(self, Self::Compressed2)
    }
}

/// Whether zstd data begins with a new frame, which does not depend on earlier data.
pub fn begins_frame(payload: &[u8]) -> bool {
    payload.starts_with(&ZSTD_MAGIC)
}

/// Whether damage between compressed records may have been one. As many bytes as a FINISHED_ROUND
/// has were one: perf writes no other record there.
pub const fn may_hold_blocks(damage: Span) -> bool {
    damage.len() != RECORD_HEADER
}

/// Totals of the compressed records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Number of compressed records.
    pub records: u64,
    /// Size of their zstd data in bytes.
    pub stored: u64,
    /// Size of the expanded data in bytes.
    pub expanded: u64,
    /// Size of the longest expansion of one record in bytes.
    pub longest: u64,
    /// Expanded bytes of the current record so far.
    current: u64,
}

impl Totals {
    /// Returns the longest expansion and the ratio, the values of the COMPRESSED feature; `None`
    /// without compressed records.
    pub fn parameters(&self) -> Option<(u64, u64)> {
        let ratio = self.expanded.checked_div(self.stored.max(1)).unwrap_or(1);
        (self.records > 0).then_some((self.longest, ratio))
    }
}

/// The reason why the compressed records cannot be expanded further.
#[derive(Clone, Debug)]
pub enum StreamError {
    /// The zstd stream is invalid.
    Zstd(ExpandError),
    /// These bytes before the record are not a record: they may have been compressed ones, from
    /// which the next blocks copy.
    Gap(Span),
}

impl StreamError {
    /// Whether the stream may be sound, and a limit or the memory of the machine is too small.
    pub const fn is_limit(&self) -> bool {
        match self {
            Self::Zstd(error) => error.is_limit(),
            Self::Gap(_) => false,
        }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zstd(error) => error.fmt(f),
            Self::Gap(gap) => {
                let bytes = byte_count(gap.len());
                write!(f, "zstd blocks from which it copies may be missing in the {bytes} at {gap}")
            }
        }
    }
}

/// A fault in the zstd stream.
#[derive(Clone, Debug)]
pub struct StreamFault {
    /// The fault.
    pub error: StreamError,
    /// Number of bytes of the payload before the invalid block.
    pub valid: u64,
    /// Number of expanded bytes of the blocks that the same call completed.
    pub expanded: u64,
}

/// A step of an expansion.
pub enum Step<'e> {
    /// That many more bytes were expanded.
    Expanded(u64),
    /// A record became complete.
    Record(RecordView<'e>),
    /// Bytes are not a record.
    Damage(ExpandedDamage<'e>),
}

/// The state of the expansion of one file, and the totals of all files.
pub struct Expansion {
    dialect: Dialect,
    window_max: u64,
    expander: Option<Expander>,
    map: LayerMap,
    /// The bytes of an incomplete record, and its place.
    carry: Vec<u8>,
    carry_place: Place,
    /// Length of the expanded layer so far.
    end: u64,
    /// Bytes in which compressed records may be lost.
    gap: Option<Span>,
    totals: Totals,
}

impl Expansion {
    /// Creates an expansion of the first file that refuses windows of more than `window_max` bytes.
    pub fn new(dialect: impl Into<Dialect>, window_max: u64) -> Self {
        let carry_place = Place { layer: Layer::stored(0).expanded(), offset: 0, index: 0 };
        Self {
            dialect: dialect.into(),
            window_max,
            expander: None,
            map: LayerMap::default(),
            carry: Vec::new(),
            carry_place,
            end: 0,
            gap: None,
            totals: Totals::default(),
        }
    }

    /// Begins the expansion of the next file of a directory. The totals remain.
    pub fn begin_file(&mut self, file: u32) {
        let totals = self.totals;
        *self = Self::new(self.dialect, self.window_max);
        self.carry_place.layer = Layer::stored(file).expanded();
        self.totals = totals;
    }

    /// Byte order of the recording.
    pub const fn order(&self) -> Order {
        self.dialect.order
    }

    /// The stored layer of the file.
    pub const fn layer(&self) -> Layer {
        Layer::stored(self.carry_place.layer.file)
    }

    /// Whether a stream has begun and was not abandoned.
    #[inline]
    pub const fn is_open(&self) -> bool {
        self.expander.is_some()
    }

    /// The map from the expanded layer to the stored bytes.
    #[inline]
    pub const fn map(&self) -> &LayerMap {
        &self.map
    }

    /// Totals of the compressed records.
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Length of the expanded layer of the current file so far.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Counts a compressed record with this many bytes of zstd data.
    pub const fn count_record(&mut self, stored: u64) {
        self.totals.records = self.totals.records.saturating_add(1);
        self.totals.stored = self.totals.stored.saturating_add(stored);
    }

    /// Notes stored bytes that are not a record.
    pub fn note_damage(&mut self, damage: Span) {
        if self.is_open() && may_hold_blocks(damage) {
            self.gap.get_or_insert(damage);
        }
    }

    /// Expands the zstd data of a compressed record, and passes each step to `each` until it
    /// returns false. Returns the number of bytes at the end of the data that were not expanded.
    ///
    /// # Errors
    ///
    /// The stream cannot be expanded further.
    pub fn expand(
        &mut self,
        payload: &[u8],
        stored: Span,
        mut each: impl FnMut(&mut Self, Step<'_>) -> bool,
    ) -> Result<usize, StreamFault> {
        self.begin_record(payload);
        let mut rest = payload;
        while !rest.is_empty() {
            let fed = self.feed(rest, stored);
            let expanded = fed.as_ref().map_or_else(|fault| fault.expanded, |(_, bytes)| *bytes);
            let goes_on = each(self, Step::Expanded(expanded));
            let released = if goes_on { self.release(&mut each) } else { Released::Stopped };
            let consumed = match fed {
                Ok((consumed, _)) => consumed,
                Err(fault) => {
                    let before = to_u64(payload.len().saturating_sub(rest.len()));
                    return Err(StreamFault { valid: before.saturating_add(fault.valid), ..fault });
                }
            };
            rest = rest.get(consumed..).unwrap_or_default();
            let is_stuck = consumed == 0 && released == Released::Nothing;
            if is_stuck || released == Released::Stopped {
                break;
            }
        }
        Ok(rest.len())
    }

    /// Passes the records that became complete to `each`, until it returns false. If it does so for
    /// bytes that are not a record, the stream is given up; else what follows them is passed on.
    pub fn release(&mut self, mut each: impl FnMut(&mut Self, Step<'_>) -> bool) -> Released {
        let mut released = Released::Nothing;
        while let Some(chunk) = self.take_chunk() {
            released = Released::Bytes;
            let mut records = chunk.records();
            let mut damage_ends = None;
            for item in records.by_ref() {
                let goes_on = match item {
                    Item::Record(record) => each(self, Step::Record(record)),
                    Item::Damage(damage) => {
                        damage_ends = Some(chunk.end());
                        each(self, Step::Damage(damage))
                    }
                };
                if !goes_on {
                    released = Released::Stopped;
                    break;
                }
            }
            let place = damage_ends.unwrap_or(records.place());
            self.put_back(chunk, place);
            if released == Released::Stopped {
                if damage_ends.is_some() {
                    self.abandon();
                }
                break;
            }
        }
        released
    }

    /// Begins the data of the next compressed record.
    fn begin_record(&mut self, payload: &[u8]) {
        self.totals.current = 0;
        // A new frame does not depend on the blocks before it.
        if self.gap.is_some() && begins_frame(payload) {
            self.abandon();
            self.skip_to_end();
        }
    }

    /// Whether the current compressed record has expanded to any bytes.
    pub const fn has_expanded(&self) -> bool {
        self.totals.current > 0
    }

    /// Gives stored bytes to the expander. Returns the numbers of consumed and of expanded bytes.
    ///
    /// # Errors
    ///
    /// The stream cannot be expanded further.
    fn feed(&mut self, payload: &[u8], stored: Span) -> Result<(usize, u64), StreamFault> {
        if let Some(gap) = self.gap {
            return Err(StreamFault { error: StreamError::Gap(gap), valid: 0, expanded: 0 });
        }
        let window_max = self.window_max;
        let expander = self.expander.get_or_insert_with(|| Expander::new(window_max));
        let fed = expander.feed(payload);
        let good = match &fed {
            Ok(fed) => *fed,
            Err(fault) => fault.good,
        };
        let start = self.end;
        self.end = start.saturating_add(good.expanded);
        let expanded = Span::new(self.carry_place.layer, start, self.end);
        self.map.push(Segment { expanded, stored });
        let totals = &mut self.totals;
        totals.expanded = totals.expanded.saturating_add(good.expanded);
        totals.current = totals.current.saturating_add(good.expanded);
        totals.longest = totals.longest.max(totals.current);
        match fed {
            Ok(fed) => Ok((fed.stored, fed.expanded)),
            Err(fault) => Err(StreamFault {
                error: StreamError::Zstd(fault.error),
                valid: to_u64(good.stored),
                expanded: good.expanded,
            }),
        }
    }

    /// Number of stored bytes at the end of the input that belong to an incomplete block.
    pub fn pending(&self) -> u64 {
        self.expander.as_ref().map_or(0, Expander::pending)
    }

    /// Takes the last checksum of a zstd frame that did not match.
    pub fn take_wrong_check_sum(&mut self) -> Option<WrongCheckSum> {
        self.expander.as_mut().and_then(Expander::take_wrong_check_sum)
    }

    /// Returns the incomplete unit of the zstd stream at the end of the input; `None` if the input
    /// ends with a unit.
    pub fn open_unit(&self) -> Option<OpenUnit> {
        self.expander.as_ref().and_then(Expander::open_unit)
    }

    /// Returns where the zstd data in `room` end, which padding follows: at `stated`, if they can
    /// end there; `None` if they do not show where they end.
    pub fn find_data_end(&self, room: &[u8], stated: u64) -> Option<DataEnd> {
        match &self.expander {
            Some(expander) => expander.find_padding(room, stated),
            None => Expander::new(self.window_max).find_padding(room, stated),
        }
    }

    /// Declares the end of the stream, so that all expanded bytes are released.
    pub fn finish(&mut self) {
        if let Some(expander) = &mut self.expander {
            expander.finish();
        }
    }

    /// Gives up the stream and the incomplete record.
    pub fn abandon(&mut self) {
        self.expander = None;
        self.gap = None;
        self.carry.clear();
    }

    /// Continues after the bytes that were expanded so far.
    pub const fn skip_to_end(&mut self) {
        self.carry_place.offset = self.end;
    }

    /// Takes the next released bytes, after those of an incomplete record; `None` if no byte was
    /// released. The rest has to be returned with [`put_back`](Self::put_back).
    fn take_chunk(&mut self) -> Option<Chunk> {
        let taken = self.expander.as_mut()?.take(&mut self.carry, EXPANDED_STEP);
        (taken > 0).then(|| Chunk {
            bytes: std::mem::take(&mut self.carry),
            place: self.carry_place,
            dialect: self.dialect,
        })
    }

    /// Returns the bytes of a chunk from `place` on, which do not form a complete record.
    fn put_back(&mut self, mut chunk: Chunk, place: Place) {
        let done = to_usize(place.offset.saturating_sub(chunk.place.offset));
        chunk.bytes.drain(..done.min(chunk.bytes.len()));
        self.carry = chunk.bytes;
        self.carry_place = place;
    }

    /// Returns the incomplete record at the end of the stream; `None` without one.
    pub fn incomplete(&self) -> Option<Incomplete<'_>> {
        (!self.carry.is_empty()).then(|| Incomplete {
            place: self.carry_place,
            bytes: &self.carry,
            size: self.dialect.frame(&self.carry).ok().map(|frame| frame.size),
        })
    }

    /// Drops the incomplete record.
    pub fn drop_incomplete(&mut self) {
        self.carry.clear();
    }
}

/// Whether expanded bytes were released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// None were.
    Nothing,
    /// Some were.
    Bytes,
    /// No more are wanted, or bytes are not a record.
    Stopped,
}

/// A record at the end of the stream of which a part is missing.
#[derive(Clone, Copy, Debug)]
pub struct Incomplete<'a> {
    /// Its place.
    pub place: Place,
    /// The bytes that are present.
    pub bytes: &'a [u8],
    /// Its size in bytes, if the header is complete.
    pub size: Option<u64>,
}

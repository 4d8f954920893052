//! The header of a recording: 104 bytes in a file, 72 in an old one, 16 in a pipe.
//!
//! ```text
//!   0  magic      8     PERFILE2
//!   8  size       u64   104, 72 or 16
//!  16  attr_size  u64   size of an attr and its ids section
//!  24  attrs      section { u64 offset, u64 size }
//!  40  data       section
//!  56  event_types section
//!  72  flags      256 bits, one per feature
//! ```

use crate::formats::perf::layout::{self, field};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// `perf_file_section`: a place in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Distance from the start of the file in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

impl Section {
    /// Returns the offset after the last byte; `None` if it exceeds a u64.
    pub const fn end(self) -> Option<u64> {
        self.offset.checked_add(self.size)
    }

    /// Whether the section ends within `len` bytes.
    pub fn fits(self, len: u64) -> bool {
        self.end().is_some_and(|end| end <= len)
    }

    /// Returns the section as a span of file number `file`.
    pub const fn span(self, file: u32) -> Span {
        Span::sized(Layer::stored(file), self.offset, self.size)
    }

    /// Reads the next section of a table.
    ///
    /// # Errors
    ///
    /// Fewer than 16 bytes remain.
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Self, ReadError> {
        let offset = cursor.u64("section.offset")?;
        let size = cursor.u64("section.size")?;
        Ok(Self { offset, size })
    }
}

/// The feature bits of a header, as four words in the order of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub [u64; 4]);

impl Flags {
    /// Whether the bit of a feature is set.
    pub fn has(&self, bit: u32) -> bool {
        let word = self.0.get(usize::try_from(bit >> 6).unwrap_or(usize::MAX));
        word.is_some_and(|word| word >> (bit & 63) & 1 == 1)
    }

    /// Returns the bits up to `last`.
    #[must_use]
    pub fn up_to(self, last: u32) -> Self {
        self.bits().filter(|bit| *bit <= last).fold(Self::default(), Self::with)
    }

    /// Returns the set bits in ascending order, which is the order of the feature table.
    pub fn bits(self) -> impl Iterator<Item = u32> {
        (0..layout::FEATURE_BITS).filter(move |bit| self.has(*bit))
    }

    /// Returns the number of set bits.
    pub fn count(self) -> u64 {
        self.0.iter().fold(0, |sum: u64, word| sum.saturating_add(word.count_ones().into()))
    }

    /// Returns the flags with one more bit.
    #[must_use]
    pub fn with(mut self, bit: u32) -> Self {
        if let Some(word) = self.0.get_mut(usize::try_from(bit >> 6).unwrap_or(usize::MAX)) {
            *word |= 1 << (bit & 63);
        }
        self
    }
}

/// The layout of [`Flags`] in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagWords {
    /// Words of u64.
    U64,
    /// Pairs of u32, as a big-endian 32-bit machine writes them.
    U32,
}

/// A complete header. Its values are not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Byte order of the whole recording.
    pub order: Order,
    /// Whether the magic is of version 1.
    pub version1: bool,
    /// `header.size`.
    pub size: u64,
    /// The fields after `size`; `None` in a pipe.
    pub body: Option<Body>,
}

impl Header {
    /// Whether the header has feature bits. A header of 72 bytes ends before them.
    pub const fn has_feature_bits(&self) -> bool {
        self.size != layout::HEADER_SIZE_OLD
    }

    /// The length of the header of a file in bytes, also if `size` is invalid.
    pub const fn length(&self) -> u64 {
        if self.has_feature_bits() { layout::HEADER_SIZE } else { layout::HEADER_SIZE_OLD }
    }
}

/// The part of a header that pipes lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Size of an attr entry with its ids section.
    pub attr_size: u64,
    /// The attrs.
    pub attrs: Section,
    /// The records.
    pub data: Section,
    /// Unused since Linux 3.x.
    pub event_types: Section,
    /// The feature bits; all 0 in a header of 72 bytes.
    pub flags: Flags,
    /// The layout of the feature bits in the file.
    pub words: FlagWords,
}

impl Body {
    /// Whether there is a section of event types as old versions write it, between attrs and
    /// records: a u64 id and a name of 64 bytes per event. Public recordings of perf 3.4 and 3.8
    /// have one, those of 3.14 and later have none.
    pub fn has_event_types(&self) -> bool {
        let Self { attrs, data, event_types, .. } = *self;
        event_types.size.is_multiple_of(layout::EVENT_TYPE_SIZE)
            && attrs.end().is_some_and(|end| end <= event_types.offset)
            && event_types.end() == Some(data.offset)
    }
}

/// Returns the byte order that a magic stands for, and whether it is of version 1.
pub fn magic(first: &[u8]) -> Option<(Order, bool)> {
    let magic = first.first_chunk::<8>()?;
    let [v1_little, v1_big] = layout::MAGIC_V1;
    match magic {
        m if m == layout::MAGIC_LITTLE => Some((Order::Little, false)),
        m if m == layout::MAGIC_BIG => Some((Order::Big, false)),
        m if m == v1_little => Some((Order::Little, true)),
        m if m == v1_big => Some((Order::Big, true)),
        _ => None,
    }
}

/// Reads the header of file number `file`.
///
/// # Errors
///
/// The file is shorter than its header.
pub fn header(source: &Source<'_>, file: u32) -> Result<Header, ReadError> {
    let bytes = source.read(0, layout::HEADER_SIZE);
    parse(open(&bytes, file))
}

/// Notes the fields of the header of file number `file`.
pub fn log_fields(source: &Source<'_>, file: u32, log: &FieldLog) {
    let bytes = source.read(0, layout::HEADER_SIZE);
    let _header = parse(open(&bytes, file).with_log(log));
}

fn open(bytes: &[u8], file: u32) -> Cursor<'_> {
    let order = magic(bytes).map_or(Order::Little, |(order, _)| order);
    Cursor::new(bytes, Layer::stored(file), 0, order)
}

fn parse(mut cursor: Cursor<'_>) -> Result<Header, ReadError> {
    let (order, version1) = magic(cursor.rest()).unwrap_or((Order::Little, false));
    cursor.skip(1, field::SIZE, "magic")?;
    let size = cursor.u64("header.size")?;
    if size == layout::HEADER_SIZE_PIPE {
        return Ok(Header { order, version1, size, body: None });
    }
    let attr_size = cursor.u64("header.attr_size")?;
    let mut section = |label| Section::read(&mut cursor.window(layout::SECTION_SIZE, label)?);
    let attrs = section("header.attrs")?;
    let data = section("header.data")?;
    let event_types = section("header.event_types")?;
    let (mut flags, mut words) = (Flags::default(), FlagWords::U64);
    if size != layout::HEADER_SIZE_OLD {
        for word in &mut flags.0 {
            *word = cursor.u64("header.flags")?;
        }
        // util/header.c, perf_file_header__read: a 32-bit machine of the other byte order writes
        // the bits as pairs of u32. Every recording has HOSTNAME, so its bit shows the layout.
        let swapped = Flags(flags.0.map(|word| word.rotate_left(32)));
        if order == Order::Big
            && !flags.has(layout::feature::HOSTNAME)
            && swapped.has(layout::feature::HOSTNAME)
        {
            (flags, words) = (swapped, FlagWords::U32);
        }
    }
    let body = Body { attr_size, attrs, data, event_types, flags, words };
    Ok(Header { order, version1, size, body: Some(body) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magic_determines_the_byte_order() {
        assert_eq!(magic(b"PERFILE2...."), Some((Order::Little, false)));
        assert_eq!(magic(b"2ELIFREP"), Some((Order::Big, false)));
        assert_eq!(magic(b"PERFFILE"), Some((Order::Little, true)));
        assert_eq!(magic(b"PERFILE"), None);
    }

    #[test]
    fn a_pipe_header_ends_after_its_size() {
        let bytes = [&b"PERFILE2"[..], &16_u64.to_le_bytes()].concat();
        let header = header(&Source::new(&bytes), 0).unwrap();
        assert_eq!((header.size, header.body), (16, None));
    }

    #[test]
    fn a_header_of_72_bytes_has_no_features() {
        let mut bytes = vec![0xff; 120];
        bytes[..8].copy_from_slice(b"PERFILE2");
        bytes[8..16].copy_from_slice(&72_u64.to_le_bytes());
        let body = header(&Source::new(&bytes), 0).unwrap().body.unwrap();
        assert_eq!(body.flags.count(), 0);
        assert!(header(&Source::new(&bytes[..71]), 0).is_err());
    }

    #[test]
    fn bits_of_a_32_bit_machine_are_recognized_by_the_host_name() {
        let mut bytes = vec![0; 104];
        bytes[..8].copy_from_slice(b"2ELIFREP");
        bytes[8..16].copy_from_slice(&104_u64.to_be_bytes());
        // As two u32: the low word first.
        bytes[72..76].copy_from_slice(&(1_u32 << 3).to_be_bytes());
        let body = header(&Source::new(&bytes), 0).unwrap().body.unwrap();
        assert_eq!(body.words, FlagWords::U32);
        assert_eq!(body.flags.bits().collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn a_section_whose_end_overflows_fits_nowhere() {
        let section = Section { offset: u64::MAX, size: 2 };
        assert!(!section.fits(u64::MAX) && section.end().is_none());
    }
}

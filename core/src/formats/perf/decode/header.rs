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
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// `perf_file_section`: where something lies in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// From the start of the file, in bytes.
    pub offset: u64,
    /// In bytes.
    pub size: u64,
}

impl Section {
    /// Offset after the last byte; `None` if it is no number.
    pub const fn end(self) -> Option<u64> {
        self.offset.checked_add(self.size)
    }

    /// Whether the section ends within `len` bytes.
    pub fn fits(self, len: u64) -> bool {
        self.end().is_some_and(|end| end <= len)
    }

    /// The section as a span of file number `file`.
    pub const fn span(self, file: u32) -> Span {
        Span::sized(Layer::stored(file), self.offset, self.size)
    }

    /// The next section of a table.
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Self, ReadError> {
        let offset = cursor.u64("section.offset")?;
        let size = cursor.u64("section.size")?;
        Ok(Self { offset, size })
    }
}

/// The feature bits of a header, each 64 in the order of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub [u64; 4]);

impl Flags {
    /// Whether a feature is there.
    pub fn has(&self, bit: u32) -> bool {
        let word = self.0.get(usize::try_from(bit >> 6).unwrap_or(usize::MAX));
        word.is_some_and(|word| word >> (bit & 63) & 1 == 1)
    }

    /// The features that are there, ascending: the order of their table.
    pub fn bits(self) -> impl Iterator<Item = u32> {
        (0..layout::FEATURE_BITS).filter(move |bit| self.has(*bit))
    }

    /// Number of features.
    pub fn count(self) -> u64 {
        self.0.iter().fold(0, |sum: u64, word| sum.saturating_add(word.count_ones().into()))
    }

    /// With one feature more.
    #[must_use]
    pub fn with(mut self, bit: u32) -> Self {
        if let Some(word) = self.0.get_mut(usize::try_from(bit >> 6).unwrap_or(usize::MAX)) {
            *word |= 1 << (bit & 63);
        }
        self
    }
}

/// How the words of [`Flags`] lie in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagWords {
    /// As u64 of the recording's byte order.
    U64,
    /// As pairs of u32: what a big-endian 32-bit machine writes.
    U32,
}

/// A header, whole and in a known byte order; its numbers may still be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Byte order of the whole recording.
    pub order: Order,
    /// Whether the magic is of version 1.
    pub version1: bool,
    /// As the header says.
    pub size: u64,
    /// Everything behind `size`; nothing of it is in a pipe's header.
    pub body: Option<Body>,
}

/// The part of a header that pipes do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Size of an attr entry with its ids section.
    pub attr_size: u64,
    /// The attrs.
    pub attrs: Section,
    /// The records.
    pub data: Section,
    /// Out of use.
    pub event_types: Section,
    /// The feature bits; none in a header of 72 bytes.
    pub flags: Flags,
    /// How the bits lie in the file.
    pub words: FlagWords,
}

/// The byte order that a magic tells, and whether it is of version 1.
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

/// Reads the header.
pub fn header(source: &Source<'_>, file: u32) -> Result<Header, ReadError> {
    let bytes = source.read(0, layout::HEADER_SIZE);
    let (order, version1) = magic(&bytes).unwrap_or((Order::Little, false));
    let mut cursor = Cursor::new(&bytes, Layer::stored(file), 0, order);
    cursor.skip(1, field::SIZE, "magic")?;
    let size = cursor.u64("header.size")?;
    if size == layout::HEADER_SIZE_PIPE {
        return Ok(Header { order, version1, size, body: None });
    }
    let attr_size = cursor.u64("header.attr_size")?;
    let attrs = Section::read(&mut cursor)?;
    let data = Section::read(&mut cursor)?;
    let event_types = Section::read(&mut cursor)?;
    let (mut flags, mut words) = (Flags::default(), FlagWords::U64);
    if size != layout::HEADER_SIZE_OLD {
        for word in &mut flags.0 {
            *word = cursor.u64("header.flags")?;
        }
        // util/header.c, perf_file_header__read: a 32-bit machine of the other byte order wrote
        // the bits as pairs of u32; the host name, which every recording has, tells.
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
    fn the_magic_tells_the_byte_order() {
        assert_eq!(magic(b"PERFILE2...."), Some((Order::Little, false)));
        assert_eq!(magic(b"2ELIFREP"), Some((Order::Big, false)));
        assert_eq!(magic(b"PERFFILE"), Some((Order::Little, true)));
        assert_eq!(magic(b"PERFILE"), None);
    }

    #[test]
    fn a_pipe_has_no_more_than_its_size() {
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
    fn bits_of_a_32_bit_machine_are_found_by_the_host_name() {
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
    fn a_section_whose_end_is_no_number_fits_nowhere() {
        let section = Section { offset: u64::MAX, size: 2 };
        assert!(!section.fits(u64::MAX) && section.end().is_none());
    }
}

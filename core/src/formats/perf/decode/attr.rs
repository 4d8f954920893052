//! `perf_event_attr`: the description of one event and of its samples.
//!
//! Source: `read_attr` of perf's `util/header.c`, for the sizes.

use crate::formats::perf::layout::attr::{
    at, branch_sample_type, flag, read_format, sample_type, words,
};
use crate::formats::perf::layout::{
    ATTR_SIZE_KNOWN, ATTR_SIZE_VER0, SOFTWARE_DUMMY, TYPE_SOFTWARE, TYPE_TRACEPOINT,
};
use crate::kit::cursor::{Cursor, Order, ReadError};

/// Bits that `sample_type`, `read_format` and `branch_sample_type` have at most for years. Linux
/// 6.12 has 25, 5 and 20 of them.
const SAMPLE_BITS: u32 = 32;
const READ_BITS: u32 = 16;
const BRANCH_BITS: u32 = 32;

/// The types of events that all machines share and whose numbers have names, except tracepoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Counters that most processors have.
    Hardware,
    /// Counters of the kernel.
    Software,
    /// Counters of the caches.
    Cache,
    /// A number of the processor.
    Raw,
    /// Accesses to an address.
    Breakpoint,
}

impl EventKind {
    /// Returns the kind of a value of `attr.type`; `None` for a tracepoint, and for a PMU that has
    /// another number on each machine.
    pub const fn of(kind: u32) -> Option<Self> {
        match kind {
            0 => Some(Self::Hardware),
            1 => Some(Self::Software),
            3 => Some(Self::Cache),
            4 => Some(Self::Raw),
            5 => Some(Self::Breakpoint),
            _ => None,
        }
    }
}

/// A `perf_event_attr`. Fields that its size leaves out are 0, as the kernel reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attr {
    /// `type`: 0 hardware, 1 software, 2 tracepoint, or the number of a PMU.
    pub kind: u32,
    /// `size` as written, in bytes; see [`Attr::stored_len`].
    pub size: u32,
    /// The event, in the terms of its type.
    pub config: u64,
    /// The fields of a sample: bits of [`sample_type`].
    pub sample_type: u64,
    /// The layout of counter values: bits of [`read_format`].
    pub read_format: u64,
    /// The bit fields. Bit 0 is `disabled`, whatever the byte order of the recording.
    pub flags: u64,
    /// Second word of `config`, or the address of a breakpoint.
    pub config1: u64,
    /// The recorded branches and their layout: bits of [`branch_sample_type`].
    pub branch_sample_type: u64,
    /// Mask of the user's registers in a sample.
    pub sample_regs_user: u64,
    /// Mask of the interrupted registers in a sample.
    pub sample_regs_intr: u64,
    /// Whether any byte after the last known field is not zero.
    pub extra_nonzero: bool,
}

impl Attr {
    /// Returns the length of the attr in bytes: its size, but at least 64 (the size 0 stands for
    /// the first version, and perf reads 64 bytes before it uses the size).
    pub fn stored_len(&self) -> u64 {
        u64::from(self.size).max(ATTR_SIZE_VER0)
    }

    /// Whether the event is a tracepoint, whose fields only TRACING_DATA describes.
    pub const fn is_tracepoint(&self) -> bool {
        self.kind == TYPE_TRACEPOINT
    }

    /// Whether the event counts nothing, and so has no samples: perf opens it for the records
    /// about threads and maps.
    pub const fn is_dummy(&self) -> bool {
        self.kind == TYPE_SOFTWARE && self.config == SOFTWARE_DUMMY
    }

    /// Whether samples have all the fields in `bits`.
    #[inline]
    pub const fn samples(&self, bits: u64) -> bool {
        self.sample_type & bits == bits
    }

    /// Returns the unknown bits of `sample_type`. Samples with any of them cannot be read.
    pub const fn unknown_sample_bits(&self) -> u64 {
        self.sample_type & !sample_type::KNOWN
    }

    /// Whether the layout of samples has bits that no kernel will have for years: bits are defined
    /// from the lowest on, one or two a year.
    pub const fn is_impossible(&self) -> bool {
        let read = self.samples(sample_type::READ) && self.read_format >> READ_BITS != 0;
        let branches = self.branch_sample_type >> BRANCH_BITS != 0;
        let branch = self.samples(sample_type::BRANCH_STACK) && branches;
        self.sample_type >> SAMPLE_BITS != 0 || read || branch
    }

    /// Returns the place of the id in a sample, counted from its start in fields of 8 bytes, and in
    /// the `sample_id` of other records, counted from its end.
    const fn id_places(&self) -> Option<(u32, u32)> {
        use sample_type::{ADDR, CPU, ID, IDENTIFIER, IP, STREAM_ID, TID, TIME};
        if self.samples(IDENTIFIER) {
            return Some((0, 1));
        }
        let before = (self.sample_type & (IP | TID | TIME | ADDR)).count_ones();
        let after = (self.sample_type & (CPU | STREAM_ID)).count_ones();
        if self.samples(ID) { Some((before, after.saturating_add(1))) } else { None }
    }

    /// Whether records of both attrs store their id at the same place.
    pub fn places_ids_like(&self, other: &Self) -> bool {
        let places = self.id_places();
        let is_alike = places == other.id_places() && places.is_some();
        is_alike && self.sample_id_all() == other.sample_id_all()
    }

    /// Whether samples hold counter values without the ids that tell them apart.
    pub const fn reads_without_id(&self) -> bool {
        self.samples(sample_type::READ) && self.read_format & read_format::ID == 0
    }

    /// Returns the unknown bits of `read_format`.
    pub const fn unknown_read_bits(&self) -> u64 {
        self.read_format & !read_format::KNOWN
    }

    /// Returns the unknown bits of `branch_sample_type`.
    pub const fn unknown_branch_bits(&self) -> u64 {
        self.branch_sample_type & !branch_sample_type::KNOWN
    }

    /// Whether all bits that affect the layout of a sample are known.
    pub const fn layout_known(&self) -> bool {
        let read = self.samples(sample_type::READ) && self.unknown_read_bits() != 0;
        let branch = self.samples(sample_type::BRANCH_STACK) && self.unknown_branch_bits() != 0;
        self.unknown_sample_bits() == 0 && !read && !branch
    }

    /// Whether records other than samples end in a `sample_id`.
    pub const fn sample_id_all(&self) -> bool {
        self.flags & flag::SAMPLE_ID_ALL != 0
    }

    /// Whether nothing is counted in the kernel.
    pub const fn excludes_kernel(&self) -> bool {
        self.flags & flag::EXCLUDE_KERNEL != 0
    }

    /// Whether nothing is counted in programs.
    pub const fn excludes_user(&self) -> bool {
        self.flags & flag::EXCLUDE_USER != 0
    }

    /// Whether nothing is counted in the hypervisor.
    pub const fn excludes_hypervisor(&self) -> bool {
        self.flags & flag::EXCLUDE_HV != 0
    }

    /// Whether only guests are counted.
    pub const fn excludes_host(&self) -> bool {
        self.flags & flag::EXCLUDE_HOST != 0
    }

    /// How precise the instruction pointers are, 0 to 3.
    pub const fn precise_ip(&self) -> u64 {
        (self.flags & flag::PRECISE_IP) >> flag::PRECISE_IP_SHIFT
    }
}

/// Reads the attr at the cursor, of the size that it states. `order` is that of the cursor; the bit
/// fields depend on it.
///
/// # Errors
///
/// The attr is longer than the rest of the cursor, which then does not move.
pub fn attr(cursor: &mut Cursor<'_>, order: Order) -> Result<Attr, ReadError> {
    let mut attr = Attr { size: stated_size(cursor)?, ..Attr::default() };
    let mut body = cursor.window(attr.stored_len(), "attr")?;
    for word in words(attr.stored_len()) {
        let number = body.number(word.label, word.form)?;
        match word.at {
            at::TYPE => attr.kind = u32::try_from(number).unwrap_or(u32::MAX),
            at::CONFIG => attr.config = number,
            at::SAMPLE_TYPE => attr.sample_type = number,
            at::READ_FORMAT => attr.read_format = number,
            at::FLAGS => attr.flags = flags(number, order),
            at::CONFIG1 => attr.config1 = number,
            at::BRANCH_SAMPLE_TYPE => attr.branch_sample_type = number,
            at::SAMPLE_REGS_USER => attr.sample_regs_user = number,
            at::SAMPLE_REGS_INTR => attr.sample_regs_intr = number,
            _ => {}
        }
    }
    attr.extra_nonzero =
        attr.stored_len() > ATTR_SIZE_KNOWN.into() && body.rest().iter().any(|byte| *byte != 0);
    Ok(attr)
}

/// Returns the size that the attr at the cursor states, without moving the cursor.
///
/// # Errors
///
/// The cursor ends before the size does.
pub fn stated_size(cursor: &Cursor<'_>) -> Result<u32, ReadError> {
    let mut head = cursor.unlogged();
    head.skip(1, at::SIZE, "attr.type")?;
    head.u32("attr.size")
}

/// Returns the bit fields with `disabled` in bit 0. Compilers for big-endian machines allocate bits
/// from the top, so the word is mirrored, except the two bits of `precise_ip`.
pub const fn flags(word: u64, order: Order) -> u64 {
    match order {
        Order::Little => word,
        Order::Big => {
            let mirrored = word.reverse_bits();
            let low = mirrored >> flag::PRECISE_IP_SHIFT & 1;
            let high = mirrored >> (flag::PRECISE_IP_SHIFT + 1) & 1;
            mirrored & !flag::PRECISE_IP | (low << 1 | high) << flag::PRECISE_IP_SHIFT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;

    /// Builds an attr of `size` bytes in which the value of every field is its offset.
    fn bytes(size: u32, len: usize, order: Order) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let word = u64::try_from(bytes.len()).unwrap();
            bytes.extend(match order {
                Order::Little => word.to_le_bytes(),
                Order::Big => word.to_be_bytes(),
            });
        }
        bytes[..8].fill(0);
        bytes[4..8].copy_from_slice(&match order {
            Order::Little => size.to_le_bytes(),
            Order::Big => size.to_be_bytes(),
        });
        bytes.truncate(len);
        bytes
    }

    fn read(bytes: &[u8], order: Order) -> (Result<Attr, ReadError>, u64) {
        let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
        let attr = attr(&mut cursor, order);
        (attr, cursor.position())
    }

    #[test]
    fn fields_lie_at_the_offsets_of_the_kernel_header() {
        for order in [Order::Little, Order::Big] {
            let (attr, end) = read(&bytes(144, 160, order), order);
            let attr = attr.unwrap();
            assert_eq!(end, 144);
            assert_eq!((attr.config, attr.config1, attr.branch_sample_type), (8, 56, 72));
            assert_eq!((attr.sample_type, attr.read_format), (24, 32));
            assert_eq!((attr.sample_regs_user, attr.sample_regs_intr), (80, 96));
            assert!(!attr.extra_nonzero);
        }
    }

    #[test]
    fn a_size_of_zero_means_the_first_version() {
        let (attr, end) = read(&bytes(0, 160, Order::Little), Order::Little);
        let attr = attr.unwrap();
        assert_eq!((attr.size, end), (0, 64));
        assert_eq!((attr.config1, attr.branch_sample_type), (56, 0));
    }

    #[test]
    fn a_size_between_versions_excludes_incomplete_versions() {
        let (attr, end) = read(&bytes(92, 160, Order::Little), Order::Little);
        let attr = attr.unwrap();
        assert_eq!(end, 92);
        assert_eq!((attr.branch_sample_type, attr.sample_regs_user), (72, 0));
    }

    #[test]
    fn bytes_after_the_known_fields_are_noticed() {
        let mut newer = bytes(152, 152, Order::Little);
        assert!(read(&newer, Order::Little).0.unwrap().extra_nonzero);
        newer[144..].fill(0);
        assert!(!read(&newer, Order::Little).0.unwrap().extra_nonzero);
        newer[4] = 148;
        newer[144] = 1;
        assert_eq!(read(&newer, Order::Little).1, 148);
        assert!(read(&newer, Order::Little).0.unwrap().extra_nonzero);
    }

    #[test]
    fn an_attr_longer_than_the_rest_is_not_begun() {
        let (attr, end) = read(&bytes(136, 128, Order::Little), Order::Little);
        assert_eq!(attr.unwrap_err().to_string(), "truncated attr: 128 of 136 bytes at 0x0");
        assert_eq!(end, 0);
    }

    #[test]
    fn bit_fields_are_the_same_in_both_byte_orders() {
        // inherit, freq, precise_ip 2, sample_id_all: bits 1, 10, 16, 18; from the top 62, 53,
        // 48 (precise_ip's high bit comes first), 45.
        let little = 1 << 1 | 1 << 10 | 1 << 16 | 1 << 18;
        let big = 1 << 62 | 1 << 53 | 1 << 48 | 1 << 45;
        assert_eq!(flags(little, Order::Little), flags(big, Order::Big));
        let attr = Attr { flags: flags(big, Order::Big), ..Attr::default() };
        assert!(attr.sample_id_all());
    }

    #[test]
    fn unknown_bits_are_reported() {
        let attr = Attr { sample_type: 1 << 25 | 1, ..Attr::default() };
        assert_eq!(attr.unknown_sample_bits(), 1 << 25);
        assert!(!attr.layout_known());
        let attr = Attr { sample_type: 1, read_format: 1 << 5, ..Attr::default() };
        assert!(attr.layout_known());
    }
}

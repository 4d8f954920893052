//! `perf_event_attr`: the description of one event and of its samples.
//!
//! ```text
//!    0 type u32   4 size u32   8 config   16 period or freq   24 sample_type   32 read_format
//!   40 bit fields, 64   48 wakeup u32   52 bp_type u32   56 config1           VER0: 64 bytes
//!   64 config2                                                                VER1: 72
//!   72 branch_sample_type                                                     VER2: 80
//!   80 sample_regs_user   88 sample_stack_user u32   92 clockid i32           VER3: 96
//!   96 sample_regs_intr                                                       VER4: 104
//!  104 aux_watermark u32   108 sample_max_stack u16   110 reserved u16        VER5: 112
//!  112 aux_sample_size u32   116 aux_action u32                               VER6: 120
//!  120 sig_data                                                               VER7: 128
//!  128 config3                                                                VER8: 136
//!  136 config4                                                                VER9: 144
//! ```
//!
//! Source: `include/uapi/linux/perf_event.h`; `read_attr` of perf's `util/header.c` for the sizes.

use crate::formats::perf::layout::{ATTR_SIZE_VER0, TYPE_TRACEPOINT};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::row::{Form, Row};

/// Size of the newest attr whose fields are known.
const SIZE_KNOWN: u64 = 144;

/// Bits of `sample_type`.
pub mod sample_type {
    /// u64 instruction pointer.
    pub const IP: u64 = 1 << 0;
    /// u32 pid, u32 tid.
    pub const TID: u64 = 1 << 1;
    /// u64, in ns of the recording's clock.
    pub const TIME: u64 = 1 << 2;
    /// u64 address of the data.
    pub const ADDR: u64 = 1 << 3;
    /// Counter values, as described by `read_format`.
    pub const READ: u64 = 1 << 4;
    /// u64 count, then as many u64.
    pub const CALLCHAIN: u64 = 1 << 5;
    /// u64 id of the event.
    pub const ID: u64 = 1 << 6;
    /// u32 cpu, u32 reserved.
    pub const CPU: u64 = 1 << 7;
    /// u64 period.
    pub const PERIOD: u64 = 1 << 8;
    /// u64 id of the event's instance.
    pub const STREAM_ID: u64 = 1 << 9;
    /// u32 size, then as many bytes.
    pub const RAW: u64 = 1 << 10;
    /// u64 count, then branches.
    pub const BRANCH_STACK: u64 = 1 << 11;
    /// u64 ABI, then registers.
    pub const REGS_USER: u64 = 1 << 12;
    /// u64 size, bytes, u64 size in use.
    pub const STACK_USER: u64 = 1 << 13;
    /// u64 weight.
    pub const WEIGHT: u64 = 1 << 14;
    /// u64 source of the data.
    pub const DATA_SRC: u64 = 1 << 15;
    /// u64 id of the event, first of all fields.
    pub const IDENTIFIER: u64 = 1 << 16;
    /// u64 flags of a transaction.
    pub const TRANSACTION: u64 = 1 << 17;
    /// u64 ABI, then registers.
    pub const REGS_INTR: u64 = 1 << 18;
    /// u64 physical address.
    pub const PHYS_ADDR: u64 = 1 << 19;
    /// u64 size, then bytes of hardware trace.
    pub const AUX: u64 = 1 << 20;
    /// u64 id of the cgroup.
    pub const CGROUP: u64 = 1 << 21;
    /// u64 page size.
    pub const DATA_PAGE_SIZE: u64 = 1 << 22;
    /// u64 page size.
    pub const CODE_PAGE_SIZE: u64 = 1 << 23;
    /// The weight in three parts, in the same 8 bytes.
    pub const WEIGHT_STRUCT: u64 = 1 << 24;
    /// All bits above.
    pub const KNOWN: u64 = (1 << 25) - 1;
}

/// Bits of `read_format`.
pub mod read_format {
    /// u64 time the event was enabled.
    pub const TOTAL_TIME_ENABLED: u64 = 1 << 0;
    /// u64 time the event ran.
    pub const TOTAL_TIME_RUNNING: u64 = 1 << 1;
    /// u64 id with each value.
    pub const ID: u64 = 1 << 2;
    /// The values of a whole group.
    pub const GROUP: u64 = 1 << 3;
    /// u64 count of lost samples with each value.
    pub const LOST: u64 = 1 << 4;
    /// All bits above.
    pub const KNOWN: u64 = (1 << 5) - 1;
}

/// Bits of `branch_sample_type` that change the layout of a sample.
pub mod branch_sample_type {
    /// u64 before the branches.
    pub const HW_INDEX: u64 = 1 << 17;
    /// u64 per branch after them.
    pub const COUNTERS: u64 = 1 << 19;
    /// All published bits.
    pub const KNOWN: u64 = (1 << 20) - 1;
}

/// Bits that `sample_type`, `read_format` and `branch_sample_type` have at most for years. Linux
/// 6.12 has 25, 5 and 20 of them.
const SAMPLE_BITS: u32 = 32;
const READ_BITS: u32 = 16;
const BRANCH_BITS: u32 = 32;

/// Positions of the bits in [`Attr::flags`] that have an accessor.
mod flag {
    pub(super) const EXCLUDE_USER: u32 = 4;
    pub(super) const EXCLUDE_KERNEL: u32 = 5;
    pub(super) const EXCLUDE_HV: u32 = 6;
    pub(super) const PRECISE_IP: u32 = 15;
    pub(super) const SAMPLE_ID_ALL: u32 = 18;
    pub(super) const EXCLUDE_HOST: u32 = 19;
}

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
    /// Period in events, or frequency in Hz if the flag `freq` is set.
    pub sample_period: u64,
    /// The fields of a sample: bits of [`sample_type`].
    pub sample_type: u64,
    /// The layout of counter values: bits of [`read_format`].
    pub read_format: u64,
    /// The bit fields. Bit 0 is `disabled`, whatever the byte order of the recording.
    pub flags: u64,
    /// Second word of `config`, or the address of a breakpoint.
    pub config1: u64,
    /// Third word of `config`, or the length of a breakpoint.
    pub config2: u64,
    /// The recorded branches and their layout: bits of [`branch_sample_type`].
    pub branch_sample_type: u64,
    /// Mask of the user's registers in a sample.
    pub sample_regs_user: u64,
    /// Bytes of user stack in a sample.
    pub sample_stack_user: u32,
    /// Clock of the times if `use_clockid` is set: the bits of an `i32` of type `clockid_t`.
    pub clockid: u32,
    /// Mask of the interrupted registers in a sample.
    pub sample_regs_intr: u64,
    /// Bytes of hardware trace in a sample.
    pub aux_sample_size: u32,
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

    const fn flag(&self, bit: u32) -> bool {
        self.flags >> bit & 1 == 1
    }

    /// Whether records other than samples end in a `sample_id`.
    pub const fn sample_id_all(&self) -> bool {
        self.flag(flag::SAMPLE_ID_ALL)
    }

    /// Whether nothing is counted in the kernel.
    pub const fn excludes_kernel(&self) -> bool {
        self.flag(flag::EXCLUDE_KERNEL)
    }

    /// Whether nothing is counted in programs.
    pub const fn excludes_user(&self) -> bool {
        self.flag(flag::EXCLUDE_USER)
    }

    /// Whether nothing is counted in the hypervisor.
    pub const fn excludes_hypervisor(&self) -> bool {
        self.flag(flag::EXCLUDE_HV)
    }

    /// Whether only guests are counted.
    pub const fn excludes_host(&self) -> bool {
        self.flag(flag::EXCLUDE_HOST)
    }

    /// How precise the instruction pointers are, 0 to 3.
    pub const fn precise_ip(&self) -> u64 {
        self.flags >> flag::PRECISE_IP & 3
    }
}

/// Reads the attr at the cursor, of the size that it states. `order` is that of the cursor; the bit
/// fields depend on it.
///
/// # Errors
///
/// The attr is longer than the rest of the cursor, which then does not move.
pub fn attr(cursor: &mut Cursor<'_>, order: Order) -> Result<Attr, ReadError> {
    let mut head = cursor.unlogged();
    let kind = head.u32("attr.type")?;
    let size = head.u32("attr.size")?;
    let mut attr = Attr { kind, size, ..Attr::default() };
    let mut body = cursor.window(attr.stored_len(), "attr")?;
    body.row(&[("attr.type", Form::U32), ("attr.size", Form::U32)])?;
    first_version(&mut body, order, &mut attr)?;
    later_versions(&mut body, &mut attr)?;
    attr.extra_nonzero =
        attr.stored_len() > SIZE_KNOWN && body.rest().iter().any(|byte| *byte != 0);
    Ok(attr)
}

/// Reads bytes 8 to 64.
fn first_version(body: &mut Cursor<'_>, order: Order, attr: &mut Attr) -> Result<(), ReadError> {
    attr.config = body.hex64("attr.config")?;
    attr.sample_period = body.u64("attr.sample_period")?;
    attr.sample_type = body.hex64("attr.sample_type")?;
    attr.read_format = body.hex64("attr.read_format")?;
    attr.flags = flags(body.hex64("attr.flags")?, order);
    body.row(&[("attr.wakeup_events", Form::U32), ("attr.bp_type", Form::U32)])?;
    attr.config1 = body.hex64("attr.config1")?;
    Ok(())
}

/// AUX_WATERMARK to the reserved bytes before `aux_sample_size`.
const AUX_WATERMARK: &Row = &[
    ("attr.aux_watermark", Form::U32),
    ("attr.sample_max_stack", Form::U16),
    ("attr.reserved", Form::U16),
];

/// Reads bytes 64 to 144. A field is present if the size covers all fields of its version.
fn later_versions(body: &mut Cursor<'_>, attr: &mut Attr) -> Result<(), ReadError> {
    let len = attr.stored_len();
    if len >= 72 {
        attr.config2 = body.hex64("attr.config2")?;
    }
    if len >= 80 {
        attr.branch_sample_type = body.hex64("attr.branch_sample_type")?;
    }
    if len >= 96 {
        attr.sample_regs_user = body.hex64("attr.sample_regs_user")?;
        attr.sample_stack_user = body.u32("attr.sample_stack_user")?;
        attr.clockid = body.u32("attr.clockid")?;
    }
    if len >= 104 {
        attr.sample_regs_intr = body.hex64("attr.sample_regs_intr")?;
    }
    if len >= 112 {
        body.row(AUX_WATERMARK)?;
    }
    if len >= 120 {
        attr.aux_sample_size = body.u32("attr.aux_sample_size")?;
        body.row(&[("attr.aux_action", Form::Hex32)])?;
    }
    if len >= 128 {
        body.row(&[("attr.sig_data", Form::Hex64)])?;
    }
    if len >= 136 {
        body.row(&[("attr.config3", Form::Hex64)])?;
    }
    if len >= SIZE_KNOWN {
        body.row(&[("attr.config4", Form::Hex64)])?;
    }
    Ok(())
}

/// Returns the bit fields with `disabled` in bit 0. Compilers for big-endian machines allocate bits
/// from the top, so the word is mirrored, except the two bits of `precise_ip`.
pub(super) const fn flags(word: u64, order: Order) -> u64 {
    match order {
        Order::Little => word,
        Order::Big => {
            let mirrored = word.reverse_bits();
            let low = mirrored >> flag::PRECISE_IP & 1;
            let high = mirrored >> (flag::PRECISE_IP + 1) & 1;
            mirrored & !(3 << flag::PRECISE_IP) | (low << 1 | high) << flag::PRECISE_IP
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
            assert_eq!((attr.config, attr.sample_period), (8, 16));
            assert_eq!((attr.sample_type, attr.read_format), (24, 32));
            assert_eq!((attr.config1, attr.config2, attr.branch_sample_type), (56, 64, 72));
            assert_eq!((attr.sample_regs_user, attr.sample_regs_intr), (80, 96));
            assert!(!attr.extra_nonzero);
        }
    }

    #[test]
    fn a_size_of_zero_means_the_first_version() {
        let (attr, end) = read(&bytes(0, 160, Order::Little), Order::Little);
        let attr = attr.unwrap();
        assert_eq!((attr.size, end), (0, 64));
        assert_eq!((attr.config1, attr.config2), (56, 0));
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

//! `perf_event_attr`: its sizes, its words, and their bits.
//!
//! A new word is one entry of [`WORDS`], and its size one of [`versions::ATTRS`]: the check, the
//! map, the dump, the audit, `--abi` and the repair of damaged attrs read them here. A word whose
//! bits or value a rule names has its offset in [`at`].
//!
//! Source: `include/uapi/linux/perf_event.h`.

use super::versions;
use crate::kit::cursor::Order;
use crate::kit::row::Form::{self, Hex32, Hex64, U16, U32, U64};

/// Size of the first published version of the attr, for which the size 0 stands.
pub const ATTR_SIZE_VER0: u64 = 64;
/// Size of the last version that a perf before 6.3 writes.
pub const ATTR_SIZE_VER7: u64 = 128;
/// Sizes of the published versions of the attr, VER0 to VER9.
pub const ATTR_SIZES: [u32; 10] = {
    let [a, b, c, d, e, f, g, h, i, j] = versions::ATTRS;
    [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0, i.0, j.0]
};

/// Size of the newest published version.
pub const ATTR_SIZE_KNOWN: u32 = {
    let [.., last] = ATTR_SIZES;
    last
};

/// Offsets of the words that rules name.
pub mod at {
    /// 0 hardware, 1 software, 2 tracepoint, or the number of a PMU.
    pub const TYPE: u64 = 0;
    /// The size of the attr.
    pub const SIZE: u64 = 4;
    /// The event, in the terms of its type.
    pub const CONFIG: u64 = 8;
    /// Period in events, or frequency in Hz if the flag `freq` is set.
    pub const SAMPLE_PERIOD: u64 = 16;
    /// The fields of a sample.
    pub const SAMPLE_TYPE: u64 = 24;
    /// The layout of counter values.
    pub const READ_FORMAT: u64 = 32;
    /// The bit fields.
    pub const FLAGS: u64 = 40;
    /// Events, or with the flag `watermark` bytes, after which perf wakes up.
    pub const WAKEUP_EVENTS: u64 = 48;
    /// Second word of `config`, or the address of a breakpoint.
    pub const CONFIG1: u64 = 56;
    /// The recorded branches and their layout.
    pub const BRANCH_SAMPLE_TYPE: u64 = 72;
    /// Mask of the user's registers in a sample.
    pub const SAMPLE_REGS_USER: u64 = 80;
    /// Size of the user's stack in a sample.
    pub const SAMPLE_STACK_USER: u64 = 88;
    /// Mask of the interrupted registers in a sample.
    pub const SAMPLE_REGS_INTR: u64 = 96;
    /// Whether the event starts, pauses or resumes a hardware trace.
    pub const AUX_ACTION: u64 = 116;
}

/// A word of the attr.
pub struct Word {
    /// Its offset.
    pub at: u64,
    /// Its label in a map or a dump.
    pub label: &'static str,
    /// Its size, and how it is shown.
    pub form: Form,
    /// The bits that exist.
    pub bits: Bits,
    /// The events that have a value there.
    pub used: Used,
}

/// The bits of a word that exist.
#[derive(Clone, Copy)]
pub enum Bits {
    /// All of them: a number.
    All,
    /// A mask. A reader shows the others, too.
    Mask(u64),
    /// Bit fields. No reader shows the others, and the kernel refuses them.
    Fields(u64),
}

/// The events that have a value in a word. It is 0 for the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Used {
    /// All.
    Always,
    /// All: it decides how records are read.
    Layout,
    /// Those whose samples have a field, whose layout it decides.
    Sample(u64),
    /// Those whose samples have a field, of which it is the largest size.
    Size(u64),
    /// The same, with 0 for a default.
    Option(u64),
    /// Those with a flag.
    Flag(u64),
    /// Breakpoints.
    Breakpoint,
    /// Those that a PMU counts which not all machines share.
    Pmu,
    /// The same: a part of their `config`.
    Config,
}

/// The words, in their order.
pub static WORDS: [Word; 24] = [
    word(at::TYPE, "attr.type", U32),
    word(at::SIZE, "attr.size", U32),
    word(at::CONFIG, "attr.config", Hex64),
    word(at::SAMPLE_PERIOD, "attr.sample_period", U64),
    word(at::SAMPLE_TYPE, "attr.sample_type", Hex64).mask(sample_type::KNOWN).used(Used::Layout),
    word(at::READ_FORMAT, "attr.read_format", Hex64).mask(read_format::KNOWN).used(Used::Layout),
    word(at::FLAGS, "attr.flags", Hex64).fields(flag::KNOWN).used(Used::Layout),
    word(at::WAKEUP_EVENTS, "attr.wakeup_events", U32),
    word(52, "attr.bp_type", U32).used(Used::Breakpoint),
    word(at::CONFIG1, "attr.config1", Hex64).used(Used::Config),
    word(64, "attr.config2", Hex64).used(Used::Config),
    word(at::BRANCH_SAMPLE_TYPE, "attr.branch_sample_type", Hex64)
        .mask(branch_sample_type::KNOWN)
        .used(Used::Sample(sample_type::BRANCH_STACK)),
    word(at::SAMPLE_REGS_USER, "attr.sample_regs_user", Hex64)
        .used(Used::Sample(sample_type::REGS_USER)),
    word(at::SAMPLE_STACK_USER, "attr.sample_stack_user", U32)
        .used(Used::Size(sample_type::STACK_USER)),
    word(92, "attr.clockid", U32).used(Used::Flag(flag::USE_CLOCKID)),
    word(at::SAMPLE_REGS_INTR, "attr.sample_regs_intr", Hex64)
        .used(Used::Sample(sample_type::REGS_INTR)),
    word(104, "attr.aux_watermark", U32).used(Used::Pmu),
    word(108, "attr.sample_max_stack", U16).used(Used::Option(sample_type::CALLCHAIN)),
    word(110, "attr.reserved", U16).fields(0),
    word(112, "attr.aux_sample_size", U32).used(Used::Option(sample_type::AUX)),
    word(at::AUX_ACTION, "attr.aux_action", Hex32).fields(7),
    word(120, "attr.sig_data", Hex64).used(Used::Flag(flag::SIGTRAP)),
    word(128, "attr.config3", Hex64).used(Used::Config),
    word(136, "attr.config4", Hex64).used(Used::Config),
];

/// A number that all events have.
const fn word(at: u64, label: &'static str, form: Form) -> Word {
    Word { at, label, form, bits: Bits::All, used: Used::Always }
}

impl Word {
    const fn mask(self, known: u64) -> Self {
        Self { bits: Bits::Mask(known), ..self }
    }

    const fn fields(self, known: u64) -> Self {
        Self { bits: Bits::Fields(known), ..self }
    }

    const fn used(self, used: Used) -> Self {
        Self { used, ..self }
    }

    /// Returns its name in `perf_event_attr`.
    pub fn name(&self) -> &'static str {
        self.label.trim_start_matches("attr.")
    }

    /// Returns the offset of its end.
    pub const fn end(&self) -> u64 {
        self.at.saturating_add(self.form.size())
    }

    /// Returns bit fields as they are stored: compilers for big-endian machines allocate them from
    /// the top.
    pub const fn place(&self, bits: u64, order: Order) -> u64 {
        let unused = 64_u64.saturating_sub(self.form.size().saturating_mul(8));
        match order {
            Order::Little => bits,
            Order::Big => bits.reverse_bits() >> unused,
        }
    }

    /// Returns the bits of a number that exist.
    pub const fn known(&self, number: u64, order: Order) -> u64 {
        match self.bits {
            Bits::All => number,
            Bits::Mask(known) => number & known,
            Bits::Fields(known) => number & self.place(known, order),
        }
    }

    /// Whether the layout of samples depends on it.
    pub const fn is_layout(&self) -> bool {
        matches!(self.used, Used::Layout | Used::Sample(_))
    }
}

/// Returns the word at an offset of [`at`].
pub fn find(at: u64) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.at == at)
}

/// Whether an attr of the size was published.
pub fn is_published(size: impl Into<u64>) -> bool {
    let size = size.into();
    ATTR_SIZES.iter().any(|known| u64::from(*known) == size)
}

/// Returns the words of an attr of `size` bytes: those of the versions that the size covers.
pub fn words(size: u64) -> impl Iterator<Item = &'static Word> {
    let mut versions = ATTR_SIZES.iter().rev().map(|known| u64::from(*known));
    let end = versions.find(|known| *known <= size).unwrap_or(0);
    WORDS.iter().take_while(move |word| word.end() <= end)
}

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

/// The bit fields, each by its place in a word whose first one is bit 0.
pub mod flag {
    /// Always on the CPU.
    pub const PINNED: u64 = 1 << 2;
    /// Alone on the CPU.
    pub const EXCLUSIVE: u64 = 1 << 3;
    /// Nothing is counted in programs.
    pub const EXCLUDE_USER: u64 = 1 << 4;
    /// Nothing is counted in the kernel.
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    /// Nothing is counted in the hypervisor.
    pub const EXCLUDE_HV: u64 = 1 << 6;
    /// MMAP records.
    pub const MMAP: u64 = 1 << 8;
    /// COMM records.
    pub const COMM: u64 = 1 << 9;
    /// `sample_period` is a frequency.
    pub const FREQ: u64 = 1 << 10;
    /// Counts of each task.
    pub const INHERIT_STAT: u64 = 1 << 11;
    /// FORK and EXIT records.
    pub const TASK: u64 = 1 << 13;
    /// perf wakes up after a number of bytes instead of events.
    pub const WATERMARK: u64 = 1 << 14;
    /// How precise the instruction pointers are: two bits, from this one on.
    pub const PRECISE_IP_SHIFT: u32 = 15;
    /// Both of them.
    pub const PRECISE_IP: u64 = 3 << PRECISE_IP_SHIFT;
    /// All records end in a `sample_id`.
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    /// Only guests are counted.
    pub const EXCLUDE_HOST: u64 = 1 << 19;
    /// Call chains without the kernel, or without programs: a bit each.
    pub const EXCLUDE_CALLCHAIN: u64 = 3 << 21;
    /// MMAP2 records.
    pub const MMAP2: u64 = 1 << 23;
    /// A mark in the COMM records of `exec`.
    pub const COMM_EXEC: u64 = 1 << 24;
    /// The times are those of `clockid`.
    pub const USE_CLOCKID: u64 = 1 << 25;
    /// SWITCH records.
    pub const CONTEXT_SWITCH: u64 = 1 << 26;
    /// NAMESPACES records.
    pub const NAMESPACES: u64 = 1 << 28;
    /// KSYMBOL records.
    pub const KSYMBOL: u64 = 1 << 29;
    /// BPF_EVENT records.
    pub const BPF_EVENT: u64 = 1 << 30;
    /// Samples go to the hardware trace.
    pub const AUX_OUTPUT: u64 = 1 << 31;
    /// CGROUP records.
    pub const CGROUP: u64 = 1 << 32;
    /// TEXT_POKE records.
    pub const TEXT_POKE: u64 = 1 << 33;
    /// A signal for each event, with `sig_data`.
    pub const SIGTRAP: u64 = 1 << 37;
    /// All published bits.
    pub const KNOWN: u64 = (1 << 40) - 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_one_another_and_end_where_the_versions_do() {
        for pair in WORDS.windows(2) {
            assert_eq!(pair[0].end(), pair[1].at, "{}", pair[1].label);
        }
        for size in ATTR_SIZES.map(u64::from) {
            assert_eq!(words(size).last().map(Word::end), Some(size));
            assert_eq!(words(size.saturating_sub(1)).count(), words(size - 8).count());
        }
        assert_eq!(words(u64::MAX).count(), WORDS.len());
    }
}

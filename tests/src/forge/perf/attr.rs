//! `struct perf_event_attr`, every size from VER0 to VER8.
//!
//! Source: `include/uapi/linux/perf_event.h`. VER8 (`config3`) is Linux 6.3, VER9
//! (`config4`) is Linux 7.0.

use super::bytes::{Bytes, Order};

/// The sizes that kernels have given `perf_event_attr`, VER0 to VER8.
pub const ATTR_SIZES: [u32; 10] = [64, 72, 80, 96, 104, 112, 120, 128, 136, 144];

/// Bits of `attr.sample_type`.
pub mod sample_type {
    /// Instruction pointer.
    pub const IP: u64 = 1;
    /// Process and thread.
    pub const TID: u64 = 1 << 1;
    /// Nanoseconds.
    pub const TIME: u64 = 1 << 2;
    /// Data address.
    pub const ADDR: u64 = 1 << 3;
    /// Counter values in the layout of `read_format`.
    pub const READ: u64 = 1 << 4;
    /// Callchain.
    pub const CALLCHAIN: u64 = 1 << 5;
    /// Id of the event (of the group leader where inherited).
    pub const ID: u64 = 1 << 6;
    /// Processor.
    pub const CPU: u64 = 1 << 7;
    /// Period.
    pub const PERIOD: u64 = 1 << 8;
    /// Id of the event itself.
    pub const STREAM_ID: u64 = 1 << 9;
    /// Tracepoint or PMU bytes.
    pub const RAW: u64 = 1 << 10;
    /// Branch stack.
    pub const BRANCH_STACK: u64 = 1 << 11;
    /// User registers.
    pub const REGS_USER: u64 = 1 << 12;
    /// User stack.
    pub const STACK_USER: u64 = 1 << 13;
    /// Weight as one number.
    pub const WEIGHT: u64 = 1 << 14;
    /// Memory access.
    pub const DATA_SRC: u64 = 1 << 15;
    /// Id at a fixed place.
    pub const IDENTIFIER: u64 = 1 << 16;
    /// Transaction.
    pub const TRANSACTION: u64 = 1 << 17;
    /// Registers at the interrupt.
    pub const REGS_INTR: u64 = 1 << 18;
    /// Physical address.
    pub const PHYS_ADDR: u64 = 1 << 19;
    /// AUX area snapshot.
    pub const AUX: u64 = 1 << 20;
    /// Control group.
    pub const CGROUP: u64 = 1 << 21;
    /// Page size of the data address.
    pub const DATA_PAGE_SIZE: u64 = 1 << 22;
    /// Page size of the instruction pointer.
    pub const CODE_PAGE_SIZE: u64 = 1 << 23;
    /// Weight as three numbers.
    pub const WEIGHT_STRUCT: u64 = 1 << 24;
}

/// Bits of `attr.read_format`.
pub mod read_format {
    /// Time enabled.
    pub const ENABLED: u64 = 1;
    /// Time running.
    pub const RUNNING: u64 = 1 << 1;
    /// Id of each value.
    pub const ID: u64 = 1 << 2;
    /// Values of the whole group.
    pub const GROUP: u64 = 1 << 3;
    /// Lost samples of each value.
    pub const LOST: u64 = 1 << 4;
}

/// Bits of the attr's bit field, numbered as on a little-endian machine.
pub mod flag {
    /// Counts children as well.
    pub const INHERIT: u64 = 1 << 1;
    /// MMAP records.
    pub const MMAP: u64 = 1 << 8;
    /// COMM records.
    pub const COMM: u64 = 1 << 9;
    /// FORK and EXIT records.
    pub const TASK: u64 = 1 << 13;
    /// Every record ends in the sample's id fields.
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    /// MMAP2 records.
    pub const MMAP2: u64 = 1 << 23;
    /// COMM records have a bit for an exec.
    pub const COMM_EXEC: u64 = 1 << 24;
    /// Times are of the given clock.
    pub const USE_CLOCKID: u64 = 1 << 25;
    /// SWITCH records.
    pub const CONTEXT_SWITCH: u64 = 1 << 26;
    /// MMAP2 records carry build ids.
    pub const BUILD_ID: u64 = 1 << 34;
    /// The bits that `perf record` sets for the first event.
    pub const USUAL: u64 = MMAP | COMM | TASK | SAMPLE_ID_ALL | MMAP2 | COMM_EXEC;
}

/// Bit of `branch_sample_type`: a u64 `hw_idx` precedes the entries.
pub const BRANCH_HW_INDEX: u64 = 1 << 17;
/// Bit of `branch_sample_type`: a u64 of counters per entry follows the entries (6.8).
pub const BRANCH_COUNTERS: u64 = 1 << 19;
/// `attr.type` of software events.
pub const TYPE_SOFTWARE: u32 = 1;
/// `attr.type` of tracepoints.
pub const TYPE_TRACEPOINT: u32 = 2;

/// The description of an event, and the ids of its records.
#[derive(Clone, Debug)]
pub struct Attr {
    /// Size in bytes and value of `attr.size`: one of [`ATTR_SIZES`].
    pub size: u32,
    /// `attr.type`.
    pub kind: u32,
    /// `attr.config`: 0 of the software events is cpu-clock.
    pub config: u64,
    /// Sample period.
    pub period: u64,
    /// [`sample_type`] bits.
    pub sample_type: u64,
    /// [`read_format`] bits.
    pub read_format: u64,
    /// [`flag`] bits.
    pub flags: u64,
    /// `branch_sample_type`, from VER2 (80 bytes) on.
    pub branch_sample_type: u64,
    /// Mask of user registers, from VER3 (96 bytes) on.
    pub sample_regs_user: u64,
    /// Bytes of user stack, from VER3 on.
    pub sample_stack_user: u32,
    /// Mask of registers at the interrupt, from VER4 (104 bytes) on.
    pub sample_regs_intr: u64,
    /// AUX snapshot bytes, from VER6 (120 bytes) on.
    pub aux_sample_size: u32,
    /// `config3`, from VER8 (136 bytes) on.
    pub config3: u64,
    /// `config4`, from VER9 (144 bytes) on.
    pub config4: u64,
    /// Ids; perf creates one per CPU.
    pub ids: Vec<u64>,
    /// The name in EVENT_DESC.
    pub name: String,
}

impl Attr {
    /// cpu-clock with a period, as the first event of `perf record`, 128 bytes (VER7).
    pub fn cpu_clock(sample_type: u64) -> Self {
        Self {
            size: 128,
            kind: TYPE_SOFTWARE,
            config: 0,
            period: 1_000_000,
            sample_type,
            read_format: 0,
            flags: flag::USUAL,
            branch_sample_type: 0,
            sample_regs_user: 0,
            sample_stack_user: 0,
            sample_regs_intr: 0,
            aux_sample_size: 0,
            config3: 0,
            config4: 0,
            ids: Vec::new(),
            name: "cpu-clock".into(),
        }
    }

    /// The software event `page-faults`, for a second event.
    pub fn page_faults(sample_type: u64) -> Self {
        Self {
            config: 2,
            period: 1,
            name: "page-faults".into(),
            flags: flag::SAMPLE_ID_ALL,
            ..Self::cpu_clock(sample_type)
        }
    }

    /// A tracepoint of the given number.
    pub fn tracepoint(sample_type: u64, number: u64, name: &str) -> Self {
        Self {
            kind: TYPE_TRACEPOINT,
            config: number,
            period: 1,
            name: name.into(),
            ..Self::cpu_clock(sample_type)
        }
    }

    /// Returns the attr with another size.
    pub fn with_size(mut self, size: u32) -> Self {
        self.size = size;
        self
    }

    /// Returns the attr with ids.
    pub fn with_ids(mut self, ids: &[u64]) -> Self {
        self.ids = ids.to_vec();
        self
    }

    /// Returns the attr with a `read_format`.
    pub fn with_read_format(mut self, read_format: u64) -> Self {
        self.read_format = read_format;
        self
    }

    /// Whether the sample type has this bit.
    pub fn samples(&self, bit: u64) -> bool {
        self.sample_type & bit != 0
    }

    /// Whether other records than SAMPLE end in id fields.
    pub fn sample_id_all(&self) -> bool {
        self.flags & flag::SAMPLE_ID_ALL != 0
    }

    /// Encodes the attr in `self.size` bytes.
    ///
    /// The bit field fills from the least significant bit on little-endian machines and from the
    /// most significant on big-endian ones: `swap_bitfield` in perf reverses the bits of each byte.
    pub fn encode(&self, order: Order) -> Vec<u8> {
        let mut out = Bytes::new(order);
        out.u32(self.kind).u32(self.size).u64(self.config).u64(self.period);
        out.u64(self.sample_type).u64(self.read_format);
        match order {
            Order::Little => out.u64(self.flags),
            Order::Big => out.u64(self.flags.reverse_bits()),
        };
        out.u32(0).u32(0).u64(0); // wakeup_events, bp_type, config1: 64 bytes
        out.u64(0); // config2: 72
        out.u64(self.branch_sample_type); // 80
        out.u64(self.sample_regs_user).u32(self.sample_stack_user).u32(0); // clockid: 96
        out.u64(self.sample_regs_intr); // 104
        out.u32(0).u16(0).u16(0); // aux_watermark, sample_max_stack: 112
        out.u32(self.aux_sample_size).u32(0); // 120
        out.u64(0); // sig_data: 128
        out.u64(self.config3); // 136
        out.u64(self.config4); // 144
        let mut bytes = out.done();
        assert!(ATTR_SIZES.contains(&self.size), "attr size {} was never used", self.size);
        bytes.truncate(self.size as usize);
        bytes
    }
}

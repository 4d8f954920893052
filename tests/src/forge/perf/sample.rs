//! The body of a SAMPLE record, every field in the order in which perf parses it.
//!
//! Source: `evsel__parse_sample` in `tools/perf/util/evsel.c`. It is not the order of the bits in
//! `sample_type`, and the comment in the uapi header is wrong.

use super::attr::{Attr, BRANCH_COUNTERS, BRANCH_HW_INDEX, read_format, sample_type as bit};
use super::bytes::{Bytes, Order};

/// One entry of a branch stack.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Source address.
    pub from: u64,
    /// Target address.
    pub to: u64,
    /// Mispredicted; else predicted.
    pub mispredicted: bool,
    /// Cycles since the previous branch, 16 bits.
    pub cycles: u16,
}

/// One counter value of READ.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The count.
    pub value: u64,
    /// The id of its event.
    pub id: u64,
    /// Samples lost.
    pub lost: u64,
}

/// The fields of a SAMPLE record. Fields that the attr does not sample are not written.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Instruction pointer.
    pub ip: u64,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Nanoseconds.
    pub time: u64,
    /// Data address.
    pub addr: u64,
    /// Id, for IDENTIFIER and ID.
    pub id: u64,
    /// Stream id.
    pub stream_id: u64,
    /// Processor.
    pub cpu: u32,
    /// Period.
    pub period: u64,
    /// Time enabled and time running of READ.
    pub times: (u64, u64),
    /// Values of READ: the first one only without GROUP.
    pub values: Vec<Value>,
    /// Callchain with its context markers.
    pub callchain: Vec<u64>,
    /// RAW; the length and these bytes together are padded to 8.
    pub raw: Vec<u8>,
    /// `hw_idx` of the branch stack.
    pub hw_idx: u64,
    /// Branch stack.
    pub branches: Vec<Branch>,
    /// User registers: abi 2 and one value for each mask bit, or abi 0 where empty.
    pub regs_user: Vec<u64>,
    /// User stack; empty if none was recorded.
    pub stack_user: Vec<u8>,
    /// WEIGHT, or the three of WEIGHT_STRUCT packed: 32, 16, 16 bits from the lowest.
    pub weight: u64,
    /// Memory access.
    pub data_src: u64,
    /// Transaction.
    pub transaction: u64,
    /// Registers at the interrupt, as `regs_user`.
    pub regs_intr: Vec<u64>,
    /// Physical address.
    pub phys_addr: u64,
    /// Control group.
    pub cgroup: u64,
    /// Page size of the data.
    pub data_page_size: u64,
    /// Page size of the code.
    pub code_page_size: u64,
    /// AUX snapshot; a multiple of 8 bytes.
    pub aux: Vec<u8>,
}

/// A context marker of callchains: kernel code follows.
pub const CONTEXT_KERNEL: u64 = (-128_i64).cast_unsigned();
/// A context marker of callchains: user code follows.
pub const CONTEXT_USER: u64 = (-512_i64).cast_unsigned();

impl Sample {
    /// A sample with something in every field that fits the attr.
    pub fn of(attr: &Attr, time: u64) -> Self {
        let id = attr.ids.first().copied().unwrap_or(0);
        let registers = |mask: u64| (0..u64::from(mask.count_ones())).map(|r| 0x100 + r).collect();
        Self {
            ip: 0x40_1000,
            pid: 100,
            tid: 100,
            time,
            addr: 0x7f00_0000_1000,
            id,
            stream_id: id,
            cpu: 0,
            period: attr.period,
            times: (time, time),
            values: vec![Value { value: time, id, lost: 0 }],
            callchain: vec![CONTEXT_USER, 0x40_1000, 0x40_1020, 0x40_1040],
            raw: vec![0x52; 20],
            hw_idx: 0,
            branches: vec![
                Branch { from: 0x40_1000, to: 0x40_1010, mispredicted: false, cycles: 3 },
                Branch { from: 0x40_1018, to: 0x40_1000, mispredicted: true, cycles: 9 },
            ],
            regs_user: registers(attr.sample_regs_user),
            stack_user: vec![0x53; attr.sample_stack_user as usize],
            weight: 7,
            data_src: 0x000a_6810_0222,
            transaction: 0,
            regs_intr: registers(attr.sample_regs_intr),
            phys_addr: 0x1_2345_6000,
            cgroup: 1,
            data_page_size: 4096,
            code_page_size: 4096,
            aux: vec![0x41; attr.aux_sample_size as usize],
        }
    }

    /// Encodes the body (without the record header). Also returns the offset of each field.
    ///
    /// Field names: those of `sample_type` in lower case; `callchain`, `branch_stack` and `read`
    /// name the place of their count, `raw`, `stack_user` and `aux` that of their size.
    pub fn encode(&self, attr: &Attr, order: Order) -> (Vec<u8>, Vec<(&'static str, usize)>) {
        let mut out = Writer { out: Bytes::new(order), fields: Vec::new(), mask: attr.sample_type };
        self.head(&mut out);
        if out.takes(bit::READ, "read") {
            read_values(&mut out.out, attr.read_format, self.times, &self.values);
        }
        if out.takes(bit::CALLCHAIN, "callchain") {
            out.out.u64(self.callchain.len() as u64).u64s(&self.callchain);
        }
        if out.takes(bit::RAW, "raw") {
            let size = (4 + self.raw.len()).next_multiple_of(8) - 4;
            out.out.u32(size as u32).raw(&self.raw).zeros(size - self.raw.len());
        }
        if out.takes(bit::BRANCH_STACK, "branch_stack") {
            self.branch_stack(&mut out.out, attr.branch_sample_type);
        }
        if out.takes(bit::REGS_USER, "regs_user") {
            registers(&mut out.out, &self.regs_user);
        }
        if out.takes(bit::STACK_USER, "stack_user") {
            out.out.u64(self.stack_user.len() as u64).raw(&self.stack_user);
            if !self.stack_user.is_empty() {
                out.out.u64(self.stack_user.len() as u64); // dyn_size: all of it is real
            }
        }
        self.tail(&mut out);
        (out.out.done(), out.fields)
    }

    /// IDENTIFIER up to PERIOD.
    fn head(&self, out: &mut Writer) {
        out.number(bit::IDENTIFIER, "identifier", self.id);
        out.number(bit::IP, "ip", self.ip);
        if out.takes(bit::TID, "tid") {
            out.out.u32(self.pid).u32(self.tid);
        }
        out.number(bit::TIME, "time", self.time);
        out.number(bit::ADDR, "addr", self.addr);
        out.number(bit::ID, "id", self.id);
        out.number(bit::STREAM_ID, "stream_id", self.stream_id);
        if out.takes(bit::CPU, "cpu") {
            out.out.u32(self.cpu).u32(0);
        }
        out.number(bit::PERIOD, "period", self.period);
    }

    /// WEIGHT up to AUX.
    fn tail(&self, out: &mut Writer) {
        out.number(bit::WEIGHT | bit::WEIGHT_STRUCT, "weight", self.weight);
        out.number(bit::DATA_SRC, "data_src", self.data_src);
        out.number(bit::TRANSACTION, "transaction", self.transaction);
        if out.takes(bit::REGS_INTR, "regs_intr") {
            registers(&mut out.out, &self.regs_intr);
        }
        out.number(bit::PHYS_ADDR, "phys_addr", self.phys_addr);
        out.number(bit::CGROUP, "cgroup", self.cgroup);
        out.number(bit::DATA_PAGE_SIZE, "data_page_size", self.data_page_size);
        out.number(bit::CODE_PAGE_SIZE, "code_page_size", self.code_page_size);
        if out.takes(bit::AUX, "aux") {
            out.out.u64(self.aux.len() as u64).raw(&self.aux);
        }
    }

    fn branch_stack(&self, out: &mut Bytes, branch_sample_type: u64) {
        out.u64(self.branches.len() as u64);
        if branch_sample_type & BRANCH_HW_INDEX != 0 {
            out.u64(self.hw_idx);
        }
        for branch in &self.branches {
            let flags = branch_flags(branch, out.order());
            out.u64(branch.from).u64(branch.to).u64(flags);
        }
        if branch_sample_type & BRANCH_COUNTERS != 0 {
            for number in 0..self.branches.len() as u64 {
                out.u64(number + 1);
            }
        }
    }
}

/// A field writer that knows the sample type.
struct Writer {
    out: Bytes,
    fields: Vec<(&'static str, usize)>,
    mask: u64,
}

impl Writer {
    /// Whether the field is sampled; if so its place is noted.
    fn takes(&mut self, bits: u64, name: &'static str) -> bool {
        let takes = self.mask & bits != 0;
        if takes {
            self.fields.push((name, self.out.len()));
        }
        takes
    }

    fn number(&mut self, bits: u64, name: &'static str, value: u64) {
        if self.takes(bits, name) {
            self.out.u64(value);
        }
    }
}

/// The values of a READ field, and of a READ record.
pub fn read_values(out: &mut Bytes, format: u64, times: (u64, u64), values: &[Value]) {
    let group = format & read_format::GROUP != 0;
    let one = |out: &mut Bytes, value: &Value| {
        if format & read_format::ID != 0 {
            out.u64(value.id);
        }
        if format & read_format::LOST != 0 {
            out.u64(value.lost);
        }
    };
    if group {
        out.u64(values.len() as u64);
    } else {
        out.u64(values[0].value);
    }
    if format & read_format::ENABLED != 0 {
        out.u64(times.0);
    }
    if format & read_format::RUNNING != 0 {
        out.u64(times.1);
    }
    if group {
        for value in values {
            out.u64(value.value);
            one(out, value);
        }
    } else {
        one(out, &values[0]);
    }
}

/// An abi and the registers of the mask; no registers are abi 0 and nothing more.
fn registers(out: &mut Bytes, values: &[u64]) {
    out.u64(if values.is_empty() { 0 } else { 2 }).u64s(values);
}

/// `struct branch_flags`: mispred:1 predicted:1 in_tx:1 abort:1 cycles:16 type:4 ..., a bit field
/// that fills from the other end on big-endian machines.
fn branch_flags(branch: &Branch, order: Order) -> u64 {
    let mispredicted = u64::from(branch.mispredicted);
    let predicted = 1 - mispredicted;
    let cycles = u64::from(branch.cycles);
    match order {
        Order::Little => mispredicted | predicted << 1 | cycles << 4,
        Order::Big => mispredicted << 63 | predicted << 62 | cycles << 44,
    }
}

/// The id fields at the end of records other than SAMPLE: TID TIME ID STREAM_ID CPU IDENTIFIER.
pub fn sample_id(attr: &Attr, sample: &Sample, order: Order) -> Vec<u8> {
    let mut out = Bytes::new(order);
    if !attr.sample_id_all() {
        return out.done();
    }
    if attr.samples(bit::TID) {
        out.u32(sample.pid).u32(sample.tid);
    }
    if attr.samples(bit::TIME) {
        out.u64(sample.time);
    }
    if attr.samples(bit::ID) {
        out.u64(sample.id);
    }
    if attr.samples(bit::STREAM_ID) {
        out.u64(sample.stream_id);
    }
    if attr.samples(bit::CPU) {
        out.u32(sample.cpu).u32(0);
    }
    if attr.samples(bit::IDENTIFIER) {
        out.u64(sample.id);
    }
    out.done()
}

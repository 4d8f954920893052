//! The body of a SAMPLE, and the `sample_id` at the end of other records.
//!
//! ```text
//!  SAMPLE, each field if its bit is set in sample_type:
//!    IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD         8 bytes each
//!    READ          values, as described by read_format
//!    CALLCHAIN     u64 nr, nr * u64
//!    RAW           u32 size, size bytes; 4 + size is a multiple of 8
//!    BRANCH_STACK  u64 nr, [hw_idx], nr * 24, [nr * counters]
//!    REGS_USER     u64 abi, and registers if it is not 0
//!    STACK_USER    u64 size, and size bytes and u64 dyn_size if it is not 0
//!    WEIGHT DATA_SRC TRANSACTION                                 8 bytes each
//!    REGS_INTR     as REGS_USER
//!    PHYS_ADDR CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE              8 bytes each
//!    AUX           u64 size, size bytes
//!
//!  other records, if sample_id_all:
//!    | own fields | TID TIME ID STREAM_ID CPU IDENTIFIER |       8 bytes each, up to the end
//! ```
//!
//! The order is that of the kernel's `perf_output_sample` and perf's `evsel__parse_sample`. It
//! differs from the order of the bits and from the comment in `perf_event.h`.

mod layout;
mod plain;
mod words;

pub use self::layout::{SampleLayout, event_id};
pub use self::plain::PlainSample;
use self::words::HEAD;
use super::body::{BodyError, COUNT64, CountField, skip_counted, skip_rows};
use super::frame::RecordView;
use crate::formats::perf::layout::MOST_CPUS;
use crate::formats::perf::layout::attr::sample_type as bit;
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::row::{Form, Row, row_size};
use crate::kit::span::Layer;

/// A `perf_branch_entry`.
const BRANCH: &Row = &[
    ("branch_stack.branches[].from", Form::Hex64),
    ("branch_stack.branches[].to", Form::Hex64),
    ("branch_stack.branches[].flags", Form::Hex64),
];
/// The counters of a branch.
const COUNTER: &Row = &[("branch_stack.counters[]", Form::Hex64)];
/// An entry of a call chain: an address, or a mark of what the next ones are.
const CHAIN: &Row = &[("callchain.ips[]", Form::Hex64)];
/// Fields of eight bytes each, and the three of a weight.
/// READ before its values.
const READ_THREAD: &Row = &[("read.pid", Form::U32), ("read.tid", Form::U32)];
const ADDR: &Row = &[("addr", Form::Hex64)];
const STREAM_ID: &Row = &[("stream_id", Form::U64)];
const HW_INDEX: &Row = &[("branch_stack.hw_idx", Form::U64)];
const WEIGHT: &Row = &[("weight", Form::U64)];
const WEIGHTS: [&Row; 2] = [
    &[("weight", Form::U32), ("ins_lat", Form::U16), ("weight3", Form::U16)],
    &[("weight3", Form::U16), ("ins_lat", Form::U16), ("weight", Form::U32)],
];
const DATA_SRC: &Row = &[("data_src", Form::Hex64)];
const TRANSACTION: &Row = &[("transaction", Form::Hex64)];
const PHYS_ADDR: &Row = &[("phys_addr", Form::Hex64)];
const CGROUP: &Row = &[("cgroup", Form::U64)];
const DATA_PAGE_SIZE: &Row = &[("data_page_size", Form::U64)];
const CODE_PAGE_SIZE: &Row = &[("code_page_size", Form::U64)];
/// A register.
const USER_REGISTER: &Row = &[("regs_user.user_regs[]", Form::Hex64)];
const INTR_REGISTER: &Row = &[("regs_intr.intr_regs[]", Form::Hex64)];

/// The origin of a record: process, thread, time, event and CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleId {
    /// Process id.
    pub pid: Option<u32>,
    /// Thread id.
    pub tid: Option<u32>,
    /// Time in ns of the recording's clock.
    pub time: Option<u64>,
    /// Event id: of samples ID, else IDENTIFIER; of other records IDENTIFIER, else ID.
    pub id: Option<u64>,
    /// CPU number.
    pub cpu: Option<u32>,
}

/// Reads the `sample_id` at the end of the body of a kernel record that is not a sample. `None` if
/// such records have none or the body is shorter.
pub fn trailer(body: &[u8], layout: &SampleLayout, order: Order) -> Option<SampleId> {
    let start = body.len().checked_sub(to_usize(layout.trailer_len))?;
    let bytes = body.get(start..).filter(|bytes| !bytes.is_empty())?;
    parse_trailer(Cursor::new(bytes, Layer::stored(0), to_u64(start), order), layout)
}

/// Notes the fields of the `sample_id` of a record.
pub fn log_trailer(record: &RecordView<'_>, layout: &SampleLayout, order: Order, log: &FieldLog) {
    let mut cursor = record.cursor(order);
    let before = cursor.left().saturating_sub(layout.trailer_len);
    if cursor.left() >= layout.trailer_len && cursor.skip(before, 1, "body").is_ok() {
        let _id = parse_trailer(cursor.with_log(log), layout);
    }
}

#[inline]
fn parse_trailer(mut cursor: Cursor<'_>, layout: &SampleLayout) -> Option<SampleId> {
    let mut id = SampleId::default();
    if layout.has(bit::TID) {
        id.pid = cursor.u32("pid").ok();
        id.tid = cursor.u32("tid").ok();
    }
    if layout.has(bit::TIME) {
        id.time = cursor.u64("time").ok();
    }
    if layout.has(bit::ID) {
        id.id = cursor.u64("id").ok();
    }
    if layout.has(bit::STREAM_ID) {
        cursor.skip(1, 8, "stream_id").ok()?;
    }
    if layout.has(bit::CPU) {
        id.cpu = cursor.u32("cpu").ok();
        cursor.skip(1, 4, "res").ok()?;
    }
    if layout.has(bit::IDENTIFIER) {
        id.id = cursor.u64("identifier").ok();
    }
    Some(id)
}

/// The fields of a sample. Sizes and counts are 0 if the field is not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Process, thread, time, event and CPU.
    pub origin: SampleId,
    /// Instruction pointer.
    pub ip: Option<u64>,
    /// Events since the previous sample.
    pub period: Option<u64>,
    /// Number of counter values.
    pub values: u64,
    /// Number of entries in the call chain, including markers.
    pub callchain_len: u64,
    /// Raw data.
    pub raw: RawData,
    /// Number of branches.
    pub branches: u64,
    /// ABIs of the registers.
    pub regs: RegsAbi,
    /// Size of the user stack.
    pub stack: StackSize,
    /// Size of the hardware trace in bytes.
    pub aux_size: u64,
}

impl Sample {
    /// Whether a machine can have the CPU of the sample. -1 stands for an unknown one.
    #[inline]
    pub fn is_cpu_possible(&self) -> bool {
        self.origin.cpu.is_none_or(is_cpu_possible)
    }
}

#[inline]
const fn is_cpu_possible(cpu: u32) -> bool {
    cpu < MOST_CPUS || cpu == u32::MAX
}

/// The raw data of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawData {
    /// Size in bytes.
    pub size: u32,
    /// The first two bytes: in the data of a tracepoint its id, `common_type`.
    pub kind: Option<u16>,
    /// The thread in the data of a tracepoint, `common_pid`.
    pub pid: Option<u32>,
    /// Where the data begin.
    pub start: u64,
}

/// ABIs of a sample's registers: 0 for none, 1 for 32 bits, 2 for 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegsAbi {
    /// ABI of the user registers.
    pub user: u64,
    /// ABI of the interrupted registers.
    pub intr: u64,
}

/// Size of a sample's user stack in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackSize {
    /// Recorded bytes.
    pub recorded: u64,
    /// Bytes in use. perf refuses a value above `recorded`.
    pub used: u64,
}

/// Reads the sample at the cursor, which then stands after the last field. The fields of `sample`
/// are those of a default one before; it is not returned because its copies took a quarter of the
/// time of a check.
///
/// # Errors
///
/// The first field that does not fit in the record.
#[inline]
pub fn sample(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    read_head(cursor, layout, sample)?;
    if layout.has(!HEAD) {
        read_middle(cursor, layout, sample)?;
        if layout.has(bit::BRANCH_STACK) {
            read_branches(cursor, layout, sample)?;
        } else {
            read_tail(cursor, layout, sample)?;
        }
    }
    Ok(())
}

/// Reads IDENTIFIER to PERIOD.
#[inline]
fn read_head(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), ReadError> {
    if layout.has(bit::IDENTIFIER) {
        sample.origin.id = Some(cursor.u64("identifier")?);
    }
    if layout.has(bit::IP) {
        sample.ip = Some(cursor.u64("ip")?);
    }
    if layout.has(bit::TID) {
        sample.origin.pid = Some(cursor.u32("pid")?);
        sample.origin.tid = Some(cursor.u32("tid")?);
    }
    if layout.has(bit::TIME) {
        sample.origin.time = Some(cursor.u64("time")?);
    }
    if layout.has(bit::ADDR) {
        cursor.row(ADDR)?;
    }
    if layout.has(bit::ID) {
        sample.origin.id = Some(cursor.u64("id")?);
    }
    if layout.has(bit::STREAM_ID) {
        cursor.row(STREAM_ID)?;
    }
    if layout.has(bit::CPU) {
        sample.origin.cpu = Some(cursor.u32("cpu")?);
        cursor.skip(1, 4, "res")?;
    }
    if layout.has(bit::PERIOD) {
        sample.period = Some(cursor.u64("period")?);
    }
    Ok(())
}

/// Reads READ, CALLCHAIN and RAW.
#[inline]
fn read_middle(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    if layout.has(bit::READ) {
        sample.values = read_values(cursor, layout)?;
    }
    if layout.has(bit::CALLCHAIN) {
        sample.callchain_len = cursor.u64("callchain.nr")?;
        skip_rows(cursor, sample.callchain_len, CHAIN, "callchain.nr", COUNT64)?;
    }
    if layout.has(bit::RAW) {
        sample.raw.size = cursor.u32("raw.size")?;
        sample.raw.start = cursor.position();
        let mut data = cursor.unlogged();
        sample.raw.kind = data.u16("raw.common_type").ok();
        sample.raw.pid = data.skip(1, 2, "raw").and_then(|()| data.u32("raw.common_pid")).ok();
        let size = sample.raw.size.into();
        skip_counted(cursor, size, 1, "raw.size", CountField { before: 4, size: 4 })?;
    }
    Ok(())
}

/// Whether the body of a READ record is process, thread, the values that the layout describes, and
/// the `sample_id`.
pub fn is_read(mut body: Cursor<'_>, layout: &SampleLayout) -> bool {
    read_counts(&mut body, layout).is_ok() && body.left() == layout.trailer_len
}

/// Reads a READ record up to its `sample_id`.
///
/// # Errors
///
/// The first field that does not fit.
pub fn read_counts(body: &mut Cursor<'_>, layout: &SampleLayout) -> Result<(), BodyError> {
    body.row(READ_THREAD)?;
    read_values(body, layout).map(drop)
}

/// Reads the counter values: of one event { value, times, id, lost }, of a group { nr, times, nr *
/// { value, id, lost } }. The kernel follows `read_format`; perf's reader always expects ID.
fn read_values(cursor: &mut Cursor<'_>, layout: &SampleLayout) -> Result<u64, BodyError> {
    let read = &layout.read;
    if !read.is_group {
        let (value, others) = read.row().split_at_checked(1).unwrap_or_default();
        cursor.row(value)?;
        cursor.row(read.times_row())?;
        cursor.row(others)?;
        return Ok(1);
    }
    let start = cursor.position();
    let nr = cursor.u64("read.nr")?;
    if nr == 0 {
        // The leader of the group has a value. util/session.c: deliver_sample_group fails.
        return Err(BodyError::Zero { label: "read.nr", span: cursor.since(start) });
    }
    cursor.row(read.times_row())?;
    let before = row_size(read.times_row()).saturating_add(8);
    skip_rows(cursor, nr, read.row(), "read.nr", CountField { before, size: 8 })?;
    Ok(nr)
}

/// Reads BRANCH_STACK and all fields after it.
///
/// The attr does not determine the layout completely: a sample without branches may lack `hw_idx`
/// (the kernel writes a bare count of 0 if the hardware gave no branch stack), and counters are
/// written per group. If the layout of the attr does not end with the body but the other one does,
/// the other one is used.
fn read_branches(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    let branch = &layout.branch;
    let nr = cursor.u64("branch_stack.nr")?;
    sample.branches = nr;
    let by_attr = (branch.head_len, branch.counter_len);
    let other = if nr == 0 {
        (0, 0)
    } else if branch.has_likely_counters && branch.counter_len == 0 {
        (branch.head_len, 8)
    } else {
        (branch.head_len, 0)
    };
    let start = cursor.clone();
    let before = *sample;
    let result = read_after_nr(cursor, by_attr, layout, sample);
    if other == by_attr || (result.is_ok() && cursor.finish().is_ok()) {
        return result;
    }
    let mut retry = (start, before);
    if read_after_nr(&mut retry.0, other, layout, &mut retry.1).is_ok() && retry.0.is_empty() {
        (*cursor, *sample) = retry;
        return Ok(());
    }
    result
}

/// Reads the index of `head` bytes, the branches and their counters of `counter` bytes each, then
/// all fields after the branches.
fn read_after_nr(
    cursor: &mut Cursor<'_>,
    (head, counter): (u64, u64),
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    if head > 0 {
        cursor.row(HW_INDEX)?;
    }
    let nr = sample.branches;
    let field = CountField { before: head.saturating_add(8), size: 8 };
    skip_rows(cursor, nr, BRANCH, "branch_stack.nr", field)?;
    cursor.skip_rows(if counter > 0 { nr } else { 0 }, COUNTER, "branch_stack.counters")?;
    read_tail(cursor, layout, sample)
}

/// Reads REGS_USER to AUX.
fn read_tail(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    if layout.has(bit::REGS_USER) {
        sample.regs.user = cursor.u64("regs_user.abi")?;
        let count = if sample.regs.user == 0 { 0 } else { layout.user_regs };
        cursor.skip_rows(count, USER_REGISTER, "regs_user.regs")?;
    }
    if layout.has(bit::STACK_USER) {
        sample.stack.recorded = cursor.u64("stack_user.size")?;
        if sample.stack.recorded > 0 {
            skip_counted(cursor, sample.stack.recorded, 1, "stack_user.size", COUNT64)?;
            let start = cursor.position();
            sample.stack.used = cursor.u64("stack_user.dyn_size")?;
            let (value, most) = (sample.stack.used, sample.stack.recorded);
            // perf refuses the sample: "user stack dump failure".
            if value > most {
                let (label, span) = ("stack_user.dyn_size", cursor.since(start));
                return Err(BodyError::TooLarge { label, value, most, span });
            }
        }
    }
    read_weight(cursor, layout)?;
    read_words(cursor, layout, &WORDS_BEFORE_INTR)?;
    if layout.has(bit::REGS_INTR) {
        sample.regs.intr = cursor.u64("regs_intr.abi")?;
        let count = if sample.regs.intr == 0 { 0 } else { layout.intr_regs };
        cursor.skip_rows(count, INTR_REGISTER, "regs_intr.regs")?;
    }
    read_words(cursor, layout, &WORDS_AFTER_INTR)?;
    if layout.has(bit::AUX) {
        sample.aux_size = cursor.u64("aux.size")?;
        skip_counted(cursor, sample.aux_size, 1, "aux.size", COUNT64)?;
    }
    Ok(())
}

/// Fields before REGS_INTR except the weight, each with the bit that enables it.
const WORDS_BEFORE_INTR: [(u64, &Row); 2] =
    [(bit::DATA_SRC, DATA_SRC), (bit::TRANSACTION, TRANSACTION)];

/// Fields after REGS_INTR.
const WORDS_AFTER_INTR: [(u64, &Row); 4] = [
    (bit::PHYS_ADDR, PHYS_ADDR),
    (bit::CGROUP, CGROUP),
    (bit::DATA_PAGE_SIZE, DATA_PAGE_SIZE),
    (bit::CODE_PAGE_SIZE, CODE_PAGE_SIZE),
];

/// Reads those of `words` that the samples have.
fn read_words(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    words: &[(u64, &Row)],
) -> Result<(), ReadError> {
    let mut recorded = words.iter().filter(|(bit, _)| layout.has(*bit));
    recorded.try_for_each(|(_, row)| cursor.row(row))
}

/// Reads the weight: one number, or three whose order in the file is that of the bytes.
fn read_weight(cursor: &mut Cursor<'_>, layout: &SampleLayout) -> Result<(), ReadError> {
    let [little, big] = WEIGHTS;
    match (layout.has(bit::WEIGHT), layout.has(bit::WEIGHT_STRUCT), cursor.order()) {
        (false, false, _) => Ok(()),
        (true, _, _) => cursor.row(WEIGHT),
        (false, true, Order::Little) => cursor.row(little),
        (false, true, Order::Big) => cursor.row(big),
    }
}

#[cfg(test)]
mod tests;

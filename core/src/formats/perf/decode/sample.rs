//! The body of a SAMPLE, and the `sample_id` at the end of other records.
//!
//! ```text
//!  SAMPLE, each field if its bit is set in sample_type:
//!    IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD         8 bytes each
//!    READ          values, as read_format says
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
//! The order is that of the kernel's `perf_output_sample` and perf's `evsel__parse_sample`; it is
//! neither that of the bits nor that of the comment in `perf_event.h`.

use std::fmt;

use super::attr::{Attr, branch_sample_type, read_format, sample_type as bit};
use crate::formats::perf::layout::record;
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};

/// Size of a `perf_branch_entry`: u64 from, u64 to, u64 flags.
const BRANCH_ENTRY: u64 = 24;

/// Fields before READ: 8 bytes each.
const HEAD: u64 = bit::IDENTIFIER
    | bit::IP
    | bit::TID
    | bit::TIME
    | bit::ADDR
    | bit::ID
    | bit::STREAM_ID
    | bit::CPU
    | bit::PERIOD;

/// Fields of a `sample_id`: 8 bytes each.
const TRAILER: u64 = bit::TID | bit::TIME | bit::ID | bit::STREAM_ID | bit::CPU | bit::IDENTIFIER;

/// Why a record's body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// A field does not fit into what is left.
    Short(ReadError),
    /// A count or size is larger than what it counts can be.
    Count {
        /// The field.
        label: &'static str,
        /// What it says.
        value: u64,
        /// The most it could say here.
        most: u64,
        /// Where it lies.
        span: Span,
    },
    /// A string has no NUL before its end.
    Unterminated {
        /// The field.
        label: &'static str,
        /// The bytes in which the NUL is missing.
        span: Span,
    },
}

impl BodyError {
    /// The field that cannot be read.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Short(error) => error.label,
            Self::Count { label, .. } | Self::Unterminated { label, .. } => label,
        }
    }

    /// The field's bytes, or what is left where they should be.
    pub const fn span(&self) -> Span {
        match self {
            Self::Short(error) => error.left,
            Self::Count { span, .. } | Self::Unterminated { span, .. } => *span,
        }
    }
}

impl From<ReadError> for BodyError {
    fn from(error: ReadError) -> Self {
        Self::Short(error)
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(error) => error.fmt(f),
            Self::Count { label, value, most, .. } => {
                write!(f, "{label} is {value}, at most {most} can be")
            }
            Self::Unterminated { label, span } => {
                write!(f, "{label} has no NUL in its {} bytes", span.len())
            }
        }
    }
}

impl std::error::Error for BodyError {}

/// What an attr says about its samples, worked out once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleLayout {
    sample_type: u64,
    /// The values of a whole group are read.
    group: bool,
    /// Times before the values, u64 each.
    read_times: u64,
    /// Bytes per value: itself, its id, its count of lost samples.
    read_entry: u64,
    /// Bytes between the count of branches and the branches.
    branch_head: u64,
    /// Bytes per branch after the branches.
    branch_counter: u64,
    /// Branches of this event may have counters without its saying so.
    counters_likely: bool,
    /// Registers in a sample, u64 each.
    user_regs: u64,
    intr_regs: u64,
    trailer_len: u64,
    /// Where the id lies in a sample, in bytes from its start.
    id_from_start: Option<usize>,
    /// Where the id lies in other records, in bytes before their end.
    id_from_end: Option<usize>,
}

impl SampleLayout {
    /// The layout of an attr's samples. Bits that are not known
    /// ([`Attr::layout_known`]) take no room in it.
    pub fn new(attr: &Attr) -> Self {
        let all = attr.sample_id_all();
        let sample_type = attr.sample_type;
        let flag = |word: u64, bit: u64| u64::from(word & bit != 0);
        let read = |bit| flag(attr.read_format, bit);
        let branch = |bit| flag(attr.branch_sample_type, bit).saturating_mul(8);
        Self {
            sample_type,
            group: read(read_format::GROUP) != 0,
            read_times: words(
                attr.read_format,
                read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING,
            ),
            read_entry: words(attr.read_format, read_format::ID | read_format::LOST)
                .saturating_add(1)
                .saturating_mul(8),
            branch_head: branch(branch_sample_type::HW_INDEX),
            branch_counter: branch(branch_sample_type::COUNTERS),
            counters_likely: false,
            user_regs: attr.sample_regs_user.count_ones().into(),
            intr_regs: attr.sample_regs_intr.count_ones().into(),
            trailer_len: if all { words(sample_type, TRAILER).saturating_mul(8) } else { 0 },
            id_from_start: id_from_start(sample_type),
            id_from_end: id_from_end(sample_type).filter(|_| all),
        }
    }

    /// The same, where another event of the recording has branch counters: the kernel writes them
    /// for the whole group then, and which events form groups is not in the attrs.
    #[must_use]
    pub const fn with_counters_likely(mut self) -> Self {
        self.counters_likely = true;
        self
    }

    /// Bits of the fields in a sample.
    pub const fn sample_type(&self) -> u64 {
        self.sample_type
    }

    /// Size of the `sample_id` at the end of other records, in bytes; 0 without `sample_id_all`.
    #[inline]
    pub const fn trailer_len(&self) -> u64 {
        self.trailer_len
    }

    /// Bytes that every sample has at least.
    pub fn least_len(&self) -> u64 {
        words(self.sample_type, HEAD).saturating_mul(8)
    }

    #[inline]
    const fn has(&self, bits: u64) -> bool {
        self.sample_type & bits != 0
    }
}

/// How many of `bits` are set in `word`.
fn words(word: u64, bits: u64) -> u64 {
    (word & bits).count_ones().into()
}

/// Bytes before the id of a sample: it is first, or comes after four fields that are there or not.
fn id_from_start(sample_type: u64) -> Option<usize> {
    let before = bit::IP | bit::TID | bit::TIME | bit::ADDR;
    if sample_type & bit::IDENTIFIER != 0 {
        Some(0)
    } else {
        (sample_type & bit::ID != 0).then(|| to_usize(words(sample_type, before).saturating_mul(8)))
    }
}

/// Bytes from the id of another record to its end.
fn id_from_end(sample_type: u64) -> Option<usize> {
    if sample_type & bit::IDENTIFIER != 0 {
        Some(8)
    } else {
        let from = bit::ID | bit::STREAM_ID | bit::CPU;
        (sample_type & bit::ID != 0).then(|| to_usize(words(sample_type, from).saturating_mul(8)))
    }
}

/// The event id of a record of type `kind`: how perf finds its attr where there are several.
///
/// `layout` is that of any attr, in practice the first: the attrs of a recording agree on where
/// the id lies, or perf cannot read it. `None` if no id is recorded there or the body is too short
/// for it. The id 0 stands for the first attr: perf gives it to records of its own making.
#[inline]
pub fn event_id(body: &[u8], kind: u32, layout: &SampleLayout, order: Order) -> Option<u64> {
    let at = if kind == record::SAMPLE {
        layout.id_from_start?
    } else {
        // Fields are counted in whole words from the record's start, as perf does.
        (body.len() & !7).checked_sub(layout.id_from_end?)?
    };
    let id = *body.get(at..)?.first_chunk()?;
    Some(match order {
        Order::Little => u64::from_le_bytes(id),
        Order::Big => u64::from_be_bytes(id),
    })
}

/// `sample_id`: who wrote a record that is no sample, when and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleId {
    /// Process.
    pub pid: Option<u32>,
    /// Thread.
    pub tid: Option<u32>,
    /// In ns of the recording's clock.
    pub time: Option<u64>,
    /// IDENTIFIER, or else ID: which event.
    pub id: Option<u64>,
    /// Where it ran.
    pub cpu: Option<u32>,
}

/// The `sample_id` at the end of the body of a kernel record that is no sample. `None` if such
/// records have none or the body is shorter.
pub fn trailer(body: &[u8], layout: &SampleLayout, order: Order) -> Option<SampleId> {
    let start = body.len().checked_sub(to_usize(layout.trailer_len))?;
    let bytes = body.get(start..).filter(|bytes| !bytes.is_empty())?;
    let mut cursor = Cursor::new(bytes, Layer::stored(0), to_u64(start), order);
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

/// What a check needs of a sample. Sizes and counts are 0 where the field is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Instruction pointer.
    pub ip: Option<u64>,
    /// Process.
    pub pid: Option<u32>,
    /// Thread.
    pub tid: Option<u32>,
    /// In ns of the recording's clock.
    pub time: Option<u64>,
    /// ID, or else IDENTIFIER: which event.
    pub id: Option<u64>,
    /// Where it ran.
    pub cpu: Option<u32>,
    /// Events since the last sample.
    pub period: Option<u64>,
    /// Counter values.
    pub values: u64,
    /// Entries of the call chain, markers included.
    pub callchain_len: u64,
    /// Bytes of raw data.
    pub raw_size: u32,
    /// Branches.
    pub branches: u64,
    /// ABI of the user's registers: 0 none, 1 32 bits, 2 64 bits.
    pub user_abi: u64,
    /// ABI of the interrupted registers.
    pub intr_abi: u64,
    /// Bytes of user stack.
    pub stack_size: u64,
    /// Bytes of them that are in use; perf refuses more than there are.
    pub stack_used: u64,
    /// Bytes of hardware trace.
    pub aux_size: u64,
}

/// The sample at the cursor, which ends up after it: what it leaves belongs to no field.
#[inline]
pub fn sample(cursor: &mut Cursor<'_>, layout: &SampleLayout) -> Result<Sample, BodyError> {
    let mut sample = Sample::default();
    head(cursor, layout, &mut sample)?;
    if layout.has(!HEAD) {
        middle(cursor, layout, &mut sample)?;
        if layout.has(bit::BRANCH_STACK) {
            branches(cursor, layout, &mut sample)?;
        } else {
            tail(cursor, layout, &mut sample)?;
        }
    }
    Ok(sample)
}

/// IDENTIFIER to PERIOD.
#[inline]
fn head(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), ReadError> {
    if layout.has(bit::IDENTIFIER) {
        sample.id = Some(cursor.u64("identifier")?);
    }
    if layout.has(bit::IP) {
        sample.ip = Some(cursor.u64("ip")?);
    }
    if layout.has(bit::TID) {
        sample.pid = Some(cursor.u32("pid")?);
        sample.tid = Some(cursor.u32("tid")?);
    }
    if layout.has(bit::TIME) {
        sample.time = Some(cursor.u64("time")?);
    }
    if layout.has(bit::ADDR) {
        cursor.skip(1, 8, "addr")?;
    }
    if layout.has(bit::ID) {
        sample.id = Some(cursor.u64("id")?);
    }
    if layout.has(bit::STREAM_ID) {
        cursor.skip(1, 8, "stream_id")?;
    }
    if layout.has(bit::CPU) {
        sample.cpu = Some(cursor.u32("cpu")?);
        cursor.skip(1, 4, "res")?;
    }
    if layout.has(bit::PERIOD) {
        sample.period = Some(cursor.u64("period")?);
    }
    Ok(())
}

/// READ, CALLCHAIN and RAW.
#[inline]
fn middle(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    if layout.has(bit::READ) {
        sample.values = read(cursor, layout)?;
    }
    if layout.has(bit::CALLCHAIN) {
        sample.callchain_len = cursor.u64("callchain.nr")?;
        counted(cursor, sample.callchain_len, 8, "callchain.nr", COUNT64)?;
    }
    if layout.has(bit::RAW) {
        sample.raw_size = cursor.u32("raw.size")?;
        let size = sample.raw_size.into();
        counted(cursor, size, 1, "raw.size", CountField { before: 4, size: 4 })?;
    }
    Ok(())
}

/// Counter values: of one event { value, times, id, lost }, of a group { nr, times, nr * { value,
/// id, lost } }. The kernel writes what `read_format` says; perf's reader takes ID for granted.
fn read(cursor: &mut Cursor<'_>, layout: &SampleLayout) -> Result<u64, BodyError> {
    if !layout.group {
        cursor.skip(layout.read_times, 8, "read.time")?;
        cursor.skip(1, layout.read_entry, "read.value")?;
        return Ok(1);
    }
    let nr = cursor.u64("read.nr")?;
    cursor.skip(layout.read_times, 8, "read.time")?;
    let before = layout.read_times.saturating_mul(8).saturating_add(8);
    counted(cursor, nr, layout.read_entry, "read.nr", CountField { before, size: 8 })?;
    Ok(nr)
}

/// BRANCH_STACK and all after it.
///
/// The attr does not quite tell the layout: a sample without branches may lack `hw_idx` (the
/// kernel writes a bare count of 0 where the hardware gave no branch stack), and counters go by
/// groups. So where the attr's layout does not come out at the body's end, and the other one does,
/// that is it.
fn branches(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    let nr = cursor.u64("branch_stack.nr")?;
    sample.branches = nr;
    counted(cursor, nr, BRANCH_ENTRY, "branch_stack.nr", COUNT64)?;
    let counters = nr.saturating_mul(8);
    let by_attr = layout.branch_head.saturating_add(nr.saturating_mul(layout.branch_counter));
    let other = if nr == 0 {
        0
    } else if layout.counters_likely && layout.branch_counter == 0 {
        layout.branch_head.saturating_add(counters)
    } else {
        layout.branch_head
    };
    let start = cursor.clone();
    let before = *sample;
    let result = after_branches(cursor, by_attr, layout, sample);
    if other == by_attr || (result.is_ok() && cursor.is_empty()) {
        return result;
    }
    let mut retry = (start, before);
    if after_branches(&mut retry.0, other, layout, &mut retry.1).is_ok() && retry.0.is_empty() {
        (*cursor, *sample) = retry;
        return Ok(());
    }
    result
}

/// What surrounds the branches, in bytes, and all after them.
fn after_branches(
    cursor: &mut Cursor<'_>,
    around: u64,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    cursor.skip(1, around, "branch_stack.hw_idx")?;
    tail(cursor, layout, sample)
}

/// REGS_USER to AUX.
fn tail(
    cursor: &mut Cursor<'_>,
    layout: &SampleLayout,
    sample: &mut Sample,
) -> Result<(), BodyError> {
    if layout.has(bit::REGS_USER) {
        sample.user_abi = cursor.u64("regs_user.abi")?;
        let count = if sample.user_abi == 0 { 0 } else { layout.user_regs };
        cursor.skip(count, 8, "regs_user.regs")?;
    }
    if layout.has(bit::STACK_USER) {
        sample.stack_size = cursor.u64("stack_user.size")?;
        if sample.stack_size > 0 {
            counted(cursor, sample.stack_size, 1, "stack_user.size", COUNT64)?;
            sample.stack_used = cursor.u64("stack_user.dyn_size")?;
        }
    }
    if layout.has(bit::WEIGHT | bit::WEIGHT_STRUCT) {
        cursor.skip(1, 8, "weight")?;
    }
    if layout.has(bit::DATA_SRC) {
        cursor.skip(1, 8, "data_src")?;
    }
    if layout.has(bit::TRANSACTION) {
        cursor.skip(1, 8, "transaction")?;
    }
    if layout.has(bit::REGS_INTR) {
        sample.intr_abi = cursor.u64("regs_intr.abi")?;
        let count = if sample.intr_abi == 0 { 0 } else { layout.intr_regs };
        cursor.skip(count, 8, "regs_intr.regs")?;
    }
    if layout.has(bit::PHYS_ADDR) {
        cursor.skip(1, 8, "phys_addr")?;
    }
    if layout.has(bit::CGROUP) {
        cursor.skip(1, 8, "cgroup")?;
    }
    if layout.has(bit::DATA_PAGE_SIZE) {
        cursor.skip(1, 8, "data_page_size")?;
    }
    if layout.has(bit::CODE_PAGE_SIZE) {
        cursor.skip(1, 8, "code_page_size")?;
    }
    if layout.has(bit::AUX) {
        sample.aux_size = cursor.u64("aux.size")?;
        counted(cursor, sample.aux_size, 1, "aux.size", COUNT64)?;
    }
    Ok(())
}

/// Where a count lies that was just read, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountField {
    /// From its start to the position.
    pub(super) before: u64,
    /// Its own size.
    pub(super) size: u64,
}

/// A u64 that was read last.
pub(super) const COUNT64: CountField = CountField { before: 8, size: 8 };

/// Moves past `count` entries of `size` bytes; that they are not there is the count's fault.
#[inline]
pub(super) fn counted(
    cursor: &mut Cursor<'_>,
    count: u64,
    size: u64,
    label: &'static str,
    field: CountField,
) -> Result<(), BodyError> {
    match cursor.skip(count, size, label) {
        Ok(()) => Ok(()),
        Err(_) => Err(too_many(cursor, count, size, label, field)),
    }
}

#[cold]
fn too_many(
    cursor: &Cursor<'_>,
    value: u64,
    size: u64,
    label: &'static str,
    field: CountField,
) -> BodyError {
    let most = cursor.left().checked_div(size).unwrap_or(0);
    let start = cursor.position().saturating_sub(field.before);
    let span = Span::sized(cursor.ahead().layer, start, field.size);
    BodyError::Count { label, value, most, span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(sample_type: u64) -> SampleLayout {
        SampleLayout::new(&Attr { sample_type, ..Attr::default() })
    }

    /// The words' bytes, little-endian.
    fn body(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads `words` as a body at offset 0x100, and tells how many bytes it leaves.
    fn parse(words: &[u64], layout: &SampleLayout) -> (Result<Sample, BodyError>, u64) {
        let bytes = body(words);
        let mut cursor = Cursor::new(&bytes, Layer::stored(0), 0x100, Order::Little);
        let sample = sample(&mut cursor, layout);
        (sample, cursor.left())
    }

    /// Reads `words`, all of which the sample must take.
    fn whole(words: &[u64], layout: &SampleLayout) -> Sample {
        let (sample, left) = parse(words, layout);
        assert_eq!(left, 0);
        sample.unwrap()
    }

    #[test]
    fn the_identifier_comes_first_and_the_rest_in_the_order_of_the_parser() {
        let head = whole(&[1, 2, 4 << 32 | 3, 5, 6, 1, 8, 9, 10], &layout(HEAD));
        assert_eq!((head.id, head.ip), (Some(1), Some(2)));
        assert_eq!((head.pid, head.tid), (Some(3), Some(4)));
        assert_eq!((head.time, head.cpu, head.period), (Some(5), Some(9), Some(10)));
    }

    #[test]
    fn fields_that_are_not_recorded_are_none() {
        assert_eq!(whole(&[7], &layout(bit::TIME)), Sample { time: Some(7), ..Sample::default() });
    }

    #[test]
    fn a_field_that_does_not_fit_is_named() {
        let (sample, _) = parse(&[7], &layout(bit::IP | bit::TIME));
        let error = sample.unwrap_err();
        assert_eq!(error.to_string(), "time needs 8 bytes at 0x108, 0 are left");
        assert_eq!((error.label(), error.span().start), ("time", 0x108));
    }

    #[test]
    fn bytes_after_the_last_field_are_left() {
        assert_eq!(parse(&[7, 8, 9], &layout(bit::TIME)).1, 16);
    }

    #[test]
    fn a_count_that_is_too_large_is_told_with_its_place() {
        let (sample, _) = parse(&[1, 3, 0, 0], &layout(bit::IP | bit::CALLCHAIN));
        let error = sample.unwrap_err();
        assert_eq!(error.to_string(), "callchain.nr is 3, at most 2 can be");
        assert_eq!(error.span(), Span::new(Layer::stored(0), 0x108, 0x110));
    }

    #[test]
    fn a_count_whose_product_overflows_is_too_large() {
        let (sample, _) = parse(&[1 << 61, 0], &layout(bit::CALLCHAIN));
        assert!(matches!(sample, Err(BodyError::Count { most: 1, .. })));
    }

    #[test]
    fn values_of_one_event_have_what_the_read_format_says() {
        for (read_format, words) in [(0, 1), (1, 2), (3, 3), (7, 4), (23, 5)] {
            let attr = Attr { sample_type: bit::READ, read_format, ..Attr::default() };
            assert_eq!(whole(&vec![0; words], &SampleLayout::new(&attr)).values, 1);
        }
    }

    #[test]
    fn values_of_a_group_are_counted() {
        let all = read_format::KNOWN;
        let attr = Attr { sample_type: bit::READ, read_format: all, ..Attr::default() };
        let group = SampleLayout::new(&attr);
        assert_eq!(whole(&[2, 0, 0, 1, 1, 1, 2, 2, 2], &group).values, 2);
        let error = parse(&[3, 0, 0, 1, 1, 1, 2, 2, 2], &group).0.unwrap_err();
        assert_eq!(error.to_string(), "read.nr is 3, at most 2 can be");
        assert_eq!(error.span().range(), 0x100..0x108);
    }

    #[test]
    fn raw_data_and_its_size_are_whole_words_together() {
        let after = layout(bit::RAW | bit::DATA_SRC);
        assert_eq!(whole(&[12, 0, 0], &after).raw_size, 12);
        let error = parse(&[21, 0, 0], &after).0.unwrap_err();
        assert_eq!(error.to_string(), "raw.size is 21, at most 20 can be");
        assert_eq!(error.span().len(), 4);
    }

    /// A layout of branches and one register after them.
    fn branches(branch_sample_type: u64) -> SampleLayout {
        SampleLayout::new(&Attr {
            sample_type: bit::BRANCH_STACK | bit::REGS_INTR,
            branch_sample_type,
            sample_regs_intr: 1,
            ..Attr::default()
        })
    }

    #[test]
    fn branches_have_an_index_before_and_counters_after_them() {
        let sample = whole(&[1, 11, 12, 13, 2, 0], &branches(0));
        assert_eq!((sample.branches, sample.intr_abi), (1, 2));
        let both = branches(branch_sample_type::HW_INDEX | branch_sample_type::COUNTERS);
        assert_eq!(whole(&[1, 10, 11, 12, 13, 14, 2, 0], &both).intr_abi, 2);
    }

    #[test]
    fn a_bare_count_of_no_branches_is_read() {
        let index = branches(branch_sample_type::HW_INDEX);
        assert_eq!(whole(&[0, 2, 5], &index).intr_abi, 2);
        assert_eq!(whole(&[0, u64::MAX, 2, 5], &index).intr_abi, 2);
    }

    #[test]
    fn counters_of_another_event_of_the_group_are_found() {
        let words = [2, 1, 2, 3, 4, 5, 6, 13, 14, 2, 0];
        assert_eq!(parse(&words, &branches(0)).1, 16);
        assert_eq!(whole(&words, &branches(0).with_counters_likely()).intr_abi, 2);
    }

    #[test]
    fn registers_are_there_unless_the_abi_is_none() {
        let attr =
            Attr { sample_type: bit::REGS_USER, sample_regs_user: 0b1011, ..Attr::default() };
        let regs = SampleLayout::new(&attr);
        assert_eq!(whole(&[0], &regs).user_abi, 0);
        assert_eq!(whole(&[2, 0, 0, 0], &regs).user_abi, 2);
        assert_eq!(parse(&[2, 0, 0], &regs).0.unwrap_err().label(), "regs_user.regs");
    }

    #[test]
    fn a_stack_of_no_bytes_has_no_size_in_use() {
        let stack = layout(bit::STACK_USER | bit::WEIGHT_STRUCT);
        assert_eq!(whole(&[0, 1], &stack).stack_size, 0);
        let sample = whole(&[16, 0, 0, 9, 1], &stack);
        assert_eq!((sample.stack_size, sample.stack_used), (16, 9));
        assert_eq!(parse(&[16, 0, 0], &stack).0.unwrap_err().label(), "stack_user.dyn_size");
    }

    #[test]
    fn the_hardware_trace_comes_last() {
        let pages = bit::PHYS_ADDR | bit::CGROUP | bit::DATA_PAGE_SIZE | bit::CODE_PAGE_SIZE;
        let words = [1, 2, 3, 4, 5, 6, 7, 8, 0];
        let weighty = bit::WEIGHT | bit::DATA_SRC | bit::TRANSACTION;
        assert_eq!(whole(&words, &layout(weighty | pages | bit::AUX)).aux_size, 8);
    }

    #[test]
    fn a_trailer_is_read_from_the_end() {
        let attr = Attr { sample_type: HEAD, flags: 1 << 18, ..Attr::default() };
        let layout = SampleLayout::new(&attr);
        let bytes = body(&[99, 99, 2 << 32 | 1, 3, 4, 5, 6, 4]);
        assert_eq!(layout.trailer_len(), 48);
        let id = trailer(&bytes, &layout, Order::Little).unwrap();
        assert_eq!((id.pid, id.tid, id.time), (Some(1), Some(2), Some(3)));
        assert_eq!((id.id, id.cpu), (Some(4), Some(6)));
        assert_eq!(trailer(&bytes[..40], &layout, Order::Little), None);
    }

    #[test]
    fn without_sample_id_all_there_is_no_trailer() {
        let plain = layout(HEAD);
        assert_eq!(plain.trailer_len(), 0);
        assert_eq!(trailer(&body(&[0; 8]), &plain, Order::Little), None);
        assert_eq!(event_id(&body(&[0; 8]), 1, &plain, Order::Little), None);
    }

    #[test]
    fn the_event_id_lies_where_perf_looks_for_it() {
        let bytes = body(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let ids = |sample_type| {
            let layout =
                SampleLayout::new(&Attr { sample_type, flags: 1 << 18, ..Attr::default() });
            [record::SAMPLE, 1].map(|kind| event_id(&bytes, kind, &layout, Order::Little))
        };
        assert_eq!(ids(HEAD), [Some(0), Some(7)]);
        assert_eq!(ids(HEAD & !bit::IDENTIFIER), [Some(4), Some(5)]);
        assert_eq!(ids(bit::ID | bit::TIME | bit::CPU), [Some(1), Some(6)]);
        assert_eq!(ids(bit::TIME), [None, None]);
    }

    #[test]
    fn a_big_endian_sample_is_read_as_one() {
        let bytes = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3];
        let mut cursor = Cursor::new(&bytes, Layer::stored(0), 0, Order::Big);
        let sample = sample(&mut cursor, &layout(bit::TID | bit::TIME)).unwrap();
        assert_eq!((sample.pid, sample.tid, sample.time), (Some(1), Some(2), Some(3)));
    }
}

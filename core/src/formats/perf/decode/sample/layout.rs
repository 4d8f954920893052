//! The layout of an event's samples and of the `sample_id` in its other records, derived from the
//! attr once.

use super::Sample;
use super::plain::{PlainLayout, PlainSample};
use super::words::{HEAD, count_bits, word};
use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::layout::attr::{branch_sample_type, read_format, sample_type as bit};
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::cursor::Order;
use crate::kit::num::to_usize;
use crate::kit::row::{Form, Row};

/// Fields of a `sample_id`: 8 bytes each.
const TRAILER: u64 = bit::TID | bit::TIME | bit::ID | bit::STREAM_ID | bit::CPU | bit::IDENTIFIER;

/// The layout of an event's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleLayout {
    pub(super) sample_type: u64,
    pub(super) read: ReadLayout,
    pub(super) branch: BranchLayout,
    /// Number of user registers, u64 each.
    pub(super) user_regs: u64,
    /// Number of interrupted registers, u64 each.
    pub(super) intr_regs: u64,
    pub(super) trailer_len: u64,
    id: IdPlace,
    /// The places of the fields if samples are plain.
    plain: Option<PlainLayout>,
}

/// The layout of the field READ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadLayout {
    /// Whether the field holds the values of a group.
    pub(super) is_group: bool,
    /// Number of times before the values, u64 each.
    pub(super) times: u64,
    /// Whether one of the times is that for which the event was enabled.
    pub(super) has_enabled: bool,
    /// Bytes per entry: the value, its id, its count of lost samples.
    pub(super) entry_len: u64,
    /// Whether each entry has an id.
    pub(super) has_id: bool,
}

impl ReadLayout {
    /// Returns the times before the values.
    pub(super) const fn times_row(&self) -> &'static Row {
        const ENABLED: (&str, Form) = ("read.time_enabled", Form::U64);
        const RUNNING: (&str, Form) = ("read.time_running", Form::U64);
        match (self.has_enabled, self.times) {
            (_, 2) => &[ENABLED, RUNNING],
            (true, 1) => &[ENABLED],
            (false, 1) => &[RUNNING],
            _ => &[],
        }
    }

    /// Returns the fields of an entry.
    pub(super) const fn row(&self) -> &'static Row {
        const VALUE: (&str, Form) = ("read.read_values[].value", Form::U64);
        const ID: (&str, Form) = ("read.read_values[].id", Form::U64);
        const LOST: (&str, Form) = ("read.read_values[].lost", Form::U64);
        match (self.has_id, self.entry_len) {
            (true, 24) => &[VALUE, ID, LOST],
            (true, _) => &[VALUE, ID],
            (false, 16) => &[VALUE, LOST],
            (false, _) => &[VALUE],
        }
    }
}

/// The layout of the field BRANCH_STACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BranchLayout {
    /// Bytes between the count of branches and the branches.
    pub(super) head_len: u64,
    /// Bytes per branch after the branches.
    pub(super) counter_len: u64,
    /// Whether counters may follow although the attr does not request them.
    pub(super) has_likely_counters: bool,
}

/// The place of the event id in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IdPlace {
    /// Offset in the body of a sample, in bytes.
    from_start: Option<usize>,
    /// Distance to the end of the body of another record, in bytes.
    from_end: Option<usize>,
}

impl SampleLayout {
    /// Derives the layout from an attr. Unknown bits ([`Attr::layout_known`]) take no room in it.
    pub fn new(attr: &Attr) -> Self {
        let has_trailer = attr.sample_id_all();
        let sample_type = attr.sample_type;
        let branch = |bit| u64::from(attr.branch_sample_type & bit != 0).saturating_mul(8);
        let times = read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING;
        let per_value = count_bits(attr.read_format, read_format::ID | read_format::LOST);
        let trailer_words = if has_trailer { count_bits(sample_type, TRAILER) } else { 0 };
        Self {
            sample_type,
            read: ReadLayout {
                is_group: attr.read_format & read_format::GROUP != 0,
                times: count_bits(attr.read_format, times),
                has_enabled: attr.read_format & read_format::TOTAL_TIME_ENABLED != 0,
                entry_len: per_value.saturating_add(1).saturating_mul(8),
                has_id: attr.read_format & read_format::ID != 0,
            },
            branch: BranchLayout {
                head_len: branch(branch_sample_type::HW_INDEX),
                counter_len: branch(branch_sample_type::COUNTERS),
                has_likely_counters: false,
            },
            user_regs: attr.sample_regs_user.count_ones().into(),
            intr_regs: attr.sample_regs_intr.count_ones().into(),
            trailer_len: trailer_words.saturating_mul(8),
            id: IdPlace {
                from_start: id_from_start(sample_type),
                from_end: id_from_end(sample_type).filter(|_| has_trailer),
            },
            plain: PlainLayout::new(sample_type),
        }
    }

    /// Returns the same layout for a recording in which another event has branch counters: the
    /// kernel then writes them for the whole group, and the attrs do not name the groups.
    #[must_use]
    pub const fn with_likely_counters(mut self) -> Self {
        self.branch.has_likely_counters = true;
        self
    }

    /// Whether counters are likely.
    pub const fn has_likely_counters(&self) -> bool {
        self.branch.has_likely_counters
    }

    /// Size of the `sample_id` at the end of other records, in bytes; 0 without `sample_id_all`.
    #[inline]
    pub const fn trailer_len(&self) -> u64 {
        self.trailer_len
    }

    /// Returns the offset of the time in a sample with its header, in bytes.
    pub fn time_at(&self) -> Option<u64> {
        let words = count_bits(self.sample_type, bit::IDENTIFIER | bit::IP | bit::TID);
        self.has(bit::TIME).then(|| words.saturating_mul(8).saturating_add(RECORD_HEADER))
    }

    /// Returns the ids of the counter values in a sample, which perf looks up one by one.
    pub fn value_ids<'b>(
        &self,
        body: &'b [u8],
        sample: &Sample,
        order: Order,
    ) -> impl Iterator<Item = u64> + use<'b> {
        let count = if self.read.has_id { sample.values } else { 0 };
        let step = self.read.entry_len;
        // The fields before READ have 8 bytes each. The times precede the values of a group; of a
        // single value they follow it, and the id follows them.
        let words = count_bits(self.sample_type, HEAD)
            .saturating_add(self.read.times)
            .saturating_add(self.read.is_group.into());
        let start = words.saturating_mul(8);
        let place =
            move |index: u64| start.saturating_add(index.saturating_mul(step)).saturating_add(8);
        (0..count).map_while(move |index| word(body, to_usize(place(index)), order))
    }

    /// Reads a plain sample; `None` if the layout has other fields, or if anything is unusual.
    #[inline(always)]
    pub fn read_plain(&self, body: &[u8], order: Order) -> Option<PlainSample> {
        self.plain.as_ref()?.read(body, order)
    }

    /// Whether samples of another event have their id at the same place.
    #[inline]
    pub fn places_id_like(&self, other: &Self) -> bool {
        self.id.from_start == other.id.from_start
    }

    /// Whether samples have any of the fields in `bits`.
    #[inline]
    pub(super) const fn has(&self, bits: u64) -> bool {
        self.sample_type & bits != 0
    }
}

/// Returns the offset of the id in a sample: it comes first, or after up to four other fields.
fn id_from_start(sample_type: u64) -> Option<usize> {
    let before = bit::IP | bit::TID | bit::TIME | bit::ADDR;
    if sample_type & bit::IDENTIFIER != 0 {
        Some(0)
    } else {
        let words = count_bits(sample_type, before);
        (sample_type & bit::ID != 0).then(|| to_usize(words.saturating_mul(8)))
    }
}

/// Returns the distance from the id of another record to the end of the record.
fn id_from_end(sample_type: u64) -> Option<usize> {
    if sample_type & bit::IDENTIFIER != 0 {
        Some(8)
    } else {
        let words = count_bits(sample_type, bit::ID | bit::STREAM_ID | bit::CPU);
        (sample_type & bit::ID != 0).then(|| to_usize(words.saturating_mul(8)))
    }
}

/// Returns the event id of a record of type `kind`, by which perf finds the attr if there are
/// several.
///
/// `layout` is that of any attr, in practice the first: perf can only read recordings in which all
/// attrs agree on the place of the id. `None` if the place is not recorded or the body is too
/// short. The id 0 stands for the first attr: perf gives it to the records that it synthesizes.
#[inline]
pub fn event_id(body: &[u8], kind: u32, layout: &SampleLayout, order: Order) -> Option<u64> {
    let at = if kind == record::SAMPLE {
        layout.id.from_start?
    } else {
        // perf counts fields in complete words from the start of the record.
        (body.len() & !7).checked_sub(layout.id.from_end?)?
    };
    word(body, at, order)
}

//! The magic and `header.size`: the nearest known value, and what follows it.

use super::peek::Peek;
use super::{Correction, Part};
use crate::formats::perf::decode::frame::frame;
use crate::formats::perf::decode::header;
use crate::formats::perf::decode::record::name;
use crate::formats::perf::layout::{
    self as facts, HEADER_SIZE, HEADER_SIZE_OLD, HEADER_SIZE_PIPE, SECTION_SIZE, field,
    is_published, record,
};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::source::Source;

/// Most bits by which a damaged magic may differ.
const MAGIC_BITS: u32 = 8;
/// Records that must follow one another from the end of a pipe header.
const PIPE_RECORDS: usize = 3;

/// Returns the magic that the first eight bytes are nearest to.
pub(super) fn nearest_magic(first: &[u8]) -> Option<(Order, &'static [u8; 8])> {
    let found = first.first_chunk::<8>()?;
    let distance = |magic: &[u8; 8]| {
        let pairs = magic.iter().zip(found);
        pairs.fold(0_u32, |sum, (a, b)| sum.saturating_add((a ^ b).count_ones()))
    };
    let known = [(Order::Little, facts::MAGIC_LITTLE), (Order::Big, facts::MAGIC_BIG)];
    known.into_iter().find(|(_, magic)| distance(magic) <= MAGIC_BITS)
}

/// Returns the magic of the byte order in which the fields after it are plausible, or else the
/// records: the user names the format of a file whose magic is lost.
pub(super) fn magic_of_fields(source: &Source<'_>) -> (Order, &'static [u8; 8]) {
    let (little, big) = (Peek { source, order: Order::Little }, Peek { source, order: Order::Big });
    let is_big = match (has_plausible_size(little), has_plausible_size(big)) {
        (true, false) => false,
        (false, true) => true,
        _ => count_pairs(big) > count_pairs(little),
    };
    let order = if is_big { Order::Big } else { Order::Little };
    (order, magic_of(order))
}

/// Returns the magic of a byte order.
pub(super) const fn magic_of(order: Order) -> &'static [u8; 8] {
    match order {
        Order::Big => facts::MAGIC_BIG,
        Order::Little => facts::MAGIC_LITTLE,
    }
}

/// Counts the places at the start of the file at which two records of known types follow one
/// another.
fn count_pairs(peek: Peek<'_>) -> u64 {
    /// Bytes that are searched.
    const SEARCHED: u64 = 1 << 16;
    let is_pair =
        |at: &u64| known_record(peek, *at).is_some_and(|next| known_record(peek, next).is_some());
    to_u64((0..peek.len().min(SEARCHED)).filter(is_pair).count())
}

/// Returns the end of the record at `at`, if it has a known type and lies inside the file.
pub(super) fn known_record(peek: Peek<'_>, at: u64) -> Option<u64> {
    let head = peek.bytes(at, at.saturating_add(facts::RECORD_HEADER));
    let frame = frame(&head, peek.order).ok()?;
    let is_known = name(frame.kind).is_some() && !frame.is_misaligned();
    is_known.then(|| at.saturating_add(frame.size)).filter(|end| *end <= peek.len())
}

/// Whether a file begins with a magic, or with a damaged one and a plausible header after it.
pub(super) fn is_magic(source: &Source<'_>) -> bool {
    let first = source.read(0, 8);
    if header::magic(&first).is_some() {
        return true;
    }
    let Some((order, _)) = nearest_magic(&first) else { return false };
    has_plausible_size(Peek { source, order })
}

/// Whether `header.size` or `header.attr_size` has a known value.
pub(super) fn has_plausible_size(peek: Peek<'_>) -> bool {
    let size = peek.u64(field::SIZE);
    let has_size = [HEADER_SIZE, HEADER_SIZE_OLD, HEADER_SIZE_PIPE].map(Some).contains(&size);
    has_size || has_attr_size(peek)
}

/// Whether `header.attr_size` is the size of a published attr and of the section of its ids.
fn has_attr_size(peek: Peek<'_>) -> bool {
    let entry = peek.u64(field::ATTR_SIZE).and_then(|size| size.checked_sub(SECTION_SIZE));
    entry.is_some_and(is_published)
}

pub(super) fn correct_magic(peek: Peek<'_>, magic: &[u8; 8]) -> Option<Correction> {
    let correction = Correction::new(Part::Magic).word(0, peek.u64(0)?, peek.order.u64(*magic));
    Some(match has_plausible_size(peek) {
        true => correction.witness(field::SIZE, 8, "header.size in the byte order of the magic"),
        false => correction,
    })
}

/// Corrects `header.size`: 16 if records follow it, else 72 if a section begins where newer headers
/// have feature bits, else 104.
pub(super) fn correct_size(peek: Peek<'_>) -> Option<Correction> {
    let size = peek.u64(field::SIZE)?;
    let is_pipe = follows_pipe_header(peek);
    let value = match size {
        HEADER_SIZE => return None,
        // The first records of a pipe may be damaged; a file has the size of an attr there.
        HEADER_SIZE_PIPE if is_pipe || !has_attr_size(peek) => return None,
        HEADER_SIZE_OLD if !begins_after_flags(peek) => return None,
        _ if is_pipe => HEADER_SIZE_PIPE,
        _ if peek.len() < HEADER_SIZE => return None,
        _ if begins_among_flags(peek) => HEADER_SIZE_OLD,
        _ => HEADER_SIZE,
    };
    let correction = Correction::new(Part::HeaderSize).word(field::SIZE, size, value);
    Some(match value {
        HEADER_SIZE_PIPE => correction.witness(HEADER_SIZE_PIPE, 8, "record after a pipe header"),
        HEADER_SIZE_OLD => correction.witness(field::ATTRS, 32, "a section where flags would be"),
        _ => correction.witness(field::ATTRS, 32, "sections that a pipe header lacks"),
    })
}

/// Sets `header.size` to that of a pipe, whose first complete record is at `first`.
pub(super) fn set_pipe_size(peek: Peek<'_>, first: u64) -> Option<Correction> {
    let correction = Correction::new(Part::HeaderSize);
    let correction = correction.word(field::SIZE, peek.u64(field::SIZE)?, HEADER_SIZE_PIPE);
    // If the header was lost, it is written over the first records.
    let correction = correction.determined_if(false);
    Some(correction.witness(first, facts::RECORD_HEADER, "a record that only pipes have"))
}

/// Whether records follow a header of 16 bytes.
fn follows_pipe_header(peek: Peek<'_>) -> bool {
    let mut at = HEADER_SIZE_PIPE;
    let mut seen = 0_usize;
    while seen < PIPE_RECORDS && at < peek.len() {
        let head = peek.bytes(at, at.saturating_add(facts::RECORD_HEADER));
        let Ok(frame) = frame(&head, peek.order) else { return false };
        // A pipe begins with records of perf itself; the fields of a file header are not records.
        if frame.size > peek.len().saturating_sub(at)
            || frame.kind < record::USER_FIRST && seen == 0
        {
            return false;
        }
        at = at.saturating_add(frame.size);
        seen = seen.saturating_add(1);
        if frame.kind == record::TRACING_DATA || frame.kind == record::AUXTRACE {
            return true;
        }
    }
    seen > 0
}

/// Whether attrs or data begin where a header of 104 bytes has feature bits.
fn begins_among_flags(peek: Peek<'_>) -> bool {
    let sections = [field::ATTRS, field::DATA].into_iter().filter_map(|at| peek.section(at));
    let mut filled = sections.filter(|section| section.size > 0);
    filled.any(|section| (HEADER_SIZE_OLD..HEADER_SIZE).contains(&section.offset))
}

/// Whether a header of 72 bytes is one of 104: everything begins after the flags, and there are
/// flags.
fn begins_after_flags(peek: Peek<'_>) -> bool {
    let offsets = [field::ATTRS, field::DATA].map(|at| peek.u64(at));
    let Some(attrs) = peek.section(field::ATTRS) else { return false };
    let entry = peek.u64(field::ATTR_SIZE).unwrap_or(0);
    let ids = attrs.offset.checked_add(entry).and_then(|end| end.checked_sub(SECTION_SIZE));
    let ids = ids.and_then(|at| peek.u64(at));
    let has_flags = (0..4_u64)
        .any(|word| peek.u64(field::FLAGS.saturating_add(word.saturating_mul(8))) != Some(0));
    offsets.iter().chain([&ids]).all(|offset| *offset >= Some(HEADER_SIZE)) && has_flags
}

//! Bytes that were inserted among the features: the sections after them have their shapes later.

use std::borrow::Cow;

use super::super::described;
use super::super::peek::Peek;
use super::super::shape;
use super::{Entries, witnessed};
use crate::formats::perf::decode::header::{Flags, Section};
use crate::formats::perf::layout::features::{Feature, feature as feature_of};
use crate::formats::perf::layout::{feature, field};
use crate::kit::num::to_u64;
use crate::kit::reading::Reading;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// Bytes of the largest section in which the place is looked for byte by byte.
const TRIED: u64 = 4096;

/// Returns the reading of `len` bytes that were inserted after the feature table, which is where
/// the header places it.
///
/// Each section before the place has its shape where it is stored, and each one after it has it
/// `len` bytes later. The place is determined if no other one leaves different bytes.
pub(super) fn find(peek: Peek<'_>, table: &Entries, len: u64) -> Option<Reading> {
    let flags = [0, 8, 16, 24].map(|at| peek.u64(field::FLAGS.saturating_add(at)).unwrap_or(0));
    let bits: Vec<u32> = Flags(flags).bits().collect();
    if bits.len() != table.sections.len() {
        return None;
    }
    let pairs = || bits.iter().copied().zip(table.sections.iter().copied());
    let moved = |section: Section| {
        let offset = section.offset.saturating_add(len);
        Section { offset, ..section }
    };
    let in_place = pairs().take_while(|(bit, section)| has_shape(peek, *bit, *section)).count();
    let after = pairs().rev().take_while(|(bit, one)| has_shape(peek, *bit, moved(*one))).count();
    let first_moved = bits.len().saturating_sub(after);
    let (first, last) = (first_moved.saturating_sub(1), in_place);
    // If all have their shapes where they are stored, only the length of the file speaks for the
    // bytes, and a damaged size in the table is as likely.
    if first > last || in_place == bits.len() {
        return None;
    }
    let possible: Vec<(u32, Section)> =
        pairs().skip(first).take(last.saturating_sub(first).saturating_add(1)).collect();
    let described = possible.iter().find(|(bit, _)| *bit == feature::EVENT_DESC);
    let described = described.map(|(_, section)| *section);
    let mut search =
        Search { peek, len, described, near: &possible, best: None, others: 0, is_partial: false };
    if first_moved == 0 {
        search.try_before(table);
    }
    possible.iter().for_each(|(bit, section)| search.try_inside(*bit, *section));
    let (_, section) = possible.first()?;
    let end = section.end().unwrap_or(section.offset);
    let at = search.best.map_or(end, |(_, at)| at);
    let mut reading = Reading::inserted(0, at..at.saturating_add(len));
    // If only the length of the file shows that bytes were inserted, others may be cut off.
    let is_shown = pairs().any(|(bit, one)| {
        one.offset >= at && !has_shape(peek, bit, one) && has_shape(peek, bit, moved(one))
    });
    reading.is_determined = search.is_sure() && is_shown && search.is_framed(at);
    let (section, last) = (possible.first()?.1, possible.last()?.1);
    let end = last.end().unwrap_or(last.offset).saturating_add(len);
    let among =
        Span::new(Layer::stored(0), section.offset.min(at), end.max(at.saturating_add(len)));
    reading.among = (!reading.is_determined).then_some(among);
    Some(witnessed(reading, table))
}

/// Whether a section has the shape of its feature, or may have any.
fn has_shape(peek: Peek<'_>, bit: u32, section: Section) -> bool {
    bit > feature::LAST_OLD || section.size == 0 || shape::resembles(peek, bit, section)
}

/// The search for the place of inserted bytes.
struct Search<'a> {
    peek: Peek<'a>,
    /// Number of inserted bytes.
    len: u64,
    /// EVENT_DESC, if the place may be in it.
    described: Option<Section>,
    /// The sections in which the place may be, or beside which.
    near: &'a [(u32, Section)],
    /// The best place, with the number of bytes of EVENT_DESC that differ from the attr table.
    best: Option<(u64, u64)>,
    /// Number of places that are as good, and leave other bytes.
    others: u64,
    /// Whether there may be more places than those that were tried.
    is_partial: bool,
}

impl Search<'_> {
    /// Tries the place before the first section. The bytes between it and the table have no shape.
    fn try_before(&mut self, table: &Entries) {
        let (start, Some(first)) = (table.span().end, table.sections.first()) else { return };
        self.try_place(first.offset, |_| true);
        self.is_partial |= !self.is_same(start.min(first.offset), first.offset);
    }

    /// Tries the places in a section that give it its shape.
    fn try_inside(&mut self, bit: u32, section: Section) {
        let end = section.end().unwrap_or(section.offset);
        let is_short = section.size <= TRIED;
        self.is_partial |= !is_short;
        let first = if is_short { section.offset } else { end };
        for at in (first..=end).rev() {
            self.try_place(at, |without| has_shape(without, bit, section));
        }
    }

    /// Tries a place; `fits` judges the file without the bytes that were inserted there.
    fn try_place(&mut self, at: u64, fits: impl Fn(Peek<'_>) -> bool) {
        let rest = at.saturating_add(self.len);
        let source = &self.peek.source;
        let pieces = source.slices(0, at).chain(source.slices(rest, self.peek.len()));
        let source = Source::from_pieces(pieces);
        let without = Peek { source: &source, order: self.peek.order };
        if !fits(without) {
            return;
        }
        let differences = self.described.map_or(0, |section| count_differences(without, section));
        // Damage beside the place may have moved it.
        let is_plain =
            self.near.iter().all(|(bit, one)| shape::has_plain_texts(without, *bit, *one));
        let differences = differences.saturating_add(u64::from(!is_plain));
        let Some((least, best)) = self.best else {
            self.best = Some((differences, at));
            return;
        };
        if differences < least {
            (self.best, self.others) = (Some((differences, at)), 0);
        } else if differences == least && !self.is_same(at.min(best), at.max(best)) {
            self.others = self.others.saturating_add(1);
        }
    }

    /// Whether the same bytes are left, whichever of two places the inserted ones have.
    fn is_same(&self, first: u64, last: u64) -> bool {
        let moved = |at: u64| at.saturating_add(self.len);
        last.saturating_sub(first) <= TRIED
            && self.peek.bytes(first, last) == self.peek.bytes(moved(first), moved(last))
    }

    /// Whether the padding of a text around the bytes at a place shows each of them. The shape of a
    /// section does not: of bytes that were inserted at two places, it shows the sum.
    fn is_framed(&self, at: u64) -> bool {
        let end = at.saturating_add(self.len);
        let is_inside = |(bit, section): &(u32, Section)| {
            let is_text = feature_of(*bit).is_some_and(Feature::is_text);
            is_text && section.offset < at && section.end().is_some_and(|stop| at < stop)
        };
        let is_zero = |at: u64| self.peek.bytes(at, at.saturating_add(1)).as_ref() == [0];
        let is_padding = [at.saturating_sub(1), end].into_iter().all(is_zero);
        let is_foreign = ![at, end.saturating_sub(1)].into_iter().any(is_zero);
        self.near.iter().any(is_inside) && is_padding && is_foreign
    }

    /// Whether the place is determined, and nothing else in its section is damaged.
    fn is_sure(&self) -> bool {
        matches!(self.best, Some((0, _))) && self.others == 0 && !self.is_partial
    }
}

/// Counts the bytes of attrs and ids in EVENT_DESC that differ from those of the attr table.
fn count_differences(peek: Peek<'_>, section: Section) -> u64 {
    let table = peek.u64(field::ATTR_SIZE).zip(peek.u64(field::ATTRS));
    let (Some((entry, mut at)), Some((size, events))) = (table, described::events(peek, section))
    else {
        return u64::MAX;
    };
    let mut differences = 0_u64;
    for event in events {
        let ids = peek.section(at.saturating_add(size)).unwrap_or_default();
        for (one, two, len) in [(event.attr, at, size), (event.ids.offset, ids.offset, ids.size)] {
            let (one, two) = (bytes_of(peek, one, len), bytes_of(peek, two, len));
            let equal = one.iter().zip(two.iter()).filter(|(one, two)| one == two).count();
            differences = differences.saturating_add(len.saturating_sub(to_u64(equal)));
        }
        at = at.saturating_add(entry);
    }
    differences
}

fn bytes_of(peek: Peek<'_>, at: u64, len: u64) -> Cow<'_, [u8]> {
    peek.bytes(at, at.saturating_add(len.min(TRIED)))
}

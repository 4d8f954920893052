//! The header, the ids and the attrs, found by their own structure.
//!
//! ```text
//!  104  ids of attr 0 | ids of attr 1 | ...
//!    a  attr 0, section of its ids | attr 1, section of its ids | ...     n entries of z bytes
//!    d  records                                                           d == a + n * z
//!    t  feature table
//! ```
//!
//! `perf record` writes the parts in this order without gaps. Each reading of the header (a, z, n,
//! d) is a hypothesis; the facts that support it are counted, and the clearly best one wins.

use super::peek::Peek;
use crate::formats::perf::decode::header::{Body, Section};
use crate::formats::perf::layout::{HEADER_SIZE, SECTION_SIZE, is_published};
use crate::kit::race::leader;

/// Bytes after the header in which the attrs are searched.
const SEARCHED: u64 = 1 << 20;
/// Most candidates that are compared.
const MOST_CANDIDATES: usize = 256;
/// Most entries of a table that are read for one candidate.
const MOST_ENTRIES: u64 = 4096;
/// By how much the best reading must lead: a quarter of a stored field counts 2.
const LEAD: u64 = 4;
/// Weight that the best reading must have: half of what a sound header reaches.
const LEAST_WEIGHT: u64 = 36;

/// One reading of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LayoutReading {
    /// Size of an entry of the attr table.
    pub(super) attr_size: u64,
    /// The attr table.
    pub(super) attrs: Section,
    /// Offset of the records.
    pub(super) data: u64,
}

/// Facts from outside the header that the readings must match.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LayoutFacts {
    /// Number of events and size of their attrs in EVENT_DESC.
    pub(super) event_desc: Option<(u64, u64)>,
    /// Offset of the feature table.
    pub(super) table: Option<u64>,
}

/// Finds the reading that the file supports best. `reaches` tells whether records from its first
/// argument on end exactly at the second one, and how many of the first ones are valid.
pub(super) fn find(
    peek: Peek<'_>,
    body: &Body,
    facts: &LayoutFacts,
    reaches: &dyn Fn(u64, Option<u64>) -> (bool, u64),
) -> Option<LayoutReading> {
    let weighed = candidates(peek, body, facts).into_iter().map(|reading| {
        let weight = weigh(peek, body, facts, reading, reaches);
        (reading, weight)
    });
    let (reading, weight) = leader(weighed, LEAD)?;
    (weight >= LEAST_WEIGHT).then_some(reading)
}

/// Returns the readings to compare: what the header has, and every place after it that looks like
/// the first entry of an attr table.
fn candidates(peek: Peek<'_>, body: &Body, facts: &LayoutFacts) -> Vec<LayoutReading> {
    let mut tables = vec![(body.attrs.offset, body.attr_size)];
    let end = peek.len().min(SEARCHED);
    let mut at = HEADER_SIZE;
    while at < end && tables.len() < MOST_CANDIDATES / 8 {
        if let Some(size) = peek.attr_size(at).filter(|size| is_published(*size)) {
            let size = u64::from(size);
            let ids = peek.section(at.saturating_add(size));
            if ids.is_some_and(|ids| ids.offset == HEADER_SIZE && ids.fits(peek.len())) {
                tables.push((at, size.saturating_add(SECTION_SIZE)));
            }
        }
        at = at.saturating_add(8);
    }
    let mut readings = Vec::new();
    for (at, entry) in tables {
        if entry <= SECTION_SIZE || !(HEADER_SIZE..=peek.len()).contains(&at) {
            continue;
        }
        let stored = body.attrs.size.checked_div(entry);
        let before = body.data.offset.checked_sub(at).and_then(|len| len.checked_div(entry));
        let described = facts.event_desc.map(|(count, _)| count);
        let chained = Some(chain_len(peek, at, entry));
        let mut counts: Vec<u64> =
            [stored, before, described, chained].into_iter().flatten().collect();
        counts.retain(|count| (1..=MOST_ENTRIES).contains(count));
        counts.sort_unstable();
        counts.dedup();
        for count in counts {
            let attrs = Section { offset: at, size: count.saturating_mul(entry) };
            let after = attrs.end().unwrap_or(u64::MAX);
            for data in [after, body.data.offset] {
                let reading = LayoutReading { attr_size: entry, attrs, data };
                let is_inside = attrs.fits(peek.len()) && data <= peek.len() && data >= after;
                if is_inside && !readings.contains(&reading) {
                    readings.push(reading);
                }
            }
        }
    }
    readings.truncate(MOST_CANDIDATES);
    readings
}

/// Counts the entries from `at` on whose size is `entry` and whose ids follow one another.
fn chain_len(peek: Peek<'_>, at: u64, entry: u64) -> u64 {
    let mut next = HEADER_SIZE;
    let mut count = 0_u64;
    while count < MOST_ENTRIES {
        let start = at.saturating_add(count.saturating_mul(entry));
        match sound_ids(peek, start, entry) {
            Some(ids) if ids.offset == next => next = ids.end().unwrap_or(u64::MAX),
            _ => break,
        }
        count = count.saturating_add(1);
    }
    count
}

/// Returns the ids of the entry at `start` if it has the size that `entry` implies.
fn sound_ids(peek: Peek<'_>, start: u64, entry: u64) -> Option<Section> {
    let size = peek.attr_size(start)?;
    let size = entry.checked_sub(SECTION_SIZE).filter(|wanted| *wanted == u64::from(size))?;
    peek.section(start.saturating_add(size))
}

/// Counts the facts that support a reading.
fn weigh(
    peek: Peek<'_>,
    body: &Body,
    facts: &LayoutFacts,
    reading: LayoutReading,
    reaches: &dyn Fn(u64, Option<u64>) -> (bool, u64),
) -> u64 {
    let LayoutReading { attr_size, attrs, data } = reading;
    let count = attrs.size.checked_div(attr_size).unwrap_or(0);
    let (chained, ids_end) = chain_share(peek, attrs, attr_size, count);
    let described = facts.event_desc;
    let (is_whole, first) = reaches(data, facts.table);
    let votes = [
        (8, attr_size == body.attr_size),
        (8, attrs.offset == body.attrs.offset),
        (8, attrs.size == body.attrs.size),
        (8, data == body.data.offset),
        (12, attrs.end() == Some(data)),
        (8, ids_end == Some(attrs.offset)),
        (4, described.is_some_and(|(events, _)| events == count)),
        (4, described.is_some_and(|(_, size)| size.saturating_add(SECTION_SIZE) == attr_size)),
        (4, first >= 1),
        (4, first >= 3),
        (16, is_whole),
    ];
    let votes = votes.into_iter().filter(|(_, holds)| *holds);
    let sum = votes.fold(0_u64, |sum, (weight, _)| sum.saturating_add(weight));
    let share = chained.saturating_mul(16).checked_div(count).unwrap_or(0);
    sum.saturating_add(share)
}

/// Counts the entries whose ids begin where those of the entry before end, and returns where the
/// last ids end.
fn chain_share(peek: Peek<'_>, attrs: Section, entry: u64, count: u64) -> (u64, Option<u64>) {
    let mut next = Some(HEADER_SIZE);
    let mut chained = 0_u64;
    for index in 0..count.min(MOST_ENTRIES) {
        let start = attrs.offset.saturating_add(index.saturating_mul(entry));
        let ids = sound_ids(peek, start, entry);
        if ids.is_some_and(|ids| Some(ids.offset) == next) {
            chained = chained.saturating_add(1);
        }
        next = ids.and_then(Section::end);
    }
    (chained, next)
}

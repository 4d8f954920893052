//! Attrs of which bytes were lost or added.
//!
//! ```text
//!  ids: 104.. | attr 0 ... | 104, s0 | attr 1 ... | 104 + s0, s1 | ...
//!               too long     ^ q0                   ^ q1
//!               or short
//! ```
//!
//! The sections of the ids follow one another from the end of the header, so their values show
//! where they are. An attr between two of them that has another length lost bytes or got some; the
//! place is the one by which the records can be read.

use super::super::peek::Peek;
use super::attr_len;
use super::attrs::{self, Reading, finish, read_ids};
use super::mend::{self, Score};
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::SECTION_SIZE;
use crate::kit::num::{to_u64, to_usize};

/// Bytes from the start of the file in which attrs are searched.
const SEARCHED: u64 = 1 << 14;
/// Most bytes of ids of one event.
const MOST_IDS: u64 = 1 << 13;
/// Most bytes by which an attr is longer or shorter.
const MOST_MOVED: u64 = 128;
/// Most events.
const MOST_EVENTS: usize = 256;

/// Returns the reading by the sections of the ids, if the length of an attr is wrong.
pub(super) fn reading(
    peek: Peek<'_>,
    recording: &Recording<'_>,
    evidence: &[Record<'_>],
) -> Option<Reading> {
    let size = attr_len(recording.body.attr_size)?;
    let start = recording.header.length();
    let anchors = find_anchors(peek, start, size)?;
    let ids_len = anchors.iter().fold(0_u64, |sum, (_, ids)| sum.saturating_add(ids.size));
    let mut begin = start.saturating_add(ids_len);
    let mut events: Vec<StoredEvent> = Vec::new();
    let mut left = attrs::MOST_IDS;
    let mut wrong = None;
    for (index, (at, ids)) in anchors.iter().enumerate() {
        let attr = peek.bytes(begin, *at).into_owned();
        if to_u64(attr.len()) != size && wrong.replace(index).is_some() {
            return None;
        }
        events.push(StoredEvent { attr, ids: read_ids(peek, *ids, &mut left) });
        begin = at.saturating_add(SECTION_SIZE);
    }
    let index = wrong?;
    let damaged = events.get(index)?.attr.clone();
    let mut best: Option<(Score, Reading)> = None;
    for place in 0..=to_usize(size).min(damaged.len()) {
        let mut tried = events.clone();
        tried.get_mut(index)?.attr = with_length(&damaged, place, to_usize(size));
        let Some(reading) = finish(peek, tried, size) else { continue };
        let reading = mend::tidied(reading, peek.order);
        let score = mend::score(&reading, evidence, peek.order);
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, reading));
        }
    }
    best.map(|(_, reading)| Reading { is_mended: true, ..reading })
}

/// Returns `bytes` with `len` bytes: from `place` on some are taken out, or zeros put in.
fn with_length(bytes: &[u8], place: usize, len: usize) -> Vec<u8> {
    let (before, after) = bytes.split_at(place.min(bytes.len()));
    let mut new = before.to_vec();
    new.resize(new.len().saturating_add(len.saturating_sub(bytes.len())), 0);
    let extra = bytes.len().saturating_sub(len);
    new.extend_from_slice(after.get(extra..).unwrap_or_default());
    new.resize(len, 0);
    new
}

/// Finds the sections of the ids of the events, whose attrs have about `size` bytes. Returns their
/// places and values.
fn find_anchors(peek: Peek<'_>, start: u64, size: u64) -> Option<Vec<(u64, Section)>> {
    let mut anchors: Vec<(u64, Section)> = Vec::new();
    let mut expected = start;
    let mut from = start;
    while anchors.len() < MOST_EVENTS {
        let is_anchor = |at: &u64| {
            let section = peek.section(*at);
            section.is_some_and(|ids| {
                ids.offset == expected && ids.size & 7 == 0 && (8..=MOST_IDS).contains(&ids.size)
            })
        };
        let last = match anchors.is_empty() {
            true => SEARCHED,
            false => from.saturating_add(size).saturating_add(MOST_MOVED),
        };
        let Some(at) = (from..last.min(peek.len())).find(is_anchor) else { break };
        let ids = peek.section(at)?;
        anchors.push((at, ids));
        expected = ids.end()?;
        from = at.saturating_add(SECTION_SIZE);
    }
    (!anchors.is_empty()).then_some(anchors)
}

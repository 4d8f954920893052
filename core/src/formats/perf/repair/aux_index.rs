//! The index of the AUXTRACE records, which holds their offsets in the file.

use super::encode::u64_bytes;
use super::features::section_bytes;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;

/// Bytes of a word of the index.
const WORD: u64 = 8;

/// Returns the words of the index of these records: their number, offset and size of each.
pub fn aux_index(records: &[Span]) -> Vec<u64> {
    let entries = records.iter().flat_map(|record| [record.start, record.len()]);
    std::iter::once(to_u64(records.len())).chain(entries).collect()
}

/// Writes words over those at `offset`, from the first to the last one that differs.
pub fn write_words(offset: u64, old: &[u64], new: &[u64], order: Order) -> Vec<Edit> {
    let is_equal = |(old, new): &(&u64, &u64)| old == new;
    let before = old.iter().zip(new).take_while(is_equal).count();
    let after = old.iter().rev().zip(new.iter().rev()).take_while(is_equal).count();
    let end = new.len().saturating_sub(after);
    let Some(words) = new.get(before..end).filter(|words| !words.is_empty()) else {
        return Vec::new();
    };
    let start = offset.saturating_add(to_u64(before).saturating_mul(WORD));
    let len = to_u64(words.len()).saturating_mul(WORD);
    let bytes: Vec<u8> = words.iter().flat_map(|word| u64_bytes(*word, order)).collect();
    vec![Edit::replace(Span::sized(Layer::stored(0), start, len), bytes)]
}

/// Replaces a section, and moves those after it.
pub fn resize_section(
    table: Span,
    sections: &[(u32, Section)],
    section: Section,
    words: &[u64],
    order: Order,
) -> Vec<Edit> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| u64_bytes(*word, order)).collect();
    let (size, end) = (to_u64(bytes.len()), section.offset.saturating_add(section.size));
    let move_section = |one: Section| match one {
        one if one == section => Section { size, ..one },
        one if one.offset >= end => {
            let offset = one.offset.saturating_sub(section.size).saturating_add(size);
            Section { offset, ..one }
        }
        one => one,
    };
    let mut sections = sections.to_vec();
    sections.sort_by_key(|(bit, _)| *bit);
    let entries = sections.iter().flat_map(|(_, one)| section_bytes(move_section(*one), order));
    let span = Span::new(Layer::stored(0), section.offset, end);
    vec![Edit::replace(table, entries.collect::<Vec<u8>>()), Edit::replace(span, bytes)]
}

/// Moves the offsets of an index by the edits before them. `inside` are the edits of the records.
pub(super) fn move_index(
    recording: &Recording<'_>,
    section: Section,
    inside: &[&Edit],
) -> Vec<Edit> {
    let mut shifts: Vec<(u64, u64, u64)> = inside
        .iter()
        .map(|edit| (edit.span.end, edit.span.len(), to_u64(edit.insert.len())))
        .collect();
    shifts.sort_unstable_by_key(|(end, ..)| *end);
    let (mut dropped, mut added) = (0_u64, 0_u64);
    for (_, less, more) in &mut shifts {
        dropped = dropped.saturating_add(*less);
        added = added.saturating_add(*more);
        (*less, *more) = (dropped, added);
    }
    let moved = |offset: u64| {
        let before = shifts.partition_point(|(end, ..)| *end <= offset);
        let last = before.checked_sub(1).and_then(|index| shifts.get(index));
        last.map_or(offset, |(_, less, more)| offset.saturating_sub(*less).saturating_add(*more))
    };
    let words = recording.words_of(section);
    let is_offset = |index: usize| index & 1 == 1;
    let right = words.iter().enumerate().map(|(index, word)| match is_offset(index) {
        true => moved(*word),
        false => *word,
    });
    let right: Vec<u64> = right.collect();
    write_words(section.offset, &words, &right, recording.order())
}

//! Attrs of an older version: the last fields go, and everything after them moves.
//!
//! ```text
//!  | attr, 136 bytes | ids section |  ->  | attr, 128 bytes | ids section |
//! ```

use super::encode::{u16_bytes, u32_bytes};
use super::features::section_bytes;
use crate::formats::perf::decode::attrs::AttrTable;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::attr::at;
use crate::formats::perf::layout::{SECTION_SIZE, field};
use crate::formats::perf::recover::restore::LargeAttrs;
use crate::formats::perf::repair::close::header_u64;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety, StoredAnew};

const FILE: Layer = Layer::stored(0);
/// Offset of the section of the event types in the header.
const EVENT_TYPES: u64 = 56;

/// The bytes that every attr loses.
struct Cuts<'a> {
    large: &'a LargeAttrs,
    /// Size of an attr after the cut.
    size: u32,
    order: Order,
}

/// Writes the attrs of a file with `size` bytes each.
pub fn shrink_sections(
    recording: &Recording<'_>,
    table: &AttrTable,
    large: &LargeAttrs,
    size: u32,
) -> Fix {
    let (body, order) = (&recording.body, recording.order());
    let cuts = Cuts { large, size, order };
    let mut edits = cuts.edits();
    let entry = u64::from(size).saturating_add(SECTION_SIZE);
    if body.attr_size > entry {
        edits.push(header_u64(field::ATTR_SIZE, entry, order));
    }
    let header = [(field::ATTRS, body.attrs), (field::DATA, body.data)];
    let header = header.into_iter().chain([(EVENT_TYPES, body.event_types)]);
    // The section of the ids ends the entry.
    let ids = table
        .entries
        .iter()
        .map(|(entry, _)| (entry.span.end.saturating_sub(SECTION_SIZE), entry.ids));
    let features = recording.table(body.data.end().unwrap_or(u64::MAX));
    let places = (0_u64..)
        .map(|index| features.span.start.saturating_add(index.saturating_mul(SECTION_SIZE)));
    let features = places.zip(features.entries.iter().map(|(_, section)| *section));
    let sections = header.chain(ids).chain(features);
    edits.extend(sections.filter_map(|(at, section)| cuts.move_section(at, section)));
    cuts.fix(edits)
}

/// Writes the attrs of a pipe with `size` bytes each.
pub fn shrink_records(large: &LargeAttrs, size: u32, order: Order) -> Fix {
    let cuts = Cuts { large, size, order };
    let mut edits = cuts.edits();
    for (start, len) in &large.records {
        let end = start.saturating_add(*len);
        let new = cuts.moved(end).saturating_sub(cuts.moved(*start));
        let bytes = u16_bytes(u16::try_from(new).unwrap_or(0), order);
        // The size is the last field of the header of a record.
        edits.push(Edit::replace(Span::sized(FILE, start.saturating_add(6), 2), bytes));
    }
    cuts.fix(edits)
}

impl Cuts<'_> {
    /// Returns the place of a byte after the cuts.
    fn moved(&self, offset: u64) -> u64 {
        let before = self.large.attrs.iter().filter(|attr| attr.at < offset);
        before.fold(offset, |place, attr| {
            place.saturating_sub(attr.size.saturating_sub(self.size.into()))
        })
    }

    /// Moves the section that is stored at `at`; `None` if it stays.
    fn move_section(&self, at: u64, section: Section) -> Option<Edit> {
        let Section { offset, size } = section;
        if offset == 0 && size == 0 {
            return None;
        }
        let start = self.moved(offset);
        let size = self.moved(section.end()?).saturating_sub(start);
        let moved = Section { offset: start, size };
        let place = Span::sized(FILE, at, SECTION_SIZE);
        (moved != section).then(|| Edit::replace(place, section_bytes(moved, self.order)))
    }

    /// Returns the edits of the attrs and of their sizes.
    fn edits(&self) -> Vec<Edit> {
        let size = u32_bytes(self.size, self.order);
        let own = self.large.attrs.iter().map(|attr| attr.at.saturating_add(at::SIZE));
        let sizes = own.chain(self.large.described_sizes.iter().copied());
        let sizes = sizes.map(|at| Edit::replace(Span::sized(FILE, at, 4), size));
        let dropped = self.large.attrs.iter().map(|attr| {
            let [start, end] = [self.size.into(), attr.size].map(|at| attr.at.saturating_add(at));
            Edit::drop(Span::new(FILE, start, end))
        });
        sizes.chain(dropped).collect()
    }

    /// Every value is kept, in another layout: readers take the fields that are left out as 0.
    fn fix(&self, mut edits: Vec<Edit>) -> Fix {
        edits.sort_by_key(|edit| edit.span.start);
        let stored = edits.iter().fold(0, |sum: u64, edit| sum.saturating_add(edit.span.len()));
        let kept = edits.iter().fold(0, |sum: u64, e| sum.saturating_add(to_u64(e.insert.len())));
        let count = plural(to_u64(self.large.attrs.len()), "attr");
        let size = byte_count(self.size.into());
        let summary =
            format!("write {count} with {size} each, as asked for: every field left out is 0");
        let mut fix = Fix::new(Safety::Synthetic, summary, edits);
        fix.anew = StoredAnew { stored, kept, dropped: 0, inserted: 0 };
        fix
    }
}

//! Attrs that are larger than an older perf reads, and all their copies.
//!
//! ```text
//!  file   header.attr_size   attr table   EVENT_DESC: u32 nr, u32 attr_size, nr * { attr, ... }
//!  pipe                      HEADER_ATTR records    HEADER_FEATURE record of EVENT_DESC
//! ```
//!
//! A reader takes the fields that the size leaves out as 0, so an attr whose last fields are 0 may
//! as well be smaller. perf 6.1 refuses an attr that is larger than its own (`read_attr`).

use super::described;
use super::peek::Peek;
use crate::formats::perf::decode::attr_bytes::number;
use crate::formats::perf::decode::attrs::AttrTable;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::layout::attr::WORDS;
use crate::formats::perf::layout::{
    HEADER_SIZE_PIPE, RECORD_HEADER, SECTION_SIZE, feature as bit, record,
};
use crate::formats::perf::limits::ATTRS;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::Limits;

/// An attr, or a copy of it, that is larger than asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeAttr {
    /// Offset of the attr.
    pub at: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A field that a smaller attr leaves out, and that is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedField {
    /// Its bytes.
    pub span: Span,
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
}

/// The reason why the attrs cannot become smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A field would be lost.
    Used(UsedField),
    /// The attrs differ in size from `header.attr_size`, or not all of them can be read.
    Uneven,
    /// A feature stores offsets of records.
    HasAuxTrace,
}

/// All attrs that are larger than asked for, with their copies, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LargeAttrs {
    /// The attrs.
    pub attrs: Vec<LargeAttr>,
    /// Offsets of the sizes (u32) that EVENT_DESC stores for all of its attrs.
    pub described_sizes: Vec<u64>,
    /// Offset and size of the records that hold attrs, in a pipe.
    pub records: Vec<(u64, u64)>,
}

impl LargeAttrs {
    /// Finds the attrs of a file that are larger than `most` bytes.
    ///
    /// # Errors
    ///
    /// The reason why they cannot become smaller.
    pub fn of_sections(
        recording: &Recording<'_>,
        table: &AttrTable,
        most: u64,
    ) -> Result<Self, Obstacle> {
        let body = &recording.body;
        let peek = Peek { source: recording.file.source(), order: recording.order() };
        let size = body.attr_size.saturating_sub(SECTION_SIZE);
        let mut found = Self::default();
        for (entry, _) in &table.entries {
            found.note_attr(entry.span.start, entry.attr.stored_len(), most);
        }
        let end = body.data.end().unwrap_or(u64::MAX);
        if let Some(section) = recording.table(end).section(bit::EVENT_DESC) {
            found.note_described(peek, section, most)?;
        }
        if found.attrs.is_empty() {
            return Ok(found);
        }
        let is_even = table.entries.iter().all(|(entry, _)| u64::from(entry.attr.size) == size);
        if !is_even || table.stop.is_some() || table.trailing.is_some() {
            return Err(Obstacle::Uneven);
        }
        if body.flags.has(bit::AUXTRACE) {
            return Err(Obstacle::HasAuxTrace);
        }
        found.attrs.sort_by_key(|attr| attr.at);
        found.checked(peek, most)
    }

    /// Finds the attrs of a pipe that are larger than `most` bytes.
    ///
    /// # Errors
    ///
    /// The reason why they cannot become smaller.
    pub fn of_pipe(file: &RecordFile<'_>, most: u64, limits: &Limits) -> Result<Self, Obstacle> {
        let peek = Peek { source: file.source(), order: file.order() };
        let mut found = Self::default();
        let area = (HEADER_SIZE_PIPE, file.length());
        for record in file.records(area, 0).filter_map(Item::record) {
            if to_u64(found.attrs.len()) >= limits.of(&ATTRS) {
                return Err(Obstacle::Uneven);
            }
            let before = found.attrs.len();
            found.note_record(peek, &record, most)?;
            if found.attrs.len() > before {
                found.records.push((record.offset, record.frame.size));
            }
        }
        found.checked(peek, most)
    }

    fn note_attr(&mut self, at: u64, size: u64, most: u64) {
        if size > most {
            self.attrs.push(LargeAttr { at, size });
        }
    }

    /// Notes the attrs in a record of a pipe.
    fn note_record(
        &mut self,
        peek: Peek<'_>,
        record: &Record<'_>,
        most: u64,
    ) -> Result<(), Obstacle> {
        let body = record.offset.saturating_add(RECORD_HEADER);
        match record.frame.kind {
            record::HEADER_ATTR => {
                let size = peek.attr_size(body).unwrap_or(0);
                self.note_attr(body, size.into(), most);
            }
            record::HEADER_FEATURE if peek.u64(body) == Some(bit::EVENT_DESC.into()) => {
                let offset = body.saturating_add(8);
                let size = record.offset.saturating_add(record.frame.size).saturating_sub(offset);
                self.note_described(peek, Section { offset, size }, most)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes the copies in EVENT_DESC.
    fn note_described(
        &mut self,
        peek: Peek<'_>,
        section: Section,
        most: u64,
    ) -> Result<(), Obstacle> {
        let (size, events) = described::events(peek, section).ok_or(Obstacle::Uneven)?;
        if size > most {
            self.described_sizes.push(section.offset.saturating_add(4));
        }
        events.into_iter().for_each(|event| self.note_attr(event.attr, size, most));
        Ok(())
    }

    /// Returns the attrs if all fields that they would leave out are 0.
    fn checked(self, peek: Peek<'_>, most: u64) -> Result<Self, Obstacle> {
        for attr in &self.attrs {
            let start = attr.at.saturating_add(most);
            let bytes = peek.bytes(start, attr.at.saturating_add(attr.size));
            if let Some(place) = bytes.iter().position(|byte| *byte != 0) {
                let byte = most.saturating_add(to_u64(place));
                return Err(Obstacle::Used(used_field(peek, attr.at, byte)));
            }
        }
        Ok(self)
    }
}

/// Returns the field of the attr at `at` to which byte number `byte` belongs.
fn used_field(peek: Peek<'_>, at: u64, byte: u64) -> UsedField {
    let (name, place) = match WORDS.iter().find(|word| (word.at..word.end()).contains(&byte)) {
        Some(word) => (word.name(), word.at..word.end()),
        None => ("an unknown field", byte & !7..(byte & !7).saturating_add(8)),
    };
    let [start, end] = [place.start, place.end].map(|place| at.saturating_add(place));
    let value = number(&peek.bytes(start, end), peek.order);
    UsedField { span: Span::new(Layer::stored(0), start, end), name, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::cursor::Order;
    use crate::kit::source::Source;

    #[test]
    fn a_byte_of_an_attr_belongs_to_its_field_or_to_an_unknown_word() {
        let mut bytes = vec![0; 4 + 160];
        bytes[4 + 117] = 1;
        bytes[4 + 149] = 2;
        let source = Source::new(&bytes);
        let field = |byte: u64| {
            let field = used_field(Peek { source: &source, order: Order::Little }, 4, byte);
            (field.name, field.span.start, field.span.len(), field.value)
        };
        assert_eq!(field(117), ("aux_action", 4 + 116, 4, 0x100));
        assert_eq!(field(149), ("an unknown field", 4 + 144, 8, 2 << 40));
    }
}

//! The attrs of a pipe and their copies.
//!
//! ```text
//!  HEADER_ATTR      header: 8 bytes, attr, ids                        one record per event
//!  HEADER_FEATURE   header: 8 bytes, u64 12 (EVENT_DESC), nr, attr_size, events
//! ```
//!
//! A pipe has no attr table: perf writes the records above before the first sample. EVENT_DESC
//! shows how long each attr and its ids are, and the sizes of the HEADER_ATTR records confirm it.

use std::cell::Cell;

use super::attr_copies::{AttrCopies, AttrHome, MOST_ATTRS, MOST_EVIDENCE, PipeAttrs};
use super::described::{self, Described};
use super::ids::INDEX_RECORDS;
use super::peek::Peek;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::layout::{
    HEADER_SIZE_PIPE, RECORD_HEADER, feature, is_published, record,
};
use crate::kit::num::to_u64;
use crate::kit::walk::Item;

/// Size of the header of a HEADER_FEATURE record and the number of its feature.
const FEATURE_HEADER: u64 = 16;

/// The records before the first sample that describe events.
#[derive(Default)]
pub(super) struct Found {
    /// The attr and the ids of each HEADER_ATTR record.
    pub(super) attrs: Vec<Section>,
    pub(super) described: Option<Section>,
    command_line: Option<Section>,
}

impl<'a> AttrCopies<'a> {
    /// Gathers the attrs of a pipe; `None` if EVENT_DESC does not describe as many attrs and ids
    /// as there are.
    pub(super) fn gather_pipe(file: &'a RecordFile<'a>) -> Option<Self> {
        let peek = Peek { source: file.source(), order: file.order() };
        let area = (HEADER_SIZE_PIPE, file.length());
        let found = Found::gather(file, area, 0);
        let section = found.described?;
        let (size, described) = read_described(peek, section)?;
        let is_known = is_published(size);
        let pairs = || found.attrs.iter().zip(&described);
        let is_whole = found.attrs.len() == described.len()
            && (1..=MOST_ATTRS).contains(&to_u64(described.len()))
            && pairs().all(|(attr, one)| size.checked_add(one.ids.size) == Some(attr.size));
        if !is_known || !is_whole {
            return None;
        }
        let ids = |(attr, one): (&Section, &Described)| Section {
            offset: attr.offset.saturating_add(size),
            size: one.ids.size,
        };
        let piped = PipeAttrs {
            ids: pairs().map(ids).collect(),
            size_at: section.offset.saturating_add(4),
            command_line: found.command_line,
        };
        Some(Self {
            file,
            peek,
            data: Section { offset: area.0, size: area.1.saturating_sub(area.0) },
            home: AttrHome::Pipe(piped),
            size,
            attrs: found.attrs.iter().map(|attr| attr.offset).collect(),
            described,
            is_tight: true,
            evidence_left: Cell::new(MOST_EVIDENCE),
        })
    }
}

impl Found {
    /// Reads the records before the first sample. After damage the next one is searched, over at
    /// most `resync` bytes.
    pub(super) fn gather(file: &RecordFile<'_>, area: (u64, u64), resync: u64) -> Self {
        let mut found = Self::default();
        let records = file.records(area, resync).filter_map(Item::record).take(INDEX_RECORDS);
        for one in records.take_while(|one| one.frame.kind != record::SAMPLE) {
            match one.frame.kind {
                record::HEADER_ATTR => found.attrs.push(content(&one, RECORD_HEADER)),
                record::HEADER_FEATURE => found.note_feature(file, &one),
                _ => {}
            }
        }
        found
    }

    fn note_feature(&mut self, file: &RecordFile<'_>, one: &Record<'_>) {
        let peek = Peek { source: file.source(), order: file.order() };
        let number = peek.u64(one.offset.saturating_add(RECORD_HEADER));
        let section = Some(content(one, FEATURE_HEADER));
        match number.and_then(|number| u32::try_from(number).ok()) {
            Some(feature::EVENT_DESC) => self.described = section,
            Some(feature::CMDLINE) => self.command_line = section,
            _ => {}
        }
    }
}

/// Returns the bytes of a record after the first `header` ones.
const fn content(record: &Record<'_>, header: u64) -> Section {
    let size = record.frame.size.saturating_sub(header);
    Section { offset: record.offset.saturating_add(header), size }
}

/// Returns the size of the attrs in EVENT_DESC and the places of its events; `None` if they do not
/// end with the record, but for the bytes that align its size.
pub(super) fn read_described(peek: Peek<'_>, section: Section) -> Option<(u64, Vec<Described>)> {
    let count = peek.u32(section.offset)?;
    let size = u64::from(peek.u32(section.offset.checked_add(4)?)?);
    let (size, described) = described::first_events(peek, section.offset, (count, size))?;
    let rest = section.end()?.checked_sub(described.last()?.ids.end()?)?;
    (rest < 8).then_some((size, described))
}

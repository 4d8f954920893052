//! A record with a flipped bit in its type.

use super::Walker;
use crate::formats::perf::decode::flip;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::frame::{Frame, Place, RecordView};

impl<'a> Walker<'a> {
    /// Reads the record at the position as one with a flipped bit in its type, whose header is
    /// `found`: only one known type differs in one bit and has fields as they are there, and
    /// another record follows.
    #[cold]
    pub(super) fn read_flipped(&self, found: Frame) -> Option<Record<'a>> {
        let end = self.at.checked_add(found.size).filter(|end| *end <= self.end)?;
        let bytes = self.source.read(self.at, end);
        let evidence = self.evidence();
        let place = Place { layer: self.layer, offset: self.at, index: 0 };
        let view = RecordView { frame: found, place, bytes: &bytes };
        let is_attr = self.pipe && flip::is_attr(&view, self.dialect.order);
        let mut fitting = flip::kinds(found.kind, is_attr).filter_map(|kind| {
            let record = self.with_payload(Frame { kind, ..found }, bytes.clone()).ok()?;
            let view = record.view(self.layer, 0);
            // A type of 0 is one bit from many by chance.
            let is_shown = found.kind != 0 || evidence.has_values(&view);
            let is_right = is_shown && evidence.fits(&view);
            let is_last = record.end() >= self.end;
            (is_right && (is_last || self.is_followed_by_stored(&record))).then_some(record)
        });
        let record = fitting.next()?;
        let is_only = fitting.next().is_none();
        is_only.then_some(Record { found: Some(found), ..record })
    }

    /// What is known when the record at the position is judged.
    pub(super) const fn evidence(&self) -> flip::Evidence<'a> {
        flip::Evidence {
            order: self.dialect.order,
            events: self.events,
            is_pipe: self.pipe,
            is_in_stream: self.past.packed.is_some(),
        }
    }

    /// Reads a record of a pipe that has the fields of a HEADER_ATTR and another type.
    #[cold]
    pub(super) fn read_flipped_attr(&self, record: &Record<'_>) -> Option<Record<'a>> {
        let view = record.view(self.layer, 0);
        if flip::is_attr(&view, self.dialect.order) {
            self.read_flipped(record.frame)
        } else {
            None
        }
    }
}

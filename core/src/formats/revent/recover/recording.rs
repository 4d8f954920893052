//! A recording whose head could be read: the facts that the check judges and a repair edits.

use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::head::Head;
use crate::formats::revent::decode::head_error::HeadError;
use crate::formats::revent::decode::walk::Walk;
use crate::formats::revent::recover::extent::{Extent, find_extent};
use crate::formats::revent::recover::lost_head::find_head;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::model::limits::Limits;

/// A recording whose head could be read.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    source: Source<'a>,
    /// Everything before the events.
    pub head: Head,
    /// The events, and how they end.
    pub extent: Extent,
}

impl<'a> Recording<'a> {
    /// Reads the head and finds the end of the events.
    ///
    /// # Errors
    ///
    /// The first field that prevents it, see [`HeadError`].
    pub fn read(source: Source<'a>, limits: &Limits) -> Result<Self, HeadError> {
        let head = find_head(&source, limits)?;
        let extent = find_extent(&source, &head, limits);
        Ok(Self { source, head, extent })
    }

    /// Returns the stored bytes of `span`.
    pub(in crate::formats::revent) fn bytes(&self, span: Span) -> std::borrow::Cow<'_, [u8]> {
        self.source.read(span.start(), span.end())
    }

    /// Returns the length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// Returns an iterator over the events up to the last complete frame.
    pub fn walk(&self) -> Walk<impl Iterator<Item = (u64, Event)> + '_> {
        let events = self.stored_events(self.extent.framed);
        Walk::new(events, self.head.device_count(), self.extent.widened)
    }

    /// Returns the first `count` events as stored, with their numbers.
    pub fn stored_events(&self, count: u64) -> impl Iterator<Item = (u64, Event)> + '_ {
        self.extent.all.events(&self.source, 0, count)
    }

    /// Returns the path or the name of a device, safe to print, or its number if it has none.
    pub fn device_name(&self, index: i32) -> String {
        match self.head.device_name(index) {
            Some(name) => Untrusted(name).to_string(),
            None => format!("device {index}"),
        }
    }
}

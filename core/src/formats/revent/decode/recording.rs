//! A recording whose head could be read: the facts that the check judges and a repair edits.

use crate::formats::revent::decode::extent::{Extent, find_extent};
use crate::formats::revent::decode::head::{Head, HeadError, parse_head};
use crate::formats::revent::decode::stretch::Events;
use crate::formats::revent::decode::walk::Walk;
use crate::kit::source::Source;
use crate::kit::text::Untrusted;
use crate::limits::Limits;

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
        let head = parse_head(&source, limits)?;
        let extent = find_extent(&source, &head, limits);
        Ok(Self { source, head, extent })
    }

    /// Returns the length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// Returns an iterator over the events up to the last complete frame.
    pub fn walk(&self) -> Walk<'_, 'a> {
        Walk::new(
            self.extent.complete_events().events(&self.source),
            self.head.device_count(),
            self.extent.widened,
        )
    }

    /// Returns the first `count` events as stored, with their numbers.
    pub fn stored_events(&self, count: u64) -> Events<'_, 'a> {
        self.extent.all.part(0, count).events(&self.source)
    }

    /// Returns the path or the name of a device, safe to print, or its number if it has none.
    pub fn device_name(&self, index: i32) -> String {
        match self.head.device_name(index) {
            Some(name) => Untrusted(name).to_string(),
            None => format!("device {index}"),
        }
    }
}

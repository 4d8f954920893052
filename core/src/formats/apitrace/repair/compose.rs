//! Edits of the stream to an edit of the stored units.

use std::iter::Peekable;
use std::slice;

use super::{StreamEdit, StreamEditor};
use crate::formats::apitrace::expand::{Container, Encoder, unit_bytes};
use crate::kit::layer::Segment;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::model::edit::{Edit, StoredAnew};
use crate::model::limits;

impl StreamEditor<'_, '_> {
    /// Returns the edit of the file for `edits`, which share units and are in order, and what it
    /// changes in the stream; `None` if it is more than a round may insert.
    pub(super) fn compose(&self, edits: &[StreamEdit]) -> Option<(Edit, StoredAnew)> {
        let most = self.limits.of(&limits::INSERTED);
        let is_certain = |(_, anew): &(Edit, StoredAnew)| count_at_most(anew) <= most;
        // Only gzip has one unit for the whole stream; what the others write takes less time.
        let is_counted = self.is_outline && self.container == Container::Gzip;
        let outline = is_counted.then(|| self.compose_with(edits, Encoder::of_nothing()));
        outline
            .flatten()
            .filter(is_certain)
            .or_else(|| self.compose_with(edits, Encoder::new(self.container, most)))
    }

    fn compose_with(&self, edits: &[StreamEdit], encoder: Encoder) -> Option<(Edit, StoredAnew)> {
        let first = edits.first()?;
        let start = edits.iter().map(|edit| edit.stored.start).min()?;
        let end = edits.iter().map(|edit| edit.stored.end).max()?;
        let base = edits.iter().map(|edit| edit.base).min()?;
        let stored = Span::new(first.stored.layer, start, end);
        let segment = Segment { expanded: Span::new(stored.layer.expanded(), base, base), stored };
        let mut composer = Composer {
            encoder,
            edits: edits.iter().peekable(),
            dropped_to: base,
            anew: StoredAnew { stored: stored.len(), ..StoredAnew::default() },
            expanded: 0,
        };
        unit_bytes(self.source, self.container, segment, self.limits, &mut |bytes, at| {
            composer.push_unit_bytes(bytes, at)
        });
        let (bytes, anew) = composer.finish()?;
        Some((Edit::replace(stored, bytes), anew))
    }
}

/// Returns the length that a gzip stream has at most when it is stored anew: at another level of
/// deflate, calls do not take twice as many bytes as they took before.
fn count_at_most(anew: &StoredAnew) -> u64 {
    anew.stored.saturating_mul(2).saturating_add(anew.inserted.saturating_mul(2))
}

/// Writes units anew, with edits of the stream that they hold.
struct Composer<'e> {
    encoder: Encoder,
    edits: Peekable<slice::Iter<'e, StreamEdit>>,
    /// Bytes of the stream before this were dropped by an edit.
    dropped_to: u64,
    anew: StoredAnew,
    /// Bytes of the stream in the units so far.
    expanded: u64,
}

impl Composer<'_> {
    /// Adds bytes of the units, which begin at `at` of the stream; `false` if they are too many.
    fn push_unit_bytes(&mut self, bytes: &[u8], at: u64) -> bool {
        let after = at.saturating_add(to_u64(bytes.len()));
        self.expanded = self.expanded.saturating_add(to_u64(bytes.len()));
        let part = |from: u64, to: u64| {
            let from = to_usize(from.saturating_sub(at)).min(bytes.len());
            let to = to_usize(to.saturating_sub(at)).min(bytes.len());
            bytes.get(from..to).unwrap_or_default()
        };
        let mut here = at.max(self.dropped_to);
        while let Some(edit) = self.edits.next_if(|edit| edit.start < after) {
            // An edit of bytes that another one dropped is dropped with them.
            if edit.start < self.dropped_to {
                self.dropped_to = self.dropped_to.max(edit.end);
                here = here.max(edit.end);
                continue;
            }
            self.keep(part(here, edit.start));
            self.insert(&edit.insert);
            here = here.max(edit.start).max(edit.end);
            self.dropped_to = self.dropped_to.max(edit.end);
        }
        self.keep(part(here, after));
        !self.encoder.is_overfull
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.anew.kept = self.anew.kept.saturating_add(to_u64(bytes.len()));
        self.encoder.push(bytes);
    }

    fn insert(&mut self, bytes: &[u8]) {
        self.anew.inserted = self.anew.inserted.saturating_add(to_u64(bytes.len()));
        self.encoder.push(bytes);
    }

    /// Returns the units; `None` if they are too many bytes.
    fn finish(mut self) -> Option<(Vec<u8>, StoredAnew)> {
        while let Some(edit) = self.edits.next() {
            self.insert(&edit.insert);
        }
        self.anew.dropped = self.expanded.saturating_sub(self.anew.kept);
        // Units that hold no byte any more are dropped.
        let is_empty = self.anew.kept == 0 && self.anew.inserted == 0;
        let bytes = if is_empty { Vec::new() } else { self.encoder.finish()? };
        Some((bytes, self.anew))
    }
}

//! The smallest unit of change: some bytes of a file become other bytes.

use std::borrow::Cow;
use std::fmt;

use crate::kit::span::Span;

/// The class of a fix, by its cost. Ordered: an earlier class is safer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Safety {
    /// Writes a value that other bytes determine.
    Exact,
    /// Adds bytes that the format requires and that were never recorded.
    Synthetic,
    /// Drops or replaces recorded bytes.
    Lossy,
    /// Describes a change that a user has to choose; never applied automatically.
    Manual,
}

impl Safety {
    /// All classes, the safest first.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Synthetic, Self::Lossy, Self::Manual];

    /// Returns the word that every output format uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Synthetic => "synthetic",
            Self::Lossy => "lossy",
            Self::Manual => "manual",
        }
    }
}

impl fmt::Display for Safety {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change of the bytes of `span` to `insert`. An empty span inserts, an empty `insert` drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace.
    pub span: Span,
    /// The bytes after the edit.
    pub insert: Vec<u8>,
    /// The recorder had not written the bytes of `span` yet: they hold a placeholder.
    pub fills: bool,
    /// In a report that was read again: the bytes after the edit are not in it, so that `insert` is
    /// empty.
    pub elided: Option<Box<Elided>>,
}

/// Bytes that a report does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elided {
    /// Their number.
    pub length: u64,
    /// Their CRC-32.
    pub crc32: u32,
}

impl Edit {
    /// Creates an edit that replaces `span` by `insert`.
    pub fn replace(span: Span, insert: impl Into<Vec<u8>>) -> Self {
        Self { span, insert: insert.into(), fills: false, elided: None }
    }

    /// Creates an edit that drops `span`.
    pub const fn drop(span: Span) -> Self {
        Self { span, insert: Vec::new(), fills: false, elided: None }
    }

    /// Creates an edit that writes `insert` over the placeholder in `span`: a field that the
    /// recorder writes at the end, and had not written yet.
    pub fn fill(span: Span, insert: impl Into<Vec<u8>>) -> Self {
        Self { span, insert: insert.into(), fills: true, elided: None }
    }

    /// Returns whether the edit drops or replaces bytes that were recorded.
    pub const fn replaces_recorded(&self) -> bool {
        !self.fills && !self.span.is_empty()
    }
}

/// Bytes that determine the value of an exact fix, and their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The bytes, in the stored layer of the recording that was checked.
    pub span: Span,
    /// What the bytes are: `the copy of the attr in EVENT_DESC`.
    pub meaning: Cow<'static, str>,
}

/// The effect of edits on the expanded bytes, where complete units are compressed again.
///
/// All stored bytes of such a unit are dropped and inserted, even if little of its content changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredAnew {
    /// Stored bytes of the units before the edits.
    pub stored: u64,
    /// Expanded bytes that are kept.
    pub kept: u64,
    /// Expanded bytes that are dropped.
    pub dropped: u64,
    /// Expanded bytes that are inserted.
    pub inserted: u64,
}

impl StoredAnew {
    /// Adds the counts of further units.
    pub const fn add(&mut self, more: Self) {
        self.stored = self.stored.saturating_add(more.stored);
        self.kept = self.kept.saturating_add(more.kept);
        self.dropped = self.dropped.saturating_add(more.dropped);
        self.inserted = self.inserted.saturating_add(more.inserted);
    }
}

/// Edits that repair one finding, applied together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
pub struct Fix {
    /// The class of the fix, at best [`Fix::class_by_edits`].
    pub safety: Safety,
    /// The changes, in numbers, as a sentence without a full stop.
    pub summary: String,
    /// The edits, in the order of their spans; empty for [`Safety::Manual`].
    pub edits: Vec<Edit>,
    /// The options of `tracemend repair`, as they are typed, that apply a fix which is not applied
    /// automatically, each in its own way; for one that is: that make another one of it.
    pub options: Vec<String>,
    /// Complete records that the edits drop, in the format's own sense.
    pub records_lost: u64,
    /// Complete records of which the edits replace bytes, in the format's own sense.
    pub records_altered: u64,
    /// The bytes that determine what the edits write.
    pub witnesses: Vec<Witness>,
    /// The effect on compressed units that are stored again.
    pub anew: StoredAnew,
    /// In a repair: the number of further findings of the same rule whose edits are among these.
    pub repeats: u64,
    /// Files of the recording that get another name: their numbers and the new names, relative to
    /// the recording.
    pub renames: Vec<(u32, String)>,
}

impl Fix {
    /// Creates a fix that drops no complete record.
    pub fn new(safety: Safety, summary: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self {
            safety,
            summary: summary.into(),
            edits,
            options: Vec::new(),
            records_lost: 0,
            records_altered: 0,
            witnesses: Vec::new(),
            anew: StoredAnew::default(),
            repeats: 0,
            renames: Vec::new(),
        }
    }

    /// Creates a fix that a user has to choose or to make.
    pub fn manual(summary: impl Into<String>) -> Self {
        Self::new(Safety::Manual, summary, Vec::new())
    }

    /// Adds the edits of another fix of the same kind; returns false if they are not alike, or do
    /// not follow those of this one.
    pub(crate) fn absorb(&mut self, more: &Self) -> bool {
        let is_plain = |fix: &Self| {
            let has_none = fix.witnesses.is_empty() && fix.renames.is_empty();
            has_none && fix.options.is_empty() && fix.anew == StoredAnew::default()
        };
        let follows = match (self.edits.last(), more.edits.first()) {
            (Some(last), Some(next)) => {
                last.span.layer == next.span.layer && last.span.end <= next.span.start
            }
            _ => false,
        };
        let is_one = more.edits.len() <= 1;
        if more.safety != self.safety || !follows || !is_one || !is_plain(self) || !is_plain(more) {
            return false;
        }
        match (self.edits.last_mut(), more.edits.first()) {
            // Two drops that adjoin are one.
            (Some(last), Some(next))
                if last.span.end == next.span.start
                    && last.insert.is_empty()
                    && next.insert.is_empty() =>
            {
                last.span.end = next.span.end;
            }
            // Two edits at one place have no order.
            (Some(last), Some(next)) if last.span.start == next.span.start => return false,
            (_, next) => self.edits.extend(next.cloned()),
        }
        self.repeats = self.repeats.saturating_add(1);
        self.records_lost = self.records_lost.saturating_add(more.records_lost);
        self.records_altered = self.records_altered.saturating_add(more.records_altered);
        true
    }

    /// Adds bytes that determine what the edits write. They are stored bytes that the edits leave
    /// alone.
    #[must_use]
    pub fn witness(mut self, span: Span, meaning: impl Into<Cow<'static, str>>) -> Self {
        debug_assert!(span.layer.is_stored(), "a witness is read again from the file: {span}");
        self.witnesses.push(Witness { span, meaning: meaning.into() });
        self
    }

    /// Sets the number of complete records of which the edits replace bytes.
    #[must_use]
    pub fn altered(mut self, records: u64) -> Self {
        self.records_altered = records;
        self
    }

    /// Returns the class that the edits and witnesses show; [`Fix::safety`] is never better.
    ///
    /// | edits | with witnesses | without |
    /// |---|---|---|
    /// | none | manual | manual |
    /// | insert, or fill a placeholder | exact | synthetic |
    /// | drop or replace recorded bytes | exact | lossy |
    pub fn class_by_edits(&self) -> Safety {
        match self.class_without_witnesses() {
            Safety::Synthetic | Safety::Lossy if !self.witnesses.is_empty() => Safety::Exact,
            class => class,
        }
    }

    /// Returns the class that the edits alone show.
    pub(crate) fn class_without_witnesses(&self) -> Safety {
        // Units that are compressed again are judged by what they expand to.
        let loses = match self.anew.stored {
            0 => self.edits.iter().any(Edit::replaces_recorded),
            _ => self.anew.dropped > 0,
        };
        if self.edits.is_empty() && self.renames.is_empty() {
            Safety::Manual
        } else if loses {
            Safety::Lossy
        } else {
            Safety::Synthetic
        }
    }

    /// Adds options of `tracemend repair` that apply the fix, as they are typed; see
    /// [`Fix::options`].
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;

    #[test]
    fn a_fix_absorbs_one_edit_without_witnesses_only() {
        let span = |start: u64| Span::sized(Layer::stored(0), start, 4);
        let fix = |starts: &[u64]| {
            let edits = starts.iter().map(|start| Edit::drop(span(*start))).collect();
            Fix::new(Safety::Lossy, "drop bytes", edits)
        };
        let mut first = fix(&[0]);
        assert!(first.absorb(&fix(&[8])));
        assert_eq!((first.edits.len(), first.repeats), (2, 1));
        assert!(!first.absorb(&fix(&[16, 24])));
        assert!(!first.absorb(&fix(&[16]).witness(span(32), "a copy")));
        assert!(!fix(&[0]).witness(span(32), "a copy").absorb(&fix(&[8])));
        assert_eq!((first.edits.len(), first.repeats), (2, 1));
    }
}

//! The smallest unit of change: some bytes of a file become other bytes.

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
}

impl Edit {
    /// Creates an edit that replaces `span` by `insert`.
    pub fn replace(span: Span, insert: impl Into<Vec<u8>>) -> Self {
        Self { span, insert: insert.into() }
    }

    /// Creates an edit that drops `span`.
    pub const fn drop(span: Span) -> Self {
        Self { span, insert: Vec::new() }
    }
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
    /// The class of the fix.
    pub safety: Safety,
    /// The changes, in numbers, as a sentence without a full stop.
    pub summary: String,
    /// The edits, in the order of their spans; empty for [`Safety::Manual`].
    pub edits: Vec<Edit>,
    /// For a fix that is not applied automatically: the options of `tracemend repair` that apply
    /// it, as they are typed.
    pub option: Option<String>,
    /// Complete records that the edits drop, in the format's own sense.
    pub records_lost: u64,
    /// The effect on compressed units that are stored again.
    pub anew: StoredAnew,
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
            option: None,
            records_lost: 0,
            anew: StoredAnew::default(),
            renames: Vec::new(),
        }
    }

    /// Creates a fix that a user has to choose or to make.
    pub fn manual(summary: impl Into<String>) -> Self {
        Self::new(Safety::Manual, summary, Vec::new())
    }

    /// Names the options of `tracemend repair` that apply the fix, as they are typed.
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.option = Some(option.into());
        self
    }
}

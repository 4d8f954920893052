//! The smallest unit of change: some bytes of a file become other bytes.

use std::fmt;

use crate::kit::span::Span;

/// What a fix costs. Ordered: an earlier one is safer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Safety {
    /// A value that other bytes determine; nothing recorded goes, nothing is invented.
    Exact,
    /// Adds what was never recorded but the format demands.
    Synthetic,
    /// Drops recorded bytes.
    Lossy,
    /// Described for a person, never applied by itself.
    Manual,
}

impl Safety {
    /// All, safest first.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Synthetic, Self::Lossy, Self::Manual];

    /// The word used in every output format.
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

/// The bytes of `span` become `insert`. An empty span inserts; an empty `insert` drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What stands there afterwards.
    pub insert: Vec<u8>,
}

impl Edit {
    /// `span` becomes `insert`.
    pub fn replace(span: Span, insert: impl Into<Vec<u8>>) -> Self {
        Self { span, insert: insert.into() }
    }

    /// `span` goes.
    pub const fn drop(span: Span) -> Self {
        Self { span, insert: Vec::new() }
    }
}

/// What edits of stored bytes come to in what these expand to, where whole units are compressed anew:
/// all their stored bytes are dropped and inserted, though little of what they hold changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredAnew {
    /// Stored bytes of the units before.
    pub stored: u64,
    /// Expanded bytes that stay.
    pub kept: u64,
    /// Expanded bytes that go.
    pub dropped: u64,
    /// Expanded bytes that are put in.
    pub inserted: u64,
}

impl StoredAnew {
    /// With further units.
    pub const fn add(&mut self, more: Self) {
        self.stored = self.stored.saturating_add(more.stored);
        self.kept = self.kept.saturating_add(more.kept);
        self.dropped = self.dropped.saturating_add(more.dropped);
        self.inserted = self.inserted.saturating_add(more.inserted);
    }
}

/// Edits that mend one finding, applied together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
pub struct Fix {
    /// What it costs.
    pub safety: Safety,
    /// What is done, in numbers, as a sentence without a full stop.
    pub summary: String,
    /// The edits, in the order of their places; empty for [`Safety::Manual`].
    pub edits: Vec<Edit>,
    /// For a fix that is not applied by itself: the options of `tracemend repair` that apply it, as
    /// they are typed.
    pub option: Option<String>,
    /// Complete records that the edits drop, in the format's own sense.
    pub records_lost: u64,
    /// What becomes of compressed units that are stored anew.
    pub anew: StoredAnew,
    /// Files of the recording that get another name: their numbers and what they are called then,
    /// relative to the recording.
    pub renames: Vec<(u32, String)>,
}

impl Fix {
    /// A fix that loses no whole record.
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

    /// A fix that a person has to choose or to do.
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

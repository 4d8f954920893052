//! The kinds of bytes in a picture.

use tracemend::{RegionKind, Severity};

/// A kind of bytes. In a column that has several, the later ones are below the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Bytes of which a check reports nothing.
    Plain,
    Hole,
    Record,
    Structure,
    Padding,
    Kept,
    Replaced,
    Added,
    Dropped,
    Lost,
    Info,
    Warning,
    Error,
    Damage,
}

impl Class {
    pub(super) const ALL: [Self; 14] = [
        Self::Plain,
        Self::Hole,
        Self::Record,
        Self::Structure,
        Self::Padding,
        Self::Kept,
        Self::Replaced,
        Self::Added,
        Self::Dropped,
        Self::Lost,
        Self::Info,
        Self::Warning,
        Self::Error,
        Self::Damage,
    ];

    /// The place among [`Class::ALL`].
    pub(super) fn index(self) -> usize {
        Self::ALL.iter().position(|one| *one == self).unwrap_or_default()
    }

    /// The name of its style.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Hole => "hole",
            Self::Record => "record",
            Self::Structure => "structure",
            Self::Padding => "padding",
            Self::Kept => "kept",
            Self::Replaced => "replaced",
            Self::Added => "added",
            Self::Dropped => "dropped",
            Self::Lost => "lost",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Damage => "damage",
        }
    }

    /// The meaning in a legend.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Plain => "without a finding",
            Self::Hole => "no record",
            Self::Record => "records",
            Self::Structure => "structure",
            Self::Padding => "unused",
            Self::Kept => "kept by a repair",
            Self::Replaced => "replaced",
            Self::Added => "added",
            Self::Dropped => "dropped",
            Self::Lost => "lost records",
            Self::Info => "note",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Damage => "damage",
        }
    }

    /// Whether it is flagged where it is too narrow to be seen.
    pub(super) const fn is_flagged(self) -> bool {
        matches!(
            self,
            Self::Replaced
                | Self::Added
                | Self::Dropped
                | Self::Lost
                | Self::Info
                | Self::Warning
                | Self::Error
                | Self::Damage
        )
    }
}

impl From<RegionKind> for Class {
    fn from(kind: RegionKind) -> Self {
        match kind {
            RegionKind::Damage => Self::Damage,
            RegionKind::Padding => Self::Padding,
            RegionKind::Record | RegionKind::Records => Self::Record,
            _ => Self::Structure,
        }
    }
}

impl From<Severity> for Class {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Info,
            Severity::Warning => Self::Warning,
            _ => Self::Error,
        }
    }
}

//! How many records prove that a search found the first of them.

use super::RESYNC_RECORDS;

/// Records that prove a place that is not a multiple of 8, if nothing else is known of them.
const MISALIGNED_RECORDS: u64 = 16;

/// The records that prove the place where a search finds the first of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    /// [`RESYNC_RECORDS`], or fewer of the weight `RESYNC_WEIGHT`.
    Few,
    /// [`MISALIGNED_RECORDS`].
    Many,
    /// All up to this offset, which the last of them may pass, and of that weight.
    Offset(u64),
    /// All up to this offset, where the last of them ends, and of that weight.
    End(u64),
}

impl Reach {
    pub(super) const fn most_records(self) -> u64 {
        match self {
            Self::Few => RESYNC_RECORDS,
            Self::Many => MISALIGNED_RECORDS,
            Self::Offset(_) | Self::End(_) => u64::MAX,
        }
    }

    pub(super) const fn is_reached(self, at: u64) -> bool {
        match self {
            Self::Few | Self::Many => true,
            Self::Offset(offset) => at >= offset,
            Self::End(end) => at == end,
        }
    }

    pub(super) const fn is_passed(self, at: u64) -> bool {
        matches!(self, Self::End(end) if at > end)
    }
}

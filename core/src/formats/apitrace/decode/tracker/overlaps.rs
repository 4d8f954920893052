//! Calls that overlap in a stream whose enters carry no thread.
//!
//! Tracers of that time let other threads write between the enter and the leave of a call. So the
//! leaves of a sound stream come in any order, and an enter that damage adds shows only in the long
//! run: each leave after it ends a call before the latest one.

/// Leaves in a row of calls before the latest one, per call that is open at once, after which the
/// numbers of the enters are wrong. Of calls of `n` threads, every `n`th is the latest one.
const ROW_PER_CALL: u64 = 20;
/// As many are always too many: further events could not be taken back.
const ROW_MAX: u64 = 200;
/// Rows that have to end before calls are believed to be those of several threads.
const ROWS_PROVEN: u64 = 4;

/// How calls may overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Those of a thread do not. Where enters carry no thread, there is one.
    #[default]
    BetweenThreads,
    /// As those of several threads that are not known.
    Any,
    /// The same, up to a row of leaves that is too long.
    Bounded,
}

impl Overlap {
    /// Whether any two calls may overlap.
    pub const fn is_free(self) -> bool {
        matches!(self, Self::Any | Self::Bounded)
    }
}

/// The calls that overlapped so far.
#[derive(Debug, Default)]
pub struct Overlaps {
    /// Leaves in a row of calls before the latest one.
    row: u64,
    /// Rows that ended with the leave of the latest call.
    ended: u64,
    /// The most calls that were open when a row ended.
    most_open: u64,
}

impl Overlaps {
    /// Whether the latest leave was that of a call before the latest one.
    #[inline(always)]
    pub(super) const fn is_in_row(&self) -> bool {
        self.row > 0
    }

    /// Adds the leave of a call before the latest one.
    pub(super) const fn add(&mut self) {
        self.row = self.row.saturating_add(1);
    }

    /// Ends a row with the leave of the latest call; `open` calls were open at once.
    pub(super) fn end_row(&mut self, open: u64) {
        if self.row > 0 {
            self.most_open = self.most_open.max(open);
            self.ended = self.ended.saturating_add(1);
            self.row = 0;
        }
    }

    /// Forgets the present row.
    pub(super) const fn forget_row(&mut self) {
        self.row = 0;
    }

    /// Whether so many leaves in a row show that the numbers of the enters are wrong.
    pub(super) fn is_too_long(&self) -> bool {
        self.row > self.longest_row().min(ROW_MAX)
    }

    /// Returns the length of the longest row that does not show wrong numbers.
    fn longest_row(&self) -> u64 {
        ROW_PER_CALL.saturating_mul(self.most_open.max(1))
    }

    /// Whether a stream in which all was read as events is one of several threads. A call that
    /// damage added to it stays open, and the last row does not end.
    pub fn prove_sound(&self, open: u64) -> bool {
        open == 0 || (self.ended >= ROWS_PROVEN && self.row <= self.longest_row())
    }

    /// Whether a stream with `damages` is one of several threads: each damage may seem to end rows.
    pub const fn prove_damaged(&self, damages: u64) -> bool {
        self.ended >= ROWS_PROVEN.saturating_add(damages.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of these lengths, the last one not ended; four calls are open at once.
    fn rows(lengths: &[u64]) -> Overlaps {
        let mut overlaps = Overlaps::default();
        for (index, length) in lengths.iter().enumerate() {
            if index > 0 {
                overlaps.end_row(4);
            }
            (0..*length).for_each(|_| overlaps.add());
        }
        overlaps
    }

    #[test]
    fn a_row_is_too_long_by_the_calls_that_are_open_at_once() {
        assert!(!rows(&[20]).is_too_long() && rows(&[21]).is_too_long());
        assert!(!rows(&[1, 80]).is_too_long() && rows(&[1, 81]).is_too_long());
        let mut many = rows(&[1]);
        many.end_row(1_000);
        (0..201).for_each(|_| many.add());
        assert!(many.is_too_long() && many.row <= many.longest_row());
    }

    #[test]
    fn rows_that_end_prove_several_threads() {
        assert!(rows(&[300]).prove_sound(0) && !rows(&[5]).prove_sound(1));
        assert!(rows(&[1, 1, 1, 1, 5]).prove_sound(1));
        assert!(!rows(&[1, 1, 1, 1, 81]).prove_sound(1));
        assert!(rows(&[1; 7]).prove_damaged(1) && !rows(&[1; 6]).prove_damaged(1));
    }
}

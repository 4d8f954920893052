//! Calls that overlap in a stream whose enters carry no thread.
//!
//! Tracers of that time let other threads write between the enter and the leave of a call. So the
//! leaves of a sound stream come in any order, and an enter that damage adds shows only in the long
//! run: each leave after it ends a call before the latest one.
//!
//! The depth of a leave is the number of open calls that were entered after its own. With one
//! thread it is 0, and an enter that damage adds raises it once; several threads change it all the
//! time.

/// Leaves in a row of calls before the latest one, per call that is open at once, after which the
/// numbers of the enters are wrong. Of calls of `n` threads, every `n`th is the latest one.
const ROW_PER_CALL: u64 = 20;
/// As many are always too many: further events could not be taken back.
const ROW_MAX: u64 = 200;
/// Changes of depth that show several threads in a stream in which all was read as events: one more
/// than an enter that damage adds to a single one.
const CHANGES_PROVEN: u64 = 2;
/// The same beside damage, of which each one may hide another.
const CHANGES_PROVEN_DAMAGED: u64 = 4;

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
    /// The depth of the latest leave.
    depth: u64,
    /// Leaves of another depth than the one before them.
    changes: u64,
    /// The most calls that were open when a row ended.
    most_open: u64,
}

impl Overlaps {
    /// Whether the latest leave was that of a call before the latest one.
    #[inline(always)]
    pub(super) const fn is_in_row(&self) -> bool {
        self.row > 0
    }

    /// Adds the leave of a call with `depth` open calls inside it.
    pub(super) const fn add(&mut self, depth: u64) {
        self.row = self.row.saturating_add(1);
        if depth != self.depth {
            self.depth = depth;
            self.changes = self.changes.saturating_add(1);
        }
    }

    /// Ends a row with the leave of the latest call; `open` calls were open at once.
    pub(super) fn end_row(&mut self, open: u64) {
        if self.row > 0 {
            self.most_open = self.most_open.max(open);
            self.changes = self.changes.saturating_add(1);
            self.depth = 0;
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
        let longest = self.longest_row().max(ROW_PER_CALL.saturating_mul(open));
        open == 0 || (self.changes >= CHANGES_PROVEN && self.row <= longest)
    }

    /// Whether a stream with `damages` is one of several threads: each damage may change the depth,
    /// and the end of it, too.
    pub const fn prove_damaged(&self, damages: u64) -> bool {
        self.changes >= CHANGES_PROVEN_DAMAGED.saturating_add(damages.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaves of these depths, of four calls that are open at once.
    fn leaves(depths: &[u64]) -> Overlaps {
        let mut overlaps = Overlaps::default();
        for depth in depths {
            match depth {
                0 => overlaps.end_row(4),
                _ => overlaps.add(*depth),
            }
        }
        overlaps
    }

    /// A row of leaves of depth 1.
    fn row(len: usize) -> Vec<u64> {
        vec![1; len]
    }

    #[test]
    fn a_row_is_too_long_by_the_calls_that_are_open_at_once() {
        assert!(!leaves(&row(20)).is_too_long() && leaves(&row(21)).is_too_long());
        let after_four = |len| leaves(&[vec![1, 0], row(len)].concat());
        assert!(!after_four(80).is_too_long() && after_four(81).is_too_long());
        let mut many = leaves(&[1]);
        many.end_row(1_000);
        (0..201).for_each(|_| many.add(1));
        assert!(many.is_too_long() && many.row <= many.longest_row());
    }

    #[test]
    fn depths_that_change_prove_several_threads() {
        assert!(leaves(&row(300)).prove_sound(0) && !leaves(&row(5)).prove_sound(1));
        assert!(leaves(&[1, 0]).prove_sound(1) && leaves(&[1, 1, 3]).prove_sound(1));
        assert!(!leaves(&[0, 0, 1, 1]).prove_sound(1));
        let long = |len| leaves(&[vec![1, 0], row(len)].concat());
        assert!(long(80).prove_sound(1) && !long(81).prove_sound(1));
        assert!(long(100).prove_sound(5) && !long(101).prove_sound(5));
        assert!(leaves(&[1, 0, 1, 0, 1, 0]).prove_damaged(1));
        assert!(!leaves(&[1, 0, 1, 0, 1]).prove_damaged(1));
    }
}

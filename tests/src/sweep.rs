//! The share of a sweep that a run covers.
//!
//! A sweep tries one change at every byte of many recordings; all sweeps together take minutes. An
//! ordinary run takes a share of each, chosen by a seed that it prints. `TRACEMEND_SEED=N` chooses
//! another share, as `.ci/run` does for each commit, and `TRACEMEND_EXHAUSTIVE=1` runs every case,
//! as `.ci/weekly` does.

use crate::notice;

/// The seed of a run that names none: the same cases each time, so that a failure recurs.
const SEED: u64 = 1;

/// The share of one sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// One case in this many is run; 1 runs all.
    one_in: u64,
    seed: u64,
}

impl Share {
    /// Every case.
    pub const ALL: Self = Self { one_in: 1, seed: 0 };

    /// Returns a share of about one case in `one_in` that is the same for every seed, or all cases
    /// in an exhaustive run.
    pub fn fixed(one_in: u64) -> Self {
        if is_exhaustive() { Self::ALL } else { Self { one_in, seed: SEED } }
    }

    /// Returns a share of about one case in `one_in`, or all cases in an exhaustive run.
    pub fn one_in(one_in: u64) -> Self {
        if one_in <= 1 {
            return Self { one_in, seed: 0 };
        }
        if is_exhaustive() {
            notice::say("sweeps: every case (TRACEMEND_EXHAUSTIVE)");
            return Self { one_in: 1, seed: 0 };
        }
        let seed = std::env::var("TRACEMEND_SEED").ok().and_then(|text| text.parse().ok());
        let seed = seed.unwrap_or(SEED);
        notice::say(&format!(
            "sweeps: a share of the cases, TRACEMEND_SEED={seed}; TRACEMEND_EXHAUSTIVE=1 runs all"
        ));
        Self { one_in, seed }
    }

    /// Returns whether case number `case` is part of the share. The first one always is.
    pub const fn has(self, case: usize) -> bool {
        if self.one_in <= 1 || case == 0 {
            return true;
        }
        // SplitMix64: neighbouring numbers give unrelated results.
        let mut mixed = (case as u64).wrapping_add(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).is_multiple_of(self.one_in)
    }

    /// Returns the cases that are part of the share, in their order.
    pub fn of<T>(self, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let numbered = cases.into_iter().enumerate();
        numbered.filter(move |(number, _)| self.has(*number)).map(|(_, case)| case)
    }

    /// Returns the number of random cases to run of `all`: at least one.
    pub const fn count(self, all: usize) -> usize {
        all.div_ceil(self.one_in as usize)
    }
}

/// Whether the run takes every case of every sweep.
pub fn is_exhaustive() -> bool {
    std::env::var_os("TRACEMEND_EXHAUSTIVE").is_some_and(|value| value != "0" && !value.is_empty())
}

/// Runs `test` for each case at the same time, for cases that mostly wait for another program.
///
/// # Panics
///
/// If `test` panics for any case.
pub fn side_by_side<T: Send>(cases: Vec<T>, test: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        let test = &test;
        for case in cases {
            scope.spawn(move || test(case));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_about_as_large_as_it_claims_and_differs_by_seed() {
        let cases = |seed: u64| -> Vec<usize> {
            let share = Share { one_in: 16, seed };
            share.of(0..16_000).collect()
        };
        assert!((800..1_200).contains(&cases(1).len()), "{}", cases(1).len());
        assert_eq!(cases(1), cases(1));
        let both = cases(1).iter().filter(|case| cases(2).contains(case)).count();
        assert!(both < 200, "{both}");
        assert_eq!(Share { one_in: 1, seed: 0 }.of(0..9).count(), 9);
    }
}

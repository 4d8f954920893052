//! How much of the sweeps a run covers.
//!
//! A sweep tries one change at every byte of many recordings; all sweeps together take an hour. A
//! run takes a share of each, chosen by a seed that it prints:
//!
//! - An ordinary run, for the answer after an edit, takes one in [`LOOP`] of the share that a sweep
//!   names, without the tests of [`is_left_to_the_gate`].
//! - `TRACEMEND_GATE=1`, which `.ci/run` sets, takes one in [`GATE`] of it.
//! - `TRACEMEND_EXHAUSTIVE=1`, which `.ci/weekly` sets, takes every case.
//!
//! `TRACEMEND_SEED=N` chooses another share of the same size.

use crate::notice;

/// The seed of a run that names none: the same cases each time, so that a failure recurs.
const SEED: u64 = 1;

/// An ordinary run takes one in this many of the cases of a share: with 16, all sweeps together
/// take about as long as the build after an edit.
pub const LOOP: u64 = 16;
/// The same for the gate: with all of them it takes longer than a quarter of an hour on two cores.
pub const GATE: u64 = 2;

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

    /// Returns the share of [`Share::one_in`] that is the same for every seed.
    pub fn fixed(one_in: u64) -> Self {
        Self::of_seed(one_in, SEED)
    }

    /// Returns a share of about one case in `one_in`, of which the gate takes one in [`GATE`] and
    /// an ordinary run one in [`LOOP`]; all cases in an exhaustive one.
    pub fn one_in(one_in: u64) -> Self {
        let seed = std::env::var("TRACEMEND_SEED").ok().and_then(|text| text.parse().ok());
        let seed = seed.unwrap_or(SEED);
        if is_exhaustive() {
            notice::say("sweeps: every case (TRACEMEND_EXHAUSTIVE)");
        } else if is_gate() {
            notice::say(&format!("sweeps: the share of the gate, TRACEMEND_SEED={seed}"));
        } else {
            let more = LOOP / GATE;
            notice::say(&format!(
                "sweeps: a small share, TRACEMEND_SEED={seed}; TRACEMEND_GATE=1 takes {more} times \
                 as many cases, TRACEMEND_EXHAUSTIVE=1 all"
            ));
        }
        Self::of_seed(one_in, seed)
    }

    fn of_seed(one_in: u64, seed: u64) -> Self {
        let one_in = match (is_exhaustive(), is_gate()) {
            (true, _) => 1,
            (false, true) => one_in.max(1).saturating_mul(GATE),
            (false, false) => one_in.max(1).saturating_mul(LOOP),
        };
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
    is_set("TRACEMEND_EXHAUSTIVE")
}

/// Whether the run takes the share of the gate, or every case.
fn is_gate() -> bool {
    is_exhaustive() || is_set("TRACEMEND_GATE")
}

/// Returns whether an ordinary run leaves out the test of `claim`, which takes seconds because it
/// waits for other programs or tries a row of recordings that no share can shorten; says so.
pub fn is_left_to_the_gate(claim: &str) -> bool {
    let is_left = !is_gate();
    if is_left {
        notice::say(&format!("left to the gate (TRACEMEND_GATE=1): {claim}"));
    }
    is_left
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value != "0" && !value.is_empty())
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

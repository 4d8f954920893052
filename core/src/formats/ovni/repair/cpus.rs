//! CPUs of a loom whose numbers contradict each other.
//!
//! ```text
//!  stored   0:0  1:1  0:2  3:3      index:phyid, in the order of the list
//!  renumbered         2:2           the index that no other CPU has
//! ```
//!
//! libovni writes the CPUs of a process in the order of their indices. So of two CPUs with the same
//! number, the one in its place in the list keeps it, and the other one gets a free number.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::limits::LOOM_CPUS;
use crate::formats::ovni::repair::members::cpu_text;
use crate::formats::ovni::state::summary::TraceSummary;
use crate::formats::ovni::state::system::Loom;
use crate::kit::num::to_u64;
use crate::model::edit::Edit;

/// Returns the edits that give each CPU of a loom numbers of its own; none if no number is invalid
/// or occurs twice.
pub fn renumber_cpus(summary: &TraceSummary<'_, '_>, loom: &Loom) -> Vec<Edit> {
    let stored: Vec<(i64, i64)> =
        loom.cpus.iter().map(|(index, phyid, _)| (*index, *phyid)).collect();
    if to_u64(stored.len()) > summary.limits.of(&LOOM_CPUS) || !is_contradicted(&stored) {
        return Vec::new();
    }
    let cpus = loom.cpus.iter().zip(renumber(&stored));
    let wrong = cpus.filter(|((index, phyid, _), new)| (*index, *phyid) != *new);
    wrong.map(|((.., span), new)| Edit::replace(*span, cpu_text(new))).collect()
}

/// Whether a number is invalid or occurs twice.
fn is_contradicted(cpus: &[(i64, i64)]) -> bool {
    let count = |part: fn(&(i64, i64)) -> i64| {
        let numbers = cpus.iter().map(part).filter(|number| *number >= 0);
        numbers.collect::<BTreeSet<i64>>().len()
    };
    count(|cpu| cpu.0) < cpus.len() || count(|cpu| cpu.1) < cpus.len()
}

/// Returns index and physical id of each CPU, none of them twice.
fn renumber(cpus: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut order: Vec<(i64, (i64, i64))> = (0_i64..).zip(cpus.iter().copied()).collect();
    order.sort_by_key(|(place, (index, phyid))| (place != index, index != phyid, *place));
    let last = i64::try_from(cpus.len()).unwrap_or(i64::MAX);
    let is_index = |index: i64| (0..last).contains(&index);
    let indices = order.iter().map(|(place, (index, _))| (*place, *index));
    let indices = distribute(indices.filter(|(_, index)| is_index(*index)), last, |place| place);
    let index_of = |place: i64| number_at(&indices, place);
    let phyids = order.iter().map(|(place, (_, phyid))| (*place, *phyid));
    let phyids = distribute(phyids.filter(|(_, phyid)| *phyid >= 0), last, index_of);
    (0..last).map(|place| (index_of(place), number_at(&phyids, place))).collect()
}

fn number_at(numbers: &[i64], place: i64) -> i64 {
    usize::try_from(place).ok().and_then(|place| numbers.get(place).copied()).unwrap_or(0)
}

/// Gives each of `count` places a number: the first one that wants a number gets it, and the others
/// get the preferred one or the lowest one that is free.
fn distribute(
    wanted: impl Iterator<Item = (i64, i64)>,
    count: i64,
    preferred: impl Fn(i64) -> i64,
) -> Vec<i64> {
    let (mut taken, mut given) = (BTreeSet::new(), BTreeMap::new());
    for (place, number) in wanted {
        if taken.insert(number) {
            given.insert(place, number);
        }
    }
    let mut free = 0_i64;
    (0..count)
        .map(|place| {
            given.get(&place).copied().unwrap_or_else(|| {
                let number = preferred(place);
                if taken.insert(number) {
                    return number;
                }
                while !taken.insert(free) {
                    free = free.saturating_add(1);
                }
                free
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_out_of_its_place_gets_the_free_number() {
        for (stored, wanted) in [
            ([(0, 0), (0, 1), (2, 2)], [(0, 0), (1, 1), (2, 2)]),
            ([(2, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 2)]),
            ([(0, 0), (1, 1), (2, 0)], [(0, 0), (1, 1), (2, 2)]),
            ([(0, 2), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 2)]),
            ([(0, 8), (1, -1), (-1, -1)], [(0, 8), (1, 1), (2, 2)]),
            ([(0, 5), (7, 6), (7, 8)], [(0, 5), (1, 6), (2, 8)]),
        ] {
            assert!(is_contradicted(&stored));
            assert_eq!(renumber(&stored), wanted, "{stored:?}");
        }
        assert!(!is_contradicted(&[(0, 7), (1, 5), (4, 6)]));
    }
}

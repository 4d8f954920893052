//! Recognises a build by the calls of a trace, if their definitions were lost.
//!
//! The first chunk holds most definitions, and without it next to none are left to compare. But the
//! ids and the arguments of the calls are left, and a call has every argument that its function
//! declares. So a build is believed if all functions fit that were called, and together are so
//! special that they do not fit by chance.
//!
//! Builds differ mostly by functions that were inserted, which shifts the ids after them. Its
//! neighbours have similar arguments, so the table of another build may fit here and there: none is
//! believed that fits nearly as well with all ids shifted by the same number. Neighbours that fit
//! alike are believed together, in what they agree on.

use super::table::{Table, merge};
use super::{Signatures, TABLES};
use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::usage::shapes::FunctionUse;
use crate::kit::num::to_usize;

/// How special the functions have to be that fit: they fit by chance once in 2 to this power.
const EVIDENCE_BITS: u32 = 16;
/// How much more special they have to be than those that fit with their ids shifted.
const MARGIN_BITS: u32 = 8;
/// How special a definition is that agrees: next to no name is there twice.
const DEFINITION_BITS: u32 = 8;
/// Of so many functions that fit, one may be called without some of its arguments.
const FITTING_PER_PARTIAL: u32 = 8;
/// Calls of a function that prove its arguments: fewer may be damaged.
const OFTEN: u32 = 3;
/// Shifts of the ids that are compared.
const SHIFT_MAX: i64 = 256;
/// Arguments that functions are told apart by; more count alike.
const ARGUMENTS_MAX: usize = 32;

/// Returns the signatures of the build that wrote a trace with these definitions and calls, if it
/// is known.
pub(super) fn find_by_use(
    definitions: &Definitions,
    uses: impl Iterator<Item = FunctionUse>,
) -> Option<Signatures> {
    let uses: Vec<FunctionUse> = uses.filter(|one| one.calls >= OFTEN).collect();
    let fitting = TABLES.all().filter(|table| is_believable(*table, definitions, &uses));
    merge(&fitting.collect::<Vec<_>>())
}

fn is_believable(table: Table<'_>, definitions: &Definitions, uses: &[FunctionUse]) -> bool {
    let found = table.compare(definitions);
    let agreeing = u32::try_from(found.agreeing).unwrap_or(u32::MAX);
    let weights = Weights::of(table);
    let fit = weights.fit(uses, 0);
    let bits = fit.bits.saturating_add(agreeing.saturating_mul(DEFINITION_BITS));
    let fits = found.differing == 0
        && found.damaged == 0
        && fit.contradictions == 0
        && fit.partial.saturating_mul(FITTING_PER_PARTIAL) <= fit.exact
        && bits >= EVIDENCE_BITS;
    let is_close = |shift| weights.fit(uses, shift).bits.saturating_add(MARGIN_BITS) > bits;
    fits && !(-SHIFT_MAX..=SHIFT_MAX).any(|shift| shift != 0 && is_close(shift))
}

/// How calls fit the functions of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fit {
    /// Functions that were called with exactly their arguments.
    exact: u32,
    /// Functions that were called with some of their arguments.
    partial: u32,
    /// Functions that do not exist or have fewer arguments.
    contradictions: u32,
    /// How special the exact ones are.
    bits: u32,
}

/// How special it is that a function of a build has a certain number of arguments.
struct Weights {
    /// The number of arguments of each function.
    counts: Vec<Option<u64>>,
    /// Bits by the number of arguments.
    bits: [u32; ARGUMENTS_MAX],
}

impl Weights {
    fn of(table: Table<'_>) -> Self {
        let mut counts = [0_u64; ARGUMENTS_MAX];
        let mut by_id = Vec::new();
        for (id, _) in table.all_raw(Space::Function) {
            let count = table.count(Space::Function, id);
            by_id.resize(to_usize(id), None);
            by_id.push(count);
            if let Some(cell) = count.and_then(|count| counts.get_mut(to_usize(count))) {
                *cell = cell.saturating_add(1);
            }
        }
        let all = counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let bits = counts.map(|count| all.checked_div(count).map_or(0, u64::ilog2));
        Self { counts: by_id, bits }
    }

    /// Compares calls, whose ids are shifted by `shift`, with the functions of the build.
    fn fit(&self, uses: &[FunctionUse], shift: i64) -> Fit {
        let mut fit = Fit::default();
        for one in uses {
            let id = one.id.checked_add_signed(shift);
            let known = id.and_then(|id| self.counts.get(to_usize(id)).copied().flatten());
            let end = known
                .and_then(|count| u32::try_from(count).ok())
                .and_then(|count| 1_u64.checked_shl(count));
            let count = match end {
                Some(end) if one.arguments.saturating_add(1) == end => &mut fit.exact,
                Some(end) if one.arguments < end => &mut fit.partial,
                _ => &mut fit.contradictions,
            };
            *count = count.saturating_add(1);
            if end == one.arguments.checked_add(1) {
                let count = to_usize(u64::from(one.arguments.count_ones()));
                let bits = self.bits.get(count).copied().unwrap_or(0);
                fit.bits = fit.bits.saturating_add(bits);
            }
        }
        fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::apitrace::decode::definitions::KnownId;

    /// The calls that glxgears makes once its window is open: swap buffers, clear, call a list, pop
    /// and push the matrix, rotate, translate.
    const GEARS: [(u64, u64); 7] =
        [(9, 0b11), (130, 0b1), (166, 0b1), (414, 0), (415, 0), (417, 0b1111), (421, 0b111)];

    fn find(uses: &[(u64, u64)], definitions: &Definitions) -> Option<String> {
        let used = |(id, arguments): &(u64, u64)| FunctionUse {
            id: *id,
            calls: OFTEN,
            arguments: *arguments,
            is_left: true,
        };
        find_by_use(definitions, uses.iter().map(used)).map(|found| found.name)
    }

    #[test]
    fn a_build_is_recognised_by_the_arguments_of_its_functions() {
        let none = Definitions::with_raw();
        let found = find(&GEARS, &none).unwrap();
        assert!(found.starts_with("apitrace 11.1, glxtrace"), "{found}");
        for shift in [1, 2, 36, 64] {
            let shifted = GEARS.map(|(id, arguments)| (id + shift, arguments));
            assert_eq!(find(&shifted, &none), None, "shifted by {shift}");
        }
    }

    #[test]
    fn few_functions_and_contradictions_are_no_evidence() {
        let none = Definitions::with_raw();
        assert_eq!(find(&[], &none), None);
        assert_eq!(find(&GEARS[..4], &none), None);
        // glClear has one argument.
        let other = GEARS.map(|(id, arguments)| (id, if id == 130 { 0b11 } else { arguments }));
        assert_eq!(find(&other, &none), None);
        let rare = GEARS.map(|(id, arguments)| FunctionUse {
            id,
            calls: OFTEN - 1,
            arguments,
            is_left: true,
        });
        assert!(find_by_use(&none, rare.into_iter()).is_none());
    }

    #[test]
    fn a_definition_that_differs_refutes_a_build_and_one_that_agrees_supports_it() {
        let table = TABLES.all().next().unwrap();
        let with = |raw: &[u8]| {
            let mut definitions = Definitions::with_raw();
            definitions.add(Space::Function, 417, KnownId { count: 4, lost: false });
            definitions.add_raw(Space::Function, 417, raw.to_vec());
            definitions
        };
        let raw = table.raw(Space::Function, 417).unwrap();
        let found = find(&GEARS[..4], &with(raw)).unwrap();
        assert!(found.starts_with("apitrace 11.1, glxtrace"), "{found}");
        assert_eq!(find(&GEARS, &with(b"\x01f\x00")), None);
    }

    #[test]
    fn a_build_that_fits_as_well_with_its_ids_shifted_is_not_believed() {
        let table = TABLES.all().next().unwrap();
        let count = |id: u64| table.count(Space::Function, id);
        let is_doubtful = |id: &u64| count(*id) > Some(2) && count(*id) == count(*id + 1);
        let used = |id: u64| {
            let arguments = count(id).map_or(0, |count| (1 << count) - 1);
            FunctionUse { id, calls: OFTEN, arguments, is_left: true }
        };
        let uses: Vec<FunctionUse> = (0..500).filter(is_doubtful).take(8).map(used).collect();
        let fit = |shift| Weights::of(table).fit(&uses, shift);
        assert!(fit(0) == fit(1) && fit(0).exact == 8 && fit(0).bits >= EVIDENCE_BITS);
        assert!(!is_believable(table, &Definitions::with_raw(), &uses));
    }
}

//! The proof of a repair from the source, the plan and the target alone.
//!
//! It knows no format and trusts no part of the repair: every byte of both files is compared or
//! belongs to an edit of the plan.

use std::collections::BTreeMap;

use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::mend::applied::KeptRanges;
use crate::mend::plan::witnesses::sum_of;
use crate::mend::plan::{Digest, ExactFix, FilePlan, Plan, PlanWitness};
pub use crate::mend::proof_error::ProofError;
use crate::model::patch::{Op, Patch};
use crate::model::recording::FileSet;

/// The balance of a proof over all files of the recording, in bytes.
///
/// The source is `kept + replaced + dropped`, the target `kept + replaced + inserted`. Bytes count
/// as replaced if at least as many are in their place: fields that are set, records that are
/// converted. Otherwise they are dropped, so a fix that drops 24 bytes is among 24 dropped bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Source bytes that are in the target.
    pub kept: u64,
    /// Source bytes that have others in their place.
    pub replaced: u64,
    /// Source bytes that are not in the target, nor others in their place.
    pub dropped: u64,
    /// Target bytes that are not from the source, nor in the place of bytes from it.
    pub inserted: u64,
}

impl Balance {
    /// Returns the balance of the patches of a recording.
    pub fn of<'p>(patches: impl IntoIterator<Item = &'p Patch>) -> Self {
        let mut balance = Self::default();
        patches.into_iter().for_each(|patch| balance.add(patch));
        balance
    }

    /// Adds the counts of the patch of one file.
    pub fn add(&mut self, patch: &Patch) {
        let (mut kept_to, mut inserted) = (0_u64, 0_u64);
        for op in patch.ops() {
            match op {
                Op::Keep { start, end } => {
                    self.add_gap(start.saturating_sub(kept_to), inserted);
                    self.kept = self.kept.saturating_add(end.saturating_sub(*start));
                    (kept_to, inserted) = (*end, 0);
                }
                Op::Insert(_) => inserted = op.len(),
            }
        }
        self.add_gap(patch.source_len().saturating_sub(kept_to), inserted);
    }

    /// Counts what becomes of the bytes between two kept ranges.
    fn add_gap(&mut self, gone: u64, inserted: u64) {
        let replaced = if inserted >= gone { gone } else { 0 };
        self.replaced = self.replaced.saturating_add(replaced);
        self.dropped = self.dropped.saturating_add(gone.saturating_sub(replaced));
        self.inserted = self.inserted.saturating_add(inserted.saturating_sub(replaced));
    }

    /// Returns the lengths of source and target.
    pub const fn lengths(&self) -> (u64, u64) {
        let both = self.kept.saturating_add(self.replaced);
        (both.saturating_add(self.dropped), both.saturating_add(self.inserted))
    }
}

/// Proves that `targets` is `sources` with exactly the edits of `plan`.
///
/// # Errors
///
/// The first difference.
pub fn prove(
    plan: &Plan,
    sources: &FileSet<'_>,
    targets: &FileSet<'_>,
) -> Result<Balance, ProofError> {
    let mut patches = Vec::with_capacity(plan.files.len());
    for files in [sources, targets] {
        if files.files().len() != plan.files.len() {
            let found = files.files().len();
            return Err(ProofError::FileCount { planned: plan.files.len(), found });
        }
    }
    for ((file, source), target) in plan.files.iter().zip(sources.files()).zip(targets.files()) {
        accepts(file, &source.bytes)?;
        let patch = file.patch()?;
        if patch.target_absent() != target.bytes.is_absent() {
            return Err(ProofError::Byte { which: "output", offset: 0 });
        }
        compare_bytes(&patch.view(&source.bytes), &target.bytes)?;
        compare_digest("output", &file.output, &target.bytes)?;
        debug_assert_eq!(patch.kept().saturating_add(patch.dropped()), source.bytes.len());
        debug_assert_eq!(patch.kept().saturating_add(patch.inserted()), target.bytes.len());
        debug_assert!(
            patch.ops().iter().all(|op| !matches!(op, Op::Keep { start, end } if end <= start))
        );
        patches.push(patch);
    }
    read_witnesses(plan, sources, targets, &patches)?;
    Ok(Balance::of(&patches))
}

/// Reads the witnesses of the exact fixes again, in the recording before the repair.
fn read_witnesses(
    plan: &Plan,
    sources: &FileSet<'_>,
    targets: &FileSet<'_>,
    patches: &[Patch],
) -> Result<(), ProofError> {
    if !plan.undoes {
        let kept: Vec<KeptRanges> = patches.iter().map(KeptRanges::of).collect();
        return read_again(&plan.exact, sources, &kept);
    }
    let repair = plan.reversed()?;
    let patches: Vec<Patch> = repair.files.iter().map(FilePlan::patch).collect::<Result<_, _>>()?;
    let kept: Vec<KeptRanges> = patches.iter().map(KeptRanges::of).collect();
    read_again(&plan.exact, targets, &kept)
}

/// Proves that `targets` is the result of `patches` on `sources`, without a plan.
///
/// For a repair whose plan would hold too many dropped bytes.
///
/// # Errors
///
/// The first byte that differs.
pub fn prove_patches(
    patches: &[Patch],
    sources: &FileSet<'_>,
    targets: &FileSet<'_>,
) -> Result<Balance, ProofError> {
    let mut balance = Balance::default();
    for files in [sources, targets] {
        if files.files().len() != patches.len() {
            let found = files.files().len();
            return Err(ProofError::FileCount { planned: patches.len(), found });
        }
    }
    for ((patch, source), target) in patches.iter().zip(sources.files()).zip(targets.files()) {
        if patch.target_absent() != target.bytes.is_absent() {
            return Err(ProofError::Byte { which: "output", offset: 0 });
        }
        compare_bytes(&patch.view(&source.bytes), &target.bytes)?;
        balance.add(patch);
    }
    Ok(balance)
}

/// Checks that `source` is the file that `plan` was made for: length, checksum and every old byte.
///
/// # Errors
///
/// The first difference.
pub fn accepts(plan: &FilePlan, source: &Source<'_>) -> Result<(), ProofError> {
    plan.patch()?;
    for edit in &plan.edits {
        let old = edit.old_bytes()?;
        let found = source.read(edit.start, edit.end);
        let differs = old.iter().zip(found.iter()).position(|(a, b)| a != b);
        let short = (old.len() != found.len()).then_some(old.len().min(found.len()));
        if let Some(at) = differs.or(short) {
            let offset = edit.start.saturating_add(to_u64(at));
            return Err(ProofError::Byte { which: "source", offset });
        }
    }
    compare_digest("source", &plan.source, source)
}

fn compare_digest(
    which: &'static str,
    planned: &Digest,
    source: &Source<'_>,
) -> Result<(), ProofError> {
    let found = Digest::of(source);
    if found == *planned {
        return Ok(());
    }
    Err(ProofError::Digest { which, planned: planned.clone(), found })
}

/// Compares two sources slice by slice, without a copy.
fn compare_bytes(expected: &Source<'_>, found: &Source<'_>) -> Result<(), ProofError> {
    let mut at = 0_u64;
    loop {
        let (a, b) = (expected.run(at), found.run(at));
        let len = a.len().min(b.len());
        if len == 0 {
            if a.is_empty() && b.is_empty() {
                return Ok(());
            }
            return Err(ProofError::Byte { which: "output", offset: at });
        }
        let (a, b) = (a.get(..len).unwrap_or_default(), b.get(..len).unwrap_or_default());
        if a != b {
            let differs = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0);
            let offset = at.saturating_add(to_u64(differs));
            return Err(ProofError::Byte { which: "output", offset });
        }
        at = at.saturating_add(to_u64(len));
    }
}

/// Reads the witnesses of exact fixes again: each has the bytes that the plan states, and for each
/// fix at least one is kept as it was.
///
/// `files` is the recording before the repair.
///
/// # Errors
///
/// The first witness that differs, or the first fix without a kept witness.
fn read_again(
    fixes: &[ExactFix],
    files: &FileSet<'_>,
    kept: &[KeptRanges],
) -> Result<(), ProofError> {
    let mut sums: BTreeMap<Span, String> = BTreeMap::new();
    for fix in fixes {
        for witness in &fix.witnesses {
            let span = witness.span();
            let sum = sums.entry(span).or_insert_with(|| sum_of(span, files));
            if *sum != witness.crc32 {
                return Err(ProofError::Witness { code: fix.code.clone(), span });
            }
        }
        let is_kept = |witness: &&PlanWitness| {
            let file = usize::try_from(witness.file).ok();
            let kept = file.and_then(|file| kept.get(file));
            kept.is_some_and(|kept| kept.holds(witness.span()))
        };
        if !fix.witnesses.iter().any(|witness| is_kept(&witness)) {
            return Err(ProofError::NoWitness { code: fix.code.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(feature = "json")]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};
    use crate::mend::applied::Applied;
    use crate::mend::rounds::{Outcome, Repair, view};
    use crate::model::edit::{Edit, Fix, Safety, Witness};
    use crate::model::limits::Limits;
    use crate::model::recording::File;
    use crate::model::rule::common;
    use crate::model::{Finding, Report};

    /// Two files, the first with one edit of each kind.
    fn sources() -> [Vec<u8>; 2] {
        [b"header, body and a tail".to_vec(), b"second".to_vec()]
    }

    fn set(files: &[Vec<u8>]) -> FileSet<'_> {
        let names = ["data", "data.0"].into_iter().zip(files);
        FileSet::new(
            names
                .map(|(name, bytes)| File { name: name.to_string(), bytes: Source::new(bytes) })
                .collect(),
        )
    }

    fn repair() -> Repair {
        let span = |start, end| Span::new(Layer::stored(0), start, end);
        let edits = vec![
            Edit::replace(span(0, 3), *b"HEAD"),
            Edit::replace(span(8, 8), *b"whole "),
            Edit::drop(span(12, 23)),
        ];
        let [first, second] = sources().map(|bytes| to_u64(bytes.len()));
        let patch = Patch::from_edits(first, &edits).unwrap();
        let fix = Fix::new(Safety::Lossy, "drops the tail", edits.clone());
        let finding = Finding::new(&common::UNKNOWN_FORMAT, span(0, 3), "file", "3 bytes").fix(fix);
        let places = edits.iter().map(|edit| edit.span).collect();
        let mut applied = Applied::new(1, finding, places);
        applied.class = Safety::Exact;
        let meaning = "the kept comma".into();
        applied.witnesses = vec![Witness { span: span(6, 7), meaning }];
        Repair {
            outcome: Outcome::RepairedWithLoss,
            patches: vec![patch, Patch::identity(second)],
            applied: vec![applied],
            before: Report::new(Some(crate::model::description::FormatId::PERF), first + second, 9),
            after: Report::new(Some(crate::model::description::FormatId::PERF), first + second, 9),
            refused: None,
        }
    }

    fn targets(patches: &[Patch]) -> Vec<Vec<u8>> {
        let sources = sources();
        let files = set(&sources);
        let view = view(&files, patches);
        view.files().iter().map(|f| f.bytes.pieces().collect::<Vec<_>>().concat()).collect()
    }

    fn verify(
        plan: &[u8],
        sources: &[Vec<u8>],
        targets: &[Vec<u8>],
    ) -> Result<Balance, ProofError> {
        prove(&Plan::from_json(plan)?, &set(sources), &set(targets))
    }

    #[test]
    fn every_change_of_one_byte_of_source_plan_or_output_is_noticed() {
        let (sources, repair) = (sources(), repair());
        let plan = Plan::new(&repair, &set(&sources), &Limits::default()).unwrap();
        let plan = plan.to_json().unwrap().into_bytes();
        let targets = targets(&repair.patches);
        assert_eq!(targets[0], b"HEADder, whole body");
        let balance = Balance { kept: 15, replaced: 3, dropped: 11, inserted: 7 };
        assert_eq!(verify(&plan, &sources, &targets), Ok(balance));
        for mask in [0x01, 0x80] {
            for at in 0..plan.len() {
                let mut plan = plan.clone();
                plan[at] ^= mask;
                assert!(verify(&plan, &sources, &targets).is_err(), "plan {at} ^ {mask:#x}");
            }
            for file in 0..2 {
                for at in 0..sources[file].len() {
                    let mut sources = sources.clone();
                    sources[file][at] ^= mask;
                    let proved = verify(&plan, &sources, &targets);
                    assert!(proved.is_err(), "source {file} {at} ^ {mask:#x}");
                }
                for at in 0..targets[file].len() {
                    let mut targets = targets.clone();
                    targets[file][at] ^= mask;
                    let error = verify(&plan, &sources, &targets).unwrap_err();
                    let offset = to_u64(at);
                    assert_eq!(error, ProofError::Byte { which: "output", offset });
                }
            }
        }
    }

    #[test]
    fn every_cut_and_every_byte_more_is_noticed() {
        let (sources, repair) = (sources(), repair());
        let plan = Plan::new(&repair, &set(&sources), &Limits::default()).unwrap();
        let plan = plan.to_json().unwrap().into_bytes();
        let targets = targets(&repair.patches);
        for len in 0..plan.len() {
            assert!(verify(&plan[..len], &sources, &targets).is_err(), "plan of {len}");
        }
        for file in 0..2 {
            for len in (0..targets[file].len()).chain([targets[file].len() + 1]) {
                let mut targets = targets.clone();
                targets[file].resize(len, 0);
                assert!(verify(&plan, &sources, &targets).is_err(), "output {file} of {len}");
            }
            for len in (0..sources[file].len()).chain([sources[file].len() + 1]) {
                let mut sources = sources.clone();
                sources[file].resize(len, 0);
                assert!(verify(&plan, &sources, &targets).is_err(), "source {file} of {len}");
            }
        }
        let one = FileSet::single("data", &sources[0]);
        let plan = Plan::from_json(&plan).unwrap();
        let error = prove(&plan, &one, &set(&targets)).unwrap_err();
        assert_eq!(error, ProofError::FileCount { planned: 2, found: 1 });
    }

    #[test]
    fn a_reversed_plan_gives_the_source_back() {
        let (sources, repair) = (sources(), repair());
        let plan = Plan::new(&repair, &set(&sources), &Limits::default()).unwrap();
        let targets = targets(&repair.patches);
        let back = plan.reversed().unwrap();
        assert_eq!(back.reversed().unwrap(), plan);
        let patches: Vec<Patch> = back.files.iter().map(|file| file.patch().unwrap()).collect();
        let files = set(&targets);
        let restored = view(&files, &patches);
        let restored: Vec<Vec<u8>> = restored
            .files()
            .iter()
            .map(|f| f.bytes.pieces().collect::<Vec<_>>().concat())
            .collect();
        assert_eq!(restored, sources);
        let balance = prove(&back, &set(&targets), &set(&sources)).unwrap();
        assert_eq!(balance, Balance { kept: 15, replaced: 0, dropped: 10, inserted: 14 });
    }

    #[test]
    fn an_exact_fix_without_a_kept_witness_is_not_proved() {
        let (sources, repair) = (sources(), repair());
        let targets = targets(&repair.patches);
        let plan = Plan::new(&repair, &set(&sources), &Limits::default()).unwrap();
        let prove = |plan: &Plan| prove(plan, &set(&sources), &set(&targets));
        assert!(prove(&plan).is_ok());
        // The bytes 12..23 are dropped.
        let mut dropped = plan.clone();
        let witness = &mut dropped.exact[0].witnesses[0];
        (witness.start, witness.end) = (12, 23);
        witness.crc32 = crate::mend::plan::crc32(&[&sources[0][12..23]]);
        let code = witness_code(&plan);
        assert_eq!(prove(&dropped), Err(ProofError::NoWitness { code: code.clone() }));
        let mut other = plan.clone();
        other.exact[0].witnesses[0].end = 8;
        let span = Span::new(Layer::stored(0), 6, 8);
        assert_eq!(prove(&other), Err(ProofError::Witness { code, span }));
    }

    fn witness_code(plan: &Plan) -> String {
        plan.exact[0].code.clone()
    }

    #[test]
    fn without_a_plan_the_patches_prove_the_same() {
        let (sources, repair) = (sources(), repair());
        let mut targets = targets(&repair.patches);
        let balance = prove_patches(&repair.patches, &set(&sources), &set(&targets));
        assert_eq!(balance, Ok(Balance { kept: 15, replaced: 3, dropped: 11, inserted: 7 }));
        targets[0][9] ^= 1;
        let error = prove_patches(&repair.patches, &set(&sources), &set(&targets)).unwrap_err();
        assert_eq!(error, ProofError::Byte { which: "output", offset: 9 });
    }

    #[test]
    fn an_error_names_the_code_the_file_and_the_byte() {
        let code = "PD0004".to_string();
        let errors = [
            ProofError::FileCount { planned: 1, found: 2 },
            ProofError::NoWitness { code },
            ProofError::Byte { which: "output", offset: 16 },
        ];
        assert_eq!(
            errors.map(|error| error.to_string()),
            [
                "the plan lists 1 file, but the recording has 2",
                "the exact fix of PD0004 has no witness that is kept as it was",
                "the byte at 0x10 of the output differs from the plan",
            ]
        );
    }
}

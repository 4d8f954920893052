//! The fixes that a repair applied, and the class that they turn out to have.

use std::collections::BTreeMap;

use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::mend::trial::Round;
use crate::model::Finding;
use crate::model::arrival::Undone;
use crate::model::edit::{Edit, Fix, Safety, StoredAnew, Witness};
use crate::model::patch::{Op, Patch, SourceOffsets};

/// A fix that was applied, with its finding.
///
/// Beyond the limit `findings`, further fixes of the same rule, class and round are more places of
/// the last one.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Number of the round, from 1; 0 for a way to the reader that was undone before.
    pub round: usize,
    /// The finding, whose fix has no edits any more; its spans refer to the state before that
    /// round.
    pub finding: Finding,
    /// The places of the edits in the source.
    pub places: Vec<Span>,
    /// The class of the fix, as its edits and witnesses show it in the end.
    pub class: Safety,
    /// The class of the fix without a witness.
    class_alone: Safety,
    /// The witnesses in the source.
    pub witnesses: Vec<Witness>,
    /// Number of fixes.
    pub count: u64,
    /// Complete records that were dropped.
    pub records_lost: u64,
    /// Complete records of which bytes were replaced.
    pub records_altered: u64,
    /// The effect on compressed units that were stored again.
    pub anew: StoredAnew,
}

impl Applied {
    /// Creates the entry of the fix of `finding`, applied in round number `round`.
    pub fn new(round: usize, mut finding: Finding, places: Vec<Span>) -> Self {
        let class_alone = finding
            .fix
            .as_ref()
            .map_or(Safety::Manual, |fix| fix.safety.max(fix.class_without_witnesses()));
        if let Some(fix) = &mut finding.fix {
            // A repair may have a million, and the patches have them, too.
            fix.edits = Vec::new();
        }
        let fix = finding.fix.as_ref();
        let class = fix.map_or(Safety::Manual, |fix| fix.safety);
        let (records_lost, records_altered) =
            fix.map_or((0, 0), |fix| (fix.records_lost, fix.records_altered));
        let anew = fix.map_or_else(StoredAnew::default, |fix| fix.anew);
        let (witnesses, count) = (Vec::new(), fix.map_or(1, |fix| fix.repeats.saturating_add(1)));
        Self {
            round,
            finding,
            places,
            class,
            class_alone,
            witnesses,
            count,
            records_lost,
            records_altered,
            anew,
        }
    }

    /// Creates the entry of a way that was undone before the first round.
    pub(super) fn undone(undone: &Undone) -> Self {
        let class = undone.finding.fix.as_ref().map_or(Safety::Manual, |fix| fix.safety);
        Self { class, ..Self::new(0, undone.finding.clone(), Vec::new()) }
    }

    /// Returns the fix; of several, the first one.
    pub fn fix(&self) -> Option<&Fix> {
        self.finding.fix.as_ref()
    }

    /// Counts one more fix of the same rule and class.
    fn add(&mut self, fix: &Fix, places: Vec<Span>) {
        self.places.extend(places);
        self.count = self.count.saturating_add(fix.repeats).saturating_add(1);
        self.records_lost = self.records_lost.saturating_add(fix.records_lost);
        self.records_altered = self.records_altered.saturating_add(fix.records_altered);
        self.anew.add(fix.anew);
    }
}

/// Maps from the state before a round to the source, one per file.
pub(super) struct Origins(Vec<SourceOffsets>);

impl Origins {
    pub(super) fn of(patches: &[Patch]) -> Self {
        Self(patches.iter().map(Patch::source_offsets).collect())
    }

    fn of_file(&self, span: Span) -> Option<&SourceOffsets> {
        usize::try_from(span.layer.file).ok().and_then(|file| self.0.get(file))
    }

    /// Returns the place of an edit in the source.
    pub(super) fn place(&self, span: Span) -> Option<Span> {
        let offsets = self.of_file(span)?;
        Some(Span::new(span.layer, offsets.of(span.start), offsets.of(span.end)))
    }

    fn witness(&self, witness: &Witness) -> Option<Witness> {
        let span = self.of_file(witness.span)?.of_span(witness.span);
        (!span.is_empty()).then(|| Witness { span, meaning: witness.meaning.clone() })
    }
}

/// Adds the fixes of a round to `all`, of one rule and class at most `most` as entries of their
/// own.
pub(super) fn record(
    all: &mut Vec<Applied>,
    round: &Round<'_>,
    number: usize,
    origins: &Origins,
    most: usize,
) {
    let settled: Vec<Span> =
        round.settled.iter().filter_map(|edit| origins.place(edit.span)).collect();
    let moves_bytes = |finding: &Finding| finding.edits().any(changes_length);
    // Edits that follow, such as that of a table of lengths, belong to the fixes that move bytes.
    // Without one they belong to all: a magic alone makes a frame of the bytes after it.
    let is_moved = round.applied.iter().any(|finding| moves_bytes(finding));
    let mut seen: BTreeMap<(&str, Safety), (usize, usize)> = BTreeMap::new();
    for finding in &round.applied {
        let Some(fix) = &finding.fix else { continue };
        let mut places: Vec<Span> =
            finding.edits().filter_map(|edit| origins.place(edit.span)).collect();
        let (count, last) = seen.entry((finding.rule.code, fix.safety)).or_default();
        *count = count.saturating_add(1);
        let has_witness = !fix.witnesses.is_empty();
        if let Some(group) = all.get_mut(*last).filter(|_| *count > most && !has_witness) {
            group.add(fix, places);
            continue;
        }
        if moves_bytes(finding) || !is_moved {
            places.extend(&settled);
        }
        *last = all.len();
        let mut applied = Applied::new(number, (*finding).clone(), places);
        applied.witnesses = fix.witnesses.iter().filter_map(|one| origins.witness(one)).collect();
        all.push(applied);
    }
}

/// Returns whether an edit moves the bytes after it.
fn changes_length(edit: &Edit) -> bool {
    edit.span.len() != to_u64(edit.insert.len())
}

/// Sets the class of each fix as the whole repair shows it.
///
/// An exact fix keeps its class if all of its witnesses are in the source, and no edit of the
/// repair touches at least one of them: a value that follows from bytes that a repair wrote is not
/// the recorder's.
pub(super) fn classify(all: &mut [Applied], patches: &[Patch]) {
    let kept: Vec<KeptRanges> = patches.iter().map(KeptRanges::of).collect();
    let is_kept = |witness: &Witness| {
        let file = usize::try_from(witness.span.layer.file).ok();
        file.and_then(|file| kept.get(file)).is_some_and(|kept| kept.holds(witness.span))
    };
    for applied in all {
        let Some(fix) = applied.finding.fix.as_ref() else { continue };
        let are_recorded = applied.witnesses.len() == fix.witnesses.len();
        let stand = are_recorded && applied.witnesses.iter().any(is_kept);
        if fix.safety == Safety::Exact && !fix.witnesses.is_empty() && !stand {
            applied.class = applied.class_alone;
        }
    }
}

/// The ranges of a source that a patch keeps, in order.
pub(crate) struct KeptRanges(Vec<(u64, u64)>);

impl KeptRanges {
    pub(crate) fn of(patch: &Patch) -> Self {
        let range = |op: &Op| match op {
            Op::Keep { start, end } => Some((*start, *end)),
            Op::Insert(_) => None,
        };
        Self(patch.ops().iter().filter_map(range).collect())
    }

    /// Returns whether the target has the bytes of `span`, as they were and in one piece.
    pub(crate) fn holds(&self, span: Span) -> bool {
        let at = self.0.partition_point(|(_, end)| *end <= span.start);
        self.0.get(at).is_some_and(|(start, end)| *start <= span.start && *end >= span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;
    use crate::mend::trial::State;
    use crate::model::Report;
    use crate::model::rule::common;

    #[test]
    fn fixes_of_a_rule_beyond_the_limit_are_counted_with_the_last_one() {
        let span = |start| Span::sized(Layer::stored(0), start, 1);
        let finding = |start| {
            let mut fix = Fix::new(Safety::Lossy, "a fix", vec![Edit::drop(span(start))]);
            fix.records_lost = 2;
            Finding::new(&common::UNKNOWN_FORMAT, span(start), "file", "1 byte").fix(fix)
        };
        let findings = [0, 2, 4].map(finding);
        let next = State { patches: Vec::new(), report: Report::default() };
        let round = Round { applied: findings.iter().collect(), settled: Vec::new(), next };
        let mut all = Vec::new();
        record(&mut all, &round, 1, &Origins::of(&[Patch::identity(9)]), 2);
        let counts: Vec<_> = all.iter().map(|one| (one.count, one.records_lost)).collect();
        assert_eq!(counts, [(1, 2), (2, 4)]);
        assert_eq!(all[1].places, [span(2), span(4)]);
    }
}

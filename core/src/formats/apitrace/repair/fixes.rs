//! The edits of many findings to a fix for each.

use super::{StreamEdit, StreamEditor, UnitPatch};
use crate::kit::span::Span;
use crate::model::edit::{Edit, Fix, Safety, StoredAnew};

/// Summaries of a shared fix that are listed one by one.
const SUMMARIES_SHOWN: usize = 4;

/// The actions of a repair for one finding.
#[derive(Clone, Debug)]
pub struct FixPlan {
    /// The cost.
    pub safety: Safety,
    /// The action, in numbers.
    pub summary: String,
    /// Edits of the stream.
    pub stream: Vec<StreamEdit>,
    /// Edits of the file.
    pub direct: Vec<Edit>,
    /// The effect of the edits of the file on the stream, if they store it again.
    pub anew: StoredAnew,
    /// Events that are dropped.
    pub events_lost: u64,
    /// Events of which bytes are replaced.
    pub events_altered: u64,
    /// Bytes of the file that determine what is written, and their meaning.
    pub witnesses: Vec<(Span, &'static str)>,
    /// What the rest of the unit is, if it determines what one edit of the stream writes.
    pub unit_witness: Option<&'static str>,
    /// The option of a repair that does better, as it is typed.
    pub option: Option<&'static str>,
}

impl FixPlan {
    /// A plan with edits of the stream.
    pub fn of_stream(
        safety: Safety,
        summary: String,
        stream: impl IntoIterator<Item = StreamEdit>,
    ) -> Self {
        let stream = stream.into_iter().collect();
        Self {
            safety,
            summary,
            stream,
            direct: Vec::new(),
            anew: StoredAnew::default(),
            events_lost: 0,
            events_altered: 0,
            witnesses: Vec::new(),
            unit_witness: None,
            option: None,
        }
    }

    /// A plan with one edit of the file.
    pub fn of_file(safety: Safety, summary: String, edit: Edit) -> Self {
        Self { direct: vec![edit], ..Self::of_stream(safety, summary, []) }
    }

    /// Adds bytes of the file that determine what is written.
    #[must_use]
    pub fn witness(mut self, span: Span, meaning: &'static str) -> Self {
        if !span.is_empty() {
            self.witnesses.push((span, meaning));
        }
        self
    }
}

/// Plans whose edits share units, under the number of the first of them.
struct SharedFix {
    safety: Safety,
    summaries: Vec<String>,
    events_lost: u64,
    events_altered: u64,
    witnesses: Vec<(Span, &'static str)>,
    option: Option<&'static str>,
    /// Edits of the file; `None` if they are more than a round may insert.
    edits: Option<(Vec<Edit>, StoredAnew)>,
}

impl Default for SharedFix {
    fn default() -> Self {
        Self {
            safety: Safety::Exact,
            summaries: Vec::new(),
            events_lost: 0,
            events_altered: 0,
            witnesses: Vec::new(),
            option: None,
            edits: Some((Vec::new(), StoredAnew::default())),
        }
    }
}

impl SharedFix {
    fn add_plan(&mut self, plan: &FixPlan) {
        self.safety = self.safety.max(plan.safety);
        self.summaries.push(plan.summary.clone());
        self.events_lost = self.events_lost.saturating_add(plan.events_lost);
        self.events_altered = self.events_altered.saturating_add(plan.events_altered);
        self.witnesses.extend(&plan.witnesses);
        self.option = self.option.or(plan.option);
        if let Some((_, anew)) = &mut self.edits {
            anew.add(plan.anew);
        }
    }

    /// Adds an edit of a few bytes of a unit, whose other bytes determine it.
    fn add_patch(&mut self, patch: UnitPatch, meaning: Option<&'static str>) {
        let edit = patch.edit.span;
        let (before, after) = (
            Span::new(edit.layer, patch.unit.start, edit.start),
            Span::new(edit.layer, edit.end, patch.unit.end),
        );
        let longest = if before.len() > after.len() { before } else { after };
        self.witnesses.extend(meaning.map(|meaning| (longest, meaning)));
        self.add_edit(Some((patch.edit, StoredAnew::default())));
    }

    fn add_edit(&mut self, edit: Option<(Edit, StoredAnew)>) {
        match (self.edits.as_mut(), edit) {
            (Some((edits, anew)), Some((edit, more))) => {
                edits.push(edit);
                anew.add(more);
            }
            _ => self.edits = None,
        }
    }

    /// The fix of the first plan, with its edits of the file.
    fn into_fix(self, direct: Vec<Edit>) -> Fix {
        let Some((stream, anew)) = self.edits else {
            return Fix::manual(
                "the affected units are larger than a repair may insert in one round",
            );
        };
        let mut edits = [direct, stream].concat();
        edits.sort_by_key(|edit| edit.span.start);
        let mut fix = Fix::new(self.safety, join_summaries(&self.summaries), edits);
        fix.records_lost = self.events_lost;
        fix.records_altered = self.events_altered;
        fix.anew = anew;
        fix.options.extend(self.option.map(str::to_string));
        let edits: Vec<Span> = fix.edits.iter().map(|edit| edit.span).collect();
        for (span, meaning) in self.witnesses {
            if edits.iter().all(|edit| !edit.overlaps(&span)) {
                fix = fix.witness(span, meaning);
            }
        }
        fix.safety = fix.safety.max(fix.class_by_edits());
        fix
    }
}

/// The plan that stands for each plan: the first one of an error that shares a unit with it, or the
/// first one. A repair may leave the fix of a warning, and an error would be left with it.
struct Leaders {
    /// The numbers of the plans, those of errors first.
    order: Vec<usize>,
    /// The place of each plan in the order.
    places: Vec<usize>,
    /// For each place, one before it that shares a unit, or itself.
    before: Vec<usize>,
}

impl Leaders {
    fn of(are_errors: &[bool], groups: &[Vec<(usize, StreamEdit)>]) -> Self {
        let count = are_errors.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|plan| are_errors.get(*plan).is_none_or(|is_error| !is_error));
        let mut places: Vec<(usize, usize)> = order.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let places = places.into_iter().map(|(_, place)| place).collect();
        let mut leaders = Self { order, places, before: (0..count).collect() };
        for group in groups {
            let first = group.iter().map(|(plan, _)| leaders.place(*plan)).min();
            for (plan, _) in group {
                let place = leaders.place(*plan);
                if let (Some(first), Some(cell)) = (first, leaders.before.get_mut(place)) {
                    *cell = first.min(place);
                }
            }
        }
        leaders
    }

    fn root(&self, plan: usize) -> usize {
        self.order.get(self.place(plan)).copied().unwrap_or(plan)
    }

    /// Returns the place of the plan that stands for a plan.
    fn place(&self, plan: usize) -> usize {
        let mut place = self.places.get(plan).copied().unwrap_or(plan);
        while let Some(before) = self.before.get(place).copied().filter(|before| *before < place) {
            place = before;
        }
        place
    }
}

/// Returns a fix for each plan. Plans whose edits share units share the edits of the first error of
/// them, or of the first; the fixes of the others have none.
pub fn build_fixes(
    editor: &StreamEditor<'_, '_>,
    mut plans: Vec<Option<FixPlan>>,
    are_errors: &[bool],
) -> Vec<Option<Fix>> {
    let mut edits = Vec::new();
    for (number, plan) in plans.iter_mut().enumerate() {
        let stream = plan.as_mut().map(|plan| std::mem::take(&mut plan.stream));
        edits.extend(stream.into_iter().flatten().map(|edit| (number, edit)));
    }
    let groups = group_by_units(edits);
    let leaders = Leaders::of(are_errors, &groups);
    let mut shared: Vec<SharedFix> = plans.iter().map(|_| SharedFix::default()).collect();
    for group in groups {
        let Some((plan, _)) = group.first() else { continue };
        let root = leaders.root(*plan);
        let meaning = plans.get(*plan).and_then(|plan| plan.as_ref()?.unit_witness);
        let edits: Vec<StreamEdit> = group.into_iter().map(|(_, edit)| edit).collect();
        let Some(shared) = shared.get_mut(root) else { continue };
        match editor.patch(&edits) {
            Some(patch) => shared.add_patch(patch, meaning),
            None => shared.add_edit(editor.compose(&edits)),
        }
    }
    for (number, plan) in plans.iter().enumerate() {
        if let (Some(plan), Some(shared)) = (plan, shared.get_mut(leaders.root(number))) {
            shared.add_plan(plan);
        }
    }
    let unit = editor.container().unit();
    let safeties: Vec<Safety> = shared.iter().map(|shared| shared.safety).collect();
    let fixes = plans.into_iter().enumerate().map(|(number, plan)| {
        let plan = plan?;
        let root = leaders.root(number);
        if root == number {
            return Some(std::mem::take(shared.get_mut(root)?).into_fix(plan.direct));
        }
        let summary =
            format!("{} (with the fix of another finding, which shares the {unit})", plan.summary);
        Some(Fix::new(*safeties.get(root)?, summary, Vec::new()))
    });
    fixes.collect()
}

fn join_summaries(summaries: &[String]) -> String {
    let shown = summaries.get(..SUMMARIES_SHOWN).unwrap_or(summaries);
    let more = summaries.len().saturating_sub(shown.len());
    match more {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

/// Splits `edits`, each with the number of its plan, into groups that share units.
fn group_by_units(mut edits: Vec<(usize, StreamEdit)>) -> Vec<Vec<(usize, StreamEdit)>> {
    edits.sort_by_key(|(_, edit)| (edit.stored.start, edit.start, edit.end));
    let mut groups: Vec<Vec<(usize, StreamEdit)>> = Vec::new();
    let mut end = 0;
    for (plan, edit) in edits {
        let stored_end = edit.stored.end;
        match groups.last_mut().filter(|_| edit.stored.start < end) {
            Some(group) => group.push((plan, edit)),
            None => groups.push(vec![(plan, edit)]),
        }
        end = end.max(stored_end);
    }
    for group in &mut groups {
        group.sort_by_key(|(_, edit)| (edit.start, edit.end));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;

    #[test]
    fn edits_that_share_a_unit_are_one_group() {
        let edit = |start: u64, from, to| StreamEdit {
            start,
            end: start,
            insert: Vec::new(),
            stored: Span::new(Layer::stored(0), from, to),
            base: 0,
        };
        let edits = vec![(0, edit(50, 20, 30)), (1, edit(5, 0, 10)), (2, edit(9, 0, 20))];
        let plans: Vec<Vec<usize>> = group_by_units(edits)
            .iter()
            .map(|group| group.iter().map(|(plan, _)| *plan).collect())
            .collect();
        assert_eq!(plans, [vec![1, 2], vec![0]]);
    }
}

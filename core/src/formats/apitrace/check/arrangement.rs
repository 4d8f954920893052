//! The order of the stored units.

use super::TraceCheck;
use crate::formats::apitrace::recover::arrangement::Arrangement;
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::rules;
use crate::kit::layer::Segment;
use crate::kit::num::to_u64;
use crate::kit::words::{byte_count, plural};
use crate::model::Finding;
use crate::model::edit::{Edit, Safety};

impl TraceCheck<'_, '_> {
    pub(super) fn add_arrangement(&mut self, found: &Arrangement) {
        for (copy, original) in &found.copies {
            let (units, unit) = (&found.units, self.trace.container.unit());
            let (Some(copy), Some(original)) = (units.get(*copy), units.get(*original)) else {
                continue;
            };
            self.add_copy(copy, original, unit);
        }
        // Places change only once the copies are gone.
        if found.copies.is_empty() {
            self.add_order(found);
        }
    }

    fn add_copy(&mut self, copy: &Segment, original: &Segment, unit: &str) {
        let span = copy.stored;
        let message = format!(
            "{unit} of {} repeats the beginning of the one at {:#x}",
            byte_count(span.len()),
            original.stored.start
        );
        let finding = Finding::new(&rules::CHUNK_REPEATED, span, "chunk", message)
            .related(original.stored, "the original")
            .note("other faults are looked for once it is gone");
        let summary = format!("drop the copy of {}", byte_count(copy.expanded.len()));
        let plan = FixPlan::of_file(Safety::Exact, summary, Edit::drop(span))
            .witness(original.stored, "the original, which begins with the same bytes");
        self.add_with_plan(finding, plan);
    }

    fn add_order(&mut self, found: &Arrangement) {
        let (units, container) = (&found.units, self.trace.container);
        let moved = || found.order.iter().enumerate().filter(|(place, unit)| place != *unit);
        let Some(first) = moved().next().and_then(|(place, _)| units.get(place)) else { return };
        let count = to_u64(moved().count());
        let message = format!(
            "{} not in order: the events and call numbers of one continue in another",
            match count {
                1 => format!("1 {} is", container.unit()),
                _ => format!("{} are", plural(count, container.unit())),
            }
        );
        let finding = Finding::new(&rules::CHUNKS_OUT_OF_ORDER, first.stored, "chunk", message)
            .note("other faults are looked for once they are in order");
        let summary = format!("put {} in order", plural(count, container.unit()));
        let safety = if found.is_whole { Safety::Exact } else { Safety::Lossy };
        let mut plan = FixPlan::of_stream(safety, summary, []);
        for (place, unit) in moved() {
            if let (Some(place), Some(unit)) = (units.get(place), units.get(*unit)) {
                plan.direct.push(Edit::replace(place.stored, self.editor.bytes(unit.stored)));
            }
        }
        for (place, unit) in found.order.iter().enumerate().filter(|(place, unit)| place == *unit) {
            let neighbours = [place.checked_sub(1), place.checked_add(1)];
            let is_next = neighbours
                .into_iter()
                .flatten()
                .any(|near| found.order.get(near).is_some_and(|unit| *unit != near));
            if let Some(unit) = units.get(*unit).filter(|_| is_next) {
                plan = plan.witness(unit.stored, "a neighbour, whose events continue in it");
            }
        }
        self.add_with_plan(finding, plan);
    }
}

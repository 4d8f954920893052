//! Two traces in one file.

use super::TraceCheck;
use crate::formats::apitrace::options;
use crate::formats::apitrace::recover::parts::{Parts, count};
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::rules;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::model::Finding;
use crate::model::edit::{Edit, Fix, Safety};

impl TraceCheck<'_, '_> {
    pub(super) fn add_parts(&mut self, parts: &Parts) {
        let file_len = self.trace.file_len;
        let (first, second) = (parts.others(true, file_len), parts.others(false, file_len));
        let chunks = |units: &[usize]| plural(count(units), "chunk");
        let (ones, others) = (chunks(&parts.first), chunks(&parts.second));
        let shared = plural(to_u64(parts.count_shared()), "chunk");
        let message = match parts.hole {
            Some(hole) => format!(
                "second trace of {others} after a hole of {}; the first one has {ones}",
                byte_count(hole.len())
            ),
            None if parts.count_shared() > 0 => format!(
                "two traces, of {ones} and {others}: a process forked after {shared}, and both \
                 wrote on"
            ),
            None => format!("two traces, of {ones} and {others}, mixed in one file"),
        };
        let Some(span) = second.first().copied() else { return };
        let note = match parts.hole {
            Some(_) => "a second process truncated the file, in which the other wrote on",
            None => "a process and its child wrote through the same file",
        };
        let finding = Finding::new(&rules::SECOND_TRACE, span, "file", message)
            .note(note)
            .note("other faults are looked for once one trace is left");
        let (name, dropped) = match options::part(&self.options.choices) {
            Some(1) => ("first", second),
            Some(2) => ("second", first),
            _ => {
                let how = "keep one trace; repair again with --part 2 to get the other";
                self.add(finding.fix(Fix::manual(how).option("--part 1")));
                return;
            }
        };
        let len = dropped.iter().map(Span::len).fold(0, u64::saturating_add);
        let summary = format!("keep the {name} trace, drop {}", byte_count(len));
        let mut plan = FixPlan::of_stream(Safety::Lossy, summary, []);
        plan.direct.extend(dropped.into_iter().map(Edit::drop));
        self.add_with_plan(finding, plan);
    }
}

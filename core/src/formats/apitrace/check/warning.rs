//! Unusual things in sound events.

use super::describe::{WarningFix, describe_warning};
use super::{TraceCheck, stream_span};
use crate::formats::apitrace::decode::tracker::warnings::{PendingWarning, WarningKind};
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::repair::{StreamEdit, encode};
use crate::mend::edit::Safety;
use crate::report::Finding;

impl TraceCheck<'_, '_> {
    /// Adds the warnings that do not belong to a damage.
    pub(super) fn check_warnings(&mut self) {
        for warning in std::mem::take(&mut self.trace.tracker.warnings.ready) {
            let (rule, message, fix) = describe_warning(warning.kind);
            let path = match (warning.call, warning.kind) {
                (_, WarningKind::Property) => "properties".to_string(),
                ((call, Some(index)), _) => format!("call[{call}].arg[{index}]"),
                ((call, None), _) => format!("call[{call}]"),
            };
            let span = stream_span(warning.at, warning.end);
            let mut finding = Finding::new(rule, span, path, message);
            finding.stored = self.stored_of(span, warning.place);
            finding.excerpt = warning.excerpt.clone();
            let (Some(edit), Some(fix)) = (self.warning_edit(&warning), fix) else {
                self.add(finding);
                continue;
            };
            let (safety, summary) = match fix {
                WarningFix::Drop(part) => (Safety::Lossy, format!("drop {part}")),
                WarningFix::Shorten => {
                    (Safety::Exact, "write the integer in its shortest form".to_string())
                }
            };
            let mut plan = FixPlan::of_stream(safety, summary, [edit]);
            plan.events_lost = u64::from(warning.kind.is_leave());
            self.add_with_plan(finding, plan);
        }
    }

    /// Returns the edit that removes the cause of a warning, if a repair has one.
    pub(super) fn warning_edit(&self, warning: &PendingWarning) -> Option<StreamEdit> {
        let (_, _, fix) = describe_warning(warning.kind);
        let place = warning.place?;
        match (fix?, warning.part) {
            (WarningFix::Drop(_), Some((start, end))) if start < end => {
                Some(self.editor.edit(start, end, Vec::new(), place))
            }
            (WarningFix::Shorten, _) => {
                let bytes = encode::shortest_uint(warning)?;
                Some(self.editor.edit(warning.at, warning.end, bytes, place))
            }
            (WarningFix::Drop(_), _) => None,
        }
    }
}

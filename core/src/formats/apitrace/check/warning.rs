//! Unusual things in sound events.

use super::describe::{WarningFix, describe_warning};
use super::{TraceCheck, stream_span};
use crate::formats::apitrace::decode::tracker::warnings::{PendingWarning, WarningKind};
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::repair::{StreamEdit, encode};
use crate::formats::apitrace::{layout, rules};
use crate::kit::num::to_u64;
use crate::kit::words::plural;
use crate::model::edit::Safety;
use crate::model::{Finding, Severity};

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
            // The call is listed with the damage next to it.
            let is_of_values = *rule == rules::VALUE_IMPOSSIBLE || *rule == rules::ARGUMENT_ORDER;
            if is_of_values && self.is_suspect(warning.call.0) {
                finding.severity = Severity::Info;
            }
            // One of several open calls has lost its leave, and with it its results.
            if warning.owners.len() > 1 {
                finding.severity = Severity::Error;
                let calls = plural(to_u64(warning.owners.len()), "call");
                finding = finding.note(format!("{calls} without a leave may be its own"));
            }
            let (Some(edit), Some(fix)) = (self.warning_edit(&warning), fix) else {
                self.add(finding);
                continue;
            };
            let (safety, summary) = match fix {
                WarningFix::Drop(part) => (Safety::Lossy, format!("drop {part}")),
                WarningFix::Index(index) => {
                    (Safety::Lossy, format!("write the index {index} of the argument"))
                }
                WarningFix::Null => (Safety::Lossy, "replace the result by null".to_string()),
                WarningFix::Number(call, safety) => {
                    (safety, format!("write the number {call} in the leave"))
                }
            };
            let mut plan = FixPlan::of_stream(safety, summary, [edit]);
            plan.events_lost = u64::from(warning.kind.is_leave());
            plan.events_altered = u64::from(!warning.kind.is_leave());
            if plan.events_altered > 0 && matches!(fix, WarningFix::Drop(_)) {
                self.trace.tracker.lost_calls.incomplete.add(warning.call.0, warning.call.0);
            }
            if let WarningFix::Number(..) = fix {
                plan.unit_witness =
                    Some("the rest of the chunk: its enters and leaves show which call is open");
            }
            self.add_with_plan(finding, plan);
        }
    }

    /// Whether a call may be wrong because of damage near it.
    fn is_suspect(&self, call: u64) -> bool {
        let mut ranges = self.losses.iter().filter_map(|loss| loss.suspects);
        ranges.any(|(from, to)| (from..=to).contains(&call))
    }

    /// Returns the edit that removes the cause of a warning, if a repair has one.
    pub(super) fn warning_edit(&self, warning: &PendingWarning) -> Option<StreamEdit> {
        let (_, _, fix) = describe_warning(warning.kind);
        let place = warning.place?;
        match (fix?, warning.part) {
            (WarningFix::Drop(_), Some((start, end))) if start < end => {
                Some(self.editor.edit(start, end, Vec::new(), place))
            }
            (WarningFix::Index(index), Some((start, end))) => {
                Some(self.editor.edit(start, end, encode::uint(index), place))
            }
            (WarningFix::Null, Some((start, end))) if start < end => {
                let bytes = vec![layout::detail::RET, layout::kind::NULL];
                Some(self.editor.edit(start, end, bytes, place))
            }
            (WarningFix::Number(call, _), Some((start, end))) => {
                Some(self.editor.edit(start, end, encode::uint(call), place))
            }
            _ => None,
        }
    }
}

//! Calls that use their function as no sound call does.

use super::{TraceCheck, stream_span};
use crate::formats::apitrace::rules;
use crate::model::Finding;

impl TraceCheck<'_, '_> {
    /// Adds the calls whose arguments are unlike those of other calls. Next to
    /// damage, calls are missing or wrong anyway.
    pub(super) fn check_usage(&mut self) {
        if !self.losses.is_empty() {
            return;
        }
        for one in self.trace.tracker.values.usage.shapes.find_unusual() {
            let span = stream_span(one.at.at, one.at.end);
            let path = format!("call[{}]", one.at.call);
            let mut finding = Finding::new(&rules::ARGUMENTS_UNUSUAL, span, path, one.message);
            finding.stored = self.stored_of(span, self.trace.place(span.start, span.end));
            self.add(finding);
        }
    }
}

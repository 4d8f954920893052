//! Calls that use their function as no sound call does.

use super::{TraceCheck, stream_span};
use crate::formats::apitrace::layout::VERSION_THREADS;
use crate::formats::apitrace::rules;
use crate::model::Finding;

impl TraceCheck<'_, '_> {
    /// Adds the calls whose arguments, place or blob are unlike those of sound calls. Next to
    /// damage, calls are missing or wrong anyway.
    pub(super) fn check_usage(&mut self) {
        if !self.losses.is_empty() {
            return;
        }
        let usage = &self.trace.tracker.values.usage;
        // Where calls overlap whose threads are not known, those of several are mixed.
        let is_mixed =
            self.trace.version < VERSION_THREADS && self.trace.tracker.history.overlaps.has_any();
        let broken = if is_mixed { &[] } else { usage.primitives.found() };
        let mut findings = Vec::new();
        for (rule, found) in [
            (&rules::ARGUMENTS_UNUSUAL, usage.shapes.find_unusual()),
            (&rules::PRIMITIVE_BROKEN, broken.to_vec()),
            (&rules::BLOB_SIZE, usage.uploads.found().to_vec()),
        ] {
            for one in found {
                let span = stream_span(one.at.at, one.at.end);
                let path = match one.at.argument {
                    Some(index) => format!("call[{}].arg[{index}]", one.at.call),
                    None => format!("call[{}]", one.at.call),
                };
                let mut finding = Finding::new(rule, span, path, one.message);
                finding.stored = self.stored_of(span, self.trace.place(span.start, span.end));
                findings.push(finding);
            }
        }
        findings.into_iter().for_each(|finding| self.add(finding));
    }
}

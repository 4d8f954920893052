//! The header of the stream.

use super::{TraceCheck, stream_span};
use crate::formats::apitrace::expand::stored;
use crate::formats::apitrace::layout::VERSION_MAX;
use crate::formats::apitrace::repair::encode;
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::rules;
use crate::kit::words::byte_count;
use crate::mend::edit::Safety;
use crate::report::{Finding, Report};

impl TraceCheck<'_, '_> {
    pub(super) fn check_header(&mut self, report: &mut Report) {
        let header = self.trace.tracker.header;
        match header.version {
            None if self.trace.is_empty() => {
                let file_len = self.trace.file_len;
                let message = format!(
                    "empty stream: the {} container of {} holds no byte of a trace",
                    self.trace.container.name(),
                    byte_count(file_len)
                );
                let span = stored(0, file_len);
                self.add(Finding::new(&rules::NOTHING_RECORDED, span, "file", message));
                report.mark_unreadable();
            }
            Some((version, _)) if version > VERSION_MAX => {
                let message = format!("version is {version}, expected 0 to {VERSION_MAX}");
                let span = stream_span(header.span.0, header.span.1);
                let mut finding =
                    Finding::new(&rules::VERSION_UNKNOWN, span, "version_no", message);
                finding.stored = self.stored_of(span, self.trace.place(span.start, span.end));
                self.add(finding);
                report.mark_unreadable();
            }
            Some((version, Some(semantic))) if semantic > version => {
                self.add_semantic_version(version, semantic, header.span);
            }
            _ => {}
        }
    }

    fn add_semantic_version(&mut self, version: u64, semantic: u64, (at, end): (u64, u64)) {
        let message = format!("semantic version is {semantic}, but version is {version}");
        let span = stream_span(at, end);
        let place = self.trace.place(at, end);
        let rule = &rules::SEMANTIC_VERSION;
        let mut finding = Finding::new(rule, span, "semantic_version_no", message);
        finding.stored = self.stored_of(span, place);
        let bytes = encode::versions(version);
        let edit = place.map(|place| self.editor.edit(at, end, bytes, place));
        let summary = format!("set the semantic version to {version}");
        self.add_with_plan(finding, FixPlan::of_stream(Safety::Exact, summary, edit));
    }
}

//! The header of the stream.

use super::{TraceCheck, stream_span};
use crate::formats::apitrace::expand::{Container, add_chunks, stored};
use crate::formats::apitrace::layout::{
    CHUNK_EXPANDED, MAGIC_LEN, SNAPPY_MAGIC, VERSION_MAX, VERSION_PLAUSIBLE,
};
use crate::formats::apitrace::repair::encode;
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::rules;
use crate::kit::num::to_u64;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Safety};
use crate::model::{Finding, Report};

impl TraceCheck<'_, '_> {
    pub(super) fn check_header(&mut self, report: &mut Report) {
        self.check_magic();
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
            Some((version, Some(VERSION_MAX))) if version > VERSION_PLAUSIBLE => {
                self.add_damaged_version(version, header.span);
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

    /// Compares the first bytes with the magic of the container.
    fn check_magic(&mut self) {
        let is_known = self.trace.container != Container::Snappy || self.trace.has_magic;
        if is_known {
            return;
        }
        let span = stored(0, MAGIC_LEN);
        let message = "invalid magic, expected `at`; chunks of a trace follow".to_string();
        let finding = Finding::new(&rules::MAGIC_WRONG, span, "magic", message);
        let edit = Edit::replace(span, SNAPPY_MAGIC);
        let chunks = stored(MAGIC_LEN, self.trace.file_len);
        let plan = FixPlan::of_file(Safety::Exact, "write the magic `at`".to_string(), edit)
            .witness(chunks, "the chunks of a trace");
        self.add_with_plan(finding, plan);
    }

    /// Judges a stream without a container. Its chunks are made last: other edits move its bytes.
    pub(super) fn check_container(&mut self) {
        if self.trace.container != Container::Bare {
            return;
        }
        let len = self.trace.file_len;
        let message = format!("missing container: a stream of {} begins at 0x0", byte_count(len));
        let finding = Finding::new(&rules::CONTAINER_MISSING, stored(0, len), "file", message);
        if self.findings.iter().any(|(_, plan)| plan.is_some()) {
            self.add(finding);
            return;
        }
        let chunks = plural(len.div_ceil(CHUNK_EXPANDED), "chunk");
        let summary = format!("store the stream as it is in {chunks} of snappy");
        let plan = FixPlan::of_stream(Safety::Synthetic, summary, []);
        self.add_with_plan(finding, FixPlan { direct: add_chunks(len), ..plan });
    }

    fn add_damaged_version(&mut self, version: u64, (at, end): (u64, u64)) {
        let message = format!("version is {version}, but semantic version is {VERSION_MAX}");
        let span = stream_span(at, end);
        let place = self.trace.place(at, end);
        let mut finding = Finding::new(&rules::VERSION_UNKNOWN, span, "version_no", message);
        finding.stored = self.stored_of(span, place);
        let bytes = encode::versions(VERSION_MAX);
        // Versions of one byte each are patched where they are stored.
        let is_short = end.saturating_sub(at) == to_u64(bytes.len());
        let (to, insert) = match is_short {
            true => (at.saturating_add(1), encode::uint(VERSION_MAX)),
            false => (end, bytes),
        };
        let edit = place.map(|place| self.editor.edit(at, to, insert, place));
        let summary = format!("set the version to {VERSION_MAX}");
        let mut plan = FixPlan::of_stream(Safety::Exact, summary, edit);
        plan.unit_witness = Some("the rest of the chunk, which is a stream of that version");
        self.add_with_plan(finding, plan);
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
        let mut plan = FixPlan::of_stream(Safety::Exact, summary, edit);
        plan.unit_witness = Some("the rest of the chunk, which is a stream of that version");
        self.add_with_plan(finding, plan);
    }
}

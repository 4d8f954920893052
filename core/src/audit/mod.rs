//! Lists the dangerous and the private content of a recording.
//!
//! A format passes what its decoders read to the [`Auditor`]; what concerns files as a whole is
//! judged here: names, ends, files of two kinds (`polyglot`), and the faults that a check found.

mod polyglot;

use crate::catalogue;
use crate::format::Format;
use crate::kit::span::{Layer, Span};
use crate::kit::words::byte_count;
use crate::model::limits::{AUDIT_RATIO, FINDINGS};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::{Finding, Report};
use crate::sight::content::find_zip_end;
use crate::sight::rules::recipient;
use crate::sight::{AuditRequest, Auditor, Excerpt, Place, PrivateSink};

/// Bytes that a recording may expand to, whatever its length.
const EXPANDED_FREE: u64 = 16 << 20;
/// Last bytes of a file in which the end of a zip archive is looked for.
const ZIP_TAIL: u64 = 64 << 10;

/// Passes every sighting of private content to `sink`; `checked` is the report of a check.
pub fn sight(
    files: &FileSet<'_>,
    options: &Options,
    format: &dyn Format,
    (checked, sink): (&Report, &mut dyn PrivateSink),
) {
    let request = AuditRequest::default();
    let mut auditor = Auditor::new(&request, files).with_errors(checked).with_sink(sink);
    format.audit(files, options, &mut auditor);
}

/// Audits a recording that was checked with `options`.
pub fn audit(
    files: &FileSet<'_>,
    options: &Options,
    request: &AuditRequest,
    checked: Report,
) -> Report {
    let format = checked.format.filter(|_| !files.is_empty()).and_then(catalogue::format);
    let Some(format) = format else { return checked };
    let most = options.limits.count_of(&FINDINGS);
    let mut report = Report::new(checked.format, files.len(), most);
    report.tally = checked.tally;
    // A limit that was reached, or a magic that is missing.
    let is_common = |finding: &&Finding| common::RULES.contains(&finding.rule);
    checked.findings().iter().filter(is_common).cloned().for_each(|one| report.push(one));
    let mut auditor = Auditor::new(request, files).with_errors(&checked);
    format.audit(files, options, &mut auditor);
    judge_files(&mut auditor, files, options);
    repeat_hazards(&mut auditor, format.description().hazards, &checked);
    auditor.finish(&mut report);
    report.finish();
    report
}

/// Judges the names and the ends of files, and the lengths of expanded layers.
fn judge_files(auditor: &mut Auditor<'_>, files: &FileSet<'_>, options: &Options) {
    for (index, file) in (0_u32..).zip(files.files()) {
        let start = Span::new(Layer::stored(index), 0, 0);
        auditor.text("file name", file.name.as_bytes(), start.into());
        let tail_start = file.bytes.len().saturating_sub(ZIP_TAIL);
        let tail = file.bytes.read(tail_start, file.bytes.len());
        if let Some(len) = find_zip_end(&tail) {
            let span = Span::sized(start.layer, file.bytes.len().saturating_sub(len), len);
            let subject = ("end of file", "archive or document");
            let content = Excerpt::Fact("the end of a zip archive: the file is both");
            auditor.see(&recipient::EMBEDDED_FILE, subject, span, content);
        }
        let head = file.bytes.read(0, polyglot::HEAD_LEN);
        for polyglot in polyglot::find(&head) {
            let span = Span::sized(start.layer, polyglot.start, polyglot.len);
            let (subject, content) = (("file", "archive or document"), polyglot.to_string());
            auditor.see(&recipient::EMBEDDED_FILE, subject, span, Excerpt::Fact(&content));
        }
    }
    for name in files.unfollowed_links() {
        let start = Span::new(Layer::stored(0), 0, 0);
        let subject = ("file name", "outward symbolic link");
        let excerpt = Excerpt::Text(name.as_bytes());
        auditor.see(&recipient::PATH_CLIMBS, subject, start, excerpt);
    }
    for (layer, end) in auditor.take_expanded() {
        let stored = files.bytes(layer.file).len();
        let ratio = options.limits.of(&AUDIT_RATIO);
        if end > EXPANDED_FREE.max(stored.saturating_mul(ratio)) {
            let content = format!("{} expand to {}", byte_count(stored), byte_count(end));
            let span = Span::new(Layer::stored(layer.file), 0, stored);
            let subject = ("file", "expansion bomb");
            auditor.see(&recipient::EXPANSION_BOMB, subject, span, Excerpt::Fact(&content));
        }
    }
}

/// Repeats the findings of a check that endanger readers.
fn repeat_hazards(auditor: &mut Auditor<'_>, hazards: &[&str], checked: &Report) {
    for code in hazards {
        let findings = checked.findings().iter();
        let Some(first) = findings.clone().find(|one| one.rule.code == *code) else { continue };
        let place = Place::from(first.span).in_stored(first.stored);
        let consequence = first.rule.consequence();
        let fact = format!("{}; {consequence} ({code})", first.message);
        let subject = (first.rule.name, "hazard");
        let count = checked.count(first.rule);
        let excerpt = Excerpt::Fact(&fact);
        auditor.add(&recipient::READER_HAZARD, subject, count, place, excerpt);
    }
}

//! The JSON output of `check`: the contract is `schema/check.schema.json`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::{Untrusted, UntrustedPath, hex};
use crate::model::edit::{Edit, Elided};
use crate::model::recording::FileSet;
use crate::model::{Concern, Finding, Report, Severity};

/// Version of the output's layout.
pub const CHECK_SCHEMA: &str = "tracemend.check.v2";
/// Version of the layout in which every edit had its bytes. Such a report is read like a new one.
pub const CHECK_SCHEMA_BEFORE: &str = "tracemend.check.v1";

/// Bytes of an edit that a report holds unless all are asked for. A longer one has its length and
/// CRC-32: a stream that is stored anew has megabytes, which a plan holds.
pub const EDIT_BYTES_MAX: usize = 64;

/// Name and version of the program, as every output names it.
pub const TOOL: &str = concat!("tracemend ", env!("CARGO_PKG_VERSION"));

/// All recordings of one run, where they are few enough to hold.
#[derive(Debug)]
pub struct Document {
    /// Recordings in the order of the command line.
    pub recordings: Vec<Recording>,
}

impl Document {
    /// Creates a document of `recordings`.
    pub const fn new(recordings: Vec<Recording>) -> Self {
        Self { recordings }
    }

    /// Returns the document as text.
    ///
    /// # Errors
    ///
    /// Those of the JSON writer; no document causes one.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut text = head();
        let mut totals = Totals::default();
        for (index, recording) in self.recordings.iter().enumerate() {
            totals.add(recording);
            text += &recording.piece(index == 0)?;
        }
        Ok(text + &Closing { totals, ..Closing::default() }.piece()?)
    }
}

/// The end of a document: what was not checked, and the totals.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Closing {
    /// Files of walked directories that are not recordings; the first ones, if there are many.
    pub skipped: Vec<SkippedEntry>,
    /// Paths that could not be read.
    pub errors: Vec<ErrorEntry>,
    /// The totals.
    pub totals: Totals,
}

/// A file that was not checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SkippedEntry {
    /// The path, escaped.
    pub path: String,
    /// `unknown-format`, `empty`, `link` or `special-file`.
    pub reason: Cow<'static, str>,
}

impl SkippedEntry {
    /// Creates the entry of an escaped path.
    pub fn new(path: impl Into<String>, reason: &'static str) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

/// A path that could not be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorEntry {
    /// The path, escaped.
    pub path: String,
    /// The reason, escaped.
    pub message: String,
}

impl ErrorEntry {
    /// Creates the entry of an escaped path with an escaped reason.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// Counts over all recordings of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Totals {
    /// Number of recordings.
    pub recordings: u64,
    /// Those without errors and warnings, whose check was complete.
    pub clean: u64,
    /// Those that are neither clean nor have only warnings.
    pub with_errors: u64,
    /// Those of which the worst finding is a warning.
    pub with_warnings: u64,
    /// Number of skipped files by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Number of paths that could not be read.
    pub unread: u64,
    /// Number of findings by code.
    pub findings: BTreeMap<Cow<'static, str>, u64>,
    /// Number of suppressed findings by code.
    pub suppressed: BTreeMap<Cow<'static, str>, u64>,
}

impl Totals {
    /// Counts a recording.
    pub fn add(&mut self, recording: &Recording) {
        let Recording { verdict, worst, counts, suppressed, .. } = recording;
        self.add_counts(verdict, *worst, counts, suppressed);
    }

    /// Counts the recording of a report.
    pub fn add_report(&mut self, report: &Report) {
        let verdict = report.verdict().name();
        let (counts, suppressed) = (owned(report.counts()), owned(report.suppressed()));
        self.add_counts(verdict, report.worst(), &counts, &suppressed);
    }

    fn add_counts(
        &mut self,
        verdict: &str,
        worst: Option<Severity>,
        counts: &BTreeMap<Cow<'static, str>, u64>,
        suppressed: &BTreeMap<Cow<'static, str>, u64>,
    ) {
        self.recordings = self.recordings.saturating_add(1);
        let count = match (verdict, worst) {
            ("clean", _) => &mut self.clean,
            ("findings", Some(Severity::Warning)) => &mut self.with_warnings,
            _ => &mut self.with_errors,
        };
        *count = count.saturating_add(1);
        for (all, own) in [(&mut self.findings, counts), (&mut self.suppressed, suppressed)] {
            for (code, count) in own {
                let sum = all.entry(code.clone()).or_default();
                *sum = sum.saturating_add(*count);
            }
        }
    }
}

impl Closing {
    /// Returns the text after the last recording of a document.
    ///
    /// # Errors
    ///
    /// Those of the JSON writer; no closing causes one.
    pub fn piece(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string_pretty(self)?;
        // The members go on in the object that `head` began.
        Ok(format!("\n  ],{}\n", text.strip_prefix('{').unwrap_or(&text)))
    }

    /// Returns the last line of JSON lines: the document without its recordings.
    ///
    /// # Errors
    ///
    /// As [`Closing::piece`].
    pub fn line(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string(self)?;
        let rest = text.strip_prefix('{').unwrap_or(&text);
        Ok(format!("{{\"schema\":\"{CHECK_SCHEMA}\",\"tool\":\"{TOOL}\",{rest}\n"))
    }
}

/// Returns the text before the first recording. A document is written piece by piece, so a run over
/// many recordings holds one report at a time.
pub fn head() -> String {
    format!("{{\n  \"schema\": \"{CHECK_SCHEMA}\",\n  \"tool\": \"{TOOL}\",\n  \"recordings\": [")
}

/// One recording.
#[derive(Debug, Serialize, Deserialize)]
pub struct Recording {
    /// Path as given or found, escaped.
    pub path: String,
    /// Name of the format, `null` if none recognised it.
    pub format: Option<Cow<'static, str>>,
    /// `clean`, `findings`, `unreadable` or `incomplete`.
    pub verdict: Cow<'static, str>,
    /// Length of all files in bytes.
    pub length: u64,
    /// CRC-32 of all files, if it was asked for; the command line computes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<u32>,
    /// Number of complete records.
    pub records: u64,
    /// Number of records that carry measurements.
    pub samples: u64,
    /// Earliest and latest timestamp in nanoseconds; `null` if there is no time.
    pub time: Option<[u64; 2]>,
    /// Further facts about the recording, by name.
    pub facts: BTreeMap<Cow<'static, str>, String>,
    /// Findings: the causes of others first, then by position.
    pub findings: Vec<Entry>,
    /// Number of findings by code; exact even if `truncated`.
    pub counts: BTreeMap<Cow<'static, str>, u64>,
    /// Number of findings that a policy removed, by code.
    pub suppressed: BTreeMap<Cow<'static, str>, u64>,
    /// Whether there are more findings than are listed.
    pub truncated: bool,
    #[serde(skip)]
    worst: Option<Severity>,
}

/// One finding.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    pub(crate) code: Cow<'static, str>,
    pub(crate) name: Cow<'static, str>,
    pub(crate) severity: Cow<'static, str>,
    /// Of a finding of an audit: `recipient` or `sender`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) concern: Option<Cow<'static, str>>,
    pub(crate) message: String,
    /// Further lines that help to judge the fault.
    pub(crate) notes: Vec<String>,
    pub(crate) path: String,
    pub(crate) span: Place,
    /// For a span of an expanded layer: the stored bytes.
    pub(crate) stored: Option<Place>,
    pub(crate) related: Vec<RelatedEntry>,
    pub(crate) fix: Option<FixEntry>,
    /// Identifies the finding wherever its bytes move.
    pub(crate) fingerprint: Option<String>,
}

/// A range of bytes: `layer` 0 is the file itself.
#[derive(Debug, Serialize, Deserialize)]
pub struct Place {
    pub(crate) file: String,
    pub(crate) layer: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RelatedEntry {
    pub(crate) message: String,
    pub(crate) span: Place,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FixEntry {
    pub(crate) safety: Cow<'static, str>,
    pub(crate) summary: String,
    /// The bytes that determine what an exact fix writes.
    pub(crate) witnesses: Vec<WitnessEntry>,
    pub(crate) edits: Vec<EditEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WitnessEntry {
    pub(crate) meaning: String,
    pub(crate) span: Place,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EditEntry {
    pub(crate) file: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The bytes, or else `inserted`: a reader that knows one of them only stops at the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) insert: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) inserted: Option<InsertedEntry>,
}

/// Bytes that are not in the report.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct InsertedEntry {
    pub(crate) length: u64,
    /// As in a plan: eight hexadecimal digits.
    pub(crate) crc32: String,
}

impl EditEntry {
    /// Creates the entry of an edit in a file, with up to `most` bytes.
    fn new(file: String, edit: &Edit, most: usize) -> Self {
        let elided = edit.elided.as_deref().copied();
        let elided = elided.or_else(|| {
            (edit.insert.len() > most).then(|| Elided {
                length: to_u64(edit.insert.len()),
                crc32: crc32fast::hash(&edit.insert),
            })
        });
        let Span { start, end, .. } = edit.span;
        Self {
            file,
            start,
            end,
            insert: elided.is_none().then(|| hex(&edit.insert)),
            inserted: elided.map(|Elided { length, crc32 }| InsertedEntry {
                length,
                crc32: format!("{crc32:08x}"),
            }),
        }
    }
}

/// Counts by code.
fn owned(counts: &BTreeMap<&'static str, u64>) -> BTreeMap<Cow<'static, str>, u64> {
    counts.iter().map(|(code, count)| ((*code).into(), *count)).collect()
}

impl Recording {
    /// Creates the entry of the recording at `path` from its report. Edits of more than
    /// [`EDIT_BYTES_MAX`] bytes have their length and CRC-32 instead of the bytes.
    pub fn new(path: impl AsRef<[u8]>, report: &Report, files: &FileSet<'_>) -> Self {
        Self::with_edits(path, report, files, EDIT_BYTES_MAX)
    }

    /// Creates the entry with the bytes of every edit that has at most `most`.
    pub fn with_edits(
        path: impl AsRef<[u8]>,
        report: &Report,
        files: &FileSet<'_>,
        most: usize,
    ) -> Self {
        let entry = |finding| Entry::with_edits(finding, files, most);
        let tally = report.tally;
        Self {
            path: UntrustedPath(path.as_ref()).to_string(),
            format: report.format.map(|format| format.name().into()),
            verdict: report.verdict().name().into(),
            length: report.length,
            crc32: None,
            records: tally.records,
            samples: tally.samples,
            time: tally.first_time.zip(tally.last_time).map(|(first, last)| [first, last]),
            facts: report.facts.iter().cloned().collect(),
            findings: report.findings().iter().map(entry).collect(),
            counts: owned(report.counts()),
            suppressed: owned(report.suppressed()),
            truncated: report.truncated(),
            worst: report.worst(),
        }
    }
}

impl Recording {
    /// Returns the recording as a piece of the document; `first` is true for the first one.
    ///
    /// # Errors
    ///
    /// Those of the JSON writer; no recording causes one.
    pub fn piece(&self, first: bool) -> serde_json::Result<String> {
        let text = serde_json::to_string_pretty(self)?.replace('\n', "\n    ");
        Ok(format!("{}\n    {text}", if first { "" } else { "," }))
    }

    /// Returns the recording as one line with its line end.
    ///
    /// # Errors
    ///
    /// As [`Recording::piece`].
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

impl Entry {
    /// Creates the entry of a finding in the recording of `files`.
    pub fn new(finding: &Finding, files: &FileSet<'_>) -> Self {
        Self::with_edits(finding, files, EDIT_BYTES_MAX)
    }

    fn with_edits(finding: &Finding, files: &FileSet<'_>, most: usize) -> Self {
        let name = |span: Span| -> String {
            let file = usize::try_from(span.layer.file).ok().and_then(|i| files.files().get(i));
            file.map_or_else(String::new, |f| Untrusted(f.name.as_bytes()).to_string())
        };
        let place = |span: Span| Place {
            file: name(span),
            layer: span.layer.depth,
            start: span.start,
            end: span.end,
        };
        let related = finding.related.iter();
        Self {
            code: finding.rule.code.into(),
            name: finding.rule.name.into(),
            severity: finding.severity.name().into(),
            concern: Concern::of(finding.rule).map(|concern| concern.name().into()),
            message: finding.message.clone(),
            fingerprint: finding.fingerprint.clone(),
            notes: finding.notes.clone(),
            path: finding.path.to_string(),
            span: place(finding.span),
            stored: finding.stored.map(place),
            related: related
                .map(|r| RelatedEntry { message: r.message.clone(), span: place(r.span) })
                .collect(),
            fix: finding.fix.as_ref().map(|fix| FixEntry {
                safety: fix.safety.name().into(),
                summary: fix.summary.clone(),
                witnesses: fix
                    .witnesses
                    .iter()
                    .map(|one| WitnessEntry {
                        meaning: one.meaning.to_string(),
                        span: place(one.span),
                    })
                    .collect(),
                edits: fix
                    .edits
                    .iter()
                    .map(|edit| EditEntry::new(name(edit.span), edit, most))
                    .collect(),
            }),
        }
    }
}

/// A report that cannot be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RereadError {
    /// The defect, with text from the report.
    pub reason: String,
}

impl RereadError {
    /// An error with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    pub(super) fn unknown(what: &str, word: &str) -> Self {
        Self::new(format!("unknown {what} `{word}`"))
    }
}

impl fmt::Display for RereadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = Untrusted(self.reason.as_bytes());
        write!(f, "not a report of {CHECK_SCHEMA}: {reason}")
    }
}

impl std::error::Error for RereadError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::options::Options;

    #[test]
    fn the_pieces_are_one_document_and_hold_no_control_character() {
        let path = "a\u{1b}[2J\u{9b}\n\u{202e}b";
        let files = FileSet::single(path, b"\x1b[2J\x7f\x9b\xe2\x80\xae");
        let report = crate::check(&files, &Options::default());
        let recording = Recording::new(path, &report, &files);
        let pieces = [recording.piece(true).unwrap(), recording.piece(false).unwrap()].concat();
        let mut closing = Closing::default();
        closing.skipped.push(SkippedEntry::new("x", "empty"));
        closing.totals.add(&recording);
        let text = head() + &pieces + &closing.piece().unwrap();
        assert!(text.chars().all(|c| c == '\n' || crate::kit::text::is_safe(c)), "{text}");
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["schema"], CHECK_SCHEMA);
        assert_eq!(document["recordings"].as_array().unwrap().len(), 2);
        assert_eq!(document["skipped"][0]["reason"], "empty");
        assert_eq!(document["totals"]["with_errors"], 1);
        let last: serde_json::Value = serde_json::from_str(&closing.line().unwrap()).unwrap();
        assert_eq!((&last["totals"], &last["schema"]), (&document["totals"], &document["schema"]));
        let line: serde_json::Value = serde_json::from_str(&recording.line().unwrap()).unwrap();
        assert_eq!(line, document["recordings"][1]);
    }
}

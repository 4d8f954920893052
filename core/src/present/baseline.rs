//! A baseline: the findings that a team accepts for now, so that only new ones count.
//!
//! A finding is known by its fingerprint, which survives a shift of the bytes. Each entry has a
//! count: a further fault of the same bytes is new.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::catalogue::{DeletedRule, deleted_rule};
use crate::kit::text::Untrusted;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report};

/// Version of the layout of a baseline.
const BASELINE_SCHEMA: &str = "tracemend.baseline.v1";

/// Accepted findings of recordings; the contract is `schema/baseline.schema.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    recordings: BTreeMap<String, BTreeMap<String, Accepted>>,
}

/// Findings of one fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Accepted {
    code: String,
    /// Of the first one, for people who read the file.
    message: String,
    count: u64,
}

/// A baseline as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    tool: String,
    recordings: Vec<RecordingEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordingEntry {
    path: String,
    findings: Vec<FindingEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FindingEntry {
    code: String,
    fingerprint: String,
    count: u64,
    message: String,
}

impl Baseline {
    /// Accepts the findings of a report. `path` names the recording among all recordings of the
    /// baseline, and has to be the same when the baseline is applied. Findings that the report
    /// counts and does not hold are not accepted.
    pub fn add(&mut self, path: &str, report: &Report, files: &FileSet<'_>) {
        // A recording without findings is held, too: it replaces what was accepted before.
        let recording = self.recordings.entry(path.to_string()).or_default();
        for finding in report.findings() {
            let print = finding.compute_fingerprint(path.as_bytes(), files);
            let accepted = recording.entry(print).or_insert_with(|| Accepted {
                code: finding.rule.code.to_string(),
                message: finding.message.clone(),
                count: 0,
            });
            accepted.count = accepted.count.saturating_add(1);
        }
    }

    /// Suppresses the accepted findings of a report. Returns how many accepted ones it lacks.
    pub fn apply(&self, path: &str, report: &mut Report, files: &FileSet<'_>) -> u64 {
        let Some(recording) = self.recordings.get(path) else { return 0 };
        let mut left: BTreeMap<&str, u64> =
            recording.iter().map(|(print, accepted)| (print.as_str(), accepted.count)).collect();
        report.suppress(|finding: &Finding| {
            let print = finding.compute_fingerprint(path.as_bytes(), files);
            match left.get_mut(print.as_str()) {
                Some(count) if *count > 0 => {
                    *count = count.saturating_sub(1);
                    true
                }
                _ => false,
            }
        });
        left.values().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// Adds the recordings of another baseline, which replace those of the same path.
    pub fn extend(&mut self, other: Self) {
        self.recordings.extend(other.recordings);
    }

    /// Returns the rules of accepted findings that do not exist any more.
    pub fn deleted(&self) -> impl Iterator<Item = &'static DeletedRule> {
        let accepted = self.recordings.values().flat_map(BTreeMap::values);
        accepted.filter_map(|accepted| deleted_rule(&accepted.code))
    }

    /// Returns the number of accepted findings.
    pub fn count(&self) -> u64 {
        let accepted = self.recordings.values().flat_map(BTreeMap::values);
        accepted.fold(0, |sum: u64, accepted| sum.saturating_add(accepted.count))
    }

    /// Returns the baseline as a JSON document.
    ///
    /// # Errors
    ///
    /// Those of the JSON writer; no baseline causes one.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let finding = |(print, accepted): (&String, &Accepted)| FindingEntry {
            code: accepted.code.clone(),
            fingerprint: print.clone(),
            count: accepted.count,
            message: accepted.message.clone(),
        };
        let with_findings = self.recordings.iter().filter(|(_, findings)| !findings.is_empty());
        let recordings = with_findings.map(|(path, findings)| RecordingEntry {
            path: path.clone(),
            findings: findings.iter().map(finding).collect(),
        });
        let document = Document {
            schema: BASELINE_SCHEMA.to_string(),
            tool: super::json::TOOL.to_string(),
            recordings: recordings.collect(),
        };
        serde_json::to_string_pretty(&document).map(|text| text + "\n")
    }

    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// If the text is not a baseline of this version.
    pub fn from_json(text: &str) -> Result<Self, BaselineError> {
        let document: Document = serde_json::from_str(text)
            .map_err(|error| BaselineError { reason: error.to_string() })?;
        if document.schema != BASELINE_SCHEMA {
            let reason = format!("schema is `{}`, expected {BASELINE_SCHEMA}", document.schema);
            return Err(BaselineError { reason });
        }
        let mut baseline = Self::default();
        for RecordingEntry { path, findings } in document.recordings {
            let recording = baseline.recordings.entry(path).or_default();
            for FindingEntry { code, fingerprint, count, message } in findings {
                recording.insert(fingerprint, Accepted { code, message, count });
            }
        }
        Ok(baseline)
    }
}

/// A text that is not a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BaselineError {
    /// The defect, with text from the file.
    pub reason: String,
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a baseline: {}", Untrusted(self.reason.as_bytes()))
    }
}

impl std::error::Error for BaselineError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};
    use crate::model::options::Options;
    use crate::model::rule::common;

    fn report(files: &FileSet<'_>, starts: &[u64]) -> Report {
        let mut report = Report::new(None, files.len(), 100);
        for start in starts {
            let span = Span::sized(Layer::stored(0), *start, 2);
            report.push(Finding::new(&common::UNKNOWN_FORMAT, span, "field", "defect"));
        }
        report
    }

    #[test]
    fn accepted_findings_are_suppressed_wherever_they_moved_and_no_further_ones() {
        let mut baseline = Baseline::default();
        let before = FileSet::single("x", b"..ab..ab");
        baseline.add("x", &report(&before, &[2, 6]), &before);
        assert_eq!(baseline.count(), 2);
        let baseline = Baseline::from_json(&baseline.to_json().unwrap()).unwrap();
        let after = FileSet::single("x", b"....ab.ab.ab.cd");
        let mut found = report(&after, &[4, 7, 10, 13]);
        assert_eq!(baseline.apply("x", &mut found, &after), 0);
        let starts: Vec<u64> = found.findings().iter().map(|one| one.span.start()).collect();
        assert_eq!(starts, [10, 13]);
        assert_eq!(
            (found.suppressed().get("CM0002"), found.count_of(crate::model::Severity::Error)),
            (Some(&2), 2)
        );
        // Another recording has accepted nothing.
        let mut other = report(&after, &[4]);
        assert_eq!(baseline.apply("y", &mut other, &after), 0);
        assert_eq!(other.findings().len(), 1);
        // One that was repaired in the meantime.
        assert_eq!(baseline.apply("x", &mut report(&after, &[4]), &after), 1);
    }

    #[test]
    fn another_text_is_not_a_baseline() {
        for text in ["", "[]", "{}", "{\"schema\":\"x\\u001b\",\"tool\":\"\",\"recordings\":[]}"] {
            let error = Baseline::from_json(text).unwrap_err().to_string();
            assert!(error.chars().all(crate::is_safe), "{error:?}");
        }
        let files = FileSet::single("x", b"");
        let mut clean = crate::check(&files, &Options::default());
        assert_eq!(Baseline::default().apply("x", &mut clean, &files), 0);
    }
}

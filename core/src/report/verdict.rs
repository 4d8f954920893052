//! The report of one recording: what was found, what was counted, and the verdict.

use std::collections::BTreeMap;

use crate::registry::FormatId;
use crate::report::finding::Finding;
use crate::report::rule::{Rule, Severity, common};

/// What a check comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No warning and no error.
    Clean,
    /// Findings.
    Findings,
    /// Nothing of the recording can be read.
    Unreadable,
    /// A limit was reached: there may be more.
    Incomplete,
}

impl Verdict {
    /// The word used in every output format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Findings => "findings",
            Self::Unreadable => "unreadable",
            Self::Incomplete => "incomplete",
        }
    }
}

/// What a check counted on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Whole records, in the format's own sense.
    pub records: u64,
    /// Those of them that carry measurements (samples, calls, events).
    pub samples: u64,
    /// Earliest time stamp seen, in nanoseconds of the recording's clock.
    pub first_time: Option<u64>,
    /// Latest time stamp seen, in nanoseconds of the recording's clock.
    pub last_time: Option<u64>,
    /// Bytes of the expanded layers.
    pub expanded: u64,
}

impl Tally {
    /// Widens the time range by `time`.
    #[inline]
    pub fn observe_time(&mut self, time: u64) {
        self.first_time = Some(self.first_time.map_or(time, |first| first.min(time)));
        self.last_time = Some(self.last_time.map_or(time, |last| last.max(time)));
    }
}

/// What was found in one recording. Findings are sorted by place and capped; counts are exact.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The format; `None` if no format recognises the recording.
    pub format: Option<FormatId>,
    /// Length of all files of the recording in bytes.
    pub length: u64,
    /// What was counted.
    pub tally: Tally,
    /// What else there is to know about the recording, in the format's own order: a name in lower
    /// case and a value that is safe to print.
    pub facts: Vec<(&'static str, String)>,
    findings: Vec<Finding>,
    counts: BTreeMap<&'static str, u64>,
    /// How many findings there are of each severity: info, warning, error.
    severities: [u64; 3],
    worst: Option<Severity>,
    capacity: usize,
    truncated: bool,
    unreadable: bool,
    incomplete: bool,
}

impl Report {
    /// An empty report that holds at most `capacity` findings.
    pub fn new(format: Option<FormatId>, length: u64, capacity: usize) -> Self {
        Self { format, length, capacity, ..Self::default() }
    }

    /// Adds a finding; past the capacity it is only counted.
    pub fn push(&mut self, finding: Finding) {
        let (rule, severity) = (finding.rule, finding.severity);
        self.push_with(rule, severity, || finding);
    }

    /// Adds a finding that is costly to describe: `describe` is called only if there is room.
    pub fn push_with(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        describe: impl FnOnce() -> Finding,
    ) {
        let count = self.counts.entry(rule.code).or_default();
        *count = count.saturating_add(1);
        self.worst = self.worst.max(Some(severity));
        self.add_severity(severity, 1);
        self.incomplete |= *rule == common::LIMIT_REACHED;
        if self.findings.len() < self.capacity {
            let finding = describe();
            debug_assert!(
                finding.message.chars().all(crate::kit::text::is_safe),
                "a message holds text from a file unescaped: {finding:?}"
            );
            self.findings.push(finding);
        } else {
            self.truncated = true;
        }
    }

    /// Counts findings that nobody describes: there were more than the report holds.
    pub fn count_more(&mut self, rule: &'static Rule, severity: Severity, count: u64) {
        if count == 0 {
            return;
        }
        let sum = self.counts.entry(rule.code).or_default();
        *sum = sum.saturating_add(count);
        self.worst = self.worst.max(Some(severity));
        self.add_severity(severity, count);
        self.truncated = true;
    }

    /// Adds something to know about the recording. Text of a file must be escaped already.
    pub fn fact(&mut self, name: &'static str, value: impl Into<String>) {
        let value = value.into();
        debug_assert!(value.chars().all(crate::kit::text::is_safe), "{name} is not escaped");
        self.facts.push((name, value));
    }

    /// Nothing of the recording can be read: its findings say why.
    pub fn mark_unreadable(&mut self) {
        self.unreadable = true;
    }

    /// Sorts the findings. Called once, after the last one was added.
    pub(crate) fn finish(&mut self) {
        self.findings.sort_by(|a, b| a.key().cmp(&b.key()));
    }

    /// The findings, in the order of their places once the check is over.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How often each rule fired, by code; not capped.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    fn add_severity(&mut self, severity: Severity, count: u64) {
        let [info, warning, error] = &mut self.severities;
        let sum = match severity {
            Severity::Info => info,
            Severity::Warning => warning,
            Severity::Error => error,
        };
        *sum = sum.saturating_add(count);
    }

    /// How many findings there are of one severity; not capped.
    pub const fn count_of(&self, severity: Severity) -> u64 {
        let [info, warning, error] = self.severities;
        match severity {
            Severity::Info => info,
            Severity::Warning => warning,
            Severity::Error => error,
        }
    }

    /// How often one rule fired.
    pub fn count(&self, rule: &Rule) -> u64 {
        self.counts.get(rule.code).copied().unwrap_or(0)
    }

    /// The worst severity among all findings, those past the cap included.
    pub const fn worst(&self) -> Option<Severity> {
        self.worst
    }

    /// Whether there are findings that are counted but not held.
    pub const fn truncated(&self) -> bool {
        self.truncated
    }

    /// Whether a limit was reached.
    pub const fn incomplete(&self) -> bool {
        self.incomplete
    }

    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.worst == Some(Severity::Error)
    }

    /// The verdict: `clean` without warnings and errors, whatever else there is to know.
    pub fn verdict(&self) -> Verdict {
        if self.incomplete {
            Verdict::Incomplete
        } else if self.unreadable {
            Verdict::Unreadable
        } else if self.worst > Some(Severity::Info) {
            Verdict::Findings
        } else {
            Verdict::Clean
        }
    }

    /// Gives every finding the severity that `of` says; `None` takes the finding out of the report.
    pub fn judge(&mut self, of: impl Fn(&'static Rule) -> Option<Severity>) {
        let mut worst = None;
        self.severities = [0; 3];
        for rule in crate::registry::rules() {
            let Some(count) = self.counts.get(rule.code).copied() else { continue };
            match of(rule) {
                Some(severity) if count > 0 => {
                    worst = worst.max(Some(severity));
                    self.add_severity(severity, count);
                }
                _ => drop(self.counts.remove(rule.code)),
            }
        }
        self.worst = worst;
        self.findings.retain_mut(|finding| match of(finding.rule) {
            Some(severity) => {
                finding.severity = severity;
                true
            }
            None => false,
        });
    }

    /// Keeps the first `max` findings and counts the others.
    pub fn truncate(&mut self, max: usize) {
        self.truncated |= self.findings.len() > max;
        self.findings.truncate(max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};

    fn finding(rule: &'static Rule) -> Finding {
        Finding::new(rule, Span::new(Layer::stored(0), 0, 1), "file", "1 byte")
    }

    #[test]
    fn counts_are_exact_past_the_capacity_and_follow_the_judge() {
        let mut report = Report::new(None, 1, 1);
        report.push(finding(&common::EMPTY_FILE));
        report.push(finding(&common::UNKNOWN_FORMAT));
        report.push(finding(&common::UNKNOWN_FORMAT));
        assert_eq!((report.findings().len(), report.truncated()), (1, true));
        assert_eq!(report.count_of(Severity::Error), 3);
        report.judge(|rule| (*rule != common::EMPTY_FILE).then_some(Severity::Warning));
        assert_eq!(report.count_of(Severity::Error), 0);
        assert_eq!(report.count_of(Severity::Warning), 2);
        assert_eq!((report.worst(), report.findings().len()), (Some(Severity::Warning), 0));
        report.judge(|_| None);
        assert_eq!((report.worst(), report.verdict()), (None, Verdict::Clean));
    }

    #[test]
    fn a_limit_outweighs_every_judge() {
        let mut report = Report::new(None, 1, 9);
        report.push(finding(&common::LIMIT_REACHED));
        report.judge(|_| None);
        assert_eq!(report.verdict(), Verdict::Incomplete);
    }
}

//! The report of one recording: findings, counts and the verdict.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::kit::span::Span;
use crate::model::description::FormatId;
use crate::model::edit::{Fix, Safety};
use crate::model::finding::Finding;
use crate::model::rule::{Rule, Severity, common};

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No warning and no error.
    Clean,
    /// At least one warning or error.
    Findings,
    /// Nothing of the recording can be read.
    Unreadable,
    /// A limit was reached, so there may be more findings.
    Incomplete,
}

impl Verdict {
    /// Returns the word that every output format uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Findings => "findings",
            Self::Unreadable => "unreadable",
            Self::Incomplete => "incomplete",
        }
    }
}

/// The counts of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of complete records, as the format defines them.
    pub records: u64,
    /// Number of records that carry measurements (samples, calls, events).
    pub samples: u64,
    /// Earliest timestamp in nanoseconds of the clock of the recording.
    pub first_time: Option<u64>,
    /// Latest timestamp in nanoseconds of the clock of the recording.
    pub last_time: Option<u64>,
    /// Length of the expanded layers in bytes.
    pub expanded: u64,
}

impl Tally {
    /// Extends the time range to `time`.
    #[inline]
    pub fn observe_time(&mut self, time: u64) {
        self.first_time = Some(self.first_time.map_or(time, |first| first.min(time)));
        self.last_time = Some(self.last_time.map_or(time, |last| last.max(time)));
    }
}

/// What a report needs to merge findings of one rule.
#[derive(Clone, Debug, Default)]
struct Merging {
    /// The number of findings of one rule that are not merged; all of them if it is `None`.
    after: Option<u64>,
    /// The last finding of each rule.
    last: BTreeMap<&'static str, usize>,
}

/// The findings and counts of one recording. Findings are sorted by position and capped; counts are
/// exact.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The format; `None` if no format recognises the recording.
    pub format: Option<FormatId>,
    /// Length of all files of the recording in bytes.
    pub length: u64,
    /// The counts.
    pub tally: Tally,
    /// Further facts about the recording, in an order that the format chooses: a name in lower case
    /// and a value that is safe to print.
    pub facts: Vec<(Cow<'static, str>, String)>,
    findings: Vec<Finding>,
    judged: Judged,
    capacity: usize,
    truncated: bool,
    merging: Merging,
    /// The verdict if it does not follow from the findings.
    forced: Option<Verdict>,
}

/// The counts of all findings, those that are only counted included.
#[derive(Clone, Debug, Default)]
struct Judged {
    /// Number of findings of each rule, by code.
    codes: BTreeMap<&'static str, u64>,
    /// The same, by severity as well: findings of one rule may differ in it.
    severities: BTreeMap<(Severity, &'static str), u64>,
    /// Number of findings that a policy removed, by code.
    suppressed: BTreeMap<&'static str, u64>,
    /// Those of them that the report held.
    set_aside: Vec<(Finding, Suppression)>,
}

/// Why a finding is suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suppression {
    /// The policy allows its rule.
    Policy,
    /// The baseline has it.
    Baseline,
}

impl Judged {
    fn add(&mut self, code: &'static str, severity: Severity, count: u64) {
        let by_severity = self.severities.entry((severity, code)).or_default();
        *by_severity = by_severity.saturating_add(count);
        let sum = self.codes.entry(code).or_default();
        *sum = sum.saturating_add(count);
    }

    fn suppress(&mut self, code: &'static str, count: u64) {
        let sum = self.suppressed.entry(code).or_default();
        *sum = sum.saturating_add(count);
    }

    /// Counts one finding as suppressed instead.
    fn set_aside(&mut self, finding: Finding, reason: Suppression) {
        let (code, severity) = (finding.rule.code, finding.severity);
        let counts = [self.codes.get_mut(code), self.severities.get_mut(&(severity, code))];
        for count in counts.into_iter().flatten() {
            *count = count.saturating_sub(1);
        }
        self.codes.retain(|_, count| *count > 0);
        self.suppress(code, 1);
        self.set_aside.push((finding, reason));
    }
}

impl Report {
    /// Creates an empty report that holds at most `capacity` findings.
    pub fn new(format: Option<FormatId>, length: u64, capacity: usize) -> Self {
        Self { format, length, capacity, ..Self::default() }
    }

    /// Merges findings of one rule beyond the first `most` into one: the same fault a million times
    /// is one finding, whose fix has many edits. For a repair, which needs them all.
    #[must_use]
    pub(crate) fn merging_after(mut self, most: u64) -> Self {
        self.merging.after = Some(most);
        self
    }

    /// Adds a finding; beyond the capacity it is only counted.
    pub fn push(&mut self, finding: Finding) {
        let (rule, severity) = (finding.rule, finding.severity);
        self.push_with(rule, severity, || finding);
    }

    /// Adds a finding whose description is costly; `describe` is called only within the capacity.
    pub fn push_with(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        describe: impl FnOnce() -> Finding,
    ) {
        self.judged.add(rule.code, severity, 1);
        let merges = self.merging.after.is_some_and(|most| self.count(rule) > most);
        if *rule == common::LIMIT_REACHED {
            self.forced = Some(Verdict::Incomplete);
        }
        if merges || self.findings.len() < self.capacity {
            let mut finding = describe();
            debug_assert!(
                finding.message.chars().all(crate::kit::text::is_safe),
                "a message has unescaped text from a file: {finding:?}"
            );
            debug_assert!(
                finding.fix.as_ref().is_none_or(is_claim_shown),
                "a fix claims a better class than its edits show: {finding:?}"
            );
            if let Some(fix) = finding.fix.as_mut().filter(|fix| !is_claim_shown(fix)) {
                fix.safety = fix.class_by_edits();
            }
            let last =
                self.merging.last.get(rule.code).and_then(|last| self.findings.get_mut(*last));
            let finding = match last.filter(|_| merges) {
                Some(last) => match last.absorb(finding) {
                    None => return,
                    Some(finding) => finding,
                },
                None => finding,
            };
            if self.findings.len() < self.capacity {
                self.merging.last.insert(rule.code, self.findings.len());
                self.findings.push(finding);
                return;
            }
        }
        self.truncated = true;
    }

    /// Gives a fix to the first finding that `may_have` accepts. The fix is found after everything
    /// else is known.
    pub(crate) fn offer(&mut self, fix: Fix, may_have: impl Fn(&Finding) -> bool) {
        debug_assert!(is_claim_shown(&fix), "a fix claims more than its edits show: {fix:?}");
        let wanted = self.findings.iter_mut().filter(|finding| may_have(finding));
        if let Some(first) = wanted.min_by(|a, b| a.key().cmp(&b.key())) {
            first.fix = Some(fix);
        }
    }

    /// Takes their witnesses from the exact fixes of a rule, whose class is then that of their
    /// edits. What the witnesses rest on is in doubt after everything else is known.
    pub(crate) fn doubt_fixes(&mut self, rule: &Rule) {
        let of_rule = self.findings.iter_mut().filter(|finding| finding.rule == rule);
        for fix in of_rule.filter_map(|finding| finding.fix.as_mut()) {
            if fix.safety == Safety::Exact {
                fix.witnesses.clear();
                fix.safety = fix.class_by_edits();
                fix.records_altered = fix.records_altered.max(1);
            }
        }
    }

    /// Counts findings without describing them, because the report is full.
    pub fn count_more(&mut self, rule: &'static Rule, severity: Severity, count: u64) {
        if count == 0 {
            return;
        }
        self.judged.add(rule.code, severity, count);
        self.truncated = true;
    }

    /// Adds a fact about the recording. Text from a file must be escaped already.
    pub fn fact(&mut self, name: &'static str, value: impl Into<String>) {
        let value = value.into();
        debug_assert!(value.chars().all(crate::kit::text::is_safe), "{name} is not escaped");
        self.facts.push((name.into(), value));
    }

    /// Marks the recording as unreadable; a finding gives the reason.
    pub fn mark_unreadable(&mut self) {
        self.forced = self.forced.max(Some(Verdict::Unreadable));
    }

    /// Marks the recording as not checked to its end.
    #[cfg(feature = "json")]
    pub(crate) fn mark_incomplete(&mut self) {
        self.forced = Some(Verdict::Incomplete);
    }

    /// Adds a finding of another report as it is.
    #[cfg(feature = "json")]
    pub(crate) fn hold(&mut self, finding: Finding) {
        self.judged.add(finding.rule.code, finding.severity, 1);
        self.findings.push(finding);
    }

    /// Counts findings that another report suppressed.
    #[cfg(feature = "json")]
    pub(crate) fn count_suppressed(&mut self, rule: &'static Rule, count: u64) {
        self.judged.suppress(rule.code, count);
    }

    /// Calls `change` for every finding that is held, suppressed ones last.
    #[cfg(feature = "json")]
    pub(crate) fn each_held(&mut self, mut change: impl FnMut(&mut Finding)) {
        self.findings.iter_mut().for_each(&mut change);
        self.judged.set_aside.iter_mut().for_each(|(finding, _)| change(finding));
    }

    /// Adds a finding even if the report is full.
    pub(crate) fn lead(&mut self, finding: Finding) {
        self.judged.add(finding.rule.code, finding.severity, 1);
        self.findings.push(finding);
    }

    /// Moves the stored spans of all findings to where `place` finds them; their fixes wait.
    pub(crate) fn move_spans(&mut self, place: impl Fn(Span) -> Span) {
        self.findings.iter_mut().for_each(|finding| finding.move_spans(&place));
    }

    /// Sorts the findings, after the last one was added.
    pub(crate) fn finish(&mut self) {
        self.findings.sort_by(|a, b| a.key().cmp(&b.key()));
    }

    /// Returns the findings. After the check the causes of others are first, the rest is sorted by
    /// position.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the stored places of the findings that are more than information.
    pub(crate) fn faults(&self) -> impl Iterator<Item = Span> {
        let faults = self.findings.iter().filter(|finding| finding.severity > Severity::Info);
        faults.map(|finding| finding.stored.unwrap_or(finding.span))
    }

    /// Returns the stored places of the errors.
    pub(crate) fn errors(&self) -> impl Iterator<Item = Span> {
        let errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        errors.map(|finding| finding.stored.unwrap_or(finding.span))
    }

    /// Returns the number of findings of each rule, by code; not capped.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.judged.codes
    }

    /// Returns the number of findings of one severity; not capped.
    pub fn count_of(&self, severity: Severity) -> u64 {
        let counts = self.judged.severities.iter().filter(|((one, _), _)| *one == severity);
        counts.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    }

    /// Returns the number of findings of one rule.
    pub fn count(&self, rule: &Rule) -> u64 {
        self.judged.codes.get(rule.code).copied().unwrap_or(0)
    }

    /// Returns the worst severity among all findings, also of those that are only counted.
    pub fn worst(&self) -> Option<Severity> {
        let counts = self.judged.severities.iter().rev();
        counts.filter(|(_, count)| **count > 0).map(|((severity, _), _)| *severity).next()
    }

    /// Returns whether some findings are only counted.
    pub const fn truncated(&self) -> bool {
        self.truncated
    }

    /// Returns whether a limit was reached.
    pub const fn incomplete(&self) -> bool {
        matches!(self.forced, Some(Verdict::Incomplete))
    }

    /// Returns whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.worst() == Some(Severity::Error)
    }

    /// Returns the verdict; findings of severity info leave it clean.
    pub fn verdict(&self) -> Verdict {
        match self.forced {
            Some(verdict) => verdict,
            None if self.worst() > Some(Severity::Info) => Verdict::Findings,
            None => Verdict::Clean,
        }
    }

    /// Returns the number of findings that [`Report::apply`] and [`Report::suppress`] removed, by
    /// code.
    pub fn suppressed(&self) -> &BTreeMap<&'static str, u64> {
        &self.judged.suppressed
    }

    /// Returns the suppressed findings, as far as the report held them.
    pub fn set_aside(&self) -> &[(Finding, Suppression)] {
        &self.judged.set_aside
    }

    /// Gives each finding the severity that `severity_of` finds for its code and its severity, and
    /// suppresses those without one.
    pub(crate) fn judge_again(&mut self, severity_of: impl Fn(&str, Severity) -> Option<Severity>) {
        self.judged.codes.clear();
        for ((severity, code), count) in std::mem::take(&mut self.judged.severities) {
            match severity_of(code, severity) {
                Some(severity) => self.judged.add(code, severity, count),
                None => self.judged.suppress(code, count),
            }
        }
        for mut finding in std::mem::take(&mut self.findings) {
            match severity_of(finding.rule.code, finding.severity) {
                Some(severity) => {
                    finding.severity = severity;
                    self.findings.push(finding);
                }
                None => self.judged.set_aside.push((finding, Suppression::Policy)),
            }
        }
    }

    /// Suppresses the findings that `is_accepted` selects, of those that the report holds.
    pub fn suppress(&mut self, mut is_accepted: impl FnMut(&Finding) -> bool) {
        for finding in std::mem::take(&mut self.findings) {
            if is_accepted(&finding) {
                self.judged.set_aside(finding, Suppression::Baseline);
            } else {
                self.findings.push(finding);
            }
        }
    }

    /// Keeps the first `max` findings and counts the others.
    pub fn truncate(&mut self, max: usize) {
        self.truncated |= self.findings.len() > max;
        self.findings.truncate(max);
    }
}

/// Returns whether the class of a fix is at best the one that its edits and witnesses show.
fn is_claim_shown(fix: &Fix) -> bool {
    // A fix without edits describes a part of another one, which has them.
    fix.edits.is_empty() || fix.safety >= fix.class_by_edits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};
    use crate::model::edit::{Edit, Safety};
    use crate::present::policy::{Level, Policy};

    fn finding(rule: &'static Rule) -> Finding {
        Finding::new(rule, Span::new(Layer::stored(0), 0, 1), "file", "1 byte")
    }

    #[test]
    fn counts_are_exact_beyond_the_capacity_and_follow_the_severities() {
        let mut report = Report::new(None, 1, 1);
        report.push(finding(&common::EMPTY_FILE));
        report.push(finding(&common::UNKNOWN_FORMAT));
        report.push(finding(&common::UNKNOWN_FORMAT));
        assert_eq!((report.findings().len(), report.truncated()), (1, true));
        assert_eq!(report.count_of(Severity::Error), 3);
        let policy = Policy::default().with("CM".parse().unwrap(), Level::Warn);
        report.apply(&policy.with("CM0001".parse().unwrap(), Level::Allow));
        assert_eq!(report.count_of(Severity::Error), 0);
        assert_eq!(report.count_of(Severity::Warning), 2);
        assert_eq!((report.worst(), report.findings().len()), (Some(Severity::Warning), 0));
        report.apply(&Policy::default().with("all".parse().unwrap(), Level::Allow));
        assert_eq!((report.worst(), report.verdict()), (None, Verdict::Clean));
        assert_eq!(report.suppressed().get("CM0002"), Some(&2));
    }

    #[test]
    fn a_policy_leaves_the_severity_of_other_findings() {
        let mut report = Report::new(None, 1, 9);
        let mut mild = finding(&common::UNKNOWN_FORMAT);
        mild.severity = Severity::Info;
        report.push(mild);
        report.push(finding(&common::EMPTY_FILE));
        report.apply(&Policy::default().with("CM0001".parse().unwrap(), Level::Warn));
        assert_eq!(report.count_of(Severity::Info), 1);
        assert_eq!(report.findings()[0].severity, Severity::Info);
        assert_eq!(report.worst(), Some(Severity::Warning));
        report.suppress(|finding| finding.severity == Severity::Warning);
        assert_eq!((report.worst(), report.findings().len()), (Some(Severity::Info), 1));
        assert_eq!(report.suppressed().get("CM0001"), Some(&1));
        assert_eq!(report.set_aside()[0].1, Suppression::Baseline);
    }

    #[test]
    fn the_same_fault_many_times_is_one_finding_with_many_edits() {
        let at = |start: u64| {
            let span = Span::new(Layer::stored(0), start, start + 2);
            let fix = Fix::new(Safety::Lossy, "drop 2 bytes", vec![Edit::drop(span)]);
            Finding::new(&common::UNKNOWN_FORMAT, span, "file", "2 bytes").fix(fix)
        };
        let mut report = Report::new(None, 100, 9).merging_after(1);
        [0, 10, 12, 20, 14].into_iter().for_each(|start| report.push(at(start)));
        // 14 lies before what was merged last.
        assert_eq!((report.findings().len(), report.count_of(Severity::Error)), (2, 5));
        let merged = &report.findings()[0];
        let fix = merged.fix.as_ref().unwrap();
        let spans: Vec<_> = fix.edits.iter().map(|edit| edit.span.range()).collect();
        assert_eq!((fix.repeats, spans), (3, vec![0..2, 10..14, 20..22]));
        assert!(!report.truncated());
    }

    #[test]
    fn a_reached_limit_makes_the_verdict_incomplete_at_any_severity() {
        let mut report = Report::new(None, 1, 9);
        report.push(finding(&common::LIMIT_REACHED));
        report.apply(&Policy::default().with("all".parse().unwrap(), Level::Allow));
        assert_eq!(report.verdict(), Verdict::Incomplete);
    }
}

//! Findings of one stream, gathered apart so that streams can be checked in parallel.

use std::collections::BTreeMap;

use crate::formats::ovni::rules;
use crate::model::{Finding, Report, Severity};

/// Findings in the order in which they were made, up to a number; further ones are counted.
#[derive(Clone, Debug, Default)]
pub struct Log {
    list: Vec<Finding>,
    more: BTreeMap<(&'static str, Severity), (Finding, u64)>,
    capacity: usize,
}

impl Log {
    /// Creates an empty log that holds at most `capacity` findings.
    pub const fn new(capacity: usize) -> Self {
        Self { list: Vec::new(), more: BTreeMap::new(), capacity }
    }

    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        if self.list.len() < self.capacity {
            self.list.push(finding);
            return;
        }
        let key = (finding.rule.code, finding.severity);
        let (_, count) = self.more.entry(key).or_insert((finding, 0));
        *count = count.saturating_add(1);
    }

    /// Whether every error has a fix.
    pub fn is_repairable(&self) -> bool {
        let is_repairable = |finding: &Finding| {
            let has_edits = finding.fix.as_ref().is_some_and(|fix| !fix.edits.is_empty());
            finding.severity < Severity::Error || has_edits
        };
        self.list.iter().all(is_repairable) && self.more.is_empty()
    }

    /// Whether an event contradicts those around it.
    pub fn has_contradiction(&self) -> bool {
        let counted = self.more.values().map(|(finding, _)| finding);
        self.list.iter().chain(counted).any(rules::is_contradiction)
    }

    /// Drops all findings; returns whether an event contradicted those around it.
    pub fn take_contradiction(&mut self) -> bool {
        let is_found = self.has_contradiction();
        self.list.clear();
        self.more.clear();
        is_found
    }

    /// Moves all findings into a report, then the counted ones.
    pub fn move_into(self, report: &mut Report) {
        for finding in self.list {
            report.push(finding);
        }
        for (finding, count) in self.more.into_values() {
            for _ in 0..count {
                report.push_with(finding.rule, finding.severity, || finding.clone());
            }
        }
    }
}

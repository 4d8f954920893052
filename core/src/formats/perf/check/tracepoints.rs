//! The data of tracepoints against the events of their samples.
//!
//! If no sample of an event has the data of its tracepoint, the attr is damaged and not all
//! samples: then no sample is changed or dropped for it.

use crate::model::edit::Fix;
use crate::model::{Finding, Report};

/// Findings that wait for a right sample of their event. Further ones have no fix in this round.
const WAITING_MAX: usize = 1 << 10;

/// What is known about the samples of each event.
#[derive(Default)]
pub(super) struct TracepointData {
    /// Whether an event, by its index, has a sample with the right data.
    proven: Vec<bool>,
    /// Findings about events without one, with the index.
    waiting: Vec<(usize, Finding)>,
}

impl TracepointData {
    /// Notes a sample with the data of its event.
    #[inline]
    pub(super) fn prove(&mut self, event: usize) {
        if self.proven.len() <= event {
            self.proven.resize(event.saturating_add(1), false);
        }
        if let Some(proven) = self.proven.get_mut(event) {
            *proven = true;
        }
    }

    fn is_proven(&self, event: usize) -> bool {
        self.proven.get(event).copied().unwrap_or(false)
    }

    /// Adds a finding about a sample of an event, or keeps it until the event is proven.
    pub(super) fn push(&mut self, event: usize, finding: Finding, report: &mut Report) {
        if self.is_proven(event) {
            report.push(finding);
        } else if self.waiting.len() < WAITING_MAX {
            self.waiting.push((event, finding));
        } else {
            report.push(without_fix(finding));
        }
    }

    /// Adds the findings that wait.
    pub(super) fn finish(&mut self, report: &mut Report) {
        for (event, finding) in std::mem::take(&mut self.waiting) {
            let is_proven = self.is_proven(event);
            report.push(if is_proven { finding } else { without_fix(finding) });
        }
    }
}

fn without_fix(finding: Finding) -> Finding {
    finding.fix(Fix::manual(
        "no sample has the tracepoint of its event: config of the attr may be the damaged field",
    ))
}

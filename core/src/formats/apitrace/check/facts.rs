//! Counts for the report.

use super::{Loss, TraceCheck, stream_span};
use crate::formats::apitrace::rules;
use crate::kit::num::to_u64;
use crate::kit::ranges::{HELD, Ranges, count_numbers};
use crate::kit::words::{plural, range};
use crate::model::{Finding, Report};

impl TraceCheck<'_, '_> {
    pub(super) fn tally(&self, report: &mut Report) {
        let tracker = &self.trace.tracker;
        report.tally.records = tracker.history.count;
        let calls = tracker.calls.next.saturating_sub(tracker.lost_calls.count());
        report.tally.samples = calls.saturating_sub(tracker.calls.placeholders);
        report.tally.expanded = self.trace.places.end;
    }

    pub(super) fn add_facts(&mut self, report: &mut Report) {
        let tracker = &self.trace.tracker;
        report.fact("container", self.trace.container.name());
        if let Some((version, _)) = tracker.header.version {
            let counts = tracker.count_definitions();
            let counts = counts.map(|(space, count)| plural(to_u64(count), space.name()));
            report.fact("version", version.to_string());
            report.fact("threads", tracker.calls.threads.to_string());
            report.fact("definitions", counts.join(", "));
        }
        let placeholders = tracker.calls.placeholders;
        self.add_loss_facts(report);
        if placeholders > 0 {
            report.fact("placeholders of lost calls", placeholders.to_string());
            let message = format!(
                "{} that an earlier repair added for lost calls",
                plural(placeholders, "placeholder call")
            );
            let span = stream_span(0, 0);
            self.add(Finding::new(&rules::PLACEHOLDERS, span, "stream", message));
        }
    }

    /// Adds the lost calls and those that may be wrong.
    fn add_loss_facts(&self, report: &mut Report) {
        let with_lost = || self.losses.iter().filter(|loss| loss.lost > 0);
        let sum = with_lost().map(|loss| loss.lost).fold(0, u64::saturating_add);
        if sum > 0 {
            let last = |loss: &Loss| loss.first.saturating_add(loss.lost).saturating_sub(1);
            let ranges = with_lost().map(|loss| (loss.first, last(loss)));
            report.fact("calls lost", format!("{sum}: {}", list_ranges(ranges)));
        }
        let incomplete = self.trace.tracker.lost_calls.incomplete.at_most(HELD);
        if !incomplete.is_empty() {
            let count = count_numbers(incomplete.iter().copied());
            let ranges = list_ranges(incomplete.into_iter());
            report.fact("calls with lost bytes", format!("{count}: {ranges}"));
        }
        let mut suspect = Ranges::default();
        for (from, to) in self.losses.iter().filter_map(|loss| loss.suspects) {
            suspect.add(from, to);
        }
        // A call with a placeholder definition is not the call that was recorded.
        let lost = &self.trace.tracker.lost_definitions;
        suspect.add_all(&lost.made_up_calls);
        if self.donor.is_none() {
            suspect.add_all(&lost.donated_calls);
        }
        if !suspect.is_empty() {
            let all = suspect.at_most(HELD);
            let count = count_numbers(all.iter().copied());
            let ranges = list_ranges(all.into_iter());
            report.fact("calls that may be wrong", format!("{count}: {ranges}"));
        }
    }
}

/// Lists ranges in a form that a program can read: `5, 7 to 9, 12 and 3 more`.
fn list_ranges(ranges: impl Iterator<Item = (u64, u64)>) -> String {
    let mut texts: Vec<String> = ranges.map(|(first, last)| range(first, last)).collect();
    let more = texts.len().saturating_sub(HELD);
    texts.truncate(HELD);
    match more {
        0 => texts.join(", "),
        more => format!("{} and {more} more", texts.join(", ")),
    }
}

//! The number of CPUs in NRCPUS, by which other features are read.

use super::feature_check::{FeatureCheck, Placed};
use crate::formats::perf::decode::feature::Cpus;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::{feature, field};
use crate::formats::perf::repair::{self, Features};
use crate::formats::perf::rules;
use crate::kit::span::{Layer, Span};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::WINDOW;
use crate::model::{Finding, Report, Rule};

const FILE: Layer = Layer::stored(0);
/// The two numbers of NRCPUS.
const NRCPUS_SIZE: u64 = 8;

/// Compares NRCPUS with CPU_TOPOLOGY.
pub(super) struct CpuCheck<'a> {
    pub(super) check: &'a FeatureCheck<'a>,
    pub(super) placed: &'a Placed,
}

impl CpuCheck<'_> {
    /// Reports numbers that contradict CPU_TOPOLOGY, or that are missing though it needs them.
    /// Returns the right ones if the stored ones are others or cannot be read.
    pub(super) fn check(&self, report: &mut Report) -> Option<Cpus> {
        let right = self.check.recording.cpus_of_topology(&self.placed.inside)?;
        let stored = self.placed.inside.iter().find(|(bit, _)| *bit == feature::NRCPUS);
        let Some((_, section)) = stored else {
            self.push_missing(right, report);
            return Some(right);
        };
        let Some((available, online)) = self.stored_counts(*section) else { return Some(right) };
        if available != right.available {
            let message = format!(
                "nr_cpus_available is {available}, but CPU_TOPOLOGY has {}",
                right.available
            );
            // Of a number that is possible nothing tells whether it is the right one.
            let is_possible = (1..=right.available).contains(&online);
            let right = if is_possible { Cpus { online, ..right } } else { right };
            let rule = self.check.rule_of_stop(feature::CPU_TOPOLOGY);
            self.push_wrong((rule, message), (*section, !is_possible), right, report);
            return Some(right);
        }
        if online > available {
            let message =
                format!("nr_cpus_online is {online}, more than nr_cpus_available ({available})");
            let rule = self.check.rule_of_stop(feature::NRCPUS);
            self.push_wrong((rule, message), (*section, true), right, report);
            return Some(right);
        }
        None
    }

    fn stored_counts(&self, section: Section) -> Option<(u32, u32)> {
        let held = section.size.min(self.check.limits.of(&WINDOW));
        let recording = self.check.recording;
        let contents = recording.read_feature((feature::NRCPUS, section), None, held).ok()?;
        Some((contents.nr_cpus?, contents.nr_cpus_online?))
    }

    fn push_wrong(
        &self,
        (rule, message): (&'static Rule, String),
        (section, sets_both): (Section, bool),
        right: Cpus,
        report: &mut Report,
    ) {
        let rule = if self.check.is_strict() { &rules::FEATURE_FATAL } else { rule };
        let span = Span::sized(FILE, section.offset, NRCPUS_SIZE);
        let Cpus { available, online } = right;
        let order = self.check.recording.order();
        let mut summary = format!("set nr_cpus_available to {available}");
        let edit = if sets_both {
            summary += &format!(", nr_cpus_online to {online}");
            Edit::replace(span, repair::cpu_counts(right, order))
        } else {
            let place = Span::sized(FILE, section.offset, NRCPUS_SIZE / 2);
            Edit::replace(place, repair::u32_bytes(available, order).to_vec())
        };
        let fix = Fix::new(Safety::Exact, summary, vec![edit]);
        let fix = self.placed.inside.iter().filter(|(bit, _)| *bit == feature::CPU_TOPOLOGY).fold(
            fix,
            |fix, (_, topology)| {
                fix.witness(topology.span(0), "CPU_TOPOLOGY, which only these numbers explain")
            },
        );
        report.push(Finding::new(rule, span, "features.NRCPUS", message).fix(fix));
    }

    /// Reports that NRCPUS is missing. perf before 7 reads CPU_TOPOLOGY without it.
    fn push_missing(&self, right: Cpus, report: &mut Report) {
        let span = Span::sized(FILE, field::FLAGS, 32);
        let message = "missing NRCPUS, by which CPU_TOPOLOGY is read";
        let finding = |rule| Finding::new(rule, span, "features.NRCPUS", message);
        if !self.check.is_strict() {
            report.push(finding(&rules::NEWER_REFUSES));
            return;
        }
        let recording = self.check.recording;
        let mut features = Features { keep: self.placed.inside.clone(), add: Vec::new() };
        features.add.extend(repair::keep_cpus(recording, &mut features.keep));
        let edits = match self.check.can_fix {
            true => repair::rewrite(recording, self.check.end, &features, false),
            false => Vec::new(),
        };
        let is_kept = self.check.keeps_all(self.placed);
        let safety = if is_kept { Safety::Synthetic } else { Safety::Lossy };
        let Cpus { available, online } = right;
        let summary = format!("build NRCPUS: {available} available, {online} online");
        let data = recording.body.data.span(0);
        let fix = Fix::new(safety, summary, edits).witness(data, "records before the features");
        report.push(finding(&rules::FEATURE_FATAL).fix(fix));
    }
}

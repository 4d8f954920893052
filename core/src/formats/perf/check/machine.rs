//! Features of the machine that a recording lost and a donor has.

use super::feature_check::{Settled, title};
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::field;
use crate::formats::perf::recover::machine::Machine;
use crate::formats::perf::{repair, rules};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{join_and, plural};
use crate::model::edit::{Fix, Safety};
use crate::model::limits::Limits;
use crate::model::{Finding, Report, Severity};

/// Reports the features of the machine that the recording lacks and the donor has.
pub(super) fn push_missing(
    recording: &Recording<'_>,
    settled: Option<Settled>,
    limits: &Limits,
    report: &mut Report,
) {
    let Some(Settled { end, mut features, is_tight }) = settled else { return };
    let span = Span::sized(Layer::stored(0), field::FLAGS, 32);
    let finding =
        |message: String| Finding::new(&rules::MACHINE_MISSING, span, "header.flags", message);
    match Machine::take(recording, &features.keep, limits) {
        None => {}
        Some(Err(why)) => {
            let mut finding =
                finding("no feature of the machine is taken from the donor".to_string());
            finding.severity = Severity::Info;
            report.push(finding.fix(Fix::manual(format!("the donor cannot be used: {why}"))));
        }
        Some(Ok(machine)) => {
            let names: Vec<String> = machine.features.iter().map(|(bit, _)| title(*bit)).collect();
            let names = join_and(&names);
            let count = plural(to_u64(machine.features.len()), "feature");
            let message = format!("missing {count} of the machine, which the donor has: {names}");
            let mut summary = format!("add {count} of the donor");
            if machine.files > 0 {
                summary.push_str(&format!(", build ids of {}", plural(machine.files, "file")));
            }
            features.add = machine.features;
            features.add.sort_by_key(|(bit, _)| *bit);
            let edits = repair::rewrite(recording, end, &features, false);
            // Sections may lie where no flag leads; the new table takes their place.
            let safety = if is_tight { Safety::Synthetic } else { Safety::Lossy };
            let data = recording.body.data.span(0);
            let fix = Fix::new(safety, summary, edits)
                .witness(data, "the map of the kernel, which the donor has at the same address");
            report.push(finding(message).fix(fix));
        }
    }
}

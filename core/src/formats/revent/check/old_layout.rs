//! The layout, if it is older than version 3: reported, and converted if the user asks for it.

use crate::formats::revent::check::scan::Scan;
use crate::formats::revent::check::{Context, file_start, push_write_limit};
use crate::formats::revent::layout::Generation;
use crate::formats::revent::options;
use crate::formats::revent::repair::upgrade::upgrade_fix;
use crate::formats::revent::rules;
use crate::model::edit::Fix;
use crate::model::limits::INSERTED;
use crate::model::options::{Allow, Options};
use crate::model::{Finding, Report, Severity};

/// Reports an old layout. The upgrade waits until a repair has nothing else to do.
pub(super) fn check(context: &Context<'_, '_>, scan: &Scan<'_>, report: &mut Report) {
    let Context { recording, options } = context;
    let generation = recording.head.generation;
    if generation == Generation::V3 {
        return;
    }
    let layout = generation.layout();
    let impact = match generation {
        Generation::V2 => "revent replay leaves out the pause at the end",
        Generation::V1 => "revent replay does not terminate",
        _ => "no current tool reads it",
    };
    let span = file_start(recording.file_len(), layout.header.max(4));
    let message = format!("layout is {}, expected v3: {impact}", layout.name);
    let finding = Finding::new(&rules::OLD_LAYOUT, span, "version", message);
    let has_other_work = report.has_errors()
        || report.findings().iter().any(|finding| will_be_repaired(finding, options));
    if !options::has_upgrade(options) || has_other_work {
        let upgrade = Fix::manual("convert the recording to version 3").option("--upgrade");
        report.push(finding.fix(upgrade));
        return;
    }
    let max = options.limits.of(&INSERTED);
    match upgrade_fix(recording, scan.range, max) {
        Ok(fix) => {
            let severity = Severity::Warning;
            report.push(Finding { severity, ..finding.fix(fix) });
        }
        Err(bytes) => {
            report.push(finding);
            push_write_limit(report, span, "the upgrade", bytes, max);
        }
    }
}

/// Returns whether a repair would fix the finding at once.
fn will_be_repaired(finding: &Finding, options: &Options) -> bool {
    let highest = match finding.severity {
        Severity::Info => return false,
        Severity::Warning if !options.lossy_warnings => options.allow.min(Allow::Synthetic),
        _ => options.allow,
    };
    let applies = |fix: &Fix| highest.permits(fix.safety) && !fix.edits.is_empty();
    finding.fix.as_ref().is_some_and(applies)
}

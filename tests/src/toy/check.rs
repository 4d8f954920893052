//! Records and damage to findings. Reads no bytes.

use tracemend::kit::walk::Item;
use tracemend::{Finding, Report};

use super::decode::{Damage, DamageCause, Recording};
use super::layout::{COUNT, MAGIC};
use super::{repair, rules};

/// Checks a recording.
pub(super) fn check(recording: &Recording, report: &mut Report) {
    if !recording.has_magic {
        let message = format!("magic is missing, expected {}", MAGIC.escape_ascii());
        report.push(Finding::new(&rules::MAGIC_MISSING, recording.header, "magic", message));
        report.mark_unreadable();
        return;
    }
    for item in recording.walk() {
        match item {
            Item::Record(record) => {
                report.tally.records = report.tally.records.saturating_add(1);
                report.tally.observe_time(u64::from(record.time).saturating_mul(1_000_000));
            }
            Item::Damage(damage) => report.push(describe_damage(&damage)),
        }
    }
    // A truncated record was never counted.
    let framed = repair::count_framed(recording, &[]);
    if recording.count != Some(framed) {
        let stored = recording.count.map_or("missing".to_string(), |count| count.to_string());
        let message = format!("count is {stored}, but the file holds {framed} complete records");
        let finding = Finding::new(&rules::COUNT_MISMATCH, COUNT, "count", message);
        report.push(finding.fix_if(repair::write_count_fix(recording, framed)));
    }
}

fn describe_damage(damage: &Damage) -> Finding {
    let (rule, message) = match &damage.cause {
        DamageCause::Truncated(error) => {
            (&rules::RECORD_TRUNCATED, format!("truncated record: {error}"))
        }
        DamageCause::Checksum { stored, expected } => {
            let message = format!("checksum is {stored:#04x}, but the body has {expected:#04x}");
            (&rules::RECORD_DAMAGED, message)
        }
        DamageCause::Body(error) => (&rules::RECORD_DAMAGED, format!("malformed body: {error}")),
    };
    Finding::new(rule, damage.span, "record", message).fix(repair::drop_fix(damage))
}

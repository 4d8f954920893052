//! Which calls a report says may be wrong, and which are.

use std::collections::BTreeMap;

use tracemend::Report;

/// Calls of a repaired trace, apart from placeholders.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doubts {
    /// Shown as they were, and the report says that they may be wrong.
    pub right: usize,
    /// Shown otherwise, and the report does not say so.
    pub unsaid: usize,
}

impl Doubts {
    /// Compares the calls of the sound trace with those that are shown of the repaired one.
    pub fn of(
        report: &Report,
        sound: &BTreeMap<u64, String>,
        shown: &BTreeMap<u64, String>,
    ) -> Self {
        let suspects = call_ranges(report, "calls that may be wrong");
        let mut doubts = Self::default();
        for (number, line) in shown.iter().filter(|(_, line)| !line.contains("lost_call")) {
            let is_right = sound.get(number) == Some(line);
            let is_said = suspects.iter().any(|(from, to)| (from..=to).contains(&number));
            doubts.right += usize::from(is_right && is_said);
            doubts.unsaid += usize::from(!is_right && !is_said);
        }
        doubts
    }
}

/// Returns the first and last calls of the ranges that a report lists under a name.
pub fn call_ranges(report: &Report, name: &str) -> Vec<(u64, u64)> {
    let fact = report.facts.iter().find(|(one, _)| *one == name);
    let (_, ranges) = fact.and_then(|(_, value)| value.split_once(": ")).unwrap_or_default();
    let range = |text: &str| {
        let (from, to) = text.split_once(" to ").unwrap_or((text, text));
        Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
    };
    ranges.split(", ").filter_map(range).collect()
}

//! Whether the first finding of a report names the damage: its code fits the kind, and its place is
//! that of the damage. Only a tool that prints tracemend's JSON is asked.

use std::ops::Range;

use serde_json::Value;

use super::damage::{Broken, Kind};

/// The codes that name a kind of damage, and no other one. A final `*` stands for any digits.
const CODES: [(Kind, &[&str]); 6] = [
    (Kind::Transport, &["TR*"]),
    (Kind::Doubled, &["CM0101", "AT8010", "OV1007"]),
    (Kind::Inserted, &["CM0102", "OV1005", "RV1009", "PD0013", "AT8006", "RV1005", "QR1004"]),
    (Kind::Lost, &["CM0103", "AT1003"]),
    (Kind::Exchanged, &["CM0104", "AT8009"]),
    (
        Kind::Cut,
        &[
            "PD0001", "PD0005", "PD0007", "PD0010", "PD1001", "PD1003", "PD8003", "PD8004",
            "AT0004", "AT1001", "AT8001", "OV0004", "OV1001", "QR0001", "QR1002", "QR1003",
            "RV0002", "RV1002", "RV1004",
        ],
    ),
];

/// The kinds that leave other bytes in the place of those that were there. They are named by any
/// code that is not kept for another kind: the fields that the bytes hit decide which one it is.
const OVERWRITING: [Kind; 4] = [Kind::Bits, Kind::Zeroed, Kind::Noise, Kind::Exchanged];

/// The answer of a report about a broken recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// It has a finding.
    pub is_found: bool,
    /// The code of the first one fits a kind of damage.
    pub is_kind: bool,
    /// The place of the first one is that of a damage.
    pub is_place: bool,
    /// Code and place of any finding are right.
    pub is_anywhere: bool,
}

impl Named {
    /// Whether kind and place are right.
    pub const fn is_right(self) -> bool {
        self.is_kind && self.is_place
    }

    /// Reads a report of `tracemend repair --format json`; `None` if it is not one.
    pub fn of(report: &Value, broken: &Broken) -> Option<Self> {
        report["before"]["findings"].as_array()?;
        let Some(first) = first(report) else { return Some(Self::default()) };
        let is_kind = |finding: &Value| {
            let code = finding["code"].as_str().unwrap_or_default();
            broken.kinds.iter().any(|kind| is_name(*kind, code))
        };
        let is_place = |finding: &Value| {
            let related = finding["related"].as_array().into_iter().flatten();
            let related = related.map(|related| &related["span"]);
            std::iter::once(stored_span(finding)).chain(related).any(|span| overlaps(span, broken))
        };
        let mut all = report["before"]["findings"].as_array()?.iter();
        Some(Self {
            is_found: true,
            is_kind: is_kind(first),
            is_place: is_place(first),
            is_anywhere: all.any(|finding| is_kind(finding) && is_place(finding)),
        })
    }
}

/// Returns the first finding of a report that is a warning or an error.
pub(super) fn first(report: &Value) -> Option<&Value> {
    let findings = report["before"]["findings"].as_array()?;
    findings.iter().find(|finding| finding["severity"] != "info")
}

/// Returns the place of a finding in the stored bytes.
pub(super) fn stored_span(finding: &Value) -> &Value {
    if finding["stored"].is_null() { &finding["span"] } else { &finding["stored"] }
}

/// Returns whether a code names a kind of damage.
pub fn is_name(kind: Kind, code: &str) -> bool {
    let fits = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => code.starts_with(start),
        None => *pattern == code,
    };
    let owner = CODES.iter().find(|(_, codes)| codes.iter().any(fits));
    match owner {
        // Overwritten bytes are none of the format, and an overwritten length ends after the file.
        Some((Kind::Cut | Kind::Inserted, _)) if OVERWRITING.contains(&kind) => true,
        Some((owner, _)) => *owner == kind,
        None => OVERWRITING.contains(&kind),
    }
}

/// Returns whether a span of a report touches a damaged place.
fn overlaps(span: &Value, broken: &Broken) -> bool {
    let number = |name: &str| span[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let (Some(start), Some(end)) = (number("start"), number("end")) else { return false };
    let name = span["file"].as_str().unwrap_or_default();
    let named = broken.files.iter().position(|(file, _)| file == name);
    let file = named.unwrap_or(0);
    let touches = |place: &Range<usize>| place.start <= end && start <= place.end;
    broken.places(file).iter().any(touches)
}

//! One line about a damaged recording for somebody who knows neither its format nor this program:
//! the cause, and how much of it there is.

use tracemend::words::{agree, plural, plural_noun};
use tracemend::{Finding, FormatId, Outcome, Repair, Report, Severity};

use crate::kit::figures;
use crate::kit::look::{Ink, Look, wrap};
use crate::show::summary::nouns;

/// Part of a cause by which a recorder ended: if there is no other, all that it wrote can be read.
const ENDED: &str = "was killed";

/// Causes, by the codes that show them; `@` stands for the recorder. The first that a report shows
/// explains it: a conversion of the whole file comes before a lost block, and that before the end
/// of a recorder.
const CAUSES: [(&str, &[&str]); 16] = [
    ("converted as text on its way, and bytes are lost", &["TR0101"]),
    ("packed on its way", &["TR0001"]),
    ("unpacked on its way", &["AT0007"]),
    ("control characters were lost on its way", &["TR0103"]),
    ("converted on its way", &["TR0002", "TR0003", "TR0004", "TR0005", "TR0006"]),
    ("other text stands before the recording", &["TR0007"]),
    ("other text stands after the recording", &["TR0008"]),
    ("still being written", &["CM0005"]),
    ("several recordings are in one file", &["PD0037", "AT1005"]),
    ("a block is there twice", &["CM0101", "AT8010", "OV1007"]),
    ("other bytes were put into the recording", &["CM0102"]),
    ("a part never reached the disk", &["CM0105"]),
    ("a part is missing", &["CM0103", "PD0032", "PD0034"]),
    ("@ was killed, or the disk was full", &["PD0004", "QR0002", "OV0117", "RV0024", "RV1001"]),
    (
        "the end is missing: cut off, or @ was killed",
        &[
            "AT0001", "AT0004", "AT1001", "AT8001", "OV0004", "OV1001", "PD0001", "PD0005",
            "PD1001", "PD8003", "PD8004", "QR0001", "QR1002", "QR1003", "RV0002", "RV0003",
            "RV1002", "RV1004",
        ],
    ),
    ("this perf does not read the recording", &["PD0033", "PD0036"]),
];

/// Describes a recording with an error; nothing of what is no recording at all, which its finding
/// says already.
pub(crate) fn describe(path: &str, report: &Report, look: Look) -> String {
    match describe_cause(report) {
        None => String::new(),
        Some(cause) => draw(path, &format!("{cause}; {}", describe_content(report)), look),
    }
}

/// Describes a damaged recording and the part that its repair keeps.
pub(crate) fn describe_repair(path: &str, repair: &Repair, is_dry: bool, look: Look) -> String {
    let Some(cause) = describe_cause(&repair.before) else { return String::new() };
    let kept = match repair.outcome {
        Outcome::Clean => return String::new(),
        Outcome::Repaired | Outcome::RepairedWithLoss => {
            describe_kept(repair, is_dry, has_just_ended(&repair.before))
        }
        Outcome::CannotRepair | Outcome::Incomplete => describe_content(&repair.before),
    };
    draw(path, &format!("{cause}; {kept}"), look)
}

fn draw(path: &str, text: &str, look: Look) -> String {
    let drawn = wrap(text, look.width, &format!("{path}: "), 2);
    drawn.lines().map(|line| look.paint(Ink::Strong, line) + "\n").collect()
}

/// The codes of the errors of a report.
fn errors(report: &Report) -> Vec<&'static str> {
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    report.findings().iter().filter(is_error).map(|finding| finding.rule.code).collect()
}

/// Whether every error is one by which a recorder ended.
fn has_just_ended(report: &Report) -> bool {
    let ended = CAUSES.iter().filter(|(cause, _)| cause.contains(ENDED));
    let ended: Vec<&str> = ended.flat_map(|(_, codes)| codes.iter().copied()).collect();
    errors(report).iter().all(|code| ended.contains(code))
}

fn describe_cause(report: &Report) -> Option<String> {
    let format = report.format?;
    let errors = errors(report);
    let known = CAUSES.iter().find(|(_, codes)| codes.iter().any(|code| errors.contains(code)));
    match known {
        _ if errors.is_empty() => None,
        Some((cause, _)) => Some(cause.replace('@', format.recorder())),
        None => Some("the recording is damaged".to_string()),
    }
}

/// The part of a recording that can be read as it is.
fn describe_content(report: &Report) -> String {
    let (noun, count) = count(report);
    match count {
        0 => format!("no {noun} was found in it"),
        all => format!("{} can be read", figures::count(all, noun)),
    }
}

/// The noun that users count the recording by, and how many there are.
fn count(report: &Report) -> (&'static str, u64) {
    let (noun, is_sample) = report.format.map_or(("record", false), FormatId::counted);
    (noun, if is_sample { report.tally.samples } else { report.tally.records })
}

/// Whether a repair dropped records that nothing could expand.
fn has_lost_compressed(repair: &Repair) -> bool {
    let codes = ["PD8001", "PD8002", "PD8004"];
    repair.applied.iter().any(|one| codes.contains(&one.finding.rule.code))
}

/// Describes the part that a repair keeps. Unless the recorder just `ended`, there may have been
/// records of which nothing can be read.
fn describe_kept(repair: &Repair, is_dry: bool, ended: bool) -> String {
    let ((noun, before), (_, after)) = (count(&repair.before), count(&repair.after));
    let lost = before.saturating_sub(after).max(match noun == nouns(repair.before.format)[0] {
        true => repair.records_lost(),
        false => 0,
    });
    let kept = before.saturating_sub(lost);
    let verb = match is_dry {
        true => "can be kept",
        false if kept == 1 || before == 0 && after == 1 => "is kept",
        false => "are kept",
    };
    match (before, after) {
        (0, 0) if has_lost_compressed(repair) => {
            "the file opens again, but its compressed records could not be read".to_string()
        }
        (0, 0) => format!("the file opens again, but no {noun} was found in it"),
        (0, _) => format!("{} {verb}", figures::count(after, noun)),
        (1, _) if lost == 0 => format!("1 {noun} {verb}"),
        // The count before has none of those after the damage.
        _ if lost > 0 && repair.before.format.is_some_and(FormatId::ends_at_damage) => {
            let (after, are) =
                (figures::count(lost, &format!("complete {noun}")), agree(lost, "is", "are"));
            format!("{} before the damage {verb}; {after} after it {are} lost", plural_noun(noun))
        }
        _ if lost == 0 && ended => format!("all {} {verb}", figures::count(before, noun)),
        _ if lost == 0 => {
            format!("all {} {verb}", figures::count(before, &format!("readable {noun}")))
        }
        _ => format!("{kept} of {} {verb}", plural(before, noun)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_shown_by_codes_that_exist_and_by_one_cause_each() {
        let codes: Vec<&str> = CAUSES.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
        for (at, code) in codes.iter().enumerate() {
            let rule = tracemend::rule(code);
            assert!(rule.is_some_and(|rule| rule.code == *code), "{code}");
            assert!(!codes[..at].contains(code), "{code} is there twice");
        }
    }
}

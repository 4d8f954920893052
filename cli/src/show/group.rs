//! Findings of one recording for people: those of the same code and severity form one group.
//!
//! The first finding of a group is drawn in full, the others are a count and a few places. A killed
//! application leaves the same fault in each of a thousand threads; it is one thing to know.

use tracemend::words::plural;
use tracemend::{
    FileSet, Finding, Fix, Remedy, Report, Safety, Severity, Shown, Undone, Untrusted,
};

use crate::kit::command::NextCommand;
use crate::kit::look::Look;
use crate::show::finding::{Advice, FindingHandler};

/// Places of a group that are named besides the first.
const PLACES_SHOWN: usize = 3;
/// Columns from which a row has 16 cells or 8.
const CELLS: [(usize, u64); 2] = [(80, 16), (50, 8)];
/// Cells of a row on the narrowest terminals.
const CELLS_LEAST: u64 = 4;

/// Findings of one code and one severity.
#[derive(Debug)]
pub(crate) struct Group<'f> {
    pub(crate) findings: Vec<&'f Finding>,
    /// All of them, those that the report counted and does not hold included.
    pub(crate) count: u64,
}

/// How the findings of one recording are shown.
pub(crate) struct Drawing<'a> {
    /// Path of the recording, escaped.
    pub(crate) path: &'a str,
    pub(crate) files: &'a FileSet<'a>,
    pub(crate) look: Look,
    /// Each finding in full.
    pub(crate) all: bool,
    pub(crate) next: &'a NextCommand,
}

impl<'f> Group<'f> {
    /// Groups the findings of a report that `wanted` selects, in the order of the first of each.
    pub(crate) fn all_of(report: &'f Report, wanted: impl Fn(&Finding) -> bool) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for finding in report.findings().iter().filter(|finding| wanted(finding)) {
            let same = |group: &&mut Self| {
                group.findings.first().is_some_and(|first| {
                    (first.rule.code, first.severity) == (finding.rule.code, finding.severity)
                })
            };
            match groups.iter_mut().find(same) {
                Some(group) => {
                    group.findings.push(finding);
                    group.count += 1;
                }
                None => groups.push(Self { findings: vec![finding], count: 1 }),
            }
        }
        for group in &mut groups {
            let Some(first) = group.findings.first() else { continue };
            let held = report.findings().iter().filter(|one| one.rule.code == first.rule.code);
            let held = held.fold(0_u64, |count, _| count + 1);
            // The report holds no more of this code; the severity of the rest is the rule's.
            let rest = report.count(first.rule).saturating_sub(held);
            if first.severity == first.rule.severity || rest == 0 || group.count == held {
                group.count += rest;
            }
        }
        groups
    }
}

impl Drawing<'_> {
    /// Draws the findings of `report` that `wanted` selects, with an empty line between two.
    pub(crate) fn findings(&self, report: &Report, wanted: impl Fn(&Finding) -> bool) -> String {
        let mut groups = Group::all_of(report, wanted);
        // Notes come last, and else the places decide.
        groups.sort_by_key(|group| {
            group.findings.first().is_some_and(|first| first.severity == Severity::Info)
        });
        let mut drawn = Vec::new();
        for group in &groups {
            if self.all {
                drawn.extend(group.findings.iter().map(|finding| self.finding(finding, None)));
            } else if let Some(first) = group.findings.first() {
                drawn.push(self.finding(first, Some(group)));
            }
        }
        drawn.join("\n")
    }

    fn finding(&self, finding: &Finding, group: Option<&Group<'_>>) -> String {
        let fits = CELLS.into_iter().find(|(width, _)| self.look.width >= *width);
        let cells = fits.map_or(CELLS_LEAST, |(_, cells)| cells);
        let mut notes = vec![finding.rule.consequence().to_string()];
        // The message with which somebody came here.
        notes.extend(finding.rule.quoting().map(str::to_string));
        notes.extend(finding.notes.iter().cloned());
        for related in &finding.related {
            let file = self.name_file(related.span.layer().file, finding.span.layer().file);
            notes.push(format!("{} at {file}{}", related.message, related.span));
        }
        notes.extend(group.and_then(|group| self.describe_others(group)));
        let handler = FindingHandler {
            look: self.look,
            path: self.path.to_string(),
            notes,
            advice: self.advice(finding, group),
        };
        handler.draw(&Shown::new(finding, self.files, cells))
    }

    /// `NAME: ` if a place lies in another file than its finding.
    fn name_file(&self, file: u32, other: u32) -> String {
        if file == other { String::new() } else { format!("{}: ", file_name(self.files, file)) }
    }

    /// How many more findings the group has, and where.
    fn describe_others(&self, group: &Group<'_>) -> Option<String> {
        let others = group.findings.get(1..)?;
        let more = group.count.checked_sub(1).filter(|more| *more > 0)?;
        let places = name_places(&group.findings, self.files);
        let places = places.get(1..).unwrap_or_default();
        let shown = if others.len() <= PLACES_SHOWN + 1 { others.len() } else { PLACES_SHOWN };
        let mut text = format!("and {more} more");
        if let (Some(first), Some(last)) = (places.get(..shown), places.last()) {
            text += &format!(": {}", first.join(", "));
            if shown < places.len() {
                text += &format!(" ... {last}");
            }
        }
        Some(text + "; --all shows each")
    }

    fn advice(&self, finding: &Finding, group: Option<&Group<'_>>) -> Vec<Advice> {
        let mut advice = Vec::new();
        let count = group.map_or(1, |group| group.count);
        let fixable = group.map_or(0, |group| {
            group.findings.iter().fold(0_u64, |sum, one| sum + u64::from(is_automatic(one)))
        });
        let text = |label: &str, text: &str| Advice::Text {
            label: label.to_string(),
            text: text.to_string(),
        };
        let explain = || Advice::Command(format!("tracemend explain {}", finding.rule.code));
        match &finding.fix {
            Some(fix) if is_automatic(finding) => {
                let times = match fixable {
                    0 | 1 => String::new(),
                    all if all == count => format!(", the first of {all}"),
                    some => format!(", the first of {some} for {count} findings"),
                };
                advice.push(text(&format!("fix ({}{times}): ", fix.safety), &fix.summary));
                advice.push(Advice::Command(self.next.repair_up_to(fix.safety, finding.severity)));
            }
            Some(fix) if waits(finding, fix) => {
                advice.push(text(&format!("fix ({}), after others: ", fix.safety), &fix.summary));
                advice.push(Advice::Command(self.next.repair_up_to(fix.safety, finding.severity)));
            }
            Some(fix) => {
                let summary = self.next.name_file(&fix.summary, self.files);
                advice.push(text("no automatic fix: ", &summary));
                let commands = fix.options.iter().map(|option| self.next.repair(option));
                advice.extend(commands.map(Advice::Command));
                if fix.options.is_empty() {
                    advice.push(explain());
                }
            }
            None if finding.severity == Severity::Info => {}
            None if depends_on_others(finding) => {
                advice.push(text(DEPENDS, ""));
                advice.push(Advice::Command(self.next.repair("--dry-run")));
            }
            None => {
                advice.push(text("no automatic fix", ""));
                advice.push(explain());
            }
        }
        advice
    }
}

/// The words about a finding whose fix follows from what the other fixes leave.
pub(crate) const DEPENDS: &str = "the fix depends on the rest of the file";

/// Whether the rule of a finding without a fix has one: what it changes shows only when other
/// faults are repaired, or the whole file is put together again.
pub(crate) const fn depends_on_others(finding: &Finding) -> bool {
    matches!(finding.rule.remedy, Remedy::Fix(_))
}

/// Whether a fix is applied in a later round: its place depends on what other fixes leave.
pub(crate) fn waits(finding: &Finding, fix: &Fix) -> bool {
    let is_manual = matches!(fix.safety, Safety::Manual);
    !is_manual && !has_effect(finding, fix) && fix.options.is_empty()
}

/// Whether a fix changes a file, gives it another name or unwraps it.
fn has_effect(finding: &Finding, fix: &Fix) -> bool {
    !fix.edits.is_empty() || !fix.renames.is_empty() || Undone::is_about(finding)
}

/// Whether a repair applies the fix of a finding by itself.
pub(crate) fn is_automatic(finding: &Finding) -> bool {
    let applies = |fix: &Fix| fix.safety != Safety::Manual && has_effect(finding, fix);
    // A file whose name says how it is packed gets a note, and is unpacked all the same.
    let is_repaired = finding.severity > Severity::Info || Undone::is_about(finding);
    is_repaired && finding.fix.as_ref().is_some_and(applies)
}

/// Name of a file of the recording, escaped.
pub(crate) fn file_name(files: &FileSet<'_>, file: u32) -> String {
    let file = usize::try_from(file).ok().and_then(|index| files.files().get(index));
    file.map_or_else(String::new, |file| Untrusted(file.name.as_bytes()).to_string())
}

/// Names the file of a finding by the part that not all files of the recording share.
pub(crate) fn name_in_recording(finding: &Finding, files: &FileSet<'_>) -> String {
    let name = file_name(files, finding.span.layer().file);
    let first = file_name(files, 0);
    let folders = name.split('/').count().saturating_sub(1);
    let shared = |count: usize| {
        let head: Vec<&str> = name.split('/').take(count).collect();
        let same = |file: &tracemend::File<'_>| {
            let other = Untrusted(file.name.as_bytes()).to_string();
            other.split('/').take(count).eq(head.iter().copied())
        };
        first.split('/').count() > count && files.files().iter().all(same)
    };
    let count = (1..=folders).take_while(|count| shared(*count)).count();
    name.split('/').skip(count).collect::<Vec<_>>().join("/")
}

/// Names the place of each finding: by the part of the file's name that differs among them
/// (`thread.8764`), or by the field if they lie in one file.
pub(crate) fn name_places(findings: &[&Finding], files: &FileSet<'_>) -> Vec<String> {
    let names: Vec<String> =
        findings.iter().map(|finding| file_name(files, finding.span.layer().file)).collect();
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split('/').collect()).collect();
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let same = |at: &dyn Fn(&Vec<&str>) -> Option<String>| {
        let first = parts.first().and_then(at);
        parts.iter().all(|one| at(one) == first)
    };
    let get = |part: &Vec<&str>, index: usize| part.get(index).map(ToString::to_string);
    let head = (0..shortest).take_while(|index| same(&|part| get(part, *index))).count();
    let from_end = |part: &Vec<&str>, index: usize| {
        part.len().checked_sub(index + 1).and_then(|index| get(part, index))
    };
    let tail =
        (0..shortest - head).take_while(|index| same(&|part| from_end(part, *index))).count();
    let describe = |(part, finding): (&Vec<&str>, &&Finding)| {
        let middle = part.get(head..part.len() - tail).unwrap_or_default().join("/");
        if middle.is_empty() { describe_field(finding) } else { middle }
    };
    parts.iter().zip(findings).map(describe).collect()
}

/// The field, with its offset unless the field is numbered.
fn describe_field(finding: &Finding) -> String {
    if finding.path.contains('[') {
        return finding.path.to_string();
    }
    format!("{} at {:#x}", finding.path, finding.span.start())
}

/// `2 errors, 1 warning`, with the number of groups if findings are grouped.
pub(crate) fn count_severities(report: &Report) -> Vec<String> {
    let severities = [Severity::Error, Severity::Warning, Severity::Info];
    let counted = severities.into_iter().filter_map(|severity| {
        let count = report.count_of(severity);
        let noun = if severity == Severity::Info { "note" } else { severity.name() };
        (count > 0).then(|| plural(count, noun))
    });
    counted.collect()
}

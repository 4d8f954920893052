//! The report of a repair for people: what was kept, dropped and added, and what is left.

use std::fmt::Write;
use std::path::Path;

use tracemend::json::EDIT_BYTES_MAX;
use tracemend::words::{agree, byte_count, join_and, plural, plural_noun};
use tracemend::{
    Applied, Balance, FileSet, Finding, Outcome, Patch, Repair, Report, Safety, Severity,
    SourceOffsets, Span, StoredAnew, Tally,
};

use crate::files::paths::shown;
use crate::kit::balance;
use crate::kit::command::NextCommand;
use crate::kit::look::{Ink, Look, wrap};
use crate::show::group::{Drawing, count_severities, name_in_recording, name_places};
use crate::show::plain;
use crate::show::summary::{describe_recording, describe_time, nouns};

/// Fixes of different codes or places that are listed; JSON and the plan hold all.
const FIXES_SHOWN: usize = 50;
/// Name of the fact that tells how to use a recording.
const USE: &str = "replay";

/// A repair and what became of it.
#[derive(Debug)]
pub(crate) struct Salvage<'r> {
    /// Escaped.
    pub(crate) path: String,
    pub(crate) repair: &'r Repair,
    pub(crate) files: &'r FileSet<'r>,
    pub(crate) next: NextCommand,
    pub(crate) allowed: Safety,
    pub(crate) dry_run: bool,
    pub(crate) partial: bool,
    /// Whether another program was still writing the source.
    pub(crate) being_written: bool,
    pub(crate) written: Written,
    /// Bytes of an edit that JSON holds.
    pub(crate) edit_bytes: usize,
}

/// Escaped paths of what was written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) output: Option<String>,
    pub(crate) original: Option<String>,
    pub(crate) plan: Option<String>,
    /// The command that takes a replacement of the source back.
    pub(crate) undo: Option<String>,
    /// Whether an earlier run has written the same output.
    pub(crate) is_there: bool,
    /// Names of the attributes that an output in place could not keep.
    pub(crate) lost: Option<String>,
}

/// A way to go on with an error that is left: the options of the command, and what they do.
struct Decision<'f> {
    finding: &'f Finding,
    options: Vec<String>,
    text: String,
}

impl<'r> Salvage<'r> {
    pub(crate) fn new(
        path: &Path,
        repair: &'r Repair,
        files: &'r FileSet<'r>,
        next: NextCommand,
    ) -> Self {
        Self {
            path: shown(path),
            repair,
            files,
            next,
            allowed: Safety::Lossy,
            dry_run: false,
            partial: false,
            being_written: false,
            written: Written::default(),
            edit_bytes: EDIT_BYTES_MAX,
        }
    }

    fn is_unrepaired(&self) -> bool {
        matches!(self.repair.outcome, Outcome::CannotRepair | Outcome::Incomplete)
    }

    /// Returns the report.
    pub(crate) fn human(&self, look: Look) -> String {
        let repair = self.repair;
        let mut text = plain::describe_repair(&self.path, repair, self.dry_run, look);
        if self.is_unrepaired() {
            text += &self.errors_left(look);
        }
        text += &self.headline(look);
        if self.being_written {
            let note = "the source is still being written: this is about the bytes so far; repair \
                        it again when its recorder has ended";
            text += &wrap(note, look.width, "  ", 4);
        }
        if repair.changes() {
            text += &self.list_fixes(look);
            text += &self.list_sums(look);
        }
        if self.is_unrepaired() {
            text += &self.list_decisions(look);
        } else if repair.changes() || repair.after.worst().is_some() {
            text += &wrap(&self.describe_check(), look.width, "  ", 4);
            text += &self.describe_warnings_left(look);
            text += &self.describe_use(look);
        }
        text + &self.list_files_written(look)
    }

    /// How to use the repaired recording, if its format tells.
    fn describe_use(&self, look: Look) -> String {
        let facts = self.repair.after.facts.iter().filter(|(name, _)| *name == USE);
        facts.map(|(name, value)| wrap(value, look.width, &format!("  {name}: "), 4)).collect()
    }

    /// The errors that are left, with bytes of the file that the report names: the output if it was
    /// written, else the source.
    fn errors_left(&self, look: Look) -> String {
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        let after = &self.repair.after;
        if let Some(written) = &self.written.output {
            let output = self.repair.output(self.files);
            let (next, files) = (&self.next, &output);
            let drawing = Drawing { path: written, files, look, all: false, next };
            return drawing.findings(after, is_error);
        }
        let (path, files) = (self.path.as_str(), self.files);
        let drawing = Drawing { path, files, look, all: false, next: &self.next };
        drawing.findings(&self.in_source(after), is_error)
    }

    /// The report with places in the source instead of places in the repaired recording.
    fn in_source(&self, report: &Report) -> Report {
        let mut moved = Report::new(report.format, report.length, usize::MAX);
        let offsets: Vec<SourceOffsets> =
            self.repair.patches.iter().map(Patch::source_offsets).collect();
        let place = |span: Span| {
            let file = usize::try_from(span.layer().file).ok();
            match file.and_then(|file| offsets.get(file)).filter(|_| span.layer().is_stored()) {
                Some(of) => Span::new(span.layer(), of.of(span.start()), of.of(span.end())),
                None => span,
            }
        };
        for finding in report.findings() {
            let mut finding = finding.clone();
            finding.span = place(finding.span);
            finding.stored = finding.stored.map(place);
            for related in &mut finding.related {
                related.span = place(related.span);
            }
            moved.push(finding);
        }
        moved
    }

    /// One line: the outcome, the exit code, and where the output is.
    fn headline(&self, look: Look) -> String {
        let repair = self.repair;
        let left = repair.after.count_of(Severity::Error);
        let needs_decision = self.decisions().iter().any(|decision| !decision.options.is_empty());
        let state = match needs_decision {
            true => agree(left, "needs your decision", "need your decision"),
            false => agree(left, "is left", "are left"),
        };
        let left = format!("{} {state}", plural(left, "error"));
        let nothing =
            if self.dry_run { "nothing was written (--dry-run)" } else { "nothing was written" };
        let written = self.written.output.as_ref().map(|path| match self.written.is_there {
            true => format!("{path} is already there, the same"),
            false => format!("written to {path}"),
        });
        let (ink, text) = match (repair.outcome, &written) {
            (Outcome::Clean, None) => {
                let is_sound = repair.before.worst() <= Some(Severity::Info);
                let verdict = if is_sound { "nothing to do" } else { "no fix applies" };
                let start = format!("{}: {verdict}, ", self.path);
                return describe_recording(&start, &repair.before, look);
            }
            (Outcome::Clean, Some(written)) if self.written.is_there => {
                (Ink::Good, format!("nothing to do, {written}"))
            }
            (Outcome::Clean, Some(written)) => {
                (Ink::Good, format!("nothing to do, an identical copy was {written}"))
            }
            (Outcome::Repaired, Some(written)) => {
                (Ink::Good, format!("repaired without loss (exit 0), {written}"))
            }
            (Outcome::Repaired, None) => {
                (Ink::Good, format!("can be repaired without loss (exit 0), {nothing}"))
            }
            (Outcome::RepairedWithLoss, Some(written)) => {
                (Ink::Warning, format!("repaired with loss (exit 3), {written}"))
            }
            (Outcome::RepairedWithLoss, None) => {
                (Ink::Warning, format!("can be repaired with loss (exit 3), {nothing}"))
            }
            (Outcome::CannotRepair, Some(written)) => {
                (Ink::Error, format!("repaired in part (exit 4), {written}: {left}"))
            }
            (Outcome::CannotRepair, None) => {
                (Ink::Error, format!("not repaired (exit 4): {left}, {nothing}"))
            }
            (Outcome::Incomplete, Some(written)) => {
                (Ink::Error, format!("repaired in part (exit 6), {written}: a limit was reached"))
            }
            (Outcome::Incomplete, None) => {
                (Ink::Error, format!("not repaired (exit 6): a limit was reached, {nothing}"))
            }
        };
        let first = format!("{}: ", self.path);
        let drawn = wrap(&text, look.width, &first, 2);
        let verdict = text.split([',', ':']).next().unwrap_or_default();
        drawn.replacen(verdict, &look.paint(ink, verdict), 1)
    }

    /// The fixes, those of the same code, class and summary as one.
    fn list_fixes(&self, look: Look) -> String {
        let mut groups: Vec<Vec<&Applied>> = Vec::new();
        let key = |applied: &Applied| (applied.finding.rule.code, applied.class);
        for applied in &self.repair.applied {
            let same = |group: &&mut Vec<&Applied>| {
                group.first().is_some_and(|first| key(first) == key(applied))
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(applied),
                None => groups.push(vec![applied]),
            }
        }
        let mut text = String::new();
        for group in groups.iter().take(FIXES_SHOWN) {
            text += &self.describe_fixes(group, look);
        }
        let more: u64 = groups.iter().skip(FIXES_SHOWN).map(|group| count_fixes(group)).sum();
        if more > 0 {
            let _infallible = writeln!(text, "  and {more} more fixes (--format json lists all)");
        }
        text
    }

    fn describe_fixes(&self, group: &[&Applied], look: Look) -> String {
        let findings: Vec<&Finding> = group.iter().map(|applied| &applied.finding).collect();
        let Some((first, fix)) = group.first().and_then(|one| Some((one, one.fix()?))) else {
            return String::new();
        };
        let code = first.finding.rule.code;
        let places = name_places(&findings, self.files);
        let is_many = group.len() > 1;
        // In a recording of several files, or for several places, the first is named with its fix.
        let place = match places.first().filter(|_| is_many) {
            Some(place) => format!(" {place}:"),
            None if self.files.files().len() > 1 => {
                format!(" {}:", name_in_recording(&first.finding, self.files))
            }
            None => String::new(),
        };
        let label = format!("{code} ({}):{place} ", first.class);
        let mut text = wrap(&fix.summary, look.width, &format!("  {label}"), 4);
        text = text.replacen(code, &look.paint(Ink::Strong, code), 1);
        if let (true, Some(others)) = (is_many, places.get(1..)) {
            let more = count_fixes(group).saturating_sub(1);
            let shown = others.get(..3).filter(|_| others.len() > 4).unwrap_or(others);
            let mut line = format!("and {more} more: {}", shown.join(", "));
            if let Some(last) = others.last().filter(|_| shown.len() < others.len()) {
                line += &format!(" ... {last}");
            }
            text += &wrap(&line, look.width, "    ", 4);
        }
        for option in &fix.options {
            let _infallible = writeln!(text, "    instead: {}", self.next.repair(option));
        }
        text
    }

    /// Records, content and bytes before and after: the sums add up.
    fn list_sums(&self, look: Look) -> String {
        let mut rows: Vec<(String, String)> = self.count_records();
        let sums = Balance::of(&self.repair.patches);
        let file = match (self.files.undone(), self.files.files()) {
            ([], [_]) => "file",
            ([], _) => "files",
            // The bytes that were stored are not these.
            _ => "recording",
        };
        let anew = self.list_stored_anew();
        if anew.is_empty() {
            let [before, after] = balance::lines(sums);
            rows.push((file.into(), before));
            rows.push((String::new(), after));
        } else {
            rows.extend(anew);
            let (before, after) = sums.lengths();
            rows.push((
                file.into(),
                format!("{} before, {} after", byte_count(before), byte_count(after)),
            ));
        }
        let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let draw = |(label, text): &(String, String)| {
            let first = format!("  {label:width$}  ");
            wrap(text, look.width, &first, first.len())
        };
        rows.iter().map(draw).collect()
    }

    fn count_records(&self) -> Vec<(String, String)> {
        let (before, after) = (&self.repair.before.tally, &self.repair.after.tally);
        let [record, sample] = nouns(self.repair.before.format);
        let lost = self.repair.records_lost();
        let mut text = format!("{} before, {} after", before.records, after.records);
        if lost > 0 {
            text += &format!(", {} dropped", plural(lost, &format!("complete {record}")));
        }
        let altered = self.repair.records_altered();
        if altered > 0 {
            text += &format!(", {} altered", plural(altered, &format!("complete {record}")));
        }
        let mut rows = vec![(plural_noun(record), text)];
        if record != sample {
            let text = format!("{} before, {} after", before.samples, after.samples);
            rows.push((plural_noun(sample), text));
        }
        let range = |tally: &Tally| match (tally.first_time, tally.last_time) {
            (Some(first), Some(last)) => describe_time(first, last),
            _ => "none".to_string(),
        };
        let (first, last) = (range(before), range(after));
        if first != last {
            rows.push(("time".into(), format!("{first} before, {last} after")));
        }
        rows
    }

    /// The content of the units that are compressed again, for each round that has such units:
    /// their stored bytes all change, though little of what they hold does.
    fn list_stored_anew(&self) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        let last = self.repair.applied.last().map_or(0, |applied| applied.round);
        for round in 1..=last {
            let mut sum = StoredAnew::default();
            let of_round = self.repair.applied.iter().filter(|applied| applied.round == round);
            of_round.for_each(|applied| sum.add(applied.anew));
            let StoredAnew { stored, kept, dropped, inserted } = sum;
            if stored == 0 {
                continue;
            }
            let label = if round == 1 { "stream".to_string() } else { format!("round {round}") };
            let (before, after) = (kept.saturating_add(dropped), kept.saturating_add(inserted));
            let width = before.max(after).to_string().len();
            let before =
                format!("{before:>width$} bytes read    = {kept} kept + {dropped} dropped");
            let after = format!("{after:>width$} bytes written = {kept} kept + {inserted} added");
            rows.extend([(label, before), (String::new(), after)]);
        }
        rows
    }

    /// `check of the output: no errors, 1 note (AT3004)`.
    fn describe_check(&self) -> String {
        let after = &self.repair.after;
        let mut counts = count_severities(after);
        if !after.has_errors() {
            counts.insert(0, "no errors".to_string());
        }
        if after.count_of(Severity::Warning) == 0 {
            counts.insert(1, "no warnings".to_string());
        }
        let codes: Vec<String> = after
            .counts()
            .iter()
            .filter(|(_, count)| **count > 0)
            .filter_map(|(code, _)| tracemend::rule(code))
            .map(|rule| format!("{} {}", rule.code, rule.name))
            .collect();
        let codes =
            if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
        format!("check of the output: {}{codes}", counts.join(", "))
    }

    /// The fixes of warnings that a repair applies only if it is asked to.
    fn describe_warnings_left(&self, look: Look) -> String {
        let is_left = |finding: &&Finding| {
            finding.severity == Severity::Warning
                && finding.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Lossy)
        };
        let left = self.repair.after.findings().iter().filter(is_left).count();
        if left == 0 {
            return String::new();
        }
        let fixes = plural(u64::try_from(left).unwrap_or(u64::MAX), "fix");
        let text = format!("not applied: {fixes} of warnings that would lose recorded bytes");
        let next = self.next.repair_up_to(Safety::Lossy, Severity::Warning);
        let label = look.paint(Ink::Strong, "next:");
        wrap(&text, look.width, "  ", 4) + &format!("  {label} {next}\n")
    }

    /// For each code of the errors that are left: the option that repairs it, or that none does.
    fn decisions(&self) -> Vec<Decision<'_>> {
        let mut seen = Vec::new();
        let errors = self.repair.after.findings().iter();
        let errors = errors.filter(|finding| finding.severity == Severity::Error);
        errors
            .filter(|finding| {
                let is_new = !seen.contains(&finding.rule.code);
                seen.push(finding.rule.code);
                is_new
            })
            .map(|finding| self.decide(finding))
            .collect()
    }

    fn decide<'f>(&self, finding: &'f Finding) -> Decision<'f> {
        let (options, text) = match &finding.fix {
            Some(fix) if fix.safety == Safety::Manual => {
                let summary = self.next.name_file(&fix.summary, self.files);
                (fix.options.clone(), summary)
            }
            Some(fix) if fix.safety > self.allowed => {
                (vec![format!("--safety {}", fix.safety)], fix.summary.clone())
            }
            Some(fix) => {
                let reason = match &self.repair.refused {
                    Some(reason) => reason.as_str(),
                    // The place of what such a fix adds depends on what the others repair.
                    None if fix.edits.is_empty() => "other errors have to be repaired first",
                    None => "a limit was reached",
                };
                (Vec::new(), format!("not applied ({reason}): {}", fix.summary))
            }
            None => (Vec::new(), "no automatic fix, with any option".to_string()),
        };
        Decision { finding, options, text }
    }

    fn list_decisions(&self, look: Look) -> String {
        let mut text = String::new();
        let decisions = self.decisions();
        for Decision { finding, options, text: summary } in &decisions {
            let option = match options.as_slice() {
                [option] => format!("{option}: "),
                _ => String::new(),
            };
            let first = format!("  {}: ", finding.rule.code);
            text += &wrap(&format!("{option}{summary}"), look.width, &first, 4);
        }
        if let Some(reason) = &self.repair.refused {
            text += &wrap(reason, look.width, "  stopped: ", 4);
        }
        let next = look.paint(Ink::Strong, "next:");
        let mut commands: Vec<String> = Vec::new();
        for decision in &decisions {
            commands.extend(decision.options.iter().map(|option| self.next.repair(option)));
            if decision.options.is_empty() {
                commands.push(format!("tracemend explain {}", decision.finding.rule.code));
            }
        }
        if self.repair.changes() && !self.partial {
            let applied: Vec<&Applied> = self.repair.applied.iter().collect();
            let fixes = plural(count_fixes(&applied), "fix");
            text += &format!("  --partial writes the fixes that apply ({fixes})\n");
            commands.push(self.next.repair("--partial"));
        }
        commands.dedup();
        for command in commands {
            let _infallible = writeln!(text, "  {next} {command}");
        }
        text
    }

    fn list_files_written(&self, look: Look) -> String {
        let mut text = String::new();
        let mut parts = Vec::new();
        if let Some(path) = &self.written.original {
            parts.push(format!("the original is {path}"));
        }
        if let Some(path) = &self.written.plan {
            parts.push(format!("the plan is {path}"));
        }
        if !parts.is_empty() {
            text += &wrap(&join_and(&parts), look.width, "  ", 4);
        }
        if let Some(undo) = &self.written.undo {
            let _infallible = writeln!(text, "  {} {undo}", look.paint(Ink::Strong, "undo:"));
        }
        text
    }
}

/// Returns the number of fixes of a group.
fn count_fixes(group: &[&Applied]) -> u64 {
    group.iter().fold(0, |sum: u64, applied| sum.saturating_add(applied.count))
}

//! The report of a repair: what was kept, dropped and added, and what is left.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};
use tracemend::json::{Recording, TOOL};
use tracemend::{Applied, Balance, StoredAnew, Tally};
use tracemend::{FileSet, Outcome, Repair, Report, Severity};

use crate::formats::pretty;
use crate::human::{self, plural};
use crate::input::shown;
use crate::streams::Look;

/// Version of the layout of `repair --format json`.
const REPAIR_SCHEMA: &str = "tracemend.repair.v1";
/// Fixes that a person is shown; JSON and the plan hold all.
const FIXES_SHOWN: usize = 50;
/// Errors that are left and shown with their bytes.
const ERRORS_SHOWN: usize = 20;

/// A repair and what became of it.
#[derive(Debug)]
pub(crate) struct Salvage<'r> {
    /// Escaped.
    path: String,
    repair: &'r Repair,
    files: &'r FileSet<'r>,
    balance: Balance,
    pub(crate) dry_run: bool,
    pub(crate) partial: bool,
    /// Escaped paths of what was written.
    pub(crate) written: Option<String>,
    pub(crate) original: Option<String>,
    pub(crate) plan: Option<String>,
}

/// Two lines that have to add up.
pub(crate) fn balance_lines(balance: &Balance) -> String {
    let Balance { kept, dropped, inserted } = *balance;
    let (source, output) = (kept.saturating_add(dropped), kept.saturating_add(inserted));
    format!(
        "kept {kept} + dropped {dropped} = {source} bytes of the source\n\
         kept {kept} + inserted {inserted} = {output} bytes of the output\n"
    )
}

impl<'r> Salvage<'r> {
    pub(crate) fn new(path: &Path, repair: &'r Repair, files: &'r FileSet<'r>) -> Self {
        let mut balance = Balance::default();
        repair.patches.iter().for_each(|patch| balance.add(patch));
        Self {
            path: shown(path),
            repair,
            files,
            balance,
            dry_run: false,
            partial: false,
            written: None,
            original: None,
            plan: None,
        }
    }

    fn headline(&self) -> &'static str {
        match (self.repair.outcome, self.dry_run) {
            (Outcome::Clean, _) => "nothing to do",
            (Outcome::Repaired, false) => "repaired without loss",
            (Outcome::Repaired, true) => "can be repaired without loss",
            (Outcome::RepairedWithLoss, false) => "repaired, with recorded bytes lost",
            (Outcome::RepairedWithLoss, true) => "can be repaired, with recorded bytes lost",
            (Outcome::CannotRepair, _) => "cannot be repaired",
            (Outcome::Incomplete, _) => "a limit was reached; the repair is incomplete",
        }
    }

    /// The report for a person.
    pub(crate) fn human(&self, look: Look) -> String {
        let repair = self.repair;
        let mut text = String::new();
        let unrepaired = matches!(repair.outcome, Outcome::CannotRepair | Outcome::Incomplete);
        if unrepaired {
            let mended = repair.output(self.files);
            let errors = repair.after.findings().iter();
            let errors = errors.filter(|finding| finding.severity == Severity::Error);
            text += &human::findings(errors.take(ERRORS_SHOWN), &mended, look);
        }
        text += &format!("{}: {}\n", self.path, self.headline());
        if repair.changes() {
            text += &self.fixes();
            for line in balance_lines(&self.balance).lines() {
                text += &format!("  {line}\n");
            }
            text += &self.stored_anew();
            text += &self.tallies();
        }
        let after = &repair.after;
        if repair.changes() || after.worst() > Some(Severity::Info) {
            let (errors, warnings) =
                (after.count_of(Severity::Error), after.count_of(Severity::Warning));
            let (errors, warnings) = (plural(errors, "error"), plural(warnings, "warning"));
            text += &format!("  left: {errors}, {warnings}{}\n", codes(after));
        }
        if let Some(reason) = &repair.refused {
            text += &format!("  stopped: {reason}\n");
        }
        text += &self.ends();
        text
    }

    /// What was done.
    fn fixes(&self) -> String {
        let mut text = String::new();
        let (done, would) = ("fixes", "fixes that apply");
        let written = self.written.is_some();
        let applied = &self.repair.applied;
        let _infallible =
            writeln!(text, "  {}: {}", if written { done } else { would }, applied.len());
        for applied in applied.iter().take(FIXES_SHOWN) {
            let Some(fix) = applied.fix() else { continue };
            let rule = applied.finding.rule;
            let (code, name, safety) = (rule.code, rule.name, fix.safety);
            let _infallible = writeln!(text, "    {code} {name} ({safety}): {}", fix.summary);
        }
        let more = applied.len().saturating_sub(FIXES_SHOWN);
        if more > 0 {
            let _infallible = writeln!(text, "    and {more} more (--format json lists all)");
        }
        text
    }

    /// What of the dropped and inserted bytes is the same content, compressed anew.
    fn stored_anew(&self) -> String {
        let mut text = String::new();
        let last = self.repair.applied.last().map_or(0, |applied| applied.round);
        for round in 1..=last {
            let mut sum = StoredAnew::default();
            let of_round = self.repair.applied.iter().filter(|applied| applied.round == round);
            of_round.filter_map(Applied::fix).for_each(|fix| sum.add(fix.anew));
            let StoredAnew { stored, kept, dropped, inserted } = sum;
            if stored == 0 {
                continue;
            }
            let when = if last > 1 { format!("in round {round}, ") } else { String::new() };
            let before = kept.saturating_add(dropped);
            let _infallible = writeln!(
                text,
                "  {when}{stored} of the dropped bytes are compressed and stored anew: of the \
                 {before} bytes that they expand to, {kept} are kept, {dropped} dropped; {inserted} \
                 are added"
            );
        }
        text
    }

    fn tallies(&self) -> String {
        let (before, after) = (&self.repair.before.tally, &self.repair.after.tally);
        let lost = self.repair.records_lost();
        let [record, sample] = human::nouns(self.repair.before.format);
        let mut text = format!(
            "  {record}s: {} before, {} after; {} lost\n  {sample}s: {} before, {} after\n",
            before.records,
            after.records,
            plural(lost, &format!("whole {record}")),
            before.samples,
            after.samples
        );
        let range = |tally: &Tally| match (tally.first_time, tally.last_time) {
            (Some(first), Some(last)) => human::time_range(first, last),
            _ => "none".to_string(),
        };
        if before.first_time.or(after.first_time).is_some() {
            text += &format!("  time: {} before, {} after\n", range(before), range(after));
        }
        text
    }

    /// What was written, or why not.
    fn ends(&self) -> String {
        let repair = self.repair;
        let mut text = String::new();
        if let Some(path) = &self.written {
            let copy = if repair.changes() { "" } else { ", an identical copy" };
            text += &format!("  written: {path}{copy}\n");
        }
        if let Some(path) = &self.original {
            text += &format!("  original: {path}\n");
        }
        if let Some(path) = &self.plan {
            text += &format!("  plan: {path}\n");
        }
        let unrepaired = matches!(repair.outcome, Outcome::CannotRepair | Outcome::Incomplete);
        if unrepaired && self.written.is_none() {
            text += "  nothing was written: errors would be left";
            if repair.changes() && !self.partial {
                text += "; --partial writes the fixes that apply";
            }
            text += "\n";
        } else if self.dry_run {
            text += "  no recording was written (--dry-run)\n";
        } else if self.written.is_none() {
            text += "  nothing was written: the recording needs no repair\n";
        }
        text
    }

    /// The report for a program.
    pub(crate) fn json(&self) -> String {
        let repair = self.repair;
        let mended = repair.output(self.files);
        let report = |report: &Report, files: &FileSet<'_>| -> Value {
            let recording = Recording::new("", report, files);
            let mut value = serde_json::to_value(recording).unwrap_or_default();
            // Escaped already.
            if let Some(path) = value.get_mut("path") {
                *path = Value::from(self.path.as_str());
            }
            value
        };
        let Balance { kept, dropped, inserted } = self.balance;
        let fixes: Vec<Value> = repair.applied.iter().filter_map(|a| self.fix(a)).collect();
        pretty(&json!({
            "schema": REPAIR_SCHEMA,
            "tool": TOOL,
            "path": self.path,
            "outcome": match repair.outcome {
                Outcome::Clean => "clean",
                Outcome::Repaired => "repaired",
                Outcome::RepairedWithLoss => "repaired-with-loss",
                Outcome::CannotRepair => "cannot-repair",
                Outcome::Incomplete => "incomplete",
            },
            "dry_run": self.dry_run,
            "output": self.written,
            "original": self.original,
            "plan": self.plan,
            "balance": { "kept": kept, "dropped": dropped, "inserted": inserted },
            "records_lost": repair.records_lost(),
            "fixes": fixes,
            "refused": repair.refused,
            "before": report(&repair.before, self.files),
            "after": report(&repair.after, &mended),
        }))
    }

    fn fix(&self, applied: &Applied) -> Option<Value> {
        let fix = applied.fix()?;
        let name = |file: u32| -> String {
            let file = usize::try_from(file).ok().and_then(|index| self.files.files().get(index));
            file.map_or_else(String::new, |file| shown(Path::new(&file.name)))
        };
        let places: Vec<Value> = applied
            .places
            .iter()
            .map(|place| {
                let file = name(place.layer.file);
                json!({ "file": file, "start": place.start, "end": place.end })
            })
            .collect();
        Some(json!({
            "code": applied.finding.rule.code,
            "name": applied.finding.rule.name,
            "safety": fix.safety.name(),
            "summary": fix.summary,
            "round": applied.round,
            "records_lost": fix.records_lost,
            "stored_anew": {
                "stored": fix.anew.stored,
                "kept": fix.anew.kept,
                "dropped": fix.anew.dropped,
                "inserted": fix.anew.inserted,
            },
            "places": places,
        }))
    }
}

/// ` (2 PD1002, 1 PD2001)`: what is left, by code.
fn codes(report: &Report) -> String {
    let counts = report.counts().iter().filter(|(_, count)| **count > 0);
    let counts: Vec<String> = counts.map(|(code, count)| format!("{count} {code}")).collect();
    if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) }
}

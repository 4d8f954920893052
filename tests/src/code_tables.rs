//! The tables of codes and of readers' messages in `docs`, made from the rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tracemend::{Concern, FormatId, Remedy, Rule};
use tracemend_cli::markdown::escape;

/// Causes of one message that are listed; `explain` finds all.
const CAUSES_LISTED: usize = 20;

/// Returns the page `docs/codes.md`: a heading for each code, to which reports lead.
pub fn codes() -> String {
    let mut page = "# Codes\n\nEvery code with a line about it; reports in SARIF lead here. \
                    `tracemend explain CODE` prints the\npage about a code, and the book has it. \
                    `BLESS=1 cargo test` writes this file.\n"
        .to_string();
    let mut last = "";
    for rule in tracemend::rules() {
        let section = section_of(rule);
        if section != last {
            let _infallible = write!(page, "\n## {section}\n");
            last = section;
        }
        let Rule { code, name, severity, summary, .. } = rule;
        let fix = if rule.has_fix() { ", with a fix" } else { "" };
        let line = format!("`{name}`, {severity}{fix}: {}.", escape(summary));
        let _infallible = write!(page, "\n### {code}\n\n{}\n", wrap(&line));
    }
    page
}

/// The format that a rule belongs to.
fn section_of(rule: &Rule) -> &'static str {
    let of = |format: &&FormatId| format.rules().iter().any(|one| one.code == rule.code);
    match FormatId::ALL.iter().find(of) {
        Some(format) => format.name(),
        None if Concern::of(rule).is_some() => "audit",
        None if rule.code.starts_with("TR") => "on its way",
        None => "all formats",
    }
}

/// Returns the page `docs/messages.md`: message, cause, command.
pub fn messages() -> String {
    let mut found: BTreeMap<(usize, &str), Vec<&Rule>> = BTreeMap::new();
    for rule in tracemend::rules() {
        let place = FormatId::ALL.iter().position(|format| format.name() == section_of(rule));
        for message in rule.messages() {
            found.entry((place.unwrap_or(usize::MAX), message)).or_default().push(rule);
        }
    }
    let mut page =
        "# Messages of other programs\n\nThe messages with which perf, apitrace, ovniemu, \
                    QEMU and Workload Automation stop, and their\ncauses. `tracemend explain \
                    'MESSAGE'` finds the same by the words; a number in a message stands for\nany. \
                    `BLESS=1 cargo test` writes this file from the rules.\n\n\
                    | message | recordings | cause | command |\n|---|---|---|---|\n"
            .to_string();
    for ((_, message), rules) in found {
        let causes: Vec<String> = rules
            .iter()
            .take(CAUSES_LISTED)
            .map(|rule| format!("{} {}", rule.code, escape(rule.summary)))
            .collect();
        let command = match rules.as_slice() {
            [rule] => command_of(rule),
            _ => "tracemend check FILE".to_string(),
        };
        let format = rules.first().map_or("", |rule| section_of(rule));
        let message = escape(message);
        let (causes, command) = (causes.join("; "), command.replace('|', "\\|"));
        let _infallible = writeln!(page, "| {message} | {format} | {causes} | `{command}` |");
    }
    page
}

/// The first command of the remedy, or the one that explains it.
fn command_of(rule: &Rule) -> String {
    let (Remedy::Fix(text) | Remedy::Next(text)) = rule.remedy;
    let commands = text.lines().filter_map(|line| line.strip_prefix("  tracemend "));
    let command = commands.map(str::to_string).next();
    format!("tracemend {}", command.unwrap_or_else(|| format!("explain {}", rule.code)))
}

/// The text in lines of at most 100 columns.
fn wrap(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 100 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines.join("\n")
}

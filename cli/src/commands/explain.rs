//! `tracemend explain`: the page about a code.
//!
//! The texts come from the rule, the example from the smallest recording in the corpus that breaks
//! it (`show/examples.txt`, written by the tests).

use tracemend::{DeletedRule, Remedy, Rule, Untrusted};

use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::{Ink, Look, wrap};
use crate::show::example::find_example;

/// Codes that are proposed instead of an unknown one.
const NEAR_MAX: usize = 5;
/// Single letters that two near codes or names may differ in.
const NEAR_EDITS: usize = 2;
/// Characters of a mistyped code that are compared.
const COMPARED: usize = 64;
/// Columns of a page at most: long lines are hard to read.
const PAGE_WIDTH: usize = 100;

const USAGE: &str = "\
Examples:
  tracemend explain PD0004
  tracemend explain data-size-zero";

/// Explain a code: problem, impact, example, fix or next step, source
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{USAGE}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A code such as PD0004, or its name
    code: String,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let look = Look { width: streams.look.width.min(PAGE_WIDTH), ..streams.look };
        let page = match (tracemend::rule(&self.code), tracemend::deleted_rule(&self.code)) {
            (Some(rule), _) => describe_rule(rule, look),
            (None, Some(rule)) => wrap(&describe_deleted(rule), look.width, "", 2),
            (None, None) => return Err(Failure::usage(describe_unknown(&self.code))),
        };
        streams.print(&page)?;
        Ok(Exit::Clean)
    }
}

/// The sentence about a rule that does not exist any more.
pub(crate) fn describe_deleted(rule: &DeletedRule) -> String {
    let DeletedRule { code, name, since, reason, .. } = rule;
    format!("{code} ({name}) has not existed since version {since}: {reason}")
}

/// The page about a rule.
fn describe_rule(rule: &Rule, look: Look) -> String {
    let format = tracemend::FormatId::ALL
        .iter()
        .find(|format| format.rules().iter().any(|one| one.code == rule.code))
        .map_or_else(|| "all formats".to_string(), ToString::to_string);
    let format = match tracemend::Concern::of(rule) {
        Some(tracemend::Concern::Recipient) => "audit, for a recipient".to_string(),
        Some(tracemend::Concern::Sender) => "audit, private to the sender".to_string(),
        None => format,
    };
    let ink = match rule.severity {
        tracemend::Severity::Error => Ink::Error,
        tracemend::Severity::Warning => Ink::Warning,
        tracemend::Severity::Info => Ink::Note,
    };
    let title =
        format!("{} {} ({format}, {}): {}", rule.code, rule.name, rule.severity, rule.summary);
    let mut text =
        wrap(&title, look.width, "", 2).replacen(rule.code, &look.paint(ink, rule.code), 1);
    let mut section = |heading: &str, body: &str| {
        text += &format!("{}\n{body}", look.paint(Ink::Strong, heading));
    };
    section("Problem", &wrap_paragraphs(rule.problem, look));
    section("Impact", &wrap_paragraphs(rule.impact, look));
    if let Some((path, example)) = find_example(rule.code) {
        section(&format!("Example ({path})"), &fit_example(rule, path, example, look));
    }
    match rule.remedy {
        Remedy::Fix(remedy) => section("Fix", &wrap_paragraphs(remedy, look)),
        Remedy::Next(remedy) => section("Next", &wrap_paragraphs(remedy, look)),
    }
    let source = wrap(rule.source, look.width, "Source: ", 2);
    text + &source.replacen("Source:", &look.paint(Ink::Strong, "Source:"), 1)
}

/// Paragraphs, wrapped and indented; a line that begins with two spaces is kept as it is.
fn wrap_paragraphs(text: &str, look: Look) -> String {
    let line = |line: &str| {
        if line.starts_with("  ") { format!("  {line}\n") } else { wrap(line, look.width, "  ", 2) }
    };
    text.lines().map(line).collect()
}

/// The example without what the page says anyway, the path and this very command, in the columns of
/// the terminal.
fn fit_example(rule: &Rule, path: &str, example: &str, look: Look) -> String {
    let command = format!("  next: tracemend explain {}", rule.code);
    let mut text = String::new();
    for line in example.lines().filter(|line| **line != command) {
        let line = line.strip_prefix(&format!("{path}: ")).unwrap_or(line);
        let is_kept = ["  next: ", "  at "].iter().any(|start| line.starts_with(start))
            || line.contains(['│', '─']);
        let margin = line.len() - line.trim_start().len();
        let start = " ".repeat(margin + 2);
        text += &match is_kept {
            true => format!("  {line}\n"),
            false => wrap(line.trim_start(), look.width, &start, margin + 2),
        };
    }
    text
}

/// Describes a code that does not exist, with the nearest ones.
pub(crate) fn describe_unknown(code: &str) -> String {
    let wanted: String = code.to_lowercase().chars().take(COMPARED).collect();
    let mut near: Vec<(usize, &str, &str)> = tracemend::rules()
        .map(|rule| {
            let by_code = distance(&wanted, &rule.code.to_lowercase());
            let by_part =
                if wanted.len() > 3 && rule.name.contains(&wanted) { 1 } else { usize::MAX };
            (by_code.min(distance(&wanted, rule.name)).min(by_part), rule.code, rule.name)
        })
        .filter(|(distance, ..)| *distance <= NEAR_EDITS)
        .collect();
    near.sort_unstable();
    let mut text = format!("unknown code `{}`", Untrusted(code.as_bytes()));
    let near: Vec<String> =
        near.iter().take(NEAR_MAX).map(|(_, code, name)| format!("{code} ({name})")).collect();
    if near.is_empty() {
        text += "; `tracemend codes` lists all";
    } else {
        text += &format!("; did you mean {}?", tracemend::words::join_or(&near));
    }
    text
}

/// Number of letters to insert, drop or replace to get from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut left = i + 1;
        let mut next = vec![left];
        for (above, to) in row.windows(2).zip(&b) {
            let &[diagonal, above] = above else { continue };
            left = (diagonal + usize::from(from != *to)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_codes_and_names_are_proposed() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        assert!(describe_unknown("cm00001").contains("CM0001 (empty-file)"));
        assert!(describe_unknown("empty_file").contains("CM0001"));
        assert!(describe_unknown("zzzzzzzzzzz").contains("tracemend codes"));
        assert!(!describe_unknown("a\u{1b}[2J").contains('\u{1b}'));
    }

    #[test]
    fn a_page_fits_the_terminal_and_keeps_commands() {
        for rule in tracemend::rules() {
            let page = describe_rule(rule, Look { width: 80, ..Look::PLAIN });
            for heading in ["\nProblem\n", "\nImpact\n", "\nSource:"] {
                assert!(page.contains(heading), "{page}");
            }
            assert!(page.contains("\nFix\n") || page.contains("\nNext\n"), "{page}");
        }
        let kept = wrap_paragraphs("Run:\n  tracemend repair x", Look::PLAIN);
        assert_eq!(kept, "  Run:\n    tracemend repair x\n");
    }
}

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
/// Names before a message at most: of the reader, the file and a function.
const NAMES_BEFORE: usize = 4;
/// Words that a message has at least: one alone is a mistyped code.
const QUOTED_LEAST: usize = 2;
/// Columns of a page at most: long lines are hard to read.
const PAGE_WIDTH: usize = 100;

const USAGE: &str = "\
Examples:
  tracemend explain PD0004
  tracemend explain data-size-zero
  tracemend explain incompatible file format     codes of which a reader says this";

/// Explain a code, or find the codes behind a reader's message
///
/// The page about a code has its problem, impact, example, fix or next step, and source.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{USAGE}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A code such as PD0004, its name, or words of the message that a reader gave
    #[arg(required = true, value_name = "CODE")]
    words: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let look = Look { width: streams.look.width.min(PAGE_WIDTH), ..streams.look };
        let words = self.words.join(" ");
        let page = match (tracemend::rule(&words), tracemend::deleted_rule(&words)) {
            (Some(rule), _) => describe_rule(rule, look),
            (None, Some(rule)) => wrap(&describe_deleted(rule), look.width, "", 2),
            (None, None) => match find_message(&words).as_slice() {
                [] => return Err(Failure::usage(describe_unknown(&words))),
                [rule] => describe_rule(rule, look),
                rules => list_quoting(rules, look),
            },
        };
        streams.print(&page)?;
        Ok(Exit::Clean)
    }
}

/// The rules whose texts quote a reader's message, which may begin with the names of the reader and
/// the file, and end with advice in parentheses.
fn find_message(message: &str) -> Vec<&'static Rule> {
    let starts = message.match_indices(": ").map(|(at, colon)| at + colon.len());
    let starts = starts.take(NAMES_BEFORE);
    let ends = std::iter::once(0).chain(starts).filter_map(|start| message.get(start..));
    let parts = ends.flat_map(|end| [end, end.split(" (").next().unwrap_or_default()]);
    parts.map(find_quoted).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The rules whose texts quote a reader's message: as it stands, or else all of its words.
fn find_quoted(message: &str) -> Vec<&'static Rule> {
    let plain = |text: &str| -> String {
        let letters = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' });
        let letters: String = letters.collect::<String>().to_lowercase();
        format!(" {} ", letters.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let wanted = plain(message);
    // Numbers and names differ from file to file.
    let words: Vec<String> = wanted
        .split_whitespace()
        .filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic))
        .map(|word| format!(" {word} "))
        .collect();
    if words.len() < QUOTED_LEAST {
        return Vec::new();
    }
    let text = |rule: &Rule| plain(&[rule.summary, rule.problem, rule.impact].join(" "));
    let having = |has: &dyn Fn(&str) -> bool| -> Vec<&'static Rule> {
        tracemend::rules().filter(|rule| has(&text(rule))).collect()
    };
    let exact = having(&|text| text.contains(&wanted));
    match exact.is_empty() {
        true => having(&|text| words.iter().all(|word| text.contains(word.as_str()))),
        false => exact,
    }
}

/// One line per rule, worst first.
fn list_quoting(rules: &[&Rule], look: Look) -> String {
    let mut rules = rules.to_vec();
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.severity));
    let line = |rule: &&Rule| {
        let first = format!("{}  {:7}  ", rule.code, rule.severity.name());
        wrap(rule.summary, look.width, &first, first.len())
    };
    rules.iter().map(line).collect::<String>()
        + "tracemend explain CODE prints the page about a code\n"
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
    fn a_message_of_a_reader_leads_to_its_codes() {
        let codes = |message: &str| -> Vec<&str> {
            find_message(message).iter().map(|rule| rule.code).collect()
        };
        assert!(codes("incompatible file format").contains(&"PD0001"));
        assert!(codes("Invalid input log file version").contains(&"QR0002"));
        let whole = "incompatible file format (rerun with -v to learn more)";
        assert_eq!(codes(whole), codes("incompatible file format"));
        let named = "qemu-system-x86_64: night.log: invalid input log file version";
        assert_eq!(codes(named), codes("Invalid input log file version"));
        assert_eq!(codes("version file log input"), codes("input log file version"));
        assert_eq!(codes("PD00004"), [""; 0]);
        assert_eq!(codes("a message that nobody gives"), [""; 0]);
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

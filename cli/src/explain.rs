//! `tracemend explain`: what a code means.

use tracemend::{Remedy, Untrusted};

use crate::exit::{Exit, Failure, HELP};
use crate::streams::Streams;

/// Codes that are proposed in place of an unknown one.
const NEAR_MAX: usize = 5;
/// Single letters that two near codes or names may differ in.
const NEAR_EDITS: usize = 2;
/// Characters of a mistyped code that are compared.
const COMPARED: usize = 64;

/// Explain a code: what is wrong, why it matters, what a repair does
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Examples:\n  tracemend explain CM0001\n  tracemend explain empty-file\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A code such as CM0001, or the name that stands beside it
    code: String,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let rule =
            tracemend::rule(&self.code).ok_or_else(|| Failure::usage(unknown(&self.code)))?;
        let (heading, remedy) = match rule.remedy {
            Remedy::Fix(text) => ("Fix", text),
            Remedy::Next(text) => ("Next", text),
        };
        streams.print(&format!(
            "{} {} ({})\n\n{}\n\n{}\n\n{heading}\n{}\n",
            rule.code,
            rule.name,
            rule.severity,
            rule.summary,
            paragraphs(rule.problem),
            paragraphs(remedy)
        ))?;
        Ok(Exit::Clean)
    }
}

/// The text with lines of at most 80 characters.
fn paragraphs(text: &str) -> String {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + word.chars().count() >= 80 {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// What to say about a code that there is not.
pub(crate) fn unknown(code: &str) -> String {
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
    let mut text = format!("there is no code `{}`", Untrusted(code.as_bytes()));
    let near: Vec<String> =
        near.iter().take(NEAR_MAX).map(|(_, code, name)| format!("{code} ({name})")).collect();
    if near.is_empty() {
        text += "; `tracemend codes` lists all";
    } else {
        text += &format!("; near it: {}", near.join(", "));
    }
    text
}

/// Letters to insert, drop or replace to get from `a` to `b`.
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
        assert!(unknown("cm00001").contains("CM0001 (empty-file)"));
        assert!(unknown("empty_file").contains("CM0001"));
        assert!(unknown("zzzzzzzzzzz").contains("tracemend codes"));
        assert!(!unknown("a\u{1b}[2J").contains('\u{1b}'));
    }
}

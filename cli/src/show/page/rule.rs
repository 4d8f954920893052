//! The pages of codes, as `tracemend explain` prints them, at the end of a page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tracemend::{Remedy, Rule};

use crate::show::example::find_example;
use crate::show::markup::escape;

/// One part per code, which links lead to by the code.
pub(crate) fn describe_rules(codes: &BTreeSet<&'static str>) -> String {
    let rules: Vec<&Rule> = codes.iter().filter_map(|code| tracemend::rule(code)).collect();
    if rules.is_empty() {
        return String::new();
    }
    let pages: String = rules.into_iter().map(describe_rule).collect();
    format!("<h2>Codes</h2>\n{pages}")
}

fn describe_rule(rule: &Rule) -> String {
    let Rule { code, name, severity, summary, .. } = rule;
    // A link to the inner element opens the part around it.
    let mut text = format!(
        "<details><summary><code>{code}</code> {name}</summary>\n<div id=\"{code}\">\n\
         <p><span class=\"{severity}\">{severity}</span>: {}</p>\n",
        escape(summary)
    );
    let (heading, remedy) = match rule.remedy {
        Remedy::Fix(remedy) => ("Fix", remedy),
        Remedy::Next(remedy) => ("Next", remedy),
    };
    let parts = [("Problem", rule.problem), ("Impact", rule.impact), (heading, remedy)];
    for (heading, body) in parts {
        let _infallible = write!(text, "<h4>{heading}</h4>\n{}", paragraphs(body));
    }
    if let Some((path, example)) = find_example(code) {
        let (path, example) = (escape(path), escape(example));
        let _infallible = writeln!(text, "<h4>Example ({path})</h4>\n<pre>{example}</pre>");
    }
    let _infallible = writeln!(text, "<p>Source: {}</p>\n</div></details>", escape(rule.source));
    text
}

/// Paragraphs; a line that begins with two spaces is a command.
fn paragraphs(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("  ") {
        Some(command) => format!("<pre>{}</pre>\n", escape(command)),
        None => format!("<p>{}</p>\n", escape(line)),
    };
    text.lines().map(line).collect()
}

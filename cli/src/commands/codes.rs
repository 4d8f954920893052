//! `tracemend codes`: every code.

use serde_json::json;
use tracemend::{Concern, DeletedRule, FormatId, Remedy, Rule, Severity};

use crate::commands::explain::describe_deleted;
use crate::commands::formats::{Format, pretty};
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::{Ink, Look, wrap};
use crate::show::history::{History, Version};

const ABOUT: &str = "\
With --since, the codes that are new after a version, those that became errors after it, and those \
that were deleted: what a run in CI may report after an update.";

const EXAMPLES: &str = "\
Examples:
  tracemend codes
  tracemend codes --since 0.1.0
  tracemend codes --format json";

/// List all codes with their severity and whether a repair has a fix
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// Only what is new or became an error after this version, such as 0.1.0
    #[arg(long, value_name = "VERSION")]
    since: Option<Version>,
    /// human or json
    #[arg(long, value_enum, default_value_t = Format::Human, hide_possible_values = true)]
    format: Format,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let own = Version::own();
        if let Some(version) = self.since.filter(|since| *since > own) {
            let message = format!("version {version} is newer than this program, {own}");
            return Err(Failure::usage(message));
        }
        let text = match self.format {
            Format::Human => match self.since {
                Some(version) => list_changes(version, streams.look),
                None => list_codes(streams.look),
            },
            Format::Json => {
                let is_wanted =
                    |rule: &&Rule| self.since.is_none_or(|since| has_changed(rule, since));
                let codes: Vec<_> =
                    tracemend::rules().filter(is_wanted).map(describe_as_json).collect();
                pretty(&json!({ "schema": "tracemend.codes.v1", "codes": codes }))
            }
        };
        streams.print(&text)?;
        Ok(Exit::Clean)
    }
}

/// Whether a code is new, or became an error, after a version.
fn has_changed(rule: &Rule, version: Version) -> bool {
    let history = History::of(rule);
    history.since > version || history.error_since.is_some_and(|since| since > version)
}

/// The codes that are new, became errors or were deleted after a version.
fn list_changes(version: Version, look: Look) -> String {
    let is_new = |rule: &&Rule| History::of(rule).since > version;
    let (new, old): (Vec<&Rule>, Vec<&Rule>) = tracemend::rules().partition(is_new);
    let errors = old.into_iter().filter(|rule| has_changed(rule, version)).collect();
    let is_gone =
        |rule: &&DeletedRule| rule.since.parse::<Version>().is_ok_and(|since| since > version);
    let gone: Vec<String> =
        tracemend::deleted_rules().filter(is_gone).map(describe_deleted).collect();
    let mut text = list_sections(&[("new", new), ("errors now", errors)], look);
    if !gone.is_empty() {
        text += &format!("{}\n", look.paint(Ink::Strong, "deleted"));
        text += &gone.iter().map(|line| wrap(line, look.width, "  ", 4)).collect::<String>();
    }
    if text.is_empty() {
        return format!("no code is new and none became an error after version {version}\n");
    }
    text + "tracemend explain CODE prints the page about a code\n"
}

/// One line per code, under the name of the format.
fn list_codes(look: Look) -> String {
    let common = tracemend::rules().filter(|rule| rule.code.starts_with("CM")).collect();
    let arrival = tracemend::rules().filter(|rule| rule.code.starts_with("TR")).collect();
    let formats = FormatId::ALL.iter().map(|format| (format.name(), format.rules().to_vec()));
    let audited = tracemend::rules().filter(|rule| Concern::of(rule).is_some()).collect();
    let sections: Vec<(&str, Vec<&Rule>)> = std::iter::once(("all formats", common))
        .chain([("on its way", arrival)])
        .chain(formats)
        .chain([("audit", audited)])
        .collect();
    list_sections(&sections, look) + "tracemend explain CODE prints the page about a code\n"
}

/// Headings, each with a line per code; none for a section without a code.
fn list_sections(sections: &[(&str, Vec<&Rule>)], look: Look) -> String {
    let width = tracemend::rules().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, rules) in sections.iter().filter(|(_, rules)| !rules.is_empty()) {
        text += &format!("{}\n", look.paint(Ink::Strong, heading));
        for rule in rules {
            let ink = match rule.severity {
                Severity::Error => Ink::Error,
                Severity::Warning => Ink::Warning,
                Severity::Info => Ink::Note,
            };
            let severity = look.paint(ink, &format!("{:7}", rule.severity.name()));
            let fix = if rule.has_fix() { "fix" } else { "-  " };
            let (code, name, summary) = (rule.code, rule.name, rule.summary);
            text += &format!("  {code}  {severity}  {fix}  {name:width$}  {summary}\n");
        }
    }
    text
}

fn describe_as_json(rule: &Rule) -> serde_json::Value {
    let (fix, next) = match rule.remedy {
        Remedy::Fix(text) => (Some(text), None),
        Remedy::Next(text) => (None, Some(text)),
    };
    let History { since, error_since } = History::of(rule);
    json!({
        "code": rule.code,
        "since": since.to_string(),
        "error_since": error_since.map(|version| version.to_string()),
        "messages": rule.messages(),
        "name": rule.name,
        "severity": rule.severity.name(),
        "summary": rule.summary,
        "problem": rule.problem,
        "impact": rule.impact,
        "fix": fix,
        "next": next,
        "source": rule.source,
    })
}

//! `tracemend codes`: every code.

use serde_json::json;
use tracemend::{Concern, FormatId, Remedy, Rule, Severity};

use crate::commands::formats::{Format, pretty};
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::{Ink, Look};

/// List all codes with their severity and whether a repair has a fix
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// human or json
    #[arg(long, value_enum, default_value_t = Format::Human, hide_possible_values = true)]
    format: Format,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let text = match self.format {
            Format::Human => list_codes(streams.look),
            Format::Json => {
                let codes: Vec<_> = tracemend::rules().map(describe_as_json).collect();
                pretty(&json!({ "schema": "tracemend.codes.v1", "codes": codes }))
            }
        };
        streams.print(&text)?;
        Ok(Exit::Clean)
    }
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
    let width = tracemend::rules().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, rules) in sections {
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
    text + "tracemend explain CODE prints the page about a code\n"
}

fn describe_as_json(rule: &Rule) -> serde_json::Value {
    let (fix, next) = match rule.remedy {
        Remedy::Fix(text) => (Some(text), None),
        Remedy::Next(text) => (None, Some(text)),
    };
    json!({
        "code": rule.code,
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

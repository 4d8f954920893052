//! `tracemend codes`: every code.

use serde_json::json;

use crate::exit::{Exit, Failure, HELP};
use crate::formats::{Format, pretty};
use crate::streams::Streams;

/// List every code with its severity
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// For people or as JSON
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let text = match self.format {
            Format::Human => {
                let width = tracemend::rules().map(|rule| rule.name.len()).max().unwrap_or(0);
                tracemend::rules().fold(String::new(), |text, rule| {
                    let severity = rule.severity.name();
                    let mends = if rule.has_fix() { "fix" } else { "   " };
                    let (code, name, summary) = (rule.code, rule.name, rule.summary);
                    text + &format!("{code}  {name:width$}  {severity:7}  {mends}  {summary}\n")
                })
            }
            Format::Json => {
                let codes: Vec<_> = tracemend::rules()
                    .map(|rule| {
                        json!({
                            "code": rule.code,
                            "name": rule.name,
                            "severity": rule.severity.name(),
                            "summary": rule.summary,
                            "problem": rule.problem,
                            "impact": rule.impact,
                            "fix": rule.has_fix(),
                        })
                    })
                    .collect();
                pretty(&json!({ "schema": "tracemend.codes.v1", "codes": codes }))
            }
        };
        streams.print(&text)?;
        Ok(Exit::Clean)
    }
}

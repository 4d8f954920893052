//! `tracemend formats`: what is read and what can be repaired.

use clap::ValueEnum;
use serde_json::{Value, json};
use tracemend::FormatId;

use crate::exit::{Exit, Failure, HELP};
use crate::streams::Streams;

/// List the formats that are known
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// For people or as JSON
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Human,
    Json,
}

/// A JSON document of several lines, with a line end.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let text = match self.format {
            Format::Human => FormatId::ALL.iter().fold(String::new(), |text, format| {
                text + &format!("{:10} {}\n", format.name(), format.summary())
            }),
            Format::Json => {
                let formats: Vec<_> = FormatId::ALL
                    .iter()
                    .map(|format| json!({ "name": format.name(), "summary": format.summary() }))
                    .collect();
                pretty(&json!({ "schema": "tracemend.formats.v1", "formats": formats }))
            }
        };
        streams.print(&text)?;
        Ok(Exit::Clean)
    }
}

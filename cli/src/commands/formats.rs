//! `tracemend formats`: the formats, and what can be checked and repaired.

use clap::ValueEnum;
use serde_json::{Value, json};
use tracemend::{FormatId, OptionSpec};

use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::{Ink, Look, wrap};

/// List the formats, and what can be checked and repaired
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// human or json
    #[arg(long, value_enum, default_value_t = Format::Human, hide_possible_values = true)]
    format: Format,
}

/// How a list or a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Human,
    Json,
}

/// Returns a JSON document of several lines, with a line end.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let look = streams.look;
        let text = match self.format {
            Format::Human => {
                FormatId::ALL.iter().map(|format| describe_format(*format, look)).collect()
            }
            Format::Json => {
                let formats: Vec<_> = FormatId::ALL.iter().copied().map(describe_as_json).collect();
                pretty(&json!({ "schema": "tracemend.formats.v1", "formats": formats }))
            }
        };
        streams.print(&text)?;
        Ok(Exit::Clean)
    }
}

/// The name, the summary and the options that the format owns.
fn describe_format(format: FormatId, look: Look) -> String {
    let name = format!("{:10}", format.name());
    let indent = name.chars().count() + 1;
    let text = wrap(format.summary(), look.width, &format!("{name} "), indent);
    let text = text.replacen(&name, &look.paint(Ink::Strong, &name), 1);
    let list = |what: &str, specs: &[OptionSpec]| {
        let options: Vec<String> = specs.iter().map(|spec| format!("--{}", spec.name)).collect();
        if options.is_empty() {
            return String::new();
        }
        let first = format!("{:indent$}{what} options: ", "");
        wrap(&options.join(", "), look.width, &first, indent)
    };
    let lists = [
        list("check and repair", format.options()),
        list("dump", format.dump_options()),
        list("cut", format.cut_options()),
    ];
    text + &lists.concat()
}

fn describe_as_json(format: FormatId) -> Value {
    let list = |specs: &[OptionSpec]| -> Vec<Value> {
        specs.iter().map(|spec| json!({ "name": spec.name, "help": spec.help })).collect()
    };
    let styles: Vec<&str> = format.dump_styles().iter().map(|(style, _)| *style).collect();
    json!({
        "name": format.name(),
        "summary": format.summary(),
        "options": list(format.options()),
        "dump_options": list(format.dump_options()),
        "dump_styles": styles,
        "cut_options": list(format.cut_options()),
    })
}

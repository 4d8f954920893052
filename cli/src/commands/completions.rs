//! `tracemend completions`: completion scripts for shells.

use clap::Command;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap_complete::Shell;
use tracemend::{Concern, FormatId, Rule};

use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};

const EXAMPLES: &str = "\
Examples:
  tracemend completions bash > ~/.local/share/bash-completion/completions/tracemend";

/// Print the completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let mut command = complete(crate::build_command());
        // Written to memory first: the generator panics if its writer fails.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, "tracemend", &mut text);
        streams.print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Clean)
    }
}

/// The command line with the values that its parsers know: a shell proposes codes and formats.
fn complete(command: Command) -> Command {
    let code = |rule: &Rule| PossibleValue::new(rule.code).help(rule.summary);
    let codes = || PossibleValuesParser::new(tracemend::rules().map(code));
    let is_private = |rule: &&Rule| Concern::of(rule) == Some(Concern::Sender);
    let kinds = || {
        let names = tracemend::rules().filter(is_private);
        PossibleValuesParser::new(
            names.map(|rule| PossibleValue::new(rule.name).help(rule.summary)),
        )
    };
    let formats = || PossibleValuesParser::new(FormatId::ALL.iter().map(|format| format.name()));
    let command = command
        .mut_subcommand("explain", |own| own.mut_arg("words", |arg| arg.value_parser(codes())))
        .mut_subcommand("check", |own| {
            let options = ["deny", "warn", "allow"].into_iter();
            options.fold(own, |own, name| own.mut_arg(name, |arg| arg.value_parser(codes())))
        })
        .mut_subcommand("redact", |own| {
            let options = ["only", "keep"].into_iter();
            options.fold(own, |own, name| own.mut_arg(name, |arg| arg.value_parser(kinds())))
        });
    ["check", "audit", "repair", "redact", "dump", "map"].into_iter().fold(
        command,
        |command, name| {
            command
                .mut_subcommand(name, |own| own.mut_arg("type", |arg| arg.value_parser(formats())))
        },
    )
}

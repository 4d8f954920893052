//! `tracemend completions`: completion scripts for shells.

use clap_complete::Shell;

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
        let mut command = crate::build_command();
        // Written to memory first: the generator panics if its writer fails.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, "tracemend", &mut text);
        streams.print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Clean)
    }
}

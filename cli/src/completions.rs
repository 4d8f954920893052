//! `tracemend completions`: what a shell needs to complete a command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::exit::{Exit, Failure, HELP};
use crate::streams::Streams;

/// Write the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Examples:\n  tracemend completions bash > ~/.local/share/bash-completion/completions/tracemend\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let mut command = crate::Arguments::command();
        // Written to memory first: the generator panics if its writer fails.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, "tracemend", &mut text);
        streams.print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Clean)
    }
}

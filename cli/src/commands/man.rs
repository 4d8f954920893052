//! `tracemend man`: manual pages.

use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};

const EXAMPLES: &str = "\
Examples:
  tracemend man | man -l -
  tracemend man check > tracemend-check.1";

/// Print the manual page of tracemend or of one of its commands
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// The command; the page of tracemend itself without one
    command: Option<String>,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let mut all = crate::build_command();
        // Commands get their full names and the options of all commands.
        all.build();
        let command = match &self.command {
            None => all,
            Some(name) => {
                let found = all.find_subcommand(name).cloned();
                found.ok_or_else(|| Failure::usage(describe_unknown(name, &all)))?
            }
        };
        let name = command.get_display_name().unwrap_or("tracemend").to_string();
        let page = clap_mangen::Man::new(command.display_name(name.clone())).title(name);
        let mut text = Vec::new();
        page.render(&mut text).map_err(|error| Failure::io("the page", &error))?;
        streams.print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Clean)
    }
}

fn describe_unknown(name: &str, all: &clap::Command) -> String {
    let known: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
    let name = tracemend::Untrusted(name.as_bytes());
    format!("unknown command `{name}`, expected {}", known.join(", "))
}

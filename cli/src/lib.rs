//! The command line of tracemend: paths and bytes in, a product and an exit code out.
//!
//! ```text
//!  arguments -> [one file per subcommand] -> exit code
//!                 |  input: paths -> recordings     mapped: files -> bytes
//!                 |  tracemend::check, tracemend::repair
//!                 |  human, salvage: reports -> text
//!                 v  output: bytes -> a whole file, or none
//! ```
//!
//! stdout is the product in the format that was asked for; stderr is talk. The exit code has one
//! meaning: see [`Exit`].

mod apply;
mod check;
mod choices;
mod codes;
mod completions;
mod dump;
mod exit;
mod explain;
mod formats;
mod human;
mod input;
mod mapped;
mod output;
mod ovni;
mod repair;
mod salvage;
mod streams;
mod verify;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

pub use exit::{Exit, Failure};
pub use streams::{Look, Streams, with_process};

/// Checks and mends recordings, and proves what it mended.
///
/// A recording is a file or a directory that a tracing tool wrote: `tracemend formats` lists what
/// is known. No command changes the file that it reads, except `repair --in-place`, which keeps the
/// original as NAME.orig.
#[derive(Debug, Parser)]
#[command(name = "tracemend", version, after_help = exit::HELP, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Repair(repair::Arguments),
    Apply(apply::Arguments),
    Verify(verify::Arguments),
    Dump(dump::Arguments),
    Explain(explain::Arguments),
    Codes(codes::Arguments),
    Formats(formats::Arguments),
    Completions(completions::Arguments),
}

/// Runs the command that `args` (with the program's name first) ask for.
///
/// Gives the exit code of the process; see [`Exit`].
pub fn run(args: impl IntoIterator<Item = OsString>, mut streams: Streams<'_>) -> u8 {
    let arguments = match Arguments::try_parse_from(args) {
        Ok(arguments) => arguments,
        Err(error) => return streams.usage(&error).code(),
    };
    let ended = match &arguments.command {
        Command::Check(arguments) => arguments.run(&mut streams),
        Command::Repair(arguments) => arguments.run(&mut streams),
        Command::Apply(arguments) => arguments.run(&mut streams),
        Command::Verify(arguments) => arguments.run(&mut streams),
        Command::Dump(arguments) => arguments.run(&mut streams),
        Command::Explain(arguments) => arguments.run(&mut streams),
        Command::Codes(arguments) => arguments.run(&mut streams),
        Command::Formats(arguments) => arguments.run(&mut streams),
        Command::Completions(arguments) => arguments.run(&mut streams),
    };
    // What is still in the buffer of stdout is part of the product.
    let ended = ended.and_then(|exit| streams.finish().map(|()| exit));
    match ended {
        Ok(exit) => exit.code(),
        Err(failure) => {
            streams.failed(&failure);
            failure.exit.code()
        }
    }
}

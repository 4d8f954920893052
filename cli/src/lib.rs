//! The command line of tracemend: paths and bytes in, a product and an exit code out.
//!
//! ```text
//!  commands   one file or folder per subcommand: recordings -> tracemend::check, repair, ...
//!  show       reports -> text, JSON and pages
//!  args policy   options that several commands share; what a user accepts
//!  files      paths -> recordings -> bytes; bytes -> a complete file, or none
//!  kit        exit codes, the look of text, work in order
//! ```
//!
//! Standard output is the product in the format that was asked for; standard error has messages and
//! progress. Each exit code has one meaning: see [`Exit`].

mod args;
mod commands;
mod files;
mod kit;
mod policy;
mod show;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

pub use files::embedded::embed;
pub use files::sandbox;
pub use files::streams::{Streams, with_process};
pub use kit::exit::{Exit, Failure};
pub use kit::look::{Look, Showing};
pub use show::markdown;

use args::format_options::{self, Verb};
use args::intent::{self, Intent};
use commands::{
    apply, check, codes, completions, cut, diff, dump, explain, formats, man, map, redact, repair,
    self_test, verify,
};
use files::access;
use files::sandbox::SandboxChoice;
use kit::exit;
use kit::look::ColorChoice;

/// Order of a help text: the paragraphs about a command stand before its usage.
const TEMPLATE: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

const ABOUT: &str = "\
A recording is a file or a directory that a tracing tool wrote; `tracemend formats` lists the \
formats. No command changes the file that it reads, except `repair --in-place`, which keeps the \
original as NAME.orig.";

/// Check recordings, repair them, and prove what a repair changed
#[derive(Debug, Parser)]
#[command(name = "tracemend", version, max_term_width = 100)]
#[command(before_help = ABOUT, after_help = exit::HELP)]
struct Arguments {
    /// Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR
    /// decide if it is auto
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto,
        hide_possible_values = true, display_order = 1000)]
    color: ColorChoice,
    /// Give up what reading does not need before the first recording is opened: on (as without a
    /// value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on
    /// as far as the system allows it
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t,
        num_args = 0..=1, require_equals = true, default_missing_value = "on",
        hide_possible_values = true, display_order = 1001)]
    sandbox: SandboxChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Audit(check::audit::Arguments),
    Repair(repair::Arguments),
    Redact(redact::Arguments),
    Cut(cut::Arguments),
    Apply(apply::Arguments),
    Verify(verify::Arguments),
    Dump(dump::Arguments),
    Diff(diff::Arguments),
    Map(map::Arguments),
    Explain(explain::Arguments),
    Codes(codes::Arguments),
    Formats(formats::Arguments),
    Merge(check::merge::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    SelfTest(self_test::Arguments),
}

impl Command {
    /// What it does to a recording, for the progress.
    const fn verb(&self) -> &'static str {
        match self {
            Self::Repair(_) => "repairing",
            Self::Redact(_) => "redacting",
            Self::Dump(_) => "dumping",
            Self::Map(_) => "mapping",
            _ => "reading",
        }
    }
}

/// The command line with the options that formats own.
pub(crate) fn build_command() -> clap::Command {
    let command = Arguments::command().help_template(TEMPLATE);
    let names: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_string()).collect();
    let command = names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| command.help_template(TEMPLATE))
    });
    let verbs = [
        ("check", Verb::Check),
        ("audit", Verb::Audit),
        ("map", Verb::Map),
        ("repair", Verb::Repair),
        ("dump", Verb::Dump),
        ("diff", Verb::Diff),
        ("cut", Verb::Cut),
    ];
    verbs.into_iter().fold(command, |command, (name, verb)| {
        command.mut_subcommand(name, |own| format_options::add_to(own, verb))
    })
}

fn parse(args: &[OsString]) -> Result<(Arguments, ArgMatches), clap::Error> {
    let matches = build_command().try_get_matches_from(args)?;
    Ok((Arguments::from_arg_matches(&matches)?, matches))
}

/// Runs the command in `args`, whose first one is the name of the program.
///
/// Returns the exit code of the process; see [`Exit`].
pub fn run(args: impl IntoIterator<Item = OsString>, mut streams: Streams<'_>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let parsed = parse(&args).or_else(|error| match intent::of(&args, &error) {
        Some(Intent::Check(args, told)) => {
            streams.warn(&told);
            parse(&args)
        }
        Some(Intent::Synonym(told)) => {
            Err(build_command().error(ErrorKind::InvalidSubcommand, told))
        }
        None => Err(error),
    });
    let (arguments, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return streams.usage(&error).code(),
    };
    streams.look = streams.look.with_color(arguments.color);
    streams.sandbox = arguments.sandbox;
    // Before files of the system can no longer be read.
    access::umask();
    let ended = arguments.run(&matches, &mut streams);
    // The rest in the buffer of standard output is part of the product.
    let ended = ended.and_then(|exit| streams.finish().map(|()| exit));
    match ended {
        Ok(exit) => exit.code(),
        Err(failure) => {
            streams.report_failure(&failure);
            failure.exit.code()
        }
    }
}

impl Arguments {
    fn run(&self, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let own = matches.subcommand().map_or(matches, |(_, own)| own);
        streams.verb = self.command.verb();
        match &self.command {
            Command::Check(arguments) => arguments.run(own, self.color, streams),
            Command::Audit(arguments) => arguments.run(own, self.color, streams),
            Command::Repair(arguments) => arguments.run(own, streams),
            Command::Redact(arguments) => arguments.run(streams),
            Command::Cut(arguments) => arguments.run(own, streams),
            Command::Apply(arguments) => arguments.run(streams),
            Command::Verify(arguments) => arguments.run(streams),
            Command::Dump(arguments) => arguments.run(own, streams),
            Command::Diff(arguments) => arguments.run(own, streams),
            Command::Map(arguments) => arguments.run(own, streams),
            Command::Explain(arguments) => arguments.run(streams),
            Command::Codes(arguments) => arguments.run(streams),
            Command::Formats(arguments) => arguments.run(streams),
            Command::Merge(arguments) => arguments.run(self.color, streams),
            Command::Completions(arguments) => arguments.run(streams),
            Command::Man(arguments) => arguments.run(streams),
            Command::SelfTest(arguments) => arguments.run(streams),
        }
    }
}

//! `tracemend check`: every problem of recordings.

mod format;
mod run;
mod sink;
mod writer;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgMatches, ValueEnum};
use tracemend::words::byte_count;
use tracemend::{Finding, FormatId, Layer, Options, Report, Rule, Severity, Span, common, limits};

use crate::command::type_option;
use crate::exit::{Exit, Failure, HELP};
use crate::format_options::{FormatOptions, Verb};
use crate::input;
use crate::look::{ColorChoice, Look};
use crate::places::Places;
use crate::progress::{Progress, sum_bytes};
use crate::repair::open_one;
use crate::streams::Streams;
use format::{Format, Wanted, WantedParser};
use run::Run;
use sink::Sink;
use writer::Settings;

/// Findings that `--all` lists for one recording.
const FINDINGS_LISTED: u64 = 65_536;

const ABOUT: &str = "\
\"clean\" means that a conforming reader reads the recording completely and correctly, as far as \
the bytes can show. In a directory, files that are not recordings are skipped and listed by \
reason. A file that is named, one that should be a recording by its name or its neighbours, and a \
directory without a recording are errors if no format recognises them.

Findings of the same code in one recording are grouped: the first is shown in full, the others as \
a count with places.";

const EXAMPLES: &str = "\
Examples:
  tracemend check perf.data
  tracemend check traces/ --format json -o findings.json
  tracemend check perf.data --fail-on warning --allow PD0201
  tracemend check traces/ --format sarif=tracemend.sarif --format human
  zcat perf.data.gz | tracemend check -";

/// Check recordings and report every problem with its position and its fix, if there is one
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// Files or directories; `-` reads standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// human (default), json (one document, schema/check.schema.json), jsonl (one recording per
    /// line, then the totals), oneline (PATH:OFFSET: SEVERITY[CODE] MESSAGE), sarif (SARIF 2.1.0),
    /// junit (XML), github (workflow commands) or gitlab (code quality); repeatable: all but one
    /// name a file
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = WantedParser,
        hide_possible_values = true)]
    format: Vec<Wanted>,
    /// Write the report to FILE, all of it or nothing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read every file as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<FormatId>,
    /// Exit with 1 from this severity on: error, warning, info or never
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error,
        hide_possible_values = true)]
    fail_on: FailOn,
    /// Report CODE as an error (repeatable, like --warn and --allow)
    #[arg(long, value_name = "CODE", value_parser = parse_rule)]
    deny: Vec<&'static Rule>,
    /// Report CODE as a warning
    #[arg(long, value_name = "CODE", value_parser = parse_rule)]
    warn: Vec<&'static Rule>,
    /// Do not report CODE; a reached limit still exits with 6
    #[arg(long, value_name = "CODE", value_parser = parse_rule)]
    allow: Vec<&'static Rule>,
    /// Show every finding in full, and up to 65536 per recording instead of 1000
    #[arg(long)]
    all: bool,
    /// Show at most N findings per recording; all are counted
    #[arg(long, value_name = "N")]
    max_findings: Option<usize>,
    /// Also print facts about each recording: layout, devices, models, clocks
    #[arg(short, long)]
    verbose: bool,
    /// Report every file of a directory that is skipped as an error
    #[arg(long)]
    strict: bool,
    /// Number of threads; does not change the result
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print nothing for clean recordings, and no totals
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl FailOn {
    fn is_reached(self, worst: Option<Severity>) -> bool {
        let least = match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
            Self::Never => return false,
        };
        worst >= Some(least)
    }
}

/// The format that `--type` names.
pub(crate) fn parse_format(name: &str) -> Result<FormatId, String> {
    name.parse().map_err(|error: tracemend::UnknownFormat| error.to_string())
}

fn parse_rule(code: &str) -> Result<&'static Rule, String> {
    tracemend::rule(code).ok_or_else(|| crate::explain::describe_unknown(code))
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        color: ColorChoice,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let wanted = format::assign(&self.format, self.output.as_ref())?;
        self.check_options(&wanted)?;
        let given = FormatOptions::read(matches, Verb::Check)?;
        let mut places = Places::new(streams);
        for path in &self.paths {
            places.walk(path)?;
        }
        let donor = given.donor.as_deref().map(|path| open_one(path, streams)).transpose()?;
        if let Some(donor) = &donor {
            places.read("the donor", donor)?;
        }
        let progress = self.progress(streams.look);
        let sink = Sink::new(streams, &wanted, color, &mut places, progress)?;
        Run::new(self, given, donor, sink).all()
    }

    /// Fails if an option has no effect on the format of the report.
    fn check_options(&self, wanted: &[Wanted]) -> Result<(), Failure> {
        let human = [(self.quiet, "--quiet"), (self.verbose, "--verbose")];
        let has_human = wanted.iter().any(|one| one.format == Format::Human);
        let ignored = human.into_iter().find(|(given, _)| *given && !has_human);
        match ignored {
            Some((_, option)) => {
                Err(Failure::usage(format!("{option} applies to --format human only")))
            }
            None => Ok(()),
        }
    }

    /// Options about the text for people.
    fn settings(&self, given: &FormatOptions) -> Settings {
        let mut words = type_option(self.kind);
        words.extend(given.typed.iter().cloned());
        Settings { quiet: self.quiet, verbose: self.verbose, all: self.all, given: words }
    }

    /// Progress on a terminal: over all bytes if a directory is walked.
    fn progress(&self, look: Look) -> Progress {
        let is_long = look.progress && !self.paths.iter().any(|path| input::is_stdin(path));
        let is_one = self.paths.len() == 1 && self.paths.iter().all(|path| path.is_file());
        let bytes = if is_long { sum_bytes(&self.paths) } else { None };
        let (message, bytes) = match (is_one, bytes) {
            (true, Some(bytes)) => (format!("checking {}", byte_count(bytes)), None),
            (_, bytes) => ("checking".to_string(), bytes),
        };
        Progress::new(look, message, bytes)
    }

    /// The options of the library.
    fn options(&self) -> Options {
        let default = Options::default();
        let mut options = self.kind.map_or(default.clone(), |kind| default.with_format(kind));
        options.jobs = self.jobs;
        // Findings that are left out later should not use up the room of those that are shown.
        let held = options.limits.of(&limits::FINDINGS);
        let wanted = self.max_findings.map_or(held, |max| u64::try_from(max).unwrap_or(u64::MAX));
        let listed = if self.all { FINDINGS_LISTED } else { held };
        options.limits.set(&limits::FINDINGS, held.max(wanted).max(listed));
        options
    }

    /// Sets the severities that the user wants, and limits the number of findings.
    fn judge(&self, report: &mut Report) {
        let named = |rules: &[&'static Rule], rule: &'static Rule| rules.contains(&rule);
        if !(self.deny.is_empty() && self.warn.is_empty() && self.allow.is_empty()) {
            report.judge(|rule| match rule {
                _ if named(&self.deny, rule) => Some(Severity::Error),
                _ if named(&self.warn, rule) => Some(Severity::Warning),
                _ if named(&self.allow, rule) => None,
                _ => Some(rule.severity),
            });
        }
        if let Some(max) = self.max_findings {
            report.truncate(max);
        }
    }
}

/// The report about a path that is not a file.
pub(crate) fn report_irregular(kind: &str) -> Report {
    report_path(&common::IRREGULAR_FILE, format!("the path is {kind}, not a file"))
}

fn report_path(rule: &'static Rule, message: String) -> Report {
    let mut report = Report::new(None, 0, 1);
    report.push(Finding::new(rule, Span::new(Layer::stored(0), 0, 0), "path", message));
    report.mark_unreadable();
    report
}

//! `tracemend check`: every problem of recordings.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use tracemend::words::byte_count;
use tracemend::{
    FileSet, Finding, FormatId, Layer, Options, Report, Rule, Severity, Span, common, json, limits,
};

use crate::command::{NextCommand, type_option};
use crate::exit::{Exit, Failure, HELP};
use crate::group::Drawing;
use crate::input::{self, Found, Skipped};
use crate::look::{ColorChoice, Look};
use crate::output::TextFile;
use crate::progress::{Progress, sum_bytes};
use crate::streams::Streams;
use crate::summary::{Totals, describe_recording, list_facts};

/// Findings that `--all` lists for one recording.
const FINDINGS_LISTED: u64 = 65_536;

const ABOUT: &str = "\
\"clean\" means that a conforming reader reads the recording completely and correctly, as far as \
the bytes can show. In a directory, files that are not recordings are counted and skipped. A file \
named on the command line that no format recognises is an error.

Findings of the same code in one recording are grouped: the first is shown in full, the others as \
a count with places.";

const EXAMPLES: &str = "\
Examples:
  tracemend check perf.data
  tracemend check traces/ --format json -o findings.json
  tracemend check perf.data --fail-on warning --allow PD0201
  zcat perf.data.gz | tracemend check -";

/// Check recordings and report every problem with its position and its fix, if there is one
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// Files or directories; `-` reads standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// human, json (one document, schema/check.schema.json) or jsonl (one object per line, one line
    /// per recording)
    #[arg(long, value_enum, default_value_t = Format::Human, hide_possible_values = true)]
    format: Format,
    /// Write the report to FILE, all of it or nothing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read every file as this format (see `tracemend formats`)
    #[arg(long = "type", value_name = "NAME", value_parser = parse_format)]
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
    /// Number of threads; does not change the result
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print nothing for clean recordings, and no totals
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
    Jsonl,
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

/// One run: where it writes, and what it has seen.
struct Run<'r, 's> {
    arguments: &'r Arguments,
    streams: &'r mut Streams<'s>,
    file: Option<TextFile>,
    look: Look,
    progress: Progress,
    totals: Totals,
    /// The line about a recording that was found in a directory and is clean: it is printed if it
    /// remains the only one.
    clean_line: String,
    exit: Exit,
}

impl Arguments {
    pub(crate) fn run(
        &self,
        color: ColorChoice,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let file = match &self.output {
            Some(path) => Some(TextFile::create(path, &self.paths, true, 0o666)?),
            None => None,
        };
        let exclude = file.as_ref().and_then(TextFile::stamp);
        let look = if file.is_some() { streams.look.of_file(color) } else { streams.look };
        let mut run = Run {
            arguments: self,
            progress: self.progress(streams.look),
            streams,
            file,
            look,
            totals: Totals::default(),
            clean_line: String::new(),
            exit: Exit::Clean,
        };
        if self.format == Format::Json {
            run.emit(&json::head())?;
        }
        let mut skipped = Skipped::default();
        let every = self.kind.is_some();
        for path in &self.paths {
            if input::is_stdin(path) {
                let spooled = input::open(path, run.streams.input);
                run.add(spooled.unwrap_or_else(Found::Failed))?;
                continue;
            }
            let mut nothing = std::io::empty();
            let before = run.totals.recordings();
            let max = input::WALK_MAX;
            input::visit(path, &mut nothing, exclude, every, max, &mut skipped, &mut |found| {
                run.add(found)
            })?;
            if run.totals.recordings() == before && run.exit == Exit::Clean {
                let message = format!("{}: no recording in this directory", input::shown(path));
                run.streams.warn(&message);
            }
        }
        run.close(&skipped)
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

    fn is_named(&self, path: &Path) -> bool {
        self.paths.iter().any(|named| named == path)
    }
}

impl Run<'_, '_> {
    fn add(&mut self, found: Found) -> Result<(), Failure> {
        match found {
            Found::Recording(recording) => {
                let files = recording.file_set();
                let report = tracemend::check(&files, &self.arguments.options());
                let length = files.len();
                self.report(&recording.path, report, &files)?;
                self.progress.advance(length);
                Ok(())
            }
            Found::Irregular { path, kind } => {
                self.report(&path, report_irregular(kind), &FileSet::default())
            }
            Found::TooMany { path, max } => {
                let message = format!("limit reached: the directory has more than {max} entries");
                let report = report_path(&common::LIMIT_REACHED, message);
                self.report(&path, report, &FileSet::default())
            }
            Found::Failed(failure) => {
                let streams = &mut *self.streams;
                self.progress.suspend(|| streams.warn(&failure.message));
                self.exit = self.exit.max(failure.exit);
                Ok(())
            }
        }
    }

    fn report(
        &mut self,
        path: &Path,
        mut report: Report,
        files: &FileSet<'_>,
    ) -> Result<(), Failure> {
        self.arguments.judge(&mut report);
        let is_first = self.totals.recordings() == 0;
        self.totals.add(&input::shown(path), &report);
        if report.incomplete() {
            self.exit = self.exit.max(Exit::Incomplete);
        } else if self.arguments.fail_on.is_reached(report.worst()) {
            self.exit = self.exit.max(Exit::Findings);
        }
        let writer = |error: serde_json::Error| Failure::new(Exit::Io, error.to_string());
        let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
        let text = match self.arguments.format {
            Format::Human => self.describe(path, &report, files),
            Format::Json => {
                json::Recording::new(bytes, &report, files).piece(is_first).map_err(writer)?
            }
            Format::Jsonl => json::Recording::new(bytes, &report, files).line().map_err(writer)?,
        };
        self.emit(&text)
    }

    /// The findings of one recording and a line about it, for people.
    fn describe(&mut self, path: &Path, report: &Report, files: &FileSet<'_>) -> String {
        if self.arguments.quiet && report.worst().is_none() {
            return String::new();
        }
        let name = input::shown(path);
        let next = NextCommand::new(path, type_option(self.arguments.kind));
        let (look, all) = (self.look, self.arguments.all);
        let drawing = Drawing { path: &name, files, look, all, next: &next };
        let mut text = drawing.findings(report, |_| true);
        let mut line = describe_recording(&format!("{name}: "), report, look);
        if self.arguments.verbose {
            line += &list_facts(report, look);
        }
        let is_walked = !self.arguments.is_named(path);
        if is_walked && report.worst().is_none() && !self.arguments.verbose {
            self.clean_line = line;
        } else {
            text += &line;
            if report.worst().is_some() && is_walked {
                text.push('\n');
            }
        }
        text
    }

    fn emit(&mut self, text: &str) -> Result<(), Failure> {
        let (file, streams) = (&mut self.file, &mut *self.streams);
        self.progress.suspend(|| match file {
            Some(file) => file.write(text),
            None => streams.print(text),
        })
    }

    fn close(mut self, skipped: &Skipped) -> Result<Exit, Failure> {
        match self.arguments.format {
            Format::Human if self.arguments.quiet => {}
            Format::Human if self.totals.recordings() == 1 && skipped.count() == 0 => {
                let line = std::mem::take(&mut self.clean_line);
                self.emit(&line)?;
            }
            Format::Human => {
                let table = self.totals.table(skipped, self.look);
                self.emit(&table)?;
            }
            Format::Json => {
                let (empty, _) = skipped.of(input::SkipReason::Empty);
                self.emit(&json::tail(skipped.count(), empty))?;
            }
            Format::Jsonl => {}
        }
        if let Some(file) = self.file {
            file.publish()?;
        }
        Ok(self.exit)
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

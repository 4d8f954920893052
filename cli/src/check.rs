//! `tracemend check`: what is wrong with recordings.

use std::path::PathBuf;

use clap::ValueEnum;
use tracemend::{
    FileSet, Finding, FormatId, Layer, Options, Report, Rule, Severity, Span, common, json, limits,
};

use crate::exit::{Exit, Failure, HELP};
use crate::human::{self, Totals};
use crate::input::{self, Found, Passed};
use crate::output::TextFile;
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  tracemend check perf.data
  tracemend check traces/ --format json -o findings.json
  tracemend check perf.data --fail-on warning --allow PD0201
  zcat perf.data.gz | tracemend check -";

/// Say what is wrong with recordings
///
/// Every finding has a stable code (`tracemend explain CODE`), the bytes it is about, and a fix
/// where there is one. In a directory, files that are no recordings are counted and passed over; a
/// file that is named and not recognised is a finding.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// Files, directories, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How findings are written: for people, as one JSON document (schema/check.schema.json), or
    /// as one JSON object a recording and line
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Write to FILE in place of standard output; it appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Take every file for a recording of this format
    #[arg(long = "type", value_name = "NAME", value_parser = format_name)]
    kind: Option<FormatId>,
    /// Exit with 1 if a finding is at least this bad
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// Make this code an error (may be repeated, as may --warn and --allow)
    #[arg(long, value_name = "CODE", value_parser = rule)]
    deny: Vec<&'static Rule>,
    /// Make this code a warning
    #[arg(long, value_name = "CODE", value_parser = rule)]
    warn: Vec<&'static Rule>,
    /// Leave this code out; reaching a limit still exits with 6
    #[arg(long, value_name = "CODE", value_parser = rule)]
    allow: Vec<&'static Rule>,
    /// Show at most N findings a recording; all are counted
    #[arg(long, value_name = "N")]
    max_findings: Option<usize>,
    /// Threads that work side by side; the result is the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Say nothing about sound recordings, and no totals
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
    fn fails(self, worst: Option<Severity>) -> bool {
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
pub(crate) fn format_name(name: &str) -> Result<FormatId, String> {
    name.parse().map_err(|error: tracemend::UnknownFormat| error.to_string())
}

fn rule(code: &str) -> Result<&'static Rule, String> {
    tracemend::rule(code).ok_or_else(|| crate::explain::unknown(code))
}

/// One run: where it writes and what it has seen.
struct Run<'r, 's> {
    arguments: &'r Arguments,
    streams: &'r mut Streams<'s>,
    file: Option<TextFile>,
    totals: Totals,
    exit: Exit,
    first: bool,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let file = match &self.output {
            Some(path) => Some(TextFile::create(path, &self.paths, true, 0o666)?),
            None => None,
        };
        let exclude = file.as_ref().and_then(TextFile::stamp);
        let mut run = Run {
            arguments: self,
            streams,
            file,
            totals: Totals::default(),
            exit: Exit::Clean,
            first: true,
        };
        if self.format == Format::Json {
            run.emit(&json::head())?;
        }
        let mut passed = Passed::default();
        let every = self.kind.is_some();
        for path in &self.paths {
            if input::is_stdin(path) {
                let spooled = input::open(path, run.streams.input);
                run.see(spooled.unwrap_or_else(Found::Failed))?;
                continue;
            }
            let mut nothing = std::io::empty();
            let before = run.totals.recordings;
            let max = input::WALK_MAX;
            input::visit(path, &mut nothing, exclude, every, max, &mut passed, &mut |found| {
                run.see(found)
            })?;
            if run.totals.recordings == before && run.exit == Exit::Clean {
                let message = format!("{}: no recording in this directory", input::shown(path));
                run.streams.say(&message);
            }
        }
        run.close(passed)
    }

    /// What the library is told.
    fn options(&self) -> Options {
        let mut options = Options::default();
        options.format = self.kind;
        options.jobs = self.jobs;
        // What is left out later should not use up the room of what is shown.
        let most = options.limits.of(&limits::FINDINGS);
        let wanted = self.max_findings.map_or(most, |max| u64::try_from(max).unwrap_or(u64::MAX));
        options.limits.set(&limits::FINDINGS, most.max(wanted));
        options
    }

    /// Gives findings the severity that the user wants and cuts their number.
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

impl Run<'_, '_> {
    fn see(&mut self, found: Found) -> Result<(), Failure> {
        match found {
            Found::Recording(recording) => {
                let files = recording.file_set();
                let report = tracemend::check(&files, &self.arguments.options());
                self.report(&recording.path, report, &files)
            }
            Found::Irregular { path, kind } => {
                self.report(&path, irregular(kind), &FileSet::default())
            }
            Found::TooMany { path, max } => {
                let message = format!("{max} entries were looked at, there are more");
                let report = about_path(&common::LIMIT_REACHED, message);
                self.report(&path, report, &FileSet::default())
            }
            Found::Failed(failure) => {
                self.streams.say(&failure.message);
                self.exit = self.exit.max(failure.exit);
                Ok(())
            }
        }
    }

    fn report(
        &mut self,
        path: &std::path::Path,
        mut report: Report,
        files: &FileSet<'_>,
    ) -> Result<(), Failure> {
        self.arguments.judge(&mut report);
        self.totals.add(&report);
        if report.incomplete() {
            self.exit = self.exit.max(Exit::Incomplete);
        } else if self.arguments.fail_on.fails(report.worst()) {
            self.exit = self.exit.max(Exit::Findings);
        }
        let writer = |error: serde_json::Error| Failure::new(Exit::Io, error.to_string());
        let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
        let text = match self.arguments.format {
            Format::Human if self.arguments.quiet && report.worst().is_none() => String::new(),
            Format::Human => {
                let look = match self.file {
                    Some(_) => crate::streams::Look::PLAIN,
                    None => self.streams.look,
                };
                let mut text = human::findings(report.findings(), files, look);
                text += &human::summary(&input::shown(path), &report);
                // In a walked directory there may be thousands: a line each is enough.
                if self.arguments.paths.iter().any(|named| named == path) {
                    text += &human::facts(&report);
                }
                text
            }
            Format::Json => {
                json::Recording::new(bytes, &report, files).piece(self.first).map_err(writer)?
            }
            Format::Jsonl => json::Recording::new(bytes, &report, files).line().map_err(writer)?,
        };
        self.first = false;
        self.emit(&text)
    }

    fn emit(&mut self, text: &str) -> Result<(), Failure> {
        match &mut self.file {
            Some(file) => file.write(text),
            None => self.streams.print(text),
        }
    }

    fn close(mut self, passed: Passed) -> Result<Exit, Failure> {
        match self.arguments.format {
            Format::Human if self.arguments.quiet => {}
            Format::Human if self.totals.recordings == 1 && passed == Passed::default() => {}
            Format::Human => self.emit(&self.totals.line(passed))?,
            Format::Json => self.emit(&json::tail(passed.files, passed.empty))?,
            Format::Jsonl => {}
        }
        if let Some(file) = self.file {
            file.publish()?;
        }
        Ok(self.exit)
    }
}

/// The report about a path that is not a file.
pub(crate) fn irregular(kind: &str) -> Report {
    about_path(&common::IRREGULAR_FILE, format!("the path is {kind}, not a file"))
}

fn about_path(rule: &'static Rule, message: String) -> Report {
    let mut report = Report::new(None, 0, 1);
    report.push(Finding::new(rule, Span::new(Layer::stored(0), 0, 0), "path", message));
    report.mark_unreadable();
    report
}

//! `tracemend check`: every problem of recordings.

pub(crate) mod audit;
mod format;
mod judging;
pub(crate) mod merge;
mod paths;
mod resume;
mod run;
mod shard;
mod sink;
mod unfinished;
mod work;
mod writer;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use clap::ArgMatches;
use tracemend::limits;
use tracemend::{
    AuditRequest, Finding, FormatId, Layer, Options, Report, Rule, Selector, Span, common,
};

use crate::args::format_options::{FormatOptions, Verb};
use crate::args::limiting::Limiting;
use crate::commands::explain::describe_deleted;
use crate::files::access::Readers;
use crate::files::paths::{is_stdin, shown};
use crate::files::places::Places;
use crate::files::sandbox::Reach;
use crate::files::single::open_donor;
use crate::files::streams::Streams;
use crate::files::sum::sum_bytes;
use crate::files::walk;
use crate::kit::command::{repair_all, type_option};
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::{ColorChoice, Look, Showing};
use crate::kit::progress::Progress;
use crate::policy::fail_on::FailOn;
use format::{Format, Wanted, WantedParser};
use judging::{Judging, parse_selector};
use paths::Paths;
use resume::Earlier;
use run::Run;
use shard::Shard;
use sink::Sink;
use work::{Walks, Work};
use writer::Settings;

/// Findings that `--all` lists for one recording.
const FINDINGS_LISTED: u64 = 65_536;

const ABOUT: &str = "\
\"clean\" means that a conforming reader reads the recording completely and correctly, as far as \
the bytes can show. In a directory, files that are not recordings are skipped and listed by \
reason. A file that is named, one that should be a recording by its name or its neighbours, and a \
directory without a recording are errors if no format recognises them. A file that belongs to a \
directory recording, such as stream.obs, stands for that recording, unless --type is given.

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
#[derive(Debug, Default, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// Files, directories, or patterns such as 'traces/**/*.data'; `-` reads standard input
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Also check the paths in FILE (`-` reads standard input), one per line, or separated by NUL
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// human (default), json (one document, schema/check.schema.json), jsonl (one recording per
    /// line, then the totals), oneline (PATH:OFFSET: SEVERITY[CODE] MESSAGE), sarif (SARIF 2.1.0),
    /// junit (XML), tap (version 14), github and azure (commands of their logs), gitlab (code
    /// quality), rdjson (reviewdog), html (one page without a script, with the pages of the codes)
    /// or svg (a picture with a row for each recording); repeatable: all but one name a file
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = WantedParser,
        hide_possible_values = true)]
    format: Vec<Wanted>,
    /// Write the report to FILE, all of it or nothing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read every file as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<FormatId>,
    /// Exit with 1 from this severity on: error, warning, info or never [default: error]
    #[arg(long, value_enum, value_name = "SEVERITY", hide_possible_values = true)]
    fail_on: Option<FailOn>,
    /// Report CODE as an error (repeatable, like --warn and --allow): a code, the beginning of
    /// codes, a name or `all`; the closest of several decides
    #[arg(long, value_name = "CODE", value_parser = parse_selector)]
    deny: Vec<Selector>,
    /// Report CODE as a warning
    #[arg(long, value_name = "CODE", value_parser = parse_selector)]
    warn: Vec<Selector>,
    /// Do not report CODE; a reached limit still exits with 6
    #[arg(long, value_name = "CODE", value_parser = parse_selector)]
    allow: Vec<Selector>,
    /// Read the policy from FILE instead of the tracemend.toml in this directory or above it
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Read no tracemend.toml
    #[arg(long)]
    no_config: bool,
    /// Do not report the findings in FILE, wherever they have moved in their recordings
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the findings of this run to the baseline, so that later runs do not report them
    #[arg(long)]
    write_baseline: bool,
    /// Print how often each code was found instead of the findings
    #[arg(long)]
    statistics: bool,
    /// Check one part of N, the same on every machine, with I from 1 to N (0 stands for N);
    /// `tracemend merge` joins the reports
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Take over what an earlier JSON report has about recordings that are older than it and have
    /// the same length
    #[arg(long, value_name = "REPORT")]
    resume: Option<PathBuf>,
    /// Add the CRC-32 of each recording to a JSON report; --resume then compares it with that of
    /// the report instead of the times
    #[arg(long)]
    checksums: bool,
    /// Show every finding in full, and up to 65536 per recording instead of 1000
    #[arg(long)]
    all: bool,
    /// Show at most N findings per recording; all are counted
    #[arg(long, value_name = "N")]
    max_findings: Option<usize>,
    /// Also print facts about each recording: layout, devices, models, clocks
    #[arg(short, long)]
    verbose: bool,
    /// JSON and SARIF: all bytes that the fixes insert; without it, edits of more than 64 bytes
    /// have their length and CRC-32 in JSON, and such a fix is left out of SARIF
    #[arg(long)]
    edits: bool,
    /// Report every file of a directory that is skipped as an error
    #[arg(long)]
    strict: bool,
    /// Number of threads; does not change the result
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print nothing for clean recordings, and no totals
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    limiting: Limiting,
    /// Lists what recordings carry instead of their faults: `tracemend audit`.
    #[arg(skip)]
    audit: Option<AuditRequest>,
}

/// The format that `--type` names.
pub(crate) fn parse_format(name: &str) -> Result<FormatId, String> {
    name.parse().map_err(|error: tracemend::UnknownFormat| error.to_string())
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
        let verb = if self.audit.is_some() { Verb::Audit } else { Verb::Check };
        let given = FormatOptions::read(matches, verb)?;
        let paths = Paths::gather(&self.paths, self.files_from.as_deref(), streams)?;
        let paths = match self.kind {
            // A file that is read as one format is read by itself.
            Some(_) => paths,
            None => paths.with_whole_recordings(streams),
        };
        let mut places = Places::new(streams);
        // The paths of a list are too many to compare each with each.
        for path in self.paths.iter().chain(&self.files_from).chain(&self.resume) {
            places.walk(path)?;
        }
        let judging = Judging::new(self, &mut places, streams.look)?;
        for rule in judging.deleted().values() {
            streams.warn(&describe_deleted(rule));
        }
        // Before files of the system can no longer be read.
        let jobs = self.jobs.or(std::thread::available_parallelism().ok());
        streams.confine(|| {
            let files = wanted.iter().filter_map(|one| one.file.as_ref());
            let inputs = paths.as_slice().iter().chain(&given.donor).chain(&self.resume);
            Reach::default().read_all(inputs).write_all(files.chain(judging.written_baseline()))
        })?;
        let donor = open_donor(given.donor.as_deref(), streams)?;
        if let Some(donor) = &donor {
            places.read("the donor", donor)?;
        }
        let progress = self.progress(paths.as_slice(), streams.look);
        let walks = Walks::new(self.limiting.unwrapping(), streams, progress.gauge());
        let mut sink = Sink::new(streams, &wanted, color, &mut places, progress)?;
        for path in self.files_from.iter().chain(&self.resume).filter(|path| !is_stdin(path)) {
            sink.restrict(|output| Readers::of_path(path, output));
        }
        if let Some(donor) = &donor {
            sink.restrict(|output| Readers::of(donor, output));
        }
        let work = Work {
            arguments: self,
            settings: self.settings(&given, paths.as_slice()),
            given,
            donor,
            texts: sink.texts().into_iter().chain(judging.written_baseline().cloned()).collect(),
            layouts: sink.layouts(),
            walks: Walks { written: sink.written(), ..walks },
            earlier: self.resume.as_deref().map(Earlier::read).transpose()?,
            is_single: paths.as_slice().len() == 1,
            judging,
        };
        Run::new(work, sink).all(&paths, jobs.unwrap_or(NonZeroUsize::MIN))
    }

    /// Fails if an option has no effect on the format of the report.
    fn check_options(&self, wanted: &[Wanted]) -> Result<(), Failure> {
        let human = [
            (self.quiet, "--quiet"),
            (self.verbose, "--verbose"),
            (self.statistics, "--statistics"),
        ];
        let has_human = wanted.iter().any(|one| one.format == Format::Human);
        let ignored = human.into_iter().find(|(given, _)| *given && !has_human);
        if let Some((_, option)) = ignored {
            return Err(Failure::usage(format!("{option} applies to --format human only")));
        }
        let has_json = wanted.iter().any(|one| matches!(one.format, Format::Json | Format::Jsonl));
        let has_edits = has_json || wanted.iter().any(|one| one.format == Format::Sarif);
        if self.edits && !has_edits {
            let message = "--edits applies to --format json, jsonl and sarif only";
            return Err(Failure::usage(message));
        }
        if self.checksums && !has_json && self.resume.is_none() {
            let message = "--checksums applies to --format json and jsonl, and to --resume, only";
            return Err(Failure::usage(message));
        }
        Ok(())
    }

    /// The progress: of one recording, or of all bytes of several.
    fn progress(&self, paths: &[PathBuf], look: Look) -> Progress {
        let verb = if self.audit.is_some() { "auditing" } else { "checking" };
        let look = match look.progress {
            // Nothing was asked for about what is well.
            Showing::Lines if self.quiet => Look { progress: Showing::Nothing, ..look },
            _ => look,
        };
        match paths {
            [path] if !walk::is_walked(path) => Progress::of_one(look, verb, &shown(path)),
            _ => {
                let paths = paths.to_vec();
                let is_stream = paths.iter().any(|path| is_stdin(path));
                Progress::of_many(
                    look,
                    verb,
                    move || {
                        if is_stream { None } else { sum_bytes(&paths) }
                    },
                )
            }
        }
    }

    /// Options about the text for people.
    fn settings(&self, given: &FormatOptions, paths: &[PathBuf]) -> Settings {
        let mut words = type_option(self.kind);
        words.extend(given.typed.iter().cloned());
        words.extend(self.limiting.words());
        Settings {
            quiet: self.quiet,
            verbose: self.verbose,
            all: self.all,
            statistics: self.statistics,
            is_one: paths.len() == 1 && !paths.iter().any(|path| walk::is_walked(path)),
            repair_all: repair_all(paths, &words),
            given: words,
            audit: self.audit,
            edits: self.edits,
        }
    }

    /// The options of the library.
    fn options(&self, judging: &Judging) -> Options {
        let default = self.limiting.options();
        let mut options = self.kind.map_or(default.clone(), |kind| default.with_format(kind));
        let held = options.limits.of(&limits::FINDINGS);
        let listed = if self.all { held.max(FINDINGS_LISTED) } else { held };
        options.limits.set(&limits::FINDINGS, judging.held(listed));
        options
    }
}

/// The path that an escaped one stands for.
fn to_path(escaped: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(tracemend::unescape(escaped)))
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

//! `tracemend merge`: the JSON reports of several runs as one, in any format.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tracemend::json::{
    self, CHECK_SCHEMA, CHECK_SCHEMA_BEFORE, ErrorEntry, Recording, RereadError, SkippedEntry,
};
use tracemend::unescape;

use super::format::{Wanted, WantedParser, assign};
use super::sink::Sink;
use super::to_path;
use super::writer::{Checked, Closing, Settings};
use crate::files::access::Readers;
use crate::files::paths::shown;
use crate::files::places::Places;
use crate::files::sandbox::Reach;
use crate::files::skipped::{SkipReason, Skipped};
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::ColorChoice;
use crate::kit::progress::Progress;
use crate::policy::fail_on::FailOn;
use crate::show::summary::Totals;

const ABOUT: &str = "\
The reports come from `tracemend check --format json` or jsonl, for example one from each shard \
(`check --shard I/N`). The recordings are sorted by path, so that the result is the same as that \
of one run over the directory. Reports hold no bytes of recordings: text for people comes without \
them.";

const EXAMPLES: &str = "\
Examples:
  tracemend merge shard-*.json --format json -o report.json
  tracemend merge shard-*.json --format sarif=report.sarif --format human";

/// Join the JSON reports of several checks into one report in any format
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// Reports of `check --format json` or jsonl
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// As for `check`
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = WantedParser,
        hide_possible_values = true)]
    format: Vec<Wanted>,
    /// Write the report to FILE, all of it or nothing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Exit with 1 from this severity on: error, warning, info or never
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error,
        hide_possible_values = true)]
    fail_on: FailOn,
}

/// A document, or the last line of JSON lines, which has no recordings.
#[derive(Debug, Deserialize)]
struct Document {
    schema: String,
    #[serde(default)]
    recordings: Vec<Recording>,
    skipped: Vec<SkippedEntry>,
    errors: Vec<ErrorEntry>,
    totals: DocumentTotals,
}

/// The totals that do not follow from the rest.
#[derive(Debug, Default, Deserialize)]
struct DocumentTotals {
    skipped: BTreeMap<String, u64>,
}

/// Everything that reports hold.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// By path: its parts, so that the order is that of a walk.
    pub(super) recordings: BTreeMap<PathBuf, Recording>,
    /// Files that were skipped, and paths that could not be read.
    passed: Vec<(PathBuf, SkipReason)>,
    unread: Vec<(PathBuf, String)>,
    skipped: Skipped,
}

impl Arguments {
    pub(crate) fn run(
        &self,
        color: ColorChoice,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let wanted = assign(&self.format, self.output.as_ref())?;
        streams.confine(|| {
            let files = wanted.iter().filter_map(|one| one.file.as_ref());
            Reach::default().read_all(&self.reports).write_all(files)
        })?;
        let mut places = Places::new(streams);
        let mut gathered = Gathered::default();
        for path in &self.reports {
            places.walk(path)?;
            gathered.read(path, true)?;
        }
        gathered.sort();
        let progress = Progress::of_many(streams.look, "merging", || None);
        let mut sink = Sink::new(streams, &wanted, color, &mut places, progress)?;
        for path in &self.reports {
            sink.restrict(|output| Readers::of_path(path, output));
        }
        // The bytes that the reports have are those that were asked for.
        let settings = Settings { edits: true, ..Settings::default() };
        let (mut totals, mut counts) = (Totals::default(), json::Totals::default());
        let mut exit = if gathered.skipped.unread().0 > 0 { Exit::Io } else { Exit::Clean };
        for (path, recording) in &gathered.recordings {
            let (report, files) = recording.reread().map_err(describe)?;
            let own = self.fail_on.exit(&report);
            exit = exit.max(own);
            let name = recording.path.clone();
            totals.add(&name, &report);
            counts.add_report(&report);
            let leaf = path.file_name().unwrap_or_default().to_string_lossy();
            let is_file = |file: &tracemend::File<'_>| file.name == leaf || leaf == "-";
            let checked = Checked {
                path,
                name,
                report: &report,
                files: &files,
                crc32: recording.crc32,
                is_directory: !files.files().iter().all(is_file),
                is_walked: true,
                exit: own,
            };
            let layouts = sink.layouts().into_iter();
            let pieces = layouts.map(|layout| layout.render(&checked, &settings));
            sink.append(pieces.collect::<Result<_, _>>()?)?;
        }
        let skipped = &gathered.skipped;
        let closing = Closing { totals: &totals, counts: &counts, skipped, exit };
        sink.close(&closing, &settings)?;
        Ok(exit)
    }
}

fn describe(error: RereadError) -> Failure {
    Failure::usage(error.to_string())
}

impl Gathered {
    /// Adds a report. One that must be `complete` has its totals.
    pub(super) fn read(&mut self, path: &Path, complete: bool) -> Result<(), Failure> {
        let text = fs::read_to_string(path).map_err(|error| Failure::io(shown(path), &error))?;
        let added = self.add(&text, complete);
        added.map_err(|error| Failure::usage(format!("{}: {error}", shown(path))))
    }

    fn add(&mut self, text: &str, complete: bool) -> Result<(), RereadError> {
        let wrong = |error: serde_json::Error| RereadError::new(error.to_string());
        // The first line of a document of many lines is its brace.
        let document = match text.lines().next() {
            Some("{") => Some(serde_json::from_str(text).map_err(wrong)?),
            _ => self.add_lines(text, complete)?,
        };
        match document {
            Some(document) => self.add_document(document),
            None if complete => Err(RereadError::new("its last line, the totals, is missing")),
            None => Ok(()),
        }
    }

    /// Adds JSON lines; returns the last one, if it is there. The line that a killed run has begun
    /// is left out if the report need not be `complete`.
    fn add_lines(&mut self, text: &str, complete: bool) -> Result<Option<Document>, RereadError> {
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            match serde_json::from_str(line) {
                Ok(recording) => self.insert(recording)?,
                Err(error) if lines.peek().is_none() => match serde_json::from_str(line) {
                    Ok(closing) => return Ok(Some(closing)),
                    Err(_) if !complete => return Ok(None),
                    Err(_) => return Err(RereadError::new(error.to_string())),
                },
                Err(error) => return Err(RereadError::new(error.to_string())),
            }
        }
        Ok(None)
    }

    fn add_document(&mut self, document: Document) -> Result<(), RereadError> {
        if ![CHECK_SCHEMA, CHECK_SCHEMA_BEFORE].contains(&document.schema.as_str()) {
            return Err(RereadError::new(format!("schema is `{}`", document.schema)));
        }
        document.recordings.into_iter().try_for_each(|one| self.insert(one))?;
        let mut listed: BTreeMap<SkipReason, u64> = BTreeMap::new();
        for SkippedEntry { path, reason } in document.skipped {
            let known = SkipReason::ALL.into_iter().find(|one| one.word() == reason);
            let known =
                known.ok_or_else(|| RereadError::new(format!("unknown reason `{reason}`")))?;
            self.passed.push((to_path(&path), known));
            *listed.entry(known).or_default() += 1;
        }
        for reason in SkipReason::ALL {
            let all = document.totals.skipped.get(reason.word()).copied().unwrap_or(0);
            let more = all.saturating_sub(listed.get(&reason).copied().unwrap_or(0));
            self.skipped.add_more(reason, more);
        }
        for ErrorEntry { path, message } in &document.errors {
            let message = String::from_utf8_lossy(&unescape(message)).into_owned();
            let message = tracemend::Untrusted(message.as_bytes()).to_string();
            self.unread.push((to_path(path), message));
        }
        Ok(())
    }

    /// Brings what was not checked into the order of paths as well.
    fn sort(&mut self) {
        self.passed.sort();
        self.unread.sort();
        for (path, reason) in std::mem::take(&mut self.passed) {
            self.skipped.add(reason, &path);
        }
        for (path, message) in std::mem::take(&mut self.unread) {
            self.skipped.add_unread(&path, &Failure::new(Exit::Io, message));
        }
    }

    fn insert(&mut self, recording: Recording) -> Result<(), RereadError> {
        let path = to_path(&recording.path);
        match self.recordings.insert(path, recording) {
            None => Ok(()),
            Some(twice) => Err(RereadError::new(format!("{} is in two reports", twice.path))),
        }
    }
}

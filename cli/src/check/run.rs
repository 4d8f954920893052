//! One run of a check: recordings in, their reports and the totals out.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use tracemend::words::{join_and, plural};
use tracemend::{FileSet, Report, Severity, common, json};

use super::{Arguments, Format, lines, report_irregular, report_path};
use crate::command::{NextCommand, type_option};
use crate::exit::{Exit, Failure};
use crate::format_options::FormatOptions;
use crate::group::Drawing;
use crate::input::{self, Found, Recording, Stamp, Walk};
use crate::look::Look;
use crate::neighbours::Neighbours;
use crate::output::TextFile;
use crate::progress::Progress;
use crate::skipped::{SkipReason, Skipped};
use crate::streams::Streams;
use crate::summary::{Totals, describe_recording, list_facts};

/// The place that the report goes to.
pub(super) struct Sink<'r, 's> {
    streams: &'r mut Streams<'s>,
    file: Option<TextFile>,
    look: Look,
    progress: Progress,
    /// Warnings that were printed.
    warned: BTreeSet<String>,
}

impl<'r, 's> Sink<'r, 's> {
    pub(super) fn new(
        streams: &'r mut Streams<'s>,
        file: Option<TextFile>,
        look: Look,
        progress: Progress,
    ) -> Self {
        Self { streams, file, look, progress, warned: BTreeSet::new() }
    }

    /// Files that the run writes and a walk must not read.
    fn written(&self) -> Vec<Stamp> {
        let report = self.file.as_ref().and_then(TextFile::stamp);
        report.into_iter().chain(self.streams.stdout_file()).collect()
    }

    fn emit(&mut self, text: &str) -> Result<(), Failure> {
        let (file, streams) = (&mut self.file, &mut *self.streams);
        self.progress.suspend(|| match file {
            Some(file) => file.write(text),
            None => streams.print(text),
        })
    }

    fn warn(&mut self, text: &str) {
        let streams = &mut *self.streams;
        self.progress.suspend(|| streams.warn(text));
    }

    /// Warns once.
    fn warn_once(&mut self, text: String) {
        if !self.warned.contains(&text) {
            self.warn(&text);
            self.warned.insert(text);
        }
    }
}

/// One run: where it writes, and what it has seen.
pub(super) struct Run<'r, 's> {
    arguments: &'r Arguments,
    given: FormatOptions,
    donor: Option<Rc<Recording>>,
    sink: Sink<'r, 's>,
    totals: Totals,
    counts: json::Totals,
    skipped: Skipped,
    neighbours: Neighbours,
    /// The line about a recording that was found in a directory and is clean: it is printed if it
    /// remains the only one.
    clean_line: String,
    exit: Exit,
}

impl<'r, 's> Run<'r, 's> {
    pub(super) fn new(
        arguments: &'r Arguments,
        given: FormatOptions,
        donor: Option<Recording>,
        sink: Sink<'r, 's>,
    ) -> Self {
        Self {
            arguments,
            given,
            donor: donor.map(Rc::new),
            sink,
            totals: Totals::default(),
            counts: json::Totals::default(),
            skipped: Skipped::default(),
            neighbours: Neighbours::default(),
            clean_line: String::new(),
            exit: Exit::Clean,
        }
    }

    /// Checks everything that the paths lead to.
    pub(super) fn all(mut self) -> Result<Exit, Failure> {
        let exclude = self.sink.written();
        let every = self.arguments.kind.is_some() || self.arguments.strict;
        let walk = Walk { exclude: &exclude, every, max: input::WALK_MAX };
        for path in &self.arguments.paths {
            if input::is_stdin(path) {
                let spooled = input::open(path, self.sink.streams.input);
                let failed = |failure| Found::Failed { path: path.clone(), failure };
                self.add(spooled.unwrap_or_else(failed))?;
            } else if input::is_walked(path) {
                self.walk(path, &walk)?;
            } else {
                input::visit(path, &mut std::io::empty(), &walk, &mut |found| self.add(found))?;
            }
        }
        self.close()
    }

    /// Checks everything in a directory.
    fn walk(&mut self, path: &Path, walk: &Walk<'_>) -> Result<(), Failure> {
        let seen = |run: &Self| (run.totals.recordings(), run.skipped.unread().0);
        let before = (seen(self), SkipReason::ALL.map(|reason| self.skipped.of(reason).0));
        input::visit(path, &mut std::io::empty(), walk, &mut |found| self.add(found))?;
        for (empty, is_expected) in std::mem::take(&mut self.neighbours).finish() {
            if !is_expected {
                self.skipped.add(SkipReason::Empty, &empty);
                continue;
            }
            let failed = |failure| Found::Failed { path: empty.clone(), failure };
            let found = input::open(&empty, &mut std::io::empty());
            self.add(found.unwrap_or_else(failed))?;
        }
        if seen(self) != before.0 {
            return Ok(());
        }
        let reasons = SkipReason::ALL.iter().zip(before.1).filter_map(|(reason, before)| {
            let count = self.skipped.of(*reason).0.saturating_sub(before);
            (count > 0).then(|| format!("{} ({})", plural(count, "file"), reason.name()))
        });
        let reasons: Vec<String> = reasons.collect();
        let message = match reasons.is_empty() {
            true => "no recording in this directory: it is empty".to_string(),
            false => format!("no recording in this directory: skipped {}", join_and(&reasons)),
        };
        let report = report_path(&common::NO_RECORDING, message);
        self.report(path, report, &FileSet::default())
    }

    fn add(&mut self, found: Found) -> Result<(), Failure> {
        let nothing = FileSet::default();
        match found {
            Found::Recording(recording) => self.check(&recording),
            Found::Irregular { path, kind } => self.report(&path, report_irregular(kind), &nothing),
            Found::Skipped { path, reason } => match reason {
                SkipReason::Empty if self.neighbours.add_empty(&path) => Ok(()),
                SkipReason::Link if self.arguments.strict => {
                    self.report(&path, report_irregular("a symbolic link"), &nothing)
                }
                SkipReason::Special if self.arguments.strict => {
                    self.report(&path, report_irregular("a special file"), &nothing)
                }
                _ => {
                    self.skipped.add(reason, &path);
                    Ok(())
                }
            },
            Found::TooMany { path, max } => {
                let message = format!("limit reached: the directory has more than {max} entries");
                let report = report_path(&common::LIMIT_REACHED, message);
                self.report(&path, report, &nothing)
            }
            Found::Failed { path, failure } => {
                self.sink.warn(&failure.message);
                self.skipped.add_unread(&path, &failure);
                self.exit = self.exit.max(failure.exit);
                Ok(())
            }
        }
    }

    fn check(&mut self, recording: &Recording) -> Result<(), Failure> {
        let donor = self.donor.clone();
        let donated = donor.as_ref().map(|donor| donor.file_set().bytes(0));
        let files = recording.file_set().with_donor(donated);
        let mut options = self.arguments.options();
        options.choices = self.given.choices.clone();
        let format = options.format.or_else(|| tracemend::recognise(&files, &options));
        if let Some(Err(failure)) = format.map(|format| self.given.check_format(format)) {
            let paths = &self.arguments.paths;
            if paths.len() == 1 && self.is_named(&recording.path) {
                return Err(failure);
            }
            self.sink.warn_once(failure.message);
        }
        let report = tracemend::check(&files, &options);
        if report.format.is_some() {
            self.neighbours.add_recording(&recording.path);
        }
        let length = files.len();
        self.report(&recording.path, report, &files)?;
        self.sink.progress.advance(length);
        Ok(())
    }

    fn is_named(&self, path: &Path) -> bool {
        self.arguments.paths.iter().any(|named| named == path)
    }

    fn report(
        &mut self,
        path: &Path,
        mut report: Report,
        files: &FileSet<'_>,
    ) -> Result<(), Failure> {
        self.arguments.judge(&mut report);
        self.totals.add(&input::shown(path), &report);
        if report.incomplete() {
            self.exit = self.exit.max(Exit::Incomplete);
        } else if self.arguments.fail_on.is_reached(report.worst()) {
            self.exit = self.exit.max(Exit::Findings);
        }
        let text = match self.arguments.format {
            Format::Human => self.describe(path, &report, files),
            Format::Json | Format::Jsonl => self.write_json(path, &report, files)?,
            Format::Oneline => lines::oneline(path, &report, files),
            Format::Github => lines::github(path, &report, files),
        };
        self.sink.emit(&text)
    }

    fn write_json(
        &mut self,
        path: &Path,
        report: &Report,
        files: &FileSet<'_>,
    ) -> Result<String, Failure> {
        let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
        let recording = json::Recording::new(bytes, report, files);
        let is_first = self.counts.recordings == 0;
        self.counts.add(&recording);
        if self.arguments.format == Format::Jsonl {
            return recording.line().map_err(describe_json_failure);
        }
        let head = if is_first { json::head() } else { String::new() };
        Ok(head + &recording.piece(is_first).map_err(describe_json_failure)?)
    }

    /// The findings of one recording and a line about it, for people.
    fn describe(&mut self, path: &Path, report: &Report, files: &FileSet<'_>) -> String {
        if self.arguments.quiet && report.worst().is_none() {
            return String::new();
        }
        let name = input::shown(path);
        let mut given = type_option(self.arguments.kind);
        given.extend(self.given.typed.iter().cloned());
        let next = NextCommand::new(path, given);
        let (look, all) = (self.sink.look, self.arguments.all);
        let drawing = Drawing { path: &name, files, look, all, next: &next };
        let mut text = drawing.findings(report, |_| true);
        let mut line = describe_recording(&format!("{name}: "), report, look);
        if self.arguments.verbose {
            line += &list_facts(report, look);
        }
        let is_walked = !self.is_named(path);
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

    fn close(mut self) -> Result<Exit, Failure> {
        let is_one = self.totals.recordings() == 1
            && self.skipped.count() == 0
            && self.skipped.unread().0 == 0;
        let text = match self.arguments.format {
            Format::Human if self.arguments.quiet => String::new(),
            Format::Human if is_one => std::mem::take(&mut self.clean_line),
            Format::Human => self.totals.table(&self.skipped, self.sink.look),
            Format::Json => {
                let head = if self.counts.recordings == 0 { json::head() } else { String::new() };
                head + &self.closing().piece().map_err(describe_json_failure)?
            }
            Format::Jsonl => self.closing().line().map_err(describe_json_failure)?,
            // Standard error has the paths that could not be read.
            Format::Oneline => String::new(),
            Format::Github => {
                let unread = self.skipped.unread().1.iter();
                let command = |(path, message): &(String, String)| {
                    lines::github_command(Severity::Error, path, "could not be read", message)
                };
                unread.map(command).collect()
            }
        };
        self.sink.emit(&text)?;
        if let Some(file) = self.sink.file {
            file.publish()?;
        }
        Ok(self.exit)
    }

    /// What was not checked, and the totals, for JSON.
    fn closing(&self) -> json::Closing {
        let mut closing = json::Closing { totals: self.counts.clone(), ..Default::default() };
        for reason in SkipReason::ALL {
            let (count, paths) = self.skipped.of(reason);
            if count > 0 {
                closing.totals.skipped.insert(reason.word(), count);
            }
            let entry = |path: &String| json::SkippedEntry::new(path.clone(), reason.word());
            closing.skipped.extend(paths.iter().map(entry));
        }
        let (count, unread) = self.skipped.unread();
        closing.totals.unread = count;
        let entry = |(path, message): &(String, String)| {
            json::ErrorEntry::new(path.clone(), message.clone())
        };
        closing.errors.extend(unread.iter().map(entry));
        closing
    }
}

fn describe_json_failure(error: serde_json::Error) -> Failure {
    Failure::new(Exit::Io, error.to_string())
}

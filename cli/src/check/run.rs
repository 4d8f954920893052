//! One run of a check: recordings in, their reports and the totals out.

use std::path::Path;
use std::rc::Rc;

use tracemend::words::{join_and, plural};
use tracemend::{FileSet, Report, common, json};

use super::sink::Sink;
use super::writer::{Checked, Closing, Settings};
use super::{Arguments, report_irregular, report_path};
use crate::exit::{Exit, Failure};
use crate::format_options::FormatOptions;
use crate::input::{self, Found, Recording, Walk};
use crate::neighbours::Neighbours;
use crate::skipped::{SkipReason, Skipped};
use crate::summary::Totals;

/// One run: where it writes, and what it has seen.
pub(super) struct Run<'r, 's> {
    arguments: &'r Arguments,
    given: FormatOptions,
    settings: Settings,
    donor: Option<Rc<Recording>>,
    sink: Sink<'r, 's>,
    totals: Totals,
    counts: json::Totals,
    skipped: Skipped,
    neighbours: Neighbours,
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
            settings: arguments.settings(&given),
            given,
            donor: donor.map(Rc::new),
            sink,
            totals: Totals::default(),
            counts: json::Totals::default(),
            skipped: Skipped::default(),
            neighbours: Neighbours::default(),
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
        let exit = match report.incomplete() {
            true => Exit::Incomplete,
            false if self.arguments.fail_on.is_reached(report.worst()) => Exit::Findings,
            false => Exit::Clean,
        };
        self.exit = self.exit.max(exit);
        let checked = Checked {
            path,
            name: input::shown(path),
            report: &report,
            files,
            is_directory: path.is_dir(),
            is_walked: !self.is_named(path),
            exit,
        };
        self.totals.add(&checked.name, &report);
        self.counts.add_report(&report);
        let layouts = self.sink.layouts().into_iter();
        let pieces = layouts.map(|layout| layout.render(&checked, &self.settings));
        self.sink.append(pieces.collect::<Result<_, _>>()?)
    }

    fn close(self) -> Result<Exit, Failure> {
        let closing = Closing {
            totals: &self.totals,
            counts: &self.counts,
            skipped: &self.skipped,
            exit: self.exit,
        };
        self.sink.close(&closing, &self.settings)?;
        Ok(self.exit)
    }
}

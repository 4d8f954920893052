//! One run of a check: recordings in, their reports and the totals out.
//!
//! Recordings are opened, checked and rendered on any thread (`work`); this file takes the results
//! in the order of the input.

use std::num::NonZeroUsize;
use std::path::Path;

use tracemend::words::{join_and, plural};
use tracemend::{FileSet, Report, common, json};

use super::paths::Paths;
use super::sink::Sink;
use super::work::{Entry, Seen, Work};
use super::writer::Closing;
use super::{report_irregular, report_path};
use crate::files::access::Readers;
use crate::files::found::Found;
use crate::files::input;
use crate::files::paths;
use crate::files::skipped::{SkipReason, Skipped};
use crate::files::walk::{self, Step, Steps};
use crate::kit::exit::{Exit, Failure};
use crate::kit::ordered::in_order;
use crate::show::summary::Totals;

/// One run: where it writes, and what it has seen.
pub(super) struct Run<'r, 's> {
    work: Work<'r>,
    sink: Sink<'r, 's>,
    seen: SeenSoFar,
}

/// Recordings, counts and skipped files that a run has seen.
#[derive(Default)]
struct SeenSoFar {
    totals: Totals,
    counts: json::Totals,
    skipped: Skipped,
    /// Findings for a new baseline, and those who may read it.
    accepted: tracemend::Baseline,
    readers: Option<Readers>,
    exit: Option<Exit>,
}

impl<'r, 's> Run<'r, 's> {
    pub(super) fn new(work: Work<'r>, sink: Sink<'r, 's>) -> Self {
        Self { work, sink, seen: SeenSoFar::default() }
    }

    /// Checks everything that the paths lead to.
    pub(super) fn all(mut self, paths: &Paths, jobs: NonZeroUsize) -> Result<Exit, Failure> {
        let mut rest = paths.as_slice();
        while let Some((first, others)) = rest.split_first() {
            if paths::is_stdin(first) {
                let found = input::open(first, &mut self.sink.streams.input);
                let failed = |failure| Found::Failed { path: first.clone(), failure };
                let found = found.unwrap_or_else(failed);
                self.finish(Step::Found(found), jobs)?;
                rest = others;
            } else if walk::is_walked(first) {
                self.walk(first, jobs)?;
                rest = others;
            } else {
                // Named files are checked together, up to the next directory.
                let is_other =
                    |path: &std::path::PathBuf| paths::is_stdin(path) || walk::is_walked(path);
                let end = rest.iter().position(is_other).unwrap_or(rest.len());
                let (named, others) = rest.split_at(end);
                self.each(named.iter().map(|path| Step::Named(path.clone())), None, jobs)?;
                rest = others;
            }
        }
        self.close()
    }

    /// Checks what the steps lead to.
    fn each(
        &mut self,
        steps: impl Iterator<Item = Step> + Send,
        directory: Option<&Path>,
        jobs: NonZeroUsize,
    ) -> Result<(), Failure> {
        let Self { work, sink, seen } = self;
        let shard = work.arguments.shard;
        let is_own = |step: &Step| match (shard, step.path()) {
            (Some(shard), Some(path)) => shard.has(path, directory),
            _ => true,
        };
        let steps = steps.filter(is_own);
        let examine = |step, threads| work.examine(step, threads);
        in_order(jobs, steps, examine, |result| seen.add(result?, work, sink))
    }

    /// Checks one step on this thread.
    fn finish(&mut self, step: Step, jobs: NonZeroUsize) -> Result<(), Failure> {
        let result = self.work.examine(step, jobs)?;
        self.seen.add(result, &self.work, &mut self.sink)
    }

    /// Checks everything in a directory.
    fn walk(&mut self, path: &Path, jobs: NonZeroUsize) -> Result<(), Failure> {
        let seen = |seen: &SeenSoFar| (seen.totals.recordings(), seen.skipped.unread().0);
        let counts = |seen: &SeenSoFar| SkipReason::ALL.map(|reason| seen.skipped.of(reason).0);
        let before = (seen(&self.seen), counts(&self.seen));
        self.each(Steps::of(path, walk::WALK_MAX), Some(path), jobs)?;
        // Another shard may have recordings.
        if seen(&self.seen) != before.0 || self.work.arguments.shard.is_some() {
            return Ok(());
        }
        let reasons = SkipReason::ALL.iter().zip(before.1).filter_map(|(reason, before)| {
            let count = self.seen.skipped.of(*reason).0.saturating_sub(before);
            (count > 0).then(|| format!("{} ({})", plural(count, "file"), reason.name()))
        });
        let reasons: Vec<String> = reasons.collect();
        let message = match reasons.is_empty() {
            true => "no recording in this directory: it is empty".to_string(),
            false => format!("no recording in this directory: skipped {}", join_and(&reasons)),
        };
        let report = report_path(&common::NO_RECORDING, message);
        self.seen.report(path, report, &self.work, &mut self.sink)
    }

    fn close(self) -> Result<Exit, Failure> {
        let Self { work, sink, seen } = self;
        let exit = seen.exit.unwrap_or(Exit::Clean);
        let closing =
            Closing { totals: &seen.totals, counts: &seen.counts, skipped: &seen.skipped, exit };
        sink.close(&closing, &work.settings)?;
        work.judging.close(seen.accepted, seen.readers)?;
        Ok(exit)
    }
}

impl SeenSoFar {
    /// Takes a result.
    fn add(
        &mut self,
        result: Seen,
        work: &Work<'_>,
        sink: &mut Sink<'_, '_>,
    ) -> Result<(), Failure> {
        match result {
            Seen::Nothing => Ok(()),
            Seen::Checked(entry) => self.enter(*entry, sink),
            Seen::Found(found) => self.add_found(found, work, sink),
        }
    }

    fn add_found(
        &mut self,
        found: Found,
        work: &Work<'_>,
        sink: &mut Sink<'_, '_>,
    ) -> Result<(), Failure> {
        let is_strict = work.judging.strict;
        match found {
            // It was checked by the thread that opened it.
            Found::Recording(_) => Ok(()),
            Found::Irregular { path, kind } => {
                self.report(&path, report_irregular(kind), work, sink)
            }
            Found::Skipped { path, reason } => match reason {
                SkipReason::Link if is_strict => {
                    self.report(&path, report_irregular("a symbolic link"), work, sink)
                }
                SkipReason::Special if is_strict => {
                    self.report(&path, report_irregular("a special file"), work, sink)
                }
                _ => {
                    self.skipped.add(reason, &path);
                    Ok(())
                }
            },
            Found::TooMany { path, max } => {
                let message = format!("limit reached: the directory has more than {max} entries");
                let report = report_path(&common::LIMIT_REACHED, message);
                self.report(&path, report, work, sink)
            }
            Found::Failed { path, failure } => {
                sink.warn(&failure.message);
                self.skipped.add_unread(&path, &failure);
                self.exit = self.exit.max(Some(failure.exit));
                Ok(())
            }
        }
    }

    /// Reports a path that is not a recording.
    fn report(
        &mut self,
        path: &Path,
        report: Report,
        work: &Work<'_>,
        sink: &mut Sink<'_, '_>,
    ) -> Result<(), Failure> {
        let nothing = FileSet::default();
        let is_named = work.is_named(path);
        self.enter(work.entry(path, report, (&nothing, None), is_named)?, sink)
    }

    /// Counts a recording and writes what was rendered.
    fn enter(&mut self, entry: Entry, sink: &mut Sink<'_, '_>) -> Result<(), Failure> {
        if let Some(warning) = entry.warning {
            sink.warn_once(warning);
        }
        self.totals.add(&paths::shown(&entry.path), &entry.report);
        self.counts.add_report(&entry.report);
        self.exit = self.exit.max(Some(entry.exit));
        if let Some(accepted) = entry.accepted {
            self.accepted.extend(accepted);
        }
        sink.restrict_each(&entry.readers);
        if let Some(last) = entry.readers.last() {
            self.readers = Some(self.readers.map_or(*last, |readers| readers.and(*last)));
        }
        sink.append(entry.pieces)?;
        sink.progress.advance();
        Ok(())
    }
}

//! The part of a check that runs on any thread: a path is opened, checked, judged and rendered.

use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracemend::{Baseline, FileSet, Options, Report, Source};

use super::Arguments;
use super::judging::Judging;
use super::resume::{Earlier, checksum};
use super::unfinished;
use super::writer::{Checked, Layout, Piece, Settings, place};
use crate::args::format_options::FormatOptions;
use crate::files::access::Readers;
use crate::files::arrival::{Arrival, Spool};
use crate::files::found::{Found, guarded};
use crate::files::in_use::BeingWritten;
use crate::files::neighbours::Neighbours;
use crate::files::paths;
use crate::files::recording::{Recording, Stamp};
use crate::files::streams::Streams;
use crate::files::walk::{Step, Walk};
use crate::kit::exit::{Exit, Failure};
use crate::kit::progress::Gauge;

/// What every thread needs.
pub(super) struct Work<'r> {
    pub(super) arguments: &'r Arguments,
    pub(super) given: FormatOptions,
    pub(super) settings: Settings,
    pub(super) judging: Judging,
    pub(super) donor: Option<Recording>,
    /// How each report is rendered.
    pub(super) layouts: Vec<Layout>,
    /// Files of the reports, and the baseline last, if it is written.
    pub(super) texts: Vec<PathBuf>,
    /// What the walks of the run share.
    pub(super) walks: Walks,
    /// The report of `--resume`.
    pub(super) earlier: Option<Earlier>,
    /// Whether a single path was named.
    pub(super) is_single: bool,
}

/// What the walks of a run share.
pub(super) struct Walks {
    /// Files that the run writes.
    pub(super) written: Vec<Stamp>,
    /// The folders by which files should be recordings.
    pub(super) neighbours: Neighbours,
    /// The options with which wrappers and conversions are undone, and the bytes of the steps.
    pub(super) unwrapping: Option<Options>,
    pub(super) spool: Arc<Spool>,
    /// Told about the recordings that are being checked.
    pub(super) gauge: Gauge,
}

impl Walks {
    pub(super) fn new(unwrapping: Option<Options>, streams: &Streams<'_>, gauge: Gauge) -> Self {
        let (written, neighbours) = (Vec::new(), Neighbours::default());
        Self { written, neighbours, unwrapping, spool: Arc::clone(&streams.spool), gauge }
    }
}

/// The outcome of a step.
pub(super) enum Seen {
    /// A file that the run writes itself.
    Nothing,
    Checked(Box<Entry>),
    /// Something that is not a recording.
    Found(Found),
}

/// A recording that was checked.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    /// Judged and rendered; the counts are what is still needed.
    pub(super) report: Report,
    /// A piece for each report.
    pub(super) pieces: Vec<Piece>,
    pub(super) exit: Exit,
    /// An option that does not apply.
    pub(super) warning: Option<String>,
    pub(super) accepted: Option<Baseline>,
    /// Those who may read what each file that is written has about it.
    pub(super) readers: Vec<Readers>,
}

impl Work<'_> {
    /// Opens a step and checks it if it is a recording. `threads` are free for it.
    pub(super) fn examine(&self, step: Step, threads: NonZeroUsize) -> Result<Seen, Failure> {
        let Some(path) = step.path().map(Path::to_path_buf) else {
            return self.open(step, threads);
        };
        guarded(&path, || self.open(step, threads)).unwrap_or_else(|found| Ok(Seen::Found(found)))
    }

    fn open(&self, step: Step, threads: NonZeroUsize) -> Result<Seen, Failure> {
        let is_named = step.is_named();
        let every = self.arguments.kind.is_some() || self.judging.strict;
        let Walks { written, neighbours, unwrapping, spool, gauge } = &self.walks;
        let arrival = Arrival { options: unwrapping.as_ref(), spool };
        let walk = Walk { exclude: written, every, neighbours, arrival };
        match step.open(&walk) {
            None => Ok(Seen::Nothing),
            Some(Found::Recording(recording)) => {
                let is_named = is_named || recording.is_stream();
                let _watching = gauge.watch(recording.watches());
                let entry = self.check(&recording, is_named, threads)?;
                if let Err(failure) = recording.was_readable() {
                    return Ok(Seen::Found(Found::Failed { path: recording.path, failure }));
                }
                let texts = self.texts.iter();
                let readers = texts.map(|text| Readers::of(&recording, text)).collect();
                Ok(Seen::Checked(Box::new(Entry { readers, ..entry })))
            }
            Some(found) => Ok(Seen::Found(found)),
        }
    }

    fn check(
        &self,
        recording: &Recording,
        is_named: bool,
        threads: NonZeroUsize,
    ) -> Result<Entry, Failure> {
        let crc32 = self.arguments.checksums.then(|| checksum(&recording.file_set()));
        let earlier = self.earlier.as_ref().and_then(|earlier| earlier.find(recording, crc32));
        let earlier = earlier.filter(|_| BeingWritten::at_open(recording).is_none());
        // A report without the bytes that are asked for is as good as none.
        let earlier = earlier.filter(|(report, _)| !self.settings.edits || has_all_edits(report));
        if let Some((report, files)) = earlier {
            return self.render(&recording.path, report, (&files, crc32), is_named, None);
        }
        let donated: Option<Source<'_>> = self.donor.as_ref().map(|one| one.file_set().bytes(0));
        let files = recording.file_set().with_donor(donated);
        let mut options = self.options(threads);
        let format = options.format.or_else(|| tracemend::recognise(&files, &options));
        options.choices = self.judging.config.choices(format, &self.given.choices);
        let mut warning = None;
        if let Some(Err(failure)) = format.map(|format| self.given.check_format(format)) {
            if self.is_single && is_named {
                return Err(failure);
            }
            warning = Some(failure.message);
        }
        // It was recognised already.
        options.format = format.filter(|_| options.format.is_some());
        let known = format.map(|format| options.clone().with_format(format));
        let picked = known.map_or(Ok(None), |known| tracemend::pick(&files, &known));
        let is_picked = matches!(picked, Ok(Some(_)));
        let files = picked.ok().flatten().unwrap_or(files);
        let report = match &self.arguments.audit {
            Some(request) => {
                let report = tracemend::audit(&files, &options, request);
                warning =
                    warning.or_else(|| BeingWritten::by_now(recording).map(|one| one.warning()));
                report
            }
            None => self.judge_unfinished(recording, tracemend::check(&files, &options)),
        };
        if let Some(message) = self.given.find_misapplied(&report).filter(|_| !is_picked) {
            if self.is_single && is_named {
                return Err(Failure::usage(message));
            }
            let path = paths::shown(&recording.path);
            warning = warning.or_else(|| Some(format!("{path}: {message}")));
        }
        let entry = self.entry(&recording.path, report, (&files, crc32), is_named)?;
        Ok(Entry { warning, ..entry })
    }

    /// Replaces the report if the recording is still being written and the policy does not allow
    /// that.
    fn judge_unfinished(&self, recording: &Recording, mut report: Report) -> Report {
        let Some(sign) = BeingWritten::by_now(recording) else { return report };
        let unfinished = unfinished::report(&report, &sign);
        if !self.judging.allows(&recording.path, &unfinished) {
            return unfinished;
        }
        // It is counted as suppressed.
        report.push(unfinished::finding(&report, &sign));
        report
    }

    fn options(&self, threads: NonZeroUsize) -> Options {
        let mut options = self.arguments.options(&self.judging);
        options.jobs = Some(threads);
        options.choices = self.given.choices.clone();
        options.outline = !self.layouts.iter().any(|layout| layout.format.shows_edits());
        options
    }

    /// Judges and renders a report.
    pub(super) fn entry(
        &self,
        path: &Path,
        mut report: Report,
        (files, crc32): (&FileSet<'_>, Option<u32>),
        is_named: bool,
    ) -> Result<Entry, Failure> {
        let accepted = self.judging.judge(path, &mut report, files);
        // A fingerprint is a hash of the bytes: that of a short private text can be guessed.
        let is_audit = self.arguments.audit.is_some();
        if !is_audit && self.layouts.iter().any(|layout| layout.needs_fingerprints()) {
            let path = place::relative(path);
            report.identify(path.as_os_str().as_bytes(), files);
        }
        self.render(path, report, (files, crc32), is_named, accepted)
    }

    fn render(
        &self,
        path: &Path,
        report: Report,
        (files, crc32): (&FileSet<'_>, Option<u32>),
        is_named: bool,
        accepted: Option<Baseline>,
    ) -> Result<Entry, Failure> {
        let exit = self.judging.exit(&report);
        let checked = Checked {
            path,
            name: paths::shown(path),
            report: &report,
            files,
            crc32,
            is_directory: path.is_dir(),
            is_walked: !is_named,
            exit,
        };
        let render = |layout: &Layout| layout.render(&checked, &self.settings);
        let pieces = self.layouts.iter().map(render).collect::<Result<_, _>>()?;
        let (path, readers) = (path.to_path_buf(), Vec::new());
        Ok(Entry { path, report, pieces, exit, warning: None, accepted, readers })
    }

    /// Whether the path was given on the command line.
    pub(super) fn is_named(&self, path: &Path) -> bool {
        self.arguments.paths.iter().any(|named| named == path)
    }
}

/// Whether a report that was read again has the bytes of every edit.
fn has_all_edits(report: &Report) -> bool {
    let fixes = report.findings().iter().filter_map(|finding| finding.fix.as_ref());
    fixes.flat_map(|fix| &fix.edits).all(|edit| edit.elided.is_none())
}

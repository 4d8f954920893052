//! `tracemend repair PATH...`: every recording below the paths, with one report.
//!
//! Recordings are repaired, proven and written on any thread; the report has the order of the input
//! and does not depend on the number of threads.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracemend::{Outcome, Source};

use super::destination::{Destination, is_of_repair};
use super::{Arguments, Job, exit_of};
use crate::args::format_options::FormatOptions;
use crate::commands::batch::{Sums, Task, Words, refuse_inside, tasks, tasks_in_place};
use crate::commands::formats::Format;
use crate::files::arrival::Arrival;
use crate::files::found::{Found, guarded};
use crate::files::in_use::{self, BeingWritten};
use crate::files::neighbours::Neighbours;
use crate::files::paths::{is_stdin, shown};
use crate::files::places::Places;
use crate::files::recording::Recording;
use crate::files::single::open_donor;
use crate::files::skipped::SkipReason;
use crate::files::streams::Streams;
use crate::files::sum::sum_bytes;
use crate::files::walk::{Step, Walk, is_walked};
use crate::kit::exit::{Exit, Failure};
use crate::kit::look::Look;
use crate::kit::ordered::in_order;
use crate::kit::progress::{Gauge, Progress};

/// Outputs that are written at a time: each needs a slot of the handler that removes unfinished
/// ones.
const OUTPUTS_MAX: usize = 8;

/// The result of a task.
enum Done {
    Nothing,
    Repaired(Box<Repaired>),
    Found(Found),
}

/// The report of one repair.
struct Repaired {
    outcome: Outcome,
    /// For the format that was asked for.
    text: String,
    warning: Option<String>,
}

/// The arguments that every thread needs.
struct Batch<'a> {
    arguments: &'a Arguments,
    destination: Destination,
    given: FormatOptions,
    donor: Option<Recording>,
    look: Look,
    /// The folders by which files should be recordings.
    neighbours: Neighbours,
    arrival: Arrival<'a>,
    gauge: Gauge,
}

/// Outcomes in the order of the words.
const OUTCOMES: [Outcome; 5] = [
    Outcome::Clean,
    Outcome::Repaired,
    Outcome::RepairedWithLoss,
    Outcome::CannotRepair,
    Outcome::Incomplete,
];
const WORDS: Words<5> = Words {
    schema: "tracemend.repairs.v2",
    list: "repairs",
    results: [
        ("clean", "clean"),
        ("repaired", "repaired without loss"),
        ("repaired-with-loss", "repaired with loss"),
        ("cannot-repair", "not repaired"),
        ("incomplete", "not checked to the end"),
    ],
};

/// Repairs everything that the paths lead to.
pub(super) fn run(
    arguments: &Arguments,
    destination: Destination,
    given: FormatOptions,
    jobs: Option<NonZeroUsize>,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    check_arguments(arguments, &destination)?;
    let mut places = Places::new(streams);
    for path in &arguments.paths {
        places.walk(path)?;
    }
    let donor = open_donor(given.donor.as_deref(), streams)?;
    let paths = arguments.paths.clone();
    let progress = Progress::of_many(streams.look, "repairing", move || sum_bytes(&paths));
    let neighbours = Neighbours::default();
    let (options, spool) = (arguments.limiting.unwrapping(), Arc::clone(&streams.spool));
    let arrival = Arrival { options: options.as_ref(), spool: &spool };
    let look = streams.look;
    let gauge = progress.gauge();
    let batch = Batch { arguments, destination, given, donor, look, neighbours, arrival, gauge };
    let jobs = jobs.map_or(1, NonZeroUsize::get).min(OUTPUTS_MAX);
    let jobs = NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN);
    let mut sums = Sums::new(&WORDS);
    let work = |task: Task, threads| {
        let path = task.step.path().map(Path::to_path_buf).unwrap_or_default();
        guarded(&path, || batch.work(task, threads)).unwrap_or_else(Done::Found)
    };
    let steps = steps(arguments, &batch.destination);
    in_order(jobs, steps, work, |done| add(&mut sums, done, arguments.format, &progress, streams))?;
    progress.suspend(|| streams.print(&sums.close(arguments.format, batch.look)))?;
    Ok(sums.exit())
}

fn check_arguments(arguments: &Arguments, destination: &Destination) -> Result<(), Failure> {
    if arguments.plan.is_some() {
        return Err(Failure::usage("--plan applies to one recording"));
    }
    if !destination.is_for_many() {
        let message = "-o OUT applies to one recording; use --out-dir DIR for several";
        return Err(Failure::usage(message));
    }
    if arguments.paths.iter().any(|path| is_stdin(path)) {
        return Err(Failure::usage("standard input has no name; repair it alone, with -o OUT"));
    }
    match destination {
        _ if arguments.dry_run => Ok(()),
        Destination::Below(folder) => refuse_inside(folder, &arguments.paths),
        Destination::Beside => {
            let tree = arguments.paths.iter().find(|path| is_walked(path));
            let refused = |tree: &PathBuf| {
                let tree = shown(tree);
                Err(Failure::usage(format!(
                    "{tree} is a directory, not a recording; use --out-dir DIR for all in it"
                )))
            };
            tree.map_or(Ok(()), refused)
        }
        _ => Ok(()),
    }
}

/// Everything to repair, each with the name of its output.
fn steps<'p>(
    arguments: &'p Arguments,
    destination: &'p Destination,
) -> Box<dyn Iterator<Item = Task> + Send + 'p> {
    let paths = &arguments.paths;
    match destination {
        Destination::Below(_) => Box::new(tasks(paths)),
        // Each has its own name, where it lies.
        _ => Box::new(tasks_in_place(paths).map(|task| match task.step {
            Step::File(path) | Step::Directory(path) if is_of_repair(&path) => {
                let reason = SkipReason::OfRepair;
                Task { step: Step::Found(Found::Skipped { path, reason }), ..task }
            }
            step => Task { step, ..task },
        })),
    }
}

impl Batch<'_> {
    fn work(&self, task: Task, threads: NonZeroUsize) -> Done {
        let every = self.arguments.kind.is_some();
        let (neighbours, arrival) = (&self.neighbours, self.arrival);
        match task.step.open(&Walk { exclude: &[], every, neighbours, arrival }) {
            None => Done::Nothing,
            Some(Found::Recording(recording)) => {
                let _watching = self.gauge.watch(recording.watches());
                match self.repair(&recording, &task.name, threads) {
                    Ok(repaired) => Done::Repaired(Box::new(repaired)),
                    Err(failure) => {
                        // A name that exists already is not a usage error of the whole run.
                        let exit = failure.exit.max(Exit::Io);
                        let failure = Failure { exit, ..failure };
                        Done::Found(Found::Failed { path: recording.path, failure })
                    }
                }
            }
            Some(found) => Done::Found(found),
        }
    }

    /// Fails if an output would have the name of another source.
    fn refuse_sources(&self, place: &Path) -> Result<(), Failure> {
        let is_same = |path: &&PathBuf| {
            let [one, other] = [place, path.as_path()].map(|path| path.canonicalize().ok());
            one.is_some() && one == other
        };
        match self.arguments.paths.iter().find(is_same) {
            None => Ok(()),
            Some(path) => {
                let message = format!("{} is both a source and an output", shown(path));
                Err(Failure::new(Exit::Io, message))
            }
        }
    }

    fn repair(
        &self,
        recording: &Recording,
        name: &Path,
        threads: NonZeroUsize,
    ) -> Result<Repaired, Failure> {
        let arguments = self.arguments;
        if let Destination::Source { .. } = self.destination {
            in_use::refuse_in_place(recording)?;
        }
        let donated: Option<Source<'_>> = self.donor.as_ref().map(|one| one.file_set().bytes(0));
        let files = recording.file_set().with_donor(donated.clone());
        let mut options = arguments.options(&files, &self.given);
        options.jobs = Some(threads);
        let applies = options.format.map(|format| self.given.check_format(format));
        let warning = applies.and_then(Result::err).map(|failure| failure.message);
        let given = self.given.clone();
        let is_named = self.destination.is_named();
        let job = Job { recording, files, donated, options, given, is_named, is_single: false };
        let mut misapplied = None;
        let target = || {
            let place = self.destination.place(recording, name, false)?;
            if self.destination == Destination::Beside {
                self.refuse_sources(&place)?;
            }
            let target = self.destination.target(recording, (&place, name), arguments)?;
            let is_linked = arguments.link && recording.directory;
            Ok(target.linking(is_linked).restricted_by(self.donor.as_ref()))
        };
        let (text, outcome) = arguments.repair(&job, target, None, |salvage, _| {
            let found = job.given.find_misapplied(&salvage.repair.before);
            misapplied = found.map(|message| format!("{}: {message}", shown(&recording.path)));
            match (arguments.format, salvage.repair.outcome) {
                (Format::Human, Outcome::Clean) => Ok(String::new()),
                (Format::Human, _) => Ok(salvage.human(self.look) + "\n"),
                (Format::Json, _) => salvage.json_text(),
            }
        })?;
        let warning = warning.or(misapplied);
        let warning =
            warning.or_else(|| BeingWritten::at_open(recording).map(|sign| sign.warning()));
        Ok(Repaired { outcome, text: text?, warning })
    }
}

/// Counts a task, and prints its part of the report.
fn add(
    sums: &mut Sums<5>,
    done: Done,
    format: Format,
    progress: &Progress,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let Repaired { outcome, text, warning } = match done {
        Done::Nothing => return Ok(()),
        Done::Found(found) => {
            if let Some(warning) = sums.add_found(found) {
                progress.suspend(|| streams.warn(&warning));
            }
            return Ok(());
        }
        Done::Repaired(repaired) => *repaired,
    };
    sums.count(OUTCOMES.iter().position(|one| *one == outcome), exit_of(outcome));
    let text = match format {
        Format::Human => text,
        Format::Json => sums.begin() + &text,
    };
    progress.suspend(|| {
        if let Some(warning) = warning {
            streams.warn(&warning);
        }
        streams.print(&text)
    })?;
    progress.advance();
    Ok(())
}

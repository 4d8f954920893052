//! `tracemend repair PATH... --out-dir DIR`: every recording below the paths, with one report.
//!
//! Recordings are repaired, proven and written on any thread; the report has the order of the input
//! and does not depend on the number of threads.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::{Value, json};
use tracemend::json::TOOL;
use tracemend::words::plural;
use tracemend::{Outcome, Source};

use super::{Arguments, Job, exit_of};
use crate::batch::{Task, failure_of, refuse_inside, skipped_json, tasks};
use crate::exit::{Exit, Failure};
use crate::format_options::FormatOptions;
use crate::formats::Format;
use crate::input::{Found, Recording, is_stdin, shown};
use crate::look::{Look, wrap};
use crate::ordered::in_order;
use crate::output::{Existing, Target, parent};
use crate::places::Places;
use crate::progress::{Progress, sum_bytes};
use crate::single::open_one;
use crate::skipped::Skipped;
use crate::streams::Streams;
use crate::summary::list_skipped;
use crate::walk::Walk;

/// Version of the layout of the report as JSON.
const REPAIRS_SCHEMA: &str = "tracemend.repairs.v1";
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
    length: u64,
    /// For the format that was asked for.
    text: String,
    warning: Option<String>,
}

/// The arguments that every thread needs.
struct Batch<'a> {
    arguments: &'a Arguments,
    given: FormatOptions,
    donor: Option<Recording>,
    look: Look,
}

/// All repairs of a run.
#[derive(Default)]
struct Sums {
    skipped: Skipped,
    outcomes: [u64; 5],
    exit: Option<Exit>,
    /// Whether a repair was written to the report.
    began: bool,
}

/// Outcomes as they are counted, with their words in JSON and for people.
const OUTCOMES: [(Outcome, &str, &str); 5] = [
    (Outcome::Clean, "clean", "clean"),
    (Outcome::Repaired, "repaired", "repaired without loss"),
    (Outcome::RepairedWithLoss, "repaired-with-loss", "repaired with loss"),
    (Outcome::CannotRepair, "cannot-repair", "not repaired"),
    (Outcome::Incomplete, "incomplete", "not checked to the end"),
];

/// Repairs everything that the paths lead to.
pub(super) fn run(
    arguments: &Arguments,
    given: FormatOptions,
    jobs: Option<NonZeroUsize>,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    check_arguments(arguments)?;
    let mut places = Places::new(streams);
    for path in &arguments.paths {
        places.walk(path)?;
    }
    let donor = given.donor.as_deref().map(|path| open_one(path, streams)).transpose()?;
    let bytes = if streams.look.progress { sum_bytes(&arguments.paths) } else { None };
    let progress = Progress::new(streams.look, "repairing".to_string(), bytes);
    let batch = Batch { arguments, given, donor, look: streams.look };
    let jobs = jobs.map_or(1, NonZeroUsize::get).min(OUTPUTS_MAX);
    let jobs = NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN);
    let mut sums = Sums::default();
    let work = |task, threads| batch.work(task, threads);
    in_order(jobs, tasks(&arguments.paths), work, |done| {
        sums.add(done, arguments.format, &progress, streams)
    })?;
    progress.suspend(|| streams.print(&sums.close(arguments.format, batch.look)))?;
    Ok(sums.exit.unwrap_or(Exit::Clean))
}

fn check_arguments(arguments: &Arguments) -> Result<(), Failure> {
    let single = [
        (arguments.output.is_some(), "-o"),
        (arguments.in_place, "--in-place"),
        (arguments.plan.is_some(), "--plan"),
    ];
    if let Some((_, option)) = single.into_iter().find(|(given, _)| *given) {
        let message = format!("{option} applies to one recording; use --out-dir for several");
        return Err(Failure::usage(message));
    }
    if arguments.paths.iter().any(|path| is_stdin(path)) {
        return Err(Failure::usage("standard input has no name; repair it alone, with -o OUT"));
    }
    let Some(folder) = &arguments.out_dir else {
        return match arguments.dry_run {
            true => Ok(()),
            false => Err(Failure::usage("several recordings need --out-dir DIR, or --dry-run")),
        };
    };
    refuse_inside(folder, &arguments.paths)
}

impl Batch<'_> {
    fn work(&self, task: Task, threads: NonZeroUsize) -> Done {
        let every = self.arguments.kind.is_some();
        match task.step.open(&Walk { exclude: &[], every }) {
            None => Done::Nothing,
            Some(Found::Recording(recording)) => {
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

    fn repair(
        &self,
        recording: &Recording,
        name: &Path,
        threads: NonZeroUsize,
    ) -> Result<Repaired, Failure> {
        let arguments = self.arguments;
        let donated: Option<Source<'_>> = self.donor.as_ref().map(|one| one.file_set().bytes(0));
        let files = recording.file_set().with_donor(donated.clone());
        let mut options = arguments.options(&files, &self.given);
        options.jobs = Some(threads);
        let applies = options.format.map(|format| self.given.check_format(format));
        let warning = applies.and_then(Result::err).map(|failure| failure.message);
        let length = files.len();
        let job = Job { recording, files, donated, options, given: self.given.clone() };
        let target = || {
            let folder = arguments.out_dir.as_deref().unwrap_or(Path::new("."));
            let path = folder.join(name);
            let failed = |error| Failure::io(shown(&path), &error);
            fs::create_dir_all(parent(&path)).map_err(failed)?;
            let existing = if arguments.force { Existing::Replaced } else { Existing::Refused };
            let is_linked = arguments.link && recording.directory;
            Ok(Target::new(&path, recording, existing)?.linking(is_linked))
        };
        let (text, outcome) = arguments.repair(&job, target, None, |salvage| {
            match (arguments.format, salvage.repair.outcome) {
                (Format::Human, Outcome::Clean) => Ok(String::new()),
                (Format::Human, _) => Ok(salvage.human(self.look) + "\n"),
                (Format::Json, _) => salvage.json_text(),
            }
        })?;
        Ok(Repaired { outcome, length, text: text?, warning })
    }
}

impl Sums {
    fn add(
        &mut self,
        done: Done,
        format: Format,
        progress: &Progress,
        streams: &mut Streams<'_>,
    ) -> Result<(), Failure> {
        match done {
            Done::Nothing => Ok(()),
            Done::Repaired(repaired) => {
                let Repaired { outcome, length, text, warning } = *repaired;
                let index = OUTCOMES.iter().position(|(one, ..)| *one == outcome);
                if let Some(count) = index.and_then(|index| self.outcomes.get_mut(index)) {
                    *count += 1;
                }
                self.exit = self.exit.max(Some(exit_of(outcome)));
                let text = match format {
                    Format::Human => text,
                    Format::Json => self.begin() + &text,
                };
                progress.suspend(|| {
                    if let Some(warning) = warning {
                        streams.warn(&warning);
                    }
                    streams.print(&text)
                })?;
                progress.advance(length);
                Ok(())
            }
            Done::Found(found) => {
                self.add_found(found, progress, streams);
                Ok(())
            }
        }
    }

    fn add_found(&mut self, found: Found, progress: &Progress, streams: &mut Streams<'_>) {
        let (path, failure) = match failure_of(found) {
            Ok(unread) => unread,
            Err(Found::Skipped { path, reason }) => return self.skipped.add(reason, &path),
            Err(_) => return,
        };
        progress.suspend(|| streams.warn(&failure.message));
        self.skipped.add_unread(&path, &failure);
        self.exit = self.exit.max(Some(failure.exit));
    }

    /// The text before the next repair of a document.
    fn begin(&mut self) -> String {
        let head = format!(
            "{{\n\"schema\": \"{REPAIRS_SCHEMA}\",\n\"tool\": \"{TOOL}\",\n\"repairs\": [\n"
        );
        if std::mem::replace(&mut self.began, true) { ",\n".to_string() } else { head }
    }

    fn close(&mut self, format: Format, look: Look) -> String {
        match format {
            Format::Human => self.describe(look),
            Format::Json => {
                let head = if self.began { String::new() } else { self.begin() };
                head + &self.closing()
            }
        }
    }

    fn describe(&self, look: Look) -> String {
        let sum = self.outcomes.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let counts = OUTCOMES.iter().zip(self.outcomes).filter(|(_, count)| *count > 0);
        let counts: Vec<String> =
            counts.map(|((.., words), count)| format!("{count} {words}")).collect();
        let counts =
            if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
        let text = format!("{}{counts}", plural(sum, "recording"));
        wrap(&text, look.width, "", 2) + &list_skipped(&self.skipped, look)
    }

    fn closing(&self) -> String {
        let [skipped, errors] = skipped_json(&self.skipped);
        let counts = OUTCOMES.iter().zip(self.outcomes);
        let totals: serde_json::Map<String, Value> =
            counts.map(|((_, word, _), count)| ((*word).to_string(), json!(count))).collect();
        format!(
            "\n],\n\"skipped\": {},\n\"errors\": {},\n\"totals\": {}\n}}\n",
            skipped,
            errors,
            Value::Object(totals)
        )
    }
}

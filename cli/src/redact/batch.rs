//! `tracemend redact PATH... --out-dir DIR`: every recording below the paths, with one report.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tracemend::json::TOOL;
use tracemend::words::plural;

use super::{Arguments, Done, exit_of};
use crate::batch::{Task, failure_of, refuse_inside, skipped_json, tasks};
use crate::exit::{Exit, Failure};
use crate::formats::{Format, pretty};
use crate::input::{Found, Recording, is_stdin};
use crate::look::{Look, wrap};
use crate::output::{Target, parent};
use crate::places::Places;
use crate::skipped::Skipped;
use crate::streams::Streams;
use crate::summary::list_skipped;
use crate::walk::Walk;

/// Version of the layout of the report as JSON.
const REDACTIONS_SCHEMA: &str = "tracemend.redactions.v1";

/// Results as they are counted, with their words in JSON and for people.
const RESULTS: [(&str, &str); 3] = [
    ("unchanged", "without private content"),
    ("redacted", "redacted"),
    ("left", "with private content left"),
];

/// All redactions of a run.
#[derive(Default)]
struct Sums {
    skipped: Skipped,
    results: [u64; 3],
    exit: Option<Exit>,
    /// Whether a redaction was written to the report.
    began: bool,
}

/// Redacts everything that the paths lead to, one recording after the other.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    check_arguments(arguments)?;
    let mut places = Places::new(streams);
    for path in &arguments.paths {
        places.walk(path)?;
    }
    let mut sums = Sums::default();
    let every = arguments.reading.kind.is_some();
    for Task { step, name } in tasks(&arguments.paths) {
        let found = match step.open(&Walk { exclude: &[], every }) {
            None => continue,
            Some(Found::Recording(recording)) => match redact(arguments, &recording, &name) {
                Ok(done) => {
                    sums.add(arguments, &done, streams)?;
                    continue;
                }
                Err(failure) => {
                    // A name that exists already is not a usage error of the whole run.
                    let exit = if failure.exit == Exit::Usage { Exit::Io } else { failure.exit };
                    let failure = Failure { exit, ..failure };
                    Found::Failed { path: recording.path, failure }
                }
            },
            Some(found) => found,
        };
        sums.add_found(found, streams);
    }
    streams.print(&sums.close(arguments.format, streams.look))?;
    Ok(sums.exit.unwrap_or(Exit::Clean))
}

fn check_arguments(arguments: &Arguments) -> Result<(), Failure> {
    let single =
        [(arguments.output.is_some(), "-o"), (arguments.undo_plan.is_some(), "--undo-plan")];
    if let Some((_, option)) = single.into_iter().find(|(given, _)| *given) {
        let message = format!("{option} applies to one recording; use --out-dir for several");
        return Err(Failure::usage(message));
    }
    if arguments.paths.iter().any(|path| is_stdin(path)) {
        return Err(Failure::usage("standard input has no name; redact it alone, with -o OUT"));
    }
    match &arguments.out_dir {
        Some(folder) => refuse_inside(folder, &arguments.paths),
        None if arguments.dry_run => Ok(()),
        None => Err(Failure::usage("several recordings need --out-dir DIR, or --dry-run")),
    }
}

/// Redacts one recording into its place below the folder of outputs.
fn redact(arguments: &Arguments, recording: &Recording, name: &Path) -> Result<Done, Failure> {
    let target = || {
        let Some(folder) = arguments.out_dir.as_deref().filter(|_| !arguments.dry_run) else {
            return Ok(None);
        };
        let path = folder.join(name);
        let failed = |error| Failure::io(crate::input::shown(&path), &error);
        fs::create_dir_all(parent(&path)).map_err(failed)?;
        Target::new(&path, recording, arguments.existing()).map(Some)
    };
    arguments.redact(recording, target, None)
}

impl Sums {
    fn add(
        &mut self,
        arguments: &Arguments,
        done: &Done,
        streams: &mut Streams<'_>,
    ) -> Result<(), Failure> {
        let redaction = &done.redaction;
        let index = match (redaction.left.is_empty(), redaction.repair.changes()) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        };
        if let Some(count) = self.results.get_mut(index) {
            *count += 1;
        }
        self.exit = self.exit.max(Some(exit_of(redaction)));
        let text = match arguments.format {
            Format::Human => arguments.human(done),
            Format::Json => self.begin() + pretty(&arguments.json(done)).trim_end(),
        };
        streams.print(&text)
    }

    fn add_found(&mut self, found: Found, streams: &mut Streams<'_>) {
        let (path, failure) = match failure_of(found) {
            Ok(unread) => unread,
            Err(Found::Skipped { path, reason }) => return self.skipped.add(reason, &path),
            Err(_) => return,
        };
        streams.warn(&failure.message);
        self.skipped.add_unread(&path, &failure);
        self.exit = self.exit.max(Some(failure.exit));
    }

    /// The text before the next redaction of a document.
    fn begin(&mut self) -> String {
        let head = format!(
            "{{\n\"schema\": \"{REDACTIONS_SCHEMA}\",\n\"tool\": \"{TOOL}\",\n\"redactions\": [\n"
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
        let sum = self.results.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let counts = RESULTS.iter().zip(self.results).filter(|(_, count)| *count > 0);
        let counts: Vec<String> =
            counts.map(|((_, words), count)| format!("{count} {words}")).collect();
        let counts =
            if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
        let text = format!("{}{counts}", plural(sum, "recording"));
        wrap(&text, look.width, "", 2) + &list_skipped(&self.skipped, look)
    }

    fn closing(&self) -> String {
        let [skipped, errors] = skipped_json(&self.skipped);
        let counts = RESULTS.iter().zip(self.results);
        let totals: Map<String, Value> =
            counts.map(|((word, _), count)| ((*word).to_string(), json!(count))).collect();
        format!(
            "\n],\n\"skipped\": {skipped},\n\"errors\": {errors},\n\"totals\": {}\n}}\n",
            Value::Object(totals)
        )
    }
}

//! `tracemend redact PATH... --out-dir DIR`: every recording below the paths, with one report.

use std::path::Path;
use std::sync::Arc;

use super::{Arguments, Done, exit_of};
use crate::commands::batch::{Sums, Task, Words, refuse_inside, target_below, tasks};
use crate::commands::formats::{Format, pretty};
use crate::files::arrival::Arrival;
use crate::files::found::{Found, guarded};
use crate::files::in_use::BeingWritten;
use crate::files::mapped::survive;
use crate::files::neighbours::Neighbours;
use crate::files::paths::is_stdin;
use crate::files::places::Places;
use crate::files::recording::Recording;
use crate::files::streams::Streams;
use crate::files::sum::sum_bytes;
use crate::files::walk::Walk;
use crate::kit::exit::{Exit, Failure};
use crate::kit::progress::Progress;

const WORDS: Words<3> = Words {
    schema: "tracemend.redactions.v1",
    list: "redactions",
    results: [
        ("unchanged", "without private content"),
        ("redacted", "redacted"),
        ("left", "with private content left"),
    ],
};

/// Redacts everything that the paths lead to, one recording after the other.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    check_arguments(arguments)?;
    let mut places = Places::new(streams);
    for path in &arguments.paths {
        places.walk(path)?;
    }
    survive();
    let mut sums = Sums::new(&WORDS);
    let paths = arguments.paths.clone();
    let progress = Progress::of_many(streams.look, "redacting", move || sum_bytes(&paths));
    let gauge = progress.gauge();
    let neighbours = Neighbours::default();
    let every = arguments.reading.kind.is_some();
    let options = arguments.reading.limiting.unwrapping();
    let spool = Arc::clone(&streams.spool);
    let arrival = Arrival { options: options.as_ref(), spool: &spool };
    for Task { step, name } in tasks(&arguments.paths) {
        let path = step.path().map(Path::to_path_buf).unwrap_or_default();
        let walk = Walk { exclude: &[], every, neighbours: &neighbours, arrival };
        let found = guarded(&path, || {
            let found = step.open(&walk)?;
            let _watching = match &found {
                Found::Recording(recording) => gauge.watch(recording.watches()),
                _ => None,
            };
            Some(work(arguments, found, &name))
        });
        match found.unwrap_or_else(|found| Some(Err(found))) {
            None => {}
            Some(Ok((done, sign))) => {
                progress.suspend(|| {
                    if let Some(sign) = sign {
                        streams.warn(&sign.warning());
                    }
                    streams.print(&add(&mut sums, arguments, &done))
                })?;
                progress.advance();
            }
            Some(Err(found)) => {
                if let Some(warning) = sums.add_found(found) {
                    progress.suspend(|| streams.warn(&warning));
                }
            }
        }
    }
    progress.suspend(|| streams.print(&sums.close(arguments.format, streams.look)))?;
    Ok(sums.exit())
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

/// Redacts what was found, if it is a recording.
fn work(
    arguments: &Arguments,
    found: Found,
    name: &Path,
) -> Result<(Done, Option<BeingWritten>), Found> {
    let Found::Recording(recording) = found else { return Err(found) };
    let done = redact(arguments, &recording, name).map_err(|failure| {
        // A name that exists already is not a usage error of the whole run.
        let exit = if failure.exit == Exit::Usage { Exit::Io } else { failure.exit };
        let failure = Failure { exit, ..failure };
        Found::Failed { path: recording.path.clone(), failure }
    })?;
    Ok((done, BeingWritten::at_open(&recording)))
}

/// Redacts one recording into its place below the folder of outputs.
fn redact(arguments: &Arguments, recording: &Recording, name: &Path) -> Result<Done, Failure> {
    let target = || {
        let Some(folder) = arguments.out_dir.as_deref().filter(|_| !arguments.dry_run) else {
            return Ok(None);
        };
        let folder = (folder, arguments.paths.as_slice());
        target_below(folder, name, recording, arguments.existing()).map(Some)
    };
    arguments.redact(recording, target, None)
}

/// Counts a redaction; returns its part of the report.
fn add(sums: &mut Sums<3>, arguments: &Arguments, done: &Done) -> String {
    let redaction = &done.redaction;
    let result = match (redaction.left.is_empty(), redaction.repair.changes()) {
        (true, false) => 0,
        (true, true) => 1,
        (false, _) => 2,
    };
    sums.count(Some(result), exit_of(redaction));
    match arguments.format {
        Format::Human => arguments.human(done),
        Format::Json => sums.begin() + pretty(&arguments.json(done)).trim_end(),
    }
}

//! Several recordings, each with an output below one folder: `repair` and `redact` with
//! `--out-dir`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tracemend::words::plural;

use crate::exit::{Exit, Failure};
use crate::input::{Found, shown};
use crate::skipped::{SkipReason, Skipped};
use crate::walk::{self, Step, Steps};

/// A recording, and where its output goes below the folder of outputs.
pub(crate) struct Task {
    pub(crate) step: Step,
    pub(crate) name: PathBuf,
}

/// Everything that the paths lead to, each with its name below the folder of outputs.
pub(crate) fn tasks(paths: &[PathBuf]) -> impl Iterator<Item = Task> + Send {
    let mut names = BTreeSet::new();
    let steps = paths.iter().flat_map(|path| -> Box<dyn Iterator<Item = Task> + Send> {
        if !walk::is_walked(path) {
            let name = path.file_name().map_or_else(|| PathBuf::from("recording"), PathBuf::from);
            return Box::new(std::iter::once(Task { step: Step::Named(path.clone()), name }));
        }
        let root = path.clone();
        Box::new(Steps::of(path, walk::WALK_MAX).map(move |step| {
            let below = |path: &Path| path.strip_prefix(&root).unwrap_or(path).to_path_buf();
            let name = match &step {
                Step::Named(path) | Step::Directory(path) | Step::File(path) => below(path),
                Step::Found(_) => PathBuf::new(),
            };
            Task { step, name }
        }))
    });
    steps.map(move |Task { step, name }| match step {
        Step::Named(path) | Step::Directory(path) | Step::File(path)
            if !names.insert(name.clone()) =>
        {
            let message = format!(
                "{}: another recording is written to {} in the folder of outputs",
                shown(&path),
                shown(&name)
            );
            let failure = Failure::new(Exit::Io, message);
            Task { step: Step::Found(Found::Failed { path, failure }), name }
        }
        step => Task { step, name },
    })
}

/// Fails if the folder of outputs lies inside a path: the walk must not meet what the run writes.
pub(crate) fn refuse_inside(folder: &Path, paths: &[PathBuf]) -> Result<(), Failure> {
    let full = |path: &Path| fs::canonicalize(path).ok();
    let around = folder
        .ancestors()
        .find_map(|one| full(if one == Path::new("") { Path::new(".") } else { one }));
    for path in paths {
        let is_inside = match (&around, full(path)) {
            (Some(folder), Some(path)) => path.is_dir() && folder.starts_with(path),
            _ => false,
        };
        if is_inside {
            let (folder, path) = (shown(folder), shown(path));
            let message = format!("{folder}, the folder of outputs, lies inside {path}");
            return Err(Failure::usage(message));
        }
    }
    Ok(())
}

/// Returns the path and the reason of something that should be a recording and cannot be read.
///
/// # Errors
///
/// It is a recording, or a file that is skipped.
pub(crate) fn failure_of(found: Found) -> Result<(PathBuf, Failure), Found> {
    match found {
        Found::Recording(_) | Found::Skipped { .. } => Err(found),
        Found::Failed { path, failure } => Ok((path, failure)),
        Found::Irregular { path, kind } => {
            let message = format!("{} is {kind}, not a file", shown(&path));
            Ok((path, Failure::new(Exit::Unrepaired, message)))
        }
        Found::TooMany { path, max } => {
            let message = format!("{}: more than {}", shown(&path), plural(max, "entry"));
            Ok((path, Failure::new(Exit::Incomplete, message)))
        }
    }
}

/// The lists `skipped` and `errors` of a report.
pub(crate) fn skipped_json(skipped: &Skipped) -> [Value; 2] {
    let mut entries: Vec<Value> = Vec::new();
    for reason in SkipReason::ALL {
        let paths = skipped.of(reason).1.iter();
        entries.extend(paths.map(|path| json!({ "path": path, "reason": reason.word() })));
    }
    let errors = skipped.unread().1.iter();
    let errors: Vec<Value> =
        errors.map(|(path, message)| json!({ "path": path, "message": message })).collect();
    [json!(entries), json!(errors)]
}

//! Several recordings, each with an output below one folder, and one report about all: `repair` and
//! `redact` with `--out-dir`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tracemend::json::TOOL;
use tracemend::words::plural;

use crate::commands::formats::Format;
use crate::files::access::Readers;
use crate::files::found::Found;
use crate::files::output::{Existing, Target};
use crate::files::paths::shown;
use crate::files::recording::Recording;
use crate::files::skipped::{SkipReason, Skipped};
use crate::files::walk::{self, Step, Steps};
use crate::kit::exit::{Exit, Failure};
use crate::kit::look::{Look, wrap};
use crate::show::summary::list_skipped;

/// A recording, and where its output goes below the folder of outputs.
pub(crate) struct Task {
    pub(crate) step: Step,
    pub(crate) name: PathBuf,
}

/// Everything that the paths lead to, each with its own path as its name.
pub(crate) fn tasks_in_place(paths: &[PathBuf]) -> impl Iterator<Item = Task> + Send {
    let mut named = BTreeSet::new();
    let paths = paths.iter().filter(move |path| named.insert(path.as_path()));
    paths.flat_map(|path| -> Box<dyn Iterator<Item = Task> + Send> {
        let name_it = |step: Step| {
            let name = step.path().map(Path::to_path_buf).unwrap_or_default();
            Task { step, name }
        };
        match walk::is_walked(path) {
            true => Box::new(Steps::of(path, walk::WALK_MAX).map(name_it)),
            false => Box::new(std::iter::once(name_it(Step::Named(path.clone())))),
        }
    })
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

/// Returns the place of an output below the folder of outputs, which is made for those who can
/// read all of `paths`. Its own folders have the modes of those in the directory that was named.
pub(crate) fn target_below(
    (folder, paths): (&Path, &[PathBuf]),
    name: &Path,
    recording: &Recording,
    existing: Existing,
) -> Result<Target, Failure> {
    let path = folder.join(name);
    let failed = |error| Failure::io(shown(&path), &error);
    if !folder.is_dir() {
        let readers = paths.iter().fold(Readers::EVERYBODY, |readers, path| {
            readers.and(match walk::is_walked(path) {
                true => Readers::of_path(path, folder),
                false => Readers::around(path, folder),
            })
        });
        readers.create_folder(folder).map_err(failed)?;
    }
    let source = recording.path.ancestors().nth(name.components().count());
    let below: Vec<&Path> = name.ancestors().skip(1).collect();
    for inner in below.into_iter().rev().filter(|inner| !inner.as_os_str().is_empty()) {
        let model = source.map(|source| source.join(inner));
        let readers = match model.and_then(|model| Some((fs::metadata(&model).ok()?, model))) {
            Some((metadata, model)) => Readers::of_file(&model, &metadata),
            None => Readers::OWNER,
        };
        readers.create_folder(&folder.join(inner)).map_err(failed)?;
    }
    Target::new(&path, recording, existing)
}

/// The nouns of a report about several recordings.
pub(crate) struct Words<const N: usize> {
    /// Version of the layout as JSON.
    pub(crate) schema: &'static str,
    /// Name of the list in JSON.
    pub(crate) list: &'static str,
    /// Results as they are counted, with their words in JSON and for people.
    pub(crate) results: [(&'static str, &'static str); N],
}

/// A report about several recordings, as it is written: one after the other, then the sums.
pub(crate) struct Sums<const N: usize> {
    words: &'static Words<N>,
    skipped: Skipped,
    counts: [u64; N],
    exit: Option<Exit>,
    /// Whether a recording was written to the report.
    began: bool,
}

impl<const N: usize> Sums<N> {
    pub(crate) fn new(words: &'static Words<N>) -> Self {
        Self { words, skipped: Skipped::default(), counts: [0; N], exit: None, began: false }
    }

    /// The exit status of the run.
    pub(crate) fn exit(&self) -> Exit {
        self.exit.unwrap_or(Exit::Clean)
    }

    /// Counts a recording with the result of this number, if it has one.
    pub(crate) fn count(&mut self, result: Option<usize>, exit: Exit) {
        if let Some(count) = result.and_then(|result| self.counts.get_mut(result)) {
            *count = count.saturating_add(1);
        }
        self.exit = self.exit.max(Some(exit));
    }

    /// Adds what is no recording, or cannot be read as one; returns the warning, if there is one.
    pub(crate) fn add_found(&mut self, found: Found) -> Option<String> {
        let (path, failure) = match failure_of(found) {
            Ok(unread) => unread,
            Err(Found::Skipped { path, reason }) => {
                self.skipped.add(reason, &path);
                return None;
            }
            Err(_) => return None,
        };
        self.skipped.add_unread(&path, &failure);
        self.exit = self.exit.max(Some(failure.exit));
        Some(failure.message)
    }

    /// The text before the next recording of a JSON document.
    pub(crate) fn begin(&mut self) -> String {
        if std::mem::replace(&mut self.began, true) {
            return ",\n".to_string();
        }
        let Words { schema, list, .. } = self.words;
        format!("{{\n\"schema\": \"{schema}\",\n\"tool\": \"{TOOL}\",\n\"{list}\": [\n")
    }

    /// The end of the report.
    pub(crate) fn close(&mut self, format: Format, look: Look) -> String {
        match format {
            Format::Human => self.describe(look),
            Format::Json => {
                let head = if self.began { String::new() } else { self.begin() };
                head + &self.closing()
            }
        }
    }

    fn describe(&self, look: Look) -> String {
        let sum = self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let counts = self.words.results.iter().zip(self.counts).filter(|(_, count)| *count > 0);
        let counts: Vec<String> =
            counts.map(|((_, words), count)| format!("{count} {words}")).collect();
        let counts =
            if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
        let text = format!("{}{counts}", plural(sum, "recording"));
        wrap(&text, look.width, "", 2) + &list_skipped(&self.skipped, look)
    }

    fn closing(&self) -> String {
        let [skipped, errors] = skipped_json(&self.skipped);
        let counts = self.words.results.iter().zip(self.counts);
        let totals: Map<String, Value> =
            counts.map(|((word, _), count)| ((*word).to_string(), json!(count))).collect();
        format!(
            "\n],\n\"skipped\": {skipped},\n\"errors\": {errors},\n\"totals\": {}\n}}\n",
            Value::Object(totals)
        )
    }
}

/// Returns the path and the reason of something that should be a recording and cannot be read.
///
/// # Errors
///
/// It is a recording, or a file that is skipped.
fn failure_of(found: Found) -> Result<(PathBuf, Failure), Found> {
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
fn skipped_json(skipped: &Skipped) -> [Value; 2] {
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

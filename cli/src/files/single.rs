//! The one recording that an argument names.

use std::path::Path;

use tracemend::words::byte_count;
use tracemend::{FileSet, FormatId, Options, limits};

use crate::files::arrival::Arrival;
use crate::files::found::Found;
use crate::files::in_use::BeingWritten;
use crate::files::input;
use crate::files::mapped::survive;
use crate::files::paths::shown;
use crate::files::recording::Recording;
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure};

/// The one recording that `path` names.
pub(crate) fn open_one(path: &Path, streams: &mut Streams<'_>) -> Result<Recording, Failure> {
    match input::open(path, &mut streams.input)? {
        Found::Recording(recording) => {
            if let Some(sign) = BeingWritten::at_open(&recording) {
                streams.warn(&sign.warning());
            }
            Ok(recording)
        }
        Found::Irregular { path, kind } => {
            let message = format!("CM0003 irregular-file: {} is {kind}, not a file", shown(&path));
            Err(Failure::new(Exit::Unrepaired, message))
        }
        Found::TooMany { path, .. } => Err(Failure::new(Exit::Incomplete, shown(&path))),
        Found::Skipped { path, .. } => Err(Failure::usage(shown(&path))),
        Found::Failed { failure, .. } => Err(failure),
    }
}

/// The donor of a command over many recordings. Without one, a file that shrinks while it is read
/// costs that file only; what is read of a donor counts for all.
pub(crate) fn open_donor(
    path: Option<&Path>,
    streams: &mut Streams<'_>,
) -> Result<Option<Recording>, Failure> {
    if path.is_none() {
        survive();
    }
    path.map(|path| open_one(path, streams)).transpose()
}

/// The one recording that `path` names, as its recorder wrote it.
pub(crate) fn open_arrived(
    path: &Path,
    options: &Options,
    is_unwrapped: bool,
    streams: &mut Streams<'_>,
) -> Result<Recording, Failure> {
    let recording = open_one(path, streams)?;
    let unwrapping = is_unwrapped.then_some(options);
    let recording = Arrival { options: unwrapping, spool: &streams.spool }.of(recording)?;
    let len = recording.file_set().len();
    let most = options.limits.of(&limits::BYTES);
    if len > most {
        let message = format!(
            "CM9001 limit-reached: {} has {}, more than the limit `bytes` ({most})",
            shown(path),
            byte_count(len)
        );
        return Err(Failure::new(Exit::Incomplete, message));
    }
    streams.watch(&recording);
    Ok(recording)
}

/// The format of the recording at `path`: the one of `--type`, or the one it shows.
pub(crate) fn recognise_one(
    path: &Path,
    files: &FileSet<'_>,
    kind: Option<FormatId>,
    options: &Options,
) -> Result<FormatId, Failure> {
    let kind = kind.filter(|_| files.obstacle().is_none());
    let recognise = || kind.or_else(|| tracemend::recognise(files, options));
    within_steps(&shown(path), options, recognise)?.ok_or_else(|| {
        let reason = match files.obstacle() {
            Some(obstacle) => obstacle.message.as_str(),
            None if files.is_empty() => "empty file",
            None => "unknown format",
        };
        Failure::new(Exit::Findings, format!("{}: {reason}", shown(path)))
    })
}

/// Runs `work` on the recording of this name within the limit `steps`.
pub(crate) fn within_steps<T>(
    name: &str,
    options: &Options,
    work: impl FnOnce() -> T,
) -> Result<T, Failure> {
    tracemend::within_steps(&options.limits, work).map_err(|spent| {
        let message = format!("{name}: CM9001 limit-reached: {spent}");
        Failure::new(Exit::Incomplete, message)
    })
}

/// The recording that the options choose of several in one file, or the only one.
pub(crate) fn pick<'a>(files: FileSet<'a>, options: &Options) -> Result<FileSet<'a>, Failure> {
    let picked = tracemend::pick(&files, options).map_err(Failure::usage)?;
    Ok(picked.unwrap_or(files))
}

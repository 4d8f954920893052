//! Where repaired recordings go.

use std::path::{Path, PathBuf};

use super::Arguments;
use crate::commands::batch::target_below;
use crate::files::directory;
use crate::files::input::recordings_below;
use crate::files::output::{Existing, ORIG, Target, beside_source};
use crate::files::paths::{beside, ends_with_slash, is_stdin, name_beside, shown};
use crate::files::recording::Recording;
use crate::files::sandbox::Reach;
use crate::files::streams::Streams;
use crate::files::walk::is_walked;
use crate::kit::command::{OUTPUT_END, quote, repair_all};
use crate::kit::exit::Failure;

/// Recordings that a message about several names.
const NAMED: usize = 3;

/// Where repaired recordings go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// `NAME.mended`.
    Beside,
    /// `-o OUT`.
    At(PathBuf),
    /// `--out-dir DIR`, or `-o DIR/` as `cp` takes it: under the path in the directory that was
    /// named.
    Below(PathBuf),
    /// `--in-place`.
    Source { backup: bool },
    /// `-o -`: standard output.
    Stream,
}

impl Destination {
    pub(super) fn of(arguments: &Arguments) -> Self {
        let is_whole = |path: &PathBuf| directory::is_recording(path);
        let may_be_folder = arguments.paths.len() > 1 || !arguments.paths.iter().any(is_whole);
        match (&arguments.output, &arguments.out_dir) {
            (_, Some(folder)) => Self::Below(folder.clone()),
            (None, None) if arguments.in_place => Self::Source { backup: !arguments.no_backup },
            (None, None) => Self::Beside,
            (Some(output), None) if is_stdin(output) => Self::Stream,
            (Some(output), None) if may_be_folder && is_folder(output) => {
                Self::Below(output.clone())
            }
            (Some(output), None) => Self::At(output.clone()),
        }
    }

    /// Whether an output is wanted of a clean recording, too: the user named its place.
    pub(super) const fn is_named(&self) -> bool {
        matches!(self, Self::At(_) | Self::Below(_) | Self::Stream)
    }

    /// Whether there is an output for each of several recordings.
    pub(super) const fn is_for_many(&self) -> bool {
        matches!(self, Self::Beside | Self::Below(_) | Self::Source { .. })
    }

    /// Adds the files that the outputs of `paths` need.
    pub(super) fn reach(&self, reach: Reach, paths: &[PathBuf]) -> Reach {
        match self {
            Self::At(output) => reach.read(output).write(output),
            Self::Below(folder) => reach.read(folder).write_below(folder),
            Self::Stream => reach.stage(),
            Self::Beside | Self::Source { .. } => {
                paths.iter().fold(reach, |reach, path| match is_walked(path) {
                    true => reach.write_below(path),
                    false => match name_beside(path, OUTPUT_END) {
                        Ok(output) => reach.read(&output).write(&output),
                        Err(_) => reach.write(path),
                    },
                })
            }
        }
    }

    /// The path of the output of a recording with this name below the path that was named.
    pub(super) fn place(
        &self,
        recording: &Recording,
        name: &Path,
        is_dry: bool,
    ) -> Result<PathBuf, Failure> {
        match self {
            Self::At(path) => Ok(path.clone()),
            Self::Below(_) if recording.is_stream() => beside_source(recording, OUTPUT_END),
            Self::Below(folder) => Ok(folder.join(name)),
            Self::Source { .. } if recording.is_stream() => {
                Err(Failure::usage("--in-place requires a file, not standard input"))
            }
            Self::Source { .. } | Self::Stream => Ok(recording.path.clone()),
            Self::Beside if recording.is_stream() && is_dry => {
                Ok(beside(&recording.path, OUTPUT_END))
            }
            Self::Beside => beside_source(recording, OUTPUT_END),
        }
    }

    /// The target of the output at `place`, for those who can read all of `paths`.
    pub(super) fn target(
        &self,
        recording: &Recording,
        (place, name): (&Path, &Path),
        arguments: &Arguments,
    ) -> Result<Target, Failure> {
        let existing = if arguments.force { Existing::Replaced } else { Existing::Kept };
        match self {
            Self::Below(folder) => {
                target_below((folder, &arguments.paths), name, recording, existing)
            }
            Self::Source { backup: false } if recording.directory => Err(Failure::usage(
                "--no-backup applies to a recording of one file; a directory is kept as NAME.orig",
            )),
            Self::Source { backup } => {
                Target::new(place, recording, Existing::Source { backup: *backup })
            }
            Self::At(_) | Self::Beside | Self::Stream => Target::new(place, recording, existing),
        }
    }
}

/// The target of `-o -`.
pub(super) fn stream(recording: &Recording, streams: &mut Streams<'_>) -> Result<Target, Failure> {
    if recording.directory {
        return Err(Failure::usage("-o - applies to a recording of one file"));
    }
    if streams.is_terminal() {
        let message = "a recording is not written to a terminal: -o FILE, or | to a program";
        return Err(Failure::usage(message));
    }
    let staged = streams.input.stage();
    staged.map(Target::stream).map_err(|error| Failure::io("the temporary output", &error))
}

/// Whether `cp` would put a copy into it.
fn is_folder(output: &Path) -> bool {
    output.is_dir() || ends_with_slash(output)
}

/// Whether an earlier repair wrote the file at the path, or kept it: a run over a directory works
/// on the recordings and not on those.
pub(super) fn is_of_repair(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return false;
    };
    let source = name.strip_suffix(OUTPUT_END).or_else(|| name.strip_suffix(ORIG));
    source.is_some_and(|source| path.with_file_name(source).symlink_metadata().is_ok())
}

/// Returns the one recording below a directory.
pub(super) fn sole_recording(
    folder: &Path,
    arguments: &Arguments,
    streams: &mut Streams<'_>,
) -> Result<PathBuf, Failure> {
    let options = arguments.limiting.unwrapping();
    let found = recordings_below(folder, options.as_ref(), &streams.spool);
    let mut found = found.filter(|path| !is_of_repair(path));
    let names: Vec<PathBuf> = found.by_ref().take(NAMED).collect();
    let is_more = found.next().is_some();
    if let [one] = names.as_slice() {
        return Ok(one.clone());
    }
    if names.is_empty() {
        return Ok(folder.to_path_buf());
    }
    let named: Vec<String> = names.iter().map(|path| shown(path)).collect();
    let more = if is_more { " and more" } else { "" };
    let next = match arguments.output.as_deref().filter(|output| !is_stdin(output)) {
        Some(below) => {
            format!("tracemend repair {} --out-dir {}", quote(folder), quote(below))
        }
        None => repair_all(&[folder.to_path_buf()], &[]).unwrap_or_default(),
    };
    let message = format!(
        "{} holds several recordings ({}{more}); next: {next}",
        shown(folder),
        named.join(", "),
    );
    Err(Failure::usage(message))
}

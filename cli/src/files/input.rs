//! From paths to recordings.
//!
//! ```text
//!  file        one recording; a finding if it is a device, a pipe or a socket
//!  directory   one recording if a format says so by its names; else walked, in the order of names
//!  -           standard input, spooled into a file without a name
//! ```
//!
//! Nothing here waits for another process: only regular files are opened, and without blocking.

use std::path::{Path, PathBuf};

use tracemend::Options;

use crate::files::arrival::{Arrival, Spool};
use crate::files::found::{self, Found, NAME_A_FILE};
use crate::files::neighbours::Neighbours;
use crate::files::paths::{is_stdin, shown};
use crate::files::recording::{Recording, written};
use crate::files::streams::StandardInput;
use crate::files::walk::{Steps, WALK_MAX, Walk};
use crate::kit::exit::Failure;

/// Recordings that a message names if only the directory around them was given, and entries that
/// are looked at for them: the message must not take long.
const NAMES_BELOW: usize = 3;
const LOOKED_AT_BELOW: u64 = 1_000;

/// Opens the path, for the commands that work on one recording.
pub(crate) fn open(path: &Path, stdin: &mut StandardInput<'_>) -> Result<Found, Failure> {
    if is_stdin(path) {
        return spool(path, stdin).map(Found::Recording);
    }
    open_path(path)
}

/// Opens a path that is not standard input.
pub(crate) fn open_path(path: &Path) -> Result<Found, Failure> {
    found::open_path(path, below)
}

/// Names recordings below a directory that is not one itself.
fn below(path: &Path) -> String {
    let spool = Spool::default();
    let names = list_below(Steps::of(path, LOOKED_AT_BELOW), None, &spool);
    let names: Vec<String> = names.take(NAMES_BELOW).map(|path| shown(&path)).collect();
    match names.is_empty() {
        true => NAME_A_FILE.to_string(),
        false => format!("name one in it, for example {}", names.join(" or ")),
    }
}

/// The recordings below a directory; those that were wrapped, too, if `unwrapping`.
pub(crate) fn recordings_below(
    path: &Path,
    unwrapping: Option<&Options>,
    spool: &Spool,
) -> impl Iterator<Item = PathBuf> {
    list_below(Steps::of(path, WALK_MAX), unwrapping, spool)
}

fn list_below(
    steps: Steps,
    options: Option<&Options>,
    spool: &Spool,
) -> impl Iterator<Item = PathBuf> {
    let neighbours = Neighbours::default();
    let found = steps.filter_map(move |step| {
        let arrival = Arrival { options, spool };
        step.open(&Walk { exclude: &[], every: false, neighbours: &neighbours, arrival })
    });
    found.filter_map(|found| match found {
        Found::Recording(recording) => Some(recording.path),
        _ => None,
    })
}

fn spool(path: &Path, stdin: &mut StandardInput<'_>) -> Result<Recording, Failure> {
    let file = stdin.copy().and_then(|file| written(&file, "stdin"));
    let file = file.map_err(|error| Failure::io("standard input", &error))?;
    Ok(Recording::of_file(path, file))
}

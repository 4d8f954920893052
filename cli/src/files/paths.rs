//! Paths: how they are shown, and where they lead.

use std::borrow::Cow;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tracemend::UntrustedPath;

use crate::kit::exit::{Exit, Failure};

/// Symbolic links that are followed to an output.
const LINKS_MAX: usize = 40;

/// A path as it may be shown, also at the beginning of a line.
pub(crate) fn shown(path: &Path) -> String {
    at_begin(&UntrustedPath(path.as_os_str().as_bytes()).to_string()).into_owned()
}

/// Returns an escaped name as it may begin a line: GitHub reads a line that begins with `::` as a
/// command, and spaces before it do not matter.
pub(crate) fn at_begin(name: &str) -> Cow<'_, str> {
    match name.trim_start().starts_with("::") {
        true => format!("./{name}").into(),
        false => name.into(),
    }
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a path names a directory by its last byte.
pub(crate) fn ends_with_slash(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}

/// The folder that a path lies in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the path at the end of a chain of links; it need not exist.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, Failure> {
    let mut at = path.to_path_buf();
    // `DIR/` names the directory; links are links only without the slash.
    if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
        at = parent.join(name);
    }
    // The links of /dev/stdout lead to names that are no paths.
    let is_special = |metadata: Metadata| !metadata.is_file() && !metadata.is_dir();
    if fs::metadata(&at).is_ok_and(is_special) {
        return Ok(at);
    }
    for _ in 0..LINKS_MAX {
        match fs::read_link(&at) {
            Ok(next) => at = parent(&at).join(next),
            Err(_) => return Ok(at),
        }
    }
    Err(Failure::new(Exit::Io, format!("{}: too many links", shown(path))))
}

/// Returns the path with `suffix` after its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the path of a recording with `suffix` after its name.
pub(crate) fn name_beside(source: &Path, suffix: &str) -> io::Result<PathBuf> {
    let path = match source.file_name() {
        // Without a slash at the end.
        Some(_) => source.components().collect(),
        // `.` and `..` stand for the directory that they name.
        None => fs::canonicalize(source)?,
    };
    Ok(beside(&path, suffix))
}

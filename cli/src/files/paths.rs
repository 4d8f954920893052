//! Paths: how they are shown, and where they lead.

use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tracemend::UntrustedPath;

use crate::kit::exit::{Exit, Failure};

/// Symbolic links that are followed to an output.
const LINKS_MAX: usize = 40;

/// A path as it may be shown.
pub(crate) fn shown(path: &Path) -> String {
    UntrustedPath(path.as_os_str().as_bytes()).to_string()
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
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

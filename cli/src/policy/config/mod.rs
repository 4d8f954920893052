//! `tracemend.toml`: the policy of a project.
//!
//! ```toml
//! fail-on = "warning"            # as --fail-on
//! strict = true                  # as --strict
//! max-findings = 100             # as --max-findings
//! baseline = "accepted.json"     # as --baseline, beside this file
//! warn = ["PD2"]                 # as --warn; deny and allow, too
//!
//! [formats.qemu]                 # for recordings of one format
//! allow = ["QR3013"]
//! options = { qemu-version = "7.2" }
//!
//! [[overrides]]                  # for recordings whose paths match, relative to this file
//! paths = ["known/**"]
//! allow = ["all"]
//! ```
//!
//! The file is looked for in the current directory and in those above it. The command line wins
//! over the file, an override over a format, and the last of several overrides.

mod error;
mod file;

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use globset::GlobSet;
use tracemend::words::byte_count;
use tracemend::{Choices, FormatId, Policy};

use crate::files::paths::shown;
use crate::files::recording::open_without_waiting;
use crate::kit::exit::Failure;
use crate::kit::look::Look;

/// Name of the file.
const NAME: &str = "tracemend.toml";
/// Bytes of the file. A policy with a line for each code has some thousand.
const LENGTH_MAX: u64 = 1 << 20;

/// The policy of a project; nothing, if it has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// The folder of the file, absolute.
    folder: PathBuf,
    policy: Policy,
    formats: Vec<(FormatId, Policy, Choices)>,
    overrides: Vec<(GlobSet, Policy)>,
    /// A word of `--fail-on`.
    pub(crate) fail_on: Option<String>,
    pub(crate) strict: bool,
    pub(crate) max_findings: Option<usize>,
    pub(crate) baseline: Option<PathBuf>,
}

impl Config {
    /// Reads the file that is named, or the nearest one.
    pub(crate) fn load(named: Option<&Path>, look: Look) -> Result<Self, Failure> {
        let here = std::env::current_dir().unwrap_or_default();
        let path = match named {
            Some(path) => here.join(path),
            None => match here.ancestors().map(|one| one.join(NAME)).find(|one| one.is_file()) {
                Some(path) => path,
                None => return Ok(Self::default()),
            },
        };
        let text = read(&path).map_err(|error| Failure::io(shown(&path), &error))?;
        let folder = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        file::parse(&text, folder).map_err(|error| error.describe(&path, &text, look))
    }

    /// Returns all policies of the file.
    pub(crate) fn policies(&self) -> impl Iterator<Item = &Policy> {
        let of_formats = self.formats.iter().map(|(_, policy, _)| policy);
        let of_paths = self.overrides.iter().map(|(_, policy)| policy);
        std::iter::once(&self.policy).chain(of_formats).chain(of_paths)
    }

    /// Returns the policy for a recording, without that of the command line.
    pub(crate) fn policy(&self, path: &Path, format: Option<FormatId>) -> Policy {
        let mut policy = self.policy.clone();
        for (_, own, _) in self.formats.iter().filter(|(one, ..)| Some(*one) == format) {
            policy = policy.then(own);
        }
        let here = std::env::current_dir().unwrap_or_default();
        let path = normalise(&here.join(path));
        if let Ok(inside) = path.strip_prefix(&self.folder) {
            for (_, own) in self.overrides.iter().filter(|(paths, _)| paths.is_match(inside)) {
                policy = policy.then(own);
            }
        }
        policy
    }

    /// Returns the options for recordings of a format, with those of the command line over them.
    pub(crate) fn choices(&self, format: Option<FormatId>, given: &Choices) -> Choices {
        let own = self.formats.iter().find(|(one, ..)| Some(*one) == format);
        let Some((_, _, own)) = own else { return given.clone() };
        let mut choices = own.clone();
        choices.extend(given);
        choices
    }
}

/// The path without `.` and `..`, which are resolved by name.
fn normalise(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

/// The text of a regular file that is not too long.
fn read(path: &Path) -> io::Result<String> {
    let file = open_without_waiting(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    let length = file.take(LENGTH_MAX + 1).read_to_string(&mut text)?;
    if u64::try_from(length).unwrap_or(u64::MAX) > LENGTH_MAX {
        return Err(io::Error::other(format!("longer than {}", byte_count(LENGTH_MAX))));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_by_name() {
        assert_eq!(normalise(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(normalise(Path::new("/../a")), Path::new("/a"));
    }
}

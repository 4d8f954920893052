//! The versions of perf that `TRACEMEND_PERF` names, beside the one of the PATH.
//!
//! Versions differ in what they refuse: perf 7 reads the features of a file before its records and
//! gives up at the first one that is malformed, where perf 6.1 skips it. So a recording is judged
//! by the version that wrote it.

use std::path::PathBuf;

use super::{Judge, Perf};

/// The versions of perf that `TRACEMEND_PERF` names.
pub static NEWER: Judge = Judge {
    name: "newer-perf",
    install: "unpack linux-perf of a newer Debian and set TRACEMEND_PERF to a script that runs it; \
        paths are separated by colons",
    probe: || {
        let versions: Vec<String> = newer()?.into_iter().map(|perf| perf.version).collect();
        Ok(versions.join(", "))
    },
};

/// Finds the programs that `TRACEMEND_PERF` names.
fn newer() -> Result<Vec<Perf>, String> {
    let named = std::env::var_os("TRACEMEND_PERF").unwrap_or_default();
    let named: Vec<PathBuf> =
        std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
    if named.is_empty() {
        return Err("TRACEMEND_PERF is not set".to_string());
    }
    let program = |path: PathBuf| {
        let name = path.display().to_string();
        let found = if path.is_file() { Perf::of_program(path) } else { Err("no file".into()) };
        found.map_err(|reason| format!("{name}: {reason}"))
    };
    named.into_iter().map(program).collect()
}

impl Perf {
    /// Every perf at hand, the one of the PATH first. Writes which of the two kinds is missing.
    pub fn all_or_skip() -> Vec<Self> {
        let mut found: Vec<Self> = Self::find_or_skip().into_iter().collect();
        found.extend(Self::newer_or_skip());
        found
    }

    /// The versions that `TRACEMEND_PERF` names, newest first; none after a line that they are
    /// missing.
    pub fn newer_or_skip() -> Vec<Self> {
        let mut found = NEWER.or_skip(newer()).unwrap_or_default();
        found.sort_by_key(|perf| std::cmp::Reverse(perf.release()));
        found
    }

    /// Major and minor number.
    pub fn release(&self) -> (u32, u32) {
        let mut numbers = self.version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }
}

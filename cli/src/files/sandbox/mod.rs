//! The rights that a run gives up before it opens the first recording.
//!
//! ```text
//!  Reach    the paths of the command line -> files to read, folders to write in
//!  files    landlock: no other file can be opened, no TCP port used, no process signalled
//!  calls    seccomp: no call but those on a list: no socket, no program, no look into another
//!           process, no change of the system, nor of the mode, owner, attributes or times of a
//!           file by its path
//! ```
//!
//! A fault in a decoder that a hostile recording could use then has nothing to work with: it finds
//! the recording and the folder of the output. Named paths may be symbolic links, which are
//! followed before the rights are given up, because the user wrote them. A link inside a directory
//! leads no further than that directory, because its sender wrote it: the walk skips such links,
//! and the kernel refuses the files they lead to.
//!
//! Rights belong to files, not to names: a recording that another program replaces after the run
//! began is a file that nobody named, and is refused.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod allowed;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod calls;
#[cfg(target_os = "linux")]
mod files;

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::files::paths::is_stdin;
use crate::files::paths::{parent, resolve};

/// Value of `--sandbox`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxChoice {
    /// As far as the system allows it, without a word.
    #[default]
    Auto,
    /// All of it or no run, and the run prints what it gave up.
    On,
    Off,
}

/// The files that a run needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Files, and folders with everything below them.
    read: Vec<PathBuf>,
    /// Folders in which files are made, replaced and removed.
    written: Vec<PathBuf>,
    /// Pipes and devices that are there already.
    devices: Vec<PathBuf>,
    has_links: bool,
    /// Files without a name that the run writes: one for each time that standard input is named,
    /// and one for an output on standard output.
    unnamed: usize,
}

impl Reach {
    /// Adds an input: a file, a folder with everything below it, or `-`.
    #[must_use]
    pub fn read(mut self, path: &Path) -> Self {
        match is_stdin(path) {
            true => self.unnamed = self.unnamed.saturating_add(1),
            false => self.read.push(path.to_path_buf()),
        }
        self
    }

    /// Files without a name that are made before the rights are given up.
    pub(crate) const fn unnamed(&self) -> usize {
        self.unnamed
    }

    /// Adds an output on standard output, which is proven in a file without a name.
    #[must_use]
    pub fn stage(self) -> Self {
        Self { unnamed: self.unnamed.saturating_add(1), ..self }
    }

    /// Adds inputs.
    #[must_use]
    pub fn read_all<'p>(self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        paths.into_iter().fold(self, |reach, path| reach.read(path))
    }

    /// Adds an output: its folder, since a complete file is given its name there.
    #[must_use]
    pub fn write(mut self, path: &Path) -> Self {
        // A path that cannot be resolved is reported where it is opened.
        let Ok(path) = resolve(path) else { return self };
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            self.devices.push(path);
            return self;
        }
        self.write_below(parent(&path))
    }

    /// Adds outputs.
    #[must_use]
    pub fn write_all<'p>(self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        paths.into_iter().fold(self, |reach, path| reach.write(path))
    }

    /// Adds a folder of outputs. If it does not exist, the nearest folder around it is added, since
    /// that is where it is made.
    #[must_use]
    pub fn write_below(mut self, folder: &Path) -> Self {
        let here = |one: &Path| if one == Path::new("") { PathBuf::from(".") } else { one.into() };
        let existing = folder.ancestors().map(here).find(|one| one.is_dir());
        self.written.extend(existing);
        self
    }

    /// Allows a file that is read to get a second name in a folder of outputs: `repair --link`.
    #[must_use]
    pub fn link_from(self, source: &Path) -> Self {
        // The kernel allows no link that would give a file more rights than it has.
        Self { has_links: true, ..self.write_below(source) }
    }
}

/// The rights that a run gave up, or the reasons why it kept them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Files other than those of the [`Reach`].
    pub files: Result<(), String>,
    /// System calls that reading and writing files does not need.
    pub calls: Result<(), String>,
    /// Whether the kernel knows a part of landlock only: truncation, TCP, signals and devices are
    /// left to the refused system calls.
    pub is_partial: bool,
}

impl Dropped {
    /// Whether nothing was kept.
    pub const fn is_complete(&self) -> bool {
        self.files.is_ok() && self.calls.is_ok()
    }
}

impl Display for Dropped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("sandbox: ")?;
        match &self.files {
            Ok(()) if self.is_partial => f.write_str(
                "no files except the named ones (landlock of an older kernel: truncation, TCP, \
                 signals and devices are left to seccomp)",
            )?,
            Ok(()) => f.write_str("no files except the named ones (landlock)")?,
            Err(reason) => write!(f, "all files of the user ({reason})")?,
        }
        f.write_str(", ")?;
        match &self.calls {
            Ok(()) => f.write_str("no sockets, programs or other processes (seccomp)"),
            Err(reason) => write!(f, "all system calls ({reason})"),
        }
    }
}

/// The part of landlock that a kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enforced {
    Fully,
    InPart,
}

/// Gives up everything but `reach`, for this thread and those that it starts; system calls for all
/// threads. There is no way back.
pub fn confine(reach: &Reach) -> Dropped {
    // In this order: the filter of system calls would not stand in the way of landlock, but needs
    // no file either.
    let writes = !reach.written.is_empty();
    let (files, calls) = (restrict_files(reach), restrict_calls(writes));
    let is_partial = files == Ok(Enforced::InPart);
    Dropped { files: files.map(|_| ()), calls, is_partial }
}

#[cfg(target_os = "linux")]
fn restrict_files(reach: &Reach) -> Result<Enforced, String> {
    files::restrict(reach)
}

#[cfg(not(target_os = "linux"))]
fn restrict_files(_reach: &Reach) -> Result<Enforced, String> {
    Err("landlock is a part of Linux".to_string())
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
fn restrict_calls(writes: bool) -> Result<(), String> {
    calls::restrict(writes)
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
)))]
fn restrict_calls(_writes: bool) -> Result<(), String> {
    Err("there is no filter of system calls for this system".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_needs_its_folder_and_standard_input_none() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let reach = Reach::default().write(&here.join("a")).write_below(&here.join("b/c"));
        assert_eq!(reach.written, [here, here]);
        let reach = Reach::default().read(Path::new("-")).read(&here.join("a"));
        assert_eq!((reach.read, reach.written, reach.unnamed), (vec![here.join("a")], vec![], 1));
        let reach = Reach::default().write(Path::new("out")).write(Path::new("/dev/null"));
        assert_eq!(reach.written, [Path::new(".")]);
        assert_eq!(reach.devices, [Path::new("/dev/null")]);
    }

    #[test]
    fn the_run_prints_what_it_gave_up_and_what_it_kept() {
        let dropped = Dropped { files: Ok(()), calls: Ok(()), is_partial: false };
        assert!(dropped.is_complete());
        assert_eq!(
            dropped.to_string(),
            "sandbox: no files except the named ones (landlock), no sockets, programs or other \
             processes (seccomp)"
        );
        let partly = Dropped { is_partial: true, ..dropped.clone() };
        assert!(partly.to_string().contains("truncation, TCP, signals and devices are left to"));
        let kept = Dropped { files: Err("no landlock".to_string()), ..dropped };
        assert!(!kept.is_complete());
        assert!(kept.to_string().contains("all files of the user (no landlock), no sockets"));
    }
}

//! The emulator as the judge of ovni traces: `ovniemu -l`.
//!
//! No distribution has a package of it: `TRACEMEND_OVNIEMU` names the program, or it is on the
//! path. It writes its output into the trace that it reads, so it is given a copy.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Judge;
use crate::forge::ovni::Trace;

/// The emulator as a judge.
pub static JUDGE: Judge = Judge {
    name: "ovniemu",
    install: "build ovni 1.14 and set TRACEMEND_OVNIEMU to its ovniemu",
    probe: || Ovniemu::find().map(|found| found.program.display().to_string()),
};

/// The emulator.
#[derive(Debug)]
pub struct Ovniemu {
    program: PathBuf,
}

/// The verdict on a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emulated {
    /// The exit status was 0.
    pub accepted: bool,
    /// The first line of the reason why not.
    pub first_error: String,
}

impl Ovniemu {
    /// Finds the emulator.
    ///
    /// # Errors
    ///
    /// The reason, if it does not start.
    pub fn find() -> Result<Self, String> {
        let named = std::env::var_os("TRACEMEND_OVNIEMU").map(PathBuf::from);
        let program = named.unwrap_or_else(|| PathBuf::from("ovniemu"));
        let mut run = Command::new(&program);
        match run.arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status() {
            Ok(_) => Ok(Self { program }),
            Err(error) => Err(format!("`{}`: {error}", program.display())),
        }
    }

    /// Finds the emulator, or writes that it is missing.
    pub fn find_or_skip() -> Option<Self> {
        JUDGE.or_skip(Self::find())
    }

    /// Returns the events as `ovnidump -x` prints them; `None` if it does not lie beside the
    /// emulator or fails.
    ///
    /// # Panics
    ///
    /// If the copy cannot be written.
    pub fn dump(&self, trace: &Trace) -> Option<String> {
        let folder = write_copy(trace);
        let program = self.program.with_file_name("ovnidump");
        let output = Command::new(program).arg("-x").arg(folder.path()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns the lines that `ovnidump -x` prints of a trace, up to where it fails; `None` if it
    /// does not lie beside the emulator.
    ///
    /// # Panics
    ///
    /// If the copy cannot be written.
    pub fn lines(&self, trace: &Trace) -> Option<String> {
        let folder = write_copy(trace);
        let program = self.program.with_file_name("ovnidump");
        let output = Command::new(program).arg("-x").arg(folder.path()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Emulates a trace with the linter's checks.
    ///
    /// # Panics
    ///
    /// If the copy cannot be written, or the emulator not be run.
    pub fn lint(&self, trace: &Trace) -> Emulated {
        self.emulate(write_copy(trace).path())
    }

    /// Emulates a copy of the trace in a folder with the linter's checks.
    ///
    /// # Panics
    ///
    /// As [`Ovniemu::lint`].
    pub fn lint_folder(&self, folder: &Path) -> Emulated {
        let copy = tempfile::tempdir().unwrap();
        let mut command = Command::new("cp");
        command.arg("-r").arg(folder.join(".")).arg(copy.path());
        assert!(command.status().unwrap().success());
        self.emulate(copy.path())
    }

    fn emulate(&self, folder: &Path) -> Emulated {
        let output = Command::new(&self.program).arg("-l").arg(folder).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = text.lines().find(|line| line.contains("ERROR"));
        Emulated {
            accepted: output.status.success(),
            first_error: error.unwrap_or_default().to_string(),
        }
    }
}

/// Writes the files of a trace to a folder of their own.
fn write_copy(trace: &Trace) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in &trace.files {
        let Some(bytes) = bytes else { continue };
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

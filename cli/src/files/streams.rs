//! Standard input, output and error of a run.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Seek, Write};
use std::process::ExitCode;
use std::sync::Arc;

use crate::files::arrival::Spool;
use crate::files::mapped;
use crate::files::paths::shown;
use crate::files::recording::{Recording, Stamp};
use crate::files::sandbox::{self, Reach, SandboxChoice};
use crate::kit::exit::{Exit, Failure};
use crate::kit::look::Look;
use crate::kit::progress::{Progress, Watching};

/// Bytes gathered before standard output is written to.
const BUFFER: usize = 64 << 10;

/// Standard input, output and error of a run, and how text for people looks.
pub struct Streams<'a> {
    pub(crate) input: StandardInput<'a>,
    pub(crate) out: BufWriter<&'a mut dyn Write>,
    err: &'a mut dyn Write,
    /// Whether they are those of the process.
    is_process: bool,
    pub(crate) look: Look,
    pub(crate) sandbox: SandboxChoice,
    pub(crate) spool: Arc<Spool>,
    /// What the command does, for the progress of one that reads one recording.
    pub(crate) verb: &'static str,
    progress: Progress,
    watching: Option<Watching>,
}

/// Standard input, and files without a name that it can be copied to.
pub(crate) struct StandardInput<'a> {
    pub(crate) stream: &'a mut dyn Read,
    /// They are made before the sandbox allows no further ones.
    spare: Vec<File>,
}

impl StandardInput<'_> {
    fn reserve(&mut self, count: usize) -> io::Result<()> {
        self.spare = (0..count).map(|_| tempfile::tempfile()).collect::<io::Result<_>>()?;
        Ok(())
    }

    /// Returns an empty file without a name.
    pub(crate) fn stage(&mut self) -> io::Result<File> {
        self.spare.pop().map_or_else(tempfile::tempfile, Ok)
    }

    /// Copies the rest of standard input to a file, and returns that at its beginning.
    pub(crate) fn copy(&mut self) -> io::Result<File> {
        let mut file = self.stage()?;
        io::copy(self.stream, &mut file)?;
        file.flush()?;
        file.rewind()?;
        Ok(file)
    }
}

impl<'a> Streams<'a> {
    /// Streams for one run: `out` gets the product, `err` messages and progress.
    pub fn new(
        input: &'a mut dyn Read,
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
        look: Look,
    ) -> Self {
        let input = StandardInput { stream: input, spare: Vec::new() };
        let out = BufWriter::with_capacity(BUFFER, out);
        let (sandbox, spool) = (SandboxChoice::default(), Arc::default());
        let (verb, progress, watching) = ("reading", Progress::default(), None);
        let is_process = false;
        Self { input, out, err, is_process, look, sandbox, spool, verb, progress, watching }
    }

    /// The file that standard output goes to, if it is a regular one.
    pub(crate) fn stdout_file(&self) -> Option<Stamp> {
        let metadata = std::fs::metadata("/dev/stdout").ok().filter(|_| self.is_process)?;
        metadata.is_file().then(|| Stamp::of(&metadata))
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_process && io::stdout().is_terminal()
    }

    /// Gives up everything but `reach`, as `--sandbox` has it, before anything of it is opened.
    pub(crate) fn confine(&mut self, reach: impl FnOnce() -> Reach) -> Result<(), Failure> {
        let is_asked = self.sandbox == SandboxChoice::On;
        // A program that runs a command in its own process keeps its rights.
        if self.sandbox == SandboxChoice::Off || !self.is_process {
            return match is_asked {
                true => Err(Failure::usage("--sandbox=on needs a process of its own")),
                false => Ok(()),
            };
        }
        let reach = reach();
        let reserved = self.input.reserve(reach.unnamed());
        reserved.map_err(|error| Failure::io("standard input", &error))?;
        self.spool.reserve();
        let dropped = sandbox::confine(&reach);
        if !is_asked {
            return Ok(());
        }
        self.warn(&dropped.to_string());
        match dropped.is_complete() {
            true => Ok(()),
            false => Err(Failure::usage(
                "--sandbox=on is not possible on this system; nothing was read (--sandbox=auto \
                 goes on without it)",
            )),
        }
    }

    /// Writes one line to standard error. A failure to do so cannot be reported anywhere.
    pub(crate) fn warn(&mut self, text: &str) {
        let err = &mut self.err;
        self.progress.suspend(|| {
            let _lost = writeln!(err, "tracemend: {text}");
        });
    }

    /// Shows the progress of the work on one recording.
    pub(crate) fn watch(&mut self, recording: &Recording) {
        self.progress = Progress::of_one(self.look, self.verb, &shown(&recording.path));
        self.watching = self.progress.gauge().watch(recording.watches());
    }

    /// Writes text to standard output.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.make_room();
        self.out.write_all(text.as_bytes()).map_err(|error| describe_output_failure(&error))
    }

    /// Lets `write` write JSON to standard output, piece by piece.
    pub(crate) fn print_with(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> serde_json::Result<()>,
    ) -> Result<(), Failure> {
        self.make_room();
        write(&mut self.out).map_err(|error| describe_output_failure(&io::Error::from(error)))
    }

    /// Ends the bar where the product comes to the same terminal.
    fn make_room(&mut self) {
        if self.is_terminal() {
            self.progress.finish();
        }
    }

    /// Writes a file, from its beginning, to standard output.
    pub(crate) fn pass_on(&mut self, mut file: File) -> Result<(), Failure> {
        self.make_room();
        let passed = file.rewind().and_then(|()| io::copy(&mut file, &mut self.out));
        let flushed = passed.and_then(|_| self.out.flush());
        flushed.map_err(|error| describe_output_failure(&error))
    }

    /// Writes a report to standard error, where standard output has the product.
    pub(crate) fn report(&mut self, text: &str) {
        self.progress.finish();
        let _lost = self.err.write_all(text.as_bytes());
    }

    /// Writes the buffered rest of standard output.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| describe_output_failure(&error))
    }

    /// Prints help and version to standard output, and errors of the command line to standard
    /// error.
    pub(crate) fn usage(&mut self, error: &clap::Error) -> Exit {
        if error.use_stderr() {
            // The text quotes arguments as they are.
            let text = error.to_string();
            let safe: String = text
                .chars()
                .map(|c| if c == '\n' || tracemend::is_safe(c) { c } else { '\u{fffd}' })
                .collect();
            let _lost = self.err.write_all(safe.as_bytes());
            return Exit::Usage;
        }
        let text = error.render();
        let text = if self.look.color { text.ansi().to_string() } else { text.to_string() };
        match self.print(&text).and_then(|()| self.finish()) {
            Ok(()) => Exit::Clean,
            Err(failure) => failure.exit,
        }
    }

    /// Reports why a run failed.
    pub(crate) fn report_failure(&mut self, failure: &Failure) {
        // The text printed so far comes first; a second failure to print adds nothing.
        let _known = self.out.flush();
        if !failure.message.is_empty() {
            self.warn(&failure.message);
        }
    }
}

/// A failure to write to standard output. If the reader has closed the pipe (`| head`), there is no
/// message, but the exit code is 5 because the product did not arrive.
fn describe_output_failure(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::new(Exit::Io, "");
    }
    Failure::io("standard output", error)
}

/// Runs `with` on the streams of this process.
pub fn with_process(with: impl FnOnce(Streams<'_>) -> u8) -> ExitCode {
    let look = Look::of_process();
    mapped::install();
    let (mut input, mut out) = (io::stdin().lock(), io::stdout().lock());
    let mut err = io::stderr();
    let streams = Streams::new(&mut input, &mut out, &mut err, look);
    ExitCode::from(with(Streams { is_process: true, ..streams }))
}

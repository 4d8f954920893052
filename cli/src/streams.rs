//! Standard input, output and error, and how the terminal looks.

use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::process::ExitCode;

use crate::exit::{Exit, Failure};

/// Columns where stdout is no terminal.
const WIDTH: usize = 100;
/// Bytes gathered before stdout is written to.
const BUFFER: usize = 64 << 10;

/// How text for people is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Whether colour and box-drawing characters may be used.
    pub fancy: bool,
}

impl Look {
    /// Plain text of a fixed width, as for files and pipes.
    pub const PLAIN: Self = Self { width: WIDTH, fancy: false };

    /// What suits this process's stdout.
    fn of_stdout() -> Self {
        let stdout = io::stdout();
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let size = terminal_size::terminal_size_of(&stdout);
        let width = size.map_or(WIDTH, |(width, _)| usize::from(width.0)).clamp(20, 200);
        if stdout.is_terminal() { Self { width, fancy: colour } } else { Self::PLAIN }
    }
}

/// What a run reads from and writes to.
pub struct Streams<'a> {
    pub(crate) input: &'a mut dyn Read,
    pub(crate) out: BufWriter<&'a mut dyn Write>,
    err: &'a mut dyn Write,
    pub(crate) look: Look,
}

impl<'a> Streams<'a> {
    /// Streams for one run. `out` gets the product, `err` the talk.
    pub fn new(
        input: &'a mut dyn Read,
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
        look: Look,
    ) -> Self {
        Self { input, out: BufWriter::with_capacity(BUFFER, out), err, look }
    }

    /// One line on stderr. Nobody can be told if that fails.
    pub(crate) fn say(&mut self, text: &str) {
        let _unheard = writeln!(self.err, "tracemend: {text}");
    }

    /// Text on stdout.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.out.write_all(text.as_bytes()).map_err(|error| unread(&error))
    }

    /// Writes what is left of stdout.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| unread(&error))
    }

    /// What clap says: help and version are the product, the rest is talk.
    pub(crate) fn usage(&mut self, error: &clap::Error) -> Exit {
        if error.use_stderr() {
            // The text quotes arguments as they are.
            let text = error.to_string();
            let safe: String = text
                .chars()
                .map(|c| if c == '\n' || tracemend::is_safe(c) { c } else { '\u{fffd}' })
                .collect();
            let _unheard = self.err.write_all(safe.as_bytes());
            return Exit::Usage;
        }
        let text = error.render();
        let text = if self.look.fancy { text.ansi().to_string() } else { text.to_string() };
        match self.print(&text).and_then(|()| self.finish()) {
            Ok(()) => Exit::Clean,
            Err(failure) => failure.exit,
        }
    }

    /// Says why a run failed.
    pub(crate) fn failed(&mut self, failure: &Failure) {
        // What was printed before belongs before it; a second failure to print adds nothing.
        let _known = self.out.flush();
        if !failure.message.is_empty() {
            self.say(&failure.message);
        }
    }
}

/// stdout cannot be written to. A reader that has left (`| head`) knows: nothing is said, but the
/// exit code is 5, for the product did not arrive.
pub(crate) fn unread(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::new(Exit::Io, "");
    }
    Failure::io("standard output", error)
}

/// Runs `with` on the streams of this process.
pub fn with_process(with: impl FnOnce(Streams<'_>) -> u8) -> ExitCode {
    let look = Look::of_stdout();
    let (mut input, mut out) = (io::stdin().lock(), io::stdout().lock());
    ExitCode::from(with(Streams::new(&mut input, &mut out, &mut io::stderr(), look)))
}

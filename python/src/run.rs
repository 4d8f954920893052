//! A command of the command line, run in this process.

use std::any::Any;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use tracemend_cli::{Look, Streams};

/// Exit code of a run that panicked, which no command has.
pub(crate) const PANICKED: u8 = 101;

/// The end of a run.
pub(crate) struct Ended {
    pub(crate) exit: u8,
    pub(crate) messages: String,
}

/// Runs a command, whose product goes to `out`.
pub(crate) fn run(arguments: Vec<OsString>, out: &mut dyn Write) -> Ended {
    tracemend_cli::embed();
    let mut err = Vec::new();
    let name = OsString::from("tracemend");
    let arguments = std::iter::once(name).chain(arguments);
    let exit = catch_unwind(AssertUnwindSafe(|| {
        let mut input = io::empty();
        let streams = Streams::new(&mut input, out, &mut err, Look::PLAIN);
        tracemend_cli::run(arguments, streams)
    }));
    let messages = String::from_utf8_lossy(&err);
    match exit {
        Ok(exit) => Ended { exit, messages: messages.into_owned() },
        Err(panic) => Ended { exit: PANICKED, messages: format!("{messages}{}", text_of(&*panic)) },
    }
}

/// Returns the message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("tracemend: internal error: {}", text.unwrap_or_default())
}

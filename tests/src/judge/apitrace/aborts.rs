//! Flipped bits of the expanded stream at which a command of apitrace fails: does the check report
//! an error?

use std::fmt;
use std::fs;
use std::path::Path;

use tracemend::{FileSet, FormatId, Options, Severity};

use super::survival::{Numbers, Original};
use super::{Apitrace, Recorder};
use crate::forge::apitrace::Container;

/// The commands, in the order of a case.
pub const COMMANDS: [&str; 5] = ["dump", "info", "trim", "replay", "state"];

/// A case: the commands that fail, and the codes of the findings.
#[derive(Clone, Debug)]
pub struct Case {
    /// Offset of the byte in the stream.
    pub at: usize,
    /// The number of the bit in it.
    pub bit: usize,
    /// The commands that fail, with the last line of their complaint.
    pub failures: Vec<(&'static str, String)>,
    /// Codes of the errors.
    pub errors: Vec<&'static str>,
    /// Codes of the warnings and notes.
    pub others: Vec<&'static str>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, bit, failures, errors, others } = self;
        write!(f, "bit {bit} of byte {at}: {failures:?} {errors:?} {others:?}")
    }
}

/// Returns the commands that fail with a trace, with the last line of their complaint.
pub fn failures(
    (judge, recorder): (&Apitrace, &Recorder),
    path: &Path,
    folder: &Path,
) -> Vec<(&'static str, String)> {
    let trimmed = format!("--output={}", folder.join("trimmed.trace").display());
    let run = |command| match command {
        "dump" => judge.dump(path),
        "info" => judge.info(path),
        "trim" => judge.run(&["trim", &trimmed], path),
        "replay" => recorder.replay(judge, path),
        _ => recorder.dump_state(judge, path),
    };
    let failed = COMMANDS.into_iter().map(|command| (command, run(command)));
    let failed = failed.filter(|(_, verdict)| verdict.code != Some(0));
    let last = |text: &str| text.trim().lines().last().unwrap_or_default().to_owned();
    failed.map(|(command, verdict)| (command, last(&verdict.stderr))).collect()
}

/// Flips a bit of the stream of a sound trace.
///
/// # Panics
///
/// If the damaged file cannot be written.
pub fn flip(
    judges: (&Apitrace, &Recorder),
    original: &Original,
    numbers: &mut Numbers,
    folder: &Path,
) -> Case {
    let mut stream = original.stream.clone();
    let (at, bit) = (numbers.below(stream.len()), numbers.below(8));
    stream[at] ^= 1 << bit;
    let file = Container::Snappy.file(&stream);
    let path = folder.join("flipped.trace");
    fs::write(&path, &file).unwrap();
    let options = Options::default().with_format(FormatId::APITRACE);
    let report = tracemend::check(&FileSet::single("flipped.trace", &file), &options);
    let codes = |is_error: bool| {
        let found = report.findings().iter();
        let found = found.filter(|one| (one.severity == Severity::Error) == is_error);
        found.map(|one| one.rule.code).collect()
    };
    let failures = failures(judges, &path, folder);
    Case { at, bit, failures, errors: codes(true), others: codes(false) }
}

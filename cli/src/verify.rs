//! `tracemend verify`: the proof of a repair, from nothing but plan, source and output.

use std::path::{Path, PathBuf};

use tracemend::{FilePlan, Limits, Plan, limits, proof};

use crate::exit::{Exit, Failure, HELP};
use crate::input::{Recording, shown};
use crate::repair::open_one;
use crate::salvage::balance_lines;
use crate::streams::Streams;

/// A plan as a file, in bytes for each dropped byte it may hold: two hexadecimal digits, and as
/// much again for what is inserted and said.
const PLAN_FACTOR: u64 = 4;

/// Prove that OUT is SRC with exactly the edits of PLAN
///
/// Every byte of both files is compared or belongs to an edit. Exits with 0, or with 1 and the
/// first thing that does not fit.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Examples:\n  tracemend verify plan.json perf.data mended.data\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// What `repair --plan` wrote
    plan: PathBuf,
    /// The recording before the repair
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// The recording after it
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

/// Reads a plan; one that is no plan, or was changed, ends the run with `refused`.
pub(crate) fn read_plan(
    path: &Path,
    refused: Exit,
    streams: &mut Streams<'_>,
) -> Result<(Recording, Plan), Failure> {
    let file = open_one(path, streams)?;
    let set = file.file_set();
    let max = Limits::default().of(&limits::PLAN).saturating_mul(PLAN_FACTOR);
    if set.len() > max {
        let message = format!("{}: {} bytes, a plan may have {max}", shown(path), set.len());
        return Err(Failure::new(Exit::Incomplete, message));
    }
    let bytes = set.bytes(0);
    let plan = Plan::from_json(bytes.run(0)).map_err(|error| {
        let error = error.to_string();
        Failure::new(refused, format!("{}: {}", shown(path), safe(&error)))
    })?;
    drop(set);
    Ok((file, plan))
}

/// Brings the files of a directory into the order of these names, those of a plan. A file that is not
/// there stands for a name that the directory does not list. False if the names are not the same.
pub(crate) fn arrange<'n>(
    recording: &mut Recording,
    names: impl ExactSizeIterator<Item = &'n str>,
) -> bool {
    !recording.directory || recording.arrange(names)
}

/// An error's text: the JSON reader quotes members that it does not know.
pub(crate) fn safe(text: &str) -> String {
    tracemend::Untrusted(text.as_bytes()).to_string()
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let (_, plan) = read_plan(&self.plan, Exit::Findings, streams)?;
        let mut source = open_one(&self.source, streams)?;
        let mut output = open_one(&self.output, streams)?;
        let named = arrange(&mut source, plan.files.iter().map(|file| file.name.as_str()))
            && arrange(&mut output, plan.files.iter().map(FilePlan::target_name));
        let proved = proof::prove(&plan, &source.file_set(), &output.file_set());
        let (text, exit) = match proved {
            _ if !named => {
                ("the files have other names than in the plan\n".to_string(), Exit::Findings)
            }
            Ok(balance) => (balance_lines(&balance), Exit::Clean),
            Err(error) => (format!("{}\n", safe(&error.to_string())), Exit::Findings),
        };
        let verdict = if exit == Exit::Clean { "proved" } else { "not proved" };
        streams.print(&format!("{}: {verdict}\n{text}", shown(&self.output)))?;
        Ok(exit)
    }
}

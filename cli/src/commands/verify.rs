//! `tracemend verify`: the proof of a repair, from plan, source and output alone.

use std::path::{Path, PathBuf};

use tracemend::limits;
use tracemend::words::{byte_count, plural};
use tracemend::{Limits, Plan};

use crate::files::arrival::undo;
use crate::files::paths::shown;
use crate::files::recording::{PlannedName, Recording};
use crate::files::sandbox::Reach;
use crate::files::single::open_one;
use crate::files::streams::Streams;
use crate::kit::balance;
use crate::kit::exit::{Exit, Failure, HELP};

/// Bytes of a plan's file per dropped byte that it may hold: two hexadecimal digits, and as much
/// again for inserted bytes and texts.
const PLAN_FACTOR: u64 = 4;

const ABOUT: &str = "\
Every byte of both files is compared or belongs to an edit of the plan. Exits with 0, or with 1 \
and the first byte that does not match.";

const EXAMPLES: &str = "\
Examples:
  tracemend verify plan.json perf.data repaired.data";

/// Prove that OUT is SRC with exactly the edits of PLAN
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT,
    after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// The plan, written by `repair --plan`
    plan: PathBuf,
    /// The recording before the repair
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// The recording after the repair
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

/// Reads a plan. A file that is not a plan, or a plan that was changed, ends the run with
/// `refused`.
pub(crate) fn read_plan(
    path: &Path,
    refused: Exit,
    streams: &mut Streams<'_>,
) -> Result<(Recording, Plan), Failure> {
    let file = open_one(path, streams)?;
    let set = file.file_set();
    let max = Limits::default().of(&limits::PLAN).saturating_mul(PLAN_FACTOR);
    if set.len() > max {
        let message = format!(
            "{}: {}, more than the {max} of the largest plan",
            shown(path),
            byte_count(set.len())
        );
        return Err(Failure::new(Exit::Incomplete, message));
    }
    let bytes = set.bytes(0);
    let plan = Plan::from_json(&bytes.read(0, bytes.len())).map_err(|error| {
        let error = error.to_string();
        Failure::new(refused, format!("{}: {}", shown(path), escape(&error)))
    })?;
    drop(set);
    Ok((file, plan))
}

/// A side of a plan: the names of its files before or after the repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Source,
    Output,
}

/// Brings the files of a directory into the order of a plan. A name that the directory does not
/// have becomes an absent file. Returns false if the recording has other files.
pub(crate) fn arrange(recording: &mut Recording, plan: &Plan, side: Side) -> Result<bool, Failure> {
    let planned = plan.files.iter().map(|file| match side {
        Side::Source => PlannedName { name: &file.name, absent: file.source.absent },
        Side::Output => PlannedName { name: file.target_name(), absent: file.output.absent },
    });
    let planned: Vec<PlannedName<'_>> = planned.collect();
    if recording.directory { recording.arrange(&planned) } else { Ok(true) }
}

/// Escapes the text of an error: the JSON reader quotes members that it does not know.
pub(crate) fn escape(text: &str) -> String {
    tracemend::Untrusted(text.as_bytes()).to_string()
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        streams.confine(|| Reach::default().read_all([&self.plan, &self.source, &self.output]))?;
        let (_, plan) = read_plan(&self.plan, Exit::Findings, streams)?;
        let source = undo(open_one(&self.source, streams)?, &plan, &streams.spool)?;
        let Some(mut source) = source else {
            let text = "the source is not the file that the plan was made for";
            streams.print(&format!("{}: not proved\n  {text}\n", shown(&self.output)))?;
            return Ok(Exit::Findings);
        };
        let mut output = open_one(&self.output, streams)?;
        let named = arrange(&mut source, &plan, Side::Source)?
            && arrange(&mut output, &plan, Side::Output)?;
        let proved = tracemend::verify(&plan, &source.file_set(), &output.file_set());
        let (text, exit) = match proved {
            _ if !named => {
                ("the names of the files are not those of the plan\n".to_string(), Exit::Findings)
            }
            Ok(balance) => {
                let sums = balance::lines(balance).join("\n  ");
                let exact = match plan.exact.len() {
                    0 => String::new(),
                    fixes => {
                        let fixes = plural(u64::try_from(fixes).unwrap_or(u64::MAX), "exact fix");
                        format!("  the witnesses of {fixes} were read again\n")
                    }
                };
                (format!("  {sums}\n{exact}"), Exit::Clean)
            }
            Err(error) => (format!("  {}\n", escape(&error.to_string())), Exit::Findings),
        };
        let verdict = if exit == Exit::Clean { "proved" } else { "not proved" };
        streams.print(&format!("{}: {verdict}\n{text}", shown(&self.output)))?;
        Ok(exit)
    }
}

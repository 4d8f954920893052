//! `tracemend apply`: does what a plan says, or undoes it.

use std::path::PathBuf;

use tracemend::proof;
use tracemend::{Balance, FilePlan, Patch, PlanError, Safety};

use crate::exit::{Exit, Failure, HELP};
use crate::input::shown;
use crate::output::{Existing, Target};
use crate::repair::open_one;
use crate::salvage::balance_lines;
use crate::streams::Streams;
use crate::verify::{arrange, read_plan, safe};

const EXAMPLES: &str = "\
Examples:
  tracemend apply plan.json perf.data -o mended.data
  tracemend apply plan.json mended.data -o perf.data --reverse

Exits with 0 or 3 as the repair did whose plan it is (--reverse: with 0), and with 4, writing
nothing, if the plan was changed or one byte of SRC is not what the plan says.";

/// Do what a plan says, or undo it
///
/// SRC has to be the very file that the plan was made for: its length, its check sum and every byte
/// that is replaced are compared first, the output with the plan afterwards.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// What `repair --plan` wrote
    plan: PathBuf,
    /// The recording the plan was made for (with --reverse: the one that it made)
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// Where the result goes
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Undo the plan
    #[arg(long)]
    reverse: bool,
    /// Replace an existing OUT
    #[arg(long)]
    force: bool,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let (plan_file, plan) = read_plan(&self.plan, Exit::Unrepaired, streams)?;
        let refused = |error: String| {
            let path = shown(&self.source);
            let message = format!("{path}: {}; nothing was written", safe(&error));
            Failure::new(Exit::Unrepaired, message)
        };
        let contradiction = |error: PlanError| refused(error.to_string());
        let plan = if self.reverse { plan.reversed().map_err(contradiction)? } else { plan };
        let mut source = open_one(&self.source, streams)?;
        let named = arrange(&mut source, plan.files.iter().map(|file| file.name.as_str()));
        let existing = if self.force { Existing::Replaced } else { Existing::Refused };
        let target = Target::new(&self.output, &[&source, &plan_file], existing)?;

        let files = source.file_set();
        if plan.files.len() != files.files().len() || !named {
            return Err(refused("its files are not those of the plan".to_string()));
        }
        for (file, planned) in files.files().iter().zip(&plan.files) {
            proof::accepts(planned, &file.bytes).map_err(|error| refused(error.to_string()))?;
        }
        let patches: Result<Vec<Patch>, _> = plan.files.iter().map(FilePlan::patch).collect();
        let patches = patches.map_err(contradiction)?;
        let output = tracemend::view(&files, &patches);
        target.publish(&source, &output, |back| {
            proof::prove(&plan, &files, back).map(drop).map_err(|error| {
                Failure::new(Exit::Io, format!("the output was not written as planned: {error}"))
            })
        })?;
        let mut balance = Balance::default();
        patches.iter().for_each(|patch| balance.add(patch));
        let written = shown(target.path());
        streams.print(&format!("{written}: written\n{}", balance_lines(&balance)))?;
        let mut edits = plan.files.iter().flat_map(|file| &file.edits);
        let lossy = !self.reverse && edits.any(|edit| edit.safety == Safety::Lossy.name());
        Ok(if lossy { Exit::Loss } else { Exit::Clean })
    }
}

//! `tracemend apply`: the edits of a plan, or the way back.

use std::path::PathBuf;

use tracemend::{Balance, Digest, File, FilePlan, FileSet, Patch, PlanError, proof};

use crate::commands::verify::{Side, arrange, escape, read_plan};
use crate::files::arrival::{convert, undo};
use crate::files::output::{Existing, Target};
use crate::files::paths::shown;
use crate::files::places::Places;
use crate::files::sandbox::Reach;
use crate::files::single::open_one;
use crate::files::streams::Streams;
use crate::kit::balance;
use crate::kit::exit::{Exit, Failure, HELP};

const EXAMPLES: &str = "\
Examples:
  tracemend apply plan.json perf.data -o repaired.data
  tracemend apply plan.json repaired.data -o perf.data --reverse

Exits with 0 or 3, as the repair did that wrote the plan (--reverse: with 0), and with 4, without an
output, if the plan was changed or if one byte of SRC differs from the plan.";

const ABOUT: &str = "\
SRC must be the recording for which the plan was made: its length, its checksum and every byte \
that is replaced are compared first, the output with the plan afterwards.";

/// Apply the edits of a plan, or undo them
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// The plan, written by `repair --plan`
    plan: PathBuf,
    /// The recording for which the plan was made; with --reverse, the repaired one
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// Write the result to OUT
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
        streams.confine(|| {
            Reach::default().read_all([&self.plan, &self.source]).write(&self.output)
        })?;
        let (plan_file, plan) = read_plan(&self.plan, Exit::Unrepaired, streams)?;
        let refused = |error: String| {
            let path = shown(&self.source);
            let message = format!("{path}: {}; nothing was written", escape(&error));
            Failure::new(Exit::Unrepaired, message)
        };
        let contradiction = |error: PlanError| refused(error.to_string());
        let plan = if self.reverse { plan.reversed().map_err(contradiction)? } else { plan };
        let source = open_one(&self.source, streams)?;
        let source = if self.reverse { Some(source) } else { undo(source, &plan, &streams.spool)? };
        let other = || refused("it is not the file that the plan was made for".to_string());
        let mut source = source.ok_or_else(other)?;
        let named = arrange(&mut source, &plan, Side::Source)?;
        let existing = if self.force { Existing::Replaced } else { Existing::Kept };
        let mut places = Places::new(streams);
        places.read("the plan", &plan_file)?;
        places.read("the source", &source)?;
        places.write("the output", &self.output)?;
        // The plan holds bytes of the output.
        let target = Target::new(&self.output, &source, existing)?.restricted_by(Some(&plan_file));

        let files = source.file_set();
        if plan.files.len() != files.files().len() || !named {
            return Err(refused("the names of its files are not those of the plan".to_string()));
        }
        for (file, planned) in files.files().iter().zip(&plan.files) {
            proof::accepts(planned, &file.bytes).map_err(|error| refused(error.to_string()))?;
        }
        let patches: Result<Vec<Patch>, _> = plan.files.iter().map(FilePlan::patch).collect();
        let patches = patches.map_err(contradiction)?;
        let output = tracemend::view(&files, &patches);
        let is_wrapped = self.reverse && plan.steps().next().is_some();
        let wrapped = match is_wrapped {
            true => convert(&output, &plan, &streams.spool)?,
            false => Vec::new(),
        };
        let named = wrapped.iter().zip(output.files());
        let named = named.map(|(map, file)| File::new(file.name.clone(), map.bytes()));
        let converted = FileSet::new(named.collect());
        let written = if is_wrapped { &converted } else { &output };
        let prepared = target.prepare(&source, written, |back| {
            let proved = tracemend::verify(&plan, &files, if is_wrapped { &output } else { back });
            let is_equal = !is_wrapped || has_equal_bytes(&converted, back);
            let error = match proved {
                Ok(_) if is_equal => return Ok(()),
                Ok(_) => "other bytes were written".to_string(),
                Err(error) => error.to_string(),
            };
            let message = format!("the output was not written as planned: {error}");
            Err(Failure::new(Exit::Io, message))
        })?;
        streams.print(&describe(&target, &patches, prepared.give_name()?))?;
        let lossy = !self.reverse && plan.files.iter().any(FilePlan::is_lossy);
        Ok(if lossy { Exit::Loss } else { Exit::Clean })
    }
}

fn describe(target: &Target, patches: &[Patch], is_there: bool) -> String {
    let [before, after] = balance::lines(Balance::of(patches));
    let state = if is_there { "already there, the same" } else { "written" };
    format!("{}: {state}\n  {before}\n  {after}\n", shown(target.path()))
}

fn has_equal_bytes(one: &FileSet<'_>, two: &FileSet<'_>) -> bool {
    let mut pairs = one.files().iter().zip(two.files());
    let is_equal =
        |(one, two): (&File<'_>, &File<'_>)| Digest::of(&one.bytes) == Digest::of(&two.bytes);
    one.files().len() == two.files().len() && pairs.all(is_equal)
}

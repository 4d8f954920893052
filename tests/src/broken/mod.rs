//! Broken Recordings: how well a tool repairs, measured by the readers of the formats.
//!
//! ```text
//!  sound recording --damage--> broken --tool--> output
//!        |                       |                 |
//!      reader                  reader            reader      what does each show?
//!        |                       |                 |
//!        +---------------------- score ------------+
//! ```
//!
//! - [`damage`]: the nine kinds of damage. [`tool`]: any command. [`readers`]: the judges.
//! - [`mod@score`]: records kept, false, or shown inside the damage. [`names`]: whether a report
//!   names the damage. [`table`]: sums, tables and goals.
//!
//! A case has a name, `perf/lost/4/17`: the same name and seed break the same recording in the same
//! way. `docs/broken-recordings.md` explains each column and has the results.

pub mod damage;
pub mod names;
pub mod readers;
pub mod score;
pub mod table;
pub mod tool;

use std::collections::BTreeMap;

use tracemend::FormatId;

use crate::known_originals::{Dice, Original, SUBJECTS};
use damage::{Broken, Kind};
use names::Named;
use readers::{Reader, Reading, Sound};
use score::{Score, score};
use tool::{Run, Tool};

/// Fewest records of a sound recording that is broken.
const RECORDS_MIN: usize = 16;
/// A sound recording is too short.
const FEW: &str = "it has less than 16 records";

/// The place of a case in the series of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The kind of damage.
    pub kind: Kind,
    /// How many damages.
    pub count: usize,
    /// Counts the cases of kind and count.
    pub number: usize,
}

/// A case that was run.
#[derive(Debug)]
pub struct Case {
    /// Its name, without the seed.
    pub name: String,
    /// Name of the original.
    pub original: String,
    /// Row in the tables.
    pub group: &'static str,
    /// Kind and count of the damage.
    pub number: Number,
    /// The broken recording.
    pub broken: Broken,
    /// The run of the tool.
    pub run: Run,
    /// Why the reader refuses the output.
    pub refused: Option<String>,
    /// The records of the output.
    pub score: Score,
    /// The records that the reader shows of the broken recording without a tool.
    pub alone: Score,
    /// The answer of the tool's report, if it is tracemend's.
    pub named: Option<Named>,
}

/// The recordings of a format that its reader reads.
#[derive(Debug)]
pub struct Series {
    /// The format.
    pub format: FormatId,
    /// The reader.
    pub reader: Reader,
    /// The recordings.
    pub sound: Vec<Sound>,
    /// Why others are not used, with their names.
    pub unused: BTreeMap<&'static str, Vec<String>>,
}

impl Series {
    /// The recordings of a format: forged ones, those in the corpus, and `further` ones.
    ///
    /// # Errors
    ///
    /// The reason why the reader is missing.
    pub fn find(format: FormatId, further: &[Original]) -> Result<Self, String> {
        let reader = Reader::find(format)?;
        let subject = SUBJECTS.iter().find(|subject| subject.format == format);
        let own = subject.into_iter().flat_map(|subject| subject.originals.iter());
        let mut series = Self { format, reader, sound: Vec::new(), unused: BTreeMap::new() };
        for original in own.chain(further) {
            let read = series.reader.sound(original);
            let is_long = |sound: &Sound| sound.shown.len() >= RECORDS_MIN;
            match read.and_then(|sound| Some(sound).filter(is_long).ok_or(FEW)) {
                Ok(sound) => series.sound.push(sound),
                Err(reason) => {
                    series.unused.entry(reason).or_default().push(original.name.clone());
                }
            }
        }
        Ok(series)
    }

    /// Runs a case; `None` if the recording is too small for its damage.
    pub fn run(&self, tool: &Tool, seed: u64, number: Number) -> Option<Case> {
        let Number { kind, count, number: index } = number;
        let mut dice = Dice::seeded(seed_of(seed, number));
        let sound = &self.sound[dice.below(self.sound.len())];
        let broken = Broken::of(&sound.original.files, kind, count, &mut dice)?;
        let name = format!("{}/{}/{count}/{index}", self.format.name(), kind.name());
        Some(self.judge(tool, (sound, name), broken, number))
    }

    /// Runs a tool on a broken recording and asks the reader.
    pub fn judge(
        &self,
        tool: &Tool,
        (sound, name): (&Sound, String),
        broken: Broken,
        number: Number,
    ) -> Case {
        let run = tool.run(file_name(self.format), &broken.files);
        let read = |files| self.reader.read(files, sound.release);
        let reading: Option<Reading> = run.output.as_ref().map(read);
        let alone = read(&broken.files);
        let report = run.report.as_ref();
        Case {
            name,
            original: sound.original.name.clone(),
            group: sound.group,
            number,
            refused: reading.as_ref().and_then(|reading| reading.accepted.clone().err()),
            score: score(sound, &broken, reading.as_ref()),
            alone: score(sound, &broken, Some(&alone)),
            named: report.and_then(|report| Named::of(report, &broken)),
            broken,
            run,
        }
    }
}

/// Returns a number that differs between the cases of a seed.
fn seed_of(seed: u64, Number { kind, count, number }: Number) -> u64 {
    let mut dice = Dice::seeded(seed);
    for part in [kind as u64, count as u64, number as u64] {
        dice = Dice::seeded(dice.roll() ^ part);
    }
    dice.roll()
}

/// Returns a name as users give it to a recording of a format.
fn file_name(format: FormatId) -> &'static str {
    match format.name() {
        "perf" => "perf.data",
        "apitrace" => "program.trace",
        "ovni" => "ovni",
        "qemu" => "replay.bin",
        _ => "device.run.revent",
    }
}

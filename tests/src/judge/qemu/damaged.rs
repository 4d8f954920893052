//! Damaged recordings: repaired, and replayed by the build that recorded them.

use std::fmt;

use tracemend::{FormatId, Options, Outcome};

use super::{End, Machine};
use crate::known_originals::damage::damage;
use crate::known_originals::{Damaged, Dice};
use crate::mended::mended_as;

/// A damaged recording after its repair.
#[derive(Clone, Debug)]
pub struct Case {
    /// The damage.
    pub damaged: Damaged,
    /// How the repair ended.
    pub outcome: Outcome,
    /// The repaired log; the log itself if it has no error.
    pub output: Vec<u8>,
    /// How its replay ended.
    pub replay: Option<End>,
}

impl Case {
    /// Replays the output on the machine that recorded the log, unless the repair gave up.
    #[must_use]
    pub fn replayed(mut self, machine: &Machine) -> Self {
        if !matches!(self.outcome, Outcome::CannotRepair | Outcome::Incomplete) {
            self.replay = Some(machine.replay(&self.output).end);
        }
        self
    }

    /// Returns whether the log was closed before its damage, which is one.
    pub fn is_closed_before_one_damage(&self) -> bool {
        self.damaged.steps.len() == 1 && self.outcome == Outcome::RepairedWithLoss
    }
}

/// The row of a table: damage, verdict, replay.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let damage = match self.damaged.steps.as_slice() {
            [one] => format!("{:?}", one.kind),
            _ => "several".to_string(),
        };
        let verdict = match self.outcome {
            Outcome::Clean => "no error",
            Outcome::Repaired => "repaired",
            Outcome::RepairedWithLoss => "closed",
            Outcome::CannotRepair | Outcome::Incomplete => "given up",
        };
        let replay = match self.replay {
            Some(End::Code(0)) => "replays".to_string(),
            Some(End::Hung) => "hangs".to_string(),
            Some(end) => format!("fails: {end:?}"),
            None => "-".to_string(),
        };
        write!(f, "{damage:9} {verdict:9} {replay}")
    }
}

/// Damages a recording by a seed and repairs it as a log of `release`.
pub fn repair(log: &[u8], release: &str, seed: u64) -> Case {
    let files = vec![("log".to_string(), log.to_vec())];
    let damaged = damage(&files, &mut Dice::seeded(seed));
    let options = Options::default().with_format(FormatId::QEMU);
    let options = options.with_choice("qemu-version", release).expect("a known release");
    let (repair, output) = mended_as("log", &damaged.files[0].1, &options);
    Case { damaged, outcome: repair.outcome, output, replay: None }
}

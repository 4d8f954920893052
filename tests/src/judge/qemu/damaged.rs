//! Damaged recordings: repaired, and replayed by the build that recorded them.

use std::fmt;

use tracemend::{FormatId, Options, Outcome};

use super::{End, Machine};
use crate::known_originals::damage::{Kind, Step, damage, damage_once};
use crate::known_originals::{Damaged, Dice, Files};
use crate::mended::mended_as;

/// Length of the header in bytes, which stays.
const HEADER_LEN: usize = 12;

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

    /// How far before the damage, which is one, the log was closed; negative if that was past it.
    pub fn distance(&self) -> i64 {
        let place = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
        let file = &self.damaged.files[0].1;
        let kept = file.iter().zip(&self.output).take_while(|(one, two)| one == two).count();
        place(self.damaged.first_damage(0)) - place(kept)
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

/// Kinds of damage that a transport does once: bytes lost, inserted, zeroed, one bit inverted.
const KINDS: [Kind; 4] = [Kind::Drop, Kind::Insert, Kind::Zeros, Kind::Bit];
/// Greatest number of bytes that such a damage touches: two blocks of a disk.
const BLOCK_MAX: usize = 1024;

/// Damages a recording by a seed and repairs it as a log of `release`.
pub fn repair(log: &[u8], release: &str, seed: u64) -> Case {
    repair_damaged(damage(&files_of(log), &mut Dice::seeded(seed)), release)
}

/// Damages a recording once, in any way, by a seed and repairs it as a log of `release`.
pub fn repair_any(log: &[u8], release: &str, seed: u64) -> Case {
    let (files, dice) = (files_of(log), &mut Dice::seeded(seed));
    let damaged = loop {
        let damaged = damage(&files, dice);
        let is_fit = |one: &Step| one.kind != Kind::Cut;
        if matches!(damaged.steps.as_slice(), [one] if is_fit(one))
            && damaged.first_damage(0) >= HEADER_LEN
        {
            break damaged;
        }
    };
    repair_damaged(damaged, release)
}

/// Damages a recording in one place by a seed and repairs it as a log of `release`.
pub fn repair_once(log: &[u8], release: &str, seed: u64) -> Case {
    let (files, dice) = (files_of(log), &mut Dice::seeded(seed));
    let damaged = loop {
        let kind = KINDS[dice.below(KINDS.len())];
        // As many small ones as large ones.
        let most = BLOCK_MAX >> dice.below(8);
        let len = (1 + dice.below(most)).min(log.len() / 16);
        let at = HEADER_LEN + dice.below(log.len() - len - HEADER_LEN);
        if let Some(damaged) = damage_once(&files, kind, 0, (at, len), dice) {
            break damaged;
        }
    };
    repair_damaged(damaged, release)
}

fn files_of(log: &[u8]) -> Files {
    vec![("log".to_string(), log.to_vec())]
}

fn repair_damaged(damaged: Damaged, release: &str) -> Case {
    let options = Options::default().with_format(FormatId::QEMU);
    let options = options.with_choice("qemu-version", release).expect("a known release");
    let (repair, output) = mended_as("log", &damaged.files[0].1, &options);
    Case { damaged, outcome: repair.outcome, output, replay: None }
}

//! The nine kinds of damage, and where they lie in the broken recording.

use std::ops::Range;

use crate::known_originals::damage::Kind as Step;
use crate::known_originals::damage::damage_by;
use crate::known_originals::{Damaged, Dice, Files};
use crate::transport::WAYS;

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One bit is inverted.
    Bits,
    /// A block is zero: anywhere, or a page.
    Zeroed,
    /// A block is random.
    Noise,
    /// A block is missing.
    Lost,
    /// A block is there twice.
    Doubled,
    /// Two blocks have changed places.
    Exchanged,
    /// The end is missing.
    Cut,
    /// Random bytes are inserted.
    Inserted,
    /// A file was converted or packed on its way.
    Transport,
}

/// The counts of damages in one recording.
pub const COUNTS: [usize; 4] = [1, 2, 4, 8];

impl Kind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Bits,
        Self::Zeroed,
        Self::Noise,
        Self::Lost,
        Self::Doubled,
        Self::Exchanged,
        Self::Cut,
        Self::Inserted,
        Self::Transport,
    ];
    /// Those that a recording can have several times.
    const REPEATED: [Self; 7] = [
        Self::Bits,
        Self::Zeroed,
        Self::Noise,
        Self::Lost,
        Self::Doubled,
        Self::Exchanged,
        Self::Inserted,
    ];

    /// Its name in tables and in the names of cases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Zeroed => "zeroed",
            Self::Noise => "noise",
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::Exchanged => "exchanged",
            Self::Cut => "cut",
            Self::Inserted => "inserted",
            Self::Transport => "transport",
        }
    }

    /// Returns its step; `None` for [`Kind::Transport`].
    fn step(self, dice: &mut Dice<'_>) -> Option<Step> {
        Some(match self {
            Self::Bits => Step::Bit,
            Self::Zeroed => [Step::Zeros, Step::Page][dice.below(2)],
            Self::Noise => Step::Noise,
            Self::Lost => Step::Drop,
            Self::Doubled => Step::Double,
            Self::Exchanged => Step::Swap,
            Self::Cut => Step::Cut,
            Self::Inserted => Step::Insert,
            Self::Transport => return None,
        })
    }
}

/// A broken recording.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The damages.
    pub kinds: Vec<Kind>,
    /// The files that a tool is given.
    pub files: Files,
    /// The same before a transport changed one of them, with the bytes that the damages spared.
    pub damaged: Damaged,
    /// The damage in words.
    pub description: String,
    /// The file that a transport changed.
    transported: Option<usize>,
}

impl Broken {
    /// Breaks a recording `count` times by a kind. Cut and transport happen once, after damages of
    /// the other kinds. `None` if the recording is too small for it.
    pub fn of(original: &Files, kind: Kind, count: usize, dice: &mut Dice<'_>) -> Option<Self> {
        let is_once = !Kind::REPEATED.contains(&kind);
        let others = if is_once { count - 1 } else { count };
        let mut kinds: Vec<Kind> = (0..others)
            .map(|_| if is_once { Kind::REPEATED[dice.below(Kind::REPEATED.len())] } else { kind })
            .collect();
        if is_once {
            kinds.push(kind);
        }
        let steps: Vec<Step> = kinds.iter().filter_map(|kind| kind.step(dice)).collect();
        let damaged = damage_by(original, &steps, dice)?;
        let mut broken = Self {
            kinds,
            files: damaged.files.clone(),
            description: damaged.describe(),
            damaged,
            transported: None,
        };
        if kind == Kind::Transport {
            broken.transport(dice);
        }
        Some(broken)
    }

    /// A recording without damage.
    pub fn none(original: &Files) -> Option<Self> {
        let damaged = damage_by(original, &[], &mut Dice::seeded(0))?;
        let (kinds, description) = (Vec::new(), String::new());
        Some(Self { kinds, files: original.clone(), damaged, description, transported: None })
    }

    fn transport(&mut self, dice: &mut Dice<'_>) {
        let file = dice.below(self.files.len());
        let (way, encode) = WAYS[dice.below(WAYS.len())];
        self.files[file].1 = encode(&self.files[file].1);
        self.description += &format!("; file {file}: {way}");
        self.transported = Some(file);
    }

    /// Returns the damaged places of a file that a tool is given. An empty range is a place between
    /// two bytes. After a transport the whole file is one.
    pub fn places(&self, file: usize) -> Vec<Range<usize>> {
        if self.transported == Some(file) {
            return std::iter::once(0..self.files[file].1.len()).collect();
        }
        let (mut end, mut origin, mut found) = (0, 0, Vec::new());
        for segment in &self.damaged.segments[file] {
            if segment.at > end || segment.original.start != origin {
                found.push(end..segment.at);
            }
            end = segment.at + segment.original.len();
            origin = segment.original.end;
        }
        let len = self.damaged.files[file].1.len();
        let was_cut =
            self.damaged.steps.iter().any(|step| {
                step.file == file && step.touched.iter().any(|range| range.end > origin)
            });
        if end < len || was_cut {
            found.push(end..len);
        }
        found
    }

    /// Returns whether a damage lies between two offsets of the original, both included.
    pub fn touches(&self, file: usize, range: &Range<usize>) -> bool {
        let steps = self.damaged.steps.iter().filter(|step| step.file == file);
        let mut touched = steps.flat_map(|step| &step.touched);
        touched.any(|one| one.start <= range.end && range.start <= one.end)
    }
}

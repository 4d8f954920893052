//! Silent damage: complete events that are lost, doubled, exchanged or changed. Every event of such
//! a log can be read, so only its place and its values can show the damage.

use std::fmt;
use std::ops::Range;

use tracemend::{FileSet, FormatId, Options, Severity};

use super::{End, Machine, events};
use crate::known_originals::Dice;

/// Greatest number of events that a damage moves.
const RUN_MAX: usize = 200;

/// A kind of silent damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One event is missing.
    Lost,
    /// One event is there twice.
    Doubled,
    /// An event and the next one have changed places.
    Exchanged,
    /// One bit of a payload is inverted.
    Bit,
    /// Many events are missing.
    RunLost,
    /// Many events are there twice.
    RunDoubled,
    /// One bit of any byte after the header is inverted: the events need not be readable.
    Flip,
}

const KINDS: [Kind; 6] =
    [Kind::Lost, Kind::Doubled, Kind::Exchanged, Kind::Bit, Kind::RunLost, Kind::RunDoubled];

/// A damaged log.
#[derive(Clone, Debug)]
pub struct Case {
    /// The damage.
    pub kind: Kind,
    /// Name of the first event that it hit.
    pub event: &'static str,
    /// The log.
    pub log: Vec<u8>,
    /// Codes of the errors and warnings.
    pub codes: Vec<&'static str>,
    /// How its replay ended.
    pub replay: Option<End>,
}

impl Case {
    /// Replays the damaged log on the machine that recorded it.
    #[must_use]
    pub fn replayed(mut self, machine: &Machine) -> Self {
        self.replay = Some(machine.replay(&self.log).end);
        self
    }
}

/// The row of a table: damage, found or not, replay.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = if self.codes.is_empty() { "not found" } else { "found" };
        let replay = match self.replay {
            Some(End::Code(0)) => "replays",
            _ => "does not replay",
        };
        write!(f, "{replay:15} {found:9} {:?}", self.kind)
    }
}

/// Damages a complete log by a seed and checks it as a log of `release`.
pub fn damage(log: &[u8], release: &str, seed: u64) -> Case {
    let mut dice = Dice::seeded(seed);
    let events = events(log);
    // The last two events close the log.
    let spans: Vec<(Range<usize>, &'static str)> = events
        .windows(2)
        .take(events.len() - 3)
        .map(|pair| (pair[0].0 as usize..pair[1].0 as usize, pair[0].1))
        .collect();
    let (kind, event, damaged) = loop {
        let kind = KINDS[dice.below(KINDS.len())];
        let first = dice.below(spans.len() - RUN_MAX);
        let count = 2 + dice.below(RUN_MAX - 2);
        let (one, name) = &spans[first];
        let run = one.start..spans[first + count].0.start;
        let next = spans[first + 1].0.clone();
        let damaged = match kind {
            Kind::Lost => without(log, one),
            Kind::Doubled => twice(log, one),
            Kind::RunLost => without(log, &run),
            Kind::RunDoubled => twice(log, &run),
            Kind::Exchanged => {
                let parts = [0..one.start, next.clone(), one.clone(), next.end..log.len()];
                parts.map(|part| &log[part]).concat()
            }
            Kind::Bit | Kind::Flip => {
                let mut bytes = log.to_vec();
                // The id stays.
                let at = one.start + 1 + dice.below((one.len() - 1).max(1));
                if at < one.end {
                    bytes[at] ^= 1 << dice.below(8);
                }
                bytes
            }
        };
        if damaged != log {
            break (kind, *name, damaged);
        }
    };
    checked((kind, event), damaged, release)
}

/// Inverts one bit of a complete log by a seed and checks it as a log of `release`.
pub fn flip(log: &[u8], release: &str, seed: u64) -> Case {
    let mut dice = Dice::seeded(seed);
    let events = events(log);
    // The header, and the two events that close the log, stay.
    let end = events[events.len() - 2].0 as usize;
    let at = 12 + dice.below(end - 12);
    let after = events.partition_point(|(start, _)| *start as usize <= at);
    let mut bytes = log.to_vec();
    bytes[at] ^= 1 << dice.below(8);
    checked((Kind::Flip, events[after.saturating_sub(1)].1), bytes, release)
}

fn checked((kind, event): (Kind, &'static str), log: Vec<u8>, release: &str) -> Case {
    let options = Options::default().with_format(FormatId::QEMU);
    let options = options.with_choice("qemu-version", release).expect("a known release");
    let report = tracemend::check(&FileSet::single("log", &log), &options);
    let serious = report.findings().iter().filter(|finding| finding.severity > Severity::Info);
    let codes = serious.map(|finding| finding.rule.code).collect();
    Case { kind, event, log, codes, replay: None }
}

fn without(log: &[u8], part: &Range<usize>) -> Vec<u8> {
    [&log[..part.start], &log[part.end..]].concat()
}

fn twice(log: &[u8], part: &Range<usize>) -> Vec<u8> {
    [&log[..part.end], &log[part.start..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::qemu::{ids, long};

    #[test]
    fn silent_damage_leaves_events_that_can_be_read_to_the_end() {
        let log = long(ids::of("7.2"), 6_000).bytes;
        for seed in 0..200 {
            let case = damage(&log, "7.2", seed);
            assert_ne!(case.log, log, "seed {seed}");
            let events = events(&case.log);
            assert_eq!(events.last().unwrap().1, "END", "seed {seed}: {:?}", case.kind);
        }
    }
}

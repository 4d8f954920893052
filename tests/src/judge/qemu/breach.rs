//! Breaches of the rules about the order and the values of events, one in a complete log: does the
//! check find it, and does QEMU survive it?

use tracemend::{FileSet, FormatId, Options};

use super::events;

/// A breach of a rule.
#[derive(Clone, Copy, Debug)]
pub struct Breach {
    /// The code of the rule.
    pub code: &'static str,
    /// The change of the log.
    pub name: &'static str,
    /// Name of the events that can be changed.
    event: &'static str,
    change: Change,
}

/// A change of one event.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// It is there twice.
    Double,
    /// The event after it is missing.
    LoseNext,
    /// CP_INIT comes before it.
    InsertInit,
    /// A one-shot bottom half with a wild id comes before it.
    InsertBottomHalf,
    /// A bit of its payload is set: byte after the id, and mask.
    SetBit(usize, u8),
}

/// Every breach.
pub const ALL: [Breach; 8] = [
    Breach::new("QR3003", "INSTRUCTION doubled", "INSTRUCTION", Change::Double),
    Breach::new("QR3004", "clock after a checkpoint lost", "CP_CLOCK_HOST", Change::LoseNext),
    Breach::new("QR3004", "clock of a timer lost", "CP_CLOCK_VIRTUAL_RT", Change::LoseNext),
    Breach::new("QR3009", "CP_INIT inserted", "INSTRUCTION", Change::InsertInit),
    Breach::new("QR3010", "bottom half inserted", "INSTRUCTION", Change::InsertBottomHalf),
    Breach::new("QR3011", "id of a block request", "ASYNC_BLOCK", Change::SetBit(6, 0x10)),
    Breach::new("QR3013", "2^30 more instructions", "INSTRUCTION", Change::SetBit(0, 0x40)),
    Breach::new("QR2017", "offset of a write", "CHAR_WRITE", Change::SetBit(7, 0x40)),
];

/// Id of ASYNC_BH_ONESHOT since 7.1.
const BH_ONESHOT: u8 = 4;

impl Breach {
    const fn new(
        code: &'static str,
        name: &'static str,
        event: &'static str,
        change: Change,
    ) -> Self {
        Self { code, name, event, change }
    }

    /// Returns a complete log of 7.2 or later with the breach, at place `number` of `of` among the
    /// events that can be changed; `None` if there is no such event.
    pub fn apply(&self, log: &[u8], number: usize, of: usize) -> Option<Vec<u8>> {
        let all = events(log);
        let at = |index: usize| all.get(index).map(|event| event.0 as usize);
        // The last two events close the log.
        let found: Vec<usize> =
            (0..all.len().saturating_sub(4)).filter(|index| all[*index].1 == self.event).collect();
        let index = *found.get(found.len() * (2 * number + 1) / (2 * of))?;
        let (start, end, after) = (at(index)?, at(index + 1)?, at(index + 2)?);
        let init = all.iter().find(|event| event.1 == "CP_INIT")?.0 as usize;
        let mut breached = log.to_vec();
        match self.change {
            Change::Double => drop(breached.splice(end..end, log[start..end].to_vec())),
            Change::LoseNext => drop(breached.drain(end..after)),
            Change::InsertInit => breached.insert(start, log[init]),
            Change::InsertBottomHalf => {
                let id = 0xd31e_841e_91ce_44fb_u64.to_be_bytes();
                drop(breached.splice(start..start, [&[BH_ONESHOT][..], &id].concat()));
            }
            Change::SetBit(offset, mask) => *breached.get_mut(start + 1 + offset)? |= mask,
        }
        Some(breached)
    }
}

/// Returns whether the check of a log of `release` reports a code.
pub fn is_found(log: &[u8], release: &str, code: &str) -> bool {
    let options = Options::default().with_format(FormatId::QEMU);
    let options = options.with_choice("qemu-version", release).expect("a known release");
    let report = tracemend::check(&FileSet::single("log", log), &options);
    report.counts().contains_key(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::qemu::{ids, long};

    #[test]
    fn a_breach_of_a_rule_is_found() {
        let log = long(ids::of("7.2"), 6_000).bytes;
        let mut applied = 0;
        // How many instructions are too many depends on the time between two readings of a clock.
        for breach in ALL.iter().filter(|breach| breach.code != "QR3013") {
            let Some(breached) = breach.apply(&log, 1, 3) else { continue };
            assert!(is_found(&breached, "7.2", breach.code), "{} {}", breach.code, breach.name);
            applied += 1;
        }
        assert!(applied >= 4, "only {applied}");
    }
}

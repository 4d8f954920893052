//! A revent recording that may be anything: the laws of all recordings, and its own.

use tracemend::mend::edit::Safety;
use tracemend::mend::rounds::view;
use tracemend::{FileSet, Options, Outcome};

use super::{Held, ensure, recording};

/// Check, repair and count, taking the bytes for a recording of revent.
pub fn every(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    let options = Options { format: Some("revent"), ..Options::default() };
    recording::checked_with(&files, &options)?;
    recording::repaired_with(&files, &options, Safety::Lossy)?;
    counted(bytes, &options)
}

/// A repair that succeeds leaves as many events as it says, counted by hand in the versions that
/// count.
pub fn counted(bytes: &[u8], options: &Options) -> Held {
    const LAW: &str = "a mended recording counts the events that it holds";
    let files = FileSet::single("recording", bytes);
    let repair = tracemend::repair(&files, options, Safety::Lossy);
    let success =
        matches!(repair.outcome, Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss);
    if !success {
        return Ok(());
    }
    let target = view(&files, &repair.patches).bytes(0).pieces().collect::<Vec<_>>().concat();
    let Some((count, behind)) = count(&target) else { return Ok(()) };
    let whole = behind / 26;
    ensure(count == repair.after.tally.records && count <= whole, LAW, || {
        format!("{count} counted, {whole} held, {} reported", repair.after.tally.records)
    })
}

/// The count of a general recording of version 2 or 3, and the bytes behind its head.
fn count(bytes: &[u8]) -> Option<(u64, u64)> {
    let u16_at = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (version, mode) = (u16_at(6)?, u16_at(8)?);
    if !bytes.starts_with(b"REVENT") || !(2..=3).contains(&version) || mode != 0 {
        return None;
    }
    let mut at = 20;
    for _ in 0..u32_at(16)? {
        at += 4 + u32_at(at)? as usize;
    }
    let count = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    let events = at + if version == 3 { 40 } else { 8 };
    Some((count, bytes.len().checked_sub(events)? as u64))
}

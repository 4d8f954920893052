//! Laws of revent recordings, besides those of all recordings.

use arbitrary::Arbitrary;
use tracemend::Allow;
use tracemend::FormatId;
use tracemend::mend::rounds::view;
use tracemend::{Choices, FileSet, Options, Outcome, Repair};

use super::{Held, ensure, recording};
use crate::forge::revent as forge;

/// Tests check, repair and count, with the bytes as a revent recording.
pub fn every(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    let options = Options { format: Some(FormatId::REVENT), ..Options::default() };
    recording::checked_with(&files, &options)?;
    counted(&files, &recording::repair_of(&files, &options)?)
}

/// Tests that a successful repair counts its events correctly. The test counts them itself, in the
/// versions that have a count.
fn counted(files: &FileSet<'_>, repair: &Repair) -> Held {
    const LAW: &str = "a repaired recording counts its events";
    let success =
        matches!(repair.outcome, Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss);
    if !success {
        return Ok(());
    }
    let target = view(files, &repair.patches).bytes(0).pieces().collect::<Vec<_>>().concat();
    let Some((count, rest)) = count(&target) else { return Ok(()) };
    let whole = rest / 26;
    ensure(count == repair.after.tally.records && count <= whole, LAW, || {
        format!("{count} counted, {whole} held, {} reported", repair.after.tally.records)
    })
}

/// Returns the count of a general recording of version 2 or 3, and the bytes after its head.
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

/// Tests the laws with options and a class that `seed` selects.
pub fn chosen(bytes: &[u8], seed: u64) -> Held {
    let files = FileSet::single("recording", bytes);
    let mut choices = Choices::default();
    let releases = [None, Some("always"), Some("never")];
    if let Some(release) = releases[seed as usize % releases.len()] {
        choices.set("release", release).unwrap();
    }
    if seed >> 8 & 1 == 1 {
        choices.set("upgrade", "").unwrap();
    }
    let options = Options { format: Some(FormatId::REVENT), choices, ..Options::default() };
    recording::checked_with(&files, &options)?;
    let safety = [Allow::Lossy, Allow::Lossy, Allow::Synthetic, Allow::Exact];
    let options = options.with_allow(safety[(seed >> 16) as usize % 4]);
    let repaired = recording::repair_of(&files, &options);
    // These options change a sound recording.
    let asked = options.choices != Choices::default();
    match repaired {
        Err(broken) if asked && broken.law == "a clean recording stays byte for byte" => Ok(()),
        repaired => counted(&files, &repaired?),
    }
}

/// A device, the microseconds before its frame, and codes with their values.
pub type Frame = (u8, u16, Vec<(u8, i16)>);

/// A description of a recording and of its damage. Every value is valid.
#[derive(Arbitrary, Clone, Debug)]
pub struct Description {
    /// Index of the layout.
    pub layout: u8,
    /// Whether it is a recording of a gamepad, if the layout allows one.
    pub gamepad: bool,
    /// The events.
    pub frames: Vec<Frame>,
    /// Whether the return key ends it.
    pub enter: bool,
    /// The count, if it is wrong.
    pub count: Option<u16>,
    /// Changed bytes.
    pub bytes: Vec<(u16, u8)>,
    /// Length after a cut.
    pub cut: Option<u16>,
    /// Selects options and class.
    pub seed: u64,
}

/// Codes that a description names by number.
const CODES: [(u16, u16); 16] = [
    forge::SLOT,
    forge::ID,
    forge::X,
    forge::Y,
    forge::TOUCH,
    forge::KEY_A,
    forge::ENTER,
    forge::SOUTH,
    forge::ABS_X,
    forge::REL_X,
    forge::SYN,
    (0, 2),
    (0, 3),
    (3, 0x50),
    (0x1e, 7),
    (4, 4),
];

/// Tests the laws on the recording of a description.
pub fn holds(description: &Description) -> Held {
    let layout = forge::Layout::ALL[usize::from(description.layout) % 7];
    let mut recording = if description.gamepad && layout.counts() {
        forge::Recording::gamepad(layout)
    } else {
        forge::Recording::new(layout)
    };
    for (device, wait, events) in description.frames.iter().take(64) {
        let events: Vec<((u16, u16), i32)> = events
            .iter()
            .take(16)
            .map(|(code, value)| (CODES[usize::from(*code) % CODES.len()], i32::from(*value)))
            .collect();
        recording.wait(i64::from(*wait)).frame(i32::from(device & 1), &events);
    }
    if description.enter {
        recording.enter();
    }
    recording.count = description.count.map(u64::from);
    let mut bytes = recording.build().bytes;
    for (at, byte) in &description.bytes {
        let len = bytes.len();
        bytes[usize::from(*at) % len] = *byte;
    }
    if let Some(cut) = description.cut {
        bytes.truncate(usize::from(cut) % (bytes.len() + 1));
    }
    chosen(&bytes, description.seed)
}

//! A revent recording that may be anything: the laws of all recordings, and its own.

use arbitrary::Arbitrary;
use tracemend::Allow;
use tracemend::FormatId;
use tracemend::mend::rounds::view;
use tracemend::{Choices, FileSet, Options, Outcome};

use super::{Held, ensure, recording};
use crate::forge::revent as forge;

/// Check, repair and count, taking the bytes for a recording of revent.
pub fn every(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    let options = Options { format: Some(FormatId::REVENT), ..Options::default() };
    recording::checked_with(&files, &options)?;
    recording::repaired_with(&files, &options)?;
    counted(bytes, &options)
}

/// A repair that succeeds leaves as many events as it says, counted by hand in the versions that
/// count.
pub fn counted(bytes: &[u8], options: &Options) -> Held {
    const LAW: &str = "a mended recording counts the events that it holds";
    let files = FileSet::single("recording", bytes);
    let repair = tracemend::repair(&files, options);
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

/// The laws under the choices and the safety that `seed` picks.
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
    let held = recording::repaired_with(
        &files,
        &options.clone().with_allow(safety[(seed >> 16) as usize % 4]),
    );
    // What is asked for changes a sound recording.
    let asked = options.choices != Choices::default();
    match held {
        Err(broken) if asked && broken.law == "a clean recording stays byte for byte" => Ok(()),
        held => held.and_then(|()| counted(bytes, &options)),
    }
}

/// A device, the microseconds before its frame, and codes with their values.
pub type Frame = (u8, u16, Vec<(u8, i16)>);

/// A recording to be, and what then happens to it. Every value means something.
#[derive(Arbitrary, Clone, Debug)]
pub struct Description {
    /// Which of the layouts.
    pub layout: u8,
    /// Whether it is of a gamepad, where the layout can be.
    pub gamepad: bool,
    /// What is recorded.
    pub frames: Vec<Frame>,
    /// Whether it is ended by the return key.
    pub enter: bool,
    /// The count, if it is another.
    pub count: Option<u16>,
    /// Bytes that are changed.
    pub bytes: Vec<(u16, u8)>,
    /// Where it is cut.
    pub cut: Option<u16>,
    /// Picks choices and safety.
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

/// The laws for the recording of a description.
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

//! Damage of traces that remembers which bytes it spared.

use super::{Random, Trace};

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// One bit of a stream.
    Bit,
    /// One byte of a stream.
    Byte,
    /// Some bytes become 0.
    Zeros,
    /// Some bytes become others.
    Noise,
    /// 512 bytes at a multiple of 512 become 0.
    Page,
    /// A block is lost.
    Drop,
    /// A block occurs twice.
    Double,
    /// Two neighbouring blocks change places.
    Swap,
    /// Bytes that nobody wrote lie between.
    Insert,
    /// The stream ends early.
    Cut,
    /// An event is lost.
    EventDrop,
    /// An event occurs twice.
    EventDouble,
    /// Two neighbouring events change places.
    EventSwap,
    /// One bit of a clock.
    ClockBit,
    /// All clocks from an event on are too early.
    ClockStep,
    /// One bit of a code.
    CodeBit,
    /// One bit of the metadata.
    Json,
    /// The thread was killed: the stream is cut, the metadata is as it was at the start.
    Killed,
    /// The directory of a thread was copied.
    Copy,
    /// A stream is missing.
    Lost,
}

impl Damage {
    /// All kinds.
    pub const ALL: [Self; 20] = [
        Self::Bit,
        Self::Byte,
        Self::Zeros,
        Self::Noise,
        Self::Page,
        Self::Drop,
        Self::Double,
        Self::Swap,
        Self::Insert,
        Self::Cut,
        Self::EventDrop,
        Self::EventDouble,
        Self::EventSwap,
        Self::ClockBit,
        Self::ClockStep,
        Self::CodeBit,
        Self::Json,
        Self::Killed,
        Self::Copy,
        Self::Lost,
    ];
}

/// A byte, and its offset in the original file if no damage touched it.
pub type Tagged = (u8, Option<u32>);

/// A trace whose bytes know where they come from.
#[derive(Clone, Debug)]
pub struct TaggedTrace {
    /// Name, number of the original file, bytes.
    pub files: Vec<(String, usize, Option<Vec<Tagged>>)>,
}

impl TaggedTrace {
    /// Returns an undamaged trace.
    pub fn new(trace: &Trace) -> Self {
        let tag = |bytes: &Vec<u8>| -> Vec<Tagged> {
            (0_u32..).zip(bytes).map(|(at, byte)| (*byte, Some(at))).collect()
        };
        let files = trace
            .files
            .iter()
            .enumerate()
            .map(|(index, (name, bytes))| (name.clone(), index, bytes.as_ref().map(tag)));
        Self { files: files.collect() }
    }

    /// Returns the trace as a reader sees it.
    pub fn trace(&self) -> Trace {
        let plain = |bytes: &Vec<Tagged>| bytes.iter().map(|(byte, _)| *byte).collect::<Vec<u8>>();
        let files =
            self.files.iter().map(|(name, _, bytes)| (name.clone(), bytes.as_ref().map(plain)));
        let mut files: Vec<_> = files.collect();
        files.sort_by(|a, b| a.0.split('/').cmp(b.0.split('/')));
        Trace { files }
    }

    /// Damages one file.
    pub fn damage(&mut self, damage: Damage, random: &mut Random) {
        let ending = if damage == Damage::Json { ".json" } else { ".obs" };
        let files: Vec<usize> = (0..self.files.len())
            .filter(|i| self.files[*i].0.ends_with(ending) && self.files[*i].2.is_some())
            .collect();
        if files.is_empty() {
            return;
        }
        let file = random.one_of(&files);
        match damage {
            Damage::Killed => self.kill(file, random),
            Damage::Copy => self.copy_thread(file),
            Damage::Lost => self.files[file].2 = None,
            _ => {
                let bytes = self.files[file].2.as_mut().unwrap();
                if bytes.len() > 8 {
                    damage_bytes(bytes, damage, random);
                }
            }
        }
    }

    fn kill(&mut self, stream: usize, random: &mut Random) {
        let folder = self.files[stream].0.trim_end_matches("stream.obs").to_string();
        let bytes = self.files[stream].2.as_mut().unwrap();
        bytes.truncate(8 + random.below(bytes.len().max(9) - 8));
        let json = self.files.iter_mut().find(|file| file.0 == format!("{folder}stream.json"));
        let Some((_, _, Some(json))) = json else { return };
        let text: Vec<u8> = json.iter().map(|(byte, _)| *byte).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        // Everything after the application's id is written at the end.
        let Some(at) = text.find(",\n        \"require\"") else { return };
        json.truncate(at);
        json.extend(b"\n    }\n}".iter().map(|byte| (*byte, None)));
    }

    fn copy_thread(&mut self, stream: usize) {
        let folder = self.files[stream].0.trim_end_matches("/stream.obs").to_string();
        let prefix = format!("{folder}/");
        let copies: Vec<_> =
            self.files.iter().filter(|file| file.0.starts_with(&prefix)).cloned().collect();
        for (name, index, bytes) in copies {
            let name = name.replace(&prefix, &format!("{folder}.copy/"));
            if self.files.iter().all(|file| file.0 != name) {
                self.files.push((name, index, bytes));
            }
        }
    }
}

fn flip(byte: &mut Tagged, mask: u8) {
    *byte = (byte.0 ^ mask, None);
}

fn damage_bytes(bytes: &mut Vec<Tagged>, damage: Damage, random: &mut Random) {
    let len = bytes.len();
    let at = 8 + random.below(len - 8);
    let run = (1 + random.below(64)).min(len - at);
    let block = (1 + random.below(200)).min(len - at);
    match damage {
        Damage::Bit | Damage::Json => {
            let at = if damage == Damage::Json { random.below(len) } else { at };
            flip(&mut bytes[at], 1 << random.below(8));
        }
        Damage::Byte => flip(&mut bytes[at], u8::try_from(1 + random.below(255)).unwrap()),
        Damage::Zeros => bytes[at..at + run].fill((0, None)),
        Damage::Noise => {
            for byte in &mut bytes[at..at + run] {
                *byte = (u8::try_from(random.below(256)).unwrap(), None);
            }
        }
        Damage::Page => {
            let from = at / 512 * 512;
            bytes[from..len.min(from + 512)].fill((0, None));
        }
        Damage::Drop => drop(bytes.drain(at..at + block)),
        Damage::Double => {
            let again = bytes[at..at + block].to_vec();
            bytes.splice(at..at, again);
        }
        Damage::Swap => bytes[at..len.min(at + 2 * block)].rotate_left(block),
        Damage::Insert => {
            let noise: Vec<Tagged> =
                (0..run).map(|_| (u8::try_from(random.below(256)).unwrap(), None)).collect();
            bytes.splice(at..at, noise);
        }
        Damage::Cut => bytes.truncate(at),
        _ => damage_events(bytes, damage, random),
    }
}

fn damage_events(bytes: &mut Vec<Tagged>, damage: Damage, random: &mut Random) {
    let spans = event_spans(bytes);
    if spans.is_empty() {
        return;
    }
    let index = random.below(spans.len());
    let (at, end) = spans[index];
    match damage {
        Damage::EventDrop => drop(bytes.drain(at..end)),
        Damage::EventDouble => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        Damage::EventSwap if index + 1 < spans.len() => {
            bytes[at..spans[index + 1].1].rotate_left(end - at);
        }
        Damage::ClockBit => flip(&mut bytes[at + 4 + random.below(8)], 1 << random.below(8)),
        Damage::CodeBit => flip(&mut bytes[at + 1 + random.below(3)], 1 << random.below(8)),
        Damage::ClockStep => {
            let by = 1 + u64::try_from(random.below(2_000_000)).unwrap();
            for (at, _) in &spans[index..] {
                let field: Vec<u8> = bytes[at + 4..at + 12].iter().map(|byte| byte.0).collect();
                let clock = u64::from_le_bytes(field.try_into().unwrap()).saturating_sub(by);
                for (byte, new) in bytes[at + 4..at + 12].iter_mut().zip(clock.to_le_bytes()) {
                    *byte = (new, None);
                }
            }
        }
        _ => {}
    }
}

/// Returns the spans of the events of a stream, up to the first bytes that are not one.
pub fn event_spans(bytes: &[Tagged]) -> Vec<(usize, usize)> {
    event_spans_from(bytes, 8)
}

/// Returns the spans of the events from an offset on.
pub fn event_spans_from(bytes: &[Tagged], mut at: usize) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    while at + 12 <= bytes.len() {
        let flags = bytes[at].0;
        let len = if flags & 0x10 != 0 {
            let Some(field) = bytes.get(at + 12..at + 16) else { break };
            let field: Vec<u8> = field.iter().map(|byte| byte.0).collect();
            16 + usize::try_from(u32::from_le_bytes(field.try_into().unwrap())).unwrap()
        } else {
            match flags & 0x0f {
                0 => 12,
                code => 13 + usize::from(code),
            }
        };
        if at + len > bytes.len() {
            break;
        }
        spans.push((at, at + len));
        at += len;
    }
    spans
}

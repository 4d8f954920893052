//! Bit rot: damage of a finished recording at places that a seed chooses, by the part that it hits.
//!
//! Works on any little-endian file that `perf record` finished, so that real recordings and forged
//! ones are damaged alike. The places come from the header of the sound file.
#![allow(
    clippy::single_range_in_vec_init,
    reason = "places to damage: a list of ranges, often of one"
)]

use std::ops::Range;

/// A sequence of numbers that depends on its seed alone (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Begins the sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }

    /// Returns a place in `range`.
    pub fn within(&mut self, range: &Range<usize>) -> usize {
        range.start + self.below(range.len())
    }
}

/// The places of the parts of a sound file.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The header.
    pub header: Range<usize>,
    /// The ids of all attrs.
    pub ids: Range<usize>,
    /// The attrs without the sections of their ids.
    pub attrs: Vec<Range<usize>>,
    /// The sections of the ids in the attr table.
    pub id_sections: Vec<Range<usize>>,
    /// The records with their types.
    pub records: Vec<(u32, Range<usize>)>,
    /// The entries of the feature table.
    pub table: Range<usize>,
    /// The features with their sections.
    pub features: Vec<(u32, Range<usize>)>,
    /// The length of the file.
    pub len: usize,
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap()) as usize)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes(b.try_into().unwrap()))
}

impl Places {
    /// Reads the places of a sound little-endian file or pipe.
    pub fn of(bytes: &[u8]) -> Self {
        let mut places = Self { len: bytes.len(), ..Self::default() };
        if u64_at(bytes, 8) == 16 {
            places.header = 0..16;
            places.records = records(bytes, 16..bytes.len(), true);
            return places;
        }
        places.header = 0..104;
        let (entry, attrs, attrs_len) = (u64_at(bytes, 16), u64_at(bytes, 24), u64_at(bytes, 32));
        let (data, data_len) = (u64_at(bytes, 40), u64_at(bytes, 48));
        places.ids = 104..attrs;
        for start in (attrs..attrs + attrs_len).step_by(entry.max(1)) {
            places.attrs.push(start..start + entry - 16);
            places.id_sections.push(start + entry - 16..start + entry);
        }
        places.records = records(bytes, data..data + data_len, false);
        let table = data + data_len;
        let flagged: Vec<u32> = (0..256_usize)
            .filter(|bit| bytes[72 + bit / 8] >> (bit % 8) & 1 == 1)
            .map(|bit| bit as u32)
            .collect();
        places.table = table..table + 16 * flagged.len();
        for (index, bit) in flagged.into_iter().enumerate() {
            let at = table + 16 * index;
            let start = u64_at(bytes, at);
            places.features.push((bit, start..start + u64_at(bytes, at + 8)));
        }
        places
    }

    /// The area of the records.
    pub fn data(&self) -> Range<usize> {
        let start = self.records.first().map_or(self.header.end, |(_, range)| range.start);
        start..self.records.last().map_or(start, |(_, range)| range.end)
    }

    /// The section of a feature; empty if the file does not have it.
    pub fn feature(&self, bit: u32) -> Range<usize> {
        self.features.iter().find(|(of, _)| *of == bit).map_or(0..0, |(_, range)| range.clone())
    }
}

/// Walks sound records. AUXTRACE, and TRACING_DATA in a pipe, have bytes outside their size.
pub fn records(bytes: &[u8], area: Range<usize>, is_pipe: bool) -> Vec<(u32, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = area.start;
    while at + 8 <= area.end.min(bytes.len()) {
        let kind = u32_at(bytes, at);
        let mut len = (u32_at(bytes, at + 4) >> 16) as usize;
        len += match kind {
            71 => u64_at(bytes, at + 8),
            66 if is_pipe => (u32_at(bytes, at + 8) as usize).next_multiple_of(8),
            _ => 0,
        };
        if len < 8 || at + len > area.end {
            break;
        }
        found.push((kind, at..at + len));
        at += len;
    }
    found
}

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rot {
    /// One to three bits of the header after the magic.
    HeaderBits,
    /// One or two bits of the magic.
    MagicBits,
    /// Bytes 8 to 71 of the header are zero or random.
    HeaderWiped,
    /// One to three feature bits, or all of them zero.
    Flags,
    /// A feature bit from 35 to 255, which no perf knows.
    UnknownFlag,
    /// One of the bits 7 to 31 of a record's type.
    TypeBit,
    /// One to three bits of the feature table.
    TableBits,
    /// One entry of the feature table is zero or random.
    TableEntry,
    /// One to three bits of the attrs.
    Attrs,
    /// One to three bits of the sections of ids.
    IdSections,
    /// One to three bits of the ids.
    Ids,
    /// One to three bits of EVENT_DESC.
    EventDesc,
    /// One to three bits of other features.
    Features,
    /// One to three bits of records that are not samples.
    RecordBits,
    /// One to three bits of samples.
    SampleBits,
    /// One to three bits of ID_INDEX records.
    IdIndex,
    /// One to three bits anywhere.
    AnyBits,
    /// An aligned page of zeros.
    ZeroPage,
    /// A run of random bytes.
    RandomRun,
    /// Bytes of the records are doubled.
    Doubled,
    /// Bytes of the records are lost.
    Lost,
    /// Two blocks of the records are swapped.
    Swapped,
    /// The file is cut.
    Cut,
    /// One to eight independent damages anywhere, of which one may move bytes.
    Compound,
}

impl Rot {
    /// All kinds.
    pub const ALL: [Self; 24] = [
        Self::HeaderBits,
        Self::MagicBits,
        Self::HeaderWiped,
        Self::Flags,
        Self::UnknownFlag,
        Self::TypeBit,
        Self::TableBits,
        Self::TableEntry,
        Self::Attrs,
        Self::IdSections,
        Self::Ids,
        Self::EventDesc,
        Self::Features,
        Self::RecordBits,
        Self::SampleBits,
        Self::IdIndex,
        Self::AnyBits,
        Self::ZeroPage,
        Self::RandomRun,
        Self::Doubled,
        Self::Lost,
        Self::Swapped,
        Self::Cut,
        Self::Compound,
    ];

    /// Damages a copy of a sound file; `None` if it does not have the part. Also returns the bytes
    /// of the sound file that are hit.
    pub fn damage(
        self,
        sound: &[u8],
        places: &Places,
        dice: &mut Dice,
    ) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
        let mut bytes = sound.to_vec();
        let hit = match self {
            Self::ZeroPage | Self::RandomRun | Self::HeaderWiped | Self::TableEntry => {
                self.overwrite(&mut bytes, places, dice)?
            }
            Self::Doubled | Self::Lost | Self::Swapped | Self::Cut => {
                self.move_bytes(&mut bytes, places, dice)?
            }
            Self::Compound => compound(&mut bytes, places, dice),
            Self::UnknownFlag if places.header.len() == 104 => {
                vec![flip_bit(&mut bytes, 72, 35 + dice.below(256 - 35))]
            }
            Self::TypeBit => {
                let (_, record) = places.records.get(dice.below(places.records.len()))?;
                vec![flip_bit(&mut bytes, record.start, 7 + dice.below(32 - 7))]
            }
            Self::Flags if dice.below(8) == 0 => {
                bytes.get_mut(72..104)?.fill(0);
                vec![72..104]
            }
            _ => self.flip(&mut bytes, places, dice)?,
        };
        (bytes != sound).then_some((bytes, hit))
    }

    /// Returns the parts in which bits are flipped.
    fn parts(self, places: &Places) -> Vec<Range<usize>> {
        let is_file = places.header.len() == 104;
        let kinds = |wanted: &dyn Fn(u32) -> bool| {
            let found = places.records.iter().filter(|(kind, _)| wanted(*kind));
            found.map(|(_, range)| range.clone()).collect()
        };
        match self {
            Self::MagicBits => vec![0..8],
            Self::AnyBits => vec![0..places.len],
            Self::HeaderBits => vec![8..places.header.end],
            Self::Flags if is_file => vec![72..77],
            Self::TableBits => vec![places.table.clone()],
            Self::Attrs => places.attrs.clone(),
            Self::IdSections => places.id_sections.clone(),
            Self::Ids => vec![places.ids.clone()],
            Self::EventDesc => vec![places.feature(12)],
            Self::Features => {
                let others = places.features.iter().filter(|(bit, _)| *bit != 12);
                others.map(|(_, range)| range.clone()).collect()
            }
            Self::RecordBits => kinds(&|kind| !matches!(kind, 9 | 69)),
            Self::SampleBits => kinds(&|kind| kind == 9),
            Self::IdIndex => kinds(&|kind| kind == 69),
            _ => Vec::new(),
        }
    }

    fn flip(self, bytes: &mut [u8], places: &Places, dice: &mut Dice) -> Option<Vec<Range<usize>>> {
        let mut parts = self.parts(places);
        parts.retain(|part| !part.is_empty());
        let part = parts.get(dice.below(parts.len()))?.clone();
        let count = if self == Self::MagicBits { 1 + dice.below(2) } else { 1 + dice.below(3) };
        let mut hit = Vec::new();
        for _ in 0..count {
            let at = dice.within(&part);
            bytes[at] ^= 1 << dice.below(8);
            hit.push(at..at + 1);
        }
        Some(hit)
    }

    fn overwrite(
        self,
        bytes: &mut [u8],
        places: &Places,
        dice: &mut Dice,
    ) -> Option<Vec<Range<usize>>> {
        let range = match self {
            Self::HeaderWiped if places.header.len() == 104 => 8..72,
            Self::TableEntry if !places.table.is_empty() => {
                let at = places.table.start + 16 * dice.below(places.table.len() / 16);
                at..at + 16
            }
            // The first page holds the only copies of too much.
            Self::ZeroPage if bytes.len() > 4096 => {
                let page = 4096 * (1 + dice.below((bytes.len() - 1) / 4096));
                page..(page + 4096).min(bytes.len())
            }
            Self::RandomRun => {
                let at = dice.within(&(places.header.end..bytes.len()));
                at..(at + 1 + dice.below(256)).min(bytes.len())
            }
            _ => return None,
        };
        let is_zero = self == Self::ZeroPage || self != Self::RandomRun && dice.below(2) == 0;
        for byte in &mut bytes[range.clone()] {
            *byte = if is_zero { 0 } else { dice.roll() as u8 };
        }
        Some(vec![range])
    }

    fn move_bytes(
        self,
        bytes: &mut Vec<u8>,
        places: &Places,
        dice: &mut Dice,
    ) -> Option<Vec<Range<usize>>> {
        let data = places.data();
        if self == Self::Cut {
            let at = dice.within(&(data.start..bytes.len()));
            bytes.truncate(at);
            return Some(vec![at..places.len]);
        }
        if data.len() < 64 {
            return None;
        }
        let len = 1 + dice.below((data.len() / 4).min(2048));
        let at = dice.within(&(data.start..data.end - len));
        match self {
            Self::Doubled => {
                let copy = bytes[at..at + len].to_vec();
                bytes.splice(at + len..at + len, copy);
                Some(vec![at + len..at + len])
            }
            Self::Lost => {
                bytes.drain(at..at + len);
                Some(vec![at..at + len])
            }
            _ => {
                let other = dice.within(&(data.start..data.end - len));
                if other.abs_diff(at) < len {
                    return None;
                }
                let (first, second) = (at.min(other), at.max(other));
                let (head, tail) = bytes.split_at_mut(second);
                head[first..first + len].swap_with_slice(&mut tail[..len]);
                Some(vec![first..first + len, second..second + len])
            }
        }
    }
}

/// Flips a bit of the number at `at`, and returns its byte.
fn flip_bit(bytes: &mut [u8], at: usize, bit: usize) -> Range<usize> {
    let at = at + bit / 8;
    bytes[at] ^= 1 << (bit % 8);
    at..at + 1
}

/// Damages in place up to seven times, and may move bytes at the end.
fn compound(bytes: &mut Vec<u8>, places: &Places, dice: &mut Dice) -> Vec<Range<usize>> {
    const IN_PLACE: [Rot; 4] = [Rot::AnyBits, Rot::AnyBits, Rot::ZeroPage, Rot::RandomRun];
    const MOVING: [Rot; 4] = [Rot::Doubled, Rot::Lost, Rot::Swapped, Rot::Cut];
    let mut hit = Vec::new();
    for _ in 0..dice.below(8) {
        let rot = IN_PLACE[dice.below(IN_PLACE.len())];
        let more = match rot {
            Rot::AnyBits => rot.flip(bytes, places, dice),
            _ => rot.overwrite(bytes, places, dice),
        };
        hit.extend(more.into_iter().flatten());
    }
    if hit.is_empty() || dice.below(2) == 0 {
        let rot = MOVING[dice.below(MOVING.len())];
        hit.extend(rot.move_bytes(bytes, places, dice).into_iter().flatten());
    }
    hit
}

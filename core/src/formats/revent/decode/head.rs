//! Everything before the events: header, devices or gamepad, count and times.

use std::fmt;

use crate::formats::revent::decode::evidence::{self, Evidence};
use crate::formats::revent::layout::{
    ABSINFO, ABSINFO_MAX, CODE_BITS, DEVICE_PREFIX, DEVICES_MAX, Generation, HEADER, MAGIC, MICROS,
    NAME_MAX, PATH_MAX, SECONDS_END, TYPE_BITS,
};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// The file that a recording is.
pub const FILE: Layer = Layer::stored(0);
/// Longest name of a gamepad that is read on behind.
const NAME_READ: u64 = 4096;

/// Everything before the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// How the file is laid out.
    pub generation: Generation,
    /// What is known where there is no magic.
    pub evidence: Option<Evidence>,
    /// Whether the magic is there; only of layouts that have one.
    pub magic: bool,
    /// The version as stored.
    pub version: Option<u16>,
    /// The mode as stored; 0 is general, 1 a gamepad.
    pub mode: Option<u16>,
    /// The padding behind the mode.
    pub pad: [u8; 6],
    /// Where the events come from.
    pub devices: Devices,
    /// Offset of the event count (v2 and v3), and of the events in older layouts.
    pub prefix: u64,
    /// The event count as stored.
    pub count: Option<u64>,
    /// Start and end of the recording as stored: seconds, microseconds.
    pub times: Option<[Time; 2]>,
    /// Offset of the first event.
    pub events: u64,
}

/// A point in time as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Seconds.
    pub sec: u64,
    /// Microseconds.
    pub usec: u64,
}

impl Time {
    /// Whether it can be what a recorder wrote.
    pub const fn is_sane(self) -> bool {
        self.sec < SECONDS_END.unsigned_abs() && self.usec < MICROS.unsigned_abs()
    }

    /// Whether the nanoseconds lie in the high word of the seconds, as a 32-bit recorder of 2017
    /// and 2018 stored them.
    pub const fn is_wide(self) -> bool {
        let high = self.sec >> 32;
        high != 0 && high / 1_000 == self.usec && self.usec < MICROS.unsigned_abs()
    }

    /// Without what lies in the high word.
    #[must_use]
    pub const fn narrowed(self) -> Self {
        if self.is_wide() { Self { sec: self.sec & 0xffff_ffff, ..self } } else { self }
    }

    /// Microseconds, saturating.
    pub fn micros(self) -> i64 {
        let micros = self.sec.saturating_mul(MICROS.unsigned_abs()).saturating_add(self.usec);
        i64::try_from(micros).unwrap_or(i64::MAX)
    }

    /// From microseconds.
    pub fn from_micros(micros: i64) -> Self {
        let micros = micros.unsigned_abs();
        let second = MICROS.unsigned_abs();
        Self {
            sec: micros.checked_div(second).unwrap_or_default(),
            usec: micros.checked_rem(second).unwrap_or_default(),
        }
    }

    /// As stored.
    pub fn encode(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let (sec, usec) = (self.sec.to_le_bytes(), self.usec.to_le_bytes());
        for (slot, byte) in bytes.iter_mut().zip(sec.into_iter().chain(usec)) {
            *slot = byte;
        }
        bytes
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.sec, self.usec)
    }
}

/// Where the events of a recording come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// Paths of devices, without their length.
    Paths(Vec<Span>),
    /// A description of the one device.
    Gamepad(Box<Gamepad>),
}

/// A gamepad's description, from which a replay builds a virtual one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gamepad {
    /// Bus, vendor, product, version.
    pub id: [u16; 4],
    /// Its name.
    pub name: Span,
    /// Bits of event types.
    pub types: [u8; 4],
    /// Where the three bitmaps lie, each of 96 bytes.
    pub bits: Span,
    /// Bits of absolute axes.
    pub abs: [u8; 96],
    /// Bits of relative axes.
    pub rel: [u8; 96],
    /// Bits of keys.
    pub key: [u8; 96],
    /// Where the axes' descriptions lie.
    pub axes_span: Span,
    /// The axes.
    pub axes: Vec<Axis>,
}

/// An axis of a gamepad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// Which.
    pub code: i32,
    /// Where it was.
    pub value: i32,
    /// Smallest value.
    pub min: i32,
    /// Largest value.
    pub max: i32,
    /// Noise that is filtered out.
    pub fuzz: i32,
    /// Values around the centre that count as the centre.
    pub flat: i32,
    /// Units per millimetre.
    pub resolution: i32,
}

/// Whether bit `number` is set.
pub fn bit(bits: &[u8], number: u16) -> bool {
    let byte = bits.get(usize::from(number >> 3)).copied().unwrap_or(0);
    byte >> (number & 7) & 1 == 1
}

/// The numbers of the bits that are set.
pub fn set_bits(bits: &[u8]) -> impl Iterator<Item = u16> + '_ {
    (0_u16..).take(bits.len().saturating_mul(8)).filter(|number| bit(bits, *number))
}

impl Gamepad {
    /// The codes of the descriptions, ascending.
    pub fn codes(&self) -> Vec<i32> {
        let mut codes: Vec<i32> = self.axes.iter().map(|axis| axis.code).collect();
        codes.sort_unstable();
        codes
    }

    /// Whether the bits of axes are those of the described axes.
    pub fn bits_agree(&self) -> bool {
        set_bits(&self.abs).map(i32::from).eq(self.codes())
    }

    /// Whether the bitmaps are in the order of the published description: key, rel, abs.
    pub fn bits_are_swapped(&self) -> bool {
        !self.bits_agree() && set_bits(&self.key).map(i32::from).eq(self.codes())
    }

    /// The bitmaps of axes and keys that are meant; `None` if that is not known.
    pub fn meant_bits(&self) -> Option<(&[u8; 96], &[u8; 96])> {
        if self.bits_agree() {
            Some((&self.abs, &self.key))
        } else {
            self.bits_are_swapped().then_some((&self.key, &self.abs))
        }
    }

    /// The description of an axis.
    pub fn axis(&self, code: u16) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.code == i32::from(code))
    }
}

/// Why nothing behind a place can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadError {
    /// Neither magic nor a layout from before it.
    Unknown,
    /// The file ends here.
    Torn(ReadError),
    /// The header is all there is.
    HeaderOnly,
    /// No layout of this version is known, and none explains the file.
    Version(u16),
    /// No mode of this number is known, and none explains the file.
    Mode(u16),
    /// Too many devices, or none.
    DeviceCount {
        /// Where.
        span: Span,
        /// As stored.
        count: u64,
    },
    /// A path that no system could open.
    Path {
        /// Where its length stands.
        span: Span,
        /// Number of the device.
        index: u64,
        /// As stored.
        len: u64,
    },
    /// A name that is no name.
    Name {
        /// Where its length stands.
        span: Span,
        /// As stored.
        len: u64,
    },
    /// More descriptions of axes than there are axes.
    Axes {
        /// Where.
        span: Span,
        /// As stored.
        count: u64,
    },
}

impl From<ReadError> for HeadError {
    fn from(error: ReadError) -> Self {
        Self::Torn(error)
    }
}

/// Reads fields one after the other from a source in pieces.
#[derive(Clone, Copy, Debug)]
struct Reader<'s, 'a> {
    source: &'s Source<'a>,
    at: u64,
}

impl Reader<'_, '_> {
    fn array<const N: usize>(&mut self, label: &'static str) -> Result<[u8; N], ReadError> {
        let bytes = self.source.read(self.at, self.at.saturating_add(to_u64(N)));
        let array = Cursor::new(&bytes, FILE, self.at, Order::Little).array::<N>(label)?;
        self.at = self.at.saturating_add(to_u64(N));
        Ok(array)
    }

    fn u16(&mut self, label: &'static str) -> Result<u16, ReadError> {
        self.array(label).map(u16::from_le_bytes)
    }

    fn u32(&mut self, label: &'static str) -> Result<u32, ReadError> {
        self.array(label).map(u32::from_le_bytes)
    }

    fn i32(&mut self, label: &'static str) -> Result<i32, ReadError> {
        self.array(label).map(i32::from_le_bytes)
    }

    fn u64(&mut self, label: &'static str) -> Result<u64, ReadError> {
        self.array(label).map(u64::from_le_bytes)
    }

    fn skip(&mut self, len: u64, label: &'static str) -> Result<Span, ReadError> {
        let span = Span::sized(FILE, self.at, len);
        if span.end > self.source.len() {
            let left = Span::new(FILE, self.at, self.source.len());
            return Err(ReadError { label, left, needed: len });
        }
        self.at = span.end;
        Ok(span)
    }
}

/// Whether the file begins with the magic.
pub fn has_magic(source: &Source<'_>) -> bool {
    *source.read(0, 6) == *MAGIC
}

/// The head of a recording.
///
/// # Errors
///
/// What keeps it from being read.
pub fn head(source: &Source<'_>) -> Result<Head, HeadError> {
    let magic = has_magic(source);
    if !magic && let Some(evidence) = evidence::elder(source) {
        let generation = evidence.generation;
        return with_layout(source, generation, None)
            .map(|head| Head { evidence: Some(evidence), ..head });
    }
    let version = Reader { source, at: 6 }.u16("version");
    let version = if magic { version? } else { version.map_err(|_| HeadError::Unknown)? };
    let known = match version {
        0 | 1 => Some(Generation::V1),
        2 => Some(Generation::V2),
        3 => Some(Generation::V3),
        _ => None,
    };
    if !magic {
        // Only for a file that is said to be a recording: the magic may have been overwritten.
        let generation = known.filter(|_| version > 0).ok_or(HeadError::Unknown)?;
        let found = moded(source, generation).map_err(|_| HeadError::Unknown)?;
        return if evidence::share(source, &found) >= evidence::SURE {
            Ok(found)
        } else {
            Err(HeadError::Unknown)
        };
    }
    if source.len() == HEADER && known >= Some(Generation::V2) {
        return Err(HeadError::HeaderOnly);
    }
    match known {
        Some(generation) => moded(source, generation),
        None => guessed(source).ok_or(HeadError::Version(version)),
    }
}

/// The head in the one layout of a known version that explains the file.
fn guessed(source: &Source<'_>) -> Option<Head> {
    let layouts = [Generation::V3, Generation::V2, Generation::V1];
    let heads = layouts.into_iter().filter_map(|layout| moded(source, layout).ok());
    let mut sure = heads.filter(|head| evidence::share(source, head) >= evidence::SURE);
    let found = sure.next()?;
    sure.next().is_none().then_some(found)
}

/// The head with the mode that is stored or, where it is neither, the one that explains the file.
fn moded(source: &Source<'_>, generation: Generation) -> Result<Head, HeadError> {
    if generation < Generation::V2 {
        return with_layout(source, generation, None);
    }
    let stored = Reader { source, at: 8 }.u16("mode")?;
    if stored <= 1 {
        return with_layout(source, generation, Some(stored));
    }
    let found = [0, 1].into_iter().find_map(|mode| {
        let head = with_layout(source, generation, Some(mode)).ok()?;
        let told = match &head.devices {
            Devices::Paths(paths) => paths.iter().all(|path| is_event_device(source, *path)),
            Devices::Gamepad(gamepad) => gamepad.bits_agree(),
        };
        told.then_some(head)
    });
    let head = found.ok_or(HeadError::Mode(stored))?;
    Ok(Head { mode: Some(stored), ..head })
}

/// The head, read as one layout; `mode` only where the layout has one.
///
/// # Errors
///
/// As [`head`].
pub fn with_layout(
    source: &Source<'_>,
    generation: Generation,
    mode: Option<u16>,
) -> Result<Head, HeadError> {
    let layout = generation.layout();
    let mut reader = Reader { source, at: 6 };
    let version = layout.version.map(|_| reader.u16("version")).transpose()?;
    let (mut stored, mut pad) = (None, [0; 6]);
    if layout.header == HEADER {
        stored = Some(reader.u16("mode")?);
        pad = reader.array("padding")?;
    }
    let mut reader = Reader { source, at: layout.header };
    let devices = if mode == Some(1) {
        Devices::Gamepad(Box::new(gamepad(&mut reader)?))
    } else {
        Devices::Paths(paths(&mut reader, layout.device_count)?)
    };
    let prefix = reader.at;
    let count = (layout.prefix > 0).then(|| reader.u64("num_events")).transpose()?;
    let times = (layout.prefix > 8).then(|| times(&mut reader)).transpose()?;
    Ok(Head {
        generation,
        evidence: None,
        magic: layout.version.is_some() && has_magic(source),
        version,
        mode: stored,
        pad,
        devices,
        prefix,
        count,
        times,
        events: reader.at,
    })
}

fn times(reader: &mut Reader<'_, '_>) -> Result<[Time; 2], ReadError> {
    let mut time = |sec, usec| -> Result<Time, ReadError> {
        Ok(Time { sec: reader.u64(sec)?, usec: reader.u64(usec)? })
    };
    Ok([time("start_sec", "start_usec")?, time("end_sec", "end_usec")?])
}

fn paths(reader: &mut Reader<'_, '_>, width: u64) -> Result<Vec<Span>, HeadError> {
    let at = reader.at;
    let count = match width {
        8 => reader.u64("devices.num")?,
        _ => u64::from(reader.u32("devices.num")?),
    };
    if count == 0 || count > DEVICES_MAX {
        return Err(HeadError::DeviceCount { span: Span::sized(FILE, at, width), count });
    }
    let mut paths = Vec::new();
    for index in 0..count {
        let span = Span::sized(FILE, reader.at, 4);
        let len = u64::from(reader.u32("path_len")?);
        if len == 0 || len > PATH_MAX {
            return Err(HeadError::Path { span, index, len });
        }
        paths.push(reader.skip(len, "path")?);
    }
    Ok(paths)
}

fn gamepad(reader: &mut Reader<'_, '_>) -> Result<Gamepad, HeadError> {
    let id = [
        reader.u16("bustype")?,
        reader.u16("vendor")?,
        reader.u16("product")?,
        reader.u16("version")?,
    ];
    let span = Span::sized(FILE, reader.at, 4);
    let len = u64::from(reader.u32("name_len")?);
    if len > NAME_READ {
        return Err(HeadError::Name { span, len });
    }
    let name = reader.skip(len, "name")?;
    debug_assert_eq!(TYPE_BITS, 4);
    let types = reader.array("ev_bits")?;
    let bits = Span::sized(FILE, reader.at, CODE_BITS.saturating_mul(3));
    let abs = reader.array("abs_bits")?;
    let rel = reader.array("rel_bits")?;
    let key = reader.array("key_bits")?;
    let span = Span::sized(FILE, reader.at, 4);
    let count = u64::from(reader.u32("num_absinfo")?);
    if count > ABSINFO_MAX {
        return Err(HeadError::Axes { span, count });
    }
    let axes_span = Span::sized(FILE, reader.at, count.saturating_mul(ABSINFO));
    let mut axes = Vec::new();
    for _ in 0..count {
        axes.push(Axis {
            code: reader.i32("ev_code")?,
            value: reader.i32("value")?,
            min: reader.i32("minimum")?,
            max: reader.i32("maximum")?,
            fuzz: reader.i32("fuzz")?,
            flat: reader.i32("flat")?,
            resolution: reader.i32("resolution")?,
        });
    }
    Ok(Gamepad { id, name, types, bits, abs, rel, key, axes_span, axes })
}

impl Head {
    /// How many devices events may name.
    pub fn device_count(&self) -> i32 {
        match &self.devices {
            Devices::Paths(paths) => i32::try_from(paths.len()).unwrap_or(i32::MAX),
            Devices::Gamepad(_) => 1,
        }
    }

    /// The gamepad, if the recording is of one.
    pub fn gamepad(&self) -> Option<&Gamepad> {
        match &self.devices {
            Devices::Gamepad(gamepad) => Some(gamepad),
            Devices::Paths(_) => None,
        }
    }

    /// Where the path or the name of a device lies.
    pub fn device(&self, index: i32) -> Option<Span> {
        match &self.devices {
            Devices::Paths(paths) => paths.get(usize::try_from(index).ok()?).copied(),
            Devices::Gamepad(gamepad) => (index == 0).then_some(gamepad.name),
        }
    }

    /// Whether the name of a gamepad has a length that its readers can take.
    pub const fn name_fits(&self) -> bool {
        match &self.devices {
            Devices::Gamepad(gamepad) => !gamepad.name.is_empty() && gamepad.name.len() <= NAME_MAX,
            Devices::Paths(_) => true,
        }
    }
}

/// Whether a path is one that the recorder writes: `/dev/input/event` and a number.
pub fn is_event_device(source: &Source<'_>, path: Span) -> bool {
    let bytes = source.read(path.start, path.end.min(path.start.saturating_add(64)));
    bytes.strip_prefix(DEVICE_PREFIX).is_some_and(|number| {
        (1..=4).contains(&number.len()) && number.iter().all(u8::is_ascii_digit)
    })
}

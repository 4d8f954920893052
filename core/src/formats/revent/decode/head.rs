//! Everything before the events: header, devices or gamepad, count and times.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::evidence::{self, Evidence};
use crate::formats::revent::decode::gamepad::{Forced, Gamepad, parse_gamepad};
use crate::formats::revent::decode::time::{Time, parse_times};
use crate::formats::revent::layout::{
    DEVICE_FOLDER, DEVICE_PREFIX, DEVICES_MAX, Generation, HEAD_MAX, HEADER, MAGIC, PATH_MAX,
};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::limits::Limits;

/// Bytes of [`DEVICE_PREFIX`] that show that a path began with it.
const PREFIX_SAME: usize = 12;

/// Everything before the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Layout of the file.
    pub generation: Generation,
    /// Evidence for the layout, if the file has no magic.
    pub evidence: Option<Evidence>,
    /// The header, in layouts that have one.
    pub header: Option<Header>,
    /// Sources of the events.
    pub devices: Devices,
    /// Offset of the event count (v2 and v3), or of the events in older layouts.
    pub prefix: u64,
    /// The event count as stored.
    pub count: Option<u64>,
    /// Start and end of the recording as stored.
    pub times: Option<[Time; 2]>,
    /// Offset of the first event.
    pub events: u64,
    /// Whether header and devices are not as stored, but recovered from what follows them.
    pub is_recovered: bool,
    /// Lengths in the description of a gamepad that are not as stored.
    pub forced: Forced,
}

/// The header, as stored: 8 bytes in version 1, 16 bytes from version 2 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The magic.
    pub magic: [u8; 6],
    /// The version.
    pub version: u16,
    /// The mode: 0 for all devices, 1 for a gamepad.
    pub mode: Option<u16>,
    /// The padding after the mode.
    pub pad: [u8; 6],
}

/// Sources of the events of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// Mode 0 and older layouts: devices by path.
    Paths(Vec<DevicePath>),
    /// Mode 1: one gamepad.
    Gamepad(Box<Gamepad>),
}

/// The path of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePath {
    /// Bytes of the path, without its length.
    pub span: Span,
    /// The path.
    pub bytes: Vec<u8>,
}

impl DevicePath {
    /// Returns whether the recorder writes such a path: `/dev/input/event` and a number.
    pub fn is_event_device(&self) -> bool {
        self.bytes.strip_prefix(DEVICE_PREFIX).is_some_and(|number| {
            (1..=4).contains(&number.len()) && number.iter().all(u8::is_ascii_digit)
        })
    }

    /// Returns whether revent replay, which reads the path up to its first NUL, opens a file that
    /// is not below `/dev/input`.
    pub fn leads_outside(&self) -> bool {
        let opened = self.bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let has_text = !opened.is_empty() && opened.iter().all(|byte| (0x20..0x7f).contains(byte));
        let mut parts = opened.split(|byte| *byte == b'/');
        let is_below = opened.starts_with(DEVICE_FOLDER) || DEVICE_FOLDER.starts_with(opened);
        has_text && (!is_below || parts.any(|part| part == b".."))
    }

    /// Returns how the path begins, if some bytes of the recorder's prefix are damaged and the rest
    /// is a number.
    pub fn damaged_prefix(&self) -> Option<Span> {
        let (prefix, number) = self.bytes.split_at_checked(DEVICE_PREFIX.len())?;
        let is_number = (1..=4).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
        let same = prefix.iter().zip(DEVICE_PREFIX).filter(|(a, b)| a == b).count();
        let is_damaged = is_number && same >= PREFIX_SAME && same < DEVICE_PREFIX.len();
        is_damaged.then(|| Span::sized(FILE, self.span.start(), to_u64(DEVICE_PREFIX.len())))
    }
}

/// The reason why a head cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadError {
    /// The file has neither a magic nor a layout without one.
    UnknownFormat {
        /// The first bytes, at most 8.
        first: Vec<u8>,
    },
    /// The file ends inside the head.
    Truncated(ReadError),
    /// The file consists of the 16-byte header.
    HeaderOnly,
    /// The version is unknown, and no known layout fits the file.
    Version(u16),
    /// The mode is unknown, and neither mode fits the file.
    Mode(u16),
    /// There are no devices, or too many.
    DeviceCount {
        /// The field.
        span: Span,
        /// Its value.
        count: u64,
    },
    /// A path is empty or too long.
    Path {
        /// The length of the path.
        span: Span,
        /// Number of the device.
        index: u64,
        /// Value of the length.
        len: u64,
    },
    /// The name of a gamepad is too long.
    Name {
        /// The length of the name.
        span: Span,
        /// Its value.
        len: u64,
    },
    /// There are more axis descriptions than axes.
    Axes {
        /// The field.
        span: Span,
        /// Its value.
        count: u64,
    },
}

impl From<ReadError> for HeadError {
    fn from(error: ReadError) -> Self {
        Self::Truncated(error)
    }
}

/// Returns whether the file begins with the magic.
pub fn has_magic(source: &Source<'_>) -> bool {
    *source.read(0, 6) == *MAGIC
}

/// Reads the head of a recording.
///
/// # Errors
///
/// The first field that prevents it, see [`HeadError`].
pub fn parse_head(source: &Source<'_>, limits: &Limits) -> Result<Head, HeadError> {
    if !has_magic(source) {
        return parse_head_without_magic(source, limits);
    }
    let version = read_u16(source, 6, "version")?;
    let known = generation_of(version);
    if source.len() == HEADER && known >= Some(Generation::V2) {
        return Err(HeadError::HeaderOnly);
    }
    match known {
        Some(generation) if version > 0 => parse_head_with_mode(source, generation),
        // Readers take version 0 for version 1; damage may have cleared another version.
        Some(generation) => {
            let head = parse_head_with_mode(source, generation);
            let is_first = |head: &Head| evidence::explains_events(source, head, limits);
            match head {
                Ok(head) if is_first(&head) => Ok(head),
                head => find_fitting_head(source, limits).map_or(head, Ok),
            }
        }
        None => find_fitting_head(source, limits).ok_or(HeadError::Version(version)),
    }
}

/// Returns the layout of a stored version. Readers take version 0 for version 1.
const fn generation_of(version: u16) -> Option<Generation> {
    match version {
        0 | 1 => Some(Generation::V1),
        2 => Some(Generation::V2),
        3 => Some(Generation::V3),
        _ => None,
    }
}

fn read_u16(source: &Source<'_>, at: u64, label: &'static str) -> Result<u16, ReadError> {
    let bytes = source.read(at, at.saturating_add(2));
    Cursor::new(&bytes, FILE, at, Order::Little).u16(label)
}

/// Reads the head of a layout without a magic, or of one whose magic was overwritten.
fn parse_head_without_magic(source: &Source<'_>, limits: &Limits) -> Result<Head, HeadError> {
    if let Some(evidence) = evidence::detect_layout_without_magic(source, limits) {
        let head = parse_head_as(source, evidence.generation, None)?;
        return Ok(Head { evidence: Some(evidence), ..head });
    }
    // Only a file whose format the user names gets here; its version and events have to fit.
    let version = read_u16(source, 6, "version").ok().filter(|version| *version > 0);
    let head = version
        .and_then(generation_of)
        .and_then(|generation| parse_head_with_mode(source, generation).ok())
        .filter(|head| evidence::explains_events(source, head, limits));
    head.ok_or_else(|| HeadError::UnknownFormat { first: source.read(0, 8).into_owned() })
}

/// Returns the head in the only layout with a version that explains the events.
fn find_fitting_head(source: &Source<'_>, limits: &Limits) -> Option<Head> {
    let layouts = [Generation::V3, Generation::V2, Generation::V1];
    let heads = layouts.into_iter().filter_map(|layout| parse_head_with_mode(source, layout).ok());
    let mut fitting = heads.filter(|head| evidence::explains_events(source, head, limits));
    let found = fitting.next()?;
    fitting.next().is_none().then_some(found)
}

/// Reads the head in the stored mode or, if that is unknown, in the mode that fits the file.
fn parse_head_with_mode(source: &Source<'_>, generation: Generation) -> Result<Head, HeadError> {
    if generation < Generation::V2 {
        return parse_head_as(source, generation, None);
    }
    let stored = read_u16(source, 8, "mode")?;
    if stored <= 1 {
        return parse_head_as(source, generation, Some(stored));
    }
    let heads = [0, 1].map(|mode| parse_head_as(source, generation, Some(mode)));
    let found = heads.into_iter().flatten().find(Head::has_recorded_devices);
    found.ok_or(HeadError::Mode(stored))
}

/// Reads the head in one layout. `mode` is `None` in layouts without a mode.
///
/// # Errors
///
/// As [`parse_head`].
pub fn parse_head_as(
    source: &Source<'_>,
    generation: Generation,
    mode: Option<u16>,
) -> Result<Head, HeadError> {
    parse_forced(source, generation, mode, Forced::default())
}

/// Reads the head in one layout, with lengths that are known to be damaged.
///
/// # Errors
///
/// As [`parse_head`].
pub(super) fn parse_forced(
    source: &Source<'_>,
    generation: Generation,
    mode: Option<u16>,
    forced: Forced,
) -> Result<Head, HeadError> {
    let window = source.read(0, HEAD_MAX);
    parse_at(&mut Cursor::new(&window, FILE, 0, Order::Little), generation, mode, forced)
}

fn parse_at(
    cursor: &mut Cursor<'_>,
    generation: Generation,
    mode: Option<u16>,
    forced: Forced,
) -> Result<Head, HeadError> {
    let layout = generation.layout();
    let header = layout.version.map(|_| parse_header(cursor, layout.header)).transpose()?;
    let devices = if mode == Some(1) {
        Devices::Gamepad(Box::new(parse_gamepad(cursor, forced)?))
    } else {
        Devices::Paths(parse_paths(cursor, layout.device_count)?)
    };
    let prefix = cursor.position();
    let (count, times) = parse_counts(cursor, generation)?;
    let events = cursor.position();
    Ok(Head {
        generation,
        evidence: None,
        header,
        devices,
        prefix,
        count,
        times,
        events,
        is_recovered: false,
        forced,
    })
}

/// The event count, and start and end, in layouts that have them.
type Counts = (Option<u64>, Option<[Time; 2]>);

fn parse_counts(cursor: &mut Cursor<'_>, generation: Generation) -> Result<Counts, ReadError> {
    let layout = generation.layout();
    let count = (layout.prefix > 0).then(|| cursor.u64("num_events")).transpose()?;
    let times = (layout.prefix > 8).then(|| parse_times(cursor)).transpose()?;
    Ok((count, times))
}

/// Reads the fields between the devices and the events.
pub(super) fn read_counts(
    source: &Source<'_>,
    generation: Generation,
    prefix: u64,
) -> Option<Counts> {
    let bytes = source.read(prefix, prefix.saturating_add(generation.layout().prefix));
    parse_counts(&mut Cursor::new(&bytes, FILE, prefix, Order::Little), generation).ok()
}

fn parse_header(cursor: &mut Cursor<'_>, len: u64) -> Result<Header, ReadError> {
    let magic = cursor.array("magic")?;
    let version = cursor.u16("version")?;
    let (mut mode, mut pad) = (None, [0; 6]);
    if len == HEADER {
        mode = Some(cursor.u16("mode")?);
        pad = cursor.array("padding")?;
    }
    Ok(Header { magic, version, mode, pad })
}

/// Reads the paths of the devices after their number, which has `width` bytes.
fn parse_paths(cursor: &mut Cursor<'_>, width: u64) -> Result<Vec<DevicePath>, HeadError> {
    let at = cursor.position();
    let count = match width {
        8 => cursor.u64("devices.num")?,
        _ => u64::from(cursor.u32("devices.num")?),
    };
    if count == 0 || count > DEVICES_MAX {
        return Err(HeadError::DeviceCount { span: cursor.since(at), count });
    }
    (0..count).map(|index| parse_path(cursor, index)).collect()
}

fn parse_path(cursor: &mut Cursor<'_>, index: u64) -> Result<DevicePath, HeadError> {
    let at = cursor.position();
    let len = u64::from(cursor.u32("path_len")?);
    if len == 0 || len > PATH_MAX {
        return Err(HeadError::Path { span: cursor.since(at), index, len });
    }
    let at = cursor.position();
    let bytes = cursor.bytes(len, "path")?.to_vec();
    Ok(DevicePath { span: cursor.since(at), bytes })
}

impl Head {
    /// Notes the fields; none of a head that had to be recovered.
    pub fn log_fields(&self, source: &Source<'_>, log: &FieldLog) {
        let window = source.read(0, HEAD_MAX.min(self.events));
        let cursor = Cursor::new(&window, FILE, 0, Order::Little);
        let mode = self.gamepad().map(|_| 1);
        if !self.is_recovered {
            let _head = parse_at(&mut cursor.with_log(log), self.generation, mode, self.forced);
        }
    }

    /// Returns the number of devices that events may name.
    pub fn device_count(&self) -> i32 {
        match &self.devices {
            Devices::Paths(paths) => i32::try_from(paths.len()).unwrap_or(i32::MAX),
            Devices::Gamepad(_) => 1,
        }
    }

    /// Returns whether the recorder writes such a description of devices. Otherwise fields after it
    /// may be read at the wrong place.
    pub fn has_recorded_devices(&self) -> bool {
        match &self.devices {
            Devices::Paths(paths) => paths.iter().all(DevicePath::is_event_device),
            Devices::Gamepad(gamepad) => gamepad.has_matching_bits(),
        }
    }

    /// Returns the gamepad, if the recording is of one.
    pub fn gamepad(&self) -> Option<&Gamepad> {
        match &self.devices {
            Devices::Gamepad(gamepad) => Some(gamepad),
            Devices::Paths(_) => None,
        }
    }

    /// Returns the path or the name of a device, as stored.
    pub fn device_name(&self, index: i32) -> Option<&[u8]> {
        match &self.devices {
            Devices::Paths(paths) => {
                paths.get(usize::try_from(index).ok()?).map(|path| path.bytes.as_slice())
            }
            Devices::Gamepad(gamepad) => (index == 0).then_some(&gamepad.name),
        }
    }
}

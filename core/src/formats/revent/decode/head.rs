//! Everything before the events: header, devices or gamepad, count and times.

use std::fmt;

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::gamepad::{Forced, Gamepad, parse_gamepad};
use crate::formats::revent::decode::head_error::HeadError;
use crate::formats::revent::decode::time::{Time, parse_times};
use crate::formats::revent::layout::{
    DEVICE_FOLDER, DEVICE_PREFIX, DEVICES_MAX, Generation, HEAD_MAX, HEADER, MAGIC, PATH_MAX,
};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::words::plural;

/// Bytes of [`DEVICE_PREFIX`] that show that a path began with it.
const PREFIX_SAME: usize = 12;

/// Evidence for a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The layout.
    pub generation: Generation,
    /// Number of devices, and of those with a path that the recorder writes.
    pub paths: [u64; 2],
    /// Number of events that were read, and of those that are plausible.
    pub events: [u64; 2],
    /// The best of the other layouts, and its plausible events per hundred.
    pub second: Option<(Generation, u64)>,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([paths, good], [events, plausible]) = (self.paths, self.events);
        write!(f, "{good} of {paths} device paths")?;
        if events == 0 {
            return f.write_str("; without an event the layout is not certain");
        }
        write!(f, ", {plausible} of the first {}", plural(events, "event"))?;
        match self.second {
            Some((generation, percent)) => {
                write!(f, " (next best: {} with {percent} %)", generation.layout().name)
            }
            None => f.write_str(" (no other layout has an 8-byte device count)"),
        }
    }
}

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

/// Returns whether the file begins with the magic.
pub fn has_magic(source: &Source<'_>) -> bool {
    *source.read(0, 6) == *MAGIC
}

/// Reads the head in one layout. `mode` is `None` in layouts without a mode.
///
/// # Errors
///
/// The first field that prevents it.
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
/// The first field that prevents it.
pub fn parse_forced(
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
pub type Counts = (Option<u64>, Option<[Time; 2]>);

fn parse_counts(cursor: &mut Cursor<'_>, generation: Generation) -> Result<Counts, ReadError> {
    let layout = generation.layout();
    let count = (layout.prefix > 0).then(|| cursor.u64("num_events")).transpose()?;
    let times = (layout.prefix > 8).then(|| parse_times(cursor)).transpose()?;
    Ok((count, times))
}

/// Reads the fields between the devices and the events.
pub fn read_counts(source: &Source<'_>, generation: Generation, prefix: u64) -> Option<Counts> {
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

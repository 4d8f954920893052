//! The header: u32 version, 8 unused bytes.

use crate::formats::qemu::decode::event::FILE;
use crate::formats::qemu::layout::{HEADER_LEN, LAYOUTS, Layouts, VERSION_LEN};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;
use crate::kit::source::Source;

/// Version words that existed only between releases.
const UNRELEASED: [u32; 3] = [0x00e0_2003, 0x00e0_2005, 0x00e0_200b];
/// Distance to the newest known version word up to which a larger one is taken for a later release.
const NEWER_MAX: u32 = 32;

/// The version word of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 0: the recorder did not finish.
    Unfinished,
    /// The word of a release.
    Known(u32),
    /// A word that existed between two releases.
    Unreleased(u32),
    /// The word of a later release than the last known one.
    Newer(u32),
    /// Not a version.
    Unknown(u32),
}

impl Version {
    /// Classifies a version word.
    pub fn new(word: u32) -> Self {
        let last = LAYOUTS.iter().map(|layout| layout.version).max().unwrap_or(0);
        match word {
            0 => Self::Unfinished,
            _ if LAYOUTS.iter().any(|layout| layout.version == word) => Self::Known(word),
            _ if UNRELEASED.contains(&word) => Self::Unreleased(word),
            _ if word > last && word <= last.saturating_add(NEWER_MAX) => Self::Newer(word),
            _ => Self::Unknown(word),
        }
    }

    /// Reads the version word at the start of a source. Errors: the source is shorter than that.
    pub fn read(source: &Source<'_>) -> Result<Self, ReadError> {
        let bytes = source.read(0, VERSION_LEN);
        Cursor::new(&bytes, FILE, 0, Order::Big).u32("version").map(Self::new)
    }

    /// Returns the layouts that a log with this word may have.
    pub fn layouts(self) -> Layouts {
        match self {
            Self::Known(word) => Layouts::of(|_, layout| layout.version == word),
            _ => Layouts::of(|_, _| true),
        }
    }

    /// Returns whether no release wrote the word, but its low byte, in which all versions differ,
    /// is that of another version than `other`.
    pub fn names_other_than(self, other: u32) -> bool {
        let low = |word: u32| word.to_be_bytes().last().copied();
        let Self::Unknown(word) = self else { return false };
        low(word) != low(other) && LAYOUTS.iter().any(|layout| low(layout.version) == low(word))
    }

    /// Returns whether a release wrote the word.
    pub const fn is_known(self) -> bool {
        matches!(self, Self::Known(_))
    }
}

/// The bytes that determine the version of a log whose word is not a release's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionEvidence {
    /// The events: no other version fits them.
    Events,
    /// The version word: only its byte with this offset differs from a version that the events
    /// fit, and no other version is as near.
    Byte(u64),
}

impl VersionEvidence {
    /// Returns the evidence for a version and the layouts that have it, if the word and the
    /// layouts that the events fit lead to one version.
    ///
    /// If unused bytes are not 0, the events are not evidence: the log may have lost its header, so
    /// that the bytes in its place belong to events. Neither are they if they do not fit the only
    /// version that the other bytes of the word lead to: either may be damaged.
    pub fn find(header: Header, fits: Layouts) -> Option<(Self, Layouts)> {
        let version = header.version;
        let of_version = |word: u32| {
            Layouts::of(|number, layout| fits.contains(number) && layout.version == word)
        };
        let is_trusted = !version.is_known() && header.unused_set == 0;
        if let Version::Unknown(word) = version {
            let near = Layouts::of(|_, layout| find_only_byte(word, layout.version).is_some());
            let near_fits = Layouts::of(|number, _| near.contains(number) && fits.contains(number));
            if near.first().is_some() {
                let is_determined = find_only_version(near).is_some();
                let found = find_only_version(near_fits).filter(|_| is_determined || is_trusted)?;
                let byte = find_only_byte(word, found)?;
                // If the other bytes lead to several versions, the events choose.
                let evidence = if is_determined { Self::Byte(byte) } else { Self::Events };
                return Some((evidence, of_version(found)));
            }
        }
        find_only_version(fits).filter(|_| is_trusted).map(|_| (Self::Events, fits))
    }
}

/// Returns the version of layouts if all have the same.
fn find_only_version(layouts: Layouts) -> Option<u32> {
    let first = layouts.first()?.version;
    layouts.iter().all(|(_, layout)| layout.version == first).then_some(first)
}

/// Returns the offset of the byte that differs, if it is the only one.
fn find_only_byte(word: u32, other: u32) -> Option<u64> {
    let pairs = word.to_be_bytes().into_iter().zip(other.to_be_bytes());
    let mut offsets = (0_u64..).zip(pairs).filter(|(_, (a, b))| a != b).map(|(offset, _)| offset);
    offsets.next().filter(|_| offsets.next().is_none())
}

/// A complete header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version word.
    pub version: Version,
    /// How many of the 8 unused bytes are not 0.
    pub unused_set: usize,
}

impl Header {
    /// Reads the header. Errors: the source is shorter than a header.
    pub fn read(source: &Source<'_>) -> Result<Self, ReadError> {
        let bytes = source.read(0, HEADER_LEN);
        Self::parse(Cursor::new(&bytes, FILE, 0, Order::Big))
    }

    /// Notes the fields of the header.
    pub fn log_fields(source: &Source<'_>, log: &FieldLog) {
        let bytes = source.read(0, HEADER_LEN);
        let _header = Self::parse(Cursor::new(&bytes, FILE, 0, Order::Big).with_log(log));
    }

    fn parse(mut cursor: Cursor<'_>) -> Result<Self, ReadError> {
        let version = Version::new(cursor.u32("version")?);
        let unused = cursor.bytes(HEADER_LEN.saturating_sub(VERSION_LEN), "reserved")?;
        let unused_set = unused.iter().filter(|byte| **byte != 0).count();
        Ok(Self { version, unused_set })
    }

    /// Returns whether it is the header of a log that QEMU finished.
    pub const fn is_finished(&self) -> bool {
        self.version.is_known() && self.unused_set == 0
    }
}

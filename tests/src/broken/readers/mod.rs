//! The readers: what they show of a recording, record by record.
//!
//! | format | reader | a record, and its label |
//! |---|---|---|
//! | perf | `perf script -D` | a sample: time, CPU, process, thread, event, all values |
//! | apitrace | `apitrace dump --verbose` | a call: thread, function, arguments, result |
//! | ovni | `ovnidump -x`; `ovniemu -l` accepts | an event: stream, clock, code, payload |
//! | QEMU | [`qemu`]: a decoder of this crate, not QEMU's | an event: name, payload |
//! | revent | `wa/utils/revent.py` | an event: device, time, type, code, value |

pub mod apitrace;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod revent;

use std::ops::Range;

use tracemend::FormatId;

use super::damage::Broken;
use crate::judge::apitrace::Apitrace;
use crate::judge::apitrace::survival;
use crate::judge::ovni::Ovniemu;
use crate::judge::perf::Perf;
use crate::judge::revent::Wlauto;
use crate::known_originals::{Files, Original};

/// A record as a reader shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The file or stream that holds it: records are compared in the order of their lane.
    pub lane: String,
    /// All that the reader shows of it.
    pub label: String,
    /// Its offset in the file, if the reader gives it.
    pub offset: Option<usize>,
    /// Its stored bytes, if the reader gives their place.
    pub bytes: Option<Vec<u8>>,
}

/// A recording as a reader shows it.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Whether the reader reads it without an error, else the error.
    pub accepted: Result<(), String>,
    /// The records.
    pub shown: Vec<Shown>,
}

/// The bytes of a shown record of a sound recording.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Its file and its bytes there.
    pub own: (usize, Range<usize>),
    /// Further bytes that a reader needs to show it as what it is.
    pub needs: Vec<(usize, Range<usize>)>,
}

/// Whether a record of the sound recording can be shown after a damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Its bytes are undamaged.
    pub is_spared: bool,
    /// So are those that a reader needs for it.
    pub is_due: bool,
}

/// A sound recording, with what its reader shows.
#[derive(Debug)]
pub struct Sound {
    /// Name and files.
    pub original: Original,
    /// Format and container: its row in the tables.
    pub group: &'static str,
    /// The records that the reader shows.
    pub shown: Vec<Shown>,
    /// Where the records are; empty for calls of apitrace.
    pub places: Vec<Place>,
    /// The trace of apitrace, with its container.
    pub trace: Option<(&'static str, survival::Original)>,
    /// QEMU: the release that stands for the layout.
    pub release: Option<&'static str>,
}

/// A reader.
#[derive(Debug)]
pub enum Reader {
    /// perf.
    Perf(Perf),
    /// apitrace.
    Apitrace(Apitrace),
    /// The tools of ovni.
    Ovni(Ovniemu),
    /// A decoder of this crate.
    Qemu,
    /// Workload Automation's reader.
    Revent(Wlauto),
}

impl Reader {
    /// Finds the reader of a format.
    ///
    /// # Errors
    ///
    /// The reason why it is missing.
    pub fn find(format: FormatId) -> Result<Self, String> {
        match format.name() {
            "perf" => Perf::find().map(Self::Perf),
            "apitrace" => Apitrace::find().map(Self::Apitrace),
            "ovni" => Ovniemu::find().map(Self::Ovni),
            "qemu" => Ok(Self::Qemu),
            _ => Wlauto::find().map(Self::Revent),
        }
    }

    /// Reads a recording. `release` is the release of QEMU whose layout it has.
    pub fn read(&self, files: &Files, release: Option<&str>) -> Reading {
        match self {
            Self::Perf(judge) => perf::read(judge, files),
            Self::Apitrace(judge) => apitrace::read(judge, files),
            Self::Ovni(judge) => ovni::read(judge, files),
            Self::Qemu => qemu::read(files, release.unwrap_or_default()),
            Self::Revent(judge) => revent::read(judge, files),
        }
    }

    /// Reads a sound recording.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be used: the reader refuses it, or shows other records than its
    /// file holds.
    pub fn sound(&self, original: &Original) -> Result<Sound, &'static str> {
        let release = match self {
            Self::Qemu => Some(qemu::release(&original.files[0].1).ok_or(REFUSED)?),
            _ => None,
        };
        let reading = self.read(&original.files, release);
        reading.accepted.map_err(|_| REFUSED)?;
        let mut sound = Sound {
            original: original.clone(),
            group: "",
            shown: reading.shown,
            places: Vec::new(),
            trace: None,
            release,
        };
        let placed = match self {
            Self::Perf(_) => perf::place(&mut sound),
            Self::Apitrace(_) => apitrace::place(&mut sound),
            Self::Ovni(_) => ovni::place(&mut sound),
            Self::Qemu => qemu::place(&mut sound),
            Self::Revent(_) => revent::place(&mut sound),
        };
        placed.map(|()| sound).ok_or("the reader shows other records than the file holds")
    }
}

/// The reader does not read a sound recording.
const REFUSED: &str = "the reader refuses it";

impl Sound {
    /// Returns for each record that the reader shows whether it can be shown after a damage.
    pub fn left(&self, broken: &Broken) -> Vec<Left> {
        if let Some((container, trace)) = &self.trace {
            return apitrace::left(container, trace, &broken.damaged);
        }
        let spares = |(file, range): &(usize, Range<usize>)| broken.damaged.spares(*file, range);
        // Nothing marks the events of QEMU, so no reader finds one after a damage.
        let is_reached = |place: &Place| {
            self.release.is_none() || place.own.1.end <= broken.damaged.first_damage(0)
        };
        let left = |place: &Place| {
            let is_spared = is_reached(place) && spares(&place.own);
            Left { is_spared, is_due: is_spared && place.needs.iter().all(spares) }
        };
        self.places.iter().map(left).collect()
    }
}

//! The data after AUXTRACE records: the trace that a tracer of the processor wrote.
//!
//! ```text
//!  intel_pt    packets from one PSB to the next
//!  arm_spe     packets, each with a header that gives its size
//!  coresight   frames of 16 bytes
//! ```
//!
//! Only the structure is read by which damage shows, and no branch is decoded. Bytes that a tracer
//! may have written are never damage: a trace may begin or end inside a packet, and newer tracers
//! may have packets that are not known here.

mod arm_spe;
mod coresight;
mod intel_pt;

pub use self::coresight::FRAME;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::steps;

/// Bytes of a trace that are read at once.
const PIECE: u64 = 1 << 20;
/// Stretches of a trace that are kept. The last one also covers those after it.
const STRETCHES: usize = 1 << 10;
/// A header that begins more stretches than this is that of a packet that is not known here.
const CHANCES: u64 = 2;

/// A tracer whose data have a structure that is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracer {
    /// Processor Trace.
    IntelPt,
    /// The embedded trace of Arm, in frames.
    CoreSight,
    /// The statistical profiling of Arm.
    ArmSpe,
}

impl Tracer {
    /// Returns the tracer with this `type` of an AUXTRACE_INFO.
    pub const fn of(kind: u32) -> Option<Self> {
        match kind {
            1 => Some(Self::IntelPt),
            3 => Some(Self::CoreSight),
            4 => Some(Self::ArmSpe),
            _ => None,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IntelPt => "Intel PT",
            Self::CoreSight => "CoreSight",
            Self::ArmSpe => "Arm SPE",
        }
    }
}

/// The sign by which a stretch is known to be damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// More zeros than a tracer writes between two packets.
    Zeros,
    /// The first bytes are not the header of a packet.
    Header([u8; 2]),
    /// A frame has the number of a source that is reserved.
    Source(u8),
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zeros => write!(f, "zeros between packets"),
            Self::Header([first, next]) => {
                write!(f, "no packet begins with {first:02x} {next:02x}")
            }
            Self::Source(id) => write!(f, "trace source {id:#x}, expected less than 0x70"),
        }
    }
}

/// A part of a trace that its tracer cannot have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its place.
    pub range: Range<u64>,
    /// The sign at its start.
    pub sign: Sign,
}

/// The state of a scan over the pieces of a trace.
struct Scan {
    found: Vec<Stretch>,
    /// Offset of the piece.
    at: u64,
    is_first: bool,
    is_last: bool,
    /// Whether a packet is known to begin where the piece does (Arm SPE).
    is_synced: bool,
    /// Number of frames, and of those with a wrong source (CoreSight).
    frames: (u64, u64),
}

impl Scan {
    /// Adds a stretch of the piece, or lengthens the last one if at most `gap` bytes lie between.
    fn push(&mut self, range: Range<usize>, sign: Sign, gap: u64) {
        let at = |offset: usize| self.at.saturating_add(to_u64(offset));
        let range = at(range.start)..at(range.end);
        let is_full = self.found.len() >= STRETCHES;
        match self.found.last_mut() {
            Some(last) if is_full || range.start <= last.range.end.saturating_add(gap) => {
                last.range.end = range.end;
            }
            _ => self.found.push(Stretch { range, sign }),
        }
    }

    /// Returns the stretches, unless the trace has another structure than the one known here.
    fn finish(mut self) -> Vec<Stretch> {
        let (frames, wrong) = self.frames;
        if wrong > frames >> 1 {
            return Vec::new();
        }
        let mut begun: BTreeMap<Sign, u64> = BTreeMap::new();
        for stretch in self.found.iter().filter(|one| matches!(one.sign, Sign::Header(_))) {
            let count = begun.entry(stretch.sign).or_default();
            *count = count.saturating_add(1);
        }
        self.found.retain(|one| begun.get(&one.sign).is_none_or(|count| *count <= CHANCES));
        self.found
    }
}

/// Finds the parts of a trace that its tracer cannot have written.
pub fn find_damage(tracer: Tracer, source: &Source<'_>, trace: Range<u64>) -> Vec<Stretch> {
    let mut scan = Scan {
        found: Vec::new(),
        at: trace.start,
        is_first: true,
        is_last: false,
        is_synced: false,
        frames: (0, 0),
    };
    while scan.at < trace.end && !steps::is_spent() {
        let end = scan.at.saturating_add(PIECE).min(trace.end);
        let bytes = source.read(scan.at, end);
        steps::count(to_u64(bytes.len()));
        scan.is_last = end == trace.end || bytes.is_empty();
        let used = match tracer {
            Tracer::IntelPt => intel_pt::scan(&mut scan, &bytes),
            Tracer::CoreSight => coresight::scan(&mut scan, &bytes),
            Tracer::ArmSpe => arm_spe::scan(&mut scan, &bytes),
        };
        let used = if scan.is_last { to_u64(bytes.len()) } else { to_u64(used) };
        scan.at = scan.at.saturating_add(used.max(1));
        scan.is_first = false;
        if scan.is_last {
            break;
        }
    }
    scan.finish()
}

/// Returns the first two bytes.
fn head(bytes: &[u8]) -> [u8; 2] {
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    [at(0), at(1)]
}

/// Returns the bytes from an offset on.
fn from(bytes: &[u8], offset: usize) -> &[u8] {
    bytes.get(offset..).unwrap_or_default()
}

#[cfg(test)]
mod tests;

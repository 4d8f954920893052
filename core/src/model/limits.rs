//! Limits on the work and memory of a check or a repair, each with its name, number and reason.
//!
//! A limit is checked before anything is allocated. Reaching one makes the verdict `incomplete`
//! (exit status 6 on the command line), never a wrong verdict. The limits below apply to every
//! format; those of a format are in its folder (`core/src/formats/*/limits.rs`).

use std::collections::BTreeMap;
use std::fmt;

use crate::kit::num::to_usize;

/// One limit, as documented data.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// The name, for example `zstd-window`; a limit of a format begins with its name: `ovni-tasks`.
    pub name: &'static str,
    /// The value unless the user sets another one.
    pub default: u64,
    /// The unit, as a plural noun: `bytes`, `events`.
    pub unit: &'static str,
    /// The reason for the number.
    pub reason: &'static str,
}

impl Limit {
    /// Declares a limit.
    pub const fn new(
        name: &'static str,
        default: u64,
        unit: &'static str,
        reason: &'static str,
    ) -> Self {
        Self { name, default, unit, reason }
    }
}

/// The limits of one run: the defaults and the changes of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    changed: BTreeMap<&'static str, u64>,
}

impl Limits {
    /// Returns the value of `limit`.
    pub fn of(&self, limit: &'static Limit) -> u64 {
        self.changed.get(limit.name).copied().unwrap_or(limit.default)
    }

    /// Returns the value of `limit` as a number of items in memory.
    pub fn count_of(&self, limit: &'static Limit) -> usize {
        to_usize(self.of(limit))
    }

    /// Changes `limit` to `value`.
    pub fn set(&mut self, limit: &'static Limit, value: u64) {
        self.changed.insert(limit.name, value);
    }
}

/// A limit name that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownLimit {
    /// The name that was given.
    pub name: String,
}

impl fmt::Display for UnknownLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown limit `{}`", crate::kit::text::Untrusted(self.name.as_bytes()))
    }
}

impl std::error::Error for UnknownLimit {}

/// The limits that apply to every format.
pub static COMMON: &[&Limit] = &[
    &BYTES,
    &STEPS,
    &FINDINGS,
    &FIXES,
    &ROUNDS,
    &PARTS,
    &TRIALS,
    &INSERTED,
    &WINDOW,
    &ZSTD_WINDOW,
    &EXPANSION_RATIO,
    &RESYNC,
    &READINGS,
    &READING_BYTES,
    &READING_STEPS,
    &PLAN,
    &MAP_REGIONS,
    &MAP_FIELDS,
    &TIMELINE,
    &AUDIT_RATIO,
    &REDACTED,
    &CUT,
    &TRANSPORTS,
    &UNPACKED,
    &UNPACKED_RATIO,
    &UNPACKED_FILES,
];

/// Bytes of all files of a recording.
pub static BYTES: Limit = Limit::new(
    "bytes",
    u64::MAX,
    "bytes",
    "memory does not grow with the length, and time in proportion to it, so no length is too much; \
     a service that opens files of strangers sets one, and a longer recording is not read",
);

/// Steps of the work on a recording, see [`within_steps`](crate::within_steps).
pub static STEPS: Limit = Limit::new(
    "steps",
    u64::MAX,
    "steps",
    "a step is a field that is read, a byte that is copied, or a place that is tried; there are as \
     many on every machine, and they grow with the length, so no number is too much; a service \
     that opens files of strangers sets one, since a step takes a nanosecond to a microsecond",
);

/// Findings that a report holds.
pub static FINDINGS: Limit = Limit::new(
    "findings",
    1_000,
    "findings",
    "further findings are only counted; a damaged file of tens of GB can have one fault per record",
);

/// Fixes of one round.
pub static FIXES: Limit = Limit::new(
    "fixes",
    65_536,
    "fixes",
    "one round applies at most this many; the next round takes the rest",
);

/// Rounds of a repair.
pub static ROUNDS: Limit = Limit::new(
    "rounds",
    16,
    "rounds",
    "faults hide one another at most a few levels deep: header, framing, bodies, counts",
);

/// Kept and inserted parts of a repaired recording.
pub static PARTS: Limit = Limit::new(
    "parts",
    1 << 17,
    "parts",
    "a round begins with at most this many; each takes some 150 bytes while a repair runs, with \
     those of the last round 30 MB",
);

/// Trials that find the fixes that do harm.
pub static TRIALS: Limit = Limit::new(
    "trials",
    256,
    "trials",
    "a trial checks the whole recording; one fix among 65,536 is found by 16 trials, and the other \
     fixes are applied without those that are not found",
);

/// Bytes that the fixes of one round insert.
pub static INSERTED: Limit = Limit::new(
    "inserted",
    64 << 20,
    "bytes",
    "a repair adds tables and closing records, and writes what compressed records hold, not whole \
     recordings",
);

/// Bytes of a structure that has to be held as one piece.
pub static WINDOW: Limit = Limit::new(
    "window",
    16 << 20,
    "bytes",
    "an attr table or a feature, which has to be in memory as one piece, is smaller",
);

/// Window of a zstd stream.
pub static ZSTD_WINDOW: Limit = Limit::new(
    "zstd-window",
    128 << 20,
    "bytes",
    "perf record -z 22 uses 128 MiB, which is also what libzstd's reader accepts by default",
);

/// Bytes that a recording may expand to, per byte of its length; 64 MiB are always allowed.
pub static EXPANSION_RATIO: Limit = Limit::new(
    "expansion-ratio",
    1_000,
    "bytes per byte",
    "zstd stays below 50,000 by its block structure, real perf recordings below 100",
);

/// Bytes that a search for the next valid record reads.
pub static RESYNC: Limit = Limit::new(
    "resync",
    64 << 20,
    "bytes",
    "the search for the next valid record after damage ends here",
);

/// Readings of a whole file that are compared.
pub static READINGS: Limit = Limit::new(
    "readings",
    16,
    "readings",
    "each is a check of the whole recording; a file that was damaged once has one or two",
);

/// Bytes that the search for readings of a whole file reads, and that are checked to compare them.
pub static READING_BYTES: Limit = Limit::new(
    "reading-bytes",
    1 << 30,
    "bytes",
    "the search for a doubled block, or for a recording without its beginning, ends here, after \
     some seconds; a longer recording gets one reading",
);

/// Steps after which no further reading of a whole file begins.
pub static READING_STEPS: Limit = Limit::new(
    "reading-steps",
    8 << 20,
    "steps",
    "a reading of a damaged trace takes up to 20 steps per byte; the first one, the most probable, \
     is read in any case",
);

/// Dropped bytes that a plan holds.
pub static PLAN: Limit = Limit::new(
    "plan",
    256 << 20,
    "bytes",
    "a plan contains the dropped bytes as hexadecimal text, so that it can be reversed",
);

/// Sections and groups of records of a map.
pub static MAP_REGIONS: Limit = Limit::new(
    "map-regions",
    65_536,
    "regions",
    "a layer has some hundred sections; the last region of one with more has all of the rest",
);

/// Fields of one region of a map.
pub static MAP_FIELDS: Limit = Limit::new(
    "map-fields",
    65_536,
    "fields",
    "a record has at most 64 KiB; of a longer table the number of further fields is shown",
);

/// Records that a picture places in time.
pub static TIMELINE: Limit = Limit::new(
    "timeline",
    10_000_000,
    "records",
    "each is read from its JSON, which takes some microseconds; the picture names the limit that \
     it reached",
);

/// Bytes per byte that a recording may expand to before an audit takes it for an expansion bomb.
pub static AUDIT_RATIO: Limit = Limit::new(
    "audit-ratio",
    100,
    "bytes per byte",
    "real perf recordings expand less; a recording that expands to 16 MiB at most is not a bomb",
);

/// Bytes of the fillers and names of a redaction.
pub static REDACTED: Limit = Limit::new(
    "redacted",
    256 << 20,
    "bytes",
    "a redaction holds its fillers in memory until they are written: 30,000 samples with 8 KiB of \
     stack each; an edit or a name counts 64 bytes more than its length",
);

/// Bytes that a cut holds.
pub static CUT: Limit = Limit::new(
    "cut",
    256 << 20,
    "bytes",
    "the records that a cut takes out of compressed ones are in memory until they are written; an \
     edit counts 64 bytes more than what it inserts",
);

/// Ways in which a file was wrapped or converted, one inside the other.
pub static TRANSPORTS: Limit = Limit::new(
    "transports",
    4,
    "ways",
    "a file in base64 of a compressed archive came three ways; each step reads all bytes",
);

/// Bytes of a recording that was compressed or packed.
pub static UNPACKED: Limit = Limit::new(
    "unpacked",
    1 << 30,
    "bytes",
    "a step writes its bytes to a temporary file, or to memory; larger recordings are unpacked by \
     their own tools",
);

/// Bytes per byte that a wrapper may expand to; 64 MiB are always allowed.
pub static UNPACKED_RATIO: Limit = Limit::new(
    "unpacked-ratio",
    1_000,
    "bytes per byte",
    "recordings compress to a tenth or a hundredth; a bomb has 1,000 (gzip) and more",
);

/// Files of an archive.
pub static UNPACKED_FILES: Limit = Limit::new(
    "unpacked-files",
    32_768,
    "files",
    "an ovni trace of a large machine has some thousand; a system maps 65,530 at a time",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_its_default_until_it_is_set() {
        let mut limits = Limits::default();
        assert_eq!(limits.of(&ROUNDS), 16);
        limits.set(&ROUNDS, 2);
        assert_eq!((limits.of(&ROUNDS), limits.count_of(&FIXES)), (2, 65_536));
    }
}

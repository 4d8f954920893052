//! The limits of ovni traces.

use crate::model::limits::{Limit, Limits, RESYNC};

/// All limits of ovni traces.
pub static LIMITS: &[&Limit] = &[
    &TASKS,
    &LOOM_CPUS,
    &JSON_BYTES,
    &JSON_DEPTH,
    &JSON_VALUES,
    &CLOCK_OFFSETS_BYTES,
    &CLOCK_BYTES,
    &CLOCK_PARTS,
    &REGION_BYTES,
    &SORT_BYTES,
    &KINDS,
    &RESTORED,
    &FILES,
];

/// Tasks, task types and bodies of one trace that are remembered.
pub static TASKS: Limit = Limit::new(
    "ovni-tasks",
    8 << 20,
    "tasks",
    "each takes some 30 bytes; a process that creates more has a trace of hundreds of MB for them \
     alone",
);

/// CPUs of one loom that a repair adds to the metadata.
pub static LOOM_CPUS: Limit = Limit::new(
    "ovni-loom-cpus",
    8_192,
    "CPUs",
    "no Linux kernel is built for more; a flipped bit in an event can name any number",
);

/// Length of a JSON file.
pub static JSON_BYTES: Limit = Limit::new(
    "ovni-json-bytes",
    4 << 20,
    "bytes",
    "labels of marks make some hundred KiB of metadata at most",
);

/// Objects and arrays of a JSON file that are open at once.
pub static JSON_DEPTH: Limit = Limit::new(
    "ovni-json-depth",
    64,
    "objects and arrays",
    "libovni writes 5; the emulator's reader accepts 2048",
);

/// Values of a JSON file.
pub static JSON_VALUES: Limit = Limit::new(
    "ovni-json-values",
    1 << 18,
    "values",
    "each takes some 100 bytes of memory; 65,536 CPUs make 196,608 values",
);

/// Length of the table of clock offsets.
pub static CLOCK_OFFSETS_BYTES: Limit = Limit::new(
    "ovni-clock-offsets-bytes",
    4 << 20,
    "bytes",
    "a line per host has some 80 bytes, which gives 50,000 hosts",
);

/// Length of the events whose clocks one fix shifts.
pub static CLOCK_BYTES: Limit = Limit::new(
    "ovni-clock-bytes",
    32 << 20,
    "bytes",
    "a plan holds these events twice; longer parts have no fix, and the finding says so",
);

/// Places of one stream at which clocks go back or bytes do not count.
pub static CLOCK_PARTS: Limit = Limit::new(
    "ovni-clock-parts",
    1 << 19,
    "places",
    "each takes 56 to 80 bytes, so that all take 42 MB; damage that leaves a person something to \
     analyse has some thousands",
);

/// Length of a region of events out of order that a repair sorts.
pub static REGION_BYTES: Limit = Limit::new(
    "ovni-region-bytes",
    1 << 20,
    "bytes",
    "a region is one flush of kernel events; the plan holds a copy of it",
);

/// Bytes of one stream that are read again to sort its regions.
pub static SORT_BYTES: Limit = Limit::new(
    "ovni-sort-bytes",
    8 << 20,
    "bytes",
    "regions that go far back would otherwise read the stream once per region; the next round of a \
     repair goes on",
);

/// Mark types and unknown models of one stream that are remembered.
pub static KINDS: Limit = Limit::new(
    "ovni-kinds",
    256,
    "kinds",
    "there are 100 mark types and 94 printable characters; damage can name any number",
);

/// Tasks and types of one process that a repair defines again.
pub static RESTORED: Limit = Limit::new(
    "ovni-restored",
    65_536,
    "definitions",
    "a lost buffer of 2 MiB has at most 100,000 events, of which few are definitions",
);

/// Limits that the walk of a stream needs, looked up once.
#[derive(Clone, Copy, Debug, Default)]
pub struct WalkLimits {
    /// Bytes that a search for valid events looks at.
    pub resync: u64,
    /// Length of the events whose clocks one fix shifts.
    pub clock_bytes: u64,
    /// Places at which clocks go back or bytes do not count.
    pub clock_parts: usize,
    /// Length of a region that is sorted.
    pub region_bytes: u64,
    /// Bytes that are read again to sort regions.
    pub sort_bytes: u64,
    /// Mark types and unknown models that are remembered.
    pub kinds: usize,
}

impl WalkLimits {
    /// Looks the limits up.
    pub fn new(limits: &Limits) -> Self {
        Self {
            resync: limits.of(&RESYNC),
            clock_bytes: limits.of(&CLOCK_BYTES),
            clock_parts: limits.count_of(&CLOCK_PARTS),
            region_bytes: limits.of(&REGION_BYTES),
            sort_bytes: limits.of(&SORT_BYTES),
            kinds: limits.count_of(&KINDS),
        }
    }
}

/// Files of one trace, those that are missing included.
pub static FILES: Limit = Limit::new(
    "ovni-files",
    60_000,
    "files",
    "a trace has two per thread, and the kernel maps about 65,000 at a time",
);

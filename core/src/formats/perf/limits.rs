//! The limits of perf.data.

use crate::limits::Limit;

/// All of them.
pub static LIMITS: &[&Limit] = &[&ATTRS, &IDS, &FILES];

/// Events (attrs) of one recording.
pub static ATTRS: Limit = Limit::new(
    "perf-attrs",
    65_536,
    "attrs",
    "perf record writes one attr per event; a recording of hundreds of events is the largest seen",
);

/// Ids of all attrs together.
pub static IDS: Limit = Limit::new(
    "perf-ids",
    4 << 20,
    "ids",
    "there is one id per event and CPU or thread; 4 million take 32 MiB",
);

/// Files of one recording that is a directory.
pub static FILES: Limit = Limit::new(
    "perf-files",
    65_536,
    "files",
    "perf record --threads writes one per CPU, and the kernel maps about this many at a time",
);

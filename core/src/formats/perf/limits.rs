//! The limits of perf.data.

use crate::limits::Limit;

/// All of them.
pub static LIMITS: &[&Limit] = &[&ATTRS, &IDS];

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

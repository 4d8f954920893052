//! The limits of apitrace traces.

use crate::model::limits::Limit;

/// All of them.
pub static LIMITS: &[&Limit] = &[
    &DEFINITIONS,
    &OPEN_CALLS,
    &PLACEHOLDERS,
    &NESTING,
    &LOST_LEAVES,
    &REWINDS,
    &SEEK_WINDOW,
    &DUMP_TEXT,
];

/// Definitions (functions, structs, enums, bitmasks, stack frames) of one trace.
pub static DEFINITIONS: Limit = Limit::new(
    "apitrace-definitions",
    1 << 20,
    "definitions",
    "the largest API has 3,000 functions; there is one stack frame per place in the program",
);

/// Calls that are open at once.
pub static OPEN_CALLS: Limit =
    Limit::new("apitrace-open-calls", 1 << 20, "open calls", "one call per thread is usually open");

/// Placeholder calls that a repair adds for one stretch of damage.
pub static PLACEHOLDERS: Limit = Limit::new(
    "apitrace-placeholders",
    1 << 20,
    "calls",
    "a gap of a million calls is about 20 MB of a trace; a flipped bit in a call number can ask \
     for any number",
);

/// Values inside values of one argument.
pub static NESTING: Limit = Limit::new(
    "apitrace-nesting",
    1_024,
    "levels",
    "other readers recurse and crash at about ten thousand levels; real traces have 2",
);

/// Leaves of lost calls that are remembered, so that a repair can drop them.
pub static LOST_LEAVES: Limit = Limit::new(
    "apitrace-lost-leaves",
    65_536,
    "leaves",
    "a lost call has one leave, and one per thread is usually open when the damage begins",
);

/// Times that a stream is read again from an earlier place.
pub static REWINDS: Limit = Limit::new(
    "apitrace-rewinds",
    64,
    "rewinds",
    "each may expand the whole stream again; a long string with a wrong length needs one",
);

/// Bytes that are held while the next valid event is sought.
pub static SEEK_WINDOW: Limit = Limit::new(
    "apitrace-seek-window",
    4 << 20,
    "bytes",
    "the events that prove a place lie within four chunks, apart from those with larger blobs",
);

/// Text of calls that a dump holds until they are left.
pub static DUMP_TEXT: Limit = Limit::new(
    "apitrace-dump-text",
    64 << 20,
    "bytes",
    "the sources of all shaders of a program take some megabytes; longer values are cut",
);

//! The limits of apitrace traces.

use crate::limits::Limit;

/// All of them.
pub static LIMITS: &[&Limit] = &[&DEFINITIONS, &OPEN_CALLS, &PLACEHOLDERS, &NESTING];

/// Definitions (functions, structs, enums, bitmasks, stack frames) of one trace.
pub static DEFINITIONS: Limit = Limit::new(
    "apitrace-definitions",
    1 << 20,
    "definitions",
    "the largest API has 3,000 functions; there is one stack frame per place in the program",
);

/// Calls that are open at once.
pub static OPEN_CALLS: Limit = Limit::new(
    "apitrace-open-calls",
    1 << 20,
    "calls",
    "as a rule one call per thread is open",
);

/// Placeholder calls that a repair adds for one stretch of damage.
pub static PLACEHOLDERS: Limit = Limit::new(
    "apitrace-placeholders",
    1 << 20,
    "calls",
    "a gap of a million calls is some 20 MB of a trace; a flipped bit in a call number can ask for \
     any number",
);

/// Values inside values of one argument.
pub static NESTING: Limit = Limit::new(
    "apitrace-nesting",
    1_024,
    "levels",
    "other readers recurse and crash at some ten thousand levels; real traces have 2",
);

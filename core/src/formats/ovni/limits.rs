//! The limits of ovni traces.

use crate::limits::Limit;

/// All of them.
pub static LIMITS: &[&Limit] = &[&TASKS, &LOOM_CPUS];

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

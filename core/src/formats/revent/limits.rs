//! The limits of revent recordings.

use crate::limits::Limit;

/// All of them.
pub static LIMITS: &[&Limit] = &[&INPUT_SLOTS, &RELEASED];

/// Contacts that are followed on one device.
pub static INPUT_SLOTS: Limit = Limit::new(
    "revent-slots",
    128,
    "slots",
    "touch screens have ten slots, the largest tables some dozens",
);

/// Events that a repair adds to release what is held at the end.
pub static RELEASED: Limit = Limit::new(
    "revent-released",
    1_024,
    "events",
    "ten fingers, a mouse and a keyboard need fifty; each is listed in the report",
);

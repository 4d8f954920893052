//! Faults that are reported once per stream, or once per state.

use std::collections::BTreeSet;

use crate::formats::ovni::layout::MODEL_COUNT;

/// Faults that were reported already.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// An event in the wrong state, since the state last changed.
    pub(super) state: bool,
    /// An event while the thread is off its CPU, since it last left it.
    pub(super) off_cpu: bool,
    /// Reserved flags.
    pub(super) flags: bool,
    /// Payload code of a jumbo event.
    pub(super) jumbo_code: bool,
    /// An event newer than the required version, per model.
    pub(super) newer: [bool; MODEL_COUNT],
    /// Unknown models, by their character.
    pub(super) unknown_models: BTreeSet<u8>,
}

/// Sets a flag; returns whether it was not set before.
pub(super) const fn is_first(flag: &mut bool) -> bool {
    !std::mem::replace(flag, true)
}

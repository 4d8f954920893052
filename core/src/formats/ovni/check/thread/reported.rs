//! Faults that are reported once per stream, or once per state.

use std::collections::{BTreeMap, VecDeque};

use crate::formats::ovni::layout::{MODEL_COUNT, STACK_COUNT};
use crate::formats::ovni::state::thread::EventPlace;
use crate::model::edit::Fix;

/// Faults that were reported already.
#[derive(Clone, Debug, Default)]
pub(super) struct Reported {
    /// A state beyond the depth of each stack, since a state was last closed.
    pub(super) too_deep: [bool; STACK_COUNT],
    /// Reserved flags.
    pub(super) flags: bool,
    /// Payload code of a jumbo event.
    pub(super) jumbo_code: bool,
    /// An event newer than the required version, per model.
    pub(super) newer: [bool; MODEL_COUNT],
    /// Events of unknown models, by its character.
    pub(super) unknown_models: BTreeMap<u8, Vec<EventPlace>>,
    /// Fixes of faults that the merge may report: those of the compared labels in the queue.
    pub(super) label_fixes: VecDeque<Fix>,
}

/// Sets a flag; returns whether it was not set before.
pub(super) const fn is_first(flag: &mut bool) -> bool {
    !std::mem::replace(flag, true)
}

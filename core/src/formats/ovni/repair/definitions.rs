//! Definitions of tasks and types that were lost, and labels without an end.

use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{EVENT_HEADER, JUMBO_SIZE, TASK_CODES, TASK_MODELS};
use crate::formats::ovni::repair::encode::{encode_event, encode_jumbo};
use crate::formats::ovni::state::summary::MissingDefinitions;
use crate::kit::span::{Layer, Span};
use crate::mend::edit::Edit;

/// Label of a type that was lost.
const LOST_LABEL: &[u8] = b"lost task type\0";

/// Returns the edit that defines the missing tasks and types of one task table before their first
/// use. `has_old_nosv` asks for the events of nosv version 1, which has no parallel tasks. `None`
/// if there are more than `max`.
pub fn restore_definitions(
    missing: &MissingDefinitions,
    table: usize,
    has_old_nosv: bool,
    max: usize,
) -> Option<Edit> {
    let count = missing.tasks.len().saturating_add(missing.types.len());
    if table >= TASK_MODELS || count > max {
        return None;
    }
    let first = TASK_CODES.get(table).copied().unwrap_or_default();
    let (of_type, of_task) = if first == b'P' { (b'O', b'P') } else { (b'Y', b'T') };
    let mut bytes = Vec::new();
    let own_type = if missing.tasks.is_empty() { None } else { Some(missing.free_type) };
    for id in missing.types.iter().copied().chain(own_type) {
        let data = [&id.to_le_bytes()[..], LOST_LABEL].concat();
        bytes.extend_from_slice(&encode_jumbo([first, of_type, b'c'], missing.clock, &data));
    }
    for (task, is_parallel) in &missing.tasks {
        let value = if *is_parallel && !has_old_nosv { b'C' } else { b'c' };
        let payload = [task.to_le_bytes(), missing.free_type.to_le_bytes()].concat();
        bytes.extend_from_slice(&encode_event([first, of_task, value], missing.clock, &payload));
    }
    let start = missing.span.start;
    Some(Edit::replace(Span::new(missing.span.layer, start, start), bytes))
}

/// Returns the edits that add a NUL to the label at the end of a jumbo event.
pub fn terminate_label(layer: Layer, event: &Event<'_>) -> Option<Vec<Edit>> {
    let size = u32::try_from(event.payload_len()).unwrap_or(u32::MAX).checked_add(1)?;
    let field = Span::sized(layer, event.at.saturating_add(EVENT_HEADER), JUMBO_SIZE);
    let end = Span::sized(layer, event.end(), 0);
    Some(vec![Edit::replace(field, size.to_le_bytes()), Edit::replace(end, [0])])
}

//! Definitions of tasks and types that were lost, and labels without an end.

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{
    self, EVENT_HEADER, Effect, JUMBO_SIZE, TASK_CODES, TASK_MODELS, TaskStep,
};
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::encode::{encode_event, encode_jumbo};
use crate::formats::ovni::state::summary::MissingDefinitions;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::kit::words::plural;
use crate::model::edit::{Edit, Fix};

/// Label of a type that was lost.
const LOST_LABEL: &[u8] = b"lost task type\0";

/// Returns the edit that defines the missing tasks and types of one task table before their first
/// use, where they were lost if that is known. `has_old_nosv` asks for the events of nosv version
/// 1, which has no parallel tasks. `None` if there are more than `max`.
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
    let (mut bytes, (place, clock)) = (Vec::new(), missing.place);
    let own_type = if missing.tasks.is_empty() { None } else { Some(missing.free_type) };
    for id in missing.types.iter().copied().chain(own_type) {
        let data = [&id.to_le_bytes()[..], LOST_LABEL].concat();
        bytes.extend_from_slice(&encode_jumbo([first, of_type, b'c'], clock, &data));
    }
    for (task, is_parallel) in &missing.tasks {
        let value = if *is_parallel && !has_old_nosv { b'C' } else { b'c' };
        let payload = [task.to_le_bytes(), missing.free_type.to_le_bytes()].concat();
        bytes.extend_from_slice(&encode_event([first, of_task, value], clock, &payload));
    }
    Some(Edit::replace(Span::new(place.layer, place.start, place.start), bytes))
}

/// Returns the fix that drops the body that the event at offset `at` starts: this event, and those
/// that pause, resume and end the body. `None` if the event starts no body. Looks at `left` bytes
/// at most, and takes those that it looked at from them.
pub fn drop_body(walk: &EventWalk<'_, '_>, at: u64, left: &mut u64) -> Option<Fix> {
    let layer = walk.layer();
    let mut depth = 0_u64;
    let mut body = None;
    let mut edits = Vec::new();
    for item in walk.restarted(at) {
        let Item::Record(event) = item else { break };
        *left = left.checked_sub(event.len)?;
        let [model, category, value] = event.code;
        let found = (model, category, event.u32_at(0), event.u32_at(4));
        let step = event.row.and_then(layout::row_at).map(|row| row.effect);
        let Some(Effect::Task(step)) = step else {
            // The first event starts the body.
            body?;
            continue;
        };
        let is_same = *body.get_or_insert(found) == found;
        if edits.is_empty() && step != TaskStep::Execute {
            return None;
        }
        if !is_same {
            continue;
        }
        debug_assert_eq!(value, step.value(), "the value of a task's event is its step");
        edits.push(Edit::drop(Span::sized(layer, event.at, event.len)));
        match step {
            TaskStep::Execute => depth = depth.saturating_add(1),
            TaskStep::End => depth = depth.saturating_sub(1),
            TaskStep::Pause | TaskStep::Resume => {}
        }
        if depth == 0 {
            break;
        }
    }
    let count = to_u64(edits.len());
    let summary = format!("drop the body: {}", plural(count, "event"));
    let mut fix = build_fix(summary, edits);
    fix.records_lost = count;
    (count > 0).then_some(fix)
}

/// Returns the edits that add a NUL to the label at the end of a jumbo event.
pub fn terminate_label(layer: Layer, event: &Event<'_>) -> Option<Vec<Edit>> {
    let size = u32::try_from(event.payload_len()).unwrap_or(u32::MAX).checked_add(1)?;
    let field = Span::sized(layer, event.at.saturating_add(EVENT_HEADER), JUMBO_SIZE);
    let end = Span::sized(layer, event.end(), 0);
    Some(vec![Edit::replace(field, size.to_le_bytes()), Edit::replace(end, [0])])
}

//! The body of a task, as events name it.

use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::model;

/// A body of a task, on the stack of bodies of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Id of the task.
    pub task: u32,
    /// Id of the body; 0 for tasks with one body.
    pub body: u32,
    /// It does not run now.
    pub is_paused: bool,
}

impl Body {
    /// Returns the body that an event moves, as if it ran.
    pub fn of(event: &Event<'_>, model: u8) -> Self {
        // Only bodies of nosv have ids; other models ignore a longer payload.
        let has_id = model == model::NOSV && event.payload.len() >= 8;
        let body = if has_id { event.u32_at(4) } else { 0 };
        Self { task: event.u32_at(0), body, is_paused: false }
    }

    /// Returns whether two bodies are one, running or paused.
    pub fn is(&self, other: &Self) -> bool {
        (self.task, self.body) == (other.task, other.body)
    }
}

//! Edits that repair a trace. Policy is not decided here, and no rule is named.
//!
//! ```text
//!  encode       one event to bytes              close      events that end a thread
//!  clock        clocks of events                tail       the end of a stream
//!  region       OU[ .. OU] in order             metadata   members that stream.json lacks
//!  definitions  tasks, types, labels            members    members added to a JSON text
//!  upgrade      the newest layout             aside      streams that do not count
//!  syntax       a damaged JSON text            offsets    clock-offsets.txt
//!  values       values instead of invalid ones   encoding   metadata in UTF-16
//!  process      values that threads share    cpus       numbers of CPUs
//! ```

pub mod aside;
pub mod clock;
pub mod close;
pub mod cpus;
pub mod definitions;
pub mod encode;
pub mod encoding;
pub mod members;
pub mod metadata;
pub mod offsets;
pub mod process;
pub mod region;
pub mod syntax;
pub mod tail;
pub mod upgrade;
pub mod values;

use crate::kit::span::Span;
use crate::model::edit::{Edit, Fix, Safety};

/// Builds a fix without witnesses: lossy if an edit drops or replaces recorded bytes, otherwise
/// synthetic.
pub fn build_fix(summary: impl Into<String>, edits: Vec<Edit>) -> Fix {
    let mut fix = Fix::new(Safety::Lossy, summary, edits);
    fix.safety = fix.class_by_edits();
    fix
}

/// Builds the fix that drops an event.
pub fn drop_event(event: Span) -> Fix {
    let mut fix = build_fix("drop the event", vec![Edit::drop(event)]);
    fix.records_lost = 1;
    fix
}

//! Bytes to items: the files of a trace, its JSON, its events. Nothing here judges.
//!
//! ```text
//!  trace          all files by their names -> TraceFiles; opens documents and streams
//!  json           stream.json -> values with the span of every key and value
//!  stream         stream.obs  -> header, and a walk over its events
//!  event_walk     one event after the other: Record(Event) | Damage
//!  body           the body of a task, as events name it
//!  clock_offsets  clock-offsets.txt -> Record(offset of a host) | Damage
//! ```

pub mod body;
pub mod clock_offsets;
pub mod event_walk;
pub mod files;
pub mod json;
pub mod stream;
pub mod tile;
pub mod trace;

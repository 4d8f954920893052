//! Bytes to items: the files of a trace, its JSON, its events. Nothing here judges.
//!
//! ```text
//!  trace          all files by their names -> TraceFiles; opens documents and streams
//!  json           stream.json -> values with the span of every key and value
//!  stream         stream.obs  -> header, and a walk over its events
//!  event_walk     one event after the other: Record(Event) | Damage
//!  clock_outline  clocks that go back, and the smallest shift that puts them in order
//!  clock_shift    shifts, and bytes between events that do not count
//!  repeat         bytes that occur twice in a row
//!  copied         events that occur again later in the stream
//!  resync         the next place at which several known events follow one another
//!  play_order     the order in which the emulator plays the events of several streams
//!  clock_offsets  clock-offsets.txt -> Record(offset of a host) | Damage
//! ```

pub mod clock_offsets;
pub mod clock_outline;
pub mod clock_shift;
pub mod copied;
pub mod event_walk;
pub mod files;
pub mod json;
pub mod play_order;
pub mod repeat;
pub mod resync;
pub mod stream;
pub mod tile;
pub mod trace;

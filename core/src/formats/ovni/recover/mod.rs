//! The most likely order and place of events around damage. Names no rule; `decode` does not import
//! it.
//!
//! ```text
//!  clock_outline  clocks that go back, and the smallest shift that puts them in order
//!  clock_shift    shifts, and bytes between events that do not count
//!  repeat         bytes that occur twice in a row
//!  copied         events that occur again later in the stream
//!  inserted       zeros that were inserted
//!  exchanged      two blocks that changed places
//!  reordered      blocks that changed places several times
//!  joint          the places at which parts of a stream may follow one another
//!  flips          events of which one bit was inverted
//!  task_ids       which events create and start each task
//!  sequences      which codes follow each other
//!  needs          states that events close and that none of them opened
//!  stretch        the needs of the events from a place on
//!  stretches      the parts of a stream between losses, and the needs of each place
//!  older_run      events of an earlier run after those of a shorter one
//!  resync         the next place at which several known events follow one another
//!  play_order     the order in which the emulator plays the events of several streams
//! ```

pub mod clock_outline;
pub mod clock_shift;
pub mod copied;
pub mod exchanged;
pub mod flips;
pub mod inserted;
mod joint;
pub mod needs;
pub mod older_run;
pub mod play_order;
mod reordered;
pub mod repeat;
pub mod resync;
pub mod sequences;
pub mod stretch;
pub mod stretches;
pub mod task_ids;

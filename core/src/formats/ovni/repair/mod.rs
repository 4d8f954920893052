//! Edits that repair a trace. Policy is not decided here, and no rule is named.
//!
//! ```text
//!  encode       one event to bytes              close      events that end a thread
//!  clock        clocks of events                tail       the end of a stream
//!  region       OU[ .. OU] in order             metadata   members that stream.json lacks
//!  definitions  tasks, types, labels            members    members added to a JSON text
//!  upgrade      the newest layout
//! ```

pub mod clock;
pub mod close;
pub mod definitions;
pub mod encode;
pub mod members;
pub mod metadata;
pub mod region;
pub mod tail;
pub mod upgrade;

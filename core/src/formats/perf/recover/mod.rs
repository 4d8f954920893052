//! The most likely original of damaged bytes. Names no rule; `decode` does not import it.
//!
//! ```text
//!  outline      attrs, ids and end, before the first record
//!  end          where the records end
//!  restore      damaged parts of the outline, restored from their copies
//!  changed      the byte that makes a compressed record invalid
//!  partly       the records that are known although a block is damaged
//!  doubt        the expanded records that others contradict
//!  donor machine   TRACING_DATA of another recording, and the features of its machine
//!  joined       recordings one after the other in a file
//!  tracepoints  the rest of a damaged TRACING_DATA
//!  newer        records that an older perf does not read
//! ```

pub mod changed;
pub mod donor;
pub mod doubt;
pub mod end;
pub mod joined;
pub mod machine;
pub mod newer;
pub mod outline;
pub mod partly;
pub mod restore;
pub mod tracepoints;

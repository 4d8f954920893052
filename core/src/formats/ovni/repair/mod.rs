//! Edits that mend a trace: events that close a thread, members that complete its metadata.

pub mod close;
pub mod complete;
pub mod json;

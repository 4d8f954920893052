//! Bytes to facts: the files of a trace, its JSON, its streams. Nothing here judges.

pub mod files;
pub mod json;
pub mod stream;
pub mod tile;

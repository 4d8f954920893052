//! Bytes to items: states what is there, never judges.

pub mod attr;
pub mod feature;
pub mod header;
pub mod record;
pub mod sample;
pub mod tile;
pub mod tracing;
pub mod walk;

//! The formats, one folder each, all of the same shape.
//!
//! `layout` holds facts, `rules` the codes, `decode` turns bytes into items that tile, `check`
//! turns items into findings, `repair` builds the edits that findings carry.

pub mod apitrace;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod revent;

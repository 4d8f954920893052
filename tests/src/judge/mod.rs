//! The formats own tools as judges. A judge that is not installed is reported as skipped by name.

pub mod apitrace;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod revent;

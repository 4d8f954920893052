//! Builders of recordings, one file per format: sound by construction, one method per damage.

pub mod apitrace;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod revent;

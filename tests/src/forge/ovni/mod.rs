//! ovni traces, assembled event by event.
//!
//! A [`Stream`] is bytes; a [`Trace`] is files by name, of which some may be missing. [`clean()`] are
//! sound traces of every model; a damage is a change of one of their files.

pub mod clean;
pub mod trace;

pub use clean::{Clean, by_name, clean, version1, version2};
pub use trace::{Stream, Thread, Trace};

//! ovni traces, assembled event by event.
//!
//! A [`Stream`] is a sequence of bytes; a [`Trace`] is a set of files by name, some of which may be
//! missing. [`clean()`] returns sound traces of every model; a test damages one of their files.

pub mod clean;
pub mod damage;
pub mod random;
pub mod trace;
pub mod values;

pub use clean::{Clean, by_name, clean, version1, version2};
pub use random::{Random, random, random_run, thread_of_run};
pub use trace::{Stream, Thread, Trace};

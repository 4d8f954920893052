//! Nouns that `check` fills and `repair` reads: what is known of a trace.
//!
//! ```text
//!  metadata   one stream.json       system   all of them: looms, processes, threads
//!  thread     one stream.obs        summary  everything, once all streams were walked
//! ```

pub mod metadata;
pub mod summary;
pub mod system;
pub mod thread;

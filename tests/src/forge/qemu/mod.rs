//! Assembles QEMU logs byte by byte, without the core of tracemend: a second opinion on the format.
//!
//! - [`ids`]: the ids of the events in each layout. [`log`]: events and logs. [`mod@clean`]: the
//!   ready-made logs.
//!
//! ```
//! use tracemend_tests::forge::qemu::{Log, ids};
//! let mut log = Log::new(ids::of("7.2"));
//! log.start().instruction(100).exception().instruction(5);
//! let killed = log.killed(log.bytes.len() - 1);
//! assert_eq!(killed[..4], [0; 4]);
//! // The truncated INSTRUCTION is dropped; the EXCEPTION needs no event after it.
//! assert_eq!(log.mended(killed.len())[log.marks[7].end..], [14, 39]);
//! ```

pub mod clean;
pub mod ids;
pub mod log;

pub use clean::{all, every, long};
pub use ids::{Ids, Sound};
pub use log::{Log, Mark, array};

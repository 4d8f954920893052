//! Paths, recordings and outputs, and the rights to them.
//!
//! ```text
//!  paths < lost < mapped < recording < directory < found < walk < input: from paths to recordings
//!  arrival: recordings that were wrapped or converted on their way
//!  embedded: runs inside another program, whose handlers of signals and maps stay
//!  access in_use places: who may read an output, who writes an input, which path is used twice
//!  output: bytes to a complete file, or none
//!  streams sandbox: standard streams, and the rights that a run gives up
//! ```

pub(crate) mod access;
pub(crate) mod arrival;
pub(crate) mod directory;
pub(crate) mod embedded;
pub(crate) mod found;
pub(crate) mod in_use;
pub(crate) mod input;
mod lost;
pub(crate) mod mapped;
pub(crate) mod neighbours;
pub(crate) mod output;
pub(crate) mod paths;
pub(crate) mod places;
pub(crate) mod recording;
pub mod sandbox;
pub(crate) mod single;
pub(crate) mod skipped;
pub(crate) mod streams;
pub(crate) mod sum;
pub(crate) mod walk;
pub(crate) mod writer;

//! The judge of what formats read: dangerous and private content.
//!
//! ```text
//!  tiles and fields of the decoders -> Auditor, which judges texts, paths and bytes
//!    v
//!  topics: rule and field -> count, first place, excerpt     a recording has some dozens
//!    v
//!  findings with the codes AU0... (for a recipient) and AU1... (for a sender)
//! ```
//!
//! - `auditor`: the topics
//! - `text`: characters that deceive, paths that leave the recording, secrets
//! - `content`: the likely content of bytes
//! - `filler`: bytes that take the place of private ones
//! - `place`: where private bytes lie
//! - `tiles`: the fields of the tiles, and the bytes that no known field claims
//! - `harmless`: words that are no secret
//! - `rules`: the codes
//!
//! A format passes what its decoders read; no second decoder looks for anything. One finding stands
//! for all sightings of a rule in a field, so memory and output do not grow with the recording.

mod auditor;
pub mod content;
mod excerpt;
pub mod filler;
pub mod harmless;
mod place;
pub mod rules;
pub mod text;
mod tiles;

pub use auditor::{AuditRequest, Auditor};
pub use excerpt::Excerpt;
pub use place::{NamePart, Place, Private, PrivateSink, Subject, find_byte};
pub use tiles::{Knowledge, TileReader};

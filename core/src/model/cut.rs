//! The result of a cut: the reasons why a part of a recording cannot be written as a recording.

use std::fmt;

use crate::kit::words::plural;

/// The reason why a recording was not cut.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CutError {
    /// No format recognises the recording.
    UnknownFormat,
    /// Recordings of the format cannot be cut.
    Unsupported,
    /// The recording has this many errors, so nothing is known about the records that a part needs.
    Damaged(u64),
    /// A limit was reached.
    Limit(String),
    /// The recording, or the interval, does not allow it; the text is a sentence.
    Refused(String),
    /// The part would be worse than the recording.
    Harm(String),
}

impl fmt::Display for CutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFormat => f.write_str("unknown format"),
            Self::Unsupported => f.write_str("recordings of this format cannot be cut"),
            Self::Damaged(errors) => {
                let errors = plural(*errors, "error");
                write!(f, "the recording has {errors}: the records that a part needs may be lost")
            }
            Self::Limit(text) | Self::Refused(text) => f.write_str(text),
            Self::Harm(harm) => write!(f, "the part would be worse than the recording: {harm}"),
        }
    }
}

impl std::error::Error for CutError {}

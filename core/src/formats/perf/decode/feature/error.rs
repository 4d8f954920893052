//! The reason why a section does not follow the structure of its feature.

use std::fmt;

use crate::kit::cursor::ReadError;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::words::byte_count;

/// The first fault in a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeatureError {
    /// A field is truncated.
    Short(ReadError),
    /// A count is larger than the rest of the section.
    CountTooLarge {
        /// The field.
        label: &'static str,
        /// Its value.
        value: u64,
        /// Bytes left for the entries.
        left: u64,
        /// The bytes of the count.
        span: Span,
    },
    /// A string has no NUL, so readers in C run past its end.
    StringWithoutNul {
        /// The field.
        label: &'static str,
        /// Its length in bytes.
        len: u64,
        /// The string and its length.
        span: Span,
    },
    /// A text has a byte that it cannot have.
    Text {
        /// The field.
        label: &'static str,
        /// The text up to the byte.
        span: Span,
    },
    /// A name of no character, or with one that nobody can type.
    NoName {
        /// The field.
        label: &'static str,
        /// The name and its length.
        span: Span,
    },
    /// A version that no reader knows.
    Version {
        /// The field.
        label: &'static str,
        /// Its value.
        value: u64,
        /// Its place.
        span: Span,
    },
    /// A feature that only files have.
    OnlyInFiles {
        /// Its number.
        value: u64,
        /// Its place.
        span: Span,
    },
    /// A number that the field cannot have.
    Number {
        /// The field.
        label: &'static str,
        /// Its value.
        value: u64,
        /// The smallest and the largest number that it can have.
        range: (u64, u64),
        /// Its place.
        span: Span,
    },
    /// An entry is smaller than its own header.
    EntryTooSmall {
        /// The field.
        label: &'static str,
        /// Its value in bytes.
        size: u64,
        /// Size of the header in bytes.
        min: u64,
        /// The header of the entry.
        span: Span,
    },
    /// A number that occurs twice where each is listed once.
    Twice {
        /// The field.
        label: &'static str,
        /// Its value.
        value: u64,
        /// Its place.
        span: Span,
    },
    /// A size that is not a number of complete pages.
    Pages {
        /// The field.
        label: &'static str,
        /// Its value in bytes.
        value: u64,
        /// Its place.
        span: Span,
    },
    /// The number of CPUs, by which the feature is read, is unknown.
    NeedsCpus {
        /// The feature.
        span: Span,
    },
    /// A fixed sequence of bytes is missing.
    BadMagic {
        /// The expected bytes.
        expected: &'static [u8],
        /// The bytes found.
        found: Vec<u8>,
        /// Their place.
        span: Span,
    },
}

impl FeatureError {
    /// The bytes at which the fault begins.
    pub const fn span(&self) -> Span {
        match self {
            Self::Short(error) => error.left,
            Self::CountTooLarge { span, .. }
            | Self::StringWithoutNul { span, .. }
            | Self::Text { span, .. }
            | Self::NoName { span, .. }
            | Self::Version { span, .. }
            | Self::OnlyInFiles { span, .. }
            | Self::Number { span, .. }
            | Self::EntryTooSmall { span, .. }
            | Self::Twice { span, .. }
            | Self::Pages { span, .. }
            | Self::NeedsCpus { span }
            | Self::BadMagic { span, .. } => *span,
        }
    }
}

impl fmt::Display for FeatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(error) => error.fmt(f),
            Self::CountTooLarge { label, value, left, span } => {
                let left = byte_count(*left);
                write!(
                    f,
                    "{label} is {value}, too many for the remaining {left} at {:#x}",
                    span.end
                )
            }
            Self::StringWithoutNul { label, len, span } => {
                let len = byte_count(*len);
                write!(f, "{label} at {:#x} is unterminated: no NUL in {len}", span.start)
            }
            Self::Text { label, span } => {
                write!(f, "{label} at {:#x} is malformed at {:#x}", span.start, span.end)
            }
            Self::NoName { label, span } => {
                write!(f, "{label} at {:#x} is empty or has control characters", span.start)
            }
            Self::Version { label, value, span } => {
                write!(f, "{label} at {:#x} is {value}, expected 1", span.start)
            }
            Self::OnlyInFiles { value, span } => {
                write!(f, "feat_id at {:#x} is {value}, a feature that only files have", span.start)
            }
            Self::Number { label, value, range: (least, most), span } => {
                write!(f, "{label} at {:#x} is {value}, expected {least} to {most}", span.start)
            }
            Self::EntryTooSmall { label, size, min, span } => {
                write!(f, "{label} at {:#x} is {size}, expected at least {min}", span.start)
            }
            Self::Twice { label, value, span } => {
                write!(f, "duplicate {label} at {:#x}: {value}", span.start)
            }
            Self::Pages { label, value, span } => {
                write!(f, "{label} at {:#x} is {value}, expected a multiple of 4096", span.start)
            }
            Self::NeedsCpus { .. } => write!(f, "NRCPUS, by which it is read, is missing"),
            Self::BadMagic { expected, found, span } => {
                let (expected, found) = (Untrusted(expected), Untrusted(found));
                write!(f, "found `{found}` at {:#x}, expected `{expected}`", span.start)
            }
        }
    }
}

impl std::error::Error for FeatureError {}

impl From<ReadError> for FeatureError {
    fn from(error: ReadError) -> Self {
        Self::Short(error)
    }
}

//! Errors and helpers that the bodies of samples and of all other records share.

use std::fmt;

use crate::kit::cursor::{Cursor, ReadError};
use crate::kit::row::{Row, row_size};
use crate::kit::span::Span;
use crate::kit::words::byte_count;

/// The reason why the body of a record cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// A field is truncated.
    Short(ReadError),
    /// A count or size is larger than the rest of the record.
    Count {
        /// The field.
        label: &'static str,
        /// Its value.
        value: u64,
        /// The largest value for which the record has room.
        most: u64,
        /// The bytes of the field.
        span: Span,
    },
    /// A value is above the largest one that the format defines.
    TooLarge {
        /// The field.
        label: &'static str,
        /// Its value.
        value: u64,
        /// The largest defined value.
        most: u64,
        /// The bytes of the field.
        span: Span,
    },
    /// A value is not the only one that its neighbours allow.
    Differs {
        /// The field.
        label: &'static str,
        /// Its value.
        value: u64,
        /// The right value.
        right: u64,
        /// The bytes of the field.
        span: Span,
    },
    /// An id is that of no event.
    Unknown {
        /// The field.
        label: &'static str,
        /// Its value.
        value: u64,
        /// The bytes of the field.
        span: Span,
    },
    /// A count is 0, but there always is an entry.
    Zero {
        /// The field.
        label: &'static str,
        /// The bytes of the field.
        span: Span,
    },
    /// A name of no character, or with one that nobody can type.
    NoName {
        /// The field.
        label: &'static str,
        /// The name.
        span: Span,
    },
    /// A string has no NUL.
    Unterminated {
        /// The field.
        label: &'static str,
        /// The bytes without a NUL.
        span: Span,
    },
}

impl BodyError {
    /// The name of the field at fault.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Short(error) => error.label,
            Self::Count { label, .. }
            | Self::TooLarge { label, .. }
            | Self::Differs { label, .. }
            | Self::Unknown { label, .. }
            | Self::Zero { label, .. }
            | Self::NoName { label, .. }
            | Self::Unterminated { label, .. } => label,
        }
    }
}

#[cfg(test)]
impl BodyError {
    /// The bytes of the field, or the rest of the record if the field is truncated.
    pub(super) const fn span(&self) -> Span {
        match self {
            Self::Short(error) => error.left,
            Self::Count { span, .. }
            | Self::TooLarge { span, .. }
            | Self::Differs { span, .. }
            | Self::Unknown { span, .. }
            | Self::Zero { span, .. }
            | Self::NoName { span, .. }
            | Self::Unterminated { span, .. } => *span,
        }
    }
}

impl From<ReadError> for BodyError {
    fn from(error: ReadError) -> Self {
        Self::Short(error)
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(error) => error.fmt(f),
            Self::Count { label, value, most, .. } => {
                write!(f, "{label} is {value}, but the record has room for {most}")
            }
            Self::TooLarge { label, value, most, .. } => {
                write!(f, "{label} is {value}, expected at most {most}")
            }
            Self::Differs { label, value, right, .. } => {
                write!(f, "{label} is {value:#x}, expected {right:#x}")
            }
            Self::Unknown { label, value, .. } => {
                write!(f, "{label} is {value:#x}, which no event has")
            }
            Self::Zero { label, .. } => write!(f, "{label} is 0, expected at least 1"),
            Self::NoName { label, .. } => {
                write!(f, "{label} is empty or has control characters")
            }
            Self::Unterminated { label, span } => {
                write!(f, "{label} is unterminated: no NUL in {}", byte_count(span.len()))
            }
        }
    }
}

impl std::error::Error for BodyError {}

/// The place of a count that was just read, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountField {
    /// Distance from the start of the count to the position of the cursor.
    pub(super) before: u64,
    /// Size of the count.
    pub(super) size: u64,
}

/// A u64 that ends at the position of the cursor.
pub(super) const COUNT64: CountField = CountField { before: 8, size: 8 };

/// Skips `count` entries of `size` bytes.
///
/// # Errors
///
/// The entries do not fit in the rest of the record. The error names the count, which is the
/// field at fault.
#[inline]
pub(super) fn skip_counted(
    cursor: &mut Cursor<'_>,
    count: u64,
    size: u64,
    label: &'static str,
    field: CountField,
) -> Result<(), BodyError> {
    match cursor.skip(count, size, label) {
        Ok(()) => Ok(()),
        Err(_) => Err(count_error(cursor, count, size, label, field)),
    }
}

/// Skips `count` rows as [`skip_counted`] does, and notes each if a log wants the entries of lists.
#[inline]
pub(super) fn skip_rows(
    cursor: &mut Cursor<'_>,
    count: u64,
    row: &Row,
    label: &'static str,
    field: CountField,
) -> Result<(), BodyError> {
    match cursor.skip_rows(count, row, label) {
        Ok(()) => Ok(()),
        Err(_) => Err(count_error(cursor, count, row_size(row), label, field)),
    }
}

#[cold]
pub(super) fn count_error(
    cursor: &Cursor<'_>,
    value: u64,
    size: u64,
    label: &'static str,
    field: CountField,
) -> BodyError {
    let most = cursor.left().checked_div(size).unwrap_or(0);
    let start = cursor.position().saturating_sub(field.before);
    let span = Span::sized(cursor.ahead().layer, start, field.size);
    BodyError::Count { label, value, most, span }
}

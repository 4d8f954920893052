//! The reasons why a head cannot be read.

use crate::kit::cursor::ReadError;
use crate::kit::span::Span;

/// The reason why a head cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadError {
    /// The file has neither a magic nor a layout without one.
    UnknownFormat {
        /// The first bytes, at most 8.
        first: Vec<u8>,
    },
    /// The file ends inside the head.
    Truncated(ReadError),
    /// The file consists of the 16-byte header.
    HeaderOnly,
    /// The version is unknown, and no known layout fits the file.
    Version(u16),
    /// The mode is unknown, and neither mode fits the file.
    Mode(u16),
    /// There are no devices, or too many.
    DeviceCount {
        /// The field.
        span: Span,
        /// Its value.
        count: u64,
    },
    /// A path is empty or too long.
    Path {
        /// The length of the path.
        span: Span,
        /// Number of the device.
        index: u64,
        /// Value of the length.
        len: u64,
    },
    /// The name of a gamepad is too long.
    Name {
        /// The length of the name.
        span: Span,
        /// Its value.
        len: u64,
    },
    /// There are more axis descriptions than axes.
    Axes {
        /// The field.
        span: Span,
        /// Its value.
        count: u64,
    },
}

impl From<ReadError> for HeadError {
    fn from(error: ReadError) -> Self {
        Self::Truncated(error)
    }
}

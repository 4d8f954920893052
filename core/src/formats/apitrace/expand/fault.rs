//! Faults of stored units.

/// A fault of the stored bytes of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file ends inside the unit.
    Truncated {
        /// The length that the unit states, if it states one.
        stated: Option<u64>,
    },
    /// It does not decode to its end.
    Corrupt {
        /// Why not: the decoder's own words.
        detail: String,
    },
    /// Its length is wrong; its end was found by the form of the next unit.
    Length {
        /// The length in the file.
        stated: u64,
        /// The length that leads to the next unit.
        found: u64,
        /// Whether the unit decodes with that length.
        whole: bool,
        /// Whether the bytes that it decodes to, encoded again, are the unit: then no byte of it
        /// was added, lost or changed.
        is_proven: bool,
    },
    /// It expands to more than readers have room for, or is stored in more.
    TooLarge,
    /// It holds no byte of the stream.
    Empty,
    /// Too few bytes for a further unit.
    Trailing,
    /// Zeros after the last unit, up to the end of the file.
    Zeros,
    /// A checksum does not match the bytes.
    Checksum {
        /// Which one.
        what: &'static str,
        /// The stored value.
        stated: u64,
        /// The value of the bytes.
        found: u64,
    },
    /// The header of a gzip member or of a brotli stream, or the magic of a zstd frame, is invalid;
    /// the data after it is found by its form.
    Header {
        /// Where the data begins in the file.
        data: u64,
    },
    /// The seek table does not match the frames.
    SeekTable {
        /// Frames in the table.
        stated: u64,
        /// Frames in the file.
        found: u64,
    },
    /// A second trace begins here.
    SecondTrace,
    /// It does not decode, and the search for the next unit reached its limit.
    SearchEnded,
    /// More than the limits allow.
    Limit {
        /// Which limit, with its number.
        message: String,
    },
}

impl Fault {
    /// Whether bytes of the stream are missing after the block that carries the fault.
    pub const fn loses_bytes(&self) -> bool {
        match self {
            Self::Truncated { .. }
            | Self::Corrupt { .. }
            | Self::SearchEnded
            | Self::Limit { .. } => true,
            Self::Length { whole, .. } => !*whole,
            Self::TooLarge
            | Self::Empty
            | Self::Trailing
            | Self::Zeros
            | Self::Checksum { .. }
            | Self::Header { .. }
            | Self::SeekTable { .. }
            | Self::SecondTrace => false,
        }
    }
}

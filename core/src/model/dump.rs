//! The request of a dump, and its result.

/// The form of a dump. Filters are options of the format, see
/// [`FormatOptions`](crate::model::description::FormatOptions).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dump {
    /// Text for people and other tools, in a style of the format; in the first one if it is `None`.
    Text {
        /// The name of the style.
        style: Option<String>,
    },
    /// One JSON object per record and line: `offset`, `length`, `kind`, then the fields with the
    /// names of the format.
    JsonLines,
}

impl Default for Dump {
    fn default() -> Self {
        Self::Text { style: None }
    }
}

/// The counts of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dumped {
    /// Number of records that were written.
    pub records: u64,
    /// Number of bytes that are not valid records and were left out.
    pub left_out: u64,
}

/// The reason why a dump or a comparison is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DumpError {
    /// The format has no dump.
    None,
    /// The format has no such style.
    Style(String),
    /// An option is missing, or its value does not exist in the recording; the text is a sentence.
    Choice(String),
    /// The recording cannot be read; a check gives the reason.
    Unreadable,
    /// A limit was reached; the text names it.
    Limit(String),
}

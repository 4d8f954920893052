//! What only the user can decide: where several repairs are right, or one has to be asked for.
//!
//! A choice that a format does not know is ignored by it; the command line says for which format
//! each is meant.

/// The choices of one run. The default is what loses and invents least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choices {
    /// How a recording that never ended is brought to its end.
    pub strategy: Option<Strategy>,
    /// Bring the recording to the newest layout of its format (revent, ovni).
    pub upgrade: bool,
    /// Whether what is still held down at the end is let go (revent).
    pub release: Release,
    /// Release of QEMU that wrote the log, as in `7.2` (qemu).
    pub qemu_version: Option<String>,
    /// Add the leaves of calls that were never left (apitrace).
    pub close_calls: bool,
    /// Which of two traces in one file is kept: 1 or 2 (apitrace).
    pub part: Option<u32>,
}

/// How a recording that never ended is brought to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Add what is missing behind what there is.
    Close,
    /// Cut every part where all of them are still whole and agree.
    Cut,
    /// Keep what stands before the first damage and drop the rest.
    Prefix,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Close, Self::Cut, Self::Prefix];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Cut => "cut",
            Self::Prefix => "prefix",
        }
    }
}

/// Whether what is still held down at the end of a recording of input events is let go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Release {
    /// Where the recorder was killed; not where it ended by itself.
    #[default]
    Auto,
    /// Whenever something is held.
    Always,
    /// Never.
    Never,
}

impl Release {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Always, Self::Never];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

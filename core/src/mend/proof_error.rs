//! The reasons why a proof fails.

use std::fmt;

use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::words::{byte_count, plural};
use crate::mend::plan::{Digest, PlanError};

/// The reason why source, plan and target do not belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofError {
    /// The plan cannot be used.
    Plan(PlanError),
    /// Recording and plan differ in the number of files.
    FileCount {
        /// Number of files in the plan.
        planned: usize,
        /// Number of files in the recording.
        found: usize,
    },
    /// Length or checksum of a file differ from the plan.
    Digest {
        /// `source` or `output`.
        which: &'static str,
        /// The digest in the plan.
        planned: Digest,
        /// The digest of the file.
        found: Digest,
    },
    /// A witness of an exact fix has other bytes than the plan states.
    Witness {
        /// Code of the finding that was repaired.
        code: String,
        /// The bytes.
        span: Span,
    },
    /// No witness of an exact fix is kept as it was.
    NoWitness {
        /// Code of the finding that was repaired.
        code: String,
    },
    /// A byte differs.
    Byte {
        /// `source` or `output`.
        which: &'static str,
        /// Offset of the first byte that differs, in that file.
        offset: u64,
    },
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::FileCount { planned, found } => {
                let planned = plural(to_u64(*planned), "file");
                write!(f, "the plan lists {planned}, but the recording has {found}")
            }
            Self::Digest { which, planned, found } => write!(
                f,
                "the {which} does not match the plan: {} with CRC-32 {}, expected {} \
                 with CRC-32 {}",
                byte_count(found.length),
                found.crc32,
                byte_count(planned.length),
                Untrusted(planned.crc32.as_bytes()),
            ),
            Self::Witness { code, span } => {
                let code = Untrusted(code.as_bytes());
                write!(f, "the witness {span} of the exact fix of {code} differs from the plan")
            }
            Self::NoWitness { code } => {
                let code = Untrusted(code.as_bytes());
                write!(f, "the exact fix of {code} has no witness that is kept as it was")
            }
            Self::Byte { which, offset } => {
                write!(f, "the byte at {offset:#x} of the {which} differs from the plan")
            }
        }
    }
}

impl std::error::Error for ProofError {}

impl From<PlanError> for ProofError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

//! The ways in which a file was wrapped or converted, in a plan.

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::{Digest, PlanError};
use crate::kit::text::Untrusted;
use crate::kit::wrapper::Wrapper;
use crate::model::arrival::Undone;
use crate::model::recording::FileSet;

/// A way in which a file was wrapped or converted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct PlanStep {
    /// The name of the way, such as `gzip`; see [`Wrapper::name`].
    pub way: String,
    /// The name of the file, relative to the recording.
    pub file: String,
    /// The file before it is undone.
    pub stored: Digest,
}

impl PlanStep {
    /// Returns the ways of file number `index`.
    pub(super) fn of_file(files: &FileSet<'_>, index: u32) -> Vec<Self> {
        let undone = files.undone().iter();
        undone.filter(|one| one.finding.span.layer.file == index).map(Self::new).collect()
    }

    fn new(undone: &Undone) -> Self {
        let stored =
            Digest { length: undone.length, crc32: format!("{:08x}", undone.crc32), absent: false };
        Self { way: undone.wrapper.name().to_string(), file: undone.file.clone(), stored }
    }

    /// Returns the way.
    ///
    /// # Errors
    ///
    /// If this version does not know it.
    pub fn wrapper(&self) -> Result<Wrapper, PlanError> {
        let known = Wrapper::ALL.iter().find(|way| way.name() == self.way);
        let unknown = || {
            let way = Untrusted(self.way.as_bytes());
            PlanError::Inconsistent(format!("the way `{way}` is not known"))
        };
        known.copied().ok_or_else(unknown)
    }
}

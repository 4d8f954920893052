//! The witnesses of exact fixes in a plan: a verification reads them again.

use std::collections::BTreeMap;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::mend::applied::Applied;
use crate::mend::plan::crc32;
use crate::model::edit::Safety;
use crate::model::recording::FileSet;

/// A fix whose value other bytes determine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct ExactFix {
    /// Code of its finding.
    pub code: String,
    /// Field of its finding.
    pub path: String,
    /// The bytes that determine what the fix writes; at least one of them is kept.
    pub witnesses: Vec<PlanWitness>,
}

/// Bytes of the source that determine what an exact fix writes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct PlanWitness {
    /// Number of the file in the plan, from 0.
    pub file: u32,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// CRC-32 of the bytes.
    pub crc32: String,
    /// What the bytes are.
    pub meaning: String,
}

impl PlanWitness {
    /// The bytes.
    pub(crate) const fn span(&self) -> Span {
        Span::new(Layer::stored(self.file), self.start, self.end)
    }
}

/// Returns the exact fixes among `applied` that have witnesses.
pub(super) fn collect(applied: &[Applied], files: &FileSet<'_>) -> Vec<ExactFix> {
    // Fixes of one cause share their witnesses.
    let mut sums: BTreeMap<Span, String> = BTreeMap::new();
    let exact = applied.iter().filter(|one| one.class == Safety::Exact);
    let of = |one: &Applied| ExactFix {
        code: one.finding.rule.code.to_string(),
        path: one.finding.path.to_string(),
        witnesses: one
            .witnesses
            .iter()
            .map(|witness| {
                let span = witness.span;
                let sum = sums.entry(span).or_insert_with(|| sum_of(span, files));
                PlanWitness {
                    file: span.layer.file,
                    start: span.start,
                    end: span.end,
                    crc32: sum.clone(),
                    meaning: witness.meaning.to_string(),
                }
            })
            .collect(),
    };
    exact.filter(|one| !one.witnesses.is_empty()).map(of).collect()
}

/// Returns the CRC-32 of a span.
pub(crate) fn sum_of(span: Span, files: &FileSet<'_>) -> String {
    let file = usize::try_from(span.layer.file).unwrap_or(usize::MAX);
    let source = files.files().get(file).map_or_else(Source::absent, |file| file.bytes.clone());
    let pieces: Vec<&[u8]> = source.slices(span.start, span.end).collect();
    crc32(&pieces)
}

//! The plan of a repair: a file that lists every change, so that anyone can check the result.
//!
//! A plan is JSON with one object per file of the recording: CRC-32 and length of source and
//! output, and every edit with its old and new bytes, the codes of its findings and its class. The
//! last member, `seal`, is the CRC-32 of all other bytes of the plan, so a changed plan is refused.

mod step;
mod touched;
pub(crate) mod witnesses;

use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
#[cfg(feature = "json")]
use crate::kit::text::is_safe;
use crate::kit::text::{Untrusted, hex};
use crate::kit::words::{byte_count, plural};
use crate::mend::applied::Applied;
use crate::mend::rounds::Repair;
use crate::model::edit::{Edit, Safety};
use crate::model::limits::{Limits, PLAN};
use crate::model::patch::Patch;
use crate::model::recording::FileSet;
pub use step::PlanStep;
use touched::TouchedPlaces;
pub use witnesses::{ExactFix, PlanWitness};

/// Version of the layout of a plan.
pub const PLAN_SCHEMA: &str = "tracemend.plan.v1";

#[cfg(feature = "json")]
const SEAL_KEY: &str = "\"seal\": \"";
const SEAL_LEN: usize = 8;

/// The changes of a repair to every file of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct Plan {
    /// The version of the layout: `tracemend.plan.v1`.
    pub schema: String,
    /// Name and version of the program that made the plan.
    pub tool: String,
    /// Name of the recording's format.
    pub format: String,
    /// One per file, in the order of the recording.
    pub files: Vec<FilePlan>,
    /// The exact fixes with their witnesses.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub exact: Vec<ExactFix>,
    /// The plan undoes another one: the witnesses are in its output.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub undoes: bool,
    /// The old bytes are private: the plan belongs to a redaction, and must not be shared with it.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub private: bool,
    /// Number of findings by code before the repair.
    pub findings_before: BTreeMap<String, u64>,
    /// Number of findings by code after the repair.
    pub findings_after: BTreeMap<String, u64>,
    /// CRC-32 of all other bytes of the plan, eight hexadecimal digits.
    pub seal: String,
}

/// The changes of a repair to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct FilePlan {
    /// Path relative to the recording.
    pub name: String,
    /// Path after the repair, if it changes.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub renamed: Option<String>,
    /// The riskiest class of the fixes that rename the file, if it changes its name.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub renamed_safety: Option<String>,
    /// The ways in which the file was wrapped or converted, the outermost first; those of an
    /// archive are listed at its first file. They are undone before the edits, and `source` is the
    /// file afterwards.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub transport: Vec<PlanStep>,
    /// The file before the repair.
    pub source: Digest,
    /// The file after the repair.
    pub output: Digest,
    /// The edits, in order; nothing else changes.
    pub edits: Vec<PlanEdit>,
}

/// Length and checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct Digest {
    /// Length in bytes.
    pub length: u64,
    /// CRC-32 (IEEE), eight hexadecimal digits.
    pub crc32: String,
    /// The file does not exist.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub absent: bool,
}

/// A change of the bytes `start..end` of the source from `old` to `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct PlanEdit {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// The old bytes in hexadecimal.
    pub old: String,
    /// The new bytes in hexadecimal.
    pub new: String,
    /// CRC-32 of the old bytes.
    pub old_crc32: String,
    /// CRC-32 of the new bytes.
    pub new_crc32: String,
    /// Codes of the findings that the edit repairs.
    pub codes: Vec<String>,
    /// The riskiest class of their fixes.
    pub safety: String,
}

/// A plan that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan is not JSON, or not of this layout.
    Malformed(String),
    /// The layout has another version.
    Schema(String),
    /// A byte of the plan was changed.
    Seal {
        /// The seal in the plan.
        expected: String,
        /// The seal of its bytes.
        found: String,
    },
    /// A number or a byte string contradicts another one.
    Inconsistent(String),
    /// The plan would hold more recorded bytes than the limit [`PLAN`].
    TooLarge {
        /// Dropped bytes that it would hold.
        bytes: u64,
        /// The limit.
        max: u64,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) => write!(f, "malformed plan: {reason}"),
            Self::Schema(found) => {
                let found = Untrusted(found.as_bytes());
                write!(f, "unsupported plan: schema is `{found}`, expected `{PLAN_SCHEMA}`")
            }
            Self::Seal { expected, found } => {
                let expected = Untrusted(expected.as_bytes());
                write!(
                    f,
                    "the plan was changed: its seal is {expected}, but its bytes give {found}"
                )
            }
            Self::Inconsistent(reason) => write!(f, "inconsistent plan: {reason}"),
            Self::TooLarge { bytes, max } => {
                write!(
                    f,
                    "the plan would hold {}, more than the limit of {max}",
                    plural(*bytes, "dropped byte")
                )
            }
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Creates the plan of `repair` for `files`.
    ///
    /// # Errors
    ///
    /// If the repair drops more bytes than the limit [`PLAN`].
    pub fn new(repair: &Repair, files: &FileSet<'_>, limits: &Limits) -> Result<Self, PlanError> {
        let dropped = repair.patches.iter().fold(0, |sum: u64, p| sum.saturating_add(p.dropped()));
        if dropped > limits.of(&PLAN) {
            return Err(PlanError::TooLarge { bytes: dropped, max: limits.of(&PLAN) });
        }
        let mut touched = TouchedPlaces::new(&repair.applied);
        let mut plans = Vec::new();
        for ((index, file), patch) in (0_u32..).zip(files.files()).zip(&repair.patches) {
            let edits = patch.edits(index);
            plans.push(FilePlan {
                name: file.name.clone(),
                renamed: patch.renamed().map(str::to_string),
                renamed_safety: patch
                    .renamed()
                    .map(|_| class_of_renaming(&repair.applied, index).name().to_string()),
                transport: PlanStep::of_file(files, index),
                source: Digest::of(&file.bytes),
                output: Digest::of(&patch.view(&file.bytes)),
                edits: edits
                    .iter()
                    .map(|edit| PlanEdit::new(edit, &file.bytes, &mut touched))
                    .collect(),
            });
        }
        let counts = |report: &crate::model::Report| {
            report.counts().iter().map(|(code, count)| ((*code).to_string(), *count)).collect()
        };
        Ok(Self {
            schema: PLAN_SCHEMA.to_string(),
            tool: concat!("tracemend ", env!("CARGO_PKG_VERSION")).to_string(),
            format: repair
                .before
                .format
                .map_or_else(String::new, |format| format.name().to_string()),
            files: plans,
            exact: witnesses::collect(&repair.applied, files),
            undoes: false,
            private: false,
            findings_before: counts(&repair.before),
            findings_after: counts(&repair.after),
            seal: "0".repeat(SEAL_LEN),
        })
    }

    /// Returns the ways in which files were wrapped or converted, in the order in which they are
    /// undone.
    pub fn steps(&self) -> impl Iterator<Item = &PlanStep> {
        self.files.iter().flat_map(|file| &file.transport)
    }

    /// Returns the plan that undoes this one.
    ///
    /// # Errors
    ///
    /// As [`FilePlan::patch`].
    pub fn reversed(&self) -> Result<Self, PlanError> {
        Ok(Self {
            files: self.files.iter().map(FilePlan::reversed).collect::<Result<_, _>>()?,
            undoes: !self.undoes,
            findings_before: self.findings_after.clone(),
            findings_after: self.findings_before.clone(),
            ..self.clone()
        })
    }
}

#[cfg(feature = "json")]
impl Plan {
    /// Returns the plan as the bytes of a file, sealed.
    ///
    /// # Errors
    ///
    /// Those of the JSON writer; a plan made by [`Plan::new`] has none.
    pub fn to_json(&self) -> Result<String, PlanError> {
        let open = Self { seal: "0".repeat(SEAL_LEN), ..self.clone() };
        let text = serde_json::to_string_pretty(&open)
            .map_err(|error| PlanError::Malformed(error.to_string()))?;
        let mut text = escape_hidden(&text);
        text.push('\n');
        let seal = crc32(&[text.as_bytes()]);
        let at = find_seal(text.as_bytes()).unwrap_or_default();
        text.replace_range(at..at.saturating_add(SEAL_LEN).min(text.len()), &seal);
        Ok(text)
    }

    /// Reads a plan; refuses one with any byte changed.
    ///
    /// # Errors
    ///
    /// If `text` is not a sealed plan of this version.
    pub fn from_json(text: &[u8]) -> Result<Self, PlanError> {
        let plan: Self = serde_json::from_slice(text)
            .map_err(|error| PlanError::Malformed(error.to_string()))?;
        if plan.schema != PLAN_SCHEMA {
            return Err(PlanError::Schema(plan.schema));
        }
        let Some(at) = find_seal(text) else {
            return Err(PlanError::Malformed("missing seal".to_string()));
        };
        let (head, tail) = text.split_at_checked(at).unwrap_or((text, &[]));
        let tail = tail.get(SEAL_LEN..).unwrap_or_default();
        let found = crc32(&[head, "0".repeat(SEAL_LEN).as_bytes(), tail]);
        if plan.seal != found {
            return Err(PlanError::Seal { expected: plan.seal, found });
        }
        Ok(plan)
    }
}

/// Escapes what a terminal acts on, such as C1 and bidirectional characters of a name. JSON itself
/// escapes C0 only; its own line ends stay.
#[cfg(feature = "json")]
fn escape_hidden(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_safe(character) || character == '\n' {
            out.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            out += &format!("\\u{unit:04x}");
        }
    }
    out
}

/// Returns the offset of the eight digits of the seal: after the last key of that name.
#[cfg(feature = "json")]
fn find_seal(text: &[u8]) -> Option<usize> {
    let key = SEAL_KEY.as_bytes();
    let at = text.windows(key.len()).rposition(|window| window == key)?;
    at.checked_add(key.len())
}

/// Returns the riskiest class of the fixes that rename file number `file`; a name that no fix gives
/// replaces one that was recorded.
fn class_of_renaming(applied: &[Applied], file: u32) -> Safety {
    let renames =
        |one: &&Applied| one.fix().is_some_and(|fix| fix.renames.iter().any(|(of, _)| *of == file));
    let classes = applied.iter().filter(renames).map(|one| one.class);
    classes.max().unwrap_or(Safety::Lossy)
}

impl FilePlan {
    /// Returns whether an edit, or the new name, loses what was recorded.
    pub fn is_lossy(&self) -> bool {
        let edits = self.edits.iter().map(|edit| edit.safety.as_str());
        edits.chain(self.renamed_safety.as_deref()).any(|safety| safety == Safety::Lossy.name())
    }

    /// Returns the path after the repair.
    pub fn target_name(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.name)
    }

    /// Returns the edits as a patch of the source.
    ///
    /// # Errors
    ///
    /// If a length, a checksum or a byte string contradicts another one, or edits overlap.
    pub fn patch(&self) -> Result<Patch, PlanError> {
        let mut edits = Vec::new();
        for edit in &self.edits {
            let (old, new) = (edit.old_bytes()?, edit.new_bytes()?);
            if to_u64(old.len()) != edit.end.saturating_sub(edit.start) || edit.end < edit.start {
                let found = plural(to_u64(old.len()), "old byte");
                let reason = format!("edit {:#x}..{:#x} has {found}", edit.start, edit.end);
                return Err(PlanError::Inconsistent(reason));
            }
            if crc32(&[&old]) != edit.old_crc32 || crc32(&[&new]) != edit.new_crc32 {
                let reason = format!("the checksums of the edit at {:#x} do not match", edit.start);
                return Err(PlanError::Inconsistent(reason));
            }
            let span = Span::new(Layer::stored(0), edit.start, edit.end);
            edits.push(Edit::replace(span, new));
        }
        let patch = Patch::from_edits(self.source.length, &edits)
            .map_err(|error| PlanError::Inconsistent(error.to_string()))?;
        let patch =
            patch.between(self.source.absent, self.output.absent).under(self.renamed.clone());
        if patch.source_absent() != self.source.absent
            || patch.target_absent() != self.output.absent
        {
            let reason = "an absent file has bytes".to_string();
            return Err(PlanError::Inconsistent(reason));
        }
        if patch.target_len() != self.output.length {
            let made = byte_count(patch.target_len());
            let reason =
                format!("output length is {}, but the edits give {made}", self.output.length);
            return Err(PlanError::Inconsistent(reason));
        }
        Ok(patch)
    }

    /// Returns the plan that undoes this one.
    ///
    /// # Errors
    ///
    /// As [`FilePlan::patch`].
    pub fn reversed(&self) -> Result<Self, PlanError> {
        self.patch()?;
        let mut shift = 0_u64;
        let mut removed = 0_u64;
        let mut edits = Vec::new();
        for edit in &self.edits {
            let new_len = to_u64(edit.new_bytes()?.len());
            let start = edit.start.saturating_add(shift).saturating_sub(removed);
            edits.push(PlanEdit {
                start,
                end: start.saturating_add(new_len),
                old: edit.new.clone(),
                new: edit.old.clone(),
                old_crc32: edit.new_crc32.clone(),
                new_crc32: edit.old_crc32.clone(),
                codes: edit.codes.clone(),
                safety: edit.safety.clone(),
            });
            shift = shift.saturating_add(new_len);
            removed = removed.saturating_add(edit.end.saturating_sub(edit.start));
        }
        Ok(Self {
            transport: self.transport.clone(),
            name: self.target_name().to_string(),
            renamed: self.renamed.is_some().then(|| self.name.clone()),
            renamed_safety: self.renamed_safety.clone(),
            source: self.output.clone(),
            output: self.source.clone(),
            edits,
        })
    }
}

impl PlanEdit {
    fn new(edit: &Edit, source: &Source<'_>, touched: &mut TouchedPlaces<'_>) -> Self {
        let old = source.read(edit.span.start, edit.span.end);
        let fixes = touched.find_fixes_at(edit.span);
        let mut codes: Vec<String> = Vec::new();
        let mut safety = Safety::Exact;
        for applied in fixes {
            let code = applied.finding.rule.code.to_string();
            if !codes.contains(&code) {
                codes.push(code);
            }
            safety = safety.max(applied.class);
        }
        Self {
            start: edit.span.start,
            end: edit.span.end,
            old: hex(&old),
            new: hex(&edit.insert),
            old_crc32: crc32(&[&old]),
            new_crc32: crc32(&[&edit.insert]),
            codes,
            safety: safety.name().to_string(),
        }
    }

    /// Returns the old bytes.
    ///
    /// # Errors
    ///
    /// If they are not hexadecimal.
    pub fn old_bytes(&self) -> Result<Vec<u8>, PlanError> {
        unhex(&self.old)
    }

    /// Returns the new bytes.
    ///
    /// # Errors
    ///
    /// If they are not hexadecimal.
    pub fn new_bytes(&self) -> Result<Vec<u8>, PlanError> {
        unhex(&self.new)
    }
}

impl Digest {
    /// Computes length and CRC-32 of `source`.
    pub fn of(source: &Source<'_>) -> Self {
        let pieces: Vec<&[u8]> = source.pieces().collect();
        Self { length: source.len(), crc32: crc32(&pieces), absent: source.is_absent() }
    }
}

/// Returns the CRC-32 of the concatenation of `pieces`, as eight hexadecimal digits.
pub fn crc32(pieces: &[&[u8]]) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    format!("{:08x}", hasher.finalize())
}

fn unhex(text: &str) -> Result<Vec<u8>, PlanError> {
    let invalid =
        || PlanError::Inconsistent("the bytes of an edit are not hexadecimal".to_string());
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(invalid());
    }
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>().ok_or_else(invalid)
}

#[cfg(test)]
#[cfg(feature = "json")]
mod tests;

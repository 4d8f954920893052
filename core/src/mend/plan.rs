//! The plan of a repair: a file that says, and lets anyone check, what a repair did.
//!
//! JSON with one object per file of the recording: CRC-32 and length of source and output, and every
//! edit with its old and new bytes, its finding's code and its safety. The last member, `seal`, is
//! the CRC-32 of all the other bytes of the plan, so that a plan that was changed is refused.

use crate::limits::PLAN;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::hex;
use crate::mend::edit::{Edit, Safety};
use crate::mend::patch::Patch;
use crate::mend::rounds::{Applied, Repair};
use crate::limits::Limits;
use crate::recording::FileSet;

/// Version of the plan's layout.
pub const PLAN_SCHEMA: &str = "tracemend.plan.v1";

#[cfg(feature = "json")]
const SEAL_KEY: &str = "\"seal\": \"";
const SEAL_LEN: usize = 8;

/// What a repair does to every file of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct Plan {
    /// [`PLAN_SCHEMA`].
    pub schema: String,
    /// Name and version of the program that made the plan.
    pub tool: String,
    /// Name of the recording's format.
    pub format: String,
    /// One per file, in the order of the recording.
    pub files: Vec<FilePlan>,
    /// Findings by code before the repair.
    pub findings_before: BTreeMap<String, u64>,
    /// Findings by code after it.
    pub findings_after: BTreeMap<String, u64>,
    /// CRC-32 of the plan's other bytes, eight hexadecimal digits.
    pub seal: String,
}

/// What a repair does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct FilePlan {
    /// Path relative to the recording.
    pub name: String,
    /// The path after the repair, if it is another one.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub renamed: Option<String>,
    /// The file before.
    pub source: Digest,
    /// The file after.
    pub output: Digest,
    /// What is replaced, in order; nothing else changes.
    pub edits: Vec<PlanEdit>,
}

/// Length and check sum of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct Digest {
    /// In bytes.
    pub length: u64,
    /// CRC-32 (IEEE), eight hexadecimal digits.
    pub crc32: String,
    /// There is no file of this name.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub absent: bool,
}

/// Bytes `start..end` of the source, which are `old`, become `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct PlanEdit {
    /// Offset of the first byte replaced.
    pub start: u64,
    /// Offset after the last byte replaced.
    pub end: u64,
    /// The bytes there, in hexadecimal.
    pub old: String,
    /// The bytes in their place, in hexadecimal.
    pub new: String,
    /// CRC-32 of the old bytes.
    pub old_crc32: String,
    /// CRC-32 of the new bytes.
    pub new_crc32: String,
    /// Codes of the findings that the edit mends.
    pub codes: Vec<String>,
    /// The riskiest of their fixes.
    pub safety: String,
}

/// A plan that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// It is not JSON of the plan's layout.
    Malformed(String),
    /// Its layout is of another version.
    Schema(String),
    /// A byte of it was changed.
    Seal {
        /// What the plan says.
        said: String,
        /// What its bytes give.
        found: String,
    },
    /// A number or a byte string in it contradicts another one.
    Inconsistent(String),
    /// It would hold more recorded bytes than a plan may.
    TooLarge {
        /// Bytes to be held.
        bytes: u64,
        /// Bytes allowed.
        max: u64,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "the plan cannot be read: {why}"),
            Self::Schema(found) => {
                let found = crate::kit::text::Untrusted(found.as_bytes());
                write!(f, "the plan has schema `{found}`, this version reads `{PLAN_SCHEMA}`")
            }
            Self::Seal { said, found } => {
                let said = crate::kit::text::Untrusted(said.as_bytes());
                write!(f, "the plan was changed: its seal says {said}, its bytes give {found}")
            }
            Self::Inconsistent(why) => write!(f, "the plan contradicts itself: {why}"),
            Self::TooLarge { bytes, max } => {
                write!(f, "the plan would hold {bytes} dropped bytes, {max} are the limit")
            }
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Writes down what `repair` does to `files`.
    ///
    /// # Errors
    ///
    /// If the repair drops more bytes than the limit [`PLAN`] lets a plan hold.
    pub fn new(repair: &Repair, files: &FileSet<'_>, limits: &Limits) -> Result<Self, PlanError> {
        let dropped = repair.patches.iter().fold(0, |sum: u64, p| sum.saturating_add(p.dropped()));
        if dropped > limits.of(&PLAN) {
            return Err(PlanError::TooLarge { bytes: dropped, max: limits.of(&PLAN) });
        }
        let touched = Touched::new(&repair.applied);
        let mut plans = Vec::new();
        for ((index, file), patch) in (0_u32..).zip(files.files()).zip(&repair.patches) {
            let edits = patch.edits(index);
            plans.push(FilePlan {
                name: file.name.clone(),
                renamed: patch.renamed().map(str::to_string),
                source: Digest::of(&file.bytes),
                output: Digest::of(&patch.view(&file.bytes)),
                edits: edits
                    .iter()
                    .map(|edit| PlanEdit::new(edit, &file.bytes, &touched))
                    .collect(),
            });
        }
        let counts = |report: &crate::Report| {
            report.counts().iter().map(|(code, count)| ((*code).to_string(), *count)).collect()
        };
        Ok(Self {
            schema: PLAN_SCHEMA.to_string(),
            tool: concat!("tracemend ", env!("CARGO_PKG_VERSION")).to_string(),
            format: repair.before.format.map_or_else(String::new, |format| format.name().to_string()),
            files: plans,
            findings_before: counts(&repair.before),
            findings_after: counts(&repair.after),
            seal: "0".repeat(SEAL_LEN),
        })
    }

    /// The plan that undoes this one.
    ///
    /// # Errors
    ///
    /// As [`FilePlan::patch`].
    pub fn reversed(&self) -> Result<Self, PlanError> {
        Ok(Self {
            files: self.files.iter().map(FilePlan::reversed).collect::<Result<_, _>>()?,
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
    /// None that a plan made by [`Plan::new`] could cause; what the JSON writer says otherwise.
    pub fn to_json(&self) -> Result<String, PlanError> {
        let open = Self { seal: "0".repeat(SEAL_LEN), ..self.clone() };
        let mut text = serde_json::to_string_pretty(&open)
            .map_err(|error| PlanError::Malformed(error.to_string()))?;
        text.push('\n');
        let seal = crc32(&[text.as_bytes()]);
        let at = seal_place(text.as_bytes()).unwrap_or_default();
        text.replace_range(at..at.saturating_add(SEAL_LEN).min(text.len()), &seal);
        Ok(text)
    }

    /// Reads a plan and refuses one that was changed in any byte.
    ///
    /// # Errors
    ///
    /// [`PlanError`] for everything that is not a sealed plan of this version.
    pub fn from_json(text: &[u8]) -> Result<Self, PlanError> {
        let plan: Self = serde_json::from_slice(text)
            .map_err(|error| PlanError::Malformed(error.to_string()))?;
        if plan.schema != PLAN_SCHEMA {
            return Err(PlanError::Schema(plan.schema));
        }
        let Some(at) = seal_place(text) else {
            return Err(PlanError::Malformed("it has no seal".to_string()));
        };
        let (head, tail) = text.split_at_checked(at).unwrap_or((text, &[]));
        let tail = tail.get(SEAL_LEN..).unwrap_or_default();
        let found = crc32(&[head, "0".repeat(SEAL_LEN).as_bytes(), tail]);
        if plan.seal != found {
            return Err(PlanError::Seal { said: plan.seal, found });
        }
        Ok(plan)
    }
}

/// Where the eight digits of the seal stand: after the last key of that name.
#[cfg(feature = "json")]
fn seal_place(text: &[u8]) -> Option<usize> {
    let key = SEAL_KEY.as_bytes();
    let at = text.windows(key.len()).rposition(|window| window == key)?;
    at.checked_add(key.len())
}

impl FilePlan {
    /// The path after the repair.
    pub fn target_name(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.name)
    }

    /// The edits as a patch of the source.
    ///
    /// # Errors
    ///
    /// If a length, a check sum or a byte string of an edit contradicts another, or edits overlap.
    pub fn patch(&self) -> Result<Patch, PlanError> {
        let mut edits = Vec::new();
        for edit in &self.edits {
            let (old, new) = (edit.old_bytes()?, edit.new_bytes()?);
            if to_u64(old.len()) != edit.end.saturating_sub(edit.start) || edit.end < edit.start {
                let why = format!(
                    "an edit of {:#x}..{:#x} holds {} old bytes",
                    edit.start,
                    edit.end,
                    old.len()
                );
                return Err(PlanError::Inconsistent(why));
            }
            if crc32(&[&old]) != edit.old_crc32 || crc32(&[&new]) != edit.new_crc32 {
                let why = format!("the check sums of the edit at {:#x} are wrong", edit.start);
                return Err(PlanError::Inconsistent(why));
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
            let why = "a file that is not there has bytes".to_string();
            return Err(PlanError::Inconsistent(why));
        }
        if patch.target_len() != self.output.length {
            let why = format!(
                "the edits make {} bytes, the output has {}",
                patch.target_len(),
                self.output.length
            );
            return Err(PlanError::Inconsistent(why));
        }
        Ok(patch)
    }

    /// The plan that undoes this one.
    ///
    /// # Errors
    ///
    /// As [`FilePlan::patch`].
    pub fn reversed(&self) -> Result<Self, PlanError> {
        self.patch()?;
        let mut shift = 0_u64;
        let mut gone = 0_u64;
        let mut edits = Vec::new();
        for edit in &self.edits {
            let new_len = to_u64(edit.new_bytes()?.len());
            let start = edit.start.saturating_add(shift).saturating_sub(gone);
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
            gone = gone.saturating_add(edit.end.saturating_sub(edit.start));
        }
        Ok(Self {
            name: self.target_name().to_string(),
            renamed: self.renamed.is_some().then(|| self.name.clone()),
            source: self.output.clone(),
            output: self.source.clone(),
            edits,
        })
    }
}

/// Which fixes touch which places of the source.
struct Touched<'r> {
    applied: &'r [Applied],
    /// Each place with the number of its fix, in the order of their beginnings.
    places: Vec<(Span, usize)>,
    /// The furthest end of the places of a file up to each.
    reach: Vec<u64>,
}

impl<'r> Touched<'r> {
    fn new(applied: &'r [Applied]) -> Self {
        let of_one = |(number, applied): (usize, &'r Applied)| {
            applied.places.iter().map(move |place| (*place, number))
        };
        let mut places: Vec<_> = applied.iter().enumerate().flat_map(of_one).collect();
        places.sort_by_key(|(place, _)| (place.layer, place.start));
        let mut reach = Vec::new();
        let mut furthest = (Layer::stored(0), 0_u64);
        for (place, _) in &places {
            let before = if furthest.0 == place.layer { furthest.1 } else { 0 };
            furthest = (place.layer, before.max(place.end));
            reach.push(furthest.1);
        }
        Self { applied, places, reach }
    }

    /// The fixes with a place in, or at the edge of, `span` of the source, in the order in which they were applied.
    fn by(&self, span: Span) -> impl Iterator<Item = &'r Applied> {
        let end = (span.layer, span.end);
        let end = self.places.partition_point(|(place, _)| (place.layer, place.start) <= end);
        let near = self.places.iter().zip(&self.reach).take(end).rev();
        let near = near
            .take_while(|((place, _), reach)| place.layer == span.layer && **reach >= span.start);
        let touching = near.filter(|((place, _), _)| place.end >= span.start);
        let numbers: BTreeSet<usize> = touching.map(|((_, number), _)| *number).collect();
        numbers.into_iter().filter_map(|number| self.applied.get(number))
    }
}

impl PlanEdit {
    fn new(edit: &Edit, source: &Source<'_>, touched: &Touched<'_>) -> Self {
        let old = source.read(edit.span.start, edit.span.end);
        let mine = touched.by(edit.span);
        let mut codes: Vec<String> = Vec::new();
        let mut safety = Safety::Exact;
        for applied in mine {
            let code = applied.finding.rule.code.to_string();
            if !codes.contains(&code) {
                codes.push(code);
            }
            safety = safety.max(applied.fix().map_or(Safety::Exact, |fix| fix.safety));
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

    /// The old bytes.
    ///
    /// # Errors
    ///
    /// If they are not hexadecimal.
    pub fn old_bytes(&self) -> Result<Vec<u8>, PlanError> {
        unhex(&self.old)
    }

    /// The new bytes.
    ///
    /// # Errors
    ///
    /// If they are not hexadecimal.
    pub fn new_bytes(&self) -> Result<Vec<u8>, PlanError> {
        unhex(&self.new)
    }
}

impl Digest {
    /// Length and CRC-32 of `source`.
    pub fn of(source: &Source<'_>) -> Self {
        let pieces: Vec<&[u8]> = source.pieces().collect();
        Self { length: source.len(), crc32: crc32(&pieces), absent: source.is_absent() }
    }
}

/// CRC-32 of the concatenation of `pieces`, as eight hexadecimal digits.
pub fn crc32(pieces: &[&[u8]]) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    format!("{:08x}", hasher.finalize())
}

fn unhex(text: &str) -> Result<Vec<u8>, PlanError> {
    let bad =
        || PlanError::Inconsistent("an edit holds bytes that are not hexadecimal".to_string());
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(bad());
    }
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>().ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use crate::mend::rounds::Outcome;

    fn repair(source: &[u8], edits: &[Edit]) -> Repair {
        Repair {
            outcome: Outcome::Repaired,
            patches: vec![Patch::from_edits(to_u64(source.len()), edits).unwrap()],
            applied: Vec::new(),
            before: Report::default(),
            after: Report::default(),
            refused: None,
        }
    }

    fn plan() -> Plan {
        let source = b"0123456789".as_slice();
        let edits = [Edit::replace(Span::new(Layer::stored(0), 2, 4), *b"ab")];
        let files = FileSet::single("\u{1b}name", source);
        Plan::new(&repair(source, &edits), &files, &Limits::default()).unwrap()
    }

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let text = plan().to_json().unwrap();
        let read = Plan::from_json(text.as_bytes()).unwrap();
        assert_eq!(read, Plan { seal: read.seal.clone(), ..plan() });
        assert_eq!(read.to_json().unwrap(), text);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
    }

    #[test]
    fn a_plan_of_another_version_or_with_more_members_is_refused() {
        let other = Plan { schema: "tracemend.plan.v2\u{1b}".to_string(), ..plan() };
        let error = Plan::from_json(other.to_json().unwrap().as_bytes()).unwrap_err();
        assert!(matches!(error, PlanError::Schema(_)));
        assert!(!error.to_string().contains('\u{1b}'));
        let more = plan().to_json().unwrap().replacen('{', "{\"more\": 1,", 1);
        assert!(matches!(Plan::from_json(more.as_bytes()), Err(PlanError::Malformed(_))));
        let deep = "[".repeat(100_000);
        assert!(matches!(Plan::from_json(deep.as_bytes()), Err(PlanError::Malformed(_))));
    }

    #[test]
    fn a_sealed_plan_that_contradicts_itself_is_refused() {
        type Change = fn(&mut FilePlan);
        let changes: [(&str, Change); 7] = [
            ("odd hexadecimal", |file| file.edits[0].new.push('0')),
            ("no hexadecimal", |file| file.edits[0].old = "zzzz".to_string()),
            ("old bytes of another length", |file| file.edits[0].end = 5),
            ("an end before the start", |file| file.edits[0].end = 0),
            ("check sum of the old bytes", |file| file.edits[0].old_crc32 = "0".repeat(8)),
            ("check sum of the new bytes", |file| file.edits[0].new_crc32 = "0".repeat(8)),
            ("length of the output", |file| file.output.length = 11),
        ];
        for (what, change) in changes {
            let mut plan = plan();
            change(&mut plan.files[0]);
            // The seal is right: only the contents are not.
            let plan = Plan::from_json(plan.to_json().unwrap().as_bytes()).unwrap();
            assert!(matches!(plan.files[0].patch(), Err(PlanError::Inconsistent(_))), "{what}");
            assert!(plan.reversed().is_err(), "{what}");
        }
        let mut outside = plan();
        outside.files[0].source.length = 3;
        assert!(outside.files[0].patch().is_err());
    }

    #[test]
    fn more_dropped_bytes_than_a_plan_may_hold_are_refused() {
        let source = [0; 64];
        let edits = [Edit::drop(Span::new(Layer::stored(0), 0, 33))];
        let mut limits = Limits::default();
        limits.set(&PLAN, 32);
        let files = FileSet::single("x", &source);
        let error = Plan::new(&repair(&source, &edits), &files, &limits).unwrap_err();
        assert_eq!(error, PlanError::TooLarge { bytes: 33, max: 32 });
    }
}

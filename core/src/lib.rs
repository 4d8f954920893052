//! Checks and repairs recordings.
//!
//! ```text
//!  FileSet (names + bytes; no I/O here)
//!    v
//!  sniff -> Format
//!    v
//!  decode: items that tile each layer     (kit: Source, Cursor, Span, LayerMap)
//!    v
//!  check: items -> Finding { rule, span, message, fix? } -> Report
//!    v
//!  repair: choose fixes by safety -> Patch -> check again -> ... -> one Patch per file + Plan
//!    v
//!  verify: source + plan + target -> proof, knowing no format
//! ```
//!
//! The library does no I/O, has no unsafe code and does not panic on any input; zstd data are
//! decoded by libzstd, in C. Bad input gives findings; only limits and misuse give errors.
//!
//! # Check, repair, plan, verify, apply
//!
//! ```
//! use tracemend::{FilePlan, FileSet, Options, Outcome, Patch, Plan};
//!
//! // A recording of one device and four input events, whose header counts three.
//! let mut bytes = b"REVENT\x02\0\0\0\0\0\0\0\0\0\x01\0\0\0\x11\0\0\0/dev/input/event1".to_vec();
//! bytes.extend(3_u64.to_le_bytes());
//! for (usec, kind, code, value) in [(0, 1, 30, 1), (0, 0, 0, 0), (9, 1, 30, 0), (9, 0, 0, 0)] {
//!     bytes.extend([0, 0]);
//!     bytes.extend(1_500_000_000_i64.to_le_bytes());
//!     bytes.extend(i64::to_le_bytes(usec));
//!     bytes.extend([kind, 0, code, 0, value, 0, 0, 0]);
//! }
//! let files = FileSet::single("keys.run.revent", &bytes);
//! let options = Options::default();
//!
//! // Check: each finding has a rule, a position, a message and perhaps a fix.
//! let report = tracemend::check(&files, &options);
//! for finding in report.findings() {
//!     let (code, span) = (finding.rule.code, finding.span);
//!     println!("{}: {code} at {span}: {}", finding.severity, finding.message);
//! }
//! assert!(report.has_errors());
//!
//! // Repair: nothing is written; the output is a view of the source and the added bytes.
//! let repair = tracemend::repair(&files, &options);
//! assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
//! let output = repair.output(&files);
//! let repaired: Vec<u8> = output.bytes(0).to_vec();
//! assert_eq!(repaired[0x29], 4);
//!
//! // Plan and verify: the output is the source with exactly the edits of the plan.
//! let plan = Plan::new(&repair, &files, &options.limits)?;
//! let balance = tracemend::verify(&plan, &files, &output)?;
//! assert_eq!(balance.kept + balance.replaced + balance.dropped, files.len());
//!
//! // Apply a plan, perhaps one that was read from a file, to the source it was made for.
//! let patches: Vec<Patch> = plan.files.iter().map(FilePlan::patch).collect::<Result<_, _>>()?;
//! let applied = tracemend::view(&files, &patches);
//! tracemend::verify(&plan, &files, &applied)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A mapped file is a `&[u8]` like any other: pass it to [`FileSet::single`], which copies nothing.
//! A recording of several files is a [`FileSet::new`] of [`File`]s.
//!
//! # Features
//!
//! `json`: reports and plans as JSON. `miette`: findings as diagnostics with the bytes around them.
//! `testing`: opens private modules to the tests of the project; nothing in them is stable.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![allow(unreachable_pub, reason = "this file alone decides what is public")]

pub use model::limits;
pub mod transport;

// The other modules are private. The tests, fuzz targets and benches of the project open them
// with the feature `testing`. No macro writes these lines: rustfmt would not find the files.
// cargo-mutants passes over the second declaration, or it would test each change twice.
#[cfg(not(feature = "testing"))]
mod audit;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod audit;
mod bounded;
#[cfg(not(feature = "testing"))]
mod catalogue;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod catalogue;
mod check;
#[cfg(feature = "json")]
mod compare;
mod cut;
#[cfg(not(feature = "testing"))]
mod format;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod format;
#[cfg(not(feature = "testing"))]
mod formats;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod formats;
#[cfg(not(feature = "testing"))]
mod kit;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod kit;
#[cfg(not(feature = "testing"))]
mod map;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod map;
#[cfg(not(feature = "testing"))]
mod mend;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod mend;
#[cfg(not(feature = "testing"))]
mod model;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod model;
#[cfg(not(feature = "testing"))]
mod present;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod present;
#[cfg(not(feature = "testing"))]
mod redact;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod redact;
#[cfg(not(feature = "testing"))]
mod sight;
#[cfg(feature = "testing")]
#[cfg_attr(mutants, mutants::skip)]
#[doc(hidden)]
pub mod sight;

#[cfg(feature = "json")]
pub use bounded::diff;
pub use bounded::{audit, check, cut, dump, redact, repair, within_steps};
pub use catalogue::{DeletedRule, UnknownFormat, deleted_rule, deleted_rules, rule, rules};
pub use kit::source::Source;
pub use kit::span::{Layer, Span};
pub use kit::steps::StepsSpent;
pub use kit::text::{Untrusted, UntrustedPath, is_safe, unescape};
pub use kit::watch::Watch;
pub use kit::words;
pub use kit::wrapper::Wrapper;
pub use map::{MapStep, MappedLayer, Portion, Region, RegionKind};
pub use mend::applied::Applied;
pub use mend::plan::{
    Digest, ExactFix, FilePlan, Plan, PlanEdit, PlanError, PlanStep, PlanWitness,
};
pub use mend::proof::{self, Balance, ProofError, prove as verify};
pub use mend::rounds::{Outcome, Repair, view};
pub use model::arrival::Undone;
pub use model::choice::{ChoiceError, Choices, OptionSpec, OptionValue};
pub use model::cut::CutError;
pub use model::description::{Clock, ClockUnit, FormatId};
pub use model::difference::{Compared, Degree, Difference, FieldDifference, HiddenDifference};
pub use model::directory::{DirectoryShape, DirectoryView, Member};
pub use model::dump::{Dump, DumpError, Dumped};
pub use model::edit::{Edit, Elided, Fix, Safety, StoredAnew, Witness};
pub use model::limits::{Limit, Limits, UnknownLimit};
pub use model::options::{Allow, Options};
pub use model::patch::{Op, Patch, PatchError, SourceOffsets};
pub use model::recording::{File, FileSet};
#[cfg(feature = "json")]
pub use model::row::{Row, text_of};
pub use model::rule::common;
pub use model::tile::{Tile, TileKind};
pub use model::{
    Concern, Excerpt, Finding, Related, Remedy, Report, Rule, Severity, Suppression, Tally, Verdict,
};
#[cfg(feature = "json")]
pub use present::baseline::{Baseline, BaselineError};
#[cfg(feature = "miette")]
pub use present::hexdump::Shown;
#[cfg(feature = "json")]
pub use present::json;
pub use present::policy::{Level, Policy, Selector, UnknownSelector};
pub use redact::{RedactError, RedactRequest, Redaction, Sighting};
pub use sight::AuditRequest;

/// Passes every tile of every layer to `each`, layer by layer, in order: the tiles of a layer
/// adjoin and cover it exactly. Returns the format, or `None` if no format recognises the
/// recording.
pub fn tile(
    files: &FileSet<'_>,
    options: &Options,
    each: &mut dyn FnMut(Tile),
) -> Option<FormatId> {
    let format = recognise(files, options)?;
    catalogue::format(format)?.tile(files, options, &mut |tile, _| each(tile));
    Some(format)
}

/// Passes every byte of a recording to `each`, region by region; see [`MapStep`].
///
/// Levels below `depth` are left out. The first has sections and groups of records, the second
/// records, the third fields.
/// Memory does not grow with the length of the recording. Returns the format, or `None` without a
/// step if no format recognises the recording.
pub fn map(
    files: &FileSet<'_>,
    options: &Options,
    depth: usize,
    each: &mut dyn FnMut(MapStep<'_>),
) -> Option<FormatId> {
    let format = recognise(files, options)?;
    map::map((files, catalogue::format(format)?), options, depth, each);
    Some(format)
}

/// Returns the regions that contain the byte at `offset` of a layer, from the section to the field;
/// none if no format recognises the recording or the layer ends before it.
pub fn locate(files: &FileSet<'_>, options: &Options, layer: Layer, offset: u64) -> Vec<Region> {
    let format = recognise(files, options).and_then(catalogue::format);
    format.map_or_else(Vec::new, |format| map::locate((files, format), options, (layer, offset)))
}

/// Returns the format that recognises a recording by its beginning, with the most confidence.
pub fn sniff(files: &FileSet<'_>, options: &Options) -> Option<FormatId> {
    catalogue::sniff(files, options)
}

/// Returns the recording that the options choose of several in one file, as a file of its own:
/// [`check`], [`map`], [`dump()`] and [`audit()`] of it are those of that recording. `None` if they
/// choose none.
///
/// # Errors
///
/// The reason why there is no such recording, as a sentence.
pub fn pick<'a>(files: &FileSet<'a>, options: &Options) -> Result<Option<FileSet<'a>>, String> {
    let format = recognise(files, options).and_then(catalogue::format);
    format.map_or(Ok(None), |format| format.pick(files, options))
}

/// Returns the format of a recording: the one of the options, the one that [`sniff`] finds, or the
/// one that is found after other bytes or by records whose beginning is lost.
pub fn recognise(files: &FileSet<'_>, options: &Options) -> Option<FormatId> {
    mend::beginning::recognise(files, options)
}

/// The example in the README, compiled by `cargo test --doc`.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The examples of the guide, run by `cargo test --doc`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
struct LibraryGuide;

#[cfg(test)]
mod tests {
    use super::*;

    const fn is_send_and_sync<T: Send + Sync>() {}

    #[test]
    fn public_types_are_send_and_sync() {
        is_send_and_sync::<FileSet<'_>>();
        is_send_and_sync::<Options>();
        is_send_and_sync::<FormatId>();
        is_send_and_sync::<Report>();
        is_send_and_sync::<Repair>();
        is_send_and_sync::<Plan>();
        is_send_and_sync::<Patch>();
        is_send_and_sync::<(ChoiceError, DumpError, PatchError)>();
        is_send_and_sync::<(PlanError, ProofError, UnknownFormat, UnknownLimit)>();
    }
}

//! Bounds on the memory of a check.
//!
//! The global allocator counts it, which has to be [`Counting`] in the program that measures: a
//! fuzz target, or a test that is alone in its program, because other threads are counted as well.
//!
//! Measured on x86-64; a list that grows counts twice while it is copied:
//!
//! | recording | peak |
//! |---|---|
//! | forge and corpus | 0.13 MiB |
//! | 1,000 findings, and more that are only counted | 0.6 MiB |
//! | 100 to 4,000,000 event ids | 3.0 to 3.3 bytes per byte of the file |
//! | 100 to 60,000 attrs | 3.5 to 5.3 bytes per byte of the file |
//! | zstd blocks of one byte, window of 128 MiB | 1.5 times their expansion; 192.5 MiB |

use tracemend::FormatId;
use tracemend::{AuditRequest, FileSet, Options, Repair, Report};

use super::{Held, ensure};

/// The allocator: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.
pub use peak_alloc::PeakAlloc as Counting;

/// Bytes that every check may hold.
pub const CONSTANT: u64 = 4 << 20;
/// Bytes per byte of the recording, for its events and their ids.
pub const MULTIPLE: u64 = 6;
/// Bytes per byte of expanded records, until their window is full.
pub const MULTIPLE_EXPANDED: u64 = 3;
/// Bytes for a window of compressed records: the largest that the limits allow, and half of it
/// while it grows.
pub const WINDOW: u64 = 200 << 20;

/// Bytes for the window of a brotli stream (16 MiB, RFC 7932) and the tables of the decoder. Brotli
/// has no magic, so the decoder gets every file without a known magic.
pub const BROTLI: u64 = 18 << 20;

/// Bytes for the arguments of the calls of an apitrace trace, and the types of their values: 280
/// for each of up to 4,097 functions.
pub const FUNCTIONS: u64 = 5 << 18;

/// Bytes for every apitrace trace besides its definitions: blocks between the two threads, and the
/// decoder.
pub const TRACE: u64 = 32 << 20;

/// Returns the peak of allocated bytes during `work`, beyond those before it.
pub fn peak_during<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = Counting.current_usage();
    Counting.reset_peak_usage();
    let result = work();
    (result, Counting.peak_usage().saturating_sub(before) as u64)
}

/// Bytes for every repair besides its shares: two reports, the hypotheses of a round.
pub const REPAIR: u64 = 64 << 20;

/// Bytes per byte of the recording in a repair, which checks its result.
pub const MULTIPLE_REPAIRED: u64 = 16;

/// Bytes for each finding of a repair: the finding, its edit and its place.
pub const FINDING: u64 = 2_048;

/// Number of findings that a round holds.
const FINDINGS_HELD: u64 = 65_536;

/// Bytes for each place of a fix: the edit, and the shift of a group of clocks.
pub const PLACE: u64 = 320;

/// Bytes for each file of a trace of many: its metadata, its thread and its queue.
pub const FILE: u64 = 2_560;

/// Tests that a check and an audit of one file stay within the bounds of a check.
pub fn bounded(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    let (report, peak) = peak_during(|| tracemend::check(&files, &Options::default()));
    check_is_bounded(&files, &report, peak)?;
    let request = AuditRequest::default().with_shown(true);
    let (report, peak) = peak_during(|| tracemend::audit(&files, &Options::default(), &request));
    check_is_bounded(&files, &report, peak)
}

/// Tests that `peak` bytes are within the bounds of a check.
pub fn check_is_bounded(files: &FileSet<'_>, report: &Report, peak: u64) -> Held {
    let allowed = CONSTANT + MULTIPLE * stored(files) + shared(files, report);
    ensure(peak <= allowed, "a check holds a bounded amount of memory", || {
        let expanded = report.tally.expanded;
        format!("peak is {peak} for {} bytes that expand to {expanded}, {allowed}", stored(files))
    })
}

/// Tests that `peak` bytes are within the bounds of a repair.
pub fn repair_is_bounded(files: &FileSet<'_>, repair: &Repair, peak: u64) -> Held {
    let findings = repair.before.counts().values().sum::<u64>().min(FINDINGS_HELD);
    let allowed = REPAIR
        + MULTIPLE_REPAIRED * stored(files)
        + FINDING * findings
        + shared(files, &repair.before).max(shared(files, &repair.after));
    ensure(peak <= allowed, "a repair holds a bounded amount of memory", || {
        format!("peak is {peak} for {} bytes and {findings} findings, {allowed}", stored(files))
    })
}

/// The bytes of all files.
fn stored(files: &FileSet<'_>) -> u64 {
    files.files().iter().map(|file| file.bytes.len()).sum()
}

/// The shares of expanded bytes, of places and of files.
fn shared(files: &FileSet<'_>, report: &Report) -> u64 {
    let window = WINDOW.min(MULTIPLE_EXPANDED * report.tally.expanded);
    // A recording of perf that lost its magic is found by its records, after brotli.
    let head = files.bytes(0).read(0, 8);
    let is_perf = head.starts_with(b"PERFILE2") || head.ends_with(b"2ELIFREP");
    let brotli = if is_perf { 0 } else { BROTLI };
    let functions = if report.format == Some(FormatId::APITRACE) { FUNCTIONS } else { 0 };
    let fixes = report.findings().iter().filter_map(|finding| finding.fix.as_ref());
    // One edit can alter many records: clocks that are shifted, each by another amount.
    let places: u64 = fixes.map(|fix| (fix.edits.len() as u64).max(fix.records_altered)).sum();
    window + brotli + functions + PLACE * places + FILE * files.files().len() as u64
}

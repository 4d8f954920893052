//! Turns items into findings. Reads no bytes.
//!
//! ```text
//!  file      a file with sections: outline, then records, then features
//!  pipe late_attrs missing_attrs    a pipe recording
//!  joined            several recordings in one file
//!  restored          parts of the outline that the rest of the file restores
//!  header attrs      the judgement of the outline
//!  stream records rounds losses open_block    records, stored and expanded
//!  kinds             records of unknown type
//!  changed           compressed records that one changed byte makes invalid
//!  unpacked          damage inside compressed records
//!  reader            records that perf 7 refuses
//!  counters          the counts of `perf stat record` and their maps
//!  tracepoints       the data of samples and the tracepoints of their events
//!  odd_samples       values of samples that the rest of the recording contradicts
//!  aux_records       the records about traces of the processor, collected
//!  aux_traces aux_index aux_*    these records, and the traces and their index
//!  features feature_faults cpus close tracing event_desc    everything after the records
//!  versions abi      the perf that is needed; records and attrs that the one asked for refuses
//!  rebuild           the last resort, if errors have no fix of their own
//! ```

mod abi;
mod attrs;
mod aux_buffers;
mod aux_clock;
mod aux_index;
mod aux_info;
mod aux_records;
mod aux_told;
mod aux_traces;
mod changed;
mod close;
mod counters;
mod cpus;
mod event_desc;
mod faults;
mod feature_check;
mod feature_faults;
mod features;
mod file;
mod header;
mod joined;
mod kinds;
mod late_attrs;
mod losses;
mod machine;
mod missing_attrs;
mod odd_samples;
mod open_block;
mod parts;
mod pipe;
mod raw_data;
mod reader;
mod rebuild;
mod records;
mod restored;
mod rounds;
mod stream;
mod times;
mod tracepoints;
mod tracing;
mod unpacked;
mod versions;

use crate::formats::perf::decode::recording::{Opened, open};
use crate::formats::perf::layout::versions::FIRST_STRICT;
use crate::formats::perf::options::{asked_version, part};
use crate::formats::perf::recover::outline::recorder_of_file;
use crate::formats::perf::recover::{self, restore};
use crate::formats::perf::rules;
use crate::kit::cursor::ReadError;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::words::byte_count;
use crate::model::choice::Choices;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report};

/// Checks a recording, or the first of several in one file.
pub fn check(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    match recover::joined::find(files) {
        all if all.is_empty() => check_one(files, options, report),
        all => {
            let check_first =
                |first: &FileSet<'_>, report: &mut Report| check_one(first, options, report);
            joined::check(files, &all, check_first, options, report);
        }
    }
}

/// Returns why `--part` does not apply to the recording whose check gave `report`.
pub fn find_misapplied(choices: &Choices, report: &Report) -> Option<String> {
    let number = part(choices)?;
    let known = report.facts.iter().find(|(name, _)| *name == joined::RECORDINGS);
    let count = known.and_then(|(_, count)| count.parse().ok()).unwrap_or(1_u64);
    joined::refuse(number, count).err()
}

/// Returns the recording that `--part` names.
///
/// # Errors
///
/// The reason why it does not apply.
pub fn pick<'a>(files: &FileSet<'a>, options: &Options) -> Result<Option<FileSet<'a>>, String> {
    let Some(number) = part(&options.choices) else { return Ok(None) };
    let all = recover::joined::find(files);
    joined::refuse(number, to_u64(all.len()).max(1))?;
    let index = to_usize(number).checked_sub(1);
    let picked = index.and_then(|index| all.get(index));
    Ok(picked.map(|one| recover::joined::take(files, *one)))
}

/// Checks the only recording of a file or folder.
///
/// The outline is restored first, and everything else is judged as if its corrections were applied:
/// they change no length, so all offsets are those of the file.
fn check_one(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    let restoration = restore::restore(files, &options.limits);
    let files = &restoration.apply(files);
    let opened = open(files);
    let is_strict = is_recorder_strict(&opened) || asked_version(options) >= Some(FIRST_STRICT);
    restored::push(&restoration, is_strict, report);
    if restoration.lacks_header() {
        report.mark_unreadable();
        return;
    }
    match opened {
        Err(error) => {
            let len = files.bytes(0).len();
            let span = Span::new(Layer::stored(0), 0, len);
            let message = format!("file of {}: {error}", byte_count(len));
            report.push(Finding::new(&rules::HEADER_TRUNCATED, span, "header", message));
            report.mark_unreadable();
        }
        Ok(Opened::Sections(recording)) => {
            // Fixes that move bytes wait until the outline is right.
            let can_move = !restored::moves_outline(&restoration);
            let seen = file::check(&recording, can_move, options, report);
            changed::offer(&recording, can_move, &options.limits, report);
            if can_move {
                unpacked::offer(&recording, &options.limits, report);
            }
            rebuild::offer(&recording, options, report);
            versions::check_sections(&recording, seen, options, report);
            abi::check_sections(&recording, options, report);
        }
        Ok(Opened::Pipe(file)) => {
            let seen = pipe::check(&file, files.donor(), options, report);
            changed::offer_pipe(&file, &options.limits, report);
            unpacked::offer_pipe(&file, &options.limits, report);
            versions::check_pipe(&file, seen, options, report);
            abi::check_pipe(&file, options, report);
        }
    }
}

/// Whether the perf that recorded a file refuses it at a malformed feature.
fn is_recorder_strict(opened: &Result<Opened<'_>, ReadError>) -> bool {
    match opened {
        Ok(Opened::Sections(recording)) => recorder_of_file(recording).is_known_strict(),
        Ok(Opened::Pipe(_)) | Err(_) => false,
    }
}

/// Returns the first error with a fix that rebuilds the recording, whatever other fixes there are.
pub fn last_resort(files: &FileSet<'_>, options: &Options, report: &Report) -> Option<Finding> {
    // Nothing is dropped so that an older perf reads the rest, and no attr is made up without a
    // header.
    let reasons = [&rules::ATTR_LARGER, &rules::RECORDS_NEWER, &rules::HEADER_BLANK];
    if reasons.into_iter().any(|rule| report.count(rule) > 0) {
        return None;
    }
    // A pipe without its header is not a file.
    let headless = restore::is_headless(&files.bytes(0), &options.limits);
    let restoration = headless.then(|| restore::restore(files, &options.limits));
    let piped = restoration.as_ref().map(|restoration| restoration.apply(files));
    match open(piped.as_ref().unwrap_or(files)) {
        Ok(Opened::Sections(recording)) => rebuild::last_resort(&recording, options, report),
        Ok(Opened::Pipe(file)) => rebuild::restore_event(&file, options, report),
        Err(_) => None,
    }
}

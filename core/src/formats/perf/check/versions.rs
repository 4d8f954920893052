//! The perf that a recording needs, and the records that the perf that is asked for does not read.
//!
//! ```text
//!  COMPRESSED2  | type misc size | data_size | zstd data | padding |
//!  COMPRESSED   | type misc size | zstd data |
//! ```

use super::abi::{has_other_work, header_span};
use super::records::Seen;
use crate::formats::perf::decode::record;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::layout::versions::{self, FIRST_STRICT, NEWEST, OFFERED, Version};
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, SECTION_SIZE, feature as bit};
use crate::formats::perf::options::{asked_attrs, asked_version};
use crate::formats::perf::recover::newer::Newer;
use crate::formats::perf::{repair, rules};
use crate::kit::num::to_u64;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::Fix;
use crate::model::options::Options;
use crate::model::{Finding, Report, Severity};

/// The name of the fact about the versions that read a recording.
const FACT: &str = "readers";

/// A part of a recording, and the first version of perf that reads it.
type Needed = (String, Version);

/// Judges a file with sections, of whose records `seen` is known.
pub(super) fn check_sections(
    recording: &Recording<'_>,
    seen: Seen,
    options: &Options,
    report: &mut Report,
) {
    if recording.file.is_simpleperf() {
        return;
    }
    let size = recording.body.attr_size.saturating_sub(SECTION_SIZE);
    let attr =
        versions::of_attr(size).map(|since| (format!("attrs of {}", byte_count(size)), since));
    let data = recording.body.data;
    let area = (data.offset, data.end().unwrap_or(data.offset));
    let files = [(&recording.file, area)].into_iter();
    let files = files.chain(recording.parts.iter().map(|part| (part, (0, part.length()))));
    let can_move = !recording.body.flags.has(bit::AUXTRACE);
    if attr.is_none() && asked_version(options).is_none() {
        // PD0016 is about attrs that are larger than any known.
        return;
    }
    push([attr, of_features(seen), of_records(seen)], (files, can_move), options, report);
}

/// The same for a pipe. No perf refuses larger attrs than its own in it.
pub(super) fn check_pipe(
    file: &RecordFile<'_>,
    seen: Seen,
    options: &Options,
    report: &mut Report,
) {
    let area = (HEADER_SIZE_PIPE, file.length());
    let needed = [None, of_features(seen), of_records(seen)];
    push(needed, ([(file, area)].into_iter(), true), options, report);
}

/// The last feature in a record, of a pipe or of a file that perf inject made of one.
fn of_features(seen: Seen) -> Option<Needed> {
    let number = seen.last_feature?;
    Some((format!("HEADER_FEATURE up to {number}"), versions::of_piped_feature(number)))
}

/// The newest type of records.
fn of_records(seen: Seen) -> Option<Needed> {
    let kind = seen.newest_kind?;
    let name = record::name(kind).map_or_else(|| format!("type {kind}"), ToString::to_string);
    Some((name, versions::of_record(kind)))
}

fn push<'r, 'a: 'r>(
    needed: [Option<Needed>; 3],
    (files, can_move): (impl Iterator<Item = (&'r RecordFile<'a>, (u64, u64))>, bool),
    options: &Options,
    report: &mut Report,
) {
    let newest = needed.iter().flatten().map(|(_, since)| *since).max();
    let oldest = newest.unwrap_or(versions::OLDEST);
    let is_refused = report.count(&rules::NEWER_REFUSES) > 0;
    let most = if is_refused { format!(", not {FIRST_STRICT} and newer") } else { String::new() };
    if report.count(&rules::ATTR_NEWER) == 0 {
        report.fact(FACT, format!("perf {oldest} and newer{most}"));
    }
    if is_refused {
        let fix = Fix::manual(format!("write it for perf {NEWEST} as well"));
        let fix = fix.option(format!("--for-perf {NEWEST}"));
        report.offer(fix, |finding| *finding.rule == rules::NEWER_REFUSES);
    }
    if let Some(asked) = asked_version(options) {
        push_newer((asked, &needed), (files, can_move), options, report);
    } else if oldest > OFFERED && !report.has_errors() && asked_attrs(options).is_none() {
        report.push(describe(&needed, oldest));
    }
}

/// The note about a recording that needs a newer perf than many have.
fn describe(needed: &[Option<Needed>; 3], oldest: Version) -> Finding {
    let newer = needed.iter().flatten().filter(|(_, since)| *since > OFFERED);
    let parts: Vec<String> = newer.map(|(part, since)| format!("{part} (perf {since})")).collect();
    let message = format!("{}: perf {oldest} and newer read this recording", parts.join(", "));
    let finding = Finding::new(&rules::NEWER_NEEDED, header_span(), "header", message);
    let summary = format!("write it for an older perf, such as {OFFERED}");
    finding.fix(Fix::manual(summary).option(format!("--for-perf {OFFERED}")))
}

/// Reports the records that the perf that is asked for does not read.
fn push_newer<'r, 'a: 'r>(
    (asked, needed): (Version, &[Option<Needed>; 3]),
    (files, can_move): (impl Iterator<Item = (&'r RecordFile<'a>, (u64, u64))>, bool),
    options: &Options,
    report: &mut Report,
) {
    if has_other_work(options, report) {
        return;
    }
    let mut newer = Newer::default();
    for (file, area) in files {
        newer.gather(file, area, asked, &options.limits);
    }
    let refused = |message: String| {
        let finding = Finding::new(&rules::RECORDS_NEWER, header_span(), "data", message);
        Finding { severity: Severity::Error, ..finding }
    };
    let read = format!("perf {asked} (--for-perf {asked}) does not read");
    let (packed, dropped) = (to_u64(newer.packed.len()), to_u64(newer.dropped.len()));
    if packed == 0 && dropped == 0 {
        let [.., of_records] = needed;
        if let Some((part, _)) = of_records.as_ref().filter(|(_, since)| *since > asked) {
            report.push(refused(format!("{part} inside compressed records, which {read}")));
        }
        return;
    }
    if !can_move {
        let message = format!("AUXTRACE stores offsets of records, so those that {read} stay");
        report.push(refused(message));
        return;
    }
    if packed > 0 {
        let count = plural(packed, "COMPRESSED2 record");
        let finding = refused(format!("{count}, which {read}"));
        report.push(finding.fix(repair::repack(&newer)));
    }
    if dropped > 0 {
        let finding = refused(format!("{}, which {read}", newer.describe_dropped()));
        report.push(finding.fix(repair::drop_newer(&newer)));
    }
}

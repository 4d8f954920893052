//! The check of a recording as it is stored, without a reading of the whole file.

use crate::catalogue;
use crate::format::Format;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::byte_count;
use crate::kit::wrapper::Wrapper;
use crate::model::edit::Fix;
use crate::model::limits::BYTES;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::{Finding, Report};

/// Checks one recording, with the findings in `report`, which has the format.
pub(crate) fn check_into(files: &FileSet<'_>, options: &Options, mut report: Report) -> Report {
    let format = report.format.and_then(catalogue::format);
    let start = Span::new(Layer::stored(0), 0, 0);
    match format {
        _ if files.is_empty() && !files.files().iter().any(|file| file.bytes.is_absent()) => {
            let message = "empty file: no data was recorded or written to disk";
            report.push(Finding::new(&common::EMPTY_FILE, start, "file", message));
            report.mark_unreadable();
        }
        _ if files.len() > options.limits.of(&BYTES) => {
            let (len, most) = (byte_count(files.len()), options.limits.of(&BYTES));
            let message = format!("the recording has {len}, more than the limit `bytes` ({most})");
            report.push(Finding::new(&common::LIMIT_REACHED, start, "file", message));
        }
        Some(format) => {
            format.check(files, options, &mut report);
            report_wrapped_members(files, format, &mut report);
            let description = format.description();
            let is_named = options.format.is_some() && description.signs.always_has_magic;
            // The user names the format of damaged bytes. That does not make them right.
            if is_named && !report.has_errors() && catalogue::sniff(files, options).is_none() {
                let defect = format!("magic of {} is missing", description.name);
                report.push(describe_unknown(files, 0, &defect));
            }
        }
        None => {
            let obstacle = files.obstacle().cloned();
            report.push(obstacle.unwrap_or_else(|| describe_unknown(files, 0, "unknown format")));
            report.mark_unreadable();
        }
    }
    report.finish();
    report
}

/// Reports the files of a recording of several that are packed or text as a whole, such as a stream
/// that was compressed after the run.
fn report_wrapped_members(files: &FileSet<'_>, format: &dyn Format, report: &mut Report) {
    if files.files().len() < 2 {
        return;
    }
    for (index, file) in (0_u32..).zip(files.files()) {
        let wrapper = Wrapper::certain(&file.bytes);
        if wrapper.is_some_and(|wrapper| !format.description().signs.containers.contains(&wrapper))
        {
            report.push(describe_unknown(files, index, "unknown format"));
        }
    }
}

fn describe_unknown(files: &FileSet<'_>, index: u32, defect: &str) -> Finding {
    let bytes = files.bytes(index);
    let first = bytes.read(0, 16);
    let pairs: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut message = format!("{defect}: the file begins with `{}`", pairs.join(" "));
    let span = Span::new(Layer::stored(index), 0, to_u64(first.len()));
    let Some(wrapper) = Wrapper::of(&bytes) else {
        return Finding::new(&common::UNKNOWN_FORMAT, span, "file", message);
    };
    message.push_str(&format!(" and is {}", wrapper.description()));
    let fix = Fix::manual(wrapper.advice());
    Finding::new(&common::UNKNOWN_FORMAT, span, "file", message).fix(fix)
}

//! Keys of `stream.json` whose value has the wrong type or is out of range.

use crate::formats::ovni::check::completion::with_members;
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::repair::members::NewValue;
use crate::formats::ovni::repair::values::{Restored, restore_value};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::metadata::InvalidKey;
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::kit::text::Untrusted;
use crate::model::Finding;
use crate::model::edit::Fix;

/// Reports invalid values, each with the value that the directory, the events or the other streams
/// show.
pub fn check_values(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    for stream in summary.streams.iter().filter(|stream| stream.metadata.is_readable) {
        for invalid in &stream.metadata.faults.invalid {
            log.push(report_value(summary, stream, invalid));
        }
    }
}

fn report_value(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    invalid: &InvalidKey,
) -> Finding {
    let (rule, path) = match invalid.key {
        "version" => (&rules::METADATA_VERSION, "stream.json:version".to_string()),
        key => (&rules::BAD_VALUE, format!("stream.json:ovni.{key}")),
    };
    let finding = Finding::new(rule, invalid.span, path, invalid.message.clone());
    let Some(Restored { member, source }) = restore_value(summary, stream, invalid) else {
        return finding
            .fix(Fix::manual("nothing in the trace shows the value: correct it by hand"));
    };
    let key = Untrusted(member.key.as_bytes());
    let text = match &member.value {
        NewValue::Raw(value) => format!("set `{key}` to {value}, {source}"),
        NewValue::Text(value) => {
            format!("set `{key}` to {:?}, {source}", Untrusted(value.as_bytes()))
        }
        _ => format!("set `{key}`, {source}"),
    };
    with_members(summary, stream, finding, vec![member], &text)
}

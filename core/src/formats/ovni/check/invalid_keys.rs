//! Keys of `stream.json` whose value has the wrong type or is out of range.

use crate::formats::ovni::check::completion::with_members;
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::layout::MODELS;
use crate::formats::ovni::repair::members::NewValue;
use crate::formats::ovni::repair::values::{Restored, restore_value};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::metadata::{Flaw, InvalidKey};
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::kit::text::Untrusted;
use crate::model::Finding;
use crate::model::edit::Fix;

const BY_HAND: &str = "nothing in the trace shows the value: correct it by hand";
/// The advice about a name that is a path.
pub const RENAME: &str = "rename it by hand before any tool reads the trace";

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
    let path = match (invalid.key, invalid.model.and_then(|model| MODELS.get(model))) {
        ("version", _) => "stream.json:version".to_string(),
        (key, Some(model)) => format!("stream.json:ovni.{key}.{}", model.name),
        (key, None) => format!("stream.json:ovni.{key}"),
    };
    let (rule, advice) = match invalid.flaw {
        Flaw::Refused if invalid.key == "version" => (&rules::METADATA_VERSION, Some(BY_HAND)),
        Flaw::Refused => (&rules::BAD_VALUE, Some(BY_HAND)),
        Flaw::Tolerated => (&rules::TOLERATED_VALUE, None),
        Flaw::Unsupported => (&rules::UNSUPPORTED_MODEL, None),
        Flaw::Unsafe => (&rules::UNSAFE_NAME, Some(RENAME)),
    };
    let finding = Finding::new(rule, invalid.span, path, invalid.message.clone());
    let Some(Restored { member, source }) = restore_value(summary, stream, invalid) else {
        return finding.fix_if(advice.map(Fix::manual));
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

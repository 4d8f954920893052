//! Traces in the layouts of libovni before 1.11, converted to the layout of today.
//!
//! ```text
//!  proc.P/metadata.json   v1, v2   app_id, rank, nranks, cpus   -> members of each thread's `ovni`
//!  proc.P/thread.T.json   v2       version, ovni.lib, .require  -> thread.T/stream.json, completed
//!  proc.P/thread.T.obs    v1, v2   the events                   -> thread.T/stream.obs
//! ```
//!
//! Source: libovni 1.4.1 and 1.9.1 (src/rt/ovni.c). The events are the same in all layouts.

use crate::formats::ovni::decode::json::{Item, Kind};
use crate::formats::ovni::decode::stream::Header;
use crate::formats::ovni::layout::ThreadState;
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::members::{
    NewMember, NewValue, insert_members, version_member, write_document,
};
use crate::formats::ovni::repair::metadata::mandatory_members;
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::formats::ovni::state::thread::Ending;
use crate::kit::span::{Layer, Span};
use crate::kit::words::plural;
use crate::model::edit::{Edit, Fix};

/// CPUs of one `metadata.json` that are converted.
const VALUES_MAX: usize = 65_536;

/// Returns the fix that converts the whole trace, if every thread of an old layout has ended.
pub fn upgrade_trace(summary: &TraceSummary<'_, '_>) -> Option<Fix> {
    let mut edits = Vec::new();
    let mut renames = Vec::new();
    let mut count = 0_u64;
    for stream in summary.streams.iter().filter(|stream| stream.files.layout < 3) {
        let is_complete = stream.thread.end.ending == Ending::Complete
            && stream.thread.status.state == ThreadState::Dead
            && stream.stream.header() == Header::Valid;
        if !is_complete {
            // Truncated and unfinished streams are repaired first.
            return None;
        }
        let dir = &stream.files.dir;
        renames.push((stream.files.present_obs()?, format!("{dir}/stream.obs")));
        let members = thread_members(summary, stream)?;
        if let Some(index) = stream.files.present_json() {
            let json = summary.trace.document(index).json.ok()?;
            edits.extend(insert_members(&json, Layer::stored(index), members));
            renames.push((index, format!("{dir}/stream.json")));
        } else {
            let target = summary.trace.files.targets.get(dir)?.json?;
            let place = Span::new(Layer::stored(target.index), 0, 0);
            edits.push(Edit::replace(place, write_document(members)));
        }
        count = count.saturating_add(1);
    }
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start));
    let threads = plural(count, "thread");
    let text = format!("write the metadata of {threads}, move the events to thread.TID/");
    Some(Fix { renames, ..build_fix(text, edits) })
}

/// The members of a thread's `stream.json`.
fn thread_members(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
) -> Option<Vec<NewMember>> {
    let path = &stream.files.path_identity;
    let raw = |number: i64| NewValue::Raw(number.to_string());
    let mut members = vec![version_member()];
    let is_new = stream.files.present_json().is_none();
    if is_new {
        members.extend(mandatory_members(summary, stream, &["lib.version", "lib.commit"]));
    }
    members.push(NewMember::of_ovni("part", NewValue::Text("thread".to_string())));
    members.push(NewMember::of_ovni("tid", raw(path.tid?)));
    members.push(NewMember::of_ovni("pid", raw(path.pid?)));
    members.push(NewMember::of_ovni("loom", NewValue::Text(path.loom.clone()?)));
    let process = summary.trace.document(stream.files.process?.index).json.ok()?;
    for key in ["app_id", "rank", "nranks"] {
        if let Some(value) = process.root().member(key).and_then(|item| copy_value(&item)) {
            members.push(NewMember::of_ovni(key, value));
        }
    }
    if is_new {
        members.extend(mandatory_members(summary, stream, &["require"]));
    }
    if let Some(cpus) = process.root().member("cpus").and_then(|item| copy_value(&item)) {
        members.push(NewMember::of_ovni("loom_cpus", cpus));
    }
    members.push(NewMember::of_ovni("finished", raw(1)));
    Some(members)
}

/// Copies a number, a string, or an array of objects of them.
fn copy_value(item: &Item<'_, '_>) -> Option<NewValue> {
    let copy_scalar = |item: &Item<'_, '_>| match item.kind() {
        Kind::Number(number) => Some(NewValue::Raw(number.to_string())),
        Kind::String => item.text().map(NewValue::Text),
        _ => None,
    };
    if item.kind() != Kind::Array {
        return copy_scalar(item);
    }
    let copy_object = |item: Item<'_, '_>| {
        let members = item.items().filter_map(|member| Some((member.key(), copy_scalar(&member)?)));
        NewValue::Object(members.take(VALUES_MAX).collect())
    };
    Some(NewValue::Array(item.items().take(VALUES_MAX).map(copy_object).collect()))
}

//! Traces in the layouts of libovni before 1.11, and what brings them to the one of today.
//!
//! ```text
//!  proc.P/metadata.json   v1, v2   app_id, rank, nranks, cpus   -> members of each thread's `ovni`
//!  proc.P/thread.T.json   v2       version, ovni.lib, .require  -> thread.T/stream.json, completed
//!  proc.P/thread.T.obs    v1, v2   the events                   -> thread.T/stream.obs
//! ```
//!
//! Source: libovni 1.4.1 and 1.9.1 (src/rt/ovni.c). The events are the same in all layouts.

use crate::formats::ovni::check::Case;
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::thread::{Ending, State};
use crate::formats::ovni::decode::files::StreamFiles;
use crate::formats::ovni::decode::json::{self, Item, Kind};
use crate::formats::ovni::decode::stream::Header;
use crate::formats::ovni::repair::complete;
use crate::formats::ovni::repair::json::{self as members, Add, New};
use crate::formats::ovni::rules;
use crate::kit::span::{Layer, Span};
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::{Finding, Severity};

/// Values of one array or object that are taken over: CPUs of a loom.
const VALUES_MAX: usize = 65_536;

/// Reports an old layout, and upgrades it if the user wants that and every thread has ended.
pub fn check(case: &Case<'_, '_, '_>, log: &mut Log) {
    let mut old = case.trace.streams.iter().filter(|stream| stream.layout < 3);
    let Some(first) = old.next() else { return };
    let count = old.count().saturating_add(1);
    let file = first.obs.or(first.json).map_or(0, |entry| entry.index);
    let span = Span::new(Layer::stored(file), 0, 0);
    let message = format!("{count} streams have the layout of version {}", first.layout);
    let mut finding = Finding::new(&rules::OLD_LAYOUT, span, "trace", message);
    if case.upgrade {
        finding.severity = Severity::Warning;
        if let Some(fix) = fix(case, count) {
            finding = finding.fix(fix);
        }
    }
    log.push(finding);
}

fn fix(case: &Case<'_, '_, '_>, count: usize) -> Option<Fix> {
    let mut edits = Vec::new();
    let mut renames = Vec::new();
    for (number, stream) in case.trace.streams.iter().enumerate() {
        if stream.layout >= 3 {
            continue;
        }
        let machine = case.machines.get(number)?;
        let whole = machine.ended == Some(Ending::Whole) && machine.state == State::Dead;
        if !whole || case.headers.get(number) != Some(&Header::Sound) {
            // What is torn or open is mended first.
            return None;
        }
        let obs = stream.obs.filter(|obs| obs.present)?;
        renames.push((obs.index, format!("{}/stream.obs", stream.dir)));
        let adds = adds(case, number, stream)?;
        if let Some(entry) = stream.json.filter(|json| json.present) {
            let source = case.files.bytes(entry.index);
            let text = source.read(0, source.len());
            let parsed = json::parse(&text).ok()?;
            edits.extend(members::add(&parsed, Layer::stored(entry.index), adds));
            renames.push((entry.index, format!("{}/stream.json", stream.dir)));
        } else {
            let target = case.trace.targets.get(&stream.dir)?.json?;
            let place = Span::new(Layer::stored(target.index), 0, 0);
            edits.push(Edit::replace(place, members::document(adds)));
        }
    }
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start));
    let summary =
        format!("writes the metadata of {count} threads and moves their events to thread.T/");
    let fix = Fix::new(Safety::Synthetic, summary, edits);
    Some(Fix { renames, ..fix })
}

/// The members of a thread's `stream.json`.
fn adds(case: &Case<'_, '_, '_>, number: usize, stream: &StreamFiles) -> Option<Vec<Add>> {
    let hint = &stream.hint;
    let raw = |number: i64| New::Raw(number.to_string());
    let mut adds = vec![members::version()];
    let fresh = !stream.json.is_some_and(|json| json.present);
    if fresh {
        adds.extend(complete::missing(case, number, &["lib.version", "lib.commit"]));
    }
    adds.push(Add::ovni("part", New::Text("thread".to_string())));
    adds.push(Add::ovni("tid", raw(hint.tid?)));
    adds.push(Add::ovni("pid", raw(hint.pid?)));
    adds.push(Add::ovni("loom", New::Text(hint.loom.clone()?)));
    let process = stream.process?;
    let source = case.files.bytes(process.index);
    let text = source.read(0, source.len().min(json::TEXT_MAX));
    let parsed = json::parse(&text).ok()?;
    for key in ["app_id", "rank", "nranks"] {
        if let Some(value) = parsed.root().member(key).and_then(|item| copied(&item)) {
            adds.push(Add::ovni(key, value));
        }
    }
    if fresh {
        adds.extend(complete::missing(case, number, &["require"]));
    }
    if let Some(cpus) = parsed.root().member("cpus").and_then(|item| copied(&item)) {
        adds.push(Add::ovni("loom_cpus", cpus));
    }
    adds.push(Add::ovni("finished", raw(1)));
    Some(adds)
}

/// A number, a string, or an array of objects of numbers.
fn copied(item: &Item<'_, '_>) -> Option<New> {
    let number = |item: &Item<'_, '_>| match item.kind() {
        Kind::Number(number) => Some(New::Raw(number.to_string())),
        Kind::String => item.text().map(New::Text),
        _ => None,
    };
    if item.kind() != Kind::Array {
        return number(item);
    }
    let object = |item: Item<'_, '_>| {
        let members = item.items().filter_map(|member| Some((member.key(), number(&member)?)));
        New::Object(members.take(VALUES_MAX).collect())
    };
    Some(New::Array(item.items().take(VALUES_MAX).map(object).collect()))
}

//! Values of `stream.json` that are missing or invalid: from the directory, the events, the other
//! threads and the other processes.

use crate::formats::ovni::layout::{MODELS, display_version};
use crate::formats::ovni::repair::members::{NewMember, NewValue, version_member};
use crate::formats::ovni::repair::metadata::{mandatory_members, required_model, required_models};
use crate::formats::ovni::repair::process::{app_id_member, find_ranks};
use crate::formats::ovni::state::metadata::{Flaw, InvalidKey};
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};

/// First and last minor version of libovni 1 that are known to write version 3.
const WRITERS: (u32, u32) = (11, 14);

/// A value that replaces an invalid one.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The member.
    pub member: NewMember,
    /// The source of the value.
    pub source: &'static str,
}

fn raw(number: i64) -> NewValue {
    NewValue::Raw(number.to_string())
}

/// Returns the value that a stream had instead of an invalid one, if anything shows it.
pub fn restore_value(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    invalid: &InvalidKey,
) -> Option<Restored> {
    let of = |member: Option<NewMember>, source| Some(Restored { member: member?, source });
    let mandatory = || mandatory_members(summary, stream, &[invalid.key]).into_iter().next();
    let is_tolerated = invalid.flaw == Flaw::Tolerated;
    match (invalid.key, invalid.model) {
        ("tid" | "pid" | "loom", _) => {
            of(named_member(stream, invalid.key).or_else(mandatory), "from the directory")
        }
        ("version", _) if is_tolerated => of(Some(version_member()), "as ovniemu reads it"),
        ("app_id", _) if is_tolerated => {
            of(Some(app_id_member(summary, stream)), "as ovniemu reads it")
        }
        ("part", _) => of(mandatory(), "as its events are of a thread"),
        ("app_id", _) => of(Some(app_id_member(summary, stream)), "as in the other processes"),
        ("rank" | "nranks", _) => restore_rank(summary, stream, invalid.key),
        ("require", Some(model)) if invalid.flaw == Flaw::Unsupported => {
            // A newer release may have written all of the trace.
            of(required_elsewhere(summary, stream, model), "as the other streams require it")
        }
        ("require", Some(model)) => {
            of(Some(required_model(summary, stream, model)), "from the events")
        }
        ("require", None) => {
            let models = required_models(summary, stream, true).into_iter();
            let models = models.map(|member| (member.key, member.value)).collect();
            of(Some(NewMember::of_ovni("require", NewValue::Object(models))), "from the events")
        }
        ("version", _) => {
            let is_known = is_version_3(summary, stream);
            of(is_known.then(version_member), "as the other keys are those of version 3")
        }
        _ => of(mandatory(), "as in the other streams"),
    }
}

/// Returns the loom, process or thread that the directory of a stream names, as a member: only a
/// name that libovni writes.
pub fn named_member(stream: &StreamSummary<'_, '_>, key: &str) -> Option<NewMember> {
    let named = &stream.files.path_identity;
    let loom = || named.loom.clone().filter(|name| !name.is_empty() && !name.contains('/'));
    let value = match key {
        "loom" => NewValue::Text(loom()?),
        "pid" => raw(named.pid?),
        _ => raw(named.tid?),
    };
    Some(NewMember::of_ovni(key, value))
}

/// Returns the member that requires a model in the newest supported version that another stream
/// requires.
fn required_elsewhere(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    index: usize,
) -> Option<NewMember> {
    let model = MODELS.get(index)?;
    let others = summary.streams.iter().filter(|other| other.number != stream.number);
    let required = others.filter_map(|other| other.metadata.required().get(index).copied()?);
    let version = required.filter(|version| model.supports(*version)).max()?;
    let value = NewValue::Text(display_version(version));
    Some(NewMember { path: vec!["ovni", "require"], key: model.name.to_string(), value })
}

/// Whether a stream whose version is invalid is of version 3: it has a key that came with it, and
/// the release that wrote it, or the other streams, have that version.
fn is_version_3(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>) -> bool {
    let is_writer = |lib: &String| {
        let numbers = lib.strip_prefix("1.").and_then(|rest| rest.split('.').next());
        let minor = numbers.and_then(|minor| minor.parse::<u32>().ok());
        minor.is_some_and(|minor| (WRITERS.0..=WRITERS.1).contains(&minor))
    };
    let is_other = |other: &StreamSummary<'_, '_>| {
        let metadata = other.metadata;
        other.number != stream.number
            && metadata.is_readable
            && !metadata.faults.is_invalid("version")
    };
    stream.metadata.identity.part.is_some()
        && (stream.metadata.lib.as_ref().is_some_and(is_writer)
            || summary.streams.iter().any(is_other))
}

fn restore_rank(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    key: &'static str,
) -> Option<Restored> {
    let (ranks, source) = find_ranks(summary, stream)?;
    let stored = stream.metadata.process.contradicting;
    // Of two numbers that contradict each other, the other one may be wrong.
    let is_rank = key == "rank" || stored.is_some_and(|(rank, _)| rank != ranks.0);
    let member = match is_rank {
        true => NewMember::of_ovni("rank", raw(ranks.0)),
        false => NewMember::of_ovni("nranks", raw(ranks.1)),
    };
    Some(Restored { member, source })
}

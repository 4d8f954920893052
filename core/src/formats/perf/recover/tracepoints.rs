//! Tracepoints whose TRACING_DATA is missing or damaged: their names and the formats left.
//!
//! ```text
//!  system, NUL, u32 count, u64 size, "name: EVENT\nID: 317\nformat:\n\tfield:...", u64 size, ...
//!                                    ^ found by its first words; ends with the line before a NUL
//! ```
//!
//! A format is a text of lines, and the numbers between two of them have a NUL, so it is found
//! without the counts and sizes before it. Sources: as for `tracing`.

use std::collections::BTreeMap;

use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::format;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::tracing::{WantedTracepoints, read_head};
use crate::formats::perf::layout::{TYPE_TRACEPOINT, feature as bit};
use crate::model::limits::{Limits, WINDOW};

/// First word of a format.
const NAME: &[u8] = b"name: ";
/// Bytes of the count and the size between the name of a system and its first format.
const NUMBERS_LEN: usize = 12;
/// Most bytes of the name of a system.
const SYSTEM_MOST: usize = 128;

/// A tracepoint of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracepoint {
    /// Its id, the value of `attr.config`.
    pub id: u64,
    /// Its system and its name, if the recording has them.
    pub name: Option<(Vec<u8>, Vec<u8>)>,
    /// Its format, if it is left.
    pub format: Option<Vec<u8>>,
}

/// Returns the tracepoints among attrs.
pub fn traced(attrs: &[Attr]) -> WantedTracepoints {
    let traced = attrs.iter().enumerate().filter(|(_, attr)| attr.is_tracepoint());
    traced.rev().map(|(index, attr)| (attr.config, index)).collect()
}

/// Gathers what is left of tracepoints: their names in EVENT_DESC, if `sections` has it, and their
/// formats anywhere in the last bytes of the file: the section of a damaged TRACING_DATA may have
/// moved.
pub fn gather(
    recording: &Recording<'_>,
    traced: &WantedTracepoints,
    sections: &[(u32, Section)],
    limits: &Limits,
) -> Vec<Tracepoint> {
    let held = limits.of(&WINDOW);
    let described = sections.iter().find(|(of, _)| *of == bit::EVENT_DESC);
    let described =
        described.map_or_else(Vec::new, |(_, section)| recording.described_events(*section, held));
    let len = recording.length();
    let bytes = recording.file.source().read(len.saturating_sub(held), len);
    list(traced, &bytes, |id| {
        let mut named = described.iter().filter(|one| one.event == (TYPE_TRACEPOINT, id));
        named.next().and_then(|one| split_name(&one.name))
    })
}

/// Lists tracepoints, with their formats in `tracing` and these names.
pub fn list(
    traced: &WantedTracepoints,
    tracing: &[u8],
    mut name_of: impl FnMut(u64) -> Option<(Vec<u8>, Vec<u8>)>,
) -> Vec<Tracepoint> {
    let mut formats = find_formats(tracing, |id| traced.contains_key(&id));
    let tracepoint = |id: u64| {
        let found = formats.remove(&id);
        let own = found
            .as_ref()
            .and_then(|(system, text)| Some((system.clone()?, read_head(text)?.1.to_vec())));
        Tracepoint { id, name: own.or_else(|| name_of(id)), format: found.map(|(_, text)| text) }
    };
    traced.keys().copied().map(tracepoint).collect()
}

/// Divides the name of an event at its colon; `None` if it is not the name of a tracepoint.
fn split_name(name: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let colon = name.iter().position(|byte| *byte == b':')?;
    let (system, event) = (name.get(..colon)?, name.get(colon.saturating_add(1)..)?);
    (is_word(system) && is_word(event)).then(|| (system.to_vec(), event.to_vec()))
}

/// Whether bytes are a name as the kernel gives it to systems and events.
fn is_word(bytes: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !bytes.is_empty() && bytes.iter().all(is_part)
}

/// Finds the formats of wanted tracepoints anywhere in damaged TRACING_DATA, each with its system
/// if that is left.
fn find_formats(
    bytes: &[u8],
    wanted: impl Fn(u64) -> bool,
) -> BTreeMap<u64, (Option<Vec<u8>>, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut at = 0_usize;
    let mut system = None;
    while let Some(rest) = bytes.get(at..) {
        let Some(next) = rest.windows(NAME.len()).position(|window| window == NAME) else { break };
        let start = at.saturating_add(next);
        let rest = bytes.get(start..).unwrap_or_default();
        let Some((id, _)) = read_head(rest) else {
            at = start.saturating_add(NAME.len());
            continue;
        };
        if let Some(name) = system_before(bytes, start) {
            system = Some(name);
        }
        let run = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        let last = run.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let text = run.get(..=last).unwrap_or_default();
        if wanted(id) && is_format(text) {
            found.entry(id).or_insert_with(|| (system.clone(), text.to_vec()));
        }
        at = start.saturating_add(run.len());
    }
    found
}

/// Returns the name of the system whose first format begins at `start`.
fn system_before(bytes: &[u8], start: usize) -> Option<Vec<u8>> {
    let before = bytes.get(..start.checked_sub(NUMBERS_LEN)?)?;
    let (nul, before) = before.split_last()?;
    let is_part = |byte: &u8| is_word(std::slice::from_ref(byte));
    let tail = before.get(before.len().saturating_sub(SYSTEM_MOST)..)?;
    let len = tail.iter().rev().take_while(|byte| is_part(byte)).count();
    let name = before.get(before.len().saturating_sub(len)..)?;
    (*nul == 0 && !name.is_empty()).then(|| name.to_vec())
}

/// Whether a text is a format: perf reads it, and each byte is one that the kernel writes.
fn is_format(text: &[u8]) -> bool {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\n');
    text.iter().all(is_text) && format::find_fault(text).is_none()
}

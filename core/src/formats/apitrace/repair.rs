//! Edits of the stream, and what they make of the stored units.
//!
//! An edit names the units that it touches. Edits that share a unit are one group: its units are
//! expanded again, edited and written anew, and all others stay byte for byte.

use crate::limits::INSERTED;
use crate::formats::apitrace::decode::machine::Space;
use crate::formats::apitrace::expand::{Container, Encoder, unit_bytes, zstd};
use crate::formats::apitrace::layout::{
    FLAG_FAKE, PLACEHOLDER_ARG, PLACEHOLDER_NAME, VERSION_ENUM_SETS, VERSION_THREADS, detail,
    event, kind,
};
use crate::kit::layer::Segment;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;
use crate::mend::edit::{Edit, StoredAnew};

/// Bytes `start..end` of the stream become `insert`.
#[derive(Clone, Debug)]
pub struct StreamEdit {
    /// First byte that goes.
    pub start: u64,
    /// One after the last byte that goes; `u64::MAX` for the end of the stream.
    pub end: u64,
    /// What comes in their place.
    pub insert: Vec<u8>,
    /// The units that are touched, in the file.
    pub stored: Span,
    /// Where the first of them begins in the stream.
    pub base: u64,
}

/// What `edits`, which share units and are in order, make of these units, in the file and in the
/// stream; `None` if that is more than a round may insert.
pub fn compose(
    source: &Source<'_>,
    container: Container,
    limits: &Limits,
    edits: &[StreamEdit],
) -> Option<(Edit, StoredAnew)> {
    let first = edits.first()?;
    let start = edits.iter().map(|edit| edit.stored.start).min()?;
    let end = edits.iter().map(|edit| edit.stored.end).max()?;
    let base = edits.iter().map(|edit| edit.base).min()?;
    let stored = Span::new(first.stored.layer, start, end);
    let mut encoder = Encoder::new(container, limits.of(&INSERTED));
    let mut rest = edits.iter().peekable();
    // Bytes before this were dropped by an edit.
    let mut gone = base;
    let segment = Segment { expanded: Span::new(stored.layer.expanded(), base, base), stored };
    let mut anew = StoredAnew { stored: stored.len(), ..StoredAnew::default() };
    let (mut kept, mut inserted, mut expanded) = (0_u64, 0_u64, 0_u64);
    let push = |encoder: &mut Encoder, count: &mut u64, bytes: &[u8]| {
        *count = count.saturating_add(to_u64(bytes.len()));
        encoder.push(bytes);
    };
    unit_bytes(source, container, segment, limits, &mut |bytes, at| {
        let after = at.saturating_add(to_u64(bytes.len()));
        expanded = expanded.saturating_add(to_u64(bytes.len()));
        let part = |from: u64, to: u64| {
            let from = to_usize(from.saturating_sub(at)).min(bytes.len());
            let to = to_usize(to.saturating_sub(at)).min(bytes.len());
            bytes.get(from..to).unwrap_or_default()
        };
        let mut here = at.max(gone);
        while let Some(edit) = rest.next_if(|edit| edit.start < after) {
            // What changes bytes that another edit dropped has gone with them.
            if edit.start < gone {
                gone = gone.max(edit.end);
                here = here.max(edit.end);
                continue;
            }
            push(&mut encoder, &mut kept, part(here, edit.start));
            push(&mut encoder, &mut inserted, &edit.insert);
            here = here.max(edit.start).max(edit.end);
            gone = gone.max(edit.end);
        }
        push(&mut encoder, &mut kept, part(here, after));
        !encoder.overflown
    });
    for edit in rest {
        push(&mut encoder, &mut inserted, &edit.insert);
    }
    anew.kept = kept;
    anew.inserted = inserted;
    anew.dropped = expanded.saturating_sub(kept);
    // Units that hold nothing any more go whole.
    let any = kept.saturating_add(inserted) > 0;
    let bytes = if any { encoder.finish()? } else { Vec::new() };
    Some((Edit::replace(stored, bytes), anew))
}

/// Splits `edits`, with whom each belongs to, into groups that share units.
pub fn groups(mut edits: Vec<(usize, StreamEdit)>) -> Vec<Vec<(usize, StreamEdit)>> {
    edits.sort_by_key(|(_, edit)| (edit.stored.start, edit.start, edit.end));
    let mut groups: Vec<Vec<(usize, StreamEdit)>> = Vec::new();
    let mut end = 0;
    for (owner, edit) in edits {
        let stored_end = edit.stored.end;
        match groups.last_mut().filter(|_| edit.stored.start < end) {
            Some(group) => group.push((owner, edit)),
            None => groups.push(vec![(owner, edit)]),
        }
        end = end.max(stored_end);
    }
    for group in &mut groups {
        group.sort_by_key(|(_, edit)| (edit.start, edit.end));
    }
    groups
}

/// An integer as the stream has it.
pub fn uint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let group = u8::try_from(value & 0x7f).unwrap_or_default();
        value >>= 7;
        if value == 0 {
            bytes.push(group);
            return bytes;
        }
        bytes.push(group | 0x80);
    }
}

fn string(text: &[u8]) -> Vec<u8> {
    let mut bytes = uint(to_u64(text.len()));
    bytes.extend_from_slice(text);
    bytes
}

fn numbered(prefix: &str, number: u64) -> Vec<u8> {
    string(format!("{prefix}{number}").as_bytes())
}

/// Calls `first..first + count` as calls that nobody made: of a function with an argument that says
/// so, flagged as made up. The first one defines the function if `defines`.
pub fn placeholders(version: u64, id: u64, first: u64, count: u64, defines: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..count {
        bytes.push(event::ENTER);
        if version >= VERSION_THREADS {
            bytes.push(0);
        }
        bytes.extend(uint(id));
        if defines && index == 0 {
            bytes.extend(string(PLACEHOLDER_NAME));
            bytes.extend(uint(1));
            bytes.extend(string(PLACEHOLDER_ARG));
        }
        bytes.push(detail::FLAGS);
        bytes.extend(uint(FLAG_FAKE));
        bytes.push(detail::END);
        bytes.extend(leave(first.saturating_add(index)));
    }
    bytes
}

/// A leave without arguments and value.
pub fn leave(call: u64) -> Vec<u8> {
    let mut bytes = vec![event::LEAVE];
    bytes.extend(uint(call));
    bytes.push(detail::END);
    bytes
}

/// What stands behind the first use of an id whose definition was lost.
pub fn definition(version: u64, space: Space, id: u64, items: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    match space {
        Space::Function | Space::Struct => {
            let (name, item) = match space {
                Space::Function => ("lost_signature_", "arg"),
                _ => ("lost_struct_", "member"),
            };
            bytes.extend(numbered(name, id));
            bytes.extend(uint(items));
            for index in 0..items {
                bytes.extend(numbered(item, index));
            }
        }
        Space::Enum if version < VERSION_ENUM_SETS => {
            bytes.extend(numbered("lost_enum_", id));
            bytes.extend([kind::UINT, 0]);
        }
        Space::Enum | Space::Bitmask => bytes.push(0),
        Space::Frame => bytes.push(crate::formats::apitrace::layout::frame::END),
    }
    bytes
}

/// What follows from edits of zstd frames: the table to seek by.
pub fn settle(source: &Source<'_>, edits: &[Edit], limits: &Limits) -> Vec<Edit> {
    let Some(table) = zstd::table_span(source) else { return Vec::new() };
    if edits.is_empty() || edits.iter().any(|edit| edit.span.overlaps(&table)) {
        return Vec::new();
    }
    let mut frames = Vec::new();
    let mut at = 0;
    let kept = |from: u64, to: u64, frames: &mut Vec<(u64, u64)>| {
        let part = Source::from_pieces(source.slices(from, to));
        frames.extend(zstd::frame_lengths(&part, limits));
    };
    for edit in edits.iter().filter(|edit| edit.span.layer == Layer::stored(0)) {
        kept(at, edit.span.start, &mut frames);
        frames.extend(zstd::frame_lengths(&Source::new(&edit.insert), limits));
        at = edit.span.end;
    }
    kept(at, table.start, &mut frames);
    vec![Edit::replace(table, zstd::table(&frames))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_as_short_as_they_can_be() {
        assert_eq!(uint(0), [0]);
        assert_eq!(uint(127), [127]);
        assert_eq!(uint(128), [0x80, 1]);
        assert_eq!(uint(u64::MAX).len(), 10);
    }

    #[test]
    fn edits_that_share_a_unit_are_one_group() {
        let edit = |start: u64, from, to| StreamEdit {
            start,
            end: start,
            insert: Vec::new(),
            stored: Span::new(Layer::stored(0), from, to),
            base: 0,
        };
        let edits = vec![(0, edit(50, 20, 30)), (1, edit(5, 0, 10)), (2, edit(9, 0, 20))];
        let owners: Vec<Vec<usize>> = groups(edits)
            .iter()
            .map(|group| group.iter().map(|(owner, _)| *owner).collect())
            .collect();
        assert_eq!(owners, [vec![1, 2], vec![0]]);
    }
}

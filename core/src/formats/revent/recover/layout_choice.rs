//! The layout of a recording: by its magic and version, or by what fits the file.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::head::{Head, has_magic, parse_head_as};
use crate::formats::revent::decode::head_error::HeadError;
use crate::formats::revent::layout::{Generation, HEADER};
use crate::formats::revent::recover::evidence;
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::source::Source;
use crate::model::limits::Limits;

/// Reads the head of a recording.
///
/// # Errors
///
/// The first field that prevents it, see [`HeadError`].
pub fn parse_head(source: &Source<'_>, limits: &Limits) -> Result<Head, HeadError> {
    if !has_magic(source) {
        return parse_head_without_magic(source, limits);
    }
    let version = read_u16(source, 6, "version")?;
    let known = generation_of(version);
    if source.len() == HEADER && known >= Some(Generation::V2) {
        return Err(HeadError::HeaderOnly);
    }
    match known {
        Some(generation) if version > 0 => parse_head_with_mode(source, generation),
        // Readers take version 0 for version 1; damage may have cleared another version.
        Some(generation) => {
            let head = parse_head_with_mode(source, generation);
            let is_first = |head: &Head| evidence::explains_events(source, head, limits);
            match head {
                Ok(head) if is_first(&head) => Ok(head),
                head => find_fitting_head(source, limits).map_or(head, Ok),
            }
        }
        None => find_fitting_head(source, limits).ok_or(HeadError::Version(version)),
    }
}

/// Returns the layout of a stored version. Readers take version 0 for version 1.
const fn generation_of(version: u16) -> Option<Generation> {
    match version {
        0 | 1 => Some(Generation::V1),
        2 => Some(Generation::V2),
        3 => Some(Generation::V3),
        _ => None,
    }
}

fn read_u16(source: &Source<'_>, at: u64, label: &'static str) -> Result<u16, ReadError> {
    let bytes = source.read(at, at.saturating_add(2));
    Cursor::new(&bytes, FILE, at, Order::Little).u16(label)
}

/// Reads the head of a layout without a magic, or of one whose magic was overwritten.
fn parse_head_without_magic(source: &Source<'_>, limits: &Limits) -> Result<Head, HeadError> {
    if let Some(evidence) = evidence::detect_layout_without_magic(source, limits) {
        let head = parse_head_as(source, evidence.generation, None)?;
        return Ok(Head { evidence: Some(evidence), ..head });
    }
    // Only a file whose format the user names gets here; its version and events have to fit.
    let version = read_u16(source, 6, "version").ok().filter(|version| *version > 0);
    let head = version
        .and_then(generation_of)
        .and_then(|generation| parse_head_with_mode(source, generation).ok())
        .filter(|head| evidence::explains_events(source, head, limits));
    head.ok_or_else(|| HeadError::UnknownFormat { first: source.read(0, 8).into_owned() })
}

/// Returns the head in the only layout with a version that explains the events.
fn find_fitting_head(source: &Source<'_>, limits: &Limits) -> Option<Head> {
    let layouts = [Generation::V3, Generation::V2, Generation::V1];
    let heads = layouts.into_iter().filter_map(|layout| parse_head_with_mode(source, layout).ok());
    let mut fitting = heads.filter(|head| evidence::explains_events(source, head, limits));
    let found = fitting.next()?;
    fitting.next().is_none().then_some(found)
}

/// Reads the head in the stored mode or, if that is unknown, in the mode that fits the file.
fn parse_head_with_mode(source: &Source<'_>, generation: Generation) -> Result<Head, HeadError> {
    if generation < Generation::V2 {
        return parse_head_as(source, generation, None);
    }
    let stored = read_u16(source, 8, "mode")?;
    if stored <= 1 {
        return parse_head_as(source, generation, Some(stored));
    }
    let heads = [0, 1].map(|mode| parse_head_as(source, generation, Some(mode)));
    let found = heads.into_iter().flatten().find(Head::has_recorded_devices);
    found.ok_or(HeadError::Mode(stored))
}

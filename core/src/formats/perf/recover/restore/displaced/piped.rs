//! Bytes that were inserted into an attr of a pipe, or are missing there.
//!
//! EVENT_DESC has the attr and the ids of each event, so the bytes of a HEADER_ATTR record are
//! known. The first one that is not as its copy begins like it. Its rest follows some bytes later
//! if others were inserted, or begins in the middle if some are missing.
//!
//! ```text
//!  written   | header | a | ttr | ids | next record
//!  stored    | header | a | inserted | ttr | ids | next record
//! ```

use memchr::memmem;

use super::DESCRIBED;
use crate::formats::perf::decode::frame::frame;
use crate::formats::perf::decode::recording::{Opened, open};
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, RECORD_HEADER};
use crate::formats::perf::recover::restore::described::Described;
use crate::formats::perf::recover::restore::peek::Peek;
use crate::formats::perf::recover::restore::pipe_attrs::{Found, read_described};
use crate::kit::num::to_u64;
use crate::kit::reading::{Change, Reading};
use crate::kit::source::Source;
use crate::model::recording::{File, FileSet};

/// Most bytes that were inserted, and that a walk searches for the next record.
const MOST: u64 = 64 << 10;

/// Bytes after inserted ones that show their place. Those of one id may stand at the end of a later
/// record, too, unless fewer bytes than those of a record lie between.
const SURE: usize = 16;

/// Returns the readings of the first attr of a pipe that is not as its copy.
pub(super) fn find(source: &Source<'_>) -> Vec<Reading> {
    find_changed(source).unwrap_or_default()
}

fn find_changed(source: &Source<'_>) -> Option<Vec<Reading>> {
    let files = FileSet::new(vec![File::new(String::new(), source.clone())]);
    let Opened::Pipe(file) = open(&files).ok()? else { return None };
    let peek = Peek { source, order: file.order() };
    let found = Found::gather(&file, (HEADER_SIZE_PIPE, file.length()), MOST);
    let section = found.described?;
    let (size, described) = read_described(peek, section)?;
    let written = described.iter().map(|event| write(peek, size, event));
    let (at, written) =
        found.attrs.iter().map(|attr| attr.offset).zip(written).find(|(at, written)| {
            *peek.bytes(*at, at.saturating_add(to_u64(written.len()))) != **written
        })?;
    let stored = peek.bytes(at, at.saturating_add(to_u64(written.len())).saturating_add(MOST));
    let same = stored.iter().zip(&written).take_while(|(one, two)| one == two).count();
    let (stored, rest) = (stored.get(same..)?, written.get(same..)?);
    let at = at.saturating_add(to_u64(same));
    let is_followed = |len: usize| is_record(peek, at.saturating_add(to_u64(len)));
    let inserted = memmem::find_iter(stored, rest)
        .find(|len| is_followed(len.saturating_add(rest.len())))
        .map(|len| Reading {
            is_determined: rest.len() >= SURE || to_u64(len) < RECORD_HEADER,
            ..Reading::inserted(0, at..at.saturating_add(to_u64(len)))
        });
    let missing = (1..=rest.len()).find_map(|len| {
        let (lost, left) = rest.split_at_checked(len)?;
        let change = Change { range: at..at, insert: lost.to_vec() };
        let is_here = stored.starts_with(left) && is_followed(left.len());
        // EVENT_DESC is the only copy, and may be damaged itself.
        is_here.then(|| Reading::lost(0, change, false))
    });
    let readings = inserted.into_iter().chain(missing);
    Some(readings.map(|reading| reading.witness(section.span(0), DESCRIBED)).collect())
}

/// Returns the attr and the ids of an event, as a HEADER_ATTR record has them.
fn write(peek: Peek<'_>, size: u64, event: &Described) -> Vec<u8> {
    let attr = peek.bytes(event.attr, event.attr.saturating_add(size));
    let ids = peek.bytes(event.ids.offset, event.ids.offset.saturating_add(event.ids.size));
    [attr, ids].concat()
}

/// Whether a record begins at `at`.
fn is_record(peek: Peek<'_>, at: u64) -> bool {
    frame(&peek.bytes(at, at.saturating_add(RECORD_HEADER)), peek.order).is_ok()
}

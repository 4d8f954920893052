//! Where bytes were inserted or are missing, if that is known only as a range.
//!
//! The end of the last section and that of the file differ by their number. If the table lies where
//! the header places it, they are among the features, and the sections that moved show where. If it
//! lies as many bytes elsewhere, they are before it, where the check found the first faults.

use super::{Entries, Shift, TABLE, find_entries};
use crate::formats::perf::decode::frame::frame;
use crate::formats::perf::decode::header::{self, Flags};
use crate::formats::perf::layout::{HEADER_SIZE, RECORD_HEADER, field};
use crate::formats::perf::recover::restore::parted::Parted;
use crate::formats::perf::recover::restore::peek::Peek;
use crate::kit::reading::{Cause, Displacement};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::model::limits::{Limits, WINDOW};

/// The layer of the file.
const FILE: Layer = Layer::stored(0);

/// Returns the bytes by which a file is too long or too short, with their range; `faults` are those
/// that its check found.
pub fn find(
    source: &Source<'_>,
    limits: &Limits,
    faults: impl Iterator<Item = Span>,
) -> Option<Displacement> {
    let (order, _) = header::magic(&source.read(0, 8))?;
    let peek = Peek { source, order };
    let table = find_entries(peek, limits.of(&WINDOW))?;
    let shift = Shift::between(table.end, peek.len())?;
    let declared = peek.u64(field::DATA)?.checked_add(peek.u64(field::DATA_SIZE)?)?;
    let range = if declared == table.at {
        let flags = [0, 8, 16, 24].map(|at| peek.u64(field::FLAGS.saturating_add(at)).unwrap_or(0));
        let range = Parted::find(peek, table.at, &Flags(flags))?.range()?;
        Span::new(FILE, range.start, range.end)
    } else if shift.stored(declared) == Some(table.at) {
        join_before(peek, &table, faults)
    } else {
        return None;
    };
    let (cause, len) = match shift {
        Shift::Inserted(len) => (Cause::Inserted, len),
        Shift::Missing(len) => (Cause::Missing, len),
    };
    let data_size = Span::sized(FILE, field::DATA_SIZE, 8);
    let witnesses = vec![(table.span(), TABLE), (data_size, "the size of the records")];
    Some(Displacement { range, cause, len, witnesses })
}

/// Returns the bytes of the faults between the header and the table; all of these bytes if there
/// are none.
fn join_before(peek: Peek<'_>, table: &Entries, faults: impl Iterator<Item = Span>) -> Span {
    let all = Span::new(FILE, HEADER_SIZE, table.at);
    let inside = faults.filter(|span| {
        span.layer == FILE && span.start >= all.start && span.end <= all.end && !span.is_empty()
    });
    let joined =
        inside.reduce(|one, two| Span::new(FILE, one.start.min(two.start), one.end.max(two.end)));
    let Some(found) = joined else { return all };
    Span::new(FILE, record_before(peek, found.start).unwrap_or(found.start), found.end)
}

/// Returns where the last record before `end` begins, whose end may be damaged although it can be
/// read.
fn record_before(peek: Peek<'_>, end: u64) -> Option<u64> {
    let mut at = peek.u64(field::DATA)?;
    let mut last = None;
    while at < end {
        last = Some(at);
        let header = peek.bytes(at, at.checked_add(RECORD_HEADER)?);
        let Ok(frame) = frame(&header, peek.order) else { break };
        at = at.checked_add(frame.size)?;
    }
    last
}

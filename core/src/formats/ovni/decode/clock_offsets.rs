//! `clock-offsets.txt`: how far the clocks of hosts are apart, measured by `ovnisync`.
//!
//! ```text
//!  rank       hostname             offset_median        offset_mean          offset_std
//!  0          node0                0                    0.000000             0.000000
//! ```

use crate::formats::ovni::limits::CLOCK_OFFSETS_BYTES;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::Limits;

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct HostOffset {
    /// Name of the host.
    pub host: String,
    /// Nanoseconds to add to its clocks.
    pub offset: i64,
    /// The line.
    pub line: Line,
}

/// Place of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its bytes, without the line feed.
    pub span: Span,
    /// Its number, from 1.
    pub number: usize,
}

/// The table: its lines, and how much of it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetTable {
    /// One item per line after the header that is not blank.
    pub lines: Vec<Item<HostOffset, Line>>,
    /// The first byte, or nothing if the table is empty.
    pub start: Span,
    /// The end of the file.
    pub end: Span,
    /// The last line ends with a line feed.
    pub ends_with_line: bool,
    /// The part of the table after the limit.
    pub unread: Option<Span>,
}

/// Reads the table in file number `file`.
pub fn read_table(source: &Source<'_>, file: u32, limits: &Limits) -> OffsetTable {
    let max = limits.of(&CLOCK_OFFSETS_BYTES);
    let text = source.read(0, source.len().min(max));
    let layer = Layer::stored(file);
    let mut lines = Vec::new();
    let mut at = 0_u64;
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let span = Span::sized(layer, at, to_u64(line.len()));
        at = span.end.saturating_add(1);
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        if index == 0 || is_blank {
            continue;
        }
        let place = Line { span, number: index.saturating_add(1) };
        lines.push(match parse_line(line) {
            Some((host, offset)) => Item::Record(HostOffset { host, offset, line: place }),
            None => Item::Damage(place),
        });
    }
    let unread = (source.len() > max).then(|| Span::new(layer, max, source.len()));
    OffsetTable {
        lines,
        start: Span::new(layer, 0, source.len().min(1)),
        end: Span::new(layer, source.len(), source.len()),
        ends_with_line: text.ends_with(b"\n"),
        unread,
    }
}

/// Host and median of one line: rank, host, and three numbers.
fn parse_line(line: &[u8]) -> Option<(String, i64)> {
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_ascii_whitespace();
    words.next()?.parse::<i64>().ok()?;
    let host = words.next()?.to_string();
    let median: f64 = words.next()?.parse().ok()?;
    for _ in 0..2 {
        words.next()?.parse::<f64>().ok()?;
    }
    // The emulator casts the median from double, which rounds towards zero.
    let offset = format!("{:.0}", median.trunc()).parse().ok()?;
    Some((host, offset))
}

//! Recordings that follow one another in one file, as after `cat` or with `>>`.
//!
//! ```text
//!  | header | attrs | records | table | sections || header | records of a pipe |\n| header | ...
//! ```
//!
//! A file ends with its last section, a pipe with its last record. The next recording begins there,
//! or soon after: its header alone shows it after padding, such as an empty line, and its records
//! as well after other bytes. A header anywhere else is content, such as memory of perf itself in a
//! sample. Padding is of no recording, other bytes are of the one before them.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::formats::perf::decode::recording::{Opened, RecordFile, Recording, open};
use crate::formats::perf::decode::walk::RESYNC_RECORDS;
use crate::formats::perf::layout::{HEADER_SIZE, HEADER_SIZE_PIPE, MAGIC_BIG, MAGIC_LITTLE};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::reading::{Cause, Reading};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::recording::{File, FileSet};

/// Recordings that are told apart; the last one has all bytes after it.
const MOST: usize = 1_000;
/// Most bytes between two recordings: a line of text, or zeros up to the end of a block.
const BETWEEN: u64 = 4 << 10;
/// Magics among some bytes that are looked at: each look opens a recording.
const HEADERS: usize = 16;
/// Bytes that are searched at once.
const SEARCHED: u64 = 1 << 16;

/// Returns the recordings of a file, if it has more than one.
pub fn find(files: &FileSet<'_>) -> Vec<Span> {
    let [file] = files.files() else { return Vec::new() };
    let span = |start, end| Span::new(Layer::stored(0), start, end);
    let (mut found, mut start) = (Vec::new(), 0);
    while let Some((end, next)) = find_next(&file.bytes, start).filter(|_| found.len() < MOST) {
        found.push(span(start, end));
        start = next;
    }
    if start > 0 {
        found.push(span(start, file.bytes.len()));
    }
    found
}

/// Whether one of the recordings is a pipe.
pub fn is_pipe(files: &FileSet<'_>, one: Span) -> bool {
    matches!(open(&take(files, one)), Ok(Opened::Pipe(_)))
}

/// Returns one of the recordings as a file of its own.
pub fn take<'a>(files: &FileSet<'a>, one: Span) -> FileSet<'a> {
    let name = files.files().first().map_or_else(String::new, |file| file.name.clone());
    let bytes = part_of(&files.bytes(0), one.start, one.end);
    let taken = FileSet::new(vec![File::new(name, bytes)]).with_donor(files.donor().cloned());
    taken.with_undone(files.undone().to_vec())
}

/// Whether a reading drops the records of one of two recordings, which no cause inserts: those
/// before a header among the bytes, or those after it.
pub fn drops_one(source: &Source<'_>, reading: &Reading) -> bool {
    let Range { start, end } = reading.range();
    let bytes = source.read(start, end.saturating_add(to_u64(MAGIC_LITTLE.len())));
    let is_second = |at: usize| {
        let at = start.saturating_add(to_u64(at));
        open_part(source, 0, at).is_some_and(|first| has_records(&first))
            && begins(source, at, true)
    };
    let mut magics = [MAGIC_LITTLE, MAGIC_BIG].iter();
    reading.cause == Cause::Inserted
        && magics.any(|magic| Finder::new(magic).find_iter(&bytes).take(HEADERS).any(is_second))
}

fn part_of<'a>(source: &Source<'a>, start: u64, end: u64) -> Source<'a> {
    Source::from_pieces(source.slices(start, end).collect::<Vec<_>>())
}

/// Returns the end of the recording at `start`, and the start of the one after it.
fn find_next(source: &Source<'_>, start: u64) -> Option<(u64, u64)> {
    let magic = [MAGIC_LITTLE, MAGIC_BIG].into_iter().find(|magic| is_at(source, start, magic))?;
    let len = match open_part(source, start, source.len())? {
        Opened::Sections(recording) => find_file_end(&recording)?,
        // Most pipes are alone, and a search takes less time than a walk.
        Opened::Pipe(file) if is_after(source, start, magic) => find_pipe_end(&file),
        Opened::Pipe(_) => return None,
    };
    let end = start.checked_add(len).filter(|_| len >= HEADER_SIZE_PIPE)?;
    let bytes = source.read(end, end.saturating_add(BETWEEN).saturating_add(to_u64(magic.len())));
    Finder::new(magic).find_iter(&bytes).take(HEADERS).find_map(|at| {
        let next = end.saturating_add(to_u64(at));
        let mut between = bytes.iter().take(at);
        let is_padding = between.all(|byte| *byte == 0 || byte.is_ascii_whitespace());
        let end = if is_padding { end } else { next };
        begins(source, next, !is_padding).then_some((end, next))
    })
}

/// Whether a recording begins at `at` by its header, and if `is_complete` by its records.
fn begins(source: &Source<'_>, at: u64, is_complete: bool) -> bool {
    open_part(source, at, source.len()).is_some_and(|opened| {
        let has_header = match &opened {
            Opened::Pipe(_) => true,
            Opened::Sections(recording) => recording.header.size == HEADER_SIZE,
        };
        has_header && (!is_complete || has_records(&opened))
    })
}

fn open_part<'a>(source: &Source<'a>, start: u64, end: u64) -> Option<Opened<'a>> {
    open(&FileSet::new(vec![File::new(String::new(), part_of(source, start, end))])).ok()
}

fn is_at(source: &Source<'_>, at: u64, magic: &[u8; 8]) -> bool {
    *source.read(at, at.saturating_add(8)) == *magic
}

/// Whether the magic is anywhere after the one at `start`.
fn is_after(source: &Source<'_>, start: u64, magic: &[u8; 8]) -> bool {
    let finder = Finder::new(magic);
    let mut at = start.saturating_add(8);
    while at < source.len() {
        let end = at.saturating_add(SEARCHED);
        // The magic may cross the end.
        let bytes = source.read(at, end.saturating_add(to_u64(magic.len()).saturating_sub(1)));
        if finder.find(&bytes).is_some() {
            return true;
        }
        at = end;
    }
    false
}

/// Whether a recording begins with more records than there are by chance.
fn has_records(opened: &Opened<'_>) -> bool {
    let (file, start) = match opened {
        Opened::Pipe(file) => (file, HEADER_SIZE_PIPE),
        Opened::Sections(recording) => (&recording.file, recording.body.data.offset),
    };
    let records = file.records((start, file.length()), 0).take(to_usize(RESYNC_RECORDS));
    to_u64(records.filter(|item| matches!(item, Item::Record(_))).count()) == RESYNC_RECORDS
}

/// Returns the end of the last record of a pipe.
fn find_pipe_end(file: &RecordFile<'_>) -> u64 {
    let mut end = HEADER_SIZE_PIPE;
    for item in file.records((HEADER_SIZE_PIPE, file.length()), 0) {
        match item {
            Item::Record(record) => end = record.end(),
            Item::Damage(_) => break,
        }
    }
    end
}

/// Returns the end of the last section of a file, if its header and its table lead there.
fn find_file_end(recording: &Recording<'_>) -> Option<u64> {
    let body = &recording.body;
    let records = body.data.end().filter(|end| body.data.size > 0 && *end <= recording.length())?;
    let end = match body.flags.count() {
        0 => records,
        _ => recording.table(records).tiled_end()?,
    };
    // perf inject writes the attrs of a pipe after all else.
    Some(end.max(body.attrs.end()?))
}

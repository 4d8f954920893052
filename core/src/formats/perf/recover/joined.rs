//! Recordings that follow one another in one file, as after `cat` or with `>>`.
//!
//! ```text
//!  | header | attrs | records | table | sections || header | records of a pipe || ...
//! ```
//!
//! A file ends with its last section, a pipe with its last record. The next recording begins there,
//! or none does: a header anywhere else is content, such as memory of perf itself in a sample.

use memchr::memmem::Finder;

use crate::formats::perf::decode::recording::{Opened, RecordFile, Recording, open};
use crate::formats::perf::layout::{HEADER_SIZE, HEADER_SIZE_PIPE, MAGIC_BIG, MAGIC_LITTLE};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::recording::{File, FileSet};

/// Recordings that are told apart; the last one has all bytes after it.
const MOST: usize = 1_000;
/// Bytes that are searched at once.
const SEARCHED: u64 = 1 << 16;

/// Returns the recordings of a file, if it has more than one.
pub fn find(files: &FileSet<'_>) -> Vec<Span> {
    let [file] = files.files() else { return Vec::new() };
    let span = |start, end| Span::new(Layer::stored(0), start, end);
    let (mut found, mut start) = (Vec::new(), 0);
    while let Some(next) = find_next(&file.bytes, start).filter(|_| found.len() < MOST) {
        found.push(span(start, next));
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

fn part_of<'a>(source: &Source<'a>, start: u64, end: u64) -> Source<'a> {
    Source::from_pieces(source.slices(start, end).collect::<Vec<_>>())
}

/// Returns the start of the recording after the one at `start`.
fn find_next(source: &Source<'_>, start: u64) -> Option<u64> {
    let magic = [MAGIC_LITTLE, MAGIC_BIG].into_iter().find(|magic| is_at(source, start, magic))?;
    let rest = FileSet::new(vec![File::new(String::new(), part_of(source, start, source.len()))]);
    let end = match open(&rest).ok()? {
        Opened::Sections(recording) => find_file_end(&recording)?,
        // Most pipes are alone, and a search takes less time than a walk.
        Opened::Pipe(file) if is_after(source, start, magic) => find_pipe_end(&file),
        Opened::Pipe(_) => return None,
    };
    let next = start.checked_add(end)?;
    let rest = FileSet::new(vec![File::new(String::new(), part_of(source, next, source.len()))]);
    let header_size = match open(&rest).ok().filter(|_| is_at(source, next, magic))? {
        Opened::Pipe(_) => HEADER_SIZE_PIPE,
        Opened::Sections(recording) => recording.header.size,
    };
    let is_header = [HEADER_SIZE, HEADER_SIZE_PIPE].contains(&header_size);
    (is_header && end >= HEADER_SIZE_PIPE).then_some(next)
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
    match body.flags.count() {
        0 => Some(records.max(body.attrs.end()?)),
        _ => recording.table(records).tiled_end(),
    }
}

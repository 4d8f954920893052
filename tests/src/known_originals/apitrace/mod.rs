//! apitrace: an event of the stream, the begin or the end of a call, is a record, and so is each
//! definition of a function or struct.
//!
//! The identity of an event leaves out what a repair has to change when it drops another call:
//! definitions, which move to the next use, and call numbers. It has the id of its function: the
//! name is that of the definition, which may lie in bytes that are damaged. A record needs the
//! chunks or frames that hold it; in a container without them it needs all bytes.

mod reader;

use std::ops::Range;
use std::sync::LazyLock;

pub use reader::{CallSpans, call_functions, call_spans};
use tracemend::FormatId;
use tracemend::formats::apitrace::expand::zstd::frame_lengths;
use tracemend::formats::apitrace::expand::{Container, Expansion};
use tracemend::formats::apitrace::layout::ZSTD_MAGIC;
use tracemend::formats::apitrace::stream_bytes;
use tracemend::kit::source::Source;
use tracemend::limits::Limits;

use self::reader::Reader;
use super::{Bound, Bounds, Damaged, Files, Original, Reach, Record, Subject, corpus};
use crate::forge::apitrace::{self as forge, all, call_heavy, chunks, old_threads, threaded};
use crate::judge::apitrace::Apitrace;
use crate::judge::apitrace::survival::readable;

/// The format.
pub static SUBJECT: Subject = Subject {
    format: FormatId::APITRACE,
    originals: LazyLock::new(originals),
    records,
    places: |_| Vec::new(),
    flags: |_| Vec::new(),
    reach: Reach::Everything,
    remains: Some(has_event_left),
    judge: Some(accepted),
    bounds: Bounds {
        false_labels: Bound::NONE,
        losing: Bound::new(158, "events after a damaged chunk or frame are not found again"),
        given_up: Bound::new(147, "one damaged block is all of a zstd, deflate or brotli trace"),
        unclean: Bound::NONE,
        unstable: Bound::NONE,
    },
};

fn originals() -> Vec<Original> {
    let forged = all().into_iter();
    let mut originals: Vec<Original> =
        forged.map(|(name, bytes)| Original::single(name, bytes)).collect();
    let old = old_threads(3, 3, 900, 5);
    let others = [("calls_long", call_heavy(300)), ("threads_long", threaded(150))];
    for (name, stream) in others.into_iter().chain([("old_threads_long", old)]) {
        for container in forge::Container::ALL {
            let name = format!("{name}_{container:?}");
            originals.push(Original::single(name, container.file(&stream.bytes)));
        }
    }
    originals.extend(corpus("apitrace"));
    originals
}

/// Asks `apitrace dump`, which has to read each trace to its end without a warning.
fn accepted(recordings: &[Files]) -> Option<Vec<Result<(), String>>> {
    let judge = Apitrace::find_or_skip()?;
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let ask = |recordings: &[Files]| -> Vec<Result<(), String>> {
        let folder = tempfile::tempdir().unwrap();
        let answer = |files: &Files| judge.reads(&readable(folder.path(), &files[0].1));
        recordings.iter().map(answer).collect()
    };
    let parts = recordings.chunks(recordings.len().div_ceil(workers).max(1));
    let answers = std::thread::scope(|scope| {
        let asked: Vec<_> = parts.map(|part| scope.spawn(move || ask(part))).collect();
        asked.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    Some(answers)
}

/// Longest stream that is read.
const STREAM_MAX: u64 = 64 << 20;

fn records(_: &Original, files: &Files) -> Vec<Record> {
    let bytes = &files[0].1;
    let stream = stream_bytes(&Source::new(bytes), STREAM_MAX);
    let units = units(bytes);
    let mut reader = Reader::new(&stream);
    if reader.header().is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let place = |range: Range<usize>| stored(&units, range).unwrap_or(0..bytes.len());
    let mut push = |range: Range<usize>, needs: &[Range<usize>], identity| {
        let needs = needs.iter().cloned().map(place).collect();
        found.push(Record { file: 0, stored: place(range), needs, identity });
    };
    loop {
        let start = reader.at;
        let Some(identity) = reader.event() else { break };
        let needs = std::mem::take(&mut reader.needs);
        push(start..reader.at, &needs, identity);
        // A definition is found by reading the event up to it.
        for (end, identity) in reader.definitions.drain(..) {
            push(start..end, &[], identity);
        }
    }
    found
}

/// Where a chunk ends in the stream, and its stored bytes.
type Unit = (usize, Range<usize>);

/// Returns the chunks or frames of a container; empty if it has none.
fn units(bytes: &[u8]) -> Vec<Unit> {
    let (mut end, mut units) = (0, Vec::new());
    if bytes.starts_with(&ZSTD_MAGIC) {
        let mut at = 0;
        for (stored, len) in frame_lengths(&Source::new(bytes), &Limits::default()) {
            end += len as usize;
            units.push((end, at..at + stored as usize));
            at += stored as usize;
        }
    }
    if bytes.starts_with(b"at") {
        for (start, stored_end) in chunks(bytes) {
            let Some(block) = bytes.get(start + 4..stored_end) else { break };
            end += snap::raw::decompress_len(block).unwrap_or(0);
            units.push((end, start..stored_end));
        }
    }
    units
}

/// Values of the damaged bytes: bytes of the stream that do not depend on them are left.
const FILLS: [fn(usize) -> u8; 3] = [|_| 0, |_| 0xff, |at| (at as u8).wrapping_mul(37) ^ 0x5a];

/// Returns whether all bytes of an event can still be decoded, at the places that the original had.
///
/// The damaged bytes of the original are replaced by several values. A byte of the stream is left
/// if it is the same each time. The first bytes of a unit count as known.
fn has_event_left(original: &Original, damaged: &Damaged) -> bool {
    let bytes = &original.files[0].1;
    let stream = stream_bytes(&Source::new(bytes), STREAM_MAX);
    let (container, first) = match bytes.as_slice() {
        [b'a', b't', ..] => (Container::Snappy, 8),
        [0x1f, 0x8b, ..] => (Container::Gzip, 10),
        [0x28, 0xb5, ..] => (Container::Zstd, 9),
        _ => (Container::Brotli, 3),
    };
    let mut units = units(bytes);
    if units.is_empty() {
        units.push((stream.len(), 0..bytes.len()));
    }
    let mut is_left = vec![true; stream.len()];
    let mut begin = 0;
    for (end, unit) in units {
        for fill in FILLS {
            let byte = |at: usize| match damaged.spares(0, &(at..at + 1)) || at - unit.start < first
            {
                true => bytes[at],
                false => fill(at),
            };
            let magic = if container == Container::Snappy { "at".as_bytes() } else { &[] };
            let file: Vec<u8> = magic.iter().copied().chain(unit.clone().map(byte)).collect();
            let found = expand_to_fault(&file, container);
            for at in begin..end {
                is_left[at] &= found.get(at - begin) == Some(&stream[at]);
            }
        }
        begin = end;
    }
    let mut reader = Reader::new(&stream);
    if reader.header().is_none() {
        return false;
    }
    while reader.event().is_some() {
        if is_left[reader.event..reader.at].iter().all(|is_left| *is_left) {
            return true;
        }
    }
    false
}

/// Expands a unit up to its first fault.
fn expand_to_fault(file: &[u8], container: Container) -> Vec<u8> {
    let mut bytes = Vec::new();
    for block in Expansion::new(&Source::new(file), container, &Limits::default()) {
        bytes.extend(block.bytes);
        if block.fault.is_some_and(|fault| fault.loses_bytes()) {
            break;
        }
    }
    bytes
}

fn stored(units: &[Unit], range: Range<usize>) -> Option<Range<usize>> {
    let first = units.partition_point(|unit| unit.0 <= range.start);
    let last = units.partition_point(|unit| unit.0 < range.end);
    Some(units.get(first)?.1.start..units.get(last)?.1.end)
}

#[cfg(test)]
mod tests {
    use super::reader::DEFINITION;
    use super::*;

    #[test]
    fn every_event_of_every_sound_stream_is_a_record() {
        for clean in crate::forge::apitrace::clean() {
            for container in
                [forge::Container::Snappy, forge::Container::SmallChunks, forge::Container::Gzip]
            {
                let file = container.file(&clean.stream.bytes);
                let original = Original::single(clean.name, file);
                let mut found = records(&original, &original.files);
                found.retain(|record| record.identity[0] != DEFINITION);
                assert_eq!(found.len(), clean.stream.events.len(), "{}", clean.name);
            }
        }
    }
}

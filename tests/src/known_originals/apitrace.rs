//! apitrace: an event of the stream, the begin or the end of a call, is a record, and so is each
//! definition of a function or struct.
//!
//! The identity of an event leaves out what a repair has to change when it drops another call:
//! definitions, which move to the next use, and call numbers. It has the id of its function: the
//! name is that of the definition, which may lie in bytes that are damaged. A record needs the
//! chunks or frames that hold it; in a container without them it needs all bytes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use tracemend::FormatId;
use tracemend::formats::apitrace::expand::zstd::frame_lengths;
use tracemend::formats::apitrace::expand::{Container, Expansion};
use tracemend::formats::apitrace::layout::ZSTD_MAGIC;
use tracemend::formats::apitrace::stream_bytes;
use tracemend::kit::source::Source;
use tracemend::limits::Limits;

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
    reach: Reach::Everything,
    remains: Some(has_event_left),
    judge: Some(accepted),
    bounds: Bounds {
        false_labels: Bound::NONE,
        losing: Bound::new(158, "events after a damaged chunk or frame are not found again"),
        given_up: Bound::new(78, "one damaged block is all of a zstd, deflate or brotli trace"),
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
    let mut reader = Reader { stream: &stream, ..Reader::default() };
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

/// The bytes of a call.
#[derive(Clone, Debug, Default)]
pub struct CallSpans {
    /// Its enter, and its leave if it has one.
    pub events: Vec<Range<usize>>,
    /// The definitions that it uses, each with the bytes of its event before it.
    pub definitions: Vec<Range<usize>>,
}

/// Returns the bytes of each call of a sound stream.
pub fn call_spans(stream: &[u8]) -> Vec<CallSpans> {
    let mut reader = Reader { stream, ..Reader::default() };
    let mut spans: Vec<CallSpans> = Vec::new();
    if reader.header().is_none() {
        return spans;
    }
    while reader.event().is_some() {
        let span = reader.event..reader.at;
        let mut event = Reader { stream, at: span.start, ..Reader::default() };
        let call = match (event.byte(), event.uint()) {
            (Some(1), Some(call)) => call as usize,
            _ => spans.len(),
        };
        if call == spans.len() {
            spans.push(CallSpans::default());
        }
        spans[call].events.push(span);
        spans[call].definitions.append(&mut reader.uses);
        reader.needs.clear();
        reader.definitions.clear();
    }
    spans
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
    let mut reader = Reader { stream: &stream, ..Reader::default() };
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

/// Reads a sound stream (`lib/trace/trace_parser.cpp`).
#[derive(Default)]
struct Reader<'a> {
    stream: &'a [u8],
    at: usize,
    version: u64,
    /// Definitions by kind and id: the number of members of a struct, and the bytes up to its end.
    known: BTreeMap<(u8, u64), (u64, Range<usize>)>,
    /// The function of each call, and its enter.
    calls: Vec<(u64, Range<usize>)>,
    identity: Vec<u8>,
    /// Where the event begins.
    event: usize,
    /// Other bytes without which the event cannot be shown: its enter, the structs in it.
    needs: Vec<Range<usize>>,
    /// The definitions that are used since they were last taken.
    uses: Vec<Range<usize>>,
    /// End and identity of the definitions in the latest event.
    definitions: Vec<(usize, Vec<u8>)>,
}

const FUNCTION: u8 = 0;
const STRUCT: u8 = 1;
const ENUM: u8 = 2;
const BITMASK: u8 = 3;
const FRAME: u8 = 4;
/// Begins the identity of a definition: no event does.
const DEFINITION: u8 = 0xff;

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.stream.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn uint(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        let len = usize::try_from(self.uint()?).ok()?;
        let text = self.stream.get(self.at..self.at.checked_add(len)?)?.to_vec();
        self.at += len;
        Some(text)
    }

    /// Keeps a number as a part of the identity.
    fn keep(&mut self, number: u64) {
        self.identity.extend(number.to_le_bytes());
    }

    fn header(&mut self) -> Option<()> {
        self.version = self.uint()?;
        if self.version >= 6 {
            self.uint()?;
            while !self.text()?.is_empty() {
                self.text()?;
            }
        }
        Some(())
    }

    /// Reads an event and returns its identity.
    fn event(&mut self) -> Option<Vec<u8>> {
        self.identity.clear();
        self.event = self.at;
        let tag = self.byte()?;
        self.identity.push(tag);
        if tag == 0 {
            if self.version >= 4 {
                let thread = self.uint()?;
                self.keep(thread);
            }
            let function = self.uint()?;
            self.items(FUNCTION, function)?;
            self.keep(function);
            self.calls.push((function, self.event..self.at));
        } else {
            let call = usize::try_from(self.uint()?).ok()?;
            let (function, enter) = self.calls.get(call)?.clone();
            self.keep(function);
            self.needs.push(enter);
        }
        while self.detail()? {}
        Some(self.identity.clone())
    }

    /// Returns how many arguments or members a function or struct has; reads its definition where
    /// it is used first.
    fn items(&mut self, kind: u8, id: u64) -> Option<u64> {
        if let Some((count, place)) = self.known.get(&(kind, id)) {
            self.uses.push(place.clone());
            if kind == STRUCT {
                self.needs.push(place.clone());
            }
            return Some(*count);
        }
        let start = self.at;
        self.text()?;
        let count = self.uint()?;
        for _ in 0..count {
            self.text()?;
        }
        self.known.insert((kind, id), (count, self.event..self.at));
        let mut identity = vec![DEFINITION, kind];
        identity.extend(id.to_le_bytes());
        identity.extend(self.stream.get(start..self.at)?);
        self.definitions.push((self.at, identity));
        Some(count)
    }

    /// Reads a detail; returns false at the end of the event.
    fn detail(&mut self) -> Option<bool> {
        let tag = self.byte()?;
        self.identity.push(tag);
        match tag {
            0 => return Some(false),
            1 => {
                let index = self.uint()?;
                self.keep(index);
                self.value()?;
            }
            2 => self.value()?,
            3 | 5 => {
                let number = self.uint()?;
                self.keep(number);
            }
            4 => {
                for _ in 0..self.uint()? {
                    self.frame()?;
                }
            }
            _ => return None,
        }
        Some(true)
    }

    fn frame(&mut self) -> Option<()> {
        let id = self.uint()?;
        self.keep(id);
        if self.known.insert((FRAME, id), (0, 0..0)).is_some() {
            return Some(());
        }
        loop {
            match self.byte()? {
                0 => return Some(()),
                1..=3 => _ = self.text()?,
                4 | 5 => _ = self.uint()?,
                _ => return None,
            }
        }
    }

    fn value(&mut self) -> Option<()> {
        let start = self.at;
        let tag = self.byte()?;
        self.identity.push(tag);
        match tag {
            0..=2 => {}
            3 | 4 | 13 => _ = self.uint()?,
            5 => self.at += 4,
            6 => self.at += 8,
            7 | 8 => _ = self.text()?,
            9 => return self.enumeration(),
            10 => return self.bitmask(),
            11 => {
                for _ in 0..self.uint()? {
                    self.value()?;
                }
                return Some(());
            }
            12 => return self.structure(),
            14 => {
                self.value()?;
                return self.value();
            }
            15 => {
                for _ in 0..self.uint()? {
                    self.uint()?;
                }
            }
            _ => return None,
        }
        self.identity.extend(self.stream.get(start..self.at)?);
        Some(())
    }

    /// Returns whether a definition follows this id.
    fn defines(&mut self, kind: u8) -> Option<(u64, bool)> {
        let id = self.uint()?;
        self.keep(id);
        let known = self.known.get(&(kind, id));
        self.uses.extend(known.map(|(_, place)| place.clone()));
        Some((id, known.is_none()))
    }

    fn enumeration(&mut self) -> Option<()> {
        let (id, defines) = self.defines(ENUM)?;
        if defines {
            let names = if self.version >= 3 { self.uint()? } else { 1 };
            for _ in 0..names {
                self.text()?;
                self.byte()?;
                self.uint()?;
            }
            self.known.insert((ENUM, id), (0, self.event..self.at));
        }
        if self.version >= 3 {
            let sign = self.byte()?;
            let number = self.uint()?;
            self.identity.push(sign);
            self.keep(number);
        }
        Some(())
    }

    fn bitmask(&mut self) -> Option<()> {
        let (id, defines) = self.defines(BITMASK)?;
        if defines {
            for _ in 0..self.uint()? {
                self.text()?;
                self.uint()?;
            }
            self.known.insert((BITMASK, id), (0, self.event..self.at));
        }
        let flags = self.uint()?;
        self.keep(flags);
        Some(())
    }

    fn structure(&mut self) -> Option<()> {
        let id = self.uint()?;
        self.keep(id);
        for _ in 0..self.items(STRUCT, id)? {
            self.value()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
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

//! apitrace: an event of the stream, the begin or the end of a call, is a record.
//!
//! Its identity leaves out what a repair has to change when it drops another call: definitions,
//! which move to the next use, and call numbers. A record needs the chunks that hold it; in a
//! container without chunks it needs all bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tracemend::FormatId;
use tracemend::formats::apitrace::stream_bytes;
use tracemend::kit::source::Source;

use super::{Bound, Bounds, Files, Original, Reach, Record, Subject, corpus};
use crate::forge::apitrace::{Container, all, call_heavy, chunks, threaded};

/// The format.
pub static SUBJECT: Subject = Subject {
    format: FormatId::APITRACE,
    originals,
    records,
    reach: Reach::Everything,
    judge: None,
    bounds: Bounds {
        false_labels: Bound::new(2, "a chunk is written again for a fault in another one"),
        losing: Bound::new(97, "events after a damaged chunk are not found again"),
        given_up: Bound::new(500, "one damaged zstd block or gzip header is all of a small trace"),
        unclean: Bound::new(47, "a damaged magic stays as it is"),
        unstable: Bound::NONE,
    },
};

fn originals() -> Vec<Original> {
    let forged = all().into_iter();
    let mut originals: Vec<Original> =
        forged.map(|(name, bytes)| Original::single(name, bytes)).collect();
    for (name, stream) in [("calls_long", call_heavy(300)), ("threads_long", threaded(150))] {
        for container in Container::ALL {
            let name = format!("{name}_{container:?}");
            originals.push(Original::single(name, container.file(&stream.bytes)));
        }
    }
    originals.extend(corpus("apitrace"));
    originals
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
    loop {
        let start = reader.at;
        let Some(identity) = reader.event() else { break };
        let stored = stored(&units, start..reader.at).unwrap_or(0..bytes.len());
        found.push(Record { file: 0, stored, identity });
    }
    found
}

/// Where a chunk ends in the stream, and its stored bytes.
type Unit = (usize, Range<usize>);

/// Returns the chunks of a snappy container; empty for the others.
fn units(bytes: &[u8]) -> Vec<Unit> {
    if !bytes.starts_with(b"at") {
        return Vec::new();
    }
    let mut end = 0;
    let mut units = Vec::new();
    for (start, stored_end) in chunks(bytes) {
        let Some(block) = bytes.get(start + 4..stored_end) else { break };
        end += snap::raw::decompress_len(block).unwrap_or(0);
        units.push((end, start..stored_end));
    }
    units
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
    /// Definitions by kind and id: the name of a function, the number of members of a struct.
    known: BTreeMap<(u8, u64), (Vec<u8>, u64)>,
    frames: BTreeSet<u64>,
    /// The function of each call.
    calls: Vec<Vec<u8>>,
    identity: Vec<u8>,
}

const FUNCTION: u8 = 0;
const STRUCT: u8 = 1;
const ENUM: u8 = 2;
const BITMASK: u8 = 3;

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
        let tag = self.byte()?;
        self.identity.push(tag);
        if tag == 0 {
            if self.version >= 4 {
                let thread = self.uint()?;
                self.keep(thread);
            }
            let function = self.function()?;
            self.identity.extend(&function);
            self.calls.push(function);
        } else {
            let call = usize::try_from(self.uint()?).ok()?;
            let function = self.calls.get(call)?.clone();
            self.identity.extend(function);
        }
        while self.detail()? {}
        Some(self.identity.clone())
    }

    fn function(&mut self) -> Option<Vec<u8>> {
        let id = self.uint()?;
        if !self.known.contains_key(&(FUNCTION, id)) {
            let name = self.text()?;
            let count = self.uint()?;
            for _ in 0..count {
                self.text()?;
            }
            self.known.insert((FUNCTION, id), (name, count));
        }
        Some(self.known.get(&(FUNCTION, id))?.0.clone())
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
        if !self.frames.insert(id) {
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
        Some((id, !self.known.contains_key(&(kind, id))))
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
            self.known.insert((ENUM, id), (Vec::new(), 0));
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
            self.known.insert((BITMASK, id), (Vec::new(), 0));
        }
        let flags = self.uint()?;
        self.keep(flags);
        Some(())
    }

    fn structure(&mut self) -> Option<()> {
        let (id, defines) = self.defines(STRUCT)?;
        if defines {
            let name = self.text()?;
            let count = self.uint()?;
            for _ in 0..count {
                self.text()?;
            }
            self.known.insert((STRUCT, id), (name, count));
        }
        let members = self.known.get(&(STRUCT, id))?.1;
        for _ in 0..members {
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
            for container in [Container::Snappy, Container::SmallChunks, Container::Gzip] {
                let file = container.file(&clean.stream.bytes);
                let original = Original::single(clean.name, file);
                let found = records(&original, &original.files);
                assert_eq!(found.len(), clean.stream.events.len(), "{}", clean.name);
            }
        }
    }
}

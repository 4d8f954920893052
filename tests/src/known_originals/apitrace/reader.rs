//! The events of a stream, read without the decoders of the product.

use std::collections::BTreeMap;
use std::ops::Range;

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
    let mut reader = Reader::new(stream);
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

/// Returns the function of each call of a stream, up to the first event that cannot be read.
pub fn call_functions(stream: &[u8]) -> Vec<u64> {
    let mut reader = Reader::new(stream);
    if reader.header().is_none() {
        return Vec::new();
    }
    while reader.event().is_some() {
        reader.uses.clear();
        reader.needs.clear();
        reader.definitions.clear();
    }
    reader.calls.into_iter().map(|(function, _)| function).collect()
}

/// Reads a sound stream (`lib/trace/trace_parser.cpp`).
#[derive(Default)]
pub(super) struct Reader<'a> {
    stream: &'a [u8],
    pub(super) at: usize,
    version: u64,
    /// Definitions by kind and id: the number of members of a struct, and the bytes up to its end.
    known: BTreeMap<(u8, u64), (u64, Range<usize>)>,
    /// The function of each call, and its enter.
    calls: Vec<(u64, Range<usize>)>,
    identity: Vec<u8>,
    /// Where the event begins.
    pub(super) event: usize,
    /// Other bytes without which the event cannot be shown: its enter, the structs in it.
    pub(super) needs: Vec<Range<usize>>,
    /// The definitions that are used since they were last taken.
    uses: Vec<Range<usize>>,
    /// End and identity of the definitions in the latest event.
    pub(super) definitions: Vec<(usize, Vec<u8>)>,
}

const FUNCTION: u8 = 0;
const STRUCT: u8 = 1;
const ENUM: u8 = 2;
const BITMASK: u8 = 3;
const FRAME: u8 = 4;
/// Begins the identity of a definition: no event does.
pub(super) const DEFINITION: u8 = 0xff;

impl<'a> Reader<'a> {
    /// A reader at the beginning of a stream.
    pub(super) fn new(stream: &'a [u8]) -> Self {
        Self { stream, ..Self::default() }
    }

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

    pub(super) fn header(&mut self) -> Option<()> {
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
    pub(super) fn event(&mut self) -> Option<Vec<u8>> {
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

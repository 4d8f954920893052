//! Events of a stream, framed one after the other.
//!
//! Sizes are counted in 64 bits. An event's window is taken first; what stands in it cannot move
//! the next one. Where no event begins, [`resync`] looks for the next place where several do.

use crate::formats::ovni::layout::{
    self, EVENT_HEADER, JUMBO, MAGIC, STREAM_HEADER, STREAM_VERSION,
};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;

/// Bytes of a payload that are looked at where it lies in pieces.
const BODY_MAX: u64 = 64 << 10;
/// Events in a row that make a place the beginning of sound bytes again.
const CHAIN: usize = 4;
/// How far apart two events of a stream lie at most for a search to believe them: one day.
const GAP_NS: u64 = 86_400_000_000_000;
/// Bytes that a chain of jumbo events may span for a search to follow it.
const CHAIN_BYTES: u64 = 64 << 20;

/// What the first eight bytes of a stream say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// As it should be.
    Sound,
    /// Shorter than a header.
    Short(u64),
    /// Other bytes in place of the magic.
    Magic([u8; 4]),
    /// Another version.
    Version(u32),
    /// Version 1 in the other byte order.
    Foreign,
}

/// Reads the header.
pub fn header(source: &Source<'_>) -> Header {
    let head = source.read(0, STREAM_HEADER);
    let Some((magic, version)) = head.split_first_chunk::<4>() else {
        return Header::Short(source.len());
    };
    let Some((version, _)) = version.split_first_chunk::<4>() else {
        return Header::Short(source.len());
    };
    match u32::from_le_bytes(*version) {
        _ if magic != MAGIC => Header::Magic(*magic),
        STREAM_VERSION => Header::Sound,
        _ if u32::from_be_bytes(*version) == STREAM_VERSION => Header::Foreign,
        version => Header::Version(version),
    }
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'e> {
    /// Offset of its first byte.
    pub at: u64,
    /// Bytes of it, header included.
    pub len: u64,
    /// As they stand there.
    pub flags: u8,
    /// Model, category, value.
    pub code: [u8; 3],
    /// In nanoseconds of the machine's clock.
    pub clock: u64,
    /// The payload; of a jumbo event what follows its size. Of one that lies in pieces only the
    /// first 64 KiB.
    pub body: &'e [u8],
}

impl Event<'_> {
    /// Whether its payload has a size of its own.
    pub const fn is_jumbo(&self) -> bool {
        self.flags & JUMBO != 0
    }

    /// Bytes of the payload, without the size of a jumbo event.
    pub const fn body_len(&self) -> u64 {
        let head = if self.is_jumbo() { EVENT_HEADER.saturating_add(4) } else { EVENT_HEADER };
        self.len.saturating_sub(head)
    }

    /// Offset after its last byte.
    pub const fn end(&self) -> u64 {
        self.at.saturating_add(self.len)
    }
}

/// What stands at a place.
#[derive(Clone, Copy, Debug)]
pub enum Step<'e> {
    /// A whole event.
    Event(Event<'e>),
    /// The stream ends inside an event.
    Torn {
        /// Offset of its first byte.
        at: u64,
        /// Bytes that it needs; at least its header.
        needed: u64,
    },
    /// The end.
    End,
}

/// Bytes of a plain payload by the low four bits of the flags.
const PAYLOAD: [u8; 16] = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

#[inline]
fn payload_len(flags: u8) -> usize {
    usize::from(PAYLOAD.get(usize::from(flags & 0x0f)).copied().unwrap_or(0))
}

/// Walks the events of a stream.
#[derive(Clone, Debug)]
pub struct Walk<'s, 'a> {
    source: &'s Source<'a>,
    /// Unread bytes that lie together.
    run: &'a [u8],
    /// Offset of the end of `run`.
    run_end: u64,
    scratch: Vec<u8>,
}

impl<'s, 'a> Walk<'s, 'a> {
    /// Begins at `at`.
    pub fn new(source: &'s Source<'a>, at: u64) -> Self {
        let mut walk = Self { source, run: &[], run_end: at, scratch: Vec::new() };
        walk.seek(at);
        walk
    }

    /// Goes on at `at`.
    pub fn seek(&mut self, at: u64) {
        self.run = self.source.run(at);
        self.run_end = at.saturating_add(to_u64(self.run.len()));
    }

    /// Offset of the next event.
    #[inline]
    pub fn at(&self) -> u64 {
        self.run_end.saturating_sub(to_u64(self.run.len()))
    }

    /// The unread bytes that lie together.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.run
    }

    /// Goes on with `rest`, an end of [`Walk::rest`].
    #[inline]
    pub fn go_on(&mut self, rest: &'a [u8]) {
        debug_assert!(rest.len() <= self.run.len());
        self.run = rest;
    }

    /// The stream.
    pub const fn source(&self) -> &'s Source<'a> {
        self.source
    }

    /// The next event.
    #[inline]
    pub fn step(&mut self) -> Step<'_> {
        let at = self.at();
        if let Some((head, tail)) = self.run.split_first_chunk::<12>() {
            let [flags, model, category, value, c0, c1, c2, c3, c4, c5, c6, c7] = *head;
            let clock = u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, c7]);
            let code = [model, category, value];
            if flags & JUMBO == 0 {
                let len = payload_len(flags);
                if let Some((body, rest)) = tail.split_at_checked(len) {
                    self.run = rest;
                    let len = EVENT_HEADER.saturating_add(to_u64(len));
                    return Step::Event(Event { at, len, flags, code, clock, body });
                }
            } else if let Some((size, tail)) = tail.split_first_chunk::<4>() {
                let size = u64::from(u32::from_le_bytes(*size));
                if let Some((body, rest)) = tail.split_at_checked(to_usize(size)) {
                    self.run = rest;
                    let len = EVENT_HEADER.saturating_add(4).saturating_add(size);
                    return Step::Event(Event { at, len, flags, code, clock, body });
                }
            }
        }
        self.slow(at)
    }

    /// An event that does not lie in one piece, or no whole one.
    #[cold]
    fn slow(&mut self, at: u64) -> Step<'_> {
        let left = self.source.len().saturating_sub(at);
        if left == 0 {
            return Step::End;
        }
        let torn = |needed: u64| Step::Torn { at, needed };
        let head = self.source.read(at, at.saturating_add(EVENT_HEADER.saturating_add(4)));
        let Some((fixed, size)) = head.split_first_chunk::<12>() else {
            return torn(EVENT_HEADER);
        };
        let [flags, model, category, value, c0, c1, c2, c3, c4, c5, c6, c7] = *fixed;
        let (start, len) = if flags & JUMBO == 0 {
            (EVENT_HEADER, EVENT_HEADER.saturating_add(to_u64(payload_len(flags))))
        } else {
            let start = EVENT_HEADER.saturating_add(4);
            let Some((size, _)) = size.split_first_chunk::<4>() else { return torn(start) };
            (start, start.saturating_add(u64::from(u32::from_le_bytes(*size))))
        };
        if len > left {
            return torn(len);
        }
        let (from, end) = (at.saturating_add(start), at.saturating_add(len));
        let body = self.source.read(from, end.min(from.saturating_add(BODY_MAX)));
        self.scratch.clear();
        self.scratch.extend_from_slice(&body);
        drop(body);
        self.seek(end);
        Step::Event(Event {
            at,
            len,
            flags,
            code: [model, category, value],
            clock: u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, c7]),
            body: &self.scratch,
        })
    }
}

/// The next place behind `from` where sound events begin, looking at `limit` bytes at most: several
/// known events in a row, with clocks that ascend from `last`, or events up to the very end.
pub fn resync(source: &Source<'_>, from: u64, last: u64, limit: u64) -> Option<u64> {
    let end = source.len().min(from.saturating_add(limit));
    let mut at = from.saturating_add(1);
    while at.saturating_add(EVENT_HEADER) <= end {
        let run = source.run(at);
        // What could begin an event: no reserved flags, and the character of a known model.
        let candidate = run.windows(2).position(|pair| match pair {
            [flags, model] => {
                flags & layout::RESERVED_FLAGS == 0 && layout::model_of(*model).is_some()
            }
            _ => false,
        });
        match candidate {
            Some(skip) => at = at.saturating_add(to_u64(skip)),
            None => {
                // The last byte of a piece and the first of the next one are looked at together.
                let next = at.saturating_add(to_u64(run.len().max(1)));
                let across = next.saturating_sub(1).max(at);
                if across.saturating_add(EVENT_HEADER) <= end && chain(source, across, last) {
                    return Some(across);
                }
                at = next;
                continue;
            }
        }
        if at.saturating_add(EVENT_HEADER) > end {
            return None;
        }
        if chain(source, at, last) {
            return Some(at);
        }
        at = at.saturating_add(1);
    }
    None
}

/// Whether known events follow each other from `at`.
fn chain(source: &Source<'_>, at: u64, last: u64) -> bool {
    let mut walk = Walk::new(source, at);
    let mut clock = last;
    for _ in 0..CHAIN {
        if walk.at().saturating_sub(at) > CHAIN_BYTES {
            return false;
        }
        match walk.step() {
            Step::Event(event) => {
                let known = layout::by_code(event.code).is_some();
                let near = clock == 0 || event.clock.saturating_sub(clock) < GAP_NS;
                if !known
                    || event.clock < clock
                    || !near
                    || event.flags & layout::RESERVED_FLAGS != 0
                {
                    return false;
                }
                clock = event.clock;
            }
            Step::End => return true,
            Step::Torn { .. } => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(flags: u8, code: &[u8; 3], clock: u64, rest: &[u8]) -> Vec<u8> {
        [&[flags][..], code, &clock.to_le_bytes(), rest].concat()
    }

    fn stream() -> Vec<u8> {
        [
            &b"ovni\x01\0\0\0"[..],
            &event(0, b"OU[", 1, b""),
            &event(3, b"OAs", 2, &[0; 4]),
            &event(0x13, b"VYc", 3, b"\x06\0\0\0\x01\0\0\0a\0"),
            &event(0x0f, b"OHx", 4, &[0; 16]),
        ]
        .concat()
    }

    fn walked(source: &Source<'_>) -> Vec<(u64, u64, u64, Vec<u8>)> {
        let mut walk = Walk::new(source, 8);
        let mut events = Vec::new();
        while let Step::Event(event) = walk.step() {
            events.push((event.at, event.len, event.clock, event.body.to_vec()));
        }
        events
    }

    #[test]
    fn events_in_pieces_are_those_of_the_whole_stream() {
        let bytes = stream();
        let whole = walked(&Source::new(&bytes));
        let sizes: Vec<u64> = whole.iter().map(|event| event.1).collect();
        assert_eq!(sizes, [12, 16, 22, 28]);
        for size in 1..bytes.len() {
            assert_eq!(walked(&Source::from_pieces(bytes.chunks(size))), whole, "pieces of {size}");
        }
    }

    #[test]
    fn a_size_beyond_the_end_is_torn_and_never_wraps() {
        for size in [7_u32, 0x8000_0000, 0xffff_fff0, u32::MAX] {
            let bytes = event(0x13, b"VYc", 3, &[&size.to_le_bytes()[..], b"123456"].concat());
            let source = Source::new(&bytes);
            let mut walk = Walk::new(&source, 0);
            let Step::Torn { at, needed } = walk.step() else { panic!("{size} is no event") };
            assert_eq!((at, needed), (0, 16 + u64::from(size)));
        }
    }

    #[test]
    fn sound_events_behind_damage_are_found_wherever_the_pieces_end() {
        let mut bytes = stream();
        bytes.splice(8..8, *b"O\xff\0garbage OHx");
        for size in [1, 2, 3, 5, 7, 64] {
            let source = Source::from_pieces(bytes.chunks(size));
            assert_eq!(resync(&source, 8, 0, 1 << 20), Some(22), "pieces of {size}");
            assert_eq!(resync(&source, 8, 9, 1 << 20), None);
        }
    }

    #[test]
    fn headers_are_told_apart() {
        let header = |bytes: &[u8]| header(&Source::new(bytes));
        assert_eq!(header(b"ovni\x01\0\0\0"), Header::Sound);
        assert_eq!(header(b"ovni\0\0\0\x01"), Header::Foreign);
        assert_eq!(header(b"ovni\x02\0\0\0"), Header::Version(2));
        assert_eq!(header(b"avni\x01\0\0\0"), Header::Magic(*b"avni"));
        assert_eq!(header(b"ovni\x01\0\0"), Header::Short(7));
    }
}

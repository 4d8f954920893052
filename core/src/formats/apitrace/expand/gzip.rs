//! gzip members (RFC 1952).
//!
//! apitrace reads them through zlib's `gzread`, which takes one member after another, and whose
//! errors at a cut or a wrong CRC-32 the reader does not pass on (`trace_file_zlib.cpp`).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::blank::Blank;
use super::start::{START_LEN, begins_stream};
use super::{Block, Fault, STEP, stored};
use crate::formats::apitrace::layout::{GZIP_HEADER, GZIP_MAGIC};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Layer;

/// The only compression method.
const METHOD_DEFLATE: u8 = 8;
/// A checksum of the header follows it.
const FLAG_HEADER_CRC: u8 = 2;
/// An extra field follows.
const FLAG_EXTRA: u8 = 4;
/// A file name follows.
const FLAG_NAME: u8 = 8;
/// A comment follows.
const FLAG_COMMENT: u8 = 16;
/// Bits that have to be zero.
const FLAGS_RESERVED: u8 = 0xe0;
/// Bytes of the header without its optional fields.
const HEADER_LEN: u64 = 10;
/// CRC-32 and length.
const TRAILER_LEN: u64 = 8;
/// Where the data of a file with a damaged header is looked for.
const DATA_MAX: u64 = 32;
/// Stored bytes that are expanded to see whether a stream begins with them.
const TRIAL_LEN: u64 = 4 << 10;
/// Zeros that the data of a member may end in: the rest of its last code.
const LAST_ZEROS: u64 = 4;
/// Bytes that so many zeros expand to at most: a code of one bit is one copy of 258 bytes.
const LAST_MAX: usize = 16 << 10;
/// Level of compression. Of calls that repeat one another, the default of zlib (6) takes four times
/// as long, and the file is 0.1 to 4 % shorter.
const LEVEL: u32 = 4;
/// The longest header that is looked at: names and comments have no length.
const HEADER_MAX: u64 = 64 << 10;

/// The members of a file.
pub(super) struct Members<'a> {
    source: Source<'a>,
    at: u64,
    blank: Blank,
    expanded: u64,
    inflate: Option<Decompress>,
    /// Checksum and length of the member so far.
    sums: Sums,
    /// Complete members.
    members: u64,
    has_ended: bool,
}

/// Checksum and length of expanded bytes, as the trailer of a member holds them.
#[derive(Clone, Default)]
struct Sums {
    crc: crc32fast::Hasher,
    /// Modulo 2^64; the trailer has it modulo 2^32.
    length: u64,
}

impl Sums {
    fn add(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
        self.length = self.length.wrapping_add(to_u64(bytes.len()));
    }

    /// CRC-32 and length modulo 2^32.
    fn finish(self) -> (u32, u32) {
        let length = u32::try_from(self.length & u64::from(u32::MAX)).unwrap_or_default();
        (self.crc.finalize(), length)
    }
}

/// Returns the length of a member's header; `None` if it is invalid or truncated.
fn header_len(source: &Source<'_>, at: u64) -> Option<u64> {
    let head = source.read(at, at.saturating_add(HEADER_MAX));
    let mut cursor = Cursor::new(&head, Layer::stored(0), at, Order::Little);
    let magic = cursor.array::<2>("magic").ok()?;
    let method = cursor.u8("CM").ok()?;
    let flags = cursor.u8("FLG").ok()?;
    if magic != GZIP_MAGIC || method != METHOD_DEFLATE || flags & FLAGS_RESERVED != 0 {
        return None;
    }
    cursor.skip(6, 1, "MTIME, XFL, OS").ok()?;
    if flags & FLAG_EXTRA != 0 {
        let extra = cursor.u16("XLEN").ok()?;
        cursor.skip(u64::from(extra), 1, "extra field").ok()?;
    }
    for flag in [FLAG_NAME, FLAG_COMMENT] {
        if flags & flag != 0 {
            let text = to_u64(cursor.until_nul().len());
            cursor.skip(text.saturating_add(1), 1, "file name or comment").ok()?;
        }
    }
    if flags & FLAG_HEADER_CRC != 0 {
        cursor.skip(2, 1, "CRC16").ok()?;
    }
    Some(cursor.position().saturating_sub(at))
}

/// Returns where the data of the first member begins: after its header, if a trace begins there,
/// or else at the first place close to it where one does.
fn find_data(source: &Source<'_>) -> Option<u64> {
    let by_header = header_len(source, 0);
    let mut others = by_header.into_iter().chain([HEADER_LEN]).chain(0..=DATA_MAX);
    // One for all places: a new one is larger than what is read.
    let mut inflate = Decompress::new(false);
    others.find(|at| begins_data(source, *at, &mut inflate)).or(by_header)
}

/// Whether the bytes at `at` expand to the beginning of a stream.
fn begins_data(source: &Source<'_>, at: u64, inflate: &mut Decompress) -> bool {
    let stored = source.read(at, at.saturating_add(TRIAL_LEN));
    let mut bytes = Vec::with_capacity(START_LEN);
    // An error after the first bytes is another matter.
    inflate.reset(false);
    let _ = inflate.decompress_vec(&stored, &mut bytes, FlushDecompress::None);
    begins_stream(&bytes)
}

/// Whether a stream begins in deflate data close to the beginning, whatever the header is.
pub(super) fn has_data(source: &Source<'_>) -> bool {
    find_data(source).is_some_and(|at| begins_data(source, at, &mut Decompress::new(false)))
}

impl<'a> Members<'a> {
    /// From the first member on.
    pub(super) fn new(source: &Source<'a>) -> Self {
        Self {
            source: source.clone(),
            at: 0,
            blank: Blank::of(source),
            expanded: 0,
            inflate: None,
            sums: Sums::default(),
            members: 0,
            has_ended: false,
        }
    }

    /// The next block.
    pub(super) fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        if self.has_ended || self.at >= self.source.len() {
            return None;
        }
        let mut bytes = reuse;
        bytes.clear();
        let first = self.at;
        if self.inflate.is_none() {
            let stated = header_len(&self.source, self.at);
            let is_second = |len: u64| {
                let data = first.saturating_add(len);
                begins_data(&self.source, data, &mut Decompress::new(false))
            };
            if first > 0 && stated.is_some_and(is_second) {
                let end = self.source.len();
                return Some(self.block(bytes, first, end, Some(Fault::SecondTrace), true));
            }
            let found = if first == 0 { find_data(&self.source) } else { stated };
            let Some(len) = found else {
                return Some(self.no_header(bytes));
            };
            self.inflate = Some(Decompress::new(false));
            self.sums = Sums::default();
            let data = first.saturating_add(len);
            if found != stated {
                return Some(self.block(bytes, first, data, Some(Fault::Header { data }), false));
            }
            self.at = data;
        }
        let fault = self.inflate_into(&mut bytes);
        if self.inflate.is_some() {
            self.sums.add(&bytes);
        }
        let is_lost = fault.as_ref().is_some_and(Fault::loses_bytes);
        let end = if is_lost { self.source.len() } else { self.at };
        Some(self.block(bytes, first, end, fault, is_lost))
    }

    /// Expands a block of the member; returns its fault.
    fn inflate_into(&mut self, bytes: &mut Vec<u8>) -> Option<Fault> {
        bytes.reserve_exact(STEP);
        while bytes.len() < STEP {
            let written = to_usize(self.blank.start.saturating_sub(self.at));
            let run = self.source.run(self.at);
            let run = run.get(..written).unwrap_or(run);
            let Some(inflate) = self.inflate.as_mut() else { break };
            let (read, made) = (inflate.total_in(), bytes.len());
            let status = inflate.decompress_vec(run, bytes, FlushDecompress::None);
            let read = inflate.total_in().saturating_sub(read);
            self.at = self.at.saturating_add(read);
            match status {
                Ok(Status::StreamEnd) => return self.end_member(bytes),
                Ok(_) if run.is_empty() && bytes.len() == made => {
                    return self.end_in_zeros(bytes);
                }
                Ok(_) if read == 0 && bytes.len() == made => break,
                Ok(_) => {}
                Err(_) => {
                    let detail = format!("invalid deflate data near {:#x}", self.at);
                    return Some(Fault::Corrupt { detail });
                }
            }
        }
        None
    }

    /// Ends the stream where nothing but zeros follows: the member is truncated unless the first of
    /// them end it.
    fn end_in_zeros(&mut self, bytes: &mut Vec<u8>) -> Option<Fault> {
        let zeros = self.source.read(self.at, self.at.saturating_add(LAST_ZEROS));
        let mut last = Vec::with_capacity(LAST_MAX);
        if let Some(inflate) = self.inflate.as_mut().filter(|_| !zeros.is_empty()) {
            let before = inflate.total_in();
            let status = inflate.decompress_vec(&zeros, &mut last, FlushDecompress::None);
            if matches!(status, Ok(Status::StreamEnd)) {
                let read = inflate.total_in().saturating_sub(before);
                self.at = self.at.saturating_add(read);
                bytes.append(&mut last);
                return self.end_member(bytes);
            }
        }
        Some(Fault::Truncated { stated: None })
    }

    fn block(
        &mut self,
        bytes: Vec<u8>,
        from: u64,
        to: u64,
        fault: Option<Fault>,
        last: bool,
    ) -> Block {
        let (start, stored) = (self.expanded, Some(stored(from, to)));
        let block = Block { start, bytes, stored, unit: (0, 0), fault, ..Block::default() };
        self.expanded = block.end();
        self.has_ended |= last;
        self.at = to;
        block
    }

    /// Neither a first nor a further member begins here.
    fn no_header(&mut self, bytes: Vec<u8>) -> Block {
        let (from, end) = (self.at, self.source.len());
        let fault = match self.members {
            0 if end <= HEADER_LEN => Fault::Truncated { stated: None },
            0 => Fault::Corrupt { detail: "invalid gzip header".to_string() },
            _ => self.blank.fault_after_end(from),
        };
        self.block(bytes, from, end, Some(fault), true)
    }

    /// Reads the trailer of a member; `last`: the bytes that are not in the sums yet.
    fn end_member(&mut self, last: &[u8]) -> Option<Fault> {
        let mut sums = std::mem::take(&mut self.sums);
        sums.add(last);
        let (crc, length) = sums.finish();
        self.inflate = None;
        self.members = self.members.saturating_add(1);
        let trailer = self.source.read(self.at, self.at.saturating_add(TRAILER_LEN));
        let mut cursor = Cursor::new(&trailer, Layer::stored(0), self.at, Order::Little);
        let (Ok(stored_crc), Ok(stored_length)) = (cursor.u32("CRC32"), cursor.u32("ISIZE")) else {
            // The stream is complete; the block with this fault is its last.
            return Some(Fault::Truncated { stated: None });
        };
        let is_cut = (self.at..self.at.saturating_add(TRAILER_LEN)).contains(&self.blank.start);
        self.at = self.at.saturating_add(TRAILER_LEN);
        let (what, stated, found) = match stored_crc == crc {
            false => ("CRC-32", stored_crc, crc),
            true => ("length", stored_length, length),
        };
        let (stated, found) = (u64::from(stated), u64::from(found));
        match stated == found {
            true => None,
            false if is_cut => Some(Fault::Truncated { stated: None }),
            false => Some(Fault::Checksum { what, stated, found }),
        }
    }
}

/// Writes one member.
pub(super) struct Writer {
    deflate: Compress,
    sums: Sums,
    out: Vec<u8>,
}

impl Writer {
    /// A member without name and time.
    pub(super) fn new() -> Self {
        Self {
            deflate: Compress::new(Compression::new(LEVEL), false),
            sums: Sums::default(),
            out: GZIP_HEADER.to_vec(),
        }
    }

    fn run(&mut self, mut bytes: &[u8], flush: FlushCompress) -> usize {
        loop {
            self.out.reserve(64 << 10);
            let (read, made) = (self.deflate.total_in(), self.out.len());
            let status = self.deflate.compress_vec(bytes, &mut self.out, flush);
            let read = self.deflate.total_in().saturating_sub(read);
            bytes = bytes.get(to_usize(read)..).unwrap_or_default();
            let ended = !matches!(status, Ok(Status::Ok)) || (read == 0 && self.out.len() == made);
            let done = bytes.is_empty() && matches!(flush, FlushCompress::None);
            if ended || done {
                return self.out.len();
            }
        }
    }

    /// Adds bytes; returns how many are stored so far.
    pub(super) fn push(&mut self, bytes: &[u8]) -> usize {
        self.sums.add(bytes);
        self.run(bytes, FlushCompress::None)
    }

    /// The member.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.run(&[], FlushCompress::Finish);
        let (crc, length) = self.sums.finish();
        self.out.extend(crc.to_le_bytes());
        self.out.extend(length.to_le_bytes());
        self.out
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Container;
    use super::super::tests::{expand_all, noise};
    use super::*;

    fn read(file: &[u8]) -> (Vec<u8>, Vec<Fault>) {
        expand_all(file, Container::Gzip)
    }

    #[test]
    fn members_follow_one_another_and_a_wrong_sum_is_seen() {
        let bytes = noise(900_000_u32);
        let member = |bytes: &[u8]| {
            let mut writer = Writer::new();
            writer.push(bytes);
            writer.finish()
        };
        let (first, second) = bytes.split_at(300_000);
        let file = [member(first), member(second)].concat();
        assert_eq!(read(&file), (bytes.clone(), vec![]));
        let mut wrong = file.clone();
        let len = wrong.len();
        wrong[len - 5] ^= 1;
        assert!(matches!(read(&wrong).1[..], [Fault::Checksum { what: "CRC-32", .. }]));
        for end in [0, 5, 11, 500, len - 9, len - 1] {
            let (prefix, faults) = read(&file[..end]);
            assert!(bytes.starts_with(&prefix), "cut at {end}");
            assert_eq!(faults.len(), usize::from(end > 0), "cut at {end}: {faults:?}");
        }
    }
}

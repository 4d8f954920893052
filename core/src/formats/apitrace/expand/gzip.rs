//! gzip members (RFC 1952).
//!
//! apitrace reads them through zlib's `gzread`, which takes one member after another, and whose
//! errors at a cut or a wrong CRC-32 the reader does not pass on (`trace_file_zlib.cpp`).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Block, Fault, STEP, stored};
use crate::formats::apitrace::layout::GZIP_MAGIC;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;

/// Bytes of the header without its optional fields.
const HEADER_LEN: u64 = 10;
/// CRC-32 and length.
const TRAILER_LEN: u64 = 8;
/// The longest header that is looked at: names and comments have no length.
const HEADER_MAX: u64 = 64 << 10;

/// The members of a file.
pub struct Members<'a> {
    source: Source<'a>,
    at: u64,
    expanded: u64,
    inflate: Option<Decompress>,
    crc: crc32fast::Hasher,
    length: u64,
    members: u64,
    ended: bool,
}

/// Length of a member's header; `None` if it is none or cut.
fn header_len(source: &Source<'_>, at: u64) -> Option<u64> {
    let head = source.read(at, at.saturating_add(HEADER_MAX));
    let &[_, _, 8, flags, ..] = head.as_ref() else { return None };
    if !head.starts_with(&GZIP_MAGIC) || flags & 0xe0 != 0 {
        return None;
    }
    let mut len = to_usize(HEADER_LEN);
    if flags & 4 != 0 {
        let extra: [u8; 2] = head.get(len..len.saturating_add(2))?.try_into().ok()?;
        len = len.saturating_add(2).saturating_add(usize::from(u16::from_le_bytes(extra)));
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let nul = head.get(len..)?.iter().position(|byte| *byte == 0)?;
            len = len.saturating_add(nul).saturating_add(1);
        }
    }
    if flags & 2 != 0 {
        len = len.saturating_add(2);
    }
    (len <= head.len()).then(|| to_u64(len))
}

impl<'a> Members<'a> {
    /// From the first member on.
    pub fn new(source: &Source<'a>) -> Self {
        Self {
            source: source.clone(),
            at: 0,
            expanded: 0,
            inflate: None,
            crc: crc32fast::Hasher::new(),
            length: 0,
            members: 0,
            ended: false,
        }
    }

    /// The next block.
    pub fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        if self.ended || self.at >= self.source.len() {
            return None;
        }
        let mut bytes = reuse;
        bytes.clear();
        let first = self.at;
        if self.inflate.is_none() {
            let Some(len) = header_len(&self.source, self.at) else {
                return Some(self.no_header(bytes));
            };
            self.at = self.at.saturating_add(len);
            self.inflate = Some(Decompress::new(false));
            self.crc = crc32fast::Hasher::new();
            self.length = 0;
        }
        bytes.reserve_exact(STEP);
        let mut fault = None;
        while bytes.len() < STEP {
            let run = self.source.run(self.at);
            let Some(inflate) = self.inflate.as_mut() else { break };
            let (read, made) = (inflate.total_in(), bytes.len());
            let status = inflate.decompress_vec(run, &mut bytes, FlushDecompress::None);
            let read = inflate.total_in().saturating_sub(read);
            self.at = self.at.saturating_add(read);
            match status {
                Ok(Status::StreamEnd) => {
                    fault = self.close(&bytes);
                    break;
                }
                Ok(_) if run.is_empty() && bytes.len() == made => {
                    fault = Some(Fault::Torn { claimed: None });
                    break;
                }
                Ok(_) if read == 0 && bytes.len() == made => break,
                Ok(_) => {}
                Err(_) => {
                    let detail = format!("the deflate stream breaks off near {:#x}", self.at);
                    fault = Some(Fault::Corrupt { detail });
                    break;
                }
            }
        }
        if self.inflate.is_some() {
            self.crc.update(&bytes);
            self.length = self.length.wrapping_add(to_u64(bytes.len()));
        }
        let lost = fault.as_ref().is_some_and(Fault::loses);
        let end = if lost { self.source.len() } else { self.at };
        Some(self.block(bytes, first, end, fault, lost))
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
        let block = Block { start, bytes, stored, unit: (0, 0), fault };
        self.expanded = block.end();
        self.ended |= last;
        self.at = to;
        block
    }

    /// Neither a first nor a further member begins here.
    fn no_header(&mut self, bytes: Vec<u8>) -> Block {
        let (from, end) = (self.at, self.source.len());
        let fault = match self.members {
            0 if end <= HEADER_LEN => Fault::Torn { claimed: None },
            0 => Fault::Corrupt { detail: "the gzip header cannot be read".to_string() },
            _ => Fault::Trailing,
        };
        self.block(bytes, from, end, Some(fault), true)
    }

    /// The trailer of a member, `last` being the bytes that were not summed up yet.
    fn close(&mut self, last: &[u8]) -> Option<Fault> {
        self.crc.update(last);
        let length = self.length.wrapping_add(to_u64(last.len())) & u64::from(u32::MAX);
        let crc = u64::from(std::mem::take(&mut self.crc).finalize());
        self.inflate = None;
        self.members = self.members.saturating_add(1);
        let trailer = self.source.read(self.at, self.at.saturating_add(TRAILER_LEN));
        let word = |at: usize| -> Option<u64> {
            let word: [u8; 4] = trailer.get(at..at.saturating_add(4))?.try_into().ok()?;
            Some(u64::from(u32::from_le_bytes(word)))
        };
        let (Some(said_crc), Some(said_length)) = (word(0), word(4)) else {
            // All of the stream is there; the block that carries this ends it.
            return Some(Fault::Torn { claimed: None });
        };
        self.at = self.at.saturating_add(TRAILER_LEN);
        if said_crc != crc {
            return Some(Fault::CheckSum { what: "CRC-32", said: said_crc, found: crc });
        }
        let wrong = said_length != length;
        wrong.then_some(Fault::CheckSum { what: "length", said: said_length, found: length })
    }
}

/// Writes one member.
pub struct Writer {
    deflate: Compress,
    crc: crc32fast::Hasher,
    length: u64,
    out: Vec<u8>,
}

impl Writer {
    /// A member without name and time.
    pub fn new() -> Self {
        let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
        Self {
            deflate: Compress::new(Compression::new(6), false),
            crc: crc32fast::Hasher::new(),
            length: 0,
            out: header.to_vec(),
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
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        self.crc.update(bytes);
        self.length = self.length.wrapping_add(to_u64(bytes.len()));
        self.run(bytes, FlushCompress::None)
    }

    /// The member.
    pub fn finish(mut self) -> Vec<u8> {
        self.run(&[], FlushCompress::Finish);
        let length = u32::try_from(self.length & u64::from(u32::MAX)).unwrap_or_default();
        self.out.extend(self.crc.finalize().to_le_bytes());
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
    use super::*;

    /// Bytes that compress a little.
    fn noise(len: u32) -> Vec<u8> {
        (0..len).map(|i| i.wrapping_mul(i).to_le_bytes()[1] & 0x3f).collect()
    }

    fn read(file: &[u8]) -> (Vec<u8>, Vec<Fault>) {
        let source = Source::new(file);
        let mut members = Members::new(&source);
        let (mut bytes, mut faults) = (Vec::new(), Vec::new());
        while let Some(block) = members.next(Vec::new()) {
            bytes.extend(block.bytes);
            faults.extend(block.fault);
        }
        (bytes, faults)
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
        assert!(matches!(read(&wrong).1[..], [Fault::CheckSum { what: "CRC-32", .. }]));
        for end in [0, 5, 11, 500, len - 9, len - 1] {
            let (prefix, faults) = read(&file[..end]);
            assert!(bytes.starts_with(&prefix), "cut at {end}");
            assert_eq!(faults.len(), usize::from(end > 0), "cut at {end}: {faults:?}");
        }
    }
}

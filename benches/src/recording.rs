//! Makes perf recordings: sound, little-endian, one event, streamed to a file.
//!
//! ```text
//! header 104 | ids | attr, ids section | COMM MMAP2 | round* | feature table | sections
//!
//! round: samples of CPU 0, samples of CPU 1, ... FINISHED_ROUND
//! ```
//!
//! Times rise within a CPU and overlap between CPUs, as when perf empties one ring buffer after the
//! other, so a reader that sorts has work to do. The times of a round begin where those of the last
//! round end, so perf's ordered queue finds no late event.
//!
//! Sources: `perf_event.h`, `util/header.c`; for compressed records
//! `zstd_compress_stream_to_records` of `util/zstd.c`.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

const HEADER_LEN: u64 = 104;
const ATTR_LEN: u32 = 128;
/// IP, TID, TIME, PERIOD: the sample type of `perf record` with one event.
const USUAL: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 8;
const CALLCHAIN: u64 = 1 << 5;
/// MMAP, COMM, task, `sample_id_all`, MMAP2.
const FLAGS: u64 = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23;
const PERIOD: u64 = 1_000_000;
const CPUS: u64 = 4;
/// Samples of one CPU between two finished rounds.
const BURST: u64 = 1_000;
/// Time of a round in ns.
const ROUND_TIME: u64 = 10_000_000;
/// Number of different instruction pointers, and of different call chains.
const PLACES: u64 = 4_096;
/// Longest record of compressed data that perf writes, with its header.
const COMPRESSED_MAX: usize = 65_527;
/// Size of a ring buffer by the feature COMPRESSED: 129 pages.
const MMAP_LEN: u32 = 528_384;

/// Kind of samples in a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Name in the table.
    pub name: &'static str,
    /// Entries of each call chain; 0 for samples without.
    pub callchain: u64,
    /// Whether the samples are in COMPRESSED records.
    pub compressed: bool,
}

/// The shapes that are measured.
pub(crate) const SHAPES: [Shape; 3] = [
    Shape { name: "plain", callchain: 0, compressed: false },
    Shape { name: "callchain", callchain: 18, compressed: false },
    Shape { name: "zstd", callchain: 18, compressed: true },
];

impl Shape {
    /// Size of a sample in bytes, header included.
    pub(crate) const fn sample_len(self) -> u64 {
        let chain = if self.callchain > 0 { 8 + 8 * self.callchain } else { 0 };
        8 + 32 + chain
    }
}

/// Sizes of a recording that was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    /// Length of the file in bytes.
    pub stored: u64,
    /// Length of all records in bytes, after expansion.
    pub expanded: u64,
    /// Number of samples.
    pub samples: u64,
}

/// Writes a recording whose records expand to about `bytes`.
pub(crate) fn write(path: &Path, shape: Shape, bytes: u64) -> Result<Written, Box<dyn Error>> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let attr = attr(shape);
    let ids: Vec<u8> = (1..=CPUS).flat_map(u64::to_le_bytes).collect();
    out.write_all(&[0; 104])?;
    out.write_all(&ids)?;
    out.write_all(&attr)?;
    out.write_all(&section(HEADER_LEN, len(&ids)))?;
    let data_start = HEADER_LEN + len(&ids) + u64::from(ATTR_LEN) + 16;

    let mut written = Written::default();
    let mut stored = write_bytes(&mut out, &first_records())?;
    written.expanded = stored;
    let mut compressor = if shape.compressed { Some(Compressor::new()?) } else { None };
    let mut samples = Samples::new(shape);
    while written.expanded < bytes {
        for cpu in 0..CPUS {
            let burst = samples.burst(cpu);
            written.expanded += len(burst);
            written.samples += BURST;
            stored += match &mut compressor {
                Some(compressor) => write_bytes(&mut out, compressor.records(burst)?)?,
                None => write_bytes(&mut out, burst)?,
            };
        }
        stored += write_bytes(&mut out, &record(68, 0, &[]))?;
        written.expanded += 8;
        samples.finish_round();
    }

    let features = features(shape, &attr, (samples.first_time, samples.last_time));
    let data_end = data_start + stored;
    let mut at = data_end + 16 * len(&features);
    for (_, contents) in &features {
        out.write_all(&section(at, len(contents)))?;
        at += len(contents);
    }
    for (_, contents) in &features {
        out.write_all(contents)?;
    }
    let bits = features.iter().fold(0_u64, |bits, (bit, _)| bits | 1 << bit);
    out.seek(SeekFrom::Start(0))?;
    out.write_all(b"PERFILE2")?;
    let words =
        [HEADER_LEN, u64::from(ATTR_LEN) + 16, HEADER_LEN + len(&ids), u64::from(ATTR_LEN) + 16];
    for word in words.into_iter().chain([data_start, stored, 0, 0, bits, 0, 0, 0]) {
        out.write_all(&word.to_le_bytes())?;
    }
    out.flush()?;
    written.stored = at;
    Ok(written)
}

fn len<T>(slice: &[T]) -> u64 {
    u64::try_from(slice.len()).unwrap_or(u64::MAX)
}

fn write_bytes(out: &mut impl Write, bytes: &[u8]) -> std::io::Result<u64> {
    out.write_all(bytes)?;
    Ok(len(bytes))
}

fn section(offset: u64, size: u64) -> Vec<u8> {
    [offset.to_le_bytes(), size.to_le_bytes()].concat()
}

/// Builds a record; `body` has at most 65,527 bytes.
fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(body.len() + 8).expect("a record has at most 65535 bytes");
    [&kind.to_le_bytes()[..], &misc.to_le_bytes(), &size.to_le_bytes(), body].concat()
}

/// Builds a `perf_event_attr`, VER7: cpu-clock with a period.
fn attr(shape: Shape) -> Vec<u8> {
    let chain = if shape.callchain > 0 { CALLCHAIN } else { 0 };
    let mut attr = [1_u32.to_le_bytes(), ATTR_LEN.to_le_bytes()].concat();
    for word in [0, PERIOD, USUAL | chain, 0, FLAGS] {
        attr.extend(u64::to_le_bytes(word));
    }
    attr.resize(128, 0);
    attr
}

/// Builds COMM and MMAP2 as perf synthesises them at the start, with time 0.
fn first_records() -> Vec<u8> {
    let ids = [100_u32.to_le_bytes(), 100_u32.to_le_bytes()].concat();
    let trailer = [ids.as_slice(), &[0; 8]].concat();
    let comm = [&ids, b"bench\0\0\0".as_slice(), &trailer].concat();
    let mut mmap2 = ids;
    for word in [0x40_0000, 0x10_0000, 0, 0, 4_711, 0, 2 << 32 | 5] {
        mmap2.extend(u64::to_le_bytes(word));
    }
    mmap2.extend(b"/usr/bin/bench\0\0");
    mmap2.extend(&trailer);
    [record(3, 0, &comm), record(10, 2, &mmap2)].concat()
}

/// Returns number and content of each feature, in ascending order.
fn features(shape: Shape, attr: &[u8], times: (u64, u64)) -> Vec<(u32, Vec<u8>)> {
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut event_desc =
        [words(&[1, ATTR_LEN]), attr.to_vec(), words(&[4]), string("cpu-clock")].concat();
    event_desc.extend((1..=CPUS).flat_map(u64::to_le_bytes));
    let mut features = vec![
        (3, string("bench")),
        (5, string("6.1.0")),
        (6, string("x86_64")),
        (7, words(&[4, 4])),
        (12, event_desc),
        (21, [times.0.to_le_bytes(), times.1.to_le_bytes()].concat()),
    ];
    if shape.compressed {
        features.push((27, words(&[0, 1, 1, 3, MMAP_LEN])));
    }
    features
}

/// Builds a `perf_header_string`: a u32 length that includes the padding to 64 bytes.
fn string(text: &str) -> Vec<u8> {
    let mut bytes = 64_u32.to_le_bytes().to_vec();
    bytes.extend(text.bytes());
    bytes.resize(4 + 64, 0);
    bytes
}

/// Makes samples.
struct Samples {
    shape: Shape,
    random: u64,
    round_start: u64,
    first_time: u64,
    last_time: u64,
    burst: Vec<u8>,
}

impl Samples {
    fn new(shape: Shape) -> Self {
        Self {
            shape,
            random: 0x9e37_79b9_7f4a_7c15,
            round_start: 1_000_000_000_000,
            first_time: u64::MAX,
            last_time: 0,
            burst: Vec::new(),
        }
    }

    /// Returns the next number of a xorshift generator.
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Returns an instruction pointer as an index; low ones are frequent.
    fn pick_place(&mut self) -> u64 {
        let (a, b) = (self.random() % PLACES, self.random() % PLACES);
        a * b / PLACES
    }

    /// Returns the samples of one CPU in this round.
    fn burst(&mut self, cpu: u64) -> &[u8] {
        self.burst.clear();
        let step = ROUND_TIME / (BURST + 1);
        let mut time = self.round_start + cpu * 100;
        let size = u16::try_from(self.shape.sample_len()).expect("samples are short");
        for _ in 0..BURST {
            time += step / 2 + self.random() % (step / 2);
            self.first_time = self.first_time.min(time);
            self.last_time = self.last_time.max(time);
            let place = self.pick_place();
            let tid = 100 + self.random() % 8;
            self.burst.extend(9_u32.to_le_bytes());
            self.burst.extend(2_u16.to_le_bytes());
            self.burst.extend(size.to_le_bytes());
            self.burst.extend((0x40_0000 + place * 17).to_le_bytes());
            self.burst.extend((tid << 32 | 100).to_le_bytes());
            self.burst.extend(time.to_le_bytes());
            self.burst.extend(PERIOD.to_le_bytes());
            if self.shape.callchain > 0 {
                self.push_callchain(place);
            }
        }
        &self.burst
    }

    /// Appends the call chain of a place: a marker, the place, and callers that many places share.
    fn push_callchain(&mut self, place: u64) {
        const CONTEXT_USER: u64 = 512_u64.wrapping_neg();
        self.burst.extend(self.shape.callchain.to_le_bytes());
        self.burst.extend(CONTEXT_USER.to_le_bytes());
        for depth in 1..self.shape.callchain {
            let caller = place >> (depth - 1).min(11);
            self.burst.extend((0x40_0000 + depth * 0x1_0000 + caller * 17).to_le_bytes());
        }
    }

    fn finish_round(&mut self) {
        self.round_start += ROUND_TIME;
    }
}

/// Makes COMPRESSED records: one zstd stream for the recording, flushed after each burst.
struct Compressor {
    context: CCtx<'static>,
    records: Vec<u8>,
}

impl Compressor {
    fn new() -> Result<Self, Box<dyn Error>> {
        let mut context = CCtx::create();
        context.set_parameter(CParameter::CompressionLevel(1)).map_err(zstd_error)?;
        Ok(Self { context, records: Vec::new() })
    }

    fn records(&mut self, burst: &[u8]) -> Result<&[u8], Box<dyn Error>> {
        self.records.clear();
        let mut input = InBuffer::around(burst);
        let mut held = vec![0; COMPRESSED_MAX - 8];
        loop {
            let mut output = OutBuffer::around(&mut held[..]);
            self.context.compress_stream(&mut output, &mut input).map_err(zstd_error)?;
            let waiting = self.context.flush_stream(&mut output).map_err(zstd_error)?;
            self.records.extend(record(81, 0, output.as_slice()));
            if waiting == 0 && input.pos() == burst.len() {
                return Ok(&self.records);
            }
        }
    }
}

fn zstd_error(code: usize) -> String {
    format!("zstd: {}", zstd_safe::get_error_name(code))
}

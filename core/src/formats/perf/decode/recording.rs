//! The files of a recording, opened: what is read of them, and where.
//!
//! Everything outside `decode` reads the bytes of a recording through these types.

use std::borrow::Cow;

use super::expand::Wrapper;
use super::feature::{
    self, Contents, Cpus, DescribedEvent, FeatureError, Machine, Refusal, SymbolFile,
};
use super::frame::Record;
use super::frame::{Dialect, FrameFault};
use super::header::{self, Body, Header, Section};
use super::simpleperf;
use super::table::Table;
use super::tracing::WantedTracepoints;
use super::tracing::{self, Names, Tracing};
use super::walk::{Damage, Walker};
use crate::formats::perf::layout::feature::{CPU_TOPOLOGY, TRACING_DATA};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;
use crate::kit::num::to_usize;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::model::recording::FileSet;

/// A file with records.
#[derive(Clone, Debug)]
pub struct RecordFile<'a> {
    name: String,
    source: Source<'a>,
    index: u32,
    order: Order,
    is_pipe: bool,
    is_simpleperf: bool,
}

impl<'a> RecordFile<'a> {
    /// The file of a donor with a header of sections.
    pub const fn of_donor(source: Source<'a>, order: Order) -> Self {
        let name = String::new();
        Self { name, source, index: 0, order, is_pipe: false, is_simpleperf: false }
    }

    /// Its name in the recording; never trusted.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The stored layer of the file.
    pub const fn layer(&self) -> Layer {
        Layer::stored(self.index)
    }

    /// Number of the file in the recording.
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.source.len()
    }

    /// Byte order of the recording.
    pub const fn order(&self) -> Order {
        self.order
    }

    /// The bytes.
    pub const fn source(&self) -> &Source<'a> {
        &self.source
    }

    /// Walks the records of the area `start..end`. After damage the walk searches for the next
    /// valid record, over at most `resync` bytes in all.
    pub fn records(&self, area: (u64, u64), resync: u64) -> Walker<'_> {
        let walker = Walker::new(&self.source, self.index, self.order, self.is_pipe, area);
        walker.of_simpleperf(self.is_simpleperf).resyncing(resync)
    }

    /// Reads TRACING_DATA, the payload of a record of a pipe: the descriptions of the wanted
    /// tracepoints, and its end.
    ///
    /// # Errors
    ///
    /// The first field that does not fit.
    pub fn read_tracing(
        &self,
        record: &Record<'_>,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Tracing, FeatureError> {
        let start = record.end().saturating_sub(record.outside);
        let bytes = self.source.read(start, record.end());
        let mut cursor = Cursor::new(&bytes, self.layer(), start, self.order);
        tracing::walk(&mut cursor.clone())?;
        tracing::tracing(&mut cursor, wanted)
    }

    /// Whether another file has the same bytes.
    pub fn has_bytes_of(&self, other: &Self) -> bool {
        /// Bytes that are compared at once.
        const COMPARED: u64 = 1 << 16;
        let mut at = 0_u64;
        while at < self.length() {
            let end = at.saturating_add(COMPARED).min(self.length());
            if self.source.read(at, end) != other.source.read(at, end) {
                return false;
            }
            at = end;
        }
        self.length() == other.length()
    }

    /// Whether the file has the header of a pipe.
    pub const fn is_pipe(&self) -> bool {
        self.is_pipe
    }

    /// Whether simpleperf recorded the file.
    pub const fn is_simpleperf(&self) -> bool {
        self.is_simpleperf
    }

    /// The byte order and the types by which the records are read.
    pub const fn dialect(&self) -> Dialect {
        Dialect { order: self.order, is_simpleperf: self.is_simpleperf }
    }

    /// Notes the fields in at most `most` bytes of TRACING_DATA, the payload of a record of a pipe.
    pub fn log_tracing(&self, record: &Record<'_>, most: u64, log: &FieldLog) {
        let start = record.end().saturating_sub(record.outside);
        let bytes = self.payload(record, most);
        let cursor = Cursor::new(&bytes, self.layer(), start, self.order);
        let _contents = tracing::walk(&mut cursor.with_log(log));
    }

    /// Reads at most `most` bytes of the payload of a record.
    pub fn payload(&self, record: &Record<'_>, most: u64) -> Cow<'_, [u8]> {
        let start = record.end().saturating_sub(record.outside);
        self.source.read(start, record.end().min(start.saturating_add(most)))
    }

    /// Reads a compressed record that the end of the area truncates; `None` for any other damage.
    pub fn truncated_record(&self, damage: &Damage) -> Option<TruncatedRecord<'_>> {
        let FrameFault::PastEnd(frame) = damage.fault else { return None };
        let wrapper = Wrapper::of(frame.kind)?;
        // A record has less than 64 KiB, so the copy is small.
        let start = damage.span.start;
        let bytes = self.source.read(start, damage.span.end.min(start.saturating_add(frame.size)));
        Some(TruncatedRecord { wrapper, offset: start, bytes })
    }
}

/// The bytes of a compressed record that is truncated.
#[derive(Clone, Debug)]
pub struct TruncatedRecord<'a> {
    /// Its type.
    pub wrapper: Wrapper,
    /// Offset of its first byte.
    pub offset: u64,
    bytes: Cow<'a, [u8]>,
}

impl TruncatedRecord<'_> {
    /// The bytes that are present.
    pub fn span(&self, layer: Layer) -> Span {
        Span::sized(layer, self.offset, u64::try_from(self.bytes.len()).unwrap_or(u64::MAX))
    }

    /// The zstd data that is present; `None` if the fields before it are truncated.
    pub fn payload(&self) -> Option<&[u8]> {
        self.bytes.get(to_usize(self.wrapper.head_len())..)
    }
}

/// A recording with a header of sections, and the `data.N` files of a directory.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    /// The file with the header.
    pub file: RecordFile<'a>,
    /// Its header.
    pub header: Header,
    /// The part of the header that pipes lack.
    pub body: Body,
    /// The `data.N` files in order: records without a header.
    pub parts: Vec<RecordFile<'a>>,
    /// The donor that the user named.
    pub donor: Option<Source<'a>>,
}

impl Recording<'_> {
    /// Length of the file with the header in bytes.
    pub fn length(&self) -> u64 {
        self.file.length()
    }

    /// Byte order of the recording.
    pub const fn order(&self) -> Order {
        self.header.order
    }

    /// Reads the feature table at `at`.
    pub fn table(&self, at: u64) -> Table {
        Table::read(self.file.source(), &self.body, at, self.order())
    }

    /// Whether there is a valid feature table at `at`.
    pub fn has_table_at(&self, at: u64) -> bool {
        self.table(at).is_valid(&self.body, self.length())
    }

    /// Reads at most `held` bytes of the section of feature `bit`. `cpus` is the number of CPUs in
    /// NRCPUS.
    ///
    /// # Errors
    ///
    /// The first field that does not fit in the section.
    pub fn read_feature(
        &self,
        (bit, section): (u32, Section),
        cpus: Option<u32>,
        held: u64,
    ) -> Result<Contents, FeatureError> {
        let start = section.offset;
        let bytes = self.file.source().read(start, start.saturating_add(held));
        let mut cursor = Cursor::new(&bytes, self.file.layer(), start, self.order());
        let contents = feature::body(bit, &mut cursor, cpus);
        // Of a part of TRACING_DATA the end cannot be judged.
        let is_part = held < section.size && bit == TRACING_DATA;
        if is_part { Ok(Contents::default()) } else { contents }
    }

    /// Refuses values that readers refuse in the section of feature `bit`, whose fields fit.
    /// `events` is the number of events of the recording.
    ///
    /// # Errors
    ///
    /// The first fault, and its readers.
    pub(in crate::formats::perf) fn refuse_feature(
        &self,
        (bit, section): (u32, Section),
        machine: &Machine,
        events: usize,
    ) -> Result<(), Refusal> {
        let bytes = self.read_section(section);
        feature::refuse(bit, self.cursor(section, &bytes), machine, events)
    }

    /// Finds the numbers of CPUs by which the feature CPU_TOPOLOGY, if it is among `sections`, can
    /// be read.
    pub(in crate::formats::perf) fn cpus_of_topology(
        &self,
        sections: &[(u32, Section)],
    ) -> Option<Cpus> {
        let (_, section) = sections.iter().find(|(bit, _)| *bit == CPU_TOPOLOGY)?;
        let bytes = self.read_section(*section);
        feature::cpus_of_topology(self.cursor(*section, &bytes))
    }

    /// Reads a section as words of 8 bytes.
    pub(in crate::formats::perf) fn words_of(&self, section: Section) -> Vec<u64> {
        let bytes = self.read_section(section);
        let mut cursor = self.cursor(section, &bytes);
        std::iter::from_fn(|| cursor.u64("word").ok()).collect()
    }

    fn read_section(&self, section: Section) -> Cow<'_, [u8]> {
        self.file.source().read(section.offset, section.end().unwrap_or(section.offset))
    }

    fn cursor<'b>(&self, section: Section, bytes: &'b [u8]) -> Cursor<'b> {
        Cursor::new(bytes, self.file.layer(), section.offset, self.order())
    }

    /// Reads the events in at most `held` bytes of the section EVENT_DESC.
    pub fn described_events(&self, section: Section, held: u64) -> Vec<DescribedEvent> {
        let start = section.offset;
        let bytes = self.file.source().read(start, start.saturating_add(section.size.min(held)));
        let mut cursor = Cursor::new(&bytes, self.file.layer(), start, self.order());
        feature::described_events(&mut cursor)
    }

    /// Reads the files with their symbols in the section of feature `bit` of simpleperf.
    pub(in crate::formats::perf) fn symbol_files(
        &self,
        bit: u32,
        section: Section,
    ) -> Vec<SymbolFile> {
        let bytes = self.read_section(section);
        feature::symbol_files(bit, &mut self.cursor(section, &bytes))
    }

    /// Reads the descriptions of the wanted tracepoints in the section TRACING_DATA.
    ///
    /// # Errors
    ///
    /// The first field that does not fit in the section.
    pub fn read_tracing(
        &self,
        section: Section,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Tracing, FeatureError> {
        let start = section.offset;
        let bytes = self.file.source().read(start, start.saturating_add(section.size));
        let mut cursor = Cursor::new(&bytes, self.file.layer(), start, self.order());
        tracing::tracing(&mut cursor, wanted)
    }
}

impl Recording<'_> {
    /// Returns the names of these tracepoints in TRACING_DATA, if it is one of the sections and has
    /// at most `held` bytes.
    pub fn tracepoint_names(
        &self,
        sections: &[(u32, Section)],
        held: u64,
        traced: &WantedTracepoints,
    ) -> Names {
        let is_held =
            |(bit, section): &&(u32, Section)| *bit == TRACING_DATA && section.size <= held;
        let section = sections.iter().find(is_held).and_then(|(_, s)| Some((s.offset, s.end()?)));
        section.map_or_else(Names::new, |(start, end)| {
            tracing::names(&self.file.source().read(start, end), traced)
        })
    }

    /// Notes the fields of the section of feature `bit`, of at most `held` bytes.
    pub fn log_feature(
        &self,
        (bit, section): (u32, Section),
        cpus: Option<u32>,
        held: u64,
        log: &FieldLog,
    ) {
        let start = section.offset;
        let end = start.saturating_add(section.size.min(held));
        let bytes = self.file.source().read(start, end);
        let cursor = Cursor::new(&bytes, self.file.layer(), start, self.order());
        let _contents = feature::body(bit, &mut cursor.with_log(log), cpus);
    }
}

/// A recording after its header was read.
#[derive(Clone, Debug)]
pub enum Opened<'a> {
    /// A file with a header of sections.
    Sections(Box<Recording<'a>>),
    /// A pipe recording, whose only file has no more in its header than its size.
    Pipe(RecordFile<'a>),
}

/// Reads the header of a recording.
///
/// # Errors
///
/// The first file is shorter than its header.
pub fn open<'a>(files: &FileSet<'a>) -> Result<Opened<'a>, ReadError> {
    let source = files.bytes(0);
    let header = header::header(&source, 0)?;
    let order = header.order;
    let name = files.files().first().map_or_else(String::new, |file| file.name.clone());
    let is_simpleperf = header.body.as_ref().is_some_and(simpleperf::is_recorder);
    let is_pipe = header.body.is_none();
    let file = RecordFile { name, source, index: 0, order, is_pipe, is_simpleperf };
    let Some(body) = header.body else { return Ok(Opened::Pipe(file)) };
    let parts = (1_u32..).zip(files.files().iter().skip(1)).map(|(index, part)| RecordFile {
        name: part.name.clone(),
        source: part.bytes.clone(),
        index,
        order,
        is_pipe: false,
        is_simpleperf,
    });
    let parts = parts.collect();
    let donor = files.donor().cloned();
    Ok(Opened::Sections(Box::new(Recording { file, header, body, parts, donor })))
}

//! Builds a recording of attrs, records and features in any of the three file modes.
//!
//! ```text
//! file:  header 104 | ids | attrs (attr, ids section)* | data | feature table | hole | sections
//! old:   header 72  | ids | attrs                      | data
//! pipe:  header 16  | records, attrs and features among them
//! ```

use std::ops::Range;

use super::attr::Attr;
use super::bytes::{Bytes, Order};
use super::feature::{self, number as bit};
use super::record::{Maker, Record, SAMPLE};

/// Magic of version 2 in a little-endian file.
pub const MAGIC: [u8; 8] = *b"PERFILE2";
/// Bytes of the header in file mode.
pub const HEADER_LEN: usize = 104;
/// Bytes of the header before feature bits existed.
pub const OLD_HEADER_LEN: usize = 72;
/// Bytes of the header in pipe mode.
pub const PIPE_HEADER_LEN: usize = 16;
/// Bytes that perf leaves between the feature table and the first section for features that it
/// planned and then did not write.
pub const HOLE_LEN: usize = 32;

/// The mode of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 104-byte header, features after the records.
    File,
    /// 72-byte header, no features.
    Old,
    /// 16-byte header, everything is a record.
    Pipe,
}

/// The place of the attrs in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Header, ids, attrs, data: `perf record`.
    IdsFirst,
    /// Header, attrs, ids, data.
    AttrsFirst,
    /// Header, data, ids, attrs, then the table: `perf inject` of 6.12 from pipe to file. The table
    /// follows the data directly, so this works only without features.
    DataFirst,
}

/// Which record carries compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapper {
    /// 81: as long as its bytes, any length.
    Compressed,
    /// 83 (Linux 6.16): u64 length, padded to 8.
    Compressed2,
}

/// A stretch of the data.
#[derive(Clone, Debug)]
enum Entry {
    Plain(Record),
    /// Records inside compressed ones: the expanded bytes are cut at these lengths.
    Packed(Wrapper, Vec<Record>, Vec<usize>),
}

/// A recording under construction.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Byte order.
    pub order: Order,
    /// File mode.
    pub mode: Mode,
    /// Place of the attrs.
    pub layout: Layout,
    /// Events.
    pub attrs: Vec<Attr>,
    /// Whether [`HOLE_LEN`] zero bytes follow the feature table.
    pub hole: bool,
    entries: Vec<Entry>,
    features: Vec<(u32, Option<Vec<u8>>)>,
}

/// One record of the built recording.
#[derive(Clone, Debug)]
pub struct RecordSpan {
    /// Its offset in the file or in the expanded stream.
    pub offset: usize,
    /// `header.size`.
    pub len: usize,
    /// Bytes that follow outside `header.size`.
    pub outside: usize,
    /// `header.type`.
    pub kind: u32,
    /// Absolute places of the fields of a SAMPLE.
    pub fields: Vec<(&'static str, usize)>,
    /// The time of a SAMPLE.
    pub time: Option<u64>,
}

impl RecordSpan {
    /// The bytes of the record, including those outside `header.size`.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.len + self.outside
    }
}

/// One feature of the built recording.
#[derive(Clone, Debug)]
pub struct FeatureSpan {
    /// Feature bit.
    pub number: u32,
    /// Its 16 bytes in the table.
    pub entry: Range<usize>,
    /// Its section.
    pub section: Range<usize>,
}

/// A recording in bytes, and its description.
#[derive(Clone, Debug)]
pub struct Built {
    /// The file.
    pub bytes: Vec<u8>,
    /// Byte order.
    pub order: Order,
    /// File mode.
    pub mode: Mode,
    /// Events.
    pub attrs: Vec<Attr>,
    /// The bytes of each attr and its ids section; empty in pipe mode.
    pub attr_spans: Vec<Range<usize>>,
    /// The bytes of the ids of each event; empty in pipe mode.
    pub ids_spans: Vec<Range<usize>>,
    /// The data: the records.
    pub data: Range<usize>,
    /// The records of the file, including compressed ones.
    pub records: Vec<RecordSpan>,
    /// The expanded stream of the compressed records.
    pub expanded: Vec<u8>,
    /// The records of the expanded stream; offsets count from its start.
    pub expanded_records: Vec<RecordSpan>,
    /// The features of the table.
    pub features: Vec<FeatureSpan>,
}

impl Built {
    /// Returns the number of SAMPLE records, including those in compressed records.
    pub fn samples(&self) -> usize {
        self.every_record().filter(|record| record.kind == SAMPLE).count()
    }

    /// Records of the file and of the expanded stream.
    pub fn every_record(&self) -> impl Iterator<Item = &RecordSpan> {
        self.records.iter().chain(&self.expanded_records)
    }

    /// Returns the offset of the feature table, if there is one.
    pub fn table_offset(&self) -> Option<usize> {
        self.features.first().map(|feature| feature.entry.start)
    }

    /// Returns the bytes of the record that `header.size` counts.
    pub fn record_bytes(&self, index: usize) -> &[u8] {
        let record = &self.records[index];
        &self.bytes[record.offset..record.offset + record.len]
    }

    /// The index of the first record of a type.
    pub fn first_of(&self, kind: u32) -> Option<usize> {
        self.records.iter().position(|record| record.kind == kind)
    }

    /// Whether there are compressed records.
    pub fn is_compressed(&self) -> bool {
        self.records.iter().any(|record| record.kind == 81 || record.kind == 83)
    }
}

impl Recording {
    /// An empty recording of these events in file mode, without features.
    pub fn new(order: Order, attrs: Vec<Attr>) -> Self {
        Self {
            order,
            mode: Mode::File,
            layout: Layout::IdsFirst,
            attrs,
            hole: false,
            entries: Vec::new(),
            features: Vec::new(),
        }
    }

    /// An empty recording in pipe mode that starts with a HEADER_ATTR record for each event.
    pub fn pipe(order: Order, attrs: Vec<Attr>) -> Self {
        let mut recording = Self { mode: Mode::Pipe, ..Self::new(order, attrs) };
        for attr in recording.attrs.clone() {
            let record = Maker::new(order, &attr).header_attr(&attr);
            recording.push(record);
        }
        recording
    }

    /// A maker of records for the event of this number.
    pub fn maker(&self, attr: usize) -> Maker {
        Maker::new(self.order, &self.attrs[attr])
    }

    /// Adds a record.
    pub fn push(&mut self, record: Record) -> &mut Self {
        self.entries.push(Entry::Plain(record));
        self
    }

    /// Adds records.
    pub fn extend(&mut self, records: impl IntoIterator<Item = Record>) -> &mut Self {
        self.entries.extend(records.into_iter().map(Entry::Plain));
        self
    }

    /// Adds records inside compressed ones. The expanded bytes are cut at `cuts`, wherever that
    /// is in a record; each piece becomes one compressed record.
    pub fn pack(&mut self, wrapper: Wrapper, records: Vec<Record>, cuts: &[usize]) -> &mut Self {
        self.entries.push(Entry::Packed(wrapper, records, cuts.to_vec()));
        self
    }

    /// Adds a feature with a valid section (in pipe mode a HEADER_FEATURE record).
    pub fn feature(&mut self, number: u32) -> &mut Self {
        if matches!(number, bit::AUXTRACE | bit::SAMPLE_TIME) && self.mode != Mode::Pipe {
            self.features.push((number, None));
            return self;
        }
        let section = feature::section(number, self.order, &self.attrs);
        self.feature_with(number, section)
    }

    /// Adds a feature with the given section.
    pub fn feature_with(&mut self, number: u32, section: Vec<u8>) -> &mut Self {
        if self.mode == Mode::Pipe {
            let record = self.maker(0).feature(number, &section);
            return self.push(record);
        }
        self.features.push((number, Some(section)));
        self
    }

    /// Adds several features.
    pub fn features(&mut self, numbers: impl IntoIterator<Item = u32>) -> &mut Self {
        for number in numbers {
            self.feature(number);
        }
        self
    }

    /// Builds the bytes and their description.
    pub fn build(&self) -> Built {
        let mut data = Data::new(self.order);
        for entry in &self.entries {
            data.add(entry);
        }
        let header_len = match self.mode {
            Mode::File => HEADER_LEN,
            Mode::Old => OLD_HEADER_LEN,
            Mode::Pipe => PIPE_HEADER_LEN,
        };
        let mut built = Built {
            bytes: Vec::new(),
            order: self.order,
            mode: self.mode,
            attrs: self.attrs.clone(),
            attr_spans: Vec::new(),
            ids_spans: Vec::new(),
            data: 0..data.bytes.len(),
            records: data.records,
            expanded: data.expanded,
            expanded_records: data.expanded_records,
            features: Vec::new(),
        };
        match self.mode {
            Mode::Pipe => built.shift_data(header_len),
            Mode::File | Mode::Old => self.place(&mut built, header_len),
        }
        let tail = self.sections(&mut built);
        let mut file = self.header(&built, header_len);
        file.zeros(built.end_of_attrs().max(built.data.end) - header_len);
        let mut bytes = file.done();
        bytes[built.data.clone()].copy_from_slice(&data.bytes);
        self.write_attrs(&built, &mut bytes);
        bytes.extend_from_slice(&tail);
        built.bytes = bytes;
        built
    }

    /// Places ids, attrs and data.
    fn place(&self, built: &mut Built, header_len: usize) {
        let mut at = header_len;
        let mut take = |len: usize| {
            at += len;
            at - len..at
        };
        let ids_len = |attr: &Attr| 8 * attr.ids.len();
        let attr_len = |attr: &Attr| attr.size as usize + 16;
        if self.layout == Layout::DataFirst {
            assert!(self.features.is_empty(), "the feature table follows the data directly");
            take(built.data.len());
        }
        if self.layout == Layout::AttrsFirst {
            built.attr_spans = self.attrs.iter().map(|attr| take(attr_len(attr))).collect();
        }
        built.ids_spans = self.attrs.iter().map(|attr| take(ids_len(attr))).collect();
        if self.layout != Layout::AttrsFirst {
            built.attr_spans = self.attrs.iter().map(|attr| take(attr_len(attr))).collect();
        }
        built.shift_data(if self.layout == Layout::DataFirst { header_len } else { at });
    }

    fn header(&self, built: &Built, header_len: usize) -> Bytes {
        let mut out = Bytes::new(self.order);
        out.u64(u64::from_le_bytes(MAGIC)).u64(header_len as u64);
        if self.mode == Mode::Pipe {
            return out;
        }
        let stride = self.attrs.first().map_or(0, |attr| attr.size + 16);
        let attrs_len: usize = built.attr_spans.iter().map(Range::len).sum();
        let attrs_start = built.attr_spans.first().map_or(0, |span| span.start);
        out.u64(u64::from(stride)).u64(attrs_start as u64).u64(attrs_len as u64);
        out.u64(built.data.start as u64).u64(built.data.len() as u64);
        out.u64(0).u64(0);
        if self.mode == Mode::File {
            let mut flags = [0_u64; 4];
            for feature in &built.features {
                flags[feature.number as usize / 64] |= 1 << (feature.number % 64);
            }
            out.u64s(&flags);
        }
        out
    }

    fn write_attrs(&self, built: &Built, bytes: &mut [u8]) {
        for ((attr, ids), span) in self.attrs.iter().zip(&built.ids_spans).zip(&built.attr_spans) {
            let mut out = Bytes::new(self.order);
            out.u64s(&attr.ids);
            bytes[ids.clone()].copy_from_slice(&out.done());
            let mut out = Bytes::new(self.order);
            out.raw(&attr.encode(self.order)).u64(ids.start as u64).u64(ids.len() as u64);
            bytes[span.clone()].copy_from_slice(&out.done());
        }
    }

    /// Builds the table and the sections, and notes their places.
    fn sections(&self, built: &mut Built) -> Vec<u8> {
        let mut features = self.features.clone();
        features.sort_by_key(|(number, _)| *number);
        assert!(features.is_empty() || self.mode == Mode::File, "only files have a table");
        let hole = if self.hole && !features.is_empty() { HOLE_LEN } else { 0 };
        let mut at = built.data.end + 16 * features.len() + hole;
        let mut table = Bytes::new(self.order);
        let mut sections = vec![0; hole];
        for (number, section) in features {
            let section = section.unwrap_or_else(|| self.dependent_section(number, built));
            let entry = built.data.end + table.len();
            table.u64(at as u64).u64(section.len() as u64);
            built.features.push(FeatureSpan {
                number,
                entry: entry..entry + 16,
                section: at..at + section.len(),
            });
            at += section.len();
            sections.extend_from_slice(&section);
        }
        let mut bytes = table.done();
        bytes.append(&mut sections);
        bytes
    }

    /// Sections that contain places or times of records.
    fn dependent_section(&self, number: u32, built: &Built) -> Vec<u8> {
        let mut out = Bytes::new(self.order);
        if number == bit::SAMPLE_TIME {
            let times = || built.every_record().filter_map(|record| record.time);
            out.u64(times().min().unwrap_or(0)).u64(times().max().unwrap_or(0));
            return out.done();
        }
        let traces: Vec<_> = built.records.iter().filter(|record| record.kind == 71).collect();
        out.u64(traces.len() as u64);
        for trace in traces {
            // auxtrace_queues__process_index_entry: the size is header.size, without the trace.
            out.u64(trace.offset as u64).u64(trace.len as u64);
        }
        out.done()
    }
}

impl Built {
    /// Moves the offsets of the data from 0 to their place in the file.
    fn shift_data(&mut self, start: usize) {
        self.data = start..start + self.data.len();
        for record in &mut self.records {
            record.offset += start;
            for (_, field) in &mut record.fields {
                *field += start;
            }
        }
    }

    fn end_of_attrs(&self) -> usize {
        self.attr_spans.iter().chain(&self.ids_spans).map(|span| span.end).max().unwrap_or(0)
    }
}

/// The data under construction; offsets count from their start.
struct Data {
    order: Order,
    bytes: Vec<u8>,
    records: Vec<RecordSpan>,
    expanded: Vec<u8>,
    expanded_records: Vec<RecordSpan>,
    framed: bool,
}

impl Data {
    fn new(order: Order) -> Self {
        Self {
            order,
            bytes: Vec::new(),
            records: Vec::new(),
            expanded: Vec::new(),
            expanded_records: Vec::new(),
            framed: false,
        }
    }

    fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::Plain(record) => {
                self.records.push(append(&mut self.bytes, record, self.order));
            }
            Entry::Packed(wrapper, records, cuts) => {
                let start = self.expanded.len();
                for record in records {
                    let span = append(&mut self.expanded, record, self.order);
                    self.expanded_records.push(span);
                }
                let whole = self.expanded[start..].to_vec();
                let mut from = 0;
                for to in cuts.iter().copied().chain([whole.len()]) {
                    // perf fails at a compressed record that expands to nothing.
                    if from < to {
                        self.wrap(*wrapper, &whole[from..to]);
                    }
                    from = to;
                }
            }
        }
    }

    /// One compressed record. All of them together carry one frame that never ends, as
    /// `zstd_compress_stream_to_records` of perf makes it: the first starts it, each adds blocks.
    fn wrap(&mut self, wrapper: Wrapper, plain: &[u8]) {
        let mut frame = Vec::new();
        if !self.framed {
            frame.extend_from_slice(&zstd_frame_header());
            self.framed = true;
        }
        frame.extend_from_slice(&zstd_raw_block(plain));
        let mut body = Bytes::new(self.order);
        let kind = match wrapper {
            Wrapper::Compressed => {
                body.raw(&frame);
                81
            }
            Wrapper::Compressed2 => {
                body.u64(frame.len() as u64).raw(&frame).pad(8);
                83
            }
        };
        let record = Record::new(kind, 0, body.done());
        self.records.push(append(&mut self.bytes, &record, self.order));
    }
}

fn append(bytes: &mut Vec<u8>, record: &Record, order: Order) -> RecordSpan {
    let offset = bytes.len();
    let encoded = record.encode(order);
    bytes.extend_from_slice(&encoded);
    bytes.extend_from_slice(&record.outside);
    RecordSpan {
        offset,
        len: encoded.len(),
        outside: record.outside.len(),
        kind: record.kind,
        fields: record.fields.iter().map(|(name, at)| (*name, offset + 8 + at)).collect(),
        time: record.time,
    }
}

/// Magic, a descriptor without content size, checksum and dictionary, and a window of 512 KiB:
/// the same six bytes as in real recordings.
fn zstd_frame_header() -> [u8; 6] {
    [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x48]
}

/// A raw block that is not the last: three little-endian bytes (size << 3), then the bytes.
fn zstd_raw_block(plain: &[u8]) -> Vec<u8> {
    let header = (plain.len() as u32) << 3;
    let mut block = header.to_le_bytes()[..3].to_vec();
    block.extend_from_slice(plain);
    block
}

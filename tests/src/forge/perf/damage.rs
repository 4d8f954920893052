//! Damages a built recording: one method per fault. Each returns the damaged file.

use std::ops::Range;

use super::attr::TYPE_TRACEPOINT;
use super::bytes::{Order, u64_bytes};
use super::feature::number as bit;
use super::recording::{Built, Mode};

/// Offset of `data.size` in the header.
pub const DATA_SIZE_AT: usize = 48;
/// Offset of the feature bits in the header.
pub const FLAGS_AT: usize = 72;

/// Features that `perf record` 6.1 plans and marks in the header before it records. Bits 28 and 30
/// stay only where it crashed: on a clean end they are cleared when nothing could be written.
pub const PLANNED: [u32; 22] =
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 21, 22, 25, 26, 28, 30, 31];

/// Features that `perf stat record` plans.
pub const PLANNED_STAT: [u32; 26] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 20, 21, 22, 23, 25, 26, 27, 28, 29, 30, 31,
];

impl Built {
    /// Imitates a killed `perf record`: `data.size` is 0, every planned feature is flagged, table
    /// and sections are missing, all records are complete. A pipe does not change.
    pub fn crashed(&self) -> Vec<u8> {
        self.crashed_at(self.data.end)
    }

    /// As [`Built::crashed`], but of the last record only `len` bytes reached the disk.
    pub fn crashed_torn(&self, len: usize) -> Vec<u8> {
        self.crashed_at(self.last_start() + len)
    }

    /// Imitates a `perf record --switch-output` that is killed: the last file has only zeros before
    /// its records, and nothing after them.
    pub fn blank(&self) -> Vec<u8> {
        let zeros = vec![0; self.data.start];
        [&zeros[..], &self.bytes[self.data.start..self.data.end]].concat()
    }

    fn crashed_at(&self, end: usize) -> Vec<u8> {
        let mut bytes = self.bytes[..end].to_vec();
        if self.mode == Mode::Pipe {
            return bytes;
        }
        self.put(&mut bytes, DATA_SIZE_AT, 0);
        if self.mode == Mode::File {
            self.put_flags(&mut bytes, &self.planned());
        }
        bytes
    }

    /// The features that perf would have marked before recording.
    pub fn planned(&self) -> Vec<u32> {
        if self.records.iter().any(|record| (75..=77).contains(&record.kind)) {
            return PLANNED_STAT.to_vec();
        }
        let mut planned = PLANNED.to_vec();
        if self.is_compressed() {
            planned.retain(|number| *number != bit::BUILD_ID);
            planned.push(bit::COMPRESSED);
        }
        if self.attrs.iter().any(|attr| attr.kind == TYPE_TRACEPOINT) {
            planned.push(bit::TRACING_DATA);
        }
        if self.features.iter().any(|feature| feature.number == bit::GROUP_DESC) {
            planned.push(bit::GROUP_DESC);
        }
        planned
    }

    /// Truncates the file to `len` bytes: a full disk, an incomplete copy, a truncated pipe.
    pub fn cut(&self, len: usize) -> Vec<u8> {
        self.bytes[..len].to_vec()
    }

    /// Truncates the file after `len` bytes of its last record.
    pub fn torn(&self, len: usize) -> Vec<u8> {
        self.cut(self.last_start() + len)
    }

    /// Truncates the file `len` bytes after the data, in the feature table or a section.
    pub fn features_cut(&self, len: usize) -> Vec<u8> {
        self.cut(self.data.end + len)
    }

    /// Sets `data.size` to `size`.
    pub fn data_size(&self, size: u64) -> Vec<u8> {
        self.with_u64(DATA_SIZE_AT, size)
    }

    /// `data.size` is `bytes` more (or fewer) than the records take.
    pub fn data_size_off_by(&self, bytes: i64) -> Vec<u8> {
        self.data_size((self.data.len() as u64).wrapping_add_signed(bytes))
    }

    /// `data.size` points 4 KiB past the end of the file.
    pub fn data_size_past_end(&self) -> Vec<u8> {
        self.data_size((self.bytes.len() - self.data.start) as u64 + 4096)
    }

    /// Sets `data.offset` to `offset`.
    pub fn data_offset(&self, offset: u64) -> Vec<u8> {
        self.with_u64(40, offset)
    }

    /// Sets `header.size` to `size`.
    pub fn header_size(&self, size: u64) -> Vec<u8> {
        self.with_u64(8, size)
    }

    /// Sets `header.attr_size`, the stride of the attrs, to `size`.
    pub fn header_attr_size(&self, size: u64) -> Vec<u8> {
        self.with_u64(16, size)
    }

    /// Sets the header's attrs section to the given section.
    pub fn attrs_section(&self, offset: u64, size: u64) -> Vec<u8> {
        let mut bytes = self.with_u64(24, offset);
        self.put(&mut bytes, 32, size);
        bytes
    }

    /// Sets `attr.size` of the event of this number to `size`.
    pub fn attr_size(&self, attr: usize, size: u32) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let at = self.attr_spans[attr].start + 4;
        put_u32(self.order, &mut bytes, at, size);
        bytes
    }

    /// Sets the ids section of the event of this number to the given section.
    pub fn ids_section(&self, attr: usize, offset: u64, size: u64) -> Vec<u8> {
        let at = self.attr_spans[attr].end - 16;
        let mut bytes = self.with_u64(at, offset);
        self.put(&mut bytes, at + 8, size);
        bytes
    }

    /// The ids section of the event of this number lies past the end of the file.
    pub fn ids_section_outside(&self, attr: usize) -> Vec<u8> {
        self.ids_section(attr, self.bytes.len() as u64 + 8, 16)
    }

    /// Sets `header.size` of the record of this number to `size`: 0, 3, or more than there is.
    pub fn record_size(&self, record: usize, size: u16) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let at = self.records[record].offset + 6;
        bytes[at..at + 2].copy_from_slice(&match self.order {
            Order::Little => size.to_le_bytes(),
            Order::Big => size.to_be_bytes(),
        });
        bytes
    }

    /// Sets `header.type` of the record of this number to `kind`.
    pub fn record_type(&self, record: usize, kind: u32) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        put_u32(self.order, &mut bytes, self.records[record].offset, kind);
        bytes
    }

    /// Sets the count of the callchain in the SAMPLE of this number to `count`.
    pub fn callchain_count(&self, record: usize, count: u64) -> Vec<u8> {
        self.sample_field(record, "callchain", count)
    }

    /// The first 8 bytes of a field of the SAMPLE of this number are `value`.
    pub fn sample_field(&self, record: usize, field: &str, value: u64) -> Vec<u8> {
        let fields = &self.records[record].fields;
        let (_, at) = fields.iter().find(|(name, _)| *name == field).expect("the field is sampled");
        self.with_u64(*at, value)
    }

    /// Sets the table entry of a feature to the given section.
    pub fn section_entry(&self, number: u32, offset: u64, size: u64) -> Vec<u8> {
        let at = self.feature(number).0.start;
        let mut bytes = self.with_u64(at, offset);
        self.put(&mut bytes, at + 8, size);
        bytes
    }

    /// A feature's section starts `by` bytes off.
    pub fn section_offset_off_by(&self, number: u32, by: i64) -> Vec<u8> {
        let (entry, section) = self.feature(number);
        self.with_u64(entry.start, (section.start as u64).wrapping_add_signed(by))
    }

    /// A feature's section is `by` bytes longer or shorter than it was.
    pub fn section_size_off_by(&self, number: u32, by: i64) -> Vec<u8> {
        let (entry, section) = self.feature(number);
        self.with_u64(entry.start + 8, (section.len() as u64).wrapping_add_signed(by))
    }

    /// A feature's section lies past the end of the file.
    pub fn section_outside(&self, number: u32) -> Vec<u8> {
        self.section_entry(number, self.bytes.len() as u64, 64)
    }

    /// The first four bytes of a feature's section (often a count or a length) are `value`.
    pub fn section_first_u32(&self, number: u32, value: u32) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let at = self.feature(number).1.start;
        put_u32(self.order, &mut bytes, at, value);
        bytes
    }

    /// Removes the bit and the table entry of a feature; the entries after it move up, and the
    /// sections keep their places.
    pub fn without_feature(&self, number: u32) -> Vec<u8> {
        let entry = self.feature(number).0;
        let table_end = self.features.last().map_or(entry.end, |feature| feature.entry.end);
        let mut bytes = self.bytes.clone();
        bytes.copy_within(entry.end..table_end, entry.start);
        bytes[table_end - 16..table_end].fill(0);
        let left: Vec<_> =
            self.features.iter().map(|feature| feature.number).filter(|n| *n != number).collect();
        self.put_flags(&mut bytes, &left);
        bytes
    }

    /// Exactly these feature bits are set; the table stays as it is.
    pub fn flags(&self, numbers: &[u32]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        self.put_flags(&mut bytes, numbers);
        bytes
    }

    /// Zeros over a range: a page that never reached the disk.
    pub fn zeroed(&self, range: Range<usize>) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[range].fill(0);
        bytes
    }

    /// Zeros over `len` bytes in the middle of the data, from a record's start on.
    pub fn zeroed_middle(&self, len: usize) -> Vec<u8> {
        let start = self.records[self.records.len() / 2].offset;
        self.zeroed(start..(start + len).min(self.data.end))
    }

    /// The first zstd block of the compressed record of this number (counted among the compressed
    /// ones) has the reserved type 3.
    pub fn corrupt_block(&self, compressed: usize) -> Vec<u8> {
        let is_compressed = |kind: u32| kind == 81 || kind == 83;
        let record = self
            .records
            .iter()
            .filter(|record| is_compressed(record.kind))
            .nth(compressed)
            .expect("there are that many compressed records");
        let frame = record.offset + if record.kind == 83 { 16 } else { 8 };
        let block = if compressed == 0 { frame + 6 } else { frame };
        let mut bytes = self.bytes.clone();
        bytes[block] |= 0b110;
        bytes
    }

    /// The record of this number is missing, as if the file had been edited; `data.size` fits.
    /// Only for recordings without features, whose offsets would have to move.
    pub fn without_record(&self, record: usize) -> Vec<u8> {
        assert!(self.features.is_empty(), "offsets of features would be wrong");
        let range = self.records[record].range();
        let mut bytes = self.bytes.clone();
        if self.mode != Mode::Pipe {
            self.put(&mut bytes, DATA_SIZE_AT, (self.data.len() - range.len()) as u64);
        }
        bytes.drain(range);
        bytes
    }

    /// Inserts foreign bytes before the record of this number; `data.size` counts them. Only for
    /// recordings without features.
    pub fn with_bytes_before(&self, record: usize, foreign: &[u8]) -> Vec<u8> {
        assert!(self.features.is_empty(), "offsets of features would be wrong");
        let at = self.records[record].offset;
        let mut bytes = self.bytes.clone();
        if self.mode != Mode::Pipe {
            self.put(&mut bytes, DATA_SIZE_AT, (self.data.len() + foreign.len()) as u64);
        }
        bytes.splice(at..at, foreign.iter().copied());
        bytes
    }

    /// Appends bytes that belong to nothing.
    pub fn with_tail(&self, tail: &[u8]) -> Vec<u8> {
        [&self.bytes, tail].concat()
    }

    /// One byte is another.
    pub fn with_byte(&self, at: usize, value: u8) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[at] = value;
        bytes
    }

    /// Eight bytes are this number in the recording's byte order.
    pub fn with_u64(&self, at: usize, value: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        self.put(&mut bytes, at, value);
        bytes
    }

    fn put(&self, bytes: &mut [u8], at: usize, value: u64) {
        bytes[at..at + 8].copy_from_slice(&u64_bytes(self.order, value));
    }

    fn put_flags(&self, bytes: &mut [u8], numbers: &[u32]) {
        let mut words = [0_u64; 4];
        for number in numbers {
            words[*number as usize / 64] |= 1 << (number % 64);
        }
        for (index, word) in words.iter().enumerate() {
            self.put(bytes, FLAGS_AT + 8 * index, *word);
        }
    }

    fn last_start(&self) -> usize {
        self.records.last().map_or(self.data.start, |record| record.offset)
    }

    /// Entry and section of a feature.
    fn feature(&self, number: u32) -> (Range<usize>, Range<usize>) {
        let feature = self.features.iter().find(|feature| feature.number == number);
        let feature = feature.expect("the recording has this feature");
        (feature.entry.clone(), feature.section.clone())
    }
}

fn put_u32(order: Order, bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    });
}

#[cfg(test)]
mod tests {
    use super::super::clean::by_name;

    #[test]
    fn every_damage_changes_the_bytes() {
        let built = by_name("every_feature").built;
        let sample = built.first_of(9).unwrap();
        let chain = by_name("sample_callchain").built;
        let packed = by_name("compressed_spanning").built;
        let plain = by_name("plain").built;
        let damaged = [
            (&built, built.crashed()),
            (&built, built.crashed_torn(9)),
            (&built, built.cut(50)),
            (&built, built.torn(9)),
            (&built, built.features_cut(700)),
            (&built, built.data_size_off_by(-8)),
            (&built, built.data_size_past_end()),
            (&built, built.data_offset(7)),
            (&built, built.header_size(105)),
            (&built, built.header_attr_size(0)),
            (&built, built.attrs_section(104, 1)),
            (&built, built.attr_size(0, 3)),
            (&built, built.ids_section_outside(0)),
            (&built, built.record_size(sample, 3)),
            (&built, built.record_type(sample, 0)),
            (&chain, chain.callchain_count(sample, 1 << 40)),
            (&built, built.section_offset_off_by(3, 8)),
            (&built, built.section_size_off_by(3, -4)),
            (&built, built.section_outside(3)),
            (&built, built.section_first_u32(3, u32::MAX)),
            (&packed, packed.without_feature(27)),
            (&built, built.flags(&[2, 3])),
            (&built, built.zeroed_middle(64)),
            (&packed, packed.corrupt_block(0)),
            (&packed, packed.corrupt_block(1)),
            (&plain, plain.without_record(1)),
            (&plain, plain.with_bytes_before(1, &[0; 5])),
            (&plain, plain.with_tail(&[1])),
        ];
        for (number, (built, bytes)) in damaged.iter().enumerate() {
            assert_ne!(&built.bytes, bytes, "damage {number} of the list");
        }
    }
}

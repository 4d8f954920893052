//! The contenders: each reads a complete file once and returns the number of records.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use linux_perf_data::{PerfFileReader, PerfFileRecord};
use linux_perf_event_reader::{Endianness, RawData, RawEventRecord, RecordParseInfo, RecordType};
use memmap2::Mmap;
use tracemend::{FileSet, Options, Verdict};

type Seen = Result<u64, Box<dyn Error>>;

/// One way to read a file.
pub(crate) struct Contender {
    /// Name in the table.
    pub name: &'static str,
    /// Whether it expands compressed records.
    pub expands: bool,
    /// Reads the file.
    pub run: fn(&Path) -> Seen,
}

/// All contenders; the others are compared with the first.
pub(crate) static CONTENDERS: [Contender; 6] = [
    Contender { name: "tracemend::check", expands: true, run: tracemend },
    Contender { name: "linux-perf-data, mapped", expands: true, run: perf_data_mapped },
    Contender { name: "linux-perf-data, BufReader", expands: true, run: perf_data_buffered },
    Contender { name: "linux-perf-event-reader", expands: false, run: event_reader },
    Contender { name: "walk over headers", expands: false, run: header_walk },
    Contender { name: "read(2), 1 MiB each", expands: false, run: read },
];

/// Maps a file that this program made.
pub(crate) fn map(path: &Path) -> std::io::Result<Mmap> {
    // SAFETY: this program made the file and does not change it while it is mapped.
    unsafe { Mmap::map(&File::open(path)?) }
}

/// Runs the complete check.
fn tracemend(path: &Path) -> Seen {
    let map = map(path)?;
    let report = tracemend::check(&FileSet::single("perf.data", &map), &Options::default());
    if report.verdict() != Verdict::Clean {
        return Err(format!("not clean: {:?}", report.findings()).into());
    }
    Ok(black_box(report).tally.records)
}

fn perf_data_mapped(path: &Path) -> Seen {
    let map = map(path)?;
    perf_data(Cursor::new(&map[..]))
}

fn perf_data_buffered(path: &Path) -> Seen {
    perf_data(BufReader::with_capacity(1 << 20, File::open(path)?))
}

/// Opens, sorts within rounds (as the crate does by default), and parses every record.
fn perf_data(reader: impl Read + Seek) -> Seen {
    let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_file(reader)?;
    let mut records = 0;
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        match record {
            PerfFileRecord::EventRecord { record, .. } => drop(black_box(record.parse()?)),
            PerfFileRecord::UserRecord(record) => drop(black_box(record.parse()?)),
        }
        records += 1;
    }
    Ok(records)
}

/// Passes type, misc and body of each record to `see`, without checks for damage.
fn for_each_record(
    bytes: &[u8],
    mut see: impl FnMut(u32, u16, &[u8]) -> Result<(), Box<dyn Error>>,
) -> Seen {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let start = usize::try_from(word(40))?;
    let mut rest = &bytes[start..start + usize::try_from(word(48))?];
    let mut records = 0;
    while let Some([a, b, c, d, e, f, g, h]) = rest.first_chunk().copied() {
        let size = usize::from(u16::from_le_bytes([g, h]));
        let (record, after) = rest.split_at_checked(size).ok_or("truncated record")?;
        let body = record.get(8..).ok_or("a record is shorter than its header")?;
        see(u32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([e, f]), body)?;
        rest = after;
        records += 1;
    }
    Ok(records)
}

/// Parses with the crate below linux-perf-data alone: no copies and no sorting.
fn event_reader(path: &Path) -> Seen {
    let map = map(path)?;
    let opened = PerfFileReader::parse_file(Cursor::new(&map[..]))?;
    let attr = &opened.perf_file.event_attributes().first().ok_or("no event")?.attr;
    let parse_info = RecordParseInfo::new(attr, Endianness::LittleEndian);
    for_each_record(&map, |kind, misc, body| {
        if kind < 64 {
            let record_type = RecordType(kind);
            let data = RawData::Single(body);
            black_box(RawEventRecord { record_type, misc, data, parse_info }.parse()?);
        }
        Ok(())
    })
}

/// Reads type and size of each record, the least that any reader does.
fn header_walk(path: &Path) -> Seen {
    let map = map(path)?;
    let mut sum = 0_u32;
    let records = for_each_record(&map, |kind, _, _| {
        sum = sum.wrapping_add(kind);
        Ok(())
    });
    black_box(sum);
    records
}

/// Reads the bytes and does nothing with them.
fn read(path: &Path) -> Seen {
    let mut file = File::open(path)?;
    let mut held = vec![0; 1 << 20];
    while file.read(&mut held)? > 0 {
        black_box(&mut held);
    }
    Ok(0)
}

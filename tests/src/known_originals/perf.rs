//! perf: a record of the data section, or of a pipe, is a record. One that holds compressed records
//! counts as a whole.

use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use tracemend::FormatId;

use super::{Bound, Bounds, Files, Original, Reach, Record, Subject, corpus};
use crate::forge::perf::{clean, directory};

/// The format.
pub static SUBJECT: Subject = Subject {
    format: FormatId::PERF,
    originals: LazyLock::new(originals),
    records,
    reach: Reach::Everything,
    remains: None,
    judge: None,
    bounds: Bounds {
        false_labels: Bound::NONE,
        losing: Bound::new(185, "samples are lost with the attr that describes them"),
        given_up: Bound::new(310, "half of them have no untouched record; others lost their attrs"),
        unclean: Bound::NONE,
        unstable: Bound::NONE,
    },
};

fn originals() -> Vec<Original> {
    let forged = clean().into_iter();
    let mut all: Vec<Original> =
        forged.map(|clean| Original::single(clean.name, clean.built.bytes)).collect();
    let files = directory().into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect();
    all.push(Original { name: "directory".to_string(), files });
    all.extend(corpus("perf"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean/threads.data");
    let read = |name: &str| (name.to_string(), std::fs::read(folder.join(name)).unwrap());
    let files = ["data", "data.0", "data.1"].map(read).to_vec();
    all.push(Original { name: "corpus threads.data".to_string(), files });
    all
}

/// Reads numbers in the order of the bytes of the recording.
struct Numbers<'a> {
    bytes: &'a [u8],
    is_big: bool,
}

impl Numbers<'_> {
    fn at(&self, at: usize, len: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..at.checked_add(len)?)?;
        let next = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let number: u64 =
            if self.is_big { bytes.iter().fold(0, next) } else { bytes.iter().rev().fold(0, next) };
        number.try_into().ok()
    }

    /// Returns the bytes of the records.
    fn data(&self) -> Option<Range<usize>> {
        if self.at(8, 8)? == 16 {
            return Some(16..self.bytes.len());
        }
        let start = self.at(40, 8)?;
        Some(start..start.checked_add(self.at(48, 8)?)?.min(self.bytes.len()))
    }

    /// Returns the bytes of the record at an offset, and those that follow it and belong to it.
    fn record(&self, at: usize) -> Option<usize> {
        let len = self.at(at + 6, 2)?;
        let outside = match self.at(at, 4)? {
            // HEADER_TRACING_DATA, in a pipe; AUXTRACE.
            66 => self.at(at + 8, 4)?.next_multiple_of(8),
            71 => self.at(at + 8, 8)?,
            _ => 0,
        };
        if len < 8 { None } else { len.checked_add(outside) }
    }
}

fn records(_: &Original, files: &Files) -> Vec<Record> {
    // The size of the header is a small number: its first byte is 0 in big endian.
    let is_big = files[0].1.get(8) == Some(&0);
    let mut found = Vec::new();
    for (file, (name, bytes)) in files.iter().enumerate() {
        let numbers = Numbers { bytes, is_big };
        let whole = name.starts_with("data.").then_some(0..bytes.len());
        let Some(data) = whole.or_else(|| numbers.data()) else { continue };
        let mut at = data.start;
        while let Some(len) = numbers.record(at).filter(|len| at + len <= data.end) {
            let identity = bytes[at..at + len].to_vec();
            found.push(Record { file, stored: at..at + len, needs: Vec::new(), identity });
            at += len;
        }
    }
    found
}

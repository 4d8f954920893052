//! Recordings of which one piece stands in them thousands of times, with other numbers in each
//! copy: work that grows with the square of a count shows, whatever is counted.

use std::ops::Range;

use tracemend::formats::apitrace::stream_bytes;
use tracemend::kit::source::Source;
use tracemend_tests::forge::apitrace::Container;
use tracemend_tests::known_originals::apitrace::call_spans;
use tracemend_tests::known_originals::{Dice, Original, Subject};

use crate::Made;

/// Most records of a piece.
const MOST_RECORDS: usize = 4;
/// Most bytes of a piece that does not follow the records.
const MOST_BYTES: usize = 512;
/// Most bytes of an apitrace stream that is read.
const STREAM_MAX: u64 = 64 << 20;

/// Repeats a piece of a sound recording until its copies have `len` bytes; returns the name of the
/// recording and the piece as well.
pub(crate) fn repeated(subject: &Subject, len: usize, dice: &mut Dice<'_>) -> (String, Made) {
    let format = subject.format.name();
    let originals = &subject.originals;
    let Original { name, mut files } = originals[dice.below(originals.len())].clone();
    let container = (format == "apitrace").then(|| {
        files[0].1 = stream_bytes(&Source::new(&files[0].1), STREAM_MAX);
        Container::ALL[dice.below(Container::ALL.len())]
    });
    let original = Original { name: name.clone(), files: files.clone() };
    let (file, piece) = piece(subject, &original, dice);
    let bytes = &mut files[file].1;
    let copies = copies(&bytes[piece.clone()], len, dice);
    let expanded = if container.is_some() { copies.len() } else { 0 };
    if format == "perf" {
        move_places(bytes, copies.len().saturating_sub(piece.len()));
    }
    bytes.splice(piece.clone(), copies);
    if let Some(container) = container {
        files[0].1 = container.file(&files[0].1);
    }
    let name = format!("{name}, bytes {piece:?} of {}", files[file].0);
    (name, Made { format, files, expanded })
}

/// Chooses some records, or bytes at any place; returns the index of their file as well.
fn piece(subject: &Subject, original: &Original, dice: &mut Dice<'_>) -> (usize, Range<usize>) {
    let records: Vec<(usize, Range<usize>)> = if subject.format.name() == "apitrace" {
        let calls = call_spans(&original.files[0].1).into_iter();
        calls.flat_map(|call| call.events).map(|event| (0, event)).collect()
    } else {
        let records = (subject.records)(original, &original.files).into_iter();
        records.map(|record| (record.file, record.stored)).collect()
    };
    if records.is_empty() || dice.below(4) == 0 {
        let file = dice.below(original.files.len());
        let len = original.files[file].1.len();
        let start = dice.below(len);
        return (file, start..len.min(start + 1 + dice.below(MOST_BYTES)));
    }
    let first = dice.below(records.len());
    let (file, start) = (records[first].0, records[first].1.start);
    let next = records[first..].iter().take(1 + dice.below(MOST_RECORDS));
    let next = next.take_while(|(other, _)| *other == file);
    (file, start..next.map(|(_, range)| range.end).max().unwrap_or(start).max(start))
}

/// Returns copies of a piece, with growing numbers at up to two places.
fn copies(piece: &[u8], len: usize, dice: &mut Dice<'_>) -> Vec<u8> {
    if piece.is_empty() {
        return Vec::new();
    }
    const STEPS: [u64; 5] = [1, 8, 0x1000, u64::MAX, 0x9e37_79b9_7f4a_7c15];
    let mut numbers = Vec::new();
    for _ in 0..dice.below(3) {
        // Fields of records mostly stand at multiples of 4.
        let at = dice.below(piece.len());
        let at = if dice.below(4) == 0 { at } else { at / 4 * 4 };
        let width = [1, 2, 4, 8][dice.below(4)].min(piece.len() - at);
        numbers.push((at..at + width, STEPS[dice.below(STEPS.len())]));
    }
    let mut all = Vec::with_capacity(len + piece.len());
    for copy in 0.. {
        if all.len() >= len {
            break;
        }
        let start = all.len();
        all.extend_from_slice(piece);
        for (place, step) in &numbers {
            let number = step.wrapping_mul(copy).to_le_bytes();
            let place = start + place.start..start + place.end;
            all[place.clone()].copy_from_slice(&number[..place.len()]);
        }
    }
    all
}

/// Lets the header of a file, and the table of its features, tell that its records are longer.
fn move_places(bytes: &mut [u8], grown: usize) {
    const FULL_HEADER: u64 = 104;
    let number = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 8).map_or(0, |word| u64::from_le_bytes(word.try_into().unwrap()))
    };
    if number(bytes, 8) != FULL_HEADER {
        return;
    }
    let table = (number(bytes, 40) + number(bytes, 48)) as usize;
    let features: usize = bytes[72..104].iter().map(|byte| byte.count_ones() as usize).sum();
    let offsets = (0..features).map(|feature| table + 16 * feature);
    for at in offsets.chain([48]) {
        let new = number(bytes, at) + grown as u64;
        bytes[at..at + 8].copy_from_slice(&new.to_le_bytes());
    }
}

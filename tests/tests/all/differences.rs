//! Comparisons of recordings: each equals itself, and the one field that differs is named.

use tracemend::kit::source::Source;
use tracemend::{Compared, Degree, Difference, Dump, File, FileSet, FormatId, Options, Row};
use tracemend_tests::forge::apitrace::{Stream, Value, snappy};
use tracemend_tests::forge::{ovni, perf, revent};
use tracemend_tests::known_originals::{Files, SUBJECTS};
use tracemend_tests::sweep::is_left_to_the_gate;

fn set(files: &Files) -> FileSet<'_> {
    let files = files.iter();
    FileSet::new(files.map(|(name, bytes)| File::new(name.clone(), Source::new(bytes))).collect())
}

fn compare(format: FormatId, one: &Files, two: &Files) -> Compared {
    let options = Options { format: Some(format), ..Options::default() };
    tracemend::diff(&set(one), &set(two), &options).unwrap()
}

/// The records of a dump in JSON.
fn records(format: FormatId, files: &Files) -> Vec<String> {
    let options = Options { format: Some(format), ..Options::default() };
    let mut text = String::new();
    let add = &mut |piece: &str| {
        text += piece;
        true
    };
    tracemend::dump(&set(files), &options, &Dump::JsonLines, add).unwrap();
    text.lines().map(str::to_string).collect()
}

fn single(bytes: Vec<u8>) -> Files {
    vec![("recording".to_string(), bytes)]
}

/// The degree, the number and the names of the fields of the only difference.
fn only(compared: &Compared) -> (Degree, u64, Vec<&str>) {
    assert_eq!(compared.differences.len(), 1, "{compared:?}");
    let Difference { degree, number, fields, .. } = &compared.differences[0];
    (*degree, *number, fields.iter().map(|field| field.name.as_str()).collect())
}

/// Changes one bit of a record, `back` bytes before its end.
fn flip(bytes: &mut [u8], line: &str, back: i128) {
    let row = Row::read(line).unwrap();
    let at = row.integer("offset").unwrap() + row.integer("length").unwrap() - back;
    bytes[usize::try_from(at).unwrap()] ^= 1;
}

#[test]
fn every_sound_recording_equals_itself() {
    if is_left_to_the_gate("every sound recording equals itself") {
        return;
    }
    let mut compared = 0;
    for subject in SUBJECTS {
        for original in subject.originals.iter() {
            let found = compare(subject.format, &original.files, &original.files);
            let count = records(subject.format, &original.files).len();
            assert!(!found.is_different(), "{}: {found:?}", original.name);
            assert_eq!(found.records, count as u64, "{}", original.name);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn the_field_of_an_input_event_is_named() {
    let one = single(revent::Recording::new(revent::Layout::V3).tap(1334).build().bytes);
    let lines = records(FormatId::REVENT, &one);
    for (number, line) in lines.iter().enumerate() {
        let mut two = one.clone();
        flip(&mut two[0].1, line, 4);
        let found = compare(FormatId::REVENT, &one, &two);
        assert_eq!(only(&found), (Degree::Content, number as u64, vec!["value"]));
    }
}

#[test]
fn the_field_of_a_sample_is_named_and_what_no_record_shows_is_found() {
    let one = single(perf::by_name("plain").built.bytes);
    let lines = records(FormatId::PERF, &one);
    let (number, line) =
        lines.iter().enumerate().find(|(_, line)| line.contains("\"kind\":\"SAMPLE\"")).unwrap();
    let row = Row::read(line).unwrap();
    let start = usize::try_from(row.integer("offset").unwrap()).unwrap();
    let length = usize::try_from(row.integer("length").unwrap()).unwrap();
    for (name, degree) in [("ip", Degree::Volatile), ("period", Degree::Content)] {
        let value = u64::try_from(row.integer(name).unwrap()).unwrap().to_le_bytes();
        let record = &one[0].1[start..start + length];
        let at = record.windows(8).position(|window| window == value).unwrap();
        let mut two = one.clone();
        two[0].1[start + at] ^= 1;
        let found = compare(FormatId::PERF, &one, &two);
        assert_eq!(only(&found), (degree, number as u64, vec![name]));
    }
    // The bitmap of features.
    let mut two = one.clone();
    two[0].1[0x48 + 31] ^= 0x40;
    let found = compare(FormatId::PERF, &one, &two).hidden.unwrap();
    assert_eq!(found.offsets, [0x48 + 31; 2]);
    assert_eq!(found.place.first().map(String::as_str), Some("header"), "{found:?}");
}

#[test]
fn the_field_of_an_ovni_event_and_a_stream_that_is_missing_are_named() {
    let trace = ovni::clean::by_name("affinity_and_flush");
    let one: Files =
        trace.files.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))).collect();
    let lines = records(FormatId::OVNI, &one);
    let (number, line) =
        lines.iter().enumerate().find(|(_, line)| line.contains("\"kind\":\"OAs\"")).unwrap();
    let mut two = one.clone();
    let stream = two.iter_mut().find(|(name, _)| name.ends_with(".obs")).unwrap();
    flip(&mut stream.1, line, 4);
    let found = compare(FormatId::OVNI, &one, &two);
    assert_eq!(only(&found), (Degree::Content, number as u64, vec!["cpu"]));
    let mut two = one.clone();
    let metadata = two.iter_mut().find(|(name, _)| name.ends_with(".json")).unwrap();
    metadata.1.push(b'\n');
    let found = compare(FormatId::OVNI, &one, &two).hidden.unwrap();
    assert!(found.file.ends_with("stream.json"), "{found:?}");
}

#[test]
fn the_argument_of_a_call_and_the_bytes_of_a_blob_are_compared() {
    let trace = |x: u64, address: u64, blob: &[u8]| {
        let mut stream = Stream::new(5);
        let values = [Value::Uint(x), Value::Opaque(address), Value::Blob(blob.to_vec())];
        for _ in 0..9 {
            stream.call(0, 1, &values);
        }
        single(snappy(&stream.bytes, 64))
    };
    let one = trace(5, 0x1000, b"abc");
    let named = |two: &Files| {
        let found = compare(FormatId::APITRACE, &one, two);
        let (degree, number, fields) = only(&found);
        (degree, number, fields.len(), fields[0].to_string())
    };
    assert_eq!(named(&trace(6, 0x1000, b"abc")).0, Degree::Content);
    let (degree, number, count, name) = named(&trace(5, 0x2000, b"abc"));
    assert_eq!((degree, number, count), (Degree::Volatile, 0, 1), "{name}");
    let wanted = (Degree::Content, 0, 1, "bytes_crc32".to_string());
    assert_eq!(named(&trace(5, 0x1000, b"abd")), wanted);
}

#[test]
fn records_that_one_recording_lacks_are_counted() {
    use tracemend_tests::forge::qemu::{Log, ids};
    let log = |lost: std::ops::Range<u32>| {
        let mut log = Log::new(ids::of("11.0"));
        log.start();
        (1..200).filter(|count| !lost.contains(count)).for_each(|count| {
            log.instruction(count).exception();
        });
        single(log.close().bytes.clone())
    };
    let whole = log(0..0);
    for (lost, missing) in [(50..51, Some(2)), (50..80, Some(60)), (50..90, None)] {
        let found = compare(FormatId::QEMU, &whole, &log(lost.clone()));
        let first = &found.differences[0];
        assert_eq!(first.missing, missing.map(|count| [count, 0]), "{lost:?}");
        let found = compare(FormatId::QEMU, &log(lost.clone()), &whole);
        assert_eq!(found.differences[0].missing, missing.map(|count| [0, count]), "{lost:?}");
    }
}

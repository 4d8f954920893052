//! Bytes that are missing in the records, or too many: how many, and where.

use std::path::Path;

use tracemend::{FileSet, Options, check};

const RECORDINGS: [&str; 4] = ["plain.data", "group.data", "callgraph.data", "wide.data"];

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// The number of bytes that are missing or too many, and their place, in the words of a check.
fn gap(bytes: &[u8]) -> Option<(String, Option<usize>)> {
    let report = check(&FileSet::single("perf.data", bytes), &Options::default());
    let sizes = report.findings().iter().filter(|finding| finding.rule.code == "PD0006");
    let mut notes = sizes.flat_map(|finding| &finding.notes);
    let note = notes.find(|note| note.contains("all offsets of features"))?;
    let count = [" at ", " from ", " where "]
        .iter()
        .fold(note.as_str(), |note, word| note.split(word).next().unwrap_or_default());
    let count = count.to_string();
    let place = note.split("0x").nth(1);
    let place = place.and_then(|place| place.split(|c: char| !c.is_ascii_hexdigit()).next());
    Some((count, place.and_then(|place| usize::from_str_radix(place, 16).ok())))
}

#[test]
fn the_bytes_missing_in_records_are_counted_and_placed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    let (mut named, mut placed, mut all) = (0, 0, 0);
    for name in RECORDINGS {
        let whole = std::fs::read(folder.join(name)).unwrap();
        let (start, size) = (u64_at(&whole, 40), u64_at(&whole, 48));
        // The last record may be the one that is cut.
        let places = (start + 64..start + size - 700).step_by(56);
        for (number, at) in places.enumerate() {
            let count = [8, 24, 100, 512][number % 4];
            let lost = [&whole[..at], &whole[at + count..]].concat();
            let other = vec![0xa5; count];
            let more = [&whole[..at], &other[..], &whole[at..]].concat();
            for (damaged, what) in [(lost, "missing"), (more, "too many")] {
                all += 1;
                let Some((words, place)) = gap(&damaged) else { continue };
                assert_eq!(words, format!("{count} bytes are {what}"), "{name} at {at:#x}");
                named += 1;
                // The record before it, or the bytes up to the next one.
                placed += usize::from(place.is_some_and(|place| place.abs_diff(at) < 1_024));
            }
        }
    }
    assert!(all > 200 && named * 10 >= all * 8, "{named} of {all} are named");
    assert!(placed * 10 >= named * 8, "{placed} of {named} are placed");
}

//! The format of the tutorial, `docs/adding-a-format.md`: from bytes to a repaired and proven file.

use tracemend::{FileSet, Options, Outcome, Plan, Repair, TileKind};
use tracemend_tests::toy::Tick;

/// The files of the format, which the tutorial quotes.
const FILES: [(&str, &str); 6] = [
    ("layout.rs", include_str!("../../src/toy/layout.rs")),
    ("rules.rs", include_str!("../../src/toy/rules.rs")),
    ("decode.rs", include_str!("../../src/toy/decode.rs")),
    ("check.rs", include_str!("../../src/toy/check.rs")),
    ("repair.rs", include_str!("../../src/toy/repair.rs")),
    ("mod.rs", include_str!("../../src/toy/mod.rs")),
];
const TUTORIAL: &str = include_str!("../../../docs/adding-a-format.md");

fn options() -> Options {
    Options::default().with_format(Tick::id())
}

/// Returns a recording of three records with the given count.
fn waltz(count: u16) -> Vec<u8> {
    let mut bytes = [b"TICK".as_slice(), &count.to_le_bytes()].concat();
    for (time, name) in [(0_u32, "one"), (500, "two"), (1000, "three")] {
        let body = [&time.to_le_bytes(), name.as_bytes()].concat();
        bytes.push(body.len() as u8);
        bytes.extend(&body);
        bytes.push(body.iter().fold(0, |sum, byte| sum.wrapping_add(*byte)));
    }
    bytes
}

/// Repairs a recording, proves the result against the plan, and returns it.
fn repaired(bytes: &[u8]) -> (Repair, Vec<u8>) {
    let files = FileSet::single("waltz.tick", bytes);
    let repair = tracemend::repair(&files, &options());
    let output = repair.output(&files);
    let plan = Plan::new(&repair, &files, &options().limits).unwrap();
    tracemend::verify(&plan, &files, &output).unwrap();
    let output = output.bytes(0).pieces().collect::<Vec<_>>().concat();
    (repair, output)
}

fn codes(repair: &Repair) -> Vec<&str> {
    repair.before.counts().keys().copied().collect()
}

#[test]
fn a_sound_recording_is_clean_and_stays_as_it_is() {
    let bytes = waltz(3);
    let (repair, output) = repaired(&bytes);
    assert_eq!((repair.outcome, output), (Outcome::Clean, bytes));
    let tally = &repair.before.tally;
    let times = (tally.first_time, tally.last_time);
    assert_eq!((tally.records, times), (3, (Some(0), Some(1_000_000_000))));
}

#[test]
fn the_recording_of_a_killed_recorder_keeps_every_complete_record() {
    let mut bytes = waltz(0);
    bytes.truncate(bytes.len() - 3);
    let (repair, output) = repaired(&bytes);
    assert_eq!(codes(&repair), ["TK1001", "TK1002"]);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(output[4..6], [2, 0]);
    assert_eq!(output[6..], waltz(3)[6..24]);
}

#[test]
fn a_damaged_record_is_dropped_and_the_count_follows() {
    let mut bytes = waltz(3);
    bytes[15 + 5] ^= 1;
    let (repair, output) = repaired(&bytes);
    assert_eq!((codes(&repair), repair.applied.len()), (vec!["TK2001"], 1));
    assert_eq!(output, [b"TICK\x02\0".as_slice(), &waltz(3)[6..15], &waltz(3)[24..]].concat());
}

#[test]
fn every_cut_and_every_flipped_byte_is_repaired_or_refused() {
    let sound = waltz(3);
    for at in 0..sound.len() {
        let mut flipped = sound.clone();
        flipped[at] ^= 0xff;
        for bytes in [sound[..at].to_vec(), flipped] {
            let (repair, output) = repaired(&bytes);
            let again = tracemend::check(&FileSet::single("waltz.tick", &output), &options());
            let refused = repair.outcome == Outcome::CannotRepair;
            assert_eq!(again.has_errors(), refused, "{at}: {:?}", again.findings());
        }
    }
}

#[test]
fn the_tiles_cover_the_file() {
    let mut bytes = waltz(3);
    bytes[20] ^= 1;
    bytes.pop();
    let (mut at, mut kinds) = (0, Vec::new());
    tracemend::tile(&FileSet::single("waltz.tick", &bytes), &options(), &mut |tile| {
        assert_eq!(tile.span.start(), at);
        at = tile.span.end();
        kinds.push(tile.kind);
    });
    assert_eq!(at, bytes.len() as u64);
    let (header, record, damage) = (TileKind::Structure, TileKind::Record, TileKind::Damage);
    assert_eq!(kinds, [header, record, damage, damage]);
}

#[test]
fn the_tutorial_quotes_the_files_as_they_are() {
    for (name, text) in FILES {
        assert!(TUTORIAL.contains(text), "docs/adding-a-format.md does not quote {name} as it is");
    }
    let quoted: usize = FILES.iter().map(|(_, text)| text.len()).sum();
    let blocks: usize = TUTORIAL
        .split("````rust\n")
        .skip(1)
        .map(|block| block.split("````\n").next().unwrap_or_default().len())
        .sum();
    assert_eq!(blocks, quoted, "a code block of the tutorial is not a file of tests/src/toy");
}

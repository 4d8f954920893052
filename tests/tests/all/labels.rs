//! Labels of repairs all over a file: one damage of a kind that leaves several originals possible.
//!
//! The sweep of `known_originals` chooses places by chance; faults of these kinds are rare there.

use std::collections::BTreeMap;

use tracemend::Outcome;
use tracemend_tests::forge::qemu::{Log, ids};
use tracemend_tests::known_originals::damage::{Damaged, Kind, damage_at, damage_once};
use tracemend_tests::known_originals::judge::judge;
use tracemend_tests::known_originals::{Dice, Original, Record, SUBJECTS, Subject};
use tracemend_tests::mended::mended;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Seed of the noise.
const SEED: u64 = 514;
/// Bytes of the recordings that are damaged all over.
const SHORT: usize = 6 << 10;
/// Distance between the places that are damaged: a prime, so that they lie anywhere in a record.
const DISTANCE: usize = 241;

/// Damages the first file of an original by each kind and length at the places, and returns the
/// false labels.
fn find_false_labels(
    subject: &Subject,
    original: &Original,
    kinds: &[(Kind, usize)],
    places: impl Iterator<Item = usize>,
) -> Vec<String> {
    find_false_labels_of(subject, original, kinds, places.map(|at| (0, at)))
}

/// The same for places in any file, by its index.
fn find_false_labels_of(
    subject: &Subject,
    original: &Original,
    kinds: &[(Kind, usize)],
    places: impl Iterator<Item = (usize, usize)>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (file, at) in places {
        let size = original.files[file].1.len();
        for (kind, len) in kinds.iter().filter(|(_, len)| at + len <= size) {
            let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(at as u64));
            let damaged = damage_once(&original.files, *kind, file, (at, *len), &mut dice);
            let Some(damaged) = damaged else { continue };
            wrong.extend(false_label(subject, original, &damaged));
        }
    }
    wrong
}

/// Returns the false label of a repair, with the codes of the findings and the damage.
fn false_label(subject: &Subject, original: &Original, damaged: &Damaged) -> Option<String> {
    let (judgement, _) = judge(subject, original, damaged);
    let label = judgement.false_label?;
    let (name, codes) = (&original.name, judgement.reason);
    Some(format!("{name}: {label} [{codes}] {}", damaged.describe()))
}

fn short_originals(subject: &Subject) -> impl Iterator<Item = &Original> {
    subject.originals.iter().filter(|original| original.files[0].1.len() <= SHORT)
}

/// Repairs of these formats take longer, and their events are shorter: one case in so many of the
/// share of the others.
const LONG: [(&str, u64); 2] = [("apitrace", 16), ("qemu", 8)];

fn share(subject: &Subject, one_in: u64) -> Share {
    let longer = LONG.iter().find(|(name, _)| *name == subject.format.name());
    Share::one_in(one_in * longer.map_or(1, |(_, longer)| *longer))
}

/// Damages the short originals of all formats, at other places in each.
fn labels_are_true(kinds: &[(Kind, usize)]) {
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for subject in SUBJECTS {
        for (number, original) in short_originals(subject).enumerate() {
            let first = number * 37 % DISTANCE;
            let places = (first..original.files[0].1.len()).step_by(DISTANCE);
            let found = find_false_labels(subject, original, kinds, Share::one_in(4).of(places));
            if !found.is_empty() {
                wrong.entry(subject.format.name()).or_default().extend(found);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_repair_of_zeros_claims_no_more_than_the_bytes_show() {
    if is_left_to_the_gate("labels after zeros all over a file") {
        return;
    }
    labels_are_true(&[(Kind::Zeros, 4), (Kind::Zeros, 13), (Kind::Zeros, 20)]);
}

#[test]
fn a_repair_of_inserted_bytes_claims_no_more_than_the_bytes_show() {
    if is_left_to_the_gate("labels after inserted bytes all over a file") {
        return;
    }
    labels_are_true(&[(Kind::Insert, 1), (Kind::Insert, 8), (Kind::Insert, 41)]);
}

#[test]
fn two_insertions_close_together_are_not_claimed_to_be_one() {
    if is_left_to_the_gate("labels after two insertions close together all over a file") {
        return;
    }
    let mut wrong = Vec::new();
    for subject in SUBJECTS {
        for (number, original) in short_originals(subject).enumerate() {
            let places = (number * 7 % 29..original.files[0].1.len()).step_by(29);
            for at in share(subject, 32).of(places) {
                let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(at as u64));
                let (gap, first, second) = (dice.below(48), 1 + dice.below(3), 1 + dice.below(6));
                let second = (Kind::Insert, 0, (at + first + gap, second));
                if at + gap > original.files[0].1.len() {
                    continue;
                }
                let steps = [(Kind::Insert, 0, (at, first)), second];
                let Some(damaged) = damage_at(&original.files, &steps, &mut dice) else { continue };
                wrong.extend(false_label(subject, original, &damaged));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_repair_of_lost_or_doubled_bytes_claims_no_more_than_the_bytes_show() {
    if is_left_to_the_gate("labels after lost and doubled bytes all over a file") {
        return;
    }
    labels_are_true(&[(Kind::Drop, 3), (Kind::Drop, 40), (Kind::Double, 72)]);
}

#[test]
fn a_byte_that_was_inserted_into_a_chunk_is_not_kept_as_if_its_length_were_wrong() {
    if is_left_to_the_gate(
        "a byte that was inserted into a chunk is not kept as if its length were wrong",
    ) {
        return;
    }
    let subject = SUBJECTS.iter().find(|one| one.format.name() == "apitrace").unwrap();
    let mut decoded = 0;
    let chunked = subject.originals.iter().filter(|one| one.name.contains("SmallChunks"));
    for original in chunked.filter(|one| one.files[0].1.len() <= SHORT) {
        let sound = &original.files[0].1;
        let cases = (2..sound.len()).flat_map(|at| (0..=u8::MAX).map(move |value| (at, value)));
        // The chunk decodes with this one, and no check sees that other bytes are in it.
        let known = (original.name == "version_3_SmallChunks").then_some((0x830, 0xf0));
        for (at, value) in Share::one_in(5999).of(cases).chain(known) {
            let mut damaged = sound.clone();
            damaged.insert(at, value);
            let (repair, target) = mended(&damaged);
            let is_exact = repair.outcome == Outcome::Repaired;
            assert!(!is_exact || target == *sound, "{}: {value:#x} at {at:#x}", original.name);
            decoded += usize::from(repair.before.counts().keys().eq(["AT8003"].iter()));
        }
    }
    assert!(decoded > 0);
}

#[test]
fn a_damaged_size_of_the_last_feature_is_not_a_sign_of_inserted_bytes() {
    let (subject, original) = of_perf("corpus threads.data");
    let bytes = &original.files[0].1;
    // PMU_CAPS, the last section of the file, has 4 bytes.
    let (last, size) = (bytes.len() as u64 - 4, 4_u64);
    let entry = [last.to_le_bytes(), size.to_le_bytes()].concat();
    let place = bytes.windows(16).position(|window| window == entry).unwrap();
    let kinds = [(Kind::Zeros, 1), (Kind::Zeros, 8)];
    assert_eq!(find_false_labels(subject, original, &kinds, std::iter::once(place + 8)), [""; 0]);
}

/// Returns the original of perf with a name.
fn of_perf(name: &str) -> (&'static Subject, &'static Original) {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "perf").unwrap();
    (subject, subject.originals.iter().find(|original| original.name == name).unwrap())
}

#[test]
fn the_place_of_bytes_inserted_among_features_is_not_claimed_if_others_fit() {
    if is_left_to_the_gate(
        "the place of bytes inserted among features is not claimed if others fit",
    ) {
        return;
    }
    for name in ["hole_before_sections", "unknown_features", "every_feature"] {
        let (subject, original) = of_perf(name);
        let size = original.files[0].1.len();
        let places = (0x218..size).step_by(if size > 1_000 { 61 } else { 1 });
        let kinds = [(Kind::Insert, 19), (Kind::Insert, 41)];
        assert_eq!(find_false_labels(subject, original, &kinds, places), [""; 0]);
    }
}

#[test]
fn a_record_whose_type_is_zeros_is_not_said_to_be_of_a_type_that_others_fit_as_well() {
    for name in ["hole_before_sections", "sample_raw", "attrs_after_data", "pipe_features"] {
        let (subject, original) = of_perf(name);
        let records = (subject.records)(original, &original.files);
        let places = records.iter().map(|record| record.stored.start);
        assert_eq!(find_false_labels(subject, original, &[(Kind::Zeros, 4)], places), [""; 0]);
    }
}

#[test]
fn noise_at_the_end_of_an_attr_and_in_what_follows_is_not_said_to_be_inserted() {
    let (subject, original) = of_perf("pipe_features");
    let records = &original.files[0].1;
    let attr_end = 16 + usize::from(u16::from_le_bytes([records[22], records[23]]));
    let kinds = [24, 40, 64, 88].map(|len| (Kind::Noise, len));
    let found = find_false_labels(subject, original, &kinds, attr_end - 16..attr_end);
    assert_eq!(found, [""; 0]);
}

#[test]
fn bytes_that_an_attr_lost_are_not_said_to_be_as_a_damaged_copy_has_them() {
    let (subject, original) = of_perf("pipe_features");
    let records = &original.files[0].1;
    // The attr, and its copy in EVENT_DESC.
    let attr = &records[24..24 + 128];
    let copy = records.windows(attr.len()).rposition(|part| part == attr).unwrap();
    let mut wrong = Vec::new();
    for at in 0..attr.len() - 16 {
        // A bit of the copy, among the bytes that are lost.
        let steps = [(Kind::Bit, 0, (copy + at + 7, 1)), (Kind::Drop, 0, (24 + at, 16))];
        let mut dice = Dice::seeded(SEED ^ at as u64);
        let Some(damaged) = damage_at(&original.files, &steps, &mut dice) else { continue };
        wrong.extend(false_label(subject, original, &damaged));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn words_of_a_header_in_place_of_zeros_are_as_old_as_the_recording() {
    let mut wrong = Vec::new();
    for name in ["old_header", "big_old_header", "plain", "two_events_by_id", "no_ids"] {
        let (subject, original) = of_perf(name);
        // The header and the first attr, by words.
        let words = (8..0x98).step_by(8);
        let pairs = words.clone().flat_map(|one| words.clone().map(move |two| (one, two)));
        for (one, two) in share(subject, 2).of(pairs) {
            let steps = [one, two].map(|at| (Kind::Zeros, 0, (at, 8)));
            let mut dice = Dice::seeded(SEED);
            let Some(damaged) = damage_at(&original.files, &steps, &mut dice) else { continue };
            wrong.extend(false_label(subject, original, &damaged));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_value_is_not_said_to_be_exact_because_its_neighbour_is() {
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for subject in SUBJECTS {
        let cases = short_originals(subject).flat_map(|original| {
            let words = (0..original.files[0].1.len().saturating_sub(8)).step_by(4);
            words.flat_map(move |at| [0, 1].map(|side| (original, at, side)))
        });
        // Found with all cases: a feature that reads as an attr, a block with a wrong length.
        let known =
            [("pipe_features", 0x2e0), ("compressed2_spanning", 0x23c)].map(|(name, at)| {
                let original = subject.originals.iter().find(|one| one.name == name);
                original.map(|original| (original, at, 0))
            });
        for (original, at, side) in share(subject, 32).of(cases).chain(known.into_iter().flatten())
        {
            // Noise in one word, and a bit of the next one, or the other way round: a value that is
            // possible still.
            let (noise, bit) = (at + 4 * side, at + 4 * (1 - side));
            let steps = [(Kind::Noise, 0, (noise, 4)), (Kind::Bit, 0, (bit, 1))];
            let mut dice = Dice::seeded(SEED ^ (at * 2 + side) as u64);
            let Some(damaged) = damage_at(&original.files, &steps, &mut dice) else { continue };
            let Some(label) = false_label(subject, original, &damaged) else { continue };
            wrong.entry(subject.format.name()).or_default().push(label);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Bytes of a lost beginning, at most: header and attrs of a short perf.data, and some records.
const BEGINNING: usize = 300;

#[test]
fn a_recording_that_lost_its_beginning_is_not_said_to_be_whole() {
    if is_left_to_the_gate("labels after the loss of each beginning of a file") {
        return;
    }
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for subject in SUBJECTS {
        let cases = short_originals(subject).flat_map(|original| {
            let most = original.files[0].1.len().saturating_sub(8).min(BEGINNING);
            (1..most).map(move |len| (original, len))
        });
        for (original, len) in share(subject, 32).of(cases) {
            // What stands at the beginning then may be zeros, as a killed recorder leaves them.
            let steps = [(Kind::Drop, 0, (0, len)), (Kind::Zeros, 0, (0, 4))];
            for steps in [&steps[..1], &steps[..]] {
                let mut dice = Dice::seeded(SEED);
                let Some(damaged) = damage_at(&original.files, steps, &mut dice) else { continue };
                let Some(label) = false_label(subject, original, &damaged) else { continue };
                wrong.entry(subject.format.name()).or_default().push(label);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Bytes that decide how all others are read: of a perf.data, the header and the first attr.
const DECISIVE: std::ops::Range<usize> = 0..0xe8;

#[test]
fn a_flipped_bit_by_which_all_records_are_read_makes_no_claim_about_one_exact() {
    if is_left_to_the_gate("labels after each flipped bit of the beginning of a file") {
        return;
    }
    let mut wrong = Vec::new();
    for subject in SUBJECTS {
        let cases = short_originals(subject).flat_map(|original| {
            let bytes = DECISIVE.filter(|at| *at < original.files[0].1.len());
            bytes.flat_map(move |at| (0..8).map(move |bit| (original, at, bit)))
        });
        // LOST_SAMPLES has the size of a sample that lacks one of its fields there.
        let known = subject.originals.iter().find(|one| one.name == "every_kernel_record");
        let known = known.map(|original| (original, 0x92, 0));
        for (original, at, bit) in share(subject, 64).of(cases).chain(known) {
            let found = false_label(subject, original, &flipped(original, at, bit));
            wrong.extend(found.map(|label| format!("bit {bit}: {label}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Flips one bit of the first file.
fn flipped(original: &Original, at: usize, bit: u32) -> Damaged {
    let value = original.files[0].1[at] ^ (1 << bit);
    let mut dice = Dice::seeded(SEED);
    loop {
        let damaged = damage_at(&original.files, &[(Kind::Bit, 0, (at, 1))], &mut dice).unwrap();
        if damaged.files[0].1[at] == value {
            return damaged;
        }
    }
}

/// Where the damage begins in a record: type, size and fields of a perf record are there.
const STARTS: [usize; 5] = [0, 4, 6, 8, 16];

#[test]
fn the_beginning_of_a_record_is_exact_only_if_other_bytes_show_it() {
    if is_left_to_the_gate("labels after damage at the beginning of each record") {
        return;
    }
    let replaced = [Kind::Zeros, Kind::Ones, Kind::Noise];
    let kinds: Vec<(Kind, usize)> =
        replaced.into_iter().flat_map(|kind| [2, 10, 18, 46].map(|len| (kind, len))).collect();
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for subject in SUBJECTS {
        let places = short_originals(subject).flat_map(|original| {
            let records = (subject.records)(original, &original.files).into_iter();
            let starts = |one: Record| STARTS.map(|start| (one.file, one.stored.start + start));
            records.flat_map(starts).map(move |place| (original, place))
        });
        for (original, place) in share(subject, 96).of(places) {
            let found = find_false_labels_of(subject, original, &kinds, std::iter::once(place));
            if !found.is_empty() {
                wrong.entry(subject.format.name()).or_default().extend(found);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn both_numbers_of_cpus_come_back_if_zeros_replaced_them() {
    for name in ["corpus plain.data", "every_feature"] {
        let (subject, original) = of_perf(name);
        let bytes = &original.files[0].1;
        // Two CPUs, both of them online.
        let both = |window: &[u8]| window == [2, 0, 0, 0, 2, 0, 0, 0];
        let places: Vec<usize> =
            bytes.windows(8).enumerate().filter(|(_, all)| both(all)).map(|(at, _)| at).collect();
        assert!(!places.is_empty(), "{name}");
        let kinds = [(Kind::Zeros, 8), (Kind::Zeros, 20)];
        assert_eq!(find_false_labels(subject, original, &kinds, places.into_iter()), [""; 0]);
    }
}

/// The flags of the features in the header of perf.data.
const FLAGS: std::ops::Range<usize> = 72..104;

#[test]
fn a_lost_flag_of_a_feature_gives_its_section_to_no_other_one() {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "perf").unwrap();
    let kinds = [(Kind::Zeros, 1), (Kind::Ones, 1)];
    let all = subject.originals.iter().flat_map(|one| FLAGS.map(move |at| (one, at)));
    let mut wrong = Vec::new();
    for (original, at) in Share::one_in(1).of(all) {
        wrong.extend(find_false_labels(subject, original, &kinds, std::iter::once(at)));
    }
    assert_eq!(wrong, [""; 0]);
}

/// `data.size` in the header of perf.data.
const DATA_SIZE: (usize, usize) = (48, 8);

#[test]
fn a_repair_of_what_looks_killed_clears_no_flag_of_a_feature_that_is_left() {
    if is_left_to_the_gate("a repair of what looks killed clears no flag of a feature that is left")
    {
        return;
    }
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "perf").unwrap();
    let (mut closed, mut wrong) = (0, Vec::new());
    let short = subject.originals.iter().filter(|one| one.files[0].1.len() <= SHORT);
    for original in short {
        let size = original.files[0].1.len();
        let ends = (subject.records)(original, &original.files).into_iter();
        let ends = ends.filter(|record| record.file == 0).map(|record| record.stored.end);
        // A cut after a complete record is the one that drops nothing.
        let places = ends.chain(Share::one_in(16).of(DATA_SIZE.0 + DATA_SIZE.1..size));
        for at in places.filter(|at| *at < size) {
            let steps = [(Kind::Zeros, 0, DATA_SIZE), (Kind::Drop, 0, (at, size - at))];
            let mut dice = Dice::seeded(SEED);
            let Some(damaged) = damage_at(&original.files, &steps, &mut dice) else { continue };
            let (judgement, _) = judge(subject, original, &damaged);
            closed += usize::from(judgement.outcome == Outcome::Repaired);
            let (name, codes) = (&original.name, judgement.reason);
            let faults = [judgement.false_label, judgement.unclean].into_iter().flatten();
            wrong.extend(faults.map(|fault| format!("{name}, cut at {at:#x}: {fault} [{codes}]")));
        }
    }
    assert!(closed > 0);
    assert!(wrong.is_empty(), "{} of {closed}: {wrong:#?}", wrong.len());
}

#[test]
fn a_loss_in_a_loop_is_not_a_copy_of_a_part_of_a_pass() {
    if is_left_to_the_gate("labels after a loss in a loop") {
        return;
    }
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "qemu").unwrap();
    for pass in [2, 100, 700] {
        let mut log = Log::new(ids::of("11.0"));
        log.start();
        (0..10).for_each(|number| _ = log.tick(number));
        let read: Vec<u8> = Dice::seeded(SEED).noise(pass);
        for _ in 0..6_000 / pass {
            log.instruction(3).read_all(&read);
        }
        (10..20).for_each(|number| _ = log.tick(number));
        log.close();
        let size = log.bytes.len();
        let original = Original::single(format!("a pass of {pass} bytes"), log.bytes);
        let kinds = [(Kind::Drop, 90), (Kind::Drop, 601)];
        let places = Share::one_in(2).of((size / 3..size / 3 * 2).step_by(97));
        assert_eq!(find_false_labels(subject, &original, &kinds, places), [""; 0]);
    }
    // Loops of a real guest, whose passes differ by nothing but their phase.
    let losses = [("random_10.0", 0xb3f..0x1251), ("guestoff_7.2", 0xe15..0x13fb)];
    for (name, lost) in losses {
        let name = format!("corpus {name}.log");
        let original = subject.originals.iter().find(|original| original.name == name).unwrap();
        let (kinds, at) = ([(Kind::Drop, lost.len())], std::iter::once(lost.start));
        assert_eq!(find_false_labels(subject, original, &kinds, at), [""; 0]);
    }
}

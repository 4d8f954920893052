//! Several recordings in one file.

use std::path::Path;

use tracemend::{FileSet, Options, Outcome, Report, Safety, check, pick};
use tracemend_tests::forge::perf::{Attr, Order, Recording, sample_type};
use tracemend_tests::mended::mended_as;

fn corpus(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    std::fs::read(folder.join(name)).unwrap()
}

fn report(bytes: &[u8]) -> Report {
    check(&FileSet::single("perf.data", bytes), &Options::default())
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    report(bytes).counts().keys().copied().collect()
}

fn part(bytes: &[u8], number: usize) -> (tracemend::Repair, Vec<u8>) {
    let options = Options::default().with_choice("part", &number.to_string()).unwrap();
    mended_as("perf.data", bytes, &options)
}

/// Files and pipes in every order, some compressed.
const JOINED: [&[&str]; 6] = [
    &["plain.data", "callgraph.data"],
    &["plain.data", "pipe.data"],
    &["pipe.data", "plain.data"],
    &["zstd.data", "pipe.data", "group.data"],
    &["stat.data", "plain.data"],
    &["wide.data", "zstd.data", "plain.data", "pipe.data", "callgraph.data"],
];

#[test]
fn each_of_several_recordings_in_a_file_can_be_taken_out_of_it() {
    for names in JOINED {
        let all: Vec<Vec<u8>> = names.iter().map(|name| corpus(name)).collect();
        let joined = all.concat();
        let mut found = codes(&joined);
        found.retain(|code| !codes(&all[0]).contains(code));
        assert_eq!(found, ["PD0037"], "{names:?}");
        let found = report(&joined);
        assert_eq!(found.tally.samples, report(&all[0]).tally.samples, "{names:?}");
        let finding = found.findings().iter().find(|one| one.rule.code == "PD0037").unwrap();
        assert_eq!(finding.span.start(), all[0].len() as u64, "{names:?}");
        assert!(finding.message.starts_with(&format!("{} recordings", names.len())), "{names:?}");
        let (repair, target) = mended_as("perf.data", &joined, &Options::default());
        assert_eq!(repair.outcome, Outcome::CannotRepair, "{names:?}");
        assert!(target == joined, "{names:?}");
        for (index, one) in all.iter().enumerate() {
            let (repair, target) = part(&joined, index + 1);
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{names:?} {index}");
            assert_eq!(repair.safety(), Some(Safety::Lossy), "{names:?} {index}");
            assert!(target == *one, "{names:?} {index}");
        }
    }
}

/// Recordings that are one file each.
const ALONE: [&str; 7] = [
    "plain.data",
    "pipe.data",
    "callgraph.data",
    "group.data",
    "stat.data",
    "wide.data",
    "zstd.data",
];

/// Returns all pairs of two different recordings, with their names.
fn pairs() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let of = |one: &'static str| ALONE.into_iter().map(move |two| (one, two));
    let all = ALONE.into_iter().flat_map(of).filter(|(one, two)| one != two);
    all.map(|(one, two)| (format!("{one} {two}"), corpus(one), corpus(two))).collect()
}

#[test]
fn recordings_with_padding_between_them_are_told_apart() {
    let paddings: [&[u8]; 8] =
        [b"\n", &[0; 7], b"\r\n", &[0; 8], b" ", &[0; 4_096], b"\n\n\n", &[0; 509]];
    for (index, (names, one, two)) in pairs().into_iter().enumerate() {
        for padding in [paddings[index % 8], paddings[(index + 3) % 8]] {
            let joined = [&one, padding, &two].concat();
            let shown = format!("{names} {padding:?}");
            let found = report(&joined);
            assert_eq!(found.counts().get("PD0037"), Some(&1), "{shown}");
            assert_eq!(found.tally.samples, report(&one).tally.samples, "{shown}");
            let (repair, target) = mended_as("perf.data", &joined, &Options::default());
            assert_eq!(repair.outcome, Outcome::CannotRepair, "{shown}");
            assert!(target == joined, "{shown}");
            for (number, alone) in [(1, &one), (2, &two)] {
                let (repair, target) = part(&joined, number);
                assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{shown} {number}");
                assert!(target == *alone, "{shown} {number}");
            }
        }
    }
}

#[test]
fn text_between_recordings_is_of_the_one_before() {
    let text = b"--- the second run ---\n";
    for (names, one, two) in pairs() {
        let joined = [&one, &text[..], &two].concat();
        assert!(codes(&joined).contains(&"PD0037"), "{names}");
        assert!(part(&joined, 1).1.starts_with(&one), "{names}");
        assert!(part(&joined, 2).1 == two, "{names}");
    }
}

/// Harms a recording.
type Harm<'h> = &'h dyn Fn(&[u8]) -> Vec<u8>;

#[test]
fn no_recording_is_dropped_as_inserted_bytes() {
    let without_size = |bytes: &[u8]| [&bytes[..48], &[0; 8], &bytes[56..]].concat();
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 40].to_vec();
    let far = |bytes: &[u8]| [bytes, &[0; 8_192]].concat();
    let harms: [Harm<'_>; 3] = [&without_size, &cut, &far];
    for (names, one, two) in pairs() {
        for (harm, harmed) in harms.iter().map(|harm| harm(&one)).enumerate() {
            let joined = [&harmed, &b"\n"[..], &two].concat();
            let found = report(&joined);
            let fixes = found.findings().iter().filter_map(|finding| finding.fix.as_ref());
            let exact = fixes.filter(|fix| fix.safety == Safety::Exact);
            for edit in exact.flat_map(|fix| &fix.edits).filter(|edit| edit.insert.is_empty()) {
                let second = joined.len() - two.len();
                for (start, end) in [(0, one.len()), (second, joined.len())] {
                    let (start, end) = (start as u64, end as u64);
                    let shared =
                        edit.span.end().min(end).saturating_sub(edit.span.start().max(start));
                    assert!(shared * 2 < end - start, "{names} {harm}: {:?}", edit.span);
                }
            }
        }
    }
}

#[test]
fn a_recording_that_is_taken_out_may_be_any_share_of_the_file() {
    let names: Vec<&str> = ALONE.into_iter().cycle().take(6 * ALONE.len()).collect();
    let all: Vec<Vec<u8>> = names.iter().map(|name| corpus(name)).collect();
    let joined = all.concat();
    for (index, one) in all.iter().enumerate().take(ALONE.len()) {
        let (repair, target) = part(&joined, index + 1);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{}", names[index]);
        assert!(target == *one, "{}", names[index]);
    }
}

#[test]
fn a_recording_that_is_picked_is_that_recording_alone() {
    for names in JOINED {
        let all: Vec<Vec<u8>> = names.iter().map(|name| corpus(name)).collect();
        let joined = all.concat();
        let files = FileSet::single("perf.data", &joined);
        assert!(pick(&files, &Options::default()).unwrap().is_none());
        for (index, one) in all.iter().enumerate() {
            let options = Options::default().with_choice("part", &(index + 1).to_string()).unwrap();
            let picked = pick(&files, &options).unwrap().unwrap();
            let bytes = picked.bytes(0);
            assert!(bytes.read(0, bytes.len()).as_ref() == one, "{names:?} {index}");
            assert_eq!(
                check(&picked, &options).counts(),
                report(one).counts(),
                "{names:?} {index}"
            );
        }
        let options = Options::default().with_choice("part", "9").unwrap();
        let refused = pick(&files, &options).unwrap_err();
        let found = format!("--part 9 does not apply: {} recordings were found", names.len());
        assert_eq!(refused, found);
    }
}

#[test]
fn an_option_for_a_recording_that_does_not_exist_does_not_apply() {
    let joined = [corpus("plain.data"), corpus("pipe.data")].concat();
    let misapplied = |bytes: &[u8], number: &str| {
        let choices = Options::default().with_choice("part", number).unwrap().choices;
        let report = report(bytes);
        report.format.unwrap().find_misapplied(&choices, &report)
    };
    for number in ["1", "2"] {
        assert_eq!(misapplied(&joined, number), None);
    }
    for (bytes, number, told) in [
        (joined.as_slice(), "3", "--part 3 does not apply: 2 recordings were found"),
        (&joined, "0", "--part 0 does not apply: 2 recordings were found"),
        (&corpus("plain.data"), "1", "--part 1 does not apply: 1 recording was found"),
    ] {
        assert_eq!(misapplied(bytes, number).as_deref(), Some(told));
    }
    // The library leaves the recording alone.
    assert_eq!(part(&joined, 3).0.outcome, Outcome::CannotRepair);
}

#[test]
fn a_magic_inside_a_recording_is_content() {
    // The name of a process.
    let mut recording = Recording::pipe(Order::Little, vec![Attr::cpu_clock(sample_type::IP)]);
    let mut maker = recording.maker(0);
    let all = vec![maker.comm("PERFILE2"), maker.sample()];
    recording.extend(all);
    assert_eq!(codes(&recording.build().bytes), [""; 0]);
    // A header has to follow the last record, or soon after it.
    let plain = corpus("plain.data");
    let apart = [&plain[..], &[0; 4_097], &plain[..]].concat();
    assert!(!codes(&apart).contains(&"PD0037"));
    // Without records, it is text.
    let named = [&plain[..], b"PERFILE2 ", &plain[..16], &[1; 100]].concat();
    assert!(!codes(&named).contains(&"PD0037"));
}

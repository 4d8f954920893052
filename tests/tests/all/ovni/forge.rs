//! The forge's ovni traces are sound, and the laws hold for every cut and every flipped byte of
//! them.

use std::num::NonZeroUsize;

use tracemend::Allow;
use tracemend::FormatId;
use tracemend::{Finding, Options, Outcome, Severity};
use tracemend_tests::forge::ovni::{Trace, clean};
use tracemend_tests::properties::recording::{checked_with, repaired_with};
use tracemend_tests::properties::{Held, archive};
use tracemend_tests::sweep::Share;

fn options() -> Options {
    Options { format: Some(FormatId::OVNI), ..Options::default() }
}

fn describe(finding: &Finding) -> String {
    format!("{} {} {}: {}", finding.rule.code, finding.span, finding.path, finding.message)
}

fn check_laws(trace: &Trace, allow: Allow) -> Held {
    let set = trace.set();
    checked_with(&set, &options())?;
    repaired_with(&set, &options().with_allow(allow))
}

#[test]
fn a_sound_trace_gives_no_error_and_no_warning_and_is_left_alone() {
    for clean in clean() {
        let set = clean.trace.set();
        let report = tracemend::check(&set, &Options::default());
        assert_eq!(report.format, Some(FormatId::OVNI), "{}", clean.name);
        let worse = report.findings().iter().filter(|f| f.severity > Severity::Info).map(describe);
        assert_eq!(worse.collect::<Vec<_>>(), [""; 0], "{}", clean.name);
        let repair = tracemend::repair(&set, &Options::default());
        assert_eq!((repair.outcome, repair.changes()), (Outcome::Clean, false), "{}", clean.name);
    }
}

#[test]
fn the_laws_hold_for_sound_traces() {
    for clean in clean() {
        check_laws(&clean.trace, Allow::Lossy)
            .unwrap_or_else(|broken| panic!("{}: {broken}", clean.name));
    }
}

#[test]
fn the_laws_hold_wherever_a_file_is_cut() {
    for clean in clean() {
        for (index, (name, bytes)) in clean.trace.files.iter().enumerate() {
            for len in Share::one_in(8).of(0..bytes.as_ref().unwrap().len()) {
                let mut cut = clean.trace.clone();
                cut.files.get_mut(index).unwrap().1.as_mut().unwrap().truncate(len);
                check_laws(&cut, Allow::Lossy)
                    .unwrap_or_else(|broken| panic!("{} {name} at {len}: {broken}", clean.name));
            }
        }
    }
}

#[test]
fn the_laws_hold_whichever_byte_is_flipped() {
    let safeties = [Allow::Lossy, Allow::Synthetic, Allow::Exact];
    for clean in clean() {
        for (index, (name, bytes)) in clean.trace.files.iter().enumerate() {
            for at in Share::one_in(8).of(0..bytes.as_ref().unwrap().len()) {
                let mask = [0x01, 0x80, 0xff].into_iter().nth(at % 3).unwrap();
                let mut flipped = clean.trace.clone();
                let file = flipped.files.get_mut(index).unwrap().1.as_mut().unwrap();
                *file.get_mut(at).unwrap() ^= mask;
                let safety = safeties.into_iter().nth(at % 7 % 3).unwrap();
                check_laws(&flipped, safety).unwrap_or_else(|broken| {
                    panic!("{} {name} at {at} ^ {mask:#x}: {broken}", clean.name)
                });
            }
        }
    }
}

#[test]
fn the_laws_hold_whichever_file_is_missing() {
    for clean in clean() {
        for index in 0..clean.trace.files.len() {
            let mut without = clean.trace.clone();
            without.files.get_mut(index).unwrap().1 = None;
            check_laws(&without, Allow::Lossy)
                .unwrap_or_else(|broken| panic!("{} file {index}: {broken}", clean.name));
        }
    }
}

#[test]
fn a_killed_trace_cut_anywhere_is_repaired_and_loses_no_complete_event() {
    for clean in clean() {
        let killed = clean.trace.files.iter().map(|(name, bytes)| {
            let mut text = String::from_utf8_lossy(bytes.as_ref().unwrap()).into_owned();
            if name.ends_with(".json") {
                text = text.replace(",\n        \"finished\": 1", "");
                return (name.clone(), Some(text.into_bytes()));
            }
            (name.clone(), bytes.clone())
        });
        let killed = Trace { files: killed.collect() };
        let streams = |(name, _): &(String, Option<Vec<u8>>)| name.ends_with("stream.obs");
        for index in
            (0..killed.files.len()).filter(|index| streams(killed.files.get(*index).unwrap()))
        {
            let len = killed.files.get(index).unwrap().1.as_ref().unwrap().len();
            for len in Share::one_in(4).of(8..=len) {
                let mut cut = killed.clone();
                cut.files.get_mut(index).unwrap().1.as_mut().unwrap().truncate(len);
                let set = cut.set();
                let repair = tracemend::repair(&set, &options());
                let ended = matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss);
                let left: Vec<String> = repair.after.findings().iter().map(describe).collect();
                assert!(ended, "{} at {len}: {:?} {left:?}", clean.name, repair.outcome);
                assert_eq!(repair.records_lost(), 0, "{} at {len}", clean.name);
                let (before, after) = (repair.before.tally.records, repair.after.tally.records);
                assert!(after >= before, "{} at {len}: {before} {after}", clean.name);
            }
        }
    }
}

#[test]
fn the_report_is_the_same_with_any_number_of_threads() {
    for clean in clean() {
        let set = clean.trace.set();
        let report = |jobs: usize| {
            let report =
                tracemend::check(&set, &Options { jobs: NonZeroUsize::new(jobs), ..options() });
            (report.findings().to_vec(), report.tally, report.facts.clone())
        };
        for jobs in [2, 3, 8] {
            assert_eq!(report(1), report(jobs), "{} with {jobs}", clean.name);
        }
    }
}

#[test]
fn an_archive_gives_the_files_back() {
    for clean in clean() {
        let packed = archive::pack(&clean.trace.files);
        assert_eq!(Trace::from_set(&archive::unpack(&packed)), clean.trace);
    }
}

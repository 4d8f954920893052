//! `ovniemu -l` judges sound traces, repaired traces, and the verdicts of the check.

use tracemend::{Options, Outcome, Severity};
use tracemend_tests::forge::ovni::{Random, Thread, Trace, clean, version1, version2};
use tracemend_tests::judge::ovni::Ovniemu;
use tracemend_tests::sweep::Share;

/// Metadata that libovni leaves of a killed thread.
fn killed(trace: &Trace) -> Trace {
    let files = trace.files.iter().map(|(name, bytes)| {
        if !name.ends_with(".json") {
            return (name.clone(), bytes.clone());
        }
        let json: serde_json::Value = match serde_json::from_slice(bytes.as_ref().unwrap()) {
            Ok(json) => json,
            // The metadata with comments.
            Err(_) => return (name.clone(), bytes.clone()),
        };
        let number = |key: &str| u32::try_from(json["ovni"][key].as_u64().unwrap()).unwrap();
        let loom = json["ovni"]["loom"].as_str().unwrap().to_string();
        let thread = Thread { loom, ..Thread::new(number("pid"), number("tid")).killed() };
        (name.clone(), Some(thread.json().into_bytes()))
    });
    Trace { files: files.collect() }
}

#[test]
fn the_emulator_accepts_every_sound_trace_of_the_forge() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    for clean in clean() {
        let verdict = emulator.lint(&clean.trace);
        // The emulator refuses models other than its own.
        assert_eq!(verdict.accepted, clean.name != "foreign_model", "{} {verdict:?}", clean.name);
    }
}

#[test]
fn the_emulator_accepts_every_killed_trace_after_its_repair() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    for clean in clean().iter().filter(|clean| clean.name != "foreign_model") {
        let killed = killed(&clean.trace);
        for index in (0..killed.files.len()).filter(|i| killed.files[*i].0.ends_with(".obs")) {
            let len = killed.files[index].1.as_ref().unwrap().len();
            for len in Share::one_in(8).of((8..=len).step_by(7)) {
                let mut cut = killed.clone();
                cut.files[index].1.as_mut().unwrap().truncate(len);
                assert!(!emulator.lint(&cut).accepted || clean.name == "comments");
                let (repair, target) = cut.mended(&Options::default());
                let mended =
                    matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss);
                assert!(
                    mended || clean.name == "comments",
                    "{} {len}: {:?}",
                    clean.name,
                    repair.outcome
                );
                let verdict = emulator.lint(&target);
                assert!(verdict.accepted, "{} {len}: {}", clean.name, verdict.first_error);
            }
        }
    }
}

#[test]
fn the_emulator_accepts_older_layouts_after_their_upgrade() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    let mut options = Options::default();
    options.choices.set("upgrade", "").unwrap();
    for trace in [version1(), version2()] {
        let (repair, target) = trace.mended(&options);
        assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.refused);
        let json = target
            .files
            .iter()
            .filter(|(name, bytes)| name.ends_with("/stream.json") && bytes.is_some());
        assert_eq!(json.count(), 1);
        let verdict = emulator.lint(&target);
        assert!(verdict.accepted, "{}", verdict.first_error);
    }
}

#[test]
fn the_emulator_and_the_check_agree_about_changed_events() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    let mut random = Random(7);
    let mut refused = 0;
    for clean in clean().iter().filter(|clean| clean.name != "foreign_model") {
        for _ in 0..12 {
            let changed = change(&clean.trace, &mut random);
            let verdict = emulator.lint(&changed);
            let report = tracemend::check(&changed.set(), &Options::default());
            let found: Vec<String> = report
                .findings()
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .map(|finding| format!("{} {}", finding.rule.code, finding.message))
                .collect();
            refused += usize::from(!verdict.accepted);
            assert_eq!(verdict.accepted, found.is_empty(), "{} {verdict:?} {found:?}", clean.name);
        }
    }
    assert!(refused > 50, "only {refused} were refused");
}

/// Removes an event of a stream, doubles it, or swaps it with the next one.
fn change(trace: &Trace, random: &mut Random) -> Trace {
    let mut changed = trace.clone();
    let streams: Vec<usize> =
        (0..trace.files.len()).filter(|i| trace.files[*i].0.ends_with(".obs")).collect();
    let stream = changed.files[streams[random.below(streams.len())]].1.as_mut().unwrap();
    let mut events = events(stream);
    let at = random.below(events.len());
    match random.below(3) {
        0 => drop(events.remove(at)),
        1 => events.insert(at, events[at].clone()),
        _ if at + 1 < events.len() => {
            let (clock, next) = (events[at][4..12].to_vec(), events[at + 1][4..12].to_vec());
            events.swap(at, at + 1);
            events[at][4..12].copy_from_slice(&clock);
            events[at + 1][4..12].copy_from_slice(&next);
        }
        _ => {}
    }
    let head = stream[..8].to_vec();
    *stream = [head, events.concat()].concat();
    changed
}

fn events(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    let mut at = 8;
    while at < stream.len() {
        let len = match stream[at] {
            0x13 => {
                16 + usize::try_from(u32::from_le_bytes(
                    stream[at + 12..at + 16].try_into().unwrap(),
                ))
                .unwrap()
            }
            0 => 12,
            code => 13 + usize::from(code & 0x0f),
        };
        events.push(stream[at..at + len].to_vec());
        at += len;
    }
    events
}

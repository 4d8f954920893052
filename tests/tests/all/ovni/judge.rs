//! `ovniemu -l` judges sound traces, repaired traces, and the verdicts of the check.

use tracemend::{Dump, FormatId, Options, Outcome, Severity};
use tracemend_tests::forge::ovni::{
    Random, Stream, Thread, Trace, clean, random, version1, version2,
};
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
    // The version number of version 2 is replaced.
    let outcomes = [Outcome::Repaired, Outcome::RepairedWithLoss];
    for (trace, outcome) in [version1(), version2()].into_iter().zip(outcomes) {
        let (repair, target) = trace.mended(&options);
        assert_eq!(repair.outcome, outcome, "{:?}", repair.refused);
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
    let clean = clean();
    let known = clean.iter().filter(|clean| clean.name != "foreign_model");
    let (mut tried, mut refused) = (0, 0);
    for (clean, seed) in
        Share::one_in(1).of(known.flat_map(|clean| (0..24).map(move |seed| (clean, seed))))
    {
        let changed = change(&clean.trace, &mut Random(seed));
        let verdict = emulator.lint(&changed);
        let report = tracemend::check(&changed.set(), &Options::default());
        let errors = report.findings().iter().filter(|one| one.severity == Severity::Error);
        let found: Vec<String> =
            errors.map(|one| format!("{} {}", one.rule.code, one.message)).collect();
        tried += 1;
        refused += usize::from(!verdict.accepted);
        let name = &clean.name;
        assert_eq!(verdict.accepted, found.is_empty(), "{name}, {seed}: {verdict:?} {found:?}");
    }
    assert!(refused * 5 > tried, "only {refused} of {tried} were refused");
}

/// A random trace in which many events of several streams have equal clocks.
fn with_equal_clocks(seed: u64) -> Trace {
    let mut trace = random(seed, 40);
    let step = 1 << (4 + seed % 8);
    for (name, bytes) in &mut trace.files {
        let Some(bytes) = bytes.as_mut().filter(|_| name.ends_with(".obs")) else { continue };
        let rounded = events(bytes).into_iter().map(|mut event| {
            let clock = u64::from_le_bytes(event[4..12].try_into().unwrap()) / step * step;
            event[4..12].copy_from_slice(&clock.to_le_bytes());
            event
        });
        *bytes = [bytes[..8].to_vec(), rounded.collect::<Vec<_>>().concat()].concat();
    }
    trace
}

/// A trace of threads that pass a CPU on to each other, often at equal clocks.
fn with_handovers(seed: u64) -> Trace {
    let mut random = Random(seed);
    let count = 2 + random.below(4);
    let tids = [7, 8, 10, 9, 21];
    let virtual_cpu = |number: usize| if number == 0 { 0 } else { -1 };
    let mut streams: Vec<Stream> =
        (0..count).map(|number| Stream::at(0).begin(virtual_cpu(number))).collect();
    let (mut clock, mut holder) = (20, 0);
    let mut put = |number: usize, code: &str, clock: u64, payload: &[u8]| {
        let flags = u8::try_from(payload.len().saturating_sub(1)).unwrap();
        let stream: &mut Stream = &mut streams[number];
        *stream = std::mem::take(stream).event(flags, code, clock, payload);
    };
    for _ in 0..12 {
        for _ in 0..random.below(4) {
            put(random.below(count), "OB.", clock, b"");
        }
        let next = (holder + 1 + random.below(count - 1)) % count;
        put(holder, "OAs", clock, &(-1_i32).to_le_bytes());
        clock += u64::from(random.below(3) == 0);
        put(next, "OAs", clock, &0_i32.to_le_bytes());
        clock += u64::try_from(random.below(3)).unwrap();
        holder = next;
    }
    (0..count).for_each(|number| put(number, "OHe", clock + 5, b""));
    let mut streams = tids.into_iter().zip(streams);
    let (tid, first) = streams.next().unwrap();
    let trace = Trace::of(&Thread::new(7, tid), first);
    streams.fold(trace, |trace, (tid, stream)| trace.and(&Thread::new(7, tid).cpus(&[]), stream))
}

#[test]
fn the_emulator_and_the_check_agree_about_equal_clocks() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    let mut ties = 0;
    for seed in Share::one_in(8).of(0..400) {
        let trace = if seed % 2 == 0 { with_handovers(seed) } else { with_equal_clocks(seed) };
        let verdict = emulator.lint(&trace);
        let report = tracemend::check(&trace.set(), &Options::default());
        let found = report.counts();
        assert_eq!(verdict.accepted, !report.has_errors(), "{seed} {verdict:?} {found:?}");
        ties += usize::from(found.contains_key("OV4017") || found.contains_key("OV4018"));
        let (repair, target) = trace.mended(&Options::default());
        assert!(repair.outcome != Outcome::CannotRepair, "{seed}: {:?}", repair.after.counts());
        let verdict = emulator.lint(&target);
        assert!(verdict.accepted, "{seed}: {}", verdict.first_error);
    }
    assert!(ties > 0, "no trace has a tie that matters");
}

/// The events of a trace in the style `ovnidump`.
fn dump(trace: &Trace) -> String {
    let mut text = String::new();
    let request = Dump::Text { style: Some("ovnidump".to_string()) };
    let options = Options::default().with_format(FormatId::OVNI);
    let dumped = tracemend::dump(&trace.set(), &options, &request, &mut |piece| {
        text.push_str(piece);
        true
    });
    assert_eq!(dumped.map(|dumped| dumped.left_out), Ok(0));
    text
}

#[test]
fn a_dump_equals_that_of_ovnidump() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    for clean in clean() {
        if let Some(expected) = emulator.dump(&clean.trace) {
            assert_eq!(dump(&clean.trace), expected, "{}", clean.name);
        }
    }
    for seed in Share::one_in(8).of(0..200) {
        let trace = if seed % 2 == 0 { with_handovers(seed) } else { with_equal_clocks(seed) };
        let Some(expected) = emulator.dump(&trace) else { continue };
        assert_eq!(dump(&trace), expected, "{seed}");
    }
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

//! Kills, cuts, repairs and replays recordings of QEMU, and counts the outcomes of the replays:
//!
//! ```sh
//! export TRACEMEND_QEMU=/path/to/other/qemu
//! cargo run -p tracemend-tools --bin qemu_campaign -- kills 120
//! cargo run -p tracemend-tools --bin qemu_campaign -- aimed 3
//! cargo run -p tracemend-tools --bin qemu_campaign -- damage 120 1
//! cargo run -p tracemend-tools --bin qemu_campaign -- once 400 1
//! cargo run -p tracemend-tools --bin qemu_campaign -- silent 120 1
//! cargo run -p tracemend-tools --bin qemu_campaign -- flips 180 1
//! cargo run -p tracemend-tools --bin qemu_campaign -- rules 3
//! cargo run -p tracemend-tools --bin qemu_campaign -- pairs 40
//! cargo run -p tracemend-tools --bin qemu_campaign -- places 1000 1 corpus/qemu/clean/*
//! ```
//!
//! `kills N` records N guests with all builds, kills QEMU after 1.2 to 4.2 s, and repairs and
//! replays the logs. `aimed N` cuts complete recordings right before CHAR_WRITE, AUDIO_OUT,
//! AUDIO_IN, RANDOM and BLOCK, at N places each, and replays both the repaired log and one that is
//! closed at the cut. `damage N SEED` damages complete recordings, half of them once and half up
//! to eight times, and prints a table: damage, verdict of the repair, replay. `once N SEED` does
//! the same with one small damage each, of bytes lost, inserted, zeroed and flipped, and makes a
//! new recording for every 20 of them. `silent N SEED` loses, doubles, exchanges or changes
//! complete events and replays the damaged logs as they are: how often does the check find damage
//! that QEMU does not survive? `flips N SEED` does so with one inverted bit each. `rules N` breaks
//! each rule about the order and the values of events in N places of complete recordings, one at a
//! time, and replays the logs as they are. `pairs N` records N guests and counts which event
//! follows which: the evidence for these rules. `places N SEED LOG...` damages sound logs once and
//! counts how far before the damage a repair closes them, without a replay. Two machines run at a
//! time.
#![allow(
    clippy::as_conversions,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tracemend::Outcome;
use tracemend::formats::qemu::layout::LAYOUTS;
use tracemend_tests::judge::qemu::{
    Build, End, Guest, Hand, Machine, breach, closed_at, damaged, events, killed, mend, silent,
};

/// Number of machines that run at a time.
const WORKERS: usize = 2;

/// Damages of one recording.
const CASES_PER_LOG: usize = 20;

/// Lines of the table with their counts.
type Table = Mutex<BTreeMap<String, usize>>;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let verb = arguments.next().unwrap_or_default();
    let count: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let builds = Build::all();
    assert!(verb == "places" || !builds.is_empty(), "QEMU was not found");
    let table = Table::default();
    let has_seed = ["damage", "once", "silent", "flips", "places"].contains(&verb.as_str());
    let seed = arguments.next_if(|_| has_seed).and_then(|text| text.parse().ok()).unwrap_or(1);
    if has_seed {
        println!("seeds {seed} to {}", seed + count as u64);
    }
    match verb.as_str() {
        "kills" => run_jobs(count, |number| kill(&builds[number % builds.len()], number, &table)),
        "aimed" => {
            let jobs = builds.len() * KINDS.len();
            let build = |job: usize| &builds[job % builds.len()];
            run_jobs(jobs, |job| aim(build(job), job / builds.len(), count, &table));
        }
        "damage" => {
            damage_all(&builds, count, seed, |machine, log, release, seed| {
                let case = damaged::repair(log, release, seed).replayed(machine);
                if case.replay.is_some_and(|end| end != End::Code(0)) {
                    keep_logs(log, &case, seed);
                }
                let line = case.to_string();
                eprintln!("seed {seed}: {line}: {}", case.damaged.describe());
                note(&table, line);
            });
        }
        "once" => damage_fresh(&builds, count, seed, &table),
        "silent" | "flips" => {
            let make = if verb == "flips" { silent::flip } else { silent::damage };
            replay_silent(&builds, (count, seed), make, &table);
        }
        "places" => {
            let logs: Vec<Vec<u8>> = arguments.map(|path| std::fs::read(path).unwrap()).collect();
            run_jobs(count, |number| place(&logs, seed + number as u64, &table));
        }
        "rules" => {
            let jobs: Vec<(&Build, &breach::Breach)> = builds
                .iter()
                .flat_map(|build| breach::ALL.iter().map(move |breach| (build, breach)))
                .collect();
            run_jobs(jobs.len(), |job| break_rule(jobs[job].0, jobs[job].1, count, &table));
        }
        "pairs" => run_jobs(count, |number| {
            count_pairs(&builds[number % builds.len()], number / builds.len(), &table);
        }),
        _ => panic!("usage: see the first lines of the program"),
    }
    let table = table.into_inner().unwrap();
    for (line, count) in &table {
        println!("{count:5}  {line}");
    }
    println!("{:5}  in all", table.values().sum::<usize>());
}

/// Damages recordings by `make`, and replays them as they are.
fn replay_silent(
    builds: &[Build],
    (count, seed): (usize, u64),
    make: fn(&[u8], &str, u64) -> silent::Case,
    table: &Table,
) {
    damage_all(builds, count, seed, |machine, log, release, seed| {
        let case = make(log, release, seed).replayed(machine);
        eprintln!("seed {seed}: {} {:?} {:?}", case.event, case.codes, case.replay);
        note(table, case.to_string());
    });
}

/// Runs jobs `0..count`, several at a time.
fn run_jobs(count: usize, job: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let take_jobs = || {
        let mut number = next.fetch_add(1, Ordering::Relaxed);
        while number < count {
            job(number);
            number = next.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(take_jobs);
        }
    });
}

/// A machine with a complete recording of it.
type Recorded = (Machine, Vec<u8>);

/// Runs cases: each with a machine, a complete recording of it, its release and a seed.
fn damage_all(
    builds: &[Build],
    count: usize,
    seed: u64,
    case: impl Fn(&Machine, &[u8], &str, u64) + Sync,
) {
    let guests = [Guest::Plain, Guest::Random];
    let kinds: Vec<(&Build, Guest)> =
        builds.iter().flat_map(|build| guests.map(|guest| (build, guest))).collect();
    // As many machines of a kind as run at a time: each has a folder of its own.
    let pools: Vec<Mutex<Vec<Recorded>>> = kinds
        .iter()
        .map(|(build, guest)| {
            let machine = || build.machine(*guest, 20);
            let recorded = |machine: Machine| {
                let log = machine.record(Hand::Off).unwrap();
                (machine, log)
            };
            Mutex::new((0..WORKERS).map(|_| recorded(machine())).collect())
        })
        .collect();
    run_jobs(count, |number| {
        let kind = number % kinds.len();
        let (machine, log) = pools[kind].lock().unwrap().pop().unwrap();
        case(&machine, &log, &kinds[kind].0.release(), seed + number as u64);
        pools[kind].lock().unwrap().push((machine, log));
    });
}

/// Damages new recordings of guests of several lengths, each in some places, one at a time.
fn damage_fresh(builds: &[Build], count: usize, seed: u64, table: &Table) {
    let guests = [(Guest::Plain, 5), (Guest::Random, 8), (Guest::Plain, 20)];
    run_jobs(count.div_ceil(CASES_PER_LOG), |number| {
        let build = &builds[number % builds.len()];
        let (guest, rounds) = guests[number / builds.len() % guests.len()];
        let machine = build.machine(guest, rounds);
        let log = machine.record(Hand::Off).unwrap();
        let first = seed + (number * CASES_PER_LOG) as u64;
        for seed in first..first + CASES_PER_LOG as u64 {
            let case = damaged::repair_once(&log, &build.release(), seed);
            // `silent` is about logs without an error.
            let is_silent = case.outcome == Outcome::Clean;
            let case = if is_silent { case } else { case.replayed(&machine) };
            if case.replay.is_some_and(|end| end != End::Code(0)) {
                keep_logs(&log, &case, seed);
                eprintln!("seed {seed} of {guest:?}: {case}: {}", case.damaged.describe());
            }
            note(table, case.to_string());
        }
    });
}

/// Writes the logs of a case that does not replay to the folder of temporary files.
fn keep_logs(original: &[u8], case: &damaged::Case, seed: u64) {
    let logs =
        [("original", original), ("damaged", &case.damaged.files[0].1), ("output", &case.output)];
    for (name, log) in logs {
        let path = std::env::temp_dir().join(format!("qemu-seed-{seed}-{name}"));
        std::fs::write(path, log).unwrap();
    }
}

fn note(table: &Table, line: String) {
    eprintln!("{line}");
    *table.lock().unwrap().entry(line).or_default() += 1;
}

fn kill(build: &Build, number: usize, table: &Table) {
    let guest = [Guest::Plain, Guest::Audio, Guest::Random][number / 2 % 3];
    let hand = if number.is_multiple_of(5) { Hand::On } else { Hand::Off };
    let machine = build.machine(guest, 0);
    // Spread over three seconds, the same in every run.
    let after = Duration::from_millis(1200 + u64::try_from(number * 7919 % 3000).unwrap());
    let what = format!("{} {guest:?}", build.version);
    let log = match machine.record_until(after, libc::SIGKILL, hand) {
        Ok(log) if log.len() > 12 => log,
        Ok(log) => return note(table, format!("{what}: {} bytes reached the disk", log.len())),
        Err(why) => return note(table, format!("{what}: {why}")),
    };
    let mended = match mend(&log, &build.release()) {
        Ok(mended) => mended,
        Err(why) => return note(table, format!("{what}: not repaired: {why}")),
    };
    let replayed = machine.replay(&mended.bytes);
    if replayed.end != End::Code(0) {
        let name = format!("qemu-failed-{}-{number}", build.release());
        std::fs::write(std::env::temp_dir().join(name), &log).unwrap();
        eprintln!("{}", replayed.stderr);
    }
    note(table, format!("{what}: cut after {}: replay {:?}", mended.last, replayed.end));
}

/// Damages one of some logs and notes how far before the damage it is closed.
fn place(logs: &[Vec<u8>], seed: u64, table: &Table) {
    let log = &logs[seed as usize % logs.len()];
    let number = LAYOUTS.iter().rposition(|layout| layout.version.to_be_bytes() == log[..4]);
    let [(major, minor), _] = LAYOUTS[number.unwrap()].releases;
    let case = damaged::repair_any(log, &format!("{major}.{minor}"), seed);
    let distance = case.distance();
    let place = match case.outcome {
        Outcome::RepairedWithLoss => match distance {
            ..0 => "closed past it",
            0..=256 => "closed within 256 bytes",
            257..=4096 => "closed within 4096 bytes",
            _ => "closed earlier",
        },
        _ => "not closed",
    };
    let kind = case.damaged.steps[0].kind;
    if !(0..=256).contains(&distance) && place != "not closed" {
        println!("seed {seed}: {distance} {}", case.damaged.describe());
    }
    *table.lock().unwrap().entry(format!("{kind:?} {place}")).or_default() += 1;
}

/// Breaks a rule in some places of a recording.
fn break_rule(build: &Build, breach: &breach::Breach, count: usize, table: &Table) {
    let machine = build.machine(Guest::Plain, 20);
    let log = machine.record(Hand::Off).unwrap();
    for number in 0..count {
        let row = format!("{} {} {}", breach.code, breach.name, build.version);
        let Some(breached) = breach.apply(&log, number, count) else {
            return note(table, format!("{row}: the recording has no such event"));
        };
        let is_found = breach::is_found(&breached, &build.release(), breach.code);
        let found = if is_found { "found" } else { "not found" };
        let end = machine.replay(&breached).end;
        note(table, format!("{row}: {found}, replay {end:?}"));
    }
}

/// Counts the pairs of events of a recording. Every third guest prints, one plays sound, one asks
/// for random numbers; half of them are typed at.
fn count_pairs(build: &Build, number: usize, table: &Table) {
    let guest = [Guest::Plain, Guest::Audio, Guest::Random][number % 3];
    let hand = if (number / 3).is_multiple_of(2) { Hand::On } else { Hand::Off };
    let log = build.machine(guest, 20).record(hand).unwrap();
    let mut table = table.lock().unwrap();
    for pair in events(&log).windows(2) {
        *table.entry(format!("{} then {}", pair[0].1, pair[1].1)).or_default() += 1;
    }
}

/// The event before which a log is cut, and the guest that writes it.
const KINDS: [(&str, Guest); 5] = [
    ("CHAR_WRITE", Guest::Plain),
    ("AUDIO_OUT", Guest::Audio),
    ("AUDIO_IN", Guest::Audio),
    ("RANDOM", Guest::Random),
    ("ASYNC_BLOCK", Guest::Plain),
];

fn aim(build: &Build, kind: usize, count: usize, table: &Table) {
    let (name, guest) = KINDS[kind];
    let machine = build.machine(guest, 20);
    let log = machine.record(Hand::Off).unwrap();
    let places: Vec<u64> =
        events(&log).into_iter().filter(|event| event.1 == name).map(|event| event.0).collect();
    assert!(!places.is_empty(), "{name} is not in the log");
    for number in 0..count {
        let place = usize::try_from(places[number * places.len() / count]).unwrap();
        let cut = killed(&log[..place]);
        let naive = machine.replay(&closed_at(&log, place)).end;
        let mended = mend(&cut, &build.release()).unwrap();
        let end = machine.replay(&mended.bytes).end;
        note(
            table,
            format!(
                "{} before {name}: closed at the cut {naive:?}, repaired (after {}) {end:?}",
                build.version, mended.last
            ),
        );
    }
}

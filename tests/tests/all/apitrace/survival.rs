//! A share of the campaign over damaged traces (`tests/tools/apitrace_campaign.rs`): what
//! survives, and never less than apitrace itself reads.

use tracemend::formats::apitrace::stream_bytes;
use tracemend::kit::source::Source;
use tracemend::{Options, Outcome};
use tracemend_tests::forge::apitrace::{Container, call_heavy, old_threads, threaded};
use tracemend_tests::judge::apitrace::Apitrace;
use tracemend_tests::judge::apitrace::survival::{
    CHUNK_KINDS, CONTAINERS, Damaged, KINDS, Numbers, Original, damage,
};
use tracemend_tests::known_originals::Dice;
use tracemend_tests::known_originals::apitrace::{CallSpans, call_spans};
use tracemend_tests::mended::mended;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Cases per container in an exhaustive run.
const CASES: usize = 40;

#[test]
fn no_repair_keeps_fewer_calls_than_apitrace_reads_by_itself() {
    if is_left_to_the_gate("no repair keeps fewer calls than apitrace reads by itself") {
        return;
    }
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let stream = call_heavy(12_000).bytes;
    let original = Original::of(&judge, "calls".to_string(), stream, folder.path());
    let mut wrong = Vec::new();
    for container in CONTAINERS {
        let kinds = match container {
            "snappy" => [&KINDS[..], &CHUNK_KINDS].concat(),
            _ => KINDS.to_vec(),
        };
        let (mut right, mut all) = (0, 0);
        for case in Share::one_in(12).of(0..CASES) {
            let mut numbers = Numbers::of(case as u64);
            let mut bytes = Damaged::of(&original, container);
            let kind = kinds[numbers.below(kinds.len())];
            let done = damage(kind, &mut bytes, &mut numbers);
            let survival = original.judge(&judge, &bytes, &Options::default(), folder.path());
            (right, all) = (right + survival.right, all + survival.calls);
            // Next to the damage apitrace may be right by chance, where a repair has doubts.
            let least = survival.by_apitrace.saturating_sub(survival.calls / 100);
            if survival.is_refused || survival.right < least {
                wrong.push(format!("{container} {case}, {done}: {survival:?}"));
            }
        }
        eprintln!("{container}: {:.1} % of the calls survive", 100.0 * right as f64 / all as f64);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A copied damage comes back every few calls, and calls of threads overlap between two of them.
#[test]
fn calls_of_threads_are_kept_between_copies_of_a_damage() {
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let show = |bytes: &[u8]| {
        let path = folder.path().join("app.trace");
        std::fs::write(&path, bytes).unwrap();
        judge.dump(&path).calls
    };
    let streams = [threaded(120), old_threads(3, 3, 700, 5)];
    let (mut right, mut wrong, mut all) = (0, 0, 0);
    for stream in streams {
        let sound = Container::Snappy.file(&stream.bytes);
        let calls = show(&sound);
        for seed in 0..8 {
            let mut dice = Dice::seeded(seed);
            let at = sound.len() / 5 + dice.below(sound.len() / 2);
            let mut file = sound.clone();
            drop(file.splice(at..at, dice.noise(4 + 60 * seed as usize)));
            // The length of the chunk is known: only its bytes are damaged.
            let len = (file.len() - 6) as u32;
            file[2..6].copy_from_slice(&len.to_le_bytes());
            let kept = show(&mended(&file).1);
            let is_marked = |line: &str| line.contains("// incomplete") || line.contains("// fake");
            for (number, line) in kept.iter().filter(|(_, line)| !is_marked(line)) {
                *if calls.get(number) == Some(line) { &mut right } else { &mut wrong } += 1;
            }
            all += calls.len();
        }
    }
    eprintln!("of {all} calls {right} are shown as they were, {wrong} otherwise");
    // 8,987, and 12 otherwise, where only calls one after the other count.
    assert!(right * 100 > all * 87 && wrong * 1_000 < right, "{right} of {all}, {wrong} wrong");
}

#[test]
fn a_trace_in_gzip_keeps_the_calls_before_early_damage_however_few() {
    let sound = Container::Gzip.file(&call_heavy(3_000).bytes);
    // After 3 % of the file nothing can be read; and not even a call before the damage.
    for (at, outcome) in
        [(sound.len() * 3 / 100, Outcome::RepairedWithLoss), (20, Outcome::CannotRepair)]
    {
        let mut damaged = sound[..at].to_vec();
        damaged.extend(Dice::seeded(44).noise(sound.len() - at));
        let (repair, _) = mended(&damaged);
        let calls = repair.after.tally.samples;
        let case = format!("{at} of {}: {calls} calls, {:?}", sound.len(), repair.after.counts());
        assert_eq!(repair.outcome, outcome, "{case}");
        assert_eq!(calls > 0, outcome == Outcome::RepairedWithLoss, "{case}");
    }
}

/// Returns how many calls of a stream the repaired trace has as they were, and how many there are.
fn count_calls(sound: &[u8], damaged: &[u8]) -> [usize; 2] {
    let (_, target) = mended(damaged);
    let repaired = stream_bytes(&Source::new(&target), u64::MAX);
    let calls = |stream: &[u8]| -> Vec<Vec<u8>> {
        let bytes = |call: &CallSpans| {
            call.events.iter().flat_map(|at| &stream[at.clone()]).copied().collect()
        };
        call_spans(stream).iter().map(bytes).collect()
    };
    let (sound, repaired) = (calls(sound), calls(&repaired));
    let right = sound.iter().zip(&repaired).filter(|(sound, repaired)| sound == repaired).count();
    [right, sound.len()]
}

#[test]
fn no_call_is_lost_where_a_part_of_a_chunk_is_there_twice() {
    if is_left_to_the_gate("no call is lost where a part of a chunk is there twice") {
        return;
    }
    let stream = call_heavy(400).bytes;
    let sound = Container::Snappy.file(&stream);
    let (mut right, mut all) = (0, 0);
    for seed in 0..24 {
        let mut dice = Dice::seeded(seed);
        let at = 100 + dice.below(sound.len() - 1_200);
        let part = at..at + 20 + dice.below(1_000);
        let damaged = [&sound[..part.end], &sound[part.start..]].concat();
        let calls = count_calls(&stream, &damaged);
        (right, all) = (right + calls[0], all + calls[1]);
    }
    assert!(right + 1 >= all, "{right} of {all}");
}

#[test]
fn calls_between_those_that_copy_from_inserted_bytes_are_found() {
    if is_left_to_the_gate("calls between those that copy from inserted bytes are found") {
        return;
    }
    let stream = call_heavy(2_500).bytes;
    let sound = Container::Snappy.file(&stream);
    let (mut right, mut all) = (0, 0);
    for seed in 0..16 {
        let mut dice = Dice::seeded(seed);
        let mut damaged = sound.clone();
        for _ in 0..3 {
            let at = 100 + dice.below(sound.len() - 200);
            let len = 1 + dice.below(64);
            drop(damaged.splice(at..at, dice.noise(len)));
        }
        let calls = count_calls(&stream, &damaged);
        (right, all) = (right + calls[0], all + calls[1]);
    }
    assert!(right * 1_000 > all * 906, "{right} of {all}");
}

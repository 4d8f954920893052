//! Inverted bits of codes and ids, each of which makes an event contradict others.

use std::path::Path;

use tracemend::{Options, Outcome};
use tracemend_tests::forge::ovni::damage::event_spans;
use tracemend_tests::forge::ovni::{Random, Trace, random_run, thread_of_run};
use tracemend_tests::notice;
use tracemend_tests::sweep::Share;

const SEED: u64 = 2_011;
/// Cases of an exhaustive run.
const CASES: usize = 1_600;
/// Offset of the clock in an event, of its payload, and of that of a jumbo event.
const CLOCK: usize = 4;
const PAYLOAD: usize = 12;
const JUMBO_PAYLOAD: usize = 16;
/// Flag of a jumbo event.
const JUMBO: u8 = 0x10;
/// Bytes of two ids.
const IDS: usize = 8;

/// Traces of one stream: of real runtimes, and one of every event of nosv.
fn traces() -> Vec<Trace> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/ovni/clean");
    let real = ["nanos6", "openmp", "parallel", "attach"];
    let real = real.map(|name| Trace::below(&corpus.join(name)));
    let run = random_run(SEED, 5_000, 400);
    real.into_iter().chain([Trace::of(&thread_of_run(), run)]).collect()
}

fn stream_mut(trace: &mut Trace) -> &mut Vec<u8> {
    let is_stream = |(name, _): &&mut (String, Option<Vec<u8>>)| name.ends_with("stream.obs");
    trace.files.iter_mut().find(is_stream).unwrap().1.as_mut().unwrap()
}

/// The offsets of the codes and ids of a stream.
fn places(stream: &[u8]) -> Vec<usize> {
    let tagged: Vec<_> = stream.iter().map(|byte| (*byte, None)).collect();
    let events = event_spans(&tagged).into_iter();
    let places = events.flat_map(|(start, end)| {
        let is_jumbo = stream[start] & JUMBO != 0;
        let ids = start + if is_jumbo { JUMBO_PAYLOAD } else { PAYLOAD };
        (start + 1..start + CLOCK).chain(ids..end.min(ids + IDS))
    });
    places.collect()
}

#[test]
fn an_inverted_bit_of_a_code_or_an_id_is_inverted_again() {
    let originals = traces();
    let (mut restored, mut refused, mut cases, mut added_or_dropped) = (0, 0, 0, Vec::new());
    for case in Share::one_in(8).of(0..CASES) {
        let original = &originals[case % originals.len()];
        let mut random = Random(SEED ^ u64::try_from(case).unwrap() << 20);
        let whole = stream_mut(&mut original.clone()).clone();
        let places = places(&whole);
        let (at, bit) = (places[random.below(places.len())], random.below(8));
        let mut damaged = original.clone();
        stream_mut(&mut damaged)[at] ^= 1 << bit;
        let (repair, mut repaired) = damaged.mended(&Options::default());
        cases += 1;
        if [Outcome::CannotRepair, Outcome::Incomplete].contains(&repair.outcome) {
            refused += 1;
            continue;
        }
        let repaired = stream_mut(&mut repaired);
        restored += usize::from(*repaired == whole);
        let moved = repaired.len().abs_diff(whole.len());
        if moved > 64 {
            added_or_dropped.push(format!("case {case}: bit {bit} at {at:#x}, {moved} bytes"));
        }
    }
    let figures = format!(
        "inverted bits of ovni: {restored} of {cases} restored, {refused} refused, more than two \
         events added or dropped in {added_or_dropped:?}"
    );
    notice::say(&figures);
    assert_eq!(refused, 0, "{figures}");
    assert!(added_or_dropped.is_empty(), "{figures}");
    assert!(restored * 4 >= cases * 3, "{figures}");
}

//! Hostile numbers in the records about traces of a processor, judged by every perf at hand.

use std::path::Path;
use std::sync::Mutex;

use tracemend::Outcome;
use tracemend_tests::forge::perf::hostile::{Hostile, hostile, sound};
use tracemend_tests::forge::perf::trace::Tracer;
use tracemend_tests::judge::perf::{End, Perf};
use tracemend_tests::mended::mended;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// One case in this many is run by the gate.
const ONE_IN: u64 = 24;
/// Cases that run at a time.
const WORKERS: usize = 2;

/// Commands that read every record; two of them decode the traces.
const COMMANDS: [&[&str]; 3] = [&["script"], &["report", "--stdio"], &["inject", "-o", "injected"]];

/// Cases in which a perf fails without an error here, or the other way round, and why.
const KNOWN: [(Tracer, &str); 6] = [
    // perf 7.2 reads version 2, which perf 6.1 does not have.
    (Tracer::CoreSight, "70+16 = 0x2"),
    // The buffer of a snapshot, which perf 6.1 does not find.
    (Tracer::CoreSight, "11+24 = 0x2"),
    // A trace of another tracer, of which perf shows all samples.
    (Tracer::IntelPt, "70+8 = 0x2"),
    // Not judged: perf demands an event with context_switch.
    (Tracer::IntelPt, "70+72 = 0x2"),
    // Not judged: perf 6.12 alone refuses the second number of the buffer of a CPU.
    (Tracer::CoreSight, "71+32 = 0x1"),
    // Only perf with OpenCSD misses the record.
    (Tracer::CoreSight, "without 70"),
];

/// The verdict of a perf: how the commands end, and the samples that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    ends: Vec<End>,
    samples: usize,
}

impl Shown {
    fn by(perf: &Perf, path: &Path) -> Self {
        let ends = COMMANDS.iter().map(|command| perf.view(path, command).end).collect();
        Self { ends, samples: perf.samples(path).count }
    }

    /// Whether perf shows all. Built without OpenCSD, it refuses to decode CoreSight.
    fn is_whole(&self, tracer: Tracer) -> bool {
        let skipped = usize::from(tracer == Tracer::CoreSight);
        self.samples == 3 && self.ends.iter().skip(skipped).all(|end| *end == End::Code(0))
    }
}

#[test]
fn every_hostile_number_at_which_a_perf_fails_is_an_error_and_is_repaired() {
    if is_left_to_the_gate("every hostile number at which a perf fails is an error and is repaired")
    {
        return;
    }
    let share = Share::one_in(ONE_IN);
    let cases = Tracer::ALL
        .into_iter()
        .flat_map(|tracer| hostile(tracer).into_iter().map(move |hostile| (tracer, hostile)));
    let cases = Mutex::new(share.of(cases));
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let perfs = Perf::all_or_skip();
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("perf.data");
                let next = || cases.lock().unwrap().next();
                for (tracer, case) in std::iter::from_fn(next) {
                    let found = judge((tracer, &case), &path, &perfs);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_perf_reads_the_sound_recordings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    for tracer in Tracer::ALL {
        let built = sound(tracer);
        assert_eq!(mended(&built.bytes).0.outcome, Outcome::Clean, "{tracer:?}");
        std::fs::write(&path, &built.bytes).unwrap();
        for perf in Perf::all_or_skip() {
            let shown = Shown::by(&perf, &path);
            assert!(shown.is_whole(tracer), "{tracer:?}, {}: {shown:?}", perf.version());
        }
    }
}

/// Returns the disagreement of a case, if there is one.
fn judge((tracer, case): (Tracer, &Hostile), path: &Path, perfs: &[Perf]) -> Option<String> {
    let (repair, target) = mended(&case.bytes);
    let codes: Vec<&str> = repair.before.counts().keys().copied().collect();
    let shown = ask(&case.bytes, path, perfs);
    let fails = shown.iter().any(|shown| !shown.is_whole(tracer));
    let has_error = repair.before.has_errors();
    let is_known = KNOWN.contains(&(tracer, &case.name));
    // The message is a text, whose end perf does not need.
    let is_text = codes == ["PD2003"] && case.name.starts_with("72+56");
    let is_agreed = is_known || is_text || perfs.is_empty() || fails == has_error;
    let is_repaired = !repair.after.has_errors()
        && ask(&target, path, perfs).iter().all(|shown| is_known || shown.is_whole(tracer));
    let sign = match (is_agreed, has_error && !is_repaired) {
        (true, false) => return None,
        (false, _) if fails => "no error, but perf fails",
        (false, _) => "error, but perf shows all",
        (true, true) => "perf fails after the repair",
    };
    Some(format!("{tracer:?} {}: {sign}: {codes:?} {:?} {shown:?}", case.name, repair.outcome))
}

fn ask(bytes: &[u8], path: &Path, perfs: &[Perf]) -> Vec<Shown> {
    std::fs::write(path, bytes).unwrap();
    perfs.iter().map(|perf| Shown::by(perf, path)).collect()
}

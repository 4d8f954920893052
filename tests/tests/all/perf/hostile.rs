//! Hostile numbers in the records about traces of a processor, judged by every perf at hand.

use std::path::Path;
use std::sync::Mutex;

use tracemend_tests::forge::perf::hostile::{Hostile, hostile, sound};
use tracemend_tests::forge::perf::trace::Tracer;
use tracemend_tests::judge::perf::{End, Perf};
use tracemend_tests::mended::mended;
use tracemend_tests::sweep::Share;

/// One case in this many is run.
const ONE_IN: u64 = 16;

/// Commands that read every record; two of them decode the traces.
const COMMANDS: [&[&str]; 4] = [
    &["script"],
    &["report", "--stdio"],
    &["script", "-D"],
    &["inject", "-o", "injected"],
];

/// How the commands end, and the samples that perf shows.
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
}

#[test]
fn every_hostile_number_at_which_a_perf_fails_is_an_error() {
    let share = Share::one_in(ONE_IN);
    for tracer in [Tracer::ArmSpe, Tracer::CoreSight, Tracer::IntelPt] {
        let listed = Mutex::new(Vec::new());
        let all = Mutex::new(share.of(hostile(tracer)));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let (all, listed) = (&all, &listed);
                scope.spawn(move || {
                    let perfs = Perf::all_or_skip();
                    let folder = tempfile::tempdir().unwrap();
                    let path = folder.path().join("perf.data");
                    std::fs::write(&path, sound(tracer).bytes).unwrap();
                    let wholes: Vec<Shown> = perfs.iter().map(|perf| Shown::by(perf, &path)).collect();
                    loop {
                        let Some(case) = all.lock().unwrap().next() else { break };
                        let line = judge(&case, &path, &perfs, &wholes);
                        if let Some(line) = &line { eprintln!("{tracer:?} {line}"); }
                        listed.lock().unwrap().extend(line);
                    }
                });
            }
        });
        for line in listed.into_inner().unwrap() {
            println!("{tracer:?} {line}");
        }
    }
}

fn judge(case: &Hostile, path: &Path, perfs: &[Perf], wholes: &[Shown]) -> Option<String> {
    let (repair, _) = mended(&case.bytes);
    let codes: Vec<&str> = repair.before.counts().keys().copied().collect();
    std::fs::write(path, &case.bytes).unwrap();
    if std::env::var_os("NOPERF").is_some() {
        return Some(format!("{} {codes:?} {:?} {:?} same={} {:?}", case.name, repair.outcome, repair.safety(), repair.after.has_errors(), repair.before.findings().first().map(|f| f.message.clone())));
    }
    let mut text = String::new();
    let mut fails = false;
    for (perf, whole) in perfs.iter().zip(wholes) {
        let shown = Shown::by(perf, path);
        if shown != *whole {
            fails = true;
            text += &format!(" | {} {:?} {}", perf.version(), shown.ends, shown.samples);
        }
    }
    let has = repair.before.has_errors();
    (fails || has).then(|| {
        let sign = if fails == has { "both" } else if fails { "SILENT" } else { "FALSE" };
        format!("{sign} {} {codes:?} {:?} {text}", case.name, repair.outcome)
    })
}

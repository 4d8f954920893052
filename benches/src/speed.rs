//! Measures all contenders in one run, in turns, so that other work on the machine slows all of
//! them.
//!
//! Time is processor time of the thread, with the kernel's part (page faults, copies). Every
//! contender has one thread, and the pages are in the cache: on an idle machine this equals the
//! elapsed time, on a busy one it is still the cost of the work.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::MB;
use crate::contender::CONTENDERS;
use crate::recording::{self, SHAPES, Shape};

const ROUNDS: usize = 7;

/// Times of one contender, one per round.
type Times = Vec<Duration>;

/// Measures all shapes and prints a table for each.
pub(crate) fn measure(bytes: u64) -> Result<(), Box<dyn Error>> {
    for shape in SHAPES {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("perf.data");
        let written = recording::write(&path, shape, bytes)?;
        let mut times: Vec<Times> = vec![Times::new(); CONTENDERS.len()];
        // Round 0 brings the pages into the cache and compares the counts of all contenders.
        for round in 0..=ROUNDS {
            let taken = run_round(&path, shape, round)?;
            if round == 0 {
                compare_counts(&taken, written.samples + 2)?;
                continue;
            }
            for run in taken {
                times[run.contender].push(run.time);
            }
        }
        print(shape, &written, &times);
    }
    Ok(())
}

/// One run of one contender.
struct Run {
    /// Index in [`CONTENDERS`].
    contender: usize,
    records: u64,
    time: Duration,
}

/// Runs all contenders that can read the shape once; `round` shifts their order.
fn run_round(path: &Path, shape: Shape, round: usize) -> Result<Vec<Run>, Box<dyn Error>> {
    let mut taken = Vec::new();
    for turn in 0..CONTENDERS.len() {
        let index = (turn + round) % CONTENDERS.len();
        let contender = &CONTENDERS[index];
        if shape.compressed && !contender.expands {
            continue;
        }
        let start = clock_gettime(ClockId::ThreadCPUTime);
        let records = (contender.run)(path)?;
        let end = clock_gettime(ClockId::ThreadCPUTime);
        let time = Duration::try_from(end)? - Duration::try_from(start)?;
        taken.push(Run { contender: index, records, time });
    }
    Ok(taken)
}

/// Compares the numbers of records that the contenders saw, which are at least `least`.
///
/// linux-perf-data does not return finished rounds and compressed records, so 1 % may differ.
fn compare_counts(taken: &[Run], least: u64) -> Result<(), Box<dyn Error>> {
    let mut first = None;
    for run in taken.iter().filter(|run| CONTENDERS[run.contender].expands) {
        let seen = run.records;
        let differs = first.is_some_and(|other: u64| other.abs_diff(seen) > seen / 100);
        if seen < least || differs {
            return Err(format!("{} saw {seen} records", CONTENDERS[run.contender].name).into());
        }
        first = Some(seen);
    }
    Ok(())
}

fn print(shape: Shape, written: &recording::Written, times: &[Times]) {
    println!(
        "\n{}: samples of {} bytes, {} of them, {} MB{}\n",
        shape.name,
        shape.sample_len(),
        written.samples,
        written.expanded / MB,
        if shape.compressed {
            format!(" in a file of {} MB", written.stored / MB)
        } else {
            String::new()
        },
    );
    println!(
        "| | best MB/s | median MB/s | ns per record | time / time of tracemend (least .. most) |"
    );
    println!("|---|---:|---:|---:|---:|");
    let Some(ours) = times.first() else { return };
    for (contender, theirs) in CONTENDERS.iter().zip(times).filter(|(_, times)| !times.is_empty()) {
        // Each ratio compares times of the same round.
        let ratios =
            theirs.iter().zip(ours).map(|(theirs, ours)| theirs.as_secs_f64() / ours.as_secs_f64());
        let (least, ratio, most) = spread(ratios.collect());
        let (best, median, _) = spread(theirs.iter().map(Duration::as_secs_f64).collect());
        let speed = |seconds: f64| lossy(written.expanded) / seconds / lossy(MB);
        println!(
            "| {} | {:.0} | {:.0} | {:.1} | {ratio:.2} ({least:.2} .. {most:.2}) |",
            contender.name,
            speed(best),
            speed(median),
            best * 1e9 / lossy(written.samples),
        );
    }
}

/// Returns the least, the median and the greatest value.
pub(crate) fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    (at(0), at(values.len() / 2), at(values.len().saturating_sub(1)))
}

#[expect(clippy::as_conversions, reason = "there is no other way to a float; 53 bits are enough")]
pub(crate) fn lossy(value: u64) -> f64 {
    value as f64
}

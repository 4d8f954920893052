//! All contenders in one run, taking turns: a busy machine is busy for all of them.
//!
//! Time is the thread's time on the processor, kernel included (page faults, copies). Everything
//! measured has one thread, and the pages are in the cache: on an idle machine this is the time
//! that passes, on a busy one it is still what the work costs.

use std::error::Error;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::MB;
use crate::contender::CONTENDERS;
use crate::recording::{self, SHAPES, Shape};

const ROUNDS: usize = 7;

/// Times of one contender, one a round.
type Times = Vec<Duration>;

/// Measures all shapes and prints a table of each.
pub(crate) fn measure(bytes: u64) -> Result<(), Box<dyn Error>> {
    for shape in SHAPES {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("perf.data");
        let written = recording::write(&path, shape, bytes)?;
        let mut times: Vec<Times> = vec![Times::new(); CONTENDERS.len()];
        // A round before the first: pages into the cache, and everyone's count against the others'.
        for round in 0..=ROUNDS {
            let mut records = None;
            for turn in 0..CONTENDERS.len() {
                let index = (turn + round) % CONTENDERS.len();
                let contender = &CONTENDERS[index];
                if shape.compressed && !contender.expands {
                    continue;
                }
                let start = clock_gettime(ClockId::ThreadCPUTime);
                let seen = (contender.run)(&path)?;
                let end = clock_gettime(ClockId::ThreadCPUTime);
                if round > 0 {
                    times[index].push(Duration::try_from(end)? - Duration::try_from(start)?);
                } else if contender.expands {
                    // linux-perf-data keeps the finished rounds, and compressed records, to itself.
                    let least = written.samples + 2;
                    if seen < least
                        || records.is_some_and(|other: u64| other.abs_diff(seen) > seen / 100)
                    {
                        return Err(format!("{} saw {seen} records", contender.name).into());
                    }
                    records = Some(seen);
                }
            }
        }
        print(shape, &written, &times);
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
        "| | best MB/s | median MB/s | ns a record | tracemend is faster by (least .. most) |"
    );
    println!("|---|---:|---:|---:|---:|");
    let Some(ours) = times.first() else { return };
    for (contender, theirs) in CONTENDERS.iter().zip(times).filter(|(_, times)| !times.is_empty()) {
        // Within a round, so that what slows the machine slows both.
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

/// Least, median and most.
pub(crate) fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    (at(0), at(values.len() / 2), at(values.len().saturating_sub(1)))
}

#[expect(clippy::as_conversions, reason = "there is no other way to a float; 53 bits are enough")]
pub(crate) fn lossy(value: u64) -> f64 {
    value as f64
}

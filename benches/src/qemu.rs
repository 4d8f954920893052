//! Measures the check of QEMU logs against a loop that does nothing but skip events.
//!
//! ```text
//! tracemend-benches qemu [MB]                a log of MB megabytes (200), three bytes per event
//! ```
//!
//! The log resembles a Linux boot: INSTRUCTION followed by EXCEPTION, INTERRUPT or a checkpoint, in
//! an order that a processor cannot predict, and from time to time both clocks.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tracemend::{FileSet, Options, Verdict};

const ROUNDS: usize = 7;
/// Ids of 7.2.
const HEADER: [u8; 12] = [0, 0xe0, 0x20, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0];
const EXCEPTION: u8 = 2;
const INTERRUPT: u8 = 1;
const CLOCK_HOST: u8 = 28;
const CLOCK_VIRTUAL_RT: u8 = 29;
const CP_CLOCK_WARP_ACCOUNT: u8 = 31;
const CP_CLOCK_HOST: u8 = 35;
const CP_CLOCK_VIRTUAL_RT: u8 = 36;
const CP_INIT: u8 = 37;
const CLOSING: [u8; 2] = [14, 39];

/// Builds a log of about `bytes` and returns it with the number of its events.
fn log(bytes: u64) -> (Vec<u8>, u64) {
    let mut log = HEADER.to_vec();
    let (mut events, mut state, mut time) = (1_u64, 1_u64, 0_u64);
    log.push(CP_INIT);
    while (log.len() as u64) < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let draw = (state >> 40) as u32;
        log.push(0);
        log.extend((draw % 5000 + 1).to_be_bytes());
        log.push(match draw % 3 {
            0 => EXCEPTION,
            1 => INTERRUPT,
            _ => CP_CLOCK_WARP_ACCOUNT,
        });
        events += 2;
        if draw.is_multiple_of(64) && draw % 3 != 1 {
            time += 1000;
            log.extend([CP_CLOCK_HOST, CLOCK_HOST]);
            log.extend(time.to_be_bytes());
            log.extend([CP_CLOCK_VIRTUAL_RT, CLOCK_VIRTUAL_RT]);
            log.extend(time.to_be_bytes());
            events += 4;
        }
    }
    log.extend(CLOSING);
    (log, events + 2)
}

/// Writes a log of about `bytes`.
pub(crate) fn write(path: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(path, log(bytes).0)?)
}

/// Skips from event to event by a table of lengths, the least that any reader does.
fn skip(log: &[u8]) -> u64 {
    let mut lengths = [1_usize; 256];
    lengths[0] = 5;
    lengths[usize::from(CLOCK_HOST)] = 9;
    lengths[usize::from(CLOCK_VIRTUAL_RT)] = 9;
    let (mut at, mut events) = (HEADER.len(), 0);
    while let Some(id) = log.get(at) {
        at += lengths[usize::from(*id)];
        events += 1;
    }
    events
}

/// Runs the complete check.
fn check(log: &[u8]) -> u64 {
    let report = tracemend::check(&FileSet::single("log", log), &Options::default());
    assert_eq!(report.verdict(), Verdict::Clean, "{:?}", report.findings());
    report.tally.records
}

/// Reads a log and returns the number of events.
type Contender = (&'static str, fn(&[u8]) -> u64);

/// Measures both in turns and prints a table.
pub(crate) fn measure(bytes: u64) -> Result<(), Box<dyn Error>> {
    let (log, events) = log(bytes);
    let contenders: [Contender; 2] = [("tracemend::check", check), ("bare skip loop", skip)];
    let mut best = [Duration::MAX; 2];
    for _ in 0..=ROUNDS {
        for ((name, run), best) in contenders.iter().zip(&mut best) {
            let start = clock_gettime(ClockId::ThreadCPUTime);
            let seen = black_box(run(black_box(&log)));
            let end = clock_gettime(ClockId::ThreadCPUTime);
            if seen != events {
                return Err(format!("{name} saw {seen} of {events} events").into());
            }
            *best = (*best).min(Duration::try_from(end)? - Duration::try_from(start)?);
        }
    }
    let per_event = log.len() as f64 / events as f64;
    println!("QEMU log: {} bytes, {events} events, {per_event:.2} bytes each", log.len());
    for ((name, _), best) in contenders.iter().zip(best) {
        let (mb, seconds) = (log.len() as f64 / 1e6, best.as_secs_f64());
        println!(
            "  {name:18} {:7.0} MB/s {:6.0} M events/s",
            mb / seconds,
            events as f64 / 1e6 / seconds
        );
    }
    println!("  ratio {:.2}", best[0].as_secs_f64() / best[1].as_secs_f64());
    Ok(())
}

//! Measures the check of revent recordings against a plain read of the same file.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tracemend::{FileSet, Options, Verdict};

use crate::MB;
use crate::contender::map;
use crate::speed::{lossy, spread};

const ROUNDS: usize = 7;
/// Events of a frame: slot, two coordinates, a pressure, and the end of the frame.
const FRAME: [(u16, u16); 5] = [(3, 0x2f), (3, 0x35), (3, 0x36), (3, 0x3a), (0, 0)];
const EVENT: u64 = 26;

/// Writes a recording of version 3 and of about `bytes`, two fingers that move for hours, and
/// returns the number of its events.
pub(crate) fn write(path: &Path, bytes: u64) -> Result<u64, Box<dyn Error>> {
    let frames = bytes / EVENT / 5;
    let events = frames * 5;
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(b"REVENT\x03\0\0\0\0\0\0\0\0\0\x02\0\0\0")?;
    for device in [b'0', b'1'] {
        out.write_all(&17_u32.to_le_bytes())?;
        out.write_all(b"/dev/input/event")?;
        out.write_all(&[device])?;
    }
    let last = 1_000 + frames / 100 + 1;
    for word in [events, 1_000, 0, last, 0] {
        out.write_all(&word.to_le_bytes())?;
    }
    for frame in 0..frames {
        let (sec, usec) = (1_000 + frame / 100, frame % 100 * 10_000);
        for (kind, code) in FRAME {
            let value = if code == 0x2f { frame % 2 } else { frame % 1_000 };
            let value = if kind == 0 { 0 } else { u32::try_from(value)? };
            out.write_all(&1_u16.to_le_bytes())?;
            out.write_all(&sec.to_le_bytes())?;
            out.write_all(&usec.to_le_bytes())?;
            out.write_all(&kind.to_le_bytes())?;
            out.write_all(&code.to_le_bytes())?;
            out.write_all(&value.to_le_bytes())?;
        }
    }
    out.flush()?;
    Ok(events)
}

/// Reads the file to its end in pieces of 1 MiB and returns its length.
fn read(path: &Path) -> Result<u64, Box<dyn Error>> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    let mut sum = 0;
    loop {
        let len = file.read(&mut buffer)?;
        if len == 0 {
            return Ok(sum);
        }
        sum += u64::try_from(len)?;
    }
}

/// Maps and checks the file, and returns the number of events.
fn check(path: &Path) -> Result<u64, Box<dyn Error>> {
    let map = map(path)?;
    let report = tracemend::check(&FileSet::single("recording", &map), &Options::default());
    if report.verdict() != Verdict::Clean {
        return Err(format!("{:?}", report.findings()).into());
    }
    Ok(report.tally.records)
}

/// Measures both in turns and prints speed and ratio.
pub(crate) fn measure(bytes: u64) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bench.run.revent");
    let events = write(&path, bytes)?;
    let len = std::fs::metadata(&path)?.len();
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for (index, times) in times.iter_mut().enumerate() {
            let start = clock_gettime(ClockId::ThreadCPUTime);
            let (seen, wanted) =
                if index == 0 { (check(&path)?, events) } else { (read(&path)?, len) };
            let end = clock_gettime(ClockId::ThreadCPUTime);
            if seen != wanted {
                return Err(format!("{seen}, expected {wanted}").into());
            }
            if round > 0 {
                let time: Duration = Duration::try_from(end)? - Duration::try_from(start)?;
                times.push(time.as_secs_f64());
            }
        }
    }
    let [checks, reads] = times;
    let ratios = checks.iter().zip(&reads).map(|(check, read)| check / read).collect();
    let (least, ratio, most) = spread(ratios);
    let (check, ..) = spread(checks);
    let (read, ..) = spread(reads);
    let speed = |seconds: f64| lossy(len) / seconds / lossy(MB);
    println!("\nrevent, version 3: {events} events, {} MB\n", len / MB);
    println!("| | best MB/s | ns per event | time / time to read the file (least .. most) |");
    println!("|---|---:|---:|---:|");
    let each = check * 1e9 / lossy(events);
    println!(
        "| tracemend::check | {:.0} | {each:.1} | {ratio:.1} ({least:.1} .. {most:.1}) |",
        speed(check)
    );
    println!("| read(2) of the cached file | {:.0} | | 1 |", speed(read));
    Ok(())
}

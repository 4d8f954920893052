//! Traces against `apitrace info`, which parses all of one, and against the decompression of the
//! chunks alone by one thread: the limit of what reads a stream.
//!
//! Time is processor time, of all threads of a contender, and the time that passes, which is less on an
//! idle machine: one thread expands while another one reads. They take turns, and the ratio of a round
//! is taken within it.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tracemend::{FileSet, Options};
use tracemend_tests::forge::apitrace::{Container, Stream, Value, chunks};

use crate::MB;
use crate::contender::map;
use crate::speed::{lossy, spread};

const ROUNDS: usize = 7;

fn len(stream: &Stream) -> u64 {
    u64::try_from(stream.bytes.len()).unwrap_or(u64::MAX)
}

#[expect(clippy::as_conversions, reason = "there is no other way to a float")]
const fn lossy32(value: u64) -> f32 {
    value as f32
}

/// Frames of a program with small calls, to about this many bytes.
fn calls(bytes: u64) -> Stream {
    let mut stream = Stream::new(6);
    let mut frame = 0_u64;
    while len(&stream) < bytes {
        stream.call(0, 20, &[Value::Bitmask(1, 0x4001)]);
        for object in 0..20 {
            stream.call(0, 21, &[]);
            let angle = lossy32(frame * 7 + object);
            stream.call(0, 22, &[angle, 1.0, 0.0, 0.0].map(Value::Float));
            stream.call(0, 23, &[Value::Enum(1, 4), Value::Uint(frame), Value::Uint(object)]);
        }
        stream.call(0, 24, &[Value::Opaque(0x5555_0000 + frame)]);
        frame += 1;
    }
    stream
}

/// Uploads of 4 MiB that compress a little.
fn blobs(bytes: u64) -> Stream {
    let mut stream = Stream::new(6);
    let (mut state, mut frame) = (1_u32, 0);
    while len(&stream) < bytes {
        let pixels = (0..4_u32 << 20).map(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if at % 3 == 0 { state.to_be_bytes()[0] } else { 0x40 }
        });
        stream.call(0, 30, &[Value::Blob(pixels.collect()), Value::Uint(frame)]);
        frame += 1;
    }
    stream
}

/// Every chunk, by one thread.
fn decompress(file: &[u8]) -> Result<usize, snap::Error> {
    let mut buffer = vec![0; 1 << 20];
    let mut decoder = snap::raw::Decoder::new();
    let places = chunks(file).into_iter();
    places.map(|(at, end)| decoder.decompress(&file[at + 4..end], &mut buffer)).sum()
}

/// Seconds that this process has had.
fn clock() -> Result<f64, Box<dyn Error>> {
    Ok(Duration::try_from(clock_gettime(ClockId::ProcessCPUTime))?.as_secs_f64())
}

/// Seconds that `apitrace info` takes; `None` if it is not installed.
fn info(path: &Path) -> Option<f64> {
    let mut shell = Command::new("sh");
    shell.args(["-c", "apitrace info \"$0\" >/dev/null && times"]).arg(path);
    let output = shell.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    // The second line: what children had, `0m1.250000s 0m0.060000s`, user and system.
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let seconds = |part: &str| {
        let (minutes, seconds) = part.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    text.lines().nth(1)?.split_whitespace().map(seconds).sum()
}

/// Measures a trace of calls and one of blobs, each of so many bytes of stream, and prints a table.
pub(crate) fn measure(bytes: u64) -> Result<(), Box<dyn Error>> {
    for (name, stream) in [("calls", calls(bytes)), ("blobs", blobs(bytes))] {
        one(name, &stream)?;
    }
    Ok(())
}

fn one(name: &str, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("speed.trace");
    std::fs::write(&path, Container::Snappy.file(&stream.bytes))?;
    let file = map(&path)?;
    let (mut checks, mut expansions, mut infos) = (Vec::new(), Vec::new(), Vec::new());
    // By the clock on the wall: expanding beside the reading costs processor time and saves this.
    let (mut checks_wall, mut infos_wall) = (Vec::new(), Vec::new());
    // A round before the first: pages into the cache.
    for round in 0..=ROUNDS {
        let (start, begun) = (clock()?, Instant::now());
        let report = tracemend::check(&FileSet::single("speed.trace", &file), &Options::default());
        let (check, check_wall) = (clock()? - start, begun.elapsed().as_secs_f64());
        if report.tally.samples != stream.calls() || !report.findings().is_empty() {
            return Err(format!("not clean: {:?}", report.findings()).into());
        }
        let start = clock()?;
        let expanded = decompress(&file)?;
        let expansion = clock()? - start;
        if expanded != stream.bytes.len() {
            return Err(format!("{expanded} bytes of {}", stream.bytes.len()).into());
        }
        let begun = Instant::now();
        let info = info(&path);
        let info_wall = info.map(|_| begun.elapsed().as_secs_f64());
        if round > 0 {
            checks.push(check);
            expansions.push(expansion);
            infos.extend(info);
            checks_wall.push(check_wall);
            infos_wall.extend(info_wall);
        }
    }
    let (calls, stored) = (stream.calls(), u64::try_from(file.len())?);
    println!(
        "\napitrace, {name}: {calls} calls, {} MB of stream in {} MB\n",
        len(stream) / MB,
        stored / MB
    );
    println!("| | best MB/s of stream | its time by that of tracemend (least .. most) |");
    println!("|---|---:|---:|");
    for (who, times, checks) in [
        ("tracemend::check", &checks, &checks),
        ("decompression alone", &expansions, &checks),
        ("apitrace info", &infos, &checks),
        ("tracemend::check, on the wall", &checks_wall, &checks_wall),
        ("apitrace info, on the wall", &infos_wall, &checks_wall),
    ] {
        if times.is_empty() {
            println!("| {who} | is not installed | |");
            continue;
        }
        let (best, ..) = spread(times.clone());
        let ratios = times.iter().zip(checks).map(|(theirs, ours)| theirs / ours).collect();
        let (least, ratio, most) = spread(ratios);
        let speed = lossy(len(stream)) / best / lossy(MB);
        println!("| {who} | {speed:.0} | {ratio:.2} ({least:.2} .. {most:.2}) |");
    }
    Ok(())
}

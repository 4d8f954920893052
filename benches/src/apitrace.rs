//! Checks traces against `apitrace info`, which parses the complete trace, and against
//! decompression alone by one thread, the lower bound for every reader of the stream.
//!
//! Measured are the processor time of all threads of a contender, and the elapsed time, which is
//! shorter on an idle machine because one thread expands while another one reads. The contenders
//! take turns, and each ratio compares times of the same round.

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

/// Builds frames of small calls, about `bytes` of stream.
fn build_calls(bytes: u64) -> Stream {
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

/// Builds uploads of 4 MiB that compress a little, about `bytes` of stream.
fn build_blobs(bytes: u64) -> Stream {
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

/// Writes a trace of small calls, about `bytes` of stream.
pub(crate) fn write_calls(path: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(path, Container::Snappy.file(&build_calls(bytes).bytes))?)
}

/// Writes a trace of uploads, about `bytes` of stream.
pub(crate) fn write_blobs(path: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(path, Container::Snappy.file(&build_blobs(bytes).bytes))?)
}

/// Decompresses every chunk and returns the number of bytes.
fn decompress(file: &[u8]) -> Result<usize, snap::Error> {
    let mut buffer = vec![0; 1 << 20];
    let mut decoder = snap::raw::Decoder::new();
    let places = chunks(file).into_iter();
    places.map(|(at, end)| decoder.decompress(&file[at + 4..end], &mut buffer)).sum()
}

/// Returns the processor time of this process in seconds.
fn process_seconds() -> Result<f64, Box<dyn Error>> {
    Ok(Duration::try_from(clock_gettime(ClockId::ProcessCPUTime))?.as_secs_f64())
}

/// Returns the processor time of `apitrace info` in seconds; `None` if it is not installed.
fn time_info(path: &Path) -> Option<f64> {
    let mut shell = Command::new("sh");
    shell.args(["-c", "apitrace info \"$0\" >/dev/null && times"]).arg(path);
    let output = shell.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    // The second line has user and system time of the children: `0m1.250000s 0m0.060000s`.
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let seconds = |part: &str| {
        let (minutes, seconds) = part.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    text.lines().nth(1)?.split_whitespace().map(seconds).sum()
}

/// Measures a trace of calls and one of blobs, each with `bytes` of stream, and prints tables.
pub(crate) fn measure(bytes: u64) -> Result<(), Box<dyn Error>> {
    for (name, stream) in [("calls", build_calls(bytes)), ("blobs", build_blobs(bytes))] {
        measure_stream(name, &stream)?;
    }
    Ok(())
}

fn measure_stream(name: &str, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("speed.trace");
    std::fs::write(&path, Container::Snappy.file(&stream.bytes))?;
    let file = map(&path)?;
    let (mut checks, mut expansions, mut infos) = (Vec::new(), Vec::new(), Vec::new());
    // Elapsed time: a second thread that expands costs processor time and saves elapsed time.
    let (mut checks_wall, mut infos_wall) = (Vec::new(), Vec::new());
    // Round 0 brings the pages into the cache.
    for round in 0..=ROUNDS {
        let (start, begun) = (process_seconds()?, Instant::now());
        let report = tracemend::check(&FileSet::single("speed.trace", &file), &Options::default());
        let (check, check_wall) = (process_seconds()? - start, begun.elapsed().as_secs_f64());
        if report.tally.samples != stream.calls() || !report.findings().is_empty() {
            return Err(format!("not clean: {:?}", report.findings()).into());
        }
        let start = process_seconds()?;
        let expanded = decompress(&file)?;
        let expansion = process_seconds()? - start;
        if expanded != stream.bytes.len() {
            return Err(format!("{expanded} bytes of {}", stream.bytes.len()).into());
        }
        let begun = Instant::now();
        let info = time_info(&path);
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
    println!("| | best MB/s of stream | time / time of tracemend (least .. most) |");
    println!("|---|---:|---:|");
    for (who, times, checks) in [
        ("tracemend::check", &checks, &checks),
        ("decompression alone", &expansions, &checks),
        ("apitrace info", &infos, &checks),
        ("tracemend::check, elapsed time", &checks_wall, &checks_wall),
        ("apitrace info, elapsed time", &infos_wall, &checks_wall),
    ] {
        if times.is_empty() {
            println!("| {who} | not installed | |");
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

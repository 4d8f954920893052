//! How fast traces are checked, in ratios of one run:
//! `cargo run --release -p tracemend-tests --example speed_apitrace [-- MEBIBYTES]`.
//!
//! Against `apitrace info`, which parses all of a trace, and against the decompression of the chunks
//! alone by one thread, the limit. Wall time, the file being in the cache; the best of five rounds,
//! the contenders taking turns.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tracemend::{FileSet, Options};
use tracemend_tests::forge::apitrace::{Container, Stream, Value, chunks};

const ROUNDS: usize = 5;

/// Frames of a program with small calls, to about this many bytes.
fn calls(bytes: usize) -> Stream {
    let mut stream = Stream::new(6);
    let mut frame = 0_u64;
    while stream.bytes.len() < bytes {
        stream.call(0, 20, &[Value::Bitmask(1, 0x4001)]);
        for object in 0..20 {
            stream.call(0, 21, &[]);
            let angle = (frame * 7 + object) as f32;
            stream.call(0, 22, &[angle, 1.0, 0.0, 0.0].map(Value::Float));
            stream.call(0, 23, &[Value::Enum(1, 4), Value::Uint(frame), Value::Uint(object)]);
        }
        stream.call(0, 24, &[Value::Opaque(0x5555_0000 + frame)]);
        frame += 1;
    }
    stream
}

/// Uploads of 4 MiB that compress a little.
fn blobs(bytes: usize) -> Stream {
    let mut stream = Stream::new(6);
    let (mut state, mut frame) = (1_u32, 0);
    while stream.bytes.len() < bytes {
        let pixels = (0..4 << 20).map(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if at % 3 == 0 { (state >> 24) as u8 } else { 0x40 }
        });
        stream.call(0, 30, &[Value::Blob(pixels.collect()), Value::Uint(frame)]);
        frame += 1;
    }
    stream
}

fn decompress(file: &[u8]) -> usize {
    let mut buffer = vec![0; 1 << 20];
    let mut decoder = snap::raw::Decoder::new();
    let places = chunks(file).into_iter();
    places.map(|(at, end)| decoder.decompress(&file[at + 4..end], &mut buffer).unwrap()).sum()
}

fn main() {
    let mebibytes = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("speed.trace");
    for (name, stream) in [("calls", calls(mebibytes << 20)), ("blobs", blobs(mebibytes << 20))] {
        let file = Container::Snappy.file(&stream.bytes);
        std::fs::write(&path, &file).unwrap();
        let mut best = [Duration::MAX; 3];
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let report =
                tracemend::check(&FileSet::single("speed.trace", &file), &Options::default());
            best[0] = best[0].min(start.elapsed());
            assert_eq!(report.tally.samples, stream.calls());
            assert!(report.findings().is_empty());
            let start = Instant::now();
            assert_eq!(decompress(&file), stream.bytes.len());
            best[1] = best[1].min(start.elapsed());
            let mut command = Command::new("apitrace");
            command.arg("info").arg(&path).stdin(Stdio::null()).stdout(Stdio::null());
            let start = Instant::now();
            if command.status().is_ok_and(|status| status.success()) {
                best[2] = best[2].min(start.elapsed());
            }
        }
        let rate = |time: Duration| stream.bytes.len() as f64 / 1e6 / time.as_secs_f64();
        let seconds = |time: Duration| time.as_secs_f64();
        println!(
            "{name}: {} calls, {} bytes stored, {} of stream",
            stream.calls(),
            file.len(),
            stream.bytes.len()
        );
        println!("  tracemend check      {:8.0} MB/s", rate(best[0]));
        println!("  decompression alone  {:8.0} MB/s", rate(best[1]));
        if best[2] == Duration::MAX {
            println!("  apitrace info        is not installed");
        } else {
            println!("  apitrace info        {:8.0} MB/s", rate(best[2]));
            println!("  {:.1} times apitrace info", seconds(best[2]) / seconds(best[0]));
        }
        println!("  {:.2} times the decompression's time", seconds(best[0]) / seconds(best[1]));
    }
}

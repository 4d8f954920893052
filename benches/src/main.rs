//! Measures tracemend against linux-perf-data, on recordings made by program.
//!
//! ```text
//! tracemend-benches [MB]                     speed, over recordings of so many MB (500)
//! tracemend-benches revent [MB]              speed, over a revent recording of so many MB (200)
//! tracemend-benches memory [MB] [PROGRAM]    memory, over recordings of so many MB (3000)
//! tracemend-benches write SHAPE MB FILE      a recording to keep: plain, callchain or zstd
//! tracemend-benches qemu [MB]                speed, over a log of QEMU of so many MB (200)
//! tracemend-benches check FILE               tracemend::check and nothing else
//! tracemend-benches ovni [MB]                speed of ovni streams of so many MB (500)
//! tracemend-benches apitrace [MB]            speed, over traces of so many MB of stream (100)
//! ```

mod apitrace;
mod contender;
mod memory;
mod ovni;
mod qemu;
mod recording;
mod revent;
mod speed;

use std::error::Error;
use std::path::Path;

/// 1 MB is 1,000,000 bytes, as disks and `dd` count.
const MB: u64 = 1_000_000;

fn megabytes(text: Option<&str>, default: u64) -> Result<u64, Box<dyn Error>> {
    let megabytes = text.map_or(Ok(default), str::parse)?;
    megabytes.checked_mul(MB).ok_or_else(|| "too many MB".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["memory", rest @ ..] if rest.len() <= 2 => {
            let bytes = megabytes(rest.first().copied(), 3_000)?;
            memory::measure(bytes, rest.get(1).map(Path::new))
        }
        ["write", shape, size, path] => {
            let shape = recording::SHAPES.iter().find(|known| known.name == *shape);
            let shape = shape.ok_or("a shape is one of plain, callchain, zstd")?;
            let written = recording::write(Path::new(path), *shape, megabytes(Some(size), 0)?)?;
            println!("{path}: {} bytes, {} samples", written.stored, written.samples);
            Ok(())
        }
        ["qemu"] => qemu::measure(megabytes(None, 200)?),
        ["qemu", size] => qemu::measure(megabytes(Some(size), 200)?),
        ["ovni", rest @ ..] if rest.len() <= 1 => {
            ovni::measure(megabytes(rest.first().copied(), 500)?)
        }
        ["apitrace", rest @ ..] if rest.len() <= 1 => {
            apitrace::measure(megabytes(rest.first().copied(), 100)?)
        }
        ["check", path] => memory::check(Path::new(path)),
        ["revent", rest @ ..] if rest.len() <= 1 => {
            revent::measure(megabytes(rest.first().copied(), 200)?)
        }
        [] => speed::measure(megabytes(None, 500)?),
        [size] => speed::measure(megabytes(Some(size), 500)?),
        _ => Err(
            "usage: [MB] | revent [MB] | qemu [MB] | ovni [MB] | apitrace [MB] | memory [MB] [PROGRAM] | write SHAPE MB FILE | check FILE"
                .into(),
        ),
    }
}

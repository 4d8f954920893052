//! Measures tracemend against its peers, on recordings that this program makes.
//!
//! ```text
//! tracemend-benches [MB]                     speed on perf.data of MB megabytes (500)
//! tracemend-benches revent [MB]              speed on a revent recording (200)
//! tracemend-benches memory [MB] [PROGRAM]    memory on perf.data (3000)
//! tracemend-benches write SHAPE MB FILE      writes a perf.data: plain, callchain or zstd
//! tracemend-benches qemu [MB]                speed on a QEMU log (200)
//! tracemend-benches check FILE               runs tracemend::check and nothing else
//! tracemend-benches ovni [MB]                speed on ovni streams (500)
//! tracemend-benches apitrace [MB]            speed on apitrace traces, MB of stream (100)
//! tracemend-benches compare EARLIER [MB] [WORD]   every command of two versions, in turns (20)
//! tracemend-benches growth [MB] [WORD]       check and repair of 1 MB to MB megabytes (256)
//! ```

mod apitrace;
mod compare;
mod contender;
mod growth;
mod memory;
mod ovni;
mod process;
mod qemu;
mod recording;
mod revent;
mod speed;

use std::error::Error;
use std::path::Path;

/// 1 MB is 1,000,000 bytes, as disks and `dd` count.
const MB: u64 = 1_000_000;

fn parse_megabytes(text: Option<&str>, default: u64) -> Result<u64, Box<dyn Error>> {
    let megabytes = text.map_or(Ok(default), str::parse)?;
    megabytes.checked_mul(MB).ok_or_else(|| "too many MB".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["memory", rest @ ..] if rest.len() <= 2 => {
            let bytes = parse_megabytes(rest.first().copied(), 3_000)?;
            memory::measure(bytes, rest.get(1).map(Path::new))
        }
        ["write", shape, size, path] => {
            let shape = recording::SHAPES.iter().find(|known| known.name == *shape);
            let shape = shape.ok_or("unknown shape, expected plain, callchain or zstd")?;
            let written =
                recording::write(Path::new(path), *shape, parse_megabytes(Some(size), 0)?)?;
            println!("{path}: {} bytes, {} samples", written.stored, written.samples);
            Ok(())
        }
        ["compare", earlier, rest @ ..] if rest.len() <= 2 => {
            let megabytes = rest.first().map_or(Ok(20), |size| size.parse())?;
            compare::measure(earlier, megabytes, rest.get(1).copied().unwrap_or_default())
        }
        ["growth", rest @ ..] if rest.len() <= 2 => {
            let megabytes = rest.first().map_or(Ok(256), |size| size.parse())?;
            growth::measure(megabytes, rest.get(1).copied().unwrap_or_default())
        }
        ["compare-inputs", folder, megabytes] => {
            compare::write_inputs(Path::new(folder), megabytes.parse()?)
        }
        ["qemu"] => qemu::measure(parse_megabytes(None, 200)?),
        ["qemu", size] => qemu::measure(parse_megabytes(Some(size), 200)?),
        ["ovni", rest @ ..] if rest.len() <= 1 => {
            ovni::measure(parse_megabytes(rest.first().copied(), 500)?)
        }
        ["apitrace", rest @ ..] if rest.len() <= 1 => {
            apitrace::measure(parse_megabytes(rest.first().copied(), 100)?)
        }
        ["check", path] => memory::check(Path::new(path)),
        ["revent", rest @ ..] if rest.len() <= 1 => {
            revent::measure(parse_megabytes(rest.first().copied(), 200)?)
        }
        [] => speed::measure(parse_megabytes(None, 500)?),
        [size] => speed::measure(parse_megabytes(Some(size), 500)?),
        _ => Err("usage: [MB] | revent [MB] | qemu [MB] | ovni [MB] | apitrace [MB] | \
             memory [MB] [PROGRAM] | write SHAPE MB FILE | check FILE | \
             compare EARLIER [MB] [WORD] | growth [MB] [WORD]"
            .into()),
    }
}

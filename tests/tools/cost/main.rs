//! Measures the processor time of `check` and `audit` on recordings that nobody recorded:
//!
//! ```sh
//! cargo build --release
//! cargo run -p tracemend-tools --bin cost -- target/release/tracemend [CASES [SEED [WORD [KEEP]]]]
//! ```
//!
//! For each format: zeros, ones, noise and a small alphabet (bytes 0 to 5 at random) for records,
//! plain and in its containers, bombs, CASES damaged files (200 unless given), half of them short
//! and half of them long, and CASES / 4 files in which one piece is repeated. The table has the
//! seconds per 100 MB of stored and expanded bytes, beyond the half second that every file may
//! take, of the dearest file of a row, whose case is named; files beyond [`MOST`] are named with
//! their seeds as they are met, and put into the folder KEEP, if there is one. With a word, only
//! rows that have it in their name are made.
#![allow(
    clippy::as_conversions,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a tool for developers: a failure should stop it at once"
)]

mod repeated;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tracemend::Options;
use tracemend_tests::forge::apitrace::{Container, call_heavy};
use tracemend_tests::forge::perf::{self, Attr, Record, sample_type};
use tracemend_tests::forge::{ovni, qemu, revent};
use tracemend_tests::known_originals::{self, Dice, Files, Original, SUBJECTS};

/// Commands, with the seconds per 100 MB that they may take, beyond [`ALWAYS`].
const MOST: [(&str, f64); 2] = [("check", 3.0), ("audit", 6.0)];
/// Seconds that each file may take.
const ALWAYS: f64 = 0.5;
/// Bytes of a recording of one kind of bytes.
const LEN: usize = 8 << 20;
/// Seconds after which a run is ended.
const PATIENCE: &str = "120";

/// Bytes of a kind: from a number of bytes and a seed.
type Fill = fn(usize, &mut Dice<'_>) -> Vec<u8>;

const FILLS: [(&str, Fill); 4] = [
    ("zeros", |len, _| vec![0; len]),
    ("ones", |len, _| vec![0xff; len]),
    ("noise", |len, dice| dice.noise(len)),
    ("bytes 0 to 5", |len, dice| dice.noise(len).into_iter().map(|byte| byte % 6).collect()),
];

/// A recording, with the bytes that it expands to as far as its maker knows them.
struct Made {
    format: &'static str,
    files: Files,
    expanded: usize,
}

/// Wraps bytes as the records of a format.
type Wrap = fn(Vec<u8>) -> Made;

/// For each format, records after a sound beginning, if it has one, and in containers.
const WRAPS: [(&str, Wrap); 8] = [
    ("perf", |bytes| {
        let mut recording = perf::Recording::new(perf::Order::Little, vec![event()]);
        recording.push(Record::new(9, 0, vec![0; 16]));
        let built = recording.build();
        let mut file = built.bytes.clone();
        // data.size
        let len = u64::from_le_bytes(file[48..56].try_into().unwrap()) + bytes.len() as u64;
        file[48..56].copy_from_slice(&len.to_le_bytes());
        file.extend(bytes);
        single("perf", "x.data", file)
    }),
    ("perf, compressed", |bytes| {
        let mut recording = perf::Recording::new(perf::Order::Little, vec![event()]);
        let expanded = bytes.len();
        for block in bytes.chunks(60_000) {
            recording.push(Record::new(81, 0, zstd(block)));
        }
        Made { expanded, ..single("perf", "x.data", recording.feature(27).build().bytes) }
    }),
    ("apitrace, plain", |bytes| single("apitrace", "x.trace", bytes)),
    ("apitrace, snappy", |bytes| in_container(&bytes, Container::Snappy)),
    ("apitrace, gzip", |bytes| in_container(&bytes, Container::Gzip)),
    ("ovni", |bytes| {
        let mut stream = ovni::Stream::default().begin(0);
        stream.bytes.extend(bytes);
        Made { format: "ovni", files: trace_of(stream), expanded: 0 }
    }),
    ("qemu", |bytes| {
        let mut log = qemu::Log::new(qemu::ids::of("7.2"));
        log.start();
        log.bytes.extend(bytes);
        single("qemu", "x.log", log.bytes)
    }),
    ("revent", |bytes| {
        let mut file = revent::Recording::new(revent::Layout::V3).build().bytes;
        file.extend(bytes);
        single("revent", "x.revent", file)
    }),
];

fn event() -> Attr {
    Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME).with_ids(&[1])
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 1_024);
    zstd_safe::compress(&mut out, bytes, 1).unwrap();
    out
}

fn single(format: &'static str, name: &str, bytes: Vec<u8>) -> Made {
    Made { format, files: vec![(name.to_string(), bytes)], expanded: 0 }
}

fn in_container(bytes: &[u8], container: Container) -> Made {
    Made { expanded: bytes.len(), ..single("apitrace", "x.trace", container.file(bytes)) }
}

fn trace_of(stream: ovni::Stream) -> Files {
    let files = ovni::Trace::of(&ovni::Thread::new(7, 7), stream).files.into_iter();
    files.filter_map(|(name, bytes)| Some((name, bytes?))).collect()
}

/// Long recordings, to be damaged.
fn long_originals(format: &str) -> Vec<Original> {
    let files = |files| vec![Original { name: "long".to_string(), files }];
    match format {
        "perf" => {
            let mut recording = perf::Recording::new(perf::Order::Little, vec![event()]);
            let comm = recording.maker(0).comm("forge");
            recording.extend(vec![comm; 60_000]);
            files(vec![("x.data".to_string(), recording.build().bytes)])
        }
        "apitrace" => [Container::Snappy, Container::Gzip]
            .into_iter()
            .flat_map(|one| files(vec![("x.trace".into(), one.file(&call_heavy(60_000).bytes))]))
            .collect(),
        "ovni" => {
            let begun = ovni::Stream::default().begin(0);
            let event = |stream: ovni::Stream, at: u64| stream.event(0, "OB.", 1_000 + at, b"");
            files(trace_of((0..100_000).fold(begun, event).wait(2_000_000).end()))
        }
        "qemu" => {
            let mut log = qemu::Log::new(qemu::ids::of("7.2"));
            log.start();
            (1..200_000).for_each(|number| _ = log.instruction(number));
            log.close();
            files(vec![("x.log".to_string(), log.bytes)])
        }
        _ => {
            let mut recording = revent::Recording::new(revent::Layout::V3);
            (0..10_000).for_each(|id| _ = recording.tap(id));
            files(vec![("x.revent".to_string(), recording.build().bytes)])
        }
    }
}

/// A program to be measured, and the folder of its input.
struct Bench {
    program: PathBuf,
    folder: PathBuf,
    /// Where files beyond the bound are put.
    kept: Option<PathBuf>,
    beyond: u64,
}

impl Bench {
    /// Measures each command on a recording. Returns the seconds per 100 MB.
    fn measure(&mut self, name: &str, made: &Made) -> [f64; 2] {
        let path = write(&self.folder, &made.files);
        let stored: usize = made.files.iter().map(|(_, bytes)| bytes.len()).sum();
        let mut bytes = stored + made.expanded;
        MOST.map(|(command, most)| {
            let seconds = self.run(command, made.format, &path);
            let allowed = |bytes: usize| ALWAYS + most * bytes as f64 / 1e8;
            if seconds > allowed(bytes) && bytes == stored {
                // A damaged recording of which nobody said what it expands to.
                let set = known_originals::set(&made.files);
                bytes += tracemend::check(&set, &Options::default()).tally.expanded as usize;
            }
            if seconds > allowed(bytes) {
                let allowed = allowed(bytes);
                eprintln!("{command} of {name}: {seconds:.2} s, {allowed:.2} s allowed");
                self.beyond += 1;
                if let Some(kept) = &self.kept {
                    let name = name.split(": ").collect::<Vec<_>>().join("-");
                    write(&kept.join(name.replace([' ', ',', '/'], "_")), &made.files);
                }
            }
            (seconds - ALWAYS).max(0.0) * 1e8 / bytes as f64
        })
    }

    /// Measures some recordings, and prints the most seconds per 100 MB with their cases.
    fn row(&mut self, name: &str, seed: u64, cases: u64, make: impl Fn(u64) -> (String, Made)) {
        let mut worst = [(0_f64, 0); 2];
        for case in 0..cases {
            let (words, made) = make(case);
            let found = self.measure(&format!("{name}, seed {seed}, case {case} {words}"), &made);
            for (worst, one) in worst.iter_mut().zip(found) {
                if one > worst.0 {
                    *worst = (one, case);
                }
            }
        }
        let cells = worst.map(|(seconds, case)| format!("{seconds:.2} (case {case})"));
        line(&format!("{cases} {name}, seed {seed}"), cells);
    }

    /// Returns the processor time of a run in seconds.
    fn run(&self, command: &str, format: &str, path: &Path) -> f64 {
        let before = children_seconds();
        let mut run = Command::new("timeout");
        run.arg(PATIENCE).arg(&self.program).args([command, "--type", format]).arg(path);
        run.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        children_seconds() - before
    }
}

/// Writes a recording to a folder that is made anew; returns its file, or the folder.
fn write(folder: &Path, files: &Files) -> PathBuf {
    _ = fs::remove_dir_all(folder);
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    match files.as_slice() {
        [(name, _)] => folder.join(name),
        _ => folder.to_path_buf(),
    }
}

/// Processor time of all children that ended.
fn children_seconds() -> f64 {
    // SAFETY: all fields of the structure are numbers, and the kernel fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Prints a row of the table.
fn line(name: &str, [check, audit]: [String; 2]) {
    println!("| {name} | {check} | {audit} |");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u64| {
        arguments.get(index).map_or(default, |text| text.parse().unwrap())
    };
    let (cases, seed) = (number(1, 200), number(2, 1));
    let word = arguments.get(3).map_or("", String::as_str);
    let root = tempfile::tempdir().unwrap();
    let (program, folder) = (PathBuf::from(&arguments[0]), root.path().join("x"));
    let mut bench = Bench { program, folder, kept: arguments.get(4).map(PathBuf::from), beyond: 0 };
    println!("| recording | check | audit |\n|---|---:|---:|");
    let plain = |found: [f64; 2]| found.map(|seconds| format!("{seconds:.2}"));
    for (format, wrap) in WRAPS {
        for (fill, bytes) in FILLS {
            let name = format!("{format}: {fill}, seed {seed}");
            if name.contains(word) {
                let made = wrap(bytes(LEN, &mut Dice::seeded(seed)));
                line(&name, plain(bench.measure(&name, &made)));
            }
        }
    }
    for (name, container) in [("snappy", Container::Snappy), ("gzip", Container::Gzip)] {
        let name = format!("apitrace: a bomb in {name}");
        if name.contains(word) {
            let made = in_container(&vec![0; 400 << 20], container);
            line(&name, plain(bench.measure(&name, &made)));
        }
    }
    for subject in SUBJECTS {
        let format = subject.format.name();
        let short: Vec<Original> = subject.originals.iter().cloned().collect();
        for (kind, originals) in [("short", short), ("long", long_originals(format))] {
            let name = format!("{format}: damaged {kind} files");
            if !name.contains(word) {
                continue;
            }
            bench.row(&name, seed, cases / 2, |case| {
                let (_, damaged) = known_originals::damaged(&originals, seed, case as usize);
                (String::new(), Made { format, files: damaged.files, expanded: 0 })
            });
        }
    }
    for subject in SUBJECTS {
        let name = format!("{}: a repeated piece", subject.format.name());
        if name.contains(word) {
            let case = |case| {
                let mut dice = Dice::seeded(seed.wrapping_mul(0x9e37_79b9).wrapping_add(case));
                repeated::repeated(subject, LEN / 2, &mut dice)
            };
            bench.row(&name, seed, cases / 4, case);
        }
    }
    println!("\n{} beyond the bound", bench.beyond);
}

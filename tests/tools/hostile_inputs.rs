//! Measures time and memory of the program on recordings that are made to be dear:
//!
//! ```sh
//! cargo build --release
//! cargo run -p tracemend-tools --bin hostile_inputs -- target/release/tracemend [WORD]
//! ```
//!
//! With a word, only the recordings that have it in their name are made. Reports of their repairs
//! follow the table.
//! Each run has 64 MiB of private memory at most (`prlimit --data`): one that needs more ends with
//! a signal. The table has its exit status, seconds, and MiB of memory: the largest RssAnon of the
//! process, its private pages, read every 5 ms. A run that takes more than two minutes is ended,
//! and the table says so.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tracemend_tests::forge::perf::{Attr, Order, Record, Recording, feature_bit, sample_type};
use tracemend_tests::forge::revent::{Layout, Recording as Events};
use tracemend_tests::forge::{apitrace, ovni, qemu};

/// Commands that read a recording.
const COMMANDS: [&str; 5] = ["check", "repair", "map", "dump", "audit"];
/// Longest run.
const PATIENCE: Duration = Duration::from_secs(120);
/// Name of the file that holds what a run prints.
const PRINTED: &str = "printed";
/// Length of a block of zstd.
const BLOCK: usize = 1 << 17;
/// Time between two looks at the memory of a run.
const LOOK: Duration = Duration::from_millis(5);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let program = PathBuf::from(arguments.next().unwrap());
    let word = arguments.next().unwrap_or_default();
    let mut reports = String::new();
    let folder = tempfile::tempdir().unwrap();
    println!("| recording | bytes | {} |", COMMANDS.join(" | "));
    println!("|---|---:|{}", "---:|".repeat(COMMANDS.len()));
    for (name, write) in INPUTS.into_iter().filter(|(name, _)| name.contains(&word)) {
        let path = write(folder.path());
        let output = folder.path().join("repaired");
        let mut report = String::new();
        print!("| {name} | {} |", length(&path));
        for name in COMMANDS {
            let mut command = Command::new("prlimit");
            command.arg("--data=67108864").arg(&program).arg(name).arg(&path);
            if name == "repair" {
                command.arg("-o").arg(&output);
            }
            print!(" {} |", Run::of(&mut command, folder.path()));
            std::io::stdout().flush().unwrap();
            if name == "repair" {
                report = fs::read_to_string(folder.path().join(PRINTED)).unwrap();
            }
        }
        println!();
        reports.extend([name, "\n", &report, "\n"]);
        for path in [&path, &output] {
            _ = fs::remove_dir_all(path);
            _ = fs::remove_file(path);
        }
    }
    if !word.is_empty() {
        println!("\n{reports}");
    }
}

type Write = fn(&Path) -> PathBuf;

const INPUTS: [(&str, Write); 13] = [
    ("perf: 1,100,000 names without a name", |folder| {
        let mut recording = Recording::new(Order::Little, vec![event()]);
        let comm = recording.maker(0).comm("forge");
        recording.push(comm).extend((0..1_100_000).map(|_| Record::new(3, 0, Vec::new())));
        file(folder, "perf.data", &recording.build().bytes)
    }),
    ("perf: 60,000 ids that were overwritten with zeros", |folder| {
        let ids: Vec<u64> = (0..60_000).map(|id| 3 * id + 100).collect();
        let mut recording = Recording::new(Order::Little, vec![event().with_ids(&ids)]);
        let comm = recording.maker(0).comm("forge");
        recording.push(comm).feature(feature_bit::EVENT_DESC);
        let mut bytes = recording.build().bytes;
        let start = bytes.windows(8).position(|word| word == ids[0].to_le_bytes()).unwrap();
        bytes[start..][..ids.len() * 8].fill(0);
        file(folder, "perf.data", &bytes)
    }),
    ("perf: 104 MB of zeros for records", |folder| {
        let mut recording = Recording::new(Order::Little, vec![event()]);
        let comm = recording.maker(0).comm("forge");
        recording.push(comm).extend((0..13_000_000).map(|_| Record::new(0, 0, Vec::new())));
        let mut bytes = recording.build().bytes;
        let len = bytes.len();
        bytes[len - 104_000_000..].fill(0);
        file(folder, "perf.data", &bytes)
    }),
    ("ovni: 87,000 descending clocks", |folder| descending(folder, 87_000)),
    ("ovni: 700,000 descending clocks", |folder| descending(folder, 700_000)),
    ("ovni: clocks that go back in 130,000 of 400,000 events, and damage", |folder| {
        damaged(folder, b"", |number| if number % 3 == 0 { 5 } else { 1_000 + number })
    }),
    ("ovni: 10,000 pieces of noise between 400,000 events", |folder| {
        damaged(folder, &[0xff; 5], |number| 1_000 + number)
    }),
    ("qemu: 1,000,000 events that must not follow one another", |folder| {
        let mut log = qemu::Log::new(qemu::ids::of("7.2"));
        log.start();
        (1..1_000_000).for_each(|number| _ = log.instruction(number));
        log.close();
        file(folder, "replay.log", &log.bytes)
    }),
    ("revent: every second of 1,300,000 events is bad", |folder| {
        let mut recording = Events::new(Layout::V3);
        (0..216_666).for_each(|id| _ = recording.tap(id));
        let built = recording.build();
        let mut bytes = built.bytes.clone();
        (0..built.count).step_by(2).for_each(|index| bytes[built.at(index)..][..2].fill(0xee));
        file(folder, "night.revent", &bytes)
    }),
    ("apitrace: a window of 128 MiB", |folder| {
        let stream = apitrace::call_heavy(20_000).bytes;
        file(folder, "window.trace", &with_window(&stream))
    }),
    ("apitrace: 100,000 definitions in gzip", |folder| {
        let mut stream = apitrace::Stream::new(6);
        (0..100_000).for_each(|id| _ = stream.call(0, id, &[]));
        file(folder, "definitions.trace", &apitrace::Container::Gzip.file(&stream.bytes))
    }),
    ("apitrace: 500,000 definitions in an array after damage", |folder| {
        let mut stream = apitrace::Stream::new(6);
        stream.call(0, 1, &[]);
        stream.bytes.extend([0xff; 16]);
        let values = (0..500_000).map(|id| apitrace::Value::Bitmask(id, 1));
        stream.call(0, 1, &[apitrace::Value::Array(values.collect())]);
        (0..100).for_each(|_| _ = stream.call(0, 1, &[]));
        file(folder, "array.trace", &apitrace::Container::Gzip.file(&stream.bytes))
    }),
    ("apitrace: 1 GiB of zeros in gzip", |folder| {
        let mut stream = apitrace::Stream::new(6);
        stream.call(0, 1, &[apitrace::Value::Blob(vec![0; 1 << 30])]);
        file(folder, "blob.trace", &apitrace::Container::Gzip.file(&stream.bytes))
    }),
];

fn event() -> Attr {
    Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME).with_ids(&[1])
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// A trace of one thread whose clocks go back by one with each event.
fn descending(folder: &Path, count: u64) -> PathBuf {
    let stream = (0..count).fold(ovni::Stream::default().begin(0), |stream, number| {
        stream.event(0, "OB.", 1_000_000 - number, b"")
    });
    trace(folder, stream.wait(2_000_000))
}

/// A trace of one thread with 400,000 events, `noise` after every 40, and damage at the end.
fn damaged(folder: &Path, noise: &[u8], clock: fn(u64) -> u64) -> PathBuf {
    let mut stream = ovni::Stream::default().begin(0);
    for number in 0..400_000 {
        stream = stream.event(0, "OB.", clock(number), b"");
        if number % 40 == 39 {
            stream.bytes.extend(noise);
        }
    }
    stream.bytes.extend([0xff; 5]);
    trace(folder, stream.wait(2_000_000))
}

/// Writes a trace of one thread.
fn trace(folder: &Path, stream: ovni::Stream) -> PathBuf {
    let path = folder.join("trace");
    for (name, bytes) in ovni::Trace::of(&ovni::Thread::new(7, 7), stream.end()).files {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes.unwrap()).unwrap();
    }
    path
}

/// Returns `content` as a frame of zstd with a window of 128 MiB and blocks that are stored as they
/// are (RFC 8878, 3.1.1).
fn with_window(content: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3];
    let blocks = content.len().div_ceil(BLOCK);
    for (number, block) in (1..).zip(content.chunks(BLOCK)) {
        let head = u32::try_from(block.len()).unwrap() << 3 | u32::from(number == blocks);
        frame.extend(&head.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
}

fn length(path: &Path) -> u64 {
    if path.is_file() {
        return path.metadata().unwrap().len();
    }
    fs::read_dir(path).unwrap().map(|entry| length(&entry.unwrap().path())).sum()
}

/// A run of the program.
struct Run {
    /// Absent if it was ended.
    status: Option<ExitStatus>,
    time: Duration,
    private_kib: u64,
}

impl Run {
    fn of(command: &mut Command, folder: &Path) -> Self {
        let path = folder.join(PRINTED);
        let printed = fs::File::create(&path).unwrap();
        let errors = printed.try_clone().unwrap();
        let start = Instant::now();
        let mut child =
            command.stdin(Stdio::null()).stdout(printed).stderr(errors).spawn().unwrap();
        let mut private_kib = 0;
        let status = loop {
            private_kib = private_kib.max(private_kib_of(&child));
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if start.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(LOOK);
        };
        Self { status, time: start.elapsed(), private_kib }
    }
}

fn private_kib_of(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = match self.status.map(|status| status.code()) {
            Some(Some(code)) => code.to_string(),
            Some(None) => "signal".to_string(),
            None => "ended by us".to_string(),
        };
        let (seconds, private) = (self.time.as_secs_f64(), self.private_kib >> 10);
        write!(f, "{status}: {seconds:.2} s, {private} MiB")
    }
}

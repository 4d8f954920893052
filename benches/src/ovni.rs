//! Measures the complete semantic check of ovni streams against a bare walk over event headers.
//!
//! The walk (size from flags, order of clocks, a count) is the least that any reader does; the
//! ratio to it is the result. Then the same bytes are checked in several streams, with one to all
//! threads.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tracemend::{File, FileSet, Options, Source};

const ROUNDS: usize = 7;
/// Tasks of a process, which run repeatedly.
const TASKS: u32 = 4_096;
const STREAMS: u32 = 4;

/// Events of a nOS-V worker: it gets tasks, runs them, and submits others from inside.
struct Worker {
    bytes: Vec<u8>,
    clock: u64,
    events: u64,
}

impl Worker {
    fn push_event(&mut self, code: &[u8; 3], payload: &[u8]) {
        self.clock += 50;
        self.events += 1;
        let flags = u8::try_from(payload.len().saturating_sub(1)).unwrap_or(0);
        self.bytes.push(flags);
        self.bytes.extend_from_slice(code);
        self.bytes.extend_from_slice(&self.clock.to_le_bytes());
        self.bytes.extend_from_slice(payload);
    }

    fn push_jumbo(&mut self, code: &[u8; 3], data: &[u8]) {
        self.push_event(code, &[]);
        let flags = self.bytes.len() - 12;
        self.bytes[flags] = 0x13;
        let size = u32::try_from(data.len()).unwrap_or(0).to_le_bytes();
        self.bytes.extend_from_slice(&size);
        self.bytes.extend_from_slice(data);
    }

    fn build_stream(len: u64, number: u32) -> Self {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = Vec::with_capacity(len + 256);
        let mut worker = Self { bytes, clock: 1_000_000, events: 0 };
        worker.bytes.extend_from_slice(b"ovni\x01\0\0\0");
        let cpu = number.to_le_bytes();
        worker.push_event(b"OHx", &[&cpu[..], &[0xff; 4], &[0; 8]].concat());
        worker.push_event(b"VHw", &[]);
        let first = number * TASKS + 1;
        worker.push_jumbo(b"VYc", &[&(number + 1).to_le_bytes()[..], b"work\0"].concat());
        for task in first..first + TASKS {
            worker.push_event(b"VTc", &[task.to_le_bytes(), (number + 1).to_le_bytes()].concat());
        }
        let mut task = first;
        while worker.bytes.len() < len {
            let body = [task.to_le_bytes(), [0; 4]].concat();
            task = if task + 1 == first + TASKS { first } else { task + 1 };
            worker.push_event(b"VS[", &[]);
            worker.push_event(b"VS@", &[]);
            worker.push_event(b"VS]", &[]);
            worker.push_event(b"VTx", &body);
            for _ in 0..2 {
                worker.push_event(b"VAs", &[]);
                worker.push_event(b"VMa", &[]);
                worker.push_event(b"VMA", &[]);
                worker.push_event(b"VAS", &[]);
            }
            worker.push_event(b"VTe", &body);
        }
        worker.push_event(b"VHW", &[]);
        worker.push_event(b"OHe", &[]);
        worker
    }
}

fn build_metadata(number: u32) -> String {
    let cpus: Vec<String> =
        (0..STREAMS).map(|cpu| format!("{{\"index\": {cpu}, \"phyid\": {cpu}}}")).collect();
    format!(
        "{{\"version\": 3, \"ovni\": {{\
         \"lib\": {{\"version\": \"1.14.0\", \"commit\": \"bench\"}}, \
         \"part\": \"thread\", \"tid\": {tid}, \"pid\": 1, \"loom\": \"node\", \"app_id\": 1, \
         \"require\": {{\"ovni\": \"1.1.0\", \"nosv\": \"2.7.0\"}}, \"loom_cpus\": [{}], \
         \"finished\": 1}}}}",
        cpus.join(", "),
        tid = number + 1,
    )
}

/// Writes a trace of several streams, about `bytes` together, into a directory.
pub(crate) fn write(folder: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    for number in 0..STREAMS {
        let thread = folder.join(format!("loom.node/proc.1/thread.{}", number + 1));
        std::fs::create_dir_all(&thread)?;
        std::fs::write(thread.join("stream.json"), build_metadata(number))?;
        let worker = Worker::build_stream(bytes / u64::from(STREAMS), number);
        std::fs::write(thread.join("stream.obs"), &worker.bytes)?;
    }
    Ok(())
}

/// Walks from header to header and returns the number of events.
fn walk(bytes: &[u8]) -> u64 {
    let (mut rest, mut count, mut last) = (bytes.get(8..).unwrap_or_default(), 0, 0);
    while let Some((head, tail)) = rest.split_first_chunk::<12>() {
        let [flags, _, _, _, clock @ ..] = *head;
        let clock = u64::from_le_bytes(clock);
        let len = match flags & 0x1f {
            0 => 0,
            0x10.. => match tail.first_chunk::<4>() {
                Some(size) => 4 + usize::try_from(u32::from_le_bytes(*size)).unwrap_or(0),
                None => break,
            },
            code => usize::from(code) + 1,
        };
        let Some(next) = tail.get(len..) else { break };
        assert!(clock >= last, "the clocks are in order");
        last = clock;
        count += 1;
        rest = next;
    }
    count
}

/// Measures one stream and several, and prints the results.
pub(crate) fn measure(bytes: u64) -> Result<(), Box<dyn Error>> {
    measure_one(bytes)?;
    measure_several(bytes)
}

fn measure_one(len: u64) -> Result<(), Box<dyn Error>> {
    let worker = Worker::build_stream(len, 0);
    let json = build_metadata(0);
    let file = |name: &str, bytes| File { name: name.to_string(), bytes: Source::new(bytes) };
    let files = vec![
        file("thread.1/stream.json", json.as_bytes()),
        file("thread.1/stream.obs", &worker.bytes),
    ];
    let files = FileSet::new(files);
    let options = Options { jobs: NonZeroUsize::new(1), ..Options::default() };
    let mut ratios = Vec::new();
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let (walked, bare) = timed(|| walk(&worker.bytes))?;
        let (report, full) = timed(|| tracemend::check(&files, &options))?;
        if walked != worker.events || report.tally.records != worker.events {
            return Err("the number of events is wrong".into());
        }
        if report.worst().is_some() {
            return Err(format!("the stream is not sound: {:?}", report.findings()).into());
        }
        best = [best[0].min(bare), best[1].min(full)];
        ratios.push(full.as_secs_f64() / bare.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    let size = worker.bytes.len();
    let megabytes = to_megabytes(size);
    println!("ovni, one stream of {megabytes} MB, {} events, one thread:", worker.events);
    for (name, time) in ["bare walk over headers", "tracemend::check"].into_iter().zip(best) {
        let rate = to_megabytes(size) / time.as_secs_f64();
        let events = to_millions(worker.events) / time.as_secs_f64();
        println!("  {name:24} {rate:8.0} MB/s {events:8.0} M events/s");
    }
    let (first, middle) = (ratios[0], ratios[ROUNDS / 2]);
    println!(
        "  the check takes {middle:.2} times the walk ({first:.2} .. {:.2})",
        ratios[ROUNDS - 1]
    );
    Ok(())
}

fn measure_several(len: u64) -> Result<(), Box<dyn Error>> {
    let workers: Vec<Worker> =
        (0..STREAMS).map(|number| Worker::build_stream(len / u64::from(STREAMS), number)).collect();
    let texts: Vec<String> = (0..STREAMS).map(build_metadata).collect();
    let mut files = Vec::new();
    for (number, (worker, text)) in workers.iter().zip(&texts).enumerate() {
        for (leaf, bytes) in [("stream.json", text.as_bytes()), ("stream.obs", &worker.bytes)] {
            // The number of a thread is one more than that of its stream.
            let name = format!("thread.{}/{leaf}", number + 1);
            files.push(File { name, bytes: Source::new(bytes) });
        }
    }
    let files = FileSet::new(files);
    let most = std::thread::available_parallelism()?.get();
    // Elapsed time, and processor time of all threads together: on a busy machine only the second
    // one shows the cost of parallel work.
    let mut best = vec![[Duration::MAX; 2]; most];
    for _ in 0..ROUNDS {
        for (jobs, best) in (1..).zip(&mut best) {
            let options = Options { jobs: NonZeroUsize::new(jobs), ..Options::default() };
            let start = (Instant::now(), clock_gettime(ClockId::ProcessCPUTime));
            let report = tracemend::check(&files, &options);
            let cpu = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime))?;
            let cpu = cpu - Duration::try_from(start.1)?;
            *best = [best[0].min(start.0.elapsed()), best[1].min(cpu)];
            if report.worst().is_some() {
                return Err(format!("the trace is not sound: {:?}", report.findings()).into());
            }
        }
    }
    let size = to_megabytes(workers.iter().map(|worker| worker.bytes.len()).sum());
    println!("ovni, {STREAMS} streams:");
    for (jobs, [wall, cpu]) in (1..).zip(best) {
        let rates = [size / wall.as_secs_f64(), size / cpu.as_secs_f64()];
        println!("  {jobs} threads {:8.0} MB/s, {:8.0} MB/s of processor time", rates[0], rates[1]);
    }
    Ok(())
}

fn to_megabytes(bytes: usize) -> f64 {
    u32::try_from(bytes / 1_000).map_or(0.0, |kilo| f64::from(kilo) / 1_000.0)
}

fn to_millions(events: u64) -> f64 {
    u32::try_from(events / 1_000).map_or(0.0, |kilo| f64::from(kilo) / 1_000.0)
}

/// Returns a result and the processor time that this thread needed for it.
fn timed<T>(work: impl FnOnce() -> T) -> Result<(T, Duration), Box<dyn Error>> {
    let start = clock_gettime(ClockId::ThreadCPUTime);
    let result = work();
    let end = clock_gettime(ClockId::ThreadCPUTime);
    Ok((result, Duration::try_from(end)? - Duration::try_from(start)?))
}

//! Sound traces of several threads, drawn from a seed: nested states, tasks, pauses, flushes and
//! marks.

use super::{Stream, Thread, Trace};

/// The same numbers for the same seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// Returns one of some values.
    pub fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// States of nosv, by the events that open and close them.
const STATES: [(&str, &str); 8] = [
    ("VS[", "VS]"),
    ("VU[", "VU]"),
    ("VMa", "VMA"),
    ("VAr", "VAR"),
    ("VAs", "VAS"),
    ("VAp", "VAP"),
    ("VAy", "VAY"),
    ("VAw", "VAW"),
];
/// Depth of states.
const DEPTH: usize = 6;

/// What a thread has open.
enum Open {
    State(&'static str),
    Body(u32),
}

/// Returns a sound trace of 1 to 4 threads with about `events` events each.
pub fn random(seed: u64, events: usize) -> Trace {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed));
    random.below(2);
    let threads = 1 + random.below(4);
    let mut trace = Trace::default();
    let start = 1_000_000 + u64::try_from(random.below(1 << 30)).unwrap() * 1_000;
    for index in 0..threads {
        let number = u32::try_from(index).unwrap();
        let pid = 7 + 10 * (number / 3);
        let cpus: Vec<(u32, u32)> = (0..4).map(|cpu| (cpu, cpu)).collect();
        let marks = r#"{"3": {"title": "one", "chan_type": "single"}}"#;
        let thread = Thread::new(pid, pid + number % 3).require("nosv", "2.7.0").cpus(&cpus);
        let thread = thread.more("mark", marks);
        // The first thread of a process creates the tasks before the others start.
        let clock = start + u64::from(number) * 40_003;
        let stream = Stream::at(clock).begin(i32::try_from(index).unwrap()).plain(&["VHw"]);
        let first_task = 1 + 100 * (number % 3);
        let stream = if number.is_multiple_of(3) { define_tasks(stream) } else { stream };
        trace = trace.and(&thread, run_thread(stream, first_task, events, &mut random));
    }
    trace
}

/// Returns a sound stream of one thread with about `events` events after `clock`, to be put in a
/// trace with [`thread_of_run`].
pub fn random_run(seed: u64, clock: u64, events: usize) -> Stream {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed));
    random.below(2);
    let stream = define_tasks(Stream::at(clock).begin(0).plain(&["VHw"]));
    run_thread(stream, 1, events, &mut random)
}

/// Returns the metadata of the thread of a [`random_run`].
pub fn thread_of_run() -> Thread {
    let marks = r#"{"3": {"title": "one", "chan_type": "single"}}"#;
    Thread::new(7, 7).require("nosv", "2.7.0").more("mark", marks)
}

fn define_tasks(stream: Stream) -> Stream {
    let stream = stream.kind("VYc", 1, "first").kind("VYc", 2, "a second type");
    (1..=300).fold(stream, |stream, task| stream.ids("VTc", &[task, 1 + task % 2]))
}

fn run_thread(mut stream: Stream, first: u32, events: usize, random: &mut Random) -> Stream {
    let mut open: Vec<Open> = Vec::new();
    let mut task = first;
    for _ in 0..events {
        stream.clock += 1 + u64::try_from(random.below(900)).unwrap();
        let has_body = open.iter().any(|open| matches!(open, Open::Body(_)));
        stream = match random.below(10) {
            0..=2 if open.len() < DEPTH => {
                let (opens, closes) = random.one_of(&STATES);
                open.push(Open::State(closes));
                stream.plain(&[opens])
            }
            3..=5 if !open.is_empty() => close(stream, open.pop()),
            6 if !has_body && task < first + 99 => {
                task += 1;
                open.push(Open::Body(task));
                stream.ids("VTx", &[task, 0])
            }
            7 => stream.plain(random.one_of(&[
                &["OHp", "OHr"][..],
                &["OHc", "OHp", "OHw", "OHr"],
                &["OF[", "OF]"],
            ])),
            8 => stream.mark("OM=", 1 + i64::try_from(random.below(9)).unwrap(), 3),
            _ => stream.plain(&["OB."]),
        };
    }
    while let Some(last) = open.pop() {
        stream = close(stream, Some(last));
    }
    stream.plain(&["VHW"]).end()
}

fn close(stream: Stream, open: Option<Open>) -> Stream {
    match open {
        Some(Open::State(code)) => stream.plain(&[code]),
        Some(Open::Body(task)) => stream.ids("VTe", &[task, 0]),
        None => stream,
    }
}

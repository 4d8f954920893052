//! Sound traces: every value, version and container, and calls that interleave and nest.

use super::{Container, Detail, Stream, Value};
use crate::judge::apitrace::survival::Numbers;

/// A sound trace.
#[derive(Clone, Debug)]
pub struct Clean {
    /// Its name.
    pub name: &'static str,
    /// The stream.
    pub stream: Stream,
}

/// Every type of value, at its edges.
pub fn values() -> Vec<Value> {
    let nested = Value::Array(vec![
        Value::Struct(3, vec![Value::Float(0.5), Value::Array(vec![]), Value::Null]),
        Value::Struct(3, vec![Value::Float(-0.0), Value::Array(vec![Value::Uint(1)]), Value::Null]),
    ]);
    vec![
        Value::Null,
        Value::Bool(false),
        Value::Bool(true),
        Value::Negative(1),
        Value::Negative(1 << 63),
        Value::Uint(0),
        Value::Uint(u64::MAX),
        Value::Float(1.5),
        Value::Double(f64::NAN),
        Value::String(b"".to_vec()),
        Value::String(b"#version 330".to_vec()),
        Value::String("größer".as_bytes().to_vec()),
        Value::Blob(vec![]),
        Value::Blob((0..=255).collect()),
        Value::Enum(1, 0x1f00),
        Value::Bitmask(2, 0x4001),
        nested,
        Value::Opaque(0x7fff_ffff_f000),
        Value::Repr(Box::new(Value::String(b"half".to_vec())), Box::new(Value::Uint(15_360))),
        Value::Wide(vec![0x48, 0x1f600]),
    ]
}

/// Every value as argument and as result, each twice so that ids recur.
fn every_value(version: u64) -> Stream {
    let mut stream = match version {
        6 => Stream::with_properties(&[("process.name", "/usr/bin/forge"), ("OS", "Linux")]),
        _ => Stream::new(version),
    };
    for _ in 0..2 {
        for value in values() {
            let call = stream.enter(0, 7, 2, &[Detail::Arg(0, value.clone())]);
            stream.leave(call, &[Detail::Arg(1, value.clone()), Detail::Ret(value)]);
        }
    }
    stream
}

/// Interleaved calls of several threads, calls inside calls, and one without a leave.
fn threads() -> Stream {
    let mut stream = Stream::new(6);
    let died = stream.enter(2, 9, 0, &[]);
    for round in 0..12 {
        let first = stream.enter(0, 11, 1, &[Detail::Arg(0, Value::Uint(round))]);
        let second = stream.enter(1, 12, 0, &[Detail::Flags(1)]);
        let inner = stream.enter(0, 13, 0, &[Detail::Backtrace(vec![round, round / 2])]);
        stream.leave(inner, &[]).leave(second, &[Detail::Ret(Value::Bool(true))]);
        stream.leave(first, &[]);
    }
    assert_eq!(died, 0);
    stream
}

/// A recording like a real one: a few functions that recur, with early and late definitions.
pub fn call_heavy(frames: u64) -> Stream {
    let mut stream = Stream::with_properties(&[("process.name", "forge")]);
    for frame in 0..frames {
        stream.call(0, 20, &[Value::Bitmask(1, 0x4001)]);
        stream.call(0, 21, &[]);
        let angle = frame as f32 * 2.0;
        let axis = [angle, 1.0, 0.0, 0.0].map(Value::Float);
        stream.call(0, 22, &axis);
        stream.call(0, 23, &[Value::Enum(1, 4), Value::Uint(frame), Value::Uint(3)]);
        if frame == frames / 2 {
            stream.call(0, 25, &[Value::Struct(1, vec![Value::Uint(1), Value::Uint(2)])]);
        }
        let number = stream.enter(0, 24, 1, &[Detail::Arg(0, Value::Opaque(0x5555_0000))]);
        stream.leave(number, &[Detail::Ret(Value::Uint(frame))]);
    }
    stream
}

/// Three threads at work: calls begin while others are open, and end in another order.
pub fn threaded(frames: u64) -> Stream {
    let mut stream = Stream::with_properties(&[("process.name", "forge")]);
    let arg = |index, value| Detail::Arg(index, value);
    for frame in 0..frames {
        let draw = [arg(0, Value::Enum(1, 4)), arg(1, Value::Uint(frame))];
        let drawn = stream.enter(0, 30, 2, &draw);
        let texel = Value::Blob((0..24).map(|i| (frame * 7 + i * i) as u8).collect());
        let loaded = stream.enter(1, 31, 2, &[arg(0, Value::Uint(frame * 3)), arg(1, texel)]);
        let inner = stream.enter(0, 32, 0, &[]);
        stream.leave(inner, &[Detail::Ret(Value::Uint(frame % 7))]);
        let waited = stream.enter(2, 33, 1, &[arg(0, Value::Opaque(0x5555_0000 + frame))]);
        stream.leave(drawn, &[]);
        stream.call(0, 34, &[Value::Float(frame as f32), Value::Bitmask(1, 0x4001)]);
        stream.leave(loaded, &[Detail::Ret(Value::Bool(frame % 2 == 0))]);
        stream.call(1, 35, &[Value::Negative(frame + 1)]);
        stream.leave(waited, &[Detail::Ret(Value::Uint(0))]);
    }
    stream
}

/// Calls of threads that a version before 4 does not number. Each thread takes turns by chance: it
/// enters a call, or leaves the one that it is in. At the end all are left.
pub fn old_threads(version: u64, threads: usize, calls: u64, seed: u64) -> Stream {
    let mut stream = Stream::new(version);
    let mut numbers = Numbers::of(seed);
    let mut open: Vec<Option<(u64, u64)>> = vec![None; threads];
    let arg = |index, value| Detail::Arg(index, value);
    while stream.calls() < calls || open.iter().any(Option::is_some) {
        let thread = numbers.below(threads);
        if let Some((call, function)) = open[thread].take() {
            let details = match function {
                42 => vec![arg(1, Value::Array(vec![Value::Uint(call % 97)]))],
                43 => vec![Detail::Ret(Value::Enum(1, 4))],
                _ => Vec::new(),
            };
            stream.leave(call, &details);
        } else if stream.calls() < calls {
            let (function, number) = (40 + numbers.below(6) as u64, numbers.next() % 5_000);
            let blob = (0..number % 40).map(|at| (at * number) as u8).collect();
            let (count, details) = match function {
                40 => (2, vec![arg(0, Value::Enum(1, 4)), arg(1, Value::Uint(number))]),
                41 => (1, vec![arg(0, Value::Float(number as f32))]),
                42 => (2, vec![arg(0, Value::Uint(1))]),
                43 | 44 => (0, Vec::new()),
                _ => (2, vec![arg(0, Value::Opaque(0x5555_0000)), arg(1, Value::Blob(blob))]),
            };
            open[thread] = Some((stream.enter(0, function, count, &details), function));
        }
    }
    stream
}

/// Structs that are first used in frame `first`, and in every third frame from then on.
pub fn structs(frames: u64, first: u64) -> Stream {
    let mut stream = Stream::with_properties(&[("process.name", "forge")]);
    for frame in 0..frames {
        stream.call(0, 20, &[Value::Bitmask(1, 0x4001)]);
        stream.call(0, 23, &[Value::Enum(1, 4), Value::Uint(frame), Value::Uint(3)]);
        if frame >= first && (frame - first).is_multiple_of(3) {
            let point = vec![Value::Float(frame as f32), Value::Uint(frame), Value::Null];
            let rect = vec![Value::Struct(7, point), Value::Uint(640), Value::Uint(480)];
            stream.call(0, 26, &[Value::Struct(8, rect), Value::Uint(frame)]);
        }
        let angle = frame as f32 * 2.0;
        stream.call(0, 22, &[angle, 1.0, 0.0, 0.0].map(Value::Float));
    }
    stream
}

/// A blob that is larger than a chunk.
fn blob(len: usize) -> Stream {
    let mut stream = Stream::new(6);
    stream.call(0, 1, &[Value::Uint(1)]);
    let bytes = (0..len).map(|i| ((i * i) >> 3) as u8).collect();
    stream.call(0, 2, &[Value::Blob(bytes), Value::Uint(2)]);
    stream.call(0, 1, &[Value::Uint(3)]);
    stream
}

/// Every sound stream.
pub fn clean() -> Vec<Clean> {
    vec![
        Clean { name: "version_0", stream: every_value(0) },
        Clean { name: "version_2", stream: every_value(2) },
        Clean { name: "version_3", stream: every_value(3) },
        Clean { name: "version_4", stream: every_value(4) },
        Clean { name: "version_5", stream: every_value(5) },
        Clean { name: "version_6", stream: every_value(6) },
        Clean { name: "threads", stream: threads() },
        Clean { name: "threads_at_work", stream: threaded(6) },
        Clean { name: "structs", stream: structs(9, 2) },
        Clean { name: "calls", stream: call_heavy(8) },
        Clean { name: "blob", stream: blob(2_000) },
    ]
}

/// Sound streams of several threads, of every version that does not number them.
fn old() -> Vec<Clean> {
    vec![
        Clean { name: "old_threads_0", stream: old_threads(0, 2, 12, 1) },
        Clean { name: "old_threads_1", stream: old_threads(1, 3, 14, 2) },
        Clean { name: "old_threads_2", stream: old_threads(2, 5, 16, 3) },
        Clean { name: "old_threads_3", stream: old_threads(3, 9, 20, 4) },
    ]
}

/// Every sound stream in every container, small ones only.
pub fn all() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for Clean { name, stream } in clean().into_iter().chain(old()) {
        for container in Container::ALL {
            files.push((format!("{name}_{container:?}"), container.file(&stream.bytes)));
        }
    }
    files
}

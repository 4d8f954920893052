//! A repair makes up no call that never was, and loses none whose bytes are sound.

use tracemend::formats::apitrace::layout::PLACEHOLDER_ID;
use tracemend::formats::apitrace::{rules, stream_bytes};
use tracemend::kit::source::Source;
use tracemend::{FileSet, Options, Outcome, Severity};
use tracemend_tests::forge::apitrace::container::chunk;
use tracemend_tests::forge::apitrace::{
    Container, Detail, Stream, Value, call_heavy, chunks, uint,
};
use tracemend_tests::judge::apitrace::survival::Numbers;
use tracemend_tests::known_originals::apitrace::call_functions;
use tracemend_tests::mended::mended;
use tracemend_tests::sweep::Share;

/// The stream of a repaired file.
fn repaired_stream(name: &str, file: &[u8]) -> Vec<u8> {
    let (repair, target) = mended(file);
    let is_done = matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss);
    assert!(is_done, "{name}: {:?}", repair.outcome);
    stream_bytes(&Source::new(&target), u64::MAX)
}

/// Calls with textures: gradients, waves, squares and noise.
fn textured(frames: u64) -> Stream {
    let mut stream = call_heavy(3);
    let mut numbers = Numbers::of(frames);
    for frame in 0..frames {
        let texel = |at: u64, noise: u64| match frame % 4 {
            0 => at % 64 + at / 64,
            1 => (at % 64) * (at / 64) / 40 + (noise & 1),
            2 => 200 * ((at / 8 + at / 512) & 1),
            _ => noise,
        };
        let bytes = (0..4_096 + frame * 8).map(|at| texel(at, numbers.next() >> 40) as u8);
        stream.call(0, 60, &[Value::Uint(frame), Value::Blob(bytes.collect())]);
        for corner in 0..40_u64 {
            stream.call(0, 61, &[Value::Float(corner as f32), Value::Float(frame as f32)]);
        }
    }
    stream
}

#[test]
fn a_file_that_ends_inside_a_chunk_is_truncated_whatever_blobs_look_like() {
    let stream = textured(150);
    let file = Container::Snappy.file(&stream.bytes);
    let (start, end) = *chunks(&file).last().unwrap();
    let mut numbers = Numbers::of(1);
    for case in Share::one_in(1).of(0..60) {
        let cut = start + 20 + numbers.below(end - start - 21);
        let name = format!("case {case}, cut at {cut}");
        let report = tracemend::check(&FileSet::single("cut", &file[..cut]), &Options::default());
        let loud = report.findings().iter().filter(|found| found.severity > Severity::Info);
        let codes: Vec<&str> = loud.map(|found| found.rule.code).collect();
        assert_eq!(codes, [rules::TRUNCATED_UNIT.code], "{name}");
        let left = repaired_stream(&name, &file[..cut]);
        assert!(stream.bytes.starts_with(&left), "{name}");
    }
}

#[test]
fn zeros_after_the_last_event_are_not_calls() {
    let mut stream = call_heavy(40);
    stream.call(0, 0, &[Value::Opaque(0x5555_0000), Value::Opaque(0x5555_1000), Value::Uint(4)]);
    let calls = call_functions(&stream.bytes);
    for zeros in [1, 2, 3, 4, 5, 8, 13, 100, 5_000] {
        let mut followed = stream.clone();
        followed.raw(&vec![0; zeros]);
        for container in [Container::Snappy, Container::Gzip, Container::Seekable] {
            let name = format!("{zeros} zeros, {container:?}");
            let left = repaired_stream(&name, &container.file(&followed.bytes));
            assert_eq!(call_functions(&left), calls, "{name}");
        }
    }
}

#[test]
fn a_leave_after_damage_is_not_read_as_an_enter() {
    // Call numbers of one, two and three bytes, below and above the ids of functions.
    for (calls, threads) in [(60, 1), (1_000, 1), (1_000, 2), (6_000, 1), (6_000, 2), (20_000, 1)] {
        let (mut stream, mut cut) = (call_heavy(2), 0..0);
        for index in 0..calls {
            let value = Detail::Arg(0, Value::Uint(index * index));
            let call = stream.enter(index % threads, 70, 1, &[value]);
            if index == calls / 2 {
                // All of the enter but its last byte.
                cut = *stream.events.last().unwrap()..stream.bytes.len() - 1;
            }
            stream.leave(call, &[]);
        }
        let functions = call_functions(&stream.bytes);
        let mut bytes = stream.bytes;
        bytes.drain(cut);
        for container in [Container::Snappy, Container::Gzip] {
            let name = format!("{calls} calls, {threads} threads, {container:?}");
            let left = call_functions(&repaired_stream(&name, &container.file(&bytes)));
            assert_eq!(left.len(), functions.len(), "{name}");
            let differing = left.iter().zip(&functions).filter(|(one, other)| one != other);
            let differing: Vec<u64> = differing.map(|(one, _)| *one).collect();
            // The call whose enter was lost.
            assert_eq!(differing, [PLACEHOLDER_ID], "{name}");
        }
    }
}

#[test]
fn no_more_calls_are_lost_than_the_lost_bytes_can_hold() {
    let stream = call_heavy(2_000);
    let calls = stream.calls() as usize;
    for number in [100_000_u64, 300_000, 2_000_000] {
        let mut damaged = stream.clone();
        damaged.raw(&[0xff; 600]).raw(&[0, 0, 21, 0, 1]).raw(&uint(number)).raw(&[0]);
        let name = format!("number {number}");
        let left = repaired_stream(&name, &Container::Gzip.file(&damaged.bytes));
        assert_eq!(call_functions(&left).len(), calls, "{name}");
    }
}

#[test]
fn a_chunk_inside_a_brotli_stream_does_not_make_it_a_file_of_chunks() {
    let inner = chunk(&call_heavy(60).bytes);
    let mut stream = call_heavy(3);
    stream.call(0, 60, &[Value::Blob(inner)]);
    let file = Container::Brotli.file(&stream.bytes);
    let report = tracemend::check(&FileSet::single("stream", &file), &Options::default());
    let loud = report.findings().iter().filter(|found| found.severity > Severity::Info);
    assert_eq!(loud.count(), 0);
    assert!(stream_bytes(&Source::new(&file), u64::MAX) == stream.bytes);
}

#[test]
fn damage_in_an_enter_is_not_taken_for_a_wrong_number_in_its_leave() {
    for seed in Share::one_in(1).of(0..60) {
        let mut numbers = Numbers::of(seed as u64);
        let mut stream = call_heavy(40);
        let mut functions = call_functions(&stream.bytes);
        for _ in 0..12 {
            let frames = 20 + numbers.below(20) as u64;
            for _ in 0..frames {
                stream.call(0, 20, &[Value::Bitmask(1, 0x4001)]);
            }
            functions.extend(vec![20; frames as usize]);
            // An argument of another function, and the rest of the enter as the leave of a call
            // that does not exist.
            let (index, wrong) =
                (numbers.below(2) as u64 + 1, 300_000 + numbers.below(9_999) as u64);
            stream.enter(0, 23, 3, &[Detail::Arg(index, Value::Uint(frames))]);
            stream.raw(&[1]).raw(&uint(wrong)).raw(&[2, 0, 0]);
            functions.push(PLACEHOLDER_ID);
        }
        for _ in 0..40 {
            stream.call(0, 21, &[]);
        }
        functions.extend([21; 40]);
        for container in [Container::Snappy, Container::Gzip] {
            let name = format!("seed {seed}, {container:?}");
            let left = call_functions(&repaired_stream(&name, &container.file(&stream.bytes)));
            assert_eq!(left, functions, "{name}");
        }
    }
}

#[test]
fn an_index_that_is_out_of_range_is_the_one_that_the_event_lacks() {
    for seed in Share::one_in(1).of(0..60) {
        let mut numbers = Numbers::of(seed as u64);
        let (mut stream, mut places) = (call_heavy(10), Vec::new());
        for _ in 0..40 {
            let count = 2 + numbers.below(3) as u64;
            let damaged = numbers.below(count as usize) as u64;
            let values = (0..count).map(|index| Detail::Arg(index, Value::Uint(index * 1_000)));
            let call = stream.enter(0, 80 + count, count, &values.collect::<Vec<_>>());
            let end = stream.bytes.len();
            stream.leave(call, &[]);
            // An argument takes five bytes, but for the first one, which has a value of one byte.
            let after: usize = (damaged..count).map(|index| if index == 0 { 4 } else { 5 }).sum();
            places.push(end - after);
        }
        let sound = stream.bytes.clone();
        let mut damaged = sound.clone();
        for place in places {
            assert!(damaged[place] < 4, "an index");
            let is_damaged = numbers.below(6) == 0;
            damaged[place] ^= if is_damaged { 0x08 << numbers.below(4) } else { 0 };
        }
        let name = format!("seed {seed}");
        let left = repaired_stream(&name, &Container::Snappy.file(&damaged));
        assert!(left == sound, "{name}");
    }
}

#[test]
fn the_last_leave_of_a_trace_is_not_a_call_of_a_function_that_nothing_defines() {
    for seed in Share::one_in(1).of(0..60) {
        let mut numbers = Numbers::of(seed as u64);
        let mut stream = call_heavy(2 + numbers.below(400) as u64);
        let cut = stream.bytes.len() - numbers.below(40);
        let sound = call_functions(&stream.bytes[..cut]).len();
        (0..numbers.below(300)).for_each(|_| _ = stream.call(0, 22, &[1.0, 2.0].map(Value::Float)));
        let call = stream.enter(0, 24, 1, &[Detail::Arg(0, Value::Opaque(0x5555_0000))]);
        let end = stream.bytes.len() - 1;
        stream.leave(call, &[Detail::Ret(Value::Uint(7))]);
        let noise: Vec<u8> = (cut..end).map(|_| 0x20 + numbers.below(90) as u8).collect();
        stream.bytes[cut..end].copy_from_slice(&noise);
        let name = format!("seed {seed}");
        let left = repaired_stream(&name, &Container::Snappy.file(&stream.bytes));
        assert!(call_functions(&left).len() <= sound, "{name}");
    }
}

//! The traces of the forge are clean; cut and flipped at every byte, they obey the laws of check
//! and repair.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracemend::FormatId;
use tracemend::kit::source::Source;
use tracemend::{AuditRequest, Dump, FileSet, Options, Outcome, Severity, catalogue};
use tracemend_tests::forge::apitrace::{
    Clean, Container, Stream, Value, all, call_heavy, chunks, clean, snappy, zstd,
};
use tracemend_tests::mended::mended;
use tracemend_tests::properties::apitrace::every;
use tracemend_tests::properties::{Held, guarded};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Runs `property` at every place, on all processors; fails with the first that breaks.
fn everywhere(cases: &[(String, Vec<u8>)], property: impl Fn(&[u8]) -> Held + Sync) {
    let next = AtomicUsize::new(0);
    let broken = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((name, bytes)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = guarded(|| property(bytes)) {
                        broken.lock().unwrap().push(format!("{name}: {error}"));
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().unwrap();
    let shown = broken.iter().take(12).map(|line| line.chars().take(600).collect::<String>());
    let shown: Vec<String> = shown.collect();
    assert!(broken.is_empty(), "{} of {}: {}", broken.len(), cases.len(), shown.join("\n\n"));
}

#[test]
fn a_sound_trace_is_clean() {
    let mut wrong = Vec::new();
    for (name, bytes) in all() {
        let report = tracemend::check(&FileSet::single(&name, &bytes), &Options::default());
        for finding in report.findings().iter().filter(|f| f.severity > Severity::Info) {
            wrong.push(format!("{name}: {} {}", finding.rule.code, finding.message));
        }
        assert_eq!(report.format, Some(FormatId::APITRACE), "{name}");
        let (repair, target) = mended(&bytes);
        assert_eq!((repair.outcome, target == bytes), (Outcome::Clean, true), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_trace_in_zstd_that_lost_its_names_stays_a_trace() {
    if is_left_to_the_gate("a trace in zstd that lost its names stays a trace") {
        return;
    }
    let stream = call_heavy(10_000);
    let sound = zstd(&stream.bytes, 256 << 10, true);
    // The names are in the first block of the first frame.
    for (from, len) in [(40, 4_096), (200, 1_000)] {
        let mut damaged = sound.clone();
        damaged.drain(from..from + len);
        let (repair, _) = mended(&damaged);
        let kept = repair.after.tally.samples;
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{len} bytes at {from}");
        assert!(kept > stream.calls() / 2, "{len} bytes at {from}: {kept} calls");
    }
}

#[test]
fn every_event_and_call_is_counted_in_every_container() {
    for Clean { name, stream } in clean() {
        for container in Container::ALL {
            let bytes = container.file(&stream.bytes);
            let report = tracemend::check(&FileSet::single(name, &bytes), &Options::default());
            let counted = (report.tally.records, report.tally.samples, report.tally.expanded);
            let wanted = (stream.events.len() as u64, stream.calls(), stream.bytes.len() as u64);
            assert_eq!(counted, wanted, "{name} {container:?}");
        }
    }
}

/// Returns the count and the ranges of the calls that may be wrong, as the facts list them.
fn suspects(report: &tracemend::Report) -> (u64, Vec<(u64, u64)>) {
    let fact = report.facts.iter().find(|(name, _)| *name == "calls that may be wrong");
    let Some((count, ranges)) = fact.and_then(|(_, value)| value.split_once(": ")) else {
        return (0, Vec::new());
    };
    let range = |text: &str| {
        let (from, to) = text.split_once(" to ").unwrap_or((text, text));
        (from.parse().unwrap(), to.parse().unwrap())
    };
    (count.parse().unwrap(), ranges.split(", ").map(range).collect())
}

#[test]
fn calls_with_placeholder_definitions_are_listed_as_suspect() {
    // Frames of five calls, and functions of their own that the damage does not reach.
    let mut stream = call_heavy(60);
    let late = stream.calls();
    for index in 0..2_000 {
        stream.call(0, 40 + index % 4, &[Value::Uint(index)]);
        if index % 40 == 39 {
            // Each of these calls lies between sound ones.
            stream.call(0, 21, &[]);
        }
    }
    let calls = stream.calls();
    let uses: Vec<u64> = (0..50).map(|group| late + group * 41 + 40).collect();
    let whole = snappy(&stream.bytes, 1_000);
    let (first, end) = chunks(&whole)[0];
    let mut damaged = whole.clone();
    damaged[first + 4..end].fill(0);
    let report = tracemend::check(&FileSet::single("trace", &damaged), &Options::default());
    let (count, ranges) = suspects(&report);
    let marked = |call: &u64| ranges.iter().any(|(from, to)| (*from..=*to).contains(call));
    // The functions of all frames were defined in the lost bytes.
    let lost = report.facts.iter().find(|(name, _)| *name == "calls lost").unwrap();
    let (_, last) = lost.1.rsplit_once(" to ").unwrap();
    let last: u64 = last.parse().unwrap();
    assert!(last < 60, "{last} lost of {late} in the frames");
    // The call in the middle with its own definitions is unchanged.
    let sound = |call: &u64| *call != 30 * 5 + 4;
    let unmarked: Vec<u64> = (last + 1..late).filter(|call| sound(call) && !marked(call)).collect();
    assert!(unmarked.is_empty(), "{unmarked:?} of {ranges:?}");
    assert!(uses.iter().all(marked), "{ranges:?}");
    // Each range is listed, though a text shows some of them only.
    assert!(ranges.len() > uses.len(), "{ranges:?}");
    let held: u64 = ranges.iter().map(|(from, to)| to - from + 1).sum();
    assert_eq!(held, count);
    assert!(count < calls - 1_000, "{count} of {calls}");

    // With a donor that has them, no definition is a placeholder.
    let donor = Container::Snappy.file(&call_heavy(4).bytes);
    let files = FileSet::single("trace", &damaged).with_donor(Some(Source::new(&donor)));
    let (with_donor, _) = suspects(&tracemend::check(&files, &Options::default()));
    assert_eq!(with_donor, 0);
    // A donor of another build is not used.
    let mut other = Stream::new(6);
    other.call(0, 40, &[Value::Uint(1), Value::Uint(2)]);
    for id in 20..26 {
        other.call(0, id, &[]);
    }
    let other = Container::Snappy.file(&other.bytes);
    let files = FileSet::single("trace", &damaged).with_donor(Some(Source::new(&other)));
    let refused = tracemend::check(&files, &Options::default());
    assert_eq!(suspects(&refused), (count, ranges));
}

#[test]
fn a_trace_without_a_call_shows_and_hides_its_properties() {
    let properties = [("process.name", "/usr/bin/forge"), ("process.commandLine", "forge --all")];
    let stream = Stream::with_properties(&properties);
    for container in Container::ALL {
        let bytes = container.file(&stream.bytes);
        let files = FileSet::single("some", &bytes);
        let report = tracemend::check(&files, &Options::default());
        assert_eq!(report.format, Some(FormatId::APITRACE), "{container:?}");
        assert!(report.findings().is_empty(), "{container:?}: {:?}", report.findings());
        let audit = tracemend::audit(&files, &Options::default(), &AuditRequest::default());
        for code in ["AU1003", "AU1006"] {
            assert!(audit.findings().iter().any(|one| one.rule.code == code), "{container:?}");
        }
        let mut text = String::new();
        let mut take = |part: &str| {
            text.push_str(part);
            true
        };
        let request = Dump::Text { style: None };
        tracemend::dump(&files, &Options::default(), &request, &mut take).unwrap();
        assert!(text.contains("process.name = \"/usr/bin/forge\""), "{container:?}: {text}");
    }
}

#[test]
fn other_files_are_not_recognised_as_traces() {
    let text = b"at the end of the day, all that is left of a trace is text. ".repeat(99);
    let json = br#"{"version": 6, "calls": [0, 1, 2, 3]}"#.repeat(50);
    let mut state = 1_u64;
    let mut noise = Vec::new();
    for _ in 0..4096 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        noise.push((state >> 33) as u8);
    }
    let gzip_of_text = Container::Gzip.file(&text);
    let mut files =
        vec![text, json, vec![0; 5000], vec![0xff; 5000], gzip_of_text, b"at".repeat(3)];
    files.extend(Share::one_in(8).of(0..2000).map(|start| noise[start..start + 2000].to_vec()));
    // A zstd frame whose window of 1 TiB is over the default limit.
    files.push([b"\x28\xb5\x2f\xfd\x00\xf0", &noise[..2000]].concat());
    for bytes in files {
        let format = catalogue::sniff(&FileSet::single("other", &bytes), &Options::default())
            .map(|f| f.name());
        assert_ne!(format, Some("apitrace"), "{:02x?}", &bytes[..16.min(bytes.len())]);
    }
}

#[test]
fn the_laws_hold_for_traces_cut_and_flipped_at_every_byte() {
    if is_left_to_the_gate("the laws hold for traces cut and flipped at every byte") {
        return;
    }
    let mut cases = Vec::new();
    for (name, bytes) in all() {
        let is_old = name.starts_with("version_") && !name.starts_with("version_6");
        let step = match name.contains("SmallChunks") {
            true if is_old => 3, // The same calls as those of version 6.
            true => 1,
            // Containers with one unit are slower, and their bytes matter less for the stream.
            false => 7,
        };
        for at in Share::one_in(64).of((0..bytes.len()).step_by(step)) {
            cases.push((format!("{name} cut at {at}"), bytes[..at].to_vec()));
            let mask = if at % 2 == 0 { 0xff } else { 1 };
            let mut flipped = bytes.clone();
            flipped[at] ^= mask;
            cases.push((format!("{name} flipped by {mask:#x} at {at}"), flipped));
        }
    }
    everywhere(&cases, every);
}

#[test]
fn the_laws_hold_for_streams_flipped_at_every_byte() {
    let mut cases = Vec::new();
    let stream = call_heavy(30).bytes;
    for at in Share::one_in(16).of(0..stream.len()) {
        for mask in [0x80, 1] {
            let mut flipped = stream.clone();
            flipped[at] ^= mask;
            let bytes = Container::Snappy.file(&flipped);
            cases.push((format!("calls flipped by {mask:#x} at {at}"), bytes));
        }
        let mut shorter = stream.clone();
        shorter.drain(at..(at + 20).min(stream.len()));
        cases.push((format!("calls without 20 bytes at {at}"), Container::Snappy.file(&shorter)));
    }
    everywhere(&cases, every);
}

#[test]
fn a_cut_frame_keeps_the_blocks_before_the_cut() {
    let stream = call_heavy(20_000);
    let file = zstd(&stream.bytes, stream.bytes.len(), true);
    // Blocks of 128 KiB of the stream, more than eight.
    assert!(stream.bytes.len() > 8 << 17, "{}", stream.bytes.len());
    for tenth in Share::one_in(4).of(2..10) {
        let (repair, target) = mended(&file[..file.len() * tenth / 10]);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
        let kept = tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
        let len = kept.len();
        assert!(kept == stream.bytes[..len], "{tenth}");
        assert!(len + (2 << 17) > stream.bytes.len() * tenth / 10, "{tenth}: {len}");
    }
}

#[test]
fn a_frame_cut_after_a_block_that_ends_with_an_event_is_kept() {
    let with_blob = |len: usize| {
        let mut stream = Stream::new(6);
        stream.call(0, 5, &[Value::Blob(vec![7; len])]);
        stream
    };
    let (len, sample) = (256 << 10, 200_000);
    let others = with_blob(sample).bytes.len() - sample;
    let mut stream = with_blob(len - others);
    assert_eq!(stream.bytes.len(), len);
    stream.call(0, 5, &[Value::Blob((0..=255).collect())]);
    let file = zstd(&stream.bytes, stream.bytes.len(), false);
    let (repair, target) = mended(&file[..file.len() - 5]);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let kept = tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
    assert!(kept == stream.bytes[..len], "{}", kept.len());
}

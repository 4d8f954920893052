//! Streams whose container was unpacked on their way, and containers of nothing.

use std::path::Path;
use tracemend_tests::sweep::is_left_to_the_gate;

use tracemend::formats::apitrace::stream_bytes;
use tracemend::kit::source::Source;
use tracemend::{Edit, FileSet, Layer, Options, Outcome, Report, Safety, Span};
use tracemend_tests::forge::apitrace::clean::clean;
use tracemend_tests::forge::apitrace::{Container, call_heavy};
use tracemend_tests::judge::apitrace::Apitrace;

/// Bytes of a stream, at most.
const STREAM_MAX: u64 = 64 << 20;

fn codes(report: &Report) -> Vec<&'static str> {
    report.counts().keys().copied().collect()
}

/// Streams of real and of forged traces that are sound.
fn streams() -> Vec<(String, Vec<u8>)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/apitrace/clean");
    let traces = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
    let mut streams: Vec<(String, Vec<u8>)> = traces
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            (path.display().to_string(), stream_bytes(&Source::new(&bytes), STREAM_MAX))
        })
        .collect();
    let forged = clean().into_iter();
    streams.extend(forged.map(|trace| (trace.name.to_string(), trace.stream.bytes)));
    // Longer than a chunk.
    streams.push(("calls".to_string(), call_heavy(40_000).bytes));
    streams
}

#[test]
fn a_stream_without_a_container_is_put_into_chunks_as_it_is() {
    if is_left_to_the_gate("a stream without a container is put into chunks as it is") {
        return;
    }
    let (judge, folder) = (Apitrace::find_or_skip(), tempfile::tempdir().unwrap());
    let dump = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        judge.as_ref().map(|judge| judge.dump(&path).calls)
    };
    let options = Options::default();
    for (name, stream) in streams() {
        let files = FileSet::single("app.trace", &stream);
        let repair = tracemend::repair(&files, &options);
        assert!(codes(&repair.before).contains(&"AT0007"), "{name}: {:?}", codes(&repair.before));
        assert_eq!(repair.outcome, Outcome::Repaired, "{name}");
        assert_eq!(repair.safety(), Some(Safety::Synthetic), "{name}");
        let output = repair.output(&files).bytes(0).to_vec();
        assert!(stream_bytes(&Source::new(&output), STREAM_MAX) == stream, "{name}");
        assert!(output.len() - stream.len() < 16 * (1 + (stream.len() >> 20)), "{name}");
        let original = Container::Snappy.file(&stream);
        assert!(dump("mended.trace", &output) == dump("original.trace", &original), "{name}");
    }
}

#[test]
fn damage_of_a_stream_without_a_container_is_repaired_before_it_gets_one() {
    let stream = call_heavy(300);
    let (at, cut) = (stream.events[300], stream.bytes.len() - 5);
    let mut damaged = stream.bytes.clone();
    damaged[at..at + 9].fill(0xee);
    let options = Options::default();
    for (bytes, code) in [(damaged, "AT1002"), (stream.bytes[..cut].to_vec(), "AT1001")] {
        let files = FileSet::single("app.trace", &bytes);
        let repair = tracemend::repair(&files, &options);
        let before = codes(&repair.before);
        assert!(before.contains(&"AT0007") && before.contains(&code), "{before:?}");
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
        assert!(!repair.after.has_errors(), "{:?}", codes(&repair.after));
        let kept = repair.after.tally.samples;
        assert!(kept + 2 >= stream.calls(), "{kept} of {}", stream.calls());
        // In the same container, the same calls are kept.
        let packed = Container::Snappy.file(&bytes);
        let packed = tracemend::repair(&FileSet::single("app.trace", &packed), &options);
        assert_eq!(kept, packed.after.tally.samples);
    }
}

#[test]
fn a_redaction_of_a_stream_without_a_container_is_in_its_place() {
    let stream = call_heavy(20).bytes;
    let name = stream.windows(8).position(|window| window == b"glForged").unwrap() as u64;
    let span = Span::new(Layer::stored(0).expanded(), name, name + 2);
    let files = FileSet::single("app.trace", &stream);
    let edits = [Edit::replace(span, *b"xx")];
    let format = tracemend::catalogue::sniff(&files, &Options::default()).unwrap();
    let format = tracemend::catalogue::format(format).unwrap();
    let stored = format.store(&files, &edits, &Options::default()).unwrap();
    assert_eq!(stored.edits.len(), 1);
    assert_eq!(stored.edits[0].span.layer(), Layer::stored(0));
}

#[test]
fn an_empty_gzip_stream_with_the_name_of_a_trace_is_an_empty_trace() {
    let empty = Container::Gzip.file(&[]);
    let check = |name: &str| tracemend::check(&FileSet::single(name, &empty), &Options::default());
    let snappy = tracemend::check(&FileSet::single("app.trace", b"at"), &Options::default());
    assert_eq!(codes(&check("app.trace")), codes(&snappy));
    assert_eq!(check("app.trace").verdict(), snappy.verdict());
    assert_eq!(codes(&check("log.gz")), ["CM0002"]);
}

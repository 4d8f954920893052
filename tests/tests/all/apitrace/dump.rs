//! `dump` of traces: equal to `apitrace dump`, filters, lines of JSON, the summary.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;
use tracemend::formats::apitrace::limits::DUMP_TEXT;
use tracemend::{Dump, DumpError, Dumped, FileSet, FormatId, Limits, Options};
use tracemend_tests::forge::apitrace::{Container, Detail, Stream, Value, all, call_heavy, guid};
use tracemend_tests::judge::apitrace::Apitrace;

/// Dumps a trace with options of the format.
fn dump(bytes: &[u8], request: &Dump, chosen: &[(&str, &str)]) -> (String, Dumped) {
    let mut options = Options::default().with_format(FormatId::APITRACE);
    for (name, value) in chosen {
        options.choices.set(name, value).unwrap();
    }
    dump_as(bytes, request, &options)
}

fn dump_as(bytes: &[u8], request: &Dump, options: &Options) -> (String, Dumped) {
    let mut text = String::new();
    let files = FileSet::single("app.trace", bytes);
    let dumped = tracemend::dump(&files, options, request, &mut |piece| {
        text.push_str(piece);
        true
    });
    (text, dumped.unwrap())
}

fn style(name: &str) -> Dump {
    Dump::Text { style: Some(name.to_string()) }
}

/// Three frames of two threads; the second thread draws in the second frame only.
fn frames() -> Stream {
    let mut stream = Stream::with_properties(&[("process.name", "/bin/app"), ("os", "a\tb")]);
    for frame in 0..3 {
        stream.named_call(0, 1, "glDrawArrays", &[Value::Uint(frame), Value::Float(0.1)]);
        if frame == 1 {
            stream.named_call(1, 1, "glDrawArrays", &[Value::Uint(7), Value::Float(-2.5)]);
        }
        stream.named_call(0, 2, "glGetString", &[Value::Uint(7936)]);
        stream.named_call(0, 3, "glXSwapBuffers", &[Value::Opaque(0x1f), Value::Null]);
    }
    stream
}

/// Calls with the names of interfaces: one that apitrace knows, and others.
fn interfaces() -> Stream {
    let mut stream = Stream::with_properties(&[]);
    let factory =
        guid(0x770a_ae78, 0xf26f, 0x4dba, [0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1, 0xb3, 0x87]);
    let unknown = guid(1, 2, 3, [4, 5, 6, 7, 8, 9, 10, 255]);
    // Numbers that no member holds.
    let wide = guid(1 << 40 | 7, 1 << 16 | 8, u64::MAX, [9; 8]);
    let list = Value::Array(vec![factory.clone(), unknown.clone(), wide]);
    stream.named_call(0, 1, "CreateDXGIFactory1", &[Value::Array(vec![factory]), Value::Null]);
    stream.named_call(0, 2, "QueryInterfaces", &[list, Value::Struct(7, vec![unknown])]);
    stream
}

#[test]
fn every_sound_trace_is_shown_as_apitrace_shows_it() {
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.trace");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/apitrace/clean");
    let entries = std::fs::read_dir(corpus).unwrap();
    let mut traces: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read(path).unwrap()))
        .collect();
    traces.push(("frames".to_string(), Container::Snappy.file(&frames().bytes)));
    traces.push(("interfaces".to_string(), Container::Snappy.file(&interfaces().bytes)));
    let is_read = |bytes: &[u8]| !bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    traces.extend(all().into_iter().filter(|(_, bytes)| is_read(bytes)));
    let mut compared = 0;
    for (name, bytes) in traces {
        std::fs::write(&path, &bytes).unwrap();
        for (style_name, options) in [("calls", &[][..]), ("verbose", &["--verbose"])] {
            let mut command = Command::new(&judge.program);
            let output = command.args(["dump", "--color=never"]).args(options).arg(&path).output();
            let output = output.unwrap();
            // Of some forged traces apitrace has complaints.
            if !output.status.success() || !output.stderr.is_empty() {
                continue;
            }
            let (text, _) = dump(&bytes, &style(style_name), &[]);
            let expected = String::from_utf8_lossy(&output.stdout);
            let differing = expected.lines().zip(text.lines()).find(|(one, two)| one != two);
            assert!(expected == text, "{name}, {style_name}: {differing:?}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn filters_choose_calls_functions_threads_and_frames() {
    let bytes = Container::Snappy.file(&frames().bytes);
    let numbers = |chosen: &[(&str, &str)]| {
        let (text, _) = dump(&bytes, &style("verbose"), chosen);
        let number = |line: &str| line.split_once(' ')?.0.parse::<u64>().ok();
        text.lines().filter_map(number).collect::<Vec<u64>>()
    };
    assert_eq!(numbers(&[]), (0..10).collect::<Vec<u64>>());
    assert_eq!(numbers(&[("calls", "3..5")]), [3, 4]);
    assert_eq!(numbers(&[("grep", "Swap")]), [2, 6, 9]);
    assert_eq!(numbers(&[("grep", "^glX|String$")]), [1, 2, 5, 6, 8, 9]);
    assert_eq!(numbers(&[("thread", "1")]), [4]);
    assert_eq!(numbers(&[("frame", "1")]), [3, 4, 5, 6]);
    assert_eq!(numbers(&[("frame", "1.."), ("grep", "Draw")]), [3, 4, 7]);
    // Queries are left out unless they are asked for.
    assert!(!dump(&bytes, &Dump::default(), &[]).0.contains("glGetString"));
    for (name, value) in [("grep", "a b"), ("grep", ""), ("frame", "one"), ("calls", "3")] {
        assert!(Options::default().choices.set(name, value).is_err(), "{name} {value}");
    }
}

#[test]
fn lines_of_json_have_the_arguments_by_name() {
    let bytes = Container::Snappy.file(&frames().bytes);
    let (text, dumped) = dump(&bytes, &Dump::JsonLines, &[("thread", "1")]);
    let call: Json = serde_json::from_str(&text).unwrap();
    assert_eq!((dumped.records, dumped.left_out), (2, 0));
    for (name, value) in [("number", 4), ("thread", 1), ("frame", 1), ("layer", 1)] {
        assert_eq!(call[name], value, "{name}");
    }
    assert_eq!((&call["kind"], &call["function"]), (&"call".into(), &"glDrawArrays".into()));
    assert_eq!(call["arguments"][1]["name"], "arg1");
    assert_eq!(call["arguments"][1]["value"], "-2.5");
    assert_eq!((&call["is_complete"], &call["is_fake"]), (&true.into(), &false.into()));
}

#[test]
fn the_summary_counts_frames_threads_functions_and_blobs() {
    let mut stream = frames();
    stream.named_call(0, 4, "glBufferData", &[Value::Uint(1), Value::Blob(vec![7; 5000])]);
    let open = stream.enter(0, 1, 2, &[Detail::Arg(0, Value::Uint(1))]);
    let (text, _) = dump(&Container::Gzip.file(&stream.bytes), &style("summary"), &[]);
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let has = |line: &str| assert!(lines.iter().any(|one| one == line), "{line}\n{text}");
    has("frames 3, 2 calls after the last one");
    has(&format!("calls {}, 1 without a leave, 0 fake", open + 1));
    has("1: 1 call, 0 frames");
    has("5 glDrawArrays");
    has("blobs 1, 5000 bytes");
    has("1 glBufferData.arg1: 5000 bytes, the largest 5000 bytes");
    assert!(!text.contains("suspects"));
}

#[test]
fn damage_is_left_out_and_counted_and_the_calls_after_it_keep_their_numbers() {
    let stream = call_heavy(300);
    let (sound, _) = dump(&Container::SmallChunks.file(&stream.bytes), &style("verbose"), &[]);
    let mut bytes = stream.bytes.clone();
    let event = stream.events[200];
    bytes[event..event + 40].fill(0xee);
    let damaged = Container::SmallChunks.file(&bytes);
    let (text, dumped) = dump(&damaged, &style("verbose"), &[]);
    assert!(dumped.left_out >= 40, "{dumped:?}");
    let last = |text: &str| text.lines().last().map(str::to_string);
    assert_eq!(last(&text), last(&sound));
    let right = text.lines().filter(|line| sound.contains(*line)).count();
    assert!(right + 30 > sound.lines().count(), "{right}");
    let (summary, _) = dump(&damaged, &style("summary"), &[]);
    assert!(summary.contains("suspects"), "{summary}");
}

#[test]
fn text_is_safe_to_print_and_bounded() {
    let mut stream = Stream::new(6);
    let hostile = b"\x1b[2J\"\\\r\n\xff\x01 ok\0hidden".to_vec();
    stream.call(0, 1, &[Value::String(hostile), Value::Wide(vec![0x263a, 0x41])]);
    let bytes = Container::Snappy.file(&stream.bytes);
    let (text, _) = dump(&bytes, &Dump::default(), &[]);
    assert!(text.chars().all(|c| c == '\n' || (' '..='~').contains(&c)), "{text:?}");
    assert!(text.contains("[2J\\\"\\\\\n") && !text.contains("hidden"), "{text}");
    let (text, _) = dump(&bytes, &Dump::JsonLines, &[]);
    assert_eq!(text.lines().count(), 1);
    let mut limits = Limits::default();
    limits.set(&DUMP_TEXT, 64);
    let mut long = Stream::new(6);
    long.call(0, 1, &[Value::String(vec![b'a'; 500])]);
    let options = Options { limits, ..Options::default() };
    let (text, dumped) = dump_as(&Container::Snappy.file(&long.bytes), &Dump::default(), &options);
    assert!(text.len() < 200 && dumped.left_out > 0, "{text}");
    let request = style("other");
    let files = FileSet::single("app.trace", &bytes);
    let refused = tracemend::dump(&files, &Options::default(), &request, &mut |_| true);
    assert_eq!(refused, Err(DumpError::Style("other".to_string())));
}

#[test]
fn the_summary_counts_calls_by_the_context_that_is_current() {
    let mut stream = Stream::new(6);
    stream.name(1, "glXMakeCurrent", &["dpy", "drawable", "ctx"]);
    for context in [Value::Opaque(0xc), Value::Null] {
        stream.call(0, 1, &[Value::Opaque(0xd), Value::Opaque(0xe), context]);
        stream.named_call(0, 2, "glClear", &[Value::Uint(1)]);
        stream.named_call(0, 2, "glClear", &[Value::Uint(1)]);
    }
    let (text, _) = dump(&Container::Snappy.file(&stream.bytes), &style("summary"), &[]);
    let mut lines = text.lines().skip_while(|line| !line.starts_with("contexts"));
    assert_eq!(lines.next().unwrap().split_whitespace().nth(1), Some("1"));
    assert_eq!(lines.next().unwrap().trim(), "0xc: created before the trace, 2 calls");
}

//! `dump --style folded`: stacks as `perf script` shows them.

use std::collections::BTreeMap;
use std::path::Path;

use tracemend::{Dump, FileSet, FormatId, Limits, Options};
use tracemend_tests::forge::perf::simpleperf;
use tracemend_tests::forge::perf::{Attr, Order, Recording, sample_type as bit};
use tracemend_tests::judge::perf::Perf;

fn folded(bytes: &[u8], options: &Options) -> String {
    let mut text = String::new();
    let request = Dump::Text { style: Some("folded".into()) };
    let options = Options { format: Some(FormatId::PERF), ..options.clone() };
    let files = FileSet::single("perf.data", bytes);
    let dumped = tracemend::dump(&files, &options, &request, &mut |piece| {
        text += piece;
        true
    });
    assert_eq!(dumped.unwrap().left_out, 0);
    text
}

/// Stacks with their counts.
fn counts(text: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        *counts.entry(stack.to_string()).or_default() += count.parse::<u64>().unwrap();
    }
    counts
}

/// Folds the text of `perf script -F comm,ip,dso,dsoff`, without the offsets in the kernel: perf
/// places its code by the symbols of this machine.
fn fold(text: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    // An empty line follows a chain; without chains, each line is a sample.
    let end = if text.contains("\n\n") { "\n\n" } else { "\n" };
    for sample in text.split(end).filter(|sample| !sample.trim().is_empty()) {
        let mut lines = sample.trim_matches('\n').lines();
        let first = lines.next().unwrap().trim();
        let mut frames: Vec<String> = Vec::new();
        let mut comm = first.to_string();
        // Without a chain, the address follows the name in one line.
        if let Some((name, rest)) = first.split_once("  ").filter(|(_, rest)| rest.contains('(')) {
            comm = name.to_string();
            frames.push(frame(rest));
        }
        frames.extend(lines.map(frame));
        frames.reverse();
        *counts.entry([vec![comm], frames].concat().join(";")).or_default() += 1;
    }
    counts
}

/// `7f00 (/usr/lib/libc.so.6+0x1234)` as `libc.so.6+0x1234`.
fn frame(line: &str) -> String {
    let (_, file) = line.trim().split_once('(').unwrap();
    let file = file.trim_end().strip_suffix(')').unwrap();
    match file.rsplit_once("+0x") {
        _ if file.starts_with("[unknown]") => "[unknown]".to_string(),
        _ if file.starts_with("[kernel") => "[kernel]".to_string(),
        Some((name, offset)) => format!("{}+0x{offset}", name.rsplit('/').next().unwrap()),
        None => panic!("{line}"),
    }
}

/// The same of a stack of ours.
fn without_kernel_offsets(text: &str) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, count) in self::counts(text) {
        let frames = stack.split(';').map(|frame| match frame.starts_with("[kernel") {
            true => "[kernel]".to_string(),
            false => frame.to_string(),
        });
        *counts.entry(frames.collect::<Vec<_>>().join(";")).or_default() += count;
    }
    counts
}

#[test]
fn stacks_are_those_of_perf_script() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    // perf 6.1 does not print offsets.
    for perf in Perf::all_or_skip().into_iter().filter(|perf| perf.release() >= (6, 5)) {
        for name in ["callgraph.data", "plain.data", "pipe.data", "zstd.data"] {
            let path = corpus.join(name);
            let bytes = std::fs::read(&path).unwrap();
            let shown = perf
                .view(&path, &["script", "--no-itrace", "--no-inline", "-F", "comm,ip,dso,dsoff"]);
            assert!(shown.is_success() && shown.count > 0, "{name}: {}", shown.stderr);
            let mine = without_kernel_offsets(&folded(&bytes, &Options::default()));
            assert_eq!(mine, fold(&shown.stdout), "{name} by {}", perf.version());
        }
    }
}

#[test]
fn every_sample_is_in_one_stack() {
    for (name, bytes) in tracemend_tests::forge::perf::all() {
        let files = FileSet::single("perf.data", &bytes);
        let report = tracemend::check(&files, &Options::default());
        if report.has_errors() {
            continue;
        }
        let sum: u64 = counts(&folded(&bytes, &Options::default())).values().sum();
        assert_eq!(sum, report.tally.samples, "{name}");
    }
}

/// A text or a message as a field of a message.
fn counted(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(content.len()).unwrap()], content].concat()
}

#[test]
fn a_frame_has_the_symbol_that_simpleperf_recorded() {
    const PATH: &[u8] = b"/tmp/forged";
    const SYMBOL: &[u8] = b"forge::Secret<T>::run";
    let attr = Attr::cpu_clock(bit::IP | bit::TID | bit::TIME | bit::ID).with_ids(&[7]);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let mut maker = recording.maker(0);
    let all = vec![maker.comm("app"), maker.mmap2(), maker.sample(), maker.sample()];
    recording.extend(all);
    let built = recording.build();
    let sized =
        |entry: Vec<u8>| [&u32::try_from(entry.len()).unwrap().to_le_bytes(), &entry[..]].concat();
    // The code at 0x40 of the file has the address 0x1000, so that at 0x1000 has 0x1fc0.
    let file = |start: u64| {
        let symbol = [&start.to_le_bytes()[..], &16_u32.to_le_bytes(), SYMBOL, b"\0"].concat();
        let head = [PATH, b"\0", &2_u32.to_le_bytes(), &0x1000_u64.to_le_bytes()].concat();
        sized([&head[..], &1_u32.to_le_bytes(), &symbol, &0x40_u64.to_le_bytes()].concat())
    };
    let symbol = [&[8, 0xc0, 0x3f, 16, 16][..], &counted(3, SYMBOL)].concat();
    let message = [
        counted(1, PATH),
        vec![16, 2, 24, 0x80, 0x20],
        counted(4, &symbol),
        counted(6, &[8, 0x40]),
    ];
    let text = |feature| {
        let bytes = simpleperf::finish(&built, &[feature]);
        folded(&bytes, &Options::default())
    };
    let symbol = String::from_utf8(SYMBOL.to_vec()).unwrap();
    assert_eq!(text((128, file(0x1fc0))), format!("app;{symbol} 2\n"));
    assert_eq!(text((132, sized(message.concat()))), format!("app;{symbol} 2\n"));
    assert_eq!(text((128, file(0x1f00))), "app;forged+0x1000 2\n");
    // What does not fit names nothing.
    assert_eq!(text((128, vec![0xff; 40])), "app;forged+0x1000 2\n");
    assert_eq!(text((132, vec![4, 0, 0, 0, 0x22, 0xff, 0xff, 0xff])), "app;forged+0x1000 2\n");
}

#[test]
fn stacks_that_take_too_much_are_written_in_parts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean/zstd.data");
    let bytes = std::fs::read(path).unwrap();
    let all = folded(&bytes, &Options::default());
    let limited = |name: &str, value: u64| {
        let mut limits = Limits::default();
        limits.set_by_name(name, value).unwrap();
        folded(&bytes, &Options { limits, ..Options::default() })
    };
    let parts = limited("perf-stacks", 1);
    assert!(parts.lines().count() > all.lines().count());
    assert_eq!(counts(&parts), counts(&all));
    // Without room for names, addresses are unknown.
    let unknown = limited("perf-spaces", 0);
    assert!(unknown.lines().all(|line| line.contains("[unknown]")), "{unknown}");
    assert_eq!(counts(&unknown).values().sum::<u64>(), counts(&all).values().sum::<u64>());
}

#[test]
fn a_name_does_not_end_a_frame_or_a_line() {
    let attr = Attr::cpu_clock(bit::IP | bit::TID | bit::TIME).with_ids(&[7]);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let mut maker = recording.maker(0);
    let all = vec![maker.comm("a;b\n1"), maker.sample()];
    recording.extend(all);
    let text = folded(&recording.build().bytes, &Options::default());
    assert_eq!(text.lines().count(), 1);
    assert_eq!(text.matches(';').count(), 1, "{text}");
}

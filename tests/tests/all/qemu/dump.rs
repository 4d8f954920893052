//! Dumps of logs: events as text and as JSON, counts, and the comparison of two logs.

use tracemend::model::dump::Dump;
use tracemend::{Compared, Degree, FileSet, FormatId, Options};
use tracemend_tests::forge::qemu::{Log, all, every, ids};

/// The text of a dump with some options, and the number of records.
fn dump(bytes: &[u8], request: &Dump, choices: &[(&str, &str)]) -> (String, u64) {
    let mut options = Options { format: Some(FormatId::QEMU), ..Options::default() };
    for (name, value) in choices {
        options.choices.set(name, value).unwrap();
    }
    let files = FileSet::single("log", bytes);
    let mut text = String::new();
    let dumped = tracemend::dump(&files, &options, request, &mut |piece| {
        text += piece;
        true
    });
    let dumped = dumped.unwrap();
    assert_eq!(dumped.left_out, 0);
    (text, dumped.records)
}

fn style(name: &str) -> Dump {
    Dump::Text { style: Some(name.to_string()) }
}

#[test]
fn every_event_is_a_line_with_its_number_offset_and_name() {
    for (name, log) in all() {
        let release = [("qemu-version", log.ids.release)];
        let (text, records) = dump(&log.bytes, &Dump::default(), &release);
        assert_eq!(records, u64::try_from(log.marks.len()).unwrap(), "{name}");
        for ((number, mark), line) in log.marks.iter().enumerate().zip(text.lines()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let place = format!("{:#010x}", mark.start);
            assert_eq!(words[..2], [number.to_string(), place], "{name}");
            assert_eq!(words[3], mark.name, "{name}");
        }
        let (json, _) = dump(&log.bytes, &Dump::JsonLines, &release);
        for (mark, line) in log.marks.iter().zip(json.lines()) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["offset"], &line["kind"]), (&mark.start.into(), &mark.name.into()));
        }
    }
}

#[test]
fn fields_and_instructions_so_far_are_those_that_were_written() {
    let mut log = Log::new(ids::of("11.0"));
    log.start().instruction(100).char_write(1, 1).instruction(7).pointer(2, 1, -9).sync();
    log.random(0, b"abc").close();
    let (text, _) = dump(&log.bytes, &Dump::default(), &[("from-icount", "100")]);
    let lines: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().skip(2).collect::<Vec<_>>().join(" "))
        .collect();
    let wanted = [
        "100 CHAR_WRITE result=1 written=1",
        "100 INSTRUCTION count=7",
        "107 ASYNC_INPUT input=relative axis=1 value=-9",
        "107 ASYNC_INPUT_SYNC",
        "107 RANDOM result=0 size=3",
        "107 SHUTDOWN+HOST_SIGNAL",
        "107 END",
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn a_dump_shows_only_the_events_that_were_asked_for() {
    let log = every(ids::of("11.0"));
    let count = |start: &str| log.marks.iter().filter(|mark| mark.name.starts_with(start)).count();
    for kind in ["INSTRUCTION", "ASYNC", "cp", "CLOCK_HOST", "SHUTDOWN"] {
        let (_, records) = dump(&log.bytes, &Dump::default(), &[("kind", kind)]);
        let wanted = count(&kind.to_uppercase());
        assert_eq!(records, u64::try_from(wanted).unwrap(), "{kind}");
    }
    let (_, records) = dump(&log.bytes, &Dump::default(), &[("range", "3..5")]);
    assert_eq!(records, 2);
    for wrong in ["", "CLOCK_", "NOTHING"] {
        assert!(Options::default().with_choice("kind", wrong).is_err(), "{wrong}");
    }
}

#[test]
fn statistics_count_events_and_bytes_of_each_kind() {
    let mut log = Log::new(ids::of("11.0"));
    log.start().instruction(100).exception().instruction(7).host().close();
    let (text, _) = dump(&log.bytes, &style("statistics"), &[]);
    assert!(text.contains("           2             10  INSTRUCTION\n"), "{text}");
    assert!(text.ends_with("\n12 events with 107 instructions\n"), "{text}");
}

#[test]
fn a_comparison_names_the_first_clock_and_the_first_other_event_that_differ() {
    let log = |host: i64, count: u32, bytes: &[u8]| {
        let mut log = Log::new(ids::of("11.0"));
        log.start().random(0, bytes).host_at(host).instruction(count).exception().close();
        log.bytes
    };
    let (early, late) = (1_800_000_000_000_000_000, 1_900_000_000_000_000_000);
    let first = log(early, 5, b"abc");
    let compare = |other: &[u8]| {
        let [one, two] = [&first[..], other].map(|bytes| FileSet::single("log", bytes));
        let options = Options { format: Some(FormatId::QEMU), ..Options::default() };
        tracemend::diff(&one, &two, &options).unwrap()
    };
    let shown = |compared: &Compared| -> Vec<(Degree, u64, Vec<String>)> {
        let one = |one: &tracemend::Difference| {
            let names = one.fields.iter().map(|field| field.name.clone()).collect();
            (one.degree, one.number, names)
        };
        compared.differences.iter().map(one).collect()
    };
    let equal = compare(&first);
    assert_eq!((equal.records, equal.is_different()), (12, false));
    let compared = compare(&log(late, 6, b"abc"));
    let wanted = [
        (Degree::Volatile, 7, vec!["clock".to_string()]),
        (Degree::Content, 8, vec!["count".to_string()]),
    ];
    assert_eq!((compared.records, shown(&compared)), (9, wanted.to_vec()));
    // Bytes of arrays are compared by their checksum, also where a clock differs before.
    let compared = compare(&log(early, 5, b"abd"));
    let wanted = (Degree::Content, 6, vec!["array_crc32".to_string()]);
    assert_eq!(shown(&compared), [wanted]);
    let compared = compare(&first[..first.len() - 1]);
    assert_eq!(compared.differences.last().unwrap().records[1], None);
    let compared = compare(&[&first[..], b"more"].concat());
    assert!(compared.differences.is_empty() && compared.is_different());
    assert_eq!(compared.hidden.unwrap().bytes, [b"".to_vec(), b"more".to_vec()]);
}

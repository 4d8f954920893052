//! `dump` of traces: events in the order of the emulator, lines of JSON, the table of threads.

use serde_json::Value;
use tracemend::{Dump, DumpError, Dumped, FormatId, Options};
use tracemend_tests::forge::ovni::{Stream, Thread, Trace};

/// Dumps a trace with options of the format.
fn dump(trace: &Trace, request: &Dump, chosen: &[(&str, &str)]) -> (String, Dumped) {
    let mut options = Options::default().with_format(FormatId::OVNI);
    for (name, value) in chosen {
        options.choices.set(name, value).unwrap();
    }
    let mut text = String::new();
    let dumped = tracemend::dump(&trace.set(), &options, request, &mut |piece| {
        text.push_str(piece);
        true
    });
    (text, dumped.unwrap())
}

fn style(name: &str) -> Dump {
    Dump::Text { style: Some(name.to_string()) }
}

/// Two threads, of which the second one is killed in a task.
fn trace() -> Trace {
    let thread = |tid: u32| Thread::new(7, tid).require("nosv", "2.7.0");
    let task = |id: u8| [id, 0, 0, 0, 1, 0, 0, 0];
    let first = Stream::at(0).begin(0).event(0x13, "VYc", 20, b"\x07\0\0\0\x01\0\0\0a\x1b\0");
    let first = first.event(7, "VTc", 20, &task(5)).event(0, "OHe", 40, b"");
    let second = Stream::at(10).begin(1).event(7, "VTx", 30, &[5, 0, 0, 0, 0, 0, 0, 0]);
    one(thread(7).cpus(&[(0, 0), (1, 1)]), first).and(&thread(8).cpus(&[]).killed(), second)
}

fn one(thread: Thread, stream: Stream) -> Trace {
    Trace::of(&thread, stream)
}

#[test]
fn events_are_shown_in_the_order_of_the_emulator_with_their_fields() {
    let (text, dumped) = dump(&trace(), &Dump::default(), &[]);
    let lines: Vec<&str> = text.lines().collect();
    let path = "loom.node.0/proc.7/thread";
    assert_eq!((dumped.records, dumped.left_out), (6, 0));
    assert_eq!(lines[0], format!("        10  OHx  {path}.7  cpu=0 tid=-1 tag=0"));
    // The stream that waits at the same clock comes before the one that was played.
    assert_eq!(lines[1], format!("        20  OHx  {path}.8  cpu=1 tid=-1 tag=0"));
    assert_eq!(lines[2], format!("        20  VYc  {path}.7  typeid=1 label=`a\\x1b`"));
    assert_eq!(lines[4], format!("        30  VTx  {path}.8  taskid=5 bodyid=0"));
    assert_eq!(lines[5], format!("        40  OHe  {path}.7"));
    let (text, _) = dump(&trace(), &style("ovnidump"), &[]);
    let label = "07:00:00:00:01:00:00:00:61:1b:00";
    assert_eq!(text.lines().nth(2), Some(&*format!("        20  VYc  {path}.7  :{label}")));
}

#[test]
fn filters_choose_codes_and_threads() {
    let codes = |chosen: &[(&str, &str)]| {
        let (text, _) = dump(&trace(), &Dump::default(), chosen);
        let codes = text.lines().filter_map(|line| line.split_whitespace().nth(1));
        codes.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(codes(&[("kind", "VT")]), "VTc VTx");
    assert_eq!(codes(&[("thread", "8")]), "OHx VTx");
    assert_eq!(codes(&[("thread", "8"), ("kind", "OHe")]), "");
    assert!(Options::default().choices.set("kind", "four").is_err());
}

#[test]
fn lines_of_json_have_the_fields_of_each_event() {
    let (text, _) = dump(&trace(), &Dump::JsonLines, &[("kind", "VY")]);
    let line: Value = serde_json::from_str(&text).unwrap();
    let fields = [("offset", 36), ("length", 23), ("number", 1), ("clock", 20), ("typeid", 1)];
    for (name, value) in fields {
        assert_eq!(line[name], value, "{name}");
    }
    assert_eq!((&line["kind"], &line["label"]), (&"VYc".into(), &"a\\x1b".into()));
    assert_eq!(line["stream"], "loom.node.0/proc.7/thread.7");
}

#[test]
fn the_table_of_threads_shows_what_is_open_and_how_much_can_be_missing() {
    let (text, _) = dump(&trace(), &style("threads"), &[]);
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0].join(" "), "loom node.0: 2 CPUs, 1 process");
    assert_eq!(lines[1].join(" "), "process 7: 2 threads, 6 events, app 1");
    assert_eq!(lines[3], ["7", "4", "0.000000010", "0.000000040", "0.000000000", "dead"]);
    let killed = "8 2 0.000000020 0.000000030 0.000000010 running, 1 open state, 1 open task, not \
                  finished";
    assert_eq!(lines[4].join(" "), killed);
}

#[test]
fn bytes_that_are_not_an_event_are_left_out_and_counted() {
    let mut damaged = trace();
    let (_, stream) =
        damaged.files.iter_mut().find(|(name, _)| name.ends_with("7/stream.obs")).unwrap();
    stream.as_mut().unwrap().splice(36..36, [0; 5]);
    let (text, dumped) = dump(&damaged, &Dump::default(), &[]);
    assert_eq!((text.lines().count(), dumped.records, dumped.left_out), (6, 6, 5));
    let unknown = style("other");
    let options = Options::default().with_format(FormatId::OVNI);
    let refused = tracemend::dump(&trace().set(), &options, &unknown, &mut |_| true);
    assert_eq!(refused, Err(DumpError::Style("other".to_string())));
}

#[test]
fn the_payload_of_an_unknown_event_is_shown_as_bytes() {
    let long = [&80_u32.to_le_bytes()[..], &[7; 80]].concat();
    let stream = Stream::at(0).begin(0).event(1, "OZz", 20, &[1, 0xab]);
    let stream = stream.event(0x13, "OZz", 30, &long).event(0, "OHe", 40, b"");
    let (text, _) = dump(&one(Thread::new(7, 7).cpus(&[(0, 0)]), stream), &Dump::default(), &[]);
    let shown: Vec<_> = text.lines().filter_map(|line| line.split_once("thread.7  ")).collect();
    let shown: Vec<_> = shown.into_iter().map(|(_, fields)| fields).collect();
    assert_eq!(shown[1..], ["01ab", &format!("{}.. (80 bytes)", "07".repeat(64))]);
}

#[test]
fn the_payload_of_a_jumbo_event_that_should_not_be_one_is_shown_as_bytes() {
    let task = [5, 0, 0, 0, 1, 0, 0, 0];
    let stream = Stream::at(0).begin(0).event(7, "VTx", 20, &task).jumbo("VTx", &task);
    let thread = Thread::new(7, 7).require("nosv", "2.7.0");
    let (text, _) = dump(&one(thread, stream.end()), &Dump::default(), &[("kind", "VTx")]);
    let fields: Vec<_> = text.lines().filter_map(|line| line.rsplit_once("  ")).collect();
    let fields: Vec<_> = fields.into_iter().map(|(_, fields)| fields).collect();
    assert_eq!(fields, ["taskid=5 bodyid=1", "0500000001000000"]);
}

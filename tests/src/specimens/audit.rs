//! Specimens of the rules of an audit, one recording of any format for each.

use super::Specimen;
use super::revent::v3;
use crate::forge::apitrace::{Container, Stream, Value};
use crate::forge::perf::{Attr, Maker, Order, Record, Recording, sample_type};
use crate::forge::qemu::{Log, ids};
use crate::forge::revent::{KEY_A, Layout};

/// Rules that no recording can break.
pub const IMPOSSIBLE: &[(&str, &str)] = &[];
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

/// Why a text is a chosen name as well.
const NAMED: &str = "a name that no recorder writes by itself is one that somebody chose";

/// Why a recording of perf holds an address as well.
const MEASURED: &str = "a sample has an address";

/// Bytes of one string that expand to more than an audit allows.
const BOMB: usize = 17 << 20;

fn single(code: &'static str, extension: &str, bytes: Vec<u8>) -> Specimen {
    Specimen::of(code, vec![(format!("{code}.{extension}"), Some(bytes))])
}

/// A recording of a device with this path, and no event.
fn device(code: &'static str, path: &[u8]) -> Specimen {
    let mut recording = crate::forge::revent::Recording::new(Layout::V2);
    recording.paths = vec![path.to_vec()];
    single(code, "run.revent", recording.build().bytes)
}

/// A log with something in its middle.
fn log(code: &'static str, middle: impl FnOnce(&mut Log)) -> Specimen {
    let mut log = Log::new(ids::of("11.0"));
    log.start();
    log.tick(0);
    middle(&mut log);
    log.tick(1).close();
    single(code, "log", log.bytes)
}

/// A recording of perf with these records and features.
fn perf(
    code: &'static str,
    sample: u64,
    records: impl FnOnce(&mut Maker) -> Vec<Record>,
    features: &[u32],
) -> Specimen {
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME | sample;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(kind).with_ids(&[11])]);
    let mut maker = recording.maker(0);
    let records = records(&mut maker);
    recording.extend(records);
    features.iter().for_each(|bit| _ = recording.feature(*bit));
    single(code, "data", recording.build().bytes)
}

/// A recording of perf with a feature that no perf has.
fn unknown_feature(code: &'static str) -> Specimen {
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(kind).with_ids(&[11])]);
    let sample = recording.maker(0).sample();
    recording.push(sample).feature_with(40, b"content of an unknown kind".to_vec());
    single(code, "data", recording.build().bytes)
}

/// A trace of one call.
fn trace(code: &'static str, name: &str, value: &Value) -> Specimen {
    let mut stream = Stream::new(6);
    stream.named_call(0, 1, name, std::slice::from_ref(value));
    single(code, "trace", Container::Snappy.file(&stream.bytes))
}

fn text(text: &str) -> Value {
    Value::String(text.as_bytes().to_vec())
}

/// Recordings that endanger a recipient.
fn for_recipients() -> Vec<Specimen> {
    let mut bomb = Stream::new(6);
    bomb.named_call(0, 1, "glObjectLabel", &[Value::String(vec![b'a'; BOMB])]);
    let mut trailing = log("AU0007", |_| ());
    if let Some((_, Some(bytes))) = trailing.files.first_mut() {
        bytes.extend(b"a message that no reader shows");
    }
    vec![
        device("AU0001", b"/dev/input/event1\x1b[2J").also(&["AU1021"], NAMED),
        device("AU0002", "/dev/input/event\u{202e}1".as_bytes()).also(&["AU1021"], NAMED),
        device("AU0003", b"../event1")
            .also(&["AU0004", "AU1021"], "a path that climbs is not that of an input device"),
        device("AU0004", b"event1").also(&["AU1021"], NAMED),
        log("AU0005", |log| _ = log.instruction(0).host()),
        single("AU0006", "trace", Container::Gzip.file(&bomb.bytes)).also(&["AU1021"], NAMED),
        trailing,
        log("AU0008", |log| _ = log.char_read(0, b"#!/bin/sh\nexit\n"))
            .also(&["AU1012"], "the program lies in bytes that a device passed on"),
        log("AU0009", |log| _ = log.char_read(0, b"PK\x03\x04\x14\0\0\0"))
            .also(&["AU1012"], "the archive lies in bytes that a device passed on"),
    ]
}

/// Recordings with content that is private to a sender.
fn of_senders() -> Vec<Specimen> {
    let sample = |maker: &mut Maker| vec![maker.sample()];
    let kernel = |maker: &mut Maker| vec![maker.ksymbol()];
    let traced = |maker: &mut Maker| {
        let trace = *b"a trace of branches, in 32 bytes";
        vec![maker.auxtrace_info(), maker.auxtrace(&trace), maker.sample()]
    };
    let home = ["scene of ", "home", "ada", "scene.blend"].join("/");
    let named = [("os.version", "forge")];
    let mut noted = Stream::with_properties(&named);
    noted.call(0, 21, &[]);
    let mut typed = crate::forge::revent::Recording::new(Layout::V3);
    typed.frame(0, &[(KEY_A, 1)]).frame(0, &[(KEY_A, 0)]);
    let mut damaged = log("AU1024", |_| ());
    if let Some((_, Some(bytes))) = damaged.files.first_mut() {
        // In the place of the event that ends the log.
        bytes.pop();
        bytes.extend(b"zeros or a part of another file");
    }
    let stack = |maker: &mut Maker| {
        vec![maker.sample_with(|sample| sample.stack_user = b"the top of a stack, kept".to_vec())]
    };
    vec![
        perf("AU1001", 0, sample, &[3]).also(&["AU1023"], MEASURED),
        perf("AU1002", 0, sample, &[4]).also(&["AU1023"], MEASURED),
        perf("AU1003", 0, sample, &[11]).also(&["AU1023"], MEASURED),
        trace("AU1004", "glObjectLabel", &text("upload?token=hunter2")).also(&["AU1021"], NAMED),
        trace("AU1005", "glObjectLabel", &text(&home)).also(&["AU1021"], NAMED),
        perf("AU1006", 0, |maker| vec![maker.comm("forge"), maker.sample()], &[])
            .also(&["AU1023"], MEASURED),
        perf("AU1007", 0, kernel, &[]).also(&["AU1019"], "the symbol at the address has a name"),
        perf("AU1008", sample_type::STACK_USER, stack, &[]).also(&["AU1023"], MEASURED),
        log("AU1009", |log| _ = log.net(0, 0, b"\x52\x54\0\x12\x34\x56 a packet")),
        single("AU1010", "run.revent", typed.build().bytes),
        single("AU1011", "run.revent", v3().build().bytes),
        log("AU1012", |log| _ = log.char_read(0, b"login\n")),
        log("AU1013", |log| _ = log.random(0, b"\x04\x02\x0f\x0a")),
        trace("AU1014", "glShaderSource", &text("#version 330 core\nvoid main() {}\n")),
        trace("AU1015", "glTexImage2D", &Value::Blob(vec![0x7f; 64])),
        single("AU1016", "trace", Container::Snappy.file(&noted.bytes))
            .also(&["AU1021"], "its function has a name that no interface has"),
        perf("AU1017", 0, |maker| vec![maker.mmap(), maker.sample()], &[])
            .also(&["AU1023"], MEASURED),
        perf("AU1018", 0, sample, &[2]).also(
            &["AU1017", "AU1023"],
            "a build id is that of a file, and a sample has an address",
        ),
        perf("AU1019", 0, kernel, &[]).also(&["AU1007"], "a symbol has an address"),
        perf("AU1020", 0, traced, &[]).also(&["AU1023"], MEASURED),
        trace("AU1021", "glObjectLabel", &text("the name of a project")),
        unknown_feature("AU1022").also(&["AU1023"], MEASURED),
        perf("AU1023", 0, sample, &[]),
        damaged.also(&["AU0007"], "no structure claims bytes that cannot be decoded"),
    ]
}

/// A recording for every rule.
pub fn specimens() -> Vec<Specimen> {
    [for_recipients(), of_senders()].into_iter().flatten().collect()
}

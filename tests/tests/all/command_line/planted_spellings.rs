//! `redact` of secrets that are spelt like the names and numbers that recorders write.

use tracemend_tests::forge::apitrace::container::zstd;
use tracemend_tests::forge::apitrace::{Container, Stream as ApiStream, Value as ApiValue};
use tracemend_tests::forge::ovni::Thread;
use tracemend_tests::forge::perf::simpleperf;
use tracemend_tests::forge::perf::{Attr, Maker, Record};
use tracemend_tests::forge::revent::{Layout, Recording as Input, SYN};
use tracemend_tests::forge::{qemu, revent};

use super::planted::{
    Fate, Left, attr, judge_word, left_of, perf_with, redacted, thread, write_trace,
};
use super::*;
use tracemend_tests::sweep::is_left_to_the_gate;

/// Secrets like names of APIs, each with the part that is looked for.
const NAMES: [(&str, &str); 10] = [
    ("hunter2secret", "hunter2"),
    ("hunter2Secret", "unter2S"),
    ("IHunter2secret", "Hunter2"),
    ("XHunter2secret", "Hunter2"),
    ("CreateHunter2secret", "Hunter2"),
    ("GetHunter2Password_of_the_king", "Hunter2"),
    ("glHunter2secret", "Hunter2"),
    ("GL_ARB_hunter2secret", "hunter2"),
    ("GL_ARB_x_hunter2secret", "hunter2"),
    ("GL_HUNTER2SECRET", "HUNTER2"),
];
/// Secrets like numbers, versions and addresses.
const NUMBERS: [(&str, &str); 5] = [
    ("4111-1111-1111-1111", "4111-1"),
    ("4111111111111111", "411111"),
    ("10.20.30.41", ".30.41"),
    ("2027.03.01 1234567", "123456"),
    ("4111 1111", "4111 1"),
];

/// Spellings of a secret, each with the part that is looked for.
fn spellings() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.into_iter().chain(NUMBERS)
}

fn judge(name: &str, bytes: &[u8], base: &Left, word: &[u8]) -> Fate {
    let folder = folder(&[(name, bytes)]);
    judge_word(&folder.path().join(name), base, word)
}

fn assert_not_hidden(place: &str, fate: &Fate) {
    assert!(!matches!(fate, Fate::Hidden(_)), "{place}: {fate:?}");
}

#[test]
fn a_secret_in_a_text_of_a_call_is_gone_however_it_is_spelt() {
    for (secret, part) in spellings() {
        let mut stream = ApiStream::new(6);
        stream.named_call(0, 1, "glObjectLabel", &[ApiValue::String(secret.into())]);
        let bytes = Container::Snappy.file(&stream.bytes);
        assert_eq!(judge("a.trace", &bytes, &Left::new(), part.as_bytes()), Fate::Gone, "{secret}");
    }
    let mut stream = ApiStream::new(6);
    let known = "GL_ARB_debug_output glTexImage2D eglGetProcAddress 4.6";
    stream.named_call(0, 1, "glObjectLabel", &[ApiValue::String(known.into())]);
    let bytes = Container::Snappy.file(&stream.bytes);
    assert!(matches!(judge("a.trace", &bytes, &Left::new(), b"debug_"), Fate::Hidden(_)));
}

#[test]
fn a_name_that_no_tracer_defines_is_named() {
    for (secret, part) in NAMES {
        let mut stream = ApiStream::new(6);
        stream.named_call(0, 1, secret, &[]);
        let bytes = Container::Snappy.file(&stream.bytes);
        assert_eq!(
            judge("a.trace", &bytes, &Left::new(), part.as_bytes()),
            Fate::Named,
            "{secret}"
        );
    }
    let mut stream = ApiStream::new(6);
    stream.name(1, "glFlush", &["hunter2secret"]).call(0, 1, &[ApiValue::Uint(1)]);
    let argument = stream.bytes.clone();
    let of = |value: ApiValue, old: &str, new: &str| {
        let mut stream = ApiStream::new(6);
        stream.name(1, "glFlush", &["mode"]).call(0, 1, &[value]);
        let at = stream.bytes.windows(old.len()).position(|part| part == old.as_bytes()).unwrap();
        stream.bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
        stream.bytes
    };
    let structure = || ApiValue::Struct(3, vec![ApiValue::Uint(1)]);
    for (place, stream) in [
        ("argument", argument),
        ("struct", of(structure(), "ForgedStruct3", "Hunter2Secret")),
        ("member", of(structure(), "member0", "hunter2")),
        ("enum", of(ApiValue::Enum(2, 7), "GL_FORGED", "GL_HUNTER")),
        ("bitmask", of(ApiValue::Bitmask(2, 1), "FORGE_A", "hunter2")),
    ] {
        let bytes = Container::Snappy.file(&stream);
        let left = left_of("a.trace", &bytes).unwrap();
        assert!(left.keys().any(|(_, field)| field == "names"), "{place}: {left:?}");
    }
}

#[test]
fn a_secret_in_a_skippable_frame_is_named_and_a_seek_table_is_not() {
    let mut stream = ApiStream::new(6);
    stream.named_call(0, 1, "glFlush", &[]);
    stream.named_call(0, 1, "glFlush", &[]);
    let half = stream.bytes.len().div_ceil(2);
    let frames = zstd(&stream.bytes, half, false);
    let first = zstd(&stream.bytes[..half], half, false).len();
    let skippable = [&b"\x50\x2a\x4d\x18\x0d\0\0\0"[..], b"hunter2secret"].concat();
    for at in [0, first, frames.len()] {
        let mut bytes = frames.clone();
        bytes.splice(at..at, skippable.iter().copied());
        assert_eq!(judge("a.trace", &bytes, &Left::new(), b"hunter2"), Fate::Named, "at {at}");
    }
    let bytes = zstd(&stream.bytes, half, true);
    assert_eq!(left_of("a.trace", &bytes), Some(Left::new()));
}

/// An EVENT_DESC with this name.
fn with_name(name: &str) -> Vec<u8> {
    perf_with(Attr { name: name.into(), ..attr() }, |recording, _| _ = recording.feature(12))
}

#[test]
fn a_secret_in_the_name_of_an_event_is_gone_however_it_is_spelt() {
    let systems = ["", "sched:", "xen:", "syscalls:sys_enter_", "cycles:", "cpu/", "cpu-clock,"];
    for system in systems {
        for (secret, part) in spellings() {
            let name = format!("{system}{secret}");
            let fate = judge("a.data", &with_name(&name), &Left::new(), part.as_bytes());
            assert_eq!(fate, Fate::Gone, "{name}");
        }
    }
    for name in ["sched:sched_switch", "syscalls:sys_enter_openat", "cpu-clock:u"] {
        let fate = judge("a.data", &with_name(name), &Left::new(), name.as_bytes());
        assert!(matches!(fate, Fate::Hidden(_)), "{name}: {fate:?}");
    }
}

#[test]
fn a_secret_in_a_text_of_a_record_is_gone_or_named_however_it_is_spelt() {
    let number = |value: u64| value.to_le_bytes();
    for (secret, part) in spellings() {
        let text = |start: &str| {
            let mut text = format!("{start}{secret}\0").into_bytes();
            text.resize(text.len().next_multiple_of(8), 0);
            text
        };
        let update = |kind| [&number(kind)[..], &number(11), &text("sched:")].concat();
        let error = [&[1; 20][..], &[0; 4], &number(0), &text("timer:")].concat();
        for record in [
            Record::new(78, 0, update(2)),
            Record::new(78, 0, update(0)),
            Record::new(65, 0, [&number(1)[..], &text("sched:")].concat()),
            Record::new(72, 0, error),
        ] {
            let place = format!("{secret} in a record of type {}", record.kind);
            let bytes = perf_with(attr(), |recording, _| _ = recording.push(record));
            assert_not_hidden(&place, &judge("a.data", &bytes, &Left::new(), part.as_bytes()));
        }
        for map in ["[heap]", "[stack]", "//anon.", "[kernel.kallsyms]_text"] {
            let bytes = perf_with(attr(), |recording, maker: &mut Maker| {
                let mut record = maker.mmap2();
                let trailer = record.body.split_off(record.body.len() - 16);
                record.body.truncate(64);
                record.body.extend(text(map));
                record.body.extend(trailer);
                recording.push(record);
            });
            let fate = judge("a.data", &bytes, &Left::new(), part.as_bytes());
            assert_not_hidden(&format!("{map}{secret}"), &fate);
        }
    }
}

#[test]
fn a_secret_in_the_facts_of_simpleperf_is_gone_or_named_however_it_is_spelt() {
    if is_left_to_the_gate(
        "a secret in the facts of simpleperf is gone or named however it is spelt",
    ) {
        return;
    }
    let keys = [
        "simpleperf_version",
        "android_sdk_version",
        "android_version",
        "app_type",
        "clockid",
        "cpu_usage",
        "event_type_info",
        "kernel_version",
        "timestamp",
        "trace_offcpu",
        "hunter2key",
    ];
    for key in keys {
        for (secret, part) in spellings() {
            let section = format!("clockid\0monotonic\0{key}\0{secret}\0").into_bytes();
            let bytes = perf_with(attr(), |recording, _| {
                recording.feature_with(129, section);
            });
            let fate = judge("a.data", &bytes, &Left::new(), part.as_bytes());
            assert_not_hidden(&format!("{key}: {secret}"), &fate);
        }
    }
    let facts = "clockid\0monotonic\0timestamp\x001700000000\0trace_offcpu\0false\0\
        event_type_info\0cpu-cycles:u,0,0\nsched:sched_switch,2,316\0";
    let with = |section: &[u8]| {
        perf_with(attr(), |recording, _| _ = recording.feature_with(129, section.to_vec()))
    };
    let after = redacted_bytes(&with(facts.as_bytes()));
    assert!(after.windows(facts.len()).any(|part| part == facts.as_bytes()));
    // Fields of a message that simpleperf does not write.
    let of = |parts: &[&[u8]]| {
        perf_with(attr(), |recording, _| _ = recording.feature_with(130, parts.concat()))
    };
    for section in [
        of(&[&[15 << 3 | 1], b"hunter2s"]),
        of(&[&[15 << 3 | 2, 13], b"hunter2secret"]),
        of(&[&[15 << 3 | 1], b"hunter2s", &[14 << 3 | 1], b"hunter2s"]),
        of(&[b"h\0u\0n\0h\0u\0n\0"]),
    ] {
        assert_not_hidden("message", &judge("a.data", &section, &Left::new(), b"hunter"));
        let wide: Vec<u8> = b"hunhun".iter().flat_map(|byte| [*byte, 0]).collect();
        assert_not_hidden("wide", &judge("a.data", &section, &Left::new(), &wide));
    }
    let own = simpleperf::all().into_iter().filter(|(name, _)| *name != "split");
    for (name, bytes) in own {
        assert_eq!(left_of("a.data", &bytes), Some(Left::new()), "{name}");
    }
}

fn redacted_bytes(bytes: &[u8]) -> Vec<u8> {
    let folder = folder(&[("a.data", bytes)]);
    let output = folder.path().join("output");
    assert_eq!(redacted(&folder.path().join("a.data"), &output), Some(Left::new()));
    fs::read(&output).unwrap()
}

#[test]
fn keys_movements_and_unknown_values_of_input_events_are_replaced() {
    let value = i32::from_le_bytes(*b"hunt");
    // Type, code and value; whether the code is private, too.
    let events = [
        ((1, 0x161), 1, true),
        ((1, 0x1d0), 1, true),
        ((1, 0x1f1), 1, true),
        ((1, 0x203), 1, true),
        ((1, 0x20a), 1, true),
        ((1, 0x14a), value, false),
        ((2, 0), 7, false),
        ((2, 8), -1, false),
        ((3, 40), value, false),
        ((3, 0x39), value, false),
        ((4, 0), value, false),
        ((4, 3), 31, false),
        ((0, 0), value, false),
        ((0x11, 0), value, false),
        ((0x1e, 4), value, false),
    ];
    for (key, value, is_code_private) in events {
        let mut recording = Input::new(Layout::V3);
        recording.add(0, &[(key, value), (SYN, 0)]);
        let built = recording.build();
        let folder = folder(&[("a.run.revent", &built.bytes)]);
        let output = folder.path().join("output");
        let left = redacted(&folder.path().join("a.run.revent"), &output).unwrap();
        let after = fs::read(&output).unwrap();
        let at = built.at(1) - 8;
        let is_left = after[at + 4..at + 8] == value.to_le_bytes();
        // Without the press of a button, its release would be an error.
        assert_eq!(is_left, !left.is_empty(), "{key:?}: {left:?}");
        assert!(!is_left || key == (1, 0x14a), "{key:?}");
        let is_same = after[at..at + 4] == built.bytes[at..at + 4];
        assert_eq!(is_same, !is_code_private, "{key:?}");
    }
}

#[test]
fn a_device_with_a_long_number_is_renamed() {
    let mut recording = revent::session(Layout::V3);
    recording.paths[0] = b"/dev/input/event4111111111".to_vec();
    let bytes = recording.build().bytes;
    let fate = judge("a.run.revent", &bytes, &Left::new(), b"411111");
    assert!(matches!(fate, Fate::Gone | Fate::Refused), "{fate:?}");
}

#[test]
fn bytes_after_the_fields_of_a_known_event_are_replaced() {
    for code in ["OHx", "OU[", "OF[", "OB.", "OHC"] {
        let trace = thread(|t, s| (t, s.event(14, code, 2_000, b"hunter2secretXY")));
        let folder = write_trace(&trace);
        let fate = judge_word(&folder.path().join("trace"), &Left::new(), b"secret");
        assert_not_hidden(code, &fate);
    }
}

#[test]
fn a_host_with_a_number_for_a_name_is_replaced_in_the_table_of_offsets() {
    let head = "rank hostname offset_median offset_mean offset_std\n";
    let trace = thread(|t, s| (Thread { loom: "471100.0".into(), ..t }, s));
    let table = format!("{head}0 471100 -1.5e+02 123456789.25 0.1\n");
    let folder = write_trace(&trace.put("clock-offsets.txt", Some(table.into_bytes())));
    let output = folder.path().join("output");
    redacted(&folder.path().join("trace"), &output).unwrap();
    let after = fs::read_to_string(output.join("clock-offsets.txt")).unwrap();
    assert_eq!(after, format!("{head}0 _____1 -1.5e+02 123456789.25 0.1\n"));
}

#[test]
fn a_secret_in_the_unused_bytes_of_a_log_is_replaced() {
    let log = qemu::clean::sound(qemu::ids::all().pop().unwrap());
    let mut bytes = log.bytes.clone();
    bytes[4..12].copy_from_slice(b"hunter2s");
    let base = left_of("a.log", &log.bytes).unwrap();
    assert_eq!(judge("a.log", &bytes, &base, b"hunter2"), Fate::Gone);
}

//! Recordings as simpleperf, the recorder of Android, writes them.
//!
//! - Its features are 128 to 134, and sections lie in the order in which it has their contents.
//! - Its records are 32769 to 32778. Tracepoint formats are a record, also in a file.
//! - Its index of AUXTRACE records has no count, and an attr may be smaller than its room.
//!
//! Sources: `record_file_format.h`, `record_file.proto`, `record.h` and `record_file_writer.cpp` in
//! `system/extras/simpleperf` of Android.

use super::attr::{Attr, sample_type};
use super::bytes::{Bytes, Order};
use super::feature;
use super::record::{MISC_USER, Record};
use super::recording::{Built, HEADER_LEN, Recording, Wrapper};

/// A name that only symbols have.
pub const SYMBOL: &str = "com.forge.Secret.run";
/// A path that only the features of simpleperf have.
pub const PATH: &str = "/data/app/com.forge.secret/base.apk";
/// A value of META_INFO that describes a device.
pub const DEVICE: &str = "Forge:Secret 5:device";

/// A feature and its content.
pub type Feature = (u32, Vec<u8>);

fn bytes() -> Bytes {
    Bytes::new(Order::Little)
}

/// All recordings, by name.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("files", files()),
        ("messages", messages()),
        ("old", old()),
        ("records", records()),
        ("tracepoints", tracepoints()),
        ("split", split()),
        ("aux", aux()),
        ("small attr", small_attr()),
        ("dirty padding", dirty_padding()),
        ("old end", old_end()),
        ("compressed", compressed()),
    ]
}

fn base(attr: Attr) -> Recording {
    let mut recording = Recording::new(Order::Little, vec![attr.with_ids(&[7])]);
    let mut maker = recording.maker(0);
    let raw = feature::tracepoint_raw(Order::Little);
    let records = [maker.comm("app"), maker.mmap2()];
    let mut sample = || maker.sample_with(|sample| sample.raw = raw.clone());
    let samples = [sample(), sample()];
    recording.extend(records).extend(samples);
    recording
}

fn event() -> Attr {
    Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::ID)
}

/// Adds features to a file without any. Their sections lie in the given order.
pub fn finish(built: &Built, features: &[Feature]) -> Vec<u8> {
    let mut file = built.bytes.clone();
    let mut at = file.len() + 16 * features.len();
    let mut entries = Vec::new();
    let mut flags = [0_u8; 32];
    for (bit, content) in features {
        entries.push((*bit, at, content.len()));
        at += content.len();
        flags[*bit as usize / 8] |= 1 << (bit % 8);
    }
    entries.sort_unstable();
    file[72..HEADER_LEN].copy_from_slice(&flags);
    let mut table = bytes();
    for (_, at, len) in entries {
        table.u64(at as u64).u64(len as u64);
    }
    file.extend(table.done());
    features.iter().for_each(|(_, content)| file.extend_from_slice(content));
    file
}

/// The features of its first versions.
fn usual(own: Vec<Feature>) -> Vec<Feature> {
    let mut command = bytes();
    command.u32(2).string("/data/local/tmp/simpleperf").string("record");
    let plain = |bit| (bit, feature::section(bit, Order::Little, &[]));
    let mut features = vec![plain(2)];
    features.extend(own);
    features.extend([plain(4), plain(6), (11, command.done())]);
    features
}

fn meta_info() -> Feature {
    let mut out = bytes();
    for text in ["clockid", "monotonic", "product_props", DEVICE, "trace_offcpu", "false"] {
        out.text(text, 1);
    }
    (129, out.done())
}

/// FILE: an ELF file with two symbols, and a file with code of the Android runtime.
fn file_feature() -> Feature {
    let mut out = bytes();
    for kind in [2_u32, 3] {
        let mut own = bytes();
        own.text(PATH, 1).u32(kind).u64(0x1000).u32(2);
        own.u64(0x1000).u32(16).text(SYMBOL, 1).u64(0x1010).u32(32).text("main", 1);
        if kind == 3 {
            own.u32(1);
        }
        own.u64(0x40);
        let own = own.done();
        out.u32(own.len() as u32).raw(&own);
    }
    (128, out.done())
}

/// A field of a message with a text or another message.
fn counted(number: u8, content: &[u8]) -> Vec<u8> {
    assert!(content.len() < 128, "the length fits into a byte");
    [&[number << 3 | 2, content.len() as u8], content].concat()
}

/// FILE2: the same as messages.
fn file2_feature() -> Feature {
    let symbol = [&[8, 0x80, 0x20, 16, 16][..], &counted(3, SYMBOL.as_bytes())].concat();
    let mut message = counted(1, PATH.as_bytes());
    message.extend([16, 2, 24, 0x80, 0x20]);
    message.extend(counted(4, &symbol));
    message.extend(counted(6, &[8, 0x40]));
    let mut out = bytes();
    out.u32(message.len() as u32).raw(&message);
    (132, out.done())
}

fn files() -> Vec<u8> {
    let mut features = usual(vec![file_feature()]);
    features.push(meta_info());
    finish(&base(event()).build(), &features)
}

fn messages() -> Vec<u8> {
    let file = [counted(1, PATH.as_bytes()), vec![16, 8]].concat();
    let mut features = usual(vec![file2_feature()]);
    features.extend([
        meta_info(),
        (131, SYMBOL.as_bytes()[..8].to_vec()),
        (130, counted(1, &file)),
    ]);
    finish(&base(event()).build(), &features)
}

/// A recording of a version without features of its own.
fn old() -> Vec<u8> {
    let mut recording = base(event());
    recording.push(Record::new(32_769, 0, vec![0; 4]));
    finish(&recording.build(), &usual(Vec::new()))
}

/// Every record of its own that needs no tracepoint.
fn records() -> Vec<u8> {
    let mut recording = base(event());
    let own = |kind: u32, fill: &dyn Fn(&mut Bytes)| {
        let mut body = bytes();
        fill(&mut body);
        Record::new(kind, 0, body.done())
    };
    recording.extend([
        own(32_769, &|body| {
            body.u32(6).fixed("f Tx\n", 8);
        }),
        own(32_770, &|body| {
            body.u64s(&[2, 1, 0x1000]).text(PATH, 8);
        }),
        own(32_771, &|body| {
            body.u64s(&[0x1000, 16, 1]).text(SYMBOL, 8);
        }),
        own(32_774, &|body| {
            body.u64s(&[1, 0, 7]);
        }),
        own(32_775, &|body| {
            body.u32(1).u32(1).u64s(&[0, 5, 2, 1, 2, 3, 4]);
        }),
        own(32_776, &|body| {
            body.u64s(&[5, 1, 0, 0, 0, 0, 2, 3, 8, 9, 8, 1, 8, 1, 2, 3]);
        }),
        own(32_776, &|body| {
            body.u64s(&[5, 1, 0, 0, 0, 0, 2, 0, 0]);
        }),
        own(32_778, &|body| {
            body.u64(5).text(DEVICE, 8);
        }),
    ]);
    finish(&recording.build(), &usual(vec![file_feature()]))
}

fn traced() -> Attr {
    Attr::tracepoint(event().sample_type | sample_type::RAW, feature::TRACEPOINT_NUMBER, "sched:x")
}

fn tracing_record() -> Record {
    let content = feature::tracing_data(Order::Little);
    let mut body = bytes();
    body.u32(content.len() as u32)
        .raw(&content)
        .zeros(content.len().next_multiple_of(64) - content.len());
    Record::new(32_777, 0, body.done())
}

/// Tracepoint formats in a record, and a tracepoint whose samples need none.
fn tracepoints() -> Vec<u8> {
    let mut recording = base(traced());
    recording.push(tracing_record());
    finish(&recording.build(), &usual(vec![file_feature()]))
}

/// The same record in two parts.
fn split() -> Vec<u8> {
    let mut recording = base(traced());
    let whole = tracing_record().encode(Order::Little);
    let (one, other) = whole.split_at(whole.len() / 2);
    let part = |bytes: &[u8]| Record::new(32_772, 0, bytes.to_vec());
    recording.extend([part(one), part(other), Record::new(32_773, 0, Vec::new())]);
    finish(&recording.build(), &usual(vec![file_feature()]))
}

/// A hardware trace, whose index has no count.
fn aux() -> Vec<u8> {
    let mut recording = base(event());
    let maker = recording.maker(0);
    recording.push(maker.auxtrace_info()).push(maker.auxtrace(&[1, 2, 3, 4, 5, 6, 7, 8]));
    let built = recording.build();
    let trace = &built.records[built.first_of(71).expect("the trace")];
    let mut index = bytes();
    index.u64(trace.offset as u64).u64(trace.len as u64);
    let mut features = usual(Vec::new());
    features.extend([meta_info(), (18, index.done())]);
    finish(&built, &features)
}

/// An attr of 120 bytes in the room of 128.
fn small_attr() -> Vec<u8> {
    let built = base(event()).build();
    let at = built.attr_spans[0].start + 4;
    let mut file = finish(&built, &usual(vec![file_feature()]));
    file[at..at + 4].copy_from_slice(&120_u32.to_le_bytes());
    file
}

/// A name with the rest of a longer one in its padding.
fn dirty_padding() -> Vec<u8> {
    let mut recording = base(event());
    let mut record = recording.maker(0).mmap2();
    record.misc = MISC_USER;
    let name = record.body.len() - 24;
    let nul = (0..name).rev().find(|at| record.body[*at] != 0).expect("the name") + 1;
    assert!(nul + 1 < name, "the name has padding");
    record.body[name - 1] = b'x';
    recording.push(record);
    finish(&recording.build(), &usual(vec![file_feature()]))
}

/// Features that were written over longer ones.
fn old_end() -> Vec<u8> {
    let mut file = files();
    file.extend_from_slice(SYMBOL.as_bytes());
    file
}

/// Compressed records without a feature that describes them, one of its own among them.
fn compressed() -> Vec<u8> {
    let mut recording = Recording::new(Order::Little, vec![event().with_ids(&[7])]);
    let mut maker = recording.maker(0);
    let mut body = bytes();
    body.u64s(&[1, 0, 7]);
    let own = Record::new(32_774, 0, body.done());
    let records = vec![maker.comm("app"), own, maker.sample(), maker.sample()];
    recording.pack(Wrapper::Compressed, records, &[10]);
    finish(&recording.build(), &usual(vec![file_feature()]))
}

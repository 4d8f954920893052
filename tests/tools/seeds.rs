//! Writes the first inputs of the fuzz targets:
//! `cargo run -p tracemend-tools --bin seeds -- FOLDER`.
//!
//! `FOLDER/TARGET/` gets recordings of the forge, complete and crashed, the recordings of
//! `corpus/`, and the zstd streams in them for the expander; `FOLDER/dictionaries/` the words of
//! each format. A file is named after its origin, so a
//! second run writes the same files.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::fs;
use std::path::{Path, PathBuf};

use tracemend::formats::perf::decode::header;
use tracemend::formats::perf::decode::walk::Walker;
use tracemend::kit::source::Source;
use tracemend::kit::walk::Item;
use tracemend::mend::plan::Plan;
use tracemend::{FileSet, Limits, Options};
use tracemend_tests::dictionary;
use tracemend_tests::forge::{apitrace, ovni, perf, qemu, revent};
use tracemend_tests::properties::{archive, targets, texts, views};

/// Length in bytes of the longest useful recording.
const LEN_MAX: usize = 64 << 10;

fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| "fuzz/corpus".into()));
    write_perf(&folder);
    write_ovni(&folder);
    write_other_formats(&folder);
    // Descriptions and damage are bytes that `arbitrary` and the dice read; with one of these the
    // recording is sound, or nearly so.
    let ascending: Vec<u8> = (0..=255).collect();
    for (target, _) in targets::TARGETS {
        if ["structured", "damaged", "mutated", "patch"].iter().any(|end| target.ends_with(end)) {
            write(&folder.join(target), "ascending", &ascending);
        }
    }
    write(&folder.join("plan"), "plan", plan().as_bytes());
    for (name, text) in texts::accepted() {
        write(&folder.join("texts"), name, text.as_bytes());
    }
    for (name, files) in views::subjects() {
        let files: Vec<_> = files.into_iter().map(|(name, bytes)| (name, Some(bytes))).collect();
        write(&folder.join("views"), &name, &archive::pack(&files));
    }
    for (format, words) in dictionary::all() {
        let text = dictionary::text(&words);
        write(&folder.join("dictionaries"), &format!("{format}.dict"), text.as_bytes());
    }
}

/// Writes recordings of perf and of the corpus, and the zstd streams in them.
fn write_perf(folder: &Path) {
    let mut recordings: Vec<(String, Vec<u8>)> = Vec::new();
    for clean in perf::clean() {
        recordings.push((format!("{}-crashed", clean.name), clean.built.crashed()));
        recordings.push((clean.name.to_string(), clean.built.bytes));
    }
    below(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus")),
        "corpus",
        &mut recordings,
    );
    for (name, bytes) in &recordings {
        if bytes.len() <= LEN_MAX {
            for target in ["perf_check", "perf_repair"] {
                write(&folder.join(target), name, bytes);
            }
        }
        let stream = compressed(bytes);
        if !stream.is_empty() {
            write(&folder.join("zstd"), name, &stream);
        }
    }
    write(&folder.join("perf_donor"), "sched", &perf::feature::tracing_data(perf::Order::Little));
}

/// Writes ovni traces as archives, and their files.
fn write_ovni(folder: &Path) {
    for clean in ovni::clean() {
        write(&folder.join("ovni_trace"), clean.name, &archive::pack(&clean.trace.files));
        for (index, (name, bytes)) in clean.trace.files.iter().enumerate() {
            let target = if name.ends_with(".obs") { "ovni_stream" } else { "ovni_json" };
            let name = format!("{}-{index}", clean.name);
            write(&folder.join(target), &name, bytes.as_deref().unwrap_or_default());
        }
    }
}

/// Writes recordings of revent, QEMU and apitrace.
fn write_other_formats(folder: &Path) {
    for (name, bytes) in revent::all() {
        let cut = &bytes[..bytes.len() - 3];
        write(&folder.join("revent_repair"), &format!("{name}-cut"), cut);
        write(&folder.join("revent_repair"), &name, &bytes);
    }
    for (name, log) in qemu::all() {
        let name = name.replace(' ', "-");
        let killed = log.killed(log.bytes.len() - 3);
        write(&folder.join("qemu_repair"), &format!("{name}-killed"), &killed);
        write(&folder.join("qemu_repair"), &name, &log.bytes);
    }
    for (name, bytes) in apitrace::all() {
        write(&folder.join("apitrace_container"), &name, &bytes);
    }
    for clean in apitrace::clean() {
        write(&folder.join("apitrace_stream"), clean.name, &clean.stream.bytes);
    }
}

/// The plan of a repair.
fn plan() -> String {
    let crashed = perf::clean().swap_remove(0).built.crashed();
    let files = FileSet::single("recording", &crashed);
    let repair = tracemend::repair(&files, &Options::default());
    Plan::new(&repair, &files, &Limits::default()).unwrap().to_json().unwrap()
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
}

/// Collects every file below `folder`.
fn below(folder: &Path, name: &str, into: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let name = format!("{name}-{}", entry.file_name().display());
        match entry.path() {
            path if path.is_dir() => below(&path, &name, into),
            path => into.push((name, fs::read(path).unwrap())),
        }
    }
}

/// Returns the concatenated content of the COMPRESSED records.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let source = Source::new(bytes);
    let (Some(_), Ok(header)) = (header::magic(bytes), header::header(&source, 0)) else {
        return Vec::new();
    };
    let (start, end) = match header.body {
        Some(body) if body.data.size > 0 => (body.data.offset, body.data.end().unwrap_or(u64::MAX)),
        Some(body) => (body.data.offset, u64::MAX),
        None => (16, u64::MAX),
    };
    let mut stream = Vec::new();
    for item in Walker::new(&source, 0, header.order, header.body.is_none(), (start, end)) {
        if let Item::Record(record) = item {
            let body = record.bytes.get(8..).unwrap_or_default();
            match record.frame.kind {
                81 => stream.extend_from_slice(body),
                83 => stream.extend_from_slice(body.get(8..).unwrap_or_default()),
                _ => {}
            }
        }
    }
    stream
}

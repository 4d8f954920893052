//! The fuzz targets, each as a function of bytes.
//!
//! The crate in `fuzz/` calls them with the bytes of libFuzzer, `cargo test` with those in
//! `corpus/regressions/TARGET/`, the inputs on which a target failed once.

use std::fmt::Debug;

use arbitrary::{Arbitrary, Unstructured};
use tracemend::Allow;
use tracemend::FormatId;
use tracemend::kit::source::Source;
use tracemend::mend::plan::Plan;
use tracemend::{File, FileSet, Options};

use crate::known_originals::{self, laws_hold};

use super::{
    Broken, Held, apitrace, archive, donor, patch, qemu, recording, revent, structured, texts,
    transport, views, zstd,
};

/// Name and function of a target.
pub type Target = (&'static str, fn(&[u8]) -> Held);

/// Every target: for each format bytes, descriptions of sound recordings and of their damage, and
/// damaged recordings whose original is known; then what all formats share.
pub static TARGETS: [Target; 27] = [
    ("apitrace_container", apitrace::container),
    ("apitrace_stream", apitrace::stream),
    ("apitrace_mutated", apitrace::mutated),
    ("apitrace_structured", apitrace_structured),
    ("apitrace_damaged", |bytes| laws_hold(&known_originals::apitrace::SUBJECT, bytes)),
    ("perf_check", perf_check),
    ("perf_repair", perf_repair),
    ("perf_donor", perf_donor),
    ("perf_structured", perf_structured),
    ("perf_damaged", |bytes| laws_hold(&known_originals::perf::SUBJECT, bytes)),
    ("qemu_repair", qemu_repair),
    ("qemu_structured", qemu_structured),
    ("qemu_damaged", |bytes| laws_hold(&known_originals::qemu::SUBJECT, bytes)),
    ("revent_repair", revent_repair),
    ("revent_structured", revent_structured),
    ("revent_damaged", |bytes| laws_hold(&known_originals::revent::SUBJECT, bytes)),
    ("ovni_stream", ovni_stream),
    ("ovni_json", ovni_json),
    ("ovni_trace", ovni_trace),
    ("ovni_structured", ovni_structured),
    ("ovni_damaged", |bytes| laws_hold(&known_originals::ovni::SUBJECT, bytes)),
    ("patch", patch),
    ("plan", plan),
    ("zstd", zstd),
    ("views", views::of_bytes),
    ("texts", texts::of_bytes),
    ("transport", transport::of_bytes),
];

/// Runs the target of this name.
///
/// # Panics
///
/// If a property does not hold, or no target has this name.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS.iter().find(|target| target.0 == name).unwrap();
    target(bytes).unwrap_or_else(|broken| panic!("{broken}"));
}

/// The format is given: a fuzzer without it spends most of its time in searches for the events of
/// an apitrace trace, since it damages the magic of nearly all inputs.
fn perf_options() -> Options {
    Options::default().with_format(FormatId::PERF)
}

/// Tests check and tiles of a recording.
pub fn perf_check(bytes: &[u8]) -> Held {
    recording::checked_with(&FileSet::single("recording", bytes), &perf_options())
}

/// Tests the repair of a recording at one of the classes.
pub fn perf_repair(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    let safety = [Allow::Lossy, Allow::Lossy, Allow::Synthetic, Allow::Exact];
    let allow = safety[super::seed(bytes) as usize % safety.len()];
    recording::repaired_with(&files, &perf_options().with_allow(allow))
}

/// Tests a description of a recording and of its damage, as `arbitrary` reads it.
pub fn perf_structured(bytes: &[u8]) -> Held {
    described(bytes, |description| structured::holds(description, super::seed(bytes)))
}

/// Tests a repair with a donor of tracepoint descriptions.
pub fn perf_donor(bytes: &[u8]) -> Held {
    donor::holds(bytes)
}

/// Tests check, tiles and repair of a QEMU log with one of the options.
pub fn qemu_repair(bytes: &[u8]) -> Held {
    qemu::chosen(bytes, super::seed(bytes))
}

/// Tests a description of a QEMU log and of its damage, as `arbitrary` reads it.
pub fn qemu_structured(bytes: &[u8]) -> Held {
    described(bytes, qemu::holds)
}

/// Tests check, tiles and repair of a revent recording with one of the options.
pub fn revent_repair(bytes: &[u8]) -> Held {
    revent::chosen(bytes, super::seed(bytes))
}

/// Tests a description of a revent recording and of its damage, as `arbitrary` reads it.
pub fn revent_structured(bytes: &[u8]) -> Held {
    described(bytes, revent::holds)
}

/// Tests a description of an apitrace trace and of its damage, as `arbitrary` reads it.
pub fn apitrace_structured(bytes: &[u8]) -> Held {
    described(bytes, apitrace::described)
}

/// Tests a description of an ovni trace and of its damage, as `arbitrary` reads it.
pub fn ovni_structured(bytes: &[u8]) -> Held {
    described(bytes, super::ovni::described)
}

/// Tests a description; a failure shows it.
fn described<D>(bytes: &[u8], holds: impl FnOnce(&D) -> Held) -> Held
where
    D: for<'a> Arbitrary<'a> + Debug,
{
    let Ok(description) = D::arbitrary_take_rest(Unstructured::new(bytes)) else { return Ok(()) };
    holds(&description).map_err(|broken| {
        let detail = format!("{} {description:?}", broken.detail);
        Broken { detail, ..broken }
    })
}

/// Tests a single stream of an ovni trace.
pub fn ovni_stream(bytes: &[u8]) -> Held {
    ovni(&FileSet::single("stream.obs", bytes), super::seed(bytes))
}

/// Tests the metadata of an ovni thread whose stream has two events.
pub fn ovni_json(bytes: &[u8]) -> Held {
    let stream = crate::forge::ovni::Stream::default().begin(0).end();
    let file = |name: &str, bytes| File {
        name: format!("loom.a/proc.1/thread.2/{name}"),
        bytes: Source::new(bytes),
    };
    let files = vec![file("stream.json", bytes), file("stream.obs", &stream.bytes)];
    ovni(&FileSet::new(files), super::seed(bytes))
}

/// Tests a complete ovni trace as an archive of files.
pub fn ovni_trace(bytes: &[u8]) -> Held {
    ovni(&archive::unpack(bytes), super::seed(bytes))
}

/// Checks one half of the inputs and repairs the other half.
fn ovni(files: &FileSet<'_>, seed: u64) -> Held {
    let mut options = Options { format: Some(FormatId::OVNI), ..Options::default() };
    // Thousands of CPUs in the metadata test no more than a few.
    options.limits.set(&tracemend::formats::ovni::limits::LOOM_CPUS, 64);
    if seed.is_multiple_of(2) {
        return recording::checked_with(files, &options);
    }
    if seed % 16 == 5 {
        options.choices.set("upgrade", "").unwrap();
    }
    if seed % 8 == 3 {
        options.choices.set("strategy", "cut").unwrap();
    }
    let safety = [Allow::Lossy, Allow::Lossy, Allow::Synthetic, Allow::Exact];
    options.allow = safety[(seed / 2) as usize % safety.len()];
    recording::repaired_with(files, &options)
}

/// Tests patches of a source with two lists of edits and a name, and edits anywhere.
pub fn patch(bytes: &[u8]) -> Held {
    type Case = (Vec<u8>, Vec<patch::Step>, Vec<patch::Step>, String, u8, Vec<(u8, u8)>);
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(bytes)) else { return Ok(()) };
    let (source, first, second, name, len, spans) = case;
    patch::accepted(len, &spans)?;
    patch::holds(&source, &first, &second, &name)
}

/// Tests the expansion of a zstd stream.
pub fn zstd(bytes: &[u8]) -> Held {
    zstd::expanded(bytes)
}

/// Tests bytes as a plan of a repair: a plan that is accepted reads back as it was written.
pub fn plan(bytes: &[u8]) -> Held {
    Plan::from_json(bytes).map_or(Ok(()), |plan| recording::read_back(&plan))
}

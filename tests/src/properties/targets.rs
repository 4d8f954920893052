//! The fuzz targets: what each does with the bytes that it is given.
//!
//! The crate in `fuzz/` hands libFuzzer's bytes to these functions, and `cargo test` those of
//! `corpus/regressions/TARGET/`: the inputs on which a target failed once.

use arbitrary::{Arbitrary, Unstructured};
use tracemend::Allow;
use tracemend::FormatId;
use tracemend::kit::source::Source;
use tracemend::{File, FileSet, Options};

use super::{
    Broken, Held, allocation, apitrace, archive, donor, patch, qemu, recording, revent, structured,
    zstd,
};

/// Name and function of a target.
pub type Target = (&'static str, fn(&[u8]) -> Held);

/// Every target.
pub static TARGETS: [Target; 16] = [
    ("apitrace_container", apitrace::container),
    ("apitrace_stream", apitrace::stream),
    ("apitrace_mutated", apitrace::mutated),
    ("perf_check", perf_check),
    ("perf_repair", perf_repair),
    ("perf_structured", perf_structured),
    ("perf_donor", perf_donor),
    ("qemu_repair", qemu_repair),
    ("qemu_structured", qemu_structured),
    ("revent_repair", revent_repair),
    ("revent_structured", revent_structured),
    ("ovni_stream", ovni_stream),
    ("ovni_json", ovni_json),
    ("ovni_trace", ovni_trace),
    ("patch", patch),
    ("zstd", zstd),
];

/// Fails the fuzzer's run.
///
/// # Panics
///
/// If a property does not hold.
pub fn must(held: Held) {
    held.unwrap_or_else(|broken| panic!("{broken}"));
}

/// A recording: check and tiles, and what the check holds in memory.
pub fn perf_check(bytes: &[u8]) -> Held {
    allocation::bounded(bytes)?;
    recording::checked(&FileSet::single("recording", bytes))
}

/// A recording: repair at one of the safeties.
pub fn perf_repair(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    let safety = [Allow::Lossy, Allow::Lossy, Allow::Synthetic, Allow::Exact];
    recording::repaired(&files, safety[super::seed(bytes) as usize % safety.len()])
}

/// A description of a recording and of its damages, as `arbitrary` reads it.
pub fn perf_structured(bytes: &[u8]) -> Held {
    let Ok(description) = structured::Description::arbitrary_take_rest(Unstructured::new(bytes))
    else {
        return Ok(());
    };
    let told =
        |broken: Broken| Broken { detail: format!("{} {description:?}", broken.detail), ..broken };
    structured::holds(&description, super::seed(bytes)).map_err(told)
}

/// What a donor says of the tracepoints of a crashed recording.
pub fn perf_donor(bytes: &[u8]) -> Held {
    donor::holds(bytes)
}

/// A log of QEMU: check, tiles, and repair with one of the user's choices.
pub fn qemu_repair(bytes: &[u8]) -> Held {
    allocation::bounded(bytes)?;
    qemu::chosen(bytes, super::seed(bytes))
}

/// A description of a log of QEMU and of its damages, as `arbitrary` reads it.
pub fn qemu_structured(bytes: &[u8]) -> Held {
    let Ok(description) = qemu::Description::arbitrary_take_rest(Unstructured::new(bytes)) else {
        return Ok(());
    };
    let told =
        |broken: Broken| Broken { detail: format!("{} {description:?}", broken.detail), ..broken };
    qemu::holds(&description).map_err(told)
}

/// A revent recording: check, tiles, and repair with one of the user's choices.
pub fn revent_repair(bytes: &[u8]) -> Held {
    allocation::bounded(bytes)?;
    revent::chosen(bytes, super::seed(bytes))
}

/// A description of a revent recording and of its damages, as `arbitrary` reads it.
pub fn revent_structured(bytes: &[u8]) -> Held {
    let Ok(description) = revent::Description::arbitrary_take_rest(Unstructured::new(bytes)) else {
        return Ok(());
    };
    let told =
        |broken: Broken| Broken { detail: format!("{} {description:?}", broken.detail), ..broken };
    revent::holds(&description).map_err(told)
}

/// A stream of an ovni trace by itself.
pub fn ovni_stream(bytes: &[u8]) -> Held {
    ovni(&FileSet::single("stream.obs", bytes), super::seed(bytes))
}

/// The metadata of an ovni thread whose stream holds two events.
pub fn ovni_json(bytes: &[u8]) -> Held {
    let stream = crate::forge::ovni::Stream::default().begin(0).end();
    let file = |name: &str, bytes| File {
        name: format!("loom.a/proc.1/thread.2/{name}"),
        bytes: Source::new(bytes),
    };
    let files = vec![file("stream.json", bytes), file("stream.obs", &stream.bytes)];
    ovni(&FileSet::new(files), super::seed(bytes))
}

/// A whole ovni trace: an archive of files.
pub fn ovni_trace(bytes: &[u8]) -> Held {
    ovni(&archive::unpack(bytes), super::seed(bytes))
}

/// Half of the inputs are checked, the other half repaired.
fn ovni(files: &FileSet<'_>, seed: u64) -> Held {
    let mut options = Options { format: Some(FormatId::OVNI), ..Options::default() };
    // Thousands of CPUs in the metadata say no more than some.
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

/// A source, two lists of edits and a name; and edits anywhere.
pub fn patch(bytes: &[u8]) -> Held {
    type Case = (Vec<u8>, Vec<patch::Step>, Vec<patch::Step>, String, u8, Vec<(u8, u8)>);
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(bytes)) else { return Ok(()) };
    let (source, first, second, name, len, spans) = case;
    patch::accepted(len, &spans)?;
    patch::holds(&source, &first, &second, &name)
}

/// A zstd stream.
pub fn zstd(bytes: &[u8]) -> Held {
    zstd::expanded(bytes)
}

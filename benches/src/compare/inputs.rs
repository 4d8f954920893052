//! The recordings of the ledger, and the commands that run on them.
//!
//! Each format has a sound recording, and one whose end was cut, as by a crash. Two folders hold
//! 2,000 small recordings each, in hundreds.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use super::versions::root;
use crate::{MB, apitrace, ovni, qemu, recording, revent};

/// Stands for the number of the version in an argument.
pub(super) const REPORTS: &str = "{version}";
/// Small recordings of a folder, and of a directory in it.
const SMALL: usize = 2_000;
const HUNDRED: usize = 100;
/// Shards of a folder whose reports are merged.
const SHARDS: usize = 4;

/// Writes a recording of about so many bytes.
type Write = fn(&Path, u64) -> Result<(), Box<dyn Error>>;

/// The large recordings: name of the format, path, and what writes them.
pub(crate) const LARGE: [(&str, &str, Write); 8] = [
    ("perf", "plain.perf.data", |path, bytes| write_perf(0, path, bytes)),
    ("perf callchain", "callchain.perf.data", |path, bytes| write_perf(1, path, bytes)),
    ("perf zstd", "zstd.perf.data", |path, bytes| write_perf(2, path, bytes)),
    ("apitrace", "calls.trace", apitrace::write_calls),
    ("apitrace blobs", "blobs.trace", apitrace::write_blobs),
    ("ovni", "ovni", ovni::write),
    ("qemu", "boot.replay", qemu::write),
    ("revent", "bench.run.revent", |path, bytes| revent::write(path, bytes).map(drop)),
];

fn write_perf(shape: usize, path: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    recording::write(path, recording::SHAPES[shape], bytes).map(drop)
}

/// Name of a bench, and arguments of its command.
pub(super) type Bench = (String, Vec<String>);

/// Lists all benches.
pub(super) fn list_benches(folder: &Path) -> Result<Vec<Bench>, Box<dyn Error>> {
    let bench = |name: String, args: &str| (name, args.split(' ').map(str::to_string).collect());
    let mut benches = Vec::new();
    for (name, path, _) in LARGE {
        benches.push(bench(format!("{name} check"), &format!("check {path} --jobs 1")));
        for command in ["dump", "map", "audit"] {
            benches.push(bench(format!("{name} {command}"), &format!("{command} {path}")));
        }
        let cut = format!("cut/{path}");
        benches.push(bench(format!("{name} cut, check"), &format!("check {cut} --jobs 1")));
        benches.push(bench(format!("{name} cut, repair"), &format!("repair {cut} -o out")));
    }
    for set in ["perf", "mix"] {
        let name = format!("{SMALL} small, {set}");
        let check = format!("check small/{set} --jobs");
        benches.push(bench(format!("{name}: check"), &format!("{check} 1")));
        benches.push(bench(format!("{name}: check, 2 jobs"), &format!("{check} 2")));
        for shard in 1..=SHARDS {
            fs::create_dir_all(folder.join(format!("reports/{set}")))?;
            let output = format!("reports/{set}/{REPORTS}-{shard}.json");
            let args = format!("{check} 1 --shard {shard}/{SHARDS} --format json -o {output}");
            benches.push(bench(format!("{name}: shard {shard} of {SHARDS}"), &args));
        }
        let reports: Vec<String> =
            (1..=SHARDS).map(|shard| format!("reports/{set}/{REPORTS}-{shard}.json")).collect();
        let args = format!("merge {} --format json=out", reports.join(" "));
        benches.push(bench(format!("{name}: merge of {SHARDS}"), &args));
    }
    Ok(benches)
}

/// Writes all recordings, the large ones of about `megabytes`.
pub(crate) fn write_inputs(folder: &Path, megabytes: u64) -> Result<(), Box<dyn Error>> {
    let bytes = megabytes.checked_mul(MB).ok_or("too many MB")?;
    fs::create_dir_all(folder.join("cut"))?;
    for (_, path, write) in LARGE {
        write(&folder.join(path), bytes)?;
        cut(&folder.join(path), &folder.join("cut").join(path))?;
    }
    let corpus = root().join("corpus");
    copy_small(&[corpus.join("perf/clean/plain.data")], &folder.join("small/perf"))?;
    copy_small(&list_clean(&corpus)?, &folder.join("small/mix"))
}

/// Copies a recording without the last tenth of each file of events.
pub(crate) fn cut(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            cut(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    let len = fs::copy(from, to)?;
    if from.extension().is_none_or(|extension| extension != "json") {
        // An odd length, so that the cut is inside a record.
        fs::File::options().write(true).open(to)?.set_len((len / 10 * 9) | 1)?;
    }
    Ok(())
}

/// Lists the clean recordings of the corpus.
fn list_clean(corpus: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut sources = Vec::new();
    for format in ["perf", "apitrace", "ovni", "qemu", "revent"] {
        for entry in fs::read_dir(corpus.join(format).join("clean"))? {
            sources.push(entry?.path());
        }
    }
    sources.sort();
    Ok(sources)
}

/// Copies recordings in turns until there are [`SMALL`].
fn copy_small(sources: &[PathBuf], folder: &Path) -> Result<(), Box<dyn Error>> {
    for (number, source) in sources.iter().cycle().take(SMALL).enumerate() {
        let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hundred = folder.join((number / HUNDRED).to_string());
        fs::create_dir_all(&hundred)?;
        copy(source, &hundred.join(format!("{number}-{name}")))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    if !from.is_dir() {
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

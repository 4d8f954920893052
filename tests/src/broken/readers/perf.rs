//! perf: `perf script -D` prints each sample with its offset and every value, and the script's line
//! after it names the event. Names of threads and of code are left out: other records give them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Place, Reading, Shown, Sound};
use crate::broken::tool::write_files;
use crate::judge::perf::Perf;
use crate::known_originals::perf::{SUBJECT, descriptions};
use crate::known_originals::{Files, Record};

/// Types of the records that hold compressed ones.
const COMPRESSED: [u8; 2] = [81, 83];
/// Type of a sample.
const SAMPLE: u8 = 9;
/// Size of the header of a pipe.
const PIPE_HEADER: usize = 16;
/// Begins the name of a file in the folder of a recording.
const FOLDER: &str = "/recording";

/// A sample in the output of perf.
#[derive(Debug, Default)]
struct Dumped {
    file: String,
    offset: usize,
    size: usize,
    label: String,
}

/// Reads a recording.
pub(super) fn read(judge: &Perf, files: &Files) -> Reading {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("recording");
    write_files(&path, files);
    let verdict = judge.dump_with_events(&path);
    let last = verdict.stderr.lines().last().unwrap_or_default();
    let accepted = match verdict.is_success() {
        true => Ok(()),
        false => Err(format!("{:?}: {last}", verdict.end)),
    };
    let mut samples = samples(&verdict.stdout);
    if is_pipe(files) {
        // Offsets are those after the header.
        samples.iter_mut().for_each(|sample| sample.offset += PIPE_HEADER);
    }
    samples.sort_by(|one, two| (&one.file, one.offset).cmp(&(&two.file, two.offset)));
    let shown = samples.into_iter().map(|sample| {
        let bytes = bytes(files, &sample);
        Shown { lane: sample.file, label: sample.label, offset: Some(sample.offset), bytes }
    });
    Reading { accepted, shown: shown.collect() }
}

/// Returns whether a recording is that of a pipe.
fn is_pipe(files: &Files) -> bool {
    let size = files[0].1.get(8..16).unwrap_or_default();
    size.iter().map(|byte| usize::from(*byte)).sum::<usize>() == PIPE_HEADER
}

/// Returns the stored bytes of a sample, unless they are compressed.
fn bytes(files: &Files, sample: &Dumped) -> Option<Vec<u8>> {
    let [first, ..] = files.as_slice() else { return None };
    let (_, bytes) = files.iter().find(|(name, _)| *name == sample.file).unwrap_or(first);
    let stored = bytes.get(sample.offset..sample.offset.checked_add(sample.size)?)?;
    let is_sample = stored.get(..4)?.iter().copied().max() == Some(SAMPLE);
    is_sample.then(|| stored.to_vec())
}

/// Reads the samples of a dump:
///
/// ```text
/// 0x598@/tmp/recording [0x60]: event: 9
/// . bytes in hexadecimal
/// 7770949982548 0x598 [0x60]: PERF_RECORD_SAMPLE(IP, 0x2): 1/1: 0x561e period: 5 addr: 0
///  ... thread: sha256sum:1
///   cpu-clock:
/// ```
fn samples(dump: &str) -> Vec<Dumped> {
    let (mut found, mut open) = (Vec::new(), None::<Dumped>);
    let mut file = String::new();
    for line in dump.lines() {
        if let Some((_, path)) = line.split_once('@').filter(|_| line.starts_with("0x")) {
            let path = path.rsplit_once(" [").map_or(path, |(path, _)| path);
            let name = path.rsplit_once(FOLDER).map_or(path, |(_, name)| name);
            file = name.trim_start_matches('/').to_string();
        }
        if line.is_empty() || line.starts_with("0x") {
            found.extend(open.take());
        } else if let Some(sample) = head(line) {
            found.extend(open.take());
            open = Some(Dumped { file: file.clone(), ..sample });
        } else if let Some(sample) = &mut open {
            let is_named_elsewhere = ["thread:", "dso:"].iter().any(|word| line.contains(word));
            if !is_named_elsewhere && !line.starts_with(". ") {
                sample.label += "\n";
                sample.label += line.trim();
            }
        }
    }
    found.extend(open);
    found
}

/// Reads the first line of a sample. The label has no place, and neither addresses as numbers of a
/// symbol nor names.
fn head(line: &str) -> Option<Dumped> {
    let (before, values) = line.split_once(": PERF_RECORD_SAMPLE")?;
    let (before, size) = before.rsplit_once(" [0x")?;
    let (times, offset) = before.rsplit_once("0x")?;
    let number = |digits: &str| usize::from_str_radix(digits, 16).ok();
    let size = number(size.trim_end_matches(']'))?;
    let label = format!("{}{values}", times.trim());
    Some(Dumped { file: String::new(), offset: number(offset)?, size, label })
}

/// Finds the records of the samples.
pub(super) fn place(sound: &mut Sound) -> Option<()> {
    let files = &sound.original.files;
    let records = (SUBJECT.records)(&sound.original, files);
    let is_packed = |record: &Record| {
        COMPRESSED.contains(&record.identity[..4].iter().copied().max().unwrap_or(0))
    };
    sound.group = if records.iter().any(is_packed) { "perf, zstd" } else { "perf" };
    let by_start: BTreeMap<(usize, usize), &Record> =
        records.iter().map(|record| ((record.file, record.stored.start), record)).collect();
    let described: Vec<(usize, Range<usize>)> =
        descriptions(&sound.original).into_iter().map(|range| (0, range)).collect();
    let packed: Vec<&Record> = records.iter().filter(|record| is_packed(record)).collect();
    for shown in &sound.shown {
        let file = files.iter().position(|(name, _)| *name == shown.lane).unwrap_or(0);
        let record = by_start.get(&(file, shown.offset?))?;
        let mut needs = described.clone();
        if is_packed(record) {
            // The records of a stream refer to the bytes that the ones before them expand to.
            let earlier = packed.iter().filter(|one| one.file == file);
            let earlier = earlier.take_while(|one| one.stored.start < record.stored.start);
            needs.extend(earlier.map(|one| (file, one.stored.clone())));
        }
        sound.places.push(Place { own: (file, record.stored.clone()), needs });
    }
    Some(())
}

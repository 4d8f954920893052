//! Which calls of a damaged trace survive its repair: call by call, as apitrace shows them.
//!
//! A sound trace is stored in each container, damaged by a number, and repaired. A call is right if
//! `apitrace dump` shows it in the repaired trace as in the sound one: number, name, arguments and
//! result. Beside it stands what apitrace reads of the damaged file by itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tracemend::kit::source::Source;
use tracemend::{Options, Outcome};

use super::Apitrace;
use crate::forge::apitrace::{Container as Form, chunks, zstd};
use crate::mended::mended_as;

/// The containers of the table.
pub const CONTAINERS: [&str; 4] = ["snappy", "zstd", "gzip", "brotli"];

/// The kinds of damage in every container.
pub const KINDS: [&str; 8] = [
    "bit flipped",
    "4 KiB zeroed",
    "4 KiB removed",
    "4 KiB random",
    "512 bytes random",
    "two blocks swapped",
    "block doubled",
    "cut",
];

/// Further kinds of damage, of chunks.
pub const CHUNK_KINDS: [&str; 5] = [
    "chunk length damaged",
    "chunk dropped",
    "two chunks swapped",
    "first chunk dropped",
    "first chunk, 512 bytes random",
];

/// Numbers that look random and recur.
#[derive(Clone, Copy, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of a seed.
    pub const fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`.
    pub const fn below(&mut self, bound: usize) -> usize {
        (self.next() % if bound == 0 { 1 } else { bound as u64 }) as usize
    }
}

/// A sound trace.
#[derive(Debug)]
pub struct Original {
    /// Its name.
    pub name: String,
    /// Its stream.
    pub stream: Vec<u8>,
    /// The lines of its calls.
    pub calls: BTreeMap<u64, String>,
    /// Its files, one per container.
    files: BTreeMap<&'static str, Vec<u8>>,
}

/// What became of a damaged trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Survival {
    /// Calls of the sound trace.
    pub calls: usize,
    /// Calls that the repaired trace shows as they were.
    pub right: usize,
    /// Calls that it shows otherwise, without placeholders.
    pub other: usize,
    /// Calls of the damaged file that apitrace shows as they were.
    pub by_apitrace: usize,
    /// Whether the repair gave up.
    pub is_given_up: bool,
    /// Whether apitrace complains about the repaired trace.
    pub is_refused: bool,
}

impl Original {
    /// Reads a sound trace; brotli files are made by `apitrace repack`.
    ///
    /// # Panics
    ///
    /// If the file cannot be read or apitrace does not accept it.
    pub fn read(judge: &Apitrace, path: &Path, folder: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let stream = tracemend::formats::apitrace::stream_bytes(&Source::new(&bytes), u64::MAX);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self::of(judge, name, stream, folder)
    }

    /// Stores a stream in every container.
    ///
    /// # Panics
    ///
    /// If apitrace does not accept it.
    pub fn of(judge: &Apitrace, name: String, stream: Vec<u8>, folder: &Path) -> Self {
        let snappy = Form::Snappy.file(&stream);
        let path = folder.join("sound.trace");
        fs::write(&path, &snappy).unwrap();
        let dump = judge.dump(&path);
        assert!(dump.is_silent(), "{name}: {}", dump.stderr);
        let repacked = folder.join("repacked.trace");
        let mut repack = Command::new(&judge.program);
        repack.args(["repack", "--brotli=5"]).arg(&path).arg(&repacked);
        assert!(repack.output().unwrap().status.success());
        let files = BTreeMap::from([
            ("snappy", snappy),
            ("zstd", zstd(&stream, 2 << 20, true)),
            ("gzip", Form::Gzip.file(&stream)),
            ("brotli", fs::read(&repacked).unwrap()),
        ]);
        Self { name, stream, calls: dump.calls, files }
    }

    /// Returns the file in a container.
    ///
    /// # Panics
    ///
    /// If there is no such container.
    pub fn file(&self, container: &str) -> &[u8] {
        &self.files[container]
    }

    /// Repairs a damaged file of the trace, with the options, and compares every call.
    pub fn judge(
        &self,
        judge: &Apitrace,
        damaged: &[u8],
        options: &Options,
        folder: &Path,
    ) -> Survival {
        let (repair, target) = mended_as("damaged.trace", damaged, options);
        let is_done = matches!(
            repair.outcome,
            Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss
        );
        let mut survival =
            Survival { calls: self.calls.len(), is_given_up: !is_done, ..Survival::default() };
        let same = |calls: &BTreeMap<u64, String>| {
            calls.iter().filter(|(number, line)| self.calls.get(*number) == Some(*line)).count()
        };
        let own = judge.dump(&write(folder, "damaged.trace", damaged));
        survival.by_apitrace = same(&own.calls);
        if is_done {
            let dump = judge.dump(&readable(folder, &target));
            survival.right = same(&dump.calls);
            let is_placeholder = |line: &&String| line.contains("lost_call");
            let placeholders = dump.calls.values().filter(is_placeholder).count();
            survival.other = dump.calls.len() - placeholders - survival.right;
            survival.is_refused = !dump.is_silent();
        }
        survival
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Writes a trace in a container that apitrace 11.1 can read, which excludes zstd.
fn readable(folder: &Path, file: &[u8]) -> PathBuf {
    if !file.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return write(folder, "repaired.trace", file);
    }
    let stream = tracemend::formats::apitrace::stream_bytes(&Source::new(file), u64::MAX);
    write(folder, "repaired.trace", &Form::Snappy.file(&stream))
}

/// Damages a file as `kind` names it; returns what was done, in a few words.
///
/// # Panics
///
/// If there is no such kind.
pub fn damage(kind: &str, bytes: &mut Vec<u8>, numbers: &mut Numbers) -> String {
    if CHUNK_KINDS.contains(&kind) {
        return damage_chunk(kind, bytes, numbers);
    }
    let len = bytes.len();
    let block = 4096.min(len / 4).max(1);
    let at = numbers.below(len.saturating_sub(block)).max(2);
    let other = numbers.below(len.saturating_sub(block)).max(2);
    let random = |len: usize, numbers: &mut Numbers| -> Vec<u8> {
        (0..len).map(|_| (numbers.next() >> 32) as u8).collect()
    };
    match kind {
        "bit flipped" => bytes[at] ^= 1 << numbers.below(8),
        "4 KiB zeroed" => bytes[at..at + block].fill(0),
        "4 KiB removed" => drop(bytes.drain(at..at + block)),
        "4 KiB random" => {
            let noise = random(block, numbers);
            bytes[at..at + block].copy_from_slice(&noise);
        }
        "512 bytes random" => {
            let noise = random(block.min(512), numbers);
            bytes[at..at + noise.len()].copy_from_slice(&noise);
        }
        "two blocks swapped" => {
            let (first, second) = (at.min(other), at.max(other));
            if first + block <= second {
                let (head, tail) = bytes.split_at_mut(second);
                head[first..first + block].swap_with_slice(&mut tail[..block]);
            }
        }
        "block doubled" => {
            let again = bytes[at..at + block].to_vec();
            bytes.splice(at..at, again);
        }
        "cut" => bytes.truncate(at),
        _ => panic!("unknown kind of damage: {kind}"),
    }
    format!("{kind} at {at:#x}")
}

fn damage_chunk(kind: &str, bytes: &mut Vec<u8>, numbers: &mut Numbers) -> String {
    let places = chunks(bytes);
    let which = numbers.below(places.len());
    let (start, end) = places[which];
    match kind {
        "chunk length damaged" => bytes[start + numbers.below(3)] ^= 1 << numbers.below(8),
        "chunk dropped" => drop(bytes.drain(start..end)),
        "two chunks swapped" => {
            let mut order: Vec<usize> = (0..places.len()).collect();
            order.swap(which, numbers.below(places.len()));
            let mut file = b"at".to_vec();
            order.iter().for_each(|one| file.extend(&bytes[places[*one].0..places[*one].1]));
            *bytes = file;
        }
        "first chunk dropped" => drop(bytes.drain(places[0].0..places[0].1)),
        "first chunk, 512 bytes random" => {
            let (from, to) = (places[0].0 + 4, places[0].1);
            let at = from + numbers.below(to - from - 512);
            bytes[at..at + 512].iter_mut().for_each(|byte| *byte = (numbers.next() >> 32) as u8);
        }
        _ => panic!("unknown kind of damage: {kind}"),
    }
    format!("{kind}: {which} of {} at {start:#x}", places.len())
}

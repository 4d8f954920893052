//! Which calls of a damaged trace survive its repair: call by call, as apitrace shows them.
//!
//! A sound trace is stored in each container, damaged by a number, and repaired. A call is right if
//! `apitrace dump` shows it in the repaired trace as in the sound one: number, name, arguments and
//! result. Beside it stands what apitrace reads of the damaged file by itself.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use tracemend::formats::apitrace::expand::zstd::frame_lengths;
use tracemend::formats::apitrace::stream_bytes;
use tracemend::kit::source::Source;
use tracemend::{Limits, Options, Outcome};

use super::Apitrace;
use super::doubts::Doubts;
use super::invented::{Sequence, count_invented};
use crate::forge::apitrace::{Container as Form, chunks, zstd};
use crate::known_originals::apitrace::call_spans;
use crate::mended::mended_as;

/// The containers of the table.
pub const CONTAINERS: [&str; 4] = ["snappy", "zstd", "gzip", "brotli"];

/// The kinds of damage in every container.
pub const KINDS: [&str; 9] = [
    "bit flipped",
    "4 KiB zeroed",
    "4 KiB removed",
    "4 KiB random",
    "512 bytes random",
    "two blocks swapped",
    "block doubled",
    "cut",
    "end zeroed",
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
    /// The functions and lines of its calls, to recognise calls that are shown elsewhere.
    sequence: Sequence,
    /// Its files, one per container.
    files: BTreeMap<&'static str, Vec<u8>>,
}

/// Calls of which all bytes can still be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Left {
    /// How many.
    pub all: usize,
    /// Those of them that the repaired trace shows as they were.
    pub right: usize,
}

/// Calls that a repair loses or makes up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Calls of the damaged file that apitrace shows as they were and the repaired trace does not.
    pub missed: usize,
    /// Calls of the repaired trace that never were.
    pub invented: usize,
    /// Calls that the repaired trace has beyond the number of the sound one.
    pub excess: usize,
}

/// The calls of a damaged trace after its repair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Survival {
    /// Calls of the sound trace.
    pub calls: usize,
    /// Calls that the repaired trace shows as they were.
    pub right: usize,
    /// Calls that it shows otherwise, without placeholders.
    pub other: usize,
    /// The calls that the report says may be wrong, and those that are.
    pub doubts: Doubts,
    /// Calls of the damaged file that apitrace shows as they were.
    pub by_apitrace: usize,
    /// Calls that were lost or made up without need.
    pub faults: Faults,
    /// Calls whose bytes can still be read: elements of chunks, frames up to their first damaged
    /// byte, or other files up to there.
    pub left: Left,
    /// Those of them that are left with the definitions of their functions and values.
    pub defined: Left,
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
        let stream = stream_bytes(&Source::new(&bytes), u64::MAX);
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
        let sequence = Sequence::of(&stream, &dump.calls);
        Self { name, stream, calls: dump.calls, sequence, files }
    }

    /// A trace in the one container that it was stored in, with the lines of its calls.
    pub fn stored(
        name: &str,
        (container, bytes): (&'static str, Vec<u8>),
        calls: BTreeMap<u64, String>,
    ) -> Self {
        let stream = stream_bytes(&Source::new(&bytes), u64::MAX);
        let sequence = Sequence::of(&stream, &calls);
        let files = BTreeMap::from([(container, bytes)]);
        Self { name: name.to_string(), stream, calls, sequence, files }
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
        damaged: &Damaged,
        options: &Options,
        folder: &Path,
    ) -> Survival {
        let (repair, target) = mended_as("damaged.trace", &damaged.bytes, options);
        let is_done = matches!(
            repair.outcome,
            Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss
        );
        let mut survival =
            Survival { calls: self.calls.len(), is_given_up: !is_done, ..Survival::default() };
        let same = |calls: &BTreeMap<u64, String>| {
            calls.iter().filter(|(number, line)| self.calls.get(*number) == Some(*line)).count()
        };
        let own = judge.dump(&write(folder, "damaged.trace", &damaged.bytes));
        survival.by_apitrace = same(&own.calls);
        let left = self.calls_left(damaged);
        survival.left.all = left.len();
        survival.defined.all = left.iter().filter(|(_, is_defined)| *is_defined).count();
        if is_done {
            let dump = judge.dump(&readable(folder, &target));
            survival.right = same(&dump.calls);
            let is_missed = |(number, line): &(&u64, &String)| {
                self.calls.get(number) == Some(*line) && dump.calls.get(number) != Some(*line)
            };
            survival.faults.missed = own.calls.iter().filter(is_missed).count();
            let stream = stream_bytes(&Source::new(&target), u64::MAX);
            survival.faults.invented = count_invented(&self.sequence, &stream, &dump.calls);
            survival.faults.excess = dump.calls.len().saturating_sub(self.calls.len());
            let is_right =
                |(number, _): &&(u64, bool)| dump.calls.get(number) == self.calls.get(number);
            survival.left.right = left.iter().filter(is_right).count();
            let defined = left.iter().filter(|(_, is_defined)| *is_defined);
            survival.defined.right = defined.filter(is_right).count();
            let is_placeholder = |line: &&String| line.contains("lost_call");
            let placeholders = dump.calls.values().filter(is_placeholder).count();
            survival.other = dump.calls.len() - placeholders - survival.right;
            survival.doubts = Doubts::of(&repair.before, &self.calls, &dump.calls);
            survival.is_refused = !dump.is_silent();
        }
        survival
    }
}

impl Original {
    /// Returns the numbers of the calls of which all bytes can still be read from a damaged file,
    /// and whether their definitions can.
    fn calls_left(&self, damaged: &Damaged) -> Vec<(u64, bool)> {
        let place = damaged.places(self.file(damaged.container).len());
        self.calls_left_at(damaged.container, &place)
    }

    /// Returns the same; `place`: where each byte of the sound file is now.
    pub fn calls_left_at(&self, container: &str, place: &[Option<usize>]) -> Vec<(u64, bool)> {
        let sound = self.file(container);
        let is_left = match container {
            "snappy" => chunks_left(sound, place),
            "zstd" => self.frames_left(sound, place),
            _ => self.left_before_damage(sound, 0, place),
        };
        // How many bytes are lost before each one.
        let mut lost = vec![0_usize];
        for index in 0..self.stream.len() {
            let is_lost = !is_left.get(index).copied().unwrap_or(false);
            lost.push(lost[index] + usize::from(is_lost));
        }
        let is_whole = |span: &Range<usize>| lost[span.end] == lost[span.start];
        let spans = call_spans(&self.stream).into_iter().enumerate();
        let left = spans.filter(|(_, call)| call.events.iter().all(is_whole));
        left.map(|(number, call)| (number as u64, call.definitions.iter().all(is_whole))).collect()
    }

    /// Returns for each byte of the stream whether its frame is left up to there.
    fn frames_left(&self, sound: &[u8], place: &[Option<usize>]) -> Vec<bool> {
        let (mut at, mut is_left) = (0, Vec::new());
        for (stored, len) in frame_lengths(&Source::new(sound), &Limits::default()) {
            let end = is_left.len() + len as usize;
            let frame = &place[at..at + stored as usize];
            let first = frame[0];
            let adjoins = |(index, now): (usize, &Option<usize>)| {
                now.is_some() && *now == first.map(|first| first + index)
            };
            if !frame.iter().enumerate().all(adjoins) {
                let left = self.left_before_damage(sound, at, place).len();
                is_left.resize(left.max(is_left.len()), true);
                is_left.resize(end, false);
            }
            is_left.resize(end, true);
            at += stored as usize;
        }
        is_left
    }

    /// Returns as many `true` as bytes can be read of a sound file that is cut at the first byte,
    /// from `from` on, that is not where it was before its neighbour.
    fn left_before_damage(&self, sound: &[u8], from: usize, place: &[Option<usize>]) -> Vec<bool> {
        let first = place[from];
        let stays =
            |at: &usize| place[*at].is_some() && place[*at] == first.map(|first| first + at - from);
        let cut = (from..sound.len()).find(|at| !stays(at)).unwrap_or(sound.len());
        let bytes = stream_bytes(&Source::new(&sound[..cut]), u64::MAX);
        assert!(self.stream.starts_with(&bytes), "{}: a cut changes bytes", self.name);
        vec![true; bytes.len()]
    }
}

/// Returns for each byte of the stream whether it is left in chunks: the element of its chunk is,
/// that is, the element's stored bytes lie side by side, after those of the elements before it, and
/// the bytes that it copies are left.
fn chunks_left(sound: &[u8], place: &[Option<usize>]) -> Vec<bool> {
    let mut is_left = Vec::new();
    for (start, end) in chunks(sound) {
        push_left(&sound[start + 4..end], &place[start + 4..end], &mut is_left);
    }
    is_left
}

/// Adds to `is_left`, for each byte that a snappy block expands to, whether it is left; `place`:
/// where the block's bytes are in the damaged file.
fn push_left(block: &[u8], place: &[Option<usize>], is_left: &mut Vec<bool>) {
    let base = is_left.len();
    let mut at = block.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let mut last = 0;
    while at < block.len() {
        let number = |from: usize, len: usize| -> usize {
            (0..len).map(|index| (block[from + index] as usize) << (8 * index)).sum()
        };
        let tag = block[at];
        let high = (tag >> 2) as usize;
        let (len, distance, stored) = match tag & 3 {
            0 if high < 60 => (high + 1, None, 2 + high),
            0 => {
                let extra = high - 59;
                let len = number(at + 1, extra) + 1;
                (len, None, 1 + extra + len)
            }
            1 => (4 + (high & 7), Some((high >> 3) << 8 | number(at + 1, 1)), 2),
            2 => (high + 1, Some(number(at + 1, 2)), 3),
            _ => (high + 1, Some(number(at + 1, 4)), 5),
        };
        let first = place[at];
        let adjoins = |index: usize| place[at + index] == first.map(|first| first + index);
        let is_there = first.is_some_and(|first| first >= last) && (0..stored).all(adjoins);
        last = first.filter(|_| is_there).map_or(last, |first| first + stored);
        for _ in 0..len {
            let source = distance.map(|distance| is_left.len() - distance);
            let is_known = source.is_none_or(|source| source >= base && is_left[source]);
            is_left.push(is_there && is_known);
        }
        at += stored;
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Writes a trace in a container that apitrace 11.1 can read, which excludes zstd.
pub fn readable(folder: &Path, file: &[u8]) -> PathBuf {
    if !file.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return write(folder, "repaired.trace", file);
    }
    let stream = stream_bytes(&Source::new(file), u64::MAX);
    write(folder, "repaired.trace", &Form::Snappy.file(&stream))
}

/// A file that is damaged, with the place in the sound file of each byte.
#[derive(Clone, Debug)]
pub struct Damaged {
    /// Its container.
    pub container: &'static str,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where each byte was; `None` if damage wrote it.
    origins: Vec<Option<u32>>,
}

impl Damaged {
    /// The sound file of a trace in a container.
    pub fn of(original: &Original, container: &'static str) -> Self {
        let bytes = original.file(container).to_vec();
        let origins = (0..bytes.len() as u32).map(Some).collect();
        Self { container, bytes, origins }
    }

    /// Returns where each of the `len` bytes of the sound file is now; of two copies the first.
    fn places(&self, len: usize) -> Vec<Option<usize>> {
        let mut place = vec![None; len];
        for (at, origin) in self.origins.iter().enumerate() {
            if let Some(cell) = origin.and_then(|origin| place.get_mut(origin as usize)) {
                cell.get_or_insert(at);
            }
        }
        place
    }

    fn write(&mut self, at: usize, new: &[u8]) {
        for (index, byte) in new.iter().enumerate() {
            self.origins[at + index] = None;
            self.bytes[at + index] = *byte;
        }
    }

    fn remove(&mut self, from: usize, to: usize) {
        // Damage before this one may have made the file shorter.
        let to = to.min(self.bytes.len());
        let from = from.min(to);
        self.bytes.drain(from..to);
        self.origins.drain(from..to);
    }

    /// Puts the parts of the file in another order; a part may be there twice.
    fn arrange(&mut self, parts: &[(usize, usize)]) {
        let bytes = parts.iter().flat_map(|(from, to)| &self.bytes[*from..*to]);
        let origins = parts.iter().flat_map(|(from, to)| &self.origins[*from..*to]);
        (self.bytes, self.origins) = (bytes.copied().collect(), origins.copied().collect());
    }
}

/// Damages a file as `kind` names it; returns what was done, in a few words.
///
/// # Panics
///
/// If there is no such kind.
pub fn damage(kind: &str, file: &mut Damaged, numbers: &mut Numbers) -> String {
    if CHUNK_KINDS.contains(&kind) {
        return damage_chunk(kind, file, numbers);
    }
    let len = file.bytes.len();
    let block = 4096.min(len / 4).max(1);
    let at = numbers.below(len.saturating_sub(block)).max(2);
    let other = numbers.below(len.saturating_sub(block)).max(2);
    let random = |len: usize, numbers: &mut Numbers| -> Vec<u8> {
        (0..len).map(|_| (numbers.next() >> 32) as u8).collect()
    };
    match kind {
        "bit flipped" => file.write(at, &[file.bytes[at] ^ 1 << numbers.below(8)]),
        "4 KiB zeroed" => file.write(at, &vec![0; block]),
        "4 KiB removed" => file.remove(at, at + block),
        "4 KiB random" => file.write(at, &random(block, numbers)),
        "512 bytes random" => file.write(at, &random(block.min(512), numbers)),
        "two blocks swapped" => {
            let (first, second) = (at.min(other), at.max(other));
            if first + block <= second {
                let ends = [first, first + block, second, second + block];
                let [one, after_one, two, after_two] = ends;
                file.arrange(&[
                    (0, one),
                    (two, after_two),
                    (after_one, two),
                    (one, after_one),
                    (after_two, len),
                ]);
            }
        }
        "block doubled" => file.arrange(&[(0, at + block), (at, len)]),
        "cut" => file.remove(at, len),
        "end zeroed" => {
            let from = len.saturating_sub(1 + numbers.below(4 * block)).max(2);
            file.write(from, &vec![0; len - from]);
            return format!("{kind} from {from:#x}");
        }
        _ => panic!("unknown kind of damage: {kind}"),
    }
    format!("{kind} at {at:#x}")
}

fn damage_chunk(kind: &str, file: &mut Damaged, numbers: &mut Numbers) -> String {
    let places = chunks(&file.bytes);
    let which = numbers.below(places.len());
    let (start, end) = places[which];
    match kind {
        "chunk length damaged" => {
            let at = start + numbers.below(3);
            file.write(at, &[file.bytes[at] ^ 1 << numbers.below(8)]);
        }
        "chunk dropped" => file.remove(start, end),
        "two chunks swapped" => {
            let mut order = places.clone();
            order.swap(which, numbers.below(places.len()));
            order.insert(0, (0, 2));
            file.arrange(&order);
        }
        "first chunk dropped" => file.remove(places[0].0, places[0].1),
        "first chunk, 512 bytes random" => {
            let (from, to) = (places[0].0 + 4, places[0].1);
            let at = from + numbers.below(to - from - 512);
            let noise: Vec<u8> = (0..512).map(|_| (numbers.next() >> 32) as u8).collect();
            file.write(at, &noise);
        }
        _ => panic!("unknown kind of damage: {kind}"),
    }
    format!("{kind}: {which} of {} at {start:#x}", places.len())
}

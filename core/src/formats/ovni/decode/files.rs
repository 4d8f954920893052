//! Which file of a recording is what, by its name alone.
//!
//! ```text
//!  v3   DIR/stream.json  DIR/stream.obs                  DIR is free; libovni: loom.L/proc.P/thread.T
//!  v2   loom.L/proc.P/thread.T.obs  thread.T.json  metadata.json
//!  v1   loom.L/proc.P/thread.T.obs  metadata.json
//!  clock-offsets.txt in the root: what `ovnisync` found
//! ```

use std::collections::BTreeMap;

use crate::FileSet;
use crate::formats::ovni::layout::{MAGIC, STREAM_VERSION};

/// Leaf name of a stream's metadata.
pub const JSON: &str = "stream.json";
/// Leaf name of a stream's events.
pub const OBS: &str = "stream.obs";
/// Table of clock offsets in the root.
pub const CLOCK_OFFSETS: &str = "clock-offsets.txt";
/// Metadata of a process in layouts 1 and 2.
pub const PROCESS_JSON: &str = "metadata.json";

/// A file of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the file set.
    pub index: u32,
    /// Whether it is there; a name without a file is a place where a repair may put one.
    pub present: bool,
}

/// Names of libovni in a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// From `loom.NAME`.
    pub loom: Option<String>,
    /// From `proc.PID`.
    pub pid: Option<i64>,
    /// From `thread.TID`.
    pub tid: Option<i64>,
}

/// The two files of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFiles {
    /// The directory, relative to the trace.
    pub dir: String,
    /// `stream.json`, or `thread.T.json` of layout 2.
    pub json: Option<Entry>,
    /// `stream.obs`, or `thread.T.obs` of layouts 1 and 2.
    pub obs: Option<Entry>,
    /// `metadata.json` of the process, in layouts 1 and 2.
    pub process: Option<Entry>,
    /// Version of the metadata's layout: 1, 2 or 3.
    pub layout: u8,
    /// What its path says.
    pub hint: Hint,
}

/// The files of a trace, by what they are.
#[derive(Clone, Debug, Default)]
pub struct TraceFiles {
    /// In the order of their paths.
    pub streams: Vec<StreamFiles>,
    /// Directories of threads with neither of their two files.
    pub hollow: Vec<(String, StreamFiles)>,
    /// By directory: where the files of a stream of an old layout go.
    pub targets: BTreeMap<String, StreamFiles>,
    /// Table of clock offsets.
    pub clock_offsets: Option<u32>,
    /// A stream by itself: nothing is known about its thread.
    pub alone: bool,
}

impl TraceFiles {
    /// Sorts out the files of a set.
    pub fn of(files: &FileSet<'_>) -> Self {
        let mut trace = Self::default();
        let mut streams: BTreeMap<(String, u8), StreamFiles> = BTreeMap::new();
        let mut processes: BTreeMap<String, Entry> = BTreeMap::new();
        if let [file] = files.files() {
            let leaf = leaf(&file.name);
            trace.alone = leaf != JSON && !file.bytes.is_absent() && old_leaf(leaf).is_none();
            if trace.alone {
                let obs = Some(Entry { index: 0, present: true });
                let hint = Hint::default();
                let dir = String::new();
                let stream = StreamFiles { dir, json: None, obs, process: None, layout: 3, hint };
                return Self { streams: vec![stream], ..trace };
            }
        }
        for (index, file) in (0_u32..).zip(files.files()) {
            let entry = Entry { index, present: !file.bytes.is_absent() };
            let (dir, leaf) = file.name.rsplit_once('/').unwrap_or(("", &file.name));
            let (key, layout) = match (leaf, old_leaf(leaf)) {
                (JSON | OBS, _) => (dir.to_string(), 3),
                (_, Some(stem)) => (joined(dir, stem), 1),
                (CLOCK_OFFSETS, _) if dir.is_empty() && entry.present => {
                    trace.clock_offsets = Some(index);
                    continue;
                }
                (PROCESS_JSON, _) if entry.present => {
                    processes.insert(dir.to_string(), entry);
                    continue;
                }
                _ => continue,
            };
            let stream = streams.entry((key.clone(), layout)).or_insert_with(|| StreamFiles {
                hint: hint(&key),
                dir: key,
                json: None,
                obs: None,
                process: None,
                layout,
            });
            let place = if leaf.ends_with(".json") { &mut stream.json } else { &mut stream.obs };
            // A file goes before a name without one.
            if entry.present || place.is_none() {
                *place = Some(entry);
            }
        }
        let there = |entry: Option<Entry>| entry.is_some_and(|entry| entry.present);
        for (key, stream) in streams {
            if there(stream.json) || there(stream.obs) {
                trace.streams.push(stream);
            } else {
                trace.hollow.push((key.0, stream));
            }
        }
        let old = |dir: &str| trace.streams.iter().any(|s| s.layout < 3 && s.dir == dir);
        let hollow = std::mem::take(&mut trace.hollow);
        let (targets, hollow): (Vec<_>, Vec<_>) = hollow.into_iter().partition(|(dir, _)| old(dir));
        trace.hollow = hollow;
        trace.targets = targets.into_iter().collect();
        for stream in trace.streams.iter_mut().filter(|stream| stream.layout < 3) {
            let dir = stream.dir.rsplit_once('/').map_or("", |(dir, _)| dir);
            stream.process = processes.get(dir).copied();
            stream.layout = if stream.json.is_some_and(|json| json.present) { 2 } else { 1 };
        }
        trace
    }

    /// Whether any file looks like one of a trace.
    pub fn recognised(files: &FileSet<'_>) -> bool {
        if let [file] = files.files() {
            let head = file.bytes.read(0, 8);
            let (magic, version) = head.split_at_checked(4).unwrap_or_default();
            if magic == MAGIC && version == STREAM_VERSION.to_le_bytes() {
                return true;
            }
            let leaf = leaf(&file.name);
            return file.bytes.is_absent() && matches!(leaf, JSON | OBS)
                || leaf == JSON && file.name.contains('/');
        }
        files.files().iter().any(|file| {
            let leaf = leaf(&file.name);
            matches!(leaf, JSON | OBS) || old_leaf(leaf).is_some()
        })
    }
}

fn leaf(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, leaf)| leaf)
}

/// `thread.12` of `thread.12.obs` and `thread.12.json`.
pub fn old_leaf(leaf: &str) -> Option<&str> {
    let stem = leaf.strip_suffix(".obs").or_else(|| leaf.strip_suffix(".json"))?;
    let number = stem.strip_prefix("thread.")?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(stem)
}

fn joined(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_string() } else { format!("{dir}/{name}") }
}

/// What the names of libovni in a directory's path say.
fn hint(dir: &str) -> Hint {
    let mut hint = Hint::default();
    for name in dir.split('/') {
        let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<i64>().ok();
        if let Some(loom) = name.strip_prefix("loom.") {
            hint.loom = Some(loom.to_string());
        } else if let Some(pid) = number("proc.").filter(|pid| *pid > 0) {
            hint.pid = Some(pid);
        } else if let Some(tid) = number("thread.").filter(|tid| *tid > 0) {
            hint.tid = Some(tid);
        }
    }
    hint
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;
    use crate::kit::source::Source;

    fn set(names: &[&str]) -> FileSet<'static> {
        let file = |name: &&str| File { name: (*name).to_string(), bytes: Source::new(b"x") };
        FileSet::new(names.iter().map(file).collect())
    }

    #[test]
    fn streams_of_all_layouts_are_told_apart_by_their_names() {
        let files = set(&[
            "clock-offsets.txt",
            "loom.a.b/proc.7/metadata.json",
            "loom.a.b/proc.7/thread.8.json",
            "loom.a.b/proc.7/thread.8.obs",
            "loom.a.b/proc.7/thread.9.obs",
            "x/y/stream.json",
            "x/y/stream.obs",
            "x/y/other.txt",
        ]);
        let trace = TraceFiles::of(&files);
        let found: Vec<_> = trace
            .streams
            .iter()
            .map(|s| (s.dir.as_str(), s.layout, s.json.map(|e| e.index), s.obs.map(|e| e.index)))
            .collect();
        assert_eq!(
            found,
            [
                ("loom.a.b/proc.7/thread.8", 2, Some(2), Some(3)),
                ("loom.a.b/proc.7/thread.9", 1, None, Some(4)),
                ("x/y", 3, Some(5), Some(6)),
            ]
        );
        assert_eq!(trace.clock_offsets, Some(0));
        assert_eq!(trace.streams[0].process.unwrap().index, 1);
        let hint = Hint { loom: Some("a.b".to_string()), pid: Some(7), tid: Some(9) };
        assert_eq!(trace.streams[1].hint, hint);
    }
}

//! The files of a trace, recognised by their names alone.
//!
//! ```text
//!  v3   DIR/stream.json  DIR/stream.obs               libovni: DIR is loom.L/proc.P/thread.T
//!  v2   loom.L/proc.P/thread.T.obs  thread.T.json  metadata.json
//!  v1   loom.L/proc.P/thread.T.obs  metadata.json
//!  clock-offsets.txt in the root, written by `ovnisync`
//! ```

use std::collections::BTreeMap;

use crate::formats::ovni::layout::{MAGIC, STREAM_HEADER, STREAM_VERSION};
use crate::model::recording::FileSet;

/// File name of a stream's metadata.
pub const JSON: &str = "stream.json";
/// File name of a stream's events.
pub const OBS: &str = "stream.obs";
/// Table of clock offsets in the root.
pub const CLOCK_OFFSETS: &str = "clock-offsets.txt";
/// Metadata of a process in layouts 1 and 2.
pub const PROCESS_JSON: &str = "metadata.json";

/// A file of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index in the file set.
    pub index: u32,
    /// Whether the file exists. A repair may create a file under a name without one.
    pub present: bool,
}

/// Thread that the path of a stream names, in the naming of libovni.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathIdentity {
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
    /// Thread that its path names.
    pub path_identity: PathIdentity,
}

impl StreamFiles {
    /// A stream of which no file is known yet.
    fn new(dir: String, layout: u8) -> Self {
        let path_identity = parse_path(&dir);
        Self { dir, json: None, obs: None, process: None, layout, path_identity }
    }

    /// Returns the metadata file if it exists.
    pub fn present_json(&self) -> Option<u32> {
        self.json.filter(|json| json.present).map(|json| json.index)
    }

    /// Returns the file of events if it exists.
    pub fn present_obs(&self) -> Option<u32> {
        self.obs.filter(|obs| obs.present).map(|obs| obs.index)
    }
}

/// The files of a trace, by their purpose.
#[derive(Clone, Debug, Default)]
pub struct TraceFiles {
    /// In the order of their paths.
    pub streams: Vec<StreamFiles>,
    /// Directories of threads with neither of the two files.
    pub empty_dirs: Vec<StreamFiles>,
    /// Names for the files of streams of an old layout, by directory. An upgrade writes them.
    pub targets: BTreeMap<String, StreamFiles>,
    /// Table of clock offsets.
    pub clock_offsets: Option<u32>,
    /// The name of a table that does not exist.
    pub clock_offsets_name: Option<u32>,
    /// The recording is one stream without metadata: its thread is unknown.
    pub is_lone_stream: bool,
}

impl TraceFiles {
    /// Sorts the files of a set by their names.
    pub fn sort_out(files: &FileSet<'_>) -> Self {
        if let Some(alone) = Self::lone_stream(files) {
            return alone;
        }
        let mut trace = Self::default();
        let mut streams: BTreeMap<(String, u8), StreamFiles> = BTreeMap::new();
        let mut processes: BTreeMap<String, Entry> = BTreeMap::new();
        for (index, file) in (0_u32..).zip(files.files()) {
            let entry = Entry { index, present: !file.bytes.is_absent() };
            let (dir, leaf) = file.name.rsplit_once('/').unwrap_or(("", &file.name));
            let (key, layout) = match (leaf, old_stem(leaf)) {
                (JSON | OBS, _) => (dir.to_string(), 3),
                (_, Some(stem)) => (join(dir, stem), 1),
                (CLOCK_OFFSETS, _) if dir.is_empty() => {
                    let table = &mut trace.clock_offsets;
                    let name = &mut trace.clock_offsets_name;
                    *(if entry.present { table } else { name }) = Some(index);
                    continue;
                }
                (PROCESS_JSON, _) if entry.present => {
                    processes.insert(dir.to_string(), entry);
                    continue;
                }
                _ => continue,
            };
            let stream = streams
                .entry((key.clone(), layout))
                .or_insert_with(|| StreamFiles::new(key, layout));
            let place = if leaf.ends_with(".json") { &mut stream.json } else { &mut stream.obs };
            // A file has precedence over a name without one.
            if entry.present || place.is_none() {
                *place = Some(entry);
            }
        }
        trace.place_streams(streams.into_values());
        trace.complete_old_layouts(&processes);
        trace
    }

    /// The trace of one file that is a stream by itself.
    fn lone_stream(files: &FileSet<'_>) -> Option<Self> {
        let [file] = files.files() else { return None };
        let leaf = leaf(&file.name);
        if leaf == JSON || file.bytes.is_absent() || old_stem(leaf).is_some() {
            return None;
        }
        let obs = Some(Entry { index: 0, present: true });
        let stream = StreamFiles { obs, ..StreamFiles::new(String::new(), 3) };
        Some(Self { streams: vec![stream], is_lone_stream: true, ..Self::default() })
    }

    /// Separates streams, places where an upgrade puts files, and directories without a stream.
    fn place_streams(&mut self, streams: impl Iterator<Item = StreamFiles>) {
        let exists = |entry: Option<Entry>| entry.is_some_and(|entry| entry.present);
        let (streams, names): (Vec<_>, Vec<_>) =
            streams.partition(|stream| exists(stream.json) || exists(stream.obs));
        self.streams = streams;
        for stream in names {
            if self.streams.iter().any(|old| old.layout < 3 && old.dir == stream.dir) {
                self.targets.insert(stream.dir.clone(), stream);
            } else {
                self.empty_dirs.push(stream);
            }
        }
    }

    /// Gives streams of layouts 1 and 2 the metadata of their process.
    fn complete_old_layouts(&mut self, processes: &BTreeMap<String, Entry>) {
        for stream in self.streams.iter_mut().filter(|stream| stream.layout < 3) {
            let dir = stream.dir.rsplit_once('/').map_or("", |(dir, _)| dir);
            stream.process = processes.get(dir).copied();
            stream.layout = if stream.json.is_some_and(|json| json.present) { 2 } else { 1 };
        }
    }

    /// Whether any file is one of a trace, by its name or, for a single file, by its magic.
    pub fn is_trace(files: &FileSet<'_>) -> bool {
        if let [file] = files.files() {
            let head = file.bytes.read(0, STREAM_HEADER);
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
            matches!(leaf, JSON | OBS) || old_stem(leaf).is_some()
        })
    }
}

fn leaf(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, leaf)| leaf)
}

/// Returns `thread.12` for `thread.12.obs` and `thread.12.json`.
pub fn old_stem(leaf: &str) -> Option<&str> {
    let stem = leaf.strip_suffix(".obs").or_else(|| leaf.strip_suffix(".json"))?;
    let number = stem.strip_prefix("thread.")?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(stem)
}

/// Returns the path of a name in a directory.
pub fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_string() } else { format!("{dir}/{name}") }
}

/// Reads loom, process and thread from the path of a directory.
fn parse_path(dir: &str) -> PathIdentity {
    let mut identity = PathIdentity::default();
    for name in dir.split('/') {
        let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<i64>().ok();
        if let Some(loom) = name.strip_prefix("loom.") {
            identity.loom = Some(loom.to_string());
        } else if let Some(pid) = number("proc.").filter(|pid| *pid > 0) {
            identity.pid = Some(pid);
        } else if let Some(tid) = number("thread.").filter(|tid| *tid > 0) {
            identity.tid = Some(tid);
        }
    }
    identity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::source::Source;
    use crate::model::recording::File;

    fn set(names: &[&str]) -> FileSet<'static> {
        let file = |name: &&str| File { name: (*name).to_string(), bytes: Source::new(b"x") };
        FileSet::new(names.iter().map(file).collect())
    }

    #[test]
    fn streams_of_all_layouts_are_recognised_by_their_names() {
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
        let trace = TraceFiles::sort_out(&files);
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
        let identity = PathIdentity { loom: Some("a.b".to_string()), pid: Some(7), tid: Some(9) };
        assert_eq!(trace.streams[1].path_identity, identity);
    }
}

//! Builders of streams, of metadata and of traces.

use std::path::Path;

use tracemend::kit::source::Source;
use tracemend::mend::rounds::view;
use tracemend::{File, FileSet, Options, Repair};

/// A stream of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Its bytes so far.
    pub bytes: Vec<u8>,
    /// The clock of the last event.
    pub clock: u64,
}

impl Default for Stream {
    fn default() -> Self {
        Self::at(1_000)
    }
}

impl Stream {
    /// Returns a stream without events; the first one comes ten nanoseconds after `clock`.
    pub fn at(clock: u64) -> Self {
        Self { bytes: b"ovni\x01\0\0\0".to_vec(), clock }
    }

    /// Sets the clock of the last event.
    #[must_use]
    pub const fn wait(mut self, clock: u64) -> Self {
        self.clock = clock;
        self
    }

    /// Adds bytes that are not an event.
    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Adds an event with these flags and this clock.
    #[must_use]
    pub fn event(mut self, flags: u8, code: &str, clock: u64, payload: &[u8]) -> Self {
        self.bytes.push(flags);
        self.bytes.extend_from_slice(code.as_bytes());
        self.bytes.extend_from_slice(&clock.to_le_bytes());
        self.bytes.extend_from_slice(payload);
        self
    }

    /// Adds an event ten nanoseconds later, with a payload.
    #[must_use]
    pub fn with(mut self, code: &str, payload: &[u8]) -> Self {
        self.clock += 10;
        let flags = u8::try_from(payload.len().saturating_sub(1)).unwrap();
        let clock = self.clock;
        self.event(flags, code, clock, payload)
    }

    /// Adds events ten nanoseconds apart, without payload.
    #[must_use]
    pub fn plain(self, codes: &[&str]) -> Self {
        codes.iter().fold(self, |stream, code| stream.with(code, b""))
    }

    /// Adds an event with fields of four bytes.
    #[must_use]
    pub fn ids(self, code: &str, fields: &[u32]) -> Self {
        let payload: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
        self.with(code, &payload)
    }

    /// Adds a jumbo event.
    #[must_use]
    pub fn jumbo(mut self, code: &str, data: &[u8]) -> Self {
        self.clock += 10;
        let clock = self.clock;
        let size = u32::try_from(data.len()).unwrap().to_le_bytes();
        self.event(0x13, code, clock, &[&size, data].concat())
    }

    /// Adds the definition of a type.
    #[must_use]
    pub fn kind(self, code: &str, id: u32, label: &str) -> Self {
        self.jumbo(code, &[&id.to_le_bytes(), label.as_bytes(), b"\0"].concat())
    }

    /// Adds a mark event.
    #[must_use]
    pub fn mark(self, code: &str, value: i64, kind: i32) -> Self {
        self.with(code, &[&value.to_le_bytes()[..], &kind.to_le_bytes()].concat())
    }

    /// Adds OHx on a CPU.
    #[must_use]
    pub fn begin(self, cpu: i32) -> Self {
        let payload = [&cpu.to_le_bytes()[..], &(-1_i32).to_le_bytes(), &[0; 8]].concat();
        self.with("OHx", &payload)
    }

    /// Adds OHe.
    #[must_use]
    pub fn end(self) -> Self {
        self.plain(&["OHe"])
    }
}

/// The metadata of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Name of its loom.
    pub loom: String,
    /// Its process.
    pub pid: u32,
    /// Its id.
    pub tid: u32,
    /// Required models, with their versions.
    pub require: Vec<(&'static str, &'static str)>,
    /// CPUs: index and physical id.
    pub cpus: Vec<(u32, u32)>,
    /// Further members of `ovni`, as JSON.
    pub more: Vec<(&'static str, String)>,
    /// Further members of the text, as JSON.
    pub other: Vec<(&'static str, String)>,
    /// It ended.
    pub finished: bool,
}

impl Thread {
    /// Returns a thread of loom `node.0` with one CPU.
    pub fn new(pid: u32, tid: u32) -> Self {
        Self {
            loom: "node.0".to_string(),
            pid,
            tid,
            require: vec![("ovni", "1.1.0")],
            cpus: vec![(0, 0)],
            more: Vec::new(),
            other: Vec::new(),
            finished: true,
        }
    }

    /// Adds a required model.
    #[must_use]
    pub fn require(mut self, name: &'static str, version: &'static str) -> Self {
        self.require.push((name, version));
        self
    }

    /// Sets the CPUs.
    #[must_use]
    pub fn cpus(mut self, cpus: &[(u32, u32)]) -> Self {
        self.cpus = cpus.to_vec();
        self
    }

    /// Adds a member to `ovni`.
    #[must_use]
    pub fn more(mut self, key: &'static str, json: impl Into<String>) -> Self {
        self.more.push((key, json.into()));
        self
    }

    /// Keeps only the keys that libovni writes first: a thread that was killed leaves no others.
    #[must_use]
    pub fn killed(mut self) -> Self {
        self.require.clear();
        self.cpus.clear();
        self.more.clear();
        self.other.clear();
        self.finished = false;
        self
    }

    /// Returns the text, as libovni writes it.
    pub fn json(&self) -> String {
        let Self { loom, pid, tid, .. } = self;
        let mut members = vec![
            "\"lib\": {\n            \"version\": \"1.14.0\",\n\
             \u{20}           \"commit\": \"unknown\"\n        }"
                .to_string(),
            "\"part\": \"thread\"".to_string(),
            format!("\"tid\": {tid}"),
            format!("\"pid\": {pid}"),
            format!("\"loom\": \"{loom}\""),
            "\"app_id\": 1".to_string(),
        ];
        if !self.require.is_empty() {
            let models = self.require.iter();
            let models =
                models.map(|(name, version)| format!("            \"{name}\": \"{version}\""));
            let models = models.collect::<Vec<_>>().join(",\n");
            members.push(format!("\"require\": {{\n{models}\n        }}"));
        }
        if !self.cpus.is_empty() {
            let cpus = self.cpus.iter().map(|(index, phyid)| {
                format!(
                    "            {{\n                \"index\": {index},\n\
                     \u{20}               \"phyid\": {phyid}\n            }}"
                )
            });
            let cpus = cpus.collect::<Vec<_>>().join(",\n");
            members.push(format!("\"loom_cpus\": [\n{cpus}\n        ]"));
        }
        members.extend(self.more.iter().map(|(key, json)| format!("\"{key}\": {json}")));
        if self.finished {
            members.push("\"finished\": 1".to_string());
        }
        let ovni = members.join(",\n        ");
        let other = self.other.iter().map(|(key, json)| format!(",\n    \"{key}\": {json}"));
        let other = other.collect::<String>();
        format!("{{\n    \"version\": 3,\n    \"ovni\": {{\n        {ovni}\n    }}{other}\n}}")
    }

    /// Returns its directory.
    pub fn dir(&self) -> String {
        format!("loom.{}/proc.{}/thread.{}", self.loom, self.pid, self.tid)
    }
}

/// Files by name; `None` where there is a name without a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Files in the order of their names.
    pub files: Vec<(String, Option<Vec<u8>>)>,
}

impl Trace {
    /// Returns a trace of one thread.
    pub fn of(thread: &Thread, stream: Stream) -> Self {
        Self::default().and(thread, stream)
    }

    /// Adds a thread.
    #[must_use]
    pub fn and(self, thread: &Thread, stream: Stream) -> Self {
        let dir = thread.dir();
        self.put(&format!("{dir}/stream.json"), Some(thread.json().into_bytes()))
            .put(&format!("{dir}/stream.obs"), Some(stream.bytes))
    }

    /// Adds a file, or a name without a file.
    #[must_use]
    pub fn put(mut self, name: &str, bytes: Option<Vec<u8>>) -> Self {
        match self.files.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = bytes,
            None => self.files.push((name.to_string(), bytes)),
        }
        self.files.sort_by(|a, b| a.0.cmp(&b.0));
        self
    }

    /// Changes the bytes of the file whose name ends with `name`.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    #[must_use]
    pub fn change(mut self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Self {
        let file = self.files.iter_mut().find(|(other, _)| other.ends_with(name)).unwrap();
        change(file.1.as_mut().unwrap());
        self
    }

    /// Replaces a text in the file whose name ends with `name`.
    ///
    /// # Panics
    ///
    /// If there is no such file, or the text is not in it.
    #[must_use]
    pub fn replace(self, name: &str, old: &str, new: &str) -> Self {
        self.change(name, |bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert!(text.contains(old), "no {old} in {text}");
            *bytes = text.replacen(old, new, 1).into_bytes();
        })
    }

    /// Reads the files below a directory.
    ///
    /// # Panics
    ///
    /// If one of them cannot be read.
    pub fn below(folder: &Path) -> Self {
        let mut files = Vec::new();
        let mut folders = vec![(folder.to_path_buf(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
                if entry.path().is_dir() {
                    folders.push((entry.path(), format!("{name}/")));
                } else {
                    files.push((name, Some(std::fs::read(entry.path()).unwrap())));
                }
            }
        }
        files.sort();
        Self { files }
    }

    /// Repairs the trace; returns the repair and the repaired trace.
    pub fn mended(&self, options: &Options) -> (Repair, Self) {
        let set = self.set();
        let repair = tracemend::repair(&set, options);
        let target = Self::from_set(&view(&set, &repair.patches));
        (repair, target)
    }

    /// Returns the trace as a set of files.
    pub fn set(&self) -> FileSet<'_> {
        let files = self.files.iter().map(|entry| File {
            name: entry.0.clone(),
            bytes: entry.1.as_deref().map_or_else(Source::absent, Source::new),
        });
        FileSet::new(files.collect())
    }

    /// Returns the trace that a set of files holds.
    pub fn from_set(files: &FileSet<'_>) -> Self {
        let bytes = |source: &Source<'_>| source.pieces().collect::<Vec<_>>().concat();
        let file = |file: &File<'_>| {
            let there = !file.bytes.is_absent();
            (file.name.clone(), there.then(|| bytes(&file.bytes)))
        };
        Self { files: files.files().iter().map(file).collect() }
    }
}

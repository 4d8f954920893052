//! Looms, processes and threads, as all metadata together defines them.

use std::collections::BTreeMap;

use crate::formats::ovni::layout::MODEL_COUNT;
use crate::formats::ovni::state::metadata::Located;
use crate::kit::num::to_u64;
use crate::kit::span::Span;

/// A loom: processes that share the CPUs of a machine.
#[derive(Clone, Debug, Default)]
pub struct Loom {
    /// Its name.
    pub name: String,
    /// CPUs: index, physical id, and the place of the first definition.
    pub cpus: Vec<(i64, i64, Span)>,
    /// Numbers of its streams.
    pub streams: Vec<usize>,
    /// Numbers of its processes.
    pub processes: Vec<usize>,
    /// Nanoseconds to add to its clocks.
    pub offset: i64,
}

impl Loom {
    /// Returns its host: the name up to the first dot.
    pub fn host(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Returns the number of CPUs if their indices are 0 to N-1.
    pub fn cpu_count(&self) -> Option<i64> {
        let mut indices: Vec<i64> = self.cpus.iter().map(|(index, ..)| *index).collect();
        indices.sort_unstable();
        let is_complete = (0_i64..).zip(&indices).all(|(expected, index)| expected == *index);
        let count = i64::try_from(indices.len()).ok()?;
        (is_complete && count > 0).then_some(count)
    }

    /// Returns the number of CPUs after a repair has added `added` of them.
    pub fn cpu_room(&self, added: u64) -> i64 {
        let room = added.saturating_add(to_u64(self.cpus.len()));
        i64::try_from(room).unwrap_or(i64::MAX)
    }
}

/// A process of a loom.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Number of its loom.
    pub loom: usize,
    /// Its id.
    pub pid: i64,
    /// Its application.
    pub app_id: Option<Located<i64>>,
    /// Its MPI rank.
    pub rank: Option<Located<i64>>,
    /// Number of MPI processes.
    pub nranks: Option<Located<i64>>,
    /// Numbers of its streams.
    pub streams: Vec<usize>,
}

/// Thread of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOwner {
    /// Number of its loom.
    pub loom: usize,
    /// Number of its process.
    pub process: usize,
    /// Its thread id.
    pub tid: i64,
}

/// A line of `clock-offsets.txt` that cannot be used.
#[derive(Clone, Debug)]
pub struct OffsetFault {
    /// The line, or the first byte of a table without a valid line.
    pub span: Span,
    /// Number of the line, from 1; 0 for the table as a whole.
    pub number: usize,
    /// Its fault.
    pub message: String,
    /// The offset, if only the host is wrong.
    pub offset: Option<i64>,
}

/// The lines of `clock-offsets.txt`.
#[derive(Clone, Debug)]
pub struct OffsetLines {
    /// Line of each host, and its number.
    pub hosts: BTreeMap<String, (Span, usize)>,
    /// Lines that cannot be used.
    pub faults: Vec<OffsetFault>,
    /// The end of the file.
    pub end: Span,
    /// The last line ends with a line feed.
    pub ends_with_line: bool,
}

/// Looms, processes and threads of a trace.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Looms in the order in which streams name them.
    pub looms: Vec<Loom>,
    /// Processes in the order in which streams name them.
    pub processes: Vec<Process>,
    /// Owner of each stream; `None` if neither its metadata nor its path names one.
    pub owners: Vec<Option<StreamOwner>>,
    /// Models that any thread requires.
    pub enabled: [bool; MODEL_COUNT],
    /// Mark types, and whether each is a stack.
    pub marks: BTreeMap<i32, bool>,
    /// Number of hardware counters.
    pub counters: Option<u64>,
    /// `clock-offsets.txt`, if the trace has one.
    pub offset_lines: Option<OffsetLines>,
}

impl System {
    /// Returns the owner of a stream.
    pub fn owner(&self, stream: usize) -> Option<StreamOwner> {
        self.owners.get(stream).copied().flatten()
    }

    /// Returns the loom of a stream.
    pub fn loom_of(&self, stream: usize) -> Option<&Loom> {
        self.looms.get(self.owner(stream)?.loom)
    }

    /// Returns the nanoseconds to add to the clocks of a stream.
    pub fn clock_offset(&self, stream: usize) -> i128 {
        self.loom_of(stream).map_or(0, |loom| i128::from(loom.offset))
    }
}

//! What perf knows about a sample by the records before it in time: the name of its thread, and the
//! map of an address.
//!
//! Records lie in the order in which perf emptied the buffers of the CPUs, so they are gathered
//! first, put in the order of their times, and asked for the state at the time of a sample. Where
//! samples have no times, the order of the file is what perf goes by as well.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::record::named::number;
use crate::formats::perf::decode::record::{Named, fields};
use crate::formats::perf::decode::value::Value;
use crate::formats::perf::layout::record as kind;
use crate::kit::num::to_u64;
use crate::kit::text::Untrusted;

/// The process of the maps of the kernel.
pub(super) const KERNEL: u32 = u32::MAX;
/// Bytes that a change takes besides its name, and that one map of one range does.
const CHANGE_COST: u64 = 128;
const VERSION_COST: u64 = 16;

/// A record that changes what is known.
enum Change {
    Map { pid: u32, start: u64, end: u64, map: Map },
    Comm { tid: u32, name: u32 },
    Fork { pid: u32, parent: u32, tid: u32, parent_tid: u32 },
}

/// A file in the memory of a process.
#[derive(Clone, Copy)]
struct Map {
    start: u64,
    pgoff: u64,
    name: u32,
}

/// An address in a file.
pub(super) struct Place<'s> {
    /// The name of the file, as it was recorded.
    pub(super) file: &'s [u8],
    /// The offset in the file.
    pub(super) offset: u64,
}

/// Gathers the records of a recording.
pub(super) struct Gatherer {
    /// Each with its time and the number of its record.
    changes: Vec<((Option<u64>, u64), Change)>,
    /// Whether the first sample has a time.
    is_timed: Option<bool>,
    names: Names,
    /// Bytes that may still be held; what does not fit is not known.
    room: u64,
}

impl Gatherer {
    pub(super) fn new(room: u64) -> Self {
        Self { changes: Vec::new(), is_timed: None, names: Names::default(), room }
    }

    /// Takes the record with a number.
    pub(super) fn observe(&mut self, record: &RecordView<'_>, number: u64, events: &Events) {
        let found = record.frame.kind;
        if found == kind::SAMPLE && self.is_timed.is_none() {
            self.is_timed = events.origin_of(record).map(|origin| origin.time.is_some());
        }
        if !matches!(found, kind::MMAP | kind::MMAP2 | kind::COMM | kind::FORK) {
            return;
        }
        let time = events.origin_of(record).and_then(|origin| origin.time);
        let fields = fields(record, events.order());
        let text = fields.iter().find_map(|(_, value)| match value {
            Value::Text(text) => Some(text.as_slice()),
            _ => None,
        });
        let cost = CHANGE_COST.saturating_add(to_u64(text.map_or(0, <[u8]>::len)));
        let Some(room) = self.room.checked_sub(cost) else { return };
        let change = match found {
            kind::FORK => fork(&fields),
            kind::COMM => self.comm(&fields, text),
            _ => self.map(&fields, text),
        };
        if let Some(change) = change {
            self.room = room;
            self.changes.push(((time, number), change));
        }
    }

    fn comm(&mut self, fields: &Named, text: Option<&[u8]>) -> Option<Change> {
        Some(Change::Comm { tid: id(fields, "tid")?, name: self.names.add(text?) })
    }

    fn map(&mut self, fields: &Named, text: Option<&[u8]>) -> Option<Change> {
        let (start, len) = (number(fields, "addr")?, number(fields, "len")?);
        let end = start.saturating_add(len);
        let map = Map { start, pgoff: number(fields, "pgoff")?, name: self.names.add(text?) };
        (start < end).then_some(Change::Map { pid: id(fields, "pid")?, start, end, map })
    }

    /// Puts the records in the order of their times.
    pub(super) fn finish(self) -> Spaces {
        let mut spaces = Spaces {
            is_timed: self.is_timed.unwrap_or(true),
            maps: Vec::new(),
            spaces: BTreeMap::new(),
            comms: BTreeMap::new(),
            names: self.names,
            room: self.room,
        };
        // One without a time is before all others.
        let changes = self
            .changes
            .into_iter()
            .map(|((time, number), change)| (spaces.moment(time, number).unwrap_or(0), change));
        let mut changes: Vec<(u64, Change)> = changes.collect();
        changes.sort_by_key(|(moment, _)| *moment);
        changes.into_iter().for_each(|(moment, change)| spaces.apply(moment, change));
        spaces
    }
}

fn fork(fields: &Named) -> Option<Change> {
    Some(Change::Fork {
        pid: id(fields, "pid")?,
        parent: id(fields, "ppid")?,
        tid: id(fields, "tid")?,
        parent_tid: id(fields, "ptid")?,
    })
}

fn id(fields: &Named, wanted: &str) -> Option<u32> {
    number(fields, wanted).and_then(|number| u32::try_from(number).ok())
}

/// Names, each once.
#[derive(Default)]
struct Names {
    all: Vec<Vec<u8>>,
    numbers: BTreeMap<Vec<u8>, u32>,
}

impl Names {
    fn add(&mut self, name: &[u8]) -> u32 {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(name.to_vec());
        self.numbers.insert(name.to_vec(), number);
        number
    }

    fn get(&self, number: u32) -> &[u8] {
        let index = usize::try_from(number).ok();
        index.and_then(|index| self.all.get(index)).map_or(&[], Vec::as_slice)
    }
}

/// A range of addresses, and the maps that it had: each with the time from which on it did.
#[derive(Clone)]
struct Range {
    end: u64,
    versions: Vec<(u64, u32)>,
}

/// The memory of a process: ranges by their starts, which do not overlap.
type Space = BTreeMap<u64, Range>;

/// The names of threads and the memory of processes over time.
pub(super) struct Spaces {
    /// Whether moments are times in nanoseconds, or else numbers of records.
    is_timed: bool,
    maps: Vec<Map>,
    spaces: BTreeMap<u32, Space>,
    comms: BTreeMap<u32, Vec<(u64, u32)>>,
    names: Names,
    room: u64,
}

impl Spaces {
    /// Returns when a record was.
    pub(super) fn moment(&self, time: Option<u64>, number: u64) -> Option<u64> {
        time.or((!self.is_timed).then_some(number))
    }

    /// Returns the name of a thread at a time, safe to print.
    pub(super) fn comm(&self, tid: u32, time: u64) -> String {
        let known = self.comms.get(&tid).and_then(|versions| at(versions, time));
        match (known, tid) {
            (Some(name), _) => Untrusted(self.names.get(name)).to_string(),
            // The idle threads of all CPUs.
            (None, 0) => "swapper".to_string(),
            (None, _) => format!(":{}", tid.cast_signed()),
        }
    }

    /// Returns the place of an address of a process at a time.
    pub(super) fn place(&self, pid: u32, address: u64, time: u64) -> Option<Place<'_>> {
        let (_, range) = self.spaces.get(&pid)?.range(..=address).next_back()?;
        let version = at(&range.versions, time).filter(|_| address < range.end)?;
        let map = self.maps.get(usize::try_from(version).ok()?)?;
        let offset = address.wrapping_sub(map.start).wrapping_add(map.pgoff);
        Some(Place { file: self.names.get(map.name), offset })
    }

    fn apply(&mut self, time: u64, change: Change) {
        match change {
            Change::Comm { tid, name } => self.comms.entry(tid).or_default().push((time, name)),
            Change::Map { pid, start, end, map } => self.map(time, pid, (start, end), map),
            Change::Fork { pid, parent, tid, parent_tid } => {
                let name = self.comms.get(&parent_tid).and_then(|versions| versions.last());
                if let Some(name) = name.map(|(_, name)| *name) {
                    self.comms.entry(tid).or_default().push((time, name));
                }
                if pid != parent {
                    self.fork(time, pid, parent);
                }
            }
        }
    }

    /// The process begins with the memory of its parent.
    fn fork(&mut self, time: u64, pid: u32, parent: u32) {
        let Some(space) = self.spaces.get(&parent) else { return };
        let cost = VERSION_COST.saturating_mul(4).saturating_mul(to_u64(space.len()));
        let Some(room) = self.room.checked_sub(cost) else { return };
        self.room = room;
        let copied = space.iter().filter_map(|(start, range)| {
            let (_, map) = range.versions.last()?;
            Some((*start, Range { end: range.end, versions: vec![(time, *map)] }))
        });
        let copied: Space = copied.collect();
        self.spaces.insert(pid, copied);
    }

    fn map(&mut self, time: u64, pid: u32, (start, end): (u64, u64), map: Map) {
        let number = u32::try_from(self.maps.len()).unwrap_or(u32::MAX);
        self.maps.push(map);
        let space = self.spaces.entry(pid).or_default();
        split(space, start);
        split(space, end);
        let mut at = start;
        while at < end {
            let Some(room) = self.room.checked_sub(VERSION_COST) else { return };
            self.room = room;
            let after = space.range((Excluded(at), Unbounded)).next().map(|(next, _)| *next);
            if let Some(range) = space.get_mut(&at) {
                range.versions.push((time, number));
                at = range.end;
            } else {
                let end = after.map_or(end, |next| next.min(end));
                space.insert(at, Range { end, versions: vec![(time, number)] });
                at = end;
            }
        }
    }
}

/// Splits the range that holds an address, so that none goes across it.
fn split(space: &mut Space, address: u64) {
    let Some((start, range)) = space.range_mut(..address).next_back() else { return };
    if address >= range.end || *start == address {
        return;
    }
    let rest = range.clone();
    range.end = address;
    space.insert(address, rest);
}

/// Returns the last version up to a time.
fn at(versions: &[(u64, u32)], time: u64) -> Option<u32> {
    let after = versions.partition_point(|(since, _)| *since <= time);
    after.checked_sub(1).and_then(|index| versions.get(index)).map(|(_, version)| *version)
}

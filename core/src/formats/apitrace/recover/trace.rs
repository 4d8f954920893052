//! A trace that was read to its end.

use std::sync::mpsc;

use crate::formats::apitrace::decode::damage::{Damage, StreamFaults};
use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::places::{Place, StreamPlaces};
use crate::formats::apitrace::decode::stretch::Stretch;
use crate::formats::apitrace::decode::tracker::StreamTracker;
use crate::formats::apitrace::decode::tracker::overlaps::Overlap;
use crate::formats::apitrace::expand::{Block, Container, Expansion};
use crate::formats::apitrace::layout::{VERSION_MAX, VERSION_THREADS, VERSIONS};
use crate::formats::apitrace::recover::reader::{Flow, StreamReader};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::steps;
use crate::kit::walk::Item;
use crate::model::limits::Limits;

/// Files from this length on are expanded by a thread of their own.
const THREAD_FROM: u64 = 512 << 10;
/// How often a trace is read again without stretches that come from another place of it: a block in
/// a wrong place makes one, and each reading finds all that it can see.
const FOREIGN_MAX: usize = 4;
/// Batches of blocks that wait between the two threads.
const BATCHES_WAITING: usize = 4;
/// Bytes of memory of a batch: to wake the other thread takes longer than to expand a short block.
const BATCH: usize = 64 << 10;
/// Bytes of a block that is copied into a batch: the memory for a long one stays with the expander,
/// or each short block could hold as much.
const COPIED_MAX: usize = 8 << 10;

/// A trace: its events, their meaning, and the damage between them.
pub struct Trace {
    /// How it is stored.
    pub container: Container,
    /// Whether the file begins with the magic of the container, or it has none.
    pub has_magic: bool,
    /// Length of the file.
    pub file_len: u64,
    /// Version of the stream.
    pub version: u64,
    /// Events, calls, definitions and warnings.
    pub tracker: StreamTracker,
    /// Where the stream lies in the file.
    pub places: StreamPlaces,
    /// The faults of the stream and its units.
    pub faults: StreamFaults,
}

/// Bytes that are not complete events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Damage: bytes that are not events.
    Damage(Stretch),
    /// The event that the stream ends in.
    TruncatedEvent(Stretch),
}

/// How to read a trace.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The limits of the user.
    pub limits: &'a Limits,
    /// Whether the stored bytes of definitions are kept, to compare them with those of a donor.
    pub keep_raw: bool,
    /// The definitions of a donor.
    pub donor: Option<&'a Definitions>,
}

impl Trace {
    /// Reads a trace to its end.
    pub fn read(source: &Source<'_>, container: Container, options: ReadOptions<'_>) -> Self {
        let read = |overlap| read_stream(source, container, options, overlap);
        let (mut reader, version) = read(Overlap::BetweenThreads);
        // Without numbers of threads, calls that overlap look like damage.
        let may_overlap = version < VERSION_THREADS && reader.faults.limit.is_none();
        if may_overlap && is_doubtful(&reader) {
            reader = choose_overlap(reader, |overlap| read(overlap).0);
        }
        let version = reader.version();
        let StreamReader { tracker, places, faults, .. } = reader;
        let has_magic = container.has_magic(source);
        Self { container, has_magic, file_len: source.len(), version, tracker, places, faults }
    }

    /// Returns the units that hold `start..end` of the stream.
    pub fn place(&self, start: u64, end: u64) -> Option<Place> {
        self.places.place(start, end)
    }

    /// Whether no byte of the stream could be read.
    pub fn is_empty(&self) -> bool {
        self.places.end == 0 && self.faults.damages.is_empty()
    }

    /// Returns the stretches of the stream, complete events or gaps: they adjoin and cover it.
    pub fn stretches(&self) -> impl Iterator<Item = Item<Stretch, Gap>> {
        let stream_end = self.places.end;
        let mut at = 0;
        let mut items = Vec::new();
        for Damage { start, end, .. } in &self.faults.damages {
            let (events, damage) = (Stretch { start: at, end: *start }, (*start).max(at));
            items.push((events, Item::Record(events)));
            let damage = Stretch { start: damage, end: *end };
            items.push((damage, Item::Damage(Gap::Damage(damage))));
            at = at.max(*end);
        }
        let truncated = self.faults.truncated.as_ref().map_or(stream_end, |event| event.start);
        let events = Stretch { start: at, end: truncated.max(at) };
        let last = Stretch { start: events.end, end: stream_end };
        items.push((events, Item::Record(events)));
        items.push((last, Item::Damage(Gap::TruncatedEvent(last))));
        let is_empty = |stretch: Stretch| stretch.start >= stretch.end;
        items.into_iter().filter(move |(at, _)| !is_empty(*at)).map(|(_, item)| item)
    }
}

/// Reads a stream whose calls may overlap in this way; returns the version in its first bytes, too.
fn read_stream<'a>(
    source: &Source<'_>,
    container: Container,
    options: ReadOptions<'a>,
    overlap: Overlap,
) -> (StreamReader<'a>, u64) {
    let ReadOptions { limits, keep_raw, donor } = options;
    let run = |mut reader: StreamReader<'a>| {
        reader.tracker.calls.overlap = overlap;
        run_reader(reader, source, container, limits)
    };
    let mut reader = run(StreamReader::new(limits, keep_raw, donor));
    let version = reader.version();
    // The bytes at the beginning may not be a header, or the only ones that are left.
    let past_fault = reader.begins_with_fault().then_some(None);
    let others = past_fault.into_iter().chain(VERSIONS.map(Some));
    // The searches of all attempts without a header share their steps.
    let mut searched: Option<StreamReader<'_>> = None;
    for version in others {
        let is_rare = version.is_some_and(|version| version < VERSION_MAX);
        if !reader.is_implausible() || (is_rare && reader.tracker.history.count > 0) {
            break;
        }
        let mut other = match version {
            None => StreamReader::past_first_fault(limits, keep_raw, donor),
            Some(version) => StreamReader::without_header(limits, keep_raw, donor, version),
        };
        if let Some(searched) = &searched {
            other.search_after(searched);
        }
        let other = run(other);
        let gains = |reader: &StreamReader<'_>| reader.tracker.history.count;
        if gains(&other) > gains(&reader) && !other.faults.damages.is_empty() {
            reader = other;
        } else if version.is_some() {
            searched = Some(other);
        }
    }
    if reader.is_implausible() && reader.lacks_beginning() {
        reader = run(StreamReader::new(limits, keep_raw, donor));
    }
    (refuse_foreign_stretches(reader, source, container, options), version)
}

/// Whether events contradict one another, as those of several threads do if one is expected.
fn is_doubtful(reader: &StreamReader<'_>) -> bool {
    let StreamReader { tracker, faults, .. } = reader;
    !faults.damages.is_empty() || tracker.warnings.has_misnumbered_leave()
}

/// Returns the reading of a stream in which calls of threads that are not known overlap, if that
/// is what it is; otherwise `one`, that of a single thread.
fn choose_overlap<'a>(
    one: StreamReader<'a>,
    read: impl Fn(Overlap) -> StreamReader<'a>,
) -> StreamReader<'a> {
    let any = read(Overlap::Any);
    let tracker = &any.tracker;
    if !is_doubtful(&any) && tracker.history.overlaps.prove_sound(tracker.calls.open_count()) {
        return any;
    }
    let bounded = read(Overlap::Bounded);
    let damages = to_u64(bounded.faults.damages.len());
    let is_proven = bounded.tracker.history.overlaps.prove_damaged(damages);
    let gains = bounded.tracker.history.count >= one.tracker.history.count;
    if is_proven && gains { bounded } else { one }
}

/// Reads the trace again without the stretches that come from another place of it, as long as that
/// gives more events.
fn refuse_foreign_stretches<'a>(
    mut reader: StreamReader<'a>,
    source: &Source<'_>,
    container: Container,
    options: ReadOptions<'a>,
) -> StreamReader<'a> {
    let ReadOptions { limits, keep_raw, donor } = options;
    for _ in 0..FOREIGN_MAX {
        let Some(refused) = reader.stretches_to_refuse() else { break };
        let mut other = StreamReader::without_stretches(limits, keep_raw, donor, refused);
        other.search_after(&reader);
        other.tracker.calls.overlap = reader.tracker.calls.overlap;
        let other = run_reader(other, source, container, limits);
        if other.tracker.history.count <= reader.tracker.history.count {
            break;
        }
        reader = other;
    }
    reader
}

fn run_reader<'a>(
    mut reader: StreamReader<'a>,
    source: &Source<'_>,
    container: Container,
    limits: &Limits,
) -> StreamReader<'a> {
    let mut expansion = Expansion::new(source, container, limits);
    loop {
        let flow = if source.len() < THREAD_FROM {
            feed_reader(&mut reader, |spent| {
                expansion.recycle(spent);
                expansion.next()
            })
        } else {
            run_with_expander_thread(&mut reader, expansion)
        };
        let Flow::Rewind(from) = flow else { return reader };
        let Some(place) = reader.places.place(from, from) else { return reader };
        expansion = Expansion::again(source, container, place.head, limits);
    }
}

/// Gives the reader the blocks that `next` returns, which gets the memory of the last one back.
fn feed_reader(
    reader: &mut StreamReader<'_>,
    mut next: impl FnMut(Vec<u8>) -> Option<Block>,
) -> Flow {
    let mut spent = Vec::new();
    while let Some(block) = next(spent) {
        match reader.read_block(&block) {
            _ if steps::is_spent() => break,
            Flow::NextBlock => {}
            Flow::Stop => break,
            rewind => return rewind,
        }
        spent = block.bytes;
    }
    reader.finish()
}

/// A block, and the steps that it took.
type Expanded = (Block, u64);

/// Expands blocks and sends them, in memory that was given back, until nobody takes them.
fn send_batches(
    mut expansion: Expansion<'_>,
    send: &mpsc::SyncSender<Vec<Expanded>>,
    spent: &mpsc::Receiver<Vec<u8>>,
) {
    let (mut batch, mut bytes) = (Vec::new(), 0_usize);
    while let Some(mut block) = expansion.next() {
        let memory = match block.bytes.len() {
            ..=COPIED_MAX => {
                let own = block.bytes.as_slice().to_vec();
                std::mem::replace(&mut block.bytes, own)
            }
            _ => spent.try_recv().unwrap_or_default(),
        };
        expansion.recycle(memory);
        bytes = bytes.saturating_add(block.bytes.capacity()).saturating_add(size_of::<Block>());
        batch.push((block, steps::take()));
        if bytes >= BATCH {
            bytes = 0;
            if send.send(std::mem::take(&mut batch)).is_err() {
                return;
            }
        }
    }
    // The other thread may have ended.
    let _ = send.send(batch);
}

/// As [`feed_reader`]; another thread expands the next blocks in the meantime.
fn run_with_expander_thread(reader: &mut StreamReader<'_>, expansion: Expansion<'_>) -> Flow {
    std::thread::scope(|scope| {
        let (send, batches) = mpsc::sync_channel::<Vec<Expanded>>(BATCHES_WAITING);
        let (give_back, spent) = mpsc::sync_channel::<Vec<u8>>(BATCHES_WAITING);
        scope.spawn(move || send_batches(expansion, &send, &spent));
        let mut batch = Vec::new().into_iter();
        let flow = feed_reader(reader, |bytes| {
            // The other thread may have enough, or have ended.
            let _ = give_back.try_send(bytes);
            while batch.len() == 0 {
                batch = batches.recv().ok()?.into_iter();
            }
            // Steps of blocks that nobody takes depend on the machine, and are not counted.
            let (block, steps) = batch.next()?;
            steps::count(steps);
            Some(block)
        });
        // A thread whose block nobody takes ends.
        drop(batches);
        flow
    })
}

//! Recordings from a description: sound ones, and sound ones with deliberate damage.
//!
//! A fuzzer that changes a description reaches recordings that one that changes bytes does not: all
//! sizes fit, in layouts that nobody wrote by hand.

use arbitrary::Arbitrary;
use tracemend::Allow;
use tracemend::{FileSet, Options, Severity};

use super::{Held, ensure, recording};
use crate::forge::perf::{
    ATTR_SIZES, Attr, Branch, Built, Layout, Maker, Mode, Order, Record, Recording, Sample,
    Wrapper, feature_bit, flag, read_format, sample_type as bit,
};

/// A description of a recording and of its damage. Every value is valid.
#[derive(Arbitrary, Clone, Debug)]
pub struct Description {
    /// Bits: big-endian, pipe, old header, attrs first, data first, hole, all ids at the end of
    /// records.
    pub shape: u8,
    /// Index of the size of the attrs.
    pub attr_size: u8,
    /// The events; one to four are used.
    pub events: Vec<Event>,
    /// Bits of the features.
    pub features: u32,
    /// The records.
    pub entries: Vec<Entry>,
    /// The damage; none in a sound recording.
    pub damages: Vec<Damage>,
}

/// One event.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Event {
    /// Bits of `sample_type`.
    pub sample_type: u32,
    /// Bits of `read_format`.
    pub read_format: u8,
    /// Bits 17 to 19 of `branch_sample_type`.
    pub branches: u8,
    /// Registers, of the user and at the interrupt.
    pub registers: u8,
    /// Bytes of stack in units of 8, and of an AUX snapshot.
    pub stack: u8,
    /// Number of ids.
    pub ids: u8,
}

/// A record.
#[derive(Arbitrary, Clone, Debug)]
pub enum Entry {
    /// A sample of an event, with lengths of callchain, raw bytes and branches.
    Sample(u8, u8, u8, u8),
    /// Another record of the kernel, of an event.
    Kernel(u8, u8),
    /// A record of perf itself.
    User(u8),
    /// An AUXTRACE record with this many units of 8 bytes after it.
    Trace(u8),
    /// Compressed records of kernel records and samples, cut at several places.
    Packed(bool, Vec<(u8, u8)>, Vec<u16>),
}

/// A damage.
#[derive(Arbitrary, Clone, Debug)]
pub enum Damage {
    /// Changes a byte.
    Byte(u16, u8),
    /// Changes a number that defines the structure of the recording.
    Number(u16, Value),
    /// Kills the recorder.
    Crash,
    /// Cuts the file.
    Cut(u16),
    /// Fills a range with zeros.
    Zeros(u16, u8),
    /// Removes a range.
    Drop(u16, u8),
    /// Inserts bytes.
    Insert(u16, Vec<u8>),
    /// Removes a complete record.
    Lost(u8),
    /// Repeats a complete record at the end of the file.
    Again(u8),
}

/// A wrong number.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Value {
    /// An unrelated one.
    Exactly(u64),
    /// Slightly more or less.
    Near(i8),
    /// One bit different.
    Bit(u8),
    /// The largest.
    Max,
    /// About the length of the file.
    Length(i8),
}

/// Greatest length of a damaged recording in bytes.
const LEN_MAX: usize = 1 << 20;

/// Tests a description: a sound recording is clean and all its samples are counted; for a damaged
/// one the laws of all recordings hold. A third of the seeds select a check, the others a repair.
pub fn holds(description: &Description, number: u64) -> Held {
    let built = build(description);
    let bytes = damage(&built, &description.damages);
    let files = FileSet::single("recording", &bytes);
    let safety = match number % 9 {
        0..3 if description.damages.is_empty() => return sound(&built),
        0..3 => return recording::checked(&files),
        3 => Allow::Exact,
        4 => Allow::Synthetic,
        _ => Allow::Lossy,
    };
    recording::repaired(&files, safety)
}

/// Tests that a sound recording is clean and its samples are counted.
pub fn sound(built: &Built) -> Held {
    let report = tracemend::check(&FileSet::single("recording", &built.bytes), &Options::default());
    let finding = report.findings().iter().find(|finding| finding.severity > Severity::Info);
    let finding = finding.map(recording::brief);
    ensure(finding.is_none(), "a sound recording is clean", || format!("{finding:?}"))?;
    ensure(report.tally.samples == built.samples() as u64, "every sample is counted", || {
        format!("{} of {}", report.tally.samples, built.samples())
    })
}

/// Tests that every complete sample survives the repair of a recording that is cut at `len`: those
/// in the file, and those in complete compressed records.
pub fn survive(built: &Built, len: usize) -> Held {
    if len < built.data.start || built.attr_spans.iter().any(|span| span.end > len) {
        return Ok(());
    }
    let whole = |end: usize| end <= len.min(built.data.end);
    let plain = built.records.iter().filter(|record| record.kind == 9 && whole(record.range().end));
    let mut expanded = 0;
    for (index, record) in built.records.iter().enumerate() {
        if matches!(record.kind, 81 | 83) && whole(record.range().end) {
            expanded += plain_len(built, index, expanded == 0);
        }
    }
    let packed = built.expanded_records.iter();
    let packed = packed.filter(|record| record.kind == 9 && record.range().end <= expanded);
    let due = (plain.count() + packed.count()) as u64;
    let files = FileSet::single("recording", &built.bytes[..len]);
    let repair = tracemend::repair(&files, &Options::default());
    let found = repair.after.tally.samples;
    ensure(found >= due, "a complete sample survives", || {
        format!("{found} of {due} after {:?}, {:?}", repair.outcome, repair.refused)
    })
}

/// Returns the expanded bytes of a compressed record of the forge: one raw block, after the 6 bytes
/// of the frame header in the first record.
fn plain_len(built: &Built, index: usize, first: bool) -> usize {
    let body = &built.record_bytes(index)[8..];
    let body = if built.records[index].kind == 83 { &body[8..] } else { body };
    let block = if first { &body[6..] } else { body };
    let header = u32::from_le_bytes([block[0], block[1], block[2], 0]);
    (header >> 3) as usize
}

/// Builds the sound recording of a description.
pub fn build(description: &Description) -> Built {
    let shape = |number: u8| description.shape >> number & 1 == 1;
    let order = if shape(0) { Order::Big } else { Order::Little };
    let events = attrs(description, shape(6));
    let mut recording =
        if shape(1) { Recording::pipe(order, events) } else { Recording::new(order, events) };
    if !shape(1) && shape(2) {
        recording.mode = Mode::Old;
    }
    recording.hole = shape(5);
    let bare = recording.mode != Mode::File || shape(4);
    recording.layout = match (shape(3), shape(4)) {
        (_, true) => Layout::DataFirst,
        (true, false) => Layout::AttrsFirst,
        (false, false) => Layout::IdsFirst,
    };
    if recording.mode == Mode::Pipe {
        recording.layout = Layout::IdsFirst;
    }
    let features = match bare {
        true if recording.mode == Mode::Pipe => description.features & PIPED,
        true => 0,
        false => description.features & SECTIONS,
    };
    // perf reads CPU_TOPOLOGY by the number of CPUs, and writes both.
    let has_topology = features >> CPU_TOPOLOGY & 1 == 1;
    let features = features | u32::from(has_topology) << NRCPUS;
    let mut features: Vec<u32> = (1..32).filter(|number| features >> number & 1 == 1).collect();
    let room = description.entries.len().min(64);
    let entries = &description.entries[..room];
    let packs = entries.iter().any(|entry| matches!(entry, Entry::Packed(..)));
    let compresses = packs && (recording.mode == Mode::Pipe || !bare);
    features.retain(|number| *number != feature_bit::COMPRESSED);
    if compresses {
        features.push(feature_bit::COMPRESSED);
    }
    // Readers derive the order of bits in the other byte order from the host name.
    if order == Order::Big && !features.is_empty() && !features.contains(&feature_bit::HOSTNAME) {
        features.push(feature_bit::HOSTNAME);
    }
    recording.features(features);
    record(&mut recording, entries, compresses);
    recording.build()
}

/// Bit of the numbers of CPUs.
const NRCPUS: u32 = 7;
/// Bit of the cores and sockets of the CPUs.
const CPU_TOPOLOGY: u32 = 13;
/// Features that any recording may have: without those of tracepoints, traces, `perf stat` and
/// directories.
const SECTIONS: u32 = !(1 | 1 << 1 | 1 << 18 | 1 << 19 | 1 << 24);
/// Features that perf writes to pipes.
const PIPED: u32 = SECTIONS & !(1 << 2 | 1 << 21);

fn attrs(description: &Description, id_all: bool) -> Vec<Attr> {
    let size = ATTR_SIZES[usize::from(description.attr_size) % ATTR_SIZES.len()];
    let usual =
        Event { sample_type: 7, read_format: 0, branches: 0, registers: 0, stack: 0, ids: 1 };
    let events = description.events.len().clamp(1, 4);
    let mut list: Vec<Event> = description.events.iter().take(events).copied().collect();
    list.resize(events, usual);
    let attr = |(number, event): (u64, &Event)| {
        let mut sample_type = u64::from(event.sample_type) & ((1 << 25) - 1);
        if sample_type & bit::WEIGHT_STRUCT != 0 {
            sample_type &= !bit::WEIGHT;
        }
        if events > 1 {
            sample_type |= bit::IDENTIFIER;
        }
        let named = sample_type & (bit::ID | bit::IDENTIFIER | bit::STREAM_ID | bit::READ) != 0;
        let ids = u64::from(event.ids % 4).max(u64::from(named));
        let known = |since: u32, value: u64| if size >= since { value } else { 0 };
        let mut attr = Attr::cpu_clock(sample_type)
            .with_size(size)
            .with_read_format(u64::from(event.read_format) & 0x1f | read_format::ID)
            .with_ids(&(1..=ids).map(|id| (number + 1) * 10 + id).collect::<Vec<_>>());
        attr.flags |= flag::SAMPLE_ID_ALL;
        if !id_all && events == 1 {
            attr.flags &= !flag::SAMPLE_ID_ALL;
        }
        attr.branch_sample_type = known(80, u64::from(event.branches & 5) << 17 | 8);
        attr.sample_regs_user = known(96, event.registers.into());
        attr.sample_stack_user = known(96, u64::from(event.stack & 7) * 8) as u32;
        attr.sample_regs_intr = known(104, u64::from(event.registers) << 4);
        attr.aux_sample_size = known(120, u64::from(event.stack >> 4) * 8) as u32;
        attr
    };
    (0..).zip(&list).map(attr).collect()
}

/// Adds the records, one per microsecond. As in perf, a compressed recording compresses all records
/// of the kernel.
fn record(recording: &mut Recording, entries: &[Entry], compresses: bool) {
    let makers = recording.attrs.len();
    let mut clock = 1_000_000_000_u64;
    let mut next = |recording: &Recording, number: u8| {
        clock += 1000;
        let mut maker = recording.maker(usize::from(number) % makers);
        maker.time = clock;
        maker
    };
    let first = next(recording, 0).comm("forge");
    recording.push(first);
    for entry in entries {
        match entry {
            Entry::Sample(number, chain, raw, branches) => {
                let mut maker = next(recording, *number);
                let sample = maker.sample_with(|s| lengths(s, *chain, *raw, *branches));
                kernels(recording, vec![sample], compresses.then_some((Wrapper::Compressed, &[])));
            }
            Entry::Kernel(number, kind) => {
                let record = kernel(&mut next(recording, *number), *kind);
                kernels(recording, vec![record], compresses.then_some((Wrapper::Compressed, &[])));
            }
            Entry::User(kind) => {
                let records = user(&next(recording, 0), *kind);
                recording.extend(records);
            }
            Entry::Trace(units) => {
                let maker = next(recording, 0);
                let trace = vec![0x54; usize::from(*units) * 8];
                recording.push(maker.auxtrace_info()).push(maker.auxtrace(&trace));
            }
            Entry::Packed(newer, inside, cuts) => {
                let inside = inside.iter().take(64).map(|(number, kind)| {
                    let mut maker = next(recording, *number);
                    if kind & 1 == 0 { maker.sample() } else { kernel(&mut maker, kind >> 1) }
                });
                let inside = inside.collect();
                let wrapper = if *newer { Wrapper::Compressed2 } else { Wrapper::Compressed };
                kernels(recording, inside, compresses.then_some((wrapper, cuts)));
            }
        }
    }
}

/// Adds records of the kernel, compressed and cut, or as they are.
fn kernels(recording: &mut Recording, records: Vec<Record>, packed: Option<(Wrapper, &[u16])>) {
    let Some((wrapper, cuts)) = packed else {
        recording.extend(records);
        return;
    };
    let len: usize = records.iter().map(|record| 8 + record.body.len()).sum();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| usize::from(*cut) % len.max(1)).collect();
    // A compressed record is below 64 KiB.
    cuts.extend((0..len).step_by(60_000).skip(1));
    cuts.sort_unstable();
    cuts.dedup();
    recording.pack(wrapper, records, &cuts);
}

fn lengths(sample: &mut Sample, chain: u8, raw: u8, branches: u8) {
    sample.callchain.resize(usize::from(chain), 0x40_2000);
    sample.raw.resize(usize::from(raw), 0x52);
    let branch = Branch { from: 0x40_1000, to: 0x40_1010, mispredicted: false, cycles: 3 };
    sample.branches.resize(usize::from(branches % 33), branch);
}

/// Builds a record of the kernel that is not a sample.
fn kernel(maker: &mut Maker, kind: u8) -> Record {
    match kind % 20 {
        0 => maker.mmap(),
        1 => maker.lost(),
        2 => maker.comm("described"),
        3 => maker.task(4),
        4 => maker.throttle(5),
        5 => maker.throttle(6),
        6 => maker.task(7),
        7 => maker.read(),
        8 => maker.mmap2(),
        9 => maker.mmap2_build_id(),
        10 => maker.aux(),
        11 => maker.itrace_start(),
        12 => maker.lost_samples(),
        13 => maker.switch(),
        14 => maker.switch_cpu_wide(),
        15 => maker.namespaces(),
        16 => maker.ksymbol(),
        17 => maker.bpf_event(),
        18 => maker.cgroup(),
        _ => maker.text_poke(),
    }
}

/// Builds a record of perf that any recording may have.
fn user(maker: &Maker, kind: u8) -> Vec<Record> {
    match kind % 14 {
        0 => vec![maker.finished_round()],
        1 => vec![maker.build_id()],
        2 => vec![maker.id_index()],
        3 => vec![maker.thread_map()],
        4 => vec![maker.cpu_map(&[0, 1])],
        5 => vec![maker.cpu_map_mask64(3)],
        6 => vec![maker.cpu_map_range(0, 1)],
        7 => maker.event_updates(),
        8 => vec![maker.time_conv()],
        9 => vec![maker.time_conv_short()],
        10 => vec![maker.auxtrace_error()],
        11 => vec![maker.finished_init()],
        12 => vec![maker.event_type()],
        _ => vec![maker.auxtrace_info()],
    }
}

/// Applies all damage, one after another.
pub fn damage(built: &Built, damages: &[Damage]) -> Vec<u8> {
    let numbers = numbers(built);
    let mut bytes = built.bytes.clone();
    for damage in damages.iter().take(16) {
        let len = bytes.len();
        let at = |place: u16| usize::from(place) % (len + 1);
        let stretch = |place: u16, count: u8| at(place)..(at(place) + usize::from(count)).min(len);
        let record = |number: u8| {
            let record = &built.records[usize::from(number) % built.records.len()];
            record.range().start.min(len)..record.range().end.min(len)
        };
        match damage {
            Damage::Byte(place, value) => bytes[at(*place).saturating_sub(1)..]
                .iter_mut()
                .take(1)
                .for_each(|byte| *byte = *value),
            Damage::Number(which, value) => {
                let (place, width) = numbers[usize::from(*which) % numbers.len()];
                put(&mut bytes, place, width, *value, built.order);
            }
            Damage::Crash => bytes = built.crashed(),
            Damage::Cut(place) => bytes.truncate(at(*place)),
            Damage::Zeros(place, count) => bytes[stretch(*place, *count)].fill(0),
            Damage::Drop(place, count) => drop(bytes.drain(stretch(*place, *count))),
            Damage::Insert(place, what) => {
                let place = at(*place);
                bytes.splice(place..place, what.iter().take(256).copied());
            }
            Damage::Lost(number) => drop(bytes.drain(record(*number))),
            Damage::Again(number) => bytes.extend_from_within(record(*number)),
        }
        bytes.truncate(LEN_MAX);
    }
    bytes
}

/// Returns offset and width of the numbers that define the structure of a recording.
fn numbers(built: &Built) -> Vec<(usize, usize)> {
    let header = match built.mode {
        Mode::File => 104,
        Mode::Old => 72,
        Mode::Pipe => 16,
    };
    let mut list: Vec<(usize, usize)> = (0..header / 8).map(|word| (word * 8, 8)).collect();
    for span in &built.attr_spans {
        list.extend([(0, 4), (4, 4), (24, 8), (32, 8), (40, 8)].map(|(o, w)| (span.start + o, w)));
        list.extend([(span.end - 16, 8), (span.end - 8, 8)]);
    }
    for record in &built.records {
        list.extend([(0, 4), (4, 2), (6, 2), (8, 8), (16, 8)].map(|(o, w)| (record.offset + o, w)));
        list.extend(record.fields.iter().map(|(_, place)| (*place, 8)));
    }
    for feature in &built.features {
        list.extend([(feature.entry.start, 8), (feature.entry.start + 8, 8)]);
        list.extend([(feature.section.start, 4), (feature.section.start, 8)]);
    }
    list
}

/// Writes a wrong number, clipped to the file.
fn put(bytes: &mut [u8], place: usize, width: usize, value: Value, order: Order) {
    let len = bytes.len() as u64;
    let Some(field) = bytes.get_mut(place..place + width) else { return };
    let mut old = [0; 8];
    old[..width].copy_from_slice(field);
    if order == Order::Big {
        old[..width].reverse();
    }
    let old = u64::from_le_bytes(old);
    let new = match value {
        Value::Exactly(value) => value,
        Value::Near(by) => old.wrapping_add_signed(by.into()),
        Value::Bit(number) => old ^ 1 << (number & 63),
        Value::Max => u64::MAX,
        Value::Length(by) => len.wrapping_add_signed(by.into()),
    };
    let mut new = new.to_le_bytes();
    if order == Order::Big {
        new[..width].reverse();
    }
    field.copy_from_slice(&new[..width]);
}

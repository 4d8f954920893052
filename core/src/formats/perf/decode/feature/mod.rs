//! The sections of the features, each by its structure in the table of features.

mod content;
mod domains;
pub(super) mod error;
pub(super) mod lists;
mod programs;
mod reader;
mod recorder;
pub(super) mod sections;
mod simpleperf;
mod symbols;

pub use self::content::read_number;
pub use self::error::FeatureError;
pub use self::reader::{Refusal, refuse};
pub use self::recorder::is_old;
use self::recorder::read_version;
pub use self::sections::{DescribedEvent, begins_tracing, described_events};
pub use self::symbols::{SymbolFile, symbol_files};
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::layout::feature::{
    ARCH, COMPRESSED, CPU_TOPOLOGY, EVENT_DESC, NRCPUS, PIPE_END, PIPE_NEXT, SAMPLE_TIME, VERSION,
};
pub use crate::formats::perf::layout::features::name;
use crate::formats::perf::layout::features::{Trait, feature};
use crate::formats::perf::layout::versions::{FIRST_STRICT, NEWEST, Version};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;

/// Values of a feature that a check compares with other parts of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// NRCPUS: number of available CPUs, which determines the length of CPU_TOPOLOGY.
    pub nr_cpus: Option<u32>,
    /// NRCPUS: number of CPUs online.
    pub nr_cpus_online: Option<u32>,
    /// ARCH: whether the machine numbers its sockets without regard to the number of CPUs.
    pub has_free_sockets: Option<bool>,
    /// VERSION: whether the perf that recorded has no feature after PMU_CAPS.
    pub is_recorder_old: bool,
    /// VERSION: major and minor number of the perf that recorded.
    pub version: Option<Version>,
    /// SAMPLE_TIME: time of the first and of the last sample in ns.
    pub sample_time: Option<(u64, u64)>,
    /// COMPRESSED: size of the reader's buffer for one expanded record in bytes.
    pub mmap_len: Option<u32>,
}

impl Contents {
    /// Reads the values of feature `bit`, whose fields fit.
    fn of(bit: u32, mut section: Cursor<'_>) -> Result<Self, ReadError> {
        let mut contents = Self::default();
        match bit {
            NRCPUS => {
                contents.nr_cpus = Some(section.u32("available")?);
                contents.nr_cpus_online = Some(section.u32("online")?);
            }
            ARCH => contents.has_free_sockets = Some(sections::has_free_sockets(section)),
            VERSION => {
                let text = sections::text(section);
                contents.is_recorder_old = is_old(text);
                contents.version = read_version(text);
            }
            SAMPLE_TIME => {
                contents.sample_time = Some((section.u64("first")?, section.u64("last")?));
            }
            COMPRESSED => {
                section.skip(4, 4, "version, type, level and ratio")?;
                contents.mmap_len = Some(section.u32("mmap_len")?);
            }
            _ => {}
        }
        Ok(contents)
    }
}

/// Facts about the machine and the recorder in features of a pipe, by which later ones are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine {
    cpus: Option<u32>,
    online: Option<u32>,
    has_free_sockets: bool,
    is_recorder_old: bool,
    version: Option<Version>,
    reader: Option<Version>,
    is_in_file: bool,
}

impl Machine {
    /// A machine of which only the version of the perf that recorded is known.
    pub fn of_version(version: Option<Version>) -> Self {
        Self { version, ..Self::default() }
    }

    /// Notes the facts that a feature has.
    pub fn note(&mut self, contents: &Contents) {
        self.cpus = contents.nr_cpus.or(self.cpus);
        self.online = contents.nr_cpus_online.or(self.online);
        self.version = contents.version.or(self.version);
        self.has_free_sockets = contents.has_free_sockets.unwrap_or(self.has_free_sockets);
        self.is_recorder_old |= contents.is_recorder_old;
    }

    /// Whether the perf that recorded is 6.12 or older.
    pub const fn is_recorder_old(&self) -> bool {
        self.is_recorder_old
    }

    /// Whether VERSION shows that the perf that recorded is older.
    pub fn is_recorder_before(&self, first: Version) -> bool {
        self.version.is_some_and(|version| version < first)
    }

    /// Whether the features are those in records of a file.
    pub const fn is_in_file(&self) -> bool {
        self.is_in_file
    }

    /// Returns the number of CPUs in NRCPUS.
    pub const fn cpus(&self) -> Option<u32> {
        self.cpus
    }

    /// The same machine for a recording that another version has to read.
    #[must_use]
    pub fn read_by(self, reader: Option<Version>) -> Self {
        Self { reader, ..self }
    }

    /// Whether the perf that recorded, or has to read, refuses a file at a malformed feature: perf
    /// 7 does. An unknown one may be the newest.
    pub fn is_recorder_strict(&self) -> bool {
        let is_strict = |version| version >= FIRST_STRICT;
        self.reader.is_some_and(is_strict) || self.version.is_none_or(is_strict)
    }

    /// Whether VERSION shows that the perf that recorded refuses a file at a malformed feature.
    pub fn is_known_strict(&self) -> bool {
        self.version.is_some() && self.is_recorder_strict()
    }

    /// Whether the perf that recorded may be newer than the last one that was measured.
    pub fn may_be_newer(&self) -> bool {
        self.version.is_none_or(|version| version > NEWEST)
    }

    /// Replaces the numbers of CPUs.
    pub const fn with_cpus(self, cpus: Cpus) -> Self {
        Self { cpus: Some(cpus.available), online: Some(cpus.online), ..self }
    }

    /// The machine as the features in the records of a file describe it.
    pub const fn in_file(self) -> Self {
        Self { is_in_file: true, ..self }
    }
}

/// Numbers of CPUs, as in NRCPUS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// Those of the machine.
    pub available: u32,
    /// Those that ran.
    pub online: u32,
}

/// Reads the section of feature `bit`, which is the rest of `cursor`. Bytes that remain afterwards
/// belong to no field.
///
/// `cpus` is the number of CPUs in NRCPUS: without it CPU_TOPOLOGY is read only up to its lists.
/// Features without a name and those after PMU_CAPS are skipped.
///
/// # Errors
///
/// The first field that does not fit.
pub fn body(
    bit: u32,
    cursor: &mut Cursor<'_>,
    cpus: Option<u32>,
) -> Result<Contents, FeatureError> {
    let start = cursor.unlogged();
    let Some(feature) = feature(bit) else {
        cursor.skip(1, cursor.left(), "feature")?;
        return Ok(Contents::default());
    };
    content::read(feature.content, cursor, content::As::Check(cpus))?;
    Ok(Contents::of(bit, start)?)
}

/// Reads the feature in a HEADER_FEATURE record, as [`body`] does. Returns its bit and contents.
///
/// # Errors
///
/// The bit, and the first field that does not fit.
pub fn of_record(
    record: &RecordView<'_>,
    order: Order,
    machine: Machine,
) -> Result<(u32, Contents), (u32, FeatureError)> {
    read_record(&mut record.cursor(order), machine)
}

/// Whether the fields of the feature in a HEADER_FEATURE record fill it.
pub fn fills_record(record: &RecordView<'_>, order: Order) -> bool {
    let mut cursor = record.cursor(order);
    read_record(&mut cursor, Machine::default()).is_ok() && cursor.left() == 0
}

/// Finds the only numbers of CPUs by which CPU_TOPOLOGY can be read to its last byte.
pub fn cpus_of_topology(cursor: Cursor<'_>) -> Option<Cpus> {
    sections::cpus_of_topology(cursor)
}

/// Refuses values that readers refuse in the feature of a HEADER_FEATURE record whose fields fit.
///
/// # Errors
///
/// The bit, the first fault and its readers.
pub fn refuse_record(
    record: &RecordView<'_>,
    order: Order,
    machine: &Machine,
    events: usize,
) -> Result<(), (u32, Refusal)> {
    let mut cursor = record.cursor(order);
    let Ok(id) = cursor.u64("feature.feat_id") else { return Ok(()) };
    let bit = u32::try_from(id).unwrap_or(u32::MAX);
    refuse(bit, cursor, machine, events).map_err(|refusal| (bit, refusal))
}

/// Finds the numbers of CPUs by which CPU_TOPOLOGY in a HEADER_FEATURE record can be read.
pub fn cpus_of_record(record: &RecordView<'_>, order: Order) -> Option<Cpus> {
    let mut cursor = record.cursor(order);
    let id = cursor.u64("feature.feat_id").ok()?;
    (id == u64::from(CPU_TOPOLOGY)).then(|| cpus_of_topology(cursor))?
}

/// Notes the fields of the feature in a HEADER_FEATURE record.
pub fn log_record(record: &RecordView<'_>, order: Order, log: &FieldLog) {
    let _read = read_record(&mut record.cursor(order).with_log(log), Machine::default());
}

fn read_record(
    cursor: &mut Cursor<'_>,
    machine: Machine,
) -> Result<(u32, Contents), (u32, FeatureError)> {
    let start = cursor.position();
    // The check of the fields reports a record that is too short for the number.
    let Ok(id) = cursor.u64("feature.feat_id") else { return Ok((u32::MAX, Contents::default())) };
    let bit = u32::try_from(id).unwrap_or(u32::MAX);
    // util/header.c: perf_event__process_feature refuses 0, and builtin-report.c numbers after the
    // last one it knows. Those of the next years are not damage, unless an old perf recorded.
    let most = if machine.is_recorder_old { PIPE_END.into() } else { PIPE_NEXT };
    if id == 0 || id > most {
        let span = cursor.since(start);
        let range = (1, most);
        return Err((bit, FeatureError::Number { label: "feat_id", value: id, range, span }));
    }
    match feature(bit) {
        // perf 6.1 ends the features with a number that no feature has, and nothing after it.
        None => return Ok((bit, Contents::default())),
        // Their functions read a file (util/header.c: process_auxtrace, process_dir_format), and
        // fail.
        Some(feature) if feature.is(Trait::InFiles) => {
            return Err((bit, FeatureError::OnlyInFiles { value: id, span: cursor.since(start) }));
        }
        Some(_) => {}
    }
    let read = body(bit, cursor, machine.cpus);
    read.map(|contents| (bit, contents)).map_err(|error| (bit, error))
}

/// Reads the events in a HEADER_FEATURE record of EVENT_DESC; empty for another feature.
pub fn described_in_record(record: &RecordView<'_>, order: Order) -> Vec<DescribedEvent> {
    let mut cursor = record.cursor(order);
    match cursor.u64("feature.feat_id") {
        Ok(id) if id == u64::from(EVENT_DESC) => described_events(&mut cursor),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;

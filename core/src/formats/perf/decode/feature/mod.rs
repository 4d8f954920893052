//! The sections of the features, each by its structure.
//!
//! ```text
//!  string  := len u32, len bytes that contain a NUL (perf pads to a multiple of 64)
//!  strings := nr u32, string*
//! ```
//!
//! Sources: the `write_*` and `process_*` functions of `tools/perf/util/header.c`, and for
//! TRACING_DATA `tracing_data_get` of `util/trace-event-info.c`. Real files differ from the
//! published document in three places, and this module follows the files: BPF_PROG_INFO and BPF_BTF
//! begin with a u32 count, and a bitmap of MEM_TOPOLOGY has one u64 per 64 bits, rounded up
//! (`do_write_bitmap`).

pub(super) mod error;
pub(super) mod lists;
mod reader;
mod recorder;
pub(super) mod sections;
mod simpleperf;

pub use self::error::FeatureError;
use self::lists::{STRING_MIN, cpu_list, pairs, repeated, string, strings};
pub use self::reader::{Refusal, refuse};
pub use self::recorder::is_old;
use self::recorder::read_version;
pub use self::sections::{DescribedEvent, described_events};
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::tracing;
use crate::formats::perf::layout::feature::{
    ARCH, AUXTRACE, CPU_TOPOLOGY, DIR_FORMAT, EVENT_DESC, PIPE_END, PIPE_NEXT, SIMPLEPERF_FIRST,
    VERSION,
};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::field_log::FieldLog;

/// Names by bit, from bit 1. The last three appear in Linux 6.19 and later; no recording with them
/// was available.
const NAMES: [&str; 34] = [
    "TRACING_DATA",
    "BUILD_ID",
    "HOSTNAME",
    "OSRELEASE",
    "VERSION",
    "ARCH",
    "NRCPUS",
    "CPUDESC",
    "CPUID",
    "TOTAL_MEM",
    "CMDLINE",
    "EVENT_DESC",
    "CPU_TOPOLOGY",
    "NUMA_TOPOLOGY",
    "BRANCH_STACK",
    "PMU_MAPPINGS",
    "GROUP_DESC",
    "AUXTRACE",
    "STAT",
    "CACHE",
    "SAMPLE_TIME",
    "MEM_TOPOLOGY",
    "CLOCKID",
    "DIR_FORMAT",
    "BPF_PROG_INFO",
    "BPF_BTF",
    "COMPRESSED",
    "CPU_PMU_CAPS",
    "CLOCK_DATA",
    "HYBRID_TOPOLOGY",
    "PMU_CAPS",
    "CPU_DOMAIN_INFO",
    "E_MACHINE",
    "CLN_SIZE",
];

/// Names of the features of simpleperf, from bit 128.
const SIMPLEPERF_NAMES: [&str; 7] = [
    "FILE",
    "META_INFO",
    "DEBUG_UNWIND",
    "DEBUG_UNWIND_FILE",
    "FILE2",
    "ETM_BRANCH_LIST",
    "INIT_MAP",
];

/// First version of perf that refuses a file at a malformed feature.
const FIRST_STRICT: (u32, u32) = (7, 0);
/// Last version of perf whose limits were measured.
const LAST_MEASURED: (u32, u32) = (7, 2);

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
    pub version: Option<(u32, u32)>,
    /// SAMPLE_TIME: time of the first and of the last sample in ns.
    pub sample_time: Option<(u64, u64)>,
    /// COMPRESSED.
    pub compressed: Option<Compressed>,
    /// DIR_FORMAT: version of the directory layout.
    pub dir_format: Option<u64>,
    /// BUILD_ID: number of entries.
    pub build_ids: Option<u64>,
    /// EVENT_DESC: number of events.
    pub events: Option<u32>,
}

/// Facts about the machine and the recorder in features of a pipe, by which later ones are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine {
    cpus: Option<u32>,
    online: Option<u32>,
    has_free_sockets: bool,
    is_recorder_old: bool,
    version: Option<(u32, u32)>,
    is_in_file: bool,
}

impl Machine {
    /// A machine of which only the version of the perf that recorded is known.
    pub fn of_version(version: Option<(u32, u32)>) -> Self {
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

    /// Whether the features are those in records of a file.
    pub const fn is_in_file(&self) -> bool {
        self.is_in_file
    }

    /// Returns the number of CPUs in NRCPUS.
    pub const fn cpus(&self) -> Option<u32> {
        self.cpus
    }

    /// Whether the perf that recorded refuses a file at a malformed feature: perf 7 does. An
    /// unknown one may be the newest.
    pub fn is_recorder_strict(&self) -> bool {
        self.version.is_none_or(|version| version >= FIRST_STRICT)
    }

    /// Whether VERSION shows that the perf that recorded refuses a file at a malformed feature.
    pub fn is_known_strict(&self) -> bool {
        self.version.is_some() && self.is_recorder_strict()
    }

    /// Whether the perf that recorded may be newer than the last one that was measured.
    pub fn may_be_newer(&self) -> bool {
        self.version.is_none_or(|version| version > LAST_MEASURED)
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

/// The parameters of compressed records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Version, 0 in all releases.
    pub version: u32,
    /// Compression: 1 is zstd.
    pub kind: u32,
    /// Level as in `perf record -z LEVEL`.
    pub level: u32,
    /// Expanded bytes per stored byte, rounded.
    pub ratio: u32,
    /// Size of the reader's buffer for one expanded record in bytes.
    pub mmap_len: u32,
}

/// Returns the name of a feature as in `tools/perf/util/header.h`, without `HEADER_`; `None` if the
/// bit is unknown.
pub fn name(bit: u32) -> Option<&'static str> {
    let (table, first) = if bit < SIMPLEPERF_FIRST {
        (&NAMES[..], 1)
    } else {
        (&SIMPLEPERF_NAMES[..], SIMPLEPERF_FIRST)
    };
    table.get(usize::try_from(bit.checked_sub(first)?).ok()?).copied()
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
    let mut contents = Contents::default();
    let start = cursor.unlogged();
    match name(bit).unwrap_or_default() {
        "TRACING_DATA" => tracing::walk(cursor)?,
        "BUILD_ID" => contents.build_ids = Some(sections::build_ids(cursor)?),
        "NRCPUS" => {
            contents.nr_cpus = Some(cursor.u32("nr_cpus_available")?);
            contents.nr_cpus_online = Some(cursor.u32("nr_cpus_online")?);
        }
        "EVENT_DESC" => contents.events = Some(sections::event_desc(cursor)?),
        "CPU_TOPOLOGY" => sections::cpu_topology(cursor, cpus)?,
        "BRANCH_STACK" | "STAT" => {}
        "AUXTRACE" => sections::auxtrace(cursor)?,
        "SAMPLE_TIME" => {
            let first = cursor.u64("first_sample_time")?;
            contents.sample_time = Some((first, cursor.u64("last_sample_time")?));
        }
        "MEM_TOPOLOGY" => sections::mem_topology(cursor)?,
        "DIR_FORMAT" => contents.dir_format = Some(cursor.u64("dir_version")?),
        "COMPRESSED" => contents.compressed = Some(sections::compressed(cursor)?),
        name if bit >= SIMPLEPERF_FIRST => simpleperf::body(name, cursor)?,
        name => skip_plain(name, cursor)?,
    }
    match bit {
        ARCH => contents.has_free_sockets = Some(sections::has_free_sockets(start)),
        VERSION => {
            let text = sections::text(start);
            contents.is_recorder_old = is_old(text);
            contents.version = read_version(text);
        }
        _ => {}
    }
    Ok(contents)
}

/// Whether the feature of this name is one string.
pub fn is_text(name: &str) -> bool {
    matches!(name, "HOSTNAME" | "OSRELEASE" | "VERSION" | "ARCH" | "CPUDESC" | "CPUID")
}

/// Skips the features that consist of words, strings and lists of entries without further meaning
/// for a check.
fn skip_plain(name: &str, cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    match name {
        text if is_text(text) => string(cursor, "string"),
        "TOTAL_MEM" => Ok(cursor.skip(1, 8, "total_mem")?),
        "CLOCKID" => Ok(cursor.skip(1, 8, "clockid_res_ns")?),
        "CLOCK_DATA" => Ok(cursor.skip(1, 24, "clock_data")?),
        "CMDLINE" => strings(cursor, "cmdline.nr", "cmdline.string"),
        "CPU_PMU_CAPS" => pairs(cursor, "nr_cpu_pmu_caps"),
        "HYBRID_TOPOLOGY" => pairs(cursor, "hybrid.nr"),
        "CACHE" => sections::caches(cursor),
        "NUMA_TOPOLOGY" => repeated(cursor, "nodes.nr", 20 + STRING_MIN, |cursor| {
            cursor.skip(1, 20, "node")?;
            cpu_list(cursor, "node.cpus")
        }),
        "PMU_MAPPINGS" => repeated(cursor, "pmus.nr", 4 + STRING_MIN, |cursor| {
            cursor.u32("pmu.type")?;
            string(cursor, "pmu.name")
        }),
        "GROUP_DESC" => repeated(cursor, "groups.nr", 8 + STRING_MIN, |cursor| {
            string(cursor, "group.name")?;
            cursor.u32("group.leader_idx")?;
            Ok(cursor.u32("group.nr_members").map(drop)?)
        }),
        "BPF_PROG_INFO" => repeated(cursor, "programs.nr", 16, sections::bpf_program),
        "BPF_BTF" => repeated(cursor, "btfs.nr", 8, |cursor| {
            cursor.u32("btf.id")?;
            let data_size = cursor.u32("btf.data_size")?;
            Ok(cursor.skip(1, data_size.into(), "btf.data")?)
        }),
        "PMU_CAPS" => repeated(cursor, "nr_pmu", 4 + STRING_MIN, |cursor| {
            pairs(cursor, "pmu.nr_caps")?;
            string(cursor, "pmu.name")
        }),
        _ => Ok(cursor.skip(1, cursor.left(), "feature")?),
    }
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
    read_record(record.cursor(order), machine)
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
    let _read = read_record(record.cursor(order).with_log(log), Machine::default());
}

fn read_record(
    mut cursor: Cursor<'_>,
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
    // Their functions read a file (util/header.c: process_auxtrace, process_dir_format), and fail.
    if [AUXTRACE, DIR_FORMAT].contains(&bit) {
        return Err((bit, FeatureError::OnlyInFiles { value: id, span: cursor.since(start) }));
    }
    // perf 6.1 ends the features with a number that no feature has, and nothing after it.
    if name(bit).is_none() {
        return Ok((bit, Contents::default()));
    }
    let read = body(bit, &mut cursor, machine.cpus);
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

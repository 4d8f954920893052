//! Constants of the format.
//!
//! Sources: `include/uapi/linux/perf_event.h`, `tools/perf/util/header.h`,
//! `tools/lib/perf/include/perf/event.h`, and measured recordings.

pub mod attr;
pub mod features;
pub mod part;
pub mod programs;
pub mod records;
pub mod schedstat;
pub mod tracers;
pub mod versions;

pub use attr::{ATTR_SIZE_KNOWN, ATTR_SIZE_VER0, ATTR_SIZE_VER7, ATTR_SIZES, is_published};
pub use features::number as feature;

/// First bytes of a recording written by a little-endian machine.
pub const MAGIC_LITTLE: &[u8; 8] = b"PERFILE2";
/// First bytes of a recording written by a big-endian machine.
pub const MAGIC_BIG: &[u8; 8] = b"2ELIFREP";
/// First bytes of version 1, little-endian and big-endian.
pub const MAGIC_V1: [&[u8; 8]; 2] = [b"PERFFILE", b"ELIFFREP"];

/// Size of the file header with the feature bits.
pub const HEADER_SIZE: u64 = 104;
/// Size of the file header before Linux 2.6.33, without feature bits.
pub const HEADER_SIZE_OLD: u64 = 72;
/// Size of the header of a pipe recording.
pub const HEADER_SIZE_PIPE: u64 = 16;

/// Offsets of the fields of the file header.
pub mod field {
    /// u64: size of the header.
    pub const SIZE: u64 = 8;
    /// u64: size of an attr entry, including the section of its ids.
    pub const ATTR_SIZE: u64 = 16;
    /// Section of the attrs.
    pub const ATTRS: u64 = 24;
    /// Section of the records.
    pub const DATA: u64 = 40;
    /// u64: size of the section of the records.
    pub const DATA_SIZE: u64 = 48;
    /// Four u64: the feature bits.
    pub const FLAGS: u64 = 72;
}

/// Size of a `perf_file_section`: u64 offset, u64 size.
pub const SECTION_SIZE: u64 = 16;
/// Size of a `perf_trace_event_type`: u64 id, name of 64 bytes.
pub const EVENT_TYPE_SIZE: u64 = 72;
/// Size of a `perf_event_header`: u32 type, u16 misc, u16 size.
pub const RECORD_HEADER: u64 = 8;
/// Feature bits in the header.
pub const FEATURE_BITS: u32 = 256;
/// Largest mapping that `perf record` compresses at once by default: `(128 + 1) * 4096`.
pub const COMP_MMAP_LEN: u32 = 528_384;

/// Record types that the check handles by name.
pub mod record {
    pub use super::records::name;

    /// A file, or the kernel, in the memory of a process.
    pub const MMAP: u32 = 1;
    /// The same, with its device and inode or its build id.
    pub const MMAP2: u32 = 10;
    /// Records of an event that did not fit the buffer.
    pub const LOST: u32 = 2;
    /// The name of a thread changes.
    pub const COMM: u32 = 3;
    /// A thread that ended.
    pub const EXIT: u32 = 4;
    /// An event that came too often is stopped.
    pub const THROTTLE: u32 = 5;
    /// It goes on.
    pub const UNTHROTTLE: u32 = 6;
    /// A new thread.
    pub const FORK: u32 = 7;
    /// A tracer wrote bytes.
    pub const AUX: u32 = 11;
    /// ITRACE_START.
    pub const ITRACE_START: u32 = 12;
    /// AUX_OUTPUT_HW_ID.
    pub const AUX_OUTPUT_HW_ID: u32 = 21;
    /// Counter values of a task that ends.
    pub const READ: u32 = 8;
    /// A sample.
    pub const SAMPLE: u32 = 9;
    /// Highest kernel type known.
    pub const KERNEL_LAST: u32 = 22;
    /// First type of perf's own records.
    pub const USER_FIRST: u32 = 64;
    /// An attr with its ids, in pipe recordings.
    pub const HEADER_ATTR: u32 = 64;
    /// Tracepoint formats, in pipe recordings. The payload follows the record.
    pub const TRACING_DATA: u32 = 66;
    /// A context switch of the thread that is recorded.
    pub const SWITCH: u32 = 14;
    /// A context switch on a CPU that is recorded.
    pub const SWITCH_CPU_WIDE: u32 = 15;
    /// The namespaces of a thread.
    pub const NAMESPACES: u32 = 16;
    /// Code of the kernel that is made or removed while it runs.
    pub const KSYMBOL: u32 = 17;
    /// A BPF program that is loaded or unloaded.
    pub const BPF_EVENT: u32 = 18;
    /// The path of a cgroup.
    pub const CGROUP: u32 = 19;
    /// Code of the kernel that was changed.
    pub const TEXT_POKE: u32 = 20;
    /// No older record follows.
    pub const FINISHED_ROUND: u32 = 68;
    /// The ids of all events.
    pub const ID_INDEX: u32 = 69;
    /// The tracer of the processor.
    pub const AUXTRACE_INFO: u32 = 70;
    /// Hardware trace. The payload follows the record.
    pub const AUXTRACE: u32 = 71;
    /// The threads that `perf stat record` counts.
    pub const THREAD_MAP: u32 = 73;
    /// The CPUs that `perf stat record` counts.
    pub const CPU_MAP: u32 = 74;
    /// First of the types that `perf stat record` writes.
    pub const STAT_CONFIG: u32 = 75;
    /// A counter value of `perf stat record`, which begins with the id of its event.
    pub const STAT: u32 = 76;
    /// Last of the types that `perf stat record` writes.
    pub const STAT_ROUND: u32 = 77;
    /// The unit, scale, name or CPUs of an event.
    pub const EVENT_UPDATE: u32 = 78;
    /// The content of a feature, in pipe recordings.
    pub const HEADER_FEATURE: u32 = 80;
    /// zstd data.
    pub const COMPRESSED: u32 = 81;
    /// zstd data with its own length and padding.
    pub const COMPRESSED2: u32 = 83;
    /// Highest user type known.
    pub const USER_LAST: u32 = 86;
    /// The time conversion of the kernel's clock.
    pub const TIME_CONV: u32 = 79;
    /// The call chain of the user's code in samples before it.
    pub const CALLCHAIN_DEFERRED: u32 = 22;
    /// Types of the kernel that are about a moment, and name nothing in later samples: LOST,
    /// THROTTLE, UNTHROTTLE, READ, AUX, ITRACE_START, LOST_SAMPLES, SWITCH and SWITCH_CPU_WIDE.
    pub const OF_A_MOMENT: [u32; 9] = [2, 5, 6, READ, AUX, 12, 13, SWITCH, SWITCH_CPU_WIDE];
    /// All records about processes that ran before were written.
    pub const FINISHED_INIT: u32 = 82;
    /// Last type of perf 6.12, FINISHED_INIT.
    pub const USER_OLD: u32 = 82;
    /// Last type of the kernel that perf 6.12 asks for, AUX_OUTPUT_HW_ID.
    pub const KERNEL_OLD: u32 = 21;
    /// Returns the last type of the same writer that perf 6.12 has.
    pub const fn last_old(kind: u32) -> u32 {
        if kind < USER_FIRST { KERNEL_OLD } else { USER_OLD }
    }

    /// Highest type of the kernel that may be one of the next years: it got 22 in 17 years, so
    /// twelve more take nine.
    pub const KERNEL_NEXT: u32 = 34;
    /// The same for the types of perf, which got 23.
    pub const USER_NEXT: u32 = 98;
    /// Types whose body may be anything, or goes on after the record.
    pub const ANY_BODY: [u32; 11] = [8, 65, 66, 67, AUXTRACE_INFO, AUXTRACE, 79, 81, 83, 85, 86];
    /// Types that nearly any body fits: HEADER_EVENT_TYPE, AUXTRACE_INFO, AUXTRACE_ERROR,
    /// EVENT_UPDATE (of a kind that is not known) and SCHEDSTAT.
    pub const FITS_NEARLY_ALL: [u32; 6] = [65, AUXTRACE_INFO, 72, 78, 85, 86];
    /// Types of perf whose size need not be a multiple of 8 for perf 7: HEADER_TRACING_DATA,
    /// HEADER_FEATURE and COMPRESSED.
    pub const ANY_SIZE: [u32; 3] = [66, 80, 81];
    /// Highest type that is not damage: kernels add a type every few years, and perf uses 64 to
    /// 127.
    pub const PLAUSIBLE_LAST: u32 = 127;

    /// First of the types of simpleperf, KERNEL_SYMBOL.
    pub const SIMPLEPERF_FIRST: u32 = 32_769;
    /// A part of a longer record of simpleperf.
    pub const SIMPLEPERF_SPLIT: u32 = 32_772;
    /// Tracepoint formats of simpleperf.
    pub const SIMPLEPERF_TRACING_DATA: u32 = 32_777;
    /// Last of the types of simpleperf, DEBUG.
    pub const SIMPLEPERF_LAST: u32 = 32_778;

    /// Whether only simpleperf writes records of the type.
    pub const fn is_simpleperf(kind: u32) -> bool {
        kind >= SIMPLEPERF_FIRST && kind <= SIMPLEPERF_LAST
    }
}

/// More CPUs than any kernel supports: 8,192 at most.
pub const MOST_CPUS: u32 = 1 << 16;

/// The bits of `misc` that are the mode of the processor: kernel, user, guest.
pub const CPUMODE: u16 = 7;
/// Number of their values.
pub const CPUMODES: usize = 8;
/// `misc` of an MMAP2: a build id instead of device and inode.
pub const MISC_MMAP_BUILD_ID: u16 = 1 << 14;
/// `misc` of a BUILD_ID: the size of the id is recorded.
pub const MISC_BUILD_ID_SIZE: u16 = 1 << 15;

/// Longest build id, in bytes.
pub const BUILD_ID_MAX: u64 = 20;

/// Numbers of PMUs that a kernel may have: it counts from 6, and machines have some hundred.
const PMUS_MAX: u32 = 4096;
/// The first number of those that perf has for counters of its own (`PERF_PMU_TYPE_DRM_START`).
const OWN_PMUS: u32 = 0xfffe_0000;

/// Whether `attr.type` is a number that an event may have.
pub const fn is_event_type(kind: u32) -> bool {
    kind < PMUS_MAX || kind >= OWN_PMUS
}

/// `PERF_TYPE_SOFTWARE`, and its `PERF_COUNT_SW_DUMMY`, which counts nothing.
pub const TYPE_SOFTWARE: u32 = 1;
/// See [`TYPE_SOFTWARE`].
pub const SOFTWARE_DUMMY: u64 = 9;
/// `PERF_TYPE_TRACEPOINT`.
pub const TYPE_TRACEPOINT: u32 = 2;

/// Names of software events by `attr.config`.
pub const SOFTWARE_NAMES: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

/// Names of hardware events by `attr.config`.
pub const HARDWARE_NAMES: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

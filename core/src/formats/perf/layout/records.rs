//! The types of records: number, name, and the fields that follow one another.
//!
//! A type whose fields are declared here to their end needs nothing else: the check, the map, the
//! dump and the audit read it by this table. The others have a reader in `decode/record`.
//!
//! Sources: `include/uapi/linux/perf_event.h`, `tools/lib/perf/include/perf/event.h`, and
//! `record.h` in `system/extras/simpleperf` of Android.

use super::record;
use crate::kit::num::to_usize;
use crate::kit::row::Form::{Bytes, Hex32, Hex64, U8, U16, U32, U64};
use crate::kit::row::Row;

/// A type of records.
pub struct RecordType {
    /// Its name without `PERF_RECORD_`.
    pub name: &'static str,
    /// The fields at the beginning. A label has the name of the record before the point, and `[]`
    /// after the name of a list.
    pub fields: &'static Row,
    /// The rest.
    pub end: End,
}

/// The rest of a record after its first fields.
#[derive(Clone, Copy)]
pub enum End {
    /// Nothing.
    Nothing,
    /// A text with its NUL, and padding.
    Text(&'static str),
    /// A number of lost events.
    Lost(&'static str),
    /// A u64 count, and as many rows.
    List(&'static str, &'static Row),
    /// The fields that newer writers add, if they are there, and bytes of still newer ones.
    Newer(&'static Row),
    /// Fields that need a reader of their own.
    Reader,
}

/// A type of records.
const fn of(name: &'static str, fields: &'static Row, end: End) -> RecordType {
    RecordType { name, fields, end }
}

/// Types of the kernel, from 1.
static KERNEL: [RecordType; 22] = [
    of("MMAP", MMAP, End::Text("mmap.filename")),
    of("LOST", &[("lost.id", U64)], End::Lost("lost.lost")),
    of("COMM", &[("comm.pid", U32), ("comm.tid", U32)], End::Text("comm.comm")),
    of("EXIT", FORK, End::Nothing),
    of("THROTTLE", THROTTLE, End::Nothing),
    of("UNTHROTTLE", THROTTLE, End::Nothing),
    of("FORK", FORK, End::Nothing),
    // The values after these depend on the read_format of the attr.
    of("READ", READ, End::Newer(&[])),
    of("SAMPLE", &[], End::Reader),
    of("MMAP2", MMAP2, End::Reader),
    of(
        "AUX",
        &[("aux.aux_offset", U64), ("aux.aux_size", U64), ("aux.flags", Hex64)],
        End::Nothing,
    ),
    of("ITRACE_START", &[("itrace_start.pid", U32), ("itrace_start.tid", U32)], End::Nothing),
    of("LOST_SAMPLES", &[], End::Lost("lost_samples.lost")),
    of("SWITCH", &[], End::Nothing),
    of("SWITCH_CPU_WIDE", SWITCH, End::Nothing),
    of(
        "NAMESPACES",
        &[("namespaces.pid", U32), ("namespaces.tid", U32)],
        End::List("namespaces.nr_namespaces", LINK_INFO),
    ),
    of("KSYMBOL", KSYMBOL, End::Text("ksymbol.name")),
    of("BPF_EVENT", BPF_EVENT, End::Nothing),
    of("CGROUP", &[("cgroup.id", U64)], End::Text("cgroup.path")),
    of("TEXT_POKE", &[("text_poke.addr", Hex64)], End::Reader),
    of("AUX_OUTPUT_HW_ID", &[("aux_output_hw_id.hw_id", Hex64)], End::Nothing),
    of(
        "CALLCHAIN_DEFERRED",
        &[("callchain_deferred.cookie", U64)],
        End::List("callchain_deferred.nr", &[("callchain_deferred.ips[]", Hex64)]),
    ),
];

const MMAP: &Row = &[
    ("mmap.pid", U32),
    ("mmap.tid", U32),
    ("mmap.addr", Hex64),
    ("mmap.len", Hex64),
    ("mmap.pgoff", Hex64),
];
const MMAP2: &Row = &[
    ("mmap2.pid", U32),
    ("mmap2.tid", U32),
    ("mmap2.addr", Hex64),
    ("mmap2.len", Hex64),
    ("mmap2.pgoff", Hex64),
];
const FORK: &Row = &[
    ("fork.pid", U32),
    ("fork.ppid", U32),
    ("fork.tid", U32),
    ("fork.ptid", U32),
    ("fork.time", U64),
];
const THROTTLE: &Row = &[("throttle.time", U64), ("throttle.id", U64), ("throttle.stream_id", U64)];
/// READ, up to the first value.
pub const READ: &Row = &[("read.pid", U32), ("read.tid", U32), ("read.value", U64)];
const SWITCH: &Row = &[("switch.next_prev_pid", U32), ("switch.next_prev_tid", U32)];
const LINK_INFO: &Row =
    &[("namespaces.link_info[].dev", U64), ("namespaces.link_info[].inode", U64)];
const KSYMBOL: &Row = &[
    ("ksymbol.addr", Hex64),
    ("ksymbol.len", U32),
    ("ksymbol.ksym_type", U16),
    ("ksymbol.flags", U16),
];
const BPF_EVENT: &Row = &[
    ("bpf_event.type", U16),
    ("bpf_event.flags", U16),
    ("bpf_event.id", U32),
    ("bpf_event.tag", Bytes(8)),
];

/// MMAP2 with a device and an inode.
pub const MMAP2_INODE: &Row =
    &[("mmap2.maj", U32), ("mmap2.min", U32), ("mmap2.ino", U64), ("mmap2.ino_generation", U64)];
/// The last numbers of MMAP2; kernels 3.10 to 3.15 wrote none.
pub const MMAP2_PROT: &Row = &[("mmap2.prot", Hex32), ("mmap2.flags", Hex32)];

/// Types of perf itself, from 64.
static USER: [RecordType; 23] = [
    of("HEADER_ATTR", &[], End::Reader),
    of("HEADER_EVENT_TYPE", &[("event_type.event_id", U64)], End::Reader),
    of("HEADER_TRACING_DATA", &[], End::Reader),
    of("HEADER_BUILD_ID", &[("build_id.pid", U32)], End::Reader),
    of("FINISHED_ROUND", &[], End::Nothing),
    of("ID_INDEX", &[], End::Reader),
    of("AUXTRACE_INFO", &[], End::Reader),
    of("AUXTRACE", &[], End::Reader),
    of("AUXTRACE_ERROR", &[], End::Reader),
    of("THREAD_MAP", &[], End::List("thread_map.nr", THREADS)),
    of("CPU_MAP", &[], End::Reader),
    of("STAT_CONFIG", &[], End::List("stat_config.nr", STAT_CONFIG)),
    of("STAT", STAT, End::Nothing),
    of("STAT_ROUND", &[("stat_round.type", U64), ("stat_round.time", U64)], End::Nothing),
    of("EVENT_UPDATE", &[], End::Reader),
    of("TIME_CONV", TIME_CONV, End::Newer(TIME_CONV_5_10)),
    of("HEADER_FEATURE", &[], End::Reader),
    of("COMPRESSED", &[], End::Reader),
    of("FINISHED_INIT", &[], End::Nothing),
    of("COMPRESSED2", &[], End::Reader),
    of("BPF_METADATA", &[], End::Reader),
    of("SCHEDSTAT_CPU", SCHEDSTAT_CPU, End::Newer(SCHEDSTAT_COUNTS)),
    of("SCHEDSTAT_DOMAIN", &[], End::Reader),
];

/// An entry of ID_INDEX.
pub const ID_INDEX: &Row = &[
    ("id_index.entries[].id", U64),
    ("id_index.entries[].idx", U64),
    ("id_index.entries[].cpu", U64),
    ("id_index.entries[].tid", U64),
];
/// The same for a guest, which writers since 6.0 add for each entry.
pub const ID_INDEX_GUESTS: &Row =
    &[("id_index.guests[].machine_pid", U64), ("id_index.guests[].vcpu", U64)];
/// AUXTRACE after the size of the data.
pub const AUXTRACE: &Row = &[
    ("auxtrace.aux_offset", U64),
    ("auxtrace.reference", Hex64),
    ("auxtrace.idx", U32),
    ("auxtrace.tid", U32),
    ("auxtrace.cpu", U32),
    ("auxtrace.reserved", U32),
];
const THREADS: &Row =
    &[("thread_map.entries[].pid", U64), ("thread_map.entries[].comm", Bytes(16))];
const STAT_CONFIG: &Row = &[("stat_config.entries[].tag", U64), ("stat_config.entries[].val", U64)];
const STAT: &Row = &[
    ("stat.id", U64),
    ("stat.cpu", U32),
    ("stat.thread", U32),
    ("stat.val", U64),
    ("stat.ena", U64),
    ("stat.run", U64),
];
const TIME_CONV: &Row =
    &[("time_conv.time_shift", U64), ("time_conv.time_mult", U64), ("time_conv.time_zero", U64)];
/// The fields that writers since 5.10 add to TIME_CONV.
const TIME_CONV_5_10: &Row = &[
    ("time_conv.time_cycles", U64),
    ("time_conv.time_mask", Hex64),
    ("time_conv.cap_user_time_zero", U8),
    ("time_conv.cap_user_time_short", U8),
    ("time_conv.reserved", Bytes(6)),
];
const SCHEDSTAT_CPU: &Row = &[
    ("schedstat.timestamp", U64),
    ("schedstat.cpu", U32),
    ("schedstat.version", U16),
    ("schedstat.reserved", Bytes(2)),
];
/// The counts of a CPU, the same in all versions.
const SCHEDSTAT_COUNTS: &Row = &[
    ("schedstat.yld_count", U32),
    ("schedstat.array_exp", U32),
    ("schedstat.sched_count", U32),
    ("schedstat.sched_goidle", U32),
    ("schedstat.ttwu_count", U32),
    ("schedstat.ttwu_local", U32),
    ("schedstat.rq_cpu_time", U64),
    ("schedstat.run_delay", U64),
    ("schedstat.pcount", U64),
];
/// SCHEDSTAT_DOMAIN before its version, on which number and order of its counts depend.
pub const SCHEDSTAT_DOMAIN: &Row = &[("schedstat.timestamp", U64), ("schedstat.cpu", U32)];
/// The counts of a version that is unknown.
pub const SCHEDSTAT_UNKNOWN: &Row = &[("schedstat.counts[]", U32)];
/// An entry of BPF_METADATA.
pub const BPF_METADATA: &Row =
    &[("bpf_metadata.entries[].key", Bytes(64)), ("bpf_metadata.entries[].value", Bytes(256))];
/// AUXTRACE_ERROR after its type.
pub const AUXTRACE_ERROR: &Row = &[
    ("auxtrace_error.code", U32),
    ("auxtrace_error.cpu", U32),
    ("auxtrace_error.pid", U32),
    ("auxtrace_error.tid", U32),
];
/// The virtual machine of an AUXTRACE_ERROR.
pub const AUXTRACE_ERROR_GUEST: &Row =
    &[("auxtrace_error.machine_pid", U32), ("auxtrace_error.vcpu", U32)];

/// Types of simpleperf, from 32769. SPLIT is a part of a record of more than 64 KiB; SPLIT_END has
/// no fields.
static SIMPLEPERF: [RecordType; 10] = [
    of("SIMPLEPERF_KERNEL_SYMBOL", &[], End::Reader),
    of("SIMPLEPERF_DSO", DSO, End::Text("dso.name")),
    of("SIMPLEPERF_SYMBOL", DSO_SYMBOL, End::Text("dso_symbol.name")),
    of("SIMPLEPERF_SPLIT", &[], End::Reader),
    of("SIMPLEPERF_SPLIT_END", &[], End::Nothing),
    of("SIMPLEPERF_EVENT_ID", &[], End::List("event_id.count", EVENT_IDS)),
    of("SIMPLEPERF_CALLCHAIN", CHAIN_HEAD, End::List("chain.nr", CHAIN)),
    of("SIMPLEPERF_UNWINDING_RESULT", &[], End::Reader),
    of("SIMPLEPERF_TRACING_DATA", &[], End::Reader),
    of("SIMPLEPERF_DEBUG", &[("debug.time", U64)], End::Text("debug.text")),
];

const DSO: &Row = &[("dso.type", U64), ("dso.id", U64), ("dso.min_vaddr", Hex64)];
const DSO_SYMBOL: &Row =
    &[("dso_symbol.addr", Hex64), ("dso_symbol.len", U64), ("dso_symbol.dso_id", U64)];
const EVENT_IDS: &Row = &[("event_id.entries[].attr", U64), ("event_id.entries[].id", U64)];
const CHAIN_HEAD: &Row =
    &[("chain.pid", U32), ("chain.tid", U32), ("chain.type", U64), ("chain.time", U64)];
const CHAIN: &Row = &[("chain.nr", Bytes(16))];

/// Returns a type of records; `None` if the number is unknown.
pub fn record_type(kind: u32) -> Option<&'static RecordType> {
    let (table, first) = match kind {
        kernel if kernel < record::USER_FIRST => (&KERNEL[..], 1),
        perf if perf < record::SIMPLEPERF_FIRST => (&USER[..], record::USER_FIRST),
        _ => (&SIMPLEPERF[..], record::SIMPLEPERF_FIRST),
    };
    table.get(to_usize(kind.checked_sub(first)?.into()))
}

/// Returns the name of a type without `PERF_RECORD_`; `None` if the type is unknown.
pub fn name(kind: u32) -> Option<&'static str> {
    record_type(kind).map(|one| one.name)
}

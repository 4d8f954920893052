//! The names of the types of records.

use super::record;
use crate::kit::num::to_usize;

/// Names of the types of the kernel, from 1.
static KERNEL: [&str; 22] = [
    "MMAP",
    "LOST",
    "COMM",
    "EXIT",
    "THROTTLE",
    "UNTHROTTLE",
    "FORK",
    "READ",
    "SAMPLE",
    "MMAP2",
    "AUX",
    "ITRACE_START",
    "LOST_SAMPLES",
    "SWITCH",
    "SWITCH_CPU_WIDE",
    "NAMESPACES",
    "KSYMBOL",
    "BPF_EVENT",
    "CGROUP",
    "TEXT_POKE",
    "AUX_OUTPUT_HW_ID",
    "CALLCHAIN_DEFERRED",
];

/// Names of the types of perf itself, from 64.
static USER: [&str; 23] = [
    "HEADER_ATTR",
    "HEADER_EVENT_TYPE",
    "HEADER_TRACING_DATA",
    "HEADER_BUILD_ID",
    "FINISHED_ROUND",
    "ID_INDEX",
    "AUXTRACE_INFO",
    "AUXTRACE",
    "AUXTRACE_ERROR",
    "THREAD_MAP",
    "CPU_MAP",
    "STAT_CONFIG",
    "STAT",
    "STAT_ROUND",
    "EVENT_UPDATE",
    "TIME_CONV",
    "HEADER_FEATURE",
    "COMPRESSED",
    "FINISHED_INIT",
    "COMPRESSED2",
    "BPF_METADATA",
    "SCHEDSTAT_CPU",
    "SCHEDSTAT_DOMAIN",
];

/// Names of the types of simpleperf, from 32769.
static SIMPLEPERF: [&str; 10] = [
    "SIMPLEPERF_KERNEL_SYMBOL",
    "SIMPLEPERF_DSO",
    "SIMPLEPERF_SYMBOL",
    "SIMPLEPERF_SPLIT",
    "SIMPLEPERF_SPLIT_END",
    "SIMPLEPERF_EVENT_ID",
    "SIMPLEPERF_CALLCHAIN",
    "SIMPLEPERF_UNWINDING_RESULT",
    "SIMPLEPERF_TRACING_DATA",
    "SIMPLEPERF_DEBUG",
];

/// Returns the name of a type without `PERF_RECORD_`; `None` if the type is unknown.
pub fn name(kind: u32) -> Option<&'static str> {
    let (table, first) = match kind {
        kernel if kernel < record::USER_FIRST => (&KERNEL[..], 1),
        perf if perf < record::SIMPLEPERF_FIRST => (&USER[..], record::USER_FIRST),
        _ => (&SIMPLEPERF[..], record::SIMPLEPERF_FIRST),
    };
    table.get(to_usize(kind.checked_sub(first)?.into())).copied()
}

//! The words of AUXTRACE_INFO, by the type of the tracer. Each word is a u64.
//!
//! ```text
//!  Intel PT    17 words, a filter of addresses with its padding, cap_event_trace
//!  CoreSight   3 words, and of each CPU a magic, its number, since version 1 a count, registers
//!  Arm SPE     2 words; since version 2: 4 words, and of each CPU a magic, its number, a count, ..
//! ```
//!
//! Sources: `intel-pt.h`, `intel-bts.h`, `cs-etm.h`, `arm-spe.h`, `hisi-ptt.h` and
//! `powerpc-vpadtl.h` of `tools/perf/util`, and `*_info_fill` of `tools/perf/arch`. The names are
//! theirs, but for those that findings have: `version`, `head`, `cpus`, `entries[]`, `magic`, `cpu`
//! and `parameters`.

use crate::kit::num::to_usize;
use crate::kit::row::Form::{Hex64, U32, U64};
use crate::kit::row::Row;

/// The type of Intel PT.
pub const PT: u32 = 1;
/// The type of Intel BTS.
pub const BTS: u32 = 2;
/// The type of CoreSight.
pub const CORESIGHT: u32 = 3;
/// The type of Arm SPE.
pub const SPE: u32 = 4;
/// The type of the counters of s390, which have no words.
pub const CPUMSF: u32 = 5;
/// The last type that perf 7.2 knows, the dispatch trace log of POWER (since perf 6.18).
pub const LAST: u32 = 7;

/// The words of a tracer.
pub struct TracerWords {
    /// The words without which perf refuses the record.
    pub needed: &'static Row,
    /// Those after them, of which older writers have fewer.
    pub more: &'static Row,
}

/// The words by type, from Intel PT.
static TRACERS: [TracerWords; 7] = [
    TracerWords { needed: INTEL_PT, more: INTEL_PT_MORE },
    TracerWords { needed: INTEL_BTS, more: INTEL_BTS_MORE },
    TracerWords { needed: CORESIGHT_HEAD, more: &[] },
    TracerWords { needed: ARM_SPE, more: &[] },
    TracerWords { needed: &[], more: &[] },
    // HiSilicon PTT.
    TracerWords { needed: PMU, more: &[] },
    TracerWords { needed: PMU, more: &[] },
];

/// Returns the words of a type; `None` if it is unknown.
pub fn words(kind: u32) -> Option<&'static TracerWords> {
    TRACERS.get(to_usize(kind.checked_sub(1)?.into()))
}

const PMU: &Row = &[("auxtrace_info.pmu_type", U64)];
const INTEL_PT: &Row = &[
    ("auxtrace_info.pmu_type", U64),
    ("auxtrace_info.time_shift", U64),
    ("auxtrace_info.time_mult", U64),
    ("auxtrace_info.time_zero", U64),
    ("auxtrace_info.cap_user_time_zero", U64),
    ("auxtrace_info.tsc_bit", Hex64),
    ("auxtrace_info.noretcomp_bit", Hex64),
    ("auxtrace_info.have_sched_switch", U64),
    ("auxtrace_info.snapshot_mode", U64),
];
/// Up to the filter; its length is read by itself.
const INTEL_PT_MORE: &Row = &[
    ("auxtrace_info.per_cpu_mmaps", U64),
    ("auxtrace_info.mtc_bit", Hex64),
    ("auxtrace_info.mtc_freq_bits", Hex64),
    ("auxtrace_info.tsc_ctc_n", U64),
    ("auxtrace_info.tsc_ctc_d", U64),
    ("auxtrace_info.cyc_bit", Hex64),
    ("auxtrace_info.max_nonturbo_ratio", U64),
];
/// Intel PT after the filter.
pub const INTEL_PT_LAST: &Row = &[("auxtrace_info.cap_event_trace", U64)];
const INTEL_BTS: &Row = &[
    ("auxtrace_info.pmu_type", U64),
    ("auxtrace_info.time_shift", U64),
    ("auxtrace_info.time_mult", U64),
    ("auxtrace_info.time_zero", U64),
    ("auxtrace_info.cap_user_time_zero", U64),
];
const INTEL_BTS_MORE: &Row = &[("auxtrace_info.snapshot_mode", U64)];

/// The head of CoreSight. The second word is the type of the PMU, shifted by 32, and the CPUs.
pub const CORESIGHT_HEAD: &Row = &[
    ("auxtrace_info.version", U64),
    ("auxtrace_info.cpus", U32),
    ("auxtrace_info.pmu_type", U32),
    ("auxtrace_info.snapshot", U64),
];
/// The same of a big-endian machine.
pub const CORESIGHT_HEAD_BIG: &Row = &[
    ("auxtrace_info.version", U64),
    ("auxtrace_info.pmu_type", U32),
    ("auxtrace_info.cpus", U32),
    ("auxtrace_info.snapshot", U64),
];
/// A CPU of CoreSight before its registers.
pub const CORESIGHT_CPU: &Row =
    &[("auxtrace_info.entries[].magic", Hex64), ("auxtrace_info.entries[].cpu", U64)];
/// The number of its registers, since version 1.
pub const CORESIGHT_COUNT: &str = "auxtrace_info.entries[].parameters";

/// A kind of trace unit of CoreSight.
pub struct TraceUnit {
    /// The first word of its CPU.
    pub magic: u64,
    /// Its registers.
    pub registers: &'static Row,
    /// The number of them in version 0; `None` if it came later.
    pub in_version_0: Option<u64>,
}

/// ETMv3, ETMv4 and ETE.
pub const TRACE_UNITS: [TraceUnit; 3] = [
    TraceUnit { magic: 0x3030_3030_3030_3030, registers: ETMV3, in_version_0: Some(4) },
    TraceUnit { magic: 0x4040_4040_4040_4040, registers: ETMV4, in_version_0: Some(7) },
    TraceUnit { magic: 0x5050_5050_5050_5050, registers: ETE, in_version_0: None },
];

const ETMV3: &Row = &[
    ("auxtrace_info.entries[].etmcr", Hex64),
    ("auxtrace_info.entries[].etmtraceidr", Hex64),
    ("auxtrace_info.entries[].etmccer", Hex64),
    ("auxtrace_info.entries[].etmidr", Hex64),
];
const ETMV4: &Row = &[
    ("auxtrace_info.entries[].trcconfigr", Hex64),
    ("auxtrace_info.entries[].trctraceidr", Hex64),
    ("auxtrace_info.entries[].trcidr0", Hex64),
    ("auxtrace_info.entries[].trcidr1", Hex64),
    ("auxtrace_info.entries[].trcidr2", Hex64),
    ("auxtrace_info.entries[].trcidr8", Hex64),
    ("auxtrace_info.entries[].trcauthstatus", Hex64),
    ("auxtrace_info.entries[].ts_source", U64),
];
const ETE: &Row = &[
    ("auxtrace_info.entries[].trcconfigr", Hex64),
    ("auxtrace_info.entries[].trctraceidr", Hex64),
    ("auxtrace_info.entries[].trcidr0", Hex64),
    ("auxtrace_info.entries[].trcidr1", Hex64),
    ("auxtrace_info.entries[].trcidr2", Hex64),
    ("auxtrace_info.entries[].trcidr8", Hex64),
    ("auxtrace_info.entries[].trcauthstatus", Hex64),
    ("auxtrace_info.entries[].trcdevarch", Hex64),
    ("auxtrace_info.entries[].ts_source", U64),
];

/// Arm SPE before version 2.
pub const ARM_SPE: &Row = &[("auxtrace_info.pmu_type", U64), ("auxtrace_info.per_cpu_mmaps", U64)];
/// The head of Arm SPE since version 2; `head` is the number of its words.
pub const ARM_SPE_HEAD: &Row = &[
    ("auxtrace_info.version", U64),
    ("auxtrace_info.head", U64),
    ("auxtrace_info.pmu_type", U64),
    ("auxtrace_info.cpus", U64),
];
/// A CPU of Arm SPE; the PMU is -1 if it has none.
pub const ARM_SPE_CPU: &Row = &[
    ("auxtrace_info.entries[].magic", Hex64),
    ("auxtrace_info.entries[].cpu", U64),
    ("auxtrace_info.entries[].parameters", U64),
    ("auxtrace_info.entries[].midr", Hex64),
    ("auxtrace_info.entries[].pmu_type", U64),
    ("auxtrace_info.entries[].cap_min_ival", U64),
    ("auxtrace_info.entries[].cap_event_filter", Hex64),
];
/// The first word of a CPU of Arm SPE.
pub const ARM_SPE_MAGIC: u64 = 0x1010_1010_1010_1010;

//! The features of a header: number, name, content, and how writers and readers treat them.
//!
//! A feature whose content is declared here to its end needs nothing else: the check, the search
//! for damaged tables, the map and the audit read it by this table. The others have a reader in
//! `decode/feature`. A number that no entry has is an unknown feature, whose content is private.
//!
//! Sources: `tools/perf/util/header.h`, the `write_*` and `process_*` functions of
//! `tools/perf/util/header.c`, and `record_file_format.h` in `system/extras/simpleperf` of Android.
//! Real files differ from the published document in three places, and this table follows the files:
//! BPF_PROG_INFO and BPF_BTF begin with a u32 count, and a bitmap of MEM_TOPOLOGY has one u64 per
//! 64 bits, rounded up (`do_write_bitmap`).

use self::Trait::*;
use self::number::*;
use super::part::Holds::{Argument, Description, HostName, Machine, Name, Version};
use super::part::Part::{self, Bitmap, Blob, CpuList, Fields, List, One, Read, Rest, Text};
use super::part::Reader::{
    AuxtraceIndex, BuildIds, Domains, Events, FileMessages, Files, InitMaps, MetaInfo, Programs,
    Topology, Tracing, Unwinding,
};
use crate::kit::row::Form::{self, Hex32, U32, U64};

/// Numbers of features that the code handles by name.
pub mod number {
    /// Tracepoint formats.
    pub const TRACING_DATA: u32 = 1;
    /// Build ids of the files with samples.
    pub const BUILD_ID: u32 = 2;
    /// Host name. Every recording has it, so its bit shows how the bits are swapped.
    pub const HOSTNAME: u32 = 3;
    /// Version of perf.
    pub const VERSION: u32 = 5;
    /// Architecture of the kernel.
    pub const ARCH: u32 = 6;
    /// Numbers of available and online CPUs.
    pub const NRCPUS: u32 = 7;
    /// Name of the processor, and its number.
    pub const CPUDESC: u32 = 8;
    /// Memory in KiB.
    pub const TOTAL_MEM: u32 = 10;
    /// The command line of the recorder.
    pub const CMDLINE: u32 = 11;
    /// A copy of each attr, its name and its ids.
    pub const EVENT_DESC: u32 = 12;
    /// Cores and threads that share a package.
    pub const CPU_TOPOLOGY: u32 = 13;
    /// Index of the AUXTRACE records: absolute offsets.
    pub const AUXTRACE: u32 = 18;
    /// Written by `perf stat record`: a flag without content.
    pub const STAT: u32 = 19;
    /// Time of the first and of the last sample.
    pub const SAMPLE_TIME: u32 = 21;
    /// Records lie in `data.N` files in the same directory.
    pub const DIR_FORMAT: u32 = 24;
    /// Parameters of COMPRESSED records.
    pub const COMPRESSED: u32 = 27;
    /// Capabilities of all PMUs.
    pub const PMU_CAPS: u32 = 31;
    /// Last feature of perf 6.12.
    pub const LAST_OLD: u32 = PMU_CAPS;
    /// Number after PMU_CAPS, with which perf 6.1 ends the features of a pipe. perf report 6.1
    /// stops at a higher one.
    pub const PIPE_END: u32 = 32;
    /// The same for perf 7.2, which has one feature more than are known by name.
    pub const PIPE_END_NEWEST: u32 = 35;
    /// Highest number of a feature in a pipe that may be one of the next years: perf got 34
    /// features in 17 years, so 18 more take nine, and a number after them ends the list.
    pub const PIPE_NEXT: u64 = 53;
    /// First of the features of simpleperf, FILE.
    pub const SIMPLEPERF_FIRST: u32 = 128;
    /// Files of simpleperf with their symbols, as structures and as messages.
    pub const SIMPLEPERF_FILE: u32 = SIMPLEPERF_FIRST;
    pub const SIMPLEPERF_FILE2: u32 = 132;
}

/// A feature.
pub struct Feature {
    /// Its number, which is its bit in the header.
    pub number: u32,
    /// Its name without `HEADER_`.
    pub name: &'static str,
    /// Its content; a flag has none.
    pub content: &'static [Part],
    /// How every known writer writes the content.
    pub shape: Shape,
    /// How it differs from others.
    pub traits: &'static [Trait],
}

/// How every known writer writes a content. A section without this shape is damaged, or that of
/// another feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Unknown: no recording was seen.
    Unknown,
    /// The fields end with the section.
    Whole,
    /// The same, and the first number is not 0.
    Entries,
    /// The first numbers are in these ranges.
    Within(&'static [(Form, u64, u64)]),
    /// A text that is not empty.
    Text,
    /// A text such as `6.1.0-13-amd64`.
    Version,
    /// The name of an architecture.
    Machine,
    /// A text such as `GenuineIntel,6,85,7`.
    CpuId,
    /// Numbers of CPUs.
    Cpus,
    /// KiB of memory.
    Memory,
    /// Two times in their order.
    Times,
    /// Bytes in a cache line.
    Line,
}

/// A difference between a feature and most others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Another recording of the machine has the same content.
    Shared,
    /// Another machine or kernel has other content.
    Identity,
    /// perf refuses it in a record.
    InFiles,
    /// perf reads as many bytes as the section has. The features after those of perf 6.12 are
    /// always read so; the content of the others ends by itself.
    Sized,
    /// perf allocates as many bytes as the section has, and reads the texts by their own lengths.
    Allocated,
    /// perf compares the size of the section with that of older forms without a list of dies.
    Compared,
    /// No section is shorter than an entry.
    NeverEmpty,
    /// perf shows a list without entries as if it was not there.
    EmptyIsNothing,
    /// perf 6.12 and older leave out a list without entries.
    EmptyIsLeftOut,
    /// perf crashes if a field does not fit. At other features it reads no further one, or from
    /// perf 7 on refuses the file.
    Crashes,
    /// It crashes at a large bitmap.
    CrashesAtBitmap,
    /// It crashes at a long build id, and shows the records at other faults.
    CrashesAtBuildId,
    /// Before perf 7 it crashes at one number of events; it shows the records at other faults.
    CrashesAtEvents,
    /// perf 7 reads it by NRCPUS.
    NeedsCpus,
    /// Readers refuse values of fields that fit, by a judgement of its own.
    Judged(Judge),
}

/// The judgements in `decode/feature/reader`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// NRCPUS: as many CPUs as a machine can have, and no more online.
    Cpus,
    /// CPU_TOPOLOGY: lists and sockets match the CPUs.
    Topology,
    /// GROUP_DESC: groups in their order.
    Groups,
    /// COMPRESSED: complete pages.
    Buffer,
    /// CLOCK_DATA: version 1.
    Clock,
    /// BPF_PROG_INFO: sizes that the kernel has.
    Programs,
    /// CPU_DOMAIN_INFO: each CPU and domain once.
    Domains,
}

/// A feature.
const fn of(
    number: u32,
    name: &'static str,
    content: &'static [Part],
    shape: Shape,
    traits: &'static [Trait],
) -> Feature {
    Feature { number, name, content, shape, traits }
}

/// Any number of entries.
const ANY: u64 = u64::MAX;
/// Most nodes, PMUs, and PMUs with capabilities.
const MOST_NODES: u64 = 4096;
/// Most capabilities of a PMU.
const MOST_CAPS: u64 = 512;
/// Most caches.
const MOST_CACHES: u64 = 1 << 15;
/// Most BTF objects.
const MOST_BTFS: u64 = 1 << 17;

/// All features, by number.
pub static FEATURES: [Feature; 41] = [
    of(TRACING_DATA, "TRACING_DATA", &[Read(Tracing, "", "")], Shape::Whole, &[Crashes, Sized]),
    of(BUILD_ID, "BUILD_ID", &[Read(BuildIds, "", "")], Shape::Whole, &[CrashesAtBuildId, Sized]),
    of(HOSTNAME, "HOSTNAME", &[Text("string", HostName)], Shape::Text, &[Shared, Identity]),
    of(4, "OSRELEASE", &[Text("string", Description)], Shape::Version, &[Shared, Identity]),
    of(VERSION, "VERSION", &[Text("string", Version)], Shape::Version, &[]),
    of(ARCH, "ARCH", &[Text("string", Machine)], Shape::Machine, &[Shared, Identity]),
    of(NRCPUS, "NRCPUS", CPUS, Shape::Cpus, &[Shared, Judged(Judge::Cpus)]),
    of(CPUDESC, "CPUDESC", &[Text("string", Description)], Shape::Text, &[Shared]),
    of(9, "CPUID", &[Text("string", Description)], Shape::CpuId, &[Shared, Identity]),
    of(TOTAL_MEM, "TOTAL_MEM", KIB, Shape::Memory, &[Shared]),
    of(CMDLINE, "CMDLINE", COMMAND, Shape::Entries, &[Crashes, Allocated, NeverEmpty]),
    of(EVENT_DESC, "EVENT_DESC", EVENTS, Shape::Entries, &[CrashesAtEvents, NeverEmpty]),
    of(CPU_TOPOLOGY, "CPU_TOPOLOGY", TOPOLOGY, Shape::Entries, OF_TOPOLOGY),
    of(14, "NUMA_TOPOLOGY", NODES, Shape::Entries, &[Shared]),
    of(15, "BRANCH_STACK", &[], Shape::Whole, &[]),
    of(16, "PMU_MAPPINGS", PMUS, Shape::Entries, &[Crashes, Shared]),
    of(17, "GROUP_DESC", GROUPS, Shape::Whole, &[Judged(Judge::Groups)]),
    of(AUXTRACE, "AUXTRACE", INDEX, Shape::Whole, &[Sized, InFiles]),
    of(STAT, "STAT", &[], Shape::Whole, &[]),
    of(20, "CACHE", CACHES, Shape::Entries, &[Shared]),
    of(SAMPLE_TIME, "SAMPLE_TIME", TIMES, Shape::Times, &[]),
    of(22, "MEM_TOPOLOGY", MEMORY, Shape::Whole, &[CrashesAtBitmap, Shared]),
    of(23, "CLOCKID", RESOLUTION, Shape::Within(&[(U64, 0, 1_000_000_000)]), &[]),
    // A directory has it, and its `data` file only.
    of(DIR_FORMAT, "DIR_FORMAT", DIRECTORY, Shape::Within(&[(U64, 1, 1)]), &[InFiles]),
    of(25, "BPF_PROG_INFO", PROGRAMS, Shape::Whole, &[EmptyIsNothing, Judged(Judge::Programs)]),
    of(26, "BPF_BTF", BTFS, Shape::Whole, &[EmptyIsNothing]),
    of(COMPRESSED, "COMPRESSED", COMPRESSION, ZSTD_OR_NONE, &[Judged(Judge::Buffer)]),
    of(28, "CPU_PMU_CAPS", CAPS, Shape::Whole, &[Shared, EmptyIsLeftOut]),
    // It begins with its version.
    of(29, "CLOCK_DATA", CLOCK, Shape::Within(&[(U32, 1, 1)]), &[Judged(Judge::Clock)]),
    of(30, "HYBRID_TOPOLOGY", HYBRID, Shape::Entries, &[Shared]),
    of(PMU_CAPS, "PMU_CAPS", ALL_CAPS, Shape::Whole, &[Shared, EmptyIsNothing]),
    // The next three appear in Linux 6.19 and later.
    of(32, "CPU_DOMAIN_INFO", DOMAINS, Shape::Unknown, &[NeedsCpus, Judged(Judge::Domains)]),
    of(33, "E_MACHINE", E_MACHINE, Shape::Within(&[(U32, 1, 0xffff)]), &[]),
    of(34, "CLN_SIZE", CLN_SIZE, Shape::Line, &[]),
    // simpleperf writes the others.
    of(SIMPLEPERF_FIRST, "FILE", FILES, Shape::Unknown, &[]),
    of(129, "META_INFO", &[Read(MetaInfo, "meta_info.key", "")], Shape::Unknown, &[]),
    of(130, "DEBUG_UNWIND", &[Read(Unwinding, "", MESSAGE)], Shape::Unknown, &[]),
    of(131, "DEBUG_UNWIND_FILE", &[Rest("unwind_file.data", &[])], Shape::Unknown, &[]),
    of(132, "FILE2", &[Read(FileMessages, "", MESSAGE)], Shape::Unknown, &[]),
    of(133, "ETM_BRANCH_LIST", REST, Shape::Unknown, &[]),
    of(134, "INIT_MAP", &[Read(InitMaps, "", "")], Shape::Unknown, &[]),
];

const OF_TOPOLOGY: &[Trait] =
    &[Shared, Crashes, Compared, NeverEmpty, NeedsCpus, Judged(Judge::Topology)];
/// Version 0, and no compression or zstd.
const ZSTD_OR_NONE: Shape = Shape::Within(&[(U32, 0, 0), (U32, 0, 1)]);

const REST: &[Part] = &[Rest("feature", &[])];
const CPUS: &[Part] = &[Fields(&[("nr_cpus_available", U32), ("nr_cpus_online", U32)])];
const KIB: &[Part] = &[Fields(&[("total_mem", U64)])];
const COMMAND: &[Part] = &[List(("cmdline.nr", U32), ANY, &[Text("cmdline.string", Argument)])];
const EVENTS: &[Part] = &[Read(Events, "event.name", "event.ids")];
const TOPOLOGY: &[Part] = &[Read(Topology, "core thread die", "die_id")];
const NODES: &[Part] = &[List(
    ("nodes.nr", U32),
    MOST_NODES,
    &[
        Fields(&[("node", U32), ("node.mem_total", U64), ("node.mem_free", U64)]),
        CpuList("node.cpus"),
    ],
)];
const PMUS: &[Part] =
    &[List(("pmus.nr", U32), MOST_NODES, &[Fields(&[("pmu.type", U32)]), Text("pmu.name", Name)])];
const GROUPS: &[Part] = &[List(
    ("groups.nr", U32),
    ANY,
    &[Text("group.name", Name), Fields(&[("group.leader_idx", U32), ("group.nr_members", U32)])],
)];
const INDEX: &[Part] = &[Read(AuxtraceIndex, "", "auxtrace.entries")];
const CACHES: &[Part] =
    &[One(("cache.version", U32)), List(("caches.nr", U32), MOST_CACHES, CACHE)];
const CACHE: &[Part] = &[
    Fields(&[
        ("cache.level", U32),
        ("cache.line_size", U32),
        ("cache.sets", U32),
        ("cache.ways", U32),
    ]),
    Text("cache.type", Name),
    Text("cache.size", Name),
    Text("cache.map", Name),
];
const TIMES: &[Part] = &[Fields(&[("first_sample_time", U64), ("last_sample_time", U64)])];
const MEMORY: &[Part] = &[
    One(("mem_topology.version", U64)),
    Fields(&[("mem_topology.block_size", U64)]),
    List(
        ("memory.nr", U64),
        MOST_NODES,
        &[
            Fields(&[("memory_node", U64), ("memory_node.size", U64)]),
            Bitmap("bitmap.size", "bitmap.entries"),
        ],
    ),
];
const RESOLUTION: &[Part] = &[Fields(&[("clockid_res_ns", U64)])];
const DIRECTORY: &[Part] = &[Fields(&[("dir_version", U64)])];
const PROGRAMS: &[Part] = &[Read(Programs, "", "")];
const BTFS: &[Part] = &[List(
    ("btfs.nr", U32),
    MOST_BTFS,
    &[Fields(&[("btf.id", U32)]), Blob("btf.data_size", "btf.data")],
)];
const COMPRESSION: &[Part] = &[Fields(&[
    ("compressed.version", U32),
    ("compressed.type", U32),
    ("compressed.level", U32),
    ("compressed.ratio", U32),
    ("compressed.mmap_len", U32),
])];
const PAIR: &[Part] = &[Text("name", Name), Text("value", Name)];
const CAPS: &[Part] = &[List(("nr_cpu_pmu_caps", U32), MOST_CAPS, PAIR)];
const HYBRID: &[Part] = &[List(("hybrid.nr", U32), MOST_NODES, PAIR)];
const CLOCK: &[Part] = &[Fields(&[
    ("clock_data.version", U32),
    ("clock_data.clockid", U32),
    ("clock_data.wall_clock_ns", U64),
    ("clock_data.clockid_ns", U64),
])];
const ALL_CAPS: &[Part] = &[List(
    ("nr_pmu", U32),
    MOST_NODES,
    &[List(("pmu.nr_caps", U32), MOST_CAPS, PAIR), Text("pmu.name", Name)],
)];
const DOMAINS: &[Part] = &[Read(Domains, "domain.name domain.cpumask domain.cpulist", "")];
const E_MACHINE: &[Part] = &[Fields(&[("e_machine", U32), ("e_flags", Hex32)])];
const CLN_SIZE: &[Part] = &[Fields(&[("cln_size", U32)])];
const FILES: &[Part] = &[Read(
    Files,
    "",
    "file.min_vaddr file.dex_file_offsets file.offset_of_min_vaddr symbol.start_vaddr",
)];
const MESSAGE: &str = "message.key message.length message.number message.numbers";

impl Feature {
    /// Whether it has a trait.
    pub fn is(&self, one: Trait) -> bool {
        self.traits.contains(&one)
    }

    /// Whether its content is one text.
    pub const fn is_text(&self) -> bool {
        matches!(self.content, [Text(..)])
    }

    /// Whether only simpleperf writes it.
    pub const fn is_simpleperf(&self) -> bool {
        self.number >= SIMPLEPERF_FIRST
    }
}

/// Returns the feature with this number; `None` if it is unknown.
pub fn feature(number: u32) -> Option<&'static Feature> {
    FEATURES.iter().find(|one| one.number == number)
}

/// Returns the feature with this name; `None` if it is unknown.
pub fn named(name: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|one| one.name == name)
}

/// Returns the name of a feature as in `tools/perf/util/header.h`, without `HEADER_`; `None` if the
/// number is unknown.
pub fn name(number: u32) -> Option<&'static str> {
    feature(number).map(|one| one.name)
}

/// Returns the highest number of a feature of perf.
pub fn last() -> u32 {
    FEATURES.iter().rfind(|one| !one.is_simpleperf()).map_or(0, |last| last.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_ascend_and_have_their_own_names() {
        assert!(FEATURES.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert!(
            FEATURES.iter().all(|one| named(one.name).map(|one| one.number) == Some(one.number))
        );
        assert_eq!([name(COMPRESSED), name(PMU_CAPS)], [Some("COMPRESSED"), Some("PMU_CAPS")]);
        assert_eq!([name(0), name(last() + 1)], [None; 2]);
    }
}

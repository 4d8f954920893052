//! The sections of the features, each by its structure.
//!
//! ```text
//!  string  := len u32, len bytes that hold a NUL (perf pads to a multiple of 64)
//!  strings := nr u32, string*
//! ```
//!
//! Sources: the `write_*` and `process_*` functions of `tools/perf/util/header.c`, and for
//! TRACING_DATA `tracing_data_get` of `util/trace-event-info.c`. The user's document differs from
//! the files in three places, and the files win: BPF_PROG_INFO and BPF_BTF begin with a u32 count,
//! and a bitmap of MEM_TOPOLOGY has one u64 per 64 bits or part of them (`do_write_bitmap`).

use std::fmt;

use crate::formats::perf::layout::RECORD_HEADER;
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::span::Span;
use crate::kit::text::Untrusted;

/// Names by bit, from bit 1. The last three are of Linux 6.19 and later and were seen in no file.
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

/// First bytes of TRACING_DATA.
const TRACING_MAGIC: &[u8] = b"\x17\x08\x44tracing";
/// Bytes of a string at least: its length and a NUL.
const STRING_MIN: u64 = 5;

/// What a feature says that matters beyond its own section. Every other feature gives nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// NRCPUS: CPUs that could be online, which CPU_TOPOLOGY counts on.
    pub nr_cpus: Option<u32>,
    /// SAMPLE_TIME: time of the first and of the last sample, in nanoseconds.
    pub sample_time: Option<(u64, u64)>,
    /// COMPRESSED.
    pub compressed: Option<Compressed>,
    /// DIR_FORMAT: version of the directory's layout.
    pub dir_format: Option<u64>,
    /// BUILD_ID: number of entries.
    pub build_ids: Option<u64>,
    /// EVENT_DESC: number of events.
    pub events: Option<u32>,
}

/// The parameters of compressed records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// 0 so far.
    pub version: u32,
    /// 1 for zstd.
    pub kind: u32,
    /// As `perf record -z` was told.
    pub level: u32,
    /// Expanded bytes for each stored one, rounded.
    pub ratio: u32,
    /// Room that a reader has for what one record expands to, in bytes.
    pub mmap_len: u32,
}

/// A section that does not follow its feature's structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeatureError {
    /// The section ends inside a field.
    Short(ReadError),
    /// More entries than can be in what is left of the section.
    CountTooLarge {
        /// The count.
        label: &'static str,
        /// What it says.
        value: u64,
        /// Bytes left for the entries.
        left: u64,
        /// Where the count stands.
        span: Span,
    },
    /// A string without an end: C readers run past it.
    StringWithoutNul {
        /// The string.
        label: &'static str,
        /// Its length in bytes.
        len: u64,
        /// Where it stands, its length included.
        span: Span,
    },
    /// The size of an entry is below that of its own header.
    EntryTooSmall {
        /// The size.
        label: &'static str,
        /// What it says.
        size: u64,
        /// Bytes of the header.
        min: u64,
        /// Where the entry stands.
        span: Span,
    },
    /// Other bytes than those which mark the place.
    BadMagic {
        /// What should stand there.
        expected: &'static [u8],
        /// What does.
        found: Vec<u8>,
        /// Where.
        span: Span,
    },
}

impl fmt::Display for FeatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(error) => error.fmt(f),
            Self::CountTooLarge { label, value, left, span } => {
                write!(f, "{label} at {:#x} is {value}, {left} bytes are left for them", span.start)
            }
            Self::StringWithoutNul { label, len, span } => {
                write!(f, "{label} at {:#x} has {len} bytes and no NUL", span.start)
            }
            Self::EntryTooSmall { label, size, min, span } => {
                write!(f, "{label} at {:#x} is {size}, its header alone has {min}", span.start)
            }
            Self::BadMagic { expected, found, span } => {
                let (expected, found) = (Untrusted(expected), Untrusted(found));
                write!(f, "`{found}` stands at {:#x} in place of `{expected}`", span.start)
            }
        }
    }
}

impl std::error::Error for FeatureError {}

impl From<ReadError> for FeatureError {
    fn from(error: ReadError) -> Self {
        Self::Short(error)
    }
}

/// Name of a feature as in `tools/perf/util/header.h`, without `HEADER_`.
pub fn name(bit: u32) -> Option<&'static str> {
    let index = usize::try_from(bit.checked_sub(1)?).ok()?;
    NAMES.get(index).copied()
}

/// Walks the section of feature `bit`, which is all that `cursor` has left. What remains in the
/// cursor afterwards belongs to no field.
///
/// `cpus` is what NRCPUS said: without it CPU_TOPOLOGY is walked up to its lists alone. Of
/// TRACING_DATA only the beginning is looked at, so that a part of it will do. Features without a
/// name, and those after PMU_CAPS, are passed over whole.
///
/// # Errors
///
/// The first thing that does not fit.
pub fn body(
    bit: u32,
    cursor: &mut Cursor<'_>,
    cpus: Option<u32>,
) -> Result<Contents, FeatureError> {
    let mut contents = Contents::default();
    match name(bit).unwrap_or_default() {
        "TRACING_DATA" => tracing_data(cursor)?,
        "BUILD_ID" => contents.build_ids = Some(build_ids(cursor)?),
        "HOSTNAME" | "OSRELEASE" | "VERSION" | "ARCH" | "CPUDESC" | "CPUID" => {
            string(cursor, "string")?;
        }
        "NRCPUS" => {
            contents.nr_cpus = Some(cursor.u32("nr_cpus_available")?);
            cursor.u32("nr_cpus_online")?;
        }
        "TOTAL_MEM" => cursor.skip(1, 8, "total_mem")?,
        "CMDLINE" => strings(cursor, "cmdline.nr", "cmdline.string")?,
        "EVENT_DESC" => contents.events = Some(event_desc(cursor)?),
        "CPU_TOPOLOGY" => cpu_topology(cursor, cpus)?,
        "NUMA_TOPOLOGY" => repeated(cursor, "nodes.nr", 20 + STRING_MIN, |cursor| {
            cursor.skip(1, 20, "node")?;
            string(cursor, "node.cpus")
        })?,
        "BRANCH_STACK" | "STAT" => {}
        "PMU_MAPPINGS" => repeated(cursor, "pmus.nr", 4 + STRING_MIN, |cursor| {
            cursor.u32("pmu.type")?;
            string(cursor, "pmu.name")
        })?,
        "GROUP_DESC" => repeated(cursor, "groups.nr", 8 + STRING_MIN, |cursor| {
            string(cursor, "group.name")?;
            cursor.u32("group.leader_idx")?;
            Ok(cursor.u32("group.nr_members").map(drop)?)
        })?,
        "AUXTRACE" => auxtrace(cursor)?,
        "CACHE" => {
            cursor.u32("cache.version")?;
            repeated(cursor, "caches.nr", 16 + 3 * STRING_MIN, |cursor| {
                cursor.skip(4, 4, "cache")?;
                ["cache.type", "cache.size", "cache.map"]
                    .into_iter()
                    .try_for_each(|label| string(cursor, label))
            })?;
        }
        "SAMPLE_TIME" => {
            let first = cursor.u64("first_sample_time")?;
            contents.sample_time = Some((first, cursor.u64("last_sample_time")?));
        }
        "MEM_TOPOLOGY" => mem_topology(cursor)?,
        "CLOCKID" => cursor.skip(1, 8, "clockid_res_ns")?,
        "DIR_FORMAT" => contents.dir_format = Some(cursor.u64("dir_version")?),
        "BPF_PROG_INFO" => repeated(cursor, "programs.nr", 16, |cursor| {
            let info_len = cursor.u32("program.info_len")?;
            let data_len = cursor.u32("program.data_len")?;
            cursor.skip(1, 8, "program.arrays")?;
            cursor.skip(1, info_len.into(), "program.info")?;
            Ok(cursor.skip(1, data_len.into(), "program.data")?)
        })?,
        "BPF_BTF" => repeated(cursor, "btfs.nr", 8, |cursor| {
            cursor.u32("btf.id")?;
            let data_size = cursor.u32("btf.data_size")?;
            Ok(cursor.skip(1, data_size.into(), "btf.data")?)
        })?,
        "COMPRESSED" => contents.compressed = Some(compressed(cursor)?),
        "CPU_PMU_CAPS" => pairs(cursor, "nr_cpu_pmu_caps")?,
        "CLOCK_DATA" => cursor.skip(1, 24, "clock_data")?,
        "HYBRID_TOPOLOGY" => pairs(cursor, "hybrid.nr")?,
        "PMU_CAPS" => repeated(cursor, "nr_pmu", 4 + STRING_MIN, |cursor| {
            pairs(cursor, "pmu.nr_caps")?;
            string(cursor, "pmu.name")
        })?,
        _ => cursor.skip(1, cursor.left(), "feature")?,
    }
    Ok(contents)
}

/// A count of entries that have `min` bytes at least, bounded by what is left for them.
fn count(
    value: u64,
    min: u64,
    left: u64,
    label: &'static str,
    span: Span,
) -> Result<u64, FeatureError> {
    if value.checked_mul(min).is_some_and(|bytes| bytes <= left) {
        return Ok(value);
    }
    Err(FeatureError::CountTooLarge { label, value, left, span })
}

/// A u32 count and as many entries of `min` bytes at least.
pub(super) fn repeated<'a>(
    cursor: &mut Cursor<'a>,
    label: &'static str,
    min: u64,
    mut entry: impl FnMut(&mut Cursor<'a>) -> Result<(), FeatureError>,
) -> Result<(), FeatureError> {
    let start = cursor.position();
    let value = cursor.u32(label)?.into();
    let nr = count(value, min, cursor.left(), label, cursor.since(start))?;
    (0..nr).try_for_each(|_| entry(cursor))
}

fn string(cursor: &mut Cursor<'_>, label: &'static str) -> Result<(), FeatureError> {
    let start = cursor.position();
    let len = u64::from(cursor.u32(label)?);
    let bytes = cursor.bytes(len, label)?;
    if bytes.contains(&0) {
        return Ok(());
    }
    Err(FeatureError::StringWithoutNul { label, len, span: cursor.since(start) })
}

fn strings(
    cursor: &mut Cursor<'_>,
    nr: &'static str,
    label: &'static str,
) -> Result<(), FeatureError> {
    repeated(cursor, nr, STRING_MIN, |cursor| string(cursor, label))
}

/// A count and pairs of strings.
fn pairs(cursor: &mut Cursor<'_>, nr: &'static str) -> Result<(), FeatureError> {
    repeated(cursor, nr, 2 * STRING_MIN, |cursor| {
        string(cursor, "name")?;
        string(cursor, "value")
    })
}

/// The first bytes as far as the formats of a ring buffer's page and entry; the formats of the
/// events, symbols and command lines behind them are passed over.
///
/// ```text
///  17 08 44 "tracing", version, NUL, big-endian u8, size of long u8, page size u32,
///  "header_page", NUL, u64 size, text, "header_event", NUL, u64 size, text, ...
/// ```
fn tracing_data(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    tracing_head(cursor)?;
    Ok(cursor.skip(1, cursor.left(), "tracing")?)
}

/// Reads the first bytes of TRACING_DATA; gives what follows them, in its own byte order.
pub(super) fn tracing_head<'a>(
    cursor: &mut Cursor<'a>,
) -> Result<(Order, Cursor<'a>), FeatureError> {
    marked(cursor, TRACING_MAGIC)?;
    let version = cursor.until_nul().len();
    cursor.bytes(u64::try_from(version).unwrap_or(u64::MAX), "tracing.version")?;
    cursor.u8("tracing.version")?;
    let order = if cursor.u8("tracing.bigendian")? == 0 { Order::Little } else { Order::Big };
    cursor.u8("tracing.long_size")?;
    // The numbers that follow are in the order that the byte above tells.
    let place = cursor.ahead();
    let mut rest = Cursor::new(cursor.rest(), place.layer, place.start, order);
    rest.u32("tracing.page_size")?;
    for label in [b"header_page\0".as_slice(), b"header_event\0"] {
        marked(&mut rest, label)?;
        let size = rest.u64("tracing.size")?;
        rest.skip(1, size, "tracing.format")?;
    }
    Ok((order, rest))
}

/// Moves past bytes that must be `expected`.
fn marked(cursor: &mut Cursor<'_>, expected: &'static [u8]) -> Result<(), FeatureError> {
    let start = cursor.position();
    let len = u64::try_from(expected.len()).unwrap_or(u64::MAX);
    let found = cursor.bytes(len, "tracing.magic")?;
    if found == expected {
        return Ok(());
    }
    Err(FeatureError::BadMagic { expected, found: found.to_vec(), span: cursor.since(start) })
}

/// A sequence of `build_id_event`s to the end of the section, each framed by its own size. Names
/// may end at any byte; the type in the header is 0.
fn build_ids(cursor: &mut Cursor<'_>) -> Result<u64, FeatureError> {
    let mut found = 0_u64;
    while !cursor.is_empty() {
        let start = cursor.position();
        cursor.u32("build_id.header.type")?;
        cursor.u16("build_id.header.misc")?;
        let size = u64::from(cursor.u16("build_id.header.size")?);
        let Some(len) = size.checked_sub(RECORD_HEADER) else {
            let (label, min, span) = ("build_id.header.size", RECORD_HEADER, cursor.since(start));
            return Err(FeatureError::EntryTooSmall { label, size, min, span });
        };
        let mut body = cursor.window(len, "build_id")?;
        body.skip(1, 4, "build_id.pid")?;
        body.skip(1, 24, "build_id.build_id")?;
        if !body.rest().contains(&0) {
            let (label, len, span) = ("build_id.filename", body.left(), body.ahead());
            return Err(FeatureError::StringWithoutNul { label, len, span });
        }
        found = found.saturating_add(1);
    }
    Ok(found)
}

fn event_desc(cursor: &mut Cursor<'_>) -> Result<u32, FeatureError> {
    let start = cursor.position();
    let nr = cursor.u32("event_desc.nr")?;
    let span = cursor.since(start);
    let attr_size = u64::from(cursor.u32("event_desc.attr_size")?);
    let min = attr_size.saturating_add(4 + STRING_MIN);
    for _ in 0..count(nr.into(), min, cursor.left(), "event_desc.nr", span)? {
        cursor.skip(1, attr_size, "event.attr")?;
        let start = cursor.position();
        let ids = cursor.u32("event.nr_ids")?.into();
        let ids = count(ids, 8, cursor.left(), "event.nr_ids", cursor.since(start))?;
        string(cursor, "event.name")?;
        cursor.skip(ids, 8, "event.ids")?;
    }
    Ok(nr)
}

/// Lists of cores and of threads; in the second revision core and socket of each CPU; in the third
/// a list of dies and the die of each CPU.
fn cpu_topology(cursor: &mut Cursor<'_>, cpus: Option<u32>) -> Result<(), FeatureError> {
    strings(cursor, "cores.nr", "core")?;
    strings(cursor, "threads.nr", "thread")?;
    if cursor.is_empty() {
        return Ok(());
    }
    let Some(cpus) = cpus else {
        return Ok(cursor.skip(1, cursor.left(), "cpus")?);
    };
    cursor.skip(cpus.into(), 8, "cpus")?;
    if cursor.is_empty() {
        return Ok(());
    }
    strings(cursor, "dies.nr", "die")?;
    Ok(cursor.skip(cpus.into(), 4, "die_id")?)
}

/// `auxtrace_index__write` of `util/auxtrace.c`: a u64 count, then u64 offset and size of each.
fn auxtrace(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    let start = cursor.position();
    let total = cursor.u64("auxtrace.nr")?;
    let total = count(total, 16, cursor.left(), "auxtrace.nr", cursor.since(start))?;
    Ok(cursor.skip(total, 16, "auxtrace.entries")?)
}

/// Version, block size, and for each node its id and the bitmap of its memory blocks.
fn mem_topology(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    cursor.skip(2, 8, "mem_topology")?;
    let start = cursor.position();
    let nodes = cursor.u64("memory.nr")?;
    for _ in 0..count(nodes, 24, cursor.left(), "memory.nr", cursor.since(start))? {
        cursor.skip(2, 8, "memory_node")?;
        let start = cursor.position();
        let bits = cursor.u64("bitmap.size")?;
        let words = bits.div_ceil(64);
        let words = count(words, 8, cursor.left(), "bitmap.size", cursor.since(start))?;
        cursor.skip(words, 8, "bitmap.entries")?;
    }
    Ok(())
}

fn compressed(cursor: &mut Cursor<'_>) -> Result<Compressed, FeatureError> {
    Ok(Compressed {
        version: cursor.u32("compressed.version")?,
        kind: cursor.u32("compressed.type")?,
        level: cursor.u32("compressed.level")?,
        ratio: cursor.u32("compressed.ratio")?,
        mmap_len: cursor.u32("compressed.mmap_len")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;

    /// A little-endian section at offset 0x100.
    #[derive(Default)]
    struct Section(Vec<u8>);

    impl Section {
        fn u32(mut self, value: u32) -> Self {
            self.0.extend(value.to_le_bytes());
            self
        }

        fn u64(mut self, value: u64) -> Self {
            self.0.extend(value.to_le_bytes());
            self
        }

        fn raw(mut self, bytes: &[u8]) -> Self {
            self.0.extend(bytes);
            self
        }

        /// A string padded to 64 bytes.
        fn string(self, text: &[u8]) -> Self {
            let mut padded = text.to_vec();
            padded.resize((text.len() + 1).next_multiple_of(64), 0);
            self.u32(64).raw(&padded)
        }

        /// A `build_id_event` with a name of so many bytes, without a NUL.
        fn build_id(self, size: u16, name: &[u8]) -> Self {
            self.u32(0).raw(&[2, 0]).raw(&size.to_le_bytes()).raw(&[0xab; 28]).raw(name)
        }

        /// What the body says, and how many bytes it leaves.
        fn walk(&self, title: &str, cpus: Option<u32>) -> Result<(Contents, u64), String> {
            let bit = (1..=34).find(|bit| name(*bit) == Some(title)).unwrap();
            let mut cursor = Cursor::new(&self.0, Layer::stored(0), 0x100, Order::Little);
            let contents = body(bit, &mut cursor, cpus).map_err(|error| error.to_string())?;
            Ok((contents, cursor.left()))
        }

        fn left(&self, title: &str) -> Result<u64, String> {
            self.walk(title, None).map(|(_, left)| left)
        }

        fn error(&self, title: &str) -> String {
            self.walk(title, None).unwrap_err()
        }
    }

    fn section() -> Section {
        Section::default()
    }

    #[test]
    fn names_follow_the_bits_of_header_h() {
        let named = [(1, "TRACING_DATA"), (7, "NRCPUS"), (19, "STAT"), (31, "PMU_CAPS")];
        for (bit, title) in named {
            assert_eq!(name(bit), Some(title));
        }
        assert_eq!(name(34), Some("CLN_SIZE"));
        assert_eq!([name(0), name(35), name(u32::MAX)], [None; 3]);
    }

    #[test]
    fn a_string_holds_a_nul() {
        assert_eq!(section().string(b"host").left("HOSTNAME"), Ok(0));
        let open = section().u32(4).raw(b"host");
        assert_eq!(open.error("HOSTNAME"), "string at 0x100 has 4 bytes and no NUL");
        assert_eq!(section().u32(0).error("ARCH"), "string at 0x100 has 0 bytes and no NUL");
    }

    #[test]
    fn a_string_longer_than_its_section_is_short() {
        let cut = section().u32(64).raw(&[0; 10]);
        assert_eq!(cut.error("CPUID"), "string needs 64 bytes at 0x104, 10 are left");
    }

    #[test]
    fn a_count_is_bounded_by_what_is_left_for_its_entries() {
        let list = section().u32(2).string(b"perf").string(b"record");
        assert_eq!(list.left("CMDLINE"), Ok(0));
        let wild = section().u32(u32::MAX).string(b"perf");
        assert_eq!(
            wild.error("CMDLINE"),
            "cmdline.nr at 0x100 is 4294967295, 68 bytes are left for them"
        );
        let wild = section().u64(1 << 60).u64(0);
        assert!(wild.error("AUXTRACE").starts_with("auxtrace.nr at 0x100 is 1152921504606846976"));
    }

    #[test]
    fn what_follows_the_last_field_is_left_over() {
        assert_eq!(section().u32(4).u32(4).raw(&[0; 3]).left("NRCPUS"), Ok(3));
        assert_eq!(section().raw(&[0; 5]).left("STAT"), Ok(5));
    }

    #[test]
    fn numbers_that_matter_elsewhere_are_handed_on() {
        let of = |section: Section, title| section.walk(title, None).unwrap().0;
        assert_eq!(of(section().u32(8).u32(6), "NRCPUS").nr_cpus, Some(8));
        assert_eq!(of(section().u64(5).u64(9), "SAMPLE_TIME").sample_time, Some((5, 9)));
        assert_eq!(of(section().u64(1), "DIR_FORMAT").dir_format, Some(1));
        let zstd = section().u32(0).u32(1).u32(22).u32(7).u32(528_384);
        let compressed = of(zstd, "COMPRESSED").compressed.unwrap();
        assert_eq!((compressed.level, compressed.mmap_len), (22, 528_384));
    }

    #[test]
    fn an_event_has_an_attr_a_name_and_ids() {
        let desc = section().u32(1).u32(64).raw(&[0; 64]).u32(2).string(b"cycles").u64(1).u64(2);
        let (contents, left) = desc.walk("EVENT_DESC", None).unwrap();
        assert_eq!((contents.events, left), (Some(1), 0));
        let wild = section().u32(1).u32(0).u32(99).string(b"cycles");
        assert_eq!(
            wild.error("EVENT_DESC"),
            "event.nr_ids at 0x108 is 99, 68 bytes are left for them"
        );
    }

    #[test]
    fn a_topology_may_be_of_any_of_three_revisions() {
        let first = || section().u32(1).string(b"0-1").u32(1).string(b"0");
        let second = || first().u32(0).u32(0).u32(1).u32(0);
        let third = || second().u32(1).string(b"0-1").u32(0).u32(0);
        for topology in [first(), second(), third()] {
            assert_eq!(topology.walk("CPU_TOPOLOGY", Some(2)).map(|(_, left)| left), Ok(0));
        }
        assert_eq!(third().left("CPU_TOPOLOGY"), Ok(0));
        assert!(second().walk("CPU_TOPOLOGY", Some(3)).is_err());
    }

    #[test]
    fn a_bitmap_has_a_word_for_each_64_bits_begun() {
        for (bits, words) in [(0, 0), (64, 1), (65, 2)] {
            let node = section().u64(1).u64(0).u64(1).u64(0).u64(bits).u64(bits);
            assert_eq!(node.raw(&vec![0; words * 8]).left("MEM_TOPOLOGY"), Ok(0), "{bits}");
        }
        let wild = section().u64(1).u64(0).u64(1).u64(0).u64(0).u64(u64::MAX);
        assert!(wild.error("MEM_TOPOLOGY").starts_with("bitmap.size at 0x128"));
    }

    #[test]
    fn bpf_sections_begin_with_a_count() {
        let program = section().u32(1).u32(8).u32(3).u64(0).u64(6).raw(b"abc");
        assert_eq!(program.left("BPF_PROG_INFO"), Ok(0));
        assert_eq!(section().u32(1).u32(7).u32(2).raw(b"ab").left("BPF_BTF"), Ok(0));
        assert!(section().u32(1).u32(7).u32(3).raw(b"ab").left("BPF_BTF").is_err());
    }

    #[test]
    fn capabilities_nest_in_their_pmus() {
        let cpu = section().u32(1).string(b"branches").string(b"32");
        assert_eq!(cpu.left("CPU_PMU_CAPS"), Ok(0));
        let pmus = section().u32(1).u32(1).string(b"a").string(b"b").string(b"cpu_atom");
        assert_eq!(pmus.left("PMU_CAPS"), Ok(0));
        assert_eq!(section().u32(0).left("HYBRID_TOPOLOGY"), Ok(0));
    }

    #[test]
    fn lists_of_nodes_pmus_groups_and_caches_end_with_their_section() {
        assert_eq!(section().u32(1).u32(0).u64(9).u64(8).string(b"0").left("NUMA_TOPOLOGY"), Ok(0));
        assert_eq!(section().u32(1).u32(1).string(b"software").left("PMU_MAPPINGS"), Ok(0));
        assert_eq!(section().u32(1).string(b"{a,b}").u32(0).u32(2).left("GROUP_DESC"), Ok(0));
        let cache = section().u32(1).u32(1).u32(1).u32(64).u32(64).u32(12);
        let cache = cache.string(b"Data").string(b"48K").string(b"0");
        assert_eq!(cache.left("CACHE"), Ok(0));
        assert_eq!(section().u64(2).u64(1).u64(2).u64(3).u64(4).left("AUXTRACE"), Ok(0));
        assert_eq!(section().u32(1).u32(1).u64(3).u64(4).left("CLOCK_DATA"), Ok(0));
    }

    #[test]
    fn build_ids_are_framed_by_their_own_sizes() {
        let two = section().build_id(39, b"ab\0").build_id(37, b"\0");
        assert_eq!(two.walk("BUILD_ID", None).unwrap().0.build_ids, Some(2));
        let small = section().build_id(7, b"");
        assert_eq!(
            small.error("BUILD_ID"),
            "build_id.header.size at 0x100 is 7, its header alone has 8"
        );
        let open = section().build_id(38, b"ab");
        assert_eq!(open.error("BUILD_ID"), "build_id.filename at 0x124 has 2 bytes and no NUL");
        let cut = section().build_id(99, b"ab\0");
        assert_eq!(cut.error("BUILD_ID"), "build_id needs 91 bytes at 0x108, 31 are left");
    }

    #[test]
    fn tracing_data_is_walked_up_to_its_first_formats() {
        let start = |magic: &[u8]| section().raw(magic).raw(b"tracing0.6\0\0\x08").u32(4096);
        let formats = start(&[0x17, 0x08, 0x44]).raw(b"header_page\0").u64(2).raw(b"ab");
        let formats = formats.raw(b"header_event\0").u64(1).raw(b"c").raw(&[0xff; 9]);
        assert_eq!(formats.left("TRACING_DATA"), Ok(0));
        assert_eq!(
            start(&[0x17, 0x08, 0x45]).error("TRACING_DATA"),
            "`\\x17\\x08Etracing` stands at 0x100 in place of `\\x17\\x08Dtracing`"
        );
        let cut = start(&[0x17, 0x08, 0x44]).raw(b"header_page\0").u64(9);
        assert_eq!(cut.error("TRACING_DATA"), "tracing.format needs 9 bytes at 0x128, 0 are left");
    }

    #[test]
    fn features_without_a_known_structure_are_passed_over() {
        let mut cursor = Cursor::new(&[1, 2, 3], Layer::stored(0), 0, Order::Big);
        assert_eq!(body(200, &mut cursor, None), Ok(Contents::default()));
        assert!(cursor.is_empty());
    }
}

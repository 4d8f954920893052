use super::*;
use crate::kit::cursor::Order;
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

    /// Reads the section; returns its values and the number of unread bytes.
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
    assert_eq!(open.error("HOSTNAME"), "string at 0x100 is unterminated: no NUL in 4 bytes");
    assert_eq!(
        section().u32(0).error("ARCH"),
        "string at 0x100 is unterminated: no NUL in 0 bytes"
    );
}

#[test]
fn a_string_longer_than_its_section_is_short() {
    let cut = section().u32(64).raw(&[0; 10]);
    assert_eq!(cut.error("CPUID"), "truncated string: 10 of 64 bytes at 0x104");
}

#[test]
fn a_count_is_bounded_by_the_rest_of_the_section() {
    let list = section().u32(2).string(b"perf").string(b"record");
    assert_eq!(list.left("CMDLINE"), Ok(0));
    let wild = section().u32(u32::MAX).string(b"perf");
    assert_eq!(
        wild.error("CMDLINE"),
        "cmdline.nr is 4294967295, too many for the remaining 68 bytes at 0x104"
    );
    let wild = section().u64(1 << 60).u64(0);
    assert!(wild.error("AUXTRACE").starts_with("auxtrace.nr is 1152921504606846976"));
}

#[test]
fn bytes_after_the_last_field_remain() {
    assert_eq!(section().u32(4).u32(4).raw(&[0; 3]).left("NRCPUS"), Ok(3));
    assert_eq!(section().raw(&[0; 5]).left("STAT"), Ok(5));
}

#[test]
fn values_for_comparisons_are_returned() {
    let of = |section: Section, title| section.walk(title, None).unwrap().0;
    assert_eq!(of(section().u32(8).u32(6), "NRCPUS").nr_cpus, Some(8));
    assert_eq!(of(section().u64(5).u64(9), "SAMPLE_TIME").sample_time, Some((5, 9)));
    let zstd = section().u32(0).u32(1).u32(22).u32(7).u32(528_384);
    assert_eq!(of(zstd, "COMPRESSED").mmap_len, Some(528_384));
}

#[test]
fn an_event_has_an_attr_a_name_and_ids() {
    let desc = section().u32(1).u32(64).raw(&[0; 64]).u32(2).string(b"cycles").u64(1).u64(2);
    assert_eq!(desc.left("EVENT_DESC"), Ok(0));
    let wild = section().u32(1).u32(0).u32(99).string(b"cycles");
    assert_eq!(
        wild.error("EVENT_DESC"),
        "event.nr_ids is 99, too many for the remaining 68 bytes at 0x10c"
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
    assert!(wild.error("MEM_TOPOLOGY").ends_with("remaining 0 bytes at 0x130"));
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
fn cpus_of_a_node_are_numbers_and_ranges() {
    let node = |cpus: &[u8]| section().u32(1).u32(0).u64(9).u64(8).string(cpus);
    for cpus in [&b""[..], b"0", b"0-3,8-11", b"0,", b"7,x"] {
        assert_eq!(node(cpus).left("NUMA_TOPOLOGY"), Ok(0), "{}", cpus.escape_ascii());
    }
    // perf gives up at the byte, and reads no feature after this one.
    let faults =
        [(&b"x"[..], 0), (b"0-1 ", 3), (b"0-", 2), (b"3-1", 3), (b"0-65536", 7), (b"0,1;", 3)];
    for (cpus, at) in faults {
        let error = format!("node.cpus at 0x11c is malformed at {:#x}", 0x11c + at);
        assert_eq!(node(cpus).error("NUMA_TOPOLOGY"), error);
    }
}

#[test]
fn build_ids_are_framed_by_their_own_sizes() {
    let two = section().build_id(39, b"ab\0").build_id(37, b"\0");
    assert_eq!(two.left("BUILD_ID"), Ok(0));
    let small = section().build_id(7, b"");
    assert_eq!(small.error("BUILD_ID"), "build_id.header.size at 0x100 is 7, expected at least 8");
    let open = section().build_id(38, b"ab");
    assert_eq!(
        open.error("BUILD_ID"),
        "build_id.filename at 0x124 is unterminated: no NUL in 2 bytes"
    );
    // Bytes 28 to 32 are the size, if misc has the bit, and padding.
    let with_size = |misc: u8, size: u8| {
        let mut one = section().build_id(39, b"ab\0");
        (one.0[5], one.0[32]) = (misc, size);
        one
    };
    assert_eq!(with_size(0x80, 20).left("BUILD_ID"), Ok(0));
    assert_eq!(with_size(0, 21).left("BUILD_ID"), Ok(0));
    assert_eq!(
        with_size(0x80, 21).error("BUILD_ID"),
        "build_id.size at 0x120 is 21, expected 0 to 20"
    );
    let cut = section().build_id(99, b"ab\0");
    assert_eq!(cut.error("BUILD_ID"), "truncated build_id: 31 of 91 bytes at 0x108");
}

#[test]
fn tracing_data_is_walked_to_its_end() {
    let start = |magic: &[u8]| section().raw(magic).raw(b"tracing0.6\0\0\x08").u32(4096);
    let formats = start(&[0x17, 0x08, 0x44]).raw(b"header_page\0").u64(2).raw(b"ab");
    let formats = formats.raw(b"header_event\0").u64(1).raw(b"c").u32(0).u32(0);
    // Symbols, printk formats, command lines, and a byte that belongs to none of them.
    let whole = formats.u32(1).raw(b"k").u32(0).u64(1).raw(b"l");
    assert_eq!(whole.left("TRACING_DATA"), Ok(0));
    assert_eq!(whole.raw(b"!").left("TRACING_DATA"), Ok(1));
    assert_eq!(
        start(&[0x17, 0x08, 0x45]).error("TRACING_DATA"),
        "found `\\x17\\x08Etracing` at 0x100, expected `\\x17\\x08Dtracing`"
    );
    let cut = start(&[0x17, 0x08, 0x44]).raw(b"header_page\0").u64(9);
    assert_eq!(cut.error("TRACING_DATA"), "truncated tracing.format: 0 of 9 bytes at 0x128");
}

#[test]
fn perf_ends_or_hangs_at_some_bytes_before_the_formats() {
    let start = |long: u8, page: u32, text: &[u8]| {
        let head = section().raw(&[0x17, 0x08, 0x44]).raw(b"tracing0.5\0\0").raw(&[long]);
        let head = head.u32(page).raw(b"header_page\0").u64(2).raw(text);
        head.raw(b"header_event\0").u64(1).raw(b"'").u32(0).u32(0).u32(0).u32(0)
    };
    assert_eq!(start(8, 4096, b"ab").left("TRACING_DATA"), Ok(0));
    assert_eq!(
        start(24, 4096, b"ab").error("TRACING_DATA"),
        "tracing.long_size at 0x10f is 24, expected 4 to 8"
    );
    assert_eq!(
        start(8, 0, b"ab").error("TRACING_DATA"),
        "tracing.page_size at 0x110 is 0, expected 1 to 4294967295"
    );
    assert_eq!(
        start(8, 4096, b"a\"").error("TRACING_DATA"),
        "tracing.format at 0x128 is malformed at 0x129"
    );
}

#[test]
fn features_without_a_known_structure_are_skipped() {
    let mut cursor = Cursor::new(&[1, 2, 3], Layer::stored(0), 0, Order::Big);
    assert_eq!(body(200, &mut cursor, None), Ok(Contents::default()));
    assert!(cursor.is_empty());
}

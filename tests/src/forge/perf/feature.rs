//! Feature sections, one per feature bit, as perf writes them after the records.
//!
//! Source: the `write_*` functions of `tools/perf/util/header.c`.

use super::attr::Attr;
use super::bytes::{Bytes, Order};
use super::record::{MISC_BUILD_ID_SIZE, MISC_USER, build_id_body};

/// Feature bits.
pub mod number {
    /// Formats of tracepoints.
    pub const TRACING_DATA: u32 = 1;
    /// Build ids of the files that samples hit.
    pub const BUILD_ID: u32 = 2;
    /// Name of the machine.
    pub const HOSTNAME: u32 = 3;
    /// A copy of each attr.
    pub const EVENT_DESC: u32 = 12;
    /// `{...}` groups of events.
    pub const GROUP_DESC: u32 = 17;
    /// Types and names of the PMUs.
    pub const PMU_MAPPINGS: u32 = 16;
    /// Index of AUXTRACE records.
    pub const AUXTRACE: u32 = 18;
    /// The recording is of `perf stat record`.
    pub const STAT: u32 = 19;
    /// Times of the first and the last sample.
    pub const SAMPLE_TIME: u32 = 21;
    /// The recording is a directory.
    pub const DIR_FORMAT: u32 = 24;
    /// The recording has compressed records.
    pub const COMPRESSED: u32 = 27;
    /// The highest bit that perf 6.1 knows.
    pub const LAST: u32 = 31;
}

/// Bytes of ring buffer that perf reports in COMPRESSED by default (129 pages of 4 KiB).
pub const MMAP_LEN: u32 = 528_384;

/// Builds a section that does not depend on the places of records.
///
/// # Panics
///
/// For AUXTRACE and SAMPLE_TIME, which [`super::recording::Recording::build`] makes itself, and for
/// bits beyond 31.
pub fn section(number: u32, order: Order, attrs: &[Attr]) -> Vec<u8> {
    let mut out = Bytes::new(order);
    match number {
        1 => out.raw(&tracing_data(order)),
        2 => build_ids(&mut out),
        3 => out.string("forge"),
        4 => out.string("6.1.0-forge"),
        5 => out.string("6.1.192"),
        6 => out.string("x86_64"),
        7 => out.u32(2).u32(2),
        8 => out.string("Forged CPU"),
        9 => out.string("AuthenticAMD,26,2,1"),
        10 => out.u64(24_684_092),
        11 => strings(&mut out, &["/usr/bin/perf", "record", "--", "true"]),
        12 => event_desc(&mut out, attrs),
        13 => cpu_topology(&mut out),
        14 => out.u32(1).u32(0).u64(14_248_148).u64(12_725_752).string("0-1"),
        15 | 19 => &mut out,
        16 => out.u32(2).u32(1).string("software").u32(2).string("tracepoint"),
        17 => out.u32(1).string("{anon_group}").u32(0).u32(attrs.len() as u32),
        20 => cache(&mut out),
        22 => out.u64s(&[1, 0x800_0000, 1]).u64s(&[0, 64, 64, 0xff]),
        23 => out.u64(1),
        24 => out.u64(1),
        25 => bpf_prog_info(&mut out),
        26 => out.u32(1).u32(5).u32(4).raw(&[0x9f, 0xeb, 1, 0]),
        27 => out.u32(0).u32(1).u32(1).u32(3).u32(MMAP_LEN),
        28 => out.u32(1).string("branches").string("16"),
        29 => out.u32(1).u32(1).u64(1_700_000_000_000_000_000).u64(1_000_000_000),
        30 => out.u32(2).string("cpu_core").string("0").string("cpu_atom").string("1"),
        31 => out.u32(1).u32(1).string("max_precise").string("3").string("cpu"),
        _ => panic!("no section for feature {number}"),
    };
    out.done()
}

/// Builds COMPRESSED with the given length of the ring buffer.
pub fn compressed_section(order: Order, mmap_len: u32) -> Vec<u8> {
    let mut out = Bytes::new(order);
    out.u32(0).u32(1).u32(1).u32(3).u32(mmap_len);
    out.done()
}

/// Entries of the BUILD_ID section have the type 0, unlike records of type 67 in the data.
fn build_ids(out: &mut Bytes) -> &mut Bytes {
    let body = build_id_body(out.order());
    out.u32(0).u16(MISC_USER | MISC_BUILD_ID_SIZE).u16(8 + body.len() as u16).raw(&body)
}

fn strings<'a>(out: &'a mut Bytes, texts: &[&str]) -> &'a mut Bytes {
    out.u32(texts.len() as u32);
    for text in texts {
        out.string(text);
    }
    out
}

fn event_desc<'a>(out: &'a mut Bytes, attrs: &[Attr]) -> &'a mut Bytes {
    let size = attrs.first().map_or(64, |attr| attr.size);
    let order = out.order();
    out.u32(attrs.len() as u32).u32(size);
    for attr in attrs {
        out.raw(&attr.clone().with_size(size).encode(order));
        out.u32(attr.ids.len() as u32).string(&attr.name).u64s(&attr.ids);
    }
    out
}

/// Cores, threads, (core, socket) of each of two processors, then dies and the die of each.
fn cpu_topology(out: &mut Bytes) -> &mut Bytes {
    strings(out, &["0-1"]);
    strings(out, &["0", "1"]).u32(0).u32(0).u32(1).u32(0);
    strings(out, &["0-1"]).u32(0).u32(0)
}

fn cache(out: &mut Bytes) -> &mut Bytes {
    out.u32(1).u32(1).u32(1).u32(64).u32(64).u32(12).string("Data").string("48K").string("0")
}

/// One program: `info_len`, `data_len`, which arrays follow, `struct bpf_prog_info`, no arrays.
fn bpf_prog_info(out: &mut Bytes) -> &mut Bytes {
    const INFO_LEN: usize = 224;
    out.u32(1).u32(INFO_LEN as u32).u32(0).u64(0);
    out.u32(6).u32(9).raw(&[0x6d; 8]).zeros(INFO_LEN - 16) // type, id, tag
}

/// The id of the tracepoint that [`tracing_data`] describes.
pub const TRACEPOINT_NUMBER: u64 = 316;
/// Its name.
pub const TRACEPOINT_NAME: &str = "sched:sched_switch";
const TRACEPOINT_FORMAT: &str = "name: sched_switch\nID: 316\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:int prev_pid;\toffset:8;\tsize:4;\tsigned:1;

print fmt: \"prev_pid=%d\", REC->prev_pid\n";
const PAGE_HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
const EVENT_HEADER: &str = "# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28\n";

/// The payload of TRACING_DATA: formats of tracepoints as the kernel shows them in tracefs.
///
/// Source: `tracing_data_get` in `tools/perf/util/trace-event-info.c`. Magic `17 08 44 tracing`,
/// version `0.6`, big-endian flag, size of long, page size, then the parts.
pub fn tracing_data(order: Order) -> Vec<u8> {
    let mut out = Bytes::new(order);
    out.raw(&[0x17, 0x08, 0x44]).raw(b"tracing").raw(b"0.6\0");
    out.u8(u8::from(order == Order::Big)).u8(8).u32(4096);
    out.raw(b"header_page\0").u64(PAGE_HEADER.len() as u64).raw(PAGE_HEADER.as_bytes());
    out.raw(b"header_event\0").u64(EVENT_HEADER.len() as u64).raw(EVENT_HEADER.as_bytes());
    out.u32(0); // formats of ftrace's own events
    out.u32(1).raw(b"sched\0").u32(1);
    out.u64(TRACEPOINT_FORMAT.len() as u64).raw(TRACEPOINT_FORMAT.as_bytes());
    out.u32(0); // kallsyms
    out.u32(0); // printk formats
    out.u64(0); // saved command lines
    out.done()
}

/// The RAW bytes of one sample of the tracepoint that [`tracing_data`] describes.
pub fn tracepoint_raw(order: Order) -> Vec<u8> {
    let mut out = Bytes::new(order);
    out.u16(TRACEPOINT_NUMBER as u16).u8(0).u8(0).u32(100).u32(100);
    out.done()
}

//! The description of a BPF program in BPF_PROG_INFO, and the arrays after it.
//!
//! ```text
//!  info_len u32, data_len u32, arrays u64, info_len bytes of info, data_len bytes of data
//!  data := for each bit of arrays, from the lowest, the array, padded to 8
//! ```
//!
//! Sources: `struct bpf_prog_info` of `include/uapi/linux/bpf.h`, to which kernels add fields at
//! its end, and `bpil_array_desc` of `tools/perf/util/bpf-utils.c`. perf stores offsets in the data
//! where the kernel has addresses.

use self::Each::{Fixed, Stored};
use crate::kit::row::Form::{Bytes, Hex32, Hex64, U32, U64};
use crate::kit::row::Row;

/// `struct bpf_prog_info` in perf 7.2.
pub const PROGRAM_INFO: &Row = &[
    ("program.type", U32),
    ("program.id", U32),
    ("program.tag", Bytes(8)),
    ("program.jited_prog_len", U32),
    ("program.xlated_prog_len", U32),
    ("program.jited_prog_insns", Hex64),
    ("program.xlated_prog_insns", Hex64),
    ("program.load_time", U64),
    ("program.created_by_uid", U32),
    ("program.nr_map_ids", U32),
    ("program.map_ids", Hex64),
    ("program.name", Bytes(16)),
    ("program.ifindex", U32),
    // One bit, the first one of a little-endian machine and the last one of another.
    ("program.gpl_compatible", Hex32),
    ("program.netns_dev", U64),
    ("program.netns_ino", U64),
    ("program.nr_jited_ksyms", U32),
    ("program.nr_jited_func_lens", U32),
    ("program.jited_ksyms", Hex64),
    ("program.jited_func_lens", Hex64),
    ("program.btf_id", U32),
    ("program.func_info_rec_size", U32),
    ("program.func_info", Hex64),
    ("program.nr_func_info", U32),
    ("program.nr_line_info", U32),
    ("program.line_info", Hex64),
    ("program.jited_line_info", Hex64),
    ("program.nr_jited_line_info", U32),
    ("program.line_info_rec_size", U32),
    ("program.jited_line_info_rec_size", U32),
    ("program.nr_prog_tags", U32),
    ("program.prog_tags", Hex64),
    ("program.run_time_ns", U64),
    ("program.run_cnt", U64),
    ("program.recursion_misses", U64),
    ("program.verified_insns", U32),
    ("program.attach_btf_obj_id", U32),
    ("program.attach_btf_id", U32),
    ("program.reserved", Bytes(4)),
];

/// An array after the description.
pub struct ProgramArray {
    /// The field with its place in the data.
    pub place: &'static str,
    /// The field with the number of its entries.
    pub count: &'static str,
    /// The size of an entry.
    pub each: Each,
    /// The label of its bytes.
    pub data: &'static str,
}

/// The size of an entry of an array.
#[derive(Clone, Copy, Debug)]
pub enum Each {
    /// This number of bytes.
    Fixed(u64),
    /// The number in this field.
    Stored(&'static str),
}

/// An array.
const fn of(
    place: &'static str,
    count: &'static str,
    each: Each,
    data: &'static str,
) -> ProgramArray {
    ProgramArray { place, count, each, data }
}

/// The arrays by their bit, from the lowest.
pub const PROGRAM_ARRAYS: [ProgramArray; 9] = [
    of(
        "program.jited_prog_insns",
        "program.jited_prog_len",
        Fixed(1),
        "program.data.jited_prog_insns",
    ),
    of(
        "program.xlated_prog_insns",
        "program.xlated_prog_len",
        Fixed(1),
        "program.data.xlated_prog_insns",
    ),
    of("program.map_ids", "program.nr_map_ids", Fixed(4), "program.data.map_ids"),
    of("program.jited_ksyms", "program.nr_jited_ksyms", Fixed(8), "program.data.jited_ksyms"),
    of(
        "program.jited_func_lens",
        "program.nr_jited_func_lens",
        Fixed(4),
        "program.data.jited_func_lens",
    ),
    of(
        "program.func_info",
        "program.nr_func_info",
        Stored("program.func_info_rec_size"),
        "program.data.func_info",
    ),
    of(
        "program.line_info",
        "program.nr_line_info",
        Stored("program.line_info_rec_size"),
        "program.data.line_info",
    ),
    of(
        "program.jited_line_info",
        "program.nr_jited_line_info",
        Stored("program.jited_line_info_rec_size"),
        "program.data.jited_line_info",
    ),
    of("program.prog_tags", "program.nr_prog_tags", Fixed(8), "program.data.prog_tags"),
];

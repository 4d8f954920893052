//! The fields of a recording that are plain facts, or judged by the audit.
//!
//! A number is a plain fact. A field of bytes is one if its label is listed here, or if the audit
//! judges it; everything else is unknown.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::formats::perf::layout::features::{self, FEATURES, Feature};
use crate::formats::perf::layout::part::Part::Rest;
use crate::formats::perf::layout::part::meanings;
use crate::formats::perf::layout::programs::PROGRAM_ARRAYS;
use crate::formats::perf::layout::{ATTR_SIZE_KNOWN, MAGIC_BIG, MAGIC_LITTLE};
use crate::kit::field_log::{Field, FieldValue};
use crate::kit::num::to_usize;
use crate::model::tile::Tile;
use crate::sight::Knowledge;
use crate::sight::harmless::{has_word, holds};

/// Type of an entry of BUILD_ID, if it is not 0, and the most bytes of one: those of a path and of
/// what comes before it.
const BUILD_ID_TYPE: u64 = 67;
const ENTRY_MAX: u64 = 4096 + 64;

/// Fields of numbers, several of which are read at once, outside of features.
const NUMBERS: &str = "\
    addr auxtrace.offset branch_stack.counters branch_stack.nr build_id.header.type build_id.pid \
    build_id.size cgroup chain.nr code_page_size cpu_map.nr data_page_size data_src \
    event_update.scale magic phys_addr read.nr tracing.magic transaction unwinding.abi \
    unwinding.chain unwinding.dyn_size unwinding.time weight";

/// Texts that begin a file and the parts of TRACING_DATA.
const MARKS: &[&[u8]] =
    &[MAGIC_LITTLE, MAGIC_BIG, b"\x17\x08\x44tracing", b"header_page\0", b"header_event\0"];

/// Other fields that the audit judges, byte by byte.
const JUDGED: &str = "\
    auxtrace_error.msg auxtrace_info.filter bpf_event.tag bpf_metadata.prog_name \
    build_id.build_id build_id.filename callchain.nr cgroup.path comm.comm debug.text dso.name \
    dso_symbol.name event_type.name event_update.name event_update.unit file.path \
    kernel_symbol.kallsyms ksymbol.name message.unknown meta_info.events meta_info.plain \
    meta_info.system meta_info.time meta_info.value meta_info.version mmap.filename \
    mmap2.build_id mmap2.filename program.name program.tag raw.size record.rest \
    regs_intr.regs regs_user.regs split.data stack_user.size symbol.name \
    thread_map.entries[].comm tracing.cmdlines tracing.format tracing.kallsyms tracing.printk \
    tracing.system tracing.version tracing_data.unread unwind_file.data";

/// All of them: they are looked up for every record.
static LABELS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let listed = NUMBERS.split_ascii_whitespace().chain(JUDGED.split_ascii_whitespace());
    listed.chain(FEATURES.iter().flat_map(|one| meanings(one.content).into_keys())).collect()
});

/// The data after an AUXTRACE record.
pub(super) const AUX_DATA: &str = "auxtrace.data";

/// First word of the CPUs of an Embedded Trace Extension.
const TRACE_EXTENSION: &[u8; 8] = b"PPPPPPPP";

/// Fields without which perf cannot read the programs that it names, and numbers in their shortest
/// form in a message.
const OPAQUE: &[&str] = &["btf.data", "message.unknown_number", "program.info"];
/// The same: the arrays after the description of a program.
const PROGRAM_DATA: &str = "program.data";
/// Numbers that readers need as they are, whatever they hold: of tracers and of BPF programs.
const NEEDED: &[&str] = &["auxtrace_info.", "program."];

/// Numbers of features of perf 7, which an older perf wrote without fields: a word there is none.
const SMALL: &[&str] = &[
    "cln_size",
    "domain",
    "domains.cpu",
    "e_flags",
    "e_machine",
    "max_sched_domains",
    "nr_domains",
    "schedstat_version",
];

/// Returns what is known about a field.
pub(super) fn knowledge(tile: &Tile, field: &Field) -> Knowledge {
    let bytes = match &field.value {
        FieldValue::Number(number) | FieldValue::Hex(number) => return of_number(field, *number),
        FieldValue::Text(_) => return Knowledge::Known,
        FieldValue::Bytes(bytes) => bytes,
    };
    let label = field.label.as_ref();
    let is_known = match label {
        // Its fields are read one by one.
        "attr" if tile.name == "attrs" => false,
        "attr" | "event.attr" => {
            let newer = bytes.get(to_usize(ATTR_SIZE_KNOWN.into())..);
            newer.is_none_or(is_empty) && !has_word(bytes)
        }
        // A pipe does not tell how many there are.
        "cpus" => !has_word(bytes),
        // A part of a trace, which may hold any bytes.
        "aux.size" => !has_word(bytes),
        "mmap2.build_id_size"
        | "auxtrace_info.reserved"
        | "build_id.reserved"
        | "schedstat.reserved"
        | "time_conv.reserved" => is_empty(bytes),
        "auxtrace_info.priv" => is_tracer(bytes),
        // The content is the expanded layer.
        "compressed2.data_size" | AUX_DATA => true,
        "feature" if tile.name.starts_with("SIMPLEPERF_") => true,
        "feature" => match features::named(tile.name) {
            Some(feature) if feature.is_simpleperf() => true,
            // Numbers about the machine; other features may hold names.
            Some(Feature { content: [Rest(_, [_, ..])], .. }) => is_short_number(bytes),
            Some(_) => false,
            None => tile.name == "HEADER_FEATURE" && is_short_number(bytes),
        },
        "rest" => match tile.name {
            "COMPRESSED" | "COMPRESSED2" | "INIT_MAP" => true,
            "READ" | "ID_INDEX" => !has_word(bytes),
            "AUXTRACE_INFO" => is_tracer(bytes),
            name => ends_with_text(name),
        },
        _ => LABELS.contains(label),
    };
    match label {
        _ if MARKS.contains(&bytes.as_slice()) => Knowledge::Known,
        _ if is_known && holds(NUMBERS, label.as_bytes()) => Knowledge::Numbers,
        _ if is_known => Knowledge::Known,
        _ if OPAQUE.contains(&label) || label.starts_with(PROGRAM_DATA) => Knowledge::Opaque,
        "auxtrace_info.priv" => Knowledge::Opaque,
        "rest" if tile.name == "AUXTRACE_INFO" => Knowledge::Opaque,
        "event.attr" => Knowledge::Opaque,
        "attr" if tile.name != "attrs" => Knowledge::Opaque,
        _ => Knowledge::Unknown,
    }
}

/// Returns what is known about a number.
fn of_number(field: &Field, number: u64) -> Knowledge {
    let label = field.label.as_ref();
    let is_needed = NEEDED.iter().any(|start| label.starts_with(start));
    if is_entry_header(field, number)
        || is_needed && is_wild_place(label, number)
        || SMALL.contains(&label) && has_word(&number.to_le_bytes())
    {
        return Knowledge::Unknown;
    }
    match is_needed && !is_tracer(&number.to_le_bytes()) {
        true => Knowledge::Opaque,
        false => Knowledge::Known,
    }
}

/// Returns whether the place of an array of a BPF program is none in its data, which has at most
/// 4 GiB, but an address.
fn is_wild_place(label: &str, number: u64) -> bool {
    number > u32::MAX.into() && PROGRAM_ARRAYS.iter().any(|array| array.place == label)
}

/// Returns whether the words about a tracer are numbers. perf needs each as it is.
fn is_tracer(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let is_number =
        |word: &[u8; 8]| word == TRACE_EXTENSION || is_architecture(*word) || !has_word(word);
    words.iter().all(is_number) && !has_word(rest)
}

/// Returns whether a word is TRCDEVARCH, in which Arm describes an ETM or ETE, of any revision.
fn is_architecture(word: [u8; 8]) -> bool {
    let orders = [u64::from_le_bytes(word), u64::from_be_bytes(word)];
    orders.iter().any(|value| value & !0x000f_f000 == 0x4770_0a13)
}

/// Records of the kernel that are measurements: without a description of their event, their bytes
/// are unknown, but zeros in their place would be wrong times and addresses.
const MEASURED: &str = "\
    SAMPLE LOST EXIT THROTTLE UNTHROTTLE FORK READ AUX ITRACE_START LOST_SAMPLES SWITCH \
    SWITCH_CPU_WIDE NAMESPACES BPF_EVENT AUX_OUTPUT_HW_ID CALLCHAIN_DEFERRED";

/// Returns whether a tile is a measurement of the kernel.
pub(super) fn is_measured(tile: &Tile) -> bool {
    holds(MEASURED, tile.name.as_bytes())
}

/// Returns whether a number begins an entry of BUILD_ID that is none: what follows the last entry.
fn is_entry_header(field: &Field, number: u64) -> bool {
    match field.label.as_ref() {
        "build_id.header.type" => number != 0 && number != BUILD_ID_TYPE,
        "build_id.header.size" => number > ENTRY_MAX,
        _ => false,
    }
}

/// Returns whether the rest of a record is the padding of its text.
pub(super) fn ends_with_text(name: &str) -> bool {
    matches!(name, "MMAP" | "MMAP2" | "COMM" | "KSYMBOL" | "CGROUP")
}

/// Returns whether bytes are one or two numbers.
fn is_short_number(bytes: &[u8]) -> bool {
    bytes.len() <= 16 && !has_word(bytes)
}

fn is_empty(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

//! A sample as `perf script` shows it, with all that it has.
//!
//! ```text
//!  comm tid [cpu] time: period event: field=value ... name=value ... address
//!  <tab> address symbol (file+offset)         for each frame of a call chain
//!  ABI:2    AX:0x1 ...  0xfrom/0xto/P/-/-/0//-   registers, branches
//!                                             after a call chain
//! ```
//!
//! Source: `builtin-script.c` of perf, `process_event`.

use std::fmt::Write as _;

use super::Shown;
use super::folded::base_name;
use super::frames::{Frames, chain};
use super::groups::Member;
use super::line::write_fields;
use super::registers::Registers;
use crate::formats::perf::decode::record::named;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::value::Value;
use crate::kit::cursor::Order;
use crate::kit::num::to_usize;
use crate::kit::text::{Untrusted, hex};

/// Nanoseconds per second and per microsecond.
const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

/// The fields that have a form of their own.
const FORMED: [&str; 8] = [
    "ips",
    "branches",
    "intr_abi",
    "intr_regs",
    "intr_regs_mask",
    "user_abi",
    "user_regs",
    "user_regs_mask",
];
/// The fields of registers: their ABI, their values and their mask.
const REGISTERS: [[&str; 3]; 2] =
    [["intr_abi", "intr_regs", "intr_regs_mask"], ["user_abi", "user_regs", "user_regs_mask"]];
/// The field with the values of a group.
const GROUP: &str = "read_values";
/// The first part of the names of fields that all tracepoints have.
const COMMON: &str = "common_";
/// The name that no recording has.
const UNKNOWN: &str = "[unknown]";

/// Numbers in the flags of a branch, each with its first bit and the number of its bits. The four
/// bits before them stand alone.
const CYCLES: (u32, u32) = (4, 16);
const TYPE: (u32, u32) = (20, 4);
const SPECULATION: (u32, u32) = (24, 2);
const NEW_TYPE: (u32, u32) = (26, 4);
/// Names of the types of branches (`branch_type_name`), and the type after which another number
/// follows.
const TYPES: [&str; 15] = [
    "",
    "COND",
    "UNCOND",
    "IND",
    "CALL",
    "IND_CALL",
    "RET",
    "SYSCALL",
    "SYSRET",
    "COND_CALL",
    "COND_RET",
    "ERET",
    "IRQ",
    "SERROR",
    "NO_TX",
];
const EXTENDED: u64 = 15;
const EXTENDED_TYPES: [&str; 8] =
    ["FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"];
const SPECULATIONS: [&str; 4] =
    ["-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"];

/// The event and the period in a line of a sample.
pub(super) struct Line {
    event: String,
    period: Option<u64>,
    /// Whether the event is one of several that were read together.
    is_of_group: bool,
}

/// Returns the lines of a sample: one, or one for each of the events that were read together.
pub(super) fn lines_of(
    shown: &Shown<'_>,
    sample: &Sample,
    members: Option<Vec<Member>>,
) -> Vec<Line> {
    match members {
        None => {
            let (event, period) = (shown.event.clone(), sample.period);
            vec![Line { event, period, is_of_group: false }]
        }
        Some(members) => {
            let line = |(event, period)| Line { event, period: Some(period), is_of_group: true };
            members.into_iter().map(line).collect()
        }
    }
}

/// Writes a line of a sample, and its stack; `frames` are the names in call chains.
pub(super) fn write_sample(
    (shown, line): (&Shown<'_>, &Line),
    sample: &Sample,
    (frames, registers): (&Frames, Registers),
    order: Order,
    text: &mut String,
) {
    write_head((shown, line), sample, text);
    let has_chain = write_stack(shown, sample, frames, text);
    for [abi, list, mask] in REGISTERS {
        let number = |name| named::number(&shown.more, name).filter(|number| *number > 0);
        if let (Some(abi), Some(mask)) = (number(abi), number(mask)) {
            registers.write(abi, mask, named::items(&shown.more, list), text);
        }
    }
    let branches = named::items(&shown.more, "branches");
    branches.iter().for_each(|branch| write_branch(branch, order, text));
    // An empty line ends a call chain.
    text.push_str(if has_chain { "\n\n" } else { "\n" });
}

/// Writes thread, CPU, time in seconds, period, event, and the fields before the address.
fn write_head((shown, line): (&Shown<'_>, &Line), sample: &Sample, text: &mut String) {
    let origin = &sample.origin;
    if let Some(tid) = origin.tid {
        let _infallible = write!(text, "{:>16} {:>7} ", shown.thread, tid.cast_signed());
    }
    if let Some(cpu) = origin.cpu {
        let _infallible = write!(text, "[{cpu:03}] ");
    }
    if let Some(time) = origin.time {
        let _infallible = write!(text, "{}: ", seconds(time));
    }
    if let Some(period) = line.period {
        let _infallible = write!(text, "{period:>10} ");
    }
    let _infallible = write!(text, "{}:", line.event);
    // perf leaves out what all tracepoints have.
    let own = shown.traced.iter().filter(|(name, _)| !name.starts_with(COMMON));
    own.for_each(|field| write_fields(std::slice::from_ref(field), text));
    let is_formed = |name: &&str| FORMED.contains(name) || line.is_of_group && *name == GROUP;
    let others = shown.more.iter().filter(|(name, _)| !is_formed(name));
    others.for_each(|field| write_fields(std::slice::from_ref(field), text));
    for (name, size) in [("user_stack_size", sample.stack.recorded), ("aux_size", sample.aux_size)]
    {
        if size > 0 {
            let _infallible = write!(text, " {name}={size}");
        }
    }
    if let Some(raw) = shown.unnamed_raw() {
        let _infallible = write!(text, " raw={}", hex(raw));
    }
}

/// Writes the frames of a call chain, each in a line, or the address. Returns whether there is a
/// chain.
fn write_stack(shown: &Shown<'_>, sample: &Sample, frames: &Frames, text: &mut String) -> bool {
    if sample.callchain_len == 0 {
        if let Some(ip) = sample.ip {
            let _infallible = write!(text, " {ip:>16x}");
        }
        return false;
    }
    for frame in chain(frames, shown, sample) {
        let symbol = frame.symbol.map(|symbol| Untrusted(symbol).to_string());
        let symbol = symbol.as_deref().unwrap_or(UNKNOWN);
        let _infallible = write!(text, "\n\t{:>16x} {symbol} (", frame.address);
        let _infallible = match &frame.place {
            Some(place) => {
                let is_kernel = place.file.first() == Some(&b'[');
                let name = if is_kernel { base_name(place.file) } else { place.file };
                write!(text, "{}+{:#x})", Untrusted(name), place.offset)
            }
            None => write!(text, "{UNKNOWN})"),
        };
    }
    true
}

/// Writes a branch: both addresses, whether it was predicted, in a transaction and aborted one, its
/// cycles, its type and whether it was speculative.
fn write_branch(branch: &Value, order: Order, text: &mut String) {
    let Value::Entry(fields) = branch else { return };
    let [from, to, flags] =
        ["from", "to", "flags"].map(|name| named::number(fields, name).unwrap_or(0));
    let bits = |(at, width): (u32, u32)| {
        // The first field has the lowest bits, or the highest ones.
        let at = match order {
            Order::Little => at,
            Order::Big => 64_u32.saturating_sub(at).saturating_sub(width),
        };
        let mask = 1_u64.checked_shl(width).unwrap_or(0).saturating_sub(1);
        flags.checked_shr(at).unwrap_or(0) & mask
    };
    let is_set = |at: u32| bits((at, 1)) > 0;
    let predicted = match (is_set(0), is_set(1)) {
        (_, true) => 'P',
        (true, false) => 'M',
        (false, false) => '-',
    };
    let transaction = if is_set(2) { 'X' } else { '-' };
    let abort = if is_set(3) { 'A' } else { '-' };
    let cycles = bits(CYCLES);
    let _infallible = write!(text, " {from:#x}/{to:#x}/{predicted}/{transaction}/{abort}/{cycles}");
    let kind = type_name(bits(TYPE), bits(NEW_TYPE));
    let speculation = SPECULATIONS.get(to_usize(bits(SPECULATION))).copied().unwrap_or("-");
    let _infallible = write!(text, "/{kind}/{speculation} ");
}

fn type_name(kind: u64, extended: u64) -> &'static str {
    let name = match kind {
        EXTENDED => EXTENDED_TYPES.get(to_usize(extended)),
        kind => TYPES.get(to_usize(kind)),
    };
    name.copied().unwrap_or_default()
}

/// Returns a time in the form of `perf script`.
fn seconds(time: u64) -> String {
    let (seconds, rest) = (time.checked_div(SECOND), time.checked_rem(SECOND));
    let micros = rest.and_then(|rest| rest.checked_div(MICROSECOND));
    format!("{:>5}.{:06}", seconds.unwrap_or(0), micros.unwrap_or(0))
}

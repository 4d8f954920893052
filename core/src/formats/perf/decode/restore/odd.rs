//! Values of an attr that no recorder writes.
//!
//! A field that its switch does not enable is 0, reserved bits are 0, and the event is one that its
//! type has. An attr with fewer contradictions is more likely the undamaged one.

use super::peek::Peek;
use crate::formats::perf::decode::attr::{self, read_format, sample_type as bit};
use crate::formats::perf::layout::ATTR_SIZE_VER0;
use crate::kit::cursor::Order;

/// Flags of the attr, by their bits.
const PINNED: u64 = 1 << 2;
const EXCLUSIVE: u64 = 1 << 3;
const MMAP: u64 = 1 << 8;
const COMM: u64 = 1 << 9;
const FREQ: u64 = 1 << 10;
const INHERIT_STAT: u64 = 1 << 11;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const PRECISE_IP: u64 = 3 << 15;
const EXCLUDE_CALLCHAIN: u64 = 3 << 21;
const MMAP2: u64 = 1 << 23;
const COMM_EXEC: u64 = 1 << 24;
const USE_CLOCKID: u64 = 1 << 25;
const KSYMBOL: u64 = 1 << 29;
const BPF_EVENT: u64 = 1 << 30;
const AUX_OUTPUT: u64 = 1 << 31;
const CGROUP: u64 = 1 << 32;
const TEXT_POKE: u64 = 1 << 33;
const SIGTRAP: u64 = 1 << 37;
/// Number of published flags.
const FLAGS: u32 = 40;
/// Highest number of a PMU that is plausible; the kernel counts from 6.
const MOST_TYPES: u32 = 4096;

/// Whether the attr of `size` bytes at the start of `peek` has that size and only published bits.
pub(super) fn is_possible(peek: Peek<'_>, size: u64) -> bool {
    let word = |at: u64| peek.u64(at).unwrap_or(0);
    let stored = u64::from(peek.u32(4).unwrap_or(0));
    (stored == size || stored == 0 && size == ATTR_SIZE_VER0)
        && word(24) & !bit::KNOWN == 0
        && word(32) & !read_format::KNOWN == 0
        && attr::flags(word(40), peek.order) >> FLAGS == 0
        && [104, 112]
            .into_iter()
            .filter(|at| *at < size)
            .all(|at| word(at) & reserved(peek.order, at) == 0)
}

/// Whether perf reads and shows a recording alike if the word at `at` of an attr differs in the
/// bits of `differ`. perf evlist -v prints every field, so only bits without a field are left.
pub(super) fn is_unused(order: Order, at: u64, differ: u64) -> bool {
    match at {
        40 => attr::flags(differ, order) & ((1 << FLAGS) - 1) == 0,
        _ => differ & !reserved(order, at) == 0,
    }
}

/// Returns the bits of the word at `at` that are no part of a field. The kernel refuses an attr
/// that sets one.
const fn reserved(order: Order, at: u64) -> u64 {
    match (at, order) {
        // After aux_watermark and sample_max_stack.
        (104, Order::Little) => 0xffff << 48,
        (104, Order::Big) => 0xffff,
        // After aux_sample_size and the three bits of aux_action.
        (112, Order::Little) => !7 << 32,
        (112, Order::Big) => !0 >> 35,
        _ => 0,
    }
}

/// Counts the odd values of the attr of `size` bytes at the start of `peek`.
pub(super) fn count(peek: Peek<'_>, size: u64) -> u64 {
    let word = |at: u64| if at < size { peek.u64(at).unwrap_or(0) } else { 0 };
    let half = |at: u64| if at < size { peek.u32(at).unwrap_or(0) } else { 0 };
    let (kind, config, period, samples) = (half(0), word(8), word(16), word(24));
    let (reads, flags) = (word(32), attr::flags(word(40), peek.order));
    let has = |bits: u64| samples & bits != 0;
    let is_generic = kind <= 2;
    let is_event = match kind {
        0 => config & 0xffff_ffff <= 9,
        1 => config <= 16,
        2 => config < 1 << 16,
        3 => config & 0xffff_ffff <= 0x00ff_ffff,
        _ => kind < MOST_TYPES,
    };
    let extra = |is_enabled: bool, is_set: bool| is_set && !is_enabled;
    let odd = [
        u64::from(half(4)) != size,
        !is_event,
        flags & FREQ != 0 && period > 1_000_000,
        extra(has(bit::BRANCH_STACK), word(72) != 0),
        has(bit::BRANCH_STACK) && word(72) == 0,
        extra(has(bit::REGS_USER), word(80) != 0),
        has(bit::REGS_USER) && word(80) == 0,
        extra(has(bit::STACK_USER), half(88) != 0),
        has(bit::STACK_USER) && half(88) == 0,
        extra(flags & USE_CLOCKID != 0, half(92) != 0),
        extra(has(bit::REGS_INTR), word(96) != 0),
        has(bit::REGS_INTR) && word(96) == 0,
        extra(has(bit::CALLCHAIN), half(108) & 0xffff != 0),
        half(108) >> 16 != 0,
        extra(has(bit::AUX), half(112) != 0),
        half(104) != 0 && is_generic,
        extra(kind == 5, half(52) != 0),
        extra(!is_generic, word(56) != 0 || word(64) != 0 || word(128) != 0),
        extra(flags & SIGTRAP != 0, word(120) != 0),
        reads & !read_format::KNOWN != 0,
        samples & !bit::KNOWN != 0,
        has(bit::READ) && reads & read_format::ID == 0,
        flags >> FLAGS != 0,
    ];
    odd.into_iter().fold(0, |sum: u64, is_odd| sum.saturating_add(is_odd.into()))
}

/// Counts values of the attr of `size` bytes at the start of `peek` that perf record does not
/// write, though another recorder may. They help to choose between two copies of an attr.
pub(super) fn count_unusual(peek: Peek<'_>, size: u64) -> u64 {
    let word = |at: u64| if at < size { peek.u64(at).unwrap_or(0) } else { 0 };
    let half = |at: u64| if at < size { peek.u32(at).unwrap_or(0) } else { 0 };
    let (kind, period, samples, reads) = (half(0), word(16), word(24), word(32));
    let flags = attr::flags(word(40), peek.order);
    let has = |bits: u64| samples & bits != 0;
    let is_set = |flag: u64| flags & flag != 0;
    // perf sets both, and kernels have both from the same version on.
    let differ = |one: u64, other: u64| is_set(one) != is_set(other);
    let is_generic = kind <= 2;
    let counts =
        read_format::GROUP | read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING;
    let reads_values = has(bit::READ) || is_set(INHERIT_STAT) || period == 0;
    let unusual = [
        half(116) != 0,
        !is_set(WATERMARK) && half(48) > 1,
        is_set(WATERMARK) && half(48) == 0,
        !has(bit::CALLCHAIN) && is_set(EXCLUDE_CALLCHAIN),
        flags & EXCLUDE_CALLCHAIN == EXCLUDE_CALLCHAIN,
        matches!(kind, 1 | 2 | 5) && is_set(AUX_OUTPUT | PRECISE_IP),
        is_set(PINNED | EXCLUSIVE),
        is_generic && is_set(TEXT_POKE),
        differ(MMAP, COMM),
        differ(COMM, TASK),
        differ(MMAP2, COMM_EXEC),
        is_set(MMAP2) && !is_set(MMAP),
        is_set(BPF_EVENT) && !is_set(KSYMBOL),
        is_set(CGROUP) && !has(bit::CGROUP),
        has(bit::CGROUP) && is_set(MMAP) && !is_set(CGROUP),
        !reads_values && reads & counts != 0,
        period != 0 && reads != 0 && reads & read_format::ID == 0,
        // Each word by itself: several may be damaged.
        is_generic && word(56) != 0,
        is_generic && word(64) != 0,
        is_generic && word(128) != 0,
    ];
    unusual.into_iter().fold(0, |sum: u64, is_unusual| sum.saturating_add(is_unusual.into()))
}

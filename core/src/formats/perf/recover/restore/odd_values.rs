//! Values of an attr that no recorder writes.
//!
//! A field that its switch does not enable is 0, reserved bits are 0, and the event is one that its
//! type has. An attr with fewer contradictions is more likely the undamaged one.

use crate::formats::perf::decode::attr;
use crate::formats::perf::decode::attr_bytes::AttrBytes;
use crate::formats::perf::layout::attr::{
    Bits, Used, Word, at, flag, read_format, sample_type as bit,
};
use crate::formats::perf::layout::{ATTR_SIZE_VER0, TYPE_TRACEPOINT, is_event_type};
use crate::kit::num::to_u64;

/// `attr.type` of a breakpoint.
pub(super) const TYPE_BREAKPOINT: u64 = 5;

/// Greatest period of samples that anybody asks for: that of a clock would be three days.
pub(super) const MOST_PERIOD: u64 = 1 << 48;

/// An attr, and the numbers by which its others are judged.
struct Event<'a> {
    attr: AttrBytes<'a>,
    kind: u64,
    samples: u64,
    flags: u64,
}

impl<'a> Event<'a> {
    fn of(attr: AttrBytes<'a>) -> Self {
        let flags = attr::flags(attr.word(at::FLAGS), attr.order);
        Self { attr, kind: attr.word(at::TYPE), samples: attr.word(at::SAMPLE_TYPE), flags }
    }

    const fn has(&self, bits: u64) -> bool {
        self.samples & bits != 0
    }

    const fn is_set(&self, flags: u64) -> bool {
        self.flags & flags != 0
    }

    /// Whether all machines share the event.
    fn is_generic(&self) -> bool {
        self.kind <= TYPE_TRACEPOINT.into()
    }

    /// Whether the event has a value in a word.
    fn uses(&self, word: &Word) -> bool {
        match word.used {
            Used::Always | Used::Layout => true,
            Used::Sample(bits) | Used::Size(bits) | Used::Option(bits) => self.has(bits),
            Used::Flag(flag) => self.is_set(flag),
            Used::Breakpoint => self.kind == TYPE_BREAKPOINT,
            Used::Pmu | Used::Config => !self.is_generic(),
        }
    }

    /// Whether the number of a word is odd.
    fn is_odd(&self, (word, number): (&Word, u64)) -> bool {
        match word.used {
            Used::Always | Used::Layout => number != word.known(number, self.attr.order),
            Used::Sample(_) | Used::Size(_) => self.uses(word) != (number != 0),
            _ => number != 0 && !self.uses(word),
        }
    }
}

/// Whether an attr has its size and only published bits.
pub(super) fn is_possible(attr: AttrBytes<'_>) -> bool {
    let (stored, size) = (attr.word(at::SIZE), to_u64(attr.bytes.len()));
    let is_known = |(word, number): (&Word, u64)| {
        let has_bits = matches!(word.used, Used::Always | Used::Layout);
        !has_bits || number == word.known(number, attr.order)
    };
    (stored == size || stored == 0 && size == ATTR_SIZE_VER0) && attr.words().all(is_known)
}

/// Whether perf reads and shows a recording alike if an attr differs in the bits of `differ`. perf
/// evlist -v prints every field, so only bits without a field are left.
pub(super) fn is_unused(differ: AttrBytes<'_>) -> bool {
    differ.words().all(|(word, number)| match word.bits {
        Bits::Fields(_) => word.known(number, differ.order) == 0,
        Bits::All | Bits::Mask(_) => number == 0,
    })
}

/// Whether one of the values in the eight bytes at `word` is odd.
pub(super) fn is_odd(attr: AttrBytes<'_>, word: u64) -> bool {
    let event = Event::of(attr);
    attr.words().any(|value| value.0.at & !7 == word && event.is_odd(value))
}

/// Counts the odd values of an attr.
pub(super) fn count(attr: AttrBytes<'_>) -> u64 {
    let event = Event::of(attr);
    let config = attr.word(at::CONFIG);
    let is_event = match event.kind {
        0 => config & 0xffff_ffff <= 9,
        1 => config <= 16,
        2 => config < 1 << 16,
        3 => config & 0xffff_ffff <= 0x00ff_ffff,
        kind => u32::try_from(kind).is_ok_and(is_event_type),
    };
    let is_config = |(word, _): &(&Word, u64)| word.used == Used::Config;
    let is_odd = |word: &(&Word, u64)| event.is_odd(*word);
    // Several parts of a config are one oddity, and an action is unusual as a whole.
    let is_single = |word: &(&Word, u64)| !is_config(word) && word.0.at != at::AUX_ACTION;
    let words = attr.words().filter(|word| is_single(word) && is_odd(word)).count();
    let odd = [
        attr.word(at::SIZE) != to_u64(attr.bytes.len()),
        !is_event,
        event.is_set(flag::FREQ) && attr.word(at::SAMPLE_PERIOD) > 1_000_000,
        event.has(bit::READ) && attr.word(at::READ_FORMAT) & read_format::ID == 0,
        attr.words().any(|word| is_config(&word) && is_odd(&word)),
    ];
    count_true(&odd).saturating_add(to_u64(words))
}

fn count_true(facts: &[bool]) -> u64 {
    to_u64(facts.iter().filter(|is_true| **is_true).count())
}

/// Counts values of an attr that perf record does not write, though another recorder may. They help
/// to choose between two copies of an attr.
pub(super) fn count_unusual(attr: AttrBytes<'_>) -> u64 {
    let event = Event::of(attr);
    let (period, reads) = (attr.word(at::SAMPLE_PERIOD), attr.word(at::READ_FORMAT));
    let has = |bits: u64| event.has(bits);
    let is_set = |flags: u64| event.is_set(flags);
    // perf sets both, and kernels have both from the same version on.
    let differ = |one: u64, other: u64| is_set(one) != is_set(other);
    let counts =
        read_format::GROUP | read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING;
    let reads_values = has(bit::READ) || is_set(flag::INHERIT_STAT) || period == 0;
    // Each word by itself: several may be damaged.
    let is_config = |word: &(&Word, u64)| word.0.used == Used::Config && event.is_odd(*word);
    let configs = to_u64(attr.words().filter(is_config).count());
    let unusual = [
        attr.word(at::AUX_ACTION) != 0,
        !is_set(flag::WATERMARK) && attr.word(at::WAKEUP_EVENTS) > 1,
        is_set(flag::WATERMARK) && attr.word(at::WAKEUP_EVENTS) == 0,
        !has(bit::CALLCHAIN) && is_set(flag::EXCLUDE_CALLCHAIN),
        event.flags & flag::EXCLUDE_CALLCHAIN == flag::EXCLUDE_CALLCHAIN,
        matches!(event.kind, 1 | 2 | TYPE_BREAKPOINT)
            && is_set(flag::AUX_OUTPUT | flag::PRECISE_IP),
        is_set(flag::PINNED | flag::EXCLUSIVE),
        event.is_generic() && is_set(flag::TEXT_POKE),
        differ(flag::MMAP, flag::COMM),
        differ(flag::COMM, flag::TASK),
        differ(flag::MMAP2, flag::COMM_EXEC),
        is_set(flag::MMAP2) && !is_set(flag::MMAP),
        is_set(flag::BPF_EVENT) && !is_set(flag::KSYMBOL),
        is_set(flag::CGROUP) && !has(bit::CGROUP),
        has(bit::CGROUP) && is_set(flag::MMAP) && !is_set(flag::CGROUP),
        !reads_values && reads & counts != 0,
        period != 0 && reads != 0 && reads & read_format::ID == 0,
        period > MOST_PERIOD,
    ];
    count_true(&unusual).saturating_add(configs)
}

//! Facts outside of the attrs that show which of two values an attr had.
//!
//! | word | fact |
//! |---|---|
//! | type, config | the name of the event in EVENT_DESC, if it is a generic one or a tracepoint |
//! | sample_period | a number in CMDLINE (`-F 499`), or the defaults of perf record |
//! | flags | records that only they request, and the modes in which samples were taken |
//!
//! None of them is a proof: a name may be chosen by the user, and a command line may hold any
//! number.

use super::attr_copies::{AttrCopies, AttrHome, MOST_RECORDS};
use crate::formats::perf::decode::attr;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::attr::{at, flag};
use crate::formats::perf::layout::{
    HARDWARE_NAMES, SOFTWARE_NAMES, TYPE_TRACEPOINT, feature, record,
};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;

/// Type of hardware events, and of software events.
const HARDWARE: u64 = 0;
const SOFTWARE: u64 = 1;
/// Samples per second that perf record takes if nothing else is requested.
const DEFAULT_FREQUENCY: u64 = 4000;
/// Events per sample of a tracepoint if nothing else is requested.
const DEFAULT_PERIOD: u64 = 1;
/// Letters after the colon of a name such as `cycles:upp`; a tracepoint has its own name there.
const MODIFIERS: &[u8] = b"ukhpPSGHDIWeb";
/// Bytes of CMDLINE that are searched.
const MOST_TEXT: u64 = 64 << 10;
/// Flags that exclude samples of a mode, each with the mode in `misc`: user, kernel, hypervisor.
const EXCLUDED: [(u64, u16); 3] =
    [(flag::EXCLUDE_USER, 2), (flag::EXCLUDE_KERNEL, 1), (flag::EXCLUDE_HV, 3)];
/// Flags without which records of a type do not exist: context switches, namespaces, cgroups.
const RECORDED: [(u64, u32); 4] = [
    (flag::CONTEXT_SWITCH, record::SWITCH),
    (flag::CONTEXT_SWITCH, record::SWITCH_CPU_WIDE),
    (flag::NAMESPACES, record::NAMESPACES),
    (flag::CGROUP, record::CGROUP),
];
/// Bits of `misc` with the mode of a sample.
const CPU_MODE: u16 = 7;

impl AttrCopies<'_> {
    /// Returns whether other facts show that attr number `index` has `here` at `word` instead of
    /// `other`; `None` if they show nothing, or both.
    pub(super) fn hint(&self, index: usize, word: u64, here: u64, other: u64) -> Option<bool> {
        match word {
            at::TYPE | at::CONFIG => self.hint_by_name(index, word, here, other),
            at::SAMPLE_PERIOD => self.hint_by_command(here, other),
            at::FLAGS => self.hint_by_records(here, other),
            _ => None,
        }
    }

    fn hint_by_name(&self, index: usize, word: u64, here: u64, other: u64) -> Option<bool> {
        let name = self.described.get(index)?.name;
        let text = self.peek.bytes(name.offset, name.end()?);
        if word == at::TYPE && is_tracepoint(&text) {
            let half = |value: u64| self.first_half(value) == u64::from(TYPE_TRACEPOINT);
            return one_of(half(here), half(other));
        }
        let (kind, config) = generic_event(&text)?;
        let of_word = |value: u64| if word == at::CONFIG { value } else { self.first_half(value) };
        let expected = if word == at::CONFIG { config } else { kind };
        one_of(of_word(here) == expected, of_word(other) == expected)
    }

    /// Returns the number in the first half of a word, such as the type of an attr.
    const fn first_half(&self, value: u64) -> u64 {
        match self.peek.order {
            Order::Little => value & 0xffff_ffff,
            Order::Big => value >> 32,
        }
    }

    fn hint_by_command(&self, here: u64, other: u64) -> Option<bool> {
        let text = self.command_line().map(|section| {
            let most = section.offset.saturating_add(MOST_TEXT);
            self.peek.bytes(section.offset, section.end().unwrap_or(most).min(most))
        });
        let is_named = |value: u64| text.as_deref().is_some_and(|text| has_number(text, value));
        one_of(is_named(here), is_named(other))
            .or_else(|| one_of(here == DEFAULT_FREQUENCY, other == DEFAULT_FREQUENCY))
            .or_else(|| one_of(here == DEFAULT_PERIOD, other == DEFAULT_PERIOD))
    }

    fn command_line(&self) -> Option<Section> {
        match &self.home {
            AttrHome::Table(recording) => {
                let end = recording.body.data.end().filter(|end| *end <= self.peek.len())?;
                recording.table(end).section(feature::CMDLINE)
            }
            AttrHome::Pipe(piped) => piped.command_line,
        }
    }

    fn hint_by_records(&self, here: u64, other: u64) -> Option<bool> {
        let [here, other] = [here, other].map(|word| attr::flags(word, self.peek.order));
        let differ = here ^ other;
        let switches = RECORDED.iter().fold(0, |all, (flag, _)| all | flag);
        let wanted = EXCLUDED.iter().fold(switches, |all, (flag, _)| all | flag);
        if differ & wanted == 0 || self.evidence_left.get() == 0 {
            return None;
        }
        // Which of several events a record belongs to depends on their attrs.
        let is_single = self.attrs.len() == 1;
        let mut is_hidden = false;
        let mut shown = 0_u64;
        let mut recorded = 0_u64;
        for record in self.records().take(MOST_RECORDS) {
            self.spend_evidence(1);
            match record.frame.kind {
                record::SAMPLE if is_single => {
                    let mode = record.frame.misc & CPU_MODE;
                    let flag = EXCLUDED.iter().find(|(_, excluded)| *excluded == mode);
                    shown |= flag.map_or(0, |(flag, _)| *flag);
                }
                record::COMPRESSED | record::COMPRESSED2 => is_hidden = true,
                kind => {
                    let flag = RECORDED.iter().find(|(_, of)| *of == kind);
                    recorded |= flag.map_or(0, |(flag, _)| *flag);
                }
            }
        }
        let is_contradicted = |flags: u64| {
            let is_missing = (flags ^ recorded) & switches & differ != 0;
            flags & shown != 0 || is_single && !is_hidden && is_missing
        };
        one_of(!is_contradicted(here), !is_contradicted(other))
    }
}

/// Returns whether the first of two claims holds if exactly one does.
fn one_of(first: bool, second: bool) -> Option<bool> {
    (first != second).then_some(first)
}

/// Returns type and config of a generic event such as `cpu-clock` or `cycles:u`.
pub(super) fn generic_event(text: &[u8]) -> Option<(u64, u64)> {
    let end = text.iter().position(|byte| matches!(byte, 0 | b':')).unwrap_or(text.len());
    let name = text.get(..end)?;
    let find = |kind: u64, names: &[&str]| {
        let config = names.iter().position(|known| known.as_bytes() == name)?;
        Some((kind, to_u64(config)))
    };
    find(HARDWARE, &HARDWARE_NAMES).or_else(|| find(SOFTWARE, &SOFTWARE_NAMES))
}

/// Whether a text is the name of a tracepoint, such as `sched:sched_switch`. Those of breakpoints
/// begin with `mem:`.
pub(super) fn is_tracepoint(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let mut parts = text.get(..end).unwrap_or_default().split(|byte| *byte == b':');
    let (system, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    system != b"mem"
        && generic_event(text).is_none()
        && system.iter().all(is_word)
        && !name.iter().all(|byte| MODIFIERS.contains(byte))
}

/// Whether a text has a decimal number.
fn has_number(text: &[u8], value: u64) -> bool {
    let wanted = value.to_string();
    text.split(|byte| !byte.is_ascii_digit()).any(|digits| digits == wanted.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generic_name_has_a_type_and_a_config() {
        assert_eq!(generic_event(b"cpu-clock\0\0\0"), Some((1, 0)));
        assert_eq!(generic_event(b"instructions:u\0"), Some((0, 1)));
        assert_eq!(generic_event(b"sched:sched_switch\0"), None);
        assert_eq!(generic_event(b"mine\0"), None);
    }

    #[test]
    fn a_tracepoint_has_a_system_and_a_name() {
        for name in [&b"sched:sched_switch\0\0"[..], b"probe:main", b"raw_syscalls:sys_enter"] {
            assert!(is_tracepoint(name));
        }
        for name in [&b"cpu-clock:u\0"[..], b"mem:0x1000:rw", b"L1-dcache-loads:u", b"r1a8", b""] {
            assert!(!is_tracepoint(name));
        }
    }

    #[test]
    fn a_number_of_a_command_line_is_whole() {
        assert!(has_number(b"-F 499\0", 499));
        assert!(has_number(b"-F499\0", 499));
        assert!(!has_number(b"-F 1499\0", 499));
        assert!(!has_number(b"-F 4990\0", 499));
    }
}

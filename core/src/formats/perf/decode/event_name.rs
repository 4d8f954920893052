//! Names of events, as far as their attrs tell them.
//!
//! Sources: perf's `util/evsel.c` (`evsel__name` and what it calls), which names an event without
//! EVENT_DESC so, and `perf list` for the names. Two modifiers that stand for no restriction, `HG`,
//! are left out, since nobody writes them.

use super::attr::{Attr, EventKind};
use crate::formats::perf::layout::{HARDWARE_NAMES, SOFTWARE_NAMES};
use crate::kit::num::to_usize;

/// Caches by bits 0 to 7 of `attr.config`.
const CACHES: [&str; 7] = ["L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"];
/// Operations by bits 8 to 15, each with the name of all accesses by it.
const OPERATIONS: [(&str, &str); 3] =
    [("load", "loads"), ("store", "stores"), ("prefetch", "prefetches")];

/// Whether bytes can be the name of an event: perf gives each one, without control characters.
pub fn is_name(text: &[u8]) -> bool {
    !text.is_empty() && !text.iter().any(u8::is_ascii_control)
}

/// Returns the name of an event that is not a tracepoint. An event of a PMU whose number only the
/// machine can name is called by its numbers.
pub fn name_of(attr: &Attr) -> String {
    match plain_name(attr) {
        Some(name) => format!("{name}{}", modifiers(attr)),
        None => format!("type_{}:{:#x}", attr.kind, attr.config),
    }
}

fn plain_name(attr: &Attr) -> Option<String> {
    let at = |table: &[&str]| table.get(to_usize(attr.config)).map(|name| (*name).to_string());
    match EventKind::of(attr.kind)? {
        EventKind::Hardware => at(&HARDWARE_NAMES),
        EventKind::Software => at(&SOFTWARE_NAMES),
        EventKind::Cache => cache_name(attr.config),
        EventKind::Raw => Some(format!("r{:x}", attr.config)),
        EventKind::Breakpoint => Some(format!("mem:{:#x}", attr.config1)),
    }
}

/// Returns the name of an event of a cache; `None` if one of its three parts is unknown.
fn cache_name(config: u64) -> Option<String> {
    let part = |shift: u32| to_usize(config >> shift & 0xff);
    let cache = CACHES.get(part(0))?;
    let (one, all) = OPERATIONS.get(part(8))?;
    match config >> 16 {
        0 => Some(format!("{cache}-{all}")),
        1 => Some(format!("{cache}-{one}-misses")),
        _ => None,
    }
}

/// Returns the modifiers of an event after a colon; empty without one.
fn modifiers(attr: &Attr) -> String {
    let excluded = [attr.excludes_kernel(), attr.excludes_user(), attr.excludes_hypervisor()];
    let mut text = String::new();
    if excluded.contains(&true) {
        let counted = "kuh".chars().zip(excluded).filter(|(_, is_excluded)| !is_excluded);
        text.extend(counted.map(|(level, _)| level));
    }
    text.extend(std::iter::repeat_n('p', to_usize(attr.precise_ip())));
    if attr.excludes_host() {
        text.push('G');
    }
    if text.is_empty() { text } else { format!(":{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(kind: u32, config: u64, flags: u64) -> String {
        name_of(&Attr { kind, config, flags, config1: 0x601040, ..Attr::default() })
    }

    #[test]
    fn an_event_has_the_name_by_which_perf_list_has_it() {
        assert_eq!(named(0, 0, 0), "cycles");
        assert_eq!(named(0, 9, 0), "ref-cycles");
        assert_eq!(named(1, 0, 0), "cpu-clock");
        assert_eq!(named(3, 0, 0), "L1-dcache-loads");
        assert_eq!(named(3, 0x1_0103, 0), "dTLB-store-misses");
        assert_eq!(named(3, 0x206, 0), "node-prefetches");
        assert_eq!(named(4, 0x1c2, 0), "r1c2");
        assert_eq!(named(5, 0, 0), "mem:0x601040");
    }

    #[test]
    fn an_event_without_a_name_has_its_numbers() {
        assert_eq!(named(0, 10, 0), "type_0:0xa");
        assert_eq!(named(3, 7, 0), "type_3:0x7");
        assert_eq!(named(3, 0x300, 0), "type_3:0x300");
        assert_eq!(named(3, 0x2_0000, 0), "type_3:0x20000");
        assert_eq!(named(8, 0x300, 1 << 5), "type_8:0x300");
    }

    #[test]
    fn modifiers_say_what_is_counted() {
        let (user, kernel, hypervisor) = (1 << 4, 1 << 5, 1 << 6);
        assert_eq!(named(0, 0, kernel | hypervisor), "cycles:u");
        assert_eq!(named(0, 0, user | hypervisor), "cycles:k");
        assert_eq!(named(0, 0, user | kernel), "cycles:h");
        assert_eq!(named(0, 0, hypervisor), "cycles:ku");
        assert_eq!(named(0, 0, 3 << 15), "cycles:ppp");
        assert_eq!(named(0, 0, kernel | hypervisor | 1 << 15), "cycles:up");
        assert_eq!(named(0, 0, 1 << 19), "cycles:G");
        assert_eq!(named(0, 0, 1 << 20), "cycles");
    }
}

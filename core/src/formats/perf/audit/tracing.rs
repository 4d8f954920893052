//! TRACING_DATA: tables of the whole system, and formats of tracepoints and of probes, which the
//! kernel writes with names that a user chose.

use std::collections::BTreeSet;

use super::{Record, words};
use crate::kit::field_log::Field;
use crate::sight::filler::Filler;
use crate::sight::harmless::holds;
use crate::sight::rules::sender;
use crate::sight::{Auditor, Excerpt};

/// Words of a format that the kernel writes. Source: `print_event_fields` and `__set_print_fmt` of
/// Linux 6.12, kernel/trace/trace_probe.c.
const WORDS: &str = "\
    name ID format field offset size signed print fmt REC unsigned long int short char void \
    __data_loc __rel_loc __get_str __get_rel_str __get_dynamic_array u8 u16 u32 u64 s8 s16 s32 s64 \
    x8 x16 x32 x64 common_type common_flags common_preempt_count common_pid common_lock_depth \
    common_migrate_disable common_preempt_lazy_count __probe_ip __probe_func __probe_ret_ip \
    lx llx Lx Ld Lu lu ld llu lld x d u s c p pS 0x";

/// Most digits of a number: sizes, offsets and ids are below 2^16.
const DIGITS: usize = 5;

impl Record<'_> {
    /// Judges a part of TRACING_DATA. The kernel describes its own systems of tracepoints; a user
    /// names those of probes.
    pub(super) fn audit_tracing(
        &self,
        auditor: &mut Auditor<'_>,
        field: &Field,
        bytes: &[u8],
        system: &[u8],
    ) {
        let place = self.place(field);
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let is_kernels = match field.label.as_ref() {
            "tracing.kallsyms" | "tracing.printk" | "tracing.cmdlines" => {
                return self.audit_table(auditor, field, bytes);
            }
            "tracing.system" => words::is_system(text) || text.is_empty(),
            "tracing.version" => words::is_harmless(text),
            "tracing.format" if system.is_empty() => words::is_page(text),
            "tracing.format" => words::is_format(system, text),
            _ => return,
        };
        auditor.text(self.section, text, place);
        if is_kernels {
            return;
        }
        let names = match field.label.as_ref() {
            "tracing.system" => Some(vec![text]),
            _ => names(text),
        };
        for name in names.iter().flatten() {
            let kind = (&sender::CHOSEN_NAME, "chosen name");
            self.hide_text(auditor, kind, (name, name), place.of_part(text, name));
        }
        if names.is_none() {
            let subject = (self.section, "unknown description");
            auditor.see(&sender::CHOSEN_NAME, subject, place, Excerpt::Text(text));
        }
    }

    /// Judges the tables of symbols and processes of the whole system in TRACING_DATA. perf reads
    /// one of zeros as an empty one.
    pub(super) fn audit_table(&self, auditor: &mut Auditor<'_>, field: &Field, bytes: &[u8]) {
        let (rule, noun) = match field.label.as_ref() {
            "tracing.cmdlines" => (&sender::PROCESS, "process list"),
            _ => (&sender::KERNEL_ADDRESS, "kernel symbol table"),
        };
        let private = self.place(field).private(bytes, Filler::Zeros);
        let excerpt = Excerpt::Bytes(bytes, field.span.len());
        auditor.hide(rule, (self.section, noun), 1, private, excerpt);
    }
}

/// Returns the names in the format of a probe, wherever they are: its own and those of its fields.
/// `None` if it is not one, or has anything else that the kernel does not write.
fn names(format: &[u8]) -> Option<Vec<&[u8]>> {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\n');
    if !format.iter().all(is_text) {
        return None;
    }
    let mut known = BTreeSet::new();
    let mut names = Vec::new();
    let mut is_probe = false;
    for line in format.split(|byte| *byte == b'\n') {
        let declared = declared(line);
        known.extend(declared);
        for (before, word, after) in words_of(line) {
            is_probe |= word.starts_with(b"__probe");
            let is_used =
                after.starts_with(b"=") || before.ends_with(b"->") || before.ends_with(b"(");
            if is_used && known.contains(word) || declared.is_some_and(|name| same(name, word)) {
                names.push(word);
            } else if !holds(WORDS, word) && !is_number(word) {
                return None;
            }
        }
    }
    is_probe.then_some(names)
}

/// Returns the name that a line declares: of the probe, or of a field that is not the kernel's.
fn declared(line: &[u8]) -> Option<&[u8]> {
    if let Some(name) = line.strip_prefix(b"name: ") {
        return Some(name);
    }
    let field = line.strip_prefix(b"\tfield:")?.split(|byte| *byte == b';').next()?;
    // An array has its length behind the name.
    let names = words_of(field).map(|(_, word, _)| word).filter(|word| !is_number(word));
    names.last().filter(|name| !holds(WORDS, name))
}

/// Returns the words of a line, with what is before and after each.
fn words_of(line: &[u8]) -> impl Iterator<Item = (&[u8], &[u8], &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let (_, rest) = line.split_at_checked(at)?;
        let start = at.checked_add(rest.iter().position(is_part)?)?;
        let (before, rest) = line.split_at_checked(start)?;
        let len = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(len)?;
        at = start.checked_add(len)?;
        Some((before, word, after))
    })
}

/// Returns whether two texts are the same place.
fn same(one: &[u8], other: &[u8]) -> bool {
    std::ptr::eq(one, other)
}

fn is_number(word: &[u8]) -> bool {
    word.len() <= DIGITS && word.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(fields: &str, print: &str) -> String {
        format!(
            "name: login\nID: 2326\nformat:\n\tfield:unsigned short common_type;\toffset:0;\t\
             size:2;\tsigned:0;\n\n\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\t\
             signed:0;\n{fields}\nprint fmt: {print}\n"
        )
    }

    fn names_of(format: &str) -> Option<Vec<String>> {
        let found = names(format.as_bytes())?;
        Some(found.into_iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    #[test]
    fn the_names_of_a_probe_are_found_wherever_they_are() {
        let fields = "\tfield:u64 card;\toffset:16;\tsize:8;\tsigned:0;\n\
                      \tfield:__data_loc char[] text;\toffset:24;\tsize:4;\tsigned:1;\n\
                      \tfield:u32 pin[4];\toffset:28;\tsize:16;\tsigned:0;\n";
        let print = "\"(%lx) card=0x%Lx text=\\\"%s\\\" pin={%d,%d}\", REC->__probe_ip, REC->card, \
                     __get_str(text), REC->pin[0], REC->pin[1]";
        let found = names_of(&format(fields, print)).unwrap();
        let expected =
            ["login", "card", "text", "pin", "card", "text", "pin", "card", "text", "pin", "pin"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_format_with_anything_else_is_left() {
        assert!(names_of(&format("", "\"(%lx)\", REC->__probe_ip")).is_some());
        for print in ["\"(%lx) hunter2\", REC->__probe_ip", "\"\" 411111", "REC->card", "caf\u{e9}"]
        {
            assert_eq!(names_of(&format("", print)), None, "{print}");
        }
        assert_eq!(names_of("name: sched_switch\nID: 316\nformat:\n"), None);
        assert_eq!(names_of(""), None);
    }
}

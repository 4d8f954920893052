//! CPUs, mark types and hardware counters.

use super::{MetadataCheck, is_unsafe};
use crate::formats::ovni::decode::json::{Item, Kind};
use crate::formats::ovni::layout::{LABEL_MAX, MARK_TYPES};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::metadata::{Counter, Cpu, MarkType};
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::words::byte_count;

/// Bytes of the name of a counter: the emulator writes a file `hwc-NAME.cfg`, and file names have
/// at most 255 bytes.
const COUNTER_NAME_MAX: usize = 255 - "hwc-.cfg".len();
const CPUS: &str = "ovni.loom_cpus";
/// A number of a CPU that is invalid: no CPU has it.
const INVALID: i64 = -1;

impl MetadataCheck<'_, '_> {
    pub(super) fn check_cpus(&mut self, root: Item<'_, '_>) {
        let Some(list) = root.path(CPUS) else { return };
        if list.kind() != Kind::Array {
            let kind = list.kind().name();
            let message = format!("`{CPUS}` is {kind}, which ovniemu ignores; expected an array");
            self.push_finding(&rules::TOLERATED_VALUE, list.span(), CPUS, message);
            return;
        }
        if list.items().next().is_none() {
            let message = format!("`{CPUS}` is empty, expected at least one CPU");
            self.push_finding(&rules::BAD_VALUE, list.span(), CPUS, message);
        }
        for item in list.items() {
            let (mut index, mut phyid) = (INVALID, INVALID);
            if item.kind() == Kind::Object {
                index = self.read_cpu_key(item, "index");
                phyid = self.read_cpu_key(item, "phyid");
            } else {
                self.push_invalid(item, CPUS, "an object with index and phyid");
            }
            let span = self.span(item.span());
            self.found.definitions.cpus.push(Cpu { index, phyid, span });
        }
    }

    /// One number of a CPU, or [`INVALID`].
    fn read_cpu_key(&mut self, cpu: Item<'_, '_>, key: &str) -> i64 {
        let member = cpu.member(key);
        match member.map(|member| self.read_int(member, CPUS)) {
            Some(Some(value)) if value >= 0 => value,
            Some(None) if member.is_some_and(|member| member.number().is_some()) => {
                // The emulator's cast makes a negative number of it.
                self.push_invalid(member.unwrap_or(cpu), CPUS, "a number of at most 2147483647");
                INVALID
            }
            Some(Some(_)) => {
                self.push_invalid(member.unwrap_or(cpu), CPUS, "a number of at least 0");
                INVALID
            }
            _ => {
                let message = format!("CPU has no number `{key}`, which ovniemu reads as 0");
                self.push_finding(&rules::TOLERATED_VALUE, cpu.span(), CPUS, message);
                0
            }
        }
    }

    pub(super) fn check_marks(&mut self, root: Item<'_, '_>) {
        let list = root.path("ovni.mark").filter(|list| list.kind() == Kind::Object);
        let Some(list) = list else { return };
        for item in list.items() {
            if let Some(mark) = self.check_mark(item) {
                self.found.definitions.marks.push(mark);
            }
        }
    }

    fn check_mark(&mut self, item: Item<'_, '_>) -> Option<MarkType> {
        let key = item.key();
        let path = format!("ovni.mark.{}", Untrusted(key.as_bytes()));
        let number = key.trim_ascii_start().parse::<i64>().ok();
        let number = number.filter(|number| (0..MARK_TYPES).contains(number));
        let Some(number) = number.and_then(|number| i32::try_from(number).ok()) else {
            let shown = Untrusted(key.as_bytes());
            let message = format!("mark type is {shown:?}, expected a number from 0 to 99");
            self.push_finding(&rules::BAD_VALUE, item.span(), &path, message);
            return None;
        };
        let title = item.member("title").and_then(|title| self.read_text(title, &path));
        let kind = item.member("chan_type").and_then(|kind| kind.text());
        let (Some(title), Some(kind)) = (title, kind) else {
            let message = format!("mark type {number} has no string `title` or `chan_type`");
            self.push_finding(&rules::BAD_VALUE, item.span(), &path, message);
            return None;
        };
        if !matches!(kind.as_str(), "single" | "stack") {
            let kind = Untrusted(kind.as_bytes());
            let message = format!("`chan_type` is {kind:?}, expected single or stack");
            self.push_finding(&rules::BAD_VALUE, item.span(), &path, message);
            return None;
        }
        self.check_label(item, &path, &title, "title");
        let labels = self.read_labels(item, &path);
        let (span, is_stack) = (self.span(item.span()), kind == "stack");
        Some(MarkType { number, title, is_stack, labels, span })
    }

    /// A title or label: neither a path nor too long.
    fn check_label(&mut self, item: Item<'_, '_>, path: &str, label: &str, field: &str) {
        if is_unsafe(label) {
            self.report_unsafe_name(item, path, label);
        }
        let len = to_u64(label.len());
        if label.len() >= LABEL_MAX {
            let message =
                format!("{field} has {}, expected less than {LABEL_MAX}", byte_count(len));
            self.push_finding(&rules::LABEL_TOO_LONG, item.span(), path, message);
        }
    }

    fn read_labels(&mut self, mark: Item<'_, '_>, path: &str) -> Vec<(i64, String, Span)> {
        let mut found = Vec::new();
        let Some(labels) = mark.member("labels") else { return found };
        if labels.kind() != Kind::Object {
            self.push_invalid(labels, path, "an object of labels");
            return found;
        }
        for item in labels.items() {
            let value = item.key().trim_ascii_start().parse::<i64>();
            let label = self.read_text(item, path);
            let (Ok(value), Some(label)) = (value, label) else {
                let key = item.key();
                let shown = Untrusted(key.as_bytes());
                let message =
                    format!("label of {shown:?} is invalid, expected a number and a string");
                self.push_finding(&rules::BAD_VALUE, item.span(), path, message);
                continue;
            };
            self.check_label(item, path, &label, &format!("label of value {value}"));
            found.push((value, label, self.span(item.span())));
        }
        found
    }

    pub(super) fn check_counters(&mut self, root: Item<'_, '_>) {
        let list = root.path("nosv.hwc").filter(|list| list.kind() == Kind::Object);
        let Some(list) = list else { return };
        let count = i64::try_from(list.items().count()).unwrap_or(i64::MAX);
        let mut counters = Vec::new();
        for item in list.items() {
            let key = item.key();
            let path = format!("nosv.hwc.{}", Untrusted(key.as_bytes()));
            let index = key.trim_ascii_start().parse::<i64>().ok();
            let index = index.filter(|index| (0..count.min(MARK_TYPES)).contains(index));
            let name = item.member("name").and_then(|name| self.read_text(name, &path));
            let (Some(index), Some(name)) = (index, name) else {
                let highest = count.min(MARK_TYPES).saturating_sub(1);
                let shown = Untrusted(key.as_bytes());
                let message =
                    format!("counter {shown:?} is invalid, expected a name under 0 to {highest}");
                self.push_finding(&rules::BAD_VALUE, item.span(), &path, message);
                continue;
            };
            if is_unsafe(&name) || name.contains('/') {
                self.report_unsafe_name(item, &path, &name);
            }
            if name.len() > COUNTER_NAME_MAX {
                let max = byte_count(to_u64(COUNTER_NAME_MAX));
                let expected = format!("a name of at most {max}, for a file");
                self.push_invalid(item, &path, &expected);
            }
            counters.push(Counter { index, name, span: self.span(item.span()) });
        }
        if count > 0 {
            self.found.definitions.counters = Some(counters);
        }
    }
}

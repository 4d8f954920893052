//! The formats that this version knows: one line each.

use crate::FileSet;
use crate::formats::{Confidence, Format, apitrace, ovni, perf, qemu, revent};
use crate::report::Rule;
use crate::report::rule::common;

/// Every format. The command line, the renderers and the tests iterate over this.
pub static FORMATS: &[&dyn Format] =
    &[&perf::PERF, &apitrace::APITRACE, &ovni::OVNI, &qemu::QEMU, &revent::REVENT];

/// Every rule: the common ones, then each format's.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let formats = FORMATS.iter().flat_map(|format| format.rules());
    common::RULES.iter().chain(formats).copied()
}

/// The rule with this code, or with this name.
pub fn rule(code: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.code.eq_ignore_ascii_case(code) || rule.name == code)
}

/// The format with this name.
pub fn format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format that is surest of the recording; the earlier one where two are equally sure.
pub fn sniff(files: &FileSet<'_>) -> Option<&'static dyn Format> {
    let mut likely = None;
    for format in FORMATS.iter().copied() {
        match format.sniff(files) {
            // None can be surer, and the others' trial decoding costs time and memory.
            Some(Confidence::Certain) => return Some(format),
            Some(Confidence::Evidence) => likely = likely.or(Some(format)),
            None => {}
        }
    }
    likely
}

//! Findings about the header, and about the release that the user names.

use crate::formats::qemu::check::defects;
use crate::formats::qemu::decode::event::FILE;
use crate::formats::qemu::decode::header::{Header, Version};
use crate::formats::qemu::layout::{self, HEADER_LEN, LAYOUTS, VERSION_LEN};
use crate::formats::qemu::recover::lane::Lane;
use crate::formats::qemu::recover::log::Log;
use crate::formats::qemu::rules;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::words::plural;
use crate::model::{Finding, Report, Rule};

/// The bytes of the version word.
pub const VERSION_SPAN: Span = Span::new(FILE, 0, VERSION_LEN);

/// Checks the unused bytes of the header.
pub fn check_unused(header: &Header, report: &mut Report) {
    if header.unused_set > 0 {
        let span = Span::new(FILE, VERSION_LEN, HEADER_LEN);
        let message = format!("{} of 8 unused bytes are not 0", header.unused_set);
        report.push(Finding::new(&rules::HEADER_RESERVED, span, "header.reserved", message));
    }
}

/// Returns the layout of the release that the user named, or reports why the log cannot have it.
pub fn check_choice(wanted: &str, log: &Log<'_>, report: &mut Report) -> Option<usize> {
    let number = layout::release(wanted);
    let possible = number.filter(|number| log.race.layouts().contains(*number));
    if possible.is_some() {
        return possible;
    }
    let excluded = number.and_then(|number| {
        log.race.excluded.iter().find(|excluded| excluded.layouts.contains(number))
    });
    let reason = match (number, excluded, log.header.version) {
        (None, ..) => "no such release is known".to_string(),
        (_, Some(excluded), _) => {
            let name = defects::rule_of(&excluded.defect).name;
            format!("the event at {:#x} contradicts it ({name})", excluded.at)
        }
        (_, _, Version::Known(word)) => format!("version is {word:#x}"),
        _ => "another layout explains more events".to_string(),
    };
    let wanted = Untrusted(wanted.as_bytes());
    let fits = log.race.layouts().describe_releases();
    let message = format!("--qemu-version is {wanted}, but {reason}; the log fits QEMU {fits}");
    let rule = &rules::CHOICE_CONTRADICTED;
    report.push(Finding::new(rule, VERSION_SPAN, "header.version", message));
    None
}

/// Reports a log without a usable version whose events no layout explains.
pub fn push_unexplained(version: Version, lane: &Lane<'_>, report: &mut Report) {
    let message = format!(
        "{}; no layout explains more than {}, up to {:#x}",
        describe(version),
        plural(lane.written(), "event"),
        lane.at
    );
    let rule = rule_of(version).unwrap_or(&rules::UNFINISHED);
    report.push(Finding::new(rule, VERSION_SPAN, "header.version", message));
    report.mark_unreadable();
}

/// Returns the rule that a version word breaks.
pub const fn rule_of(version: Version) -> Option<&'static Rule> {
    match version {
        Version::Known(_) => None,
        Version::Unfinished => Some(&rules::UNFINISHED),
        Version::Unreleased(_) | Version::Unknown(_) => Some(&rules::UNKNOWN_VERSION),
        Version::Newer(_) => Some(&rules::NEWER_VERSION),
    }
}

/// Describes a version word.
pub fn describe(version: Version) -> String {
    match version {
        Version::Unfinished => "version is 0: QEMU did not finish".to_string(),
        Version::Known(word) => format!("version is {word:#x}"),
        Version::Unreleased(word) => {
            format!("version is {word:#x}, which existed only between two releases")
        }
        Version::Unknown(word) => format!("version is {word:#x}, which no release wrote"),
        Version::Newer(word) => {
            let [.., last] = &LAYOUTS;
            format!("version is {word:#x}, newer than {:#x}, the newest known", last.version)
        }
    }
}

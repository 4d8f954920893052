//! A report as one page without a script; see [`crate::show::page`].
//!
//! ```text
//!  summary        counts, a line per recording
//!  Section        a recording: its bar, its findings, each with bytes, fix and next command
//!  codes          the page of `explain` for each code that was found
//! ```
//!
//! The page has a largest size, which is a few seconds of loading: further findings and recordings
//! are counted.

mod bar;
mod finding;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use tracemend::words::{list, plural};
use tracemend::{Report, Severity};

use super::{Checked, Closing, Settings};
use crate::files::skipped::SkipReason;
use crate::kit::figures::size;
use crate::show::group::count_severities;
use crate::show::markup::escape;
use crate::show::page::{self, describe_rules};
use crate::show::summary::count_unlisted;

/// Findings of one recording that are shown.
const FINDINGS_SHOWN: usize = 500;
/// Findings of one recording that are open from the start.
const FINDINGS_OPEN: usize = 3;
/// Bytes of one section, and of all of them. The codes add a megabyte if all of them are found.
const SECTION_BYTES: usize = 1_000_000;
const SECTIONS_BYTES: usize = 3_000_000;
/// Facts about one recording.
const FACTS_SHOWN: usize = 100;
/// Paths of skipped files.
const PATHS_SHOWN: usize = 10;
/// Bytes of the hash of a path that make the name of a section.
const NAME_BYTES: usize = 6;

/// The part of a page about one recording.
#[derive(Debug)]
pub(in crate::commands::check) struct Section {
    /// The line in the summary.
    line: String,
    text: String,
    codes: BTreeSet<&'static str>,
    /// A clean recording that was found in a directory is only counted.
    is_hidden: bool,
}

/// The sections of a page, as far as it has room for them.
#[derive(Debug, Default)]
pub(super) struct Sections {
    shown: Vec<Section>,
    bytes: usize,
    left_out: u64,
}

impl Sections {
    pub(super) fn push(&mut self, section: Section) {
        if section.is_hidden {
            return;
        }
        let bytes =
            self.bytes.saturating_add(section.text.len()).saturating_add(section.line.len());
        if bytes > SECTIONS_BYTES {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.bytes = bytes;
        self.shown.push(section);
    }

    /// The whole page.
    pub(super) fn page(&self, closing: &Closing<'_>, settings: &Settings) -> String {
        let title = if settings.audit.is_some() { "tracemend audit" } else { "tracemend check" };
        let mut text = page::begin(title) + &summary(closing);
        text += "<ul>\n";
        self.shown.iter().for_each(|section| text += &section.line);
        text += "</ul>\n";
        if self.left_out > 0 {
            let left_out = plural(self.left_out, "further recording");
            let _infallible = writeln!(
                text,
                "<p>{left_out} left out, as the page would be too large; --format json has all</p>"
            );
        }
        text += &not_checked(closing);
        self.shown.iter().for_each(|section| text += &section.text);
        let codes = self.shown.iter().flat_map(|section| section.codes.iter().copied());
        text + &describe_rules(&codes.collect()) + page::END
    }
}

/// The counts of the run.
fn summary(closing: &Closing<'_>) -> String {
    let counts = closing.counts;
    let rows = [
        ("recordings", counts.recordings),
        ("clean", counts.clean),
        ("with errors", counts.with_errors),
        ("with warnings", counts.with_warnings),
        ("not read", closing.skipped.unread().0),
    ];
    let mut text = "<table>\n".to_string();
    for (name, count) in rows {
        let _infallible = writeln!(text, "<tr><th>{name}</th><td>{count}</td></tr>");
    }
    for (code, count) in &counts.suppressed {
        let code = escape(code);
        let _infallible = writeln!(text, "<tr><th>{code}, suppressed</th><td>{count}</td></tr>");
    }
    text + "</table>\n"
}

/// The files that were skipped, and the paths that could not be read.
fn not_checked(closing: &Closing<'_>) -> String {
    let mut text = String::new();
    for reason in SkipReason::ALL {
        let (count, paths) = closing.skipped.of(reason);
        if count > 0 {
            let paths: Vec<String> = paths.iter().map(|path| escape(path)).collect();
            let (files, paths) = (plural(count, "file"), list(&paths, PATHS_SHOWN, count));
            let _infallible = writeln!(text, "<p>skipped {files} ({}): {paths}</p>", reason.name());
        }
    }
    for (path, message) in closing.skipped.unread().1 {
        let (path, message) = (escape(path), escape(message));
        let _infallible = writeln!(text, "<p class=\"error\">not read: {path}: {message}</p>");
    }
    text
}

/// Renders one recording.
pub(super) fn section(checked: &Checked<'_>, settings: &Settings) -> Section {
    let report = checked.report;
    let id = name_section(checked);
    let (class, verdict) = describe_verdict(report);
    let name = escape(&checked.name);
    let line = format!(
        "<li><span class=\"{class}\">{verdict}</span>: <a href=\"#{id}\">{name}</a></li>\n"
    );
    let format = report.format.map_or("unknown format", |format| format.name());
    let mut text = format!(
        "<h2 id=\"{id}\">{name}</h2>\n<p>{format}, {}, <span class=\"{class}\">{verdict}</span>\
         </p>\n",
        size(report.length)
    );
    text += &facts(report);
    let shown = report.findings().get(..FINDINGS_SHOWN).unwrap_or(report.findings());
    let mut drawn = String::new();
    let mut count = 0_usize;
    for (index, one) in shown.iter().enumerate() {
        if drawn.len() > SECTION_BYTES {
            break;
        }
        let is_open = index < FINDINGS_OPEN;
        drawn += &finding::describe(checked, one, settings, (&format!("{id}-{index}"), is_open));
        count = index.saturating_add(1);
    }
    let shown = shown.get(..count).unwrap_or_default();
    text += &bar::draw(checked, shown, &id);
    text += &drawn;
    let held = report.findings().len().saturating_sub(count);
    let more = count_unlisted(report).saturating_add(u64::try_from(held).unwrap_or(u64::MAX));
    if more > 0 {
        let _infallible = writeln!(text, "<p>{} not shown</p>", plural(more, "further finding"));
    }
    let codes = shown.iter().map(|one| one.rule.code).collect();
    let is_hidden = checked.is_walked && report.worst().is_none();
    Section { line, text, codes, is_hidden }
}

/// The name of a section: equal for equal paths, and without a character of the path.
fn name_section(checked: &Checked<'_>) -> String {
    let hash = Sha256::digest(checked.name.as_bytes());
    hash.iter().take(NAME_BYTES).fold("r".to_string(), |id, byte| format!("{id}{byte:02x}"))
}

pub(super) fn describe_verdict(report: &Report) -> (&'static str, String) {
    let counts = count_severities(report);
    let class = match report.worst() {
        _ if report.incomplete() => "error",
        Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warning",
        _ => "good",
    };
    let mut words = counts;
    if words.is_empty() || report.incomplete() {
        words.insert(0, report.verdict().name().to_string());
    }
    (class, words.join(", "))
}

/// Layout, devices, models, clocks.
fn facts(report: &Report) -> String {
    if report.facts.is_empty() {
        return String::new();
    }
    let mut text = "<details><summary>facts</summary>\n<table>\n".to_string();
    for (name, value) in report.facts.iter().take(FACTS_SHOWN) {
        let (name, value) = (escape(name), escape(value));
        let _infallible = writeln!(text, "<tr><th>{name}</th><td>{value}</td></tr>");
    }
    text + "</table></details>\n"
}

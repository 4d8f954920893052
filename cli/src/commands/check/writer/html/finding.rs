//! One finding of a page: what, why, bytes, fix with before and after, next command.

use std::fmt::Write as _;

use miette::Diagnostic as _;
use tracemend::words::plural;
use tracemend::{Edit, FileSet, Finding, Fix, Safety, Severity, Shown, Source};

use super::super::{Checked, Settings, place};
use crate::show::finding::{ROWS, split_labelled, split_row};
use crate::show::group::{DEPENDS, depends_on_others, is_automatic, waits};
use crate::show::markup::escape;

/// Cells of a row.
const CELLS: u64 = 16;
/// Notes and related places.
const NOTES_SHOWN: usize = 20;
/// Edits of a fix, and bytes of each, that are shown; `repair --plan` writes all.
const EDITS_SHOWN: usize = 8;
const EDIT_BYTES: u64 = 16;

/// A finding as a part that opens and closes, with `id` for links.
pub(super) fn describe(
    checked: &Checked<'_>,
    finding: &Finding,
    settings: &Settings,
    (id, is_open): (&str, bool),
) -> String {
    let (severity, code) = (finding.severity.name(), finding.rule.code);
    let message = escape(&finding.message);
    let open = if is_open { " open=\"open\"" } else { "" };
    let mut text = format!(
        "<details{open}><summary><span class=\"{severity}\">{severity}</span> <code>{code}</code> \
         {message}</summary>\n<div id=\"{id}\">\n<p><a href=\"#{code}\">{code} {}</a>: {}</p>\n",
        finding.rule.name,
        escape(finding.rule.consequence())
    );
    let file = match checked.is_directory {
        true => format!("{}: ", escape(&place::name(checked, finding))),
        false => String::new(),
    };
    let _infallible = writeln!(
        text,
        "<p>{file}<code>{}</code>, <span class=\"range\">{}</span></p>",
        escape(&finding.path),
        finding.span
    );
    for note in finding.notes.iter().take(NOTES_SHOWN) {
        let _infallible = writeln!(text, "<p>{}</p>", escape(note));
    }
    for related in finding.related.iter().take(NOTES_SHOWN) {
        let message = escape(&related.message);
        let _infallible = writeln!(text, "<p>{message} at {}</p>", related.span);
    }
    // An audit masks what is private.
    if settings.audit.is_none() {
        text += &bytes(finding, checked.files);
        text += &fix(checked, finding, settings);
    }
    text + "</div></details>\n"
}

/// The bytes in hexadecimal, with those of the finding marked.
fn bytes(finding: &Finding, files: &FileSet<'_>) -> String {
    let shown = Shown::new(finding, files, CELLS);
    let label = shown.labels().and_then(|mut labels| labels.next());
    let Some((label, source)) = label.zip(shown.source_code()) else { return String::new() };
    let Ok(window) = source.read_span(label.inner(), 1, ROWS) else { return String::new() };
    let rows = String::from_utf8_lossy(window.data()).into_owned();
    let mut labelled = label.len().saturating_add(1) / 3;
    let mut text = "<pre>".to_string();
    for row in rows.lines() {
        let (offset, cells) = split_row(row);
        let (marked, rest) = split_labelled(cells, &mut labelled);
        let (marked, rest) = (escape(marked), escape(rest));
        let _infallible = match marked.is_empty() {
            true => writeln!(text, "{offset:>10}  {rest}"),
            false => writeln!(text, "{offset:>10}  <mark>{marked}</mark>{rest}"),
        };
    }
    text + "</pre>\n"
}

/// The fix, the bytes before and after it, and the command that applies it.
fn fix(checked: &Checked<'_>, finding: &Finding, settings: &Settings) -> String {
    let next = settings.next(checked.path);
    let Some(fix) = &finding.fix else {
        return match finding.severity {
            Severity::Info => String::new(),
            _ if depends_on_others(finding) => {
                let command = escape(&next.repair("--dry-run"));
                format!("<p>{DEPENDS}</p>\n<pre>{command}</pre>\n")
            }
            _ => "<p>no automatic fix</p>\n".to_string(),
        };
    };
    let (label, commands) = match is_automatic(finding) {
        true => {
            let command = next.repair_up_to(fix.safety, finding.severity);
            (format!("fix ({})", fix.safety), vec![command])
        }
        false if waits(finding, fix) => {
            let command = next.repair_up_to(fix.safety, finding.severity);
            (format!("fix ({}), after others", fix.safety), vec![command])
        }
        false => {
            let commands = fix.options.iter().map(|option| next.repair(option));
            ("no automatic fix".to_string(), commands.collect())
        }
    };
    let summary = next.name_file(&fix.summary, checked.files);
    let mut text = format!("<p>{label}: {}</p>\n", escape(&summary));
    text += &edits(fix, checked.files);
    for command in commands {
        let _infallible = writeln!(text, "<pre>{}</pre>", escape(&command));
    }
    text
}

fn edits(fix: &Fix, files: &FileSet<'_>) -> String {
    let stored: Vec<&Edit> =
        fix.edits.iter().filter(|edit| edit.span.layer().is_stored()).collect();
    if stored.is_empty() || fix.safety == Safety::Manual {
        return String::new();
    }
    let mut text = "<table>\n<tr><th>place</th><th>before</th><th>after</th></tr>\n".to_string();
    for edit in stored.iter().take(EDITS_SHOWN) {
        let span = edit.span;
        let end = span.end().min(span.start().saturating_add(EDIT_BYTES));
        let before = files.bytes(span.layer().file).read(span.start(), end);
        let after = Source::new(&edit.insert);
        let after_len = edit.elided.as_deref().map_or(after.len(), |elided| elided.length);
        let _infallible = writeln!(
            text,
            "<tr><td class=\"range\">{span}</td><td><code>{}</code></td><td><code>{}</code></td>\
             </tr>",
            hex(&before, span.len()),
            hex(&after.read(0, EDIT_BYTES), after_len)
        );
    }
    text += "</table>\n";
    let more = stored.len().saturating_sub(EDITS_SHOWN);
    if more > 0 {
        let more = plural(u64::try_from(more).unwrap_or(u64::MAX), "further edit");
        let _infallible = writeln!(text, "<p>and {more}</p>");
    }
    text
}

/// Bytes of a text of `length` bytes.
fn hex(bytes: &[u8], length: u64) -> String {
    let cells: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let shown = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    match length.saturating_sub(shown) {
        _ if length == 0 => "nothing".to_string(),
        0 => cells.join(" "),
        more if cells.is_empty() => plural(more, "byte"),
        more => format!("{} and {}", cells.join(" "), plural(more, "byte")),
    }
}

//! The bar of a file, on which each finding is a mark that leads to it.

use std::fmt::Write as _;

use tracemend::Finding;

use super::super::{Checked, place};
use crate::show::group::file_name;
use crate::show::page::{as_float, escape};

/// Files of a recording that have a bar.
const BARS_SHOWN: usize = 16;
/// Steps along a bar.
const WIDTH: f64 = 1_000.0;
/// The narrowest mark: one byte of a gigabyte is seen.
const MARK_LEAST: f64 = 2.0;

/// The bars of the files that have findings. `id` is the name of the section.
pub(super) fn draw(checked: &Checked<'_>, findings: &[Finding], id: &str) -> String {
    let mut files: Vec<u32> =
        findings.iter().map(|finding| place::stored(finding).layer().file).collect();
    files.sort_unstable();
    files.dedup();
    let bars = files.iter().take(BARS_SHOWN).map(|file| draw_file(checked, findings, id, *file));
    bars.collect()
}

fn draw_file(checked: &Checked<'_>, findings: &[Finding], id: &str, file: u32) -> String {
    let length = checked.files.bytes(file).len();
    if length == 0 {
        return String::new();
    }
    let name = match checked.is_directory {
        true => format!("<p>{}</p>\n", escape(&file_name(checked.files, file))),
        false => String::new(),
    };
    let mut text = format!(
        "{name}<svg viewBox=\"0 0 {WIDTH} 24\" preserveAspectRatio=\"none\" role=\"group\" \
         aria-label=\"places of the findings along the file; the list below has the same\">"
    );
    let scale = WIDTH / as_float(length);
    for (index, finding) in findings.iter().enumerate() {
        let span = place::stored(finding);
        if span.layer().file != file || !span.layer().is_stored() {
            continue;
        }
        let width = (as_float(span.len()) * scale).clamp(MARK_LEAST, WIDTH);
        let x = (as_float(span.start()) * scale).min(WIDTH - width);
        let (severity, code) = (finding.severity.name(), finding.rule.code);
        let _infallible = write!(
            text,
            "<a href=\"#{id}-{index}\"><rect class=\"{severity}\" x=\"{x:.2}\" y=\"0\" \
             width=\"{width:.2}\" height=\"24\"><title>{code} {span}</title></rect></a>"
        );
    }
    text + "</svg>\n"
}

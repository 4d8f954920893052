//! The strip of a file, on which each finding is a mark that leads to it.

use tracemend::Finding;

use super::super::{Checked, place};
use crate::show::group::file_name;
use crate::show::picture::{self, Class, Sheet, Stretch, Strip, paint};

/// Files of a recording that have a strip.
const STRIPS_SHOWN: usize = 16;

/// The strips of the files that have findings. `id` is the name of the section.
pub(super) fn draw(checked: &Checked<'_>, findings: &[Finding], id: &str) -> String {
    let stored = |finding: &Finding| {
        let span = place::stored(finding);
        span.layer().is_stored().then_some(span)
    };
    let mut files: Vec<u32> =
        findings.iter().filter_map(stored).map(|span| span.layer().file).collect();
    files.sort_unstable();
    files.dedup();
    let mut sheet = Sheet::default();
    for file in files.iter().take(STRIPS_SHOWN) {
        let length = checked.files.bytes(*file).len();
        if length == 0 {
            continue;
        }
        if checked.is_directory {
            sheet.line(&file_name(checked.files, *file));
        }
        let marks = findings.iter().enumerate().filter_map(|(index, finding)| {
            let span = stored(finding).filter(|span| span.layer().file == *file)?;
            let title = format!("{} {span}", finding.rule.code);
            let link = Some(format!("{id}-{index}"));
            let class = Class::from(finding.severity);
            Some(Stretch { title, link, ..Stretch::new((span.start(), span.end()), class) })
        });
        let all = Stretch::new((0, length), Class::Plain);
        sheet.strip(Strip::lay(paint(marks.chain([all]).collect()).into_iter(), (0, length)));
    }
    if sheet.is_empty() {
        return String::new();
    }
    sheet.legend();
    picture::embedded(&sheet.finish("places of the findings; the list below has the same"))
}

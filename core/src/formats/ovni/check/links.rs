//! Symbolic links that were not followed, although the emulator follows them.

use crate::formats::ovni::decode::files::{CLOCK_OFFSETS, JSON, OBS, join, old_stem};
use crate::formats::ovni::rules;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::model::edit::Fix;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report};

/// Reports the links that can hold a part of the trace.
pub fn check_links(files: &FileSet<'_>, report: &mut Report) {
    for name in files.unfollowed_links() {
        if is_part(name) {
            report.push_with(&rules::LINK_OUTSIDE, rules::LINK_OUTSIDE.severity, || {
                report_link(files, name)
            });
        }
    }
}

/// Whether the name is that of a stream, of its metadata, of the table of clock offsets, or of a
/// directory of streams.
fn is_part(name: &str) -> bool {
    let leaf = name.rsplit_once('/').map_or(name, |(_, leaf)| leaf);
    let is_directory = ["loom.", "proc.", "thread."].iter().any(|start| leaf.starts_with(start));
    matches!(leaf, JSON | OBS) || name == CLOCK_OFFSETS || is_directory || old_stem(leaf).is_some()
}

fn report_link(files: &FileSet<'_>, name: &str) -> Finding {
    let span = Span::new(Layer::stored(find_neighbour(files, name)), 0, 0);
    let shown = Untrusted(name.as_bytes());
    let message = format!(
        "{shown:?} is a symbolic link that is not followed: it leads out of the \
                           trace, to a directory, or nowhere"
    );
    let fix = Fix::manual("copy the trace with the content of its links: cp -rL");
    Finding::new(&rules::LINK_OUTSIDE, span, "trace", message).fix(fix)
}

/// The other file of the stream, or else the first file: a link has no bytes to point at.
fn find_neighbour(files: &FileSet<'_>, name: &str) -> u32 {
    let dir = name.rsplit_once('/').map_or("", |(dir, _)| dir);
    let is_neighbour = |file: &str| file == join(dir, JSON) || file == join(dir, OBS);
    let mut numbered = (0_u32..).zip(files.files());
    numbered.find(|(_, file)| is_neighbour(&file.name)).map_or(0, |(number, _)| number)
}

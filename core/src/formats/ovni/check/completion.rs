//! Findings whose fix adds members to the metadata of a stream, or sets their values.

use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::members::NewMember;
use crate::formats::ovni::repair::metadata::add_members;
use crate::formats::ovni::repair::tail::weigh_displaced;
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::model::Finding;

/// A finding with a fix that adds members to the metadata of a stream, if there are any.
pub fn with_members(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    finding: Finding,
    members: Vec<NewMember>,
    text: &str,
) -> Finding {
    let edits = add_members(summary, stream, members);
    if edits.is_empty() {
        return finding;
    }
    finding.fix(weigh_displaced(stream, build_fix(text, edits)))
}

/// The first of some streams whose metadata can be read.
pub fn first_readable<'s, 't, 'a>(
    summary: &'s TraceSummary<'t, 'a>,
    among: &[usize],
) -> Option<&'s StreamSummary<'t, 'a>> {
    let mut streams = among.iter().filter_map(|number| summary.stream(*number));
    streams.find(|stream| stream.metadata.is_readable)
}

//! Edits of the stream that keep its length, stored in the units that hold the bytes.

use super::fixes::{FixPlan, build_fixes};
use super::{StreamEdit, StreamEditor, settle};
use crate::format::{StoreError, Stored};
use crate::formats::apitrace::decode::places::StreamPlaces;
use crate::formats::apitrace::expand::{Container, Expansion};
use crate::kit::source::Source;
use crate::model::edit::{Edit, Safety};
use crate::model::limits::{INSERTED, Limits, REDACTED};

/// Returns the edits of the file for `edits` of the stream, in order.
///
/// # Errors
///
/// If a byte of an edit is not in the stream, or the units are too large to be written anew.
pub fn store(
    source: &Source<'_>,
    container: Container,
    edits: &[Edit],
    limits: &Limits,
) -> Result<Stored, StoreError> {
    let mut limits = limits.clone();
    // The same bytes, held a second time while they are compressed.
    limits.set(&INSERTED, limits.of(&INSERTED).max(limits.of(&REDACTED)));
    let editor = StreamEditor::new(source, container, &limits);
    let placed = place_all(source, &editor, edits, &limits)?;
    let plan = FixPlan::of_stream(Safety::Lossy, String::new(), placed);
    let fix = build_fixes(&editor, vec![Some(plan)], &[true]).into_iter().next().flatten();
    let mut stored =
        fix.map(|fix| fix.edits).filter(|edits| !edits.is_empty()).ok_or(StoreError::Limit(
            "the chunks with private content are larger than can be written anew (limit redacted)",
        ))?;
    stored.extend(settle(source, &stored, &limits));
    stored.sort_by_key(|edit| edit.span.start);
    Ok(Stored { edits: stored, records_gone: 0 })
}

/// Finds the units of all edits.
fn place_all(
    source: &Source<'_>,
    editor: &StreamEditor<'_, '_>,
    edits: &[Edit],
    limits: &Limits,
) -> Result<Vec<StreamEdit>, &'static str> {
    let mut places = StreamPlaces::default();
    let mut left = edits.iter().peekable();
    let mut placed = Vec::with_capacity(edits.len());
    let mut expansion = Expansion::new(source, editor.container(), limits);
    while let Some(block) = expansion.next() {
        places.add_block(&block, 0);
        while let Some(edit) = left.next_if(|edit| edit.span.end <= block.end()) {
            let (start, end) = (edit.span.start, edit.span.end);
            let Some(place) = places.place(start, end) else {
                return Err("private content spans more chunks than are remembered");
            };
            placed.push(editor.edit(start, end, edit.insert.clone(), place));
        }
        expansion.recycle(block.bytes);
    }
    if left.next().is_some() { Err("private content lies after the stream") } else { Ok(placed) }
}

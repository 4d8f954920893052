//! Stores expanded records that were edited: they take the place of the compressed ones.
//!
//! ```text
//!  before   COMPRESSED { A B | C, first half }   FINISHED_ROUND   COMPRESSED { C, rest | D }
//!  after    A B                                  FINISHED_ROUND   C D
//! ```
//!
//! The blocks of a zstd stream refer to earlier ones, so all compressed records of a file are
//! replaced, or none. perf 6.1 reads a record where it becomes complete
//! (`tools/perf/util/session.c`: `perf_session__process_decomp_events`), and the feature COMPRESSED
//! without a compressed record does not disturb it, so the feature stays.

use crate::format::{StoreError, Stored};
use crate::formats::perf::decode::expand::{Expansion, Step, Wrapper};
use crate::formats::perf::decode::recording::{Opened, RecordFile, open};
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, record};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::model::edit::Edit;
use crate::model::limits::{Limits, REDACTED, RESYNC, ZSTD_WINDOW};
use crate::model::recording::FileSet;

const BROKEN: &str = "the compressed records cannot be expanded";

/// Returns edits that replace the compressed records by the records in them, with `edits` of these.
///
/// # Errors
///
/// If the records take more than the limit `redacted`, or their places are listed elsewhere.
pub fn store(files: &FileSet<'_>, edits: &[Edit], limits: &Limits) -> Result<Stored, StoreError> {
    let mut room = limits.of(&REDACTED);
    let mut stored = Stored::default();
    let mut store_file = |file: &RecordFile<'_>, area: (u64, u64)| -> Result<(), StoreError> {
        let layer = file.layer().expanded();
        let from = edits.partition_point(|edit| edit.span.layer < layer);
        let to = edits.partition_point(|edit| edit.span.layer <= layer);
        let mine = edits.get(from..to).filter(|mine| !mine.is_empty());
        let Some(mine) = mine else { return Ok(()) };
        let mut expanded = Expanded::read(file, area, limits, room)?;
        room = room.saturating_sub(to_u64(expanded.bytes.len()));
        expanded.apply(mine)?;
        let gone = expanded.wrappers.iter().filter(|wrapper| !wrapper.span.is_empty()).count();
        stored.records_gone = stored.records_gone.saturating_add(to_u64(gone));
        let Expanded { wrappers, bytes, ends } = expanded;
        stored.edits.extend(replace_wrappers(wrappers, &Source::new(&bytes), &ends));
        Ok(())
    };
    match open(files).map_err(|_| BROKEN)? {
        Opened::Pipe(file) => store_file(&file, (HEADER_SIZE_PIPE, file.length()))?,
        Opened::Sections(recording) => {
            let data = recording.body.data;
            store_file(&recording.file, (data.offset, data.end().ok_or(BROKEN)?))?;
            recording.parts.iter().try_for_each(|part| store_file(part, (0, part.length())))?;
        }
    }
    let settled = super::settle(files, &stored.edits);
    stored.edits.extend(settled);
    stored.edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start));
    Ok(stored)
}

/// A compressed record, and the end of what it expands to.
pub(super) struct WrapperPlace {
    pub(super) span: Span,
    pub(super) expanded_end: u64,
}

/// The records in the compressed records of a file.
#[derive(Default)]
struct Expanded {
    wrappers: Vec<WrapperPlace>,
    /// The complete records.
    bytes: Vec<u8>,
    /// The end of each of them.
    ends: Vec<HeldEnd>,
}

impl Expanded {
    /// Expands the compressed records of an area to at most `room` bytes.
    fn read(
        file: &RecordFile<'_>,
        area: (u64, u64),
        limits: &Limits,
        room: u64,
    ) -> Result<Self, StoreError> {
        let mut expanded = Self::default();
        let mut expansion = Expansion::new(file.dialect(), limits.of(&ZSTD_WINDOW));
        expansion.begin_file(file.index());
        for item in file.records(area, limits.of(&RESYNC)) {
            let record = match item {
                Item::Record(record) => record,
                Item::Damage(damage) => {
                    expansion.note_damage(damage.span);
                    continue;
                }
            };
            if record.frame.kind == record::AUXTRACE && !expanded.wrappers.is_empty() {
                // util/auxtrace.c: auxtrace_index holds the offsets of these records.
                let reason = "private content lies in compressed records, and AUX data follows \
                              them, whose places the feature AUXTRACE lists";
                return Err(reason.into());
            }
            let Some(wrapper) = Wrapper::of(record.frame.kind) else { continue };
            let span = Span::sized(file.layer(), record.offset, record.frame.size);
            let payload = wrapper.payload(&record.bytes, file.order());
            let mut taken = Ok(true);
            let fed = expansion.expand(payload, span, |_, step| {
                taken = expanded.take(&step, room);
                taken == Ok(true)
            });
            let is_whole = taken? && fed.is_ok();
            let stored = if is_whole { span } else { Span::sized(span.layer, span.start, 0) };
            expanded.wrappers.push(WrapperPlace { span: stored, expanded_end: expansion.end() });
            // The rest is not known: it stays compressed.
            if !is_whole {
                return Ok(expanded);
            }
        }
        expansion.finish();
        let mut taken = Ok(true);
        expansion.release(|_, step| {
            taken = expanded.take(&step, room);
            taken == Ok(true)
        });
        taken.map(|_| expanded)
    }

    /// Takes an expanded record; returns false for other bytes.
    fn take(&mut self, step: &Step<'_>, room: u64) -> Result<bool, StoreError> {
        match step {
            Step::Expanded(_) => {}
            Step::Damage(_) => return Ok(false),
            Step::Record(record) => {
                self.bytes.extend_from_slice(record.bytes);
                let held = to_u64(self.bytes.len());
                self.ends.push(HeldEnd { expanded: record.span().end, held });
            }
        }
        if to_u64(self.bytes.len()) > room {
            let reason = "the compressed records with private content expand to more than can be \
                          held (limit redacted)";
            return Err(StoreError::Limit(reason));
        }
        Ok(true)
    }

    /// Applies edits that keep the length.
    fn apply(&mut self, edits: &[Edit]) -> Result<(), StoreError> {
        for edit in edits {
            let (start, end) = (to_usize(edit.span.start), to_usize(edit.span.end));
            let place = self.bytes.get_mut(start..end).ok_or(BROKEN)?;
            if place.len() != edit.insert.len() {
                return Err("the filler has another length than the private content".into());
            }
            place.copy_from_slice(&edit.insert);
        }
        Ok(())
    }
}

/// The end of a record in the expanded layer, and in the bytes that are held of it.
#[derive(Clone, Copy)]
pub(super) struct HeldEnd {
    pub(super) expanded: u64,
    pub(super) held: u64,
}

/// Replaces each compressed record by those of the records that became complete in it which are
/// among `bytes`.
pub(super) fn replace_wrappers(
    wrappers: Vec<WrapperPlace>,
    bytes: &Source<'_>,
    ends: &[HeldEnd],
) -> Vec<Edit> {
    let mut done = 0;
    let edits = wrappers.into_iter().map(|WrapperPlace { span, expanded_end }| {
        let complete = ends.partition_point(|end| end.expanded <= expanded_end);
        let last = complete.checked_sub(1).and_then(|last| ends.get(last)).copied();
        let end = last.map_or(0, |last| last.held);
        let records = bytes.read(done, end.max(done));
        done = end.max(done);
        Edit::replace(span, records)
    });
    edits.collect()
}

//! Compressed records after the fault of their stream: nothing shows what is in them.

use crate::formats::perf::decode::expand::{Expansion, Step, Wrapper};
use crate::formats::perf::decode::recording::{Opened, RecordFile, open};
use crate::formats::perf::layout::HEADER_SIZE_PIPE;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC, ZSTD_WINDOW};
use crate::model::recording::FileSet;
use crate::sight::Auditor;

/// Passes the zstd data that cannot be expanded to `auditor` as damage; the records stay.
pub(super) fn audit(files: &FileSet<'_>, limits: &Limits, auditor: &mut Auditor<'_>) {
    match open(files) {
        Ok(Opened::Pipe(file)) => {
            audit_file(&file, (HEADER_SIZE_PIPE, file.length()), limits, auditor);
        }
        Ok(Opened::Sections(recording)) => {
            let data = recording.body.data;
            let declared = data.end().filter(|end| *end <= recording.length() && data.size > 0);
            let area = (data.offset, declared.unwrap_or(recording.length()));
            audit_file(&recording.file, area, limits, auditor);
            for part in &recording.parts {
                audit_file(part, (0, part.length()), limits, auditor);
            }
        }
        Err(_) => {}
    }
}

fn audit_file(file: &RecordFile<'_>, area: (u64, u64), limits: &Limits, auditor: &mut Auditor<'_>) {
    let mut expansion = Expansion::new(file.dialect(), limits.of(&ZSTD_WINDOW));
    expansion.begin_file(file.index());
    let mut is_over = false;
    for item in file.records(area, limits.of(&RESYNC)) {
        let record = match item {
            Item::Record(record) => record,
            Item::Damage(damage) => {
                expansion.note_damage(damage.span);
                continue;
            }
        };
        let Some(wrapper) = Wrapper::of(record.frame.kind) else { continue };
        let payload = wrapper.payload(&record.bytes, file.order());
        let stored = Span::sized(file.layer(), record.offset, record.frame.size);
        if !is_over {
            let fed = expansion.expand(payload, stored, |_, step| {
                is_over |= matches!(step, Step::Damage(_));
                !is_over
            });
            is_over |= fed.is_err();
        }
        if is_over {
            let start = stored.start.saturating_add(wrapper.head_len());
            let room = Span::new(stored.layer, start.min(stored.end), stored.end);
            let bytes = wrapper.room(&record.bytes);
            debug_assert_eq!(
                room.len(),
                to_u64(bytes.len()),
                "a record is its header and its data"
            );
            auditor.damaged("COMPRESSED", (bytes, room.len()), room.into());
        }
    }
}

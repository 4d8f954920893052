//! Writes the records in compressed records as they are, damaged bytes included: then each of them
//! can be dropped or corrected by itself. In a zstd block none can, since later blocks refer to it.

use super::store::{WrapperPlace, replace_wrappers};
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::{Expansion, Wrapper};
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::decode::walk::Walker;
use crate::formats::perf::layout::record;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::limits::{Limits, REDACTED, RESYNC, ZSTD_WINDOW};
use crate::mend::edit::Edit;

/// The edits that replace the compressed records of a file.
pub struct Unpacked {
    /// One for each compressed record.
    pub edits: Vec<Edit>,
    /// Number of records that they write.
    pub records: u64,
}

/// Returns the edits that replace the compressed records in an area of a file by the bytes that
/// they expand to; `None` if not all of them expand, if they take more than the limit `redacted`,
/// or if the places of other records are listed elsewhere.
pub fn unpack(
    file: &RecordFile<'_>,
    area: (u64, u64),
    events: &Events,
    limits: &Limits,
) -> Option<Unpacked> {
    let room = limits.of(&REDACTED);
    let mut expansion = Expansion::new(file.dialect(), limits.of(&ZSTD_WINDOW));
    expansion.begin_file(file.index());
    let (mut wrappers, mut bytes) = (Vec::new(), Vec::new());
    for item in file.records(area, limits.of(&RESYNC)) {
        // Fixes of the bytes between records come first.
        let Item::Record(record) = item else { return None };
        // util/auxtrace.c: auxtrace_index holds the offsets of these records.
        if record.frame.kind == record::AUXTRACE {
            return None;
        }
        let Some(wrapper) = Wrapper::of(record.frame.kind) else { continue };
        let span = Span::sized(file.layer(), record.offset, record.frame.size);
        let mut rest = wrapper.payload(&record.bytes, file.order());
        expansion.begin_record();
        while !rest.is_empty() {
            let (consumed, _) = expansion.feed(rest, span).ok()?;
            let has_released = take_bytes(&mut expansion, &mut bytes);
            rest = rest.get(consumed..).unwrap_or_default();
            if to_u64(bytes.len()) > room {
                return None;
            }
            if consumed == 0 && !has_released {
                break;
            }
        }
        wrappers.push(WrapperPlace { span, expanded_end: expansion.end() });
    }
    expansion.finish();
    take_bytes(&mut expansion, &mut bytes);
    let (ends, records) = find_ends(&bytes, file.order(), events, limits);
    Some(Unpacked { edits: replace_wrappers(wrappers, &bytes, &ends), records })
}

/// Moves the bytes that the expander releases to the end of `bytes`, and returns whether any were.
fn take_bytes(expansion: &mut Expansion, bytes: &mut Vec<u8>) -> bool {
    let before = bytes.len();
    while let Some(chunk) = expansion.take_chunk() {
        bytes.extend_from_slice(chunk.bytes());
        let end = chunk.end();
        expansion.put_back(chunk, end);
    }
    bytes.len() > before
}

/// Returns the ends of the records in expanded bytes and of the damage between them, and the number
/// of records.
fn find_ends(bytes: &[u8], order: Order, events: &Events, limits: &Limits) -> (Vec<u64>, u64) {
    let source = Source::new(bytes);
    let walker = Walker::new(&source, 0, order, false, (0, source.len()));
    let walker = walker.judged_by(events).resyncing(limits.of(&RESYNC));
    let (mut ends, mut records) = (Vec::new(), 0_u64);
    for item in walker {
        match item {
            Item::Record(record) => {
                ends.push(record.end());
                records = records.saturating_add(1);
            }
            Item::Damage(damage) => ends.push(damage.span.end),
        }
    }
    (ends, records)
}

/// Whether the first bytes of a record that is too long for the data hold complete records: then
/// only its size is wrong.
pub fn covers_records(bytes: &[u8], order: Order, events: &Events, limits: &Limits) -> bool {
    /// The weight of a sample.
    const SURE: u64 = 4;
    let source = Source::new(bytes);
    let walker = Walker::new(&source, 0, order, false, (0, source.len()));
    let walker = walker.judged_by(events).resyncing(limits.of(&RESYNC));
    let weights = walker.filter_map(Item::record).map(|record| {
        let view = record.view(Layer::stored(0), 0);
        events.weigh(&view)
    });
    weights.fold(0, u64::saturating_add) >= SURE
}

//! A file that begins with zeros instead of a header.
//!
//! ```text
//!  zeros: room for header | ids | attrs      records ...
//! ```
//!
//! `perf record --switch-output` writes header, ids and attrs of a file when it closes it, so a
//! recorder that is killed leaves the last file without them. The file before it has the same ones.
//! Source: `record__switch_output` of perf's `builtin-record.c`, and 12 of 64 killed recordings.

use super::magic::known_record;
use super::peek::Peek;
use super::{Correction, Part, Restoration};
use crate::formats::perf::decode::attrs::read_table;
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::recording::{Opened, Recording, open};
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::walk::Walker;
use crate::formats::perf::layout::{HEADER_SIZE, field, record};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::walk::Item;
use crate::kit::words::plural;
use crate::model::limits::{Limits, RESYNC};
use crate::model::recording::{File, FileSet};

/// Most bytes before the records: an id has 8, and a large machine some thousands of ids.
const MOST_ZEROS: u64 = 256 << 10;
/// Records of attrs and features that show a pipe, which has no room for attrs.
const PIPED: usize = 4;
/// Records that must follow one another after the zeros.
const LEAST_RECORDS: usize = 3;
/// Records that are read with the events of the donor, and the share of them that may not fit.
const JUDGED: usize = 1024;
const MISFITS: usize = 10;

/// The room of a header that was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blank {
    /// Offset of the first record.
    pub start: u64,
    /// Whether the donor supplies the header: the reason if not, as a phrase about the donor.
    /// `None` without a donor.
    pub donated: Option<Result<(), String>>,
}

/// Returns the byte order of the records, and the offset of the first one, in a file that begins
/// with zeros instead of a header. Nothing but records follows the zeros: a file whose header was
/// lost later has features, which can restore it.
pub(super) fn find(source: &Source<'_>) -> Option<(Order, u64)> {
    let head = source.read(0, MOST_ZEROS);
    let used = head.iter().position(|byte| *byte != 0)?;
    let start = u64::try_from(used).ok()? & !7;
    if start <= HEADER_SIZE {
        return None;
    }
    let begins = |order: &Order| {
        let peek = Peek { source, order: *order };
        let records = std::iter::successors(Some(start), |at| known_record(peek, *at));
        records.take(LEAST_RECORDS + 1).count() > LEAST_RECORDS
    };
    let order = [Order::Little, Order::Big].into_iter().find(begins)?;
    let mut walker = Walker::new(source, 0, order, false, (start, source.len()));
    let mut piped = 0_usize;
    let has_only_records = walker.all(|item| match item {
        Item::Record(record) => {
            let is_piped =
                [record::HEADER_ATTR, record::HEADER_FEATURE].contains(&record.frame.kind);
            piped = piped.saturating_add(usize::from(is_piped));
            piped < PIPED
        }
        Item::Damage(damage) => damage.fault.is_truncation(),
    });
    has_only_records.then_some((order, start))
}

/// Takes the header, the ids and the attrs of the donor of `files`, whose first record is at
/// `start`.
pub(super) fn restore(
    files: &FileSet<'_>,
    (order, start): (Order, u64),
    limits: &Limits,
) -> Restoration {
    let mut restored = Restoration::new(order);
    let donated = files.donor().map(|donor| {
        let head = take(donor, order, start, limits)?;
        restored.extend([head]);
        judge(&restored.apply(files), limits)
    });
    if !matches!(donated, Some(Ok(()))) {
        restored = Restoration::new(order);
    }
    restored.blank = Some(Blank { start, donated });
    restored
}

/// Reads the words before the records of the donor, without `data.size` and the feature bits, which
/// belong to its own records.
fn take(
    donor: &Source<'_>,
    order: Order,
    start: u64,
    limits: &Limits,
) -> Result<Correction, String> {
    const NO_SECTIONS: &str = "it is not a perf.data file with a header of sections";
    let file = File { name: String::new(), bytes: donor.clone() };
    let recording = match open(&FileSet::new(vec![file])) {
        Ok(Opened::Sections(recording)) if !is_blank(&recording) => recording,
        _ => return Err(NO_SECTIONS.to_string()),
    };
    if recording.order() != order {
        return Err("it has the other byte order".to_string());
    }
    let (events, table) = read_table(&recording, limits);
    let body = &recording.body;
    if body.data.offset != start {
        let offset = body.data.offset;
        return Err(format!(
            "its records begin at {offset:#x} and not at {start:#x}, so its events are others"
        ));
    }
    let mut sections = table.id_sections();
    sections.push(body.attrs);
    let is_before = |end: Option<u64>| end.is_some_and(|end| end <= start);
    let has_all = sections.iter().all(|section| section.size == 0 || is_before(section.end()));
    if events.is_partial() || events.attrs().is_empty() || !has_all {
        return Err("its attrs are damaged: repair the donor first".to_string());
    }
    let peek = Peek { source: donor, order };
    let is_taken = |at: &u64| *at < field::DATA_SIZE || *at >= HEADER_SIZE;
    let words = (0..start).step_by(8).filter(is_taken);
    Ok(words
        .fold(Correction::new(Part::Head), |head, at| head.word(at, 0, peek.u64(at).unwrap_or(0))))
}

fn is_blank(recording: &Recording<'_>) -> bool {
    find(recording.file.source()).is_some()
}

/// Judges whether the first records are those of the events.
fn judge(files: &FileSet<'_>, limits: &Limits) -> Result<(), String> {
    const DAMAGED: &str = "its header is damaged: repair the donor first";
    let Ok(Opened::Sections(recording)) = open(files) else { return Err(DAMAGED.to_string()) };
    let (events, _) = read_table(&recording, limits);
    let area = (recording.body.data.offset, recording.length());
    let records = recording.file.records(area, limits.of(&RESYNC)).filter_map(Item::record);
    let (mut judged, mut misfits) = (0_usize, 0_usize);
    for record in records.take(JUDGED) {
        let view = record.view(Layer::stored(0), 0);
        if record.frame.kind == record::ID_INDEX && !events.unknown_in_index(&view).is_empty() {
            return Err("its events have other ids".to_string());
        }
        judged = judged.saturating_add(1);
        misfits = misfits.saturating_add(usize::from(!fits(&events, &view)));
    }
    if misfits.saturating_mul(MISFITS) > judged {
        let fitting = judged.saturating_sub(misfits);
        let all = plural(to_u64(judged), "record");
        return Err(format!("its events fit {fitting} of the first {all}"));
    }
    Ok(())
}

/// Whether a record is one of the events.
fn fits(events: &Events, record: &RecordView<'_>) -> bool {
    if record.frame.kind != record::SAMPLE {
        return events.fits(record) && !events.lacks_event_of(record);
    }
    let mut sample = Sample::default();
    let read = events.read_sample(record, &mut sample);
    matches!(read, SampleRead::Complete { trailing: 0, .. }) && events.has_id_of(&sample)
}

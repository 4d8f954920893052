//! Cuts a part out of a recording: the samples of an interval, and the records that they need.
//!
//! ```text
//!  before   COMM MMAP2  sample sample  FORK  sample sample  LOST  COMM  sample   features
//!  after    COMM MMAP2                 FORK  sample sample                       features
//! ```
//!
//! perf names a sample by the records before it in time: its command, map, cgroup, namespaces. So
//! these stay up to the end of the interval, and all without a time, which perf reads in the order
//! of the file. Records about a moment, such as LOST, stay if it lies in the interval. Of finished
//! rounds that follow one another two stay: they flush what perf has queued
//! (`util/ordered-events.c`), and a third has nothing left to do.
//!
//! Compressed records are replaced by the records in them that stay, see `store`.

use std::ops::Range;

use super::encode::u64_bytes;
use super::store::{HeldEnd, WrapperPlace, replace_wrappers};
use crate::format::Stored;
use crate::formats::perf::decode::attr_record;
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::{Expansion, Step, Wrapper};
use crate::formats::perf::decode::frame::{Record, RecordView};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::{Opened, RecordFile, open};
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, record as kind};
use crate::formats::perf::options::{self, Filter};
use crate::formats::perf::recover::outline::Outline;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::kit::words::{byte_count, seconds};
use crate::model::cut::CutError;
use crate::model::edit::Edit;
use crate::model::limits::{CUT, Limits, ZSTD_WINDOW};
use crate::model::options::Options;
use crate::model::recording::FileSet;

const BROKEN: &str = "the records cannot be read";
/// Bytes of memory that an edit takes besides those that it inserts.
const EDIT_COST: u64 = 64;
/// Finished rounds in a row that stay.
const ROUNDS_KEPT: u64 = 2;

/// Returns the edits that leave the part which the options select.
///
/// # Errors
///
/// If no sample is selected, the recording has hardware traces, or the limit `cut` is reached.
pub fn cut(files: &FileSet<'_>, options: &Options) -> Result<Stored, CutError> {
    let (limits, filter) = (&options.limits, options::filter(options));
    let opened = open(files).map_err(|_| refused(BROKEN))?;
    let mut recording = Cuttable::of(&opened, limits)?;
    let mut part = Part::default();
    recording.each_record(limits, &mut |passed| {
        part.observe(passed, &filter);
        Ok(())
    })?;
    if part.samples == 0 {
        return Err(refused(part.describe_none()));
    }
    let window = part.window(&filter);
    let mut cutter = Cutter::new(filter, window, limits);
    recording.each_record(limits, &mut |passed| cutter.take(passed))?;
    let mut edits = cutter.edits;
    edits.extend(recording.sample_time(&part));
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start));
    edits.extend(super::settle(files, &edits));
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start));
    Ok(Stored { edits, records_gone: cutter.gone })
}

fn refused(reason: impl Into<String>) -> CutError {
    CutError::Refused(reason.into())
}

/// The files of a recording with their areas of records.
struct Cuttable<'r, 'a> {
    files: Vec<(&'r RecordFile<'a>, (u64, u64))>,
    events: Events,
    /// The section SAMPLE_TIME and its times, if they were recorded.
    sample_time: Option<(Section, (u64, u64))>,
}

impl<'r, 'a> Cuttable<'r, 'a> {
    fn of(opened: &'r Opened<'a>, limits: &Limits) -> Result<Self, CutError> {
        match opened {
            Opened::Pipe(file) => {
                let files = vec![(file, (HEADER_SIZE_PIPE, file.length()))];
                Ok(Self { files, events: Events::new(file.order()), sample_time: None })
            }
            Opened::Sections(recording) => {
                let data = recording.body.data;
                let end = data.end().ok_or_else(|| refused(BROKEN))?;
                let parts = recording.parts.iter().map(|part| (part, (0, part.length())));
                let first = (&recording.file, (data.offset, end));
                let files = [first].into_iter().chain(parts).collect();
                let outline = Outline::gather(recording, limits);
                // Without build ids perf record writes 0 for both times.
                let stated = outline.sample_time.filter(|(_, first, last)| *first > 0 && *last > 0);
                let sample_time = stated.map(|(section, first, last)| (section, (first, last)));
                Ok(Self { files, events: outline.events, sample_time })
            }
        }
    }

    /// Passes every record, stored and expanded, with the number that a dump gives it.
    fn each_record(
        &mut self,
        limits: &Limits,
        each: &mut dyn FnMut(Passed<'_>) -> Result<(), CutError>,
    ) -> Result<(), CutError> {
        let mut walk = Walk { events: self.events.clone(), number: 0, each };
        self.files.iter().try_for_each(|(file, area)| walk.file(file, *area, limits))
    }

    /// Returns the edit of SAMPLE_TIME, which is to have the times of the samples of the part.
    fn sample_time(&self, part: &Part) -> Option<Edit> {
        let ((section, stated), (first, last)) = self.sample_time.zip(part.times)?;
        let order = self.events.order();
        let times = [u64_bytes(first, order), u64_bytes(last, order)].concat();
        let place = Span::sized(Layer::stored(0), section.offset, section.size);
        let is_new = stated != (first, last);
        (is_new && to_u64(times.len()) == section.size).then(|| Edit::replace(place, times))
    }
}

/// A step on the way through a recording.
enum Passed<'r> {
    /// A record with its number, its bytes, payload included, and its time.
    Record { number: u64, record: &'r RecordView<'r>, span: Span, time: Option<u64> },
    /// The end of a compressed record.
    Wrapper(WrapperPlace),
    /// The end of a file.
    End,
}

/// The way through the files of a recording.
struct Walk<'w> {
    events: Events,
    number: u64,
    each: &'w mut dyn FnMut(Passed<'_>) -> Result<(), CutError>,
}

impl Walk<'_> {
    fn file(
        &mut self,
        file: &RecordFile<'_>,
        area: (u64, u64),
        limits: &Limits,
    ) -> Result<(), CutError> {
        let mut expansion = Expansion::new(file.dialect(), limits.of(&ZSTD_WINDOW));
        expansion.begin_file(file.index());
        for item in file.records(area, 0) {
            let Item::Record(record) = item else { return Err(refused(BROKEN)) };
            self.stored(file, &record)?;
            let Some(wrapper) = Wrapper::of(record.frame.kind) else { continue };
            let span = Span::new(file.layer(), record.offset, record.end());
            let payload = wrapper.payload(&record.bytes, file.order());
            let mut taken = Ok(());
            let fed = expansion.expand(payload, span, |_, step| {
                taken = self.expanded(&step);
                taken.is_ok()
            });
            taken?;
            fed.map_err(|_| refused(BROKEN))?;
            (self.each)(Passed::Wrapper(WrapperPlace { span, expanded_end: expansion.end() }))?;
        }
        expansion.finish();
        let mut taken = Ok(());
        expansion.release(|_, step| {
            taken = self.expanded(&step);
            taken.is_ok()
        });
        taken?;
        (self.each)(Passed::End)
    }

    fn stored(&mut self, file: &RecordFile<'_>, record: &Record<'_>) -> Result<(), CutError> {
        if record.frame.kind == kind::AUXTRACE {
            let reason = "the recording has hardware traces (AUXTRACE), which have no records to \
                          choose from";
            return Err(refused(reason));
        }
        let view = record.view(file.layer(), self.number);
        if file.is_pipe() && record.frame.kind == kind::HEADER_ATTR {
            let event = attr_record::read_record(&view, file.order());
            event.into_iter().for_each(|(attr, ids)| self.events.push(attr, ids));
        }
        self.pass(&view, Span::new(file.layer(), record.offset, record.end()))
    }

    fn expanded(&mut self, step: &Step<'_>) -> Result<(), CutError> {
        match step {
            Step::Expanded(_) => Ok(()),
            Step::Damage(_) => Err(refused(BROKEN)),
            Step::Record(record) => self.pass(record, record.span()),
        }
    }

    fn pass(&mut self, record: &RecordView<'_>, span: Span) -> Result<(), CutError> {
        let number = self.number;
        self.number = number.saturating_add(1);
        // perf takes 0 for no time.
        let time = self.events.origin_of(record).and_then(|origin| origin.time);
        let time = time.filter(|time| *time > 0);
        (self.each)(Passed::Record { number, record, span, time })
    }
}

/// The samples that are selected.
#[derive(Default)]
struct Part {
    samples: u64,
    /// The first and the last time of them.
    times: Option<(u64, u64)>,
    /// The first and the last time of all samples.
    all: Option<(u64, u64)>,
}

impl Part {
    fn observe(&mut self, passed: Passed<'_>, filter: &Filter<'_>) {
        let Passed::Record { number, record, time, .. } = passed else { return };
        if record.frame.kind != kind::SAMPLE {
            return;
        }
        let is_selected = filter.wants(number, kind::SAMPLE, time, "");
        self.samples = self.samples.saturating_add(u64::from(is_selected));
        let Some(time) = time else { return };
        let widen = |range: Option<(u64, u64)>| {
            let (first, last) = range.unwrap_or((time, time));
            Some((first.min(time), last.max(time)))
        };
        self.all = widen(self.all);
        if is_selected {
            self.times = widen(self.times);
        }
    }

    /// The interval of the part: that of the option, or that of its samples.
    fn window(&self, filter: &Filter<'_>) -> Range<u64> {
        let own = self.times.map_or(0..u64::MAX, |(first, last)| first..last.saturating_add(1));
        filter.times.clone().unwrap_or(own)
    }

    /// Describes why nothing is selected.
    fn describe_none(&self) -> String {
        let (first, last) = match self.all {
            Some((first, last)) => (seconds(first), seconds(last)),
            None => return "no sample is selected, and no sample has a time".to_string(),
        };
        format!("no sample is selected: the samples have times from {first} to {last}")
    }
}

/// Collects the edits that drop what does not belong to the part.
struct Cutter<'c> {
    filter: Filter<'c>,
    window: Range<u64>,
    limits: &'c Limits,
    edits: Vec<Edit>,
    /// Bytes that the edits and the held records take.
    spent: u64,
    /// Records that were dropped.
    gone: u64,
    /// Finished rounds since the last record that stays.
    rounds: u64,
    held: Held,
}

/// The compressed records of a file, and the records in them that stay.
#[derive(Default)]
struct Held {
    wrappers: Vec<WrapperPlace>,
    bytes: Vec<u8>,
    ends: Vec<HeldEnd>,
}

impl<'c> Cutter<'c> {
    fn new(filter: Filter<'c>, window: Range<u64>, limits: &'c Limits) -> Self {
        let (edits, held) = (Vec::new(), Held::default());
        Self { filter, window, limits, edits, spent: 0, gone: 0, rounds: 0, held }
    }

    fn take(&mut self, passed: Passed<'_>) -> Result<(), CutError> {
        match passed {
            Passed::Record { record, .. } if Wrapper::of(record.frame.kind).is_some() => {
                self.gone = self.gone.saturating_add(1);
                Ok(())
            }
            Passed::Record { number, record, span, time } => {
                let stays = self.stays(number, record.frame.kind, time);
                self.gone = self.gone.saturating_add(u64::from(!stays));
                match (span.layer.is_stored(), stays) {
                    (true, false) => self.drop(span),
                    (false, true) => self.hold(record.bytes, span),
                    (true, true) | (false, false) => Ok(()),
                }
            }
            Passed::Wrapper(place) => {
                self.held.wrappers.push(place);
                self.spend(EDIT_COST)
            }
            Passed::End => {
                self.rounds = 0;
                let Held { wrappers, bytes, ends } = std::mem::take(&mut self.held);
                self.edits.extend(replace_wrappers(wrappers, &Source::new(&bytes), &ends));
                Ok(())
            }
        }
    }

    /// Whether a record belongs to the part, or the part needs it.
    fn stays(&mut self, number: u64, found: u32, time: Option<u64>) -> bool {
        if found == kind::FINISHED_ROUND {
            self.rounds = self.rounds.saturating_add(1);
            return self.rounds <= ROUNDS_KEPT;
        }
        let window = &self.window;
        let stays = match found {
            kind::SAMPLE => self.filter.wants(number, found, time, ""),
            // The rest of the call chain of a sample, which is written after it.
            kind::CALLCHAIN_DEFERRED => time.is_none_or(|time| window.start <= time),
            found if kind::OF_A_MOMENT.contains(&found) => {
                time.is_none_or(|time| window.contains(&time))
            }
            found if found < kind::USER_FIRST => time.is_none_or(|time| time < window.end),
            _ => true,
        };
        if stays {
            self.rounds = 0;
        }
        stays
    }

    fn drop(&mut self, span: Span) -> Result<(), CutError> {
        if let Some(last) = self.edits.last_mut()
            && last.span.layer == span.layer
            && last.span.end == span.start
        {
            last.span.end = span.end;
            return Ok(());
        }
        self.edits.push(Edit::drop(span));
        self.spend(EDIT_COST)
    }

    fn hold(&mut self, bytes: &[u8], span: Span) -> Result<(), CutError> {
        self.held.bytes.extend_from_slice(bytes);
        self.held.ends.push(HeldEnd { expanded: span.end, held: to_u64(self.held.bytes.len()) });
        self.spend(to_u64(bytes.len()))
    }

    fn spend(&mut self, bytes: u64) -> Result<(), CutError> {
        self.spent = self.spent.saturating_add(bytes);
        let max = self.limits.of(&CUT);
        if self.spent <= max {
            return Ok(());
        }
        let max = byte_count(max);
        let message = format!(
            "CM9001 limit-reached: the records that the part needs take more than {max} (limit {})",
            CUT.name
        );
        Err(CutError::Limit(message))
    }
}

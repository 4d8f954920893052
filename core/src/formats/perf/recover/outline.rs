//! The outline of a recording: all evidence about its structure, gathered before the first record.
//!
//! A format stores many facts more than once: the events in the attr table and in EVENT_DESC, the
//! end of the records in the header and in the place of the feature table. The outline gathers the
//! copies. The check then decides which copy holds, and judges the records under that decision, so
//! that one damaged field is one finding and not one per record.

use crate::formats::perf::decode::attrs::{self, AttrTable};
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::feature::{self, Contents, Machine};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::layout::versions::Version;
use crate::formats::perf::layout::{
    ATTR_SIZE_VER7, HEADER_SIZE_PIPE, SECTION_SIZE, feature as bits, is_published, record,
};
use crate::formats::perf::recover::end::{self, End};
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC};

/// The structure of a recording.
#[derive(Debug)]
pub struct Outline {
    /// The attr table and its faults.
    pub attrs: AttrTable,
    /// The events of the attr table, by which records are read.
    pub events: Events,
    /// The end of the records, after which the feature table follows.
    pub end: End,
    /// The perf that recorded, as VERSION describes it.
    pub recorder: Machine,
    /// SAMPLE_TIME: its section, and the times of the first and of the last sample in ns.
    pub sample_time: Option<(Section, u64, u64)>,
}

impl Outline {
    /// Gathers the outline. Reads the attr table, the ids and, if the header does not agree with
    /// the feature table, the frames of the records.
    pub fn gather(recording: &Recording<'_>, limits: &Limits) -> Self {
        let (events, attrs) = attrs::read_table(recording, limits);
        let end = end::find_end(recording, &events, limits.of(&RESYNC));
        let sample_time = find_sample_time(recording, end);
        Self { attrs, events, end, recorder: find_recorder(recording, end), sample_time }
    }
}

impl Outline {
    /// Whether the records have tracepoint formats, as those of simpleperf do.
    pub fn has_tracing_record(&self, recording: &Recording<'_>, limits: &Limits) -> bool {
        let area = (recording.body.data.offset, self.end.area_end(recording.length()));
        let mut records = recording.file.records(area, limits.of(&RESYNC)).filter_map(Item::record);
        // A record of more than 64 KiB is split; of its kinds, only this one is that long in
        // recordings of tracepoints.
        let kinds =
            [record::TRACING_DATA, record::SIMPLEPERF_TRACING_DATA, record::SIMPLEPERF_SPLIT];
        records.any(|record| kinds.contains(&record.frame.kind))
    }
}

/// Reads VERSION from the features after the records that the header declares.
pub fn recorder_of_file(recording: &Recording<'_>) -> Machine {
    let end = recording.body.data.end();
    end.map_or_else(Machine::default, |end| find_recorder(recording, End::Declared(end)))
}

/// Reads VERSION from the features after the records. perf 3.14 on ARM wrote it without a version;
/// the size of the attrs tells then whether the recorder is an old one.
fn find_recorder(recording: &Recording<'_>, end: End) -> Machine {
    /// Longer texts are no version.
    const LONGEST: u64 = 256;
    if recording.file.is_simpleperf() {
        // It has versions of its own, and skips features that it cannot read.
        return Machine::of_version(Some(Version::default()));
    }
    let mut machine = Machine::default();
    let End::Declared(end) = end else { return machine };
    let section = recording.table(end).section(bits::VERSION);
    if let Some(section) = section.filter(|section| section.size <= LONGEST)
        && let Ok(contents) = recording.read_feature((bits::VERSION, section), None, section.size)
    {
        machine.note(&contents);
        if contents.version.is_none() && is_attr_old(recording.body.attr_size) {
            return Machine::of_version(Some(Version::default()));
        }
    }
    machine
}

/// Whether the header has the size of attrs that perf wrote before 6.3 (VER7, and older ones): it
/// is the size that the perf that recorded knows, whichever kernel it ran on.
fn is_attr_old(attr_size: u64) -> bool {
    let size = attr_size.checked_sub(SECTION_SIZE);
    size.is_some_and(|size| size <= ATTR_SIZE_VER7 && is_published(size))
}

/// Reads VERSION from the first records of a pipe.
pub fn recorder_of_pipe(file: &RecordFile<'_>, limits: &Limits) -> Machine {
    /// Records that are read: perf writes the features first.
    const MOST_RECORDS: usize = 64;
    let mut machine = Machine::default();
    let items = file.records((HEADER_SIZE_PIPE, file.length()), limits.of(&RESYNC));
    for record in items.take(MOST_RECORDS).filter_map(Item::record) {
        if record.frame.kind != record::HEADER_FEATURE {
            continue;
        }
        let read = feature::of_record(&record.view(file.layer(), 0), file.order(), machine);
        if let Ok((bits::VERSION, contents)) = read {
            machine = Machine::of_version(contents.version);
        }
    }
    machine
}

/// Reads SAMPLE_TIME from the features after the records.
fn find_sample_time(recording: &Recording<'_>, end: End) -> Option<(Section, u64, u64)> {
    let End::Declared(end) = end else { return None };
    let table = recording.table(end);
    // Otherwise other bytes may lie where the section was.
    let section = table.section(bits::SAMPLE_TIME).filter(|section| section.size == 16)?;
    if !table.is_tight(recording.length()) {
        return None;
    }
    let contents = recording.read_feature((bits::SAMPLE_TIME, section), None, section.size.min(16));
    let Contents { sample_time: Some((first, last)), .. } = contents.ok()? else { return None };
    Some((section, first, last))
}

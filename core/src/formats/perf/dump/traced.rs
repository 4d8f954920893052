//! The fields of tracepoints, which TRACING_DATA describes.

use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::frame::{Record, RecordView};
use crate::formats::perf::decode::record::Value;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::decode::sample::RawData;
use crate::formats::perf::decode::tracing::Tracing;
use crate::formats::perf::layout::feature as bit;
use crate::model::limits::{Limits, WINDOW};

/// Fields with their names.
pub(super) type Traced = Vec<(String, Value)>;

/// The descriptions of the tracepoints of a recording.
#[derive(Default)]
pub(super) struct Tracepoints {
    tracing: Option<Tracing>,
}

impl Tracepoints {
    /// Reads TRACING_DATA of a file, if it takes no more than the limit `window`.
    pub(super) fn read(&mut self, recording: &Recording<'_>, attrs: &[Attr], limits: &Limits) {
        let table = recording.body.data.end().map(|end| recording.table(end));
        let section = table.and_then(|table| table.section(bit::TRACING_DATA));
        let section = section.filter(|section| section.size <= limits.of(&WINDOW));
        let read = section.map(|section| recording.read_tracing(section, |id| is_of(attrs, id)));
        self.tracing = read.and_then(Result::ok);
    }

    /// Reads TRACING_DATA of a pipe.
    pub(super) fn read_record(
        &mut self,
        file: &RecordFile<'_>,
        record: &Record<'_>,
        attrs: &[Attr],
        limits: &Limits,
    ) {
        if record.outside <= limits.of(&WINDOW) {
            self.tracing = file.read_tracing(record, |id| is_of(attrs, id)).ok();
        }
    }

    /// Returns the fields in the data of a sample of `attr`; none if nothing describes them.
    pub(super) fn fields(&self, attr: &Attr, record: &RecordView<'_>, raw: RawData) -> Traced {
        let tracing = self.tracing.as_ref().filter(|_| attr.is_tracepoint());
        let described =
            tracing.and_then(|tracing| Some((tracing, tracing.descriptions.get(&attr.config)?)));
        let Some((tracing, description)) = described else { return Traced::new() };
        let data = record.bytes_at(raw.start, raw.size.into()).unwrap_or_default();
        let mut traced = Traced::new();
        for field in &description.fields {
            // Members of an object have different names.
            if traced.iter().any(|(name, _)| *name == field.name) {
                continue;
            }
            if let Some(value) = field.value(data, tracing.order) {
                traced.push((field.name.clone(), value));
            }
        }
        traced
    }
}

fn is_of(attrs: &[Attr], id: u64) -> bool {
    attrs.iter().any(|attr| attr.is_tracepoint() && attr.config == id)
}

//! The fields of tracepoints, which TRACING_DATA describes.

use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::frame::{Record, RecordView};
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::decode::sample::RawData;
use crate::formats::perf::decode::trace_field::TraceField;
use crate::formats::perf::decode::tracing::Tracing;
use crate::formats::perf::decode::value::Value;
use crate::formats::perf::layout::feature as bit;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::model::limits::{Limits, WINDOW};

/// How often the fields of a sample show as many bytes as its data have, at most.
const SHOWN_TIMES: u64 = 2;

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
        shown_fields(&description.fields, data, tracing.order)
    }
}

/// Returns the values of fields. They do not overlap: those of a forged description would show the
/// data once for each.
fn shown_fields(fields: &[TraceField], data: &[u8], order: Order) -> Traced {
    let mut left = to_u64(data.len()).saturating_mul(SHOWN_TIMES);
    let shown = fields.iter().map_while(|field| {
        left = left.checked_sub(field.len_in(data, order))?;
        Some(field.value(data, order).map(|value| (field.name.clone(), value)))
    });
    shown.flatten().collect()
}

fn is_of(attrs: &[Attr], id: u64) -> bool {
    attrs.iter().any(|attr| attr.is_tracepoint() && attr.config == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::perf::decode::trace_field::parse;

    #[test]
    fn fields_that_overlap_do_not_show_the_data_again_and_again() {
        let field =
            |number: u8| parse(format!("field:u8 a{number}[8]; offset:0; size:8;").as_bytes());
        let fields: Vec<TraceField> = (0..10).filter_map(field).collect();
        assert_eq!(fields.len(), 10);
        assert_eq!(shown_fields(&fields, &[b'a'; 8], Order::Little).len(), 2);
    }
}

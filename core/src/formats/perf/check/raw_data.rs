//! The raw data of samples: those of the tracepoint that the event of the sample is.

use super::records::{RecordCheck, with_place};
use crate::formats::perf::decode::event::DataOf;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::{repair, rules};
use crate::kit::layer::LayerMap;
use crate::kit::span::Span;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Report};

impl RecordCheck {
    /// Whether a sample has no data of a tracepoint, or those of one that an attr has; reports it
    /// if not.
    #[inline]
    pub(super) fn has_data_of_tracepoint(
        &mut self,
        (sample, attr): (&Sample, usize),
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) -> bool {
        let Some((event, data)) = self.events.judge_tracepoint(sample, attr) else {
            return true;
        };
        if data == DataOf::Unknown {
            let finding = self.describe_wrong_data((sample, attr), record, map);
            self.samples.tracepoints.push(event, finding, report);
            return false;
        }
        self.samples.tracepoints.prove(event);
        self.samples.odd.note_data(data == DataOf::Event, record, map);
        true
    }

    #[cold]
    fn describe_wrong_data(
        &self,
        (sample, attr): (&Sample, usize),
        record: &RecordView<'_>,
        map: &LayerMap,
    ) -> Finding {
        let kind = sample.raw.kind.unwrap_or(0);
        let message = format!("common_type is {kind}, but no event is tracepoint {kind}");
        let (rule, path) = (&rules::TRACEPOINT_DATA_WRONG, record.place.path(".raw"));
        let finding = with_place(Finding::new(rule, record.span(), path, message), record, map);
        let event = self.events.tracepoint_of(sample, attr);
        let Some(event) = event.filter(|_| record.place.layer.is_stored()) else {
            return finding.fix(self.drop_record(record));
        };
        let field = Span::sized(record.place.layer, sample.raw.start, 2);
        let bytes = repair::u16_bytes(event, self.events.order());
        let summary = format!("set common_type to {event}, the tracepoint of the event");
        // The attr can be the one that is damaged, so this is not exact.
        finding.fix(Fix::new(Safety::Lossy, summary, vec![Edit::replace(field, bytes)]))
    }
}

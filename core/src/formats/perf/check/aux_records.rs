//! The records about traces of the processor, as the check collects them.

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::{Place, RecordView};
use crate::formats::perf::decode::record::aux::{Aux, AuxTrace, TimeConv, flag};
use crate::formats::perf::decode::record::tracer::TracerInfo;
use crate::formats::perf::decode::trace::Tracer;
use crate::formats::perf::layout::{MOST_CPUS, record as kind};
use crate::formats::perf::limits::AUX_RECORDS;
use crate::kit::span::{Layer, Span};
use crate::model::limits::Limits;

/// The CPU of a buffer that belongs to a thread, or the thread of one that belongs to a CPU.
pub(super) const ANY: u32 = u32::MAX;

/// Bytes of which an AUX record tells, and which should be in an AUXTRACE.
pub(super) struct Written {
    pub(super) span: Span,
    pub(super) place: Place,
    pub(super) aux: Aux,
    pub(super) cpu: u32,
    pub(super) tid: u32,
}

/// A record of the kernel that perf reads for some tracers only: an AUX_OUTPUT_HW_ID, an AUX with
/// unknown flags, or another one of a CPU that cannot exist.
pub(super) struct Told {
    pub(super) kind: u32,
    pub(super) span: Span,
    pub(super) place: Place,
    /// `hw_id` or `flags`.
    pub(super) value: u64,
    pub(super) cpu: Option<u32>,
}

/// The records about traces.
#[derive(Default)]
pub(super) struct AuxRecords {
    /// The AUXTRACE_INFO.
    pub(super) info: Option<(TracerInfo, Place)>,
    /// The last TIME_CONV before the AUXTRACE_INFO, or the first one after it.
    pub(super) clock: Option<(TimeConv, Place)>,
    /// The AUXTRACE records, in their order.
    pub(super) traces: Vec<(AuxTrace, Place)>,
    /// The bytes of which AUX records tell.
    pub(super) written: Vec<Written>,
    pub(super) told: Vec<Told>,
    /// The flags of all AUX records together.
    pub(super) flags: u64,
    /// Records that are kept.
    pub(super) most: usize,
    pub(super) is_full: bool,
}

impl AuxRecords {
    /// Their types.
    pub(super) const KINDS: [u32; 8] = [
        kind::AUX,
        kind::ITRACE_START,
        kind::SWITCH,
        kind::SWITCH_CPU_WIDE,
        kind::AUX_OUTPUT_HW_ID,
        kind::AUXTRACE_INFO,
        kind::AUXTRACE,
        kind::TIME_CONV,
    ];

    pub(super) fn new(limits: &Limits) -> Self {
        Self { most: limits.count_of(&AUX_RECORDS), ..Self::default() }
    }

    /// The AUXTRACE records of the file with the header, as the index lists them; `None` if not all
    /// are known.
    pub(super) fn listed(&self) -> Option<Vec<Span>> {
        let spans = self.traces.iter().map(|(trace, _)| trace.span);
        let listed = spans.filter(|span| span.layer == Layer::stored(0));
        (!self.is_full).then(|| listed.collect())
    }

    fn note_told(&mut self, record: &RecordView<'_>, value: Option<u64>, events: &Events) {
        if let Some(value) = value.filter(|_| self.has_room()) {
            let cpu = events.origin_of(record).and_then(|origin| origin.cpu);
            let (kind, span, place) = (record.frame.kind, record.span(), record.place);
            self.told.push(Told { kind, span, place, value, cpu });
        }
    }

    /// Corrects the size of the last trace, whose record is at `offset`, to that of its bytes.
    pub(super) fn correct_size(&mut self, offset: u64, size: u64) {
        if let Some((trace, _)) =
            self.traces.last_mut().filter(|(last, _)| last.span.start == offset)
            && trace.size != size
        {
            trace.stored_size = Some(trace.size);
            trace.size = size;
        }
    }

    /// The tracer, if its traces can be judged.
    pub(super) fn tracer(&self) -> Option<Tracer> {
        self.info.as_ref().and_then(|(info, _)| Tracer::of(info.kind))
    }

    fn has_room(&mut self) -> bool {
        let kept = self.traces.len().saturating_add(self.written.len());
        self.is_full |= kept.saturating_add(self.told.len()) >= self.most;
        !self.is_full
    }

    /// Notes a record about traces.
    #[cold]
    pub(super) fn note(&mut self, record: &RecordView<'_>, events: &Events) {
        let order = events.order();
        match record.frame.kind {
            kind::AUXTRACE_INFO => {
                let info = TracerInfo::read(record, order);
                self.info = info.map(|info| (info, record.place));
            }
            kind::TIME_CONV if self.info.is_none() || self.clock.is_none() => {
                self.clock = TimeConv::read(record, order).map(|clock| (clock, record.place));
            }
            kind::AUXTRACE if record.place.layer.is_stored() => {
                if let Some(trace) = AuxTrace::read(record, order).filter(|_| self.has_room()) {
                    self.traces.push((trace, record.place));
                }
            }
            kind::ITRACE_START | kind::SWITCH | kind::SWITCH_CPU_WIDE => {
                let cpu = events.origin_of(record).and_then(|origin| origin.cpu);
                if cpu.is_some_and(|cpu| cpu >= MOST_CPUS) {
                    self.note_told(record, Some(0), events);
                }
            }
            kind::AUX_OUTPUT_HW_ID => {
                let hw_id = record.cursor(order).u64("aux_output_hw_id.hw_id").ok();
                self.note_told(record, hw_id, events);
            }
            kind::AUX => {
                let Some(aux) = Aux::read(record, order) else { return };
                self.flags |= aux.flags;
                if aux.flags > u64::from(u16::MAX) {
                    self.note_told(record, Some(aux.flags), events);
                }
                let origin = events.origin_of(record);
                let origin = origin.and_then(|origin| origin.cpu.zip(origin.tid));
                let is_judged = aux.size > 0 && aux.flags & flag::OVERWRITE == 0;
                if let Some((cpu, tid)) = origin.filter(|_| is_judged && self.has_room()) {
                    let (span, place) = (record.span(), record.place);
                    self.written.push(Written { span, place, aux, cpu, tid });
                }
            }
            _ => {}
        }
    }
}

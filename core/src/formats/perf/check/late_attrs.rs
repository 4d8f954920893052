//! HEADER_ATTR records of a pipe after the samples that they describe, as `perf record
//! --tail-synthesize` writes them. No perf reads these samples.

use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, record as kind};
use crate::formats::perf::rules;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::plural;
use crate::model::edit::{Edit, Fix, Safety, StoredAnew};
use crate::model::{Finding, Report};

const FILE: Layer = Layer::stored(0);
/// Most bytes of records that a fix moves.
const MOST_MOVED: usize = 1 << 20;

/// The attrs that come after the first sample.
#[derive(Default)]
pub(super) struct LateAttrs {
    first_sample: Option<u64>,
    spans: Vec<Span>,
    bytes: Vec<u8>,
}

impl LateAttrs {
    /// Notes a record. `has_events` tells whether an attr came before it.
    pub(super) fn observe(&mut self, record: &Record<'_>, has_events: bool) {
        let found = record.frame.kind;
        let is_sample = found == kind::SAMPLE || Wrapper::of(found).is_some();
        if is_sample && !has_events {
            self.first_sample.get_or_insert(record.offset);
        } else if found == kind::HEADER_ATTR && self.first_sample.is_some() {
            let view = record.view(FILE, 0);
            self.spans.push(view.span());
            if self.bytes.len() <= MOST_MOVED {
                self.bytes.extend_from_slice(view.bytes);
            }
        }
    }

    /// Reports the attrs, with the fix that moves them to the front.
    pub(super) fn push(self, report: &mut Report) {
        let (Some(sample), Some(first)) = (self.first_sample, self.spans.first().copied()) else {
            return;
        };
        let count = plural(to_u64(self.spans.len()), "HEADER_ATTR record");
        let message =
            format!("{count} after the first sample, which is at {sample:#x}: no attr before it");
        let finding = Finding::new(&rules::ATTR_AFTER_SAMPLES, first, "data", message);
        if self.bytes.len() > MOST_MOVED {
            report.push(finding);
            return;
        }
        let moved = to_u64(self.bytes.len());
        let front = Span::sized(FILE, HEADER_SIZE_PIPE, 0);
        let mut edits = vec![Edit::replace(front, self.bytes)];
        edits.extend(self.spans.into_iter().map(Edit::drop));
        let mut fix =
            Fix::new(Safety::Synthetic, format!("move {count} before all other records"), edits);
        fix.anew = StoredAnew { stored: moved, kept: moved, dropped: 0, inserted: 0 };
        report.push(finding.fix(fix));
    }
}

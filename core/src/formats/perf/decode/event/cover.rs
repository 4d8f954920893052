//! Records that may cover others: their size is wrong, or bytes of them are missing.

use super::{Events, SampleRead};
use crate::formats::perf::decode::frame::{Place, RecordView};
use crate::formats::perf::decode::record::{self, Body, Detail};
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::{attr_record, feature};
use crate::formats::perf::layout::{RECORD_HEADER, record as kind};
use crate::kit::num::to_usize;
use crate::kit::span::Span;

impl Events {
    /// Whether a record of a known type may cover others: its fields do not fit, or it is a
    /// HEADER_FEATURE. A sample before complete records does not: only its size is wrong.
    #[inline]
    pub fn may_cover_others(&self, record: &RecordView<'_>) -> bool {
        // A smaller one has no room for a sample after its header, and most samples are read once.
        if record.frame.size < self.least_sample.saturating_add(RECORD_HEADER) {
            return false;
        }
        let mut sample = Sample::default();
        match record.frame.kind {
            kind::SAMPLE if self.is_partial || self.read_plain(record).is_some() => false,
            kind::SAMPLE => match self.read_sample(record, &mut sample) {
                SampleRead::NoLayout => false,
                SampleRead::UnknownId | SampleRead::Malformed(_) => true,
                SampleRead::Complete { trailing: 0, attr } => {
                    !(self.has_id_of(&sample)
                        && sample.is_cpu_possible()
                        && self.has_ids_of_values(record, &sample, attr))
                }
                SampleRead::Complete { trailing, .. } => {
                    self.find_joined(record, trailing).is_none()
                }
            },
            // After its content there may be any bytes.
            kind::HEADER_FEATURE => true,
            other if record::name(other).is_some() => {
                self.weigh(record) == 0 || !self.is_padded(record)
            }
            _ => false,
        }
    }

    /// Whether nothing but padding follows the name in a record of a known type, if it has one.
    pub fn is_padded(&self, record: &RecordView<'_>) -> bool {
        // simpleperf copies the padding of a name from its memory.
        let most = if self.dialect.is_simpleperf { 7 } else { 0 };
        self.read_body(record).is_ok_and(|body| body.after_name <= most)
    }

    /// Whether the content of a record ends with it, as far as the content shows where it ends:
    /// not if other bytes follow its name or the fields of its feature, or if its ids may be those
    /// of another record.
    #[cold]
    pub fn ends_with_content(&self, record: &RecordView<'_>) -> bool {
        match record.frame.kind {
            kind::SAMPLE => true,
            kind::HEADER_FEATURE => feature::fills_record(record, self.dialect.order),
            kind::HEADER_ATTR => self.has_only_ids(record),
            _ => match self.read_body(record) {
                // perf reserves room for the longest names, and the check of padding allows it.
                Ok(Body { detail: Detail::Name(name), .. }) if !record.frame.is_kernel() => {
                    let until_name = to_usize(name.end.saturating_sub(record.place.offset));
                    let after = record.bytes.get(until_name..).unwrap_or_default();
                    after.iter().all(|byte| *byte == 0)
                }
                _ => self.is_padded(record),
            },
        }
    }

    /// Whether the fields of a record fit other lengths as well: a name that lost bytes is a
    /// shorter one, and so are the ids of an attr and the text of a feature.
    #[cold]
    pub fn fits_other_sizes(&self, record: &RecordView<'_>) -> bool {
        match record.frame.kind {
            kind::SAMPLE => false,
            kind::HEADER_FEATURE | kind::HEADER_ATTR => true,
            _ => self.read_body(record).is_ok_and(|body| matches!(body.detail, Detail::Name(_))),
        }
    }

    /// Whether the words after the attr of a HEADER_ATTR are ids: not 0, and no header of a record.
    fn has_only_ids(&self, record: &RecordView<'_>) -> bool {
        let Some((attr, ids)) = attr_record::read_record(record, self.dialect.order) else {
            return false;
        };
        let start = RECORD_HEADER.saturating_add(attr.size.into());
        let words = record.bytes.get(to_usize(start)..).unwrap_or_default().chunks(8);
        !ids.contains(&0) && words.into_iter().all(|word| self.dialect.frame(word).is_err())
    }

    /// Returns the last `trailing` bytes of a record if they are complete records that belong to
    /// the events: its size then covers them as well.
    #[cold]
    pub fn find_joined(&self, record: &RecordView<'_>, trailing: u64) -> Option<Span> {
        /// Weight of one sample.
        const ENOUGH: u64 = 4;
        let all = record.span();
        let mut at = all.end.checked_sub(trailing)?;
        let joined = Span { start: at, ..all };
        let mut weight = 0_u64;
        while at < all.end {
            let rest = record.bytes.get(to_usize(at.saturating_sub(all.start))..)?;
            let frame = self.dialect.frame(rest).ok()?;
            let bytes = rest.get(..to_usize(frame.size))?;
            let place = Place { offset: at, ..record.place };
            let own = self.weigh(&RecordView { frame, place, bytes });
            weight = weight.saturating_add(own);
            at = at.saturating_add(frame.size);
            if own == 0 {
                return None;
            }
        }
        (weight >= ENOUGH).then_some(joined)
    }
}

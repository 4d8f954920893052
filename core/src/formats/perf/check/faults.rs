//! The rule and the message of a framing fault.

use crate::formats::perf::decode::frame::FrameFault;
use crate::formats::perf::layout::record::PLAUSIBLE_LAST;
use crate::formats::perf::rules;
use crate::kit::span::Span;
use crate::kit::words::byte_count;
use crate::model::Rule;

/// Returns the rule that a framing fault at the start of `span` breaks, and the message.
pub(super) fn describe(fault: FrameFault, span: Span) -> (&'static Rule, String) {
    let left = span.len();
    match fault {
        FrameFault::HeaderTruncated => {
            (&rules::TRUNCATED_RECORD, format!("truncated record header: {left} of 8 bytes"))
        }
        FrameFault::TooSmall(frame) => {
            let message = format!("record size is {}, expected at least 8", frame.size);
            (&rules::RECORD_TOO_SMALL, message)
        }
        FrameFault::Type(frame) => {
            let message = format!(
                "invalid record type {} (size {}), expected 1 to {PLAUSIBLE_LAST}",
                frame.kind, frame.size
            );
            (&rules::RECORD_TYPE_INVALID, message)
        }
        FrameFault::PastEnd(frame) => {
            let message = format!("truncated record: {left} of {}", byte_count(frame.size));
            (&rules::RECORD_PAST_END, message)
        }
        FrameFault::PayloadPastEnd(frame, payload) => {
            let total = byte_count(frame.size.saturating_add(payload));
            let payload = byte_count(payload);
            let message = format!("truncated record: {left} of {total}, {payload} of them payload");
            (&rules::RECORD_PAST_END, message)
        }
    }
}

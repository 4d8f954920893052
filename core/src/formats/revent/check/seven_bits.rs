//! Recordings whose way had seven bits: no byte is above 7F.
//!
//! Microseconds are numbers below a million, of which half have the highest bit of their lowest
//! byte. In layouts with a padding, its bytes are DE AD BE EF.

use std::collections::BTreeSet;

use crate::formats::revent::decode::FILE;
use crate::formats::revent::layout::EVENT_PAD;
use crate::formats::revent::recover::recording::Recording;
use crate::kit::span::Span;
use crate::kit::words::plural;
use crate::kit::wrapper::Loss;
use crate::model::Finding;
use crate::model::arrival::rules::BYTES_LOST;
use crate::model::edit::Fix;

/// The highest byte of seven bits, in each byte of a word.
const SEVEN_BITS: u32 = 0x7f7f_7f7f;
/// Different times of which none has a byte above 7F by chance.
const TIMES: usize = 16;
/// Events in which they are looked for.
const EVENTS: u64 = 4_096;
/// Bytes that are compared at a time.
const BLOCK: u64 = 64 << 10;

/// Returns the error of a recording that lost its highest bits.
pub(super) fn check(recording: &Recording<'_>) -> Option<Finding> {
    let (head, extent) = (&recording.head, &recording.extent);
    let mut at = 0_u64;
    while at < recording.file_len() {
        let end = at.saturating_add(BLOCK).min(recording.file_len());
        if !recording.bytes(Span::new(FILE, at, end)).is_ascii() {
            return None;
        }
        at = end;
    }
    let is_padded = head.generation.layout().padded;
    let (mut times, mut pads) = (BTreeSet::new(), 0_u64);
    // The count has lost its bits, too.
    for (_, event) in recording.stored_events(extent.all.count.min(EVENTS)) {
        if times.len() < TIMES {
            times.insert((event.sec, event.usec));
        }
        let is_pad = is_padded && event.pad == EVENT_PAD & SEVEN_BITS;
        pads = pads.saturating_add(u64::from(is_pad));
    }
    if times.len() < TIMES && pads == 0 {
        return None;
    }
    let span = extent.all.span(0, extent.count.min(1));
    let message = format!("bytes were lost on the way: {}", Loss::SevenBit.description());
    let events = plural(extent.count, "event");
    let note = format!("no byte of {events} is above 7F: times, values and counts are wrong");
    let fix = Fix::manual("copy the recording again from its source, as binary data");
    Some(Finding::new(&BYTES_LOST, span, "file", message).note(note).fix(fix))
}

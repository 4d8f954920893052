//! Events of which one bit was inverted, and what they were.

use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{self, EVENT_HEADER, Effect, JUMBO_SIZE};
use crate::kit::num::to_u64;

/// Offset of the code in an event.
const CODE: u64 = 1;
/// Bytes of a code.
const CODE_LEN: u64 = 3;
/// Bytes of an id.
const ID_LEN: u64 = 4;

/// One bit of an event that was inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flip {
    /// Offset of the event.
    pub at: u64,
    /// Offset of the byte in the event.
    pub byte: u64,
    /// The bit in the byte.
    pub mask: u8,
}

/// The field that holds an inverted bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlippedField {
    /// Model, category, value.
    Code,
    /// An id of four bytes, at this offset of the payload.
    Id(usize),
}

impl Flip {
    /// Inverts the bit again.
    pub fn apply(&self, event: &mut Event<'_>) {
        if let Some(place) = self.byte.checked_sub(CODE).filter(|place| *place < CODE_LEN) {
            let byte = usize::try_from(place).ok().and_then(|place| event.code.get_mut(place));
            byte.into_iter().for_each(|byte| *byte ^= self.mask);
            event.row = layout::row_index(event.code);
            return;
        }
        let place = self.byte.checked_sub(payload_offset(event));
        let place = place.and_then(|place| usize::try_from(place).ok());
        if let Some(byte) = place.and_then(|place| event.payload.to_mut().get_mut(place)) {
            *byte ^= self.mask;
        }
    }

    /// Returns the field that holds the bit.
    pub fn field(&self, event: &Event<'_>) -> FlippedField {
        match self.byte.checked_sub(payload_offset(event)) {
            Some(place) => FlippedField::Id(if place < ID_LEN { 0 } else { 4 }),
            None => FlippedField::Code,
        }
    }
}

/// Returns the bits of an event with which it would be another event with the same payload, or name
/// another task or type.
pub fn flips_of<'e>(event: &'e Event<'_>) -> impl Iterator<Item = Flip> + 'e {
    let ids = payload_offset(event);
    let bytes =
        (CODE..CODE.saturating_add(CODE_LEN)).chain(ids..ids.saturating_add(id_bytes(event)));
    let masks = || (0..8).filter_map(|bit| 1_u8.checked_shl(bit));
    let flips = bytes.flat_map(move |byte| masks().map(move |mask| (byte, mask)));
    let flips = flips.map(|(byte, mask)| Flip { at: event.at, byte, mask });
    flips.filter(|flip| {
        let mut other = event.clone();
        flip.apply(&mut other);
        other.row.is_some() && other.has_expected_flags()
    })
}

/// Offset of the payload in an event.
const fn payload_offset(event: &Event<'_>) -> u64 {
    if event.is_jumbo() { EVENT_HEADER.saturating_add(JUMBO_SIZE) } else { EVENT_HEADER }
}

/// Bytes of the payload that are ids of tasks and types.
fn id_bytes(event: &Event<'_>) -> u64 {
    let row = event.row.and_then(layout::row_at);
    let bytes = match row.map(|row| row.effect) {
        Some(Effect::Create(_) | Effect::Task(_)) => 8,
        Some(Effect::Type | Effect::Work(_)) => 4,
        _ => 0,
    };
    to_u64(event.payload.len()).min(bytes)
}

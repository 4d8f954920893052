//! Attrs of which nothing tells what they counted.
//!
//! ```text
//!  0 type | 4 size | 8 config | 16 sample_period | 24 sample_type
//! ```
//!
//! The values by which samples are read can be found again by the samples, those of the event
//! cannot. `dummy` is the event that counts nothing: its samples are under no other event.

use super::odd_values;
use crate::formats::perf::decode::attr_bytes::{AttrBytes, set_word};
use crate::formats::perf::layout::attr::{at, find};
use crate::formats::perf::layout::{ATTR_SIZE_VER0, SOFTWARE_DUMMY, TYPE_SOFTWARE, is_event_type};
use crate::kit::cursor::Order;

/// Bits in which a word may differ from what it must be without doubt about its neighbours.
const FLIPPED_MAX: u32 = 2;
/// Odd values that an attr with a wrong size may have, which is one of them: of an event that every
/// machine has, and of another one. Most small numbers can be the type of one.
const ODD_MAX: [u64; 2] = [2, 1];

/// Whether type and config of an attr of `size` bytes are lost: the words beside them are.
pub(super) fn is_lost(attr: AttrBytes<'_>, size: u64) -> bool {
    let [kind, stored, config, period, samples] =
        [at::TYPE, at::SIZE, at::CONFIG, at::SAMPLE_PERIOD, at::SAMPLE_TYPE]
            .map(|at| attr.word(at));
    // The size 0 stands for the first version.
    let has_size = stored == size || stored == 0 && size == ATTR_SIZE_VER0;
    let is_type = u32::try_from(kind).is_ok_and(is_event_type);
    let is_near = (stored ^ size).count_ones() <= FLIPPED_MAX;
    let is_sound = match attr.order {
        // Zeros beside a size of other bytes are not a type.
        Order::Little => {
            let [generic, other] = ODD_MAX;
            let most = if kind <= odd_values::TYPE_BREAKPOINT { generic } else { other };
            (kind != 0 || is_near) && odd_values::count(attr) <= most
        }
        // What is odd is known in the order of the bits of a little-endian machine.
        Order::Big => is_near,
    };
    let is_head = has_size || is_type && (kind, stored) != (0, 0) && is_sound;
    let known = find(at::SAMPLE_TYPE).map_or(samples, |word| word.known(samples, attr.order));
    let is_blank = (config, period, samples) == (0, 0, 0);
    !is_head || is_blank || (samples ^ known).count_ones() > FLIPPED_MAX
}

/// Makes an attr one of `dummy`.
pub(super) fn forget(attr: &mut [u8], order: Order) {
    set_word(attr, at::TYPE, TYPE_SOFTWARE.into(), order);
    set_word(attr, at::CONFIG, SOFTWARE_DUMMY, order);
}

//! Samples of a block that is there twice.
//!
//! ```text
//!  | a 10 | b 20 | c 30 | b 20 | c 30 | d 40 |
//!                       ^ as before c, which is later
//! ```
//!
//! A sample that is equal to an earlier one, after one with a later time, is a copy, and so are
//! those that follow it as before. A coarse clock gives several samples one time, but does not go
//! back.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::layout::record;

/// Samples among which an equal one is looked for: more than a block of 64 KiB has.
const MOST_SAMPLES: usize = 4096;

/// The last samples.
#[derive(Default)]
pub(super) struct Copies {
    /// The hashes of their bytes, in order.
    recent: VecDeque<u64>,
    known: HashSet<u64>,
    /// The time of the last sample, and whether it was a copy.
    last: u64,
    is_copying: bool,
}

impl Copies {
    /// Whether a record is a copy of a sample. One that is not is remembered.
    pub(super) fn has(&mut self, events: &Events, view: &RecordView<'_>) -> bool {
        let origin = events.origin_of(view).filter(|_| view.frame.kind == record::SAMPLE);
        let Some(time) = origin.and_then(|origin| origin.time) else { return false };
        let mut hasher = DefaultHasher::new();
        view.bytes.hash(&mut hasher);
        let hash = hasher.finish();
        self.is_copying = (self.is_copying || self.last > time) && self.known.contains(&hash);
        self.last = time;
        if self.is_copying || !self.known.insert(hash) {
            return self.is_copying;
        }
        self.recent.push_back(hash);
        if self.recent.len() > MOST_SAMPLES
            && let Some(old) = self.recent.pop_front()
        {
            self.known.remove(&old);
        }
        false
    }
}

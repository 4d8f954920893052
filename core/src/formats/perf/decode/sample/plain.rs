//! Plain samples: fields of 8 bytes each, and after them a call chain or nothing.
//!
//! ```text
//!  | IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD | nr, nr * u64 |
//!    8 bytes each, if its bit is set in sample_type        if CALLCHAIN
//! ```
//!
//! Most recordings have no others. All fields but the entries of the chain have fixed places, so a
//! check reads the few that it judges and skips the others.

use super::is_cpu_possible;
use super::words::{HEAD, count_bits, half_word, word};
use crate::formats::perf::layout::attr::sample_type as bit;
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};

/// The places of the fields of plain samples, as offsets in the body in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlainLayout {
    /// Length of all fields except the entries of the call chain.
    fixed_len: usize,
    /// Number of entries in the call chain.
    chain_nr: Option<usize>,
    ip: Option<usize>,
    thread: Option<usize>,
    time: Option<usize>,
    cpu: Option<usize>,
}

/// The fields of a plain sample that a check needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainSample {
    /// Time in ns of the recording's clock.
    pub time: Option<u64>,
    /// Instruction pointer.
    pub ip: Option<u64>,
    /// Process and thread.
    pub thread: Option<(u32, u32)>,
    /// Index of the attr, if the id of the sample names it.
    pub attr: Option<usize>,
}

impl PlainLayout {
    /// Returns the layout of samples with these fields if they are plain. Samples with two ids are
    /// not, because perf takes one to find the layout and the other to find the event.
    pub(super) fn new(sample_type: u64) -> Option<Self> {
        let both_ids = bit::IDENTIFIER | bit::ID;
        let is_plain =
            sample_type & !(HEAD | bit::CALLCHAIN) == 0 && sample_type & both_ids != both_ids;
        let len_of = |fields| to_usize(count_bits(sample_type, fields).saturating_mul(8));
        let place = |field, before| (sample_type & field != 0).then(|| len_of(before));
        is_plain.then(|| Self {
            fixed_len: len_of(HEAD | bit::CALLCHAIN),
            chain_nr: place(bit::CALLCHAIN, HEAD),
            ip: place(bit::IP, bit::IDENTIFIER),
            thread: place(bit::TID, bit::IDENTIFIER | bit::IP),
            time: place(bit::TIME, bit::IDENTIFIER | bit::IP | bit::TID),
            cpu: place(bit::CPU, HEAD & !(bit::CPU | bit::PERIOD)),
        })
    }

    /// Reads a sample; `None` if it is not complete, has bytes after the last field, has a CPU that
    /// no machine can have, or the time 0.
    // The values of each sample would go through memory otherwise.
    #[inline(always)]
    pub(super) fn read(&self, body: &[u8], order: Order) -> Option<PlainSample> {
        let chain_len = to_u64(body.len().checked_sub(self.fixed_len)?);
        let nr = match self.chain_nr {
            Some(at) => word(body, at, order)?,
            None => 0,
        };
        let cpu = self.cpu.and_then(|at| half_word(body, at, order));
        let time = self.time.and_then(|at| word(body, at, order));
        let is_whole = nr.checked_mul(8) == Some(chain_len) && cpu.is_none_or(is_cpu_possible);
        if !is_whole || time == Some(0) {
            return None;
        }
        let half = |at: usize| half_word(body, at, order);
        let thread = self.thread.and_then(|at| half(at).zip(half(at.saturating_add(4))));
        let ip = self.ip.and_then(|at| word(body, at, order));
        Some(PlainSample { time, ip, thread, attr: None })
    }
}

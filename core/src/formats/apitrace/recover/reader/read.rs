//! Reads blocks, joined to the bytes that the block before left.

use super::{Flow, Mode, StreamReader, bytes_from, bytes_up_to, end_of, excerpt_around};
use crate::formats::apitrace::decode::grammar::ParseStop;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::steps;

/// Bytes of a block that are first read together with those that the block before left.
const BRIDGE_LEN: usize = 4 << 10;

/// The state after the bytes that the block before left.
enum Bridge {
    /// They were read with this many bytes of the block.
    Crossed(usize),
    /// They and the whole block are still part of one token.
    NeedsMore,
    /// The token is invalid: the bytes left, joined to the block.
    Stopped(Vec<u8>, ParseStop),
}

/// The next step after a stop.
pub(super) enum NextStep {
    /// Continue reading at this offset.
    Sync(u64),
    /// Seek from this offset on.
    Seek(u64),
    /// Seek from this offset on, which lies in an earlier block.
    Rewind(u64),
    /// End the reading.
    Finish,
}

impl StreamReader<'_> {
    /// Reads `bytes`, which begin at `start` of the stream.
    pub(super) fn read(&mut self, bytes: &[u8], start: u64) -> Flow {
        if self.carry.bytes.is_empty() {
            return self.read_on(bytes, start, 0, None);
        }
        match self.read_carried(bytes) {
            Bridge::NeedsMore => Flow::NextBlock,
            Bridge::Crossed(at) => self.read_on(bytes, start, at, None),
            Bridge::Stopped(joint, stop) => self.read_on(&joint, self.carry.start, 0, Some(stop)),
        }
    }

    /// Reads the bytes left by the block before with as many of `bytes` as their token needs.
    fn read_carried(&mut self, bytes: &[u8]) -> Bridge {
        let mut joint = std::mem::take(&mut self.carry.bytes);
        let carried = joint.len();
        let (mut taken, mut read, mut step) = (0, 0, BRIDGE_LEN);
        loop {
            let more = bytes.get(taken..).unwrap_or_default();
            let more = more.get(..step).unwrap_or(more);
            joint.extend_from_slice(more);
            taken = taken.saturating_add(more.len());
            let place = self.carry.start.saturating_add(to_u64(read));
            let (now, result) = self.run(joint.get(read..).unwrap_or_default(), place);
            read = read.saturating_add(now);
            if let Err(stop) = result {
                joint.extend_from_slice(bytes.get(taken..).unwrap_or_default());
                return Bridge::Stopped(joint, stop);
            }
            if read >= carried {
                return Bridge::Crossed(read.saturating_sub(carried));
            }
            if taken >= bytes.len() {
                self.carry.start = self.carry.start.saturating_add(to_u64(read));
                joint.drain(..read.min(joint.len()));
                self.carry.bytes = joint;
                return Bridge::NeedsMore;
            }
            step = step.saturating_mul(8);
        }
    }

    /// Reads `data`, which begins at `base` of the stream, from its index `at` on; `stopped`: why
    /// it cannot be read there.
    fn read_on(
        &mut self,
        data: &[u8],
        base: u64,
        mut at: usize,
        mut stopped: Option<ParseStop>,
    ) -> Flow {
        loop {
            let stop = match stopped.take() {
                Some(stop) => stop,
                None => {
                    let rest = data.get(at..).unwrap_or_default();
                    let place = base.saturating_add(to_u64(at));
                    let until = self.find_doubt_end(place);
                    let until = until.filter(|until| *until < end_of(data, base));
                    let part = until.map_or(rest, |until| bytes_up_to(rest, place, until));
                    match (self.run(part, place), until) {
                        ((_, Err(stop)), _) => stop,
                        ((read, Ok(())), Some(until)) => {
                            self.settle_suspects(until, false);
                            at = at.saturating_add(read);
                            continue;
                        }
                        ((read, Ok(())), None) => {
                            let left = rest.get(read..).unwrap_or_default();
                            self.carry.bytes.clear();
                            self.carry.bytes.extend_from_slice(left);
                            self.carry.start = place.saturating_add(to_u64(read));
                            return Flow::NextBlock;
                        }
                    }
                }
            };
            match self.handle_stop(stop, data, base) {
                NextStep::Sync(place) => at = to_usize(place.saturating_sub(base)),
                NextStep::Seek(from) => {
                    return self.begin_seek(bytes_from(data, base, from).to_vec(), from);
                }
                NextStep::Rewind(from) => return self.rewind(from),
                NextStep::Finish => return self.finish_reading(),
            }
        }
    }

    fn run(&mut self, bytes: &[u8], start: u64) -> (usize, Result<(), ParseStop>) {
        let result = self.parser.run(bytes, start, &mut self.tracker);
        steps::count(to_u64(result.0));
        self.tracker.warnings.set_excerpts(|at| excerpt_around(bytes, start, at));
        result
    }

    pub(super) fn finish_reading(&mut self) -> Flow {
        self.mode = Mode::Finished;
        Flow::Stop
    }
}

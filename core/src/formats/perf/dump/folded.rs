//! Folded stacks, which flame graphs are made of: one line for all samples with the same stack.
//!
//! ```text
//!  comm;outermost;...;innermost count
//! ```
//!
//! A frame is the symbol that the recording has, which simpleperf records; otherwise the file and
//! the offset in it, with which `addr2line` and debuggers find the symbol. The chain is that of the
//! kernel: a copied user stack (`--call-graph dwarf`) is not unwound.

use std::collections::BTreeMap;

use super::Shown;
use super::frames::{Frame, Frames, chain};
use crate::formats::perf::decode::sample::Sample;
use crate::kit::num::to_u64;
use crate::kit::text::Untrusted;

/// Bytes that a stack takes besides its text.
const STACK_COST: u64 = 64;

/// Stacks with their samples.
pub(super) struct Stacks {
    counts: BTreeMap<String, u64>,
    /// Bytes that the counts take, and may take.
    held: u64,
    most: u64,
}

impl Stacks {
    /// Stacks that take at most `most` bytes.
    pub(super) const fn new(most: u64) -> Self {
        Self { counts: BTreeMap::new(), held: 0, most }
    }

    /// Counts a sample, and returns whether the stacks have to be taken.
    pub(super) fn add(&mut self, frames: &Frames, shown: &Shown<'_>, sample: &Sample) -> bool {
        let mut stack = frame_text(&frames.comm(sample.origin.tid.unwrap_or(0), shown.moment));
        for frame in chain(frames, shown, sample).iter().rev() {
            stack.push(';');
            stack.push_str(&describe(frame));
        }
        let count = self.counts.get_mut(&stack);
        if let Some(count) = count {
            *count = count.saturating_add(1);
            return false;
        }
        self.held = self.held.saturating_add(STACK_COST).saturating_add(to_u64(stack.len()));
        self.counts.insert(stack, 1);
        self.held > self.most
    }

    /// Takes the lines of all stacks.
    pub(super) fn take(&mut self) -> impl Iterator<Item = String> + use<> {
        self.held = 0;
        let counts = std::mem::take(&mut self.counts);
        counts.into_iter().map(|(stack, count)| format!("{stack} {count}\n"))
    }
}

fn describe(frame: &Frame<'_>) -> String {
    let Some(place) = &frame.place else { return "[unknown]".to_string() };
    if let Some(symbol) = frame.symbol {
        return frame_text(&Untrusted(symbol).to_string());
    }
    let name = Untrusted(base_name(place.file)).to_string();
    format!("{}+{:#x}", frame_text(&name), place.offset)
}

/// Replaces what separates frames and lines.
fn frame_text(text: &str) -> String {
    text.replace(';', ":").replace(['\n', '\t'], " ")
}

/// The last part of a path; of the kernel, the name without the symbol at its start.
pub(super) fn base_name(path: &[u8]) -> &[u8] {
    if path.first() == Some(&b'[') {
        let end = path.iter().position(|byte| *byte == b']');
        return end.and_then(|end| path.get(..=end)).unwrap_or(path);
    }
    path.rsplit(|byte| *byte == b'/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

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

use super::spaces::{Gatherer, KERNEL, Place, Spaces};
use super::symbols::Symbols;
use crate::formats::perf::decode::record::{Named, Value};
use crate::formats::perf::decode::sample::Sample;
use crate::kit::num::to_u64;
use crate::kit::text::Untrusted;

/// Entries of a call chain from here on are marks (`PERF_CONTEXT_MAX`).
const MARKS: u64 = u64::MAX - 4094;
/// Marks of the kernel's code that follows: of the host and of a guest.
const KERNEL_MARKS: [u64; 2] = [u64::MAX - 127, u64::MAX - 2175];
/// The bits of `misc` with the mode of the CPU, and the modes of the kernel and of a guest's.
const MODE: u16 = 7;
const KERNEL_MODES: [u16; 2] = [1, 4];
/// Bytes that a stack takes besides its text.
const STACK_COST: u64 = 64;

/// The stacks of a recording: its other records are gathered first.
pub(super) enum Folded {
    /// Gathers the records about threads and memory.
    Gathering(Gatherer),
    /// Counts the samples of each stack.
    Counting(Stacks),
}

/// Stacks with their samples.
pub(super) struct Stacks {
    spaces: Spaces,
    symbols: Symbols,
    counts: BTreeMap<String, u64>,
    /// Bytes that the counts take, and may take.
    held: u64,
    most: u64,
}

impl Stacks {
    /// Stacks that take at most `most` bytes.
    pub(super) fn new(spaces: Spaces, symbols: Symbols, most: u64) -> Self {
        Self { spaces, symbols, counts: BTreeMap::new(), held: 0, most }
    }

    /// Counts a sample, and returns whether the stacks have to be taken. `lists` are its lists,
    /// `misc` is that of its record.
    pub(super) fn add(&mut self, sample: &Sample, lists: &Named, misc: u16) -> bool {
        let origin = &sample.origin;
        let time = origin.time.unwrap_or(u64::MAX);
        let (pid, tid) = (origin.pid.unwrap_or(0), origin.tid.unwrap_or(0));
        let mut stack = frame_text(&self.spaces.comm(tid, time));
        let mut is_kernel = KERNEL_MODES.contains(&(misc & MODE));
        let mut frames: Vec<(bool, u64)> = Vec::new();
        for address in addresses(lists) {
            if address >= MARKS {
                is_kernel = KERNEL_MARKS.contains(&address);
            } else {
                frames.push((is_kernel, address));
            }
        }
        if frames.is_empty() {
            frames.extend(sample.ip.map(|ip| (is_kernel, ip)));
        }
        for (is_kernel, address) in frames.into_iter().rev() {
            let space = if is_kernel { KERNEL } else { pid };
            let place = self.spaces.place(space, address, time);
            stack.push(';');
            stack.push_str(&self.describe(place, address));
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

    fn describe(&self, place: Option<Place<'_>>, address: u64) -> String {
        let Some(place) = place else { return "[unknown]".to_string() };
        if let Some(symbol) = self.symbols.find(place.file, place.offset, address) {
            return frame_text(&Untrusted(symbol).to_string());
        }
        let name = Untrusted(base_name(place.file)).to_string();
        format!("{}+{:#x}", frame_text(&name), place.offset)
    }
}

/// The addresses and marks of a call chain, the innermost first.
fn addresses(lists: &Named) -> impl Iterator<Item = u64> {
    let chain = lists.iter().find(|(name, _)| *name == "ips").map(|(_, chain)| chain);
    let entries = match chain {
        Some(Value::List(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().filter_map(|entry| match entry {
        Value::Number(address) | Value::Hex(address) => Some(*address),
        _ => None,
    })
}

/// Replaces what separates frames and lines.
fn frame_text(text: &str) -> String {
    text.replace(';', ":").replace(['\n', '\t'], " ")
}

/// The last part of a path; of the kernel, the name without the symbol at its start.
fn base_name(path: &[u8]) -> &[u8] {
    if path.first() == Some(&b'[') {
        let end = path.iter().position(|byte| *byte == b']');
        return end.and_then(|end| path.get(..=end)).unwrap_or(path);
    }
    path.rsplit(|byte| *byte == b'/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

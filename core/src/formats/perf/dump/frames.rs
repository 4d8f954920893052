//! The frames of a stack: the addresses of a call chain with the file and the symbol of each.
//!
//! The chain is that of the kernel: a copied user stack (`--call-graph dwarf`) is not unwound.

use super::Shown;
use super::spaces::{KERNEL, Place, Spaces};
use super::symbols::Symbols;
use crate::formats::perf::decode::record::{Named, named};
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::value::Value;

/// Entries of a call chain from here on are marks (`PERF_CONTEXT_MAX`).
const MARKS: u64 = u64::MAX - 4094;
/// Marks of the kernel's code that follows: of the host and of a guest.
const KERNEL_MARKS: [u64; 2] = [u64::MAX - 127, u64::MAX - 2175];
/// The bits of `misc` with the mode of the CPU, and the modes of the kernel and of a guest's.
const MODE: u16 = 7;
const KERNEL_MODES: [u16; 2] = [1, 4];

/// The files and symbols of a recording.
pub(super) struct Frames {
    spaces: Spaces,
    symbols: Symbols,
}

/// A frame of a stack.
pub(super) struct Frame<'f> {
    /// The address in memory.
    pub(super) address: u64,
    /// The file at the address.
    pub(super) place: Option<Place<'f>>,
    /// The symbol that the recording has.
    pub(super) symbol: Option<&'f [u8]>,
}

impl Frames {
    pub(super) fn new(spaces: Spaces, symbols: Symbols) -> Self {
        Self { spaces, symbols }
    }

    /// Returns when a record was; `number` is its own.
    pub(super) fn moment(&self, time: Option<u64>, number: u64) -> u64 {
        self.spaces.moment(time, number).unwrap_or(u64::MAX)
    }

    /// Returns the name of a thread at a moment, safe to print.
    pub(super) fn comm(&self, tid: u32, moment: u64) -> String {
        self.spaces.comm(tid, moment)
    }

    fn frame(&self, (pid, moment): (u32, u64), address: u64) -> Frame<'_> {
        let place = self.spaces.place(pid, address, moment);
        let symbol = place.as_ref().and_then(|at| self.symbols.find(at.file, at.offset, address));
        Frame { address, place, symbol }
    }
}

/// Returns the stack of a sample, the innermost frame first: its call chain, or its address.
pub(super) fn chain<'f>(frames: &'f Frames, shown: &Shown<'_>, sample: &Sample) -> Vec<Frame<'f>> {
    let mut is_kernel = KERNEL_MODES.contains(&(shown.record.frame.misc & MODE));
    let mut chain: Vec<(bool, u64)> = Vec::new();
    for address in addresses(&shown.more) {
        if address >= MARKS {
            is_kernel = KERNEL_MARKS.contains(&address);
        } else {
            chain.push((is_kernel, address));
        }
    }
    if chain.is_empty() {
        chain.extend(sample.ip.map(|ip| (is_kernel, ip)));
    }
    let pid = sample.origin.pid.unwrap_or(0);
    let frame = |(is_kernel, address)| {
        frames.frame((if is_kernel { KERNEL } else { pid }, shown.moment), address)
    };
    chain.into_iter().map(frame).collect()
}

/// The addresses and marks of a call chain, the innermost first.
fn addresses(lists: &Named) -> impl Iterator<Item = u64> {
    named::items(lists, "ips").iter().filter_map(|entry| match entry {
        Value::Number(address) | Value::Hex(address) => Some(*address),
        _ => None,
    })
}

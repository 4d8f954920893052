//! The frames of a stack: the addresses of a call chain with the file and the symbol of each.
//!
//! The chain is that of the kernel: a copied user stack (`--call-graph dwarf`) is not unwound.

use super::spaces::{KERNEL, Place, Spaces};
use super::symbols::Symbols;
use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::record::{Named, named};
use crate::formats::perf::decode::recording::Opened;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::value::Value;
use crate::formats::perf::decode::{attr_record, attrs};
use crate::formats::perf::layout::attr::sample_type;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, record as kind};
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC};

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

    /// Returns the name of a sample's thread, safe to print.
    pub(super) fn comm(&self, sample: &Sample) -> String {
        self.spaces.comm(sample.origin.tid.unwrap_or(0), sample.origin.time.unwrap_or(u64::MAX))
    }

    fn frame(&self, sample: &Sample, is_kernel: bool, address: u64) -> Frame<'_> {
        let (pid, time) = (sample.origin.pid.unwrap_or(0), sample.origin.time.unwrap_or(u64::MAX));
        let place = self.spaces.place(if is_kernel { KERNEL } else { pid }, address, time);
        let symbol = place.as_ref().and_then(|at| self.symbols.find(at.file, at.offset, address));
        Frame { address, place, symbol }
    }
}

/// Returns the stack of a sample, the innermost frame first: its call chain, or its address.
/// `lists` are its lists, `misc` is that of its record; without `frames` there are no files.
pub(super) fn chain<'f>(
    frames: Option<&'f Frames>,
    sample: &Sample,
    lists: &Named,
    misc: u16,
) -> Vec<Frame<'f>> {
    let mut is_kernel = KERNEL_MODES.contains(&(misc & MODE));
    let mut chain: Vec<(bool, u64)> = Vec::new();
    for address in addresses(lists) {
        if address >= MARKS {
            is_kernel = KERNEL_MARKS.contains(&address);
        } else {
            chain.push((is_kernel, address));
        }
    }
    if chain.is_empty() {
        chain.extend(sample.ip.map(|ip| (is_kernel, ip)));
    }
    let frame = |(is_kernel, address)| match frames {
        Some(frames) => frames.frame(sample, is_kernel, address),
        None => Frame { address, place: None, symbol: None },
    };
    chain.into_iter().map(frame).collect()
}

/// Whether samples have call chains. The attrs of a pipe come before its samples.
pub(super) fn has_chains(opened: &Opened<'_>, limits: &Limits) -> bool {
    let has_chain = |attr: &Attr| attr.samples(sample_type::CALLCHAIN);
    let file = match opened {
        Opened::Sections(recording) => {
            return attrs::read_table(recording, limits).0.attrs().iter().any(has_chain);
        }
        Opened::Pipe(file) => file,
    };
    let items = file.records((HEADER_SIZE_PIPE, file.length()), limits.of(&RESYNC));
    let is_before = |record: &Record<'_>| {
        record.frame.kind != kind::SAMPLE && Wrapper::of(record.frame.kind).is_none()
    };
    let mut first = items.filter_map(Item::record).take_while(is_before);
    first.any(|record| {
        let is_attr = record.frame.kind == kind::HEADER_ATTR;
        let attr = is_attr.then(|| record.view(file.layer(), 0));
        let attr = attr.and_then(|view| attr_record::read_record(&view, file.order()));
        attr.is_some_and(|(attr, _)| has_chain(&attr))
    })
}

/// The addresses and marks of a call chain, the innermost first.
fn addresses(lists: &Named) -> impl Iterator<Item = u64> {
    named::items(lists, "ips").iter().filter_map(|entry| match entry {
        Value::Number(address) | Value::Hex(address) => Some(*address),
        _ => None,
    })
}

//! The registers of samples with their names, which ARCH tells.

use std::fmt::Write as _;

use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::value::Value;
use crate::formats::perf::layout::{feature as bit, record as kind};
use crate::kit::cursor::{Cursor, Order};

/// Longest name of an architecture that is looked up.
const ARCH_MOST: u64 = 64;

/// Names by the bits of the mask: `arch/x86/include/uapi/asm/perf_regs.h` and the others.
const X86: &[&str] = &[
    "AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS",
    "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
];
const ARM64: &[&str] = &[
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "lr", "sp", "pc",
];

/// The names of the registers of a machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Registers {
    names: &'static [&'static str],
}

impl Registers {
    /// The names for the machine that ARCH names, a text after its length.
    fn of(mut arch: Cursor<'_>) -> Self {
        let is_read = arch.u32("arch.len").is_ok();
        let names = match arch.until_nul() {
            b"x86_64" | b"i386" | b"i486" | b"i586" | b"i686" if is_read => X86,
            b"aarch64" | b"arm64" if is_read => ARM64,
            _ => &[],
        };
        Self { names }
    }

    /// Reads ARCH from the features of a file.
    pub(super) fn of_file(recording: &Recording<'_>) -> Self {
        let table = recording.body.data.end().map(|end| recording.table(end));
        let Some(section) = table.and_then(|table| table.section(bit::ARCH)) else {
            return Self::default();
        };
        let start = section.offset;
        let end = start.saturating_add(section.size.min(ARCH_MOST));
        let bytes = recording.file.source().read(start, end);
        Self::of(Cursor::new(&bytes, recording.file.layer(), start, recording.order()))
    }

    /// Follows a record, which may have ARCH.
    pub(super) fn observe(&mut self, record: &RecordView<'_>, order: Order) {
        let mut cursor = record.cursor(order);
        let is_feature = record.frame.kind == kind::HEADER_FEATURE;
        if is_feature && cursor.u64("feature.feat_id") == Ok(bit::ARCH.into()) {
            *self = Self::of(cursor);
        }
    }

    /// Writes registers as perf does, with the numbers of those whose names are not known.
    pub(super) fn write(self, abi: u64, mask: u64, values: &[Value], text: &mut String) {
        let _infallible = write!(text, " ABI:{abi} ");
        let set = (0..u64::BITS).filter(|bit| mask.checked_shr(*bit).unwrap_or(0) & 1 > 0);
        for (bit, value) in set.zip(values) {
            let (Value::Number(value) | Value::Hex(value)) = value else { continue };
            let name = usize::try_from(bit).ok().and_then(|bit| self.names.get(bit));
            let _infallible = match name {
                Some(name) => write!(text, "{name:>5}:{value:#x} "),
                None => write!(text, "{:>5}:{value:#x} ", format!("r{bit}")),
            };
        }
    }
}

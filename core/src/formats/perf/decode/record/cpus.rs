//! The CPUs of a CPU_MAP.

use std::collections::BTreeSet;

use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::span::Layer;

/// The CPUs that a CPU_MAP lists. 65535 stands for any CPU (-1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuSet {
    /// Type 0.
    List(BTreeSet<u16>),
    /// Type 1: words of 32 or 64 bits, the lowest CPU first.
    Mask {
        /// The words.
        words: Vec<u64>,
        /// Bits per word.
        bits: u16,
    },
    /// Type 2.
    Range {
        /// Whether the map contains -1, too.
        has_any: bool,
        /// The first CPU.
        first: u16,
        /// The last CPU.
        last: u16,
    },
    /// A type of later versions, or a record that is too short.
    Unknown,
}

impl CpuSet {
    /// Whether the map lists `cpu`.
    pub fn has(&self, cpu: u16) -> bool {
        match self {
            Self::List(cpus) => cpus.contains(&cpu),
            Self::Mask { words, bits } => {
                let word = cpu.checked_div(*bits).and_then(|at| words.get(usize::from(at)));
                let bit = u32::from(cpu.checked_rem(*bits).unwrap_or(0));
                word.is_some_and(|word| word.checked_shr(bit).unwrap_or(0) & 1 == 1)
            }
            Self::Range { has_any, first, last } => match cpu {
                u16::MAX => *has_any,
                _ => (*first..=*last).contains(&cpu),
            },
            Self::Unknown => false,
        }
    }
}

/// Reads the body of a CPU_MAP.
pub fn cpu_set(body: &[u8], order: Order) -> CpuSet {
    read(&mut Cursor::new(body, Layer::stored(0), 0, order)).unwrap_or(CpuSet::Unknown)
}

/// lib/perf/include/perf/event.h: `perf_record_cpu_map_data`, a packed union.
fn read(body: &mut Cursor<'_>) -> Result<CpuSet, ReadError> {
    match body.u16("cpu_map.type")? {
        0 => {
            let nr = body.u16("cpu_map.nr")?;
            let cpus = (0..nr).map(|_| body.u16("cpu_map.cpu"));
            Ok(CpuSet::List(cpus.collect::<Result<_, _>>()?))
        }
        1 => {
            let nr = body.u16("cpu_map.nr")?;
            let long_size = body.u16("cpu_map.long_size")?;
            if long_size == 8 {
                body.skip(1, 4, "cpu_map.pad")?;
            }
            let words = (0..nr).map(|_| match long_size {
                8 => body.u64("cpu_map.mask"),
                _ => body.u32("cpu_map.mask").map(u64::from),
            });
            let words = words.collect::<Result<_, _>>()?;
            Ok(CpuSet::Mask { words, bits: long_size.saturating_mul(8) })
        }
        2 => {
            let has_any = body.u8("cpu_map.any_cpu")? != 0;
            body.skip(1, 1, "cpu_map.pad")?;
            let first = body.u16("cpu_map.start_cpu")?;
            Ok(CpuSet::Range { has_any, first, last: body.u16("cpu_map.end_cpu")? })
        }
        _ => Ok(CpuSet::Unknown),
    }
}

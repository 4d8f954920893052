//! Tables of finite state entropy (RFC 8878, section 4.1).

use super::bits::{BackwardBits, ForwardBits};
use crate::kit::num::to_usize;

/// A state of a table.
#[derive(Clone, Copy, Default)]
struct State {
    symbol: u8,
    /// Bits to the next state.
    bits: u32,
    /// The next state, without these bits.
    next: u64,
}

/// A table of states.
#[derive(Clone)]
pub(super) struct FseTable {
    states: Vec<State>,
    /// Bits of the first state.
    log: u32,
}

/// How a table is limited.
#[derive(Clone, Copy)]
pub(super) struct FseLimits {
    /// The greatest Accuracy_Log.
    pub(super) log_max: u32,
    /// Symbols that there are.
    pub(super) symbols: usize,
}

impl FseTable {
    /// The table of one symbol, which takes no bits.
    pub(super) fn of_one(symbol: u8) -> Self {
        Self { states: vec![State { symbol, ..State::default() }], log: 0 }
    }

    /// Reads the description of a table (section 4.1.1); returns its length as well.
    pub(super) fn read(bytes: &[u8], limits: FseLimits) -> Option<(Self, usize)> {
        let mut bits = ForwardBits::new(bytes);
        let log = u32::try_from(bits.read(4)?).ok()?.checked_add(5)?;
        if log > limits.log_max {
            return None;
        }
        let mut left = 1_i64.checked_shl(log)?;
        let mut counts = Vec::new();
        while left > 0 && counts.len() < limits.symbols {
            let count = read_count(&mut bits, left)?;
            left = left.checked_sub(count.abs())?;
            counts.push(count);
            if count == 0 {
                let zeros = read_zeros(&mut bits, limits.symbols)?;
                counts.resize(counts.len().saturating_add(zeros), 0);
            }
        }
        (left == 0 && counts.len() <= limits.symbols)
            .then(|| Some((Self::of_counts(&counts, log)?, bits.bytes_read())))?
    }

    /// Builds a table of normalised counts; -1 stands for less than one.
    pub(super) fn of_counts(counts: &[i64], log: u32) -> Option<Self> {
        let size = 1_usize.checked_shl(log)?;
        let mut states = vec![State::default(); size];
        let mut high = size;
        let symbols = || (0..=u8::MAX).zip(counts.iter().copied());
        for (symbol, _) in symbols().filter(|(_, count)| *count == -1) {
            high = high.checked_sub(1)?;
            states.get_mut(high)?.symbol = symbol;
        }
        let step = (size >> 1).checked_add(size >> 3)?.checked_add(3)?;
        let mask = size.checked_sub(1)?;
        let mut place = 0_usize;
        for (symbol, count) in symbols() {
            for _ in 0..count.max(0) {
                states.get_mut(place)?.symbol = symbol;
                place = place.checked_add(step)? & mask;
                while place >= high {
                    place = place.checked_add(step)? & mask;
                }
            }
        }
        let mut next: Vec<u64> = counts.iter().map(|count| count.unsigned_abs()).collect();
        for state in &mut states {
            let next = next.get_mut(usize::from(state.symbol))?;
            state.bits = log.checked_sub(next.checked_ilog2()?)?;
            let base = next.checked_shl(state.bits)?;
            state.next = base.checked_sub(u64::try_from(size).ok()?)?;
            *next = next.checked_add(1)?;
        }
        Some(Self { states, log })
    }

    /// Reads the first state.
    pub(super) fn first(&self, bits: &mut BackwardBits<'_>) -> Option<u64> {
        bits.read(self.log)
    }

    /// Returns the symbol of a state.
    pub(super) fn symbol(&self, state: u64) -> Option<u8> {
        self.states.get(to_usize(state)).map(|state| state.symbol)
    }

    /// Reads the state after `state`.
    pub(super) fn next(&self, state: u64, bits: &mut BackwardBits<'_>) -> Option<u64> {
        let state = self.states.get(to_usize(state))?;
        bits.read(state.bits)?.checked_add(state.next)
    }
}

/// Reads how many further counts are 0: three more as long as the number is three.
fn read_zeros(bits: &mut ForwardBits<'_>, most: usize) -> Option<usize> {
    let mut zeros = 0_usize;
    while zeros <= most {
        let more = to_usize(bits.read(2)?);
        zeros = zeros.saturating_add(more);
        if more < 3 {
            break;
        }
    }
    Some(zeros)
}

/// Reads a normalised count; `left` of the table are not shared out yet.
fn read_count(bits: &mut ForwardBits<'_>, left: i64) -> Option<i64> {
    let most = u64::try_from(left).ok()?.checked_add(1)?;
    let wide = most.checked_ilog2()?.checked_add(1)?;
    let value = bits.read(wide)?;
    let half = 1_u64.checked_shl(wide.checked_sub(1)?)?;
    let short = half.checked_mul(2)?.checked_sub(1)?.checked_sub(most)?;
    let low = value & half.checked_sub(1)?;
    // The lower values take a bit less.
    let value = if low < short {
        bits.unread_bit();
        low
    } else if value >= half {
        value.checked_sub(short)?
    } else {
        value
    };
    i64::try_from(value).ok()?.checked_sub(1)
}

//! Numbers that drive the damage: from a seed, or from the bytes of a fuzzer.

/// A source of numbers. It takes them from its bytes, four at a time, then from its state.
#[derive(Clone, Debug)]
pub struct Dice<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Dice<'a> {
    /// Numbers from bytes, so that a fuzzer can change each of them.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, state: 0 }
    }

    /// Numbers from a seed.
    pub const fn seeded(seed: u64) -> Self {
        Self { bytes: &[], state: seed }
    }

    /// Returns the next number.
    pub fn roll(&mut self) -> u64 {
        if let Some((number, rest)) = self.bytes.split_first_chunk::<4>() {
            self.bytes = rest;
            return u32::from_le_bytes(*number).into();
        }
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }

    /// Returns random bytes.
    pub fn noise(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.roll().to_le_bytes()[1]).collect()
    }
}
